//! What one run showed: its traces decoded and analysed.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, RwLock};

use anyhow::Context;
use wmfix_analysis::predict::{PredictedRace, Predictor, PredictorConfig};
use wmfix_analysis::reordering::{Defect, Meeting, RaceWitness, prove_races};
use wmfix_analysis::witness::{Proof, ProofError, Refutation, prove};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, FoundRace, Model, Operation, Race,
    ReleaseSequences, SiteId, StreamError, ThreadId, Violation, ViolationKind, joins_ahead,
};
use wmfix_online::is_plain;
use wmfix_trace::{GiveUp, HeaderError, Limit};

use super::allocation::{BlockFinder, Pointer};
use super::carrier::{Carrier, carrier};
use super::failure::RunFailure;
use super::memory::{NoMemory, TraceMemory};
use super::names::FindingKey;
use super::prediction::{Prediction, RaceOrigin};
use super::private_accesses::without_private_accesses;
use super::process_end::{EndCause, ProcessEnd};
use super::story::{self, StoryStep};
use crate::observe::{
    Adherence, AllocationPlace, CheckedRun, DecodedTrace, EventKind, ExploredRun, Place, Places,
    decode, explored, planned_schedule,
};
use crate::options::ReadLimits;
use crate::run::{FinishedRun, RunEnd};

/// What tells violations apart: the access, the newer write (none: the first
/// value), and what could go stale. Who calls a function that is nothing but the
/// operation makes no difference: the cause is the same.
pub(crate) type ViolationKey = (SiteId, Option<SiteId>, ViolationKind);

/// What tells races apart.
pub(crate) type RaceKey = (SiteId, SiteId);

/// Findings of earlier runs: their details are not computed again.
#[derive(Debug, Default)]
pub(crate) struct KnownFindings {
    /// Violations.
    pub violations: RwLock<HashSet<ViolationKey>>,
    /// Races that were seen.
    pub races: RwLock<HashSet<RaceKey>>,
    /// Races that were predicted.
    pub predicted: RwLock<HashSet<RaceKey>>,
}

impl KnownFindings {
    /// A race was seen.
    pub(crate) fn add_seen(&self, key: RaceKey) {
        let mut races = self.races.write().expect("no panic while locked");
        races.insert(key);
    }

    /// A race was predicted.
    pub(crate) fn add_predicted(&self, key: RaceKey) {
        let mut races = self.predicted.write().expect("no panic while locked");
        races.insert(key);
    }
}

/// One run.
#[derive(Debug)]
pub(crate) struct Observation {
    /// How the command ended.
    pub ended: RunEnd,
    /// Violations, and the details of those that were not known.
    pub violations: Vec<(ViolationKey, Option<ViolationInstance>)>,
    /// Races, and the details of those that were not known.
    pub races: Vec<(RaceKey, Option<RaceInstance>)>,
    /// Races that were predicted and not known, with their details.
    pub predicted: Vec<(RaceKey, RaceInstance)>,
    /// Violations that the independent checker did not confirm.
    pub unconfirmed: Vec<(ViolationKey, ViolationInstance)>,
    /// What a library does with objects of its own.
    pub of_libraries: BTreeSet<FindingKey>,
    /// Atomic sites that were executed.
    pub reached: BTreeSet<SiteId>,
    /// How many events there were, but for plain ones.
    pub events: u64,
    /// Plain accesses that were looked at, and ends of memory.
    pub plain_events: u64,
    /// Equal for equal schedules.
    pub schedule: u64,
    /// How its processes ended that did not exit by themselves.
    pub ends: Vec<ProcessEnd>,
    /// How its processes failed.
    pub failures: Vec<RunFailure>,
    /// How many processes left a trace.
    pub processes: usize,
    /// A process had more than one thread.
    pub concurrent: bool,
    /// What was wrong with its traces.
    pub problems: Vec<TraceProblem>,
    /// The end of what the program printed, if it did not end well.
    pub failed_output: Option<String>,
    /// Equal for runs that printed the same.
    pub printed: u64,
    /// What each process did; nothing of those that were checked as they ran.
    pub traces: Vec<Vec<Event>>,
    /// The same as steps, of a run of an exploration.
    pub explored: Vec<ExploredRun>,
    /// Why a run that was checked as it ran has to be made again, recorded.
    pub needs_record: Option<RecordNeed>,
    /// It was checked as it ran, and did something of which it had to know what the
    /// text says, and did not.
    pub lacks_text: bool,
}

/// Why a run that was checked as it ran has to be made again, recorded. If there
/// are several reasons, the last of them is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordNeed {
    /// A signal killed it.
    Failure,
    /// It has a finding that is new.
    Finding,
    /// It could not be checked to its end.
    GaveUp(GiveUp),
}

/// A trace that tells nothing, or less than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceProblem {
    /// It cannot be read.
    Unreadable(HeaderError),
    /// Its events cannot have happened in this order.
    Contradictory(StreamError),
    /// A race in it has no order of events that shows it, and is not reported.
    UnprovedRace(Defect),
    /// A thread spun on a volatile object, which was taken for a plain one.
    VolatileSpin,
    /// The program does something that is not modelled to the end.
    Limit(Limit),
    /// It has more threads than prediction can follow.
    TooManyThreads,
    /// The program announced happens-before, at least so many times, and was not
    /// believed.
    IgnoredAnnotations(u64),
    /// The run could not be checked while it went on, and was recorded instead.
    NotChecked(GiveUp),
    /// A run was checked while it went on, and showed something that was not there
    /// when it was made again to be recorded.
    NotRepeated,
    /// A run was checked while it went on, and showed something that its recording,
    /// which is cut short or missing, does not have.
    NotRecorded,
    /// A run was checked while it went on, and showed something that was not there
    /// when its recording was analysed.
    NotConfirmed,
}

/// Why a violation is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It rests on more events than the checker decides about.
    TooLarge,
    /// The checker does not agree.
    Refuted,
}

impl Doubt {
    fn of(error: &ProofError) -> Self {
        match error {
            ProofError::Refuted(Refutation::TooLarge { .. }) => Self::TooLarge,
            _ => Self::Refuted,
        }
    }
}

/// A violation in one run.
#[derive(Clone, Debug)]
pub(crate) struct ViolationInstance {
    /// Who makes the access.
    pub thread: ThreadId,
    /// Who made the newer write.
    pub writer: Option<ThreadId>,
    /// The location's name, if its variable has one.
    pub location: Option<String>,
    /// Where its memory was made, if it lies in a block of its own.
    pub allocated: Option<AllocationPlace>,
    /// What was read.
    pub read_value: Option<u128>,
    /// What could be read, or overwritten too late, instead.
    pub stale_values: Vec<u128>,
    /// What the newer write wrote.
    pub newer_value: Option<u128>,
    /// Those of these values that point into blocks.
    pub pointers: Vec<Pointer>,
    /// The difference cannot be seen in the value.
    pub same_value: bool,
    /// Why an independent checker has not agreed, unless it has.
    pub doubt: Option<Doubt>,
    /// The way there.
    pub steps: Vec<StoryStep>,
    /// The trace of the process that showed it, unless it is very long.
    pub trace: Option<Arc<[u8]>>,
}

/// A race in one run.
#[derive(Clone, Debug)]
pub(crate) struct RaceInstance {
    /// The race.
    pub race: FoundRace,
    /// The variable's name, if it has one.
    pub location: Option<String>,
    /// Where the memory was made, if it is in a block of its own.
    pub allocated: Option<AllocationPlace>,
    /// What should have ordered the two accesses, and is too weak to.
    pub carrier: Option<Carrier>,
    /// How the two accesses meet in the order of events that shows it.
    pub meeting: Meeting,
    /// How it is known.
    pub origin: RaceOrigin,
    /// The trace of the process that showed it, unless it is very long; of a
    /// prediction, the schedule to follow.
    pub trace: Option<Arc<[u8]>>,
}

/// How runs are analysed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservationConfig {
    /// By what.
    pub analyzer: AnalyzerConfig,
    /// Whether races are predicted that the run does not show.
    pub predict: bool,
    /// How much of it is read.
    pub limits: ReadLimits,
}

/// Analyses the traces of a finished run. Once it is `given_up`, what is known by
/// then comes back as that of an interrupted run.
pub(crate) fn observe(
    finished: &FinishedRun,
    places: &Mutex<Places>,
    known: &KnownFindings,
    config: ObservationConfig,
    given_up: &dyn Fn() -> bool,
) -> anyhow::Result<Observation> {
    let mut observation = Observation {
        failed_output: finished.failed_output(),
        printed: fingerprint(&finished.printed()),
        ..Observation::empty(finished.ended)
    };
    // Half a run shows nothing, and its result is not needed any more.
    let whole = finished.ended != RunEnd::Interrupted;
    if finished.is_too_large {
        let end = ProcessEnd::limited(EndCause::AllTracesLimit);
        observation.ends.push(end);
    }
    let sizes = finished.traces.iter();
    let sizes = sizes.map(|path| path.metadata().map_or(0, |meta| meta.len()));
    let size = sizes.fold(0, u64::saturating_add);
    let _memory = match TraceMemory::take(size, config.limits.memory, given_up) {
        Ok(memory) => memory,
        Err(NoMemory::TooLarge) => {
            let end = ProcessEnd::limited(EndCause::MemoryLimit);
            observation.ends.push(end);
            observation.processes = finished.traces.len();
            return Ok(observation);
        }
        Err(NoMemory::GivenUp) => {
            observation.ended = RunEnd::Interrupted;
            return Ok(observation);
        }
    };
    for path in finished.traces.iter().filter(|_| whole) {
        let kept: usize = observation.traces.iter().map(Vec::len).sum();
        if kept as u64 > config.limits.events {
            let end = ProcessEnd::limited(EndCause::TraceLimit);
            observation.ends.push(end);
            break;
        }
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        match decode(&bytes, places) {
            Ok(decoded) => {
                if let Some(checked) = &decoded.checked {
                    observation.checked_process(&decoded, checked, places, known);
                    continue;
                }
                let before = observation.counts();
                observation.process(&decoded, &bytes, places, known, config, given_up);
                if given_up() {
                    observation.ended = RunEnd::Interrupted;
                    break;
                }
                observation.keep_trace(bytes, before);
                observation.explored.extend(explored(&decoded, places));
                let kept = without_private_accesses(decoded.events);
                observation.traces.push(kept);
            }
            Err(error) => observation.problems.push(TraceProblem::Unreadable(error)),
        }
    }
    Ok(observation)
}

impl Observation {
    /// A run that ended in some way, and of which nothing else is known.
    pub(crate) fn empty(ended: RunEnd) -> Self {
        Self {
            ended,
            violations: Vec::new(),
            races: Vec::new(),
            predicted: Vec::new(),
            unconfirmed: Vec::new(),
            of_libraries: BTreeSet::new(),
            reached: BTreeSet::new(),
            events: 0,
            plain_events: 0,
            schedule: 0,
            ends: Vec::new(),
            failures: Vec::new(),
            processes: 0,
            concurrent: false,
            problems: Vec::new(),
            failed_output: None,
            printed: 0,
            traces: Vec::new(),
            explored: Vec::new(),
            needs_record: None,
            lacks_text: false,
        }
    }

    /// Takes the counts of the check of the same run: whether it was recorded as well
    /// depends on which run was looked at first, and a report must not.
    pub(crate) fn count_as(&mut self, checked: &Self) {
        self.events = checked.events;
        self.plain_events = checked.plain_events;
    }

    /// Whether something that the run did was not recorded, or cannot be read; also what
    /// it showed and the same run, made again, did not.
    pub(crate) fn is_incomplete(&self) -> bool {
        let unknown = |problem: &TraceProblem| {
            use TraceProblem::{NotConfirmed, NotRecorded, NotRepeated, Unreadable};
            matches!(
                problem,
                Unreadable(_) | NotRecorded | NotConfirmed | NotRepeated
            )
        };
        self.ended == RunEnd::OutOfTime
            || self.ends.iter().any(|end| end.cause.is_incomplete())
            || self.problems.iter().any(unknown)
    }

    /// Whether the run was ended before its end.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.ended == RunEnd::Interrupted
    }

    /// How many violations, unconfirmed ones and races there are.
    fn counts(&self) -> [usize; 3] {
        [
            self.violations.len(),
            self.unconfirmed.len(),
            self.races.len(),
        ]
    }

    /// Whether it shows every violation and every race that the other does, whether
    /// or not they could be proved.
    pub(crate) fn shows_all_of(&self, other: &Self) -> bool {
        fn keys<K: Copy + Eq + Hash, I>(found: &[(K, I)]) -> HashSet<K> {
            found.iter().map(|(key, _)| *key).collect()
        }
        let mut violations = keys(&self.violations);
        violations.extend(keys(&self.unconfirmed));
        let unproved = |problem: &TraceProblem| matches!(problem, TraceProblem::UnprovedRace(_));
        violations.is_superset(&keys(&other.violations))
            && (keys(&self.races).is_superset(&keys(&other.races))
                || self.problems.iter().any(unproved))
    }

    /// The run by a recording that is cut short, with what its check saw to the end:
    /// how it ended, and how much it did.
    pub(crate) fn goes_on_as(&mut self, checked: Self) {
        self.ends = checked.ends;
        self.failures = checked.failures;
        self.reached.extend(checked.reached);
        self.events = checked.events;
        self.plain_events = checked.plain_events;
        self.schedule = checked.schedule;
        self.concurrent |= checked.concurrent;
    }

    /// Drops findings that are not known and have no details.
    pub(crate) fn drop_unshown(&mut self, known: &KnownFindings) {
        self.violations
            .retain(|(key, details)| details.is_some() || contains(&known.violations, key));
        self.races
            .retain(|(key, details)| details.is_some() || contains(&known.races, key));
    }

    /// Whether it was ended before the program was at its end.
    pub(crate) fn was_ended_early(&self) -> bool {
        let limited = |end: &ProcessEnd| end.cause == EndCause::StepLimit;
        self.ended == RunEnd::OutOfTime || self.ends.iter().any(limited)
    }

    /// Whether its trace had to end before the run did.
    pub(crate) fn is_cut_short(&self) -> bool {
        let limited = |end: &ProcessEnd| {
            matches!(
                end.cause,
                EndCause::NoSpace { .. }
                    | EndCause::TraceLimit
                    | EndCause::AllTracesLimit
                    | EndCause::MemoryLimit
            )
        };
        self.ends.iter().any(limited)
    }

    /// Keeps the trace with what was found new in it, from these numbers on.
    fn keep_trace(&mut self, bytes: Vec<u8>, [violations, unconfirmed, races]: [usize; 3]) {
        /// A longer one is seen again by its seed only.
        const LONGEST: usize = 16 << 20;
        let trace: Arc<[u8]> = match bytes.len() {
            0..=LONGEST => bytes.into(),
            _ => return,
        };
        let instances = self.violations[violations..].iter_mut();
        for instance in instances.filter_map(|(_, instance)| instance.as_mut()) {
            instance.trace = Some(Arc::clone(&trace));
        }
        for (_, instance) in &mut self.unconfirmed[unconfirmed..] {
            instance.trace = Some(Arc::clone(&trace));
        }
        let instances = self.races[races..].iter_mut();
        for instance in instances.filter_map(|(_, instance)| instance.as_mut()) {
            instance.trace = Some(Arc::clone(&trace));
        }
    }

    /// Adds a violation, with its details if it was not known. One that the
    /// independent checker does not confirm is none.
    pub(super) fn add_violation(&mut self, key: ViolationKey, instance: Option<ViolationInstance>) {
        match instance {
            Some(instance) if instance.doubt.is_some() => self.unconfirmed.push((key, instance)),
            instance => self.violations.push((key, instance)),
        }
    }

    /// Adds what a process showed that was checked as it ran.
    fn checked_process(
        &mut self,
        decoded: &DecodedTrace,
        checked: &CheckedRun,
        places: &Mutex<Places>,
        known: &KnownFindings,
    ) {
        self.processes += 1;
        self.events += checked.counts.events;
        self.plain_events += checked.counts.plain_events;
        self.concurrent |= checked.counts.concurrent;
        self.schedule = self.schedule.rotate_left(1) ^ checked.counts.schedule;
        self.reached.extend(&checked.reached);
        let mut need = None;
        self.lacks_text |= checked.lacked_text;
        for &(access, newer, kind) in &checked.violations {
            let key = violation_key(access, newer, kind, places);
            if is_foreign_at(access, places) {
                self.of_libraries.insert((key.0, key.1, Some(key.2)));
                continue;
            }
            if !contains(&known.violations, &key) {
                need = need.max(Some(RecordNeed::Finding));
            }
            self.violations.push((key, None));
        }
        let mut seen = HashSet::new();
        for &(first, second) in &checked.races {
            let key = pair_key(first, second, places);
            if is_pair_of_library(first, second, places) {
                self.of_libraries.insert((key.0, Some(key.1), None));
                continue;
            }
            if !contains(&known.races, &key) {
                need = need.max(Some(RecordNeed::Finding));
            }
            seen.insert(key);
            self.races.push((key, None));
        }
        for &(first, second) in &checked.predicted {
            let key = pair_key(first, second, places);
            let is_new = !is_pair_of_library(first, second, places)
                && !contains(&known.races, &key)
                && !contains(&known.predicted, &key)
                && !seen.contains(&key);
            if is_new {
                need = need.max(Some(RecordNeed::Finding));
            }
        }
        if decoded.volatile_spin {
            self.problems.push(TraceProblem::VolatileSpin);
        }
        let limits = decoded.limits.iter();
        self.problems
            .extend(limits.map(|&limit| TraceProblem::Limit(limit)));
        if checked.too_many_threads {
            self.problems.push(TraceProblem::TooManyThreads);
        }
        if decoded.ignored_annotations > 0 {
            let ignored = TraceProblem::IgnoredAnnotations(decoded.ignored_annotations);
            self.problems.push(ignored);
        }
        need = need.max(checked.gave_up.map(RecordNeed::GaveUp));
        self.failures.extend(RunFailure::misuses(decoded, places));
        let end = ProcessEnd::of(decoded, places);
        // Where a signal came only the last events tell.
        let signalled = |end: &ProcessEnd| matches!(end.cause, EndCause::Signal(_));
        if end.as_ref().is_some_and(signalled) {
            need = need.max(Some(RecordNeed::Failure));
        }
        self.needs_record = self.needs_record.max(need);
        let failure = end.as_ref();
        let failure = failure.and_then(|end| RunFailure::of_process(end, decoded, places));
        self.failures.extend(failure);
        self.ends.extend(end);
    }

    fn process(
        &mut self,
        decoded: &DecodedTrace,
        bytes: &[u8],
        places: &Mutex<Places>,
        known: &KnownFindings,
        config: ObservationConfig,
        given_up: &dyn Fn() -> bool,
    ) {
        self.processes += 1;
        let operations = decoded.events.iter().map(|event| &event.operation);
        let plain = operations.filter(|operation| is_plain(operation)).count();
        self.events += (decoded.events.len() - plain) as u64;
        self.plain_events += plain as u64;
        let first = decoded.events.first().map(|event| event.thread);
        self.concurrent |= decoded.events.iter().any(|e| Some(e.thread) != first);
        self.schedule = self.schedule.rotate_left(1) ^ decoded.schedule;
        let mut analyzer = Analyzer::new(config.analyzer);
        let mut predictor = config
            .predict
            .then(|| Predictor::new(PredictorConfig::default()));
        let mut refused = None;
        let mut events = Cow::Borrowed(decoded.events.as_slice());
        let mut joins = joins_ahead(&decoded.events).into_iter().peekable();
        for (index, event) in (0..).map(EventIndex).zip(&decoded.events) {
            if index.0.is_multiple_of(EVENTS_PER_LOOK) && given_up() {
                return;
            }
            if is_atomic(&event.operation) {
                self.reached.insert(event.site);
            }
            if let Err(error) = analyzer.feed_at(index, event) {
                refused.get_or_insert(error);
                events.to_mut()[index.0 as usize].operation = NO_OPERATION;
            }
            while let Some(ahead) = joins.next_if(|ahead| ahead.after <= index) {
                analyzer.awaits_end(ahead.thread, ahead.child);
            }
            if let Some(predictor) = &mut predictor {
                predictor.feed(&events[index.0 as usize]);
            }
        }
        if decoded.volatile_spin {
            self.problems.push(TraceProblem::VolatileSpin);
        }
        let limits = decoded.limits.iter();
        self.problems
            .extend(limits.map(|&limit| TraceProblem::Limit(limit)));
        if decoded.ignored_annotations > 0 {
            let ignored = TraceProblem::IgnoredAnnotations(decoded.ignored_annotations);
            self.problems.push(ignored);
        }
        if let Some(error) = refused {
            self.problems.push(TraceProblem::Contradictory(error));
        }
        if given_up() {
            return;
        }
        let violations = analyzer.violations().iter().map(|found| &found.violation);
        self.add_violations(
            violations,
            decoded,
            &events,
            places,
            known,
            config.analyzer.model,
        );
        if predictor.as_ref().is_some_and(Predictor::gave_up) {
            self.problems.push(TraceProblem::TooManyThreads);
        }
        let predicted = predictor.map_or_else(Vec::new, Predictor::into_races);
        self.add_races(
            RaceSearch {
                decoded,
                bytes,
                places,
                events: &events,
                rule: config.analyzer.model.release_sequences,
            },
            known,
            analyzer.races(),
            predicted,
        );
        self.failures.extend(RunFailure::misuses(decoded, places));
        let end = ProcessEnd::of(decoded, places);
        let failure = end.as_ref();
        let failure = failure.and_then(|end| RunFailure::of_process(end, decoded, places));
        self.failures.extend(failure);
        self.ends.extend(end);
    }
}

/// After this many events it is asked whether anybody still wants to know.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// What a refused event is taken for.
const NO_OPERATION: Operation = Operation::Death {
    bytes: Bytes {
        address: 0,
        size: 0,
    },
};

/// A run whose races are looked at.
struct RaceSearch<'a> {
    decoded: &'a DecodedTrace,
    bytes: &'a [u8],
    places: &'a Mutex<Places>,
    events: &'a [Event],
    rule: ReleaseSequences,
}

impl RaceSearch<'_> {
    /// Where the memory of a race was made.
    fn allocated(&self, race: &Race) -> Option<AllocationPlace> {
        let is_freed = {
            let places = self.places.lock().expect("no panic while locked");
            places.get(race.first.site).kind == EventKind::Free
        };
        let blocks = BlockFinder {
            decoded: self.decoded,
            places: self.places,
        };
        let (address, event) = (race.bytes.address, race.event.0 as usize);
        match is_freed {
            true => blocks.place_or_freed(address, event),
            false => blocks.place(address, event),
        }
    }
}

impl Observation {
    /// Adds the violations of a run, with the details of those that are not known.
    /// What is known is not looked at again, and one pass over the run is enough for
    /// all that are new.
    fn add_violations<'v>(
        &mut self,
        violations: impl Iterator<Item = &'v Violation>,
        decoded: &DecodedTrace,
        events: &[Event],
        places: &Mutex<Places>,
        known: &KnownFindings,
        model: Model,
    ) {
        let (mut found, mut new) = (Vec::new(), Vec::new());
        {
            let places = places.lock().expect("no panic while locked");
            let known = known.violations.read().expect("no panic while locked");
            let shown = |site| places.get(site).reported_site;
            for violation in violations {
                let newer = violation.newer.origin.map(|(_, site)| site);
                let key = (shown(violation.site), newer.map(shown), violation.kind);
                if places.get(violation.site).is_foreign() {
                    self.of_libraries.insert((key.0, key.1, Some(key.2)));
                    continue;
                }
                let is_new = !known.contains(&key);
                if is_new {
                    new.push(violation.clone());
                }
                found.push((key, is_new));
            }
        }
        let mut proofs = new.iter().zip(prove(events, &new, model));
        for (key, is_new) in found {
            let proved = is_new.then(|| proofs.next()).flatten();
            let instance = proved.map(|(violation, proof)| {
                ViolationInstance::of(violation, decoded, places, proof.as_ref())
            });
            self.add_violation(key, instance);
        }
    }

    /// Adds the races that a run showed, and those that were predicted from it.
    /// None is added without an order of events that shows it.
    fn add_races(
        &mut self,
        run: RaceSearch<'_>,
        known: &KnownFindings,
        seen: &[FoundRace],
        predicted: Vec<PredictedRace>,
    ) {
        let mut new = Vec::new();
        let mut keys = HashSet::new();
        for found in seen {
            let key = race_key(&found.race, run.places);
            if is_of_library(&found.race, run.places) {
                self.of_libraries.insert((key.0, Some(key.1), None));
                continue;
            }
            keys.insert(key);
            match contains(&known.races, &key) {
                true => self.races.push((key, None)),
                false => new.push((key, found.clone())),
            }
        }
        let mut hidden = Vec::new();
        for found in predicted {
            let key = race_key(&found.race, run.places);
            if !is_of_library(&found.race, run.places)
                && !contains(&known.races, &key)
                && !contains(&known.predicted, &key)
                && keys.insert(key)
            {
                hidden.push((key, found));
            }
        }
        let races: Vec<Race> = new.iter().map(|(_, found)| found.race).collect();
        let predictions: Vec<PredictedRace> =
            hidden.iter().map(|(_, found)| found.clone()).collect();
        let proofs = prove_races(run.events, &races, &predictions, run.rule);
        let instance = |race: FoundRace, witness: &RaceWitness, origin| RaceInstance {
            location: variable_at(race.race.bytes, run.decoded, run.places),
            allocated: run.allocated(&race.race),
            carrier: carrier(&race.race, run.events),
            race,
            meeting: witness.meeting,
            origin,
            trace: None,
        };
        for ((key, race), proof) in new.into_iter().zip(proofs.seen) {
            match proof {
                Ok(witness) => {
                    let instance = instance(race, &witness, RaceOrigin::Seen);
                    self.races.push((key, Some(instance)));
                }
                Err(defect) => self.problems.push(TraceProblem::UnprovedRace(defect)),
            }
        }
        for ((key, found), proof) in hidden.into_iter().zip(proofs.predicted) {
            match proof {
                Ok(witness) => {
                    let mut prediction =
                        Prediction::new(run.decoded, run.places, run.events, &found, &witness);
                    let plan = planned_schedule(
                        run.bytes,
                        run.decoded,
                        &witness.schedule,
                        Adherence::Strict,
                    );
                    prediction.plan = plan.map(Arc::from);
                    let race = FoundRace {
                        race: found.race,
                        count: 1,
                    };
                    let plan = prediction.plan.clone();
                    let origin = RaceOrigin::Predicted(prediction);
                    let mut instance = instance(race, &witness, origin);
                    instance.trace = plan;
                    self.predicted.push((key, instance));
                }
                Err(defect) => self.problems.push(TraceProblem::UnprovedRace(defect)),
            }
        }
    }
}

impl ViolationInstance {
    fn of(
        violation: &Violation,
        decoded: &DecodedTrace,
        places: &Mutex<Places>,
        proof: Result<&Proof, &ProofError>,
    ) -> Self {
        let location = decoded.locations.get(violation.location.0 as usize);
        let size = location.map_or(8, |location| location.size);
        let widen = |value| decoded.wide_values.widen(value, size);
        let mut stale_values: Vec<u128> = violation
            .stale
            .iter()
            .filter_map(|write| write.value)
            .map(widen)
            .collect();
        stale_values.dedup();
        let blocks = BlockFinder { decoded, places };
        let access = violation.access.0 as usize;
        let written = violation.stale.iter().chain([&violation.newer]);
        let written = written.filter_map(|write| {
            let event = write.event.map_or(access, |event| event.0 as usize);
            Some((write.value?, event))
        });
        let read = violation.read_value.map(|value| (value, access));
        let mut pointers: Vec<Pointer> = Vec::new();
        for (value, event) in written.chain(read) {
            let pointer = blocks.pointer(widen(value), size, event);
            pointers.extend(pointer.filter(|one| pointers.iter().all(|p| p.value != one.value)));
        }
        Self {
            thread: violation.thread,
            writer: violation.newer.origin.map(|(thread, _)| thread),
            location: location.and_then(|location| variable_at(location.bytes(), decoded, places)),
            allocated: location.and_then(|location| blocks.place(location.address, access)),
            read_value: violation.read_value.map(widen),
            pointers,
            stale_values,
            newer_value: violation.newer.value.map(widen),
            same_value: violation.same_value,
            doubt: proof.err().map(Doubt::of),
            steps: story::steps(violation, decoded, places, proof.ok()),
            trace: None,
        }
    }
}

/// Equal for equal texts.
pub(crate) fn fingerprint(text: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The name of the variable at an address of the run; with where in it, if it is
/// more than these bytes (`queue+8`).
pub(super) fn variable_at(
    bytes: Bytes,
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
) -> Option<String> {
    let address = decoded.modules.find(bytes.address)?;
    places
        .lock()
        .expect("no panic while locked")
        .symbols
        .variable(address, bytes.size)
}

fn contains<K: Eq + Hash>(keys: &RwLock<HashSet<K>>, key: &K) -> bool {
    keys.read().expect("no panic while locked").contains(key)
}

fn is_foreign_at(site: SiteId, places: &Mutex<Places>) -> bool {
    let places = places.lock().expect("no panic while locked");
    places.get(site).is_foreign()
}

fn violation_key(
    access: SiteId,
    newer: Option<SiteId>,
    kind: ViolationKind,
    places: &Mutex<Places>,
) -> ViolationKey {
    let places = places.lock().expect("no panic while locked");
    let shown = |site| places.get(site).reported_site;
    (shown(access), newer.map(shown), kind)
}

/// Races have no direction: which access came first is the schedule's doing.
pub(crate) fn race_key(race: &Race, places: &Mutex<Places>) -> RaceKey {
    pair_key(race.first.site, race.second.site, places)
}

fn pair_key(first: SiteId, second: SiteId, places: &Mutex<Places>) -> RaceKey {
    let places = places.lock().expect("no panic while locked");
    let shown = |site| places.get(site).reported_site;
    let (first, second) = (shown(first), shown(second));
    (first.min(second), first.max(second))
}

/// Whether a race is between accesses that a library makes to objects of its own.
fn is_of_library(race: &Race, places: &Mutex<Places>) -> bool {
    is_pair_of_library(race.first.site, race.second.site, places)
}

fn is_pair_of_library(first: SiteId, second: SiteId, places: &Mutex<Places>) -> bool {
    let places = places.lock().expect("no panic while locked");
    let sides = [first, second].map(|site| places.get(site));
    let is_system = |place: &Place| {
        let point = place.point.as_ref();
        place.is_library || point.is_some_and(|point| places.scope.is_system(&point.file))
    };
    let is_atomic = |place: &&&Place| place.kind.is_atomic();
    sides.iter().all(|place| is_system(place))
        || sides.iter().filter(is_atomic).any(|place| place.is_library)
}

fn is_atomic(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange { .. }
            | Operation::Fence { .. }
    )
}
