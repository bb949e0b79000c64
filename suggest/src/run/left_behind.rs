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

/// The flag that the kernel gives a process which ends.
const EXITING: u64 = 0x4;

/// Has the kernel give us the processes that runs leave behind. Where it cannot, they
/// stay.
pub(super) fn adopt() {
    let _not_supported = set_child_subreaper(Some(getpid()));
}

/// Ends the processes that a run in this folder has left behind, with all that they have
/// started; how many there were. Those that end already were in the group that was ended
/// with the run, and are only waited for.
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
            let goes_on = !is_ending(process);
            let killed = kill_process(process, Signal::KILL);
            let _already_gone = waitpid(Some(process), WaitOptions::empty());
            ended += u64::from(goes_on && killed.is_ok());
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

/// Whether a process was killed before, or ends by itself: a machine with much to do takes
/// its time over that.
fn is_ending(process: Pid) -> bool {
    let number = process.as_raw_nonzero();
    let read = |file: &str| fs::read_to_string(format!("/proc/{number}/{file}"));
    let (Ok(stat), Ok(status)) = (read("stat"), read("status")) else {
        return true;
    };
    // Behind the name, which may hold anything: the state, six numbers, the flags.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let flags = behind.split_whitespace().nth(6);
    let flags = flags.and_then(|flags| flags.parse().ok()).unwrap_or(0);
    let is_exiting = flags & EXITING != 0;
    let is_killed = status.lines().any(|line| {
        let pending = ["SigPnd:", "ShdPnd:"];
        let mut pending = pending.iter().filter_map(|name| line.strip_prefix(name));
        pending.any(|signals| {
            let signals = u64::from_str_radix(signals.trim(), 16).unwrap_or(0);
            signals & (1 << (Signal::KILL.as_raw() - 1)) != 0
        })
    });
    is_exiting || is_killed
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_was_killed_before_is_not_left_behind() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Pid::from_child(&child);
        assert!(!is_ending(process));
        kill_process(process, Signal::KILL).unwrap();
        // Nobody has collected it yet, so it stays.
        assert!(is_ending(process));
        child.wait().unwrap();
    }
}
