//! Streams that no program can have produced: each gives its own error, changes
//! nothing, and the analyzer goes on.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, CasOutcome, CasStrength, Comparison, Event, EventIndex,
    FenceOrder, Limits, LoadOrder, LocationId, LockId, LockMode, LoopExit, Model, Operation,
    RmwOrder, SiteId, StoreOrder, StreamError, ThreadId,
};

const X: LocationId = LocationId(0);
const LOCK: LockId = LockId(7);

fn event(thread: u32, operation: Operation) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(thread),
        operation,
    }
}

fn store(thread: u32, location: LocationId, value: u64) -> Event {
    event(
        thread,
        Operation::Store {
            location,
            order: StoreOrder::Relaxed,
            value,
        },
    )
}

fn load(thread: u32, location: LocationId, value: u64) -> Event {
    event(
        thread,
        Operation::Load {
            location,
            order: LoadOrder::Relaxed,
            value,
            exit: None,
        },
    )
}

fn create(thread: u32, child: u32) -> Event {
    event(
        thread,
        Operation::Create {
            child: ThreadId(child),
        },
    )
}

fn join(thread: u32, child: u32) -> Event {
    event(
        thread,
        Operation::Join {
            child: ThreadId(child),
        },
    )
}

fn acquire(thread: u32, mode: LockMode) -> Event {
    event(thread, Operation::Acquire { lock: LOCK, mode })
}

fn release(thread: u32, mode: LockMode) -> Event {
    event(thread, Operation::Release { lock: LOCK, mode })
}

/// Feeds `before`, expects `error` from `bad`, and expects that the rest of a
/// store-buffering run is judged as if `bad` had never been there.
fn refused(before: &[Event], bad: Event, error: StreamError) {
    let mut analyzer = Analyzer::new(AnalyzerConfig::default());
    for event in before {
        analyzer.feed(event).expect("a well-formed beginning");
    }
    assert_eq!(analyzer.feed(&bad), Err(error));
    assert_eq!(
        analyzer.feed(&bad),
        Err(error),
        "refused for the same reason again"
    );

    let (x, y) = (LocationId(100), LocationId(101));
    let run = [
        create(0, 50),
        store(0, x, 1),
        load(0, y, 0),
        store(50, y, 1),
        load(50, x, 1),
    ];
    let steps: Vec<_> = run
        .iter()
        .map(|event| analyzer.feed(event).expect("goes on"))
        .collect();
    assert!(steps[..4].iter().all(|step| step.violation.is_none()));
    assert!(
        steps[4].violation.is_some(),
        "the stale read of x is found all the same"
    );
}

#[test]
fn an_unknown_thread_is_refused() {
    refused(&[], store(3, X, 1), StreamError::UnknownThread(ThreadId(3)));
    refused(&[], join(0, 3), StreamError::UnknownThread(ThreadId(3)));
}

#[test]
fn an_event_after_exit_is_refused() {
    let ended = [create(0, 1), event(1, Operation::Exit)];
    refused(&ended, store(1, X, 1), StreamError::AfterExit(ThreadId(1)));
}

#[test]
fn a_thread_is_created_once() {
    refused(
        &[create(0, 1)],
        create(0, 1),
        StreamError::ThreadExists(ThreadId(1)),
    );
    refused(&[], create(0, 0), StreamError::ThreadExists(ThreadId(0)));
}

#[test]
fn a_thread_is_joined_once_and_after_its_exit() {
    refused(
        &[create(0, 1)],
        join(0, 1),
        StreamError::JoinBeforeExit(ThreadId(1)),
    );
    let joined = [create(0, 1), event(1, Operation::Exit), join(0, 1)];
    refused(&joined, join(0, 1), StreamError::JoinedTwice(ThreadId(1)));
}

#[test]
fn a_lock_is_given_back_by_its_holder() {
    let thread = ThreadId(0);
    for mode in [LockMode::Exclusive, LockMode::Shared] {
        refused(&[], release(0, mode), StreamError::NotHeld(LOCK, thread));
    }
    let held = [create(0, 1), acquire(1, LockMode::Exclusive)];
    refused(
        &held,
        release(0, LockMode::Exclusive),
        StreamError::NotHeld(LOCK, thread),
    );
    refused(
        &held,
        acquire(0, LockMode::Exclusive),
        StreamError::HeldByOther(LOCK, thread),
    );
    refused(
        &held,
        acquire(0, LockMode::Shared),
        StreamError::HeldByOther(LOCK, thread),
    );
}

#[test]
fn a_recursive_lock_is_held_until_its_last_unlock() {
    let twice = [
        create(0, 1),
        acquire(1, LockMode::Exclusive),
        acquire(1, LockMode::Exclusive),
        release(1, LockMode::Exclusive),
    ];
    refused(
        &twice,
        acquire(0, LockMode::Exclusive),
        StreamError::HeldByOther(LOCK, ThreadId(0)),
    );
}

#[test]
fn a_range_that_wraps_is_refused() {
    let bytes = Bytes {
        address: u64::MAX - 3,
        size: 8,
    };
    let error = StreamError::BadRange {
        address: bytes.address,
        size: 8,
    };
    refused(&[], event(0, Operation::Read { bytes }), error);
    refused(&[], event(0, Operation::Write { bytes }), error);
    refused(&[], event(0, Operation::Death { bytes }), error);
    refused(
        &[],
        event(
            0,
            Operation::Birth {
                location: X,
                bytes,
                value: 0,
            },
        ),
        error,
    );
}

#[test]
fn a_compare_exchange_must_agree_with_itself() {
    let cas = |read, outcome| {
        event(
            0,
            Operation::CompareExchange {
                location: X,
                success: RmwOrder::AcqRel,
                failure: LoadOrder::Acquire,
                strength: CasStrength::Strong,
                expected: 0,
                read,
                outcome,
                blocking: false,
            },
        )
    };
    refused(
        &[],
        cas(1, CasOutcome::Exchanged(5)),
        StreamError::ImpossibleCas(X),
    );
    refused(
        &[],
        cas(0, CasOutcome::Failed),
        StreamError::ImpossibleCas(X),
    );
}

#[test]
fn time_does_not_run_backwards() {
    let mut analyzer = Analyzer::new(AnalyzerConfig::default());
    analyzer
        .feed_at(EventIndex(10), &store(0, X, 1))
        .expect("the first event");
    let error = StreamError::OutOfOrder(EventIndex(10), EventIndex(10));
    assert_eq!(
        analyzer.feed_at(EventIndex(10), &store(0, X, 2)),
        Err(error)
    );
    assert!(analyzer.feed_at(EventIndex(11), &load(0, X, 1)).is_ok());
    assert_eq!(
        analyzer.unseen_writes(),
        0,
        "the refused store left no trace"
    );
}

#[test]
fn a_value_that_nobody_wrote_is_an_unseen_write_and_silences_what_was_before() {
    let mut analyzer = Analyzer::new(AnalyzerConfig::default());
    let (x, y) = (LocationId(0), LocationId(1));
    let run = [
        create(0, 1),
        store(0, x, 1),
        load(0, y, 0),
        store(1, y, 1),
        load(1, x, 9),
    ];
    for event in &run {
        assert_eq!(analyzer.feed(event).expect("well formed").violation, None);
    }
    assert_eq!(analyzer.unseen_writes(), 1);
}

fn order<T: Clone + std::fmt::Debug + 'static>(orders: &[T]) -> proptest::sample::Select<T> {
    proptest::sample::select(orders.to_vec())
}

fn exit() -> impl Strategy<Value = Option<LoopExit>> {
    let relations = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];
    proptest::option::weighted(
        0.2,
        (
            any::<u64>(),
            order(&relations),
            0u64..3,
            proptest::option::of(any::<u8>()),
        )
            .prop_map(|(mask, comparison, operand, signed)| LoopExit {
                mask,
                comparison,
                operand,
                signed,
            }),
    )
}

/// Any operation at all, most of them on a few threads, places and locks.
fn operation() -> impl Strategy<Value = Operation> {
    use {FenceOrder as F, LoadOrder as L, RmwOrder as U, StoreOrder as S};
    let location = prop_oneof![9 => 0u32..4, 1 => any::<u32>()].prop_map(LocationId);
    let thread = prop_oneof![9 => 0u32..5, 1 => any::<u32>()].prop_map(ThreadId);
    let load_order = order(&[L::Relaxed, L::Acquire, L::SeqCst]);
    let rmw_order = order(&[U::Relaxed, U::Acquire, U::Release, U::AcqRel, U::SeqCst]);
    let mode = order(&[LockMode::Exclusive, LockMode::Shared, LockMode::Signal]);
    let lock = (0u64..2).prop_map(LockId);
    let bytes = prop_oneof![
        8 => (0u64..64, 0u64..20).prop_map(|(address, size)| Bytes { address, size }),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(address, size)| Bytes { address, size }),
    ];
    prop_oneof![
        4 => (location.clone(), load_order.clone(), 0u64..3, exit()).prop_map(
            |(location, order, value, exit)| Operation::Load { location, order, value, exit }
        ),
        4 => (location.clone(), order(&[S::Relaxed, S::Release, S::SeqCst]), 0u64..3).prop_map(
            |(location, order, value)| Operation::Store { location, order, value }
        ),
        3 => (location.clone(), rmw_order.clone(), 0u64..3, 0u64..3, exit()).prop_map(
            |(location, order, read, written, exit)| {
                Operation::Rmw { location, order, read, written, exit }
            }
        ),
        3 => (
            (location.clone(), rmw_order, load_order),
            (order(&[CasStrength::Weak, CasStrength::Strong]), 0u64..3, 0u64..3),
            (proptest::option::of(0u64..3), any::<bool>()),
        )
            .prop_map(|((location, success, failure), (strength, expected, read), (wrote, blocking))| {
                let outcome = wrote.map_or(CasOutcome::Failed, CasOutcome::Exchanged);
                Operation::CompareExchange {
                    location, success, failure, strength, expected, read, outcome, blocking,
                }
            }),
        2 => order(&[F::Acquire, F::Release, F::AcqRel, F::SeqCst])
            .prop_map(|order| Operation::Fence { order }),
        2 => thread.clone().prop_map(|child| Operation::Create { child }),
        1 => thread.prop_map(|child| Operation::Join { child }),
        1 => Just(Operation::Exit),
        1 => (lock.clone(), mode.clone()).prop_map(|(lock, mode)| Operation::Acquire { lock, mode }),
        1 => (lock, mode).prop_map(|(lock, mode)| Operation::Release { lock, mode }),
        1 => (location, bytes.clone(), 0u64..3)
            .prop_map(|(location, bytes, value)| Operation::Birth { location, bytes, value }),
        1 => bytes.clone().prop_map(|bytes| Operation::Death { bytes }),
        1 => bytes.clone().prop_map(|bytes| Operation::Read { bytes }),
        1 => bytes.prop_map(|bytes| Operation::Write { bytes }),
    ]
}

fn stream() -> impl Strategy<Value = Vec<Event>> {
    let thread = prop_oneof![19 => 0u32..5, 1 => any::<u32>()];
    let events = (thread, 0u32..6, operation()).prop_map(|(thread, site, operation)| Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        operation,
    });
    proptest::collection::vec(events, 0..250)
}

fn config() -> impl Strategy<Value = AnalyzerConfig> {
    let limits = prop_oneof![
        Just(Limits::default()),
        (1usize..6, 1usize..6, 1usize..40).prop_map(|(history, values, total)| Limits {
            history,
            values,
            total
        }),
    ];
    (order(&[Model::RC11, Model::RC20]), any::<bool>(), limits).prop_map(
        |(model, races, limits)| AnalyzerConfig {
            model,
            races,
            limits,
        },
    )
}

/// The same cases every time.
fn fixed() -> ProptestConfig {
    ProptestConfig {
        cases: 3000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(fixed())]

    /// Whatever comes in: no panic, and what is refused has changed nothing. The
    /// second is shown by a twin that never sees the refused events.
    #[test]
    fn any_stream_is_survived(config in config(), stream in stream()) {
        let mut analyzer = Analyzer::new(config);
        let mut twin = Analyzer::new(config);
        for (index, event) in stream.iter().enumerate() {
            let index = EventIndex(index as u64);
            if let Ok(step) = analyzer.feed_at(index, event) {
                prop_assert_eq!(twin.feed_at(index, event), Ok(step));
            }
        }
        prop_assert_eq!(analyzer.violations(), twin.violations());
        prop_assert_eq!(analyzer.races(), twin.races());
        prop_assert_eq!(analyzer.remembered(), twin.remembered());
    }

    /// With limits so small that almost everything is forgotten, nothing is
    /// reported that is not reported without limits.
    #[test]
    fn limits_only_silence(stream in stream(), history in 1usize..5, values in 1usize..5) {
        let tight = Limits { history, values, total: 16 };
        let mut capped = Analyzer::new(AnalyzerConfig { limits: tight, ..AnalyzerConfig::default() });
        let mut exact = Analyzer::new(AnalyzerConfig::default());
        for event in &stream {
            let found = capped.feed(event);
            let truth = exact.feed(event);
            prop_assert_eq!(found.is_ok(), truth.is_ok());
            if let (Ok(found), Ok(truth)) = (found, truth) {
                prop_assert!(found.violation.is_none() || truth.violation.is_some());
            }
        }
    }
}
