//! Loops that wait for a value which the text does not name, through `wmfix
//! check`: what is reported must be what brute force says of the program with
//! the value known. Where one loop may be several waits in a row, wmfix may take
//! its reads for plain loads, but never hides a violation. In CI a part, with
//! WMFIX_LITMUS=all many more.

use wmfix_analysis::{Comparison, Operation};
use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::litmus::{
    Instruction, Profile, Program, Rng, Spelling, WaitForm, all_runs, emit_waiting, random,
};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// More runs than this are not looked through.
const MOST_RUNS: usize = 3000;

#[test]
fn a_value_in_a_variable_is_waited_for_like_any_other() {
    assert_truth(WaitForm::Variable, 30);
}

#[test]
fn a_function_that_waits_is_told_apart_by_its_calls() {
    assert_truth(WaitForm::Helper, 20);
}

#[test]
fn several_waits_in_one_loop_hide_nothing() {
    assert_truth(WaitForm::Rolled, 20);
}

fn assert_truth(waiting: WaitForm, count: usize) {
    let needs = ["gcc", "g++", "clang", "clang++"].map(Need::Program);
    need(&needs);
    let all = std::env::var("WMFIX_LITMUS").is_ok_and(|value| value == "all");
    let count = if all { 20 * count } else { count };
    let mut rng = Rng::new(waiting as u64 + 1);
    let (mut robust, mut weak, mut checked) = (0, 0, 0);
    let mut missed = Vec::new();
    while checked < count {
        let program = waiting_program(&mut rng, waiting);
        let truth = is_robust(&program, Axioms::RC11);
        // Half of each kind.
        if [weak, robust][usize::from(truth)] > checked / 2 {
            continue;
        }
        let spelling = rng.pick(&Spelling::ALL);
        let compiler = rng.pick(&["gcc", "clang"]);
        let violations = violations(&program, spelling, waiting, compiler);
        checked += 1;
        robust += usize::from(truth);
        weak += usize::from(!truth);
        let name = format!("{program}{waiting:?} {spelling:?} {compiler}");
        if truth && is_exact(&program, waiting) {
            assert_eq!(violations, 0, "reported, but it is robust: {name}");
        }
        if !truth && violations == 0 {
            missed.push(name);
        }
    }
    wmfix_tests::note!("{checked} programs, {weak} not robust");
    assert!(missed.len() * 50 <= weak, "{missed:#?}");
}

/// Whether nothing is left open: what a loop must change from is known only when
/// it was seen to wait, and waits that are rolled into one loop only by chance.
fn is_exact(program: &Program, waiting: WaitForm) -> bool {
    let comparison = |instruction: &Instruction| match instruction {
        Instruction::Wait { exit, .. } => exit.comparison,
        _ => Comparison::Equal,
    };
    let all_equal = program
        .instructions()
        .all(|i| comparison(i) == Comparison::Equal);
    waiting != WaitForm::Rolled && all_equal
}

/// A random program with waits, none of which lasts for ever.
fn waiting_program(rng: &mut Rng, waiting: WaitForm) -> Program {
    loop {
        let profile = Profile {
            threads: rng.pick(&[2, 2, 3]),
            accesses: rng.pick(&[3, 4]),
            sc: rng.pick(&[0, 0, 30]),
            sc_fence: rng.pick(&[0, 30]),
            relaxed: rng.pick(&[0, 50, 100]),
            rmw: 20,
            cas: 0,
            blocking: 45,
            skip: 0,
            ..Profile::PLAIN
        };
        let program = random(rng, &profile);
        let threads = &program.threads;
        let is_wait = |i: &Instruction| matches!(i, Instruction::Wait { .. });
        let only_equality = |i: &Instruction| match i {
            Instruction::Wait { exit, .. } => {
                matches!(exit.comparison, Comparison::Equal | Comparison::NotEqual)
            }
            Instruction::BlockingCompareExchange { .. } => false,
            _ => true,
        };
        let in_a_row =
            |thread: &Vec<Instruction>| thread.windows(2).any(|pair| pair.iter().all(is_wait));
        let fits = program.instructions().any(is_wait)
            && program.instructions().all(only_equality)
            && (waiting != WaitForm::Rolled || threads.iter().any(in_a_row));
        if fits && always_ends(&program) {
            return program;
        }
    }
}

fn always_ends(program: &Program) -> bool {
    let Some(runs) = all_runs(program, MOST_RUNS) else {
        return false;
    };
    let ends = |run: &Vec<wmfix_analysis::Event>| {
        let exits = run
            .iter()
            .filter(|event| event.operation == Operation::Exit);
        exits.count() >= program.threads.len()
    };
    runs.iter().all(ends)
}

fn violations(program: &Program, spelling: Spelling, waiting: WaitForm, compiler: &str) -> usize {
    let world = World::new();
    let file = format!("litmus.{}", spelling.extension());
    world.write(&file, &emit_waiting(program, spelling, waiting));
    let mut command = world.wmfix(compiler);
    let ran = CommandResult::of(command.args(["check", &file, "--format", "json"]));
    let report = ran.json();
    assert_eq!(report["races"], serde_json::json!([]), "{program}");
    report["violations"].as_array().expect("a list").len()
}
