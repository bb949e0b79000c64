//! `--weak`: runs in which any access may take an old write. Bugs that need several
//! stale values are found and reduced to these, correct programs pass and come to
//! their end, and no run comes to what the memory model does not allow.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wmfix_tests::brute::{Axioms, outcomes};
use wmfix_tests::litmus::{Outcome, Program, Spelling, corpus};
use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

use crate::harm_litmus::asserting;

fn corpus_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/corpus")
        .join(name)
}

/// The report on a source file.
fn weak(path: &Path, arguments: &[&str]) -> (Value, CommandResult) {
    need(&["gcc", "g++"].map(Need::Program));
    let world = World::new();
    let mut command = world.wmfix("gcc");
    command
        .arg("check")
        .arg(path)
        .args(["--format", "json"])
        .args(arguments);
    let ran = CommandResult::of(&mut command);
    (ran.json(), ran)
}

/// Two values are published by a flag that orders nothing; the test fails if both
/// are old.
const BOTH: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y, flag;\n\
    static void *writer(void *arg) {\n\
        atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
        atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
        atomic_store_explicit(&flag, 1, memory_order_relaxed);\n\
        return arg;\n\
    }\n\
    int main(void) {\n\
        pthread_t thread;\n\
        pthread_create(&thread, 0, writer, 0);\n\
        while (!atomic_load_explicit(&flag, memory_order_relaxed));\n\
        int one = atomic_load_explicit(&x, memory_order_relaxed);\n\
        int two = atomic_load_explicit(&y, memory_order_relaxed);\n\
        assert(one || two);\n\
        pthread_join(thread, 0);\n\
        return 0;\n\
    }\n";

#[test]
fn what_needs_two_stale_values_is_found_and_reduced_to_them() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", BOTH);
    let command = ["check", "prog.c", "--weak", "--runs", "40"];
    let check = |more: &[&str]| CommandResult::of(world.wmfix("gcc").args(command).args(more));
    let ran = check(&["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report = ran.json();
    for violation in report["violations"].as_array().expect("a list") {
        assert_eq!(violation["harm"]["verdict"], "harmful", "{violation}");
    }
    let free = &report["free_runs"];
    assert_eq!(free["total"], 40);
    let finding = &free["findings"][0];
    assert_eq!(
        (&finding["id"], &finding["verdict"]),
        (&"W1".into(), &"harmful".into())
    );
    let choices = finding["choices"].as_array().expect("a list");
    let lines: Vec<_> = choices.iter().map(|c| &c["access"]["line"]).collect();
    assert_eq!(lines, [15, 16], "{finding}");
    let stack = finding["stack"].to_string();
    assert!(stack.contains("main at prog.c:17"), "{stack}");
    // The same again, and by its own command.
    let again = check(&["--format", "json"]).json();
    assert_eq!(again["free_runs"], *free);
    let line = finding["command"].as_str().expect("a command");
    let line = line.replacen("wmfix", &wmfix().display().to_string(), 1);
    let mut shell = world.command("sh");
    let ran = CommandResult::of(shell.env("WMFIX_REAL_CC", "gcc").args(["-c", &line]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("took an old write at").count(), 2);
    assert!(ran.stderr.contains("one || two"), "{}", ran.stderr);
    let ran = check(&[]);
    assert!(ran.stdout.contains("error[W1]"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("2 stale values together lead to SIGABRT")
    );
    let ran = CommandResult::well(world.wmfix("gcc").args(["explain", "W1"]));
    assert!(ran.stdout.contains("takes the old value 0 here"));
    let ran = check(&["--format", "sarif"]);
    assert!(ran.stdout.contains("\"stale-values\""), "{}", ran.stdout);
}

#[test]
fn bugs_that_no_interleaving_shows_are_found() {
    for program in ["seqlock", "rwlock"] {
        for how in ["--weak", "--weak=uniform", "--weak=few", "--weak=pctwm"] {
            let path = corpus_file(&format!("structures/{program}.c"));
            let (report, ran) = weak(&path, &[how, "--runs", "60"]);
            let free = &report["free_runs"];
            assert_eq!(ran.code, Some(1), "{program} {how}");
            assert!(free["telling"].as_u64() > Some(0), "{program} {how} {free}");
        }
    }
}

#[test]
fn correct_programs_pass_and_come_to_their_end() {
    for name in [
        "seqlock.c",
        "rw_lock.c",
        "spsc_ring.c",
        "ticket_lock.c",
        "treiber_stack.c",
        "chase_lev.c",
        "mcs_lock.cpp",
    ] {
        let path = corpus_file(&format!("correct/{name}"));
        let (report, ran) = weak(&path, &["--weak", "--runs", "40"]);
        let free = &report["free_runs"];
        assert_eq!((&free["telling"], &free["total"]), (&0.into(), &40.into()));
        assert_eq!(ran.code, Some(0), "{name}: {report}");
    }
}

#[test]
fn free_runs_come_to_nothing_that_the_model_does_not_allow() {
    need(&["gcc", "g++", "clang"].map(Need::Program));
    let programs: Vec<Program> = corpus().unwrap().into_iter().map(|e| e.program).collect();
    let mut stale = 0;
    for (number, program) in programs.iter().enumerate().skip(5).step_by(41) {
        let text = program.to_string();
        if text.contains("wait") || text.contains("bcas") {
            continue;
        }
        let Some(allowed) = outcomes(program, Axioms::RC11, 20_000) else {
            continue;
        };
        let allowed: Vec<&Outcome> = allowed.iter().collect();
        let (spelling, compiler) = match number % 2 {
            0 => (Spelling::C11, "gcc"),
            _ => (Spelling::Cpp, "clang"),
        };
        let world = World::new();
        let name = format!("litmus.{}", spelling.extension());
        world.write(&name, &asserting(program, spelling, &allowed));
        let command = ["check", &name, "--weak", "--runs", "50", "--format", "json"];
        let report = CommandResult::of(world.wmfix(compiler).args(command)).json();
        let free = &report["free_runs"];
        let findings = free["findings"].as_array().expect("a list");
        let mut harmful = findings.iter().filter(|f| f["verdict"] == "harmful");
        assert!(harmful.next().is_none(), "{text}\n{free}");
        stale += free["stale"].as_u64().expect("a number");
    }
    assert!(stale > 100, "{stale} runs took old writes");
}

#[test]
fn what_free_runs_cannot_do_is_said() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", BOTH);
    let command = ["check", "prog.c", "--weak", "--strategy", "os"];
    let ran = CommandResult::of(world.wmfix("gcc").args(command));
    assert!(
        ran.stdout.contains("the free runs are not complete"),
        "{}",
        ran.stdout
    );
    let ran = CommandResult::of(world.wmfix("gcc").args(["suggest", "prog.c", "--weak"]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}
