//! Findings from traces made up here: store buffering and its near misses.

use std::fs;
use std::sync::{LazyLock, Mutex};

use wmfix_analysis::{AnalyzerConfig, ViolationKind};
use wmfix_frontend::Vocabularies;
use wmfix_tests::fuzzing::fuzz;
use wmfix_trace::{
    Cause, CheckRecord, ContextId, End, Ending, GiveUp, Header, HeaderError, LocalSite, LocationId,
    LockMode, MAX_RECORD, Misuse, MisuseKind, Module, Order, Reader,
    RecordedOperation as Operation, StackId, Strategy, StuckThread, SyncKind, SyncRecord, ThreadId,
    Turn, Volatile, WaitsFor, encode_check, encode_context, encode_end, encode_event,
    encode_header, encode_misuse, encode_module, encode_stack, encode_stuck, encode_sync,
    encode_turn, module_len,
};

use super::collect::CollectedFindings;
use super::observation::{
    Doubt, KnownFindings, Observation, ObservationConfig, TraceProblem, ViolationInstance, observe,
};
use super::process_end::EndCause;
use crate::observe::{Places, Scope};
use crate::options::ReadLimits;
use crate::run::{FinishedRun, RunEnd};

/// A trace in the making: every event at a place of its own.
struct Made {
    bytes: Vec<u8>,
    records: u64,
    places: u32,
    thread: u32,
}

impl Made {
    fn new() -> Self {
        Self::with(Strategy::Pct, false)
    }

    fn with(strategy: Strategy, checked: bool) -> Self {
        let header = Header {
            pid: 1,
            parent: 0,
            started: 0,
            seed: 1,
            strategy,
            volatile: Volatile::Ignore,
            races: true,
            forked: false,
            checked,
            command: Vec::new(),
        };
        Self {
            bytes: encode_header(&header, b"prog\0"),
            records: 0,
            places: 0,
            thread: 0,
        }
    }

    fn record(&mut self, encode: impl FnOnce(&mut [u8]) -> usize) {
        let mut record = [0; MAX_RECORD];
        let length = encode(&mut record);
        self.bytes.extend_from_slice(&record[..length]);
        self.records += 1;
    }

    fn event(&mut self, thread: u32, operation: Operation) -> &mut Self {
        if thread != self.thread {
            self.thread = thread;
            let turn = Turn {
                thread: ThreadId(thread),
                choices: 1,
                cause: Cause::Choice,
            };
            self.record(|out| encode_turn(out, turn));
        }
        self.places += 1;
        let (place, pc) = (ContextId(self.places), 0x1000 + u64::from(self.places));
        self.record(|out| encode_context(out, StackId(0), pc));
        self.record(|out| encode_event(out, place, &operation));
        self
    }

    fn end(&mut self, end: End) -> Vec<u8> {
        let records = self.records;
        self.record(|out| encode_end(out, end, records));
        self.bytes.clone()
    }
}

fn store(location: u32, order: Order, value: u128) -> Operation {
    Operation::Store {
        location: LocationId(location),
        order,
        value,
    }
}

fn load(location: u32, order: Order, value: u128) -> Operation {
    Operation::Load {
        location: LocationId(location),
        order,
        value,
    }
}

fn born(address: u64, size: u8) -> Operation {
    Operation::Birth {
        location: LocationId(0),
        address,
        size,
        value: 0,
    }
}

fn started(child: u32) -> Operation {
    Operation::Create {
        child: ThreadId(child),
        start: 0,
    }
}

/// x = 1; read y || y = 1; read x, the second thread after the first.
fn store_buffering(write: Order, read: Order, written: u128) -> Vec<u8> {
    let mut made = Made::new();
    made.event(0, born(0x100, 16)).event(0, born(0x110, 16));
    made.event(0, started(1)).event(0, started(2));
    made.event(1, store(0, write, written))
        .event(1, load(1, read, 0))
        .event(1, Operation::Exit);
    made.event(2, store(1, write, written))
        .event(2, load(0, read, written))
        .event(2, Operation::Exit);
    made.event(0, Operation::Join { child: ThreadId(1) });
    made.end(End::Exit { code: 0 })
}

/// A run with some of everything that a trace can hold.
fn assorted(strategy: Strategy, checked: bool) -> Vec<u8> {
    let mut made = Made::with(strategy, checked);
    let module = Module {
        bias: 0x1000,
        first: 0x1000,
        end: 0x9000,
        build_id: vec![1, 2, 3],
        path: "/nonexistent/prog".to_owned(),
    };
    let mut bytes = vec![0; module_len(&module)];
    let len = encode_module(&mut bytes, &module);
    made.bytes.extend_from_slice(&bytes[..len]);
    made.records += 1;
    made.record(|out| encode_stack(out, StackId(0), 0x2000));
    made.record(|out| encode_stack(out, StackId(1), 0x3000));
    let (lock, address) = (0x500, 0x600);
    made.event(0, born(0x100, 4)).event(0, started(1));
    made.event(0, Operation::Write { address, size: 4 });
    made.event(0, store(0, Order::Release, 1));
    made.event(1, load(0, Order::Acquire, 1));
    let mode = LockMode::Exclusive;
    made.event(1, Operation::Acquire { lock, mode });
    made.event(1, Operation::Read { address, size: 4 });
    made.event(1, Operation::Release { lock, mode });
    made.event(
        1,
        Operation::CompareExchange {
            location: LocationId(0),
            success: Order::AcqRel,
            failure: Order::Relaxed,
            weak: true,
            expected: 1,
            read: 1,
            written: Some(2),
        },
    );
    let order = Order::SeqCst;
    made.event(0, Operation::Fence { order });
    made.event(0, Operation::Free { address, size: 16 });
    made.event(1, Operation::Exit);
    let (thread, context) = (ThreadId(0), ContextId(1));
    for kind in [SyncKind::Try, SyncKind::Publish, SyncKind::Unexplored] {
        let sync = SyncRecord {
            context,
            kind,
            object: lock,
            state: 1,
        };
        made.record(|out| encode_sync(out, &sync));
    }
    let local = LocalSite(LocalSite::FIRST_UNLISTED);
    let checks = [
        CheckRecord::Unlisted {
            context,
            kind: 0,
            order: Some(Order::Relaxed),
        },
        CheckRecord::Reached(local),
        CheckRecord::Violation {
            access: local,
            newer: Some(local),
            kind: 0,
        },
        CheckRecord::Race {
            first: local,
            second: local,
            predicted: false,
        },
        CheckRecord::GaveUp(GiveUp::LongWait),
    ];
    for check in checks {
        made.record(|out| encode_check(out, &check));
    }
    let misuse = Misuse {
        thread,
        context,
        lock,
        kind: MisuseKind::UnlockedFree,
    };
    made.record(|out| encode_misuse(out, &misuse));
    let stuck = StuckThread {
        thread,
        context,
        waits_for: WaitsFor::Lock(lock),
    };
    made.record(|out| encode_stuck(out, &stuck));
    made.end(End::Deadlock)
}

/// A damaged trace is read as far as it goes, analysed and proved from.
#[test]
fn fuzz_traces() {
    let seeds = [
        store_buffering(Order::Release, Order::Acquire, 1),
        assorted(Strategy::Pct, false),
        assorted(Strategy::Explore, false),
        assorted(Strategy::Pct, true),
    ];
    for seed in &seeds {
        let mut reader = Reader::new(seed).unwrap();
        reader.by_ref().for_each(drop);
        let ending = reader.ending();
        assert!(matches!(ending, Some(Ending::Complete(_))), "{ending:?}");
    }
    fuzz("trace", &seeds, &[], |bytes| {
        collected(&[bytes.to_vec()]);
    });
}

fn collected(traces: &[Vec<u8>]) -> CollectedFindings {
    collected_after(traces, |_| {})
}

/// What runs show, each observation tampered with first.
fn collected_after(
    traces: &[Vec<u8>],
    mut tamper: impl FnMut(&mut Observation),
) -> CollectedFindings {
    let folder = tempfile::tempdir().unwrap();
    static VOCABULARIES: LazyLock<Vocabularies> = LazyLock::new(Vocabularies::builtin);
    let places = Mutex::new(Places::new(VOCABULARIES.clone(), Scope::default()));
    let known = KnownFindings::default();
    let mut collected = CollectedFindings::default();
    for (seed, trace) in (0..).zip(traces) {
        let path = folder.path().join("trace");
        fs::write(&path, trace).unwrap();
        let finished = FinishedRun {
            ended: RunEnd::Exited(0),
            output: folder.path().join("output"),
            traces: vec![path],
            is_too_large: false,
        };
        let config = AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        };
        let mut observation = observe(
            &finished,
            &places,
            &known,
            ObservationConfig {
                analyzer: config,
                predict: true,
                limits: ReadLimits {
                    events: u64::MAX,
                    memory: u64::MAX,
                },
            },
            &|| false,
        )
        .unwrap();
        tamper(&mut observation);
        collected.take(0, seed, observation, &known);
    }
    collected
}

#[test]
fn store_buffering_is_found_and_its_witness_holds() {
    let trace = store_buffering(Order::Release, Order::Acquire, 1);
    let collected = collected(&[trace.clone(), trace]);
    let [finding] = &collected.violations[..] else {
        panic!("{:?}", collected.violations);
    };
    assert_eq!(finding.key.2, ViolationKind::StaleRead);
    assert_eq!((finding.seed, finding.runs), (0, 2));
    assert_eq!(finding.first.doubt, None);
    assert_eq!(finding.first.read_value, Some(1));
    assert_eq!(finding.first.stale_values, [0]);
    assert_eq!(collected.distinct_schedules(), 1);
    assert!(!finding.first.steps.is_empty());
}

#[test]
fn what_the_checker_does_not_confirm_is_no_finding() {
    let trace = store_buffering(Order::Release, Order::Acquire, 1);
    let refute = |observation: &mut Observation| {
        for (key, instance) in std::mem::take(&mut observation.violations) {
            let refuted = instance.map(|instance| ViolationInstance {
                doubt: Some(Doubt::Refuted),
                ..instance
            });
            observation.add_violation(key, refuted);
        }
    };
    let never = collected_after(&[trace.clone(), trace.clone()], refute);
    assert_eq!(never.violations.len(), 0);
    assert_eq!(never.never_confirmed().count(), 1);
    // Another run may confirm it.
    let mut runs = 0;
    let later = collected_after(&[trace.clone(), trace], |observation| {
        runs += 1;
        if runs == 1 {
            refute(observation);
        }
    });
    assert_eq!(later.violations.len(), 1);
    assert_eq!(later.never_confirmed().count(), 0);
}

#[test]
fn sequentially_consistent_accesses_stay_silent() {
    let collected = collected(&[store_buffering(Order::SeqCst, Order::SeqCst, 1)]);
    assert!(collected.violations.is_empty());
    assert!(collected.races.is_empty());
    assert!(collected.problems.is_empty());
}

#[test]
fn values_of_sixteen_bytes_keep_their_bits() {
    let wide = 7 << 64 | 5;
    let collected = collected(&[store_buffering(Order::Relaxed, Order::Relaxed, wide)]);
    assert_eq!(collected.violations[0].first.read_value, Some(wide));
    assert_eq!(collected.violations[0].first.stale_values, [0]);
}

#[test]
fn a_plain_race_is_found_once_for_both_directions() {
    let racing = |first: u32, second: u32| {
        let mut made = Made::new();
        made.event(0, started(1)).event(0, started(2));
        let write = Operation::Write {
            address: 64,
            size: 4,
        };
        made.event(first, write).event(second, write);
        made.end(End::Exit { code: 0 })
    };
    let collected = collected(&[racing(1, 2), racing(2, 1)]);
    assert_eq!(collected.races.len(), 1);
    assert_eq!(collected.races[0].runs, 2);
}

#[test]
fn damaged_and_unfinished_traces_are_told_apart() {
    let mut cut = store_buffering(Order::Release, Order::Acquire, 1);
    let length = cut.len();
    cut.truncate(length - 3);
    let deadlock = Made::new().event(0, started(1)).end(End::Deadlock);
    let collected = collected(&[cut, b"no trace".to_vec(), deadlock]);
    assert_eq!(collected.violations.len(), 1);
    assert_eq!(
        collected.problems,
        [(TraceProblem::Unreadable(HeaderError::NotATrace), 1)]
    );
    let causes: Vec<EndCause> = collected.ends.iter().map(|one| one.end.cause).collect();
    assert!(
        matches!(causes[..], [EndCause::Cut { .. }, EndCause::Deadlock]),
        "{causes:?}"
    );
}
