//! Programs and projects that wmfix cannot do its work on, or not as it was
//! asked: each is told in words that say what to do.

use std::fs;
use std::os::unix::fs::symlink;

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

fn said(ran: &CommandResult, code: i32, words: &[&str]) {
    let all = format!("{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(code), "{all}");
    for word in words {
        assert!(all.contains(word), "{word} is not in:\n{all}");
    }
}

/// Two threads that both may read 0, and what `main` does around them.
fn buffering(before: &str, after: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
         static atomic_int x, y;\nstatic int saw_x, saw_y;\n\
         static void *left(void *u) {{ atomic_store_explicit(&x, 1, memory_order_release); \
         saw_y = atomic_load_explicit(&y, memory_order_acquire); return u; }}\n\
         static void *right(void *u) {{ atomic_store_explicit(&y, 1, memory_order_release); \
         saw_x = atomic_load_explicit(&x, memory_order_acquire); return u; }}\n\
         static void race(void) {{ pthread_t a, b; pthread_create(&a, 0, left, 0); \
         pthread_create(&b, 0, right, 0); pthread_join(a, 0); pthread_join(b, 0); }}\n\
         int main(int argc, char **argv) {{ (void)argc; (void)argv; {before} race(); {after} return 0; }}\n"
    )
}

/// A folder of programs without a compiler among them.
fn path_without_compilers(world: &World) -> String {
    let bin = world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["sh", "make", "rm", "ls"] {
        let from = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
        if let Some(there) = from.iter().find(|path| fs::metadata(path).is_ok()) {
            symlink(there, bin.join(program)).unwrap();
        }
    }
    bin.to_str().unwrap().to_owned()
}

#[test]
fn no_compiler_and_no_build_tool() {
    let world = World::new();
    let path = path_without_compilers(&world);
    world.write("prog.c", &buffering("", ""));
    world.write("made/Makefile", "test:\n\ttrue\n");
    world.write("cmade/CMakeLists.txt", "project(x C)\n");
    let check = |what: &str| {
        let mut command = world.wmfix("");
        CommandResult::of(command.env("PATH", &path).args(["check", what]))
    };
    said(
        &check("prog.c"),
        3,
        &["no C compiler", "install gcc or clang"],
    );
    said(
        &check("made"),
        3,
        &["no C compiler", "install gcc or clang"],
    );
    let mut command = world.wmfix("/usr/bin/gcc");
    let ran = CommandResult::of(command.env("PATH", &path).args(["check", "cmade"]));
    need(&[Need::Program("gcc")]);
    said(&ran, 3, &["cmake is not on PATH", "install cmake"]);
}

#[test]
fn no_main() {
    let world = World::new();
    world.write("part.c", "int part;\n");
    world.write("folder/part.c", "int part;\n");
    let check = |what: &str| CommandResult::of(world.wmfix("gcc").args(["check", what]));
    said(&check("part.c"), 2, &["no main function"]);
    said(&check("folder"), 2, &["main function", "--"]);
}

#[test]
fn megabytes_of_output_are_no_trouble_and_their_end_is_shown() {
    need_gcc();
    let print = "for (int i = 0; i < 500000; i++) puts(\"a line of output\");";
    let ran = check(&buffering(print, ""), &["--runs", "5"]);
    said(&ran, 1, &["violation"]);
    assert!(!ran.stdout.contains("a line of output"));
    let fails = format!("{print} puts(\"the reason\"); exit(1);");
    let ran = check(
        &buffering("", &fails),
        &["--runs", "5", "--races", "off", "--seed", "1"],
    );
    assert!(ran.stdout.len() < 100_000 && ran.stderr.len() < 100_000);
    let world = World::new();
    world.write("prog.c", &buffering("", &fails));
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["suggest", "prog.c", "--runs", "5"]),
    );
    said(
        &ran,
        3,
        &["the reason", "exit code 1 in every run", "fix that first"],
    );
    assert!(ran.stderr.len() < 100_000);
}

#[test]
fn standard_input_is_empty_unless_a_file_is_named() {
    need_gcc();
    let world = World::new();
    let reads = "char word[9]; if (!fgets(word, 9, stdin)) { puts(\"no input\"); return 3; } \
                 if (strcmp(word, \"hello\\n\")) return 4;";
    world.write("it/prog.c", &buffering(reads, ""));
    let check = || CommandResult::of(world.wmfix("gcc").args(["check", "it", "--runs", "20"]));
    said(
        &check(),
        3,
        &[
            "exit code 3",
            "no input",
            "standard input",
            "`stdin` in [test]",
        ],
    );
    world.write("it/hello.txt", "hello\n");
    world.write("it/wmfix.toml", "[test]\nstdin = \"hello.txt\"\n");
    said(&check(), 1, &["violation"]);
}

#[test]
fn arguments_are_asked_for() {
    need_gcc();
    let world = World::new();
    let wants = "if (argc != 3) { fprintf(stderr, \"Usage: %s A B\\n\", argv[0]); return 2; }";
    world.write("it/prog.c", &buffering(wants, ""));
    let check = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        CommandResult::of(command.args(["check", "it", "--runs", "20"]).args(more))
    };
    said(
        &check(&[]),
        3,
        &[
            "exit code 2",
            "Usage:",
            "-- ./PROGRAM ARGUMENTS",
            "`args` in [test]",
        ],
    );
    said(
        &check(&["--", "./prog", "one", "two"]),
        1,
        &["-- ./prog one two"],
    );
    world.write("it/wmfix.toml", "[test]\nargs = [\"one\", \"two\"]\n");
    said(&check(&[]), 1, &["violation"]);
}

#[test]
fn a_program_that_forks() {
    need_gcc();
    let forks = "if (fork() == 0) { race(); _exit(0); } wait(0);";
    let ran = check(&buffering(forks, ""), &["--runs", "20"]);
    said(&ran, 1, &["violation"]);
}

#[test]
fn a_program_that_runs_forever_is_given_up_soon() {
    need_gcc();
    let ran = check(
        &buffering("for (;;) pause();", ""),
        &["--timeout", "1", "--format", "json"],
    );
    said(&ran, 3, &["hangs in every run", "--timeout", "[test]"]);
    assert!(ran.json()["runs"]["total"].as_u64().unwrap() <= 4);
}

#[test]
fn a_crash_now_and_then_is_told_with_its_seed_beside_the_findings() {
    need_gcc();
    let world = World::new();
    world.write("prog.c", &buffering("", "if (saw_x && saw_y) abort();"));
    let ran = CommandResult::of(world.wmfix("gcc").args(["check", "prog.c"]));
    said(
        &ran,
        1,
        &[
            "violation",
            "SIGABRT",
            "to reproduce: wmfix check prog.c --seed ",
        ],
    );
    let mut lines = ran.stdout.lines();
    let line = lines.find(|line| line.contains("to reproduce")).unwrap();
    let again = line.split("wmfix ").nth(1).unwrap();
    let ran = CommandResult::of(world.wmfix("gcc").args(again.split(' ')));
    // The one run that is made again may show nothing else: all runs fail then.
    let code = if ran.stdout.contains("violation") {
        1
    } else {
        3
    };
    said(&ran, code, &["SIGABRT"]);
}

#[test]
fn without_atomics_there_is_nothing_to_check() {
    need_gcc();
    let ran = check("int main(void) { return 0; }\n", &[]);
    said(
        &ran,
        0,
        &["there was nothing to check", "no atomic operation"],
    );
}

#[test]
fn a_test_command_that_fails_or_is_not_there() {
    need_gcc();
    let world = World::new();
    world.write("prog.c", &buffering("", ""));
    let check = |command: &[&str]| {
        let mut wmfix = world.wmfix("gcc");
        CommandResult::of(
            wmfix
                .args(["check", "prog.c", "--runs", "15", "--races", "off", "--"])
                .args(command),
        )
    };
    let ran = check(&["sh", "-c", "echo why; exit 9"]);
    said(&ran, 3, &["why", "the test command failed before"]);
    said(
        &check(&["./no-such-test"]),
        2,
        &["./no-such-test does not exist"],
    );
    // What was built is first on PATH.
    said(&check(&["prog"]), 1, &[]);
    let mut wmfix = world.wmfix("gcc");
    let command = [
        "suggest",
        "prog.c",
        "--",
        "sh",
        "-c",
        "prog; echo why; exit 9",
    ];
    said(
        &CommandResult::of(wmfix.args(command)),
        3,
        &["exit code 9 in every run", "why"],
    );
}

#[test]
fn a_makefile_that_does_not_build_or_has_no_tests() {
    let needs = ["gcc", "make"].map(Need::Program);
    need(&needs);
    let world = World::new();
    world.write("broken/Makefile", "test: prog\n\t./prog\nprog: prog.c\n");
    world.write("broken/prog.c", "int main(void) { return oops; }\n");
    let check = |what: &str| CommandResult::of(world.wmfix("gcc").args(["check", what]));
    said(
        &check("broken"),
        3,
        &["prog.c:1:", "oops", "does not build", "`make "],
    );
    // Which of two programs is the test, nobody can tell.
    world.write("untested/Makefile", "all: prog other\n");
    for name in ["prog", "other"] {
        let path = format!("untested/{name}.c");
        world.write(&path, "int main(void) { return 0; }\n");
    }
    said(
        &check("untested"),
        3,
        &["no `test`, `check` or `tests` target", "--"],
    );
}

#[test]
fn a_read_only_tree_is_checked_and_not_half_applied() {
    need_gcc();
    let world = World::new();
    let text = buffering("", "");
    let file = world.write("tree/prog.c", &text);
    let mode = |mode: &str| {
        CommandResult::well(
            world
                .command("chmod")
                .args(["-R", mode])
                .arg(world.path().join("tree")),
        );
    };
    mode("a-w");
    let wmfix = |arguments: &[&str]| CommandResult::of(world.wmfix("gcc").args(arguments));
    said(&wmfix(&["check", "tree"]), 1, &["violation"]);
    let ran = wmfix(&["suggest", "tree", "--apply"]);
    said(&ran, 4, &["--apply changed nothing", "prog.c", "read-only"]);
    assert!(ran.stdout.starts_with("diff --git"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(fs::read_dir(world.path().join("tree")).unwrap().count(), 1);
    mode("u+w");
    said(&wmfix(&["suggest", "tree", "--apply"]), 0, &[]);
    assert_ne!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_path_with_spaces_and_umlauts() {
    let needs = ["gcc", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    world.write("für alle/das größte.c", &buffering("", ""));
    let wmfix = |arguments: &[&str]| CommandResult::of(world.wmfix("gcc").args(arguments));
    let ran = wmfix(&["check", "für alle/das größte.c"]);
    said(
        &ran,
        1,
        &[
            "für alle/das größte.c:",
            "wmfix check 'für alle/das größte.c' --seed",
        ],
    );
    let ran = wmfix(&["suggest", "für alle"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    world.write("it.patch", &ran.stdout);
    CommandResult::well(world.command("git").args(["apply", "it.patch"]));
    said(&wmfix(&["check", "für alle"]), 0, &[]);
}

#[test]
fn a_wmfix_toml_with_an_unknown_key() {
    let world = World::new();
    world.write("wmfix.toml", "[run]\nrunz = 3\n");
    world.write("prog.c", &buffering("", ""));
    for command in ["check", "suggest", "scan"] {
        let ran = CommandResult::of(world.wmfix("gcc").args([command, "prog.c"]));
        said(
            &ran,
            2,
            &["wmfix.toml:2: unknown key `runz` in [run]: did you mean `runs`?"],
        );
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_repair_has_no_choice_of_models() {
    let world = World::new();
    let ran = CommandResult::of(world.wmfix("gcc").args(["suggest", "--model", "rc20"]));
    said(&ran, 2, &["--model"]);
}

#[test]
fn a_repair_has_no_free_runs() {
    need_gcc();
    let world = World::new();
    world.write("prog.c", &buffering("", ""));
    let run = |line: &str| CommandResult::of(world.wmfix("gcc").args(line.split(' ')));
    for weak in ["--weak", "--weak=mixed"] {
        let ran = run(&format!("suggest prog.c {weak}"));
        said(&ran, 2, &["leave out --weak", "`wmfix check --weak`"]);
    }
}

#[test]
fn an_interrupt_ends_every_stage_with_what_is_known() {
    need_gcc();
    let world = World::new();
    world.write("it/prog.c", &buffering("", ""));
    let wmfix = |command: &str, test: &str| {
        let mut wmfix = world.wmfix("gcc");
        CommandResult::of(wmfix.args([command, "it", "--jobs", "1", "--", "sh", "-c", test]))
    };
    // The shell's parent is wmfix. One interrupt only: a second would end it at once.
    let late = "echo >> runs; test $(wc -l < runs) -ne 20 || kill -INT $PPID; prog";
    let ran = wmfix("check", late);
    said(&ran, 1, &["violation", "interrupted"]);
    let verifying = "case $WMFIX_BUILD_DIR in */patched/*) \
                     test -e sent || { touch sent; kill -INT $PPID; };; esac; prog";
    let ran = wmfix("suggest", verifying);
    said(&ran, 1, &["violation", "interrupted"]);
    world.write(
        "it/wmfix.toml",
        "[build]\ncommands = [\"kill -INT $PPID; sleep 100\"]\n",
    );
    let ran = wmfix("check", "true");
    said(&ran, 3, &["interrupted before the first run"]);
}
