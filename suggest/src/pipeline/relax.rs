//! The stages of `relax`: prepare, run and collect, then weaker orders and their
//! verification, round by round, then report. A program that shows something is sent to
//! `suggest` first.

use std::collections::BTreeSet;

use super::verify::{VerificationPlan, verify};
use super::{SUGGEST_SHARE, SUGGEST_TIME, assemble_report, predicts, profile, require_run};
use crate::cli::{Cost, Races};
use crate::evidence::{Evidence, RunLimit, RunPlan};
use crate::exit::Stop;
use crate::harm::{Criterion, Harms, RobustnessReason};
use crate::options::{RunOptions, value_name};
use crate::patch::{Patch, patch};
use crate::pipeline::{Examination, RepairStage, Request};
use crate::preparation::{Settings, find_project, prepare};
use crate::progress::Stage;
use crate::recorded_runs::KeptRuns;
use crate::relax::{NextRelaxRound, RelaxLoop, RelaxResult};
use crate::repair_loop::RepairTask;
use crate::report::{self, Dossier, Judged, RelaxInputs, Verdict};
use crate::run::Deadline;
use crate::shards::Selection;
use crate::subject::Subject;

/// What weaker orders are asked for.
pub(crate) struct RelaxRequest {
    /// The cost model, if it is not the project's.
    pub cost: Option<Cost>,
    /// Whether changes say what was there in a comment.
    pub annotate: bool,
}

/// What came of it.
pub(crate) struct Relaxed {
    /// The examination of the program as it is.
    pub examination: Examination,
    /// What came of the search.
    pub stage: RelaxStage,
}

/// What came of the search for weaker orders.
pub(crate) enum RelaxStage {
    /// The program shows something: that comes first.
    Refused,
    /// It was searched for.
    Done(Box<RelaxedOrders>),
}

/// Weaker orders and their patch.
pub(crate) struct RelaxedOrders {
    /// What came of the loop.
    pub result: RelaxResult,
    /// All changes as one diff; empty if none was verified.
    pub patch: Patch,
    /// The folder whose files may be changed.
    pub tree: std::path::PathBuf,
}

/// What an old value does makes no difference here.
const CRITERION: Criterion = Criterion::Robustness(RobustnessReason::ForRelaxing);

/// Builds and runs what is at a path, finds the cheapest orders with which it still
/// shows nothing, verifies them, and reports.
pub(crate) fn relax(request: Request, wanted: &RelaxRequest) -> Result<Relaxed, Stop> {
    let (mut settings, project) = find_project(request)?;
    require_fitting(&settings.options)?;
    let subject = prepare(&project, &mut settings)?;
    let deadline = Deadline::of(&settings.options, SUGGEST_TIME);
    let mut evidence = gather_all(&subject, &settings, deadline)?;
    let mut dossier = assemble(&mut evidence, &subject, &settings)?;
    let verdict = &mut dossier.report.verdict;
    if *verdict == Verdict::Clean && !evidence.collected().is_empty() {
        // What is allowed, or not in the part that was named, stands against them, too.
        *verdict = Verdict::Findings;
    }
    if *verdict != Verdict::Clean {
        return Ok(Relaxed {
            examination: Examination {
                dossier,
                options: settings.options,
                repair: RepairStage::None,
                folder: settings.folder,
            },
            stage: RelaxStage::Refused,
        });
    }
    let cost = wanted.cost.or(project.config.repair.cost);
    let cost = cost.unwrap_or_default();
    let options = &settings.options;
    let task = RepairTask {
        tree: settings.limit.path().unwrap_or(project.tree()),
        limit: &settings.limit,
        profile: profile(cost),
        options,
        deadline,
    };
    let mut relax_loop = RelaxLoop::new(task, wanted.annotate);
    let result = loop {
        let proposal = relax_loop.propose(&mut evidence)?;
        let plan = VerificationPlan {
            settings: &settings,
            seed: relax_loop.seed(),
            criterion: &CRITERION,
            left: &BTreeSet::new(),
            deadline,
        };
        let compare = |original: &mut _, patched: &mut _, left: &_, limit: &_| {
            proposal.verify(original, patched, left, limit)
        };
        let trial = verify(&mut evidence, proposal.files(), &project, plan, compare)?;
        match relax_loop.conclude(&mut evidence, proposal, trial) {
            NextRelaxRound::Finished(result) => break *result,
            NextRelaxRound::Search => {}
            NextRelaxRound::RunOriginal => {
                let seed = options.seed.wrapping_add(evidence.summary().runs);
                evidence = gather_more(evidence, &subject, &settings, deadline, seed)?;
            }
        }
    };
    let patch = patch(&result.files)?;
    let mut dossier = assemble(&mut evidence, &subject, &settings)?;
    let inputs = RelaxInputs {
        result: &result,
        profile: value_name(cost),
        patch: &patch.text,
    };
    report::add_relaxation(&mut dossier, evidence.places(), inputs)?;
    Ok(Relaxed {
        examination: Examination {
            dossier,
            options: settings.options.clone(),
            repair: RepairStage::None,
            folder: settings.folder.clone(),
        },
        stage: RelaxStage::Done(Box::new(RelaxedOrders {
            result,
            patch,
            tree: project.tree().to_owned(),
        })),
    })
}

/// The report on the program as it is. What a stale value does makes no difference: any
/// stands against weaker orders.
fn assemble(
    evidence: &mut Evidence,
    subject: &Subject,
    settings: &Settings,
) -> anyhow::Result<Dossier> {
    let judged = Judged {
        harms: &Harms::by(CRITERION),
        free: None,
        notices: &[],
    };
    assemble_report(evidence, judged, subject, settings, None)
}

/// Stops if the flags do not fit: a weaker order is judged by all that runs show.
fn require_fitting(options: &RunOptions) -> Result<(), Stop> {
    let unfit = [
        (
            options.races == Races::Off,
            "--races off",
            "an order may be there to prevent a race",
        ),
        (
            options.shard.is_some(),
            "--shard",
            "the runs of all parts decide together",
        ),
        (
            options.replay.is_some(),
            "--replay",
            "one run does not decide",
        ),
        (
            options.resume,
            "--resume",
            "it needs the runs that were made before",
        ),
    ];
    match unfit.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, flag, why)) => Err(Stop::usage(format_args!(
            "relax does not work with {flag}: {why}"
        ))),
        None => Ok(()),
    }
}

/// Run and collect, with every run recorded.
fn gather_all(
    subject: &Subject,
    settings: &Settings,
    deadline: Deadline,
) -> Result<Evidence, Stop> {
    let (scope, rules) = (settings.scope.clone(), settings.allow_rules.clone());
    let kept = match settings.options.exhaustive {
        true => KeptRuns::All,
        false => KeptRuns::Many,
    };
    let evidence = Evidence::new(&settings.vocabularies, scope, rules).keeping(kept);
    let seed = settings.options.seed;
    let evidence = gather_more(evidence, subject, settings, deadline, seed)?;
    require_run(evidence, subject, &settings.options)
}

/// The same on top of what there is.
fn gather_more(
    evidence: Evidence,
    subject: &Subject,
    settings: &Settings,
    deadline: Deadline,
    seed: u64,
) -> anyhow::Result<Evidence> {
    let plan = RunPlan {
        options: &settings.options,
        seed,
        record: true,
        predict: predicts(&settings.options),
        stage: Stage::Running,
        limit: RunLimit {
            deadline: deadline.share(SUGGEST_SHARE),
            share: SUGGEST_SHARE,
        },
        selection: Selection::UntilQuiet,
        resumed: None,
    };
    evidence.gather(subject, plan)
}
