//! What a process inherits from the one that started it and cannot work with. The one place
//! of the command with `unsafe`: the library wants it for whatever changes a signal.
#![allow(unsafe_code)]

use nix::sys::signal::{SigHandler, Signal, signal};

/// Has children that have ended wait until they are asked how: where SIGCHLD is ignored they
/// vanish, and every run fails.
pub(crate) fn keep_ended_children() {
    // SAFETY: no function is called at this signal, before or after.
    let _always_possible = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}
