//! What else a report comes as: patches by group, a page, an audit, comments in
//! the text, and a finding in depth.

use std::fs;

use crate::report_support::{PETERSON, STORE_BUFFERING, TWO_CAUSES, need_tools, wmfix};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// A folder under git with a program in it.
fn repository(name: &str, text: &str) -> World {
    let world = World::new();
    world.write(name, text);
    for line in [
        "init -q",
        "add -A",
        "-c user.name=x -c user.email=x@y commit -qm x",
    ] {
        git(&world, line);
    }
    world
}

fn git(world: &World, line: &str) -> CommandResult {
    CommandResult::well(world.command("git").args(line.split_whitespace()))
}

#[test]
fn each_group_is_a_patch_that_applies_in_order_and_alone() {
    need_tools();
    let world = repository("two.c", TWO_CAUSES);
    let suggested = wmfix(&world, "suggest two.c --runs 30 --output out");
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    let mut names: Vec<String> = fs::read_dir(world.path().join("out"))
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["report.html", "wmfix-0001.patch", "wmfix-0002.patch"]
    );
    let text = || fs::read_to_string(world.path().join("two.c")).expect("the file");

    world.write("whole.patch", &suggested.stdout);
    git(&world, "apply whole.patch");
    let whole = text();
    git(&world, "checkout -q two.c");
    for number in 1..=2 {
        git(&world, &format!("apply out/wmfix-000{number}.patch"));
    }
    assert_eq!(text(), whole, "in order");
    git(&world, "checkout -q two.c");
    let mut alone = Vec::new();
    for number in 1..=2 {
        git(&world, &format!("apply out/wmfix-000{number}.patch"));
        alone.push(text());
        git(&world, "checkout -q two.c");
    }
    // What removes the race comes first.
    assert!(alone[0].contains("acquire") && !alone[0].contains("atomic_thread_fence"));
    assert!(alone[1].contains("atomic_thread_fence") && !alone[1].contains("acquire"));

    // A second repair replaces the first one's patches.
    git(&world, "apply out/wmfix-0001.patch");
    let again = wmfix(&world, "suggest two.c --runs 30 --output out");
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(world.path().join("out/wmfix-0001.patch").exists());
    assert!(!world.path().join("out/wmfix-0002.patch").exists());
    let page = fs::read_to_string(world.path().join("out/report.html")).expect("the page");
    assert!(page.contains("), 0 data races, 0 allowed</dd>"), "{page}");
}

#[test]
fn an_audit_names_what_no_test_reached_and_what_no_test_has() {
    need_tools();
    let world = World::new();
    world.write("lock/peterson.c", PETERSON);
    world.write(
        "lock/unused/other.h",
        "#include <stdatomic.h>\nstatic inline int look(atomic_int *x) {\n    return atomic_load_explicit(x, memory_order_acquire);\n}\n",
    );
    let audit = wmfix(&world, "audit lock --robust --runs 30");
    assert_eq!(audit.code, Some(1), "{audit:?}");
    let first = audit.stdout.lines().nth(2).expect("a third line");
    assert!(
        first.starts_with("Not reached by any run: 1 of 6"),
        "{}",
        audit.stdout
    );
    assert!(
        audit.stdout.contains("lock/unused/other.h:3"),
        "{}",
        audit.stdout
    );
    for part in [
        "warning[V1]",
        "\nRepair\n",
        "+++ b/lock/peterson.c",
        "\nInventory\n",
    ] {
        assert!(audit.stdout.contains(part), "{part}: {}", audit.stdout);
    }
    // Nobody asked for a page.
    assert_eq!(fs::read_dir(world.path()).expect("the folder").count(), 1);

    let elsewhere = wmfix(
        &world,
        "audit lock --robust --runs 30 --output pages --format json",
    );
    assert_eq!(elsewhere.code, Some(1), "{elsewhere:?}");
    assert_eq!(
        elsewhere.json()["sites"]["unreached"][0]["file"],
        "lock/unused/other.h"
    );
    let page = fs::read_to_string(world.path().join("pages/report.html")).expect("the page");
    assert!(page.contains("Not reached"), "{page}");
}

#[test]
fn comments_name_the_findings_only_when_asked_for() {
    need_tools();
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    let plain = wmfix(&world, "suggest two.c --runs 30");
    assert!(!plain.stdout.contains("wmfix"), "{}", plain.stdout);
    let named = wmfix(&world, "suggest two.c --runs 30 --annotate");
    assert!(
        named.stderr.contains("showed no further findings"),
        "{named:?}"
    );
    let added = named.stdout.lines().filter(|line| line.starts_with('+'));
    let comments: Vec<&str> = added
        .filter_map(|line| {
            let (_, comment) = line.split_once("/* wmfix: ")?;
            Some(comment.split_once(" */")?.0)
        })
        .collect();
    // By the names that they have in every report.
    let report = wmfix(&world, "check two.c --runs 30 --format json").json();
    let stable = |kind: &str, at: usize| {
        let name = report[kind][at]["stable_id"].as_str();
        name.expect("a name").to_owned()
    };
    let both = format!("{}, {}", stable("violations", 0), stable("violations", 1));
    let race = stable("races", 0);
    assert_eq!(comments, [&both, &both, &race, &race]);
}

#[test]
fn findings_keep_their_names_when_lines_move() {
    need_tools();
    let names = |text: &str| {
        let world = World::new();
        world.write("sb.c", text);
        let found = wmfix(&world, "check sb.c --runs 20 --format json").json();
        let found = found["violations"].as_array().expect("a list").clone();
        let names = found
            .iter()
            .map(|one| one["stable_id"].as_str().map(str::to_owned));
        let names: Option<Vec<String>> = names.collect();
        (world, names.expect("names"))
    };
    let (world, first) = names(STORE_BUFFERING);
    let moved = format!("/* One. */\n\n/* Two. */\n{STORE_BUFFERING}");
    assert_eq!(first, names(&moved).1);
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(first[0].starts_with("sb-left-load-"), "{first:?}");
    // `explain` takes them, and as much of one as no other begins with.
    let by_number = wmfix(&world, "explain V1");
    for name in [first[0].as_str(), "sb-left", "v1"] {
        let explained = wmfix(&world, &format!("explain {name}"));
        assert_eq!(explained.stdout, by_number.stdout, "{name}");
    }
    let several = wmfix(&world, "explain sb-");
    assert_eq!(several.code, Some(2), "{several:?}");
    assert!(several.stderr.contains(&first[1]), "{several:?}");
}

/// The same in every clone, wherever it is called from: what a baseline or a code host
/// remembers was found on another machine.
#[test]
fn findings_have_the_same_names_in_every_clone() {
    need_tools();
    let world = World::new();
    let names = |clone: &str, folder: &str, file: &str| {
        let at = world.path().join(clone);
        if !at.join(".git").exists() {
            world.write(&format!("{clone}/src/two.c"), TWO_CAUSES);
            CommandResult::well(world.command("git").args(["init", "-q"]).arg(&at));
        }
        let mut command = world.wmfix("gcc");
        command
            .current_dir(at.join(folder))
            .args(["check", file, "--runs", "20", "--format", "sarif"]);
        let log = CommandResult::of(&mut command).json();
        let results = log["runs"][0]["results"].as_array().expect("results");
        let mut names: Vec<String> = results
            .iter()
            .map(|result| result["partialFingerprints"].to_string())
            .collect();
        names.sort();
        assert_eq!(names.len(), 3, "{log}");
        names
    };
    let first = names("here", ".", "src/two.c");
    assert_eq!(first, names("here", "src", "two.c"));
    assert_eq!(first, names("far/away/other-name", ".", "src/two.c"));
    assert_eq!(first, names("far/away/other-name", "src", "."));
}

#[test]
fn a_finding_in_depth_says_what_the_repair_changes() {
    need_tools();
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    let suggested = wmfix(&world, "suggest two.c --runs 30 --apply");
    assert_eq!(suggested.code, Some(0), "{suggested:?}");
    // The file has changed since: what is shown is what was found.
    let explained = wmfix(&world, "explain R1");
    assert_eq!(explained.code, Some(0), "{explained:?}");
    for part in [
        "data = 42;",
        "The suggested repair removes it with:",
        "relaxed becomes release",
        "relaxed becomes acquire",
    ] {
        assert!(
            explained.stdout.contains(part),
            "{part}: {}",
            explained.stdout
        );
    }
    assert!(
        !explained.stdout.contains("fence after"),
        "{}",
        explained.stdout
    );
    let checked = wmfix(&world, "check two.c --runs 30");
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

/// A member of a class that only its name is written for, and members of a structure
/// of C that are reached by a pointer.
#[test]
fn parts_of_variables_are_named_as_their_types_have_them() {
    need_tools();
    need(&[Need::Program("g++"), Need::Program("clang")]);
    let world = World::new();
    world.write(
        "parts.cpp",
        "#include <atomic>\n#include <thread>\n\
         template <class T> struct Base { T unused; std::atomic<T> left_{0}; };\n\
         class Flags : Base<long> {\n    int first = 0;\n    std::atomic<int> right_{0};\npublic:\n\
         \x20   long go_left() { left_.store(1, std::memory_order_relaxed); return right_.load(std::memory_order_relaxed); }\n\
         \x20   long go_right() { right_.store(1, std::memory_order_relaxed); return left_.load(std::memory_order_relaxed); }\n};\n\
         namespace app { Flags flags; }\n\
         int main() { long a, b; std::thread t([&] { a = app::flags.go_left(); }); std::thread u([&] { b = app::flags.go_right(); });\n\
         \x20   t.join(); u.join(); return a + b == 0; }\n",
    );
    world.write(
        "parts.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n\
         struct cell { int pad; atomic_int seq; };\n\
         static struct { struct cell cells[4]; union { atomic_int flag; long all; }; } queue;\n\
         static int take(atomic_int *p) { return atomic_load_explicit(p, memory_order_relaxed); }\n\
         static void put(atomic_int *p) { atomic_store_explicit(p, 1, memory_order_relaxed); }\n\
         static atomic_int *seq(void) { return &queue.cells[2].seq; }\n\
         static atomic_int *flag(void) { return &queue.flag; }\n\
         static int a, b;\n\
         static void *left(void *x) { put(seq()); a = take(flag()); return x; }\n\
         static void *right(void *x) { put(flag()); b = take(seq()); return x; }\n\
         int main(void) { pthread_t t, u; pthread_create(&t, 0, left, 0); pthread_create(&u, 0, right, 0);\n\
         \x20   pthread_join(t, 0); pthread_join(u, 0); return a + b == 0; }\n",
    );
    for (compiler, cxx) in [("gcc", "g++"), ("clang", "clang++")] {
        for (file, names) in [
            ("parts.cpp", ["app::flags.left_", "app::flags.right_"]),
            ("parts.c", ["queue.cells[2].seq", "queue.flag"]),
        ] {
            let mut command = world.wmfix(compiler);
            command.env("WMFIX_REAL_CXX", cxx);
            command.args(["check", file, "--runs", "30", "--format", "json"]);
            let report = CommandResult::of(&mut command).json();
            let violations = report["violations"].as_array().expect("a list");
            let mut found: Vec<&str> = violations
                .iter()
                .filter_map(|one| one["location"].as_str())
                .collect();
            found.sort_unstable();
            assert_eq!(found, names, "{compiler}: {report}");
        }
    }
}

/// A result never takes the place of what is the user's, and that is said before anything
/// is built: the program here does not even compile.
#[test]
fn outputs_do_not_take_the_place_of_inputs() {
    need(&[Need::Program("git")]);
    let world = repository("sb.c", "this is no C\n");
    world.write("notes.txt", "mine\n");
    world.write("list.json", "{\"mine\": 1}\n");
    world.write("out/report.html", "<p>mine</p>\n");
    world.write("wmfix.toml", "");
    fs::create_dir(world.path().join("folder")).expect("a folder");
    std::os::unix::fs::symlink("notes.txt", world.path().join("link")).expect("a link");
    git(&world, "add -A");
    let before = tree(&world);
    for line in [
        "check sb.c --report json=sb.c",
        "check sb.c --report json=other.hpp",
        "check sb.c --report text=notes.txt",
        "check sb.c --report json=list.json",
        "check sb.c --report sarif=link",
        "check sb.c --report sarif=folder",
        "check sb.c --report text=wmfix.toml",
        "check sb.c --report json=missing/report.json",
        "check sb.c --report json=a.json --report sarif=a.json",
        "check sb.c --shard 1/2 --shard-dir notes.txt",
        "check sb.c --shard 1/2 --shard-dir link",
        "run --report json=list.json -- true",
        "suggest sb.c --export-fixes sb.c",
        "suggest sb.c --output sb.c",
        "suggest sb.c --output out",
        "relax sb.c --output out",
        "audit sb.c --output notes.txt/deeper",
        "baseline sb.c --output list.json",
        "baseline sb.c --output sb.c",
    ] {
        let ran = wmfix(&world, line);
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.stderr.contains("is not written to"), "{line}: {ran:?}");
        assert_eq!(tree(&world), before, "{line}");
    }
}

/// What wmfix wrote itself it writes anew, under git or not.
#[test]
fn outputs_of_before_are_replaced() {
    need_tools();
    let world = repository("sb.c", STORE_BUFFERING);
    let line = "suggest sb.c --runs 20 --output out --export-fixes fixes.yaml \
                --report text=report.txt --report json=report.json --report sarif=report.sarif \
                --report gitlab=gitlab.json --report rdjson=rd.json --report junit=junit.xml";
    let baseline = "baseline sb.c --runs 20";
    for round in 0..2 {
        assert_eq!(wmfix(&world, line).code, Some(1), "{round}");
        assert_eq!(wmfix(&world, baseline).code, Some(0), "{round}");
        git(&world, "add -A");
        git(&world, "rm -q --cached report.txt");
    }
    let both = format!(
        "check sb.c --baseline wmfix-baseline.json --report {}",
        "json=wmfix-baseline.json"
    );
    assert_eq!(wmfix(&world, &both).code, Some(2));
}

/// The files of a folder, without hidden ones, with their content.
fn tree(world: &World) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(world.path()).sort_by_file_name();
    let entries = entries.into_iter().map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| {
        let inside = entry.path().strip_prefix(world.path()).expect("below");
        !inside.starts_with(".git") && !entry.file_type().is_dir()
    });
    let files = files.map(|file| {
        let content = fs::read(file.path()).unwrap_or_default();
        (file.into_path(), content)
    });
    files.collect()
}
