//! Runs that failed, on the page.

use maud::{Markup, html};

use super::prose;
use crate::report::failure_text;
use crate::report::model::Report;

/// The section of the failures; nothing if there are none.
pub(super) fn failures(report: &Report) -> Markup {
    html! {
        @if !report.failures.is_empty() {
            h2 id="failures" { "Failures" }
        }
        @for failure in &report.failures {
            article id=(failure.id) {
                h3 { (failure.id) ": " (prose(&failure_text::title(failure, report.runs.total))) }
                @if !failure.threads.is_empty() {
                    ul {
                        @for thread in &failure.threads {
                            li {
                                (prose(&failure_text::thread(thread)))
                                @for caller in &thread.callers { br; "called from " (caller) }
                            }
                        }
                    }
                }
                @if !failure.output.is_empty() {
                    p { "It printed at the end:" }
                    pre { (failure.output.join("\n")) }
                }
                p { "First with seed " (failure.seed) ". To reproduce: " code { (failure.command) } }
            }
        }
    }
}
