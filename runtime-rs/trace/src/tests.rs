//! Round trips, and what the reader makes of files that were cut or damaged.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use proptest::strategy::Strategy as Generate;

use crate::{Strategy, *};

fn header() -> Header {
    Header {
        pid: 10,
        parent: 9,
        started: 1_700_000_000_000_000_000,
        seed: u64::MAX,
        strategy: Strategy::Pct,
        volatile: Volatile::Relaxed,
        races: true,
        forked: false,
        checked: false,
        command: vec![String::from("./prog"), String::new(), String::from("a b")],
    }
}

/// Puts records behind one another as the runtime does.
struct Trace {
    bytes: Vec<u8>,
    records: u64,
}

impl Trace {
    fn new() -> Self {
        Self {
            bytes: encode_header(&header(), b"./prog\0\0a b\0"),
            records: 0,
        }
    }

    fn push(&mut self, room: usize, encode: impl FnOnce(&mut [u8]) -> usize) {
        let mut out = vec![0; room];
        let len = encode(&mut out);
        self.bytes.extend_from_slice(&out[..len]);
        self.records += 1;
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::Module(module) => {
                self.push(module_len(module), |out| encode_module(out, module));
            }
            Record::Stack { parent, pc, .. } => {
                self.push(MAX_RECORD, |out| encode_stack(out, *parent, *pc));
            }
            Record::Context { stack, pc, .. } => {
                self.push(MAX_RECORD, |out| encode_context(out, *stack, *pc));
            }
            Record::Turn(turn) => self.push(MAX_RECORD, |out| encode_turn(out, *turn)),
            Record::Event(event) => self.push(MAX_RECORD, |out| {
                encode_event(out, event.context, &event.operation)
            }),
            Record::Stuck(stuck) => self.push(MAX_RECORD, |out| encode_stuck(out, stuck)),
            Record::Misuse(misuse) => self.push(MAX_RECORD, |out| encode_misuse(out, misuse)),
            Record::VolatileSpin => self.push(MAX_RECORD, encode_volatile_spin),
            Record::Sync(sync) => self.push(MAX_RECORD, |out| encode_sync(out, sync)),
            Record::Unseen { context, function } => {
                let function = function.as_bytes();
                self.push(unseen_len(function), |out| {
                    encode_unseen(out, *context, function)
                });
            }
            Record::Limit(limit) => self.push(MAX_RECORD, |out| encode_limit(out, *limit)),
            Record::Exec => self.push(MAX_RECORD, encode_exec),
            Record::Stale(source) => self.push(MAX_RECORD, |out| encode_stale(out, *source)),
            Record::Ignored(count) => self.push(MAX_RECORD, |out| encode_ignored(out, *count)),
            Record::Quarantine { address, size } => {
                self.push(MAX_RECORD, |out| encode_quarantine(out, *address, *size));
            }
            Record::HandedOut {
                context,
                address,
                size,
            } => self.push(MAX_RECORD, |out| {
                encode_handed_out(out, *context, *address, *size)
            }),
            Record::HandedBack { address } => {
                self.push(MAX_RECORD, |out| encode_handed_back(out, *address));
            }
            Record::Check(record) => self.push(MAX_RECORD, |out| encode_check(out, record)),
        }
    }

    fn end(mut self, end: End) -> Vec<u8> {
        let records = self.records;
        self.push(MAX_RECORD, |out| encode_end(out, end, records));
        self.bytes
    }
}

fn read(bytes: &[u8]) -> (Vec<Record>, Ending) {
    let mut reader = Reader::new(bytes).expect("a header");
    let records: Vec<Record> = reader.by_ref().collect();
    (records, reader.ending().expect("an ending"))
}

/// The records that make threads 0 to 3, stacks and contexts 1 and 2 and
/// locations 0 and 1 known.
fn introduction() -> Vec<Record> {
    let event = |operation| {
        Record::Event(Event {
            thread: ThreadId(0),
            context: ContextId(0),
            operation,
        })
    };
    let mut records = vec![
        Record::Module(Module {
            bias: 0x5555_0000_0000,
            first: 0x5555_0000_0000,
            end: 0x5555_0001_0000,
            build_id: vec![1, 2, 3],
            path: String::from("/bin/prog"),
        }),
        Record::Module(Module {
            bias: 0,
            first: 0,
            end: 1,
            build_id: vec![],
            path: "p".repeat(300),
        }),
    ];
    for number in 1..3 {
        records.push(Record::Stack {
            stack: StackId(number),
            parent: StackId(number - 1),
            pc: u64::MAX,
        });
        records.push(Record::Context {
            context: ContextId(number),
            stack: StackId(number),
            pc: 0x1234,
        });
        records.push(event(RecordedOperation::Birth {
            location: LocationId(number - 1),
            address: 8 * u64::from(number),
            size: 16,
            value: u128::MAX,
        }));
    }
    for child in 1..4 {
        records.push(event(RecordedOperation::Create {
            child: ThreadId(child),
            start: 0x40_0000,
        }));
    }
    records
}

#[test]
fn what_checking_a_run_showed_is_read_as_it_was_written() {
    let unlisted = LocalSite(LocalSite::FIRST_UNLISTED);
    let found = CheckRecord::Violation {
        access: unlisted,
        newer: Some(LocalSite(3)),
        kind: 2,
    };
    let reasons = [
        GiveUp::LongWait,
        GiveUp::Contradiction,
        GiveUp::Refused,
        GiveUp::NoMemory,
        GiveUp::Prediction,
    ];
    let records = [
        CheckRecord::Reached(LocalSite(7)),
        CheckRecord::Unlisted {
            context: ContextId(0),
            kind: 5,
            order: None,
        },
        CheckRecord::Unlisted {
            context: ContextId(0),
            kind: 0,
            order: Some(Order::SeqCst),
        },
        found,
        CheckRecord::Violation {
            access: LocalSite(0),
            newer: None,
            kind: 0,
        },
        CheckRecord::Race {
            first: LocalSite(1),
            second: LocalSite(LocalSite::FIRST_UNLISTED + 1),
            predicted: true,
        },
        CheckRecord::Counts(Counts {
            events: u64::MAX,
            plain_events: 300,
            schedule: 1,
            concurrent: true,
        }),
    ];
    let records = records.into_iter();
    let records: Vec<Record> = records
        .chain(reasons.map(CheckRecord::GaveUp))
        .map(Record::Check)
        .collect();
    let mut trace = Trace::new();
    for record in &records {
        trace.record(record);
    }
    let (read_back, ending) = read(&trace.end(End::Deadlock));
    assert_eq!(read_back, records);
    assert_eq!(ending, Ending::Complete(End::Deadlock));
    // A site that nothing has introduced is damage.
    let mut trace = Trace::new();
    trace.record(&Record::Check(found));
    let (_, ending) = read(&trace.end(End::Deadlock));
    assert!(matches!(ending, Ending::Corrupt { .. }), "{ending:?}");
}

fn orders() -> impl Generate<Value = Order> {
    prop_oneof![
        Just(Order::Relaxed),
        Just(Order::Consume),
        Just(Order::Acquire),
        Just(Order::Release),
        Just(Order::AcqRel),
        Just(Order::SeqCst),
    ]
}

fn value() -> impl Generate<Value = u128> {
    prop_oneof![0..300u128, any::<u64>().prop_map(u128::from), any::<u128>()]
}

fn operation() -> impl Generate<Value = RecordedOperation> {
    let location = || (0..2u32).prop_map(LocationId);
    let mode = || {
        prop_oneof![
            Just(LockMode::Exclusive),
            Just(LockMode::Shared),
            Just(LockMode::Signal)
        ]
    };
    let kind = prop_oneof![
        Just(RmwKind::Exchange),
        Just(RmwKind::Add),
        Just(RmwKind::Sub),
        Just(RmwKind::And),
        Just(RmwKind::Or),
        Just(RmwKind::Xor),
        Just(RmwKind::Nand),
    ];
    prop_oneof![
        (location(), orders(), value()).prop_map(|(location, order, value)| {
            RecordedOperation::Load {
                location,
                order,
                value,
            }
        }),
        (location(), orders(), value()).prop_map(|(location, order, value)| {
            RecordedOperation::Store {
                location,
                order,
                value,
            }
        }),
        (location(), orders(), kind, value(), value()).prop_map(
            |(location, order, kind, read, written)| RecordedOperation::Rmw {
                location,
                order,
                kind,
                read,
                written
            }
        ),
        (
            location(),
            orders(),
            orders(),
            any::<bool>(),
            value(),
            value(),
            any::<bool>()
        )
            .prop_map(
                |(location, success, failure, weak, expected, other, exchanged)| {
                    RecordedOperation::CompareExchange {
                        location,
                        success,
                        failure,
                        weak,
                        expected,
                        read: if exchanged { expected } else { other },
                        written: exchanged.then_some(other),
                    }
                }
            ),
        orders().prop_map(|order| RecordedOperation::Fence { order }),
        (0..4u32).prop_map(|child| RecordedOperation::Join {
            child: ThreadId(child)
        }),
        Just(RecordedOperation::Exit),
        (any::<u64>(), mode()).prop_map(|(lock, mode)| RecordedOperation::Acquire { lock, mode }),
        (any::<u64>(), mode()).prop_map(|(lock, mode)| RecordedOperation::Release { lock, mode }),
        (any::<u64>(), any::<u64>())
            .prop_map(|(address, size)| RecordedOperation::Free { address, size }),
        (any::<u64>(), any::<u64>())
            .prop_map(|(address, size)| RecordedOperation::Reclaim { address, size }),
        (any::<u64>(), 1..17u64)
            .prop_map(|(address, size)| RecordedOperation::Read { address, size }),
        (any::<u64>(), 1..17u64)
            .prop_map(|(address, size)| RecordedOperation::Write { address, size }),
    ]
}

/// Turns and events as they may follow the introduction.
fn steps() -> impl Generate<Value = Vec<Record>> {
    let step = (any::<bool>(), 0..4u32, any::<u64>(), 0..3u32, operation());
    prop::collection::vec(step, 0..40).prop_map(|steps| {
        let mut thread = ThreadId(0);
        let mut records = Vec::new();
        for (switch, to, choices, context, operation) in steps {
            if switch {
                thread = ThreadId(to);
                records.push(Record::Turn(Turn {
                    thread,
                    choices,
                    cause: Cause::Choice,
                }));
            }
            records.push(Record::Event(Event {
                thread,
                context: ContextId(context),
                operation,
            }));
        }
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(steps in steps()) {
        let mut trace = Trace::new();
        let records = [introduction(), steps].concat();
        records.iter().for_each(|record| trace.record(record));
        let bytes = trace.end(End::Exit { code: -1 });
        let reader = Reader::new(&bytes).unwrap();
        prop_assert_eq!(reader.header(), &header());
        prop_assert_eq!(read(&bytes), (records, Ending::Complete(End::Exit { code: -1 })));
    }

    #[test]
    fn a_cut_trace_yields_what_came_before(steps in steps(), keep in 0.0..1.0f64) {
        let mut trace = Trace::new();
        let records = [introduction(), steps].concat();
        records.iter().for_each(|record| trace.record(record));
        let bytes = trace.end(End::Deadlock);
        let start = HEADER_FIXED + 12;
        let keep = start + ((bytes.len() - start) as f64 * keep) as usize;
        let (read, ending) = read(&bytes[..keep]);
        prop_assert_eq!(&records[..read.len()], &read[..]);
        let as_cut = matches!(ending, Ending::Open | Ending::Cut { .. });
        prop_assert!(as_cut, "{:?}", ending);
    }

    #[test]
    fn a_damaged_byte_never_panics_and_spares_what_came_before(
        steps in steps(), context in any::<prop::sample::Index>(), flip in 1..=255u8,
    ) {
        let mut trace = Trace::new();
        let records = [introduction(), steps].concat();
        let mut ends = Vec::new();
        for record in &records {
            trace.record(record);
            ends.push(trace.bytes.len());
        }
        let mut bytes = trace.end(End::Livelock);
        let damaged = context.index(bytes.len());
        bytes[damaged] ^= flip;
        let Ok(mut reader) = Reader::new(&bytes) else {
            prop_assert!(damaged < HEADER_FIXED + 12);
            return Ok(());
        };
        let read: Vec<Record> = reader.by_ref().collect();
        prop_assert!(reader.ending().is_some());
        if damaged >= HEADER_FIXED + 12 {
            let whole = ends.iter().filter(|&&end| end <= damaged).count();
            prop_assert_eq!(&records[..whole], &read[..whole]);
        }
    }
}

#[test]
fn every_end_and_every_wait_is_read_back() {
    let waits = [
        WaitsFor::Lock(1),
        WaitsFor::Condition(2),
        WaitsFor::Semaphore(3),
        WaitsFor::Barrier(4),
        WaitsFor::Futex(u64::MAX),
        WaitsFor::Thread(ThreadId(2)),
        WaitsFor::Value(LocationId(1)),
        WaitsFor::Nothing,
        WaitsFor::Outside,
        WaitsFor::Time,
        WaitsFor::Descriptor(5),
    ];
    let ends = [
        End::Exit { code: 3 },
        End::Signal {
            number: 11,
            thread: ThreadId(3),
            pc: 7,
            context: ContextId(0),
        },
        End::Deadlock,
        End::Livelock,
        End::StepLimit,
        End::NoSpace { errno: 28 },
        End::LimitReached,
    ];
    for end in ends {
        let mut trace = Trace::new();
        let mut records = introduction();
        records.extend(waits.map(|waits_for| {
            Record::Stuck(StuckThread {
                thread: ThreadId(1),
                context: ContextId(2),
                waits_for,
            })
        }));
        let misuses = [
            MisuseKind::UnlockedFree,
            MisuseKind::UnlockedByOther,
            MisuseKind::UsedAfterEnd,
            MisuseKind::EndedInUse,
        ];
        records.extend(misuses.map(|kind| {
            Record::Misuse(Misuse {
                thread: ThreadId(1),
                context: ContextId(2),
                lock: 0x4000,
                kind,
            })
        }));
        records.push(Record::VolatileSpin);
        records.extend([SyncKind::TryExclusive, SyncKind::Unexplored].map(|kind| {
            Record::Sync(SyncRecord {
                context: ContextId(2),
                kind,
                object: 0x4000,
                state: 3,
            })
        }));
        records.extend(["", "snprintf"].map(|function| Record::Unseen {
            context: ContextId(2),
            function: function.into(),
        }));
        records.extend(Limit::ALL.map(Record::Limit));
        records.push(Record::Exec);
        records.push(Record::Stale(None));
        records.push(Record::Stale(Some(AccessName {
            thread: ThreadId(0),
            number: 17,
        })));
        records.push(Record::Ignored(4));
        records.push(Record::Quarantine {
            address: 0x7000,
            size: 64,
        });
        records.push(Record::HandedOut {
            context: ContextId(1),
            address: 0x7000,
            size: 64,
        });
        records.push(Record::HandedBack { address: 0x7000 });
        records.iter().for_each(|record| trace.record(record));
        assert_eq!(read(&trace.end(end)), (records, Ending::Complete(end)));
    }
}

#[test]
fn a_killed_process_leaves_an_open_trace() {
    let mut trace = Trace::new();
    introduction()
        .iter()
        .for_each(|record| trace.record(record));
    trace.bytes.resize(trace.bytes.len() + 4096, 0);
    assert_eq!(read(&trace.bytes), (introduction(), Ending::Open));
}

#[test]
fn a_name_that_was_never_given_is_damage() {
    let mut trace = Trace::new();
    let offset = trace.bytes.len();
    trace.push(MAX_RECORD, |out| {
        encode_event(
            out,
            ContextId(0),
            &RecordedOperation::Load {
                location: LocationId(5),
                order: Order::Relaxed,
                value: 0,
            },
        )
    });
    let what = Corruption::Unknown {
        what: "location",
        number: 5,
    };
    assert_eq!(
        read(&trace.bytes),
        (vec![], Ending::Corrupt { offset, what })
    );
}

#[test]
fn a_lost_record_is_noticed_at_the_end() {
    let mut whole = Trace::new();
    whole.record(&Record::Exec);
    let len = whole.bytes.len();
    whole.record(&Record::Exec);
    let mut bytes = whole.end(End::Deadlock);
    bytes.remove(len);
    let what = Corruption::Count(2);
    assert_eq!(read(&bytes).1, Ending::Corrupt { offset: len, what });
}

#[test]
fn what_is_no_trace_is_told_apart() {
    let whole = Trace::new().bytes;
    assert_eq!(
        Reader::new(b"\x7fELF and so on").unwrap_err(),
        HeaderError::NotATrace
    );
    assert_eq!(Reader::new(&[]).unwrap_err(), HeaderError::Cut);
    assert_eq!(Reader::new(&[0; 4096]).unwrap_err(), HeaderError::Cut);
    assert_eq!(Reader::new(&whole[..50]).unwrap_err(), HeaderError::Cut);
    let mut other = whole.clone();
    other[8] = 99;
    assert_eq!(Reader::new(&other).unwrap_err(), HeaderError::Version(99));
    let mut other = whole;
    other[40] = 99;
    assert!(matches!(
        Reader::new(&other).unwrap_err(),
        HeaderError::Field(_)
    ));
}

#[test]
fn a_typical_event_takes_at_most_sixteen_bytes() {
    let mut out = [0; MAX_RECORD];
    let pointer = 0x7fff_ffff_ffff;
    let operation = RecordedOperation::CompareExchange {
        location: LocationId(60_000),
        success: Order::AcqRel,
        failure: Order::Relaxed,
        weak: true,
        expected: 0,
        read: 0,
        written: Some(pointer),
    };
    assert!(encode_event(&mut out, ContextId(5_000), &operation) <= 16);
    let operation = RecordedOperation::Load {
        location: LocationId(60_000),
        order: Order::Acquire,
        value: pointer,
    };
    assert!(encode_event(&mut out, ContextId(5_000), &operation) <= 16);
}
