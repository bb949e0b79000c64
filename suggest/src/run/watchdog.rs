//! Ends what does not end by itself: runs past their time, and all of them when
//! the user interrupts. One thread watches every running process.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::deadline::Deadline;
use super::guard;
use super::output_file::OutputFile;
use super::trace_folder::TraceFolder;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Set when the user interrupts.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long an interrupt may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Makes Ctrl-C and a polite kill end the runs instead of us: what is known by
/// then is still reported.
pub(crate) fn stop_on_interrupt() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            // Asked for a second time: now at once.
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether the user has interrupted.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillReason {
    /// It took too long.
    TooLong,
    /// Its traces were too large.
    TooLarge,
    /// It was among the first of its program, and had to leave time for what it showed.
    OutOfTime,
    /// The user interrupted, or the time for everything was up.
    Interrupted,
}

/// Watches running processes.
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    limit: Duration,
}

struct Shared {
    /// When everything has to be over.
    deadline: Deadline,
    /// Why a run is killed then.
    at_deadline: KillReason,
    running: Mutex<HashMap<Pid, RunningProcess>>,
    stop: Condvar,
    stopped: AtomicBool,
    /// Nobody needs what comes of the runs any more.
    ending: Arc<AtomicBool>,
}

struct RunningProcess {
    deadline: Instant,
    killed: Option<KillReason>,
    output: Option<OutputFile>,
    traces: Option<TraceFolder>,
}

/// What a run leaves behind in files.
#[derive(Clone, Debug)]
pub(super) struct RunFiles {
    /// What it prints.
    pub output: PathBuf,
    /// Its traces.
    pub traces: TraceFolder,
}

/// A process that is watched.
pub(crate) struct WatchedProcess<'a> {
    watchdog: &'a Watchdog,
    process: Pid,
    guarded: io::Result<()>,
}

impl Watchdog {
    /// Starts watching; no run may take longer than `limit`, and none goes on
    /// after the deadline.
    pub(crate) fn new(limit: Duration, deadline: Deadline) -> Self {
        Self::start(limit, deadline, KillReason::Interrupted, Arc::default())
    }

    /// The same for a run that is looked at even if it does not come to its end by
    /// the deadline. It ends when everything ends here.
    pub(crate) fn of_first_run(&self, deadline: Deadline) -> Self {
        let ending = Arc::clone(&self.shared.ending);
        Self::start(self.limit, deadline, KillReason::OutOfTime, ending)
    }

    fn start(
        limit: Duration,
        deadline: Deadline,
        at_deadline: KillReason,
        ending: Arc<AtomicBool>,
    ) -> Self {
        let shared = Arc::new(Shared {
            deadline,
            at_deadline,
            running: Mutex::default(),
            stop: Condvar::new(),
            stopped: AtomicBool::new(false),
            ending,
        });
        let watched = Arc::clone(&shared);
        thread::spawn(move || watched.watch());
        Self { shared, limit }
    }

    /// Whether nobody needs what comes of the runs any more.
    pub(crate) fn is_ending(&self) -> bool {
        interrupted() || self.shared.ending.load(Ordering::Relaxed)
    }

    /// Ends everything that runs, and whatever is started from now on.
    pub(crate) fn end_all(&self) {
        self.shared.ending.store(true, Ordering::Relaxed);
        self.shared.stop.notify_all();
    }

    /// How long a run may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Watches a child that leads a group of its own.
    pub(crate) fn watch(&self, child: &Child) -> WatchedProcess<'_> {
        self.watch_process(Pid::from_child(child), None)
    }

    /// The same for a run, which leaves files behind.
    pub(super) fn watch_run(&self, child: &Child, files: &RunFiles) -> WatchedProcess<'_> {
        self.watch_process(Pid::from_child(child), Some(files))
    }

    /// Watches a process that leads a group of its own, whoever's child it is.
    pub(super) fn watch_process(
        &self,
        process: Pid,
        files: Option<&RunFiles>,
    ) -> WatchedProcess<'_> {
        let running = RunningProcess {
            deadline: Instant::now() + self.limit,
            killed: None,
            output: files.map(|files| OutputFile::new(&files.output)),
            traces: files.map(|files| files.traces.clone()),
        };
        self.shared.lock().insert(process, running);
        let guarded = guard::add(process);
        if guarded.is_err() {
            let _already_gone = kill_process_group(process, Signal::KILL);
        }
        WatchedProcess {
            watchdog: self,
            process,
            guarded,
        }
    }
}

impl WatchedProcess<'_> {
    /// Waits until the process has ended, but leaves it for its parent to
    /// collect: until then its number cannot go to another process.
    pub(crate) fn until_ended(self) -> io::Result<Option<KillReason>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waited = loop {
            match waitid(WaitId::Pid(self.process), options) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other,
            }
        };
        let killed = self.has_ended()?;
        waited?;
        Ok(killed)
    }

    /// Whether it was killed for taking too long, or because everything ends.
    pub(super) fn is_killed(&self) -> bool {
        let running = self.watchdog.shared.lock();
        let running = running.get(&self.process);
        running.is_none_or(|running| running.killed.is_some())
    }

    /// The process has ended, and nobody has collected it yet. Says why it was
    /// killed, if it was.
    pub(super) fn has_ended(self) -> io::Result<Option<KillReason>> {
        let running = self.watchdog.shared.lock().remove(&self.process);
        // Children that it has left behind must not outlive the run. Most runs
        // leave none; then there is nobody to send to.
        let _nobody_left = kill_process_group(self.process, Signal::KILL);
        self.guarded.and_then(|()| guard::remove(self.process))?;
        Ok(running.and_then(|running| running.killed))
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Pid, RunningProcess>> {
        self.running.lock().expect("no panic while locked")
    }

    fn watch(&self) {
        let mut running = self.lock();
        while !self.stopped.load(Ordering::Relaxed) {
            for run in running.values_mut() {
                if let Some(output) = &mut run.output {
                    output.keep_small();
                }
            }
            for (&process, run) in running.iter_mut().filter(|(_, run)| run.killed.is_none()) {
                let reason = if interrupted() || self.ending.load(Ordering::Relaxed) {
                    KillReason::Interrupted
                } else if self.deadline.is_over() {
                    self.at_deadline
                } else if Instant::now() >= run.deadline {
                    KillReason::TooLong
                } else if run.traces.as_mut().is_some_and(TraceFolder::is_seen_full) {
                    KillReason::TooLarge
                } else {
                    continue;
                };
                run.killed = Some(reason);
                // It has not been collected yet, so the number is still its own.
                let _already_gone = kill_process_group(process, Signal::KILL);
            }
            let waited = self.stop.wait_timeout(running, LOOK_EVERY);
            running = waited.expect("no panic while locked").0;
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.stop.notify_all();
    }
}
