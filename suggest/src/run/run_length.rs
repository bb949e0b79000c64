//! How far runs are followed. A test that goes on for millions of steps shows most of
//! what it has to show at its beginning, and time is better spent on many beginnings than
//! on one whole run. The first run of a program says whether it is such a one; which of
//! its later runs go how far depends on their numbers alone.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::process::Launch;
use crate::options::Steps;

/// Where the first runs end, and one of several later ones of a long program.
const LONG_RUN_STEPS: u64 = 1_000_000;

/// Where the others end.
const SHORT_RUN_STEPS: u64 = 200_000;

/// One run of so many of a long program is a long one.
const RUNS_PER_LONG_RUN: u64 = 8;

/// How long it may go unnoticed that nobody wants the answer any more.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How far the runs of one program are followed.
#[derive(Debug)]
pub(crate) struct RunLength {
    steps: Steps,
    /// Whether the program is long, once its first run has told.
    is_long: Mutex<Option<bool>>,
    told: Condvar,
}

impl RunLength {
    pub(crate) fn new(steps: Steps) -> Self {
        Self {
            steps,
            is_long: Mutex::new(None),
            told: Condvar::new(),
        }
    }

    /// The program's first run, or one that is made before that has ended.
    pub(crate) fn first(&self, launch: &Launch) -> Launch {
        self.launch(launch, LONG_RUN_STEPS)
    }

    /// The run of a number that is made after the first one. Waits for the end of that
    /// for as long as anybody wants the answer.
    pub(crate) fn later(&self, launch: &Launch, run: u64, is_over: impl Fn() -> bool) -> Launch {
        match self.wait(is_over) && !run.is_multiple_of(RUNS_PER_LONG_RUN) {
            true => self.launch(launch, SHORT_RUN_STEPS),
            false => self.first(launch),
        }
    }

    /// The first run has ended, before its end or after so many events.
    pub(crate) fn tell(&self, was_ended: bool, events: u64) {
        let mut is_long = self.is_long.lock().expect("no panic while locked");
        is_long.get_or_insert(was_ended || events > SHORT_RUN_STEPS);
        self.told.notify_all();
    }

    /// How far runs are followed that are made because of what others showed.
    pub(crate) fn usual(&self) -> Option<u64> {
        let is_long = self.is_long.lock().expect("no panic while locked");
        match (self.steps, *is_long) {
            (Steps::After(steps), _) => Some(steps),
            (Steps::Usual, Some(true)) => Some(SHORT_RUN_STEPS),
            (Steps::Usual, _) | (Steps::Never, _) => None,
        }
    }

    fn launch(&self, launch: &Launch, usual: u64) -> Launch {
        match self.steps {
            Steps::Never => launch.clone(),
            Steps::After(steps) => launch.with_steps(steps),
            Steps::Usual => launch.with_steps(usual),
        }
    }

    fn wait(&self, is_over: impl Fn() -> bool) -> bool {
        let mut is_long = self.is_long.lock().expect("no panic while locked");
        while is_long.is_none() && !is_over() {
            let waited = self.told.wait_timeout(is_long, LOOK_EVERY);
            is_long = waited.expect("no panic while locked").0;
        }
        is_long.unwrap_or(false)
    }
}
