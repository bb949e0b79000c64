//! Stale values that do nothing one at a time: free runs look what they do together before
//! a program is called clean, whatever command asks, and the report says how many.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

/// A reader that tries again until both values are there. One that is old does nothing;
/// CHECK sees both of them.
const READER: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y, flag, taken, note, told;\n\
    static int tries;\n\
    static void *writer(void *arg) {\n\
        atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
        atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
        atomic_store_explicit(&flag, 1, memory_order_relaxed);\n\
        note = 7; atomic_store_explicit(&told, 1, memory_order_release);\n\
        return arg;\n\
    }\n\
    static void take(void) {\n\
        for (;;) {\n\
            tries++;\n\
            int one = atomic_load_explicit(&x, memory_order_relaxed);\n\
            int two = atomic_load_explicit(&y, memory_order_relaxed);\n\
            CHECK;\n\
            if (one && two) {\n\
                atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);\n\
                return;\n\
            }\n\
        }\n\
    }\n\
    int main(void) {\n\
        pthread_t thread;\n\
        pthread_create(&thread, 0, writer, 0);\n\
        while (!atomic_load_explicit(&flag, memory_order_relaxed));\n\
        take();\n\
        take();\n\
        while (!atomic_load_explicit(&told, memory_order_acquire)); assert(note == 7);\n\
        pthread_join(thread, 0); assert(taken == 2);\n\
        return 0;\n\
    }\n";

/// A folder with the reader as `prog.c`.
fn reader(check: &str) -> World {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", &READER.replace("CHECK", check));
    world
}

fn failing() -> World {
    reader("assert(one || two)")
}

fn run(world: &World, line: &str) -> CommandResult {
    CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
}

fn verdicts(report: &Value) -> Vec<&str> {
    let violations = report["violations"].as_array().expect("a list");
    let verdicts = violations.iter().map(|one| one["harm"]["verdict"].as_str());
    verdicts.map(|verdict| verdict.expect("a word")).collect()
}

#[test]
fn what_fails_only_with_two_stale_values_is_found_by_every_command() {
    let world = failing();
    for line in [
        "check prog.c --format json",
        "check prog.c --format json --runs 30 --seed 5",
        "check prog.c --format json --time 10",
        "check prog.c --format json --exhaustive",
    ] {
        let ran = run(&world, line);
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.stderr);
        let report = ran.json();
        assert_eq!(verdicts(&report), ["harmful", "harmful"], "{line}");
        let free = &report["free_runs"];
        assert_eq!(
            (&free["asked"], &free["enough"]),
            (&false.into(), &true.into())
        );
        let finding = &free["findings"][0];
        assert_eq!(finding["verdict"], "harmful", "{line}");
        assert_eq!(finding["minimal"], true, "{line}");
        let choices = finding["choices"].as_array().expect("a list");
        let lines: Vec<_> = choices.iter().map(|c| &c["access"]["line"]).collect();
        assert_eq!(lines, [16, 17], "{finding}");
    }
    let report = run(&world, "check prog.c --format json").json();
    let line = report["free_runs"]["findings"][0]["command"].as_str();
    let line = line.expect("a command");
    let line = line.replacen("wmfix", &wmfix().display().to_string(), 1);
    let mut shell = world.command("sh");
    let ran = CommandResult::of(shell.env("WMFIX_REAL_CC", "gcc").args(["-c", &line]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("one || two"), "{}", ran.stderr);
}

#[test]
fn the_formats_of_other_tools_show_what_counts() {
    let world = failing();
    let junit = run(&world, "check prog.c --runs 30 --format junit");
    assert_eq!(junit.code, Some(1), "{}", junit.stderr);
    assert!(junit.stdout.contains("failures=\"3\""), "{}", junit.stdout);
    let sarif = run(&world, "check prog.c --runs 30 --format sarif").stdout;
    assert!(sarif.contains("\"stale-values\""), "{sarif}");
    assert!(
        sarif.contains("besides the runs that take one stale value"),
        "{sarif}"
    );
}

#[test]
fn the_same_seed_gives_the_same_free_runs() {
    let world = failing();
    let free = || run(&world, "check prog.c --runs 30 --format json").json()["free_runs"].clone();
    let first = free();
    assert_eq!(first["total"], 30);
    assert_eq!(first, free());
    // With fewer nothing can be said.
    let few = run(&world, "check prog.c --runs 2 --format json").json();
    assert_eq!(few["free_runs"]["total"], 10);
}

#[test]
fn an_exploration_of_interleavings_says_no_more_than_that() {
    for (world, code) in [(failing(), 1), (reader("(void)one"), 0)] {
        for format in ["text", "json", "sarif"] {
            let ran = run(
                &world,
                &format!("check prog.c --exhaustive --format {format}"),
            );
            assert_eq!(ran.code, Some(code), "{}", ran.stdout);
            let told = ran.stdout.replace("\n", " ");
            assert!(!told.contains("all that this test can show"), "{told}");
            assert!(
                told.contains("but not all executions that take stale values"),
                "{told}"
            );
        }
    }
}

#[test]
fn a_program_that_fails_with_none_passes_and_says_what_was_run() {
    let world = reader("(void)one");
    let ran = run(&world, "check prog.c --runs 30");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    let line = "one at a time, the stale values do no harm that the test sees; 30 free runs, \
                which take any number of them, showed none either";
    assert!(
        ran.stdout.replace("\n", " ").contains(line),
        "{}",
        ran.stdout
    );
    let ran = run(&world, "suggest prog.c --runs 30");
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.replace("\n", " ").contains(line),
        "{}",
        ran.stderr
    );
    // Nobody has to ask twice.
    let ran = run(&world, "check prog.c --runs 30 --weak --format json");
    assert_eq!(ran.json()["free_runs"]["asked"], true);
}

#[test]
fn stale_values_that_do_harm_together_are_repaired() {
    let world = failing();
    let ran = run(&world, "suggest prog.c --runs 30 --apply");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 stale values together"),
        "{}",
        ran.stderr
    );
    let checked = run(&world, "check prog.c --runs 30 --weak");
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}

#[test]
fn findings_of_a_baseline_that_do_no_harm_alone_do_not_hide_it() {
    let world = failing();
    let ran = run(&world, "baseline prog.c --runs 30");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = "check prog.c --runs 30 --baseline wmfix-baseline.json";
    let ran = run(&world, line);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("error[W1]"), "{}", ran.stdout);
}

#[test]
fn parts_and_what_puts_them_together_look_for_it() {
    let world = failing();
    for part in ["1/2", "2/2"] {
        let ran = run(&world, &format!("check prog.c --runs 40 --shard {part}"));
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    }
    let merged = run(&world, "merge wmfix-shards --format json");
    assert_eq!(merged.code, Some(1), "{}", merged.stderr);
    let free = &merged.json()["free_runs"];
    assert_eq!(free["total"], 40);
    assert_eq!(free["findings"][0]["verdict"], "harmful");
}
