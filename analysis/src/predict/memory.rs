//! Who wrote a byte last, and the accesses that a later one might race with.
//! Memory is kept in granules of eight bytes; an access is remembered under the
//! exact bytes of the granule that it touches.

use alloc::collections::VecDeque;
use alloc::rc::Rc;

use smallvec::SmallVec;

use super::PredictorConfig;
use super::cut::Cut;
use super::threads::Stretch;
use crate::event::{Bytes, LocationId, SiteId};
use crate::hash::FxHashMap;
use crate::violation::EventIndex;

const GRANULE: u64 = 8;

/// A longer access counts as one of its first bytes.
const LONGEST_RANGE: u64 = 1 << 16;

/// Locations whose bytes are not known are put here, apart from all memory.
const UNPLACED: u64 = 1 << 63;

/// What an access does that matters to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessClass(u8);

impl AccessClass {
    pub(super) fn new(writes: bool, atomic: bool) -> Self {
        Self(u8::from(writes) | u8::from(atomic) << 1)
    }

    pub(super) fn writes(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn atomic(self) -> bool {
        self.0 & 2 == 2
    }

    /// Whether two accesses to the same bytes by different threads can race.
    fn conflicts(self, other: Self) -> bool {
        (self.writes() || other.writes()) && !(self.atomic() && other.atomic())
    }
}

/// All memory.
#[derive(Debug)]
pub(super) struct Memory {
    granules: FxHashMap<u64, Granule>,
    locations: FxHashMap<LocationId, Place>,
    per_variable: usize,
    /// Entries in all lists.
    remembered: usize,
    /// Entries at which to look for what can be forgotten.
    limit: usize,
    /// Events that every thread needs, as of some time ago.
    pub(super) known_to_all: Cut,
}

/// Where an atomic location lies, and its first value.
#[derive(Clone, Copy, Debug)]
struct Place {
    bytes: Bytes,
    initial: u64,
}

#[derive(Debug, Default)]
pub(super) struct Granule {
    /// The last writer of each byte that was written.
    writers: SmallVec<[(u8, Writer); 1]>,
    pub(super) lists: SmallVec<[AccessList; 1]>,
}

#[derive(Clone, Debug)]
struct Writer {
    thread: usize,
    /// The thread's events up to the write.
    at: u32,
    stretch: Rc<Stretch>,
    /// What an atomic write wrote.
    value: Option<u64>,
}

/// The accesses of one thread and class to the same bytes, oldest first.
#[derive(Debug)]
pub(super) struct AccessList {
    pub(super) thread: usize,
    pub(super) class: AccessClass,
    pub(super) mask: u8,
    pub(super) entries: VecDeque<Entry>,
    /// How many entries have been forgotten.
    pub(super) forgotten: u32,
    /// By thread: entries that can no longer race with its accesses.
    pub(super) done: SmallVec<[u32; 2]>,
}

/// An access.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The thread's events before it.
    pub(super) before: u32,
    pub(super) site: SiteId,
    pub(super) event: EventIndex,
    pub(super) stretch: Rc<Stretch>,
}

impl AccessList {
    /// Whether an access to these bytes of the granule can race with those here.
    pub(super) fn conflicts(&self, thread: usize, mask: u8, class: AccessClass) -> bool {
        self.thread != thread && self.mask & mask != 0 && self.class.conflicts(class)
    }

    /// Adds an access; those before `known` are not needed any more. How many
    /// more there are now.
    fn push(&mut self, entry: Entry, known: u32, most: usize) -> isize {
        let before = self.entries.len() as isize;
        while self
            .entries
            .front()
            .is_some_and(|first| first.before < known)
        {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        if let Some(last) = self.entries.back_mut()
            && Rc::ptr_eq(&last.stretch, &entry.stretch)
            && last.site == entry.site
        {
            // Of two accesses of a stretch, the later one needs no more and
            // stays out of more.
            *last = entry;
        } else {
            self.entries.push_back(entry);
        }
        if self.entries.len() > most {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        self.entries.len() as isize - before
    }
}

impl Memory {
    pub(super) fn new(config: PredictorConfig) -> Self {
        Self {
            granules: FxHashMap::default(),
            locations: FxHashMap::default(),
            per_variable: config.accesses_per_variable,
            remembered: 0,
            limit: config.accesses,
            known_to_all: Cut::default(),
        }
    }

    pub(super) fn remembered(&self) -> usize {
        self.remembered
    }

    /// How many words of memory anything is known of.
    pub(super) fn words(&self) -> usize {
        self.granules.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.remembered >= self.limit
    }

    /// The bytes of a location, or ones that stand for them.
    pub(super) fn bytes_of(&self, location: LocationId) -> Bytes {
        match self.locations.get(&location) {
            Some(place) => place.bytes,
            None => Bytes {
                address: UNPLACED + GRANULE * u64::from(location.0),
                size: GRANULE,
            },
        }
    }

    /// An atomic object begins.
    pub(super) fn birth(&mut self, location: LocationId, bytes: Bytes, value: u64) {
        let place = Place {
            bytes,
            initial: value,
        };
        self.locations.insert(location, place);
    }

    /// Memory is given back: what lies there later is something else.
    pub(super) fn death(&mut self, bytes: Bytes) {
        if bytes.size == 0 {
            return;
        }
        let (first, last) = (bytes.address / GRANULE, last_byte(bytes) / GRANULE);
        let mut forgotten = 0;
        let mut wipe = |number: u64, granule: &mut Granule| {
            let mask = mask_within(number, bytes);
            granule.writers.retain(|(bytes, _)| {
                *bytes &= !mask;
                *bytes != 0
            });
            granule.lists.retain(|list| {
                list.mask &= !mask;
                if list.mask == 0 {
                    forgotten += list.entries.len();
                }
                list.mask != 0
            });
            !granule.lists.is_empty() || !granule.writers.is_empty()
        };
        if last - first > self.granules.len() as u64 {
            self.granules.retain(|&number, granule| {
                !(first..=last).contains(&number) || wipe(number, granule)
            });
        } else {
            for number in first..=last {
                if let Some(granule) = self.granules.get_mut(&number)
                    && !wipe(number, granule)
                {
                    self.granules.remove(&number);
                }
            }
        }
        self.remembered -= forgotten;
    }

    /// Whether the location holds the value for all that is known of it.
    pub(super) fn explains(&self, location: LocationId, bytes: Bytes, value: u64) -> bool {
        let mut only: Option<&Writer> = None;
        for (number, mask) in granules(bytes) {
            let Some(granule) = self.granules.get(&number) else {
                continue;
            };
            for (theirs, writer) in &granule.writers {
                if theirs & mask == 0 {
                    continue;
                }
                let same = |other: &Writer| (other.thread, other.at) == (writer.thread, writer.at);
                if theirs & mask != mask || only.is_some_and(|other| !same(other)) {
                    // Written in parts: what came of it is not known.
                    return true;
                }
                only = Some(writer);
            }
        }
        let known = match only {
            Some(writer) => writer.value,
            None => Some(
                self.locations
                    .get(&location)
                    .map_or(0, |place| place.initial),
            ),
        };
        known.is_none_or(|known| known == value)
    }

    /// The last writers of these bytes that a cut lacks.
    pub(super) fn writers(
        &self,
        bytes: Bytes,
        known: &Cut,
    ) -> SmallVec<[(usize, u32, Rc<Stretch>); 1]> {
        let mut unknown = SmallVec::new();
        for (number, mask) in granules(bytes) {
            let Some(granule) = self.granules.get(&number) else {
                continue;
            };
            for (theirs, writer) in &granule.writers {
                if theirs & mask != 0 && known.get(writer.thread).events() < writer.at {
                    unknown.push((writer.thread, writer.at, Rc::clone(&writer.stretch)));
                }
            }
        }
        unknown
    }

    /// A thread has written these bytes with its event number `at`.
    pub(super) fn write(
        &mut self,
        thread: usize,
        at: u32,
        bytes: Bytes,
        stretch: &Rc<Stretch>,
        value: Option<u64>,
    ) {
        for (number, mask) in granules(bytes) {
            let granule = self.granules.entry(number).or_default();
            let writer = Writer {
                thread,
                at,
                stretch: Rc::clone(stretch),
                value,
            };
            if let [(only, last)] = granule.writers.as_mut_slice()
                && *only & !mask == 0
            {
                *only = mask;
                *last = writer;
                continue;
            }
            granule.writers.retain(|(bytes, _)| {
                *bytes &= !mask;
                *bytes != 0
            });
            granule.writers.push((mask, writer));
        }
    }

    /// The lists of a granule.
    pub(super) fn lists_mut(&mut self, number: u64) -> Option<&mut [AccessList]> {
        Some(self.granules.get_mut(&number)?.lists.as_mut_slice())
    }

    /// A later access might race with this one.
    #[expect(clippy::too_many_arguments, reason = "an access has as many sides")]
    pub(super) fn remember(
        &mut self,
        thread: usize,
        before: u32,
        event: EventIndex,
        site: SiteId,
        bytes: Bytes,
        class: AccessClass,
        stretch: &Rc<Stretch>,
    ) {
        let known = self.known_to_all.get(thread).events();
        for (number, mask) in granules(bytes) {
            let granule = self.granules.entry(number).or_default();
            let lists = &mut granule.lists;
            let found = lists
                .iter()
                .position(|list| (list.thread, list.class, list.mask) == (thread, class, mask));
            let at = found.unwrap_or_else(|| {
                lists.push(AccessList {
                    thread,
                    class,
                    mask,
                    entries: VecDeque::new(),
                    forgotten: 0,
                    done: SmallVec::new(),
                });
                lists.len() - 1
            });
            let entry = Entry {
                before,
                site,
                event,
                stretch: Rc::clone(stretch),
            };
            let more = lists[at].push(entry, known, self.per_variable);
            self.remembered = self.remembered.saturating_add_signed(more);
        }
    }

    /// Forgets the accesses that every other thread needs: none of them can be
    /// the last of its thread any more.
    pub(super) fn forget(&mut self, known: &Cut) {
        let mut left = 0;
        for granule in self.granules.values_mut() {
            granule.lists.retain(|list| {
                let events = known.get(list.thread).events();
                let dead = list.entries.partition_point(|entry| entry.before < events);
                list.entries.drain(..dead);
                list.forgotten += dead as u32;
                left += list.entries.len();
                !list.entries.is_empty()
            });
        }
        self.remembered = left;
        // Where threads never meet nothing can be forgotten: look less often.
        self.limit = self.limit.max(2 * left);
    }
}

/// The granules of a range, with the bytes of each that lie in it.
pub(super) fn granules(bytes: Bytes) -> impl Iterator<Item = (u64, u8)> {
    let bytes = Bytes {
        size: bytes.size.min(LONGEST_RANGE),
        ..bytes
    };
    let first = bytes.address / GRANULE;
    let end = match bytes.size {
        0 => first,
        _ => last_byte(bytes) / GRANULE + 1,
    };
    (first..end).map(move |granule| (granule, mask_within(granule, bytes)))
}

/// The bytes of a granule that a mask selects: the first run of them.
pub(super) fn selected(granule: u64, mask: u8) -> Bytes {
    let offset = u64::from(mask.trailing_zeros());
    Bytes {
        address: granule * GRANULE + offset,
        size: u64::from((mask >> offset).trailing_ones()),
    }
}

fn last_byte(bytes: Bytes) -> u64 {
    bytes.address.saturating_add(bytes.size - 1)
}

fn mask_within(granule: u64, bytes: Bytes) -> u8 {
    let start = granule * GRANULE;
    let first = bytes.address.saturating_sub(start).min(GRANULE);
    let last = last_byte(bytes).saturating_sub(start).min(GRANULE - 1);
    if first > last {
        return 0;
    }
    (0xffu16 << first) as u8 & (0xffu16 >> (GRANULE - 1 - last)) as u8
}
