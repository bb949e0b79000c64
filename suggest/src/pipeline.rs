//! The stages of an examination in their order: prepare, run and collect, repair,
//! verify, report. The only file that names them all. Each stage takes the values
//! of the stages before it and gives one of its own; the one loop is repair and
//! verify, where a patched copy goes through the first stages once more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use wmfix_frontend::{Vocabularies, scan_tree};
use wmfix_repair::Profile;

use crate::baseline;
use crate::cli::{Cost, HarmLevel, Races};
use crate::evidence::{Evidence, NotRun, RunLimit, RunPlan};
use crate::exit::{ExitStatus, Stop};
use crate::findings::FindingNames;
use crate::harm::Harms;
use crate::options::{RunOptions, value_name};
use crate::patch::{Patch, patch};
use crate::preparation::{Settings, find_project, prepare, prepare_command};
use crate::progress::Stage;
use crate::project::{Prepared, Project};
use crate::repair_loop::{
    NextRound, PatchedRuns, Proposal, RepairLoop, RepairResult, RepairTask, Trial, Verification,
};
use crate::report::{self, Dossier, Judged, RepairInputs, ReportInputs};
use crate::run::{Deadline, interrupted};
use crate::subject::Subject;

pub(crate) use crate::preparation::Request;

/// How long all of it may take after the build, where neither `--time` nor `--runs`
/// says so: as long as a person waits.
const CHECK_TIME: Duration = Duration::from_secs(120);
const SUGGEST_TIME: Duration = Duration::from_secs(300);

/// The parts of the time that is left which the runs may take where something was
/// found: then there are directed runs to make, and a repair to be found and
/// verified, which may have to be done more than once.
const CHECK_SHARE: f64 = 0.6;
const SUGGEST_SHARE: f64 = 0.3;
const VERIFY_SHARE: f64 = 0.4;

/// The same for directed runs where a repair is searched for.
const HARM_SHARE: f64 = 0.3;

/// The same where free runs follow.
const WITH_FREE_RUNS_SHARE: f64 = 0.5;

/// What a repair is asked for.
pub(crate) struct RepairRequest {
    /// The cost model, if it is not the project's.
    pub cost: Option<Cost>,
    /// What findings are repaired.
    pub fix: HarmLevel,
    /// Whether changes name the findings they remove in the text.
    pub annotate: bool,
    /// Whether the sites of files that are part of no test are counted too.
    pub all_files: bool,
}

/// What came of an examination.
pub(crate) struct Examination {
    /// All that is known.
    pub dossier: Dossier,
    /// What the flags and the configuration mean.
    pub options: RunOptions,
    /// What came of the repair.
    pub repair: RepairStage,
    /// The folder of the project, absolute.
    pub folder: PathBuf,
}

/// What came of the repair.
pub(crate) enum RepairStage {
    /// There was nothing to repair, or none was asked for.
    None,
    /// The program fails in every run: no repair could be verified.
    NeverWorks,
    /// A repair was searched for.
    Done(Box<Repaired>),
}

/// A repair and its patch.
pub(crate) struct Repaired {
    /// What came of the repair loop.
    pub result: RepairResult,
    /// All changes as one diff; empty if the patched program does not build.
    pub patch: Patch,
    /// The folder whose files may be changed.
    pub tree: PathBuf,
}

/// Builds and runs what is at a path, and reports.
pub(crate) fn check(request: Request) -> Result<Examination, Stop> {
    let (settings, project) = find_project(request)?;
    let subject = prepare(&project, &settings.options)?;
    examine(subject, settings)
}

/// Runs a command that was built with the wrappers, and reports.
pub(crate) fn run(request: Request) -> Result<Examination, Stop> {
    let (settings, subject) = prepare_command(request)?;
    examine(subject, settings)
}

/// Builds and runs what is at a path, finds the cheapest repair of what that
/// shows, verifies it, and reports.
pub(crate) fn suggest(request: Request, wanted: &RepairRequest) -> Result<Examination, Stop> {
    let path = request.path.clone();
    let (settings, project) = find_project(request)?;
    let mut subject = prepare(&project, &settings.options)?;
    if wanted.all_files {
        let found = files_with_sites(&path, &settings.vocabularies)?;
        subject.files.extend(found);
    }
    let deadline = Deadline::of(&settings.options, SUGGEST_TIME);
    let limit = RunLimit {
        deadline,
        share: SUGGEST_SHARE,
    };
    let mut evidence = run_and_collect(&subject, &settings, true, limit)?;
    let harms = evidence.judge_harm(
        &subject,
        &settings.options,
        deadline.share(HARM_SHARE),
        Harms::default(),
    )?;
    let judged = Judged {
        harms: &harms,
        free: None,
    };
    let dossier = assemble_report(&mut evidence, judged, &subject, &settings, None)?;
    let repair = match needs_repair(&mut evidence, &harms, wanted.fix, &settings) {
        false => RepairStage::None,
        true if evidence.collected().every_run_failed() => RepairStage::NeverWorks,
        true => {
            return repaired(
                evidence, harms, subject, settings, &project, wanted, deadline,
            );
        }
    };
    Ok(Examination {
        dossier,
        options: settings.options,
        repair,
        folder: settings.folder,
    })
}

/// Run and collect: until nothing new is found.
fn run_and_collect(
    subject: &Subject,
    settings: &Settings,
    record: bool,
    limit: RunLimit,
) -> Result<Evidence, Stop> {
    let plan = RunPlan {
        options: &settings.options,
        seed: settings.options.seed,
        record,
        predict: predicts(&settings.options),
        stage: Stage::Running,
        limit,
    };
    let (scope, rules) = (settings.scope.clone(), settings.allow_rules.clone());
    let evidence = Evidence::new(&settings.vocabularies, scope, rules);
    let evidence = evidence.gather(subject, plan)?;
    match evidence.not_run() {
        None => Ok(evidence),
        Some(not_run) => {
            let text = report::not_run_text(not_run, subject.must_pass);
            Err(match not_run {
                NotRun::NotInstrumented {
                    output: Some(output),
                } if subject.must_pass => {
                    Stop::new(ExitStatus::Failed, text).with_output(output.clone())
                }
                _ => Stop::usage(text),
            })
        }
    }
}

/// Whether a finding that is not allowed does enough harm to be repaired.
fn needs_repair(
    evidence: &mut Evidence,
    harms: &Harms,
    fix: HarmLevel,
    settings: &Settings,
) -> bool {
    let (limit, target) = (&settings.limit, settings.options.target);
    let allowances = evidence.allowances(&[]);
    let (found, places) = evidence.findings();
    let violation = found.violations.iter().any(|finding| {
        let (access, _, kind) = finding.key;
        harms.counts(&finding.key, fix, target)
            && allowances.violation(access, kind).is_none()
            && limit.holds_violation(places, &finding.key)
    });
    violation
        || found.races.iter().any(|finding| {
            let race = &finding.first.race.race;
            let (first, second) = (race.first.site, race.second.site);
            allowances.race(first, second).is_none() && limit.holds_race(places, finding)
        })
}

/// Repair and verify, round by round, then report on all runs.
fn repaired(
    mut evidence: Evidence,
    mut harms: Harms,
    subject: Subject,
    settings: Settings,
    project: &Project,
    wanted: &RepairRequest,
    deadline: Deadline,
) -> Result<Examination, Stop> {
    let cost = wanted.cost.or(project.config.repair.cost);
    let cost = cost.unwrap_or_default();
    let mut repair_loop = RepairLoop::new(RepairTask {
        tree: settings.limit.path().unwrap_or(project.tree()),
        limit: &settings.limit,
        profile: profile(cost),
        options: &settings.options,
        deadline,
    });
    let mut result = loop {
        let names = wanted
            .annotate
            .then(|| finding_names(&mut evidence, &harms, &settings));
        let names = names.transpose()?;
        let target = settings.options.target;
        let left = harms.below(wanted.fix, target).copied().collect();
        let proposal = repair_loop.propose(&mut evidence, &left, names.as_ref())?;
        let seed = repair_loop.seed();
        let verification = VerificationPlan {
            settings: &settings,
            seed,
            fix: wanted.fix,
            deadline,
        };
        let trial = verify(&mut evidence, &proposal, project, verification)?;
        match repair_loop.conclude(&mut evidence, proposal, trial) {
            NextRound::Finished(result) => break *result,
            NextRound::Search => {}
            NextRound::RunOriginal => {
                let plan = RunPlan {
                    options: &settings.options,
                    seed: settings.options.seed.wrapping_add(evidence.summary().runs),
                    record: true,
                    predict: predicts(&settings.options),
                    stage: Stage::Running,
                    limit: RunLimit {
                        deadline,
                        share: SUGGEST_SHARE,
                    },
                };
                evidence = evidence.gather(&subject, plan)?;
                let deadline = deadline.share(HARM_SHARE);
                harms = evidence.judge_harm(&subject, &settings.options, deadline, harms)?;
            }
        }
    };
    result.sort_groups(&harms);
    let patch = match result.builds() {
        true => patch(&result.files)?,
        false => Patch::default(),
    };
    let inputs = RepairInputs {
        result: &result,
        profile: value_name(cost),
        patch: &patch.text,
    };
    let judged = Judged {
        harms: &harms,
        free: None,
    };
    let dossier = assemble_report(&mut evidence, judged, &subject, &settings, Some(inputs))?;
    Ok(Examination {
        dossier,
        options: settings.options,
        repair: RepairStage::Done(Box::new(Repaired {
            result,
            patch,
            tree: project.tree().to_owned(),
        })),
        folder: settings.folder,
    })
}

/// How a patched copy is verified.
struct VerificationPlan<'a> {
    settings: &'a Settings,
    /// The first seed.
    seed: u64,
    /// What findings are repaired.
    fix: HarmLevel,
    /// When everything has to be over.
    deadline: Deadline,
}

/// Verify: the patched copy is built and run as the original was, with seeds of
/// its own.
fn verify(
    original: &mut Evidence,
    proposal: &Proposal,
    project: &Project,
    plan: VerificationPlan<'_>,
) -> anyhow::Result<Trial> {
    let VerificationPlan {
        settings,
        seed,
        fix,
        deadline,
    } = plan;
    let options = &settings.options;
    let started = Instant::now();
    let without_runs = |verification| Trial {
        verification,
        runs: None,
        elapsed: started.elapsed(),
    };
    if proposal.files().is_empty() {
        return Ok(without_runs(Verification::NoPatch));
    }
    let subject = match project.prepare(proposal.files(), options, deadline)? {
        Prepared::Built(subject) => subject,
        Prepared::Failed(_) if interrupted() => {
            return Ok(without_runs(Verification::Interrupted));
        }
        Prepared::Failed(_) if deadline.is_over() => {
            return Ok(without_runs(Verification::OutOfTime));
        }
        Prepared::Failed(failure) => {
            return Ok(without_runs(Verification::DoesNotBuild(failure)));
        }
    };
    let rules = &settings.allow_rules;
    let (rules, scope, limit) = match &subject.copy {
        Some(copy) => (
            rules.in_copy(&copy.original, &copy.folder),
            settings.scope.in_copy(&copy.original, &copy.folder),
            settings.limit.in_copy(copy),
        ),
        None => (
            rules.clone(),
            settings.scope.clone(),
            settings.limit.clone(),
        ),
    };
    let plan = RunPlan {
        options,
        seed,
        record: true,
        // A repair is judged by what runs show.
        predict: false,
        stage: Stage::Verifying,
        limit: RunLimit {
            deadline,
            share: VERIFY_SHARE,
        },
    };
    let patched = Evidence::new(&settings.vocabularies, scope, rules);
    let mut patched = patched.gather(&subject, plan)?;
    let deadline = deadline.share(HARM_SHARE);
    let harms = patched.judge_harm(&subject, options, deadline, Harms::default())?;
    let left = harms.below(fix, options.target).copied().collect();
    Ok(Trial {
        verification: proposal.verify(original, &mut patched, &left, &limit),
        runs: Some(PatchedRuns {
            evidence: patched,
            copy: subject.copy,
        }),
        elapsed: started.elapsed(),
    })
}

/// Report: everything that is known, as data.
fn assemble_report(
    evidence: &mut Evidence,
    judged: Judged<'_>,
    subject: &Subject,
    settings: &Settings,
    repair: Option<RepairInputs<'_>>,
) -> anyhow::Result<Dossier> {
    let files = subject.files.iter();
    let files = files.filter(|file| settings.limit.holds_file(file));
    let inputs = ReportInputs {
        summary: evidence.summary(),
        fresh_starts: evidence.fresh_starts().clone(),
        seconds: evidence.elapsed().as_secs_f64(),
        files: files.cloned().collect(),
        programs: subject.commands.iter().map(|c| c.launch.name()).collect(),
        rerun: subject.commands.iter().map(|c| c.rerun.clone()).collect(),
        current_folder: std::env::current_dir().context("cannot find the current folder")?,
        baseline: baseline::notes(evidence.collected(), subject, &settings.options),
        fail_on: settings.options.fail_on,
        target: settings.options.target,
        limit: settings.limit.clone(),
        build_notes: subject.notes.clone(),
    };
    let allowances = evidence.allowances(&subject.files);
    let (collected, places) = evidence.findings();
    Ok(report::assemble(
        collected,
        places,
        &allowances,
        judged,
        inputs,
        repair,
    ))
}

/// What `check` and `run` come to: a report without a repair.
fn examine(subject: Subject, settings: Settings) -> Result<Examination, Stop> {
    let options = &settings.options;
    let deadline = Deadline::of(options, CHECK_TIME);
    let limit = RunLimit {
        deadline,
        share: CHECK_SHARE,
    };
    let mut evidence = run_and_collect(&subject, &settings, false, limit)?;
    let harm_deadline = match options.weak {
        Some(_) => deadline.share(WITH_FREE_RUNS_SHARE),
        None => deadline,
    };
    let mut harms = evidence.judge_harm(&subject, options, harm_deadline, Harms::default())?;
    let mut free = None;
    if let Some(how) = options.weak {
        let (runs, raised) = evidence.run_freely(&subject, options, how, deadline, harms)?;
        (free, harms) = (Some(runs), raised);
    }
    let judged = Judged {
        harms: &harms,
        free: free.as_ref(),
    };
    Ok(Examination {
        dossier: assemble_report(&mut evidence, judged, &subject, &settings, None)?,
        options: settings.options,
        repair: RepairStage::None,
        folder: settings.folder,
    })
}

/// The names that the findings have in a report of now.
fn finding_names(
    evidence: &mut Evidence,
    harms: &Harms,
    settings: &Settings,
) -> anyhow::Result<FindingNames> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    let allowances = evidence.allowances(&[]);
    let (collected, places) = evidence.findings();
    Ok(report::names(
        collected,
        places,
        &allowances,
        (harms, settings.options.target),
        &settings.limit,
        current,
    ))
}

/// Every file at a path that has atomic operations.
fn files_with_sites(path: &Path, vocabularies: &Vocabularies) -> anyhow::Result<Vec<PathBuf>> {
    let scan = scan_tree(&[path], vocabularies);
    let files = scan.files.iter().filter(|(_, file)| !file.sites.is_empty());
    let full = files.map(|(path, _)| path.canonicalize());
    Ok(full.collect::<Result<_, _>>()?)
}

/// Whether races are predicted: not from a schedule that somebody gave.
fn predicts(options: &RunOptions) -> bool {
    options.races == Races::Predict && options.replay.is_none()
}

fn profile(cost: Cost) -> Profile {
    match cost {
        Cost::Fewest => Profile::Fewest,
        Cost::X86 => Profile::X86,
        Cost::Arm64 => Profile::Arm64,
        Cost::Portable => Profile::Portable,
    }
}
