//! One run of the program under test: the environment that configures the runtime,
//! the folder for its traces, and how it ended.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sys::personality::{self, Persona};
use wmfix_analysis::explore::{Actor, Assignment};
use wmfix_trace::{
    LostOrder, RECORDED_BESIDE, RUN_VARIABLES, StaleTarget, StaleTargets, UNFINISHED, UndoneStore,
};

use super::folders::RunFolder;
use super::fork_server::{ForkServer, ServerLost, ServerRequest, ServerStart};
use super::padding::pad;
use super::run_end::RunEnd;
use super::skip_rule::SkipRule;
use super::start::ProgramKey;
use super::trace_folder::TraceFolder;
use super::watchdog::{KillReason, RunFiles, Watchdog};
use crate::cli::{MemoryModel, Races, WeakChoice};
use crate::options::{RunOptions, value_name};
use crate::printable::printable;

/// Where the runtime is told of a schedule to follow.
const REPLAY: &str = "WMFIX_REPLAY";

/// What to run, and how.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder to run it in; ours, if not given.
    pub folder: Option<PathBuf>,
    /// What it gets as its standard input; nothing, if not given.
    pub input: Option<PathBuf>,
    /// More of the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How it says that it cannot be run here, which is no failure.
    pub skip: SkipRule,
    /// What configures the runtime, but for the seed and the folder.
    pub settings: Vec<(&'static str, OsString)>,
    /// Whether the program may be the server of its runs.
    pub fork_server: bool,
    /// Whether it lies at other addresses in every run.
    pub moves: bool,
    /// How many bytes its traces may have together.
    pub trace_limit: u64,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    /// How.
    pub ended: RunEnd,
    /// What it wrote to stdout and stderr.
    pub output: PathBuf,
    /// The traces of its processes, sorted by name.
    pub traces: Vec<PathBuf>,
    /// They are larger together than they may be.
    pub is_too_large: bool,
}

impl Launch {
    /// A command that is run as the options say.
    pub(crate) fn new(command: Vec<OsString>, options: &RunOptions) -> Self {
        let trace_limit = options.trace_limit.saturating_mul(1 << 20);
        let mut settings = vec![
            ("WMFIX_STRATEGY", value_name(options.strategy).into()),
            ("WMFIX_SLEEPS", value_name(options.sleeps).into()),
            ("WMFIX_ANNOTATIONS", value_name(options.annotations).into()),
            ("WMFIX_VOLATILE", value_name(options.volatile).into()),
            (
                "WMFIX_RACES",
                match options.races {
                    Races::Off => "off".into(),
                    Races::On | Races::Predict => "on".into(),
                },
            ),
            ("WMFIX_TRACE_LIMIT", trace_limit.to_string().into()),
            ("WMFIX_EVENT_LIMIT", options.event_limit.to_string().into()),
        ];
        if let Some(trace) = &options.replay {
            let absolute = std::path::absolute(trace).unwrap_or_else(|_| trace.clone());
            settings.push((REPLAY, absolute.into()));
        }
        Self {
            command,
            folder: None,
            input: None,
            environment: Vec::new(),
            skip: SkipRule::default(),
            settings,
            fork_server: options.fork_server,
            moves: false,
            trace_limit,
        }
    }

    /// The files of a run in a folder.
    fn files(&self, folder: &Path) -> RunFiles {
        RunFiles {
            output: folder.join("output"),
            traces: TraceFolder::new(&folder.join("traces"), self.trace_limit),
        }
    }

    /// The same in a process of its own, at other addresses.
    pub(crate) fn elsewhere(&self) -> Self {
        let mut launch = self.clone();
        launch.fork_server = false;
        launch.moves = true;
        launch
    }

    /// The same, but following a schedule.
    pub(crate) fn replaying(&self, schedule: &Path) -> Self {
        let mut launch = self.clone();
        launch.settings.retain(|(name, _)| *name != REPLAY);
        launch.settings.push((REPLAY, schedule.into()));
        launch
    }

    /// The same, but taking the steps that an exploration asks for.
    pub(crate) fn exploring(&self, assignment: &Assignment) -> Self {
        let list = |actors: &[Actor]| {
            let threads = actors.iter().map(|actor| actor.thread.to_string());
            threads.collect::<Vec<String>>().join(",")
        };
        let steps = format!("{};{}", list(&assignment.prefix), list(&assignment.asleep));
        let mut launch = self.clone();
        launch.settings.push(("WMFIX_EXPLORE", steps.into()));
        launch
    }

    /// The same, ended after so many steps as runs of a program are.
    pub(crate) fn as_far_as(&self, steps: Option<u64>) -> Self {
        steps.map_or_else(|| self.clone(), |steps| self.with_steps(steps))
    }

    /// The same, ended after this many steps.
    pub(crate) fn with_steps(&self, steps: u64) -> Self {
        const STEPS: &str = "WMFIX_STEPS";
        let mut launch = self.clone();
        launch.settings.retain(|(name, _)| *name != STEPS);
        launch.settings.push((STEPS, steps.to_string().into()));
        launch
    }

    /// The same with a stale choice. Plain accesses are recorded: what comes of the
    /// choice may be a race.
    pub(crate) fn with_stale(&self, target: &StaleTarget) -> Self {
        let mut launch = self.unfiltered();
        let target = target.to_string().into();
        launch.settings.push(("WMFIX_STALE", target));
        launch
    }

    /// The same, but accesses take any write that the memory model lets them.
    pub(crate) fn free(&self, how: WeakChoice) -> Self {
        let mut launch = self.unfiltered();
        launch.settings.push(("WMFIX_WEAK", value_name(how).into()));
        launch
    }

    /// The same with these stale choices, each where the memory model allows it.
    pub(crate) fn with_choices(&self, choices: &StaleTargets) -> Self {
        let mut launch = self.unfiltered();
        let choices = choices.to_string().into();
        launch
            .settings
            .extend([("WMFIX_WEAK", "given".into()), ("WMFIX_STALE", choices)]);
        launch
    }

    /// The same, but the operations of some sites in a table lose their order.
    pub(crate) fn losing(&self, lost: &LostOrder, table: &Path) -> Self {
        let mut launch = self.clone();
        launch.settings.extend([
            ("WMFIX_LOSE", lost.to_string().into()),
            ("WMFIX_SITES", table.into()),
        ]);
        launch
    }

    /// The same without stale choices, but one store is undone.
    pub(crate) fn undoing(&self, store: UndoneStore) -> Self {
        let mut launch = self.with_choices(&StaleTargets(Vec::new()));
        launch
            .settings
            .push(("WMFIX_UNDO", store.to_string().into()));
        launch
    }

    /// The same, but checked in the process: `table` says what is known about the
    /// program's operations.
    pub(crate) fn checked(&self, table: &Path, model: MemoryModel, predict: bool) -> Self {
        let mut launch = self.clone();
        let predict = if predict { "on" } else { "off" };
        launch.settings.extend([
            ("WMFIX_CHECK", table.into()),
            ("WMFIX_MODEL", value_name(model).into()),
            ("WMFIX_PREDICT", predict.into()),
        ]);
        launch
    }

    /// The same with everything recorded, so that an access has the same number in
    /// every run.
    pub(crate) fn unfiltered(&self) -> Self {
        let mut launch = self.clone();
        launch
            .settings
            .extend([("WMFIX_FILTER", "off".into()), ("WMFIX_RACES", "on".into())]);
        launch
    }

    /// The same with everything recorded, up to this many events.
    pub(crate) fn in_full(&self, events: u64) -> Self {
        let mut launch = self.unfiltered();
        let limit = ("WMFIX_EVENT_LIMIT", events.to_string().into());
        launch.settings.retain(|(name, _)| *name != limit.0);
        launch.settings.push(limit);
        launch
    }

    /// The name of its program.
    pub(crate) fn name(&self) -> String {
        let program = self.command.first().map(Path::new);
        let name = program.and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The program, if it cannot be found or executed.
    pub(crate) fn missing_program(&self) -> Option<PathBuf> {
        let program = self.command.first()?;
        self.program().is_none().then(|| program.into())
    }

    /// The file that is executed.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        let program = self.command.first()?;
        let own = self.environment.iter().rfind(|(name, _)| name == "PATH");
        let path = own.map(|(_, path)| path.clone());
        let path = path.or_else(|| std::env::var_os("PATH"));
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().ok()?,
        };
        which::which_in(program, path, folder).ok()
    }

    /// Runs it once, by its fork server if it can be one. An error means that it
    /// could not be started at all.
    pub(crate) fn once(
        &self,
        seed: u64,
        folder: &RunFolder<'_>,
        watchdog: &Watchdog,
    ) -> io::Result<FinishedRun> {
        let into = folder.path();
        let traces = into.join("traces");
        empty_folder(&traces)?;
        let output = into.join("output");
        if let Some(ended) = self.served(seed, folder, watchdog)? {
            folder.end_left_behind();
            return self.finished(ended, into);
        }
        let out = File::create(&output)?;
        let run = self.start(seed, into, watchdog, |command| {
            command.stdout(out.try_clone()?).stderr(out);
            Ok(())
        });
        folder.end_left_behind();
        run
    }

    /// Has a fork server run it; `None` if there is none.
    fn served(
        &self,
        seed: u64,
        folder: &RunFolder<'_>,
        watchdog: &Watchdog,
    ) -> io::Result<Option<RunEnd>> {
        let key = self.program_key();
        let files = self.files(folder.path());
        let traces = folder.path().join("traces");
        let request = ServerRequest {
            files: &files,
            input: self.input.as_deref(),
            variables: self.run_variables(seed, &traces),
        };
        let mut slot = folder.server().lock().expect("no panic while locked");
        let find = || self.program();
        while self.fork_server && folder.programs().may_serve(&key, find) {
            if slot.as_ref().is_none_or(|(served, _)| *served != key) {
                *slot = None;
                match ForkServer::start(self.server_command(folder.path())?, watchdog)? {
                    ServerStart::Ready(server) => *slot = Some((key.clone(), server)),
                    // Everything ends: that says nothing about the program.
                    ServerStart::Refused(None) if watchdog.is_ending() => {
                        return Ok(Some(RunEnd::Interrupted));
                    }
                    ServerStart::Refused(why) => {
                        folder.programs().refused(&key, why);
                        continue;
                    }
                }
            }
            let Some((_, server)) = slot.as_mut() else {
                break;
            };
            match server.run(&request, watchdog) {
                Ok(ended) => return Ok(Some(ended)),
                Err(ServerLost) => {
                    *slot = None;
                    folder.programs().died(&key);
                    empty_folder(&traces)?;
                }
            }
        }
        Ok(None)
    }

    fn program_key(&self) -> ProgramKey {
        ProgramKey {
            command: self.command.clone(),
            folder: self.folder.clone(),
            input: self.input.clone(),
            environment: self.environment.clone(),
        }
    }

    /// What configures the runtime for one run.
    fn run_variables(&self, seed: u64, traces: &Path) -> RunVariables {
        let settings = self.settings.iter();
        let settings = settings.map(|(name, value)| (OsStr::new(*name), value.clone()));
        let own = [
            (OsStr::new("WMFIX_SEED"), seed.to_string().into()),
            (OsStr::new("WMFIX_OUT"), traces.into()),
        ];
        // Of a name that comes twice the last value counts.
        settings.chain(own).collect()
    }

    /// The command that becomes the server. What it records is of no use to anybody.
    fn server_command(&self, folder: &Path) -> io::Result<Command> {
        let own = folder.join("server");
        empty_folder(&own)?;
        let out = File::create(folder.join("server-output"))?;
        let mut variables = self.run_variables(0, &own);
        variables.retain(|name, _| !RUN_VARIABLES.iter().any(|other| name == other));
        let mut command = self.command(variables)?;
        for name in RUN_VARIABLES {
            command.env_remove(name);
        }
        command.stdout(out.try_clone()?).stderr(out);
        Ok(command)
    }

    /// The same, but what it prints is shown.
    pub(crate) fn shown(
        &self,
        seed: u64,
        into: &Path,
        watchdog: &Watchdog,
    ) -> io::Result<FinishedRun> {
        self.start(seed, into, watchdog, |_| Ok(()))
    }

    fn start(
        &self,
        seed: u64,
        into: &Path,
        watchdog: &Watchdog,
        redirect: impl FnOnce(&mut Command) -> io::Result<()>,
    ) -> io::Result<FinishedRun> {
        let traces = into.join("traces");
        empty_folder(&traces)?;
        let mut command = self.command(self.run_variables(seed, &traces))?;
        redirect(&mut command)?;
        let (status, killed) = wait(command.spawn()?, &self.files(into), watchdog)?;
        self.finished(RunEnd::of(status, killed), into)
    }

    /// A run that has ended, with what it has left in its folder.
    fn finished(&self, ended: RunEnd, into: &Path) -> io::Result<FinishedRun> {
        let files = self.files(into);
        let ended = match ended {
            RunEnd::Exited(code) if code != 0 && self.skip.skips(code, &files.output)? => {
                RunEnd::Exited(0)
            }
            ended => ended,
        };
        // One that ends soon is not looked at before.
        let is_too_large = ended == RunEnd::TooLarge || files.traces.is_full();
        Ok(FinishedRun {
            ended,
            output: files.output,
            traces: traces_in(&into.join("traces"))?,
            is_too_large,
        })
    }

    /// The command of a run that these variables configure.
    fn command(&self, mut variables: RunVariables) -> io::Result<Command> {
        fix_addresses(!self.moves);
        pad(&mut variables);
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(variables)
            .stdin(match &self.input {
                Some(file) => Stdio::from(File::open(file)?),
                None => Stdio::null(),
            })
            // Its own group, so that a run can be ended with all its children.
            .process_group(0);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        Ok(command)
    }
}

/// What configures the runtime, by name.
pub(super) type RunVariables = BTreeMap<&'static OsStr, OsString>;

/// Has whatever we start lie at the same addresses every time, so that a seed gives
/// the same run of programs that look at addresses, too, or lets them vary. Where the
/// system does not allow that, they vary always. The system keeps this for each thread, not for the process.
fn fix_addresses(same: bool) {
    thread_local! {
        static ARE_SAME: Cell<bool> = const { Cell::new(false) };
    }
    if ARE_SAME.replace(same) == same {
        return;
    }
    let wanted = |mut now: Persona| {
        now.set(Persona::ADDR_NO_RANDOMIZE, same);
        personality::set(now)
    };
    let _refused = personality::get().and_then(wanted);
}

/// The traces that a run has left in a folder.
fn traces_in(traces: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    // The program may have removed the folder: then it has left no trace.
    if let Ok(entries) = std::fs::read_dir(traces) {
        for entry in entries {
            found.push(entry?.path());
        }
    }
    // A process that was killed before it had begun has done nothing.
    let is_trace = |path: &PathBuf| {
        let name = path.to_string_lossy();
        !name.ends_with(UNFINISHED) && !name.ends_with(RECORDED_BESIDE)
    };
    found.retain(is_trace);
    found.sort();
    Ok(found)
}

/// Makes the folder, or removes what a run before has left in it.
fn empty_folder(folder: &Path) -> io::Result<()> {
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let path = entry?.path();
                match path.symlink_metadata()?.is_dir() {
                    true => std::fs::remove_dir_all(path)?,
                    false => std::fs::remove_file(path)?,
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(folder),
        Err(error) => Err(error),
    }
}

/// Waits for the end, which the watchdog may bring about.
fn wait(
    mut child: Child,
    files: &RunFiles,
    watchdog: &Watchdog,
) -> io::Result<(ExitStatus, Option<KillReason>)> {
    let watched = watchdog.watch_run(&child, files);
    let killed = watched.until_ended()?;
    Ok((child.wait()?, killed))
}

/// The second trace of a process, which has what its threads did.
fn recording_beside(trace: &Path) -> Option<PathBuf> {
    let mut name = trace.as_os_str().to_owned();
    name.push(RECORDED_BESIDE);
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

impl FinishedRun {
    /// Whether a process of it has recorded what its threads did beside the check.
    pub(crate) fn has_recording_beside(&self) -> bool {
        self.traces
            .iter()
            .any(|path| recording_beside(path).is_some())
    }

    /// The same run by what its processes recorded besides what the check of it shows;
    /// of a process that did not, what there is.
    pub(crate) fn recorded_beside(&self) -> Self {
        let traces = self.traces.iter();
        Self {
            ended: self.ended,
            output: self.output.clone(),
            traces: traces
                .map(|path| recording_beside(path).unwrap_or_else(|| path.clone()))
                .collect(),
            is_too_large: self.is_too_large,
        }
    }
}

impl FinishedRun {
    /// The end of what it printed, if it did not end well.
    pub(crate) fn failed_output(&self) -> Option<String> {
        /// Enough for a message, not for a log.
        const MOST: u64 = 4096;
        if self.ended == RunEnd::Exited(0) {
            return None;
        }
        // A program may print gigabytes: only the end is ever read.
        let mut printed = File::open(&self.output).ok()?;
        let length = printed.metadata().ok()?.len();
        printed
            .seek(SeekFrom::Start(length.saturating_sub(MOST)))
            .ok()?;
        let mut end = Vec::new();
        printed.take(MOST).read_to_end(&mut end).ok()?;
        Some(printable(&String::from_utf8_lossy(&end)))
    }
}

impl FinishedRun {
    /// What it printed, as far as that can be compared with other runs: without
    /// addresses, and only its first megabyte.
    pub(crate) fn printed(&self) -> Vec<u8> {
        /// Longer outputs are told apart by their beginnings.
        const MOST: u64 = 1 << 20;
        let mut printed = Vec::new();
        if let Ok(file) = File::open(&self.output) {
            // What cannot be read compares as what could be.
            let _ = file.take(MOST).read_to_end(&mut printed);
        }
        without_addresses(&printed)
    }
}

/// The text with every hexadecimal number of an address's length replaced.
fn without_addresses(text: &[u8]) -> Vec<u8> {
    /// Shorter numbers are values.
    const SHORTEST: usize = 6;
    let mut result = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = match &text[at..] {
            [b'0', b'x', rest @ ..] => rest.iter().take_while(|b| b.is_ascii_hexdigit()).count(),
            _ => 0,
        };
        if digits >= SHORTEST {
            result.extend_from_slice(b"0x?");
            at += 2 + digits;
        } else {
            result.push(text[at]);
            at += 1;
        }
    }
    result
}
