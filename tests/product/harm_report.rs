//! What a report says about harm beside the verdict: where the program stood, how
//! to see it in a debugger, which machines show it, and when a test could not have
//! noticed anything.

use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

use crate::harm::{PUBLISH, check, faulty, retrying, verdicts};

/// The stack of the harmful finding of a report.
fn stack(ran: &CommandResult) -> Vec<String> {
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let harmful = violations
        .iter()
        .find(|violation| violation["harm"]["verdict"] == "harmful");
    let stack = harmful.map(|violation| &violation["harm"]["stack"]);
    let stack = stack.and_then(|stack| stack.as_array());
    let lines = stack.unwrap_or_else(|| panic!("nothing harmful: {report}"));
    let text = |line: &serde_json::Value| line.as_str().expect("a text").to_owned();
    lines.iter().map(text).collect()
}

/// A reader that hands the old value to a function of its own.
fn failing(fails: &str) -> String {
    let inner = format!("static void inner(int seen) {{ {fails} }}");
    faulty(
        &format!(
            "static int *volatile nowhere;\n{inner}\nstatic void outer(int seen) {{ inner(seen); }}"
        ),
        PUBLISH,
        "int seen = atomic_load_explicit(&data, memory_order_relaxed); outer(seen);",
        "",
    )
}

#[test]
fn a_harmful_run_says_where_the_program_stood() {
    for fails in [
        "assert(seen);",
        "if (!seen) abort();",
        "if (!seen) *nowhere = 1;",
    ] {
        let ran = check(&failing(fails), &[]);
        let stack = stack(&ran);
        let functions: Vec<&str> = stack
            .iter()
            .map(|line| line.split(" at ").next().unwrap_or_default())
            .collect();
        assert_eq!(functions, ["inner", "outer", "reader"], "{fails} {stack:?}");
        assert!(stack[0].contains("prog.c:"), "{stack:?}");
    }
}

#[test]
fn an_exception_that_nobody_catches_has_a_stack_too() {
    need(&[Need::Program("g++")]);
    let world = World::new();
    let source = "#include <atomic>\n#include <stdexcept>\n#include <thread>\n\
        std::atomic<int> data, flag;\n\
        void use(int seen) { if (!seen) throw std::runtime_error(\"old\"); }\n\
        int main() {\n\
            std::thread writer([] {\n\
                data.store(1, std::memory_order_relaxed);\n\
                flag.store(1, std::memory_order_relaxed);\n\
            });\n\
            while (!flag.load(std::memory_order_relaxed)) {}\n\
            int seen = data.load(std::memory_order_relaxed);\n\
            use(seen);\n\
            writer.join();\n\
        }\n";
    world.write("prog.cpp", source);
    let command = ["check", "prog.cpp", "--format", "json"];
    let ran = CommandResult::of(world.wmfix("gcc").args(command));
    let stack = stack(&ran);
    assert!(stack[0].starts_with("use"), "{stack:?}");
    assert!(stack[1].starts_with("main at prog.cpp:"), "{stack:?}");
}

#[test]
fn threads_that_cannot_go_on_are_named() {
    // With the old value it waits for a signal that was sent before.
    let source = faulty(
        "static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
         static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;",
        PUBLISH,
        "pthread_mutex_lock(&never);\
         if (!atomic_load_explicit(&data, memory_order_relaxed)) pthread_mutex_lock(&never);\
         pthread_mutex_unlock(&never);",
        "pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex);",
    );
    let stack = stack(&check(&source, &[]));
    let reader = stack.iter().find(|line| line.contains("in reader at"));
    let reader = reader.unwrap_or_else(|| panic!("{stack:?}"));
    assert!(reader.contains("waits for the lock never"), "{reader}");
}

#[test]
fn gdb_stops_where_the_old_value_is_taken() {
    need(&["gcc", "gdb"].map(Need::Program));
    let world = World::new();
    let source = retrying("kept = seen; break;", "assert(kept == 1);");
    world.write("prog.c", &source);
    let ran = CommandResult::of(world.wmfix("gcc").args(["check", "prog.c"]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("it stood here:"), "{}", ran.stdout);
    let commands = "printf 'info locals\\nbacktrace\\ncontinue\\nkill\\nquit\\n'";
    let line = format!("{commands} | {} run --debug V1", wmfix().display());
    let mut shell = world.command("sh");
    let ran = CommandResult::of(shell.env("WMFIX_REAL_CC", "gcc").args(["-c", &line]));
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("took an old write at"), "{said}");
    assert!(said.contains("__wmfix_stale_access"), "{said}");
    // The frame of the program's own function, with its variables.
    assert!(said.contains("prog.c:16"), "{said}");
    assert!(said.contains("kept = 1"), "{said}");
    assert!(said.contains("SIGABRT"), "{said}");
    let unknown = format!("{} run --debug V9", wmfix().display());
    let ran = CommandResult::of(world.command("sh").args(["-c", &unknown]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("V9"), "{}", ran.stderr);
}

/// Store buffering, which x86-64 shows, and message passing, which it does not.
const BOTH: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y, data, flag; static int a, b, c = 1;\n\
    static void *one(void *arg) {\n\
        atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
        a = atomic_load_explicit(&y, memory_order_relaxed);\n\
        atomic_store_explicit(&data, 1, memory_order_relaxed);\n\
        atomic_store_explicit(&flag, 1, memory_order_relaxed);\n\
        return arg; }\n\
    static void *two(void *arg) {\n\
        atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
        b = atomic_load_explicit(&x, memory_order_relaxed);\n\
        if (atomic_load_explicit(&flag, memory_order_relaxed))\n\
            c = atomic_load_explicit(&data, memory_order_relaxed);\n\
        return arg; }\n\
    int main(void) {\n\
        pthread_t t[2];\n\
        pthread_create(&t[0], 0, one, 0); pthread_create(&t[1], 0, two, 0);\n\
        pthread_join(t[0], 0); pthread_join(t[1], 0);\n\
        return !(a || b) || !c; }\n";

#[test]
fn a_target_leaves_out_what_it_cannot_show() {
    let lines = |target: &str| {
        let ran = check(BOTH, &["--target", target]);
        let mut lines: Vec<u64> = verdicts(&ran).iter().map(|(line, _)| *line).collect();
        lines.sort_unstable();
        lines.dedup();
        (lines, ran)
    };
    // The loads of store buffering, and that of the data.
    let (all, _) = lines("c11");
    assert!(all.contains(&14) && (all.contains(&6) || all.contains(&12)));
    assert_eq!(lines("aarch64").0, all);
    let (few, ran) = lines("x86-64");
    assert!(!few.is_empty() && !few.contains(&14), "{few:?}");
    let report = ran.json();
    let notes = report["notes"].to_string();
    assert!(notes.contains("x86-64 cannot show them"), "{notes}");
    for violation in report["violations"].as_array().expect("a list") {
        assert_eq!(violation["machines"][0], "x86-64", "{violation}");
    }
}

#[test]
fn what_a_target_cannot_show_neither_fails_nor_is_repaired() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let source = retrying("kept = seen; break;", "assert(kept == 1);");
    world.write("prog.c", &source);
    let for_target = |command: &str, target: &str| {
        let arguments = [command, "prog.c", "--target", target];
        CommandResult::of(world.wmfix("gcc").args(arguments))
    };
    assert_eq!(for_target("check", "x86-64").code, Some(0));
    assert_eq!(for_target("check", "aarch64").code, Some(1));
    let ran = for_target("suggest", "x86-64");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    let ran = for_target("suggest", "aarch64");
    assert!(ran.stdout.starts_with("diff --git"), "{}", ran.stdout);
}

#[test]
fn a_test_that_checks_nothing_is_told_so() {
    let silent = retrying("break;", "");
    let notes = |source: &str| check(source, &[]).json()["notes"].to_string();
    let without = silent.replace("#include <assert.h>\n", "");
    assert!(notes(&without).contains("the test checks nothing"));
    // An assertion, an output, or an exit code that could be another.
    for (from, to) in [
        ("int kept = 1", "assert(1); int kept = 1"),
        ("return 0;", "return kept - 1;"),
        ("(void)mutex;", "puts(\"done\");"),
    ] {
        let includes = "#include <assert.h>\n#include <stdio.h>\n";
        let source = format!("{includes}{}", without.replace(from, to));
        let source = match to.contains("assert") {
            true => source,
            false => source.replace("#include <assert.h>\n", ""),
        };
        let notes = notes(&source);
        assert!(!notes.contains("checks nothing"), "{to}: {notes}");
    }
}
