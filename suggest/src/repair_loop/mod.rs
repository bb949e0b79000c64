//! The repair loop: search the cheapest repair of the recorded runs, have it
//! verified, and if the patched program shows what no run before did, learn from
//! its runs and search again. Owns the search, the verdict and the result;
//! building and running the patched program is the pipeline's.

mod blame;
mod explain;
mod groups;
mod reach;
mod result;
mod search;
mod verify;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wmfix_repair::{ChangeKind, Profile};

use crate::evidence::Evidence;
use crate::findings::{FindingNames, ViolationKey};
use crate::options::RunOptions;
use crate::path_limit::PathLimit;
use crate::project::BuildFailure;
use crate::run::{Deadline, interrupted};
use crate::subject::{PatchedFile, SourceCopy};
use crate::trace_remapper::{ChangedSite, TraceRemapper};
use blame::blamed;
use reach::count_runs_at_changes;
use search::RefusedChange;
use verify::{PlaceKey, finding_keys};

pub(crate) use groups::group_patches;
pub(crate) use result::{
    ChangeSite, ExplainedChange, NeededChange, RemainingFindings, RemainingReason, RepairNote,
    RepairResult, Standing, StillFound, Verification, VerificationFailure,
};
pub(crate) use search::{SEARCH_TIME, allowed_in_libraries};
pub(crate) use verify::{ViolationPlaces, compare, violation_places};

/// After this many repairs that do not hold the loop gives up.
const MOST_ROUNDS: u64 = 6;

/// The seeds of the runs of one round's patched program start this far from those
/// of the round before; the original's are round 0.
pub(crate) const SEEDS_PER_ROUND: u64 = 1 << 32;

/// What a repair is searched for, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepairTask<'a> {
    /// The folder or file whose text may be changed.
    pub tree: &'a Path,
    /// The findings to repair are in it.
    pub limit: &'a PathLimit,
    /// The cost model that ranks repairs.
    pub profile: Profile,
    /// How programs are run.
    pub options: &'a RunOptions,
    /// When everything has to be over.
    pub deadline: Deadline,
}

/// A repair that is not verified yet.
pub(crate) struct Proposal {
    result: RepairResult,
    /// The places of findings that no change removes.
    remaining: BTreeSet<PlaceKey>,
    /// The places of each finding that is to be repaired.
    wanted: Vec<Vec<PlaceKey>>,
    /// The violations that are spared and that recorded runs have with the changes, too.
    open: BTreeSet<ViolationPlaces>,
}

/// Which violations a repair is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking<'a> {
    /// Not for these: they do too little harm, or are spared.
    pub left_alone: &'a BTreeSet<ViolationKey>,
    /// For these last.
    pub minor: &'a BTreeSet<ViolationKey>,
    /// Of those that are left alone, the ones that count all the same.
    pub spared: &'a BTreeSet<ViolationKey>,
}

/// What became of a proposal's patched program.
pub(crate) struct Trial {
    /// What it showed.
    pub verification: Verification,
    /// Its runs, if there were any.
    pub runs: Option<PatchedRuns>,
    /// How long it took.
    pub elapsed: Duration,
}

/// The runs of a patched program.
pub(crate) struct PatchedRuns {
    /// What they showed.
    pub evidence: Evidence,
    /// The copy that it was built from.
    pub copy: Option<SourceCopy>,
    /// What they showed that does too little harm to count.
    pub harmless: BTreeSet<ViolationKey>,
    /// What they showed that does harm.
    pub harmful: BTreeSet<ViolationPlaces>,
}

/// What to do after a round.
pub(crate) enum NextRound {
    /// Nothing: this is the result.
    Finished(Box<RepairResult>),
    /// Search again: there are new recorded runs.
    Search,
    /// Run the original again, then search: nothing else is left to learn from.
    RunOriginal,
}

/// What is known from one round to the next.
pub(crate) struct RepairLoop<'a> {
    task: RepairTask<'a>,
    round: u64,
    /// Rounds that do not count any more, whose seeds were used.
    spent: u64,
    refused: Vec<RefusedChange>,
    /// Files with which the project's own fences did not compile.
    standard_fences: HashSet<PathBuf>,
    notes: Vec<RepairNote>,
    /// Patches that did not hold.
    failed: BTreeSet<String>,
    /// The last repair that builds, if it does not hold.
    best: Option<RepairResult>,
    search_time: Duration,
    verification_time: Duration,
}

impl<'a> RepairLoop<'a> {
    /// The loop before its first round.
    pub(crate) fn new(task: RepairTask<'a>) -> Self {
        Self {
            task,
            round: 0,
            spent: 0,
            refused: Vec::new(),
            standard_fences: HashSet::new(),
            notes: Vec::new(),
            failed: BTreeSet::new(),
            best: None,
            search_time: Duration::ZERO,
            verification_time: Duration::ZERO,
        }
    }

    /// Lets the rounds so far not count: they were for a part of the findings.
    pub(crate) fn begins_anew(&mut self) {
        self.spent += std::mem::take(&mut self.round);
        self.notes.clear();
    }

    /// Starts a round: the cheapest repair of the recorded runs. The patch names
    /// the findings that a change removes beside it, if `names` are given.
    pub(crate) fn propose(
        &mut self,
        evidence: &mut Evidence,
        rank: Ranking<'_>,
        names: Option<&FindingNames>,
    ) -> anyhow::Result<Proposal> {
        self.round += 1;
        loop {
            if let Some(proposal) = self.search(evidence, rank, names)? {
                return Ok(proposal);
            }
        }
    }

    /// The first seed for the patched program of this round: no round before has
    /// used it.
    pub(crate) fn seed(&self) -> u64 {
        let offset = SEEDS_PER_ROUND.wrapping_mul(self.spent + self.round);
        self.task.options.seed.wrapping_add(offset)
    }

    /// Ends a round: the result, or what the next round needs. Runs of the
    /// patched program that show something new are added to the evidence.
    pub(crate) fn conclude(
        &mut self,
        evidence: &mut Evidence,
        proposal: Proposal,
        trial: Trial,
    ) -> NextRound {
        self.verification_time += trial.elapsed;
        let mut result = proposal.result;
        result.rounds = self.round;
        result.verification = trial.verification;
        let mut trial_runs = trial.runs;
        if let Some(runs) = &mut trial_runs {
            count_runs_at_changes(&mut result, evidence.places(), runs);
        }
        let goes_on = self.round < MOST_ROUNDS && !self.task.deadline.is_over();
        match &result.verification {
            Verification::Fails(failure) if !interrupted() => {
                let failure = failure.clone();
                if goes_on && self.refuse_moves(&result) {
                    self.best = Some(result);
                    return NextRound::Search;
                }
                if goes_on {
                    let next = self.learn(evidence, &result, trial_runs);
                    self.best = Some(result);
                    return next;
                }
                self.notes.push(RepairNote::RoundsExhausted {
                    rounds: self.round,
                    failure,
                });
            }
            Verification::DoesNotBuild(failure)
                if goes_on && self.takes_standard_fences(&result, failure) =>
            {
                return NextRound::Search;
            }
            Verification::DoesNotBuild(failure) if goes_on && self.refuse(&result, failure) => {
                self.notes.push(RepairNote::PatchDidNotBuild);
                return NextRound::Search;
            }
            _ => {}
        }
        let usable = !result.files.is_empty() && result.was_tried();
        if let Some(best) = self.best.take().filter(|_| !usable) {
            // A patch that removes something is better than none.
            result = best;
        }
        NextRound::Finished(Box::new(self.finished(result)))
    }

    /// Ends a round that was for a part of the findings: the result, if the patched
    /// program shows nothing more that counts. `spared` violations were left alone.
    pub(crate) fn accept(
        &mut self,
        evidence: &mut Evidence,
        proposal: Proposal,
        trial: Trial,
        spared: u64,
    ) -> Option<RepairResult> {
        self.verification_time += trial.elapsed;
        let mut runs = trial
            .runs
            .filter(|_| matches!(trial.verification, Verification::Clean(_)))?;
        if !proposal.is_enough(&mut runs.evidence, &runs.harmless) {
            return None;
        }
        let mut result = proposal.result;
        result.rounds = self.round;
        result.verification = trial.verification;
        count_runs_at_changes(&mut result, evidence.places(), &mut runs);
        result.spared = spared;
        self.notes.push(RepairNote::NoOwnChange(spared));
        Some(self.finished(result))
    }

    /// A result with what is known about how it was found.
    fn finished(&mut self, mut result: RepairResult) -> RepairResult {
        result.notes = std::mem::take(&mut self.notes);
        if !result.changes.is_empty() {
            // It is that of a round before.
            let is_why = |note: &RepairNote| *note == RepairNote::NoRepairInTime;
            result.notes.retain(|note| !is_why(note));
        }
        if result.changes.iter().any(|change| change.before.is_plain()) {
            result.notes.push(RepairNote::PlainMadeAtomic);
        }
        result.search_time = self.search_time;
        result.verification_time = self.verification_time;
        result
    }

    /// Takes moved fences out of the search: runs without a fence at its place are no
    /// runs of the original to learn from. Says whether there were any.
    fn refuse_moves(&mut self, result: &RepairResult) -> bool {
        let before = self.refused.len();
        let moves = result.changes.iter();
        let moves = moves.filter(|change| matches!(change.kind, ChangeKind::Move(_)));
        self.refused.extend(moves.filter_map(|change| {
            let site = change.at.text.as_ref()?;
            Some(RefusedChange {
                at: (site.file.to_path_buf(), site.span.start),
                kind: change.kind,
                reason: "with it, the patched program shows something new".to_owned(),
            })
        }));
        self.refused.len() > before
    }

    /// Has fences that are likely to be why a patch does not build written in the
    /// standard's way, in their files. Says whether they were not before.
    fn takes_standard_fences(&mut self, result: &RepairResult, failure: &BuildFailure) -> bool {
        let blamed = blamed(result, failure).into_iter();
        let fences = blamed.filter(|change| change.kind.is_new_fence());
        let files = fences.filter_map(|change| Some(change.at.text.as_ref()?.file.to_path_buf()));
        let before = self.standard_fences.len();
        self.standard_fences.extend(files);
        self.standard_fences.len() > before
    }

    /// Takes out of the search what is likely to be why a patch does not build. Says
    /// whether there was any.
    fn refuse(&mut self, result: &RepairResult, failure: &BuildFailure) -> bool {
        let before = self.refused.len();
        let blamed = blamed(result, failure).into_iter();
        self.refused.extend(blamed.filter_map(|change| {
            let site = change.at.text.as_ref()?;
            Some(RefusedChange {
                at: (site.file.to_path_buf(), site.span.start),
                kind: change.kind,
                reason: "a patch with it does not compile".to_owned(),
            })
        }));
        self.refused.len() > before
    }

    /// Learns from a repair that does not hold: from the runs of the patched
    /// program, as runs of the original, if they are new.
    fn learn(
        &mut self,
        evidence: &mut Evidence,
        result: &RepairResult,
        runs: Option<PatchedRuns>,
    ) -> NextRound {
        let patch: Vec<_> = result.files.iter().map(|file| &file.edits).collect();
        let is_new = self.failed.insert(format!("{patch:?}"));
        if let Some(mut patched) = runs.filter(|_| is_new) {
            let changes = result.changes.iter();
            let raised = changes.filter(|change| !change.kind.is_new_fence());
            let raised: Vec<_> = raised.filter_map(changed_site).collect();
            let copy = patched.copy.as_ref();
            let remapper = TraceRemapper::new(&raised, &result.files, copy, evidence.places());
            let (traces, places) = patched.evidence.lend_traces();
            let remapped = remapper.remap(traces, places, evidence.places());
            let unmapped = remapped.unmapped.into_iter().next();
            self.notes.extend(unmapped.map(RepairNote::RunsUnusable));
            if evidence.add_traces(remapped.traces) > 0 {
                return NextRound::Search;
            }
        }
        self.notes.push(RepairNote::OriginalRunAgain);
        NextRound::RunOriginal
    }
}

/// The operation of a change as it was.
fn changed_site(change: &ExplainedChange) -> Option<ChangedSite> {
    Some(ChangedSite {
        text: change.at.text.clone()?,
        site: change.at.site,
        orders: change.before,
    })
}

impl Proposal {
    /// Whether nothing that is spared is left to chance: what recorded runs have with the
    /// changes, too, the patched program has shown, and it does too little harm there.
    fn is_enough(&self, patched: &mut Evidence, harmless: &BTreeSet<ViolationKey>) -> bool {
        let (found, places) = patched.findings();
        let keys = found.violations.iter().map(|finding| finding.key);
        let keys = keys.filter(|key| harmless.contains(key));
        let shown: BTreeSet<_> = keys.map(|key| violation_places(places, &key)).collect();
        self.open.is_subset(&shown)
    }

    /// The patched files; none if there is no repair.
    pub(crate) fn files(&self) -> &[PatchedFile] {
        &self.result.files
    }

    /// What the runs of the patched program come to. What is `left_alone` in them
    /// does too little harm to be repaired, what is not in the limit is not looked at.
    pub(crate) fn verify(
        &self,
        original: &mut Evidence,
        patched: &mut Evidence,
        left_alone: &BTreeSet<ViolationKey>,
        limit: &PathLimit,
    ) -> Verification {
        let mut verification = compare(original, patched, &self.remaining, left_alone, limit);
        if let Verification::Fails(VerificationFailure::Findings(still)) = &mut verification {
            let shown = finding_keys(patched, left_alone, limit);
            let is_shown = |access| shown.iter().any(|keys| keys.first() == access);
            let gone = self.wanted.iter().filter(|keys| !is_shown(keys.first()));
            still.gone = Some((gone.count(), self.wanted.len()));
        }
        verification
    }
}
