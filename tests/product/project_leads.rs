//! Projects as people find them in repositories: no tests where one looks first, a
//! build file one folder further down, a compiler of their own choice, a clone that
//! is not complete. Each leads on, to a result or to what has to be typed.

use std::process::Command;

use crate::report_support::STORE_BUFFERING;
use wmfix_tests::product::{self, CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn need_make() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
}

fn wmfix(world: &World, folder: &str, line: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join(folder));
    CommandResult::of(command.args(line.split_whitespace()))
}

/// wmfix without a compiler that the user has chosen.
fn with_any_compiler(world: &World, folder: &str) -> Command {
    let mut command = world.command(product::wmfix());
    command.current_dir(world.path().join(folder));
    command
}

fn said(result: &CommandResult, code: i32, words: &[&str]) {
    let all = format!("{}\n{}", result.stdout, result.stderr);
    assert_eq!(result.code, Some(code), "{all}");
    for word in words {
        assert!(all.contains(word), "{word} is not in:\n{all}");
    }
}

#[test]
fn a_makefile_without_tests_leads_to_what_there_is() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write(
        "p/Makefile",
        "sb: sb.c\n\t$(CC) -pthread -o sb sb.c\nrun-it: sb\n\t./sb\nrun-more: run-it\n\t./sb\n",
    );
    let script = world.write("p/build.sh", "#!/bin/sh\n");
    CommandResult::well(world.command("chmod").arg("+x").arg(script));
    world.write("p/fuzz/Makefile", "test:\n\ttrue\n");
    let none = wmfix(&world, "p", "check --runs 10");
    let leads = [
        "`-- make run-it`",
        "`-- make run-more`",
        "`-- sb`",
        "`wmfix check fuzz`",
    ];
    said(&none, 3, &leads);
    assert!(!none.stderr.contains("build.sh"), "{none:?}");
    for command in ["make run-it", "sb"] {
        let line = format!("check --runs 20 -- {command}");
        said(&wmfix(&world, "p", &line), 1, &["stale value"]);
    }
}

const SB: &str = "sb: sb.c\n\t$(CC) -pthread -o sb sb.c\n";

/// No target is called as one expects it, and only one can be meant.
#[test]
fn the_only_target_that_can_be_meant_is_run_and_named() {
    need_make();
    let world = World::new();
    for (number, (rules, run)) in [
        ("run: sb\n\t./sb\n", "`make run` was run"),
        (
            "unittests: sb\n\t./sb\nrun: sb\n\t./sb\nlint-tests:\n\techo ./sb\n",
            "`make unittests` was run",
        ),
        (
            "stress: sb\n\tfor t in sb; do ./$$t; done\n",
            "`make stress`",
        ),
        // Nothing but a program, or a target for tests that only builds.
        ("", "`sb` was run"),
        (
            "other: other.c\n\tcc -o other other.c\ntest: sb other\n",
            "`sb`",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = format!("p{number}");
        world.write(&format!("{folder}/sb.c"), STORE_BUFFERING);
        let main = "int main(void) { return 0; }\n";
        world.write(&format!("{folder}/other.c"), main);
        world.write(&format!("{folder}/Makefile"), &format!("{SB}{rules}"));
        let found = wmfix(&world, &folder, "check --runs 20");
        said(&found, 1, &["stale value", "names no tests", run]);
        // The same once more, of what is built already.
        let again = wmfix(&world, &folder, "check --runs 20");
        said(&again, 1, &["names no tests", run]);
    }
}

/// The test that is run has one thread: where threads are started, the report says.
#[test]
fn a_test_with_one_thread_leads_to_where_threads_are_started() {
    need_make();
    let world = World::new();
    let one = "#include <stdatomic.h>\nstatic atomic_int x;\n\
               int main(void) { atomic_store(&x, 1); return 0; }\n";
    world.write("p/one.c", one);
    world.write(
        "p/Makefile",
        "one: one.c\n\t$(CC) -o one one.c\ntest: one\n\t./one\n",
    );
    let alone = wmfix(&world, "p", "check");
    said(
        &alone,
        0,
        &["no run had a second thread", "`wmfix help scenarios`"],
    );
    world.write("p/stress/sb.c", STORE_BUFFERING);
    let beside = wmfix(&world, "p", "check");
    let words = ["no run had a second thread", "started in `stress/sb.c`"];
    said(&beside, 0, &words);
}

/// What is built and what would be run is told, and nothing is run.
#[test]
fn a_dry_run_builds_and_lists_what_would_be_run() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    let ran = world.path().join("ran");
    let rules = format!("{SB}\nrun: sb\n\techo >> {}\n\t./sb\n", ran.display());
    world.write("p/Makefile", &rules);
    for command in ["check", "suggest"] {
        let told = wmfix(&world, "p", &format!("{command} --dry-run"));
        let words = [
            "built by make",
            "test: make run",
            "names no tests",
            "  sb.c: 4",
        ];
        said(&told, 0, &words);
        // make itself was asked once for what it builds.
        let runs = std::fs::read_to_string(&ran).expect("the sign of a run");
        assert_eq!(runs.lines().count(), 1, "{told:?}");
    }
}

/// `test` is a file that `check` runs: making it runs nothing.
#[test]
fn a_program_called_test_is_not_the_test_command() {
    need_make();
    let world = World::new();
    world.write("p/test.c", STORE_BUFFERING);
    world.write(
        "p/Makefile",
        "test: test.c\n\t$(CC) -pthread -o test test.c\ncheck: test\n\t./test\n",
    );
    let found = wmfix(&world, "p", "check --runs 20");
    said(&found, 1, &["stale value"]);
    assert!(!found.stdout.contains("names no tests"), "{found:?}");
}

#[test]
fn a_command_that_leaves_no_trace_is_named() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write("p/Makefile", &format!("{SB}test: sb\n\tctest --version\n"));
    need(&[Need::Program("ctest")]);
    let silent = wmfix(&world, "p", "check --runs 5");
    said(&silent, 2, &["left no trace: `make test`", "(sb)"]);
}

/// CMake is told of no tests: what it builds under their names is run.
#[test]
fn programs_that_cmake_builds_and_does_not_test_are_run() {
    need(&[Need::Program("gcc"), Need::Program("cmake")]);
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write("p/demo.c", "int main(void) { return 0; }\n");
    let lists = |programs: &[&str]| {
        let mut text = "cmake_minimum_required(VERSION 3.13)\nproject(t C)\n\
             find_package(Threads REQUIRED)\nlink_libraries(Threads::Threads)\n"
            .to_owned();
        for program in programs {
            text += &format!("add_executable({program})\ntarget_sources({program} PRIVATE sb.c)\n");
        }
        text + "add_executable(demo demo.c)\n"
    };
    world.write("p/CMakeLists.txt", &lists(&["sb_test", "test_again"]));
    let found = wmfix(&world, "p", "check --runs 20");
    let named = "CMake names no tests: `sb_test`, `test_again` were run";
    said(&found, 1, &["stale value", named]);
    // Which of these is the test, nobody can tell.
    world.write("p/CMakeLists.txt", &lists(&["sb"]));
    said(&wmfix(&world, "p", "check"), 3, &["`-- demo`, `-- sb`"]);
}

#[test]
fn a_folder_around_a_project_leads_to_it() {
    need_make();
    let world = World::new();
    world.write("p/README.md", "A ring.\n");
    world.write("p/src/sb.c", STORE_BUFFERING);
    // Scripts compare the names of folders.
    let makefile = "sb: sb.c\n\tcase \"$$PWD\" in */) exit 1;; esac\n\t$(CC) -pthread -o sb sb.c\n\
                    tests: sb\n\t./sb\n";
    world.write("p/src/Makefile", makefile);
    for (line, words) in [
        ("check --runs 20", ["stale value", "built by make in "]),
        ("check src --runs 20", ["stale value", "src/sb.c:"]),
    ] {
        said(&wmfix(&world, "p", line), 1, &words);
    }
    // Packages are none of the projects that may be meant.
    world.write("p/packaging/Makefile", "all:\n\ttar cf src.tar src\n");
    said(&wmfix(&world, "p", "check --runs 20"), 1, &["stale value"]);
    world.write("p/bench/Makefile", makefile);
    said(
        &wmfix(&world, "p", "check"),
        2,
        &["a build file in bench, src", "`wmfix check bench`"],
    );
}

/// The Makefile that one stands beside has tests: a build system of the part that was
/// named is not taken for it, and is named.
#[test]
fn the_makefile_where_one_stands_tests_its_parts() {
    need_make();
    let world = World::new();
    world.write("p/src/sb.c", STORE_BUFFERING);
    world.write("p/src/CMakeLists.txt", "project(part C)\n");
    world.write(
        "p/Makefile",
        "sb: src/sb.c\n\t$(CC) -pthread -o sb src/sb.c\ntest: sb\n\t./sb\n",
    );
    let other = "src has a build file of its own";
    let found = wmfix(&world, "p", "check src --runs 20");
    said(&found, 1, &["stale value", "src/sb.c:", other]);
    // Without tests it is only named.
    need(&[Need::Program("cmake")]);
    world.write("p/Makefile", "all:\n");
    let none = wmfix(&world, "p", "check src");
    said(&none, 3, &["CMake lists no tests", "`wmfix check .`"]);
}

/// A header in a folder of its own, outside of any repository: the program beside that
/// folder includes it.
#[test]
fn a_header_is_checked_by_the_program_beside_its_folder() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("p/ring/sb.h", STORE_BUFFERING);
    world.write("p/t.c", "#include \"ring/sb.h\"\n");
    let alone = wmfix(&world, "p", "check ring/sb.h");
    said(&alone, 2, &["no test program was found"]);
    let (library, main) = STORE_BUFFERING.split_once("int main").expect("a main");
    world.write("p/ring/sb.h", library);
    world.write("p/t.c", &format!("#include \"ring/sb.h\"\nint main{main}"));
    for line in ["check ring/sb.h --runs 20", "check ring --runs 20"] {
        said(&wmfix(&world, "p", line), 1, &["stale value", "ring/sb.h:"]);
    }
}

#[test]
fn a_makefile_that_names_its_compiler_is_built_with_it() {
    need_make();
    need(&[Need::Program("clang")]);
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    // An option that gcc does not have.
    world.write(
        "p/Makefile",
        "CC = clang\ntest: sb\n\t./sb\nsb: sb.c\n\t$(CC) -Weverything -w -pthread -o sb sb.c\n",
    );
    let mut command = with_any_compiler(&world, "p");
    let found = CommandResult::of(command.args(["check", "--runs", "20"]));
    said(&found, 1, &["stale value"]);
    // What the user says comes first.
    let chosen = wmfix(&world, "p", "check --runs 20");
    said(&chosen, 3, &["-Weverything"]);
}

/// The target links its program whenever it is made: two runs at a time would find the
/// file busy.
#[test]
fn a_test_target_that_links_every_time_is_run_alone() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write(
        "p/Makefile",
        "sb.o: sb.c\n\t$(CC) -c sb.c\ntest: sb.o\n\t$(CC) -pthread -o sb sb.o\n\t./sb\n",
    );
    let found = wmfix(&world, "p", "check --runs 20 --jobs 4");
    said(&found, 1, &["stale value"]);
    let all = format!("{}{}", found.stdout, found.stderr);
    assert!(!all.contains("failed"), "{all}");
}

/// As automake's tests do, which keep their results.
#[test]
fn a_test_target_that_writes_files_is_run_alone() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write(
        "p/Makefile",
        "sb: sb.c\n\t$(CC) -pthread -o sb sb.c\n\
         test: sb\n\ttest ! -e result\n\ttouch result\n\t./sb\n\trm result\n",
    );
    let found = wmfix(&world, "p", "check --runs 20 --jobs 4");
    said(&found, 1, &["stale value"]);
    let all = format!("{}{}", found.stdout, found.stderr);
    assert!(!all.contains("fails"), "{all}");
}

#[test]
fn a_clone_of_an_autotools_project_is_configured() {
    need_make();
    need(&[Need::Program("autoconf"), Need::Program("automake")]);
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write(
        "p/configure.ac",
        "AC_INIT([sb], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n\
         AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    world.write(
        "p/Makefile.am",
        "check_PROGRAMS = sb\nsb_SOURCES = sb.c\nsb_LDFLAGS = -pthread\nTESTS = sb\n",
    );
    let found = wmfix(&world, "p", "check --runs 10 --harm off");
    said(&found, 1, &["stale value", "sb.c:"]);
    assert!(!world.path().join("p/configure").exists(), "only in a copy");
}

/// Each of automake's tests is a command, and one that was skipped has not failed; where
/// make runs them in a way of its own, it does so here.
#[test]
fn the_tests_of_automake_are_run_one_by_one() {
    need_make();
    need(&[Need::Program("autoconf"), Need::Program("automake")]);
    let world = World::new();
    world.write("p/tests/sb.c", STORE_BUFFERING);
    world.write("p/tests/skipped.c", "int main(void) { return 77; }\n");
    world.write(
        "p/configure.ac",
        "AC_INIT([sb], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\n\
         AC_CONFIG_FILES([Makefile tests/Makefile])\nAC_OUTPUT\n",
    );
    world.write("p/Makefile.am", "SUBDIRS = tests\n");
    let tests = "check_PROGRAMS = sb skipped\nsb_LDFLAGS = -pthread\nTESTS = $(check_PROGRAMS)\n";
    world.write("p/tests/Makefile.am", tests);
    let told = wmfix(&world, "p", "check --dry-run");
    said(&told, 0, &["test: sb (in ", "test: skipped (in "]);
    let found = wmfix(&world, "p", "check --runs 10 --harm off");
    said(&found, 1, &["stale value", "tests/sb.c:"]);
    assert!(!found.stdout.contains("skipped"), "{found:?}");
    world.write(
        "p/tests/Makefile.am",
        &format!("{tests}XFAIL_TESTS = skipped\n"),
    );
    let told = wmfix(&world, "p", "check --dry-run");
    said(&told, 0, &["test: make check"]);
}

#[test]
fn a_failing_build_names_the_users_files_and_an_empty_submodule() {
    need_make();
    need(&[Need::Program("cmake"), Need::Program("git")]);
    let world = World::new();
    CommandResult::well(world.command("git").args(["init", "-q", "p"]));
    world.write("p/.gitmodules", "[submodule \"deps\"]\n\tpath = lib/deps\n");
    std::fs::create_dir_all(world.path().join("p/lib/deps")).expect("a folder");
    world.write(
        "p/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(t C)\nadd_executable(t t.c)\n",
    );
    world.write("p/t.c", "#include <deps.h>\nint main(void) { return 0; }\n");
    let failed = wmfix(&world, "p", "check");
    said(
        &failed,
        3,
        &[
            "/p/t.c:1:10: fatal error: deps.h",
            "submodule lib/deps is empty",
        ],
    );
    assert!(!failed.stderr.contains("/tree/t.c"), "{}", failed.stderr);
    // The same if only the tests need it, and the project leaves them out.
    world.write("p/t.c", "int main(void) { return 0; }\n");
    let none = wmfix(&world, "p", "check");
    said(&none, 3, &["submodule lib/deps is empty", "`-- t`"]);
}

/// What CMake was to download, and what it was not told.
#[test]
fn a_download_that_fails_and_presets_say_what_to_type() {
    need(&[Need::Program("cmake"), Need::Program("git")]);
    let world = World::new();
    let lists = "cmake_minimum_required(VERSION 3.21)\nproject(t C)\n";
    world.write(
        "p/CMakeLists.txt",
        &format!(
            "{lists}include(FetchContent)\nFetchContent_Declare(parts GIT_REPOSITORY \
             http://127.0.0.1:1/parts.git)\nFetchContent_MakeAvailable(parts)\n"
        ),
    );
    let failed = wmfix(&world, "p", "check");
    let typed = "`-D FETCHCONTENT_SOURCE_DIR_PARTS=FOLDER`";
    said(&failed, 3, &["FetchContent was to download parts", typed]);
    world.write(
        "p/CMakePresets.json",
        r#"{"version": 3, "configurePresets": [
            {"name": "base", "hidden": true, "generator": "Unix Makefiles", "binaryDir": "b"},
            {"name": "dev", "inherits": "base"}]}"#,
    );
    world.write("p/t.c", "int main(void) { return 0; }\n");
    let programs = format!("{lists}if(NOT DEFINED X)\nmessage(FATAL_ERROR no)\nendif()\n");
    world.write("p/CMakeLists.txt", &programs);
    said(&wmfix(&world, "p", "check"), 3, &["`--preset dev`"]);
    world.write(
        "p/CMakeLists.txt",
        &format!("{lists}add_executable(t t.c)\n"),
    );
    let none = wmfix(&world, "p", "check");
    said(&none, 3, &["`--preset dev`", "`-- t`"]);
    assert!(!none.stderr.contains("base"), "{none:?}");
}

/// wmfix does not run Bazel, and says what to write instead.
#[test]
fn a_folder_that_bazel_builds_is_told_so() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("p/MODULE.bazel", "");
    world.write("p/q/q.c", "int q(void) { return 0; }\n");
    let words = ["is built by Bazel", "[build]", "commands = "];
    said(&wmfix(&world, "p", "check"), 2, &words);
    world.write(
        "p/q/q_test.c",
        "#include \"gone.h\"\nint main(void) { return 0; }\n",
    );
    said(&wmfix(&world, "p", "check"), 3, &words);
    said(&wmfix(&world, "p", "check"), 3, &["gone.h"]);
    // What builds without it is built.
    world.write("p/q/q_test.c", "int main(void) { return 0; }\n");
    said(&wmfix(&world, "p", "check"), 0, &["nothing to check"]);
}

#[test]
fn one_of_several_programs_that_does_not_build_says_how_to_leave_it_out() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("p/try/include/deep.h", "#define ANSWER 0\n");
    world.write(
        "p/try/src/good.c",
        "#include \"deep.h\"\nint main(void) { return ANSWER; }\n",
    );
    said(&wmfix(&world, "p", "check"), 0, &["nothing to check"]);
    world.write("p/old/bad.c", "int main(void) { return missing; }\n");
    said(
        &wmfix(&world, "p", "check"),
        3,
        &["bad.c", "another program here"],
    );
    said(&wmfix(&world, "p", "check try"), 0, &[]);
}

#[test]
fn runs_that_end_before_the_program_starts_are_said_to_take_too_long() {
    need_make();
    let world = World::new();
    world.write("p/sb.c", STORE_BUFFERING);
    world.write(
        "p/Makefile",
        "sb: sb.c\n\t$(CC) -pthread -o sb sb.c\ntest: sb\n\tsleep 1000 && ./sb\n",
    );
    let slow = wmfix(&world, "p", "check --runs 2 --timeout 1");
    said(&slow, 3, &["within 1 s", "--timeout SECONDS"]);
}

#[test]
fn of_a_broken_file_that_was_named_the_compiler_speaks() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let main = "int main(void) { return 0; }\n";
    // Alone: nothing says that it has no main function.
    world.write("alone/broken.c", "int main(void { return 0; }\n");
    let alone = wmfix(&world, "alone", "suggest broken.c");
    said(&alone, 3, &["broken.c:1:15: error:", "does not build"]);
    // Beside others, one of them broken too: it is the one that was asked for, and
    // there is nothing else to name.
    world.write("p/a.c", "int main(void) { return missing; }\n");
    world.write("p/z.c", main);
    for text in [
        "int main(void { return 0; }\n",
        "int part(void) { retrn 1 }\n",
    ] {
        world.write("p/broken.c", text);
        let named = wmfix(&world, "p", "suggest broken.c");
        said(
            &named,
            3,
            &["broken.c:1:", "error:", "broken.c does not build"],
        );
        for other in ["other program", "another program", "a.c:"] {
            assert!(!named.stderr.contains(other), "{}", named.stderr);
        }
    }
    // What is no broken main is still said to be none.
    world.write("part/part.c", "int part(void) { return 1; }\n");
    let part = wmfix(&world, "part", "suggest part.c");
    said(&part, 2, &["has no main function"]);
}

#[test]
fn a_program_that_needs_arguments_is_told_to_get_some() {
    need_make();
    let world = World::new();
    let text = "#include <stdint.h>\n#include <stdlib.h>\n\
                int main(int argc, char **argv) { (void)argc; return atoi(argv[1]) - 3; }\n";
    world.write("p/queue_test.c", text);
    world.write(
        "p/Makefile",
        "queue_test: queue_test.c\n\t$(CC) -o queue_test queue_test.c\n",
    );
    // Making it does not run it.
    let none = wmfix(&world, "p", "check");
    let asked = ["`queue_test` was run", "SIGSEGV", "if it needs arguments"];
    said(&none, 3, &asked);
    let crashed = wmfix(&world, "p", "check -- queue_test");
    said(&crashed, 3, &["SIGSEGV", "if it needs arguments"]);
    assert!(!crashed.stderr.contains("standard input"), "{crashed:?}");
    said(&wmfix(&world, "p", "check -- queue_test 3"), 0, &[]);
}
