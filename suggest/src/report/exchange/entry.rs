//! Findings as entries of a list: where, how bad, in one paragraph.

use crate::report::dossier::{Dossier, FindingDetail, Spot};
use crate::report::model::{
    Failure, Finding, HarmWord, Position, Race, ReportedChange, ReportedFreeFinding, ReportedPlace,
    Violation,
};
use crate::report::{failure_text, fingerprint, harm_words, object_words, words};

/// A finding.
pub(super) struct Entry<'a> {
    /// Its name in the report.
    pub id: &'a str,
    /// The rule: what kind of finding it is.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The headline.
    pub title: String,
    /// All of it in a paragraph, with what removes it.
    pub text: String,
    /// The access.
    pub place: &'a ReportedPlace,
    /// The text of the access.
    pub range: Option<(Position, Position)>,
    /// The other side, and what happens there.
    pub other: Option<(&'a ReportedPlace, String)>,
    /// The same for the same finding in another run.
    pub fingerprint: String,
    /// The command that shows it again.
    pub again: String,
    /// Why it does not count, if it does not.
    pub excuse: Option<String>,
}

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// The program fails, or behaves in an undefined way.
    Error,
    /// It may.
    Warning,
    /// It does not.
    Note,
}

/// Why a finding is listed that does not make the command fail.
const NOT_COUNTED: &str = "no failing run is known that takes it";

/// All findings, those that are allowed last.
pub(super) fn entries(dossier: &Dossier) -> Vec<Entry<'_>> {
    let report = &dossier.report;
    let prints = fingerprint::lasting_names(dossier);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let total = report.runs.total;
    entries.extend(report.failures.iter().map(|one| failure(one, total)));
    let violations = report.violations.iter();
    entries.extend(violations.map(|one| violation(one, dossier)));
    entries.extend(report.races.iter().map(|one| race(one, dossier)));
    let free_findings = report.free_findings().iter();
    entries.extend(free_findings.filter_map(|one| free(one, dossier)));
    for entry in &mut entries {
        let known = report.baseline.as_ref();
        if let Some(known) = known.filter(|known| known.has(entry.id)) {
            entry.excuse = Some(format!("known: listed in {}", known.file));
        }
    }
    for allowed in &report.allowed {
        let mut entry = match &allowed.finding {
            Finding::Violation(one) => violation(one, dossier),
            Finding::Race(one) => race(one, dossier),
        };
        let (reason, by) = (&allowed.reason, &allowed.by);
        entry.excuse = Some(format!("allowed by {}:{}: {reason}", by.file, by.line));
        entries.push(entry);
    }
    for entry in &mut entries {
        if let Some(print) = prints.get(entry.id) {
            entry.fingerprint = print.clone();
        }
    }
    entries
}

fn violation<'a>(violation: &'a Violation, dossier: &'a Dossier) -> Entry<'a> {
    let detail = dossier.details.get(&violation.id);
    let mut text = words::what_happens(violation);
    if let Some(harm) = harm_words::consequence(violation) {
        text += &format!(" {}", words::sentence(&harm));
    }
    let verdict = violation.harm.as_ref().map(|harm| harm.verdict);
    let shown_by = violation.harm.as_ref().and_then(|h| h.command.clone());
    let other = detail.and_then(|detail| {
        let write = detail.other.as_ref()?;
        Some((&write.place, words::at_write(violation, detail)))
    });
    Entry {
        id: &violation.id,
        rule: fingerprint::rule(violation.kind),
        severity: match verdict {
            Some(HarmWord::Harmful) => Severity::Error,
            _ if !violation.counts => Severity::Note,
            _ => Severity::Warning,
        },
        title: words::title(violation),
        text: text + &removal(dossier, &violation.id),
        place: &violation.access,
        range: detail.and_then(|detail| range(dossier, detail)),
        other,
        fingerprint: String::new(),
        again: shown_by.unwrap_or_else(|| dossier.again_with(&violation.id, violation.seed)),
        excuse: (!violation.counts).then(|| NOT_COUNTED.to_owned()),
    }
}

fn race<'a>(race: &'a Race, dossier: &'a Dossier) -> Entry<'a> {
    let detail = dossier.details.get(&race.id);
    let sides = detail.and_then(|detail| detail.race.as_ref());
    let other = detail.and_then(|detail| {
        let (first, sides) = (detail.other.as_ref()?, sides?);
        let said = words::first_side(race, sides);
        Some((&first.place, said))
    });
    Entry {
        id: &race.id,
        rule: "data-race",
        severity: Severity::Error,
        title: sides.map_or_else(
            || format!("data race on {}", object_words::object(&race.location)),
            |sides| words::race_title(race, sides),
        ),
        text: words::what_races(race) + &removal(dossier, &race.id),
        place: &race.second,
        range: detail.and_then(|detail| range(dossier, detail)),
        other,
        fingerprint: String::new(),
        again: dossier.again_with(&race.id, race.seed),
        excuse: None,
    }
}

/// Runs that failed, where the first of their threads stood.
fn failure(failure: &Failure, total: u64) -> Entry<'_> {
    static NOWHERE: ReportedPlace = ReportedPlace {
        file: String::new(),
        line: 0,
        column: 0,
        function: String::new(),
        operation: String::new(),
        order: String::new(),
    };
    let threads = failure.threads.iter().map(failure_text::thread);
    let told: Vec<String> = threads.chain(failure.output.iter().cloned()).collect();
    let known = failure.threads.iter().map(|thread| &thread.place);
    let place = known.clone().find(|place| place.line > 0);
    let places: Vec<String> = known
        .map(|place| format!("{}/{}", place.file, place.function))
        .collect();
    let what = failure_text::what(failure);
    let identity = format!(
        "failure\n{}\n{what}\n{}",
        failure.program,
        places.join("\n")
    );
    Entry {
        id: &failure.id,
        rule: "failure",
        severity: Severity::Error,
        title: failure_text::title(failure, total),
        text: match told.is_empty() {
            true => words::sentence(&what),
            false => told.join("\n"),
        },
        place: place.unwrap_or(&NOWHERE),
        range: None,
        other: None,
        fingerprint: blake3::hash(identity.as_bytes()).to_hex()[..32].to_owned(),
        again: failure.command.clone(),
        excuse: None,
    }
}

/// What free runs showed, at the first of its choices.
fn free<'a>(finding: &'a ReportedFreeFinding, dossier: &'a Dossier) -> Option<Entry<'a>> {
    let first = finding.choices.first()?;
    let spots = dossier.choices.get(&finding.id);
    let spots = spots.map_or(&[][..], Vec::as_slice);
    let choices = finding.choices.iter().enumerate();
    let told: Vec<String> = choices
        .map(|(number, choice)| {
            let said = harm_words::choice(number + 1, choice);
            format!("{}: {said}", words::at(&choice.access))
        })
        .collect();
    let identities: Vec<&str> = spots.iter().map(|spot| spot.identity.as_str()).collect();
    let identity = format!("stale-values\n{}", identities.join("\n"));
    let counts = finding.harm.verdict == HarmWord::Harmful;
    Some(Entry {
        id: &finding.id,
        rule: "stale-values",
        severity: match finding.harm.verdict {
            HarmWord::Harmful => Severity::Error,
            _ => Severity::Warning,
        },
        title: harm_words::free_title(finding),
        text: words::sentence(&told.join("; ")),
        place: &first.access,
        range: None,
        other: finding
            .choices
            .get(1)
            .map(|choice| (&choice.access, harm_words::choice(2, choice))),
        fingerprint: blake3::hash(identity.as_bytes()).to_hex()[..32].to_owned(),
        again: finding.harm.command.clone().unwrap_or_default(),
        excuse: (!counts).then(|| NOT_COUNTED.to_owned()),
    })
}

/// What the repair does about a finding, as a sentence with a space before it.
fn removal(dossier: &Dossier, id: &str) -> String {
    let repair = dossier.report.repair.as_ref();
    let changes = repair.map_or(&[][..], |repair| &repair.changes);
    let has = |change: &&ReportedChange| change.removes.iter().any(|one| one == id);
    let told: Vec<String> = changes.iter().filter(has).map(change_text).collect();
    match told.is_empty() {
        true => String::new(),
        false => format!(" Removed by: {}.", told.join("; ")),
    }
}

/// A change on one line.
pub(super) fn change_text(change: &ReportedChange) -> String {
    let place = &change.place;
    let (file, line, operation) = (&place.file, place.line, &place.operation);
    format!("{file}:{line}: {operation}: {}", change.what)
}

/// The text of the access.
fn range(dossier: &Dossier, detail: &FindingDetail) -> Option<(Position, Position)> {
    let spot: &Spot = &detail.access;
    let text = dossier.source(spot)?.as_bytes();
    let (start, end) = spot.span?;
    Some((Position::of(text, start), Position::of(text, end)))
}
