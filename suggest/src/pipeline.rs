//! The stages of an examination in their order: prepare, run and collect, repair,
//! verify, report. The only file that names them all. Each stage takes the values
//! of the stages before it and gives one of its own; the one loop is repair and
//! verify, where a patched copy goes through the first stages once more.

mod criterion;
mod free;
mod modest;
mod relax;
mod repair;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use wmfix_frontend::{Vocabularies, scan_tree};
use wmfix_repair::Profile;

use crate::baseline;
use crate::cli::{Cost, Races, Target, Volatile};
use crate::evidence::{Evidence, NotRun, RunLimit, RunPlan};
use crate::exit::{ExitStatus, Stop};
use crate::findings::FindingNames;
use crate::harm::{Extent, Harms};
use crate::observe::{EventKind, Sources};
use crate::options::RunOptions;
use crate::patch::Patch;
use crate::path_limit::PathLimit;
use crate::preparation::{Settings, find_project, prepare, prepare_command};
use crate::progress::Stage;
use crate::project::left_out;
use crate::repair_loop::RepairResult;
use crate::report::{self, Dossier, Judged, RepairInputs, ReportInputs};
use crate::run::{Deadline, StopReason, interrupted};
use crate::shard_number::Shard;
use crate::shards::{ProgramRecord, Selection, ShardFile, ShardSettings};
use crate::stopped;
use crate::subject::Subject;
use repair::{Found, repaired};

pub(crate) use crate::preparation::Request;
pub(crate) use relax::{RelaxRequest, RelaxStage, Relaxed, relax};

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

/// The same for what the tests notice.
const NOTICE_SHARE: f64 = 0.2;

/// The same where free runs may follow.
const WITH_FREE_RUNS_SHARE: f64 = 0.6;

/// What a repair is asked for.
pub(crate) struct RepairRequest {
    /// The cost model, if it is not the project's.
    pub cost: Option<Cost>,
    /// Whether changes name the findings they remove in the text.
    pub annotate: bool,
    /// Whether the sites of files that are part of no test are counted too.
    pub all_files: bool,
    /// How much is measured of what the tests notice.
    pub extent: Extent,
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
    /// All changes as one diff; empty if it was not built and run.
    pub patch: Patch,
    /// The folder whose files may be changed.
    pub tree: PathBuf,
}

/// Builds and runs what is at a path, and reports.
pub(crate) fn check(request: Request) -> Result<Examination, Stop> {
    let (mut settings, project) = find_project(request)?;
    let subject = prepare(&project, &mut settings)?;
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
    let (mut settings, project) = find_project(request)?;
    let mut subject = prepare(&project, &mut settings)?;
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
    let takes_volatile = settings.volatile_is_open && races_on_volatile(&mut evidence, &settings);
    if takes_volatile {
        let plain = settings.vocabularies.clone();
        settings.options.volatile = Volatile::Relaxed;
        settings.vocabularies = plain.clone().and_volatile();
        let again = Subject {
            files: subject.files.clone(),
            ..prepare(&project, &mut settings)?
        };
        let mut taken = run_and_collect(&again, &settings, true, limit)?;
        let within = (&settings.limit, settings.options.target);
        match needs_repair(&mut taken, &Harms::default(), within) {
            true => (evidence, subject) = (taken, again),
            // What remains are races on the volatile objects themselves.
            false => (settings.options.volatile, settings.vocabularies) = (Volatile::Ignore, plain),
        }
    }
    let harms = evidence.judge_harm(
        &subject,
        &settings.options,
        deadline.share(HARM_SHARE),
        Harms::by(criterion::at_first(&settings.options)),
    )?;
    let free_deadline = deadline.share(HARM_SHARE);
    let due = free::run_freely(&mut evidence, &subject, &settings, free_deadline, harms)?;
    let (free, mut harms) = due;
    let notices = criterion::decide(
        &evidence,
        &subject,
        &settings,
        wanted.extent,
        (deadline.share(NOTICE_SHARE), &mut harms),
    )?;
    let judged = Judged {
        harms: &harms,
        free: free.as_ref(),
        notices: &notices,
    };
    let dossier = assemble_report(&mut evidence, judged, &subject, &settings, None)?;
    let within = (&settings.limit, settings.options.target);
    let repair = match needs_repair(&mut evidence, &harms, within) {
        false => RepairStage::None,
        // A part of the runs is not repaired: `merge` does that for all of them.
        true if settings.options.shard.is_some() => RepairStage::None,
        true if evidence.collected().every_run_failed() => RepairStage::NeverWorks,
        true => {
            let found = Found {
                evidence,
                harms,
                free,
                notices,
                subject,
            };
            return repaired(found, settings, &project, wanted, deadline);
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
    require_same_sources(subject, settings)?;
    let options = &settings.options;
    let selection = match (&settings.merged, options.shard) {
        (Some(merged), _) => Selection::Merged(merged),
        (None, Some(shard)) => Selection::Shard {
            shard,
            runs: options.sharded_runs,
        },
        (None, None) => Selection::UntilQuiet,
    };
    let resumed = match (options.resume, record) {
        (false, _) => None,
        (true, false) => Some(stopped::find(subject, options).map_err(Stop::usage)?),
        (true, true) => {
            return Err(Stop::usage(
                "--resume goes on with the exploration of `wmfix check` or `wmfix run`",
            ));
        }
    };
    let plan = RunPlan {
        options,
        seed: options.seed,
        // What would be kept for a repair has to be made again by a merge.
        record: record || options.shard.is_some(),
        predict: predicts(options),
        stage: Stage::Running,
        limit,
        selection,
        resumed: resumed.as_ref(),
    };
    let (scope, rules) = (settings.scope.clone(), settings.allow_rules.clone());
    let evidence = Evidence::new(&settings.vocabularies, scope, rules);
    let mut evidence = evidence.gather(subject, plan)?;
    settings.limit.read_macros(evidence.places());
    if options.exhaustive && !record && settings.merged.is_none() {
        stopped::keep(subject, options, evidence.take_stopped())?;
    }
    require_run(evidence, subject, options)
}

/// Stops unless the subject could be examined; writes the file of a shard.
fn require_run(
    mut evidence: Evidence,
    subject: &Subject,
    options: &RunOptions,
) -> Result<Evidence, Stop> {
    match evidence.not_run() {
        None => {
            if let Some(shard) = options.shard {
                let file = write_shard(shard, evidence.take_shard(), subject, options)?;
                if !options.quiet {
                    eprintln!("wmfix: wrote {}", shown_path(&file));
                }
            }
            Ok(evidence)
        }
        Some(not_run) => {
            let text = report::not_run_text(not_run, subject);
            Err(match not_run {
                NotRun::NotInstrumented {
                    output: Some(output),
                } if subject.must_pass => {
                    // A test command may compile, too.
                    let lacked = subject
                        .copy
                        .as_ref()
                        .and_then(|copy| left_out(output, &copy.original, &copy.folder));
                    let hint = lacked.map(|file| report::left_out_text(&file));
                    let text = text + &hint.unwrap_or_default();
                    Stop::new(ExitStatus::Failed, text).with_output(output.clone())
                }
                NotRun::TookTooLong { .. } => Stop::new(ExitStatus::Failed, text),
                _ => Stop::usage(text),
            })
        }
    }
}

/// Writes the file of a shard.
fn write_shard(
    shard: Shard,
    programs: Vec<ProgramRecord>,
    subject: &Subject,
    options: &RunOptions,
) -> anyhow::Result<PathBuf> {
    let settings = shard_settings(subject, options, shard.total())?;
    let words = std::env::args_os().skip(1).map(|word| {
        let text = word.into_string();
        text.map_err(|word| anyhow::anyhow!("{word:?} cannot be written down: it is no Unicode"))
    });
    let command = words.collect::<Result<_, _>>()?;
    ShardFile::new(shard, settings, command, programs).write(&options.shard_dir)
}

/// What all shards of this examination have in common.
fn shard_settings(
    subject: &Subject,
    options: &RunOptions,
    shards: u64,
) -> anyhow::Result<ShardSettings> {
    let mut sources = blake3::Hasher::new();
    let mut files = subject.files.clone();
    files.sort();
    for file in &files {
        sources.update(shown_path(file).as_bytes());
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        sources.update(blake3::hash(&text).as_bytes());
    }
    Ok(ShardSettings {
        wmfix: format!(
            "{} {}",
            env!("CARGO_PKG_VERSION"),
            env!("WMFIX_RUNTIME_HASH")
        ),
        shards,
        runs: options.sharded_runs,
        seed: options.seed,
        options: options.to_repeat_all(),
        sources: sources.finalize().to_hex()[..32].to_owned(),
    })
}

/// Stops unless the shards that are put together were made from these sources.
fn require_same_sources(subject: &Subject, settings: &Settings) -> Result<(), Stop> {
    let Some(merged) = &settings.merged else {
        return Ok(());
    };
    let here = shard_settings(subject, &settings.options, merged.settings.shards)?;
    let why = match &merged.settings {
        shards if shards.wmfix != here.wmfix => "another wmfix",
        shards if shards.sources != here.sources => "other sources than those that are here now",
        _ => return Ok(()),
    };
    Err(Stop::usage(format_args!(
        "the shards were made with {why}: run them again"
    )))
}

/// Whether a race is on an object that is accessed as a volatile one.
fn races_on_volatile(evidence: &mut Evidence, settings: &Settings) -> bool {
    let mut sources = Sources::new(settings.vocabularies.clone().and_volatile());
    let (found, places) = evidence.findings();
    let mut sides = found.races.iter().flat_map(|finding| {
        let race = &finding.first.race.race;
        [race.first.site, race.second.site]
    });
    sides.any(|site| {
        let place = places.get(site);
        let kind = match place.kind {
            EventKind::Write => EventKind::Store,
            EventKind::Read => EventKind::Load,
            _ => return false,
        };
        let site = place.point.as_ref().and_then(|at| sources.site(at, kind));
        site.is_some_and(|site| &*site.vocabulary == "volatile")
    })
}

/// Whether a finding that is not allowed does enough harm to be repaired.
fn needs_repair(
    evidence: &mut Evidence,
    harms: &Harms,
    (limit, target): (&PathLimit, Target),
) -> bool {
    let allowances = evidence.allowances(&[]);
    let (found, places) = evidence.findings();
    let violation = found.violations.iter().any(|finding| {
        let (access, _, kind) = finding.key;
        harms.counts(&finding.key, target)
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
    let mut summary = evidence.summary();
    if interrupted() {
        // After the last run, perhaps: whatever stage it was, it is not complete.
        summary.stopped = StopReason::Interrupted;
    }
    let inputs = ReportInputs {
        summary,
        fresh_starts: evidence.fresh_starts().clone(),
        left_behind: evidence.has_left_behind(),
        seconds: evidence.elapsed().as_secs_f64(),
        files: files.cloned().collect(),
        programs: subject.commands.iter().map(|c| c.launch.name()).collect(),
        rerun: subject.commands.iter().map(|c| c.rerun.clone()).collect(),
        current_folder: std::env::current_dir().context("cannot find the current folder")?,
        baseline: baseline::notes(evidence.collected(), subject, &settings.options),
        target: settings.options.target,
        limit: settings.limit.clone(),
        build_notes: subject.notes.clone(),
        exploration: evidence.exploration().cloned(),
    };
    let allowances = evidence.allowances(&subject.files);
    let (collected, places) = evidence.findings();
    let mut dossier = report::assemble(collected, places, &allowances, judged, inputs, repair);
    let options = &settings.options;
    if let (Some(known), Some(file)) = (&settings.baseline, &options.baseline) {
        let name = shown_path(file);
        let failed = collected.every_run_failed() || collected.no_run_complete();
        known.apply(&name, &mut dossier, failed);
    }
    report::add_outside_note(&mut dossier);
    if let Some(merged) = settings.merged.as_ref().filter(|m| !m.cut_short.is_empty()) {
        let numbers: Vec<String> = merged.cut_short.iter().map(u64::to_string).collect();
        dossier.report.notes.push(format!(
            "of {} shards these ended before their last run: {}",
            merged.settings.shards,
            numbers.join(", ")
        ));
    }
    Ok(dossier)
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
    let harm_deadline = deadline.share(WITH_FREE_RUNS_SHARE);
    let none = Harms::by(criterion::at_first(options));
    let mut harms = evidence.judge_harm(&subject, options, harm_deadline, none)?;
    if options.weak.is_none() && harms.out_of_time().next().is_some() {
        // What is not judged counts: no free runs are due.
        harms = evidence.judge_harm(&subject, options, deadline, harms.without_late())?;
    }
    let free_deadline = deadline.share(1.0 - NOTICE_SHARE);
    let due = free::run_freely(&mut evidence, &subject, &settings, free_deadline, harms)?;
    let (free, mut harms) = due;
    let notices = criterion::decide(
        &evidence,
        &subject,
        &settings,
        Extent::Whether,
        (deadline, &mut harms),
    )?;
    let judged = Judged {
        harms: &harms,
        free: free.as_ref(),
        notices: &notices,
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

/// A path as reports have it: relative to the current folder where it lies in it.
fn shown_path(path: &Path) -> String {
    let current = std::env::current_dir().ok();
    let inside = current.and_then(|current| Some(path.strip_prefix(current).ok()?.to_owned()));
    inside.as_deref().unwrap_or(path).display().to_string()
}

/// Whether races are predicted: not from a schedule that somebody gave.
fn predicts(options: &RunOptions) -> bool {
    options.races == Races::Predict && options.replay.is_none() && !options.exhaustive
}

fn profile(cost: Cost) -> Profile {
    match cost {
        Cost::Fewest => Profile::Fewest,
        Cost::X86 => Profile::X86,
        Cost::Arm64 => Profile::Arm64,
        Cost::Portable => Profile::Portable,
    }
}
