//! Help that may still come when no thread can go on: timers that are set, and other
//! processes that share what is waited for. Without any it is a deadlock.

use core::ffi::c_int;
use core::mem::size_of;
use core::sync::atomic::{AtomicU64, Ordering};

use wmfix_trace::WaitsFor;

use crate::scheduler::{Scheduler, Status};
use crate::sys;

/// Until when a timer may go off, on the clock that never goes back.
static TIMER_UNTIL_NS: AtomicU64 = AtomicU64::new(0);

/// How much later than it should a timer may go off.
const LATE_NS: u64 = 1_000_000_000;

/// A timer was set: it goes off after this time, and again if it repeats.
#[cfg(not(test))]
pub(crate) fn timer_is_set(nanoseconds: u64, repeats: bool) {
    if nanoseconds == 0 {
        return;
    }
    let until = if repeats {
        u64::MAX
    } else {
        sys::clock(libc::CLOCK_MONOTONIC)
            .saturating_add(nanoseconds)
            .saturating_add(LATE_NS)
    };
    TIMER_UNTIL_NS.fetch_max(until, Ordering::Relaxed);
}

/// Whether a timer may still wake one of the threads, all of which wait.
pub(crate) fn timer_is_due() -> bool {
    let until = TIMER_UNTIL_NS.load(Ordering::Relaxed);
    until != 0 && sys::clock(libc::CLOCK_MONOTONIC) < until
}

/// Whether a thread waits for something that other processes have, too.
pub(crate) fn waits_for_shared_memory(scheduler: &Scheduler) -> bool {
    let waited_for = scheduler
        .threads
        .iter()
        .filter_map(|(_, entry)| match entry.status {
            Status::Waiting(
                WaitsFor::Lock(address)
                | WaitsFor::Condition(address)
                | WaitsFor::Semaphore(address)
                | WaitsFor::Barrier(address)
                | WaitsFor::Futex(address),
            ) => Some(address),
            _ => None,
        });
    let mut waited_for = waited_for.peekable();
    waited_for.peek().is_some() && {
        let maps = sys::read_file(b"/proc/self/maps\0").unwrap_or_default();
        waited_for.any(|address| is_shared(&maps, address))
    }
}

/// Whether memory is shared with other processes, as the kernel lists it.
fn is_shared(maps: &[u8], address: u64) -> bool {
    maps.split(|&byte| byte == b'\n').any(|line| {
        let mut words = line.split(|&byte| byte == b' ');
        let range = words
            .next()
            .and_then(|range| core::str::from_utf8(range).ok());
        let shared = words.next().is_some_and(|access| access.ends_with(b"s"));
        let bounds = range.and_then(|range| range.split_once('-'));
        let bounds = bounds.map(|(first, end)| {
            let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
            number(first)..number(end)
        });
        shared && bounds.is_some_and(|bounds| bounds.contains(&address))
    })
}

/// Whether the process has threads that the runtime does not know: those of libraries,
/// which may call the program.
pub(crate) fn has_unknown_threads(scheduler: &Scheduler) -> bool {
    let status = sys::read_file(b"/proc/self/status\0").unwrap_or_default();
    let mut lines = status.split(|&byte| byte == b'\n');
    let count = lines.find_map(|line| line.strip_prefix(b"Threads:"));
    let count = count.and_then(|count| core::str::from_utf8(count).ok());
    let count = count.and_then(|count| count.trim().parse::<usize>().ok());
    count.is_some_and(|count| count > scheduler.alive())
}

/// Whether a child of this process lives, or the process that forked it.
pub(crate) fn has_relatives() -> bool {
    const LOOK: c_int = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let mut info = [0u8; size_of::<libc::siginfo_t>()];
    let arguments = [
        libc::P_ALL as usize,
        0,
        info.as_mut_ptr() as usize,
        LOOK as usize,
        0,
        0,
    ];
    // SAFETY: the record is ours, and the child stays as it is.
    let children = unsafe { sys::raw_syscall(libc::SYS_waitid, arguments) };
    // A child that has ended is named in the record.
    let living_child = children == 0 && info[..4] == [0; 4];
    // SAFETY: takes nothing, changes nothing.
    let parent = unsafe { sys::raw_syscall(libc::SYS_getppid, [0; 6]) } as u64;
    living_child || PARENT.load(Ordering::Relaxed) == parent
}

/// The process that forked this one, if one did: 0 without.
static PARENT: AtomicU64 = AtomicU64::new(0);

/// This process was forked by one that is run by us.
#[cfg(not(test))]
pub(crate) fn was_forked() {
    // SAFETY: takes nothing, changes nothing.
    let parent = unsafe { sys::raw_syscall(libc::SYS_getppid, [0; 6]) };
    PARENT.store(parent as u64, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_told_from_private_memory() {
        let maps = b"1000-2000 rw-p 00000000 00:00 0 [heap]\n\
                     3000-5000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n";
        assert!(!is_shared(maps, 0x1800));
        assert!(is_shared(maps, 0x3000));
        assert!(is_shared(maps, 0x4fff));
        assert!(!is_shared(maps, 0x5000));
    }
}
