//! Runs written down by hand: a stream of events, one call for each.

use crate::event::{
    Bytes, CasOutcome, CasStrength, Event, LocationId, LockId, LockMode, LoopExit, Operation,
    SiteId, ThreadId,
};
use crate::model::Model;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use crate::violation::{EventIndex, Violation, ViolationKind, WriteRef};
use crate::witness::{Refutation, Witness, check};

pub(super) const X: u32 = 0;
pub(super) const Y: u32 = 1;

pub(super) const RLX: Orders = Orders {
    load: LoadOrder::Relaxed,
    store: StoreOrder::Relaxed,
    rmw: RmwOrder::Relaxed,
};
pub(super) const RA: Orders = Orders {
    load: LoadOrder::Acquire,
    store: StoreOrder::Release,
    rmw: RmwOrder::AcqRel,
};
pub(super) const SC: Orders = Orders {
    load: LoadOrder::SeqCst,
    store: StoreOrder::SeqCst,
    rmw: RmwOrder::SeqCst,
};

/// One strength for every kind of access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    pub(super) load: LoadOrder,
    pub(super) store: StoreOrder,
    pub(super) rmw: RmwOrder,
}

/// A stream of events. Every call gives the index of the event it adds.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) events: Vec<Event>,
}

impl Run {
    /// A run with x and y at 0.
    pub(super) fn new() -> Self {
        let mut run = Self::default();
        run.birth(X, 0);
        run.birth(Y, 0);
        run
    }

    pub(super) fn push(&mut self, thread: u32, operation: Operation) -> usize {
        self.events.push(Event {
            thread: ThreadId(thread),
            site: SiteId(self.events.len() as u32),
            operation,
        });
        self.events.len() - 1
    }

    pub(super) fn birth(&mut self, location: u32, value: u64) -> usize {
        self.push(
            0,
            Operation::Birth {
                location: LocationId(location),
                bytes: bytes(location),
                value,
            },
        )
    }

    pub(super) fn load(
        &mut self,
        thread: u32,
        location: u32,
        order: LoadOrder,
        value: u64,
    ) -> usize {
        self.push(
            thread,
            Operation::Load {
                location: LocationId(location),
                order,
                value,
                exit: None,
            },
        )
    }

    pub(super) fn wait(
        &mut self,
        thread: u32,
        location: u32,
        order: LoadOrder,
        value: u64,
        exit: LoopExit,
    ) -> usize {
        self.push(
            thread,
            Operation::Load {
                location: LocationId(location),
                order,
                value,
                exit: Some(exit),
            },
        )
    }

    pub(super) fn store(
        &mut self,
        thread: u32,
        location: u32,
        order: StoreOrder,
        value: u64,
    ) -> usize {
        self.push(
            thread,
            Operation::Store {
                location: LocationId(location),
                order,
                value,
            },
        )
    }

    pub(super) fn rmw(
        &mut self,
        thread: u32,
        location: u32,
        order: RmwOrder,
        read: u64,
        written: u64,
    ) -> usize {
        self.push(
            thread,
            Operation::Rmw {
                location: LocationId(location),
                order,
                read,
                written,
                exit: None,
            },
        )
    }

    pub(super) fn cas(&mut self, thread: u32, location: u32, cas: Cas) -> usize {
        self.push(
            thread,
            Operation::CompareExchange {
                location: LocationId(location),
                success: cas.orders.rmw,
                failure: cas.orders.load,
                strength: cas.strength,
                expected: cas.expected,
                read: cas.read,
                outcome: match cas.expected == cas.read {
                    true => CasOutcome::Exchanged(cas.desired),
                    false => CasOutcome::Failed,
                },
                blocking: cas.blocking,
            },
        )
    }

    pub(super) fn fence(&mut self, thread: u32, order: FenceOrder) -> usize {
        self.push(thread, Operation::Fence { order })
    }

    pub(super) fn lock(&mut self, thread: u32, lock: u64, mode: LockMode) -> usize {
        let lock = LockId(lock);
        self.push(thread, Operation::Acquire { lock, mode })
    }

    pub(super) fn unlock(&mut self, thread: u32, lock: u64, mode: LockMode) -> usize {
        let lock = LockId(lock);
        self.push(thread, Operation::Release { lock, mode })
    }

    /// The last event as a violation: after `newer`, it could take `stale`.
    pub(super) fn violation(&self, newer: usize, stale: &[Option<usize>]) -> Violation {
        let access = self.events.len() - 1;
        let event = &self.events[access];
        let (kind, location, read_value) = match event.operation {
            Operation::Load {
                location, value, ..
            } => (ViolationKind::StaleRead, location, Some(value)),
            Operation::Store { location, .. } => (ViolationKind::StaleWrite, location, None),
            Operation::Rmw { location, read, .. }
            | Operation::CompareExchange { location, read, .. } => {
                (ViolationKind::StaleRmw, location, Some(read))
            }
            other => panic!("{other:?} is no access"),
        };
        Violation {
            kind,
            access: EventIndex(access as u64),
            thread: event.thread,
            site: event.site,
            location,
            newer: self.write(Some(newer)),
            stale: stale.iter().map(|write| self.write(*write)).collect(),
            read_value,
            same_value: false,
        }
    }

    fn write(&self, event: Option<usize>) -> WriteRef {
        WriteRef {
            event: event.map(|event| EventIndex(event as u64)),
            origin: event.map(|event| (self.events[event].thread, self.events[event].site)),
            value: None,
        }
    }

    /// The witness of the last event.
    pub(super) fn witness(&self, newer: usize, stale: Option<usize>, model: Model) -> Witness {
        Witness::build(&self.events, &self.violation(newer, &[stale]), model)
            .unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// What the checker says of the last event in a stale place.
    pub(super) fn verdict(&self, newer: usize, stale: Option<usize>) -> Result<(), Refutation> {
        check(&self.witness(newer, stale, Model::RC11), Model::RC11)
    }
}

/// A compare-exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cas {
    pub(super) orders: Orders,
    pub(super) strength: CasStrength,
    pub(super) expected: u64,
    pub(super) desired: u64,
    pub(super) read: u64,
    pub(super) blocking: bool,
}

/// Where a location lies.
pub(super) fn bytes(location: u32) -> Bytes {
    Bytes {
        address: 0x1000 + 8 * u64::from(location),
        size: 8,
    }
}
