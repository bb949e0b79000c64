//! `wmfix suggest` as its users have it: from a C file to a patch that applies,
//! and a patched program that shows nothing any more.

use std::fs;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const STORE_BUFFERING: &str = include_str!("../corpus/suggest/sb.c");
const MESSAGE_PASSING: &str = include_str!("../corpus/suggest/mp.c");
const PETERSON: &str = include_str!("../corpus/suggest/peterson.c");

fn need_tools() {
    need(&[
        Need::Program("gcc"),
        Need::Program("g++"),
        Need::Program("git"),
    ]);
}

fn wmfix(world: &World, line: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(line.split_whitespace());
    CommandResult::of(&mut command)
}

/// Suggests, applies the patch with git, and checks that nothing is left. Gives
/// the lines that the patch adds.
fn mended(name: &str, text: &str, options: &str) -> Vec<String> {
    let world = World::new();
    world.write(name, text);
    let runs = if options.contains("--runs") {
        ""
    } else {
        "--runs 50"
    };
    let suggested = wmfix(&world, &format!("suggest {name} {runs} {options}"));
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    assert!(
        suggested.stderr.contains("showed no further findings"),
        "{suggested:?}"
    );
    let untouched = fs::read_to_string(world.path().join(name)).unwrap();
    assert_eq!(untouched, text, "the user's file is the user's");
    world.write("it.patch", &suggested.stdout);
    let mut apply = world.command("git");
    apply.args(["apply", "it.patch"]);
    let applied = CommandResult::of(&mut apply);
    assert_eq!(applied.code, Some(0), "{applied:?}\n{}", suggested.stdout);
    let checked = wmfix(&world, &format!("check {name} --runs 100 --seed 1000"));
    assert_eq!(checked.code, Some(0), "{checked:?}\n{}", suggested.stdout);
    let lines = suggested.stdout.lines();
    let added = lines.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    added.map(|line| line[1..].trim().to_owned()).collect()
}

#[test]
fn store_buffering_gets_a_fence_a_thread() {
    need_tools();
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    assert_eq!(mended("sb.c", STORE_BUFFERING, ""), [fence, fence]);
    assert_eq!(
        mended("sb.c", STORE_BUFFERING, "--cost x86"),
        [fence, fence]
    );
}

#[test]
fn message_passing_gets_release_and_acquire() {
    need_tools();
    let expected = [
        "atomic_store_explicit(&ready, 1, memory_order_release);",
        "while (!atomic_load_explicit(&ready, memory_order_acquire))",
    ];
    for cost in ["fewest", "x86", "arm64", "portable"] {
        let added = mended("mp.c", MESSAGE_PASSING, &format!("--cost {cost}"));
        assert_eq!(added, expected, "{cost}");
    }
}

#[test]
fn petersons_lock_is_repaired_and_its_section_is_free_of_races() {
    need_tools();
    let added = mended("peterson.c", PETERSON, "");
    // The hand-over must release, whatever keeps the entry in order.
    let release = "atomic_store_explicit(&flag[me], 0, memory_order_release);";
    assert!(added.iter().any(|line| line == release), "{added:?}");
}

#[test]
fn a_work_stealing_deque_needs_no_more_fences_than_the_published_one() {
    need_tools();
    // Published with fences in push (release), take and steal (both seq_cst).
    let text = include_str!("../corpus/suggest/deque.c");
    // Two of them are enough for what a few runs show.
    let added = mended("deque.c", text, "--cost fewest --runs 400");
    let fences = added.iter().filter(|line| line.contains("thread_fence"));
    assert!(fences.count() <= 3, "{added:?}");
}

#[test]
fn a_fence_at_one_call_spares_the_others() {
    need_tools();
    let text = include_str!("../corpus/suggest/calls.c");
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    // One change in the function is the fewest, two at the calls that need them
    // the cheapest: the function is called in a hot loop, too.
    assert_eq!(mended("calls.c", text, "--cost fewest"), [fence]);
    assert_eq!(mended("calls.c", text, ""), [fence, fence]);
    // Each call that may read an old value is a finding of its own.
    let world = World::new();
    world.write("calls.c", text);
    let checked = wmfix(&world, "check calls.c --format json");
    assert_eq!(
        checked.json()["violations"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn a_seqlock_and_a_stack_in_cpp_are_repaired() {
    need_tools();
    let added = mended("seqlock.c", include_str!("../corpus/suggest/seqlock.c"), "");
    assert!(!added.is_empty());
    let added = mended(
        "treiber.cpp",
        include_str!("../corpus/suggest/treiber.cpp"),
        "",
    );
    let fences = added.iter().filter(|line| line.contains("thread_fence"));
    assert_eq!(
        fences.count(),
        0,
        "a stack publishes with release and acquire: {added:?}"
    );
}

#[test]
fn a_program_that_never_works_is_not_repaired() {
    need_tools();
    let world = World::new();
    let crashing = STORE_BUFFERING
        .replace(
            "#include <stdio.h>",
            "#include <stdio.h>\n#include <stdlib.h>",
        )
        .replace("return 0;", "abort();");
    world.write("sb.c", &crashing);
    let suggested = wmfix(&world, "suggest sb.c --runs 30");
    assert_eq!(suggested.code, Some(3), "{suggested:?}");
    assert_eq!(suggested.stdout, "");
    assert!(
        suggested.stderr.contains("before any change"),
        "{suggested:?}"
    );
}

#[test]
fn a_program_without_findings_gets_no_patch() {
    need_tools();
    let world = World::new();
    world.write("sb.c", &STORE_BUFFERING.replace("relaxed", "seq_cst"));
    let suggested = wmfix(&world, "suggest sb.c --runs 50");
    assert_eq!(suggested.code, Some(0), "{suggested:?}");
    assert_eq!(suggested.stdout, "");
}

#[test]
fn a_lock_in_a_header_is_patched_there_and_applied() {
    need_tools();
    let world = World::new();
    let header = "#pragma once\n#include <stdatomic.h>\n#include \"unchanged.h\"\n\
        static atomic_int locked;\n\
        static void lock(void) {\n\
        \x20   int expected = FREE;\n\
        \x20   while (!atomic_compare_exchange_weak_explicit(&locked, &expected, 1, memory_order_relaxed, memory_order_relaxed))\n\
        \x20       expected = FREE;\n}\n\
        static void unlock(void) { atomic_store_explicit(&locked, FREE, memory_order_relaxed); }\n";
    world.write("code/unchanged.h", "#define FREE 0\n");
    // An unchanged header between the program and the patched one.
    world.write("code/between.h", "#include \"lock.h\"\n");
    world.write("code/lock.h", header);
    world.write(
        "code/main.c",
        "#include \"between.h\"\n#include <pthread.h>\nstatic int shared;\n\
         static void *work(void *p) { lock(); shared++; unlock(); return p; }\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, work, 0);\n\
         \x20   pthread_create(&b, 0, work, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n\
         \x20   return shared != 2;\n}\n",
    );
    let suggested = wmfix(&world, "suggest code/main.c --runs 50 --apply");
    assert_eq!(suggested.code, Some(0), "{suggested:?}");
    assert!(
        suggested.stderr.contains("showed no further findings"),
        "{suggested:?}"
    );
    let patched = fs::read_to_string(world.path().join("code/lock.h")).unwrap();
    assert!(
        patched.contains("memory_order_acquire, memory_order_relaxed"),
        "{patched}"
    );
    assert!(patched.contains("FREE, memory_order_release"), "{patched}");
    let checked = wmfix(&world, "check code/main.c --runs 50 --seed 500");
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn what_no_order_can_repair_is_said() {
    need_tools();
    let world = World::new();
    world.write(
        "race.c",
        "#include <pthread.h>\nstatic int shared;\n\
         static void *work(void *p) { shared++; return p; }\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, work, 0);\n\
         \x20   pthread_create(&b, 0, work, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n\
         \x20   return 0;\n}\n",
    );
    let suggested = wmfix(&world, "suggest race.c --runs 30");
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    assert_eq!(suggested.stdout, "");
    assert!(suggested.stderr.contains("not repaired"), "{suggested:?}");
}

#[test]
fn json_has_the_repair() {
    need_tools();
    let world = World::new();
    world.write("mp.c", MESSAGE_PASSING);
    let suggested = wmfix(&world, "suggest mp.c --runs 50 --format json");
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    let report: serde_json::Value = serde_json::from_str(&suggested.stdout).unwrap();
    let repair = &report["repair"];
    assert_eq!(repair["optimal"], true);
    assert_eq!(repair["lower_bound"], repair["cost"]);
    assert_eq!(repair["profile"], "portable");
    let searched = &repair["searched"];
    assert_eq!(
        searched["kinds"],
        serde_json::json!(["order", "fence", "move", "atomic"])
    );
    assert!(searched["runs"].as_u64().unwrap() > 0);
    assert!(repair["verified_runs"].as_u64().unwrap() >= 50);
    let to: Vec<&str> = repair["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["to"].as_str().unwrap())
        .collect();
    assert_eq!(to, ["release", "acquire"]);
    for change in repair["changes"].as_array().unwrap() {
        assert!(change["reached_runs"].as_u64().unwrap() > 0, "{change}");
        assert!(change["seed"].is_u64(), "{change}");
    }
    assert!(repair["patch"].as_str().unwrap().starts_with("diff --git"));
}

/// Store buffering, and far below it a relaxed publication of plain data.
const TWO_CAUSES: &str = r#"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int saw_x, saw_y;

static void *left(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    saw_y = atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}

static void *right(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    saw_x = atomic_load_explicit(&x, memory_order_relaxed);
    return unused;
}

static int data;
static atomic_int ready;

static void *writer(void *unused)
{
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *reader(void *unused)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        saw_x += data;
    return unused;
}

static void both(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, other, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
}

int main(void)
{
    both(left, right);
    both(writer, reader);
    return 0;
}
"#;

#[test]
fn a_patch_for_each_cause_the_worst_first() {
    need_tools();
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    let suggested = wmfix(
        &world,
        "suggest two.c --runs 60 --format json --output patches",
    );
    let report = suggested.json();
    let groups = report["repair"]["groups"].as_array().unwrap();
    let first = |group: &serde_json::Value| group["removes"][0].as_str().unwrap().to_owned();
    assert_eq!(groups.len(), 2, "{report}");
    assert!(first(&groups[0]).starts_with('R'), "{groups:?}");
    assert!(first(&groups[1]).starts_with('V'), "{groups:?}");
    for number in 1..=2 {
        let patch = format!("patches/wmfix-000{number}.patch");
        CommandResult::well(world.command("git").args(["apply", &patch]));
    }
    let patched = fs::read_to_string(world.path().join("two.c")).unwrap();
    assert!(patched.contains("atomic_store_explicit(&ready, 1, memory_order_release);"));
    assert!(patched.contains("seq_cst"), "{patched}");
}

/// A project whose patched program is never built: there the compiler waits.
fn never_builds(world: &World) {
    world.write("p/sb.c", include_str!("../corpus/suggest/sb.c"));
    world.write(
        "p/Makefile",
        "prog: sb.c\n\t@if grep -q seq_cst sb.c; then sleep 600; fi\n\
         \t$(CC) -g -pthread -o $@ sb.c\ncheck: prog\n\t./prog\n.PHONY: check\n",
    );
}

/// A patch that was not built and run is none: it is named, and nothing else has it.
#[test]
fn what_was_not_built_and_run_is_no_patch() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    never_builds(&world);
    let source = || fs::read_to_string(world.path().join("p/sb.c")).expect("the file");
    let before = source();
    let suggest = |more: &str| {
        let line = format!("suggest p --runs 10 --time 15 {more}");
        CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
    };
    let files = "--apply --output out --export-fixes fixes.yaml --report json=report.json \
                 --report sarif=report.sarif --report rdjson=rd.json --report gitlab=gitlab.json";
    let ran = suggest(files);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "", "{ran:?}");
    let said = "no patch in the time: the cheapest candidate is ";
    assert!(ran.stderr.contains(said), "{ran:?}");
    assert!(ran.stderr.contains("  p/sb.c:"), "{ran:?}");
    assert!(!ran.stderr.contains("no cheaper set"), "{ran:?}");
    assert!(ran.stderr.contains("--apply changed nothing"), "{ran:?}");
    assert_eq!(source(), before);
    assert!(!world.path().join("out/wmfix-0001.patch").exists());
    let read = |name: &str| fs::read_to_string(world.path().join(name)).expect(name);
    assert!(read("fixes.yaml").contains("Diagnostics: []"));
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert!(report["repair"].is_null(), "{report}");
    assert_eq!(report["candidate"]["why"], "out-of-time", "{report}");
    assert!(report["candidate"]["changes"][0]["what"].is_string());
    assert!(!read("report.sarif").contains("\"fixes\""));
    assert!(!read("rd.json").contains("\"suggestions\""));
    assert!(!read("out/report.html").contains("class=\"added\""));
}
