//! The random numbers that the program gets in place of the system's, so that a seed
//! gives the same run of programs that draw some, too. They depend on the seed, on the
//! thread and on how often it has drawn, not on the schedule: runs that are compared with
//! each other have the same ones. The scheduler draws elsewhere (`rng`).
//!
//! Until `main` they are the same for all seeds: a server of runs has run the constructors
//! before it knows one. Where the system schedules, and where all schedules are explored,
//! the numbers are the system's: an exploration is to notice that the test depends on them.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use wmfix_trace::Strategy;

use crate::rng::Rng;
use crate::sys;
use crate::tls;

/// Nobody has asked yet.
const UNDECIDED: u8 = 0;
const SYSTEM: u8 = 1;
const OURS: u8 = 2;

/// Whose numbers the program gets.
static SOURCE: AtomicU8 = AtomicU8::new(UNDECIDED);

/// The seed of what is drawn before `main`.
const EARLY_SEED: u64 = 0x6265_666f_7265;

/// Random numbers of a seed are drawn apart from its schedule.
const RUN_SEED: u64 = 0x7261_6e64_6f6d;

/// What is drawn for the kernel's random bytes of a process.
const AUXILIARY_SEED: u64 = 0x6175_7876;

/// The seed of the process for now.
static SEED: AtomicU64 = AtomicU64::new(EARLY_SEED);

/// Its seed from `main` on.
static MAIN_SEED: AtomicU64 = AtomicU64::new(RUN_SEED);

/// How many children it has, which tells them apart.
static CHILDREN: AtomicU64 = AtomicU64::new(0);

/// How often threads have drawn that the runtime does not know.
static UNKNOWN_DRAWS: AtomicU64 = AtomicU64::new(0);

/// A run of this seed begins.
pub(crate) fn begin(strategy: Strategy, seed: u64, command: &[u8]) {
    let source = match strategy {
        Strategy::Os | Strategy::Explore => SYSTEM,
        _ => OURS,
    };
    SOURCE.store(source, Ordering::Relaxed);
    let seed = mixed(seed ^ RUN_SEED, hash(command));
    MAIN_SEED.store(seed, Ordering::Relaxed);
    if source == OURS {
        replace_auxiliary();
    }
}

/// The program's own code begins.
#[cfg(not(test))]
pub(crate) fn main_begins() {
    SEED.store(MAIN_SEED.load(Ordering::Relaxed), Ordering::Relaxed);
    draws().store(0, Ordering::Relaxed);
}

/// The process is about to have a child.
pub(crate) fn will_fork() {
    CHILDREN.fetch_add(1, Ordering::Relaxed);
}

/// This process is that child: it draws other numbers than its parent and than the
/// other children.
pub(crate) fn begin_in_child() {
    let number = CHILDREN.swap(0, Ordering::Relaxed);
    let seed = mixed(SEED.load(Ordering::Relaxed), number);
    SEED.store(seed, Ordering::Relaxed);
}

/// Whether the program gets our numbers.
pub(crate) fn is_ours() -> bool {
    let source = match SOURCE.load(Ordering::Relaxed) {
        UNDECIDED => from_environment(),
        source => source,
    };
    source == OURS
}

/// What is known before the runtime has started.
#[cold]
fn from_environment() -> u8 {
    let run = [
        c"WMFIX_OUT",
        c"WMFIX_STRATEGY",
        c"WMFIX_SEED",
        c"WMFIX_REPLAY",
    ];
    let is_run = run.iter().any(|name| sys::variable(name).is_some());
    let is_replayed = sys::variable(c"WMFIX_REPLAY").is_some();
    let is_os = !is_replayed && sys::variable(c"WMFIX_STRATEGY") == Some(c"os");
    match is_run && !is_os && sys::variable(c"WMFIX_EXPLORE").is_none() {
        true => OURS,
        false => SYSTEM,
    }
}

/// The numbers of one call of the calling thread.
pub(crate) fn draw() -> Rng {
    let thread = tls::current();
    // SAFETY: the thread's own record.
    let thread = unsafe { thread.as_ref() }.map_or(u64::MAX, |thread| thread.id.into());
    let call = draws().fetch_add(1, Ordering::Relaxed);
    Rng::new(mixed(mixed(SEED.load(Ordering::Relaxed), thread), call))
}

/// How often the calling thread has drawn.
fn draws() -> &'static AtomicU64 {
    let thread = tls::current();
    // SAFETY: the thread's own record, which outlives the use that is made of this.
    unsafe { thread.as_ref() }.map_or(&UNKNOWN_DRAWS, |thread| &thread.random_draws)
}

/// Fills memory of the program.
///
/// # Safety
/// These bytes can be written.
pub(crate) unsafe fn fill(bytes: *mut u8, size: usize, from: &mut Rng) {
    let mut word = 0;
    for index in 0..size {
        if index % 8 == 0 {
            word = from.next();
        }
        // SAFETY: as promised by the caller. Byte by byte, as a copy would be taken for
        // one of the program's.
        unsafe { bytes.add(index).write_volatile(word as u8) };
        word >>= 8;
    }
}

/// The kernel gives every process sixteen random bytes, which the loader has used by now.
fn replace_auxiliary() {
    const SIZE: usize = 16;
    // SAFETY: asks for an address of the process's first stack, where they are.
    let bytes = unsafe { libc::getauxval(libc::AT_RANDOM) } as *mut u8;
    if !bytes.is_null() {
        // SAFETY: the sixteen bytes.
        unsafe { fill(bytes, SIZE, &mut Rng::new(AUXILIARY_SEED)) };
    }
}

/// The name of a program and its arguments, as a number: processes that differ in these
/// draw different numbers. Folders do not count.
fn hash(command: &[u8]) -> u64 {
    let end = command.iter().position(|&byte| byte == 0);
    let program = &command[..end.unwrap_or(command.len())];
    let folder = program.iter().rposition(|&byte| byte == b'/');
    let rest = &command[folder.map_or(0, |slash| slash + 1)..];
    rest.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Two numbers as a seed.
fn mixed(first: u64, second: u64) -> u64 {
    Rng::new(first).next() ^ Rng::new(second.rotate_left(32)).next().rotate_left(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_and_the_arguments_count_and_the_folder_does_not() {
        assert_eq!(hash(b"/one/test\0-a\0"), hash(b"two/test\0-a\0"));
        assert_ne!(hash(b"/one/test\0-a\0"), hash(b"/one/test\0-b\0"));
        assert_ne!(hash(b"/one/test\0/a/b\0"), hash(b"/one/test\0/c/b\0"));
        assert_ne!(hash(b"test\0"), hash(b"other\0"));
    }

    #[test]
    fn no_byte_beyond_the_asked_ones_is_written() {
        for size in 0..20 {
            let mut bytes = [0u8; 24];
            // SAFETY: fewer bytes than there are.
            unsafe { fill(bytes.as_mut_ptr().add(2), size, &mut Rng::new(1)) };
            assert!(
                bytes[..2]
                    .iter()
                    .chain(&bytes[2 + size..])
                    .all(|&byte| byte == 0)
            );
            assert!(size < 9 || bytes[2..10] != bytes[10..18]);
        }
    }
}
