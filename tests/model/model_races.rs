//! Data races: the detector against the definition on random programs, and the
//! examples and near misses that the literature knows.

use wmfix_analysis::{Model, ReleaseSequences};
use wmfix_tests::brute::has_race;
use wmfix_tests::compare::{Effort, axioms_of, compare_races};
use wmfix_tests::litmus::{Program, Rng, program, with_plain};

#[test]
fn random_programs() {
    let (mut racy, mut clean) = (0, 0);
    for seed in 0..4_000 {
        let program = with_plain(&mut Rng::new(seed));
        let (racing, _) = detect(&program, Model::RC11);
        racy += usize::from(racing > 0);
        clean += usize::from(racing == 0);
    }
    assert!(racy > 500 && clean > 500, "{racy} racy, {clean} clean");
}

#[test]
fn random_programs_by_cpp17s_release_sequences() {
    let (mut racy, mut clean) = (0, 0);
    for seed in 0..4_000 {
        let program = with_plain(&mut Rng::new(seed));
        let (racing, _) = detect(&program, CXX17);
        assert!(
            racing == 0 || has_race(&program, axioms_of(Model::RC11)),
            "{program}"
        );
        racy += usize::from(racing > 0);
        clean += usize::from(racing == 0);
    }
    assert!(racy > 500 && clean > 500, "{racy} racy, {clean} clean");
}

// Lidbury and Donaldson, "Dynamic Race Detection for C++11", Fig. 1.

#[test]
fn a_relaxed_store_between_breaks_the_release_sequence() {
    // (a): T3 may read T2's store, which is no part of T1's release sequence.
    let threads = [
        "write p 1; x=1.rel",
        "a=x.acq; skipunless a 1 1; x=2.rlx",
        "b=x.acq; skipunless b 2 1; read p",
    ];
    assert_race(&threads, true);
}

#[test]
fn a_read_out_of_order_is_no_race() {
    // (b): nothing plain in it; it is a matter of robustness (see `model_named`).
    assert_race(&["x=1.rlx; y=1.rlx", "a=y.rlx; b=x.rlx"], false);
}

#[test]
fn two_fences_synchronise() {
    // (c)
    let threads = [
        "write p 1; F.rel; x=1.rlx",
        "a=x.rlx; skipunless a 1 2; F.acq; read p",
    ];
    assert_race(&threads, false);
}

// Release sequences.

#[test]
fn an_rmw_continues_a_release_sequence() {
    for order in ["rlx", "acq", "rel", "acqrel", "sc"] {
        let between = format!("b=fadd(x,1).{order}");
        let threads = [
            "write p 1; x=1.rel",
            &between,
            "a=x.acq; skipunless a 2 1; read p",
        ];
        // Where the RMW comes first, x is 1 at the end and p is not read.
        assert_race(&threads, false);
    }
}

#[test]
fn a_store_of_another_thread_does_not_continue_one() {
    let reader = "a=x.acq; skipunless a 2 1; read p";
    assert_race(&["write p 1; x=1.rel; x=2.rel", reader], false);
    let other = "b=x.rlx; skipunless b 1 1; x=2.rlx";
    assert_race(&["write p 1; x=1.rel", other, reader], true);
}

#[test]
fn a_store_of_the_same_thread_continues_one_up_to_cpp17() {
    let reader = "a=x.acq; skipunless a 2 1; read p";
    assert_races(&["write p 1; x=1.rel; x=2.rlx", reader], false, true);
    assert_races(&["write p 1; x=1.rlx; x=2.rlx", reader], true, true);
    // Another thread's read-modify-write in between does not end it.
    let middle = "b=fadd(x,4).rlx";
    assert_races(
        &["write p 1; x=1.rel; x=2.rlx", middle, reader],
        false,
        true,
    );
    // The sequences of the other thread end.
    let updates = "write p 1; b=fadd(x,4).rel";
    assert_races(&["x=1.rlx; x=2.rlx", updates, reader], true, true);
}

#[test]
fn another_threads_store_in_between_ends_it() {
    let reader = "a=x.acq; skipunless a 2 1; read p";
    let middle = "b=x.rlx; skipunless b 1 1; x=5.rlx";
    let writer = "write p 1; x=1.rel; wait(x==5).rlx; x=2.rlx";
    assert_races(&[writer, middle, reader], true, true);
    // It may come between, or not.
    assert_races(
        &["write p 1; x=1.rel; x=2.rlx", "x=5.rlx", reader],
        true,
        true,
    );
}

#[test]
fn an_exchange_by_another_thread_keeps_the_release_sequence() {
    let reader = "a=x.acq; skipunless a 2 1; read p";
    assert_race(&["write p 1; x=1.rel", "b=cas(x,1,2).rlx", reader], false);
    assert_race(&["write p 1; x=1.rlx", "b=cas(x,1,2).rlx", reader], true);
}

// Fences with accesses.

#[test]
fn a_release_fence_synchronises_with_an_acquire_load() {
    let reader = "a=x.acq; skipunless a 1 1; read p";
    assert_race(&["write p 1; F.rel; x=1.rlx", reader], false);
    assert_race(&["F.rel; write p 1; x=1.rlx", reader], true);
    assert_race(&["write p 1; F.acq; x=1.rlx", reader], true);
    assert_race(&["write p 1; F.sc; x=1.rlx", reader], false);
}

#[test]
fn a_release_store_synchronises_with_an_acquire_fence() {
    let writer = "write p 1; x=1.rel";
    assert_race(&[writer, "a=x.rlx; skipunless a 1 2; F.acq; read p"], false);
    assert_race(&[writer, "F.acq; a=x.rlx; skipunless a 1 1; read p"], true);
    assert_race(&[writer, "a=x.rlx; skipunless a 1 2; F.rel; read p"], true);
    assert_race(&[writer, "a=x.rlx; skipunless a 1 2; F.sc; read p"], false);
}

// Orders, mutexes, threads.

#[test]
fn a_message_needs_release_and_acquire() {
    for (store, load, race) in [
        ("rel", "acq", false),
        ("sc", "sc", false),
        ("rel", "rlx", true),
        ("rlx", "acq", true),
        ("rlx", "rlx", true),
    ] {
        let writer = format!("write p 1; x=1.{store}");
        let reader = format!("a=x.{load}; skipunless a 1 1; read p");
        assert_race(&[&writer, &reader], race);
        let waiting = format!("wait(x==1).{load}; read p");
        assert_race(&[&writer, &waiting], race);
    }
}

#[test]
fn two_plain_reads_do_not_race() {
    assert_race(&["read p", "read p"], false);
    assert_race(&["read p", "write p 1"], true);
    assert_race(&["write p 1", "write p 2"], true);
    assert_race(&["write p 1", "write q 2"], false);
}

#[test]
fn a_mutex_orders_only_those_who_take_it() {
    let locked = "lock m; write p 1; unlock m";
    assert_race(&[locked, locked], false);
    assert_race(&[locked, "lock m; unlock m; write p 2"], true);
    assert_race(&[locked, "lock n; write p 2; unlock n"], true);
}

#[test]
fn creating_and_joining_order() {
    assert_race(
        &["write p 1; create T2; join T2; write p 3", "write p 2"],
        false,
    );
    assert_race(&["create T2; write p 1", "write p 2"], true);
    assert_race(
        &["create T2; write q 1; join T2; write p 1", "write p 2"],
        false,
    );
}

#[test]
fn atomic_objects_accessed_plainly() {
    // Initialised before it is published: fine.
    assert_race(
        &["write x 1; f=1.rel", "a=f.acq; skipunless a 1 1; b=x.rlx"],
        false,
    );
    assert_race(
        &["write x 1; f=1.rlx", "a=f.acq; skipunless a 1 1; b=x.rlx"],
        true,
    );
    // A plain read does not race with an atomic read, but with an atomic write.
    assert_race(&["read x", "a=x.rlx"], false);
    assert_race(&["read x", "x=1.sc"], true);
    assert_race(&["read x", "a=fadd(x,0).sc"], true);
    assert_race(&["write x 1", "a=x.sc"], true);
}

#[test]
fn order_through_a_third_thread() {
    let last = "b=y.acq; skipunless b 1 1; read p";
    assert_race(
        &[
            "write p 1; x=1.rel",
            "a=x.acq; skipunless a 1 1; y=1.rel",
            last,
        ],
        false,
    );
    assert_race(
        &[
            "write p 1; x=1.rel",
            "a=x.rlx; skipunless a 1 1; y=1.rel",
            last,
        ],
        true,
    );
    assert_race(
        &[
            "write p 1; x=1.rel",
            "a=x.acq; skipunless a 1 1; y=1.rlx",
            last,
        ],
        true,
    );
}

/// What is asserted holds by the definition, and the detector agrees in all runs, by
/// either rule for release sequences.
fn assert_race(threads: &[&str], expected: bool) {
    assert_races(threads, expected, expected);
}

/// The same by C++17's rule and by C++20's.
fn assert_races(threads: &[&str], by_cpp17: bool, by_cpp20: bool) {
    let program = program("races", threads).unwrap();
    for (model, expected) in [(CXX17, by_cpp17), (Model::RC11, by_cpp20)] {
        let truth = has_race(&program, axioms_of(model));
        assert_eq!(truth, expected, "by the definition, {model:?}: {program}");
        let (racing, clean) = detect(&program, model);
        assert_eq!(racing > 0, expected, "{model:?}: {program}");
        assert!(racing + clean > 0);
    }
}

const CXX17: Model = Model::RC11.with(ReleaseSequences::Cxx17);

fn detect(program: &Program, model: Model) -> (usize, usize) {
    let effort = Effort { runs_per_graph: 4 };
    match compare_races(program, model, effort) {
        Ok(counts) => counts,
        Err(disagreement) => panic!("{disagreement}"),
    }
}
