//! Everything that the turn protects, and how an event gets from a thread into
//! the trace: its context and its location are numbered, new ones
//! are introduced, then it is written.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use wmfix_trace::{
    LocationId, RecordedOperation, StackId, encode_context, encode_module, encode_stack, module_len,
};

use crate::config::RuntimeConfig;
use crate::contexts::{ContextNumber, Interner};
use crate::locations::Locations;
use crate::modules::Modules;
use crate::recorder::Recorder;
use crate::scheduler::Scheduler;
use crate::thread::Thread;

/// What the turn protects.
pub(crate) struct State {
    pub(crate) config: RuntimeConfig,
    pub(crate) scheduler: Scheduler,
    pub(crate) recorder: Recorder,
    pub(crate) locations: Locations,
    /// Under `os`: the thread of the last record.
    pub(crate) last_thread: u32,
    /// Looks for help from outside since the last change.
    pub(crate) fruitless_looks: u32,
    /// Read-write locks that a writer holds, by address.
    pub(crate) writers: Vec<u64>,
    #[cfg(not(test))]
    pub(crate) barriers: Vec<crate::intercept::Barrier>,
    #[cfg(not(test))]
    pub(crate) initialisations: Vec<crate::intercept::Initialisation>,
    modules: Modules,
    stacks: Interner,
    contexts: Interner,
}

struct StateCell(UnsafeCell<MaybeUninit<State>>);

// SAFETY: only the thread that holds the turn touches it.
unsafe impl Sync for StateCell {}

static STATE: StateCell = StateCell(UnsafeCell::new(MaybeUninit::uninit()));

/// Installs the state, before the first turn is taken.
pub(crate) fn install(state: State) {
    // SAFETY: called once at start, or by the only thread of a forked child.
    unsafe { STATE.0.get().write(MaybeUninit::new(state)) };
}

/// The state.
///
/// # Safety
/// The caller holds the turn, the runtime has started, and no other reference
/// to the state is alive.
#[inline(always)]
pub(crate) unsafe fn state() -> &'static mut State {
    // SAFETY: as promised by the caller.
    unsafe { (*STATE.0.get()).assume_init_mut() }
}

impl State {
    pub(crate) fn new(config: RuntimeConfig, scheduler: Scheduler, recorder: Recorder) -> Self {
        Self {
            config,
            scheduler,
            recorder,
            locations: Locations::new(),
            last_thread: 0,
            fruitless_looks: 0,
            writers: Vec::new(),
            #[cfg(not(test))]
            barriers: Vec::new(),
            #[cfg(not(test))]
            initialisations: Vec::new(),
            modules: Modules::new(),
            stacks: Interner::new(),
            contexts: Interner::new(),
        }
    }

    /// The number of the thread's context at `pc`.
    #[inline]
    pub(crate) fn context(&mut self, thread: &mut Thread, pc: u64) -> u32 {
        let stack = self.stack(thread);
        match self.contexts.number(stack, pc) {
            ContextNumber::Known(context) => context,
            ContextNumber::New(context) => {
                self.introduce_modules(pc);
                self.recorder.write(wmfix_trace::MAX_RECORD, |out| {
                    encode_context(out, StackId(stack), pc)
                });
                context
            }
        }
    }

    #[inline]
    fn stack(&mut self, thread: &mut Thread) -> u32 {
        let depth = thread.depth();
        if depth == 0 {
            return 0;
        }
        let known = thread.frame(depth - 1).stack;
        if known != 0 {
            return known;
        }
        self.new_stack(thread, depth)
    }

    fn new_stack(&mut self, thread: &mut Thread, depth: usize) -> u32 {
        let numbered = (0..depth)
            .rev()
            .find(|&index| thread.frame(index).stack != 0);
        let (mut stack, first) = match numbered {
            Some(index) => (thread.frame(index).stack, index + 1),
            None => (0, 0),
        };
        for index in first..depth {
            let pc = thread.frame(index).pc;
            stack = match self.stacks.number(stack, pc) {
                ContextNumber::Known(known) => known,
                ContextNumber::New(new) => {
                    self.introduce_modules(pc);
                    self.recorder.write(wmfix_trace::MAX_RECORD, |out| {
                        encode_stack(out, StackId(stack), pc)
                    });
                    new
                }
            };
            thread.set_stack(index, stack);
        }
        stack
    }

    #[cold]
    fn introduce_modules(&mut self, pc: u64) {
        if !self.recorder.is_on() {
            return;
        }
        for module in self.modules.needed_for(pc) {
            self.recorder
                .write(module_len(&module), |out| encode_module(out, &module));
        }
    }

    /// The location of an atomic that holds `value`, introduced if it is new.
    #[inline]
    pub(crate) fn location(&mut self, context: u32, address: u64, size: u8, value: u128) -> u32 {
        match self.locations.find(address, size, value) {
            Some(location) => location,
            None => self.new_location(context, address, size, value),
        }
    }

    /// Makes the atomic a new location.
    #[cold]
    pub(crate) fn new_location(
        &mut self,
        context: u32,
        address: u64,
        size: u8,
        value: u128,
    ) -> u32 {
        let location = self.locations.add(address, size, value);
        let operation = RecordedOperation::Birth {
            location: LocationId(location),
            address,
            size,
            value,
        };
        self.recorder.event(context, &operation);
        for entry in &self.scheduler.threads {
            if entry.thread.is_null() {
                continue;
            }
            // SAFETY: threads' records are never freed.
            let owner = unsafe { &*entry.thread };
            if owner.owns(address) {
                owner.locals.0.fetch_min(address, Ordering::Relaxed);
                owner.locals.1.fetch_max(address, Ordering::Relaxed);
            }
        }
        location
    }

    /// Ends what lies in memory that is given back.
    pub(crate) fn free(&mut self, context: u32, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let any = self.locations.end(address..end);
        if any || self.config.races {
            self.recorder
                .event(context, &RecordedOperation::Free { address, size });
        }
    }
}
