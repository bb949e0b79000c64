//! The findings as rows of a table: what, where, how bad, how often, and which
//! changes remove them. Data only: text and page lay them out.

use super::causes;
use super::dossier::Dossier;
use super::failure_text;
use super::harm_words;
use super::model::{
    Failure, FailureWord, FenceSide, HarmWord, Race, Report, ReportedChange, ReportedChangeKind,
    ReportedPlace, StaleKind, Verification, VerificationOutcome, Violation,
};
use super::short_name::short_name;

/// One row: the findings of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The findings, the one that is shown first.
    pub ids: Vec<String>,
    /// What it is.
    pub what: String,
    /// Where the access is.
    pub place: String,
    /// How bad it is, in a word.
    pub harm: &'static str,
    /// How often it was seen.
    pub seen: String,
    /// What removes it; empty if nothing does.
    pub removed_by: String,
}

/// The rows of a report, the worst first: failures, races, then violations as the
/// report has them. Without what does not count or is known.
pub(super) fn rows(dossier: &Dossier) -> Vec<Row> {
    let report = &dossier.report;
    let violations: Vec<Violation> = (report.violations.iter())
        .filter(|violation| !is_aside(violation, report))
        .cloned()
        .collect();
    let races: Vec<Race> = (report.races.iter())
        .filter(|race| !report.is_known(&race.id))
        .cloned()
        .collect();
    let races = causes::of_races(&races).into_iter().map(|cause| {
        let others = cause.others.iter().map(|other| other.id.clone());
        race(cause.shown, others.collect(), dossier)
    });
    let failures = report.failures.iter();
    let mut rows: Vec<Row> = failures.map(|one| failure(one, report)).collect();
    rows.extend(races);
    rows.extend(causes::of_violations(&violations).into_iter().map(|cause| {
        let others = cause.others.iter().map(|other| other.id.clone());
        violation(cause.shown, others.collect(), report)
    }));
    rows
}

/// Whether a violation is told in a line at the end, because it does not count.
pub(super) fn is_aside(violation: &Violation, report: &Report) -> bool {
    !violation.counts || report.is_known(&violation.id)
}

/// A failure is where its first thread stood, if that is known.
fn failure(failure: &Failure, report: &Report) -> Row {
    let mut places = failure.threads.iter().map(|thread| &thread.place);
    let place = places.find(|place| place.line > 0);
    Row {
        ids: vec![failure.id.clone()],
        what: match failure.kind {
            FailureWord::Misuse => "misused lock".to_owned(),
            FailureWord::Deadlock => "deadlock".to_owned(),
            FailureWord::Livelock => "livelock".to_owned(),
            FailureWord::Timeout => "timeout".to_owned(),
            FailureWord::Signal | FailureWord::Exit => failure_text::what(failure),
        },
        place: place.map_or_else(|| failure.program.clone(), at),
        harm: "fails",
        seen: format!("{} of {} runs", failure.runs, report.runs.total),
        removed_by: String::new(),
    }
}

fn violation(violation: &Violation, others: Vec<String>, report: &Report) -> Row {
    let object = short_name(&violation.location);
    let ids = named(&violation.id, others);
    Row {
        what: match violation.kind {
            StaleKind::Read => format!("stale read of {object}"),
            StaleKind::Write => format!("early write to {object}"),
            StaleKind::Rmw => format!("stale update of {object}"),
        },
        place: at(&violation.access),
        harm: match violation.harm.as_ref().map(|harm| harm.verdict) {
            Some(word) => harm_words::name(word),
            None => harm_words::name(HarmWord::NotTried),
        },
        seen: format!("{} of {} runs", violation.runs, report.runs.total),
        removed_by: removed_by(&ids, &violation.access.file, report),
        ids,
    }
}

fn race(race: &Race, others: Vec<String>, dossier: &Dossier) -> Row {
    let report = &dossier.report;
    let sides = dossier.details.get(&race.id);
    let sides = sides.and_then(|detail| detail.race.as_ref());
    let seen = match (&race.prediction, sides) {
        (Some(_), _) | (None, None) => "predicted".to_owned(),
        (None, Some(sides)) => format!("{} of {} runs", sides.runs, report.runs.total),
    };
    let ids = named(&race.id, others);
    Row {
        what: match race.frees {
            Some(_) => format!("use of freed memory: {}", short_name(&race.location)),
            None => format!("data race on {}", short_name(&race.location)),
        },
        place: at(&race.second),
        harm: "race",
        seen,
        removed_by: removed_by(&ids, &race.second.file, report),
        ids,
    }
}

fn named(shown: &str, others: Vec<String>) -> Vec<String> {
    std::iter::once(shown.to_owned()).chain(others).collect()
}

fn at(place: &ReportedPlace) -> String {
    match place.line {
        0 => place.file.clone(),
        line => format!("{}:{line}", place.file),
    }
}

/// The changes that remove findings of one cause in some file, in short: the first
/// finding may stay away without any one of them, and the others may not. It is in part
/// where another change would be needed as well. Where the patch holds, a finding without
/// a change of its own is gone with the others, or does too little harm.
fn removed_by(ids: &[String], file: &str, report: &Report) -> String {
    let has = |removed: &[String]| removed.iter().any(|one| ids.contains(one));
    let changes = report.repair.as_ref().map_or(&[][..], |r| &r.changes);
    let changes = changes.iter().filter(|change| has(&change.removes));
    let told: Vec<String> = changes.map(|change| in_short(change, file)).collect();
    let verification = report.repair.as_ref().map(|r| &r.verification);
    let left = report.unrepairable.iter().any(|left| has(&left.findings))
        || verification.is_some_and(|shown| has(&shown.remaining));
    let held = |shown: &Verification| shown.outcome == VerificationOutcome::Held;
    let has_held = verification.is_some_and(held);
    match (told.is_empty(), left) {
        (false, false) => told.join(", "),
        (false, true) => format!("in part: {}", told.join(", ")),
        (true, true) => "no repair".to_owned(),
        (true, false) if has_held => "no own change".to_owned(),
        (true, false) => String::new(),
    }
}

fn in_short(change: &ReportedChange, file: &str) -> String {
    let what = match (change.kind, change.side) {
        (ReportedChangeKind::Order, _) => change.to.clone(),
        (ReportedChangeKind::Fence, Some(FenceSide::Before)) => "fence before".to_owned(),
        (ReportedChangeKind::Fence, _) => "fence after".to_owned(),
        (ReportedChangeKind::Move, Some(FenceSide::Before)) => "fence moves up from".to_owned(),
        (ReportedChangeKind::Move, _) => "fence moves down from".to_owned(),
        (ReportedChangeKind::Atomic, _) => format!("atomic, {}", change.to),
    };
    match change.place.file == file {
        true => format!("{what} line {}", change.place.line),
        false => format!("{what} {}", at(&change.place)),
    }
}
