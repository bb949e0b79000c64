//! `check --exhaustive`: all schedules of a test, `proved` where nothing is found in any
//! of them, and never for less.
//!
//! `WMFIX_LITMUS=all` takes every program of the litmus corpus, with every compiler,
//! instead of a sample; a number, one program in so many.

use serde_json::Value;
use wmfix_tests::brute::{Axioms, explore};
use wmfix_tests::exploring::complete_graphs;
use wmfix_tests::litmus::{Entry, Instruction, Program, Spelling, corpus, emit};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// In CI, one program in this many.
const ONE_IN: usize = 40;

#[test]
fn litmus_programs_are_proved_or_refuted() {
    need(&["gcc", "clang"].map(Need::Program));
    let asked = std::env::var("WMFIX_LITMUS").unwrap_or_default();
    let one_in = match asked.as_str() {
        "all" => Some(1),
        number => number.parse().ok().filter(|&number: &usize| number > 0),
    };
    let (mut proved, mut refuted) = (0, 0);
    for (number, entry) in corpus().unwrap().iter().enumerate() {
        for (which, compiler) in ["gcc", "clang"].into_iter().enumerate() {
            let is_taken = match one_in {
                Some(one_in) => number % one_in == 0,
                None => number % ONE_IN == 0 && number / ONE_IN % 2 == which,
            };
            if is_taken {
                let report = explore_litmus(entry, compiler);
                match judge(entry, &report) {
                    true => proved += 1,
                    false => refuted += 1,
                }
            }
        }
    }
    wmfix_tests::note!("{proved} proved, {refuted} refuted");
    assert!(proved > refuted / 8 && refuted > proved / 8);
}

fn explore_litmus(entry: &Entry, compiler: &str) -> Value {
    let world = World::new();
    world.write("litmus.c", &emit(&entry.program, Spelling::C11));
    let mut command = world.wmfix(compiler);
    // The verdict is enough.
    command.env("WMFIX_RUNS", "1");
    command.args(["check", "--exhaustive", "--harm", "off", "litmus.c"]);
    CommandResult::of(command.args(["--format", "json"])).json()
}

/// Whether the program was proved; panics unless that is true of it.
fn judge(entry: &Entry, report: &Value) -> bool {
    let program = &entry.program;
    let proof = &report["proof"];
    assert_eq!(proof["complete"], true, "{program}{report}");
    let hangs = can_hang(program);
    assert_eq!(proof["proved"], entry.robust && !hangs, "{program}{report}");
    let failed = report["failures"].as_array().expect("a list").len();
    assert_eq!(failed > 0, hangs, "{program}{report}");
    let found = report["violations"].as_array().expect("a list").len();
    assert_eq!(found == 0, entry.robust, "{program}{report}");
    // Some compilers make a load of an addition of nothing.
    let adds_nothing = |i: &Instruction| matches!(i, Instruction::FetchAdd { value: 0, .. });
    if !program.instructions().any(adds_nothing) {
        let graphs = complete_graphs(program).len();
        assert_eq!(proof["classes"], graphs, "{program}{report}");
    }
    entry.robust
}

/// Whether there is a run in which a thread waits for ever.
fn can_hang(program: &Program) -> bool {
    !explore(program, Axioms::RC11, |state| {
        let stuck = (0..program.threads.len()).all(|t| state.machine.choices(t).is_empty());
        !stuck || state.machine.all_ended()
    })
}

/// Two threads that do this, and then end.
fn two_threads(one: &str, other: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n\
         #include <sys/wait.h>\n\
         static atomic_int x, y, z; static int plain;\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER;\n\
         static void *one(void *p) {{ {one} return p; }}\n\
         static void *other(void *p) {{ {other} return p; }}\n\
         int main(void) {{ pthread_t a, b; (void)plain; (void)z;\n\
         pthread_create(&a, 0, one, 0); pthread_create(&b, 0, other, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); (void)m; (void)k; return 0; }}\n"
    )
}

fn explored(source: &str, more: &[&str]) -> Value {
    let world = World::new();
    world.write("test.c", source);
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "10");
    command.args(["check", "--exhaustive", "--format", "json", "test.c"]);
    CommandResult::of(command.args(more)).json()
}

/// Explores, and gives the classes of runs of what must be proved.
fn proved(one: &str, other: &str) -> u64 {
    let report = explored(&two_threads(one, other), &[]);
    assert_eq!(report["verdict"], "clean", "{report}");
    assert_eq!(report["proof"]["proved"], true, "{report}");
    report["proof"]["classes"].as_u64().expect("a number")
}

#[test]
fn as_many_classes_as_there_are_ways() {
    let swap = "atomic_store(&x, 1); atomic_load(&y);";
    assert_eq!(proved(swap, "atomic_store(&y, 1); atomic_load(&x);"), 3);
    let twice = "for (int i = 0; i < 2; i++) \
                 { pthread_mutex_lock(&m); plain++; pthread_mutex_unlock(&m); }";
    assert_eq!(proved(twice, twice), 6);
    // However many rounds the loop makes, it is one.
    let publish = "plain = 1; atomic_store_explicit(&x, 1, memory_order_release);";
    let wait = "while (!atomic_load_explicit(&x, memory_order_acquire)); plain = 2;";
    assert_eq!(proved(publish, wait), 1);
}

#[test]
fn a_loop_that_goes_on_by_several_values_has_all_its_ways_out() {
    let wait = "int a = 0, b = 0; \
                while ((a = atomic_load(&x)) == 0 && (b = atomic_load(&y)) == 0);";
    let publish = "atomic_store(&x, 1); atomic_store(&y, 1);";
    let out_by = |found: &str| {
        let ends = format!("{wait} if ({found}) abort();");
        let report = explored(&two_threads(&ends, publish), &["--harm", "off"]);
        report["failures"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(out_by("a == 1 && b == 0"), 1);
    // The second value is read after both were written, the first one before.
    assert_eq!(out_by("a == 0 && b == 1"), 1);
    // It is no wait for one value: its rounds are steps like any other.
    let never = format!("{wait} if (a == b) abort();");
    let report = explored(&two_threads(&never, publish), &[]);
    assert_eq!(
        report["failures"].as_array().map(Vec::len),
        Some(0),
        "{report}"
    );
    let obstacle = report["proof"]["obstacles"][0].as_str().expect("a text");
    assert!(obstacle.contains("which is not known to wait"), "{report}");
}

#[test]
fn petersons_lock_is_proved_or_refuted() {
    let lock = |me: u32, order: &str| {
        let (mine, theirs) = [("x", "y"), ("y", "x")][me as usize];
        format!(
            "atomic_store(&{mine}, 1); atomic_store_explicit(&z, {me}, {order}); \
             while (atomic_load(&{theirs}) == 1 && atomic_load(&z) == {me}); \
             plain++; atomic_store(&{mine}, 0);"
        )
    };
    for (order, proved) in [
        ("memory_order_seq_cst", true),
        ("memory_order_release", false),
    ] {
        let source = two_threads(&lock(0, order), &lock(1, order));
        let report = explored(&source, &["--harm", "off"]);
        assert_eq!(report["proof"]["proved"], proved, "{order}: {report}");
        assert_eq!(report["proof"]["complete"], true, "{order}: {report}");
    }
}

#[test]
fn several_runs_at_a_time_explore_the_same() {
    let adds = "atomic_fetch_add(&x, 1); atomic_fetch_add(&x, 2); atomic_fetch_add(&x, 1);";
    for jobs in ["1", "3"] {
        let report = explored(&two_threads(adds, adds), &["--jobs", jobs]);
        assert_eq!(report["proof"]["classes"], 20, "{jobs}: {report}");
        assert_eq!(report["proof"]["proved"], true, "{jobs}: {report}");
    }
}

#[test]
fn what_one_schedule_does_is_found() {
    // Only if the other thread is between the two stores.
    let rare = "atomic_store(&x, 1); atomic_store(&x, 2);";
    let look = "if (atomic_load(&x) == 1 && atomic_load(&x) == 1 && atomic_load(&x) == 2) abort();";
    let report = explored(&two_threads(rare, look), &[]);
    assert_eq!(report["proof"]["proved"], false, "{report}");
    assert_eq!(report["failures"][0]["kind"], "signal", "{report}");
    let deadlock = explored(
        &two_threads(
            "pthread_mutex_lock(&m); pthread_mutex_lock(&k); \
             pthread_mutex_unlock(&k); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&k); pthread_mutex_lock(&m); \
             pthread_mutex_unlock(&m); pthread_mutex_unlock(&k);",
        ),
        &[],
    );
    assert_eq!(deadlock["failures"][0]["kind"], "deadlock", "{deadlock}");
    assert_eq!(deadlock["proof"]["proved"], false, "{deadlock}");
}

/// Explores what cannot be proved, and gives what is said about that.
fn not_proved(source: &str) -> String {
    let report = explored(source, &["--time", "4"]);
    assert_eq!(report["proof"]["complete"], false, "{report}");
    assert_eq!(report["proof"]["proved"], false, "{report}");
    let notes = report["notes"].as_array().expect("a list");
    let first = notes[0].as_str().expect("a text");
    assert!(first.starts_with("not proved: "), "{report}");
    report["proof"]["obstacles"].to_string()
}

#[test]
fn what_comes_from_outside_is_noticed() {
    let branch = |what: &str| {
        let body = format!(
            "{what} if (bit) atomic_store(&x, 1); else atomic_load(&y); atomic_store(&z, 1);"
        );
        two_threads(&body, &body)
    };
    let clock = "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); \
                 int bit = (t.tv_nsec >> 7) & 1;";
    assert!(not_proved(&branch(clock)).contains("clock"));
    // Two runs have the same number once in 64 times at most.
    let random = "FILE *f = fopen(\"/dev/urandom\", \"r\"); int bit = fgetc(f) & 63; fclose(f); \
                  for (int i = bit; i > 0; i--) atomic_load(&y);";
    assert!(not_proved(&branch(random)).contains("random numbers"));
    let forks = "int bit = fork(); if (bit == 0) _exit(0); wait(0);";
    assert!(not_proved(&branch(forks)).contains("several processes"));
}

#[test]
fn what_does_not_end_is_said_to_be_open() {
    let endless = two_threads(
        "while (!atomic_load(&x)) atomic_fetch_add(&y, 1);",
        "atomic_store(&x, 1);",
    );
    assert!(not_proved(&endless).contains("a loop that writes while it waits"));
    let many = "for (int i = 0; i < 30; i++) atomic_fetch_add(&x, 1);";
    assert!(not_proved(&two_threads(many, many)).contains("operations"));
    let counts = "for (int i = 0; i < 1000 && !atomic_load(&x); i++) plain = i;";
    let report = not_proved(&two_threads(counts, "atomic_store(&x, 1);"));
    assert!(report.contains("rounds of the loop at test.c:"), "{report}");
}

#[test]
fn a_test_that_prints_megabytes_is_explored() {
    let prints = "for (int i = 0; i < 50000; i++) \
                  puts(\"0123456789012345678901234567890123456789\"); atomic_store(&x, 1);";
    let report = explored(&two_threads(prints, "atomic_load(&x);"), &[]);
    assert_eq!(report["proof"]["proved"], true, "{report}");
}

/// Has more classes than a second is enough for on any machine that runs tests.
fn with_many_classes(rounds: u32) -> String {
    let adds = format!("for (int i = 0; i < {rounds}; i++) atomic_fetch_add(&x, 1);");
    two_threads(&adds, &adds)
}

#[test]
fn an_exploration_that_was_stopped_goes_on() {
    let world = World::new();
    world.write("test.c", &with_many_classes(5));
    let explore = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.env("XDG_CACHE_HOME", world.path().join("cache"));
        command.args(["check", "--exhaustive", "--format", "json", "test.c"]);
        CommandResult::of(command.args(more))
    };
    let nothing = explore(&["--resume"]);
    assert_eq!(nothing.code, Some(2), "{}", nothing.stderr);
    assert!(
        nothing
            .stderr
            .contains("no exploration of this test was stopped")
    );
    let (mut report, mut time) = (explore(&["--time", "0.2"]).json(), 0.6);
    let mut before = 0;
    while report["proof"]["complete"] == false {
        let classes = report["proof"]["classes"].as_u64().expect("a number");
        // All classes may be there, and the time up before some were run again.
        assert!(classes >= before && classes <= 252, "{report}");
        before = classes;
        report = explore(&["--time", &time.to_string(), "--resume"]).json();
        time *= 1.5;
    }
    assert_eq!(report["proof"]["classes"], 252, "{report}");
    assert_eq!(report["proof"]["runs"], 252, "none twice: {report}");
    assert_eq!(report["proof"]["proved"], true, "{report}");
    assert_eq!(explore(&["--resume"]).code, Some(2), "there is none left");
}

#[test]
fn a_bug_that_was_found_before_the_stop_is_in_the_report() {
    let world = World::new();
    // The first schedule of all fails, and there are too many others.
    let adds =
        "for (int i = 0; i < 12; i++) atomic_fetch_add(&x, 1); if (atomic_load(&x) == 12) exit(3);";
    world.write("test.c", &two_threads(adds, adds));
    for more in [&["--time", "2"][..], &["--time", "2", "--resume"]] {
        let mut command = world.wmfix("gcc");
        command.env("XDG_CACHE_HOME", world.path().join("cache"));
        command.args(["check", "--exhaustive", "--format", "json", "test.c"]);
        let report = CommandResult::of(command.args(more)).json();
        assert_eq!(report["proof"]["complete"], false, "{report}");
        assert_eq!(report["failures"][0]["kind"], "exit", "{report}");
    }
}

#[test]
fn what_was_kept_is_refused_where_it_does_not_belong() {
    let world = World::new();
    let cache = world.path().join("cache");
    let explore = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.env("XDG_CACHE_HOME", &cache);
        command.args([
            "check",
            "--exhaustive",
            "--time",
            "0.3",
            "--format",
            "json",
            "test.c",
        ]);
        CommandResult::of(command.args(more))
    };
    let refused = |more: &[&str], why: &str| {
        let refused = explore(more);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    };
    world.write("test.c", &with_many_classes(8));
    explore(&[]);
    refused(&["--resume", "--races", "on"], "other options");
    world.write("test.c", &with_many_classes(9));
    refused(&["--resume"], "another program");
    world.write("test.c", &with_many_classes(8));
    let kept = std::fs::read_dir(cache.join("wmfix/explorations")).expect("a folder");
    let kept: Vec<_> = kept.map(|entry| entry.expect("an entry").path()).collect();
    let [file] = &kept[..] else {
        panic!("{kept:?}");
    };
    let text = std::fs::read_to_string(file).expect("what was kept");
    for damaged in [
        &text[..text.len() / 2],
        "",
        "{}",
        &text.replace("[[0,", "[[7,"),
    ] {
        std::fs::write(file, damaged).expect("a file");
        refused(&["--resume"], "damaged");
    }
    std::fs::write(file, text).expect("a file");
    assert_eq!(explore(&["--resume"]).code, Some(0));
}

#[test]
fn a_repair_is_verified_by_proof() {
    let world = World::new();
    let sb = two_threads(
        "atomic_store_explicit(&x, 1, memory_order_release);\n\
         plain = atomic_load_explicit(&y, memory_order_acquire);",
        "atomic_store_explicit(&y, 1, memory_order_release);\n\
         (void)atomic_load_explicit(&x, memory_order_acquire);",
    );
    // A file by another name than that of a test may be changed.
    world.write("store_buffering.c", &sb);
    let suggest = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.env("WMFIX_RUNS", "50");
        command.args([
            "suggest",
            "--harm",
            "off",
            "store_buffering.c",
            "--format",
            "json",
        ]);
        CommandResult::of(command.args(more))
    };
    let proved = suggest(&["--exhaustive"]);
    let repair = &proved.json()["repair"];
    assert_eq!(repair["verification"]["proof"]["proved"], true, "{repair}");
    assert_eq!(repair["verification"]["proof"]["classes"], 3, "{repair}");
    assert!(proved.stderr.is_empty() || proved.stderr.contains("proved for this test"));
    let verified = suggest(&[]);
    let repair = &verified.json()["repair"];
    assert_eq!(repair["verification"]["outcome"], "held", "{repair}");
    assert_eq!(repair["verification"]["proof"], Value::Null, "{repair}");
    assert!(!verified.stderr.contains("proved for this test"));
}

#[test]
fn options_that_say_something_else_are_refused() {
    let world = World::new();
    world.write("test.c", &two_threads("", ""));
    for other in [["--strategy", "pct"], ["--runs", "5"], ["--sleeps", "any"]] {
        let mut command = world.wmfix("gcc");
        command
            .args(["check", "--exhaustive", "test.c"])
            .args(other);
        let refused = CommandResult::of(&mut command);
        assert_eq!(refused.code, Some(2), "{other:?}");
        assert!(
            refused.stderr.contains("cannot be used with"),
            "{}",
            refused.stderr
        );
    }
}
