//! Race prediction: the figures of the paper it follows, near misses that must
//! stay silent, exact agreement with brute force on random runs, and no false
//! prediction on random programs.

use std::collections::BTreeSet;

use wmfix_analysis::predict::{Predictor, PredictorConfig};
use wmfix_analysis::reordering::{Checker, Defect, Meeting, RaceWitness, prove_races};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Event, EventIndex, FoundRace, Model, RacingAccess, ReleaseSequences,
};
use wmfix_tests::litmus::{Rng, random_run, with_plain};
use wmfix_tests::predict::{
    ConflictingPair, SyncOrder, confirm, predictable_races, random_trace, trace,
};

/// Which rule it is matters where no two accesses are next to each other only.
const RULE: ReleaseSequences = ReleaseSequences::Cxx20;

/// The predicted pairs, each with a witness that holds.
fn predicted(events: &[Event]) -> BTreeSet<ConflictingPair> {
    let mut predictor = Predictor::new(PredictorConfig::exhaustive());
    events.iter().for_each(|event| predictor.feed(event));
    let races = predictor.into_races();
    let proofs = prove_races(events, &[], &races, RULE).predicted;
    for (race, proof) in races.iter().zip(proofs) {
        let witness = proof.unwrap_or_else(|defect| panic!("{defect}: {race:?}\n{events:#?}"));
        assert_eq!(witness.meeting, Meeting::Adjacent);
    }
    races
        .iter()
        .map(|found| (found.first_event.0 as usize, found.race.event.0 as usize))
        .collect()
}

/// The pairs of events that the run itself shows to race, as sites: in these runs
/// a site is an event.
fn happens_before_races(events: &[Event]) -> BTreeSet<ConflictingPair> {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..AnalyzerConfig::default()
    });
    for event in events {
        analyzer.feed(event).expect("a run");
    }
    let sites = |found: &FoundRace| {
        let site = |access: RacingAccess| access.site.0 as usize;
        (site(found.race.first), site(found.race.second))
    };
    analyzer.races().iter().map(sites).collect()
}

/// The predicted pairs of a run as text, counted from 1 as the paper does; brute
/// force must say the same.
fn assert_predicted(text: &str, expected: &[(usize, usize)]) {
    let mut with_threads = String::new();
    for thread in 1..=4 {
        if text.contains(&format!("{thread}:")) && !text.contains(&format!("create({thread})")) {
            with_threads.push_str(&format!("0:create({thread}) "));
        }
    }
    let created = with_threads.split_whitespace().count();
    let events = trace(&(with_threads + text)).expect("a run");
    let pairs: BTreeSet<_> = predicted(&events);
    let expected: BTreeSet<_> = expected
        .iter()
        .map(|&(a, b)| (a - 1 + created, b - 1 + created))
        .collect();
    assert_eq!(pairs, expected, "of {text}");
    assert_eq!(
        predictable_races(&events, SyncOrder::Preserved),
        expected,
        "by brute force, of {text}"
    );
}

// Mathur, Pavlogiannis and Viswanathan, "Optimal Prediction of
// Synchronization-Preserving Races". The figures are drawings; the runs are what
// the text says about them.

#[test]
fn figure_1a_a_lock_that_happened_to_be_taken_in_this_order() {
    let run = "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)";
    assert_predicted(run, &[(1, 6)]);
    let events = trace(&format!("0:create(1) 0:create(2) {run}")).expect("a run");
    assert!(
        happens_before_races(&events).is_empty(),
        "the run itself hides it"
    );
}

#[test]
fn figure_1b_is_the_witness_of_figure_1a() {
    let run = "0:create(1) 0:create(2) 1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)";
    let events = trace(run).expect("a run");
    let mut predictor = Predictor::new(PredictorConfig::default());
    events.iter().for_each(|event| predictor.feed(event));
    let proofs = prove_races(&events, &[], predictor.races(), RULE).predicted;
    let witness = proofs[0].clone().expect("a proof");
    // Thread 1's critical section is left out.
    let schedule: Vec<u64> = witness.schedule.iter().map(|index| index.0).collect();
    assert_eq!(schedule, [0, 1, 5, 6, 2, 7]);
}

/// What it would take too long to follow ends prediction, not what was found before.
#[test]
fn prediction_ends_with_a_run_that_is_too_long() {
    let race = "0:create(1) 0:create(2) 1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)";
    let later = "1:w(y) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(y)";
    let events = trace(&format!("{race} {later}")).expect("a run");
    let found = |config: PredictorConfig| {
        let mut predictor = Predictor::new(config);
        events.iter().for_each(|event| predictor.feed(event));
        (predictor.races().len(), predictor.gave_up())
    };
    let usual = PredictorConfig::default();
    assert_eq!(found(usual), (2, false));
    assert_eq!(
        found(PredictorConfig {
            events: 14,
            ..usual
        }),
        (2, false)
    );
    assert_eq!(
        found(PredictorConfig {
            events: 13,
            ..usual
        }),
        (1, true)
    );
    assert_eq!(found(PredictorConfig { words: 2, ..usual }), (2, false));
    assert_eq!(found(PredictorConfig { words: 1, ..usual }), (1, true));
}

#[test]
fn figure_1c_a_race_past_an_access_in_between() {
    let run = "1:w(x) 1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)";
    assert_predicted(run, &[(1, 6)]);
}

#[test]
fn figure_2a_a_race_that_the_run_shows() {
    let run = "1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 1:w(x) 2:w(x)";
    assert_predicted(run, &[(5, 6)]);
}

#[test]
fn figure_2b_a_common_lock_protects_one_pair_and_not_the_other() {
    let run = "1:w(x) 1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)";
    assert_predicted(run, &[(1, 6)]);
}

#[test]
fn figure_2c_a_read_in_the_critical_section_forbids_leaving_it_out() {
    let run = "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)";
    assert_predicted(run, &[]);
    // Without the read the critical section need not be there.
    let run = "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)";
    assert_predicted(run, &[(1, 7)]);
}

#[test]
fn figure_3_two_of_three_critical_sections_keep_their_order() {
    // The section of thread 1 is left out for the access of thread 3.
    let run = "1:r(x) 2:w(z) 2:acq(l) 2:w(x) 2:rel(l) 1:acq(l) 1:rel(l) \
               3:acq(l) 3:w(x) 3:rel(l)";
    assert_predicted(run, &[(1, 4), (1, 9)]);
}

#[test]
fn figure_4_only_the_bit_that_differs_races() {
    // The run of the space bound, for u = 1001 and v = 1011.
    let words = |thread: u32, bits: [(bool, &[&str]); 4]| {
        let mut run = String::new();
        for (writes, locks) in bits {
            let mut locks = locks.to_vec();
            if writes {
                locks.push("c");
            }
            for lock in &locks {
                run.push_str(&format!("{thread}:acq({lock}) "));
            }
            let access = if writes { "w" } else { "r" };
            run.push_str(&format!("{thread}:{access}(x) "));
            for lock in locks.iter().rev() {
                run.push_str(&format!("{thread}:rel({lock}) "));
            }
        }
        run
    };
    let one = words(
        1,
        [
            (true, &["b1", "b2"]),
            (false, &["a1", "b2"]),
            (false, &["a2", "b1"]),
            (true, &["a1", "a2"]),
        ],
    );
    let other = |third: bool| {
        words(
            2,
            [
                (true, &["a1", "a2"]),
                (false, &["b1", "a2"]),
                (third, &["b2", "a1"]),
                (true, &["b1", "b2"]),
            ],
        )
    };
    // The caption calls (e15, e40) sync-preserving. It is predictable, but thread
    // 2 has to take a2 and b1 before thread 1 does: by the definition, not
    // without changing the order of their critical sections.
    for (third, free) in [(true, vec![(15, 40)]), (false, vec![])] {
        let run = format!("{one}{}", other(third));
        assert_predicted(&run, &[]);
        let events = trace(&run).expect("a run");
        let pairs = predictable_races(&events, SyncOrder::Free);
        let pairs: Vec<_> = pairs.iter().map(|&(a, b)| (a + 1, b + 1)).collect();
        assert_eq!(pairs, free);
    }
}

// What the paper leaves out.

#[test]
fn readers_of_an_rwlock_may_overlap_but_not_with_a_writer() {
    let run = "1:w(x) 1:rdacq(l) 1:rdrel(l) 2:rdacq(l) 2:w(x) 2:rdrel(l)";
    assert_predicted(run, &[(1, 5)]);
    let run = "1:rdacq(l) 1:w(x) 1:rdrel(l) 2:rdacq(l) 2:w(x) 2:rdrel(l)";
    assert_predicted(run, &[(2, 5)]);
    let run = "1:rdacq(l) 1:w(x) 1:rdrel(l) 2:acq(l) 2:w(x) 2:rel(l)";
    assert_predicted(run, &[]);
    let run = "1:acq(l) 1:w(x) 1:rel(l) 2:rdacq(l) 2:w(x) 2:rdrel(l)";
    assert_predicted(run, &[]);
}

#[test]
fn a_barrier_keeps_both_sides_apart() {
    let run = "1:w(x) 1:give(b) 2:give(b) 1:receive(b) 2:receive(b) 2:w(x)";
    assert_predicted(run, &[]);
    let run = "1:give(b) 2:give(b) 1:receive(b) 2:receive(b) 1:w(x) 2:w(x)";
    assert_predicted(run, &[(5, 6)]);
}

#[test]
fn threads_are_created_and_joined() {
    assert_predicted("1:w(x) 1:create(2) 2:w(x)", &[]);
    assert_predicted("1:create(2) 1:w(x) 2:w(x)", &[(2, 3)]);
    assert_predicted("2:w(x) 2:exit() 1:join(2) 1:w(x)", &[]);
    assert_predicted(
        "1:create(2) 1:acq(l) 1:rel(l) 1:w(x) 2:acq(l) 2:rel(l) 2:w(x)",
        &[(4, 7)],
    );
}

#[test]
fn an_atomic_read_keeps_the_write_it_read() {
    let run = "1:w(x) 1:strel(a) 2:ldacq(a) 2:w(x)";
    assert_predicted(run, &[]);
    // It read nothing of thread 1, or something from before.
    let run = "1:w(x) 2:ldacq(a) 1:strel(a) 2:w(x)";
    assert_predicted(run, &[(1, 4)]);
    let run = "1:strel(a) 1:w(x) 2:ldacq(a) 2:w(x)";
    assert_predicted(run, &[(2, 4)]);
    // The lock would have hidden it.
    let run = "1:strel(a) 1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:ldacq(a) 2:w(x)";
    assert_predicted(run, &[(2, 8)]);
}

#[test]
fn sc_accesses_stay_in_their_order() {
    let run = "1:w(x) 1:stsc(a) 2:stsc(b) 2:ldsc(a) 2:w(x)";
    assert_predicted(run, &[]);
    // Two SC events of which neither reads from the other need not both be there.
    let run = "1:w(x) 1:stsc(a) 2:stsc(b) 2:w(x)";
    assert_predicted(run, &[(1, 4)]);
}

#[test]
fn a_plain_write_races_with_an_atomic_access_to_its_bytes() {
    let mut rng = Rng::new(0);
    let mixed = |pairs: &BTreeSet<ConflictingPair>, events: &[Event]| {
        pairs.iter().any(|&(a, b)| {
            let atomic =
                |index: usize| format!("{:?}", events[index].operation).contains("location");
            atomic(a) != atomic(b)
        })
    };
    let found = (0..500).any(|_| {
        let events = random_trace(&mut rng);
        mixed(&predicted(&events), &events)
    });
    assert!(found, "no random run has one");
}

// Against brute force.

#[test]
fn random_runs_have_exactly_the_predicted_races() {
    let (mut racy, mut hidden, mut clean) = (0, 0, 0);
    for seed in 0..10_000 {
        let events = random_trace(&mut Rng::new(seed));
        let expected = predictable_races(&events, SyncOrder::Preserved);
        assert_eq!(predicted(&events), expected, "seed {seed}: {events:#?}");
        racy += usize::from(!expected.is_empty());
        clean += usize::from(expected.is_empty());
        let shown = happens_before_races(&events);
        hidden += usize::from(!expected.is_empty() && shown.is_empty());
    }
    let counts = format!("{racy} racy, {hidden} of them hidden, {clean} clean");
    assert!(racy > 3_000 && hidden > 30 && clean > 1_000, "{counts}");
}

#[test]
fn the_usual_settings_find_a_partner_for_every_racing_access() {
    for seed in 0..3_000 {
        let events = random_trace(&mut Rng::new(seed));
        let mut predictor = Predictor::new(PredictorConfig::default());
        events.iter().for_each(|event| predictor.feed(event));
        let seconds = |pairs: &BTreeSet<ConflictingPair>| -> BTreeSet<usize> {
            pairs.iter().map(|&(_, second)| second).collect()
        };
        let found: BTreeSet<ConflictingPair> = predictor
            .races()
            .iter()
            .map(|found| (found.first_event.0 as usize, found.race.event.0 as usize))
            .collect();
        let expected = predictable_races(&events, SyncOrder::Preserved);
        assert!(found.is_subset(&expected), "seed {seed}");
        assert_eq!(
            seconds(&found),
            seconds(&expected),
            "seed {seed}: {events:#?}"
        );
    }
}

#[test]
fn every_prediction_on_a_random_program_comes_true() {
    let (mut predicted, mut hidden) = (0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let program = with_plain(&mut rng);
        let run = random_run(&program, &mut rng);
        let confirmed = confirm(&program, &run)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{program}\n{run:#?}"));
        predicted += confirmed.predicted;
        hidden += confirmed.hidden;
    }
    assert!(
        predicted > 2_000 && hidden > 50,
        "{predicted}, {hidden} hidden"
    );
}

// Witnesses of races that the run shows, and witnesses that show nothing.

#[test]
fn every_race_that_a_run_shows_has_a_witness() {
    let (mut adjacent, mut unordered) = (0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let program = with_plain(&mut rng);
        let run = random_run(&program, &mut rng);
        let rule = rng.pick(&[ReleaseSequences::Cxx17, ReleaseSequences::Cxx20]);
        let mut analyzer = Analyzer::new(AnalyzerConfig {
            model: Model::RC11.with(rule),
            races: true,
            ..AnalyzerConfig::default()
        });
        for event in &run {
            analyzer.feed(event).expect("a run");
        }
        let races: Vec<_> = analyzer.races().iter().map(|found| found.race).collect();
        let proofs = prove_races(&run, &races, &[], rule).seen;
        for (race, proof) in races.iter().zip(proofs) {
            let witness =
                proof.unwrap_or_else(|defect| panic!("seed {seed}: {defect}: {race:?}\n{run:#?}"));
            adjacent += usize::from(witness.meeting == Meeting::Adjacent);
            unordered += usize::from(witness.meeting == Meeting::Unordered);
        }
    }
    assert!(
        adjacent > 1_000 && unordered > 100,
        "{adjacent}, {unordered}"
    );
}

fn witness(schedule: &[u64], meeting: Meeting) -> RaceWitness {
    let index = |at: usize| EventIndex(schedule[at]);
    RaceWitness {
        schedule: schedule.iter().map(|&index| EventIndex(index)).collect(),
        first: index(schedule.len() - 2),
        second: index(schedule.len() - 1),
        meeting,
    }
}

#[test]
fn the_checker_refuses_what_is_no_reordering() {
    let run =
        "0:create(1) 0:create(2) 1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)";
    let events = trace(run).expect("a run");
    let checker = Checker::new(&events, RULE);
    let check = |schedule: &[u64]| checker.check(&witness(schedule, Meeting::Adjacent));
    let at = EventIndex;
    assert_eq!(
        check(&[0, 1, 6, 7, 8, 2, 9]),
        Err(Defect::ReadsElsewhere(at(7)))
    );
    assert_eq!(check(&[0, 1, 2, 9]), Err(Defect::OutOfProgramOrder(at(9))));
    assert_eq!(
        check(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 9]),
        Err(Defect::OutOfProgramOrder(at(2))),
        "the first access is there twice"
    );
    assert_eq!(
        check(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        Err(Defect::NoConflict)
    );
    assert_eq!(check(&[0, 6, 2, 9]), Err(Defect::NotCreated(at(6))));
    assert_eq!(check(&[0, 1, 2, 99]), Err(Defect::UnknownEvent(at(99))));
    assert_eq!(check(&[0, 1, 2, 3, 4]), Err(Defect::NoConflict));
    let overlapping = "0:create(1) 0:create(2) 1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)";
    let events = trace(overlapping).expect("a run");
    let checker = Checker::new(&events, RULE);
    let check = |schedule: &[u64]| checker.check(&witness(schedule, Meeting::Adjacent));
    assert_eq!(check(&[0, 1, 2, 5, 3, 6]), Err(Defect::LockHeld(at(5))));
    assert_eq!(check(&[0, 1, 5, 2, 3, 6]), Err(Defect::LockHeld(at(2))));
    let reversed = "0:create(1) 0:create(2) 1:acq(l) 1:rel(l) 1:w(x) 2:acq(l) 2:rel(l) 2:w(x)";
    let events = trace(reversed).expect("a run");
    let checker = Checker::new(&events, RULE);
    let check = |schedule: &[u64]| checker.check(&witness(schedule, Meeting::Adjacent));
    assert_eq!(
        check(&[0, 1, 5, 6, 2, 3, 4, 7]),
        Err(Defect::AnotherOrder(at(2)))
    );
    assert_eq!(check(&[0, 1, 2, 3, 5, 6, 4, 7]), Ok(()));
}

#[test]
fn the_checker_knows_what_happens_before() {
    let ordered = "0:create(1) 0:create(2) 1:w(x) 1:strel(a) 2:ldacq(a) 2:w(x)";
    let events = trace(ordered).expect("a run");
    let whole = RaceWitness {
        schedule: (0..6).map(EventIndex).collect(),
        first: EventIndex(2),
        second: EventIndex(5),
        meeting: Meeting::Unordered,
    };
    assert_eq!(
        Checker::new(&events, RULE).check(&whole),
        Err(Defect::HappensBefore)
    );
    let relaxed = trace(&ordered.replace("strel", "st")).expect("a run");
    assert_eq!(Checker::new(&relaxed, RULE).check(&whole), Ok(()));
    let adjacent = RaceWitness {
        meeting: Meeting::Adjacent,
        ..whole
    };
    assert_eq!(
        Checker::new(&relaxed, RULE).check(&adjacent),
        Err(Defect::Apart)
    );
}
