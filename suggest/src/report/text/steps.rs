//! The run that showed a violation, as far as it matters, as a table.

use crate::report::dossier::{FindingDetail, Mark};
use crate::report::model::Violation;

/// The run that showed a violation, a column a thread.
pub(super) fn steps(detail: &FindingDetail, violation: &Violation) -> String {
    let mut text = format!(
        "The relevant steps of the run with seed {}, from top to bottom:\n\n",
        violation.seed
    );
    text += &table(detail);
    text += "\n  + the newer write    * the access that may be stale\n";
    text += "  In parentheses: what puts a step after the previous step of the chain in every interleaving.\n";
    text
}

/// The schedule that shows a predicted race, a column a thread.
pub(super) fn race_steps(detail: &FindingDetail) -> String {
    let mut text = "The end of the schedule that shows it, from top to bottom:\n\n".to_owned();
    text += &table(detail);
    text += "\n  * the two accesses, which nothing orders\n";
    text
}

fn table(detail: &FindingDetail) -> String {
    let mut threads: Vec<u32> = detail.steps.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut text = String::new();
    let place_width = detail
        .steps
        .iter()
        .map(|step| step.place.point().len())
        .max()
        .unwrap_or(0);
    let width = detail
        .steps
        .iter()
        .map(|step| step.what.len() + 2)
        .max()
        .unwrap_or(0)
        .max(10);
    text += &" ".repeat(place_width + 4);
    for thread in &threads {
        text += &format!("{:<width$}  ", format!("thread {thread}"));
    }
    text = text.trim_end().to_owned() + "\n";
    for step in &detail.steps {
        let column = threads
            .iter()
            .position(|thread| *thread == step.thread)
            .unwrap_or(0);
        let mark = match step.mark {
            Some(Mark::Access) => "* ",
            Some(Mark::Newer) => "+ ",
            None => "  ",
        };
        let indent = column * (width + 2);
        let line = format!(
            "  {:<place_width$}{}{mark}{}",
            step.place.point(),
            " ".repeat(indent),
            step.what
        );
        text += line.trim_end();
        if let Some(because) = &step.because {
            text += &format!("   ({because})");
        }
        text.push('\n');
    }
    text
}
