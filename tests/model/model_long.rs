//! Beyond small programs: runs of many accesses against the axioms, threads that
//! come and go, and runs too long for brute force, in which forgetting must not
//! change a verdict.

use std::collections::BTreeMap;

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, CasOutcome, Event, FenceOrder, Limits, LoadOrder, LocationId,
    Model, Operation, SiteId, StoreOrder, ThreadId, Violation, joins_ahead, witness,
};
use wmfix_tests::brute::Graph;
use wmfix_tests::compare::{Subject, Tally, WatchedAnalyzer, axioms_of, compare_along};
use wmfix_tests::litmus::{Program, Rng, coming_and_going, large};
use wmfix_tests::reference::Reference;
use wmfix_tests::streams::{Shape, stream};

#[test]
fn large_programs() {
    for model in [Model::RC11, Model::RC20] {
        let tally = along_random_runs(8_000, model, large);
        assert!(tally.violations > 5_000, "{tally:?}");
    }
}

#[test]
fn threads_that_come_and_go() {
    for model in [Model::RC11, Model::RC20] {
        let tally = along_random_runs(8_000, model, coming_and_going);
        assert!(tally.violations > 500, "{tally:?}");
    }
}

#[test]
fn forgetting_what_nobody_needs_changes_nothing() {
    // An idle thread that nobody waits for knows nothing, so that nothing can be
    // forgotten on its account: the same run with and without it.
    let (mut violations, mut kept, mut pruned) = (0, 0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let shape = Shape::random(&mut rng);
        let events = stream(&shape, 1_500, &mut rng);
        let mut plain = WatchedAnalyzer::new(unlimited(Model::RC11));
        let mut hoarding = WatchedAnalyzer::new(unlimited(Model::RC11));
        let idle = ThreadId(u32::MAX);
        for watched in [&mut plain, &mut hoarding] {
            // Both get the event, so that the numbers of events stay the same.
            let create = operation_of_main(Operation::Create { child: idle });
            watched.watch(&create).unwrap();
        }
        let exit = Event {
            thread: idle,
            ..operation_of_main(Operation::Exit)
        };
        plain.watch(&exit).unwrap();
        hoarding.watch(&operation_of_main(FENCE)).unwrap();
        for (n, event) in events.iter().enumerate() {
            let expected = hoarding.watch(event).unwrap();
            let got = plain.watch(event).unwrap();
            assert_eq!(got, expected, "seed {seed}, event {n}: {event:?}");
            violations += usize::from(got.is_some());
        }
        kept += plain.analyzer.remembered();
        pruned += hoarding.analyzer.remembered() - plain.analyzer.remembered();
    }
    assert!(violations > 1_000, "{violations} violations");
    assert!(pruned > kept / 2, "{pruned} forgotten, {kept} kept");
}

#[test]
fn threads_that_wait_for_an_end_need_nothing_to_be_remembered() {
    // The same run with and without being told which threads are about to join.
    let (mut violations, mut kept, mut hoarded) = (0, 0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(9_000 + seed);
        let shape = Shape {
            turnover: rng.pick(&[50, 100, 300]),
            ..Shape::random(&mut rng)
        };
        let events = stream(&shape, 1_500, &mut rng);
        let mut joins = joins_ahead(&events).into_iter().peekable();
        let model = rng.pick(&[Model::RC11, Model::RC20]);
        let mut told = WatchedAnalyzer::new(unlimited(model));
        let mut untold = WatchedAnalyzer::new(unlimited(model));
        for (n, event) in (0..).zip(&events) {
            let expected = untold.watch(event).unwrap();
            let got = told.watch(event).unwrap();
            assert_eq!(got, expected, "seed {seed}, event {n}: {event:?}");
            violations += usize::from(got.is_some());
            while let Some(ahead) = joins.next_if(|ahead| ahead.after.0 <= n) {
                told.analyzer.awaits_end(ahead.thread, ahead.child);
            }
            kept += told.analyzer.remembered();
            hoarded += untold.analyzer.remembered();
        }
    }
    assert!(violations > 1_000, "{violations} violations");
    assert!(hoarded > kept, "{hoarded} without being told, {kept} with");
}

#[test]
fn a_thread_that_goes_on_instead_of_joining_shows_nothing_false() {
    let (mut reported, mut missed) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(10_000 + seed);
        let shape = Shape::random(&mut rng);
        let events = stream(&shape, 1_000, &mut rng);
        let model = rng.pick(&[Model::RC11, Model::RC20]);
        let mut exact = WatchedAnalyzer::new(unlimited(model));
        let mut misled = WatchedAnalyzer::new(unlimited(model));
        for (n, event) in events.iter().enumerate() {
            let truth = exact.feed(event).unwrap();
            let got = misled.feed(event).unwrap();
            assert!(
                got.iter().all(|place| truth.contains(place)),
                "seed {seed}, event {n}: {event:?}: {got:?}, truth {truth:?}"
            );
            reported += got.len();
            missed += truth.len() - got.len();
            if rng.percent(2) {
                let [thread, child] = [0, 1].map(|_| ThreadId(rng.below(8) as u32));
                misled.analyzer.awaits_end(thread, child);
            }
        }
    }
    assert!(
        reported > 200 && missed > 200,
        "{reported} reported, {missed} missed"
    );
}

#[test]
fn past_a_limit_nothing_false_is_reported() {
    let (mut reported, mut missed) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(1_000 + seed);
        let shape = Shape::random(&mut rng);
        let events = stream(&shape, 1_000, &mut rng);
        let limits = Limits {
            history: rng.pick(&[1, 2, 4, 8]),
            values: rng.pick(&[1, 2, 4, 8]),
            total: rng.pick(&[20, 200, usize::MAX]),
        };
        let model = rng.pick(&[Model::RC11, Model::RC20]);
        let mut exact = WatchedAnalyzer::new(unlimited(model));
        let mut limited = WatchedAnalyzer::new(AnalyzerConfig {
            limits,
            ..unlimited(model)
        });
        for (n, event) in events.iter().enumerate() {
            let truth = exact.feed(event).unwrap();
            let got = limited.feed(event).unwrap();
            assert!(
                got.iter().all(|place| truth.contains(place)),
                "seed {seed}, event {n}: {event:?}: {got:?}, truth {truth:?}"
            );
            reported += got.len();
            missed += truth.len() - got.len();
        }
    }
    assert!(
        reported > 200 && missed > 200,
        "{reported} reported, {missed} missed"
    );
}

#[test]
fn long_runs_have_the_violations_that_location_clocks_find() {
    let mut violations = 0;
    for seed in 0..100 {
        let mut rng = Rng::new(2_000 + seed);
        let shape = Shape::random(&mut rng);
        let events = stream(&shape, 1_500, &mut rng);
        let mut analyzer = WatchedAnalyzer::new(unlimited(Model::RC20));
        let mut reference = Reference::default();
        for (n, event) in events.iter().enumerate() {
            let expected = reference.feed(event);
            let got = analyzer.feed(event).unwrap();
            assert_eq!(got, expected, "seed {seed}, event {n}: {event:?}");
            violations += usize::from(!got.is_empty());
        }
    }
    assert!(violations > 1_000, "{violations} violations");
}

#[test]
fn a_location_born_again_is_a_new_one() {
    // The same run twice: once an object is made anew in place of the old one, and
    // once every new object is a location that was never used before.
    let (mut violations, mut births) = (0, 0);
    for seed in 0..200 {
        let mut rng = Rng::new(3_000 + seed);
        let shape = Shape::random(&mut rng);
        let events = stream(&shape, 600, &mut rng);
        let mut reborn = WatchedAnalyzer::new(unlimited(Model::RC11));
        let mut fresh = WatchedAnalyzer::new(unlimited(Model::RC11));
        let mut names: BTreeMap<LocationId, LocationId> = BTreeMap::new();
        let mut memory: BTreeMap<LocationId, u64> = BTreeMap::new();
        let mut next_name = 1_000;
        for (n, event) in events.iter().enumerate() {
            let mut event = *event;
            if let Some(location) = location_mut(&mut event.operation).map(|l| *l) {
                if rng.percent(2) {
                    next_name += 1;
                    births += 1;
                    let value = memory.get(&location).copied().unwrap_or(0);
                    names.insert(location, LocationId(next_name));
                    let birth = |location: LocationId| Event {
                        operation: Operation::Birth {
                            location,
                            bytes: Bytes {
                                address: 64 * u64::from(location.0),
                                size: 4,
                            },
                            value,
                        },
                        ..event
                    };
                    reborn.watch(&birth(location)).unwrap();
                    fresh.watch(&birth(LocationId(next_name))).unwrap();
                }
                if let Some(value) = value_after(&event.operation) {
                    memory.insert(location, value);
                }
            }
            let got = reborn.watch(&event).unwrap();
            if let Some(location) = location_mut(&mut event.operation) {
                *location = *names.get(location).unwrap_or(location);
            }
            let expected = fresh.watch(&event).unwrap();
            let stale = |v: Option<&Violation>| v.map(|v| (v.kind, v.newer, v.stale.clone()));
            assert_eq!(
                stale(got.as_ref()),
                stale(expected.as_ref()),
                "seed {seed}, event {n}: {event:?}"
            );
            violations += usize::from(got.is_some());
        }
    }
    assert!(
        violations > 1_000 && births > 1_000,
        "{violations}, {births} births"
    );
}

/// Store buffering with all of a long run between the two halves: four threads that
/// are busy with locations of their own, two of them with SC fences, too.
#[test]
fn a_violation_late_in_a_long_run_is_proved() {
    const PRIVATE_EVENTS: u32 = 200_000;
    for (fence, is_violation) in [(FenceOrder::AcqRel, true), (FenceOrder::SeqCst, false)] {
        let mut events = Vec::new();
        let mut push = |thread: u32, operation| {
            events.push(Event {
                thread: ThreadId(thread),
                site: SiteId(events.len() as u32),
                operation,
            });
        };
        for child in (1..=4).map(ThreadId) {
            push(0, Operation::Create { child });
        }
        push(1, store(0, 1));
        push(1, Operation::Fence { order: fence });
        push(1, load(1, 0));
        for n in 0..PRIVATE_EVENTS {
            private_event(n, &mut push);
        }
        push(2, store(1, 1));
        push(2, Operation::Fence { order: fence });
        push(2, load(0, 1));
        for model in [Model::RC11, Model::RC20] {
            let mut analyzer = Analyzer::new(unlimited(model));
            for event in &events {
                analyzer.feed(event).unwrap();
            }
            let found = analyzer.violations().iter();
            let found: Vec<Violation> = found.map(|found| found.violation.clone()).collect();
            assert_eq!(
                found.len(),
                usize::from(is_violation),
                "{model:?} {fence:?}"
            );
            for proof in witness::prove(&events, &found, model) {
                let proof = proof.unwrap_or_else(|error| panic!("{model:?}: {error}"));
                assert!(proof.witness.nodes.len() > PRIVATE_EVENTS as usize / 4);
            }
        }
    }
}

/// What threads 1 to 4 do with eight locations of their own each.
fn private_event(n: u32, push: &mut impl FnMut(u32, Operation)) {
    let thread = 1 + n % 4;
    let round = n / 4;
    let location = 100 * thread + round / 2 % 8;
    match round % 2 {
        _ if thread > 2 && round % 64 == 63 => push(
            thread,
            Operation::Fence {
                order: FenceOrder::SeqCst,
            },
        ),
        0 => push(thread, store(location, u64::from(round))),
        _ => push(thread, load(location, u64::from(round - 1))),
    }
}

fn store(location: u32, value: u64) -> Operation {
    Operation::Store {
        location: LocationId(location),
        order: StoreOrder::Release,
        value,
    }
}

fn load(location: u32, value: u64) -> Operation {
    Operation::Load {
        location: LocationId(location),
        order: LoadOrder::Acquire,
        value,
        exit: None,
    }
}

fn location_mut(operation: &mut Operation) -> Option<&mut LocationId> {
    match operation {
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => Some(location),
        _ => None,
    }
}

fn value_after(operation: &Operation) -> Option<u64> {
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

fn along_random_runs(count: u64, model: Model, generate: impl Fn(&mut Rng) -> Program) -> Tally {
    let mut sum = Tally::default();
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let program = generate(&mut rng);
        if !Graph::fits(&program) {
            continue;
        }
        let subject = WatchedAnalyzer::new(unlimited(model));
        match compare_along(&program, axioms_of(model), &subject, &mut rng) {
            Ok(tally) => {
                sum.accesses += tally.accesses;
                sum.violations += tally.violations;
            }
            Err(disagreement) => panic!("seed {seed}\n{disagreement}"),
        }
    }
    sum
}

fn unlimited(model: Model) -> AnalyzerConfig {
    let limits = Limits {
        history: usize::MAX,
        values: usize::MAX,
        total: usize::MAX,
    };
    AnalyzerConfig {
        model,
        limits,
        ..AnalyzerConfig::default()
    }
}

const FENCE: Operation = Operation::Fence {
    order: FenceOrder::Acquire,
};

fn operation_of_main(operation: Operation) -> Event {
    Event {
        thread: ThreadId(0),
        site: SiteId(0),
        operation,
    }
}
