//! What the threads of a run did that other threads could notice: what they wrote and
//! who wrote each object when, but not what they read, how often they looked and what
//! only they themselves look at.
//!
//! If a run with a stale value has the effects of a run without one, and printed the
//! same, then nobody but the thread that took the value can tell them apart, and what it
//! did with the value came to nothing. A position of a ring that is remembered until the
//! ring looks full is such a value: it is read again earlier or later.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use wmfix_analysis::{Bytes, Event, LocationId, Operation, ThreadId};

use super::access::{Access, written};
use super::conduct::{Moment, is_only_read};
use super::later_readers::{GRANULE, LaterReaders, MOST_BYTES, granules};
use super::noise::Noise;
use super::unseen::UnseenWrites;
use crate::observe::DecodedTrace;

/// What the processes of a run did that could be noticed.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    processes: BTreeMap<u64, ProcessEffects>,
    /// Something that was stored is not known, or the access does more than read.
    is_incomparable: bool,
    /// The run was ended: there may be more than this.
    pub(super) may_go_on: bool,
}

impl Effects {
    /// Adds a process, with the writes of it that nobody else sees, and when it made the
    /// access that took an old write or would have.
    pub(super) fn add(
        &mut self,
        decoded: &DecodedTrace,
        moment: Option<Moment>,
        unseen: &UnseenWrites,
    ) {
        let here = moment.filter(|moment| moment.process == decoded.process);
        if let Some(moment) = here {
            let access = decoded.events.get(moment.at);
            self.is_incomparable |= !access.is_some_and(is_only_read);
        }
        let bytes_of = |location| decoded.bytes_of(location);
        match ProcessEffects::of(&decoded.events, &digests(decoded), unseen, bytes_of) {
            Some(effects) => {
                let before = self.processes.insert(decoded.process, effects);
                self.is_incomparable |= before.is_some();
            }
            None => self.is_incomparable = true,
        }
    }

    /// Whether the processes of the other run had the same effects but for noise, as far as
    /// both went.
    pub(super) fn are_same(&self, other: &Self, noise: &Noise) -> bool {
        let is_comparable = !self.is_incomparable && !other.is_incomparable;
        let names = |effects: &Self| effects.processes.keys().copied().collect::<Vec<_>>();
        let mut pairs = self.processes.values().zip(other.processes.values());
        is_comparable
            && !self.processes.is_empty()
            && names(self) == names(other)
            && self.may_go_on == other.may_go_on
            && pairs.all(|(one, other)| one.are_same(other, self.may_go_on, noise))
    }

    /// The addresses to which a run with effects that are the same but for values wrote
    /// other ones.
    pub(super) fn different_values(&self, other: &Self) -> BTreeSet<u64> {
        let pairs = self.processes.values().zip(other.processes.values());
        let mut addresses = BTreeSet::new();
        for (one, other) in pairs {
            let differ = |(address, effects): &(&u64, &Vec<Effect>)| {
                let others = other.memory.get(address).map_or(&[][..], Vec::as_slice);
                let pairs = effects.iter().zip(others);
                pairs
                    .into_iter()
                    .any(|(one, other)| one.digest != other.digest)
            };
            addresses.extend(
                one.memory
                    .iter()
                    .filter(differ)
                    .map(|(address, _)| *address),
            );
        }
        addresses
    }
}

/// What a process did that could be noticed: by thread, and by the memory that was
/// written.
#[derive(Clone, Debug, Default)]
struct ProcessEffects {
    threads: BTreeMap<ThreadId, Vec<Effect>>,
    memory: BTreeMap<u64, Vec<Effect>>,
}

/// Something that could be noticed.
#[derive(Clone, Copy, Debug)]
struct Effect {
    /// Equal for equal ones.
    digest: u64,
    /// Equal for those that differ in nothing but what was written there.
    outline: Option<(u64, u64)>,
    /// It was not noticed in its run: whether it was there at all makes no difference.
    is_unseen: bool,
}

impl Effect {
    fn is_same(&self, other: &Self, noise: &Noise) -> bool {
        let is_noise = |outline: (u64, u64)| noise.has_address(outline.0);
        self.digest == other.digest
            || self.outline == other.outline && self.outline.is_some_and(is_noise)
    }
}

impl ProcessEffects {
    fn are_same(&self, other: &Self, may_go_on: bool, noise: &Noise) -> bool {
        are_same_by_key(&self.threads, &other.threads, may_go_on, noise)
            && are_same_by_key(&self.memory, &other.memory, may_go_on, noise)
    }
}

fn are_same_by_key<K: Ord + Copy>(
    one: &BTreeMap<K, Vec<Effect>>,
    other: &BTreeMap<K, Vec<Effect>>,
    may_go_on: bool,
    noise: &Noise,
) -> bool {
    let keys: BTreeSet<K> = one.keys().chain(other.keys()).copied().collect();
    keys.iter().all(|key| {
        let [one, other] = [one, other].map(|all| all.get(key).map_or(&[][..], Vec::as_slice));
        are_same_in_turn(one, other, may_go_on, noise)
            || are_same_if_noticed(one, other, may_go_on, noise)
    })
}

/// Whether the two differ in nothing but what was not noticed.
fn are_same_in_turn(one: &[Effect], other: &[Effect], may_go_on: bool, noise: &Noise) -> bool {
    let (mut one, mut other) = (one, other);
    loop {
        match (one.split_first(), other.split_first()) {
            (None, None) => return true,
            (None, _) | (_, None) if may_go_on => return true,
            (Some((a, rest)), Some((b, other_rest))) if a.is_same(b, noise) => {
                (one, other) = (rest, other_rest);
            }
            (Some((effect, rest)), _) if effect.is_unseen => one = rest,
            (_, Some((effect, rest))) if effect.is_unseen => other = rest,
            _ => return false,
        }
    }
}

/// Whether the two are the same without what was not noticed. Going through them in turn
/// takes the first of equal ones for the same, and that may be one that was not noticed
/// where a later one was: a flag that is set and cleared once more.
fn are_same_if_noticed(one: &[Effect], other: &[Effect], may_go_on: bool, noise: &Noise) -> bool {
    let noticed = |effect: &&Effect| !effect.is_unseen;
    let [mut one, mut other] = [one, other].map(|all| all.iter().filter(noticed));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (None, _) | (_, None) => return may_go_on,
            (Some(one), Some(other)) if one.is_same(other, noise) => {}
            _ => return false,
        }
    }
}

/// What plain writes stored, by the number of the event, as far as it is known.
fn digests(decoded: &DecodedTrace) -> HashMap<usize, u64> {
    let mut digests = HashMap::new();
    let mut last_writes: HashMap<ThreadId, usize> = HashMap::new();
    let mut events = decoded.events.iter().enumerate().peekable();
    for stored in &decoded.stored {
        while let Some((index, event)) = events.next_if(|(at, _)| *at < stored.events_before) {
            if matches!(event.operation, Operation::Write { .. }) {
                last_writes.insert(event.thread, index);
            }
        }
        if let (Some(digest), Some(write)) = (stored.digest, last_writes.get(&stored.thread)) {
            digests.insert(*write, digest);
        }
    }
    digests
}

impl ProcessEffects {
    /// What these events are; `None` if something that others read is not known.
    fn of(
        events: &[Event],
        digests: &HashMap<usize, u64>,
        unseen: &UnseenWrites,
        bytes_of: impl Fn(LocationId) -> Option<Bytes>,
    ) -> Option<Self> {
        let noticed = noticed(events);
        let mut effects = Self::default();
        for (index, event) in events.iter().enumerate() {
            let written = match event.operation {
                Operation::Write { bytes } if noticed.contains(&index) => {
                    (bytes, Some(*digests.get(&index)?))
                }
                Operation::Death { bytes } if noticed.contains(&index) => (bytes, None),
                Operation::Birth { bytes, value, .. } if noticed.contains(&index) => {
                    (bytes, Some(value))
                }
                Operation::Create { .. } | Operation::Exit | Operation::Release { .. } => {
                    effects.add(event.thread, &event.operation, None, false);
                    continue;
                }
                operation => match written(&operation) {
                    Some((location, value)) => (bytes_of(location)?, Some(value)),
                    None => continue,
                },
            };
            let outline = written.1.map(|_| (written.0.address, digest(&written.0)));
            let effect = effects.add(event.thread, &written, outline, unseen.contains(index));
            let by_address = effects.memory.entry(written.0.address).or_default();
            by_address.push(Effect {
                digest: digest(&(event.thread, effect.digest)),
                outline: outline.map(|(at, rest)| (at, digest(&(event.thread, rest)))),
                ..effect
            });
        }
        Some(effects)
    }

    fn add(
        &mut self,
        thread: ThreadId,
        what: &impl Hash,
        outline: Option<(u64, u64)>,
        is_unseen: bool,
    ) -> Effect {
        let effect = Effect {
            digest: digest(what),
            outline,
            is_unseen,
        };
        self.threads.entry(thread).or_default().push(effect);
        effect
    }
}

fn digest(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The plain writes that other threads read later, the objects made that others access,
/// and the memory given back that others have accessed.
fn noticed(events: &[Event]) -> HashSet<usize> {
    let mut noticed = HashSet::new();
    let mut readers = LaterReaders::default();
    let mut objects: HashMap<LocationId, ThreadId> = HashMap::new();
    let mut shared: HashSet<LocationId> = HashSet::new();
    for (index, event) in events.iter().enumerate().rev() {
        let thread = event.thread;
        match event.operation {
            Operation::Read { bytes } => readers.add(bytes, thread),
            Operation::Write { bytes } if readers.has_other(bytes, thread) => {
                noticed.insert(index);
            }
            Operation::Birth { location, .. } => {
                let is_others = objects.get(&location).is_some_and(|&user| user != thread);
                if is_others || shared.contains(&location) {
                    noticed.insert(index);
                }
            }
            Operation::Death { bytes } => readers.forget(bytes),
            operation => {
                if let Some(access) = Access::of(&operation) {
                    let user = *objects.entry(access.location()).or_insert(thread);
                    if user != thread {
                        shared.insert(access.location());
                    }
                }
            }
        }
    }
    noticed.extend(shared_deaths(events));
    noticed
}

/// The events that give memory back which other threads have accessed.
fn shared_deaths(events: &[Event]) -> HashSet<usize> {
    let mut users: BTreeMap<u64, Option<ThreadId>> = BTreeMap::new();
    // More was accessed at once than is looked at piece by piece.
    let mut of_much = false;
    let mut deaths = HashSet::new();
    for (index, event) in events.iter().enumerate() {
        let thread = event.thread;
        match event.operation {
            Operation::Death { bytes } => {
                // Much may be given back: a stack.
                let last = bytes.address.saturating_add(bytes.size.saturating_sub(1));
                let within = users.range(bytes.address / GRANULE..=last / GRANULE);
                let within: Vec<u64> = within.map(|(&granule, _)| granule).collect();
                let users = within.iter().map(|granule| users.remove(granule));
                let others = users.flatten().filter(|user| *user != Some(thread));
                if others.count() > 0 || of_much {
                    deaths.insert(index);
                }
            }
            Operation::Read { bytes }
            | Operation::Write { bytes }
            | Operation::Birth { bytes, .. } => {
                of_much |= bytes.size > MOST_BYTES;
                for granule in granules(bytes).take(MOST_BYTES as usize) {
                    let user = users.entry(granule).or_insert(Some(thread));
                    *user = user.filter(|user| *user == thread);
                }
            }
            _ => {}
        }
    }
    deaths
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::{LockId, LockMode};

    use super::*;
    use crate::harm::sample_events::{event, load, store};

    const RING: u32 = 0;
    const OTHER: u32 = 1;
    const DATA: Bytes = Bytes {
        address: 640,
        size: 8,
    };

    fn write(thread: u32) -> Event {
        event(thread, Operation::Write { bytes: DATA })
    }

    fn read(thread: u32) -> Event {
        event(thread, Operation::Read { bytes: DATA })
    }

    fn of(events: &[Event], digests: &[(usize, u64)]) -> Option<ProcessEffects> {
        let apart = |location: LocationId| {
            let address = 8 * u64::from(location.0);
            Some(Bytes { address, size: 8 })
        };
        let digests = digests.iter().copied().collect();
        ProcessEffects::of(events, &digests, &UnseenWrites::of(events, apart), apart)
    }

    fn are_same(one: Option<ProcessEffects>, other: Option<ProcessEffects>) -> bool {
        one.unwrap()
            .are_same(&other.unwrap(), false, &Noise::default())
    }

    #[test]
    fn a_flag_that_only_its_thread_looks_at_may_be_set_once_more() {
        let guarded = |times: usize| -> Vec<Event> {
            let once = [
                load(1, OTHER, 0),
                store(1, OTHER, 1),
                load(1, RING, 7),
                store(1, OTHER, 0),
            ];
            let rounds = std::iter::repeat_n(once, times).flatten();
            [store(0, RING, 7)].into_iter().chain(rounds).collect()
        };
        assert!(are_same(of(&guarded(2), &[]), of(&guarded(3), &[])));
        // Another thread that looks in between sees that it was set.
        let mut seen = guarded(3);
        seen.insert(7, load(0, OTHER, 1));
        assert!(!are_same(of(&guarded(2), &[]), of(&seen, &[])));
    }

    #[test]
    fn values_that_differ_anyway_may_differ() {
        let run = |clock: u64, count: u64| {
            let events = [
                store(1, RING, clock),
                store(1, OTHER, count),
                load(2, RING, 1),
            ];
            of(&events, &[]).unwrap()
        };
        let whole = |one: ProcessEffects| Effects {
            processes: BTreeMap::from([(1, one)]),
            ..Effects::default()
        };
        let [one, again] = [whole(run(5, 1)), whole(run(6, 1))];
        let noise = Noise::Of {
            addresses: one.different_values(&again),
            words: BTreeSet::new(),
        };
        assert!(!one.are_same(&again, &Noise::default()));
        assert!(one.are_same(&whole(run(7, 1)), &noise));
        assert!(!one.are_same(&whole(run(7, 2)), &noise), "no noise");
        let fewer = of(&[store(1, OTHER, 1)], &[]).unwrap();
        assert!(!one.are_same(&whole(fewer), &Noise::AllValues));
    }

    #[test]
    fn what_is_read_and_how_often_is_no_effect() {
        let one = [store(1, RING, 1), load(2, RING, 1), store(2, OTHER, 5)];
        let looks_again = [
            load(2, RING, 0),
            store(1, RING, 1),
            load(2, RING, 0),
            load(2, RING, 1),
            store(2, OTHER, 5),
        ];
        assert!(are_same(of(&one, &[]), of(&looks_again, &[])));
        let tells = [store(1, RING, 1), load(2, RING, 0), store(2, OTHER, 4)];
        assert!(!are_same(of(&one, &[]), of(&tells, &[])));
    }

    #[test]
    fn runs_that_were_ended_are_compared_as_far_as_both_went() {
        let seen = |value| [store(1, RING, value), load(2, RING, value)];
        let [short, long, other] = [
            seen(1).to_vec(),
            [seen(1), seen(2)].concat(),
            [seen(3), seen(2)].concat(),
        ]
        .map(|events| of(&events, &[]).unwrap());
        assert!(!short.are_same(&long, false, &Noise::default()));
        assert!(short.are_same(&long, true, &Noise::default()));
        assert!(!other.are_same(&long, true, &Noise::default()));
    }

    #[test]
    fn who_writes_an_object_when_is_an_effect() {
        let one = [store(1, RING, 1), store(2, RING, 2)];
        let other = [store(2, RING, 2), store(1, RING, 1)];
        assert!(!are_same(of(&one, &[]), of(&other, &[])));
        // In different objects it is not.
        let one = [store(1, RING, 1), store(2, OTHER, 2)];
        let other = [store(2, OTHER, 2), store(1, RING, 1)];
        assert!(are_same(of(&one, &[]), of(&other, &[])));
    }

    #[test]
    fn what_nobody_sees_may_be_there_or_not() {
        let once = [store(1, RING, 2), load(2, RING, 2)];
        let twice = [store(1, RING, 1), store(1, RING, 2), load(2, RING, 2)];
        assert!(are_same(of(&once, &[]), of(&twice, &[])));
        // Where it is in both, it may be seen in one.
        let seen = [
            store(1, RING, 1),
            load(2, RING, 1),
            store(1, RING, 2),
            load(2, RING, 2),
        ];
        assert!(are_same(of(&twice, &[]), of(&seen, &[])));
        assert!(!are_same(of(&once, &[]), of(&seen, &[])));
    }

    #[test]
    fn plain_memory_is_an_effect_if_others_read_it() {
        let handed_over = [write(1), read(2)];
        assert!(!are_same(
            of(&handed_over, &[(0, 7)]),
            of(&handed_over, &[(0, 8)])
        ));
        assert!(of(&handed_over, &[]).is_none());
        let own = [write(1), read(1)];
        assert!(are_same(of(&own, &[(0, 7)]), of(&[], &[])));
        let twice = [write(1), write(1), read(1)];
        assert!(are_same(of(&own, &[(0, 7)]), of(&twice, &[(0, 7), (1, 9)])));
    }

    #[test]
    fn memory_that_others_have_used_is_given_back_for_all_to_see() {
        let free = event(1, Operation::Death { bytes: DATA });
        assert!(are_same(of(&[write(1), free], &[]), of(&[], &[])));
        assert!(!are_same(of(&[read(2), free], &[]), of(&[read(2)], &[])));
    }

    #[test]
    fn locks_that_are_given_back_and_threads_that_start_and_end_are_effects() {
        let unlock = Operation::Release {
            lock: LockId(1),
            mode: LockMode::Exclusive,
        };
        let create = Operation::Create { child: ThreadId(2) };
        for effect in [unlock, create, Operation::Exit] {
            assert!(!are_same(of(&[event(1, effect)], &[]), of(&[], &[])));
        }
    }
}
