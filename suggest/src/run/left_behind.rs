//! Processes that outlive the run that started them: a daemon in a session of its own is
//! in no process group that we could end. The kernel makes its children, and them, ours
//! once their parents are gone, so that they are found and ended when the run is over.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::{getpgid, getsid};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// Those that a daemon has started are found when it is gone: so many times.
const MAX_LOOKS: usize = 64;

/// Has the kernel give us the processes that runs leave behind. Where it cannot, they
/// stay.
pub(super) fn adopt() {
    let _not_supported = set_child_subreaper(Some(getpid()));
}

/// Ends the processes that a run in this folder has left behind, with all that they have
/// started; how many there were.
pub(super) fn end_all(folder: &Path) -> u64 {
    let mut ended = 0;
    for _ in 0..MAX_LOOKS {
        let found = adopted().filter(|&process| belongs_to(process, folder));
        let found: Vec<Pid> = found.collect();
        if found.is_empty() {
            break;
        }
        for process in found {
            // It is ours to collect, so the number is its own until then.
            let killed = kill_process(process, Signal::KILL);
            let _already_gone = waitpid(Some(process), WaitOptions::empty());
            ended += u64::from(killed.is_ok());
        }
    }
    ended
}

/// The processes that have become ours. Those that have ended by themselves are
/// collected.
fn adopted() -> impl Iterator<Item = Pid> {
    let us = getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{us}/task/{us}/children"));
    let children = children.unwrap_or_default();
    let numbers = children.split_whitespace().map(str::parse);
    let processes: Vec<Pid> = numbers.flatten().filter_map(Pid::from_raw).collect();
    processes.into_iter().filter(|&process| {
        is_adopted(process) && !matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(Some(_)))
    })
}

/// Whether we did not start a process ourselves: what we start is in our session, and in
/// our group or one of its own. Ours may have the number 0: in a container whose first
/// process was started from outside of it, which `rustix` takes for a mistake.
fn is_adopted(process: Pid) -> bool {
    let process = nix::unistd::Pid::from_raw(process.as_raw_pid());
    let (Ok(session), Ok(ours)) = (getsid(Some(process)), getsid(None)) else {
        return false;
    };
    let (Ok(group), Ok(our_group)) = (getpgid(Some(process)), getpgid(None)) else {
        return false;
    };
    session != ours || (group != our_group && group != process)
}

/// Whether a process was started by a run in this folder: its environment says where
/// the run has its files.
fn belongs_to(process: Pid, folder: &Path) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", process.as_raw_nonzero()));
    let environment = environment.unwrap_or_default();
    let mut variables = environment.split(|&byte| byte == 0);
    variables.any(|variable| {
        variable
            .strip_prefix(b"WMFIX_OUT=")
            .is_some_and(|path| Path::new(std::ffi::OsStr::from_bytes(path)).starts_with(folder))
    })
}
