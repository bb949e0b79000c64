//! What came of the repair loop, as data: the changes with the findings they
//! remove, the findings that remain, what verification showed and what it took.
//! The report finds the words.

use std::time::Duration;

use wmfix_analysis::SiteId;
use wmfix_frontend::Site;
use wmfix_repair::{ChangeKind, Orders};

use super::groups::Group;
use crate::explore::Exploration;
use crate::findings::FindingKey;
use crate::harm::{HarmVerdict, Harms};
use crate::project::BuildFailure;
use crate::run::RunEnd;
use crate::subject::PatchedFile;
use crate::trace_remapper::UnmappedTrace;

/// What came of the repair loop.
pub(crate) struct RepairResult {
    /// The patched files; none if there is no repair.
    pub files: Vec<PatchedFile>,
    /// The changes with their reasons, in the order of the source.
    pub changes: Vec<ExplainedChange>,
    /// Changes that belong together.
    pub groups: Vec<Group>,
    /// What the changes cost together.
    pub cost: u64,
    /// Whether no repair of the runs is cheaper.
    pub optimal: bool,
    /// No repair of the runs costs less than this.
    pub lower_bound: u64,
    /// How many findings it was searched for.
    pub wanted: usize,
    /// How many recorded runs it was searched for.
    pub recorded_runs: u64,
    /// In how many layers: with one, it is the cheapest of all findings at once.
    pub layers: u64,
    /// How many violations that count were left alone.
    pub spared: u64,
    /// What the patched program showed.
    pub verification: Verification,
    /// What cannot be repaired.
    pub remaining: Vec<RemainingFindings>,
    /// How many repairs were tried, this one included.
    pub rounds: u64,
    /// What happened on the way.
    pub notes: Vec<RepairNote>,
    /// How long the search took, all rounds together.
    pub search_time: Duration,
    /// How long the patched program was built and run, all rounds together.
    pub verification_time: Duration,
}

/// Where something is changed, or would have to be.
pub(crate) struct ChangeSite {
    /// A site of the runs that it touches.
    pub site: SiteId,
    /// The operation in the text, if it was found there.
    pub text: Option<Site>,
}

/// A change with its reasons.
pub(crate) struct ExplainedChange {
    /// What is done.
    pub kind: ChangeKind,
    /// Where.
    pub at: ChangeSite,
    /// The orders before.
    pub before: Orders,
    /// The findings that come back without it.
    pub reasons: Vec<FindingKey>,
    /// What is changed for findings that matter less does what it does, too.
    pub is_covered: bool,
    /// How many runs of the patched program came to it; `None` if it was not run.
    pub reached: Option<u64>,
    /// How many other calls lead to the changed operation, and pay for it, too.
    pub other_callers: usize,
}

/// Findings that no change removes.
pub(crate) struct RemainingFindings {
    /// Which.
    pub findings: Vec<FindingKey>,
    /// Why they remain.
    pub why: RemainingReason,
}

/// Why a finding remains.
pub(crate) enum RemainingReason {
    /// This change would be needed.
    Refused(Box<NeededChange>),
    /// No change would help.
    NothingHelps,
    /// No change that can be made helps, and the time was up before it was known
    /// which other one would.
    OutOfTime,
}

/// A change that is needed and cannot be made.
pub(crate) struct NeededChange {
    /// What would be done.
    pub kind: ChangeKind,
    /// Where.
    pub at: ChangeSite,
    /// Why it cannot be made.
    pub refusal: String,
}

/// What the patched program showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    /// There was nothing to verify.
    NoPatch,
    /// Nothing more than what cannot be repaired.
    Clean(VerifiedRuns),
    /// It does not build.
    DoesNotBuild(BuildFailure),
    /// Something is still wrong with it.
    Fails(VerificationFailure),
    /// The user interrupted before the result was known.
    Interrupted,
    /// The time was up before the result was known.
    OutOfTime,
}

/// The runs of a patched program that show nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifiedRuns {
    /// How many runs.
    pub runs: u64,
    /// How many different schedules they had.
    pub schedules: u64,
    /// Operations that the runs of the original reached, and these did not, as
    /// sites of the original.
    pub missed: Vec<SiteId>,
    /// Findings of the original that they show all the same: no change removes them.
    pub still: Vec<FindingKey>,
    /// How many findings they show beside these, where those are.
    pub others: u64,
    /// How many free runs of the patched program showed nothing, and whether these were
    /// enough, if stale values are left in it.
    pub free_runs: Option<(u64, bool)>,
    /// How far all runs of the patched program were explored, if that was asked for.
    pub exploration: Option<Exploration>,
    /// Every run of it was made, and none showed anything at all.
    pub proved: bool,
}

/// What is wrong with a patched program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VerificationFailure {
    /// It cannot be run.
    CannotRun,
    /// A run ends as none of the original's did.
    NewEnd(RunEnd),
    /// There are still findings.
    Findings(StillFound),
    /// Several stale values together do harm, none of them alone.
    StaleTogether,
}

/// What the runs of a patched program still show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StillFound {
    /// Functions that it is in, each with the name of its file.
    pub functions: Vec<(String, String)>,
    /// How many runs there were.
    pub runs: u64,
    /// Of how many findings that were to be repaired how many are gone, if that is
    /// known.
    pub gone: Option<(usize, usize)>,
}

/// What happened while a repair was searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RepairNote {
    /// The last of this many rounds did not hold either.
    RoundsExhausted {
        /// How many rounds there were.
        rounds: u64,
        /// What was wrong with the last.
        failure: VerificationFailure,
    },
    /// Some runs of a patched program could not be used.
    RunsUnusable(UnmappedTrace),
    /// The time was up before any repair was known.
    NoRepairInTime,
    /// Volatile accesses were taken for atomic ones, because threads race on them.
    VolatileTakenForAtomic,
    /// Plain accesses become atomic: nothing else removes races on them.
    PlainMadeAtomic,
    /// So many violations that count need no change of their own.
    NoOwnChange(u64),
    /// A patch did not build: it was searched for another one.
    PatchDidNotBuild,
    /// The runs of a patched program did not explain its finding: the original
    /// was run again.
    OriginalRunAgain,
}

/// What a repair is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It was built and run: a patch, whether or not that showed it to be enough.
    Patch,
    /// There was no time to build and run it, or the user interrupted that.
    Candidate,
    /// The search was stopped with one of more changes than can be sensible.
    TooLarge,
    /// There is none that builds.
    Nothing,
}

/// A repair of a stopped search makes at most so many changes for each finding: one on
/// each side of it.
const MOST_CHANGES_A_FINDING: usize = 2;

/// Or it costs at most so many times what every repair costs.
const MOST_TIMES_THE_BOUND: u64 = 2;

impl RepairResult {
    /// What it is worth.
    pub(crate) fn standing(&self) -> Standing {
        let is_near =
            self.optimal || self.cost <= self.lower_bound.saturating_mul(MOST_TIMES_THE_BOUND);
        let is_small = self.changes.len() <= self.wanted.saturating_mul(MOST_CHANGES_A_FINDING);
        match &self.verification {
            Verification::NoPatch | Verification::DoesNotBuild(_) => Standing::Nothing,
            Verification::Clean(_) | Verification::Fails(_) if is_near || is_small => {
                Standing::Patch
            }
            Verification::Interrupted | Verification::OutOfTime if is_near => Standing::Candidate,
            _ => Standing::TooLarge,
        }
    }

    /// Whether it is to be had as a patch.
    pub(crate) fn is_patch(&self) -> bool {
        self.standing() == Standing::Patch
    }

    /// Puts the groups of changes into the order in which they matter: what removes
    /// races, then what removes harmful findings, then the rest.
    pub(crate) fn sort_groups(&mut self, harms: &Harms) {
        let rank = |&(one, other, kind): &FindingKey| match kind {
            None => 0,
            Some(kind) => match harms.get(&(one, other, kind)).map(|harm| harm.verdict) {
                Some(HarmVerdict::Harmful) => 1,
                _ => 2,
            },
        };
        let changes = &self.changes;
        self.groups.sort_by_key(|group| {
            let mine = group.changes.iter().filter_map(|&n| changes.get(n));
            let worst = mine.flat_map(|change| &change.reasons).map(rank).min();
            (worst.unwrap_or(3), group.changes.clone())
        });
    }

    /// Whether it was built and run.
    pub(crate) fn was_tried(&self) -> bool {
        matches!(
            self.verification,
            Verification::Clean(_) | Verification::Fails(_)
        )
    }

    /// Whether it is a patch that was built and run, and held.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.verification, Verification::Clean(_)) && self.is_patch()
    }
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::FenceOrder;

    use super::*;

    /// A repair of so many changes, at this cost, of two findings.
    fn standing(changes: usize, cost: u64, verification: &Verification) -> Standing {
        let change = |_| ExplainedChange {
            kind: ChangeKind::FenceBefore(FenceOrder::SeqCst),
            at: ChangeSite {
                site: SiteId(0),
                text: None,
            },
            before: Orders::NoFence,
            reasons: Vec::new(),
            is_covered: false,
            reached: None,
            other_callers: 0,
        };
        let result = RepairResult {
            files: Vec::new(),
            changes: (0..changes).map(change).collect(),
            groups: Vec::new(),
            cost,
            optimal: false,
            lower_bound: 3,
            wanted: 2,
            recorded_runs: 1,
            layers: 1,
            spared: 0,
            verification: verification.clone(),
            remaining: Vec::new(),
            rounds: 1,
            notes: Vec::new(),
            search_time: Duration::ZERO,
            verification_time: Duration::ZERO,
        };
        result.standing()
    }

    #[test]
    fn what_a_stopped_search_has_is_no_patch_if_it_is_far_from_the_cheapest() {
        let failed = Verification::Fails(VerificationFailure::CannotRun);
        assert_eq!(standing(52, 1_933_628, &failed), Standing::TooLarge);
        assert_eq!(standing(4, 1_933_628, &failed), Standing::Patch);
        assert_eq!(standing(52, 6, &failed), Standing::Patch);
        let late = Verification::OutOfTime;
        assert_eq!(standing(4, 7, &late), Standing::TooLarge);
        assert_eq!(standing(4, 6, &late), Standing::Candidate);
    }
}
