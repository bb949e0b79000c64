//! Tests as CMake knows them: each is run by itself, and judged as ctest would, whatever
//! the others need.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering, unless an argument says how to end.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static atomic_int x, y;
static int saw_x, saw_y;
static void *left(void *p)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    saw_y = atomic_load_explicit(&y, memory_order_acquire);
    return p;
}
static void *right(void *p)
{
    atomic_store_explicit(&y, 1, memory_order_release);
    saw_x = atomic_load_explicit(&x, memory_order_acquire);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t one, two;
    if (argc > 2)
        printf("%s\n", argv[2]);
    if (argc > 1)
        return atoi(argv[1]);
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

/// A project with the threads in one test, and these others.
fn project(others: &str) -> World {
    need(&[Need::Program("gcc"), Need::Program("cmake")]);
    let world = World::new();
    world.write("p/t.c", PROGRAM);
    world.write(
        "p/CMakeLists.txt",
        &format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(t C)\nfind_package(Threads REQUIRED)\n\
             enable_testing()\nadd_executable(t t.c)\ntarget_link_libraries(t Threads::Threads)\n\
             add_test(NAME threads COMMAND t)\n{others}"
        ),
    );
    // It notes that it was called.
    let ctest = which("ctest");
    let log = world.path().join("called");
    let script = format!(
        "#!/bin/sh\necho >> '{}'\nexec {ctest} \"$@\"\n",
        log.display()
    );
    let path = world.write("bin/ctest", &script);
    CommandResult::well(world.command("chmod").arg("+x").arg(path));
    world
}

/// The full path of a program.
fn which(program: &str) -> String {
    let path = std::env::var_os("PATH").expect("a path");
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = files.find(|file| file.is_file()).expect("the program");
    found.display().to_string()
}

/// A test with arguments and properties.
fn test(name: &str, arguments: &str, properties: &str) -> String {
    format!(
        "add_test(NAME {name} COMMAND t {arguments})\n\
         set_tests_properties({name} PROPERTIES {properties})\n"
    )
}

fn check(world: &World, runs: u32) -> CommandResult {
    let mut command = world.wmfix("gcc");
    let path = std::env::var("PATH").expect("a path");
    let own = world.path().join("bin");
    command
        .env("PATH", format!("{}:{path}", own.display()))
        .current_dir(world.path().join("p"));
    let runs = runs.to_string();
    CommandResult::of(command.args(["check", "--format", "json", "--runs", &runs]))
}

/// The programs whose runs failed.
fn failures(result: &CommandResult) -> Vec<String> {
    let report = result.json();
    let failures = report["failures"].as_array().expect("a list").iter();
    let programs = failures.map(|one| one["program"].as_str().expect("a name").to_owned());
    programs.collect()
}

/// As `gtest_discover_tests` and `catch_discover_tests` have it, and tests that only ctest
/// can judge: none of them fails, and the one with threads is run often, without ctest.
#[test]
fn each_test_is_judged_as_its_properties_say() {
    let skip = "SKIP_REGULAR_EXPRESSION \"\\\\[  SKIPPED \\\\]\"";
    let world = project(
        &[
            test("by_text", "1 \"[  SKIPPED ] a.b\"", skip),
            test("by_code", "4", "SKIP_RETURN_CODE 4"),
            test("inverted", "1", "WILL_FAIL TRUE"),
            test("by_output", "1 fine", "PASS_REGULAR_EXPRESSION fine"),
            test("later", "0", "DEPENDS by_output"),
        ]
        .concat(),
    );
    let found = check(&world, 150);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert_eq!(failures(&found), [] as [&str; 0], "{found:?}");
    let report = found.json();
    let violations = report["violations"].as_array().expect("a list");
    assert!(!violations.is_empty(), "{report}");
    // The runs are those of the test with threads, and not of all by ctest.
    let runs = report["runs"]["total"].as_u64().expect("a number");
    let called = std::fs::read_to_string(world.path().join("called")).expect("a log");
    let called = called.lines().count();
    assert!(runs >= 150 && called < 75, "{runs} runs, {called} of ctest");
}

/// Of many tests only the first has threads: it gets the time that the others do not need.
#[test]
fn the_time_goes_to_the_tests_with_threads() {
    let others = (0..20).map(|number| format!("add_test(NAME other{number} COMMAND t 0)\n"));
    let world = project(&others.collect::<String>());
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join("p"));
    let line = "check --format json --runs 1000000 --harm off --time 8";
    let found = CommandResult::of(command.args(line.split(' ')));
    assert_eq!(found.code, Some(1), "{found:?}");
    let report = found.json();
    let seconds = report["runs"]["seconds"].as_f64().expect("a number");
    assert!(seconds > 3.5, "{seconds} s");
}

#[test]
fn a_test_that_fails_is_told_beside_those_that_may() {
    let skip = "SKIP_REGULAR_EXPRESSION skipped";
    for (others, program) in [
        (test("broken", "1 broken", skip), "t"),
        (test("works", "0", "WILL_FAIL TRUE"), "ctest"),
        (test("other_code", "5", "SKIP_RETURN_CODE 4"), "t"),
    ] {
        let found = check(&project(&others), 10);
        assert_eq!(found.code, Some(1), "{found:?}");
        assert_eq!(failures(&found), [program], "{found:?}");
    }
}
