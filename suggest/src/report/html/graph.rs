//! The run that showed a finding, drawn: a lane a thread, time from top to bottom,
//! arrows for what orders the steps, and what the access may miss. Arrows run beside
//! the lanes and between the rows, so that none crosses a text.

use maud::{Markup, html};

use crate::report::dossier::{FindingDetail, Mark, RaceSides, ReportedStep, StepOperation};
use crate::report::model::ReportedPlace;

/// From one step to the next.
const ROW: usize = 66;
/// To the first step.
const TOP: usize = 56;
/// Roughly the width of a character.
const LETTER: usize = 8;
/// From the edge to the first lane: room for arrows beside it.
const MARGIN: usize = 30;
/// How far beside its lane an arrow runs.
const ASIDE: usize = 12;
/// How far above a step an arrow comes in.
const ABOVE: usize = 22;

/// The shapes that all drawings of a page share.
pub(super) fn shapes() -> Markup {
    html! {
        svg class="shapes" aria-hidden="true" width="0" height="0" {
            defs {
                @for name in ["edge", "miss"] {
                    marker id=(format!("arrow-{name}")) viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse" {
                        path class=(format!("head-{name}")) d="M0 0 L10 5 L0 10 z" {}
                    }
                }
            }
        }
    }
}

/// The run that showed a violation.
pub(super) fn violation(steps: &[ReportedStep]) -> Markup {
    let marked = |mark| {
        let mut rows = steps.iter().enumerate();
        rows.find_map(move |(row, step)| (step.mark == Some(mark)).then_some(row))
    };
    let missed = marked(Mark::Newer).zip(marked(Mark::Access));
    html! {
        (drawing(steps, missed.map(|(newer, access)| (newer, access, "may not see it"))))
        p class="soft" {
            "Green: the newer write. Red: the access that may miss it (dashed). Arrows: what puts the access after the write in every interleaving."
        }
    }
}

/// The two accesses of a race, with the end of the schedule that brought them
/// together if there is one.
pub(super) fn race(detail: &FindingDetail, sides: &RaceSides) -> Markup {
    let step = |thread: u32, place: &ReportedPlace, writes: bool, atomic: bool| ReportedStep {
        thread,
        place: place.clone(),
        what: format!(
            "{} ({})",
            if writes { "writes" } else { "reads" },
            if atomic { "atomic" } else { "not atomic" }
        ),
        operation: StepOperation::Plain,
        because: None,
        edge: None,
        mark: Some(Mark::Access),
    };
    let first = detail.other.as_ref().map(|first| {
        step(
            sides.first_thread,
            &first.place,
            sides.first_writes,
            sides.first_atomic,
        )
    });
    let second = step(
        sides.second_thread,
        &detail.access.place,
        sides.second_writes,
        sides.second_atomic,
    );
    let steps: Vec<ReportedStep> = match detail.steps.is_empty() {
        true => first.into_iter().chain([second]).collect(),
        false => detail.steps.clone(),
    };
    let mut marked = (0..steps.len()).filter(|&row| steps[row].mark == Some(Mark::Access));
    let both = marked.next().zip(marked.next_back());
    html! {
        (drawing(&steps, both.map(|(first, second)| (first, second, "nothing orders these"))))
        p class="soft" { "Red: the two accesses. Dashed: no lock, thread start or end, or release/acquire pair orders them." }
    }
}

/// Lanes, steps and arrows; `dashed` are two rows and what is said between them.
fn drawing(steps: &[ReportedStep], dashed: Option<(usize, usize, &str)>) -> Markup {
    let lanes = Lanes::of(steps);
    let (width, height) = (lanes.width(), TOP + steps.len() * ROW);
    html! {
        div class="scroll" {
            svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the steps of the run" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
                @for &thread in &lanes.threads {
                    line class="life" x1=(lanes.x(thread)) y1=(TOP - 24) x2=(lanes.x(thread)) y2=(height) {}
                    text x=(lanes.x(thread).saturating_sub(8)) y="20" { "thread " (thread) }
                }
                (chain(steps, &lanes))
                @if let Some((from, to, said)) = dashed { (miss(steps, &lanes, (from, to), said)) }
                @for (row, step) in steps.iter().enumerate() {
                    @let class = match step.mark {
                        Some(Mark::Access) => "access",
                        Some(Mark::Newer) => "newer",
                        None => "dot",
                    };
                    @let (x, y) = (lanes.x(step.thread), y(row));
                    circle class=(class) cx=(x) cy=(y) r="5" {
                        @if let Some(because) = &step.because { title { (because) } }
                    }
                    text x=(x + 12) y=(y + 4) { (step.what) }
                    text class="soft small" x=(x + 12) y=(y + 18) { (at(&step.place)) }
                }
            }
        }
    }
}

/// The lanes of a drawing.
struct Lanes {
    threads: Vec<u32>,
    column: usize,
}

impl Lanes {
    fn of(steps: &[ReportedStep]) -> Self {
        let mut threads: Vec<u32> = steps.iter().map(|step| step.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let texts = steps.iter().flat_map(|step| {
            let label = step
                .edge
                .as_ref()
                .map_or(0, |edge| edge.chars().count() + 2);
            [
                step.what.chars().count(),
                at(&step.place).chars().count(),
                label,
            ]
        });
        Self {
            threads,
            column: texts.max().unwrap_or(0) * LETTER + 12 + 3 * ASIDE,
        }
    }

    fn x(&self, thread: u32) -> usize {
        let lane = self.threads.iter().position(|&one| one == thread);
        MARGIN + lane.unwrap_or(0) * self.column
    }

    fn width(&self) -> usize {
        MARGIN + self.threads.len() * self.column
    }
}

fn y(row: usize) -> usize {
    TOP + row * ROW
}

fn at(place: &ReportedPlace) -> String {
    match place.line {
        0 => place.function.clone(),
        line => format!("{}:{line}", place.file),
    }
}

/// The arrows from the newer write to the access.
fn chain(steps: &[ReportedStep], lanes: &Lanes) -> Markup {
    let mut arrows = Vec::new();
    let mut before: Option<usize> = None;
    for (row, step) in steps.iter().enumerate() {
        let starts = step.mark == Some(Mark::Newer);
        if step.because.is_none() && !starts {
            continue;
        }
        if let Some(from) = before.filter(|_| step.because.is_some()) {
            arrows.push((from, row));
        }
        before = Some(row);
    }
    html! {
        @for &(from, to) in &arrows {
            @let said = steps[to].edge.as_deref().unwrap_or_default();
            @let (x1, x2) = (lanes.x(steps[from].thread), lanes.x(steps[to].thread));
            @let straight = x1 == x2 && to == from + 1;
            @let (start, end, between) = (y(from), y(to), y(to) - ABOVE);
            @let path = match straight {
                true => format!("M{x1} {} V{}", start + 6, end - 7),
                false => format!(
                    "M{} {} L{} {} V{between} H{x2} V{}",
                    x1 - 4, start + 4, x1 - ASIDE, start + 12, end - 7
                ),
            };
            path class="edge" marker-end="url(#arrow-edge)" d=(path) {}
            text class="soft small" x=(if straight { x1 + 12 } else { x1.min(x2) + 6 }) y=(between - 4) { (said) }
        }
    }
}

/// The dashed arrow between two rows, which comes to the second from below.
fn miss(steps: &[ReportedStep], lanes: &Lanes, rows: (usize, usize), said: &str) -> Markup {
    let (from, to) = rows;
    let (x1, x2) = (lanes.x(steps[from].thread), lanes.x(steps[to].thread));
    let below = y(to) + ROW - ABOVE;
    let path = format!(
        "M{} {} L{} {} V{below} H{x2} V{}",
        x1 - 4,
        y(from) + 4,
        x1 - 2 * ASIDE,
        y(from) + 14,
        y(to) + 7
    );
    html! {
        path class="miss" marker-end="url(#arrow-miss)" d=(path) {}
        text class="missed small" x=(x1.min(x2) + 6) y=(below + 14) { (said) }
    }
}
