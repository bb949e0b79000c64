//! Everything that the turn protects, and how an event gets from a thread into
//! the trace: its context and its location are numbered, new ones
//! are introduced, then it is written.

#[cfg(not(test))]
mod blocks;
mod plain_accesses;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use wmfix_analysis::Bytes;
use wmfix_trace::{
    End, Limit, LocationId, RecordedOperation, StackId, Turn, encode_context, encode_limit,
    encode_module, encode_stack, encode_turn, module_len,
};

use crate::allocations::BlockBudget;
use crate::alone::{self, AloneWrites, location_of};
use crate::barriers::Barrier;
use crate::config::RuntimeConfig;
use crate::contexts::{ContextNumber, Interner};
use crate::descriptors::Descriptors;
use crate::filter::{AccessFilter, plain, plain_mode, set_plain_mode};
use crate::holders::LockHolders;
use crate::initialisations::{self, Initialisation};
use crate::locations::Locations;
use crate::lost_orders::LostOrders;
use crate::modules::Modules;
use crate::online::Online;
use crate::plain_sites::PlainSites;
use crate::recorder::Recorder;
use crate::scheduler::Scheduler;
use crate::shared_memory::{SharedMemory, address_of};
use crate::stale_run::StaleRun;
use crate::thread::Thread;
use crate::unwind;

/// What the turn protects.
pub(crate) struct State {
    pub(crate) config: RuntimeConfig,
    pub(crate) scheduler: Scheduler,
    pub(crate) recorder: Recorder,
    /// Checks the run while it goes on; none if it is recorded.
    online: Option<Box<Online>>,
    pub(crate) locations: Locations,
    /// There is one thread, and it knows all that others ever did.
    alone: bool,
    alone_writes: AloneWrites,
    /// Decides which plain accesses are recorded; none where all are, or none.
    filter: Option<AccessFilter>,
    /// There was a thread that nobody started.
    has_unknown_thread: bool,
    /// What accesses take, in a run in which they take old writes.
    pub(crate) stale_run: Option<Box<StaleRun>>,
    /// Under `os`: the thread of the last record.
    pub(crate) last_thread: u32,
    /// Annotations of happens-before that were ignored.
    pub(crate) ignored_annotations: u64,
    /// Looks for help from outside since the last change.
    pub(crate) fruitless_looks: u32,
    /// Read-write locks that a writer holds, by address.
    pub(crate) writers: Vec<u64>,
    pub(crate) holders: LockHolders,
    /// A thread may have all others meet.
    pub(crate) meets_everywhere: bool,
    /// The trace says that a thread spins on a volatile object.
    pub(crate) volatile_spin: bool,
    /// What the trace says is not modelled to the end.
    met_limits: Vec<Limit>,
    /// Memory that may be mapped twice, or by other processes.
    pub(crate) shared_memory: SharedMemory,
    /// The process was forked, or has forked another.
    pub(crate) has_relatives: bool,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) descriptors: Descriptors,
    pub(crate) initialisations: Vec<Initialisation>,
    modules: Modules,
    stacks: Interner,
    contexts: Interner,
    plain_sites: PlainSites,
    #[cfg_attr(test, expect(dead_code))]
    blocks: BlockBudget,
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
    pub(crate) fn new(
        config: RuntimeConfig,
        scheduler: Scheduler,
        recorder: Recorder,
        online: Option<Box<Online>>,
    ) -> Self {
        Self {
            stale_run: None,
            online,
            config,
            scheduler,
            recorder,
            locations: Locations::new(),
            alone: false,
            alone_writes: AloneWrites::default(),
            filter: None,
            has_unknown_thread: false,
            last_thread: 0,
            ignored_annotations: 0,
            fruitless_looks: 0,
            writers: Vec::new(),
            holders: LockHolders::default(),
            meets_everywhere: false,
            volatile_spin: false,
            met_limits: Vec::new(),
            shared_memory: SharedMemory::default(),
            has_relatives: false,
            barriers: Vec::new(),
            descriptors: Descriptors::default(),
            initialisations: Vec::new(),
            modules: Modules::new(),
            stacks: Interner::new(),
            contexts: Interner::new(),
            plain_sites: PlainSites::new(),
            blocks: BlockBudget::new(),
        }
    }

    /// Wakes those who wait for an initialisation that an exception has ended;
    /// true if there was one.
    pub(crate) fn end_abandoned_initialisations(&mut self) -> bool {
        initialisations::end_abandoned(&mut self.initialisations, &mut self.scheduler)
    }

    /// The program does something that is not modelled to the end: the trace says so,
    /// once.
    pub(crate) fn meets(&mut self, limit: Limit) {
        if !self.met_limits.contains(&limit) {
            self.met_limits.push(limit);
            self.recorder
                .write(wmfix_trace::MAX_RECORD, |out| encode_limit(out, limit));
        }
    }

    /// The number of the thread's context at `pc`.
    #[inline]
    pub(crate) fn context(&mut self, thread: &mut Thread, pc: u64) -> u32 {
        let pc = match pc & unwind::FOREIGN {
            0 => pc,
            _ => foreign_call(thread, pc & !unwind::FOREIGN),
        };
        let stack = self.stack(thread);
        match self.contexts.number(stack, pc) {
            ContextNumber::Known(context) => context,
            ContextNumber::New(context) => {
                self.introduce_modules(pc);
                self.recorder.write(wmfix_trace::MAX_RECORD, |out| {
                    encode_context(out, StackId(stack), pc)
                });
                if let Some(online) = &mut self.online {
                    online.add_context(stack, self.modules.frame(pc));
                }
                if let Some(lost) = lost_orders(&mut self.stale_run) {
                    lost.add_context(stack, self.modules.frame(pc));
                }
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
                    if let Some(online) = &mut self.online {
                        online.add_stack(stack, self.modules.frame(pc));
                    }
                    if let Some(lost) = lost_orders(&mut self.stale_run) {
                        lost.add_stack(stack, self.modules.frame(pc));
                    }
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
        let address = address_of(address);
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
        let is_other_size = self.locations.is_other_size();
        self.forget_ended();
        if !self.alone {
            self.introduce(context, location, value);
        }
        if let Some(filter) = &mut self.filter
            && filter.mark_atomic(address, size.into()).is_err()
        {
            self.stop_filtering();
        }
        if let Some(online) = &mut self.online {
            let size = size.into();
            online.mark_atomic(Bytes { address, size });
        }
        let mut is_on_stack = false;
        for entry in self.scheduler.live_threads() {
            if entry.thread.is_null() {
                continue;
            }
            // SAFETY: threads' records are never freed.
            let owner = unsafe { &*entry.thread };
            if owner.owns(address) {
                is_on_stack = true;
                owner.locals.0.fetch_min(address, Ordering::Relaxed);
                owner.locals.1.fetch_max(address, Ordering::Relaxed);
            }
        }
        // A frame may lie where another one was, and hold the same by chance.
        if is_other_size && !is_on_stack && !self.alone {
            self.meets(Limit::MixedSizes);
        }
        location
    }

    /// Keeps a block that is given back from being handed out again, in a run with
    /// stale choices: a stale pointer must not lead to somebody else's memory.
    #[cfg(not(test))]
    pub(crate) fn quarantine(&mut self, address: u64, size: u64) -> bool {
        let Some(stale_run) = &mut self.stale_run else {
            return false;
        };
        if size == 0 || !stale_run.may_quarantine(size) {
            return false;
        }
        // SAFETY: the program has just given this block back.
        unsafe {
            let freed = crate::stale_run::FREED_BYTE;
            core::ptr::write_bytes(address as *mut u8, freed, size as usize);
        }
        self.recorder.write(wmfix_trace::MAX_RECORD, |out| {
            wmfix_trace::encode_quarantine(out, address, size)
        });
        true
    }

    /// Ends what lies in the memory of a call or a thread that ends, and records it
    /// if the trace knows of any.
    pub(crate) fn reclaim(&mut self, context: u32, address: u64, size: u64) {
        if self.end_memory(address, size) {
            self.event(context, &RecordedOperation::Reclaim { address, size }, 0);
        }
    }

    /// Ends what lies in memory that is given back; whether the trace knows of any.
    pub(crate) fn end_memory(&mut self, address: u64, size: u64) -> bool {
        let known = self.end_locations(address, size);
        let bytes = Bytes { address, size };
        let accessed = match (&mut self.filter, &mut self.online) {
            (Some(filter), _) => filter.forget(address, size) && !self.alone,
            (None, Some(online)) if online.checks_plain() && self.alone => {
                online.forget_plain(bytes);
                false
            }
            (None, Some(online)) if online.checks_plain() => online.remembers_plain(bytes),
            (None, _) => plain_mode() == plain::ALL,
        };
        known || accessed
    }

    /// Ends the atomics in these bytes; whether the trace knows one of them.
    pub(crate) fn end_locations(&mut self, address: u64, size: u64) -> bool {
        let any = self.locations.end(address..address.saturating_add(size));
        if let Some(stale_run) = &mut self.stale_run
            && any
        {
            stale_run.event(0, &RecordedOperation::Free { address, size });
        }
        self.forget_ended();
        any
    }

    #[inline(always)]
    fn forget_ended(&mut self) {
        while let Some(location) = self.locations.take_ended() {
            self.alone_writes.take(location);
            if let Some(filter) = &mut self.filter {
                filter.forget_location(location);
            }
        }
    }

    /// Whether the trace needs nothing of an operation, because there is only one
    /// thread. A write is kept until it does.
    #[inline(always)]
    pub(crate) fn leaves_out(&mut self, context: u32, operation: &RecordedOperation) -> bool {
        let left_out = self.alone && self.alone_writes.leaves_out(context, operation);
        if left_out {
            self.keep_write(context, operation);
        }
        left_out
    }

    /// Writes what the thread that has the turn did.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        thread: &mut Thread,
        context: u32,
        operation: &RecordedOperation,
    ) {
        if let Some(filter) = &mut self.filter
            && !self.alone
        {
            filter.event(thread, operation);
        }
        self.write_event(context, operation);
        if let Some(online) = &self.online {
            thread.epoch_tag = match self.alone {
                true => 0,
                false => online.epoch_tag(),
            };
        }
        if self.stale_run.is_some() {
            self.tell_stale_run(thread.id, operation);
        }
    }

    #[cold]
    fn tell_stale_run(&mut self, thread: u32, operation: &RecordedOperation) {
        let told = match location_of(operation) {
            Some(location) => self
                .locations
                .trace_number(location)
                .map(|number| alone::at_location(operation, number)),
            None => Some(*operation),
        };
        if let (Some(stale_run), Some(told)) = (&mut self.stale_run, told) {
            stale_run.event(thread, &told);
        }
    }

    /// Writes an event. Its location is introduced first, if the trace does not
    /// know it or what it holds.
    #[inline(always)]
    fn write_event(&mut self, context: u32, operation: &RecordedOperation) {
        let Some(location) = location_of(operation) else {
            return self.event(context, operation, 0);
        };
        let number = match self.locations.trace_number(location) {
            Some(number) => number,
            None => {
                if let Some((context, write)) = self.alone_writes.take(location) {
                    let number = self.introduce(context, location, alone::value_before(&write));
                    self.write_kept(context, location, &alone::at_location(&write, number));
                    number
                } else {
                    self.introduce(context, location, alone::value_before(operation))
                }
            }
        };
        let (_, size) = self.locations.place(location);
        self.event(context, &alone::at_location(operation, number), size);
    }

    /// Tells the trace, or whoever checks the run, what the thread that has the turn
    /// did; on a location of this many bytes, if on one.
    #[inline(always)]
    pub(crate) fn event(&mut self, context: u32, operation: &RecordedOperation, size: u8) {
        match &mut self.online {
            None => self.recorder.event(context, operation),
            Some(online) => online.event(&mut self.recorder, context, operation, size),
        }
    }

    /// Tells the trace, or whoever checks the run, that the turn changes hands.
    pub(crate) fn turn(&mut self, turn: Turn) {
        match &mut self.online {
            None => self
                .recorder
                .write(wmfix_trace::MAX_RECORD, |out| encode_turn(out, turn)),
            Some(online) => online.turn(&mut self.recorder, turn),
        }
    }

    /// The thread, which has the turn, does nothing more before it joins another one.
    /// If it does all the same, in the handler of a signal, the analysis has to know.
    pub(crate) fn awaits_end(&mut self, thread: &mut Thread, child: u32) {
        if let Some(online) = &mut self.online {
            online.awaits_end(child);
            thread.epoch_tag = 0;
        }
    }

    /// The run is over: says how.
    pub(crate) fn finish(&mut self, end: End) {
        if let Some(online) = &mut self.online {
            online.finish(&mut self.recorder);
        }
        self.recorder.finish(end);
    }

    /// The number by which the trace knows a location.
    pub(crate) fn location_in_trace(&mut self, location: u32) -> Option<u32> {
        let number = self.locations.trace_number(location)?;
        let Some(online) = &mut self.online else {
            return Some(number);
        };
        let number = online.add_location();
        let (address, size) = self.locations.place(location);
        let birth = RecordedOperation::Birth {
            location: LocationId(number),
            address,
            size,
            value: 0,
        };
        self.recorder.event(0, &birth);
        Some(number)
    }

    /// Tells the trace of a location, which held `value`; its number there.
    #[cold]
    fn introduce(&mut self, context: u32, location: u32, value: u128) -> u32 {
        let (number, address, size) = self.locations.introduce(location);
        if let Some(stale_run) = &mut self.stale_run {
            stale_run.born(number, address, size, value);
        }
        let operation = RecordedOperation::Birth {
            location: LocationId(number),
            address,
            size,
            value,
        };
        self.event(context, &operation, size);
        number
    }

    /// Writes what was left out before. A plan counts it, as it counts what traces
    /// have.
    fn write_kept(&mut self, context: u32, location: u32, write: &RecordedOperation) {
        self.scheduler.done(0, None);
        let (_, size) = self.locations.place(location);
        self.event(context, write, size);
    }

    fn keep_write(&mut self, context: u32, operation: &RecordedOperation) {
        if let Some(location) = location_of(operation)
            && alone::writes(operation)
        {
            self.locations.leave_trace(location);
            self.alone_writes.keep(location, context, operation);
        }
    }

    /// A second thread is about to come: writes what was left out and still counts.
    pub(crate) fn end_alone(&mut self) {
        if !self.alone {
            return;
        }
        self.alone = false;
        while let Some(location) = self.alone_writes.next_location() {
            if let Some((context, write)) = self.alone_writes.take(location) {
                let number = self.introduce(context, location, alone::value_before(&write));
                self.write_kept(context, location, &alone::at_location(&write, number));
            }
        }
        if plain_mode() == plain::ALONE {
            // A schedule that was made up leads to two accesses, which must be there.
            set_plain_mode(match (&self.filter, &self.online) {
                _ if self.scheduler.follows_plan() => plain::ALL,
                (Some(_), _) => plain::FILTERED,
                (None, Some(_)) => plain::CHECKED,
                (None, None) => plain::ALL,
            });
        }
    }

    /// A thread starts another one, which has a record by now.
    pub(crate) fn create(&mut self, parent: &mut Thread, child: &mut Thread) {
        self.end_alone();
        if let Some(filter) = &mut self.filter {
            filter.create(parent, child);
        }
    }

    /// A thread has appeared that nobody started.
    pub(crate) fn meet_unknown_thread(&mut self) {
        self.meets(Limit::UnknownThread);
        self.end_alone();
        self.has_unknown_thread = true;
        if let Some(filter) = &mut self.filter {
            filter.meet_unknown_thread();
        }
    }

    /// A thread ends.
    pub(crate) fn exit(&mut self, thread: &mut Thread) {
        if let Some(filter) = &mut self.filter
            && !self.alone
        {
            filter.exit(thread);
        }
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn join(&mut self, thread: &mut Thread, child: &Thread) {
        if self.alone {
            return;
        }
        let is_alone = match (&mut self.filter, &self.online) {
            (Some(filter), _) => filter.join(thread, child),
            (None, Some(online)) if plain_mode() == plain::CHECKED => {
                !self.has_unknown_thread && online.is_alone()
            }
            _ => false,
        };
        if is_alone {
            self.alone = true;
            if matches!(plain_mode(), plain::FILTERED | plain::CHECKED) {
                set_plain_mode(plain::ALONE);
            }
        }
    }

    /// Whether the trace says that anything was done, or would if it were written.
    #[cfg(not(test))]
    pub(crate) fn has_events(&self) -> bool {
        let places = self.contexts.len() + self.stacks.len() + self.modules.len();
        !self.recorder.is_on() || self.recorder.records() > places
    }
}

/// The call, in instrumented code, of the library that is at `pc`: what a library
/// does is done where it was called. `pc` itself if that cannot be found.
#[cold]
fn foreign_call(thread: &Thread, pc: u64) -> u64 {
    match thread.depth() {
        0 => pc,
        depth => unwind::return_address_in(thread.frame(depth - 1).sp).unwrap_or(pc),
    }
}

/// The orders that a run loses.
fn lost_orders(run: &mut Option<Box<StaleRun>>) -> Option<&mut LostOrders> {
    run.as_mut().and_then(|run| run.lost.as_mut())
}
