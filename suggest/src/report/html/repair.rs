//! The repair on the page: hunk by hunk, with why and at what cost.

use maud::{Markup, html};

use super::prose;
use crate::report::dossier::Dossier;
use crate::report::model::{Repair, Report, ReportedChange, ReportedHunk, VerificationOutcome};
use crate::report::repair_words::{candidate_words, patched_free_text, shown_text};
use crate::report::words;

/// The repair, and what cannot be repaired.
pub(super) fn repair(dossier: &Dossier) -> Markup {
    let report = &dossier.report;
    html! {
        @if let Some(repair) = &report.repair {
            h2 id="repair" { "Repair" }
            (verdict(repair, report))
            @for hunk in &repair.hunks {
                article {
                    p class="place soft" { (hunk.file) ", from line " (hunk.line) }
                    (diff(hunk))
                    @if hunk.changes.is_empty() { p { "Adds declarations that the other hunks use." } }
                    @for &number in &hunk.changes {
                        @if let Some(change) = repair.changes.get(number) { (told(number, change)) }
                    }
                }
            }
        }
        @if let Some(candidate) = &report.candidate {
            h2 id="repair" { "Repair" }
            p { (candidate_words(dossier, candidate)) }
            ul { @for change in &candidate.changes {
                li { code { (change.place.file) ":" (change.place.line) } " " (change.what) }
            } }
        }
        @if !report.unrepairable.is_empty() {
            h2 id="unrepaired" { "Not repaired" }
            ul { @for left in &report.unrepairable {
                li { @for id in &left.findings { (link(id)) " " } (prose(&left.text)) }
            } }
        }
    }
}

/// The hunks that remove a finding, beside it.
pub(super) fn removing(dossier: &Dossier, id: &str) -> Markup {
    let repair = dossier.report.repair.as_ref();
    let removes = |repair: &Repair, hunk: &ReportedHunk| {
        let changes = hunk.changes.iter().filter_map(|&n| repair.changes.get(n));
        let mut removed = changes.flat_map(|change| &change.removes);
        removed.any(|one| one == id)
    };
    let hunks: Vec<&ReportedHunk> = repair
        .iter()
        .flat_map(|repair| repair.hunks.iter().filter(|hunk| removes(repair, hunk)))
        .collect();
    html! {
        @for hunk in hunks {
            p class="place soft" { "Repair: " (hunk.file) ", from line " (hunk.line) }
            (diff(hunk))
        }
    }
}

fn link(id: &str) -> Markup {
    html! { a class="id" href=(format!("#{id}")) { (id) } }
}

fn told(number: usize, change: &ReportedChange) -> Markup {
    let place = &change.place;
    html! {
        div id=(format!("change-{}", number + 1)) {
            h3 { "Change " (number + 1) ": " code { (place.operation) } " at " code { (place.file) ":" (place.line) } ": " (change.what) }
            p { "Removes " @for id in &change.removes { (link(id)) } }
            p { (prose(&change.without)) " " (prose(&change.ensures)) }
            dl {
                dt { "costs on x86-64" } dd { (change.price.x86_64) }
                dt { "costs on AArch64" } dd { (change.price.aarch64) }
            }
        }
    }
}

fn diff(hunk: &ReportedHunk) -> Markup {
    html! {
        pre {
            @for line in hunk.text.lines() {
                @let class = match line.as_bytes().first() {
                    Some(b'+') => Some("added"),
                    Some(b'-') => Some("removed"),
                    Some(b'@') => Some("head"),
                    _ => None,
                };
                span class=[class] { (line) }
            }
        }
    }
}

fn verdict(repair: &Repair, report: &Report) -> Markup {
    let verification = &repair.verification;
    let missed = &verification.missed;
    html! {
        p {
            @if repair.changes.len() == 1 { "1 change" } @else { (repair.changes.len()) " changes" }
            @if repair.optimal {
                ": "
                @if repair.searched.layers > 1 { "races first, then harmful findings, then the rest, each on top of what comes before: " }
                "no cheaper set of stronger orders and fences "
                @if repair.searched.spared > 0 { "removes the other findings from " } @else { "repairs " }
                @if verification.is_proved() { "the runs of this test, all of them" } @else { "the " (repair.searched.runs) " recorded runs" }
                " (cost " (repair.cost) ", profile " (repair.profile) ")."
            } @else {
                ": the search was stopped early; this repair costs " (repair.cost) ", the cheapest at least " (repair.lower_bound) "."
            }
            " "
            @match verification.outcome {
                VerificationOutcome::Held => {
                    @if verification.remaining.is_empty() && verification.others == 0 {
                        strong class="clean" { "The patched program was built and showed no further findings" }
                    } @else {
                        strong class="failed" { "The patched program was built and " (shown_text(verification)) }
                    }
                    " in " (repair.verified_runs) " runs with " (verification.schedules) " schedules and fresh seeds; they reached "
                    (report.sites.reached.saturating_sub(missed.len() as u64)) " of " (report.sites.total) " atomic sites."
                    @if let Some(free) = patched_free_text(verification) { " " (words::sentence(&free)) }
                    @if let Some(proof) = &verification.proof {
                        " "
                        @if proof.proved {
                            strong class="clean" { "Proved for this test" }
                            ": all " (proof.classes) " classes of runs of the patched program were explored."
                        } @else {
                            "Not proved: " (proof.classes) " classes of runs of the patched program were explored, "
                            (proof.open) " schedules are left open."
                        }
                    }
                }
                VerificationOutcome::NotEnough => {
                    strong class="failed" { "The patch is not enough: " (verification.why.as_deref().unwrap_or_default()) }
                }
            }
        }
        @if !missed.is_empty() {
            p { "Reached before the patch but not in these runs: " @for place in missed { code { (place.file) ":" (place.line) } " " } }
        }
    }
}
