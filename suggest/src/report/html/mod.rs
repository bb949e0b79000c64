//! The report as one HTML file that needs nothing else: no network, no scripts.
//! Everything that comes from outside (names, paths, source text) is escaped by
//! the templates.

mod coverage;
mod failures;
mod finding;
mod graph;
mod relaxation;
mod repair;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::causes;
use super::dossier::Dossier;
use super::harm_words;
use super::model::{Finding, Report, ReportedPlace, UNREPORTED, Verdict, Violation};
use super::{notice_words, object_words, overview, words};

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// The findings first.
    Report,
    /// What the tests did not reach first, and the whole inventory at the end.
    Audit,
}

/// The page of a dossier. `subject` is what was examined, as it was named.
pub(crate) fn html(dossier: &Dossier, subject: &str, page: Page) -> String {
    let report = &dossier.report;
    let what = match page {
        Page::Report => "report",
        Page::Audit => "audit",
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "wmfix " (what) ": " (subject) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header {
                    h1 { "wmfix " (what) ": " code { (subject) } }
                    (summary(dossier))
                    (table(dossier))
                    (contents(dossier, page))
                }
                (graph::shapes())
                main {
                    @if page == Page::Audit { (unreached(report)) }
                    (failures::failures(report))
                    (findings(dossier))
                    (repair::repair(dossier))
                    (relaxation::relaxation(dossier))
                    (allowed(dossier))
                    @if page == Page::Report { (unreached(report)) }
                    (coverage::coverage(dossier))
                    (notes(dossier))
                    @if page == Page::Audit { (inventory(dossier)) }
                }
            }
        }
    };
    markup.into_string()
}

fn summary(dossier: &Dossier) -> Markup {
    let (report, seconds) = (&dossier.report, &dossier.seconds);
    let runs = &report.runs;
    let (class, verdict) = match report.verdict {
        Verdict::Clean => ("clean", "no findings"),
        Verdict::Findings => ("findings", "findings"),
        Verdict::Failed if report.has_unreported() => ("failed", UNREPORTED),
        Verdict::Failed => ("failed", "a program failed in every run"),
    };
    html! {
        p { strong class=(class) { (verdict) } }
        @let first = notice_words::first_line(report);
        @if !first.is_empty() { p { (prose(first.trim_end())) } }
        dl {
            dt { "findings" }
            dd { @if !report.failures.is_empty() { (counted(report.failures.len(), "failure", "failures")) ", " } (counted(report.violations.len(), "stale access", "stale accesses")) @if let Some(verdicts) = harm_words::verdict_counts(report) { " (" (verdicts) ")" } ", " (counted(report.races.len(), "data race", "data races")) ", " (report.allowed.len()) " allowed" }
            dt { "runs" }
            dd { (runs.total) " with " (runs.distinct_schedules) " different schedules and " (runs.events) " events" }
            dt { "atomic sites" }
            dd { (report.sites.reached) " of " (report.sites.total) " reached" }
            dt { "time" }
            dd {
                (format!("runs {:.2} s, search {:.2} s, verification {:.2} s", seconds.runs, seconds.search, seconds.verification))
            }
        }
        p class="soft" {
            "These results are about the runs that were made. Verified is not proved, and nothing is known about operations that no run reached."
        }
    }
}

/// The findings at a glance.
fn table(dossier: &Dossier) -> Markup {
    let rows = overview::rows(dossier);
    let repaired = rows.iter().any(|row| !row.removed_by.is_empty());
    html! {
        @if !rows.is_empty() {
            div class="scroll" { table id="overview" {
                tr { th { "finding" } th { "what" } th { "where" } th { "harm" } th { "seen" } @if repaired { th { "removed by" } } }
                @for row in &rows {
                    tr {
                        td { @for id in &row.ids { a class="id" href=(format!("#{id}")) { (id) } } }
                        td data-label="what" { (prose(&row.what)) }
                        td data-label="where" class="place" { (row.place) }
                        td data-label="harm" class=(row.harm) { (row.harm) }
                        td data-label="seen" { (row.seen) }
                        @if repaired { td data-label="removed by" class="place" { (row.removed_by) } }
                    }
                }
            } }
        }
    }
}

/// Links to the parts of the page.
fn contents(dossier: &Dossier, page: Page) -> Markup {
    let report = &dossier.report;
    let found = !(report.violations.is_empty() && report.races.is_empty());
    let unreached = !report.sites.unreached.is_empty();
    let parts = [
        (page == Page::Audit && unreached, "unreached", "Not reached"),
        (!report.failures.is_empty(), "failures", "Failures"),
        (found, "findings", "Findings"),
        (report.repair.is_some(), "repair", "Repair"),
        (report.relaxation.is_some(), "relaxation", "Weaker orders"),
        (
            !report.unrepairable.is_empty(),
            "unrepaired",
            "Not repaired",
        ),
        (!report.allowed.is_empty(), "allowed", "Allowed"),
        (
            page == Page::Report && unreached,
            "unreached",
            "Not reached",
        ),
        (!dossier.inventory.is_empty(), "coverage", "Coverage"),
        (!report.notes.is_empty(), "notes", "Notes"),
        (
            page == Page::Audit && !dossier.inventory.is_empty(),
            "inventory",
            "Inventory",
        ),
    ];
    html! {
        nav aria-label="Contents" {
            ul {
                @for (_, id, name) in parts.iter().filter(|(there, _, _)| *there) {
                    li { a href=(format!("#{id}")) { (name) } }
                }
            }
        }
    }
}

/// Text with what stands between backticks as code.
fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // Without its partner a backtick is one.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (number, part) in parts.iter().enumerate() {
            @if number % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn findings(dossier: &Dossier) -> Markup {
    let report = &dossier.report;
    let (shown, aside): (Vec<Violation>, Vec<Violation>) =
        (report.violations.iter().cloned()).partition(|violation| violation.counts);
    html! {
        @if !(report.violations.is_empty() && report.races.is_empty() && report.free_findings().is_empty()) {
            h2 id="findings" { "Findings" }
        }
        @for cause in causes::of_races(&report.races) {
            (finding::race(dossier, cause.shown, &cause.others))
        }
        @for cause in causes::of_violations(&shown) {
            (finding::violation(dossier, cause.shown, &cause.others))
        }
        @for one in report.free_findings() { (finding::free(dossier, one)) }
        @if !aside.is_empty() {
            h2 { "Not counted" }
            p class="soft" { (prose(&words::sentence(notice_words::ASIDE.trim_end_matches(':')))) }
            table {
                tr { th { "finding" } th { "where" } th { "what" } }
                @for one in &aside {
                    tr id=(one.id) {
                        td { (one.id) }
                        td { (words::at(&one.access)) }
                        td { (prose(&words::sentence(&words::title(one)))) }
                    }
                }
            }
        }
    }
}

fn allowed(dossier: &Dossier) -> Markup {
    let allowed = &dossier.report.allowed;
    html! {
        @if !allowed.is_empty() {
            h2 id="allowed" { "Allowed" }
            p class="soft" { "These findings were reviewed and accepted. They do not count and are not repaired." }
            table {
                tr { th { "finding" } th { "where" } th { "reason" } th { "allowed by" } }
                @for one in allowed {
                    @let (what, place) = match &one.finding {
                        Finding::Violation(violation) => (words::title(violation), &violation.access),
                        Finding::Race(race) => (format!("data race on {}", object_words::object(&race.location)), &race.second),
                    };
                    tr {
                        td { span class="id" { (one.id) } (prose(&what)) }
                        td class="place" { (words::at(place)) }
                        td { (one.reason) }
                        td class="place" { (one.by.file) ":" (one.by.line) }
                    }
                }
            }
        }
    }
}

fn unreached(report: &Report) -> Markup {
    let sites = &report.sites;
    html! {
        @if !sites.unreached.is_empty() {
            h2 id="unreached" { "Not reached" }
            p {
                "No run executed these " (sites.unreached.len()) " of " (sites.total)
                " atomic operations. That nothing was found there does not make them safe: they need tests."
            }
            (places(&sites.unreached.iter().map(|place| (place, None)).collect::<Vec<_>>()))
        }
    }
}

fn inventory(dossier: &Dossier) -> Markup {
    let all = dossier.inventory.iter();
    let rows: Vec<(&ReportedPlace, Option<bool>)> =
        all.map(|s| (&s.place, Some(s.reached))).collect();
    html! {
        @if !rows.is_empty() {
            h2 id="inventory" { "Inventory" }
            p class="soft" { "Every atomic operation in the source." }
            (places(&rows))
        }
    }
}

fn places(rows: &[(&ReportedPlace, Option<bool>)]) -> Markup {
    html! {
        div class="scroll" { table {
            tr { th { "where" } th { "function" } th { "operation" } th { "order" } @if rows.iter().any(|row| row.1.is_some()) { th { "reached" } } }
            @for (place, reached) in rows {
                tr {
                    td class="place" { (place.file) ":" (place.line) }
                    td { code { (place.function) } }
                    td { code { (place.operation) } }
                    td { (place.order) }
                    @if let Some(reached) = reached { td { @if *reached { "yes" } @else { strong class="failed" { "no" } } } }
                }
            }
        } }
    }
}

fn notes(dossier: &Dossier) -> Markup {
    let report = &dossier.report;
    html! {
        @if !report.notes.is_empty() {
            h2 id="notes" { "Notes" }
            ul { @for note in &report.notes { li { (prose(note)) } } }
        }
        @if let Some(output) = dossier.output.as_ref().filter(|_| report.verdict == Verdict::Failed) {
            h2 { "What the program printed" }
            pre { @for line in output.lines() { span { (line) } } }
        }
    }
}
