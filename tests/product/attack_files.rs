//! Files and places that are not what they should be: a repository that has devices and
//! nonsense where wmfix reads, names with line ends, an environment without folders to
//! write to. Everything is refused or shown as it is, with what to do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering: two violations.
const BUFFERING: &str = include_str!("../corpus/suggest/sb.c");

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

fn wmfix(world: &World, line: &str) -> CommandResult {
    CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
}

fn said(result: &CommandResult, code: i32, words: &[&str]) {
    said_by(result, code, words, "");
}

fn said_by(result: &CommandResult, code: i32, words: &[&str], what: &str) {
    let all = format!("{}\n{}", result.stdout, result.stderr);
    assert_eq!(result.code, Some(code), "{what}{all}");
    for word in words {
        assert!(all.contains(word), "{word} is not in:\n{all}");
    }
}

/// Files that a repository or a program may put where wmfix reads: what never ends is
/// not read, and what makes no sense is refused with its line.
#[test]
fn hostile_files_of_a_project_are_refused() {
    need_gcc();
    let world = World::new();
    world.write("p/sb.c", BUFFERING);
    for (text, said) in [
        ("[test]\ncommand = []\n", "must name a program"),
        ("[test]\ncommand = \"\"\n", "must name a program"),
        ("[test]\ntimeout = 1e18\n", "ten years"),
        ("[run]\njobs = 1000000\n", "from 1 to 1024"),
        ("[run]\nbaseline = \"/dev/zero\"\n", "not a regular file"),
        ("[test]\nstdin = \"/dev/zero\"\n", "no such file"),
    ] {
        world.write("p/wmfix.toml", text);
        said_by(&wmfix(&world, "check p --runs 2"), 2, &[said], text);
    }
    fs::remove_file(world.path().join("p/wmfix.toml")).unwrap();
    // A device in the place of a file, and one of terabytes.
    symlink("/dev/zero", world.path().join("p/wmfix.toml")).unwrap();
    symlink("/dev/zero", world.path().join("p/.gitmodules")).unwrap();
    let huge = fs::File::create(world.path().join("p/compile_commands.json")).unwrap();
    huge.set_len(1 << 40).unwrap();
    said(&wmfix(&world, "check p --runs 10"), 1, &["violation"]);
    for line in [
        "check p --baseline /dev/zero",
        "check p --replay /dev/zero",
        "check /dev/zero",
    ] {
        assert_eq!(wmfix(&world, line).code, Some(2), "{line}");
    }
    fs::create_dir(world.path().join("s")).unwrap();
    let shard = "s/shard-1-of-1-0000000000000000.json";
    symlink("/dev/zero", world.path().join(shard)).unwrap();
    said(&wmfix(&world, "merge s"), 2, &["not a regular file"]);
}

/// What is no file and no folder is refused at once: reading it may never end.
#[test]
fn a_pipe_in_the_place_of_a_program_is_refused() {
    need_gcc();
    let world = World::new();
    world.write("p/sb.c", BUFFERING);
    CommandResult::well(world.command("mkfifo").args(["pipe.c", "p/other.c"]));
    for command in ["check pipe.c --runs 2", "suggest pipe.c", "audit pipe.c"] {
        said(
            &wmfix(&world, command),
            2,
            &["pipe.c", "neither a regular file nor a folder"],
        );
    }
    // Beside a program it is none of its files.
    said(&wmfix(&world, "check p --runs 10"), 1, &["violation"]);
}

/// A compiler that is named and not there is said to be, and nothing else is taken.
#[test]
fn a_compiler_that_is_not_there_is_refused() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    for (name, value, shown) in [
        ("CC", "nonexistent", "nonexistent"),
        ("CC", "ccache-2 gcc", "ccache-2"),
        ("WMFIX_REAL_CC", "/nonexistent/gcc", "/nonexistent/gcc"),
    ] {
        let mut command = world.command(wmfix_tests::product::wmfix());
        command.env_remove("WMFIX_REAL_CC").env_remove("CC");
        command.env(name, value);
        let ran = CommandResult::of(command.args(["check", "sb.c", "--runs", "2"]));
        said(&ran, 2, &[&format!("{name} names `{shown}`")]);
    }
    let mut command = world.command(wmfix_tests::product::wmfix());
    command.env_remove("WMFIX_REAL_CC").env("CC", "gcc");
    let ran = CommandResult::of(command.args(["check", "sb.c", "--runs", "5"]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

/// A name with a line end in it stays on its line.
#[test]
fn a_name_with_a_line_end_is_shown_on_one_line() {
    need_gcc();
    let world = World::new();
    world.write("d/a\nnothing found.c", BUFFERING);
    let result = wmfix(&world, "check d --runs 20");
    said(&result, 1, &["a\u{240a}nothing found.c:"]);
    let hidden = |line: &str| line.starts_with("nothing found");
    assert!(!result.stdout.lines().any(hidden), "{}", result.stdout);
    let patch = wmfix(&world, "suggest d --runs 20");
    said(&patch, 1, &["+++ \"b/d/a\\nnothing found.c\""]);
}

/// Places that are missing or cannot be written: said, with what to do.
#[test]
fn an_environment_without_the_usual_places_is_said() {
    need_gcc();
    let world = World::new();
    let source = world.write("sb.c", BUFFERING);
    let with = |name: &str, value: Option<&Path>| {
        let mut command = world.wmfix("gcc");
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name).env_remove("HOME"),
        };
        CommandResult::of(command.args(["check", "sb.c", "--runs", "2"]))
    };
    let nowhere = Path::new("/nonexistent/folder");
    said(
        &with("XDG_CACHE_HOME", None),
        4,
        &["set HOME or XDG_CACHE_HOME"],
    );
    said(&with("XDG_CACHE_HOME", Some(&source)), 4, &["cache folder"]);
    said(&with("TMPDIR", Some(nowhere)), 4, &["/nonexistent/folder"]);
    said(
        &with("TMPDIR", Some(&source)),
        4,
        &["cannot create a folder"],
    );
    let mut command = world.command(wmfix_tests::product::wmfix());
    command.env("PATH", "").args(["check", "sb.c"]);
    said(
        &CommandResult::of(&mut command),
        3,
        &["no C compiler on PATH"],
    );
    // A locale that does not exist, or in which small letters differ, changes nothing.
    let mut command = world.wmfix("gcc");
    command.env("LC_ALL", "tr_TR.UTF-8").env("LANG", "xx");
    let result = CommandResult::of(command.args(["check", "sb.c", "--runs", "20"]));
    said(&result, 1, &["stale"]);
}
