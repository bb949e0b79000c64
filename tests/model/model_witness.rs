//! Every violation has a witness that passes the checker, no witness survives
//! being spoilt, and the checker itself decides as brute force does, on graphs
//! that are allowed and on graphs that are not.

use wmfix_analysis::witness::{Label, NodeId, Refutation, Witness, check};
use wmfix_analysis::{
    AnalyzerConfig, Event, FenceOrder, LoadOrder, Model, ReleaseSequences, RmwOrder, StoreOrder,
    Violation,
};
use wmfix_tests::brute::State;
use wmfix_tests::compare::{WatchedAnalyzer, axioms_of, candidate};
use wmfix_tests::litmus::{Program, Rng, corpus, varied};

const CXX17: Model = Model::RC11.with(ReleaseSequences::Cxx17);

#[test]
fn every_violation_has_a_witness_and_no_spoilt_one_passes() {
    let mut rng = Rng::new(51);
    let mut programs: Vec<Program> = corpus().unwrap().into_iter().map(|e| e.program).collect();
    programs.extend((0..4_000).map(|_| varied(&mut rng)));
    let (mut witnesses, mut spoilt) = (0, 0);
    for program in &programs {
        for model in [Model::RC11, Model::RC20, CXX17] {
            for _ in 0..3 {
                let (run, violations) = analysed_run(program, model, &mut rng);
                for violation in violations {
                    let all = Witness::build_all(&run, &violation, model)
                        .unwrap_or_else(|e| panic!("{program}{violation:?}: {e}"));
                    assert!(
                        all.len() >= violation.stale.len(),
                        "{program}{} witnesses for {violation:?}",
                        all.len()
                    );
                    for witness in &all {
                        let verdict = check(witness, model);
                        assert_eq!(verdict, Ok(()), "{program}{violation:?} {witness:#?}");
                        spoilt += spoil(program, witness, model);
                    }
                    witnesses += all.len();
                }
            }
        }
    }
    assert!(witnesses > 1_500, "{witnesses} witnesses");
    assert!(spoilt > 4 * witnesses, "{spoilt} spoilt");
}

#[test]
fn the_checker_decides_as_the_axioms_do() {
    let mut rng = Rng::new(52);
    let (mut allowed, mut refused) = (0, 0);
    for n in 0..12_000 {
        let program = varied(&mut rng);
        let model = [Model::RC20, Model::RC11, CXX17][n % 3];
        let mut state = State::new(&program, axioms_of(model));
        let mut run = state.machine.prologue();
        loop {
            let threads = 0..program.threads.len();
            for thread in threads.clone() {
                for (stale, truth) in state.candidates(thread) {
                    let (_, next) = state.machine.next(thread).unwrap();
                    let graph = candidate(&program, &run, thread, next, &stale, model);
                    let verdict = check(&graph, model);
                    let well_formed = !matches!(verdict, Err(Refutation::IllFormed(_)));
                    assert!(well_formed, "{program}{verdict:?} {graph:#?}");
                    assert_eq!(verdict.is_ok(), truth, "{program}{verdict:?} {graph:#?}");
                    allowed += usize::from(truth);
                    refused += usize::from(!truth);
                }
            }
            let able: Vec<usize> = threads
                .filter(|&t| !state.machine.choices(t).is_empty())
                .collect();
            if able.is_empty() {
                break;
            }
            let thread = rng.pick(&able);
            let choice = rng.pick(state.machine.choices(thread));
            let stepped = state.step(thread, choice);
            run.push(stepped.event);
            if stepped.ended {
                run.push(state.machine.exit_event(thread));
            }
        }
    }
    assert!(allowed > 1_000 && refused > 5_000, "{allowed}, {refused}");
}

/// A random run with the rounds of waiting threads, and what is wrong with it.
fn analysed_run(program: &Program, model: Model, rng: &mut Rng) -> (Vec<Event>, Vec<Violation>) {
    let mut machine = wmfix_tests::litmus::Machine::new(program);
    let mut run = machine.prologue();
    loop {
        let threads = 0..program.threads.len();
        run.extend(threads.clone().filter_map(|t| machine.blocked_round(t)));
        let able: Vec<usize> = threads
            .filter(|&t| !machine.choices(t).is_empty())
            .collect();
        if able.is_empty() {
            break;
        }
        let thread = rng.pick(&able);
        let choice = rng.pick(machine.choices(thread));
        let stepped = machine.step(thread, choice);
        run.push(stepped.event);
        if stepped.ended {
            run.push(machine.exit_event(thread));
        }
    }
    let mut watched = WatchedAnalyzer::new(AnalyzerConfig {
        model,
        ..AnalyzerConfig::default()
    });
    let violations = run.iter().filter_map(|event| watched.watch(event).unwrap());
    let violations = violations.collect();
    (run, violations)
}

/// Spoils a witness in every way that must be noticed; says in how many.
fn spoil(program: &Program, witness: &Witness, model: Model) -> usize {
    let mut spoilt: Vec<(&str, Witness)> = Vec::new();
    spoilt.push(("access in its SC place", in_sc_place(witness)));
    if model != Model::RC20 {
        // A program of SC accesses only is robust.
        spoilt.push(("everything SC", all_sc(witness)));
    }
    let mut shorter = witness.clone();
    shorter.nodes.pop();
    spoilt.push(("a node missing", shorter));
    if let Some((&read, _)) = witness.reads_from.iter().next() {
        let mut cut = witness.clone();
        cut.reads_from.remove(&read);
        spoilt.push(("a read without a source", cut));
        let mut lying = witness.clone();
        change_value_read(&mut lying.nodes[read.0].label);
        spoilt.push(("a read of another value", lying));
    }
    for order in witness.modification.keys() {
        let mut doubled = witness.clone();
        let writes = doubled.modification.get_mut(order).expect("just seen");
        writes.push(writes[0]);
        spoilt.push(("a write twice in its order", doubled));
    }
    let mut moved = witness.clone();
    moved.nodes[witness.access.0].position += 1;
    spoilt.push(("a gap in program order", moved));
    for (how, graph) in &spoilt {
        assert!(check(graph, model).is_err(), "{how}: {program}{graph:#?}");
    }
    spoilt.len()
}

/// The access reads or follows the newest write, as in the run.
fn in_sc_place(witness: &Witness) -> Witness {
    let mut graph = witness.clone();
    let access = graph.access;
    let object = graph.nodes[access.0].label.object().expect("an access");
    let order = graph.modification.get_mut(&object).expect("a location");
    order.retain(|&write| write != access);
    let newest: NodeId = *order.last().expect("the first value");
    let label = graph.nodes[access.0].label;
    if label.writes() {
        order.push(access);
    }
    if label.reads() {
        graph.reads_from.insert(access, newest);
    }
    graph
}

fn all_sc(witness: &Witness) -> Witness {
    let mut graph = witness.clone();
    for node in &mut graph.nodes {
        match &mut node.label {
            Label::Read { order, .. } => *order = LoadOrder::SeqCst,
            Label::Write { order, .. } => *order = StoreOrder::SeqCst,
            Label::Rmw { order, .. } => *order = RmwOrder::SeqCst,
            Label::Fence { order } => *order = FenceOrder::SeqCst,
            _ => {}
        }
    }
    graph
}

fn change_value_read(label: &mut Label) {
    if let Label::Read { value, .. } | Label::Rmw { read: value, .. } = label {
        *value = Some(value.unwrap_or(0) + 1);
    }
}
