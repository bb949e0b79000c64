//! The report for people: both source lines, what happens at each, what could go
//! wrong, and how to see it again.

mod repair;
mod steps;

use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet};

use super::dossier::{Detail, Dossier, Spot};
use super::model::{Race, Report, Verdict, Violation};
use super::words;

pub use repair::repair_text;
use steps::steps;

/// Renders reports, with or without colours.
pub struct Text {
    renderer: Renderer,
}

/// A spot with its file's text.
struct Shown<'a> {
    spot: &'a Spot,
    source: Option<String>,
    label: String,
    kind: AnnotationKind,
}

impl Text {
    /// With colours or without.
    pub fn new(colors: bool) -> Self {
        let renderer = if colors {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        Self {
            renderer: renderer.decor_style(DecorStyle::Ascii),
        }
    }

    /// The whole report.
    pub fn report(&self, dossier: &Dossier) -> String {
        let report = &dossier.report;
        let mut text = String::new();
        for violation in &report.violations {
            if let Some(detail) = dossier.details.get(&violation.id) {
                text += &self.violation(dossier, violation, detail, false);
                text += "\n\n";
            }
        }
        for race in &report.races {
            if let Some(detail) = dossier.details.get(&race.id) {
                text += &self.race(dossier, race, detail);
                text += "\n\n";
            }
        }
        for note in &report.notes {
            text += &format!("note: {note}\n");
        }
        if let (Verdict::Failed, Some(output)) = (report.verdict, &dossier.output) {
            text += &format!("the program printed:\n{output}\n");
        }
        text + &summary(report) + "\n"
    }

    /// One finding in depth; `None` if there is none of that name.
    pub fn explanation(&self, dossier: &Dossier, id: &str) -> Option<String> {
        let detail = dossier.details.get(id)?;
        if let Some(violation) = dossier
            .report
            .violations
            .iter()
            .find(|violation| violation.id == id)
        {
            let mut text = self.violation(dossier, violation, detail, true);
            text += "\n\n";
            text += &steps(detail, violation);
            text += &calls("the access", &detail.access);
            if let Some(write) = &detail.other {
                text += &calls("the write", write);
            }
            return Some(text + &self.schedule(dossier, detail));
        }
        let race = dossier.report.races.iter().find(|race| race.id == id)?;
        let mut text = self.race(dossier, race, detail);
        text += "\n\n";
        if let Some(first) = &detail.other {
            text += &calls("the first access", first);
        }
        text += &calls("the second access", &detail.access);
        Some(text + &self.schedule(dossier, detail))
    }

    /// How to follow the recorded schedule, even after unrelated edits.
    fn schedule(&self, dossier: &Dossier, detail: &Detail) -> String {
        let (Some(trace), Some(again)) = (&detail.trace, dossier.again.get(detail.program)) else {
            return String::new();
        };
        format!(
            "\nThe schedule was recorded. To follow it, even after other edits:\n  {}\n",
            again.with_trace(trace)
        )
    }

    fn violation(
        &self,
        dossier: &Dossier,
        violation: &Violation,
        detail: &Detail,
        in_depth: bool,
    ) -> String {
        let title = words::title(violation);
        let mut spots = vec![Shown::new(
            &detail.access,
            words::at_access(violation),
            AnnotationKind::Primary,
        )];
        if let Some(write) = &detail.other {
            spots.push(Shown::new(
                write,
                words::at_write(violation, detail),
                AnnotationKind::Context,
            ));
        }
        let mut messages = vec![Level::NOTE.message(words::consequence(violation, detail))];
        messages.push(Level::NOTE.message(words::orders(violation)));
        let mut seen = words::how_often(violation.runs, dossier.report.runs.total, violation.seed);
        seen += if violation.witness_checked {
            "; an independent check of the memory model's axioms agrees"
        } else {
            "; the independent check could not confirm it"
        };
        messages.push(Level::NOTE.message(seen));
        let again = dossier.again_with(&violation.id, violation.seed);
        messages.push(Level::HELP.message(format!("to see it again: {again}")));
        if !in_depth {
            messages.push(Level::HELP.message(format!(
                "for the whole story: wmfix explain {}",
                violation.id
            )));
        }
        self.render(&title, &violation.id, &spots, messages)
    }

    fn race(&self, dossier: &Dossier, race: &Race, detail: &Detail) -> String {
        let Some(sides) = &detail.race else {
            return String::new();
        };
        let label = words::race_side(
            sides.second_thread,
            sides.second_writes,
            sides.second_atomic,
        );
        let mut spots = vec![Shown::new(&detail.access, label, AnnotationKind::Primary)];
        if let Some(first) = &detail.other {
            let label =
                words::race_side(sides.first_thread, sides.first_writes, sides.first_atomic);
            spots.push(Shown::new(first, label, AnnotationKind::Context));
        }
        let again = dossier.again_with(&race.id, race.seed);
        let messages = vec![
            Level::NOTE.message(
                "no lock, thread start or end, or release/acquire pair orders the two accesses",
            ),
            Level::NOTE.message(words::how_often(
                sides.runs,
                dossier.report.runs.total,
                race.seed,
            )),
            Level::HELP.message(format!("to see it again: {again}")),
        ];
        self.render(&words::race_title(race, sides), &race.id, &spots, messages)
    }

    fn render(
        &self,
        title: &str,
        id: &str,
        spots: &[Shown<'_>],
        messages: Vec<Message<'_>>,
    ) -> String {
        let mut group: Group<'_> = Group::with_title(Level::WARNING.primary_title(title).id(id));
        let mut done = vec![false; spots.len()];
        for first in 0..spots.len() {
            if done[first] {
                continue;
            }
            let spot = &spots[first];
            let (Some(source), Some(_)) = (&spot.source, spot.spot.span) else {
                done[first] = true;
                let place = &spot.spot.place;
                group = group.element(Level::NOTE.message(format!(
                    "{}, in {} of {} (no source line is known)",
                    spot.label, place.operation, place.file
                )));
                continue;
            };
            let mut snippet = Snippet::source(source.as_str()).path(spot.spot.place.file.as_str());
            for (other, done) in spots.iter().zip(&mut done).skip(first) {
                if other.spot.path == spot.spot.path
                    && let Some((start, end)) = other.spot.span
                {
                    *done = true;
                    let annotation = other
                        .kind
                        .span(start.min(source.len())..end.min(source.len()));
                    snippet = snippet.annotation(annotation.label(other.label.as_str()));
                }
            }
            group = group.element(snippet);
        }
        for message in messages {
            group = group.element(message);
        }
        self.renderer.render(&[group])
    }
}

impl<'a> Shown<'a> {
    fn new(spot: &'a Spot, label: String, kind: AnnotationKind) -> Self {
        Self {
            spot,
            source: spot.path.as_deref().and_then(read_text),
            label,
            kind,
        }
    }
}

/// The text of a file; `None` where it cannot be shown.
fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(std::fs::read(path).ok()?).ok()
}

fn summary(report: &Report) -> String {
    let runs = &report.runs;
    let found = match (report.violations.len() as u64, report.races.len() as u64) {
        (0, 0) if report.verdict == Verdict::Failed => "no run came to its end".to_owned(),
        (0, 0) => "nothing found".to_owned(),
        (violations, 0) => counted(violations, "violation"),
        (0, races) => counted(races, "race"),
        (violations, races) => format!(
            "{}, {}",
            counted(violations, "violation"),
            counted(races, "race")
        ),
    };
    let reached = if report.sites.total > 0 {
        format!(
            "; {} of {} atomic sites reached",
            report.sites.reached, report.sites.total
        )
    } else {
        String::new()
    };
    format!(
        "{found}: {}, {}, {} in {:.1} s{reached}",
        counted(runs.total, "run"),
        counted(runs.distinct_schedules, "schedule"),
        counted(runs.events, "event"),
        runs.seconds
    )
}

/// A number of things.
fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A text in lines that a terminal holds, the first after `first`, the others
/// after `rest`.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    const WIDTH: usize = 92;
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + &line + "\n"
}

fn calls(what: &str, spot: &Spot) -> String {
    if spot.callers.is_empty() {
        return String::new();
    }
    let mut text = format!("\nCalls that led to {what} in {}:\n", spot.place.function);
    for caller in &spot.callers {
        text += &format!("  {caller}\n");
    }
    text
}
