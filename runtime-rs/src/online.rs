//! A run that is checked while it goes on: what threads do goes into the analysis
//! instead of the trace, and the trace says what came of it. The turn is the lock
//! of all this. Of a run that cannot be had again (the system schedules it, or threads
//! meet in a library for OpenMP), what threads do goes into a second trace as well.

use wmfix_analysis::{Bytes, SiteId};
use wmfix_online::{CheckConfig, Checker, ModuleKey, PlainOutcome, SiteTable};
use wmfix_trace::{
    CheckRecord, GiveUp, MAX_RECORD, RecordedOperation, ThreadId, Turn, encode_check, encode_turn,
};

use crate::arena;
use crate::context_keys::ContextKeys;
use crate::filter::{plain, plain_mode, set_plain_mode};
use crate::granules::ShadowStore;
use crate::recorder::Recorder;

/// The first number of events at which the trace is told how far the run has come;
/// the next ones are twice as far each. A process that is killed says no more.
const FIRST_COUNT: u64 = 1 << 10;

/// The analysis of the run.
#[derive(Debug)]
pub(crate) struct Online {
    checker: Checker<ShadowStore>,
    /// Whether races are looked for.
    races: bool,
    keys: ContextKeys,
    next_count: u64,
    said_concurrent: bool,
    /// Locations that the trace was told of.
    locations: u32,
}

impl Online {
    /// With the shadow memory for plain accesses, which needs to have no memory
    /// unless races are looked for.
    pub(crate) fn new(config: CheckConfig, table: SiteTable, store: ShadowStore) -> Self {
        Self {
            races: config.analyzer.races,
            checker: Checker::with_store(config, table, store),
            keys: ContextKeys::new(),
            next_count: FIRST_COUNT,
            said_concurrent: false,
            locations: 0,
        }
    }

    /// A stack was given the next number.
    pub(crate) fn add_stack(&mut self, parent: u32, frame: Option<(ModuleKey, u64)>) {
        self.keys.add_stack(parent, frame);
    }

    /// A context was given the next number.
    pub(crate) fn add_context(&mut self, stack: u32, frame: Option<(ModuleKey, u64)>) {
        self.keys.add_context(stack, frame);
    }

    /// The number that the next location gets which the trace is told of.
    pub(crate) fn add_location(&mut self) -> u32 {
        self.locations += 1;
        self.locations - 1
    }

    /// The turn changes hands.
    pub(crate) fn turn(&mut self, recorder: &mut Recorder, turn: Turn) {
        if let Some(beside) = recorder.beside() {
            beside.write_here(MAX_RECORD, |out| encode_turn(out, turn));
        }
        self.checker.turn(turn.thread);
    }

    /// The thread that has the turn does nothing more before it joins another one.
    pub(crate) fn awaits_end(&mut self, child: u32) {
        self.checker.awaits_end(ThreadId(child));
    }

    /// The thread that has the turn did something.
    #[inline]
    pub(crate) fn event(
        &mut self,
        recorder: &mut Recorder,
        context: u32,
        operation: &RecordedOperation,
        size: u8,
    ) {
        if !recorder.is_on() {
            return;
        }
        if let Some(beside) = recorder.beside() {
            beside.event(context, operation);
        }
        let keys = &self.keys;
        let key = || keys.of(context);
        self.checker
            .event(context, key, operation, size, &mut |record| {
                write(recorder, &record);
            });
        self.after_event(recorder);
    }

    /// The thread that has the turn, in the epoch `tag`, made a plain access at a site
    /// that is known, and nothing can come of it. Whether that is so.
    #[inline(always)]
    pub(crate) fn plain_ordered(
        &mut self,
        recorder: &mut Recorder,
        tag: u64,
        site: SiteId,
        bytes: Bytes,
        writes: bool,
    ) -> bool {
        if !recorder.is_on()
            || recorder.beside().is_some()
            || !self.checker.plain_ordered(tag, site, bytes, writes)
        {
            return false;
        }
        if self.checker.events() >= self.next_count {
            self.count(recorder);
        }
        true
    }

    /// The thread that has the turn made a plain access.
    #[inline]
    pub(crate) fn plain(
        &mut self,
        recorder: &mut Recorder,
        context: u32,
        bytes: Bytes,
        writes: bool,
    ) -> PlainOutcome {
        if !recorder.is_on() {
            return PlainOutcome::NOTHING;
        }
        let keys = &self.keys;
        let key = || keys.of(context);
        let outcome = self
            .checker
            .plain(context, key, bytes, writes, &mut |record| {
                write(recorder, &record);
            });
        if outcome.adds
            && let Some(beside) = recorder.beside()
        {
            let Bytes { address, size } = bytes;
            let operation = match writes {
                false => RecordedOperation::Read { address, size },
                true => RecordedOperation::Write { address, size },
            };
            beside.event(context, &operation);
        }
        self.after_event(recorder);
        outcome
    }

    #[inline(always)]
    fn after_event(&mut self, recorder: &mut Recorder) {
        if self.checker.events() >= self.next_count
            || self.checker.is_concurrent() != self.said_concurrent
        {
            self.count(recorder);
        }
        if arena::is_low() {
            self.checker.give_up(GiveUp::NoMemory, &mut |record| {
                write(recorder, &record);
            });
        }
        if self.races && (self.checker.may_be_behind() || self.checker.gave_up()) {
            self.choose_mode(recorder);
        }
    }

    /// While the analysis is behind the run, no access is known to add nothing; when
    /// it has given up, none counts, unless they are recorded.
    #[cold]
    fn choose_mode(&mut self, recorder: &mut Recorder) {
        let is_recorded = recorder.beside().is_some_and(|beside| beside.is_on());
        let mode = match (self.checker.gave_up(), self.checker.is_behind()) {
            (true, _) if is_recorded => plain::ALL,
            (true, _) => plain::OFF,
            (false, true) => plain::BEHIND,
            (false, false) => plain::CHECKED,
        };
        let now = plain_mode();
        if now != mode && matches!(now, plain::CHECKED | plain::BEHIND) {
            set_plain_mode(mode);
        }
    }

    /// Whether plain accesses are checked, in the shadow memory.
    #[inline]
    pub(crate) fn checks_plain(&self) -> bool {
        self.races && !self.checker.gave_up()
    }

    /// What shadow memory knows the epoch of the thread that has the turn by; 0 if it
    /// does not.
    #[inline]
    pub(crate) fn epoch_tag(&self) -> u64 {
        match self.races {
            true => self.checker.epoch_tag(),
            false => 0,
        }
    }

    /// Whether the thread that has the turn is the only one, and knows all that any
    /// other did.
    pub(crate) fn is_alone(&self) -> bool {
        self.checker.is_alone()
    }

    /// The bytes hold an atomic object from now on.
    pub(crate) fn mark_atomic(&mut self, bytes: Bytes) {
        if self.races {
            self.checker.analyzer_mut().mark_atomic(bytes);
        }
    }

    /// Whether anything may be known about plain accesses to these bytes: what waits
    /// to be analysed is not.
    pub(crate) fn remembers_plain(&mut self, bytes: Bytes) -> bool {
        self.races
            && (self.checker.is_behind() || self.checker.analyzer_mut().remembers_plain(bytes))
    }

    /// The only thread gives memory back: nobody can race with what was done there.
    pub(crate) fn forget_plain(&mut self, bytes: Bytes) {
        if self.races {
            self.checker.analyzer_mut().forget_plain(bytes);
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, recorder: &mut Recorder) {
        self.checker.finish(&mut |record| write(recorder, &record));
        self.count(recorder);
    }

    #[cold]
    fn count(&mut self, recorder: &mut Recorder) {
        self.next_count = self.next_count.max(self.checker.events() + 1);
        self.next_count = self.next_count.next_power_of_two();
        self.said_concurrent = self.checker.is_concurrent();
        write(recorder, &CheckRecord::Counts(self.checker.counts()));
    }
}

fn write(recorder: &mut Recorder, record: &CheckRecord) {
    recorder.write_here(MAX_RECORD, |out| encode_check(out, record));
}
