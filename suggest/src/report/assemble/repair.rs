//! The result of the repair loop → the report's repair: changes get their
//! places, the names of the findings they remove, and their words.

use std::path::Path;

use wmfix_frontend::Site;
use wmfix_rewriter::unified_diff;

use super::hunks::hunks;
use super::spots::{SpotFinder, site_place};
use super::{NamedFindings, RepairInputs};
use crate::explore::Exploration;
use crate::findings::sort_ids;
use crate::repair_loop::{
    ChangeSite, ExplainedChange, NeededChange, RemainingFindings, RemainingReason, RepairResult,
    Standing, Verification, group_patches,
};
use crate::report::change_words::{self, ChangeDescription};
use crate::report::model::{
    self, Position, Repair, Report, ReportedProof, UnrepairedFindings, VerificationOutcome,
};
use crate::report::proof_words::{ObstaclePlace, obstacle_text};
use crate::report::repair_words::{failure_text, repair_note_text};
use crate::report::words;
use crate::subject::PatchedFile;
use wmfix_repair::ChangeKind;

/// Puts the repair into a report that has its findings.
pub(super) fn add(
    report: &mut Report,
    repaired: &RepairInputs<'_>,
    found: &NamedFindings,
    spots: &mut SpotFinder<'_>,
) {
    let result = repaired.result;
    report
        .notes
        .extend(result.notes.iter().map(repair_note_text));
    report.unrepairable = all_unrepairable(&result.remaining, report, found, spots);
    report.candidate = candidate(result, report, found, spots);
    if !result.is_patch() {
        return;
    }
    let mut proof = None;
    let mut remaining = Vec::new();
    let mut others = 0;
    let mut free_runs = None;
    let (outcome, why, runs, schedules, missed) = match &result.verification {
        Verification::NoPatch
        | Verification::DoesNotBuild(_)
        | Verification::Interrupted
        | Verification::OutOfTime => return,
        Verification::Clean(verified) => {
            let exploration = verified.exploration.as_ref();
            proof = exploration.map(|explored| proof_of_patch(explored, verified.proved));
            remaining = found.names.of(&verified.still);
            others = verified.others;
            let free = verified.free_runs;
            free_runs = free.map(|(total, enough)| model::PatchedFreeRuns { total, enough });
            (
                VerificationOutcome::Held,
                None,
                verified.runs,
                verified.schedules,
                verified.missed.as_slice(),
            )
        }
        Verification::Fails(why) => (
            VerificationOutcome::NotEnough,
            Some(failure_text(why)),
            0,
            0,
            &[][..],
        ),
    };
    let mut missed: Vec<model::ReportedPlace> =
        missed.iter().map(|&site| spots.spot(site).place).collect();
    missed.sort();
    let changes: Vec<model::ReportedChange> = result
        .changes
        .iter()
        .map(|change| explained(change, report, found, spots))
        .collect();
    report.repair = Some(Repair {
        hunks: hunks(&result.files, &changes, spots),
        cost: result.cost,
        profile: repaired.profile.clone(),
        optimal: result.optimal,
        searched: model::SearchedRepairs {
            runs: result.recorded_runs,
            layers: result.layers,
            spared: result.spared,
            kinds: model::ReportedChangeKind::SEARCHED.to_vec(),
        },
        lower_bound: result.lower_bound,
        verified_runs: runs,
        verification: model::Verification {
            outcome,
            rounds: result.rounds,
            why,
            schedules,
            missed,
            remaining,
            others,
            free_runs,
            proof,
        },
        groups: groups(repaired, &changes, spots),
        patch: String::from_utf8_lossy(repaired.patch).into_owned(),
        changes,
    });
}

/// Changes that are no patch, if these are not.
fn candidate(
    result: &RepairResult,
    report: &Report,
    found: &NamedFindings,
    spots: &mut SpotFinder<'_>,
) -> Option<model::RepairCandidate> {
    let why = match (result.standing(), &result.verification) {
        (Standing::Patch | Standing::Nothing, _) => return None,
        (Standing::TooLarge, _) => model::NoPatch::TooLarge,
        (Standing::Candidate, Verification::Interrupted) => model::NoPatch::Interrupted,
        (Standing::Candidate, _) => model::NoPatch::OutOfTime,
    };
    let told = result.changes.iter();
    let told = told.filter(|_| why != model::NoPatch::TooLarge);
    let changes = told.map(|change| {
        let model::ReportedChange { place, what, .. } = explained(change, report, found, spots);
        model::CandidateChange { place, what }
    });
    Some(model::RepairCandidate {
        why,
        changes: changes.collect(),
        optimal: result.optimal,
    })
}

/// How far the exploration of the patched program came.
fn proof_of_patch(exploration: &Exploration, proved: bool) -> ReportedProof {
    let mut at = |_: ObstaclePlace<'_>| "a place of the patched program".to_owned();
    let obstacles = exploration.obstacles.iter();
    ReportedProof {
        complete: exploration.is_complete(),
        proved,
        classes: exploration.classes,
        runs: exploration.runs,
        open: exploration.open,
        estimate: exploration.estimate,
        obstacles: obstacles
            .map(|obstacle| obstacle_text(obstacle, exploration, &mut at))
            .collect(),
    }
}

fn groups(
    repaired: &RepairInputs<'_>,
    changes: &[model::ReportedChange],
    spots: &SpotFinder<'_>,
) -> Vec<model::Group> {
    let groups = &repaired.result.groups;
    let patches = group_patches(groups);
    let told = groups.iter().zip(&patches).map(|(group, patch)| {
        let mine = group
            .changes
            .iter()
            .filter_map(|&number| changes.get(number));
        let mut removes: Vec<String> = mine.flat_map(|c| c.removes.clone()).collect();
        sort_ids(&mut removes);
        let diffs = patch.iter().map(|file| {
            let name = spots.shown(&file.path);
            // What is not below the current folder applies in the root folder.
            let name = Path::new(name.trim_start_matches('/'));
            let diff = unified_diff(name, &file.before, &file.after);
            String::from_utf8_lossy(&diff).into_owned()
        });
        model::Group {
            changes: group.changes.clone(),
            removes,
            patch: diffs.collect(),
            edits: edits(&group.files, spots),
        }
    });
    told.collect()
}

/// What a group does to the files as they are.
fn edits(files: &[PatchedFile], spots: &SpotFinder<'_>) -> Vec<model::ReportedEdit> {
    let mut edits = Vec::new();
    for file in files {
        for edit in file.edits.edits() {
            edits.push(model::ReportedEdit {
                file: spots.shown(&file.path),
                from: Position::of(&file.before, edit.span.start),
                to: Position::of(&file.before, edit.span.end),
                text: String::from_utf8_lossy(&edit.text).into_owned(),
            });
        }
    }
    edits
}

fn explained(
    change: &ExplainedChange,
    report: &Report,
    found: &NamedFindings,
    spots: &mut SpotFinder<'_>,
) -> model::ReportedChange {
    let place = place(&change.at, spots);
    let removes = found.names.of(&change.reasons);
    let mut done = ChangeDescription::of(change.kind, change.before);
    let volatile = |site: &Site| &*site.vocabulary == "volatile";
    if done.kind == model::ReportedChangeKind::Order
        && change.at.text.as_ref().is_some_and(volatile)
    {
        done = done.of_volatile();
    }
    if change.before.is_plain() {
        done = done.of_plain();
    }
    model::ReportedChange {
        kind: done.kind,
        from: done.from,
        to: done.to,
        on_failure: done.on_failure,
        side: done.side,
        what: match change.other_callers {
            0 => done.what,
            1 => format!("{}; 1 other caller pays for it, too", done.what),
            count => format!("{}; {count} other callers pay for it, too", done.what),
        },
        without: without(report, &removes, Some(&place)),
        ensures: change_words::ensures(change.kind, change.before).to_owned(),
        price: change_words::price(change.kind, change.before),
        seed: seed_of(report, &removes),
        reached_runs: change.reached,
        covered: change.is_covered,
        removes,
        place,
    }
}

/// The seed of a run that shows the first of these findings.
fn seed_of(report: &Report, ids: &[String]) -> Option<u64> {
    let first = ids.first()?;
    let violation = report.violations.iter().find(|v| v.id == *first);
    let race = || report.races.iter().find(|race| race.id == *first);
    violation.map(|v| v.seed).or_else(|| race().map(|r| r.seed))
}

/// What goes wrong without a change here: the finding that shows it best.
fn without(report: &Report, ids: &[String], here: Option<&model::ReportedPlace>) -> String {
    let named = |id: &String| ids.contains(id);
    let violations = report.violations.iter().filter(|v| named(&v.id));
    // A finding of this very operation says more than one that it takes part
    // in, and a difference in the value is easier to see than one in what follows.
    let telling = violations.min_by_key(|v| {
        let of_this = here == Some(&v.access) || here == Some(&v.write);
        (!of_this, v.same_value)
    });
    let sentence = match telling {
        Some(violation) => words::what_happens(violation),
        None => match report.races.iter().find(|race| named(&race.id)) {
            Some(race) => words::what_races(race),
            None => "Without this change, findings remain.".to_owned(),
        },
    };
    match ids.len() {
        0 | 1 => sentence,
        2 => format!("{} (and one more like it).", sentence.trim_end_matches('.')),
        more => format!(
            "{} (and {} more like it).",
            sentence.trim_end_matches('.'),
            more - 1
        ),
    }
}

/// What remains, each once. What only other runs have is none of the report's findings:
/// it is told if nothing else is.
fn all_unrepairable(
    remaining: &[RemainingFindings],
    report: &Report,
    found: &NamedFindings,
    spots: &mut SpotFinder<'_>,
) -> Vec<UnrepairedFindings> {
    let is_named = |one: &&RemainingFindings| !found.names.of(&one.findings).is_empty();
    let named: Vec<&RemainingFindings> = remaining.iter().filter(is_named).collect();
    let told = match named.is_empty() {
        true => remaining.iter().take(1).collect(),
        false => named,
    };
    let mut all: Vec<UnrepairedFindings> = Vec::new();
    for one in told {
        let left = unrepairable(one, report, found, spots);
        let is_known = |known: &UnrepairedFindings| {
            (&known.findings, &known.text) == (&left.findings, &left.text)
        };
        if !all.iter().any(is_known) {
            all.push(left);
        }
    }
    all
}

fn unrepairable(
    remaining: &RemainingFindings,
    report: &Report,
    found: &NamedFindings,
    spots: &mut SpotFinder<'_>,
) -> UnrepairedFindings {
    let findings = found.names.of(&remaining.findings);
    let what = without(report, &findings, None);
    let without_place = |why: &str| UnrepairedFindings {
        findings: findings.clone(),
        place: None,
        text: format!("{what} {why}"),
    };
    let NeededChange { kind, at, refusal } = match &remaining.why {
        RemainingReason::Refused(needed) => &**needed,
        RemainingReason::NothingHelps => {
            return without_place("No stronger memory order and no fence prevents that.");
        }
        RemainingReason::OutOfTime => {
            return without_place(
                "No change that can be made prevents that; the time was up before it was known which other one would.",
            );
        }
    };
    let place = place(at, spots);
    let needed = match kind {
        ChangeKind::FenceBefore(order) => {
            let name = order.name();
            format!("{} {name} fence before", change_words::article(name))
        }
        ChangeKind::FenceAfter(order) => {
            let name = order.name();
            format!("{} {name} fence after", change_words::article(name))
        }
        raise => format!("{} for", change_words::order_name(*raise)),
    };
    UnrepairedFindings {
        findings,
        text: format!(
            "{what} It needs {needed} {} at {}, but {refusal}.",
            place.operation,
            place.point()
        ),
        place: Some(place),
    }
}

/// The place of a change.
pub(super) fn place(at: &ChangeSite, spots: &mut SpotFinder<'_>) -> model::ReportedPlace {
    match &at.text {
        Some(site) => {
            let order = spots.places.get(at.site).order;
            let order = order.map_or("", |order| order.name());
            site_place(site, spots.shown(&site.file), order.to_owned())
        }
        None => spots.spot(at.site).place,
    }
}
