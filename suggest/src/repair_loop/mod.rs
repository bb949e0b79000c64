//! From findings to a verified patch: search the cheapest repair for the runs
//! there are, put it into a copy, build and run that again. If that shows what
//! the first runs did not, its runs are brought back to the original's places,
//! and the search goes on with them.

mod explain;
mod groups;
mod result;
mod verify;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::allow::AllowRules;
use crate::candidates::Candidates;
use crate::options::RunOptions;
use crate::pipeline::Session;
use crate::progress::Progress;
use crate::project::Project;
use crate::run::interrupted;
use crate::subject::Subject;
use crate::trace_remapper::TraceRemapper;
use explain::Namer;
use verify::{Patched, verify};
use wmfix_repair::{
    Change, ChangeKind, Options, Outcome, Problem, Profile, ReasonedChange, SearchEnd, repair,
    unneeded,
};

pub use groups::steps;
pub use result::{ChangeSite, ExplainedChange, FindingKey, RemainingFindings, RepairResult};
pub use verify::Verification;

/// So many repairs are tried before it is said that none was found that holds.
const ROUNDS: u64 = 6;

/// How long the search may take if nobody says: it ends with the best repair it
/// knows then.
const SEARCH_TIME: Duration = Duration::from_secs(60);

/// What a patch is made for and how.
pub struct RepairTask<'a> {
    /// What is mended.
    pub project: &'a Project,
    /// What changes are weighed by.
    pub profile: Profile,
    /// What is not to be repaired.
    pub allow_rules: &'a AllowRules,
    /// Whether changes name the findings they remove in the text.
    pub annotate: bool,
    /// How programs are run.
    pub options: &'a RunOptions,
}

/// Finds a repair and verifies it.
pub fn mend(
    session: &mut Session<'_>,
    subject: &Subject,
    mending: &RepairTask<'_>,
) -> anyhow::Result<RepairResult> {
    let mut repair_loop = RepairLoop {
        mending,
        subject,
        refused: Vec::new(),
        notes: Vec::new(),
        failed: BTreeSet::new(),
        searching: Duration::ZERO,
        verifying: Duration::ZERO,
    };
    let mut round = 0;
    loop {
        round += 1;
        let (mended, patched) = repair_loop.round(session, round)?;
        let Verification::Fails(why) = &mended.verification else {
            return Ok(repair_loop.finished(mended));
        };
        if interrupted() {
            return Ok(repair_loop.finished(mended));
        }
        if round == ROUNDS {
            repair_loop.notes.push(format!(
                "after {ROUNDS} rounds of repair and verification the patched program still \
                 shows what no run before had shown ({why}): more runs (--runs) may find a \
                 repair that holds"
            ));
            return Ok(repair_loop.finished(mended));
        }
        repair_loop.learn(session, patched, &mended)?;
    }
}

/// A change that cannot be made, by its place in the text, and why.
type Refused = ((PathBuf, usize), ChangeKind, String);

/// What one call of [`mend`] knows.
struct RepairLoop<'a> {
    mending: &'a RepairTask<'a>,
    subject: &'a Subject,
    refused: Vec<Refused>,
    notes: Vec<String>,
    /// Sets of changes that did not hold.
    failed: BTreeSet<String>,
    searching: Duration,
    verifying: Duration,
}

impl<'a> RepairLoop<'a> {
    /// The cheapest repair of the runs there are, verified.
    fn round(
        &mut self,
        session: &mut Session<'_>,
        round: u64,
    ) -> anyhow::Result<(RepairResult, Option<Patched<'a>>)> {
        loop {
            let (config, allowed) = (session.config(), session.allowances().allowed_findings());
            let annotate = self.mending.annotate;
            let ids = annotate.then(|| session.names()).transpose()?;
            let (traces, places) = session.lend_traces();
            let mut candidates = Candidates::new(&traces, places, self.mending.project.tree());
            for (at, action, reason) in &self.refused {
                candidates.refuse(at, *action, reason);
            }
            let problem = Problem {
                traces,
                points: candidates.points.clone(),
                analysis: config,
                allowed,
            };
            let mut outcome = searched(&problem, self.mending)?;
            drop_unneeded(&problem, &mut outcome)?;
            self.searching += outcome.work.total;
            let places = session.take_back(problem.traces);
            let changes: Vec<Change> = chosen(&outcome).iter().map(|c| c.change).collect();
            if let Some(ids) = &ids {
                let names = Namer {
                    candidates: &candidates,
                    places,
                };
                let labels = names.labels(&outcome, ids);
                candidates.annotate(labels);
            }
            let (files, together) = candidates.patched(&changes);
            if !together.is_empty() && !interrupted() {
                // The search has to go around what does not fit together.
                let refused = together.into_iter().filter_map(|(change, reason)| {
                    let site = candidates.site(change.point)?;
                    let at = (site.file.to_path_buf(), site.span.start);
                    Some((at, change.kind, reason))
                });
                self.refused.extend(refused);
                continue;
            }
            let names = Namer {
                candidates: &candidates,
                places,
            };
            let mut mended = names.mended(&outcome, files);
            let left = names.left(&outcome);
            let started = Instant::now();
            let (verification, patched) =
                verify(session, self.mending, &mended.files, &left, round)?;
            (mended.verification, mended.rounds) = (verification, round);
            self.verifying += started.elapsed();
            return Ok((mended, patched));
        }
    }

    /// Gets more runs out of a repair that does not hold: those of the patched
    /// program, as runs of the original, or new ones of the original.
    fn learn(
        &mut self,
        session: &mut Session<'_>,
        patched: Option<Patched<'_>>,
        mended: &RepairResult,
    ) -> anyhow::Result<()> {
        let patch: Vec<_> = mended.files.iter().map(|file| &file.edits).collect();
        let is_new = self.failed.insert(format!("{patch:?}"));
        if let Some(mut patched) = patched.filter(|_| is_new) {
            let copied = patched.copied.as_ref();
            let changes = mended.changes.iter();
            let raised = changes.filter(|change| !change.action.is_new_fence());
            let raised: Vec<_> = raised
                .filter_map(|change| Some((change.at.text.as_ref()?, change.before)))
                .collect();
            let back = TraceRemapper::new(&raised, &mended.files, copied, session.places());
            let (traces, places) = patched.session.lend_traces();
            let returned = back.bring(traces, places, session.places());
            if let Some(why) = returned.lost.first() {
                self.notes.push(format!(
                    "some runs of a patched program could not be used for the repair: {why}"
                ));
            }
            if session.add_traces(returned.traces) > 0 {
                return Ok(());
            }
        }
        self.notes.push(
            "a patched program showed a finding that its runs do not explain: the original was \
             run again, for more"
                .to_owned(),
        );
        let runs = session.summary().runs;
        session.run(self.subject, self.mending.options.seed.wrapping_add(runs))?;
        Ok(())
    }

    fn finished(self, mut mended: RepairResult) -> RepairResult {
        (mended.searched, mended.verified) = (self.searching, self.verifying);
        mended.notes = self.notes;
        mended
    }
}

/// Drops changes that no run needs: a search that was stopped may have some.
fn drop_unneeded(problem: &Problem, outcome: &mut Outcome) -> anyhow::Result<()> {
    if outcome.end == SearchEnd::Optimal || interrupted() {
        return Ok(());
    }
    if let Some(repair) = &mut outcome.repair {
        let changes: Vec<Change> = repair.changes.iter().map(|c| c.change).collect();
        let unneeded = unneeded(problem, &changes)?;
        let mut number = 0;
        repair.changes.retain(|_| {
            number += 1;
            !unneeded.contains(&(number - 1))
        });
        repair.cost = repair.changes.iter().map(|change| change.cost).sum();
    }
    Ok(())
}

fn searched(problem: &Problem, mending: &RepairTask<'_>) -> anyhow::Result<Outcome> {
    let cancel = Arc::new(AtomicBool::new(interrupted()));
    let options = Options {
        profile: mending.profile,
        budget: Some(match mending.options.time {
            Some(time) => Duration::from_secs_f64(time),
            None => SEARCH_TIME,
        }),
        cancel: Some(cancel.clone()),
    };
    let _progress = Progress::new(mending.options, "searching for the cheapest repair");
    let outcome = repair(problem, &options, |_| {
        cancel.store(interrupted(), Ordering::Relaxed);
    })?;
    Ok(outcome)
}

fn chosen(outcome: &Outcome) -> &[ReasonedChange] {
    let repair = outcome.repair.as_ref();
    repair.map_or(&[], |repair| &repair.changes)
}
