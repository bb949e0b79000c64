//! The program's environment: what the runtime takes out of it, because it is not
//! meant for the processes that the program starts, and the settings of one run
//! that a fork server puts into it.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

#[cfg(not(test))]
use wmfix_trace::RUN_VARIABLES;

use crate::sys;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// The socket of the tool that asks the program to be a fork server.
static SERVER: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
/// The descriptors that it inherits.
static INHERITED: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// Remembers whether the program is asked to be a fork server, and takes that out
/// of the environment: a program that it starts is not.
pub(crate) fn take_server_address() {
    for (name, kept) in [
        (c"WMFIX_SERVER", &SERVER),
        (c"WMFIX_SERVER_INHERITED", &INHERITED),
    ] {
        if let Some(value) = sys::variable(name) {
            kept.store(value.as_ptr().cast_mut(), Ordering::Relaxed);
            remove(name.to_bytes());
        }
    }
}

/// The socket that the program is asked to serve on.
#[cfg(not(test))]
pub(crate) fn server_address() -> Option<&'static [u8]> {
    kept(&SERVER)
}

/// The descriptors that a server inherits besides the standard ones, as text.
#[cfg(not(test))]
pub(crate) fn inherited_files() -> &'static [u8] {
    kept(&INHERITED).unwrap_or_default()
}

#[cfg(not(test))]
fn kept(place: &AtomicPtr<c_char>) -> Option<&'static [u8]> {
    let text = place.load(Ordering::Relaxed);
    // SAFETY: a string of the first environment, which stays where it is.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Gives the variables these values, and takes out those that not every run has.
/// The strings are `NAME=VALUE`, each ended by a zero, and live for ever.
#[cfg(not(test))]
pub(crate) fn set_run(variables: &'static [&'static [u8]]) {
    let mut all: Vec<*mut c_char> = Vec::new();
    let is_replaced = |entry: &[u8]| {
        let names = variables.iter().map(|variable| name_of(variable));
        let mut names = names.chain(RUN_VARIABLES.map(str::as_bytes));
        names.any(|name| name == name_of(entry))
    };
    for entry in entries() {
        // SAFETY: the environment's own strings.
        if !is_replaced(unsafe { CStr::from_ptr(entry) }.to_bytes()) {
            all.push(entry);
        }
    }
    all.extend(variables.iter().map(|v| v.as_ptr().cast_mut().cast()));
    all.push(ptr::null_mut());
    // SAFETY: the process has one thread. The list is never freed; whoever changes
    // the environment later copies it first.
    unsafe { environ = all.leak().as_mut_ptr() };
}

/// The environment as `main` gets it.
#[cfg(not(test))]
pub(crate) fn for_main() -> *mut *mut c_char {
    // SAFETY: the process has one thread, or another one changes the environment,
    // which no program may do.
    unsafe { environ }
}

fn name_of(entry: &[u8]) -> &[u8] {
    entry.split(|&byte| byte == b'=').next().unwrap_or_default()
}

fn entries() -> Vec<*mut c_char> {
    let mut all = Vec::new();
    // SAFETY: the list ends in a null.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            all.push(*at);
            at = at.add(1);
        }
    }
    all
}

/// Takes a variable out, where the list lies.
fn remove(name: &[u8]) {
    let kept: Vec<*mut c_char> = entries()
        .into_iter()
        // SAFETY: the environment's own strings.
        .filter(|&entry| name_of(unsafe { CStr::from_ptr(entry) }.to_bytes()) != name)
        .collect();
    // SAFETY: the list has room for all that were in it and for its end.
    unsafe {
        for (index, &entry) in kept.iter().enumerate() {
            *environ.add(index) = entry;
        }
        *environ.add(kept.len()) = ptr::null_mut();
    }
}
