//! What the trace is told about blocks of memory: where they were handed out, and that
//! they were given back. Says nothing about what threads do with them.

use wmfix_trace::{ContextId, encode_handed_back, encode_handed_out};

use super::State;
use crate::allocations;
use crate::recorder::Recorder;
use crate::thread::Thread;
use crate::unwind;

/// In place of an address: nothing is said from here on.
const ALL_BLOCKS: u64 = 0;

/// The context of what nobody looked for.
const UNKNOWN_CONTEXT: u32 = 0;

impl State {
    /// A block was handed out to the thread, by a call that returns to `pc`.
    pub(crate) fn hand_out(&mut self, thread: &mut Thread, pc: u64, address: u64, size: u64) {
        if !self.blocks.take() {
            allocations::set_recorded(false);
            return self.hand_back(ALL_BLOCKS);
        }
        self.introduce_modules(pc);
        // `operator new` is code of a library.
        let context = match self.modules.is_program(pc) {
            true => self.context(thread, pc),
            false if self.blocks.take_unwound() => self.context(thread, pc | unwind::FOREIGN),
            false => UNKNOWN_CONTEXT,
        };
        let context = ContextId(context);
        if let Some(trace) = self.trace_of_events() {
            trace.write_note(|out| encode_handed_out(out, context, address, size));
        }
    }

    /// A block was given back.
    pub(crate) fn hand_back(&mut self, address: u64) {
        if let Some(trace) = self.trace_of_events() {
            trace.write_note(|out| encode_handed_back(out, address));
        }
    }

    /// The trace that has what threads do.
    fn trace_of_events(&mut self) -> Option<&mut Recorder> {
        match self.online {
            None => Some(&mut self.recorder),
            Some(_) => self.recorder.beside(),
        }
    }
}
