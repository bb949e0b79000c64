//! What a run says that is checked in its process, from the events that it would
//! have been recorded as.

use rustc_hash::FxHashMap;
use wmfix_analysis::{
    AnalyzerConfig, Bytes, CasOutcome, CasStrength, Event, FenceOrder, LoadOrder, LockMode,
    Operation, RmwOrder, SiteId, StoreOrder,
};
use wmfix_online::{CheckConfig, Checker, ContextKey, SiteTable};
use wmfix_trace::{self as trace, CheckRecord, LocationId, Order, RecordedOperation, ThreadId};

/// What checking a run says: each site is a context that no table has, and the events
/// have no exit conditions.
pub(super) fn said_on_line(run: &[Event], analyzer: AnalyzerConfig) -> Vec<CheckRecord> {
    let config = CheckConfig {
        analyzer,
        predict: false,
    };
    let mut checker = Checker::new(config, SiteTable::default());
    let mut said = Vec::new();
    // A run numbers its contexts from 1, sites may have any number.
    let mut contexts = FxHashMap::default();
    let mut plain = PlainAccesses::default();
    for event in run {
        let mut say = |record| said.push(record);
        checker.turn(ThreadId(event.thread.0));
        let next = contexts.len() as u32 + 1;
        let context = *contexts.entry(event.site).or_insert(next);
        let key = || ContextKey(event.site.0.into());
        match event.operation {
            Operation::Read { bytes } => plain.access(&mut checker, bytes, false, &mut say),
            Operation::Write { bytes } => plain.access(&mut checker, bytes, true, &mut say),
            operation => checker.event(context, key, &recorded(&operation), 8, &mut say),
        }
    }
    checker.finish(&mut |record| said.push(record));
    said
}

/// Plain accesses as a run makes them: all reads in one context and all writes in
/// another, so that most come again, and are taken the short way if that takes them.
#[derive(Default)]
struct PlainAccesses {
    sites: [Option<SiteId>; 2],
}

impl PlainAccesses {
    fn access(
        &mut self,
        checker: &mut Checker,
        bytes: Bytes,
        writes: bool,
        say: &mut impl FnMut(CheckRecord),
    ) {
        let tag = checker.epoch_tag();
        let known = self.sites[usize::from(writes)];
        if known.is_some_and(|site| checker.plain_ordered(tag, site, bytes, writes)) {
            return;
        }
        let context = FIRST_PLAIN_CONTEXT + u32::from(writes);
        let key = || ContextKey(context.into());
        let outcome = checker.plain(context, key, bytes, writes, say);
        self.sites[usize::from(writes)] = outcome.site;
    }
}

/// More than a program has sites.
const FIRST_PLAIN_CONTEXT: u32 = 1 << 10;

/// The operation as a run would be recorded.
fn recorded(operation: &Operation) -> RecordedOperation {
    use RecordedOperation as To;
    match *operation {
        Operation::Load {
            location,
            order,
            value,
            ..
        } => To::Load {
            location: LocationId(location.0),
            order: of_load(order),
            value: value.into(),
        },
        Operation::Store {
            location,
            order,
            value,
        } => To::Store {
            location: LocationId(location.0),
            order: match order {
                StoreOrder::Relaxed => Order::Relaxed,
                StoreOrder::Release => Order::Release,
                StoreOrder::SeqCst => Order::SeqCst,
            },
            value: value.into(),
        },
        Operation::Rmw {
            location,
            order,
            read,
            written,
            ..
        } => To::Rmw {
            location: LocationId(location.0),
            order: of_rmw(order),
            kind: trace::RmwKind::Exchange,
            read: read.into(),
            written: written.into(),
        },
        Operation::CompareExchange {
            location,
            success,
            failure,
            strength,
            expected,
            read,
            outcome,
            ..
        } => To::CompareExchange {
            location: LocationId(location.0),
            success: of_rmw(success),
            failure: of_load(failure),
            weak: strength == CasStrength::Weak,
            expected: expected.into(),
            read: read.into(),
            written: match outcome {
                CasOutcome::Exchanged(value) => Some(value.into()),
                CasOutcome::Failed => None,
            },
        },
        Operation::Fence { order } => To::Fence {
            order: match order {
                FenceOrder::Acquire => Order::Acquire,
                FenceOrder::Release => Order::Release,
                FenceOrder::AcqRel => Order::AcqRel,
                FenceOrder::SeqCst => Order::SeqCst,
            },
        },
        Operation::Create { child } => To::Create {
            child: ThreadId(child.0),
            start: 0,
        },
        Operation::Join { child } => To::Join {
            child: ThreadId(child.0),
        },
        Operation::Exit => To::Exit,
        Operation::Acquire { lock, mode } => To::Acquire {
            lock: lock.0,
            mode: of_mode(mode),
        },
        Operation::Release { lock, mode } => To::Release {
            lock: lock.0,
            mode: of_mode(mode),
        },
        Operation::Birth {
            location,
            bytes,
            value,
        } => To::Birth {
            location: LocationId(location.0),
            address: bytes.address,
            size: bytes.size as u8,
            value: value.into(),
        },
        Operation::Death { bytes } => To::Reclaim {
            address: bytes.address,
            size: bytes.size,
        },
        Operation::Read { bytes } => To::Read {
            address: bytes.address,
            size: bytes.size,
        },
        Operation::Write { bytes } => To::Write {
            address: bytes.address,
            size: bytes.size,
        },
    }
}

fn of_load(order: LoadOrder) -> Order {
    match order {
        LoadOrder::Relaxed => Order::Relaxed,
        LoadOrder::Acquire => Order::Acquire,
        LoadOrder::SeqCst => Order::SeqCst,
    }
}

fn of_rmw(order: RmwOrder) -> Order {
    match order {
        RmwOrder::Relaxed => Order::Relaxed,
        RmwOrder::Acquire => Order::Acquire,
        RmwOrder::Release => Order::Release,
        RmwOrder::AcqRel => Order::AcqRel,
        RmwOrder::SeqCst => Order::SeqCst,
    }
}

fn of_mode(mode: LockMode) -> trace::LockMode {
    match mode {
        LockMode::Exclusive => trace::LockMode::Exclusive,
        LockMode::Shared => trace::LockMode::Shared,
        LockMode::Signal => trace::LockMode::Signal,
    }
}
