//! A run, checked while it goes on: its operations go into the analyzer, and into
//! the predictor if races are to be predicted, as they would from a trace. What
//! comes out is said once: new findings, sites that are reached, and operations
//! that the table of sites does not have.
//!
//! Reads of loops of which only the run shows what they wait for are decided when
//! their thread goes on; the events after them wait meanwhile. Where that takes
//! too many, or what was decided turns out wrong, the checker gives up: the run
//! has to be recorded.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use wmfix_analysis::granule::{GranuleMap, GranuleStore};
use wmfix_analysis::predict::{Predictor, PredictorConfig};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, FenceOrder, Operation, SiteId, ThreadId,
    ViolationKind,
};
use wmfix_trace::{self as trace, CheckRecord, Counts, GiveUp, LocalSite, RecordedOperation};

use crate::convert::{add_waits, of_operation, round_of, write_of_free};
use crate::key::ContextKey;
use crate::kind::EventKind;
use crate::operands::OperandTracker;
use crate::schedule::ScheduleHash;
use crate::table::{SiteRole, SiteTable};
use crate::waits::WaitRole;

/// How many events may wait for a decision.
const MAX_DELAYED: usize = 1 << 16;

/// Sites from here on are not in the table: they are numbered as they come.
const FIRST_UNLISTED: u32 = LocalSite::FIRST_UNLISTED;

/// Half of what an operation does that is a full barrier as well.
const FULL_BARRIER: Operation = Operation::Fence {
    order: FenceOrder::SeqCst,
};

/// How a run is checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckConfig {
    /// By what.
    pub analyzer: AnalyzerConfig,
    /// Whether races are predicted that the run does not show.
    pub predict: bool,
}

/// Checks a run while it goes on. What is known about plain memory is in a store of
/// granules, as the analyzer has it.
#[derive(Debug)]
pub struct Checker<S = GranuleMap> {
    analyzer: Analyzer<S>,
    predictor: Option<Predictor>,
    table: SiteTable,
    /// Which of `roles` an operation has, plus one, by context and kind.
    role_of: Vec<u32>,
    roles: Vec<SiteRole>,
    unlisted: u32,
    operands: OperandTracker,
    delayed: VecDeque<DelayedEvent>,
    thread: ThreadId,
    first_thread: Option<ThreadId>,
    events: u64,
    /// Those of them that are plain accesses or the end of memory.
    plain_events: u64,
    concurrent: bool,
    schedule: ScheduleHash,
    violations: usize,
    races: usize,
    predicted: usize,
    gave_up: bool,
}

/// What is known after a plain access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainOutcome {
    /// It may have met an atomic object.
    pub meets_atomic: bool,
    /// A recording without it may show less.
    pub adds: bool,
    /// The site of such accesses in this context; `None` if [`Checker::plain_ordered`] takes
    /// none.
    pub site: Option<SiteId>,
}

impl PlainOutcome {
    /// Of an access that nobody looks at.
    pub const NOTHING: Self = Self {
        meets_atomic: false,
        adds: false,
        site: None,
    };

    const UNKNOWN: Self = Self {
        meets_atomic: true,
        adds: true,
        site: None,
    };
}

#[derive(Clone, Copy, Debug)]
struct DelayedEvent {
    event: Event,
    decided: bool,
}

impl Checker {
    /// At the start of a run.
    pub fn new(config: CheckConfig, table: SiteTable) -> Self {
        Self::with_store(config, table, GranuleMap::default())
    }
}

impl<S: GranuleStore + Default> Checker<S> {
    /// At the start of a run, with this store of granules.
    pub fn with_store(config: CheckConfig, table: SiteTable, store: S) -> Self {
        Self {
            analyzer: Analyzer::with_store(config.analyzer, store),
            predictor: config
                .predict
                .then(|| Predictor::new(PredictorConfig::default())),
            table,
            role_of: Vec::new(),
            roles: Vec::new(),
            unlisted: 0,
            operands: OperandTracker::default(),
            delayed: VecDeque::new(),
            thread: ThreadId(0),
            first_thread: None,
            events: 0,
            plain_events: 0,
            concurrent: false,
            schedule: ScheduleHash::default(),
            violations: 0,
            races: 0,
            predicted: 0,
            gave_up: false,
        }
    }

    /// How much the run did so far.
    pub fn counts(&self) -> Counts {
        Counts {
            events: self.events - self.plain_events,
            plain_events: self.plain_events,
            schedule: self.schedule.finish(),
            concurrent: self.concurrent,
        }
    }

    /// The events so far, as the analysis counts them.
    #[inline]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether there was more than one thread so far.
    #[inline]
    pub fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    /// The turn goes to a thread.
    #[inline]
    pub fn turn(&mut self, thread: trace::ThreadId) {
        self.schedule.turn(thread);
        self.thread = ThreadId(thread.0);
    }

    /// The thread that has the turn does nothing more before it joins another one.
    /// Where events wait for a decision, it is not known yet what comes before this.
    pub fn awaits_end(&mut self, child: trace::ThreadId) {
        if !self.gave_up && self.delayed.is_empty() {
            self.analyzer.awaits_end(self.thread, ThreadId(child.0));
        }
    }

    /// The thread that has the turn did something, on a location of `size` bytes if
    /// on one. The context's `key` is asked for once for each context and kind.
    #[inline]
    pub fn event(
        &mut self,
        context: u32,
        key: impl FnOnce() -> ContextKey,
        recorded: &RecordedOperation,
        size: u8,
        say: &mut impl FnMut(CheckRecord),
    ) {
        self.schedule.operation(recorded);
        let Some(mut operation) = of_operation(recorded) else {
            return;
        };
        self.concurrent |= *self.first_thread.get_or_insert(self.thread) != self.thread;
        let before = write_of_free(recorded);
        if self.gave_up {
            for operation in before.into_iter().chain([operation]) {
                self.events += 1;
                self.plain_events += u64::from(is_plain(&operation));
            }
            return;
        }
        let role = self.role(context, key, recorded, say);
        if let Some(before) = before {
            self.take(role, before, 0, say);
        }
        add_waits(&mut operation, self.roles[role].waits, size);
        let is_full_barrier = self.roles[role].is_full_barrier;
        if is_full_barrier {
            self.take(role, FULL_BARRIER, 0, say);
        }
        self.take(role, operation, size, say);
        if is_full_barrier {
            self.take(role, FULL_BARRIER, 0, say);
        }
    }

    /// The thread that has the turn made a plain access: [`Self::event`] for what
    /// there is most of.
    #[inline]
    pub fn plain(
        &mut self,
        context: u32,
        key: impl FnOnce() -> ContextKey,
        bytes: Bytes,
        writes: bool,
        say: &mut impl FnMut(CheckRecord),
    ) -> PlainOutcome {
        let Bytes { address, size } = bytes;
        let recorded = match writes {
            false => RecordedOperation::Read { address, size },
            true => RecordedOperation::Write { address, size },
        };
        if self.gave_up || self.predictor.is_some() || self.is_behind() {
            self.event(context, key, &recorded, 0, say);
            return PlainOutcome::UNKNOWN;
        }
        self.concurrent |= *self.first_thread.get_or_insert(self.thread) != self.thread;
        let role = self.role(context, key, &recorded, say);
        let (site, number) = (self.roles[role].site, EventIndex(self.events));
        self.events += 1;
        self.plain_events += 1;
        let made = (self.analyzer).plain_at(number, self.thread, site, bytes, writes);
        let Ok(found) = made else {
            self.give_up(GiveUp::Refused, say);
            return PlainOutcome::UNKNOWN;
        };
        if found.race.is_some() && self.analyzer.races().len() > self.races {
            self.say_new(say);
        }
        PlainOutcome {
            meets_atomic: found.meets_atomic,
            adds: found.adds,
            site: Some(site),
        }
    }

    /// The thread that has the turn made a plain access, as it did before in the same
    /// context, whose site is known: [`Self::plain`] for what there is most of, where
    /// nothing can come of it ([`Analyzer::plain_ordered_at`]). Whether it was taken.
    #[inline(always)]
    pub fn plain_ordered(&mut self, tag: u64, site: SiteId, bytes: Bytes, writes: bool) -> bool {
        if self.gave_up || self.predictor.is_some() || self.is_behind() {
            return false;
        }
        let number = EventIndex(self.events);
        let is_taken = (self.analyzer).plain_ordered_at(number, tag, site, bytes, writes);
        self.events += u64::from(is_taken);
        self.plain_events += u64::from(is_taken);
        is_taken
    }

    /// What granules know the current epoch of the thread that has the turn by; 0
    /// while the analysis is behind the run.
    #[inline]
    pub fn epoch_tag(&self) -> u64 {
        match self.is_behind() || self.gave_up {
            true => 0,
            false => self.analyzer.epoch_tag(self.thread),
        }
    }

    /// Whether events may have to wait for a decision.
    #[inline]
    pub fn may_be_behind(&self) -> bool {
        self.table.has_watches()
    }

    /// Whether events wait for a decision.
    #[inline]
    pub fn is_behind(&self) -> bool {
        !self.delayed.is_empty()
    }

    /// Whether the run is not checked any further.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Whether the thread that has the turn knows all that any other did, and no other
    /// runs.
    pub fn is_alone(&self) -> bool {
        !self.is_behind() && !self.gave_up && self.analyzer.is_alone(self.thread)
    }

    /// What is known about plain memory.
    pub fn analyzer_mut(&mut self) -> &mut Analyzer<S> {
        &mut self.analyzer
    }

    /// Takes an operation that has one of the roles.
    #[inline]
    fn take(
        &mut self,
        role: usize,
        operation: Operation,
        size: u8,
        say: &mut impl FnMut(CheckRecord),
    ) {
        let number = self.events;
        self.events += 1;
        self.plain_events += u64::from(is_plain(&operation));
        let role = &self.roles[role];
        let event = Event {
            thread: self.thread,
            site: role.site,
            operation,
        };
        if self.gave_up {
            return;
        }
        if !self.table.has_watches() {
            return self.feed(number, &event, say);
        }
        let watched = role.watch.is_some()
            && matches!(operation, Operation::Load { .. } | Operation::Rmw { .. });
        let round = round_of(&operation, role, size);
        self.operands.event(number, self.thread, round);
        if operation == Operation::Exit {
            self.operands.end(self.thread);
        }
        self.delayed.push_back(DelayedEvent {
            event,
            decided: !watched,
        });
        self.feed_decided(say);
        if self.delayed.len() > MAX_DELAYED {
            self.give_up(GiveUp::LongWait, say);
        }
    }

    /// The run is over.
    pub fn finish(&mut self, say: &mut impl FnMut(CheckRecord)) {
        if !self.gave_up {
            self.operands.finish();
            self.feed_decided(say);
        }
    }

    /// The rest of the run is not checked.
    pub fn give_up(&mut self, why: GiveUp, say: &mut impl FnMut(CheckRecord)) {
        if !self.gave_up {
            say(CheckRecord::GaveUp(why));
        }
        self.gave_up = true;
        self.delayed = VecDeque::new();
        self.operands = OperandTracker::default();
        self.predictor = None;
        self.analyzer = Analyzer::with_store(AnalyzerConfig::default(), S::default());
    }

    /// Which of the roles an operation has.
    #[inline]
    fn role(
        &mut self,
        context: u32,
        key: impl FnOnce() -> ContextKey,
        recorded: &RecordedOperation,
        say: &mut impl FnMut(CheckRecord),
    ) -> usize {
        let kind = EventKind::of(recorded);
        let at = context as usize * EventKind::ALL.len() + kind as usize;
        match self.role_of.get(at) {
            Some(&known) if known != 0 => known as usize - 1,
            _ => self.new_role(at, context, key(), kind, recorded, say),
        }
    }

    #[cold]
    fn new_role(
        &mut self,
        at: usize,
        context: u32,
        key: ContextKey,
        kind: EventKind,
        recorded: &RecordedOperation,
        say: &mut impl FnMut(CheckRecord),
    ) -> usize {
        let listed = self.table.get(key, kind);
        let role = match listed {
            Some(role) => {
                if kind.is_atomic() {
                    say(CheckRecord::Reached(LocalSite(role.site.0)));
                }
                role.clone()
            }
            None => {
                let order = order_of(recorded);
                say(CheckRecord::Unlisted {
                    context: trace::ContextId(context),
                    kind: kind as u8,
                    order,
                });
                self.unlisted += 1;
                SiteRole {
                    site: SiteId(FIRST_UNLISTED + (self.unlisted - 1)),
                    waits: WaitRole::default(),
                    watch: None,
                    text: None,
                    is_full_barrier: false,
                }
            }
        };
        if at >= self.role_of.len() {
            let contexts = context as usize + 1;
            self.role_of.resize(contexts * EventKind::ALL.len(), 0);
        }
        self.roles.push(role);
        self.role_of[at] = self.roles.len() as u32;
        self.roles.len() - 1
    }

    fn feed_decided(&mut self, say: &mut impl FnMut(CheckRecord)) {
        let first = self.events - self.delayed.len() as u64;
        let mut contradicted = false;
        for decision in self.operands.take_decisions() {
            let at = decision.number.checked_sub(first);
            match at.and_then(|at| self.delayed.get_mut(at as usize)) {
                Some(delayed) => {
                    use Operation::{Load, Rmw};
                    if let Load { exit, .. } | Rmw { exit, .. } = &mut delayed.event.operation {
                        *exit = decision.exit;
                    }
                    delayed.decided = true;
                }
                // It was decided otherwise, and has been fed.
                None => contradicted |= decision.exit.is_none(),
            }
        }
        if contradicted {
            return self.give_up(GiveUp::Contradiction, say);
        }
        while let Some(delayed) = self.delayed.front().copied().filter(|one| one.decided) {
            let number = self.events - self.delayed.len() as u64;
            self.delayed.pop_front();
            self.feed(number, &delayed.event, say);
            if self.gave_up {
                return;
            }
        }
    }

    #[inline]
    fn feed(&mut self, number: u64, event: &Event, say: &mut impl FnMut(CheckRecord)) {
        let Ok(found) = self.analyzer.feed_at(EventIndex(number), event) else {
            return self.give_up(GiveUp::Refused, say);
        };
        if (found.violation.is_some() || found.race.is_some())
            && (self.analyzer.violations().len() > self.violations
                || self.analyzer.races().len() > self.races)
        {
            self.say_new(say);
        }
        if let Some(predictor) = &mut self.predictor {
            predictor.feed(event);
            if predictor.races().len() > self.predicted {
                self.say_predicted(say);
            } else if predictor.gave_up() {
                self.predictor = None;
                say(CheckRecord::GaveUp(GiveUp::Prediction));
            }
        }
    }

    #[cold]
    fn say_new(&mut self, say: &mut impl FnMut(CheckRecord)) {
        for found in &self.analyzer.violations()[self.violations..] {
            let newer = found.violation.newer.origin.map(|(_, site)| local(site));
            say(CheckRecord::Violation {
                access: local(found.violation.site),
                newer,
                kind: kind_number(found.violation.kind),
            });
        }
        for found in &self.analyzer.races()[self.races..] {
            say(CheckRecord::Race {
                first: local(found.race.first.site),
                second: local(found.race.second.site),
                predicted: false,
            });
        }
        self.violations = self.analyzer.violations().len();
        self.races = self.analyzer.races().len();
    }

    #[cold]
    fn say_predicted(&mut self, say: &mut impl FnMut(CheckRecord)) {
        let Some(predictor) = &self.predictor else {
            return;
        };
        for found in &predictor.races()[self.predicted..] {
            say(CheckRecord::Race {
                first: local(found.race.first.site),
                second: local(found.race.second.site),
                predicted: true,
            });
        }
        self.predicted = predictor.races().len();
    }
}

/// Whether an operation is a plain access or the end of memory.
#[inline]
pub fn is_plain(operation: &Operation) -> bool {
    use Operation::{Death, Read, Write};
    matches!(operation, Read { .. } | Write { .. } | Death { .. })
}

fn local(site: SiteId) -> LocalSite {
    LocalSite(site.0)
}

/// The number that a trace has for a kind of violation.
fn kind_number(kind: ViolationKind) -> u8 {
    match kind {
        ViolationKind::StaleRead => 0,
        ViolationKind::StaleWrite => 1,
        ViolationKind::StaleRmw => 2,
    }
}

/// The kind of violation that a trace has this number for.
pub fn violation_kind(number: u8) -> Option<ViolationKind> {
    [
        ViolationKind::StaleRead,
        ViolationKind::StaleWrite,
        ViolationKind::StaleRmw,
    ]
    .into_iter()
    .find(|&kind| kind_number(kind) == number)
}

fn order_of(operation: &RecordedOperation) -> Option<trace::Order> {
    match operation {
        RecordedOperation::Load { order, .. }
        | RecordedOperation::Store { order, .. }
        | RecordedOperation::Rmw { order, .. }
        | RecordedOperation::CompareExchange { success: order, .. }
        | RecordedOperation::Fence { order } => Some(*order),
        _ => None,
    }
}
