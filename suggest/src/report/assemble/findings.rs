//! One finding → what the report says about it.

use std::collections::BTreeMap;

use wmfix_analysis::ViolationKind;
use wmfix_analysis::reordering::Meeting;

use super::ends::stuck;
use super::spots::SpotFinder;
use crate::findings::{
    Carrier, Deviation, PredictionOutcome, RaceFinding, RaceOrigin, StepRole, StoryObject,
    StoryOperation, StoryStep, ViolationFinding,
};
use crate::harm::{FailedProcess, Harm, HarmVerdict};
use crate::report::dossier::{FindingDetail, Mark, RaceSides, ReportedStep, StepOperation};
use crate::report::model::{
    self, FollowedSchedule, RacePrediction, RaceSide, ReportedHarm, StaleKind,
};
use crate::report::rerun::{with_choices, with_stale};
use crate::report::{harm_words, step_words, words};
use crate::subject::RerunCommand;

/// Of the calls that a process died in, this many are shown.
const MOST_CALLS: usize = 16;

/// A violation without its name.
pub(super) fn violation(
    spots: &mut SpotFinder<'_>,
    finding: &ViolationFinding,
) -> (model::Violation, FindingDetail) {
    let (access, write, kind) = finding.key;
    let access_spot = spots.spot(access);
    let write_spot = write.map(|site| spots.spot(site));
    let first = &finding.first;
    let allocated = first.allocated.as_ref().map(|made| spots.allocation(made));
    let violation = model::Violation {
        id: String::new(),
        stable_id: String::new(),
        cause: String::new(),
        kind: match kind {
            ViolationKind::StaleRead => StaleKind::Read,
            ViolationKind::StaleWrite => StaleKind::Write,
            ViolationKind::StaleRmw => StaleKind::Rmw,
        },
        access: access_spot.place.clone(),
        write: write_spot
            .as_ref()
            .map_or_else(no_write, |spot| spot.place.clone()),
        threads: std::iter::once(first.thread)
            .chain(first.writer)
            .map(|thread| thread.0)
            .collect(),
        location: spots.location(
            first.location.as_deref(),
            &[Some(access), write],
            allocated.as_ref(),
        ),
        allocated,
        pointers: spots.pointers(&first.pointers),
        read_value: first.read_value.map(Into::into),
        stale_values: first.stale_values.iter().copied().map(Into::into).collect(),
        same_value: first.same_value,
        runs: finding.runs,
        seed: finding.seed,
        witness_checked: first.doubt.is_none(),
        harm: None,
        counts: true,
        machines: Vec::new(),
        via: access_spot.via.clone(),
    };
    let detail = FindingDetail {
        access: access_spot,
        other: write_spot,
        newer_value: first.newer_value.map(Into::into),
        program: finding.program,
        trace: None,
        steps: steps(spots, &first.steps),
        race: None,
        last_words: None,
    };
    (violation, detail)
}

/// What taking the stale value did to the program, and what it printed then.
pub(super) fn harm(
    spots: &mut SpotFinder<'_>,
    harm: &Harm,
    rerun: &[RerunCommand],
) -> (ReportedHarm, Option<String>) {
    let shown_by = harm.shown_by.as_ref();
    let ended = match (shown_by, harm.untried) {
        (Some(run), _) => {
            harm_words::effect(run.effect, &run.last_words, |site| spots.spot(site).place)
        }
        (None, Some(reason)) => harm_words::untried(reason).to_owned(),
        (None, None) => String::new(),
    };
    let command = shown_by.and_then(|run| Some((run, rerun.get(run.program)?)));
    let reported = ReportedHarm {
        verdict: harm_words::word(harm.verdict),
        runs: harm.runs,
        ended,
        stack: shown_by
            .and_then(|run| run.failed.as_ref())
            .map_or_else(Vec::new, |failed| stack(spots, failed)),
        seed: shown_by.map(|run| run.seed),
        command: command.map(|(run, rerun)| match run.was_free {
            true => with_choices(rerun, run.seed, &run.choices),
            false => with_stale(rerun, run.seed, &run.choices),
        }),
    };
    let telling = shown_by.filter(|_| harm.verdict >= HarmVerdict::NotDecided);
    let words = telling.map(|run| run.last_words.clone());
    (reported, words.filter(|words| !words.trim().is_empty()))
}

/// Where a process stood when it failed, a line each.
pub(super) fn stack(spots: &mut SpotFinder<'_>, failed: &FailedProcess) -> Vec<String> {
    let calls = failed.died_in.iter();
    let mut lines: Vec<String> = calls.filter_map(|frame| spots.caller(frame)).collect();
    lines.truncate(MOST_CALLS);
    lines.extend(failed.end.stuck.iter().map(|one| stuck(spots, one)));
    lines
}

fn steps(spots: &mut SpotFinder<'_>, steps: &[StoryStep]) -> Vec<ReportedStep> {
    let names = names(spots, steps);
    let lines = steps.iter().filter_map(|step| {
        let place = spots.spot(step.site).place;
        // What neither proves anything nor stands in a source is start-up of the
        // runtime or the C library; signals are how libraries wait.
        let needed = step.edge.is_some() || step.role != StepRole::Way;
        if !needed && (place.line == 0 || step_words::is_signal(&step.operation)) {
            return None;
        }
        Some(ReportedStep {
            thread: step.thread.0,
            place,
            what: step_words::operation(&step.operation, &names, &spots.pointers(&step.pointers)),
            operation: step_operation(&step.operation, &names),
            because: step.edge.map(|edge| step_words::reason(edge).to_owned()),
            edge: step.edge.map(|edge| step_words::label(edge).to_owned()),
            mark: match step.role {
                StepRole::Way => None,
                StepRole::Newer => Some(Mark::Newer),
                StepRole::Access => Some(Mark::Access),
            },
        })
    });
    lines.collect()
}

/// What the objects of a story without a variable of their own are called: as the
/// first step that accesses one writes it, with a number where another one is
/// written so, too.
fn names(spots: &mut SpotFinder<'_>, steps: &[StoryStep]) -> BTreeMap<u32, String> {
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    for step in steps {
        let Some(StoryObject::Location(number, _)) = step.operation.object() else {
            continue;
        };
        if names.contains_key(number) {
            continue;
        }
        if let Some(text) = spots.object(step.site) {
            let alike =
                |name: &&String| name.as_str() == text || name.starts_with(&format!("{text} ("));
            let name = match names.values().filter(alike).count() {
                0 => text,
                before => format!("{text} ({})", before + 1),
            };
            names.insert(*number, name);
        }
    }
    names
}

/// A step as a litmus test has it.
fn step_operation(operation: &StoryOperation, names: &BTreeMap<u32, String>) -> StepOperation {
    let small = |value: u128| u64::try_from(value).ok();
    let known = match operation {
        StoryOperation::Read { object, value } => small(*value).map(|value| StepOperation::Load {
            object: step_words::object(object, names),
            value,
        }),
        StoryOperation::Store { object, value } => {
            small(*value).map(|value| StepOperation::Store {
                object: step_words::object(object, names),
                value,
            })
        }
        StoryOperation::Rmw {
            object,
            read,
            written,
        } => small(*read)
            .zip(small(*written))
            .map(|(read, written)| StepOperation::Rmw {
                object: step_words::object(object, names),
                read,
                written,
            }),
        StoryOperation::FailedExchange { .. } => Some(StepOperation::FailedExchange),
        StoryOperation::Fence(order) => Some(StepOperation::Fence {
            order: order.name().to_owned(),
        }),
        StoryOperation::ThreadStart(_) => Some(StepOperation::ThreadStart),
        StoryOperation::ThreadJoin(_) | StoryOperation::ThreadExit => {
            Some(StepOperation::ThreadEnd)
        }
        StoryOperation::Acquire(_) | StoryOperation::Release(_) => Some(StepOperation::Lock),
        StoryOperation::PlainRead | StoryOperation::PlainWrite => Some(StepOperation::Plain),
    };
    known.unwrap_or_default()
}

/// A race without its name.
pub(super) fn race(
    spots: &mut SpotFinder<'_>,
    finding: &RaceFinding,
) -> (model::Race, FindingDetail) {
    let race = &finding.first.race.race;
    let (first, second) = (spots.spot(race.first.site), spots.spot(race.second.site));
    let allocated = finding.first.allocated.as_ref();
    let allocated = allocated.map(|made| spots.allocation(made));
    let location = spots.location(
        finding.first.location.as_deref(),
        &[Some(race.first.site), Some(race.second.site)],
        allocated.as_ref(),
    );
    let shown = model::Race {
        id: String::new(),
        stable_id: String::new(),
        cause: String::new(),
        first: first.place.clone(),
        second: second.place.clone(),
        location,
        allocated,
        frees: if spots.frees(race.first.site) {
            Some(RaceSide::First)
        } else {
            spots.frees(race.second.site).then_some(RaceSide::Second)
        },
        seed: finding.seed,
        ordered_by: finding.first.carrier.map(|carrier| message(spots, carrier)),
        prediction: match &finding.first.origin {
            RaceOrigin::Seen => None,
            RaceOrigin::Predicted(prediction) => Some(followed(spots, &prediction.outcome)),
        },
    };
    let steps = match &finding.first.origin {
        RaceOrigin::Seen => Vec::new(),
        RaceOrigin::Predicted(prediction) => steps(spots, &prediction.steps),
    };
    let detail = FindingDetail {
        access: second,
        other: Some(first),
        newer_value: None,
        program: finding.program,
        trace: None,
        steps,
        race: Some(RaceSides {
            first_thread: race.first.thread.0,
            first_writes: race.first.writes,
            first_atomic: race.first.atomic,
            second_thread: race.second.thread.0,
            second_writes: race.second.writes,
            second_atomic: race.second.atomic,
            runs: finding.runs,
            adjacent: finding.first.meeting == Meeting::Adjacent,
        }),
        last_words: None,
    };
    (shown, detail)
}

/// What should have ordered a race.
fn message(spots: &mut SpotFinder<'_>, carrier: Carrier) -> model::WeakMessage {
    let sides = [("write", carrier.weak_write), ("read", carrier.weak_read)];
    let weak = sides.iter().filter(|(_, weak)| *weak);
    model::WeakMessage {
        write: spots.spot(carrier.write).place,
        read: spots.spot(carrier.read).place,
        weak: weak.map(|(side, _)| (*side).to_owned()).collect(),
    }
}

/// What came of following the schedule of a predicted race.
fn followed(spots: &mut SpotFinder<'_>, outcome: &PredictionOutcome) -> RacePrediction {
    let (outcome, why) = match *outcome {
        PredictionOutcome::NotFollowed => (FollowedSchedule::NotFollowed, None),
        PredictionOutcome::Seen => (FollowedSchedule::Seen, None),
        PredictionOutcome::Elsewhere(deviation) => {
            let mut at = |site| words::at(&spots.spot(site).place);
            let why = match deviation {
                Deviation::OtherWay {
                    thread,
                    expected,
                    instead,
                } => format!(
                    "thread {} went to {} instead of {}",
                    thread.0,
                    at(instead),
                    at(expected)
                ),
                Deviation::Stopped { thread, before } => {
                    format!("thread {} did not get to {}", thread.0, at(before))
                }
                Deviation::Ordered => "something ordered the two accesses".to_owned(),
                Deviation::NoTrace => "the run left no trace".to_owned(),
            };
            (FollowedSchedule::Elsewhere, Some(why))
        }
    };
    RacePrediction { outcome, why }
}

/// The place of a write that no instruction made.
pub(super) fn no_write() -> model::ReportedPlace {
    model::ReportedPlace {
        file: String::new(),
        line: 0,
        column: 0,
        function: String::new(),
        operation: "initial value".to_owned(),
        order: String::new(),
    }
}
