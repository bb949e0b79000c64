//! A reordering of a recorded run → a schedule that the runtime can follow: a
//! trace with nothing but turns in it, counted in operations of each thread.

use std::collections::{HashMap, HashSet};

use wmfix_analysis::EventIndex;
use wmfix_online::of_fence;
use wmfix_trace::{
    Cause, ContextId, Header, LooseCount, MAX_RECORD, Order, Reader, Record, RecordedOperation,
    ThreadId, Turn, encode_event, encode_header, encode_turn,
};

use super::decode::DecodedTrace;

/// What a schedule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Nothing: plain memory.
    Plain,
    /// A read that changes nothing; not if it repeats what was just read.
    Read(ReadKey),
    /// A compare-exchange that failed, the same.
    Attempt(ReadKey),
    /// Anything else.
    Operation,
}

/// What tells reads apart that do not repeat each other.
type ReadKey = (ContextId, u32, u128, Order);

/// How exactly a schedule is to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adherence {
    /// By every operation.
    Strict,
    /// By what changes something: threads may look more or less often than they did.
    Loose,
}

/// The schedule in which these events of a recorded run come in this order, as a
/// trace to replay; `decoded` is what the trace says. `None` if it cannot be read.
pub(crate) fn planned_schedule(
    trace: &[u8],
    decoded: &DecodedTrace,
    schedule: &[EventIndex],
    adherence: Adherence,
) -> Option<Vec<u8>> {
    let mut implied = decoded.implied.iter().peekable();
    let mut reader = Reader::new(trace).ok()?;
    let header = reader.header().clone();
    let mut events: Vec<(ThreadId, Counted, u64)> = Vec::new();
    // Operations that are no events to the analysis, before the next one that is.
    let mut uncounted: HashMap<ThreadId, u64> = HashMap::new();
    let mut skip_implied = |events: &mut Vec<(ThreadId, Counted, u64)>| {
        while let Some(&number) = implied.next_if(|number| **number == events.len()) {
            let thread = ThreadId(decoded.events[number].thread.0);
            events.push((thread, Counted::Plain, 0));
        }
    };
    for record in reader.by_ref() {
        let Record::Event(event) = record else {
            continue;
        };
        if matches!(event.operation, RecordedOperation::Fence { order } if of_fence(order).is_none())
        {
            *uncounted.entry(event.thread).or_default() += 1;
            continue;
        }
        skip_implied(&mut events);
        let before = uncounted.remove(&event.thread).unwrap_or(0);
        let counted = counted(event.context, &event.operation);
        events.push((event.thread, counted, before));
    }
    skip_implied(&mut events);
    let mut planner = Planner::new(adherence);
    for index in schedule {
        let &(thread, counted, before) = events.get(usize::try_from(index.0).ok()?)?;
        planner.add(thread, counted, before);
    }
    Some(encode(&header, &planner.finish()))
}

/// A trace of nothing but turns. A trace names a thread only after its creation,
/// so all creations come first.
fn encode(header: &Header, turns: &[Turn]) -> Vec<u8> {
    let mut bytes = encode_header(header, &[]);
    let mut record = [0; MAX_RECORD];
    let last = turns.iter().map(|turn| turn.thread.0).max().unwrap_or(0);
    for child in 1..=last {
        let create = RecordedOperation::Create {
            child: ThreadId(child),
            start: 0,
        };
        let length = encode_event(&mut record, ContextId(0), &create);
        bytes.extend_from_slice(&record[..length]);
    }
    for &turn in turns {
        let length = encode_turn(&mut record, turn);
        bytes.extend_from_slice(&record[..length]);
    }
    bytes
}

fn counted(context: ContextId, operation: &RecordedOperation) -> Counted {
    match *operation {
        RecordedOperation::Load {
            location,
            order,
            value,
        } => Counted::Read((context, location.0, value, order)),
        RecordedOperation::CompareExchange {
            location,
            failure,
            read,
            written: None,
            ..
        } => Counted::Attempt((context, location.0, read, failure)),
        operation if operation.is_plain() => Counted::Plain,
        _ => Counted::Operation,
    }
}

/// Turns, while they are put together.
struct Planner {
    adherence: Adherence,
    turns: Vec<Turn>,
    current: u32,
    /// Operations since the turn last changed hands, and the same loosely.
    operations: u64,
    loosely: LooseCount,
    /// Threads that have had a turn.
    begun: HashSet<ThreadId>,
    /// What each thread has read since it did anything else.
    reads: HashMap<ThreadId, Vec<ReadKey>>,
}

impl Planner {
    fn new(adherence: Adherence) -> Self {
        Self {
            adherence,
            turns: Vec::new(),
            current: 0,
            operations: 0,
            loosely: LooseCount::default(),
            begun: HashSet::new(),
            reads: HashMap::new(),
        }
    }

    fn add(&mut self, thread: ThreadId, counted: Counted, before: u64) {
        let reads = self.reads.entry(thread).or_default();
        let operations = before
            + match counted {
                Counted::Plain => 0,
                Counted::Read(key) | Counted::Attempt(key) if reads.contains(&key) => 0,
                Counted::Read(key) | Counted::Attempt(key) => {
                    reads.push(key);
                    1
                }
                Counted::Operation => {
                    reads.clear();
                    1
                }
            };
        // A thread runs on to its next operation by itself, but it has to begin.
        let begins = thread.0 != 0 && self.begun.insert(thread);
        if operations == 0 && !begins {
            return;
        }
        if thread.0 != self.current {
            let (choices, cause) = match self.adherence {
                Adherence::Strict => (self.operations, Cause::Planned),
                Adherence::Loose => (self.loosely.pack(), Cause::PlannedLoosely),
            };
            self.turns.push(Turn {
                thread,
                choices,
                cause,
            });
            self.current = thread.0;
            self.operations = 0;
            self.loosely = LooseCount::default();
        }
        self.operations += operations;
        let loosely = &mut self.loosely;
        let changes = before + u64::from(counted == Counted::Operation);
        if changes > 0 {
            loosely.changes = loosely.changes.saturating_add(changes as u32);
            (loosely.attempts, loosely.reads) = (0, 0);
        }
        if operations > before && counted != Counted::Operation {
            loosely.reads = loosely.reads.saturating_add(1);
            let is_attempt = matches!(counted, Counted::Attempt(_));
            loosely.attempts = loosely.attempts.saturating_add(u16::from(is_attempt));
        }
    }

    fn finish(self) -> Vec<Turn> {
        self.turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turns as the runtime reads them.
    fn read_back(turns: &[Turn]) -> Vec<Turn> {
        let header = Header {
            pid: 1,
            parent: 0,
            started: 0,
            seed: 0,
            strategy: wmfix_trace::Strategy::Replay,
            volatile: wmfix_trace::Volatile::Ignore,
            races: true,
            forked: false,
            checked: false,
            command: Vec::new(),
        };
        let bytes = encode(&header, turns);
        let records = Reader::new(&bytes).unwrap();
        let turns = records.filter_map(|record| match record {
            Record::Turn(turn) => Some(turn),
            _ => None,
        });
        turns.collect()
    }

    #[test]
    fn turns_count_operations_and_begin_threads() {
        let mut planner = Planner::new(Adherence::Strict);
        let read = |value| Counted::Read((ContextId(1), 0, value, Order::Relaxed));
        let steps = [
            (0, Counted::Operation),
            (0, Counted::Plain),
            (1, Counted::Plain),
            (0, Counted::Operation),
            (1, read(0)),
            (1, read(0)),
            (1, read(1)),
            (0, Counted::Plain),
            (2, Counted::Plain),
        ];
        for (thread, counted) in steps {
            planner.add(ThreadId(thread), counted, 0);
        }
        let turns = planner.finish();
        assert_eq!(read_back(&turns), turns);
        let turns: Vec<(u32, u64)> = turns.iter().map(|t| (t.thread.0, t.choices)).collect();
        assert_eq!(turns, [(1, 1), (0, 0), (1, 1), (2, 2)]);
    }
}
