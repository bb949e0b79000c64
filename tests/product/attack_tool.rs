//! wmfix itself under attack, or in a place that is not as it should be: nothing is
//! written elsewhere, nothing is printed that is not the program's, nothing is called
//! clean that was not checked, and every message says what to do.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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

/// wmfix with a cache and a folder for temporary files of its own.
fn apart(world: &World) -> Command {
    let mut command = world.wmfix("gcc");
    let temporary = world.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    command
        .env("XDG_CACHE_HOME", world.path().join("cache"))
        .env("TMPDIR", temporary);
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
fn nothing_is_written_through_a_link() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    world.write("precious", "# mine");
    fs::create_dir(world.path().join("out")).unwrap();
    for link in ["out/report.html", "wmfix.toml", "wmfix-audit.html"] {
        let target = world.path().join("precious");
        symlink(target, world.path().join(link)).unwrap();
    }
    let result = wmfix(&world, "suggest sb.c --runs 5 --output out");
    said(&result, 2, &["out/report.html is a symbolic link"]);
    fs::remove_file(world.path().join("out/report.html")).unwrap();
    said(
        &wmfix(&world, "init --force"),
        2,
        &["wmfix.toml is a symbolic link"],
    );
    fs::remove_file(world.path().join("wmfix.toml")).unwrap();
    said(&wmfix(&world, "audit sb.c --runs 5"), 1, &[]);
    for (line, link) in [
        ("check sb.c --runs 5 --report sarif=r.sarif", "r.sarif"),
        ("suggest sb.c --runs 5 --export-fixes f.yaml", "f.yaml"),
        ("baseline sb.c --runs 5 --output b.json", "b.json"),
    ] {
        let target = world.path().join("precious");
        symlink(target, world.path().join(link)).unwrap();
        let said_so = format!("{link} is a symbolic link");
        said(&wmfix(&world, line), 2, &[&said_so]);
    }
    // Neither is a folder made where something else is.
    for line in [
        "suggest sb.c --runs 5 --output sb.c",
        "check sb.c --runs 5 --report sarif=out",
        "check sb.c --runs 4 --shard 1/1 --shard-dir sb.c",
    ] {
        said(&wmfix(&world, line), 2, &["name another"]);
    }
    // The file of a shard replaces a link, and does not follow it.
    said(&wmfix(&world, "check sb.c --runs 4 --shard 1/1"), 1, &[]);
    let shards = fs::read_dir(world.path().join("wmfix-shards")).unwrap();
    let shard = shards.last().unwrap().unwrap().path();
    fs::remove_file(&shard).unwrap();
    symlink(world.path().join("precious"), &shard).unwrap();
    said(&wmfix(&world, "check sb.c --runs 4 --shard 1/1"), 1, &[]);
    assert_eq!(
        fs::read_to_string(world.path().join("precious")).unwrap(),
        "# mine"
    );
}

#[test]
fn apply_keeps_the_owner_and_the_permissions() {
    need_gcc();
    let world = World::new();
    let source = world.write("sb.c", BUFFERING);
    fs::set_permissions(&source, fs::Permissions::from_mode(0o640)).unwrap();
    // Only the superuser can give a file away: others keep what is theirs.
    let _not_allowed = std::os::unix::fs::chown(&source, Some(12345), Some(12345));
    let before = fs::metadata(&source).unwrap();
    said(
        &wmfix(&world, "suggest sb.c --runs 20 --apply"),
        0,
        &["changed sb.c"],
    );
    let after = fs::metadata(&source).unwrap();
    let looks = |meta: &fs::Metadata| (meta.uid(), meta.gid(), meta.mode());
    assert_eq!(looks(&before), looks(&after));
    assert_ne!(fs::read_to_string(&source).unwrap(), BUFFERING);
}

#[test]
fn a_line_directive_does_not_show_other_files() {
    need_gcc();
    let world = World::new();
    let secret = world.write("secret", "the password is xyzzy\n".repeat(40).as_str());
    let hostile = BUFFERING.replacen(
        "static",
        &format!("#line 1 \"{}\"\nstatic", secret.display()),
        1,
    );
    world.write("sb.c", &hostile);
    let result = wmfix(&world, "check sb.c --runs 20");
    assert_eq!(result.code, Some(1), "{}", result.stderr);
    assert!(!result.stdout.contains("xyzzy"), "{}", result.stdout);
    // A device never ends.
    let endless = BUFFERING.replacen("static", "#line 1 \"/dev/zero\"\nstatic", 1);
    world.write("sb.c", &endless);
    assert_eq!(wmfix(&world, "check sb.c --runs 5").code, Some(1));
}

#[test]
fn escape_sequences_of_the_program_do_not_reach_the_terminal() {
    need_gcc();
    let world = World::new();
    world.write(
        "prog.c",
        "#include <stdio.h>\nint main(void) { puts(\"\\033]0;owned\\007\\033[2J\"); return 1; }\n",
    );
    let result = wmfix(&world, "check prog.c --runs 2");
    assert_eq!(result.code, Some(3), "{}", result.stdout);
    assert!(result.stdout.contains("owned"), "{}", result.stdout);
    for text in [&result.stdout, &result.stderr] {
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{7}'),
            "{text:?}"
        );
    }
    world.write("broken.c", "int main(void) { return \u{1b}[31m; }\n");
    let result = wmfix(&world, "check broken.c");
    assert_eq!(result.code, Some(3), "{}", result.stderr);
    assert!(!result.stderr.contains('\u{1b}'), "{:?}", result.stderr);
}

#[test]
fn a_trace_that_was_cut_is_no_clean_run() {
    need_gcc();
    let world = World::new();
    // Robust, but longer than the trace may be.
    world.write(
        "long.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
         static void *work(void *p) { for (int i = 0; i < 200000; i++) atomic_fetch_add(&x, 1); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); return 0; }\n",
    );
    let result = wmfix(
        &world,
        "check long.c --runs 2 --trace-limit 1 --record --format json",
    );
    assert_eq!(result.code, Some(3), "{}", result.stdout);
    let report = result.json();
    assert_eq!(report["verdict"], "failed");
    assert_eq!(report["runs"]["incomplete"], report["runs"]["total"]);
    // Checked in its process, a run of any length is checked to its end.
    let result = wmfix(
        &world,
        "check long.c --runs 2 --trace-limit 1 --format json",
    );
    assert_eq!(result.code, Some(0), "{}", result.stdout);
    assert_eq!(result.json()["runs"]["incomplete"], 0);
    let text = wmfix(&world, "check long.c --runs 2 --trace-limit 1 --record");
    said(&text, 3, &["incomplete", "--trace-limit"]);
    assert!(!text.stdout.contains("nothing found"), "{}", text.stdout);
}

#[test]
fn a_program_that_removes_its_trace_is_not_clean() {
    need_gcc();
    let world = World::new();
    let remove = "#include <stdlib.h>\n#include <stdio.h>\n";
    let hostile = BUFFERING.replace(
        "#include <pthread.h>\n",
        &format!("{remove}#include <pthread.h>\n"),
    );
    let hostile = hostile.replacen(
        "return 0;\n}",
        "char line[4096]; snprintf(line, sizeof line, \"rm -rf %s\", getenv(\"WMFIX_OUT\"));\n    return system(line) != 0;\n}",
        1,
    );
    world.write("sb.c", &hostile);
    let result = wmfix(&world, "check sb.c --runs 3");
    assert!(
        matches!(result.code, Some(2 | 3)),
        "{} {}",
        result.stdout,
        result.stderr
    );
    assert!(
        !result.stdout.contains("nothing found"),
        "{}",
        result.stdout
    );
}

#[test]
fn many_processes_in_one_folder_do_not_disturb_each_other() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = apart(&world);
            command.args(["check", "sb.c", "--runs", "2", "--format", "json"]);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let result = CommandResult::from(child.wait_with_output().unwrap());
        assert!(matches!(result.code, Some(0 | 1)), "{}", result.stderr);
    }
    let explained = CommandResult::of(apart(&world).args(["explain", "V9"]));
    said(&explained, 2, &["no finding V9"]);
    let cache = world.path().join("cache/wmfix");
    for folder in ["", "last", "projects"] {
        let mode = fs::metadata(cache.join(folder))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
    // Nothing of the runs is left.
    assert_eq!(fs::read_dir(world.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_damaged_runtime_in_the_cache_is_repaired() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    let check = || CommandResult::of(apart(&world).args(["check", "sb.c", "--runs", "5"]));
    assert_eq!(check().code, Some(1));
    for entry in fs::read_dir(world.path().join("cache/wmfix")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("runtime-")
        {
            fs::write(path.join("libwmfix_runtime.a"), "half").unwrap();
        } else if path.ends_with("projects") {
            fs::remove_dir_all(path).unwrap();
        }
    }
    let again = check();
    assert_eq!(again.code, Some(1), "{}", again.stderr);
}

#[test]
fn values_that_make_no_sense_are_refused_with_a_reason() {
    let world = World::new();
    world.write("sb.c", BUFFERING);
    world.write("bad.trace", "this is no trace");
    for (line, word) in [
        ("check sb.c --time 1e300", "ten years"),
        ("check sb.c --timeout 1e19", "ten years"),
        ("check sb.c --jobs 100000", "1..=1024"),
        ("check sb.c --replay bad.trace", "not a wmfix trace"),
        ("check sb.c --replay none.trace", "no such trace"),
    ] {
        said(&wmfix(&world, line), 2, &[word]);
    }
    world.write("wmfix.toml", "[test]\nstdin = \"input.txt\"\n");
    said(&wmfix(&world, "check ."), 2, &["input.txt", "no such file"]);
}

#[test]
fn a_truncated_and_a_foreign_trace_can_be_replayed_without_harm() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    said(
        &CommandResult::of(apart(&world).args(["check", "sb.c", "--runs", "20"])),
        1,
        &[],
    );
    let explained = CommandResult::of(apart(&world).args(["explain", "V1"]));
    let line = explained
        .stdout
        .lines()
        .find(|line| line.contains("--replay"))
        .unwrap();
    let trace = line.split_whitespace().last().unwrap().trim_matches('\'');
    let bytes = fs::read(trace).unwrap();
    let cut = world.path().join("cut.trace");
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let result = CommandResult::of(apart(&world).args(["check", "sb.c", "--replay"]).arg(&cut));
    assert!(
        matches!(result.code, Some(0 | 1)),
        "{} {}",
        result.stdout,
        result.stderr
    );
    world.write("other.c", "int main(void) { return 0; }\n");
    let result = CommandResult::of(apart(&world).args(["check", "other.c", "--replay", trace]));
    assert!(
        matches!(result.code, Some(0 | 3)),
        "{} {}",
        result.stdout,
        result.stderr
    );
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
}

#[test]
fn names_and_texts_that_are_unusual_are_no_trouble() {
    need_gcc();
    let world = World::new();
    // A test of this name, and one that is a link.
    world.write("t/objects.c", BUFFERING);
    let result = wmfix(&world, "check t --runs 5");
    said(&result, 1, &["objects.c"]);
    world.write("src/real.c", BUFFERING);
    fs::create_dir(world.path().join("linked")).unwrap();
    symlink("../src/real.c", world.path().join("linked/test.c")).unwrap();
    said(&wmfix(&world, "check linked --runs 5"), 1, &["violation"]);
    // Lines that end in a carriage return alone.
    world.write("cr.c", &BUFFERING.replace("    ", "\r    "));
    said(&wmfix(&world, "suggest cr.c --runs 20"), 1, &["violation"]);
    // A path that is not UTF-8.
    let name = OsString::from_vec(b"caf\xe9".to_vec());
    let folder = world.path().join(&name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("sb.c"), BUFFERING).unwrap();
    let mut command = world.wmfix("gcc");
    let result = CommandResult::of(command.arg("suggest").arg(&folder).args(["--runs", "20"]));
    assert_eq!(result.code, Some(1), "{}", result.stderr);
    assert!(result.stderr.contains("violation"), "{}", result.stderr);
}

#[test]
fn what_the_wrapper_leaves_out_is_said() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write("p/sb.c", BUFFERING);
    world.write(
        "p/Makefile",
        "test: sb\n\t./sb\nsb: sb.c\n\t$(CC) -static -fsanitize=address -pthread -o sb sb.c\n",
    );
    let result = wmfix(&world, "check p --runs 5 --format json");
    assert_eq!(result.code, Some(1), "{}", result.stderr);
    let notes = result.json()["notes"].to_string();
    for option in ["-static", "-fsanitize=address"] {
        assert!(notes.contains(option), "{option}: {notes}");
    }
}

/// A shell that ignores the ends of its children passes that on.
#[test]
fn ignored_ends_of_children_are_no_trouble() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    let wmfix = wmfix_tests::product::wmfix();
    let mut shell = world.command("sh");
    shell.env("WMFIX_REAL_CC", "gcc");
    shell.args(["-c", "trap '' CHLD; exec \"$0\" check sb.c --runs 5"]);
    let result = CommandResult::of(shell.arg(wmfix));
    said(&result, 1, &["violation"]);
}

/// What was left out of another build is no note of this one; of one that is there already,
/// it is.
#[test]
fn notes_are_those_of_the_command() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    let ignores = |line: &str| {
        let result = wmfix(&world, line);
        assert_eq!(result.code, Some(1), "{}", result.stderr);
        let notes = result.json()["notes"].to_string();
        notes.contains("-fsanitize=address")
    };
    let plain = "check sb.c --runs 5 --format json";
    let with = "check sb.c --runs 5 --format json --cflags=-fsanitize=address --ldflags=-fsanitize=address";
    assert!(!ignores(plain) && ignores(with) && ignores(with) && !ignores(plain));
}

/// A program that is stripped when it is linked has its places all the same.
#[test]
fn a_stripped_program_has_places() {
    need_gcc();
    let world = World::new();
    world.write("sb.c", BUFFERING);
    for flags in ["-s", "-Wl,--strip-all", "-Wl,-O1,-S"] {
        let result = wmfix(
            &world,
            &format!("check sb.c --runs 20 --ldflags={flags} --format json"),
        );
        assert_eq!(result.code, Some(1), "{flags}: {}", result.stderr);
        let access = result.json()["violations"][0]["access"].clone();
        assert_eq!(access["file"], "sb.c", "{flags}: {}", result.stdout);
        assert_ne!(access["line"], 0, "{flags}: {}", result.stdout);
    }
}

/// A program that prints without end, one that records without end, and one that leaves
/// a daemon behind: each is bounded, and said.
#[test]
fn what_a_run_may_take_is_bounded_by_limits_with_names() {
    need_gcc();
    let world = World::new();
    world.write(
        "long.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
         static void *work(void *p) { for (int i = 0; i < 200000; i++) atomic_fetch_add(&x, 1); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); return 0; }\n",
    );
    let line = "check long.c --runs 1 --event-limit 1000 --record";
    let text = wmfix(&world, line);
    said(&text, 3, &["incomplete", "--event-limit"]);
    assert!(!text.stdout.contains("nothing found"), "{}", text.stdout);
    let report = wmfix(&world, &format!("{line} --format json")).json();
    assert_eq!(report["verdict"], "failed");
    assert_eq!(report["runs"]["incomplete"], report["runs"]["total"]);
}

/// The end of a long output is shown although what is before it is gone.
#[test]
fn an_output_of_gigabytes_is_no_trouble() {
    need_gcc();
    let world = World::new();
    world.write(
        "flood.c",
        "#include <stdio.h>\n#include <string.h>\nstatic char block[1 << 16];\n\
         int main(void) { memset(block, 'a', sizeof block); block[sizeof block - 1] = '\\n';\n\
         for (int i = 0; i < 3200; i++) fwrite(block, sizeof block, 1, stdout);\n\
         puts(\"the last line\"); return 1; }\n",
    );
    let result = wmfix(&world, "check flood.c --runs 1 --jobs 1");
    said(&result, 3, &["the last line"]);
}

/// Sources are those that were built, not what somebody has made of them meanwhile.
#[test]
fn a_source_that_changes_while_it_is_tested_is_shown_as_it_was_built() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write("p/sb.c", BUFFERING);
    let original = world.path().join("p/sb.c");
    world.write(
        "p/Makefile",
        "test: sb\n\t./sb\n\tsh edit.sh\nsb: sb.c\n\t$(CC) -g -pthread -o sb sb.c\n",
    );
    let edit = format!("echo 'int nothing;' > {}\n", original.display());
    world.write("p/edit.sh", &edit);
    let result = wmfix(&world, "check p --runs 5");
    said(
        &result,
        1,
        &["atomic_load_explicit(&y, memory_order_relaxed)"],
    );
    assert!(!result.stdout.contains("int nothing"), "{}", result.stdout);
}

/// Names from files and debug information reach no terminal as they are.
/// What the program printed with a stale value is shown by `explain`; a patch has the text
/// around it. Neither controls a terminal, and in a pipe a patch is as it is.
#[test]
fn escape_sequences_in_explanations_and_patches_do_not_reach_the_terminal() {
    need(&[Need::Program("gcc"), Need::Program("script")]);
    let world = World::new();
    let printed = BUFFERING.replace("\"%d %d\\n\"", "\"\\033]0;owned\\007%d %d\\n\"");
    assert_ne!(printed, BUFFERING);
    let line = "    a = atomic_load_explicit(&y, memory_order_relaxed);";
    let hostile = printed.replace(line, &format!("{line} // \u{1b}]0;title\u{7}"));
    assert_ne!(hostile, printed);
    world.write("sb.c", &hostile);
    assert_eq!(wmfix(&world, "check sb.c --runs 20").code, Some(1));
    let explained = wmfix(&world, "explain V1");
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    assert!(explained.stdout.contains("owned"), "{}", explained.stdout);
    assert!(
        !explained.stdout.contains('\u{1b}'),
        "{:?}",
        explained.stdout
    );
    let piped = wmfix(&world, "suggest sb.c --runs 20");
    assert_eq!(piped.code, Some(1), "{}", piped.stderr);
    assert!(piped.stdout.contains("// \u{1b}]0;title\u{7}"));
    let command = format!(
        "{} suggest sb.c --runs 20 --color never --quiet",
        wmfix_tests::product::wmfix().display()
    );
    let shown = CommandResult::of(world.command("script").env("WMFIX_REAL_CC", "gcc").args([
        "-qec",
        &command,
        "/dev/null",
    ]));
    assert!(
        shown.stdout.contains("\u{241b}]0;title"),
        "{:?}",
        shown.stdout
    );
    assert!(
        !shown.stdout.contains("\u{1b}]0;title"),
        "{:?}",
        shown.stdout
    );
}

/// Other names of a file that is changed stay names of it; and what a command that was
/// killed has left is removed by the next, which says what it had done.
#[test]
fn apply_keeps_hard_links_and_cleans_up_after_a_killed_one() {
    need_gcc();
    let world = World::new();
    let source = world.write("p/sb.c", BUFFERING);
    fs::hard_link(&source, world.path().join("p/other-name")).unwrap();
    let staged = world.path().join("p/.wmfix-1234-0");
    let root = world.path().canonicalize().unwrap();
    let note = format!(
        "{0}/p/.wmfix-1234-0\0{0}/p/sb.c\0{0}/p/.wmfix-1234-1\0{0}/p/gone.c\0staged",
        root.display()
    );
    fs::write(&staged, "new text").unwrap();
    world.write("p/.wmfix-apply", &note);
    let ran = wmfix(&world, "suggest p --runs 20 --apply");
    let changed = "had changed p/gone.c, but not p/sb.c";
    said(
        &ran,
        0,
        &["killed during --apply", changed, "changed p/sb.c"],
    );
    assert!(!staged.exists() && !world.path().join("p/.wmfix-apply").exists());
    assert_eq!(fs::metadata(&source).unwrap().nlink(), 2);
    assert_ne!(fs::read_to_string(&source).unwrap(), BUFFERING);
    let again = wmfix(&world, "check p --runs 5");
    assert!(!again.stderr.contains("killed"), "{}", again.stderr);
}

#[test]
fn escape_sequences_in_names_and_sources_are_shown_as_signs() {
    need_gcc();
    let world = World::new();
    let lines = BUFFERING.lines().map(|line| match line.ends_with(';') {
        true => format!("{line} // \u{1b}]0;owned\u{7}\u{1b}[2J"),
        false => line.to_owned(),
    });
    let hostile: Vec<String> = lines.collect();
    world.write("d/a\u{1b}[31mb.c", &hostile.join("\n"));
    for format in [
        "text", "gcc", "github", "gitlab", "junit", "rdjson", "sarif", "json",
    ] {
        let result = wmfix(&world, &format!("check d --runs 20 --format {format}"));
        assert_eq!(result.code, Some(1), "{format}: {}", result.stderr);
        for text in [&result.stdout, &result.stderr] {
            let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!text.contains(control), "{format}: {text:?}");
        }
    }
}

/// An interrupt ends a build, and every stage after it, with what is known.
#[test]
fn an_interrupt_ends_a_build_with_all_its_children() {
    need(&[Need::Program("make")]);
    let world = World::new();
    world.write("p/sb.c", BUFFERING);
    // The build says when it has come to where it would stay.
    let mark = world.path().join("building");
    world.write(
        "p/Makefile",
        &format!(
            "all:\n\techo $$$$ > {}; sleep 1000\ntest: all\n",
            mark.display()
        ),
    );
    for signal in ["-INT", "-TERM"] {
        let _none_yet = fs::remove_file(&mark);
        let mut command = world.wmfix("gcc");
        command.args(["check", "p", "--", "true"]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while fs::read_to_string(&mark).unwrap_or_default().is_empty() {
            std::thread::yield_now();
        }
        let number = child.id().to_string();
        let killed = Command::new("kill").args([signal, &number]).status();
        assert!(killed.unwrap().success());
        let result = CommandResult::from(child.wait_with_output().unwrap());
        said(&result, 3, &["interrupted"]);
        // Nobody of the build is left: what was killed may take a moment to end, and
        // whoever inherits it may take longer to ask for its exit code.
        let shell = fs::read_to_string(&mark).unwrap();
        let status = Path::new("/proc").join(shell.trim()).join("status");
        let runs = || {
            let text = fs::read_to_string(&status).unwrap_or_default();
            !text.is_empty() && !text.contains("State:\tZ")
        };
        let asked = Instant::now();
        while runs() {
            assert!(asked.elapsed() < Duration::from_secs(60), "{signal}");
            std::thread::yield_now();
        }
    }
}

/// Numbers that no file of a shard has.
#[test]
fn a_hostile_shard_file_is_refused() {
    let world = World::new();
    for (shards, number, runs) in [
        ("18446744073709551615", "1", "10"),
        ("0", "0", "10"),
        ("1", "1", "18446744073709551615"),
    ] {
        let text = format!(
            r#"{{"version":1,"number":{number},"settings":{{"wmfix":"1","shards":{shards},"runs":{runs},"seed":1,"options":[],"sources":"1"}},"command":["check"],"programs":[{{"cut_short":true,"runs":[]}}]}}"#
        );
        let _none_yet = fs::remove_dir_all(world.path().join("s"));
        world.write("s/shard-1-of-1-0000000000000000.json", &text);
        said(&wmfix(&world, "merge s"), 2, &["contradict"]);
    }
}

/// What the program makes of addresses is the same in every run with the same seed, and
/// with it the report, however many runs there are at a time.
#[test]
fn a_program_that_hashes_addresses_is_reported_alike_each_time() {
    need_gcc();
    let world = World::new();
    world.write(
        "hash.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
         static atomic_int slots[64]; static int data; static volatile int sink;\n\
         static unsigned slot(void *p) { return ((uintptr_t)p >> 4) * 2654435761u % 64; }\n\
         static void *work(void *p) { void *own[8];\n\
         for (int i = 0; i < 8; i++) { own[i] = malloc(24 + i);\n\
         atomic_fetch_add_explicit(&slots[slot(own[i])], 1, memory_order_relaxed); }\n\
         if (slot(own[0]) % 2) data = 1;\n\
         for (int i = 0; i < 8; i++) {\n\
         sink = atomic_load_explicit(&slots[slot(own[i])], memory_order_relaxed); free(own[i]); }\n\
         data = 2; return p; }\n\
         int main(void) { pthread_t a, b; pthread_create(&a, 0, work, 0);\n\
         pthread_create(&b, 0, work, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }\n",
    );
    let report = |jobs: u32| {
        let line = format!("check hash.c --runs 20 --seed 5 --jobs {jobs} --format json");
        let mut report = wmfix(&world, &line).json();
        report["runs"]["seconds"] = 0.into();
        report
    };
    let first = report(1);
    assert!(first["races"][0].is_object(), "{first}");
    assert_eq!(first, report(1));
    assert_eq!(first, report(3));
}
