//! Calls of functions whose accesses to memory nobody sees: those of libraries that are
//! not instrumented. An exploration that made one where another thread could notice it is
//! no proof.
//!
//! What instrumented code imports goes through the slots that the loader has filled. Each
//! that leads out of instrumented code gets a stub in front, which looks at the call and
//! goes on. What is known to touch no memory of the program (`known`) keeps its slot.
//!
//! A call is harmless where every other thread that there ever was has been joined: then
//! it is ordered with all that others did, in whatever order the runs of its class have
//! it. That a thread has ended in this run is not enough.

mod imports;
mod known;
mod literal;
mod stubs;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use wmfix_trace::{ContextId, encode_unseen, unseen_len};

use crate::real;
use crate::recorder::Recorder;
use crate::turn;
use known::Rule;
use stubs::Registers;

/// A function that instrumented code imports.
struct Import {
    name: &'static CStr,
    rule: Rule,
    /// The function itself.
    target: usize,
    /// It is in the trace already.
    is_said: AtomicBool,
}

/// What is watched. Set once, while there is one thread.
static WATCHED: AtomicPtr<Watched> = AtomicPtr::new(ptr::null_mut());

struct Watched {
    imports: Vec<Import>,
    /// Where instrumented code lies.
    instrumented: Vec<(usize, usize)>,
    /// Where files have what nobody can write to.
    constant: Vec<(usize, usize)>,
    /// Whether there is code of the program that the loader calls at the end.
    has_fini: bool,
}

/// Puts stubs before everything that is not known, if that has not been done.
pub(crate) fn watch() {
    if WATCHED.load(Ordering::Relaxed).is_null() {
        let (watched, slots) = imports::find();
        let watched = Box::leak(Box::new(watched));
        WATCHED.store(watched, Ordering::Relaxed);
        stubs::put(&watched.imports, &slots);
    }
}

fn watched() -> Option<&'static Watched> {
    // SAFETY: leaked, and only read once it is set.
    unsafe { WATCHED.load(Ordering::Relaxed).as_ref() }
}

/// A run of an exploration begins: what was called before counts, too, where it has
/// effects later.
pub(crate) fn begin(recorder: &mut Recorder) {
    let Some(watched) = watched() else {
        return;
    };
    for import in &watched.imports {
        if import.is_said.load(Ordering::Relaxed) {
            let name = import.name.to_bytes();
            recorder.write(unseen_len(name), |out| {
                encode_unseen(out, ContextId(0), name)
            });
        }
    }
}

/// A stub was called: where to go on.
unsafe extern "C" fn passes(number: usize, registers: *const Registers, pc: u64) -> usize {
    let Some(watched) = watched() else {
        crate::sys::abort_now()
    };
    let import = &watched.imports[number];
    if !import.is_said.load(Ordering::Relaxed) && turn::is_in_program() {
        // SAFETY: the stub's own record.
        note(import, unsafe { &*registers }, pc);
    }
    import.target
}

#[cold]
fn note(import: &Import, registers: &Registers, pc: u64) {
    if import.rule.is_harmless(registers) || real::is_searching() {
        return;
    }
    let Some(mut held) = turn::enter() else {
        return;
    };
    if import.rule == Rule::Lasting || held.has_company() && held.explores() {
        import.is_said.store(true, Ordering::Relaxed);
        let context = held.context(pc);
        held.unseen(context, import.name.to_bytes());
    }
}

/// A function of ours was called that leaves its accesses to the C library.
pub(crate) fn called(name: &CStr, pc: u64) {
    if !turn::is_in_program() {
        return;
    }
    if let Some(mut held) = turn::enter()
        && held.explores()
        && held.has_company()
    {
        let context = held.context(pc);
        held.unseen(context, name.to_bytes());
    }
}

/// A function of ours prints what a format asks for, which the C library reads.
pub(crate) fn printed(name: &CStr, format: *const c_char, pc: u64) {
    if !literal::is_scalar_format(format as usize) {
        called(name, pc);
    }
}

/// Whether a thread that begins at this function begins in code that is not instrumented.
/// Stubs are seen to when they are called, and the C++ library calls the program at once.
pub(crate) fn begins_unseen(function: usize) -> bool {
    watched().is_some_and(|watched| {
        let holds = |&(first, end): &(usize, usize)| (first..end).contains(&function);
        !watched.instrumented.iter().any(holds) && !imports::begins_threads(function)
    })
}

/// Whether the loader calls functions of the program when the process ends.
pub(crate) fn has_fini() -> bool {
    watched().is_some_and(|watched| watched.has_fini)
}
