//! A trace's bytes → the events that the analysis takes. Knows the records and
//! the events, and nothing of what either is good for.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};

use wmfix_analysis::{self as analysis, Bytes, CasOutcome, CasStrength, LockId, SiteId};
use wmfix_trace::{
    self as trace, AccessName, ContextId, HeaderError, LockMode, Module, Reader, Record, StackId,
    StuckThread,
};

use super::operands::{OperandTracker, Round, TextId, WaitLoop};
use super::orders::{of_fence, of_load, of_rmw, of_store};
use super::places::Places;
use super::waits::WaitRole;
use crate::symbols::{Address, Frame};

/// How much of a block that is given back counts as written: an object that threads
/// hand on to each other is smaller, and a larger one is first accessed at its
/// beginning.
const MOST_FREED_BYTES: u64 = 64 << 10;

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
    /// How many annotations of happens-before were ignored, at least.
    pub ignored_annotations: u64,
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

/// Where the files of a process lay.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    mapped: Vec<(Module, usize)>,
}

/// The analysis compares values of 8 bytes. One that needs more gets a number
/// from the top of those, and its name back in reports.
#[derive(Debug, Default)]
pub(crate) struct WideValues {
    numbers: HashMap<u128, u64>,
    values: Vec<u128>,
}

/// Decodes a trace. Places are added to those already known.
pub(crate) fn decode(bytes: &[u8], places: &Mutex<Places>) -> Result<DecodedTrace, HeaderError> {
    let mut reader = Reader::new(bytes)?;
    let mut decoder = Decoder {
        places,
        modules: Modules::default(),
        stacks: vec![(StackId(0), 0)],
        pcs: vec![(StackId(0), 0)],
        sites: HashMap::new(),
        locations: Vec::new(),
        events: Vec::new(),
        stuck: Vec::new(),
        wide_values: WideValues::default(),
        operands: OperandTracker::default(),
        schedule: std::hash::DefaultHasher::new(),
        stale: Vec::new(),
        next_is_stale: None,
        quarantined: Vec::new(),
        ignored_annotations: 0,
    };
    let process = reader.header().process_key();
    for record in reader.by_ref() {
        decoder.record(record);
    }
    for (number, found) in std::mem::take(&mut decoder.operands).finish() {
        use analysis::Operation::{Load, Rmw};
        if let Load { exit, .. } | Rmw { exit, .. } = &mut decoder.events[number].operation {
            *exit = Some(found);
        }
    }
    let ending = reader.ending().unwrap_or(trace::Ending::Open);
    let died_in = match ending {
        trace::Ending::Complete(trace::End::Signal { context, .. }) => decoder.calls(context),
        _ => Vec::new(),
    };
    Ok(DecodedTrace {
        died_in,
        events: decoder.events,
        locations: decoder.locations,
        stuck: decoder.stuck,
        ending,
        schedule: decoder.schedule.finish(),
        modules: decoder.modules,
        wide_values: decoder.wide_values,
        process,
        stale: decoder.stale,
        quarantined: decoder.quarantined,
        ignored_annotations: decoder.ignored_annotations,
    })
}

struct Decoder<'a> {
    places: &'a Mutex<Places>,
    modules: Modules,
    /// The caller's stack and the return address, by stack number.
    stacks: Vec<(StackId, u64)>,
    /// The stack and the return address, by context number.
    pcs: Vec<(StackId, u64)>,
    sites: HashMap<(ContextId, super::EventKind), ContextSite>,
    locations: Vec<Location>,
    events: Vec<analysis::Event>,
    stuck: Vec<(StuckThread, SiteId, Vec<Frame>)>,
    wide_values: WideValues,
    operands: OperandTracker,
    schedule: std::hash::DefaultHasher,
    stale: Vec<(usize, Option<AccessName>)>,
    next_is_stale: Option<Option<AccessName>>,
    quarantined: Vec<(usize, Bytes)>,
    ignored_annotations: u64,
}

/// What is known about a context of the trace.
#[derive(Clone)]
struct ContextSite {
    site: SiteId,
    waits: WaitRole,
    watch: Option<Arc<WaitLoop>>,
    text: Option<TextId>,
}

impl Decoder<'_> {
    fn record(&mut self, record: Record) {
        match record {
            Record::Module(module) => {
                let mut places = self.places.lock().expect("no panic while locked");
                let number = places.symbols.module(Path::new(&module.path));
                self.modules.mapped.push((module, number));
            }
            Record::Stack { parent, pc, .. } => self.stacks.push((parent, pc)),
            Record::Context { stack, pc, .. } => self.pcs.push((stack, pc)),
            Record::Turn(turn) => turn.thread.0.hash(&mut self.schedule),
            Record::Event(event) => self.event(&event),
            Record::Stuck(stuck) => {
                let site = self
                    .known(stuck.context, &trace::RecordedOperation::Exit)
                    .site;
                let chain = self.chain(stuck.context);
                let mut places = self.places.lock().expect("no panic while locked");
                let callers = places.callers(&chain, site);
                drop(places);
                self.stuck.push((stuck, site, callers));
            }
            Record::Exec => {}
            Record::Stale(source) => self.next_is_stale = Some(source),
            Record::Ignored(count) => self.ignored_annotations = count,
            Record::Quarantine { address, size } => {
                let kept = (self.events.len(), Bytes { address, size });
                self.quarantined.push(kept);
            }
        }
    }

    fn event(&mut self, event: &trace::Event) {
        std::mem::discriminant(&event.operation).hash(&mut self.schedule);
        if let trace::RecordedOperation::Birth { address, size, .. } = event.operation {
            self.locations.push(Location { address, size });
        }
        let Some(mut operation) = self.operation(event.operation) else {
            return;
        };
        let known = self.known(event.context, &event.operation);
        self.add_waits(&mut operation, known.waits);
        let thread = analysis::ThreadId(event.thread.0);
        if let trace::RecordedOperation::Free { address, size } = event.operation {
            // Nobody may access the memory from here on: as if all of it were
            // written.
            let size = size.min(MOST_FREED_BYTES);
            self.operands
                .event(self.events.len(), thread, Round::Within);
            self.events.push(analysis::Event {
                thread,
                site: known.site,
                operation: analysis::Operation::Write {
                    bytes: Bytes { address, size },
                },
            });
        }
        let round = self.round(&operation, &known);
        self.operands.event(self.events.len(), thread, round);
        if let Some(source) = self.next_is_stale.take() {
            self.stale.push((self.events.len(), source));
        }
        self.events.push(analysis::Event {
            thread,
            site: known.site,
            operation,
        });
    }

    /// What an event is for the loops that wait.
    fn round<'k>(&self, operation: &analysis::Operation, known: &'k ContextSite) -> Round<'k> {
        use analysis::Operation::{Birth, Death, Load, Read, Rmw, Write};
        let waits = known.waits.exit.is_some() || known.waits.open.is_some();
        match (*operation, &known.watch) {
            (
                Load {
                    location, value, ..
                }
                | Rmw {
                    location,
                    read: value,
                    ..
                },
                Some(watch),
            ) => Round::Read(watch, value, self.size(location)),
            (Load { .. } | Rmw { .. }, None) if waits => Round::Within,
            (Birth { .. } | Death { .. } | Read { .. } | Write { .. }, _) => Round::Within,
            _ => Round::Outside(known.text),
        }
    }

    fn size(&self, location: analysis::LocationId) -> u8 {
        let known = self.locations.get(location.0 as usize);
        known.map_or(8, |known| known.size)
    }

    /// Adds what the text says about waiting to an event.
    fn add_waits(&self, operation: &mut analysis::Operation, waits: WaitRole) {
        use analysis::Operation::{CompareExchange, Load, Rmw};
        match operation {
            Load { location, exit, .. } | Rmw { location, exit, .. } => {
                let size = self.size(*location);
                *exit = waits.exit.map(|exit| exit.at_width(size));
            }
            CompareExchange { blocking, .. } => *blocking = waits.blocking,
            _ => {}
        }
    }

    fn known(&mut self, context: ContextId, operation: &trace::RecordedOperation) -> ContextSite {
        let key = (context, super::EventKind::of(operation));
        if let Some(known) = self.sites.get(&key) {
            return known.clone();
        }
        let chain = self.chain(context);
        let mut places = self.places.lock().expect("no panic while locked");
        let resolved = places.resolve(&chain, operation);
        let place = places.get(resolved.site);
        let known = ContextSite {
            site: resolved.site,
            waits: place.waits,
            watch: resolved.watch,
            text: place.text,
        };
        self.sites.insert(key, known.clone());
        known
    }

    /// The instruction of a context and its callers, innermost first.
    fn chain(&self, context: ContextId) -> Vec<Option<Address>> {
        let (mut stack, pc) = self.pcs[context.0 as usize];
        let mut chain = vec![self.modules.before(pc)];
        while stack.0 != 0 {
            let (parent, pc) = self.stacks[stack.0 as usize];
            chain.push(self.modules.before(pc));
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

    /// `None` for what is no event for the analysis: a relaxed fence.
    fn operation(&mut self, operation: trace::RecordedOperation) -> Option<analysis::Operation> {
        use analysis::Operation as To;
        use trace::RecordedOperation as From;
        Some(match operation {
            From::Load {
                location,
                order,
                value,
            } => To::Load {
                location: analysis::LocationId(location.0),
                order: of_load(order),
                value: self.wide_values.narrow(value),
                exit: None,
            },
            From::Store {
                location,
                order,
                value,
            } => To::Store {
                location: analysis::LocationId(location.0),
                order: of_store(order),
                value: self.wide_values.narrow(value),
            },
            From::Rmw {
                location,
                order,
                read,
                written,
                ..
            } => To::Rmw {
                location: analysis::LocationId(location.0),
                order: of_rmw(order),
                read: self.wide_values.narrow(read),
                written: self.wide_values.narrow(written),
                exit: None,
            },
            From::CompareExchange {
                location,
                success,
                failure,
                weak,
                expected,
                read,
                written,
            } => To::CompareExchange {
                location: analysis::LocationId(location.0),
                success: of_rmw(success),
                failure: of_load(failure),
                strength: if weak {
                    CasStrength::Weak
                } else {
                    CasStrength::Strong
                },
                expected: self.wide_values.narrow(expected),
                read: self.wide_values.narrow(read),
                outcome: match written {
                    Some(value) => CasOutcome::Exchanged(self.wide_values.narrow(value)),
                    None => CasOutcome::Failed,
                },
                blocking: false,
            },
            From::Fence { order } => To::Fence {
                order: of_fence(order)?,
            },
            From::Create { child, .. } => To::Create {
                child: analysis::ThreadId(child.0),
            },
            From::Join { child } => To::Join {
                child: analysis::ThreadId(child.0),
            },
            From::Exit => To::Exit,
            From::Acquire { lock, mode } => To::Acquire {
                lock: LockId(lock),
                mode: of_mode(mode),
            },
            From::Release { lock, mode } => To::Release {
                lock: LockId(lock),
                mode: of_mode(mode),
            },
            From::Birth {
                location,
                address,
                size,
                value,
            } => To::Birth {
                location: analysis::LocationId(location.0),
                bytes: Bytes {
                    address,
                    size: u64::from(size),
                },
                value: self.wide_values.narrow(value),
            },
            From::Free { address, size } | From::Reclaim { address, size } => To::Death {
                bytes: Bytes { address, size },
            },
            From::Read { address, size } => To::Read {
                bytes: Bytes { address, size },
            },
            From::Write { address, size } => To::Write {
                bytes: Bytes { address, size },
            },
        })
    }
}

impl Modules {
    /// The module that an address lies in. Later modules are looked at first:
    /// one may have been loaded where another one was.
    pub(crate) fn find(&self, address: u64) -> Option<Address> {
        let mut mapped = self.mapped.iter().rev();
        let (module, number) =
            mapped.find(|(module, _)| (module.first..module.end).contains(&address))?;
        Some(Address {
            module: *number,
            offset: address.wrapping_sub(module.bias),
        })
    }

    /// The instruction before a return address.
    fn before(&self, return_address: u64) -> Option<Address> {
        self.find(return_address.wrapping_sub(1))
    }
}

impl WideValues {
    fn narrow(&mut self, value: u128) -> u64 {
        if let Ok(value) = u64::try_from(value) {
            return value;
        }
        let values = &mut self.values;
        *self.numbers.entry(value).or_insert_with(|| {
            values.push(value);
            u64::MAX - (values.len() as u64 - 1)
        })
    }

    /// The value that the analysis knows by `value`, at a location of `size` bytes.
    pub(crate) fn widen(&self, value: u64, size: u8) -> u128 {
        let wide = usize::try_from(u64::MAX - value)
            .ok()
            .and_then(|at| self.values.get(at));
        match wide {
            Some(&wide) if size > 8 => wide,
            _ => u128::from(value),
        }
    }
}

fn of_mode(mode: LockMode) -> analysis::LockMode {
    match mode {
        LockMode::Exclusive => analysis::LockMode::Exclusive,
        LockMode::Shared => analysis::LockMode::Shared,
        LockMode::Signal => analysis::LockMode::Signal,
    }
}
