//! Litmus programs as C and C++ with an assertion against every outcome that
//! interleavings do not have: `harmful` exactly where brute force says that such an
//! outcome can be reached. A part of the corpus; `WMFIX_LITMUS=all` takes all of it.

use wmfix_analysis::Model;
use wmfix_tests::brute::{Axioms, outcomes};
use wmfix_tests::litmus::{Outcome, Program, Spelling, corpus, emit};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};
use wmfix_tests::weak::directed;

use crate::harm::verdicts;

#[test]
fn litmus_programs_are_harmful_exactly_where_an_outcome_is_not_sequential() {
    need(&["gcc", "g++", "clang"].map(Need::Program));
    let programs: Vec<Program> = corpus().unwrap().into_iter().map(|e| e.program).collect();
    let (mut weak, mut strong) = (0, 0);
    let step = match std::env::var("WMFIX_LITMUS").as_deref() {
        Ok("all") => 1,
        _ => 17,
    };
    for (number, program) in programs.iter().enumerate().step_by(step) {
        let text = program.to_string();
        if text.contains("wait") || text.contains("bcas") {
            continue;
        }
        let Some(allowed) = outcomes(program, Axioms::RC11, 20_000) else {
            continue;
        };
        let Some(runs) = directed(program, Model::RC11, 20_000) else {
            continue;
        };
        let reachable = allowed.difference(&runs.sequential).count() > 0;
        let shown = runs.outcomes.difference(&runs.sequential).count() > 0;
        let (spelling, compiler) = match number % 4 {
            0 => (Spelling::C11, "gcc"),
            1 => (Spelling::Builtins, "clang"),
            2 => (Spelling::Cpp, "gcc"),
            _ => (Spelling::C11, "clang"),
        };
        let sequential: Vec<&Outcome> = runs.sequential.iter().collect();
        let source = asserting(program, spelling, &sequential);
        let world = World::new();
        let name = format!("litmus.{}", spelling.extension());
        world.write(&name, &source);
        let ran = CommandResult::of(
            world
                .wmfix(compiler)
                .args(["check", &name, "--format", "json"]),
        );
        let harmful = verdicts(&ran)
            .iter()
            .any(|(_, verdict)| verdict == "harmful");
        assert!(!harmful || reachable, "{text}\n{}", ran.stdout);
        assert!(harmful || !shown, "{text}\n{}", ran.stdout);
        weak += usize::from(harmful);
        strong += usize::from(!harmful);
    }
    println!("{weak} harmful, {strong} not");
    assert!(weak >= 4 && strong >= 8, "{weak} harmful, {strong} not");
}

/// The source of a program that fails if its outcome is none of these.
pub(crate) fn asserting(program: &Program, spelling: Spelling, outcomes: &[&Outcome]) -> String {
    let source = emit(program, spelling);
    let (before, main) = source
        .split_once("int main(void)")
        .expect("a main function");
    let mut checks = vec![String::new(); outcomes.len()];
    for line in main
        .lines()
        .filter_map(|line| line.trim().strip_prefix("printf(\""))
    {
        let Some((name, rest)) = line.split_once("=%d \", ") else {
            continue;
        };
        let value = rest.strip_suffix(");").expect("the end of a statement");
        for (check, outcome) in checks.iter_mut().zip(outcomes) {
            let wanted = match name.split_once('.') {
                Some((thread, register)) => {
                    let thread: usize = thread[1..].parse().expect("a thread");
                    let at = program.registers.iter().position(|r| r == register);
                    outcome.registers[thread - 1][at.expect("a register")]
                }
                None => {
                    let at = program.locations.iter().position(|l| l == name);
                    outcome.memory[at.expect("a location")]
                }
            };
            *check += &format!("({value}) == {wanted} && ");
        }
    }
    let any: Vec<String> = checks.iter().map(|check| format!("({check}1)")).collect();
    let any = any.join(" || ");
    let main = main.replace("    return 0;", &format!("    return ({any}) ? 0 : 1;"));
    format!("{before}int main(void){main}")
}
