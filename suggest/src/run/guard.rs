//! Ends the runs when wmfix itself is killed: a second wmfix process reads from a
//! pipe which process groups run. When the pipe ends, wmfix is gone, and the guard
//! kills the groups that are left.
//!
//! Traces that were written by then stay where they are. Only the program `wmfix`
//! can start itself as the guard: a test executable with this library in it would
//! start all its tests instead, and these the next guard, without end.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use rustix::process::{Pid, Signal, kill_process_group};

/// The name that our program is called by to be the guard.
const NAME: &str = "wmfix-guard";

/// Whether the file that is executed is the program that can be the guard.
static IS_OUR_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Says that the file that is executed hands its arguments to [`crate::main`].
pub fn this_is_our_program() {
    IS_OUR_PROGRAM.store(true, Ordering::Relaxed);
}

/// The way to the guard; it ends with us.
struct Guard {
    pipe: Mutex<ChildStdin>,
}

/// Tells the guard of a process group that runs.
pub(crate) fn add(group: Pid) -> io::Result<()> {
    tell('+', group)
}

/// Tells the guard that a process group has ended. Its number must still be its
/// own: its leader is not collected yet.
pub(crate) fn remove(group: Pid) -> io::Result<()> {
    tell('-', group)
}

fn tell(sign: char, group: Pid) -> io::Result<()> {
    static GUARD: OnceLock<Result<Guard, String>> = OnceLock::new();
    if !IS_OUR_PROGRAM.load(Ordering::Relaxed) {
        return Ok(());
    }
    let guard = GUARD.get_or_init(|| Guard::start().map_err(|error| error.to_string()));
    let guard = guard
        .as_ref()
        .map_err(|error| io::Error::other(format!("cannot start the guard process: {error}")))?;
    let mut pipe = guard.pipe.lock().expect("no panic while locked");
    // One line a call, so that none is ever cut in two.
    pipe.write_all(format!("{sign}{}\n", group.as_raw_nonzero()).as_bytes())
}

impl Guard {
    fn start() -> io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg0(NAME)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What the terminal sends to us is not meant for it.
            .process_group(0)
            .spawn()?;
        let pipe = child.stdin.take().expect("its stdin is piped");
        Ok(Self {
            pipe: Mutex::new(pipe),
        })
    }
}

/// Whether our program was called to be the guard.
pub(crate) fn is_called_by(name: &str) -> bool {
    name == NAME
}

/// Is the guard: reads until the pipe ends.
pub(crate) fn keep(lines: impl BufRead) {
    let mut running = BTreeSet::new();
    // A line that cannot be read is the last one.
    for line in lines.lines().map_while(Result::ok) {
        let number = line.get(1..).and_then(|digits| digits.parse().ok());
        match (line.chars().next(), number.and_then(Pid::from_raw)) {
            (Some('+'), Some(group)) => drop(running.insert(group.as_raw_nonzero())),
            (Some('-'), Some(group)) => drop(running.remove(&group.as_raw_nonzero())),
            _ => {}
        }
    }
    for group in running {
        // It may have ended by itself meanwhile.
        let _already_gone =
            kill_process_group(Pid::from_raw(group.get()).expect("not zero"), Signal::KILL);
    }
}
