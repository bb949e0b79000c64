//! The brute-force truth against the corpus, and against an enumeration that
//! uses no argument at all.

use wmfix_tests::brute::{Axioms, is_robust, is_robust_naively};
use wmfix_tests::litmus::{Profile, Rng, around_cycle, corpus, random};

#[test]
fn the_corpus_has_the_verdicts_it_is_known_for() {
    for entry in corpus().unwrap() {
        let program = &entry.program;
        assert_eq!(is_robust(program, Axioms::RC11), entry.robust, "{program}");
        assert_eq!(
            is_robust(program, Axioms::RC11_WITH_FENCE_LOCATION),
            entry.robust_with_fence_location,
            "with a fence location: {program}"
        );
    }
}

#[test]
fn one_event_extensions_find_what_all_graphs_show() {
    let mut rng = Rng::new(21);
    let (mut judged, mut robust) = (0, 0);
    let (mut weak, mut fences) = (0, 0);
    while judged < 1_500 {
        let profile = Profile {
            accesses: 3,
            sc: rng.pick(&[0, 40, 80]),
            sc_fence: rng.pick(&[0, 30, 60]),
            weak_fence: 15,
            relaxed: rng.pick(&[30, 80]),
            cas: rng.pick(&[0, 20]),
            ..Profile::PLAIN
        };
        let program = if rng.percent(50) {
            random(&mut rng, &profile)
        } else {
            around_cycle(&mut rng, &profile)
        };
        let Some(naive) = is_robust_naively(&program, 10_000) else {
            continue;
        };
        assert_eq!(is_robust(&program, Axioms::RC11), naive, "{program}");
        judged += 1;
        robust += usize::from(naive);
        fences += usize::from(program.has_sc_fence());
        weak += usize::from(program.to_string().contains("wcas"));
    }
    // The sample must have both verdicts and what is special, or it shows little.
    assert!(
        robust > 50 && judged - robust > 50,
        "{robust} of {judged} robust"
    );
    assert!(
        weak > 10 && fences > 50,
        "{weak} weak, {fences} with SC fences"
    );
}
