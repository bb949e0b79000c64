//! Findings → the dossier: places get their text, findings their order and
//! their names, the repair its words. The last step that sees the analysis' own
//! types.

mod allowed;
mod assembly;
mod cause_names;
mod ends;
mod failures;
mod findings;
mod free;
mod hidden;
mod hunks;
mod notice;
mod outside;
mod relaxation;
mod repair;
mod sites;
mod spots;
mod stable_ids;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::baseline_words::baseline_text;
use super::dossier::{Dossier, FindingDetail, Seconds, Spot};
use super::failure_words::incomplete_text;
use super::harm_words;
use super::model::{
    self, Finding, Report, ReportedFreeRuns, ReportedProof, Runs, VERSION, Verdict,
};
use super::proof_words::{ObstaclePlace, obstacle_text, proof_text};
use super::start_words::{LEFT_BEHIND, fresh_start_text};
use crate::allow::Allowances;
use crate::baseline::BaselineNote;
use crate::cli::Target;
use crate::explore::Exploration;
use crate::findings::{CollectedFindings, FindingKey, FindingNames, ViolationFinding};
use crate::harm::{FreeRuns, Harms, Notice};
use crate::observe::Places;
use crate::options::value_name;
use crate::path_limit::PathLimit;
use crate::repair_loop::RepairResult;
use crate::run::{FreshStart, StopReason, Summary};
use crate::subject::RerunCommand;
use allowed::AppliedAllowances;
use cause_names::{CauseKey, CauseNames};
use spots::SpotFinder;
use stable_ids::StableIds;

pub(crate) use relaxation::{RelaxInputs, add_relaxation};

/// What a report needs beside the findings.
#[derive(Debug)]
pub(crate) struct ReportInputs {
    /// What the loop did.
    pub summary: Summary,
    /// Why programs were started anew for every run.
    pub fresh_starts: BTreeSet<FreshStart>,
    /// Whether processes outlived their runs.
    pub left_behind: bool,
    /// How long it took.
    pub seconds: f64,
    /// Files whose sites are to be counted, absolute.
    pub files: Vec<PathBuf>,
    /// The name of each program.
    pub programs: Vec<String>,
    /// How to run each program again.
    pub rerun: Vec<RerunCommand>,
    /// The folder that paths are shown relative to.
    pub current_folder: PathBuf,
    /// What is wrong with the program as it is.
    pub baseline: Vec<BaselineNote>,
    /// The machines that findings are reported for.
    pub target: Target,
    /// What the report is limited to.
    pub limit: PathLimit,
    /// What the user should know about the build.
    pub build_notes: Vec<String>,
    /// How far an exploration of all runs came.
    pub exploration: Option<Exploration>,
}

/// A repair for the report.
pub(crate) struct RepairInputs<'a> {
    /// What came of the repair loop.
    pub result: &'a RepairResult,
    /// What changes were weighed by.
    pub profile: String,
    /// All of it as one unified diff.
    pub patch: &'a [u8],
}

/// What stale values were seen to do.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    /// The verdicts on the violations.
    pub harms: &'a Harms,
    /// What free runs showed, if there were any.
    pub free: Option<&'a FreeRuns>,
    /// What the tests notice, where it was measured.
    pub notices: &'a [Notice],
}

/// Puts the dossier together.
pub(crate) fn assemble(
    collected: &CollectedFindings,
    places: &mut Places,
    allowances: &Allowances,
    Judged {
        harms,
        free,
        notices,
    }: Judged<'_>,
    setting: ReportInputs,
    repaired: Option<RepairInputs<'_>>,
) -> Dossier {
    let mut spots = SpotFinder {
        places,
        current_folder: setting.current_folder,
    };
    let mut found = NamedFindings::default();
    let mut applied = AppliedAllowances::new(allowances);
    let judged = Judgement {
        harms,
        rerun: &setting.rerun,
        target: setting.target,
        limit: &setting.limit,
    };
    let mut violations = found.violations(collected, &mut spots, &mut applied, judged);
    let races = found.races(collected, &mut spots, &mut applied, &setting.limit);
    let outside = outside::outside(collected, &mut spots, allowances, judged);
    let inside = collected.violations.iter();
    let inside = inside.filter(|one| setting.limit.holds_violation(spots.places, &one.key));
    let all = inside.count();
    let hidden = all - violations.len() - applied.violations();
    let (sites, inventory) = sites::sites(&mut spots, collected, &setting.files, &setting.limit);
    let mut notes = Vec::new();
    notes.extend(assembly::notes(&mut spots, &setting.files, &races));
    if hidden > 0 {
        let target = value_name(setting.target);
        notes.push(format!(
            "{hidden} of {all} violations are left out: {target} cannot show them"
        ));
    }
    notes.extend(hidden::libraries(collected, spots.places));
    let (unconfirmed, on_unconfirmed) =
        hidden::unconfirmed(collected, &mut spots, &mut found.traces);
    notes.extend(on_unconfirmed);
    match setting.summary.stopped {
        StopReason::Quiet => {}
        StopReason::TimeUp if setting.summary.runs == 0 => notes.push(
            "the time was up before the first run had ended: give it more with --time, or name a shorter test after --"
                .to_owned(),
        ),
        StopReason::TimeUp if collected.was_out_of_time() => notes.push(
            "the time was up before the first run had ended: what was done until then was checked, and nothing after that; give it more with --time, or name a shorter test after --"
                .to_owned(),
        ),
        StopReason::TimeUp => notes.push(
            "stopped at the time limit, before the runs were complete: --time gives them more"
                .to_owned(),
        ),
        StopReason::Interrupted => {
            notes.push("interrupted: these results are incomplete".to_owned())
        }
    }
    notes.extend(
        setting
            .fresh_starts
            .iter()
            .map(|&why| fresh_start_text(why)),
    );
    if setting.left_behind {
        notes.push(LEFT_BEHIND.to_owned());
    }
    let free_runs = free.map(|free| {
        let (runs, choices) = free::reported(&mut spots, free, &setting.rerun);
        notes.extend(free::notes(&runs, free.lost));
        (runs, choices)
    });
    let (free_runs, choices) = free_runs.unzip();
    if free_runs
        .as_ref()
        .is_some_and(ReportedFreeRuns::are_missing)
    {
        // Nobody knows what stale values do together.
        for violation in &mut violations {
            violation.counts = true;
        }
    }
    let choices: BTreeMap<String, Vec<Spot>> = choices.unwrap_or_default();
    let free_count = |runs: &ReportedFreeRuns| {
        let mut all = runs.findings.iter();
        all.any(|finding| finding.harm.verdict == model::HarmWord::Harmful)
    };
    let any = violations.iter().any(|violation| violation.counts)
        || !races.is_empty()
        || outside
            .as_ref()
            .is_some_and(|outside| !outside.counted.is_empty())
        || free_runs.as_ref().is_some_and(free_count);
    let notices: Vec<_> = notices
        .iter()
        .map(|one| notice::reported(&mut spots, one, &setting.programs, harms.criterion()))
        .collect();
    let failures = failures::failures(&mut spots, collected, &setting.programs, &setting.rerun);
    let never_worked =
        collected.every_run_failed() || collected.no_run_complete() || setting.summary.runs == 0;
    let incomplete = collected.incomplete_runs();
    if incomplete > 0 {
        notes.push(incomplete_text(incomplete, setting.summary.runs));
    }
    let unchecked = never_worked || collected.has_unreported();
    let verdict = match (any, unchecked, failures.is_empty()) {
        (true, ..) => Verdict::Findings,
        (false, true, _) if never_worked || failures.is_empty() => Verdict::Failed,
        (false, _, false) => Verdict::Findings,
        (false, _, true) => Verdict::Clean,
    };
    let nothing = !any && failures.is_empty() && incomplete == 0 && collected.shows_nothing();
    let proof = setting
        .exploration
        .map(|exploration| proof(&mut spots, &exploration, nothing));
    if let Some(proof) = &proof {
        let why = proof.obstacles.iter().cloned();
        notes.splice(0..0, std::iter::once(proof_text(proof)).chain(why));
    }
    notes.extend(ends::ends(collected));
    notes.extend(applied.notes(&spots));
    notes.extend(setting.build_notes);
    let mut report = Report {
        version: VERSION,
        verdict,
        criterion: notice::criterion(harms.criterion()),
        notices,
        runs: Runs {
            total: setting.summary.runs,
            incomplete,
            distinct_schedules: collected.distinct_schedules(),
            events: collected.events,
            seconds: setting.seconds,
        },
        sites,
        failures,
        violations,
        races,
        outside,
        free_runs,
        proof,
        repair: None,
        candidate: None,
        relaxation: None,
        unrepairable: Vec::new(),
        notes,
        allowed: applied.allowed,
        baseline: None,
    };
    let mut seconds = Seconds {
        runs: setting.seconds,
        ..Seconds::default()
    };
    if let Some(repaired) = repaired {
        seconds.search = repaired.result.search_time.as_secs_f64();
        seconds.verification = repaired.result.verification_time.as_secs_f64();
        // The clock has been running all the time.
        seconds.runs = (setting.seconds - seconds.search - seconds.verification).max(0.0);
        repair::add(&mut report, &repaired, &found, &mut spots);
    }
    let baseline = setting.baseline.iter().map(baseline_text);
    report.notes.extend(baseline);
    let sources = found.sources(&mut spots, &choices);
    Dossier {
        report,
        choices,
        sources,
        inventory,
        details: found.details,
        unconfirmed,
        traces: found.traces,
        rerun: setting.rerun,
        output: collected.output_that_matters().map(str::to_owned),
        seconds,
    }
}

/// How far an exploration came, for the report.
fn proof(spots: &mut SpotFinder<'_>, exploration: &Exploration, nothing: bool) -> ReportedProof {
    let complete = exploration.is_complete();
    let mut at = |place: ObstaclePlace<'_>| match place {
        ObstaclePlace::Site(site) => super::words::at(&spots.spot(site).place),
        ObstaclePlace::File(file) => spots.shown(file),
    };
    let obstacles = exploration.obstacles.iter();
    ReportedProof {
        complete,
        proved: complete && nothing,
        classes: exploration.classes,
        runs: exploration.runs,
        open: exploration.open,
        estimate: exploration.estimate,
        obstacles: obstacles
            .map(|obstacle| obstacle_text(obstacle, exploration, &mut at))
            .collect(),
    }
}

/// The names that the findings would have in a report of now.
pub(crate) fn names(
    collected: &CollectedFindings,
    places: &mut Places,
    allowances: &Allowances,
    (harms, target): (&Harms, Target),
    limit: &PathLimit,
    current_folder: PathBuf,
) -> FindingNames {
    let mut spots = SpotFinder {
        places,
        current_folder,
    };
    let mut found = NamedFindings::default();
    let mut applied = AppliedAllowances::new(allowances);
    let judged = Judgement {
        harms,
        rerun: &[],
        target,
        limit,
    };
    found.violations(collected, &mut spots, &mut applied, judged);
    found.races(collected, &mut spots, &mut applied, limit);
    found.names
}

/// What is known about the harm of violations.
#[derive(Clone, Copy)]
struct Judgement<'a> {
    harms: &'a Harms,
    rerun: &'a [RerunCommand],
    target: Target,
    limit: &'a PathLimit,
}

/// What is kept about findings beside the report.
#[derive(Default)]
struct NamedFindings {
    details: BTreeMap<String, FindingDetail>,
    traces: BTreeMap<String, Arc<[u8]>>,
    names: FindingNames,
    stable_ids: StableIds,
    causes: CauseNames,
}

impl NamedFindings {
    fn add(
        &mut self,
        (id, stable_id): (&str, &str),
        detail: FindingDetail,
        trace: &Option<Arc<[u8]>>,
        key: FindingKey,
    ) {
        self.details.insert(id.to_owned(), detail);
        if let Some(trace) = trace {
            self.traces.insert(id.to_owned(), Arc::clone(trace));
        }
        self.names.insert(key, id, stable_id);
    }

    /// The text of the files that the findings are in, where it can be shown.
    fn sources(
        &self,
        spots: &mut SpotFinder<'_>,
        choices: &BTreeMap<String, Vec<Spot>>,
    ) -> BTreeMap<PathBuf, String> {
        let details = self.details.values();
        let spotted =
            details.flat_map(|detail| std::iter::once(&detail.access).chain(&detail.other));
        let spotted = spotted.chain(choices.values().flatten());
        let paths: BTreeSet<&PathBuf> = spotted.filter_map(|spot| spot.path.as_ref()).collect();
        let read = paths.into_iter().filter_map(|path| {
            let file = spots.places.sources.file(path)?;
            let text = String::from_utf8(file.text.clone()).ok()?;
            Some((path.clone(), text))
        });
        read.collect()
    }

    fn violations(
        &mut self,
        collected: &CollectedFindings,
        spots: &mut SpotFinder<'_>,
        applied: &mut AppliedAllowances<'_>,
        judged: Judgement<'_>,
    ) -> Vec<model::Violation> {
        let mut drafts = Vec::new();
        let shown = |finding: &ViolationFinding, places: &Places| {
            let harm = judged.harms.get(&finding.key);
            harm.is_none_or(|harm| harm.shows_on(judged.target))
                && judged.limit.holds_violation(places, &finding.key)
        };
        for finding in &collected.violations {
            if !shown(finding, spots.places) {
                continue;
            }
            let (mut violation, mut detail) = findings::violation(spots, finding);
            if let Some(harm) = judged.harms.get(&finding.key) {
                let machines = harm_words::machines(harm.machine);
                let (harm, last_words) = findings::harm(spots, harm, judged.rerun);
                violation.harm = Some(harm);
                violation.counts = judged.harms.counts(&finding.key, judged.target);
                violation.machines = machines;
                detail.last_words = last_words;
            }
            let allowance = applied.allowances.violation(finding.key.0, finding.key.2);
            drafts.push((violation, detail, finding, allowance));
        }
        // What is allowed comes last, so that the others' names have no gaps. The
        // worst comes first.
        fn worst(violation: &model::Violation) -> Option<model::HarmWord> {
            violation.harm.as_ref().map(|harm| harm.verdict)
        }
        drafts.sort_by(|(a, _, _, one), (b, _, _, other)| {
            let key = (one.is_some(), worst(a), &a.access, &a.write, a.kind);
            key.cmp(&(other.is_some(), worst(b), &b.access, &b.write, b.kind))
        });
        let mut violations = Vec::new();
        for (number, (mut violation, detail, finding, allowance)) in (1..).zip(drafts) {
            violation.id = format!("V{number}");
            violation.stable_id = self.stable_ids.of_violation(violation.kind, &detail);
            violation.cause = self.causes.of(CauseKey::Access(finding.key.0));
            let (access, write, kind) = finding.key;
            let key = (access, write, Some(kind));
            let names = (violation.id.as_str(), violation.stable_id.as_str());
            self.add(names, detail, &finding.first.trace, key);
            match allowance {
                Some(allowance) => {
                    let id = violation.id.clone();
                    applied.allow(id, Finding::Violation(violation), allowance, spots);
                }
                None => violations.push(violation),
            }
        }
        violations
    }

    fn races(
        &mut self,
        collected: &CollectedFindings,
        spots: &mut SpotFinder<'_>,
        applied: &mut AppliedAllowances<'_>,
        limit: &PathLimit,
    ) -> Vec<model::Race> {
        let mut drafts = Vec::new();
        for finding in &collected.races {
            if !limit.holds_race(spots.places, finding) {
                continue;
            }
            let (race, detail) = findings::race(spots, finding);
            let sides = &finding.first.race.race;
            let allowance = applied.allowances.race(sides.first.site, sides.second.site);
            drafts.push((race, detail, finding, allowance));
        }
        drafts.sort_by(|(a, _, _, one), (b, _, _, other)| {
            let key = (one.is_some(), &a.first, &a.second);
            key.cmp(&(other.is_some(), &b.first, &b.second))
        });
        let mut races = Vec::new();
        for (number, (mut race, detail, finding, allowance)) in (1..).zip(drafts) {
            race.id = format!("R{number}");
            race.stable_id = self.stable_ids.of_race(&detail);
            race.cause = self.causes.of(CauseKey::of_race(finding, spots.places));
            let (one, other) = finding.key;
            let names = (race.id.as_str(), race.stable_id.as_str());
            self.add(
                names,
                detail,
                &finding.first.trace,
                (one, Some(other), None),
            );
            match allowance {
                Some(allowance) => {
                    let id = race.id.clone();
                    applied.allow(id, Finding::Race(race), allowance, spots);
                }
                None => races.push(race),
            }
        }
        races
    }
}
