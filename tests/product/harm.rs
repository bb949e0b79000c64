//! What a stale value does to the program, as `wmfix check` tells it: verdicts,
//! exit codes, and the command that shows a verdict again.

use std::path::Path;

use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

/// The verdicts of a report, with the line of the access, in the report's order.
pub(crate) fn verdicts(ran: &CommandResult) -> Vec<(u64, String)> {
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let verdict = |violation: &serde_json::Value| {
        let line = violation["access"]["line"].as_u64().expect("a line");
        let verdict = violation["harm"]["verdict"].as_str().expect("a verdict");
        (line, verdict.to_owned())
    };
    violations.iter().map(verdict).collect()
}

pub(crate) fn check(source: &str, arguments: &[&str]) -> CommandResult {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", source);
    let command = ["check", "prog.c", "--format", "json"];
    CommandResult::of(world.wmfix("gcc").args(command).args(arguments))
}

#[test]
fn correct_textbook_algorithms_pass() {
    need(&["gcc", "g++", "clang"].map(Need::Program));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/correct");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    assert!(names.len() >= 20, "{}", names.len());
    let mut passed_over = 0;
    for (number, path) in names.iter().enumerate() {
        let world = World::new();
        let compiler = ["gcc", "clang"][number % 2];
        let mut command = world.wmfix(compiler);
        let ran = CommandResult::of(command.arg("check").arg(path).args(["--format", "json"]));
        let found = verdicts(&ran);
        assert_eq!(ran.code, Some(0), "{path:?}: {found:?}\n{}", ran.stderr);
        assert_eq!(ran.json()["criterion"]["asks_for"], "correctness");
        passed_over += found.len();
    }
    assert!(
        passed_over >= 16,
        "{passed_over} findings without an effect"
    );
}

/// A thread that reads `data` until it is 1, after it was told so by a flag that
/// orders nothing. `round` is what it does when it read something else, `after`
/// what it does at last.
pub(crate) fn retrying(round: &str, after: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
        static atomic_int data, flag, other;\n\
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *writer(void *arg) {{\n\
            atomic_store_explicit(&data, 1, memory_order_relaxed);\n\
            atomic_store_explicit(&flag, 1, memory_order_relaxed);\n\
            return arg;\n\
        }}\n\
        int main(void) {{\n\
            pthread_t thread; int kept = 1, zero = 0;\n\
            pthread_create(&thread, 0, writer, 0);\n\
            while (!atomic_load_explicit(&flag, memory_order_relaxed));\n\
            for (;;) {{\n\
                int seen = atomic_load_explicit(&data, memory_order_relaxed);\n\
                if (seen == 1) break;\n\
                {round}\n\
            }}\n\
            {after}\n\
            pthread_join(thread, 0);\n\
            (void)mutex; (void)other; (void)kept; (void)zero;\n\
            return 0;\n\
        }}\n"
    )
}

#[test]
fn what_makes_a_run_fail_is_harmful_and_a_test_that_notices_nothing_is_blind() {
    let broken = "a store was undone or an order lost";
    for (round, after, verdict) in [
        ("zero++;", "", "no-effect-seen"),
        (
            "atomic_store_explicit(&other, 1, memory_order_relaxed);",
            "",
            "no-effect-seen",
        ),
        ("kept = seen;", "assert(kept == 1);", "harmful"),
        ("break;", "", "no-effect-seen"),
        ("kept = seen; break;", "assert(kept == 1);", "harmful"),
    ] {
        let ran = check(&retrying(round, after), &[]);
        let found = verdicts(&ran);
        assert_eq!(found, [(16, verdict.to_owned())], "{round} {after}");
        // Where nothing is harmful, nothing that the test does can make it fail.
        assert_eq!(ran.code, Some(1), "{round} {after}: {broken}");
        let report = ran.json();
        let blind = report["notices"].as_array().expect("a list").iter();
        let blind = blind.filter(|notice| notice["sees"] == false).count();
        assert_eq!(blind, usize::from(verdict == "no-effect-seen"), "{report}");
    }
}

#[test]
fn a_report_on_a_test_that_notices_nothing_begins_with_that() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", &retrying("break;", ""));
    let ran = CommandResult::of(world.wmfix("gcc").args(["check", "prog.c"]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let first = ran.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("this test notices nothing"), "{first}");
    let ran = CommandResult::of(world.wmfix("gcc").args(["suggest", "prog.c"]));
    assert!(ran.stdout.starts_with("diff --git"), "{}", ran.stderr);
}

#[test]
fn every_stale_access_counts_where_that_is_asked() {
    need(&[Need::Program("gcc")]);
    assert_eq!(check(RING, &["--runs", "100"]).code, Some(0));
    let ran = check(RING, &["--runs", "100", "--robust"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()["criterion"]["asks_for"], "robustness");
    let world = World::new();
    world.write("prog.c", RING);
    let runs = ["--runs", "60"];
    let ran = CommandResult::well(world.wmfix("gcc").args(["suggest", "prog.c"]).args(runs));
    assert_eq!(ran.stdout, "");
    let ran = world
        .wmfix("gcc")
        .args(["suggest", "prog.c", "--robust"])
        .args(runs)
        .output();
    let ran = ran.expect("it runs");
    assert!(ran.stdout.starts_with(b"diff --git a/prog.c"));
}

#[test]
fn levels_of_harm_are_refused_with_what_has_taken_their_place() {
    for flags in [["--fail-on", "visible"], ["--fail-on", "all"]] {
        let ran = check(RING, &flags);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("--robust"), "{}", ran.stderr);
    }
}

#[test]
fn a_harmful_run_is_shown_again_by_its_command() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let source = retrying("kept = seen; break;", "assert(kept == 1);");
    world.write("prog.c", &source);
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["check", "prog.c", "--format", "json"]),
    );
    let report = ran.json();
    let harm = &report["violations"][0]["harm"];
    let ended = harm["ended"].as_str().expect("an end");
    assert!(
        ended.starts_with("SIGABRT: ") && ended.contains("kept == 1"),
        "{ended}"
    );
    let command = harm["command"].as_str().expect("a command");
    let line = command.replacen("wmfix", wmfix().to_str().expect("a name"), 1);
    let mut shell = world.command("sh");
    let ran = CommandResult::of(shell.env("WMFIX_REAL_CC", "gcc").args(["-c", &line]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("kept == 1"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("took an old write at"),
        "{}",
        ran.stderr
    );
    // Another seed does not come there.
    let elsewhere = line.replace("--stale '", "--stale '9");
    let mut shell = world.command("sh");
    let ran = CommandResult::of(shell.env("WMFIX_REAL_CC", "gcc").args(["-c", &elsewhere]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

/// Two threads, or three, and how the last access of the second one may fail.
pub(crate) fn faulty(globals: &str, writer: &str, reader: &str, helper: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
        #include <sys/wait.h>\n#include <unistd.h>\n{globals}\n\
        static atomic_int data, flag, out;\n\
        static void *writer(void *arg) {{ {writer} return arg; }}\n\
        static void *helper(void *arg) {{ {helper} return arg; }}\n\
        static void *reader(void *arg) {{\n\
            while (!atomic_load_explicit(&flag, memory_order_relaxed));\n\
            {reader}\n\
            return arg; }}\n\
        int main(void) {{\n\
            pid_t child = fork(); if (child == 0) _exit(0); waitpid(child, 0, 0);\n\
            pthread_t t[3];\n\
            pthread_create(&t[0], 0, writer, 0); pthread_create(&t[1], 0, reader, 0);\n\
            pthread_create(&t[2], 0, helper, 0);\n\
            for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n\
            return 0; }}\n"
    )
}

pub(crate) const PUBLISH: &str = "atomic_store_explicit(&data, 1, memory_order_relaxed);\
    atomic_store_explicit(&flag, 1, memory_order_relaxed);";

#[test]
fn a_crash_in_another_thread_is_harm() {
    let source = faulty(
        "",
        PUBLISH,
        "int seen = atomic_load_explicit(&data, memory_order_relaxed);\
         atomic_store_explicit(&out, seen + 1, memory_order_relaxed);",
        "int got; while (!(got = atomic_load_explicit(&out, memory_order_relaxed)));\
         if (got == 1) abort();",
    );
    let ran = check(&source, &[]);
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let harmful = violations
        .iter()
        .find(|v| v["harm"]["verdict"] == "harmful");
    let ended = harmful.and_then(|v| v["harm"]["ended"].as_str());
    assert!(
        ended.is_some_and(|ended| ended.contains("SIGABRT")),
        "{report}"
    );
}

#[test]
fn a_stale_pointer_to_freed_memory_is_harm() {
    let source = faulty(
        "struct thing { int value; };\nstatic _Atomic(struct thing *) current;",
        "struct thing *old = malloc(sizeof *old), *new = malloc(sizeof *new);\
         old->value = new->value = 1;\
         atomic_store_explicit(&current, old, memory_order_release);\
         atomic_store_explicit(&current, new, memory_order_release);\
         free(old);\
         atomic_store_explicit(&flag, 1, memory_order_relaxed);",
        "struct thing *mine = atomic_load_explicit(&current, memory_order_acquire);\
         if (mine) { volatile int value = mine->value; (void)value; }",
        "",
    );
    let ran = check(&source, &[]);
    let report = ran.json();
    let harm = &report["violations"][0]["harm"];
    assert_eq!(harm["verdict"], "harmful", "{report}");
    let ended = harm["ended"].as_str().expect("an end");
    assert!(ended.contains("freed memory"), "{ended}");
}

#[test]
fn a_run_that_goes_elsewhere_is_not_tried() {
    // How often it looks at `out` depends on the process number.
    let source = faulty(
        "",
        &format!(
            "for (int i = getpid() % 7; i > 0; i--)\
                atomic_store_explicit(&out, i, memory_order_relaxed); {PUBLISH}"
        ),
        "int seen = atomic_load_explicit(&data, memory_order_relaxed);\
         atomic_store_explicit(&out, seen, memory_order_relaxed);",
        "",
    );
    let ran = check(&source, &[]);
    for (_, verdict) in verdicts(&ran) {
        assert!(
            ["not-tried", "no-effect-seen"].contains(&&*verdict),
            "{verdict}"
        );
    }
}

#[test]
fn who_has_initialised_a_local_static_can_take_an_old_value() {
    need(&[Need::Program("g++")]);
    let source = "
#include <atomic>
#include <cassert>
#include <thread>
struct Flags {
    std::atomic<int> a, b;
    Flags() { a = 0; b = 0; }
};
int main()
{
    static Flags flags;
    int seen_a = 0, seen_b = 0;
    std::thread other([&] {
        flags.b.store(1, std::memory_order_release);
        seen_a = flags.a.load(std::memory_order_acquire);
    });
    flags.a.store(1, std::memory_order_release);
    seen_b = flags.b.load(std::memory_order_acquire);
    other.join();
    assert(seen_a || seen_b);
}
";
    let world = World::new();
    world.write("prog.cpp", source);
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(["check", "prog.cpp", "--runs", "100", "--format", "json"]);
    let found = verdicts(&CommandResult::of(&mut command));
    let harmful = |line: u64| (line, "harmful".to_owned());
    assert_eq!(found, [harmful(15), harmful(18)]);
}

#[test]
fn a_loop_that_never_ends_with_the_old_value_is_harm() {
    let source = faulty(
        "#include <sched.h>",
        PUBLISH,
        "int seen = atomic_load_explicit(&data, memory_order_relaxed);\
         while (!seen) sched_yield();",
        "",
    );
    let report = check(&source, &["--timeout", "4"]).json();
    let harm = &report["violations"][0]["harm"];
    assert_eq!(harm["verdict"], "harmful", "{report}");
    let ended = harm["ended"].as_str().expect("an end");
    let endless = ["a hang", "a livelock", "a deadlock"];
    assert!(endless.iter().any(|end| ended.starts_with(end)), "{ended}");
}

#[test]
fn a_loop_that_only_waits_longer_is_not_harm() {
    let source = faulty(
        "",
        PUBLISH,
        "while (!atomic_load_explicit(&data, memory_order_relaxed));",
        "",
    );
    let ran = check(&source, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn a_violation_in_a_forked_child_is_judged_there() {
    let source = faulty(
        "",
        PUBLISH,
        "assert(atomic_load_explicit(&data, memory_order_relaxed));",
        "",
    );
    // The child goes on with the threads, the parent only waits.
    let source = source.replace(
        "if (child == 0) _exit(0); waitpid(child, 0, 0);",
        "if (child != 0) { int status; waitpid(child, &status, 0); return status != 0; }",
    );
    let report = check(&source, &[]).json();
    let harm = &report["violations"][0]["harm"];
    assert_eq!(harm["verdict"], "harmful", "{report}");
    let stack = harm["stack"][0].as_str().expect("a stack");
    assert!(stack.starts_with("reader at prog.c:"), "{stack}");
}

#[test]
fn where_nothing_can_be_tried_everything_counts() {
    let ran = check(&retrying("zero++;", ""), &["--model", "rc20"]);
    assert_eq!(verdicts(&ran), [(16, "not-tried".to_owned())]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()["criterion"]["asks_for"], "robustness");
}

/// A bounded queue of one producer and one consumer, correct, whose positions may be
/// old and still good enough.
const RING: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    enum { SIZE = 4, ITEMS = 20 };\n\
    static atomic_uint head, tail;\nstatic int items[SIZE];\n\
    static int push(int item) {\n\
    \x20 unsigned at = atomic_load_explicit(&tail, memory_order_relaxed), next = (at + 1) % SIZE;\n\
    \x20 if (next == atomic_load_explicit(&head, memory_order_acquire)) return 0;\n\
    \x20 items[at] = item;\n\
    \x20 atomic_store_explicit(&tail, next, memory_order_release);\n\
    \x20 return 1;\n}\n\
    static int pop(int *item) {\n\
    \x20 unsigned at = atomic_load_explicit(&head, memory_order_relaxed);\n\
    \x20 if (at == atomic_load_explicit(&tail, memory_order_acquire)) return 0;\n\
    \x20 *item = items[at];\n\
    \x20 atomic_store_explicit(&head, (at + 1) % SIZE, memory_order_release);\n\
    \x20 return 1;\n}\n\
    static void *producer(void *arg) {\n\
    \x20 for (int i = 0; i < ITEMS; i++) while (!push(i)) ;\n\
    \x20 return arg;\n}\n\
    int main(void) {\n\
    \x20 pthread_t thread; pthread_create(&thread, 0, producer, 0);\n\
    \x20 for (int i = 0; i < ITEMS; i++) { int item; while (!pop(&item)) ; assert(item == i); }\n\
    \x20 pthread_join(thread, 0);\n  return 0;\n}\n";

#[test]
fn a_correct_ring_passes() {
    let ran = check(RING, &["--runs", "200"]);
    let found = verdicts(&ran);
    let lines: Vec<u64> = found.iter().map(|&(line, _)| line).collect();
    assert_eq!(lines, [9, 16], "{}", ran.stdout);
    let passes = |(_, verdict): &(u64, String)| verdict == "no-effect-seen";
    assert!(found.iter().all(passes), "{found:?}");
    assert_eq!(ran.code, Some(0));
}

#[test]
fn the_length_of_a_test_makes_no_difference_to_its_verdict() {
    for items in [6, 200, 1000] {
        let ring = RING.replace("ITEMS = 20", &format!("ITEMS = {items}"));
        assert_ne!(ring, RING);
        let ran = check(&ring, &["--time", "60"]);
        assert_eq!(ran.code, Some(0), "{items}: {}", ran.stdout);
        assert_eq!(ran.json()["criterion"]["asks_for"], "correctness");
    }
}

#[test]
fn the_same_test_with_the_values_ignored_is_blind() {
    let ring = RING.replace("assert(item == i);", "(void)item;");
    assert_ne!(ring, RING);
    let ran = check(&ring, &["--runs", "100"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    let notice = &ran.json()["notices"][0];
    assert_eq!(notice["sees"], false, "{notice}");
    assert!(notice["stores_undone"].as_u64() > Some(0), "{notice}");
}

#[test]
fn an_assertion_about_something_else_opens_no_eyes() {
    let source = retrying("break;", "other = 7; assert(other == 7);");
    let ran = check(&source, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert_eq!(ran.json()["notices"][0]["sees"], false);
}
