//! What a search for repairs stands on: stronger labels never add a violation,
//! and re-analysis of the runs of the original program decides the repaired one.

use wmfix_analysis::{AnalyzerConfig, Event, Labels, Operation};
use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::compare::WatchedAnalyzer;
use wmfix_tests::litmus::{Program, Rng, all_runs, random_run, strengthen, varied};

/// Programs with more runs are left out where all runs are needed.
const MOST_RUNS: usize = 600;

#[test]
fn stronger_labels_never_add_a_violation() {
    let mut rng = Rng::new(41);
    let (mut kept, mut gone) = (0, 0);
    for _ in 0..20_000 {
        let program = varied(&mut rng);
        let labels = strengthen(&program, &mut rng).labels;
        let run = random_run(&program, &mut rng);
        let before = stale_writes(&run, &Labels::new());
        let after = stale_writes(&run, &labels);
        for (event, (before, after)) in before.iter().zip(&after).enumerate() {
            assert!(
                after.iter().all(|write| before.contains(write)),
                "{program}event {event} of {run:#?}\n{labels:?}\n{before:?} became {after:?}"
            );
            kept += after.len();
            gone += before.len() - after.len();
        }
    }
    assert!(kept > 500 && gone > 300, "{kept} kept, {gone} gone");
}

#[test]
fn re_analysis_decides_the_repaired_program() {
    let mut rng = Rng::new(42);
    let (mut judged, mut repaired, mut failed) = (0, 0, 0);
    while judged < 6_000 {
        let program = varied(&mut rng);
        let Some(runs) = all_runs(&program, MOST_RUNS) else {
            continue;
        };
        // Most random programs are robust, and there is little to see in repairing them.
        let was_robust = is_robust(&program, Axioms::RC11);
        if was_robust && rng.percent(75) {
            continue;
        }
        let strengthened = strengthen(&program, &mut rng);
        let quiet = (runs.iter()).all(|run| is_quiet(&stale_writes(run, &strengthened.labels)));
        let robust = is_robust(&strengthened.program, Axioms::RC11);
        assert_eq!(quiet, robust, "{program}became {}", strengthened.program);
        judged += 1;
        failed += usize::from(!robust);
        repaired += usize::from(robust && !was_robust);
    }
    assert!(
        repaired > 300 && failed > 300,
        "{repaired} repaired, {failed} not"
    );
}

#[test]
fn re_analysis_of_a_run_is_the_analysis_of_the_repaired_programs_run() {
    let mut rng = Rng::new(43);
    for _ in 0..10_000 {
        let program = varied(&mut rng);
        let strengthened = strengthen(&program, &mut rng);
        let run = random_run(&program, &mut rng);
        let relabelled: Vec<Event> = strengthened.labels.apply(&run).collect();
        let fresh = same_schedule(&strengthened.program, &relabelled);
        let operations =
            |run: &[Event]| -> Vec<_> { run.iter().map(|e| (e.thread, e.operation)).collect() };
        assert_eq!(operations(&relabelled), operations(&fresh), "{program}");
    }
}

/// Runs a program with the threads in the order they have in a run.
fn same_schedule(program: &Program, run: &[Event]) -> Vec<Event> {
    let mut machine = wmfix_tests::litmus::Machine::new(program);
    let mut fresh = machine.prologue();
    for event in &run[fresh.len()..] {
        let thread = event.thread.0 as usize - 1;
        if event.operation == Operation::Exit {
            fresh.push(machine.exit_event(thread));
            continue;
        }
        // The one choice that a program leaves open is told by the event.
        let choices = machine.choices(thread);
        let step = |choice| {
            let mut next = machine.clone();
            let stepped = next.step(thread, choice);
            (next, stepped.event)
        };
        let taken = choices.iter().map(|&choice| step(choice));
        let mut taken: Vec<_> = taken
            .filter(|(_, e)| e.operation == event.operation)
            .collect();
        let (next, event) = taken.pop().expect("the repaired program can do the same");
        machine = next;
        fresh.push(event);
    }
    fresh
}

/// For each event of the run, the places of the stale writes it could take, if
/// the run is analysed with these labels.
fn stale_writes(run: &[Event], labels: &Labels) -> Vec<Vec<usize>> {
    let mut watched = WatchedAnalyzer::new(AnalyzerConfig::default());
    run.iter()
        .map(|event| {
            let mut stale = Vec::new();
            for event in labels.apply(std::slice::from_ref(event)) {
                if let Some(violation) = watched.watch(&event).unwrap() {
                    stale.extend(watched.places(&violation));
                }
            }
            stale
        })
        .collect()
}

fn is_quiet(stale: &[Vec<usize>]) -> bool {
    stale.iter().all(Vec::is_empty)
}
