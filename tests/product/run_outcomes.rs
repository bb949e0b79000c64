//! How runs can end, and what the command line says and leaves with then.

use std::collections::BTreeSet;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

fn check(source: &str, arguments: &[&str]) -> CommandResult {
    let world = World::new();
    world.write("prog.c", source);
    CommandResult::of(world.wmfix("gcc").args(["check", "prog.c"]).args(arguments))
}

#[test]
fn a_program_that_does_not_build_is_shown_what_the_compiler_said() {
    need_gcc();
    let ran = check("int main(void) { return oops; }\n", &[]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("prog.c:1:") && ran.stderr.contains("does not build"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_crash_in_every_run_is_a_failure_and_its_output_is_shown() {
    need_gcc();
    let source = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) { fputs(\"about to fall\\n\", stderr); abort(); }\n";
    let ran = check(source, &["--runs", "5"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("SIGABRT") && ran.stdout.contains("about to fall"),
        "{}",
        ran.stdout
    );
    let ran = check(source, &["--runs", "5", "--format", "json"]);
    assert_eq!(ran.json()["verdict"], "failed");
}

#[test]
fn a_program_that_never_ends_is_stopped() {
    need_gcc();
    let source = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n";
    let ran = check(
        source,
        &["--runs", "1", "--timeout", "1", "--format", "json"],
    );
    assert_eq!(ran.code, Some(3), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["verdict"], "failed");
}

#[test]
fn no_atomics_no_threads_nothing_found() {
    need_gcc();
    let ran = check("int main(void) { return 0; }\n", &["--runs", "3"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("nothing found"), "{}", ran.stdout);
}

#[test]
fn wrong_use_says_what_to_do() {
    need_gcc();
    let world = World::new();
    world.write("notes.txt", "");
    world.write("empty/readme.md", "");
    let wmfix = |arguments: &[&str]| CommandResult::of(world.wmfix("gcc").args(arguments));
    for (arguments, words) in [
        (&["check", "missing.c"][..], "missing.c"),
        (&["check", "notes.txt"], "neither a C nor a C++"),
        (&["check", "empty"], "main"),
        (&["run", "--", "./no-such-program"], "no-such-program"),
        (&["run", "--", "true"], "wmfix cc"),
        (&["run"], "COMMAND"),
        (&["run", "--runs", "0", "--", "true"], "runs"),
        (
            &["run", "--replay", "no-such-trace", "--", "true"],
            "no-such-trace",
        ),
        (&["explain", "V1"], "first"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let ran = wmfix(arguments);
        assert_eq!(
            ran.code,
            Some(2),
            "{arguments:?}: {} {}",
            ran.stdout,
            ran.stderr
        );
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_folder_and_a_test_command() {
    need_gcc();
    let world = World::new();
    world.write("lib/part.c", "int part(int n) { return n - 3; }\n");
    world.write("lib/part.h", "int part(int n);\n");
    world.write(
        "lib/parttest.c",
        "#include \"part.h\"\nint main(int argc, char **argv) { (void)argv; return part(argc); }\n",
    );
    // Without its arguments the test fails.
    let alone = CommandResult::of(world.wmfix("gcc").args(["check", "lib", "--runs", "2"]));
    assert_eq!(alone.code, Some(3), "{}", alone.stderr);
    let command = [
        "check",
        "lib",
        "--runs",
        "2",
        "--format",
        "json",
        "--",
        "sh",
        "-c",
        "parttest one two && parttest 1 2",
    ];
    let ran = CommandResult::of(world.wmfix("gcc").args(command));
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn completions_and_the_manual_are_there() {
    let world = World::new();
    let ran = CommandResult::well(world.wmfix("gcc").args(["completions", "bash"]));
    assert!(ran.stdout.contains("_wmfix"));
    let manual = CommandResult::well(world.wmfix("gcc").arg("man")).stdout;
    for command in ["check", "run", "explain", "cc"] {
        assert!(
            manual.contains(&format!("wmfix {command}"))
                || manual.contains(&format!("wmfix\\-{command}")),
            "{command}"
        );
    }
}

#[test]
fn a_seed_gives_the_same_addresses_every_time() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    // Each thread has memory of its own, which the library sets up when it is asked
    // for the first time.
    world.write(
        "addresses.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         static atomic_int turns; static void *blocks[4];\n\
         static void *worker(void *p) { atomic_fetch_add(&turns, 1);\n\
         *(void **)p = malloc(100); return p; }\n\
         int main(void) { pthread_t t[4];\n\
         for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, &blocks[i]);\n\
         for (int i = 0; i < 4; i++) pthread_join(t[i], 0);\n\
         FILE *out = fopen(\"addresses.txt\", \"a\");\n\
         fprintf(out, \"%s: %p %p %p %p %p\\n\", getenv(\"WMFIX_SEED\"), (void *)t, blocks[0],\n\
         blocks[1], blocks[2], blocks[3]);\n\
         fclose(out); return 0; }\n",
    );
    CommandResult::well(world.wmfix("gcc").args([
        "cc",
        "-pthread",
        "-o",
        "addresses",
        "addresses.c",
    ]));
    for _ in 0..6 {
        let line = "run --runs 6 --seed 1 --jobs 2 --fork-server off -- ./addresses";
        CommandResult::well(world.wmfix("gcc").args(line.split(' ')));
    }
    let lines = std::fs::read_to_string(world.path().join("addresses.txt")).expect("written");
    assert!(lines.lines().count() >= 36, "{lines}");
    let different: BTreeSet<&str> = lines.lines().collect();
    let seeds = different.iter().filter_map(|line| line.split(':').next());
    let seeds: BTreeSet<&str> = seeds.collect();
    assert_eq!(different.len(), seeds.len(), "{different:#?}");
}
