//! Makes predicted races happen: the schedule of each is followed once, and what
//! the run shows is added to what is known. Knows how to run and where findings
//! are kept; what a schedule looks like is `observe`'s business.

use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context;
use wmfix_analysis::Event;

use crate::findings::{
    CollectedFindings, Deviation, KnownFindings, ObservationConfig, PredictionOutcome, RaceOrigin,
    observe,
};
use crate::observe::Places;
use crate::options::RunOptions;
use crate::run::{Deadline, RunEnd, RunFolders, Watchdog};
use crate::subject::Subject;

/// How many schedules are followed: each is a run of the program.
const MOST_FOLLOWED: usize = 32;

/// Follows the schedules of races that were predicted and not seen, until the
/// deadline. The traces of
/// the runs that showed one are given back.
pub(crate) fn follow(
    collected: &mut CollectedFindings,
    places: &Mutex<Places>,
    subject: &Subject,
    options: &RunOptions,
    deadline: Deadline,
) -> anyhow::Result<Vec<Vec<Event>>> {
    let folders = RunFolders::new()?;
    let watchdog = Watchdog::new(Duration::from_secs_f64(options.timeout), deadline);
    let config = ObservationConfig {
        analyzer: options.analyzer_config(),
        predict: false,
        limits: options.read_limits(),
    };
    let rule = config.analyzer.model.release_sequences;
    let mut shown = Vec::new();
    let mut followed = 0;
    for finding in &mut collected.races {
        let key = finding.key;
        let (program, seed) = (finding.program, finding.seed);
        let RaceOrigin::Predicted(prediction) = &mut finding.first.origin else {
            continue;
        };
        let command = subject.commands.get(program);
        let (Some(plan), Some(command)) = (&prediction.plan, command) else {
            continue;
        };
        if prediction.outcome != PredictionOutcome::NotFollowed
            || followed == MOST_FOLLOWED
            || deadline.is_over()
        {
            continue;
        }
        followed += 1;
        let folder = folders.take()?;
        let file = folder.path().join("plan.wmtrace");
        std::fs::write(&file, plan).with_context(|| format!("cannot write {}", file.display()))?;
        let tally = collected.tallies.get(&program);
        let launch = command
            .launch
            .as_far_as(tally.and_then(|tally| tally.steps));
        let launch = launch.replaying(&file);
        let finished = launch.once(seed, &folder, &watchdog)?;
        // Nothing is known to it: whatever the run shows is looked at in full.
        let nothing_known = KnownFindings::default();
        let observation = observe(&finished, places, &nothing_known, config, &|| {
            deadline.is_over()
        })?;
        if observation.ended == RunEnd::Interrupted {
            break;
        }
        let mut races = observation.races.into_iter();
        let seen = races.find(|(shown, _)| *shown == key);
        let traces = observation.traces;
        let is_shown = seen.is_some()
            || traces
                .iter()
                .any(|trace| prediction.is_shown_by(trace, rule));
        prediction.outcome = if is_shown {
            // The run itself can be replayed, choice by choice.
            let trace = seen.and_then(|(_, instance)| instance?.trace);
            finding.first.trace = trace.or(finding.first.trace.take());
            shown.extend(traces);
            PredictionOutcome::Seen
        } else if traces.is_empty() {
            PredictionOutcome::Elsewhere(Deviation::NoTrace)
        } else {
            PredictionOutcome::Elsewhere(prediction.deviation(&traces.concat()))
        };
    }
    Ok(shown)
}
