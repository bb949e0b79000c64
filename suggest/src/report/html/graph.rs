//! The run that showed a finding, drawn: a column a thread, time from top to
//! bottom, arrows for what orders the steps, and what the access may miss.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::report::dossier::{Mark, ReportedStep};

const ROW: usize = 34;
const TOP: usize = 40;
/// Roughly the width of a character.
const LETTER: usize = 8;

/// The drawing.
pub(super) fn graph(steps: &[ReportedStep]) -> Markup {
    let mut threads: Vec<u32> = steps.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let longest = steps.iter().map(|step| label(step).chars().count()).max();
    let column_width = longest.unwrap_or(0) * LETTER + 50;
    let x = |thread: u32| {
        let column = threads.iter().position(|&one| one == thread).unwrap_or(0);
        20 + column * column_width
    };
    let y = |row: usize| TOP + row * ROW;
    let (width, height) = (20 + threads.len() * column_width, TOP + steps.len() * ROW);
    html! {
        div class="scroll" {
            svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the steps of the run" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
                @for &thread in &threads {
                    line class="life" x1=(x(thread)) y1=(TOP - 12) x2=(x(thread)) y2=(height) {}
                    text x=(x(thread).saturating_sub(8)) y="18" { "thread " (thread) }
                }
                (PreEscaped(edges(steps, x, y)))
                @for (row, step) in steps.iter().enumerate() {
                    @let class = match step.mark {
                        Some(Mark::Access) => "access",
                        Some(Mark::Newer) => "newer",
                        None => "dot",
                    };
                    circle class=(class) cx=(x(step.thread)) cy=(y(row)) r="5" {
                        @if let Some(because) = &step.because { title { (because) } }
                    }
                    text x=(x(step.thread) + 12) y=(y(row) + 4) { (label(step)) }
                }
            }
        }
        p class="soft" {
            "Green: the newer write. Red: the access that may miss it (dashed). Lines: the chain that puts the access after the write in every interleaving."
        }
    }
}

fn label(step: &ReportedStep) -> String {
    format!("{} (line {})", step.what, step.place.line)
}

/// The chain from the newer write to the access, and what may be missed. Nothing
/// but numbers of ours goes in here.
fn edges(steps: &[ReportedStep], x: impl Fn(u32) -> usize, y: impl Fn(usize) -> usize) -> String {
    let mut text = String::new();
    let mut line =
        |class: &str, from: (usize, &ReportedStep), to: (usize, &ReportedStep), bend: isize| {
            let (x1, y1) = (x(from.1.thread), y(from.0));
            let (x2, y2) = (x(to.1.thread), y(to.0));
            let (mx, my) = ((x1 + x2) / 2, (y1 + y2) / 2);
            let mx = mx.saturating_add_signed(bend);
            let path = write!(
                text,
                "<path class=\"{class}\" d=\"M{x1} {y1} Q{mx} {my} {x2} {y2}\"/>"
            );
            path.expect("a text takes all that is written");
        };
    let mut before: Option<(usize, &ReportedStep)> = None;
    for (row, step) in steps.iter().enumerate() {
        let starts = step.mark == Some(Mark::Newer);
        if step.because.is_some() || starts {
            if let Some(before) = before.filter(|_| step.because.is_some()) {
                let bend = if before.1.thread == step.thread {
                    -12
                } else {
                    0
                };
                line("edge", before, (row, step), bend);
            }
            before = Some((row, step));
        }
    }
    let marked = |mark| {
        let mut rows = steps.iter().enumerate();
        rows.find(move |(_, step)| step.mark == Some(mark))
    };
    if let (Some(newer), Some(access)) = (marked(Mark::Newer), marked(Mark::Access)) {
        line("miss", newer, access, 14);
    }
    text
}
