//! What the runtime leaves out of a trace, the analysis does not miss: runs in
//! which threads read again and again what they have read, judged with all their
//! reads and with those that the runtime's own detector keeps.

use std::collections::HashMap;

use wmfix_analysis::{AnalyzerConfig, CasOutcome, Event, LoadOrder, Operation};
use wmfix_tests::compare::WatchedAnalyzer;
use wmfix_tests::litmus::{Rng, random_run, varied};

#[allow(dead_code)]
#[path = "../../runtime-rs/src/spin.rs"]
mod spin;

use spin::{Detector, Read};

/// What a violation is, wherever in the stream its event stands: the writes that
/// the event could take, by their places among the location's writes.
type Verdict = Vec<usize>;

fn verdicts(run: &[Event]) -> Vec<Verdict> {
    let mut analyzer = WatchedAnalyzer::new(AnalyzerConfig::default());
    let mut verdict = |event| {
        let violation = analyzer.watch(event).expect("a run of a program");
        violation.map_or_else(Vec::new, |v| analyzer.places(&v))
    };
    run.iter().map(&mut verdict).collect()
}

/// The read that an event is, if it changes nothing.
fn reading(event: &Event) -> Option<Read> {
    let (location, value, order) = match event.operation {
        Operation::Load {
            location,
            value,
            order,
            ..
        } => (location, value, order),
        Operation::CompareExchange {
            location,
            read,
            failure,
            outcome: CasOutcome::Failed,
            ..
        } => (location, read, failure),
        _ => return None,
    };
    Some(Read {
        context: event.site.0,
        location: location.0,
        value,
        order: match order {
            LoadOrder::Relaxed => 0,
            LoadOrder::Acquire => 2,
            LoadOrder::SeqCst => 5,
        },
    })
}

fn changes(event: &Event) -> bool {
    let writes = matches!(
        event.operation,
        Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange {
                outcome: CasOutcome::Exchanged(_),
                ..
            }
    );
    // The runtime takes whatever else others may wait for as a change too.
    writes || matches!(event.operation, Operation::Create { .. } | Operation::Exit)
}

/// The run with reads repeated wherever they can be: nobody has written since.
fn stretched(run: &[Event], rng: &mut Rng) -> Vec<Event> {
    let mut long = Vec::new();
    let mut recent: HashMap<u32, Vec<Event>> = HashMap::new();
    for event in run {
        long.push(*event);
        if changes(event) {
            recent.clear();
        } else if reading(event).is_some() {
            recent.entry(event.thread.0).or_default().push(*event);
        }
        let mut threads: Vec<u32> = recent.keys().copied().collect();
        threads.sort_unstable();
        while !threads.is_empty() && rng.percent(60) {
            let reads = &recent[&rng.pick(&threads)];
            for _ in 0..1 + rng.below(4) {
                long.push(rng.pick(reads));
            }
        }
    }
    long
}

/// Whether the runtime would record each event.
fn recorded(run: &[Event]) -> Vec<bool> {
    let mut detectors: HashMap<u32, Detector> = HashMap::new();
    let mut count = 0;
    let mut keep = |event: &Event| {
        let detector = detectors.entry(event.thread.0).or_default();
        if let Some(read) = reading(event) {
            return !detector.read(read, count).known;
        }
        detector.other();
        if changes(event) {
            detector.progress();
            count += 1;
        }
        true
    };
    run.iter().map(&mut keep).collect()
}

#[test]
fn reads_that_are_left_out_tell_nothing() {
    let mut rng = Rng::new(71);
    let (mut left_out, mut violations) = (0, 0);
    for _ in 0..20_000 {
        let program = varied(&mut rng);
        let long = stretched(&random_run(&program, &mut rng), &mut rng);
        let kept = recorded(&long);
        let short: Vec<Event> = (long.iter().zip(&kept))
            .filter_map(|(event, &kept)| kept.then_some(*event))
            .collect();
        let mut of_short = verdicts(&short).into_iter();
        for ((event, verdict), kept) in long.iter().zip(verdicts(&long)).zip(kept) {
            violations += usize::from(!verdict.is_empty());
            if kept {
                assert_eq!(of_short.next(), Some(verdict), "{program}{event:?}");
            } else {
                left_out += 1;
                assert_eq!(verdict, Verdict::new(), "{program}{event:?}");
            }
        }
    }
    assert!(left_out > 10_000, "{left_out} left out");
    assert!(violations > 1_000, "{violations} violations");
}
