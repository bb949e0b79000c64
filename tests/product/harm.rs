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
    let (mut discarded, mut survived) = (0, Vec::new());
    for (number, path) in names.iter().enumerate() {
        let world = World::new();
        let compiler = ["gcc", "clang"][number % 2];
        let mut command = world.wmfix(compiler);
        let ran = CommandResult::of(command.arg("check").arg(path).args(["--format", "json"]));
        let found = verdicts(&ran);
        discarded += found.iter().filter(|(_, v)| v == "discarded").count();
        if found.iter().any(|(_, verdict)| verdict == "survived") {
            survived.push(path.clone());
        } else {
            assert_eq!(ran.code, Some(0), "{path:?}: {found:?}\n{}", ran.stderr);
        }
    }
    assert!(survived.is_empty(), "{survived:?}");
    assert!(discarded >= 16, "{discarded} findings were discarded");
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
fn a_retry_is_discarded_and_what_others_could_notice_is_not() {
    let ran = check(&retrying("zero++;", ""), &[]);
    assert_eq!(verdicts(&ran), [(16, "discarded".to_owned())]);
    assert_eq!(ran.code, Some(0));
    for (round, after, verdict) in [
        (
            "atomic_store_explicit(&other, 1, memory_order_relaxed);",
            "",
            "survived",
        ),
        (
            "pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex);",
            "",
            "survived",
        ),
        ("kept = seen;", "assert(kept == 1);", "harmful"),
        ("break;", "", "survived"),
        ("kept = seen; break;", "assert(kept == 1);", "harmful"),
    ] {
        let ran = check(&retrying(round, after), &[]);
        let found = verdicts(&ran);
        assert_eq!(found, [(16, verdict.to_owned())], "{round} {after}");
        assert_eq!(ran.code, Some(1), "{round} {after}");
    }
}

#[test]
fn what_counts_is_a_matter_of_the_level() {
    let discarded = retrying("zero++;", "");
    assert_eq!(check(&discarded, &["--fail-on", "all"]).code, Some(1));
    let survived = retrying("break;", "");
    assert_eq!(check(&survived, &["--fail-on", "visible"]).code, Some(0));
    assert_eq!(check(&survived, &["--fail-on", "survived"]).code, Some(1));
    let harmful = retrying("kept = seen; break;", "assert(kept == 1);");
    assert_eq!(check(&harmful, &["--fail-on", "harmful"]).code, Some(1));
}

#[test]
fn only_what_is_not_discarded_is_repaired_unless_asked() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", &retrying("zero++;", ""));
    let ran = CommandResult::well(world.wmfix("gcc").args(["suggest", "prog.c"]));
    assert_eq!(ran.stdout, "");
    let all = ["suggest", "prog.c", "--fix", "all", "--fail-on", "all"];
    let ran = CommandResult::of(world.wmfix("gcc").args(all));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("diff --git a/prog.c"),
        "{}",
        ran.stdout
    );
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
fn a_run_that_goes_elsewhere_is_untried() {
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
        assert!(["untried", "survived"].contains(&&*verdict), "{verdict}");
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
fn where_the_system_schedules_nothing_is_discarded() {
    let ran = check(&retrying("zero++;", ""), &["--model", "rc20"]);
    assert_eq!(verdicts(&ran), [(16, "untried".to_owned())]);
    assert_eq!(ran.code, Some(1));
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
    let discarded = |(_, verdict): &(u64, String)| verdict == "discarded";
    assert!(found.iter().all(discarded), "{found:?}");
    assert_eq!(ran.code, Some(0));
}

/// The verdict on the consumer's read of how far the producer is, and what came of it.
fn of_tail(source: &str) -> (String, String) {
    let ran = check(source, &["--runs", "200"]);
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let mut lines = violations.iter();
    let found = lines.find(|violation| violation["access"]["line"] == 16);
    let harm = &found.unwrap_or_else(|| panic!("{}", ran.stdout))["harm"];
    let text = |name: &str| harm[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("ended"))
}

/// The ring, with a consumer that keeps the position that it saw.
fn keeping_ring() -> String {
    let look = "at == atomic_load_explicit(&tail, memory_order_acquire)";
    let keep = "at == (seen = atomic_load_explicit(&tail, memory_order_acquire))";
    let ring = RING.replace(look, keep);
    assert_ne!(ring, RING);
    let items = "static int items[SIZE];";
    ring.replace(items, "unsigned seen; static int items[SIZE];")
}

#[test]
fn an_old_value_that_an_interleaving_has_too_is_discarded() {
    // The ring was full when the producer looked, and it looked again: it might as well
    // have looked later, and the consumer earlier.
    let (verdict, ended) = of_tail(&keeping_ring());
    let interleaved = "sequential consistency allows the same run, apart from failed attempts";
    assert_eq!(
        (verdict.as_str(), ended.as_str()),
        ("discarded", interleaved)
    );
}

/// A ring whose producer counts the attempts that failed, where the main thread looks.
fn counting(ring: &str) -> String {
    let full = "atomic_load_explicit(&head, memory_order_acquire)) return 0;";
    let counted = "atomic_load_explicit(&head, memory_order_acquire)) { full++; return 0; }";
    let counting = ring.replace(full, counted);
    assert_ne!(counting, ring);
    let counting = counting.replace("join(thread, 0);", "join(thread, 0); assert(full < 1000);");
    counting.replace("static int items", "static unsigned full; static int items")
}

#[test]
fn an_old_value_that_makes_no_difference_is_discarded() {
    let (verdict, ended) = of_tail(&counting(RING));
    let same = "the program did what it does with the newest value";
    assert_eq!((verdict.as_str(), ended.as_str()), ("discarded", same));
}

/// The ring, with a consumer that shows the producer the position that it saw.
fn showing_ring() -> String {
    let look = "at == atomic_load_explicit(&tail, memory_order_acquire)";
    let show = "at == show(atomic_load_explicit(&tail, memory_order_acquire))";
    let ring = RING.replace(look, show);
    assert_ne!(ring, RING);
    let items = "static int items[SIZE];";
    let shown = "static atomic_uint shown; static unsigned show(unsigned at) \
        { atomic_store_explicit(&shown, at, memory_order_relaxed); return at; } \
        static int items[SIZE];";
    let again = "while (!push(i)) ;";
    let looks = "while (!push(i)) atomic_load_explicit(&shown, memory_order_relaxed);";
    ring.replace(items, shown).replace(again, looks)
}

#[test]
fn an_old_value_that_is_kept_makes_no_difference_unless_others_see_it() {
    let kept = counting(&keeping_ring());
    assert_eq!(of_tail(&kept).0, "discarded");
    assert_eq!(of_tail(&counting(&showing_ring())).0, "survived");
}
