//! The report for people: both source lines, what happens at each, what could go
//! wrong, and how to reproduce it.

mod audit;
mod fit;
mod free;
mod overview;
mod relaxation;
mod repair;
mod steps;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet};
use wmfix_analysis::witness::check::MAX_NODES;

use super::allocation_words;
use super::causes;
use super::dossier::{Dossier, FindingDetail, Spot};
use super::failure_text;
use super::harm_words::{self, counted};
use super::model::{Allocation, Finding, HarmWord, Race, Report, UNREPORTED, Verdict, Violation};
use super::notice_words;
use super::object_words;
use super::overview::is_aside;
use super::rerun::{with_seed, with_trace};
use super::words;

use fit::{fit_lines, fit_notes};
pub(crate) use relaxation::{relax_refusal_text, relaxation_text};
use repair::changes_text;
pub(crate) use repair::{group_text, repair_text};
use steps::{race_steps, steps};

/// How wide text is made where nothing says how wide the terminal is.
const USUAL_WIDTH: usize = 92;

/// How text is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextStyle {
    /// Whether to use colours.
    pub colors: bool,
    /// How many columns the terminal has; `None` if it is none.
    pub width: Option<usize>,
}

impl TextStyle {
    /// How wide text is made.
    fn text_width(self) -> usize {
        self.width
            .map_or(USUAL_WIDTH, |width| width.min(USUAL_WIDTH))
    }
}

/// Renders reports.
pub(crate) struct TextRenderer {
    renderer: Renderer,
    style: TextStyle,
}

/// A spot with its file's text.
struct LabelledSpot<'a> {
    spot: &'a Spot,
    source: Option<&'a str>,
    label: String,
    kind: AnnotationKind,
}

impl TextRenderer {
    /// Renders in a style.
    pub(crate) fn new(style: TextStyle) -> Self {
        let renderer = match style.colors {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let renderer = match style.width {
            Some(width) => renderer.term_width(width),
            None => renderer,
        };
        Self { renderer, style }
    }

    /// The whole report.
    pub(crate) fn report(&self, dossier: &Dossier) -> String {
        let report = &dossier.report;
        let mut text = fit_lines(&notice_words::first_line(report), self.style.width);
        text += &overview::overview(dossier, self.style.width);
        for failure in &report.failures {
            text += &failure_text::text(failure, report.runs.total);
            text.push('\n');
        }
        let (noted, shown): (Vec<Violation>, Vec<Violation>) =
            (report.violations.iter().cloned()).partition(|one| is_aside(one, report));
        let new_races: Vec<Race> = (report.races.iter())
            .filter(|race| !report.is_known(&race.id))
            .cloned()
            .collect();
        for cause in causes::of_races(&new_races) {
            if let Some(detail) = dossier.details.get(&cause.shown.id) {
                let others = cause.others.iter().map(|other| words::also_races(other));
                let others: Vec<String> = others.collect();
                text += &self.race(dossier, cause.shown, detail, Some(&others));
                text += "\n\n";
            }
        }
        for cause in causes::of_violations(&shown) {
            if let Some(detail) = dossier.details.get(&cause.shown.id) {
                let others = cause.others.iter().map(|other| words::also_misses(other));
                let others: Vec<String> = others.collect();
                text += &self.violation(dossier, cause.shown, detail, Some(&others));
                text += "\n\n";
            }
        }
        text += &self.free_findings(dossier);
        let mut closing = aside(&noted, report) + &known(report) + &allowed(report);
        for note in &report.notes {
            closing += &format!("note: {note}\n");
        }
        text += &fit_lines(&closing, self.style.width);
        if let (Verdict::Failed, Some(output)) = (report.verdict, &dossier.output) {
            text += &format!("the program printed:\n{output}\n");
        }
        text + &fit_lines(&(summary(report) + "\n"), self.style.width)
    }

    /// One finding in depth; `None` if there is none of that name.
    pub(crate) fn explanation(&self, dossier: &Dossier, id: &str) -> Option<String> {
        let mut failures = dossier.report.failures.iter();
        if let Some(failure) = failures.find(|failure| failure.id == id) {
            return Some(failure_text::text(failure, dossier.report.runs.total));
        }
        if let Some(finding) = dossier.report.free_finding(id) {
            return Some(self.free_finding(dossier, finding) + "\n");
        }
        let detail = dossier.details.get(id)?;
        if let Some(violation) = dossier.report.violation(id) {
            let mut text = self.violation(dossier, violation, detail, None);
            text += "\n\n";
            text += &stable_name(&violation.stable_id);
            text += &last_words(detail);
            text += &steps(detail, violation);
            text += &calls("the access", &detail.access);
            if let Some(write) = &detail.other {
                text += &calls("the write", write);
            }
            text += &self.schedule(dossier, detail);
            let width = self.style.text_width();
            return Some(text + &outcome(&dossier.report, id, width));
        }
        let race = dossier.report.race(id)?;
        let mut text = self.race(dossier, race, detail, None);
        text += "\n\n";
        text += &stable_name(&race.stable_id);
        if race.prediction.is_some() {
            text += &race_steps(detail);
        }
        if let Some(sides) = &detail.race {
            text += words::race_witness(sides);
        }
        if let Some(first) = &detail.other {
            text += &calls("the first access", first);
        }
        text += &calls("the second access", &detail.access);
        text += &self.schedule(dossier, detail);
        let width = self.style.text_width();
        Some(text + &outcome(&dossier.report, id, width))
    }

    /// What was found and not confirmed, and how to report that; `None` if there is
    /// none of that name.
    pub(crate) fn unconfirmed(&self, dossier: &Dossier, id: &str) -> Option<String> {
        let finding = dossier.unconfirmed.get(id)?;
        let rerun = dossier.rerun.get(finding.program);
        let command = rerun.map_or(String::new(), |rerun| with_seed(rerun, finding.seed));
        let access = words::at(&finding.access);
        if finding.too_large {
            return Some(format!(
                "{id}: the analysis says that the access at {access} may be stale. That rests on \
                 more\nevents than the independent check of the memory model's axioms decides \
                 about\n({MAX_NODES}), so it is not reported. A run of the test in which less happens \
                 between\nthe write that may be missed and the access may show it. Seen with:\n  \
                 {command}\n"
            ));
        }
        let mut text = format!(
            "{id}: the analysis says that the access at {access} may be stale; the independent check of\n\
             the memory model's axioms does not agree. One of them is wrong. Please report it, with\n\
             what the command\n  {command}\nbuilds and runs"
        );
        match &finding.trace {
            Some(trace) => {
                text += &format!(", or with the trace of that run:\n  {}\n", trace.display())
            }
            None => text += ".\n",
        }
        Some(text)
    }

    /// How to replay the recorded schedule, even after unrelated edits.
    fn schedule(&self, dossier: &Dossier, detail: &FindingDetail) -> String {
        let (Some(trace), Some(rerun)) = (&detail.trace, dossier.rerun.get(detail.program)) else {
            return String::new();
        };
        format!(
            "\nThe schedule was recorded. To replay it, even after unrelated edits:\n  {}\n",
            with_trace(rerun, trace)
        )
    }

    fn violation(
        &self,
        dossier: &Dossier,
        violation: &Violation,
        detail: &FindingDetail,
        others: Option<&[String]>,
    ) -> String {
        let title = words::title(violation);
        let mut spots = vec![LabelledSpot::new(
            dossier,
            &detail.access,
            words::at_access(violation, detail),
            AnnotationKind::Primary,
        )];
        if let Some(write) = &detail.other {
            spots.push(LabelledSpot::new(
                dossier,
                write,
                words::at_write(violation, detail),
                AnnotationKind::Context,
            ));
        }
        let mut messages: Vec<Message<'_>> = words::through(&violation.via)
            .map(|through| Level::NOTE.message(through))
            .into_iter()
            .collect();
        messages.extend(is_in(&violation.location, violation.allocated.as_ref()));
        messages.push(Level::NOTE.message(words::consequence(violation, detail)));
        if let Some(harm) = harm_words::consequence(violation) {
            messages.push(Level::NOTE.message(harm));
        }
        if let Some(stack) = harm_words::stack(violation.harm.as_ref()) {
            messages.push(Level::NOTE.message(stack));
        }
        if let Some(machines) = harm_words::shown_by(violation) {
            messages.push(Level::NOTE.message(machines));
        }
        messages.push(Level::NOTE.message(words::orders(violation)));
        let mut seen = words::how_often(violation.runs, dossier.report.runs.total, violation.seed);
        seen += if violation.witness_checked {
            "; confirmed by an independent check of the memory model's axioms"
        } else {
            "; not confirmed by the independent check of the memory model's axioms"
        };
        messages.push(Level::NOTE.message(seen));
        let again = dossier.again_with(&violation.id, violation.seed);
        let stale = violation
            .harm
            .as_ref()
            .and_then(|harm| harm.command.as_ref());
        let again = stale.unwrap_or(&again);
        messages.push(Level::HELP.message(format!("to reproduce: {again}")));
        if let Some(others) = others {
            messages.extend(others.iter().map(|other| Level::NOTE.message(other)));
            messages.push(Level::HELP.message(words::details(&violation.id, &violation.stable_id)));
        }
        let level = match violation.harm.as_ref().map(|harm| harm.verdict) {
            Some(HarmWord::Harmful) => Level::ERROR,
            _ => Level::WARNING,
        };
        self.render(level, &title, &violation.id, &spots, messages)
    }

    fn race(
        &self,
        dossier: &Dossier,
        race: &Race,
        detail: &FindingDetail,
        others: Option<&[String]>,
    ) -> String {
        let Some(sides) = &detail.race else {
            return String::new();
        };
        let label = words::second_side(race, sides);
        let mut spots = vec![LabelledSpot::new(
            dossier,
            &detail.access,
            label,
            AnnotationKind::Primary,
        )];
        if let Some(first) = &detail.other {
            let label = words::first_side(race, sides);
            spots.push(LabelledSpot::new(
                dossier,
                first,
                label,
                AnnotationKind::Context,
            ));
        }
        let again = dossier.again_with(&race.id, race.seed);
        let ordered_by = words::should_order(race);
        let nothing =
            "no lock, thread start or end, or release/acquire pair orders the two accesses";
        let mut messages: Vec<Message<'_>> = is_in(&race.location, race.allocated.as_ref())
            .into_iter()
            .collect();
        messages.extend([
            Level::NOTE.message(ordered_by.unwrap_or_else(|| nothing.to_owned())),
            Level::NOTE.message(words::how_race_is_known(
                race,
                sides.runs,
                dossier.report.runs.total,
            )),
        ]);
        let told = others.into_iter().flatten();
        messages.extend(told.map(|other| Level::NOTE.message(other)));
        messages.push(Level::HELP.message(format!("to reproduce: {again}")));
        if others.is_some() {
            messages.push(Level::HELP.message(words::details(&race.id, &race.stable_id)));
        }
        let title = words::race_title(race, sides);
        self.render(Level::ERROR, &title, &race.id, &spots, messages)
    }

    fn render(
        &self,
        level: Level<'_>,
        title: &str,
        id: &str,
        spots: &[LabelledSpot<'_>],
        messages: Vec<Message<'_>>,
    ) -> String {
        let mut group: Group<'_> = Group::with_title(level.primary_title(title).id(id));
        let mut done = vec![false; spots.len()];
        for first in 0..spots.len() {
            if done[first] {
                continue;
            }
            let spot = &spots[first];
            let (Some(source), Some(_)) = (spot.source, spot.spot.span) else {
                done[first] = true;
                let place = &spot.spot.place;
                group = group.element(Level::NOTE.message(format!(
                    "{}, in {} of {} (source line unknown)",
                    spot.label, place.operation, place.file
                )));
                continue;
            };
            let mut snippet = Snippet::source(source).path(spot.spot.place.file.as_str());
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
        let text = self.renderer.render(&[group]);
        match self.style.width {
            Some(width) => fit_notes(&text, width),
            None => text,
        }
    }
}

impl<'a> LabelledSpot<'a> {
    fn new(dossier: &'a Dossier, spot: &'a Spot, label: String, kind: AnnotationKind) -> Self {
        Self {
            spot,
            source: dossier.source(spot),
            label,
            kind,
        }
    }
}

/// Which block of memory an object is in.
fn is_in<'a>(location: &str, allocated: Option<&Allocation>) -> Option<Message<'a>> {
    allocation_words::lies_in(location, allocated).map(|said| Level::NOTE.message(said))
}

/// What a finding is called in every report.
fn stable_name(stable_id: &str) -> String {
    match stable_id {
        "" => String::new(),
        name => format!("Its name in every run: {name}\n\n"),
    }
}

/// What does not count, a line each under a line that says why.
fn aside(violations: &[Violation], report: &Report) -> String {
    let aside = violations.iter().filter(|violation| !violation.counts);
    let aside = aside.filter(|violation| !report.is_known(&violation.id));
    let lines: String = aside
        .map(|violation| {
            let (place, title) = (words::at(&violation.access), words::title(violation));
            let known = harm_words::in_short(violation);
            format!("  {}: {place}: {title}; {known}\n", violation.id)
        })
        .collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{}\n{lines}", notice_words::ASIDE),
    }
}

/// What a baseline lists, a line each.
fn known(report: &Report) -> String {
    let violations = report.violations.iter().map(|violation| {
        let at = words::at(&violation.access);
        (&violation.id, format!("{at}: {}", words::title(violation)))
    });
    let races = report.races.iter().map(|race| {
        let (at, object) = (
            words::at(&race.second),
            object_words::object(&race.location),
        );
        (&race.id, format!("{at}: data race on {object}"))
    });
    let known = violations
        .chain(races)
        .filter(|(id, _)| report.is_known(id));
    known
        .map(|(id, what)| format!("known[{id}]: {what}\n"))
        .collect()
}

/// What the program printed when it took the stale value.
fn last_words(detail: &FindingDetail) -> String {
    match &detail.last_words {
        Some(printed) => {
            let lines = printed.lines().map(|line| format!("  {line}\n"));
            let lines: String = lines.collect();
            format!("When it took the stale value, the program printed:\n{lines}\n")
        }
        None => String::new(),
    }
}

/// What is allowed, a line each.
fn allowed(report: &Report) -> String {
    let mut text = String::new();
    for allowed in &report.allowed {
        let what = match &allowed.finding {
            Finding::Violation(violation) => format!(
                "{}: {}",
                words::at(&violation.access),
                words::title(violation)
            ),
            Finding::Race(race) => format!(
                "{} and {}: data race on {}",
                words::at(&race.first),
                words::at(&race.second),
                object_words::object(&race.location)
            ),
        };
        text += &format!(
            "allowed[{}]: {what}\n    reason: {} ({}:{})\n",
            allowed.id, allowed.reason, allowed.by.file, allowed.by.line
        );
    }
    text
}

/// What becomes of a finding: allowed, repaired by these changes, or not.
fn outcome(report: &Report, id: &str, width: usize) -> String {
    let mut text = String::new();
    if let Some(allowed) = report.allowed.iter().find(|allowed| allowed.id == id) {
        text += &format!(
            "\nIt is allowed by {}:{}: {}\n",
            allowed.by.file, allowed.by.line, allowed.reason
        );
    }
    let has = |ids: &[String]| ids.iter().any(|one| one == id);
    if let Some(repair) = &report.repair {
        let changes = repair.changes.iter().filter(|change| has(&change.removes));
        let changes: Vec<_> = changes.collect();
        if !changes.is_empty() {
            text += "\nThe suggested repair removes it with:\n";
            text += &changes_text(&changes, "  ", width);
        }
    }
    for left in report
        .unrepairable
        .iter()
        .filter(|left| has(&left.findings))
    {
        text += "\nNot repaired:\n";
        text += &wrapped(&left.text, "  ", "  ", width);
    }
    text
}

/// How many violations there are, and what they do.
fn violations(report: &Report) -> String {
    let total = counted(report.violations.len() as u64, "violation");
    match harm_words::verdict_counts(report) {
        None => total,
        Some(counts) => format!("{total} ({counts})"),
    }
}

fn summary(report: &Report) -> String {
    let runs = &report.runs;
    let mut parts = Vec::new();
    if !report.failures.is_empty() && report.verdict != Verdict::Failed {
        parts.push(counted(report.failures.len() as u64, "failure"));
    }
    if !report.violations.is_empty() {
        parts.push(violations(report));
    }
    if !report.races.is_empty() {
        parts.push(counted(report.races.len() as u64, "race"));
    }
    let found = match parts.is_empty() {
        false => parts.join(", "),
        true if runs.total > 0 && runs.incomplete == runs.total && report.failures.is_empty() => {
            "nothing was checked as a whole: every run is incomplete".to_owned()
        }
        true if report.has_unreported() => UNREPORTED.to_owned(),
        true if report.verdict == Verdict::Failed => failed(runs.total).to_owned(),
        true if report.proof.as_ref().is_some_and(|proof| proof.proved) => "proved".to_owned(),
        true => match report
            .outside
            .as_ref()
            .filter(|outside| !outside.counted.is_empty())
        {
            Some(outside) => format!("nothing found in {}", outside.path),
            None => "nothing found".to_owned(),
        },
    };
    let found = match report.free_findings().len() as u64 {
        0 => found,
        count => format!("{found}, {} of free runs", counted(count, "finding")),
    };
    let known = report.baseline.as_ref().map_or(0, |b| b.known.len());
    let aside = [(report.allowed.len(), "allowed"), (known, "known")];
    let aside = aside.iter().filter(|(count, _)| *count > 0);
    let aside: Vec<String> = aside
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let allowed = match aside.is_empty() {
        true => String::new(),
        false => format!(" ({})", aside.join(", ")),
    };
    let reached = if report.sites.total > 0 {
        format!(
            "; {} of {} atomic sites reached",
            report.sites.reached, report.sites.total
        )
    } else {
        String::new()
    };
    let free = match &report.free_runs {
        None => String::new(),
        Some(free) => format!(
            ", {} ({} of them with stale values)",
            counted(free.total, "free run"),
            free.stale
        ),
    };
    format!(
        "{found}{allowed}: {}{free}, {}, {} in {:.1} s{reached}",
        counted(runs.total, "run"),
        counted(runs.distinct_schedules, "schedule"),
        counted(runs.events, "event"),
        runs.seconds
    )
}

/// Why there is nothing to report.
fn failed(runs: u64) -> &'static str {
    match runs {
        0 => "nothing was run",
        _ => "a program failed in every run",
    }
}

/// A text in lines of at most `width` columns where words allow it, the first
/// after `first`, the others after `rest`.
fn wrapped(text: &str, first: &str, rest: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
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
    let mut text = format!("\nCall stack of {what} in {}:\n", spot.place.function);
    for caller in &spot.callers {
        text += &format!("  {caller}\n");
    }
    text
}
