//! A trace's bytes → the events that the analysis takes. Knows the records and
//! the events, and nothing of what either is good for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use wmfix_analysis::explore::{Mark, MarkKind};
use wmfix_analysis::{self as analysis, Bytes, SiteId};
use wmfix_online::{
    ContextKey, EventKind, ModuleKey, OperandTracker, ScheduleHash, SiteRole, add_waits, narrow,
    of_operation, round_of, write_of_free,
};
use wmfix_trace::{
    self as trace, AccessName, CheckRecord, ContextId, HeaderError, Limit, Misuse, Module, Order,
    Reader, Record, RecordedOperation, StackId, StuckThread, SyncKind, SyncRecord,
};

use super::blocks::Blocks;
use super::call_chain::CallChain;
use super::checked::CheckedRun;
use super::places::Places;
use crate::symbols::{Address, Frame};

/// One process's run.
#[derive(Debug)]
pub(crate) struct DecodedTrace {
    /// What it did, in the order of the turn.
    pub events: Vec<analysis::Event>,
    /// The atomic locations, by number.
    pub locations: Vec<Location>,
    /// Threads that could not go on, where, and the calls that led there, innermost
    /// first.
    pub stuck: Vec<(StuckThread, SiteId, Vec<Frame>)>,
    /// Locks that were misused, where, and the calls that led there, innermost first.
    pub misuses: Vec<(Misuse, SiteId, Vec<Frame>)>,
    /// How it ended.
    pub ending: trace::Ending,
    /// The calls that a thread was in when a signal killed it, innermost first.
    pub died_in: Vec<Frame>,
    /// Equal for equal schedules.
    pub schedule: u64,
    /// The files that the process was made of.
    pub modules: Modules,
    /// Values of 16 bytes that the analysis knows by a number only.
    pub wide_values: WideValues,
    /// Tells the processes of a test command apart.
    pub process: u64,
    /// The events that took an old write, and the access that wrote it; `None` for
    /// a first value.
    pub stale: Vec<(usize, Option<AccessName>)>,
    /// Freed memory that was kept from being used again, and the number of events
    /// before that.
    pub quarantined: Vec<(usize, Bytes)>,
    /// Where its memory was made.
    pub blocks: Blocks,
    /// How many annotations of happens-before were ignored, at least.
    pub ignored_annotations: u64,
    /// What the run showed, if it was checked in its process. There are no events
    /// then.
    pub checked: Option<CheckedRun>,
    /// A thread spun on a volatile object that was taken for a plain one.
    pub volatile_spin: bool,
    /// The events, by number, that belong to the record of another one: what an
    /// operation does besides.
    pub implied: Vec<usize>,
    /// What the program does that is not modelled to the end.
    pub limits: Vec<Limit>,
    /// The run followed an assignment of an exploration: all choices are in `turns`.
    pub is_explored: bool,
    /// Who had the turn, from which event on, of a run of an exploration.
    pub turns: Vec<RecordedTurn>,
    /// What was done with synchronisation objects beyond what events say, of a run of
    /// an exploration.
    pub marks: Vec<Mark>,
    /// A thread did something whose orders are not explored, and where.
    pub unexplored: Option<SiteId>,
    /// Calls whose accesses nobody sees: where, and of what. Nothing is called by name
    /// where the loader calls it when the process ends.
    pub unseen: Vec<(SiteId, String)>,
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedTurn {
    /// Who has it.
    pub thread: u32,
    /// The number of the first event in it.
    pub first_event: usize,
    /// The number of the first mark in it.
    pub first_mark: usize,
    /// Why it changed hands.
    pub cause: trace::Cause,
}

/// An atomic location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    /// Its first byte in this run.
    pub address: u64,
    /// Its size in bytes.
    pub size: u8,
}

impl Location {
    /// Its bytes.
    pub(crate) fn bytes(self) -> Bytes {
        Bytes {
            address: self.address,
            size: u64::from(self.size),
        }
    }
}

impl DecodedTrace {
    /// Where an atomic object lies.
    pub(crate) fn bytes_of(&self, location: analysis::LocationId) -> Option<Bytes> {
        let location = self.locations.get(location.0 as usize)?;
        Some(location.bytes())
    }
}

/// Where the files of a process lay.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    mapped: Vec<(Module, usize, ModuleKey)>,
}

/// The analysis compares values of 8 bytes. One that needs more has a number among
/// those, and gets its name back in reports.
#[derive(Debug, Default)]
pub(crate) struct WideValues {
    values: HashMap<u64, u128>,
}

/// Decodes a trace. Places are added to those already known.
pub(crate) fn decode(bytes: &[u8], places: &Mutex<Places>) -> Result<DecodedTrace, HeaderError> {
    let mut reader = Reader::new(bytes)?;
    let mut decoder = Decoder {
        places,
        modules: Modules::default(),
        stacks: vec![(StackId(0), 0)],
        stack_keys: vec![ContextKey::default()],
        pcs: vec![(StackId(0), 0)],
        sites: HashMap::new(),
        locations: Vec::new(),
        events: Vec::new(),
        stuck: Vec::new(),
        misuses: Vec::new(),
        wide_values: WideValues::default(),
        operands: OperandTracker::default(),
        schedule: ScheduleHash::default(),
        stale: Vec::new(),
        next_is_stale: None,
        quarantined: Vec::new(),
        blocks: Blocks::default(),
        ignored_annotations: 0,
        thread: analysis::ThreadId(0),
        checked: CheckedRun::default(),
        volatile_spin: false,
        limits: Vec::new(),
        implied: Vec::new(),
        is_explored: reader.header().strategy == trace::Strategy::Explore,
        turns: vec![RecordedTurn {
            thread: 0,
            first_event: 0,
            first_mark: 0,
            cause: trace::Cause::Choice,
        }],
        marks: Vec::new(),
        unexplored: None,
        unseen: Vec::new(),
    };
    let (process, checked) = (reader.header().process_key(), reader.header().checked);
    for record in reader.by_ref() {
        decoder.record(record);
    }
    decoder.operands.finish();
    for decision in decoder.operands.take_decisions() {
        use analysis::Operation::{Load, Rmw};
        let event = &mut decoder.events[decision.number as usize];
        if let Load { exit, .. } | Rmw { exit, .. } = &mut event.operation {
            *exit = decision.exit;
        }
    }
    let mut blocks = std::mem::take(&mut decoder.blocks);
    blocks.add_chains(|context| decoder.chain(context));
    let ending = reader.ending().unwrap_or(trace::Ending::Open);
    let died_in = match ending {
        trace::Ending::Complete(trace::End::Signal { context, .. }) => decoder.calls(context),
        _ => Vec::new(),
    };
    Ok(DecodedTrace {
        died_in,
        events: decoder.events,
        is_explored: decoder.is_explored,
        turns: decoder.turns,
        marks: decoder.marks,
        unexplored: decoder.unexplored,
        unseen: decoder.unseen,
        locations: decoder.locations,
        stuck: decoder.stuck,
        misuses: decoder.misuses,
        ending,
        schedule: decoder.schedule.finish(),
        modules: decoder.modules,
        wide_values: decoder.wide_values,
        process,
        stale: decoder.stale,
        quarantined: decoder.quarantined,
        blocks,
        ignored_annotations: decoder.ignored_annotations,
        checked: checked.then_some(decoder.checked),
        volatile_spin: decoder.volatile_spin,
        limits: decoder.limits,
        implied: decoder.implied,
    })
}

struct Decoder<'a> {
    places: &'a Mutex<Places>,
    modules: Modules,
    /// The caller's stack and the return address, by stack number.
    stacks: Vec<(StackId, u64)>,
    /// The name that all runs share, by stack number: made from the caller's, since a
    /// walk over the calls of each would be quadratic in how deep they go.
    stack_keys: Vec<ContextKey>,
    /// The stack and the return address, by context number.
    pcs: Vec<(StackId, u64)>,
    sites: HashMap<(ContextId, EventKind), SiteRole>,
    locations: Vec<Location>,
    events: Vec<analysis::Event>,
    stuck: Vec<(StuckThread, SiteId, Vec<Frame>)>,
    misuses: Vec<(Misuse, SiteId, Vec<Frame>)>,
    wide_values: WideValues,
    operands: OperandTracker,
    schedule: ScheduleHash,
    stale: Vec<(usize, Option<AccessName>)>,
    next_is_stale: Option<Option<AccessName>>,
    quarantined: Vec<(usize, Bytes)>,
    blocks: Blocks,
    ignored_annotations: u64,
    /// Who has the turn.
    thread: analysis::ThreadId,
    checked: CheckedRun,
    volatile_spin: bool,
    limits: Vec<Limit>,
    implied: Vec<usize>,
    is_explored: bool,
    turns: Vec<RecordedTurn>,
    marks: Vec<Mark>,
    unexplored: Option<SiteId>,
    unseen: Vec<(SiteId, String)>,
}

impl Decoder<'_> {
    fn record(&mut self, record: Record) {
        match record {
            Record::Module(module) => {
                let mut places = self.places.lock().expect("no panic while locked");
                let number = places.symbols.module(Path::new(&module.path));
                let key = ModuleKey::of(&module.path);
                self.modules.mapped.push((module, number, key));
            }
            Record::Stack { parent, pc, .. } => {
                let key = self.stack_keys[parent.0 as usize].then(self.modules.frame(pc));
                self.stacks.push((parent, pc));
                self.stack_keys.push(key);
            }
            Record::Context { stack, pc, .. } => self.pcs.push((stack, pc)),
            Record::Turn(turn) => {
                self.schedule.turn(turn.thread);
                self.thread = analysis::ThreadId(turn.thread.0);
                if self.is_explored {
                    self.turns.push(RecordedTurn {
                        thread: turn.thread.0,
                        first_event: self.events.len(),
                        first_mark: self.marks.len(),
                        cause: turn.cause,
                    });
                }
            }
            Record::Event(event) => self.event(&event),
            Record::Stuck(stuck) => {
                let (site, callers) = self.standing(stuck.context);
                self.stuck.push((stuck, site, callers));
            }
            Record::Misuse(misuse) => {
                let (site, callers) = self.standing(misuse.context);
                self.misuses.push((misuse, site, callers));
            }
            Record::VolatileSpin => self.volatile_spin = true,
            Record::Sync(sync) => self.sync(&sync),
            Record::Unseen { context, function } => {
                let site = self.known(context, &RecordedOperation::Exit).site;
                self.unseen.push((site, function));
            }
            Record::Limit(limit) => self.limits.push(limit),
            Record::Exec => {}
            Record::Stale(source) => self.next_is_stale = Some(source),
            Record::Ignored(count) => self.ignored_annotations = count,
            Record::Quarantine { address, size } => {
                let kept = (self.events.len(), Bytes { address, size });
                self.quarantined.push(kept);
            }
            Record::HandedOut {
                context,
                address,
                size,
            } => {
                let events = self.events.len();
                self.blocks.hand_out(events, address, size, context);
            }
            Record::HandedBack { address } => self.blocks.hand_back(self.events.len(), address),
            Record::Check(record) => self.check(record),
        }
    }

    /// What a step of an exploration did with a synchronisation object.
    fn sync(&mut self, sync: &SyncRecord) {
        let site = self.known(sync.context, &RecordedOperation::Exit).site;
        let kind = match sync.kind {
            SyncKind::TryExclusive => MarkKind::TryExclusive,
            SyncKind::TryShared => MarkKind::TryShared,
            SyncKind::Take => MarkKind::Take,
            SyncKind::Try => MarkKind::Try,
            SyncKind::Pass => MarkKind::Pass,
            SyncKind::Change => MarkKind::Change,
            SyncKind::Look => MarkKind::Look,
            SyncKind::ReadWord => MarkKind::ReadWord,
            SyncKind::Publish => MarkKind::Publish,
            SyncKind::Learn => MarkKind::Learn,
            SyncKind::Unexplored => {
                self.unexplored.get_or_insert(site);
                return;
            }
        };
        let thread = self.turns.last().map_or(0, |turn| turn.thread);
        self.marks.push(Mark {
            thread: analysis::ThreadId(thread),
            site,
            kind,
            object: sync.object,
            state: sync.state,
        });
    }

    /// What a run says that was checked in its process.
    fn check(&mut self, record: CheckRecord) {
        if let CheckRecord::Unlisted {
            context,
            kind,
            order,
        } = record
        {
            let Some(&kind) = EventKind::ALL.get(usize::from(kind)) else {
                return;
            };
            let role = self.known(context, &sample(kind, order));
            let places = self.places.lock().expect("no panic while locked");
            let matters = kind.is_atomic() && places.listed.matters(&role);
            return self.checked.add_unlisted(role.site, kind, matters);
        }
        let sites = self.places.lock().expect("no panic while locked").len();
        self.checked.take(record, sites);
    }

    /// Where a thread stands in a call that is no event, and the calls that led there.
    fn standing(&mut self, context: ContextId) -> (SiteId, Vec<Frame>) {
        let site = self.known(context, &RecordedOperation::Exit).site;
        let chain = self.chain(context);
        let mut places = self.places.lock().expect("no panic while locked");
        let callers = places.callers(&chain, site);
        (site, callers)
    }

    fn event(&mut self, event: &trace::Event) {
        self.schedule.operation(&event.operation);
        if let RecordedOperation::Birth { address, size, .. } = event.operation {
            self.locations.push(Location { address, size });
        }
        self.wide_values.keep(&event.operation);
        let Some(mut operation) = of_operation(&event.operation) else {
            return;
        };
        let role = self.known(event.context, &event.operation);
        let size = self.size(&operation);
        add_waits(&mut operation, role.waits, size);
        let thread = analysis::ThreadId(event.thread.0);
        self.thread = thread;
        if let Some(operation) = write_of_free(&event.operation) {
            self.implied.push(self.events.len());
            self.events.push(analysis::Event {
                thread,
                site: role.site,
                operation,
            });
        }
        if role.is_full_barrier {
            self.barrier(thread, &role);
        }
        let round = round_of(&operation, &role, size);
        let number = self.events.len();
        self.operands.event(number as u64, thread, round);
        if let Some(source) = self.next_is_stale.take() {
            self.stale.push((number, source));
        }
        self.events.push(analysis::Event {
            thread,
            site: role.site,
            operation,
        });
        if role.is_full_barrier {
            self.barrier(thread, &role);
        }
    }

    /// Half of what an operation does that is a full barrier as well.
    fn barrier(&mut self, thread: analysis::ThreadId, role: &SiteRole) {
        let number = self.events.len() as u64;
        let order = analysis::FenceOrder::SeqCst;
        let operation = analysis::Operation::Fence { order };
        let round = round_of(&operation, role, 0);
        self.operands.event(number, thread, round);
        self.implied.push(self.events.len());
        self.events.push(analysis::Event {
            thread,
            site: role.site,
            operation,
        });
    }

    /// The size of the location that an operation reads.
    fn size(&self, operation: &analysis::Operation) -> u8 {
        use analysis::Operation::{Load, Rmw};
        let (Load { location, .. } | Rmw { location, .. }) = operation else {
            return 0;
        };
        let known = self.locations.get(location.0 as usize);
        known.map_or(8, |known| known.size)
    }

    /// The site of an operation, and its part in loops that wait.
    fn known(&mut self, context: ContextId, operation: &RecordedOperation) -> SiteRole {
        let kind = EventKind::of(operation);
        if let Some(known) = self.sites.get(&(context, kind)) {
            return known.clone();
        }
        let chain = self.chain(context);
        let (stack, pc) = self.pcs[context.0 as usize];
        let key = self.stack_keys[stack.0 as usize].then(self.modules.frame(pc));
        let mut places = self.places.lock().expect("no panic while locked");
        let role = places.resolve(&chain, operation);
        places.listed.insert(key, kind, role.clone());
        self.sites.insert((context, kind), role.clone());
        role
    }

    /// The instruction of a context and its callers, innermost first.
    fn chain(&self, context: ContextId) -> CallChain {
        let (mut stack, pc) = self.pcs[context.0 as usize];
        let mut chain = CallChain::new(self.modules.before(pc));
        while stack.0 != 0 {
            let (parent, pc) = self.stacks[stack.0 as usize];
            if !chain.push(self.modules.before(pc)) {
                break;
            }
            stack = parent;
        }
        chain
    }

    /// The calls of a context that the source is known of, innermost first.
    fn calls(&self, context: ContextId) -> Vec<Frame> {
        let chain = self.chain(context);
        let mut places = self.places.lock().expect("no panic while locked");
        places.calls(&chain)
    }
}

/// An operation of a kind, to resolve its place by.
fn sample(kind: EventKind, order: Option<Order>) -> RecordedOperation {
    let location = trace::LocationId(0);
    let order = order.unwrap_or(Order::Relaxed);
    match kind {
        EventKind::Load => RecordedOperation::Load {
            location,
            order,
            value: 0,
        },
        EventKind::Store => RecordedOperation::Store {
            location,
            order,
            value: 0,
        },
        EventKind::Rmw => RecordedOperation::Rmw {
            location,
            order,
            kind: trace::RmwKind::Exchange,
            read: 0,
            written: 0,
        },
        EventKind::CompareExchange => RecordedOperation::CompareExchange {
            location,
            success: order,
            failure: order,
            weak: false,
            expected: 0,
            read: 0,
            written: None,
        },
        EventKind::Fence => RecordedOperation::Fence { order },
        EventKind::Read => RecordedOperation::Read {
            address: 0,
            size: 1,
        },
        EventKind::Write => RecordedOperation::Write {
            address: 0,
            size: 1,
        },
        EventKind::Free => RecordedOperation::Free {
            address: 0,
            size: 1,
        },
        EventKind::Other => RecordedOperation::Exit,
    }
}

impl Modules {
    /// The module that an address lies in. Later modules are looked at first:
    /// one may have been loaded where another one was.
    pub(crate) fn find(&self, address: u64) -> Option<Address> {
        let (module, number, _) = self.holding(address)?;
        Some(Address {
            module: *number,
            offset: address.wrapping_sub(module.bias),
        })
    }

    fn holding(&self, address: u64) -> Option<&(Module, usize, ModuleKey)> {
        let mut mapped = self.mapped.iter().rev();
        mapped.find(|(module, ..)| (module.first..module.end).contains(&address))
    }

    /// The instruction before a return address, as the same in every run.
    fn frame(&self, return_address: u64) -> Option<(ModuleKey, u64)> {
        let address = return_address.wrapping_sub(1);
        let (module, _, key) = self.holding(address)?;
        Some((*key, address.wrapping_sub(module.bias)))
    }

    /// The instruction before a return address.
    fn before(&self, return_address: u64) -> Option<Address> {
        self.find(return_address.wrapping_sub(1))
    }
}

impl WideValues {
    /// Remembers the values of an operation that need more than 8 bytes.
    fn keep(&mut self, operation: &RecordedOperation) {
        let values = match *operation {
            RecordedOperation::Load { value, .. }
            | RecordedOperation::Store { value, .. }
            | RecordedOperation::Birth { value, .. } => [value, 0, 0],
            RecordedOperation::Rmw { read, written, .. } => [read, written, 0],
            RecordedOperation::CompareExchange {
                expected,
                read,
                written,
                ..
            } => [expected, read, written.unwrap_or(0)],
            _ => return,
        };
        for value in values {
            if u64::try_from(value).is_err() {
                self.values.insert(narrow(value), value);
            }
        }
    }

    /// The value that the analysis knows by `value`, at a location of `size` bytes.
    pub(crate) fn widen(&self, value: u64, size: u8) -> u128 {
        match self.values.get(&value) {
            Some(&wide) if size > 8 => wide,
            _ => u128::from(value),
        }
    }
}
