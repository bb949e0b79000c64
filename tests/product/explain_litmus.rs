//! `wmfix explain ID --litmus`: the text is read back, and the enumeration of all
//! execution graphs agrees with it: the memory model allows the outcome, and no
//! interleaving has it.

use crate::report_support::{STORE_BUFFERING, need_tools, wmfix};
use wmfix_tests::brute::{Axioms, is_sequential, walk};
use wmfix_tests::litmus::{Program, program};
use wmfix_tests::product::{CommandResult, World};

/// A test in herd's C as a program of the notation, and what its outcome asks for.
struct ReadTest {
    program: Program,
    /// Thread and register, or a variable, and the value.
    outcome: Vec<(Option<usize>, String, u64)>,
}

fn read(text: &str) -> ReadTest {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    assert!(lines.next().expect("a name").starts_with("C "), "{text}");
    let first = lines.next().expect("first values");
    for value in first.trim_matches(['{', '}', ' ']).split(';') {
        let value = value.trim();
        assert!(value.is_empty() || value.ends_with(" = 0"), "{first}");
    }
    let mut threads: Vec<String> = Vec::new();
    let mut outcome = Vec::new();
    for line in lines {
        if line.starts_with('P') {
            threads.push(String::new());
        } else if let Some(condition) = line.strip_prefix("exists (") {
            for part in condition.trim_end_matches(')').split(" /\\ ") {
                let (what, value) = part.split_once('=').expect("a value");
                let value = value.parse().expect("a number");
                match what.split_once(':') {
                    Some((thread, register)) => {
                        let thread = thread.parse().expect("a thread");
                        outcome.push((Some(thread), register.to_owned(), value));
                    }
                    None => outcome.push((None, what.trim_matches(['[', ']']).to_owned(), value)),
                }
            }
        } else if line != "}" {
            let thread = threads.last_mut().expect("a thread");
            thread.push_str(&instruction(line.trim_end_matches(';')));
            thread.push(';');
        }
    }
    let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
    ReadTest {
        program: program("read back", &threads).expect("a program"),
        outcome,
    }
}

/// An instruction of C in the notation.
fn instruction(line: &str) -> String {
    let (register, call) = match line.strip_prefix("int ") {
        Some(rest) => rest.split_once(" = ").expect("an assignment"),
        None => ("", line),
    };
    let (name, arguments) = call.trim_end_matches(')').split_once('(').expect("a call");
    let arguments: Vec<&str> = arguments.split(", ").collect();
    let order = arguments
        .last()
        .expect("an order")
        .strip_prefix("memory_order_");
    let order = match order.expect("an order") {
        "relaxed" => "rlx",
        "acquire" => "acq",
        "release" => "rel",
        "acq_rel" => "acqrel",
        "seq_cst" => "sc",
        other => panic!("{other}"),
    };
    match name {
        "atomic_load_explicit" => format!("{register}={}.{order}", arguments[0]),
        "atomic_store_explicit" => format!("{}={}.{order}", arguments[0], arguments[1]),
        "atomic_exchange_explicit" => {
            format!("{register}=xchg({},{}).{order}", arguments[0], arguments[1])
        }
        "atomic_thread_fence" => format!("F.{order}"),
        other => panic!("{other}"),
    }
}

/// Whether the outcome comes about: in any graph, and in one of an interleaving.
fn comes_about(test: &ReadTest) -> (bool, bool) {
    let program = &test.program;
    let (mut weak, mut sequential) = (false, false);
    walk(program, Axioms::RC11, 1_000_000, |state| {
        if !state.machine.all_ended() {
            return;
        }
        let outcome = state.machine.outcome();
        let met = test
            .outcome
            .iter()
            .all(|(thread, name, value)| match thread {
                Some(thread) => {
                    let at = program.registers.iter().position(|one| one == name);
                    outcome.registers[*thread][at.expect("a register")] == *value
                }
                None => {
                    let at = program.locations.iter().position(|one| one == name);
                    outcome.memory[at.expect("a variable")] == *value
                }
            });
        weak |= met;
        sequential |= met && is_sequential(&state.graph);
    })
    .expect("a small program");
    (weak, sequential)
}

/// Two threads that write two variables in opposite orders: a write may land early.
const TWO_WRITES: &str = "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x, y;\n\
    static void *left(void *p) {\n    atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
    \x20   atomic_store_explicit(&y, 2, memory_order_relaxed);\n    return p;\n}\n\
    static void *right(void *p) {\n    atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
    \x20   atomic_store_explicit(&x, 2, memory_order_relaxed);\n    return p;\n}\n\
    int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, left, 0);\n\
    \x20   pthread_create(&b, 0, right, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}\n";

#[test]
fn a_finding_as_a_litmus_test_is_what_brute_force_says_it_is() {
    need_tools();
    let exchange = STORE_BUFFERING.replace(
        "atomic_store_explicit(&x, 1, ",
        "atomic_exchange_explicit(&x, 1, ",
    );
    assert_ne!(exchange, STORE_BUFFERING);
    for (name, text) in [
        ("sb.c", STORE_BUFFERING),
        ("exchange.c", &exchange),
        ("writes.c", TWO_WRITES),
    ] {
        let world = World::new();
        world.write(name, text);
        let report = wmfix(&world, &format!("check {name} --runs 30 --format json")).json();
        let violations = report["violations"].as_array().expect("a list");
        assert!(!violations.is_empty(), "{name}: {report}");
        for violation in violations {
            let id = violation["id"].as_str().expect("a name");
            let told = wmfix(&world, &format!("explain {id} --litmus"));
            assert_eq!(told.code, Some(0), "{told:?}");
            let test = read(&told.stdout);
            assert_eq!(comes_about(&test), (true, false), "{name}\n{}", told.stdout);

            let plain = wmfix(&world, &format!("explain {id} --litmus c"));
            world.write("plain.c", &plain.stdout);
            let mut gcc = world.command("gcc");
            gcc.args([
                "-std=c11",
                "-Wall",
                "-Werror",
                "-D_GNU_SOURCE",
                "-pthread",
                "plain.c",
            ]);
            CommandResult::well(&mut gcc);
        }
    }
}

#[test]
fn what_has_no_litmus_test_says_why() {
    need_tools();
    let world = World::new();
    world.write("mp.c", crate::report_support::MESSAGE_PASSING);
    assert_eq!(wmfix(&world, "check mp.c --runs 20").code, Some(1));
    let race = wmfix(&world, "explain R1 --litmus");
    assert_eq!(race.code, Some(2), "{race:?}");
    assert!(race.stderr.contains("stale accesses"), "{race:?}");
}
