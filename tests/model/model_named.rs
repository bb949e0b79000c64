//! The programs that everybody knows, by name, with the verdicts everybody
//! knows. Each is judged three times: by the analyzer over its SC runs, by brute
//! force, and by the name of the test.

use wmfix_analysis::{Analyzer, AnalyzerConfig, Event, Model};
use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::compare::assert_agrees;
use wmfix_tests::litmus::{program, scheduled_run};

#[test]
fn store_buffering() {
    assert_verdict(&["x=1.sc; a=y.sc", "y=1.sc; b=x.sc"], true);
    assert_verdict(&["x=1.rel; a=y.acq", "y=1.rel; b=x.acq"], false);
    assert_verdict(&["x=1.sc; a=y.acq", "y=1.sc; b=x.acq"], false);
    assert_verdict(&["x=1.rel; a=y.sc", "y=1.rel; b=x.sc"], false);
    assert_verdict(&["x=1.rlx; F.sc; a=y.rlx", "y=1.rlx; F.sc; b=x.rlx"], true);
    assert_verdict(
        &["x=1.rlx; F.acqrel; a=y.rlx", "y=1.rlx; F.acqrel; b=x.rlx"],
        false,
    );
    assert_verdict(&["x=1.rlx; F.sc; a=y.rlx", "y=1.rlx; b=x.rlx"], false);
    // SC accesses on one side, a fence on the other.
    assert_verdict(&["x=1.sc; a=y.sc", "y=1.sc; F.sc; b=x.rlx"], true);
}

#[test]
fn independent_reads_of_independent_writes() {
    let with = |w: &str, r: &str| {
        [
            format!("x=1.{w}"),
            format!("y=1.{w}"),
            format!("a=x.{r}; b=y.{r}"),
            format!("c=y.{r}; d=x.{r}"),
        ]
    };
    let verdict = |w, r| {
        let threads = with(w, r);
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        verdict(&threads)
    };
    assert!(verdict("sc", "sc"));
    assert!(!verdict("rel", "acq"));
    assert!(!verdict("sc", "acq"));
    assert!(!verdict("rel", "sc"));
    let fenced = [
        "x=1.rlx",
        "y=1.rlx",
        "a=x.rlx; F.sc; b=y.rlx",
        "c=y.rlx; F.sc; d=x.rlx",
    ];
    assert_verdict(&fenced, true);
}

#[test]
fn message_passing() {
    // The paper's Fig. 1: robust, and not if either access to y is weakened.
    assert_verdict(&["x=1.rel; y=1.rel", "a=y.acq; b=x.acq"], true);
    assert_verdict(&["x=1.rel; y=1.rlx", "a=y.acq; b=x.acq"], false);
    assert_verdict(&["x=1.rel; y=1.rel", "a=y.rlx; b=x.acq"], false);
    assert_verdict(
        &["x=1.rlx; F.rel; y=1.rlx", "a=y.rlx; F.acq; b=x.rlx"],
        true,
    );
    // Lidbury and Donaldson, Fig. 1 (b).
    assert_verdict(&["x=1.rlx; y=1.rlx", "a=y.rlx; b=x.rlx"], false);
    assert_verdict(&["x=1.rlx; y=1.rel", "wait(y==1).acq; b=x.rlx"], true);
    assert_verdict(&["x=1.rlx; y=1.rel", "wait(y!=0).acq; b=x.rlx"], true);
    assert_verdict(&["x=1.rlx; y=1.rlx", "wait(y==1).acq; b=x.rlx"], false);
}

#[test]
fn a_thread_that_ends_before_the_other_begins() {
    // The paper's Ex. 3.1. What is special about it is that the violation shows
    // in a run in which one thread has ended before the other begins.
    let threads = ["x=1.rel; a=y.acq; x=2.rel", "y=1.rel; b=x.acq; y=2.rel"];
    assert_verdict(&threads, false);
    let program = program("Ex. 3.1", &threads).unwrap();
    for (first, second) in [(0, 1), (1, 0)] {
        let run = scheduled_run(&program, [[first; 3], [second; 3]].concat());
        assert_eq!(violating_sites(&run), [program.site(second, 1)]);
    }
}

#[test]
fn read_modify_writes() {
    // The paper's Fig. 6: (1) is not robust, (2) is, because nothing comes between
    // an RMW and the write it reads; with a store instead of the RMW it is not.
    assert_verdict(&["a=fadd(x,1).acqrel; b=y.acq", "y=1.rel; c=x.acq"], false);
    assert_verdict(&["a=fadd(x,1).acqrel; b=y.acq", "y=1.rel; x=2.rel"], true);
    assert_verdict(&["x=1.rel; b=y.acq", "y=1.rel; x=2.rel"], false);
}

#[test]
fn barriers() {
    // The paper's BAR: its loops are unrolled, for the loads of a loop that is
    // not known to be one are loads like any other.
    let unrolled = [
        "x=1.rel; a=y.acq; skipif a 1 1; c=y.acq",
        "y=1.rel; b=x.acq; skipif b 1 1; d=x.acq",
    ];
    assert_verdict(&unrolled, false);
    assert_verdict(
        &["x=1.rel; wait(y==1).acq", "y=1.rel; wait(x==1).acq"],
        true,
    );
    assert_verdict(
        &["x=1.rel; wait(y==0).acq", "y=1.rel; wait(x==2).acq"],
        true,
    );
    // Both waits can pass only under weak memory, so no SC run gets through both.
    assert_verdict(
        &["x=1.rel; wait(y==0).acq", "y=1.rel; wait(x==0).acq"],
        false,
    );
    assert_verdict(&["x=1.sc; wait(y==0).sc", "y=1.sc; wait(x==0).sc"], true);
}

#[test]
fn two_plus_two_writes() {
    assert_verdict(&["x=1.rel; y=2.rel", "y=1.rel; x=2.rel"], false);
    assert_verdict(&["x=1.sc; y=2.sc", "y=1.sc; x=2.sc"], true);
    assert_verdict(&["x=1.rlx; F.sc; y=2.rlx", "y=1.rlx; F.sc; x=2.rlx"], true);
}

#[test]
fn load_buffering_is_never_a_violation() {
    // po ∪ rf is acyclic in the model.
    assert_verdict(&["a=y.rlx; x=1.rlx", "b=x.rlx; y=1.rlx"], true);
}

#[test]
fn locks() {
    let lock = |success: &str, unlock: &str| {
        [1, 2].map(|n| format!("bcas(l,0,1).{success}; r=c.rlx; c={n}.rlx; l=0.{unlock}"))
    };
    let verdict = |success, unlock| {
        let [a, b] = lock(success, unlock);
        verdict(&[&a, &b])
    };
    assert!(verdict("acq", "rel"));
    assert!(!verdict("rlx", "rel"));
    assert!(!verdict("acq", "rlx"));
    let mutex = "lock m; r=c.rlx; c=1.rlx; unlock m";
    assert_verdict(&[mutex, mutex], true);
}

#[test]
fn compare_exchanges() {
    let taken = |cas: &str| {
        let other = format!("y=1.rel; b={cas}");
        verdict(&["x=1.rel; a=fadd(y,0).acqrel", &other])
    };
    // Order comes from the RMW on y in one direction only.
    assert!(!taken("cas(x,0,2).acqrel"));
    assert!(!taken("wcas(x,0,2).acqrel"));
    // A weak one may fail on a value that a strong one would take.
    let strong = [
        "a=fadd(x,1).acqrel; b=y.acq",
        "y=1.rel; c=cas(x,0,2).acqrel",
    ];
    let weak = [
        "a=fadd(x,1).acqrel; b=y.acq",
        "y=1.rel; c=wcas(x,0,2).acqrel",
    ];
    assert_verdict(&strong, true);
    assert_verdict(&weak, false);
    // The failure has an order of its own, and here it decides.
    let both = |failure: &str| {
        let one = format!("x=1.sc; a=cas(y,9,9).sc.{failure}");
        let other = format!("y=1.sc; b=cas(x,9,9).sc.{failure}");
        verdict(&[&one, &other])
    };
    assert!(both("sc"));
    assert!(!both("acq"));
}

#[test]
fn the_two_fence_models_differ() {
    let artefact = ["F.sc; x=1.rlx", "x=2.rlx; b=y.rlx", "y=1.rlx; F.sc"];
    assert_verdict(&artefact, true);
    let program_a = program("artefact", &artefact).unwrap();
    assert!(!is_robust(&program_a, Axioms::RC20));
    assert!(assert_agrees(&program_a, Model::RC20, 100).violations > 0);

    let missed = [
        "a=x.rlx; F.sc; z=1.rel",
        "z=2.rel; F.sc; y=2.rlx",
        "b=y.rlx; x=1.rlx",
    ];
    assert_verdict(&missed, false);
    let program_b = program("missed", &missed).unwrap();
    assert!(is_robust(&program_b, Axioms::RC20));
    assert_eq!(assert_agrees(&program_b, Model::RC20, 100).violations, 0);
}

fn assert_verdict(threads: &[&str], robust: bool) {
    assert_eq!(verdict(threads), robust, "{threads:?}");
}

/// Whether the program is robust, if the analyzer and brute force agree.
fn verdict(threads: &[&str]) -> bool {
    let program = program("named", threads).unwrap();
    let robust = is_robust(&program, Axioms::RC11);
    let tally = assert_agrees(&program, Model::RC11, 100);
    assert_eq!(tally.violations == 0, robust, "{program}");
    robust
}

fn violating_sites(run: &[Event]) -> Vec<wmfix_analysis::SiteId> {
    let mut analyzer = Analyzer::new(AnalyzerConfig::default());
    for event in run {
        analyzer.feed(event).unwrap();
    }
    let violations = analyzer.violations().iter();
    violations.map(|found| found.violation.site).collect()
}
