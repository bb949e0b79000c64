//! Files of scenarios: the headers by themselves, with the system's compilers and
//! threads; their judge against brute force; and what wmfix makes of such files.

use std::path::{Path, PathBuf};

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Warnings under which the headers are clean.
const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror";

/// Structures as anybody would write them, with their scenarios.
const STRUCTURES: [&str; 7] = [
    "spsc_ring.cpp",
    "vyukov_queue.cpp",
    "treiber_stack.cpp",
    "ticket_lock.c",
    "ms_queue.cpp",
    "reference_count.cpp",
    "seqlock.cpp",
];

const EXPLAINED: &str = "an order of the calls explains every result";

fn corpus(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/scenarios");
    folder.join(name)
}

fn need_compilers() {
    need(&["gcc", "g++", "clang", "clang++"].map(Need::Program));
}

/// The headers as a user has them without wmfix.
fn with_headers() -> World {
    let world = World::new();
    let mut write = world.wmfix("gcc");
    CommandResult::well(write.args(["scenarios", "--headers", "include"]));
    world
}

/// Builds a file with a compiler and these options, and runs it.
fn run_plainly(world: &World, name: &str, compiler: &str, options: &str) -> CommandResult {
    let mut build = world.command(compiler);
    build.args(options.split_whitespace());
    build.args(["-g", "-O1", "-Iinclude", "-pthread", "-o", "program"]);
    CommandResult::well(build.arg(corpus(name)));
    CommandResult::of(&mut world.command("./program"))
}

fn passes(result: &CommandResult) {
    assert_eq!(result.code, Some(0), "{result:?}");
    assert!(result.stdout.contains(EXPLAINED), "{result:?}");
    assert_eq!(result.stderr, "");
}

#[test]
fn the_headers_alone_are_clean_under_both_compilers() {
    need_compilers();
    let world = with_headers();
    for (compiler, name, standards) in [
        ("g++", "every_word.cpp", "c++11 c++14 c++17 c++20"),
        ("clang++", "every_word.cpp", "c++11 c++20"),
        ("gcc", "every_word.c", "c11 gnu17"),
        ("clang", "every_word.c", "c11"),
    ] {
        for standard in standards.split(' ') {
            let options = format!("-std={standard} {WARNINGS}");
            passes(&run_plainly(&world, name, compiler, &options));
        }
    }
}

#[test]
fn structures_pass_as_ordinary_tests() {
    need_compilers();
    let world = with_headers();
    for name in STRUCTURES {
        let (gcc, clang, standard) = match name.ends_with(".c") {
            true => ("gcc", "clang", "-std=c11"),
            false => ("g++", "clang++", "-std=c++17"),
        };
        passes(&run_plainly(&world, name, gcc, standard));
        passes(&run_plainly(&world, name, clang, standard));
    }
}

#[test]
fn structures_pass_under_the_sanitizers() {
    need_compilers();
    let world = with_headers();
    for sanitizer in ["thread", "address,undefined"] {
        let options = format!("-std=c++17 -fsanitize={sanitizer}");
        passes(&run_plainly(&world, "spsc_ring.cpp", "clang++", &options));
        let options = format!("-std=c11 -fsanitize={sanitizer}");
        passes(&run_plainly(&world, "every_word.c", "clang", &options));
    }
}

#[test]
fn a_wrong_structure_fails_as_an_ordinary_test() {
    need_compilers();
    let world = with_headers();
    // A sum that a thread may take from under another one.
    world.write(
        "sum.cpp",
        "#include <wmfix/scenarios.hpp>\n#include <atomic>\n\
         struct Sum { std::atomic<int> value{0}; };\n\
         WMFIX_OBJECT(Sum)\n\
         WMFIX_OPERATION(add, any, (Sum &s) {\n\
         \x20 int now = s.value.load();\n  for (volatile int i = 0; i < 2000; i = i + 1) {}\n\
         \x20 s.value.store(now + 1);\n  wmfix::expect(s.value.load() < 2);\n  return now; })\n",
    );
    let mut build = world.command("g++");
    CommandResult::well(build.args("-Iinclude -pthread sum.cpp -o sum".split(' ')));
    let result = CommandResult::of(world.command("./sum").args(["--scenario", "2add/add"]));
    assert_eq!(result.code, Some(1), "{result:?}");
    for words in [
        "scenario 2add/add failed: the expectation at sum.cpp:5 does not hold",
        "  thread 1  | thread 2\n",
        "again: ./sum --scenario 2add/add",
    ] {
        assert!(result.stderr.contains(words), "{}", result.stderr);
    }
    assert!(result.stderr.lines().all(|line| line.len() <= 80));
}

#[test]
fn scenarios_are_listed_smallest_first_and_run_by_name() {
    need_compilers();
    let world = with_headers();
    passes(&run_plainly(&world, "spsc_ring.cpp", "g++", "-std=c++17"));
    let list = CommandResult::well(world.command("./program").arg("--list"));
    let names: Vec<&str> = list.stdout.lines().collect();
    assert_eq!(names.len(), 40);
    let first = ["push/pop", "push:push/pop", "2push:push/pop", "2push/pop"];
    assert_eq!(names[..4], first);
    // One producer and one consumer.
    assert!(!names.iter().any(|name| name.contains("push/push")));
    for name in [names[0], names[39]] {
        let mut run = world.command("./program");
        passes_quietly(&CommandResult::of(run.args(["--scenario", name])));
        let mut run = world.command("./program");
        passes_quietly(&CommandResult::of(run.env("WMFIX_SCENARIO", name)));
    }
    let unknown = CommandResult::of(world.command("./program").args(["--scenario", "peek/pop"]));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("--list"), "{}", unknown.stderr);
}

fn passes_quietly(result: &CommandResult) {
    let said = (result.stdout.as_str(), result.stderr.as_str());
    assert_eq!((result.code, said), (Some(0), ("", "")));
}

#[test]
fn calls_that_wait_for_ever_in_some_order_are_left_out() {
    need_compilers();
    let world = with_headers();
    passes(&run_plainly(&world, "every_word.cpp", "g++", "-std=c++11"));
    let list = CommandResult::well(world.command("./program").arg("--list"));
    let has = |name: &str| list.stdout.lines().any(|line| line == name);
    assert!(has("release/acquire"), "{}", list.stdout);
    assert!(!has("acquire/acquire"), "{}", list.stdout);
    // At most once.
    assert!(!has("name/name") && has("name/place"), "{}", list.stdout);
}

#[test]
fn the_judge_agrees_with_brute_force() {
    need_compilers();
    let world = with_headers();
    let mut build = world.command("g++");
    build.args("-std=c++17 -O1 -Iinclude -pthread -o judge".split(' '));
    CommandResult::well(build.arg(corpus("judge.cpp")));
    let result = CommandResult::of(world.command("./judge").args(["100000", "7"]));
    assert_eq!(result.code, Some(0), "{}", result.stdout);
    let wrong = result.stdout.split_once("100000 histories, ");
    let wrong: u64 = wrong
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
        .expect("the number of wrong ones");
    // Both kinds are there.
    assert!((20_000..80_000).contains(&wrong), "{}", result.stdout);
}

#[test]
fn headers_are_never_written_over_other_files() {
    let world = with_headers();
    let again = |world: &World| {
        let mut command = world.wmfix("gcc");
        CommandResult::of(command.args(["scenarios", "--headers", "include"]))
    };
    assert_eq!(again(&world).code, Some(0));
    world.write("include/wmfix/scenarios.h", "mine\n");
    let refused = again(&world);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let words = "include/wmfix/scenarios.h exists and differs";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    let file = world.path().join("include/wmfix/scenarios.h");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine\n");
}

/// `wmfix check` on a copy of a file of the corpus, which finds the headers by itself.
fn check(name: &str, change: Option<(&str, &str)>, line: &str) -> CommandResult {
    need_compilers();
    let world = World::new();
    let mut text = std::fs::read_to_string(corpus(name)).unwrap();
    if let Some((from, to)) = change {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    world.write(name, &text);
    let mut command = world.wmfix("gcc");
    command.args(["check", name]);
    CommandResult::of(command.args(line.split_whitespace()))
}

#[test]
fn correct_structures_pass_wmfix() {
    for name in STRUCTURES {
        let result = check(name, None, "--runs 5");
        let all = format!("{}\n{}", result.stdout, result.stderr);
        assert_eq!(result.code, Some(0), "{name}: {all}");
        for word in [
            "note: harmful",
            "note: visible",
            "failed:",
            "checks nothing",
        ] {
            assert!(!all.contains(word), "{name}: {all}");
        }
    }
}

#[test]
fn a_lost_order_is_found_in_the_smallest_scenario_that_shows_it() {
    // What is lost, and the first scenario in which that matters.
    let release = ("tail.store(at + 1, std::memory_order_release)", "push/pop");
    let acquire = ("head.load(std::memory_order_acquire)", "2push:push/pop");
    for (order, scenario) in [release, acquire] {
        let lost = order
            .replace("release", "relaxed")
            .replace("acquire", "relaxed");
        let result = check("spsc_ring.cpp", Some((order, &lost)), "--runs 20");
        assert_eq!(result.code, Some(1), "{result:?}");
        let again = format!("-- spsc_ring --scenario {scenario}\n");
        let first = result.stdout.find("--scenario");
        let named = result
            .stdout
            .find(&again)
            .map(|at| at + "-- spsc_ring ".len());
        assert!(first.is_some() && first == named, "{}", result.stdout);
    }
}

#[test]
fn a_wrong_result_is_shown_with_its_calls() {
    let all = "-- seqlock --scenario 2write/read --runs 300";
    let fence = "std::atomic_thread_fence(std::memory_order_acquire);";
    let (run, rest) = all.split_at(all.find("--runs").unwrap());
    let result = check("seqlock.cpp", Some((fence, "")), &format!("{rest} {run}"));
    assert_eq!(result.code, Some(1), "{result:?}");
    let words = "scenario 2write/read failed: no order of the calls explains these results";
    assert!(result.stdout.contains(words), "{}", result.stdout);
}

#[test]
fn the_harness_orders_nothing() {
    let scenario = "-- log_between_calls --scenario set_first+set_second/get_second+get_first";
    let without = check(
        "log_between_calls.cpp",
        None,
        &format!("--runs 200 {scenario}"),
    );
    assert_eq!(without.code, Some(1), "{without:?}");
    assert!(without.stdout.contains("harmful"), "{}", without.stdout);
    // A log that orders the calls hides it.
    let with = check(
        "log_between_calls.cpp",
        None,
        &format!("-D LOG=1 --runs 200 {scenario}"),
    );
    assert_eq!(with.code, Some(0), "{with:?}");
}
