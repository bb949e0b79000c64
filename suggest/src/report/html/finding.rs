//! A finding on the page: both places with their text, what happens, and the run
//! that showed it.

use maud::{Markup, html};

use super::{graph, prose, repair};
use crate::report::dossier::{Dossier, FindingDetail, Spot};
use crate::report::model::{Race, ReportedChange, ReportedFreeFinding, ReportedHarm, Violation};
use crate::report::{allocation_words, harm_words, words};

/// How many lines are shown before and after a place.
const CONTEXT_LINES: usize = 2;

/// A violation, and the others between the same lines.
pub(super) fn violation(dossier: &Dossier, violation: &Violation, others: &[&Violation]) -> Markup {
    let detail = dossier.details.get(&violation.id);
    html! {
        article id=(violation.id) {
            h3 {
                span class="id" { (violation.id) }
                @for other in others { span class="id" id=(other.id) { (other.id) } }
                @if let Some(harm) = &violation.harm { span class="verdict" { (harm_words::name(harm.verdict)) } " " }
                (prose(&words::sentence(&words::title(violation))))
            }
            @if let Some(detail) = detail {
                (snippets(dossier, &[
                    Some((&detail.access, words::at_access(violation, detail))),
                    detail.other.as_ref().map(|write| (write, words::at_write(violation, detail))),
                ]))
                p { (prose(&words::sentence(&words::consequence(violation, detail)))) }
            }
            @if let Some(said) = allocation_words::lies_in(&violation.location, violation.allocated.as_ref()) {
                p { (prose(&words::sentence(&said))) }
            }
            @if let Some(harm) = harm_words::consequence(violation) {
                p { strong { (prose(&words::sentence(&harm))) } }
            }
            (stack(violation.harm.as_ref()))
            @if let Some(machines) = harm_words::shown_by(violation) {
                p { (prose(&words::sentence(machines))) }
            }
            @if let Some(printed) = detail.and_then(|detail| detail.last_words.as_ref()) {
                details {
                    summary { "What the program printed then" }
                    pre { (printed) }
                }
            }
            p { (prose(&words::sentence(&words::orders(violation)))) }
            @if let Some(through) = words::through(&violation.via) { p { (prose(&words::sentence(&through))) } }
            @for other in others { p { (prose(&words::sentence(&words::also_misses(other)))) } }
            (repair::removing(dossier, &violation.id))
            (facts(dossier, &violation.id, &words::how_often(violation.runs, dossier.report.runs.total, violation.seed), &again(dossier, violation)))
            @if let Some(detail) = detail.filter(|detail| !detail.steps.is_empty()) {
                details open {
                    summary { "The run that showed it, from top to bottom" }
                    (graph::violation(&detail.steps))
                }
                (callers(detail))
            }
        }
    }
}

/// Where the program stood when it failed.
fn stack(harm: Option<&ReportedHarm>) -> Markup {
    let stack = harm.map_or(&[][..], |harm| harm.stack.as_slice());
    html! {
        @if !stack.is_empty() {
            p { "It stood here:" }
            pre { (stack.join("\n")) }
        }
    }
}

/// What stale choices lead to.
pub(super) fn free(dossier: &Dossier, finding: &ReportedFreeFinding) -> Markup {
    let spots = dossier.choices.get(&finding.id);
    let spots = spots.map_or(&[][..], Vec::as_slice);
    let said = finding.choices.iter().zip(spots).enumerate();
    let said: Vec<_> = said
        .map(|(number, (choice, spot))| Some((spot, harm_words::choice(number + 1, choice))))
        .collect();
    html! {
        article id=(finding.id) {
            h3 {
                span class="id" { (finding.id) }
                span class="verdict" { (harm_words::name(finding.harm.verdict)) } " "
                (prose(&words::sentence(&harm_words::free_title(finding))))
            }
            (snippets(dossier, &said))
            (stack(Some(&finding.harm)))
            @if let Some(runs) = &dossier.report.free_runs {
                p { (prose(&words::sentence(&harm_words::how_often_free(finding, runs)))) }
            }
            @if let Some(command) = &finding.harm.command {
                p { "To reproduce: " code { (command) } }
            }
        }
    }
}

/// A race, and the others between the same lines.
pub(super) fn race(dossier: &Dossier, race: &Race, others: &[&Race]) -> Markup {
    let detail = dossier.details.get(&race.id);
    let sides = detail.and_then(|detail| Some((detail, detail.race.as_ref()?)));
    html! {
        article id=(race.id) {
            h3 {
                span class="id" { (race.id) }
                @for other in others { span class="id" id=(other.id) { (other.id) } }
                @if let Some((_, sides)) = sides { (prose(&words::sentence(&words::race_title(race, sides)))) }
            }
            @if let Some((detail, sides)) = sides {
                (snippets(dossier, &[
                    Some((&detail.access, words::second_side(race, sides))),
                    detail.other.as_ref().map(|first| (first, words::first_side(race, sides))),
                ]))
                p { (prose(&words::what_races(race))) }
                @if let Some(said) = allocation_words::lies_in(&race.location, race.allocated.as_ref()) {
                    p { (prose(&words::sentence(&said))) }
                }
                @if let Some(message) = words::should_order(race) { p { (prose(&words::sentence(&message))) } }
                @for other in others { p { (prose(&words::sentence(&words::also_races(other)))) } }
                (repair::removing(dossier, &race.id))
                (facts(dossier, &race.id, &words::how_race_is_known(race, sides.runs, dossier.report.runs.total), &dossier.again_with(&race.id, race.seed)))
                details open {
                    summary { "The two accesses" }
                    (graph::race(detail, sides))
                }
                (callers(detail))
            }
        }
    }
}

/// The command that shows a violation again: with the stale value, if taking it did
/// something.
fn again(dossier: &Dossier, violation: &Violation) -> String {
    let harm = violation.harm.as_ref();
    let made = harm.and_then(|harm| harm.command.clone());
    made.unwrap_or_else(|| dossier.again_with(&violation.id, violation.seed))
}

/// What else is known about a finding; `again` is the command that shows it again.
fn facts(dossier: &Dossier, id: &str, seen: &str, again: &str) -> Markup {
    let repair = dossier.report.repair.as_ref();
    let removing: Vec<(usize, &ReportedChange)> = repair
        .iter()
        .flat_map(|repair| repair.changes.iter().enumerate())
        .filter(|(_, change)| change.removes.iter().any(|one| one == id))
        .collect();
    let left = dossier.report.unrepairable.iter();
    let left: Vec<&str> = left
        .filter(|left| left.findings.iter().any(|one| one == id))
        .map(|left| left.text.as_str())
        .collect();
    html! {
        dl {
            dt { "seen" } dd { (seen) }
            dt { "to reproduce" } dd { code { (again) } }
            @if !removing.is_empty() {
                dt { "removed by" }
                dd { @for (number, change) in removing {
                    div { a href=(format!("#change-{}", number + 1)) { "change " (number + 1) } ": " code { (change.place.file) ":" (change.place.line) } " " (change.place.operation) ": " (change.what) }
                } }
            }
            @for text in left { dt { "not repaired" } dd { (prose(text)) } }
        }
    }
}

fn callers(detail: &FindingDetail) -> Markup {
    let of = |what: &str, spot: &Spot| {
        html! {
            @if !spot.callers.is_empty() {
                details {
                    summary { "Call stack of " (what) " in " code { (spot.place.function) } }
                    ul { @for caller in &spot.callers { li { code { (caller) } } } }
                }
            }
        }
    };
    html! {
        (of("the access", &detail.access))
        @if let Some(other) = &detail.other { (of("the other access", other)) }
    }
}

/// The text around spots; those that are close are shown together.
fn snippets(dossier: &Dossier, spots: &[Option<(&Spot, String)>]) -> Markup {
    let mut rest: Vec<(&Spot, &str)> = spots
        .iter()
        .flatten()
        .map(|(spot, said)| (*spot, said.as_str()))
        .collect();
    let mut shown = Vec::new();
    while !rest.is_empty() {
        let (first, _) = rest[0];
        let near = |spot: &Spot| {
            let apart = spot.place.line.abs_diff(first.place.line) as usize;
            spot.path == first.path && apart <= 4 * CONTEXT_LINES
        };
        let (together, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(spot, _)| near(spot));
        shown.push(together);
        rest = others;
    }
    html! { @for together in &shown { (snippet(dossier, together)) } }
}

fn snippet(dossier: &Dossier, spots: &[(&Spot, &str)]) -> Markup {
    let (first, _) = spots[0];
    let Some(text) = dossier.source(first).filter(|_| first.place.line > 0) else {
        return html! {
            @for (spot, said) in spots {
                p { (said) ", in " code { (spot.place.operation) } " of " code { (spot.place.file) } " (source line unknown)" }
            }
        };
    };
    let numbers = spots.iter().map(|(spot, _)| spot.place.line as usize);
    let (low, high) = numbers.fold((usize::MAX, 0), |(low, high), line| {
        (low.min(line), high.max(line))
    });
    let from = low.saturating_sub(CONTEXT_LINES).max(1);
    let lines = text
        .lines()
        .enumerate()
        .skip(from - 1)
        .take(high + CONTEXT_LINES + 1 - from);
    html! {
        p class="place soft" { (first.place.file) ", in " (first.place.function) }
        pre {
            @for (number, line) in lines {
                @let said: Vec<&str> = spots.iter().filter(|(spot, _)| spot.place.line as usize == number + 1).map(|(_, said)| *said).collect();
                span class=[(!said.is_empty()).then_some("here")] { span class="number" { (number + 1) } (line) }
                @for words in said { span class="said" { (words) } }
            }
        }
    }
}
