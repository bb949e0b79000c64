//! Runs of one program that are looked at.

use std::sync::Mutex;
use std::time::Duration;

use super::directed_run::{RunRecord, examine};
use crate::observe::{DecodedTrace, Places, decode};
use crate::options::RunOptions;
use crate::run::{Deadline, FinishedRun, Launch, RunFolders, Watchdog};

/// What runs are made with.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) places: &'a Mutex<Places>,
    pub(super) folders: &'a RunFolders,
    /// When everything has to be over.
    pub(super) deadline: Deadline,
    /// When a run hangs.
    pub(super) limit: Duration,
}

/// A process of a run: the bytes of its trace, and what they say.
pub(super) type Process = (Vec<u8>, DecodedTrace);

impl Runner<'_> {
    /// Makes a run.
    pub(super) fn run(&self, launch: &Launch, seed: u64) -> anyhow::Result<RunRecord> {
        self.with(launch, seed, |finished| self.examined(finished, None))
    }

    /// Makes a run that is expected to be what `prefix` says up to its choice.
    pub(super) fn run_to_choice(
        &self,
        launch: &Launch,
        seed: u64,
        prefix: u64,
    ) -> anyhow::Result<RunRecord> {
        self.with(launch, seed, |finished| {
            self.examined(finished, Some(prefix))
        })
    }

    /// Makes a run, and gives what its processes did besides.
    pub(super) fn run_with_traces(
        &self,
        launch: &Launch,
        seed: u64,
    ) -> anyhow::Result<(RunRecord, Vec<Process>)> {
        self.with(launch, seed, |finished| {
            let mut processes = Vec::new();
            for path in &finished.traces {
                let bytes = std::fs::read(path)?;
                if let Ok(decoded) = decode(&bytes, self.places) {
                    processes.push((bytes, decoded));
                }
            }
            Ok((self.examined(finished, None)?, processes))
        })
    }

    fn examined(&self, finished: &FinishedRun, prefix: Option<u64>) -> anyhow::Result<RunRecord> {
        examine(
            finished,
            prefix,
            self.places,
            self.options.analyzer_config(),
        )
    }

    fn with<T>(
        &self,
        launch: &Launch,
        seed: u64,
        look: impl FnOnce(&FinishedRun) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let watchdog = Watchdog::new(self.limit, self.deadline);
        let folder = self.folders.take()?;
        look(&launch.once(seed, &folder, &watchdog)?)
    }
}
