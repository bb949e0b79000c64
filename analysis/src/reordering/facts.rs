//! What the run itself says about each event: what it accesses, and from which
//! writes it read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::{Bytes, CasOutcome, Event, LocationId, Operation};

const GRANULE: u64 = 8;
const NOBODY: u32 = u32::MAX;

/// Bytes of a granule at a time when nothing else lay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    granule: u64,
    /// How often the memory had been given back.
    generation: u32,
    /// Which of the bytes.
    mask: u8,
}

/// From which writes a read took its bytes, in the order of the bytes: the
/// writes, with the number of bytes.
pub(super) type Sources = SmallVec<[(u32, u32); 1]>;

/// What an event accesses.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) spans: SmallVec<[Span; 1]>,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// It writes whatever it reads.
    pub(super) always_writes: bool,
    pub(super) atomic: bool,
}

impl Access {
    /// Whether the two touch the same byte of the same object.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.spans.iter().any(|mine| {
            other.spans.iter().any(|theirs| {
                (mine.granule, mine.generation) == (theirs.granule, theirs.generation)
                    && mine.mask & theirs.mask != 0
            })
        })
    }
}

/// The accesses of a run.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// By event.
    pub(super) accesses: Vec<Option<Access>>,
    /// By event: where it reads from in the run.
    pub(super) sources: Vec<Sources>,
    /// By event: it reads a value that no event wrote.
    pub(super) unexplained: Vec<bool>,
}

impl Facts {
    pub(super) fn of(events: &[Event]) -> Self {
        let mut facts = Self::default();
        let mut memory = Layout::default();
        let mut writers = Writers::default();
        for (index, event) in events.iter().enumerate() {
            let access = memory.access(&event.operation);
            let mut sources = Sources::new();
            let mut unexplained = false;
            if let Some(access) = access.as_ref().filter(|_| counts(event)) {
                if access.reads {
                    sources = writers.sources(access);
                    unexplained = !explained(events, &memory, &sources, &event.operation);
                }
                writers.enter(index, access);
            }
            facts.accesses.push(access);
            facts.sources.push(sources);
            facts.unexplained.push(unexplained);
        }
        facts
    }
}

/// Whether an event is one of its own.
pub(super) fn counts(event: &Event) -> bool {
    !event.operation.stays_in_loop()
}

/// Who wrote each byte last, in some order of events.
#[derive(Debug, Default)]
pub(super) struct Writers(FxHashMap<(u64, u32), [u32; GRANULE as usize]>);

impl Writers {
    /// The writes that a read takes its bytes from.
    pub(super) fn sources(&self, access: &Access) -> Sources {
        let mut sources = Sources::new();
        for span in &access.spans {
            let writers = self.0.get(&(span.granule, span.generation));
            for byte in (0..GRANULE as usize).filter(|byte| span.mask >> byte & 1 == 1) {
                let writer = writers.map_or(NOBODY, |writers| writers[byte]);
                match sources.last_mut() {
                    Some((last, bytes)) if *last == writer => *bytes += 1,
                    _ => sources.push((writer, 1)),
                }
            }
        }
        sources
    }

    /// An event has happened.
    pub(super) fn enter(&mut self, index: usize, access: &Access) {
        if !access.writes {
            return;
        }
        for span in &access.spans {
            let none = [NOBODY; GRANULE as usize];
            let writers = self
                .0
                .entry((span.granule, span.generation))
                .or_insert(none);
            for byte in (0..GRANULE as usize).filter(|byte| span.mask >> byte & 1 == 1) {
                writers[byte] = index as u32;
            }
        }
    }
}

/// Whether a read found what its source wrote, as far as the run tells.
fn explained(events: &[Event], memory: &Layout, sources: &Sources, operation: &Operation) -> bool {
    let Some((location, value)) = value_read(operation) else {
        return true;
    };
    let [(source, _)] = sources.as_slice() else {
        return true;
    };
    let written = match *source {
        NOBODY => Some(memory.locations.get(&location).map_or(0, |place| place.1)),
        source => value_written(&events[source as usize].operation),
    };
    written.is_none_or(|written| written == value)
}

fn value_read(operation: &Operation) -> Option<(LocationId, u64)> {
    match *operation {
        Operation::Load {
            location, value, ..
        } => Some((location, value)),
        Operation::Rmw { location, read, .. }
        | Operation::CompareExchange { location, read, .. } => Some((location, read)),
        _ => None,
    }
}

fn value_written(operation: &Operation) -> Option<u64> {
    match *operation {
        Operation::Store { value, .. } => Some(value),
        Operation::Rmw { written, .. } => Some(written),
        Operation::CompareExchange {
            outcome: CasOutcome::Exchanged(value),
            ..
        } => Some(value),
        _ => None,
    }
}

/// Which bytes are which object.
#[derive(Debug, Default)]
struct Layout {
    /// Where a location lies, and its first value.
    locations: FxHashMap<LocationId, (Bytes, u64)>,
    /// How often each byte of a granule that was accessed has been given back.
    generations: BTreeMap<u64, [u32; GRANULE as usize]>,
}

/// Locations whose bytes are not told are apart from all memory.
const UNPLACED: u64 = 1 << 63;

impl Layout {
    /// What an operation accesses; births and deaths take effect.
    fn access(&mut self, operation: &Operation) -> Option<Access> {
        let atomic = |layout: &mut Self, location: LocationId, reads, writes, always_writes| {
            let unplaced = Bytes {
                address: UNPLACED + GRANULE * u64::from(location.0),
                size: GRANULE,
            };
            let bytes = layout
                .locations
                .get(&location)
                .map_or(unplaced, |place| place.0);
            Some(Access {
                spans: layout.spans(bytes),
                reads,
                writes,
                always_writes,
                atomic: true,
            })
        };
        match *operation {
            Operation::Load { location, .. } => atomic(self, location, true, false, false),
            Operation::Store { location, .. } => atomic(self, location, false, true, true),
            Operation::Rmw { location, .. } => atomic(self, location, true, true, true),
            Operation::CompareExchange {
                location, outcome, ..
            } => atomic(self, location, true, outcome != CasOutcome::Failed, false),
            Operation::Read { bytes } | Operation::Write { bytes } => {
                let writes = matches!(operation, Operation::Write { .. });
                Some(Access {
                    spans: self.spans(bytes),
                    reads: !writes,
                    writes,
                    always_writes: writes,
                    atomic: false,
                })
            }
            Operation::Birth {
                location,
                bytes,
                value,
            } => {
                self.locations.insert(location, (bytes, value));
                None
            }
            Operation::Death { bytes } => {
                self.give_back(bytes);
                None
            }
            _ => None,
        }
    }

    fn spans(&mut self, bytes: Bytes) -> SmallVec<[Span; 1]> {
        let mut spans = SmallVec::<[Span; 1]>::new();
        for (granule, mask) in granules(bytes) {
            let generations = self.generations.entry(granule).or_default();
            for byte in (0..GRANULE as usize).filter(|byte| mask >> byte & 1 == 1) {
                let generation = generations[byte];
                match spans.last_mut() {
                    Some(span) if (span.granule, span.generation) == (granule, generation) => {
                        span.mask |= 1 << byte;
                    }
                    _ => spans.push(Span {
                        granule,
                        generation,
                        mask: 1 << byte,
                    }),
                }
            }
        }
        spans
    }

    fn give_back(&mut self, bytes: Bytes) {
        if bytes.size == 0 {
            return;
        }
        let last = bytes.address.saturating_add(bytes.size - 1);
        let known = self
            .generations
            .range_mut(bytes.address / GRANULE..=last / GRANULE);
        for (&granule, generations) in known {
            for (offset, generation) in (0..).zip(generations) {
                let byte = granule * GRANULE + offset;
                *generation += u32::from((bytes.address..=last).contains(&byte));
            }
        }
    }
}

/// The granules of a range, with the bytes of each that lie in it.
fn granules(bytes: Bytes) -> impl Iterator<Item = (u64, u8)> {
    let end = bytes.address.saturating_add(bytes.size);
    let first = bytes.address / GRANULE;
    let granules = match bytes.size {
        0 => first..first,
        _ => first..(end - 1) / GRANULE + 1,
    };
    granules.map(move |granule| {
        let mask = (0..GRANULE)
            .filter(|offset| (bytes.address..end).contains(&(granule * GRANULE + offset)))
            .fold(0, |mask, offset| mask | 1 << offset);
        (granule, mask)
    })
}
