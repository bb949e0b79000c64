//! The location-clock algorithm against brute force in the paper's model: the
//! rival of the benchmarks must at least be right.

use wmfix_analysis::Event;
use wmfix_tests::brute::Axioms;
use wmfix_tests::compare::{Effort, Subject, compare};
use wmfix_tests::litmus::{Rng, corpus, varied};
use wmfix_tests::reference::Reference;

#[derive(Clone)]
struct Rival(Reference);

impl Subject for Rival {
    fn feed(&mut self, event: &Event) -> Result<Vec<usize>, String> {
        Ok(self.0.feed(event))
    }
}

#[test]
fn location_clocks_are_exact_in_their_model() {
    let mut rng = Rng::new(31);
    let mut programs: Vec<_> = corpus().unwrap().into_iter().map(|e| e.program).collect();
    programs.extend((0..1_000).map(|_| varied(&mut rng)));
    let mut violations = 0;
    for program in &programs {
        let subject = Rival(Reference::default());
        let effort = Effort { runs_per_graph: 2 };
        match compare(program, Axioms::RC20, &subject, effort) {
            Ok(tally) => violations += usize::from(tally.violations > 0),
            Err(disagreement) => panic!("{disagreement}"),
        }
    }
    assert!(violations > 200, "{violations} programs with violations");
    assert!(violations < programs.len() - 200);
}
