//! What is found, how soon, and that it is the same every time.

use serde_json::Value;
use wmfix_tests::litmus::{Spelling, emit, program};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const SEQLOCK: &str = include_str!("../corpus/programs/seqlock.c");

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

/// Each thread writes, looks at the other's, and writes again: found whatever
/// the schedule, even if one thread ends before the other begins.
fn predictive() -> String {
    let threads = ["x=1.rel; a=y.acq; x=2.rel", "y=1.rel; b=x.acq; y=2.rel"];
    emit(
        &program("predictive", &threads).expect("a program"),
        Spelling::C11,
    )
}

fn check(world: &World, arguments: &[&str]) -> Value {
    let mut command = world.wmfix("gcc");
    CommandResult::of(
        command
            .arg("check")
            .args(arguments)
            .args(["--format", "json"]),
    )
    .json()
}

fn without_seconds(mut report: Value) -> Value {
    report["runs"]["seconds"] = Value::Null;
    report
}

#[test]
fn one_thread_after_the_other_is_enough() {
    need_gcc();
    let world = World::new();
    world.write("predictive.c", &predictive());
    for seed in (0..20).map(|n| (n * 7919).to_string()) {
        let report = check(&world, &["predictive.c", "--runs", "5", "--seed", &seed]);
        let first = report["violations"].as_array().expect("a list").iter();
        let within = first
            .filter_map(|v| v["seed"].as_u64())
            .min()
            .expect("a violation");
        assert!(
            within < seed.parse::<u64>().unwrap() + 5,
            "seed {seed}: {within}"
        );
    }
    // No change of priorities: whoever begins goes on to its end.
    let mut serial = world.wmfix("gcc");
    serial
        .env("WMFIX_DEPTH", "0")
        .args(["check", "predictive.c", "--runs", "1"]);
    assert_eq!(CommandResult::of(&mut serial).code, Some(1));
    let story = CommandResult::well(world.wmfix("gcc").args(["explain", "V1"])).stdout;
    let steps: Vec<&str> = story
        .lines()
        .filter(|line| line.contains("stores") || line.contains("reads"))
        .collect();
    assert!(steps.len() >= 4, "{story}");
    assert!(story.contains("* reads"), "{story}");
}

#[test]
fn a_missing_fence_of_a_seqlock_is_found_from_ten_seeds() {
    need_gcc();
    let world = World::new();
    world.write("missing.c", SEQLOCK);
    world.write("whole.c", &format!("#define FENCE\n{SEQLOCK}"));
    for base in (0..10).map(|n| n * 100_000) {
        let seed = base.to_string();
        let report = check(
            &world,
            &[
                "missing.c",
                "--runs",
                "1000",
                "--time",
                "60",
                "--seed",
                &seed,
            ],
        );
        let found = report["violations"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|violation| {
                violation["access"]["operation"] == "atomic_load_explicit"
                    && violation["location"] == "counter"
            });
        let found = found.unwrap_or_else(|| panic!("seed {seed}: {report}"));
        assert!(found["seed"].as_u64().unwrap() < base + 1000, "{found}");
        assert_eq!(found["kind"], "stale-read");
    }
    let report = check(&world, &["whole.c", "--runs", "1000"]);
    assert_eq!(report["verdict"], "clean", "{report}");
}

#[test]
fn the_same_seed_gives_the_same_report_whatever_the_jobs() {
    need_gcc();
    let world = World::new();
    world.write("missing.c", SEQLOCK);
    let report =
        |jobs: &str| without_seconds(check(&world, &["missing.c", "--seed", "3", "--jobs", jobs]));
    let first = report("1");
    assert_eq!(first["verdict"], "findings");
    for jobs in ["1", "2", "5"] {
        assert_eq!(report(jobs), first, "{jobs} jobs");
    }
}

#[test]
fn the_report_is_as_the_contract_says() {
    need_gcc();
    let world = World::new();
    world.write("src/predictive.c", &predictive());
    let report = check(&world, &["src/predictive.c"]);
    assert_eq!(report["version"], 2);
    assert_eq!(report["repair"], Value::Null);
    for (field, shape) in [
        ("runs", "total distinct_schedules events seconds"),
        ("sites", "total reached unreached"),
    ] {
        for name in shape.split(' ') {
            assert!(!report[field][name].is_null(), "{field}.{name}");
        }
    }
    let violation = &report["violations"][0];
    assert_eq!(violation["id"], "V1");
    let names =
        "kind threads location read_value stale_values same_value runs seed witness_checked";
    for name in names.split(' ') {
        assert!(!violation[name].is_null(), "{name}: {violation}");
    }
    for place in [&violation["access"], &violation["write"]] {
        assert_eq!(place["file"], "src/predictive.c");
        for name in ["line", "column"] {
            assert!(
                place[name].as_u64().is_some_and(|number| number > 0),
                "{place}"
            );
        }
        assert!(
            place["function"]
                .as_str()
                .is_some_and(|name| name.starts_with("thread")),
            "{place}"
        );
        assert!(
            place["operation"]
                .as_str()
                .is_some_and(|name| name.starts_with("atomic_")),
            "{place}"
        );
        assert!(
            ["release", "acquire"].contains(&place["order"].as_str().unwrap()),
            "{place}"
        );
    }
}

#[test]
fn cxx_places_are_the_users_own_at_every_level() {
    let needs = ["g++", "clang++"].map(Need::Program);
    need(&needs);
    let source = "#include <atomic>\n#include <thread>\n\
        struct Flags { std::atomic<int> mine{0}, other{0}; };\n\
        static Flags flags;\n\
        template <class T> static void put(std::atomic<T> &to, T value) {\n\
        \x20   to.store(value, std::memory_order_relaxed);\n}\n\
        static int a, b;\n\
        int main() {\n\
        \x20   std::thread one([] { put(flags.mine, 1); a = flags.other; });\n\
        \x20   std::thread two([] { put(flags.other, 1); b = flags.mine; });\n\
        \x20   one.join(); two.join();\n}\n";
    let world = World::new();
    world.write("flags.cc", source);
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O2"] {
            let mut build = world.wmfix(compiler);
            CommandResult::well(build.args([
                "c++",
                level,
                "-std=c++17",
                "flags.cc",
                "-o",
                "flags",
                "-pthread",
            ]));
            let mut run = world.wmfix(compiler);
            let report =
                CommandResult::of(run.args(["run", "--format", "json", "--", "./flags"])).json();
            let lines: Vec<(u64, u64)> = report["violations"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|v| {
                    (
                        v["access"]["line"].as_u64().unwrap(),
                        v["write"]["line"].as_u64().unwrap(),
                    )
                })
                .collect();
            // Not line 6: `put` only hands the store on.
            assert_eq!(lines, [(10, 11), (11, 10)], "{compiler} {level}: {report}");
            let location = report["violations"][0]["location"].as_str().unwrap();
            assert!(location.starts_with("flags"), "{location}");
        }
    }
}

#[test]
fn races_on_plain_data_are_found_and_can_be_left_out() {
    need_gcc();
    let threads = [
        "write data 1; x=1.rlx",
        "a=x.rlx; skipunless a 1 1; read data",
    ];
    let world = World::new();
    world.write(
        "racy.c",
        &emit(
            &program("racy", &threads).expect("a program"),
            Spelling::C11,
        ),
    );
    let report = check(&world, &["racy.c"]);
    let race = &report["races"][0];
    assert_eq!(race["id"], "R1");
    assert!(
        race["location"].as_str().unwrap().contains("data"),
        "{race}"
    );
    let without = check(&world, &["racy.c", "--races", "off"]);
    assert_eq!(without["races"], serde_json::json!([]));
}

/// Store buffering, with a sleep in the middle of both threads.
const SLEEPS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int x, y;

static void *left(void *result) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  usleep(100);
  *(int *)result = atomic_load_explicit(&y, memory_order_relaxed);
  return 0;
}

static void *right(void *result) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  usleep(100);
  *(int *)result = atomic_load_explicit(&x, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t threads[2];
  int results[2];
  pthread_create(&threads[0], 0, left, &results[0]);
  pthread_create(&threads[1], 0, right, &results[1]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
"#;

#[test]
fn a_sleep_orders_nothing() {
    need_gcc();
    let world = World::new();
    world.write("sleeps.c", SLEEPS);
    let found = |report: &Value| report["violations"].as_array().map_or(0, Vec::len);
    assert_eq!(found(&check(&world, &["sleeps.c"])), 2);
    let in_order = check(&world, &["sleeps.c", "--sleeps", "clock"]);
    assert_eq!(found(&in_order), 0, "{in_order}");
    world.write("wmfix.toml", "[run]\nsleeps = \"clock\"\n");
    assert_eq!(found(&check(&world, &["sleeps.c"])), 0);
}

/// A reference count whose last owner deletes; the decrements have the order DECREMENT.
const COUNTED: &str = r#"
#include <atomic>
#include <thread>

struct object {
  std::atomic<int> owners{2};
  int value = 1;
};

static int sum[2];

static void use(object *shared, int me) {
  sum[me] = shared->value;
  if (shared->owners.fetch_sub(1, std::memory_order_DECREMENT) == 1)
    delete shared;
}

int main() {
  object *shared = new object;
  std::thread other(use, shared, 1);
  use(shared, 0);
  other.join();
  return 0;
}
"#;

#[test]
fn giving_memory_back_is_a_write_to_all_of_it() {
    need(&[Need::Program("g++")]);
    let world = World::new();
    world.write("relaxed.cpp", &COUNTED.replace("DECREMENT", "relaxed"));
    world.write("ordered.cpp", &COUNTED.replace("DECREMENT", "acq_rel"));
    let report = check(&world, &["relaxed.cpp", "--runs", "20"]);
    let races = report["races"].as_array().expect("a list");
    let freed: Vec<&Value> = races
        .iter()
        .filter(|race| race["frees"] == "second")
        .collect();
    assert!(!freed.is_empty(), "{report}");
    let line = |place: &Value| place["line"].as_u64().expect("a line");
    for race in freed {
        assert_eq!(line(&race["second"]), 15, "{race}");
        assert_eq!(race["second"]["operation"], "free");
    }
    let text = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["check", "relaxed.cpp", "--runs", "20"]),
    );
    assert!(
        text.stdout.contains("use of freed memory"),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("frees the memory here"),
        "{}",
        text.stdout
    );
    let report = check(&world, &["ordered.cpp", "--runs", "20"]);
    assert_eq!(
        report["races"].as_array().map(Vec::len),
        Some(0),
        "{report}"
    );
}

/// A flag that is too weak for what it guards, and annotations that say otherwise.
const ANNOTATED: &str = r#"
#include <pthread.h>
#include <stdatomic.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *object);
void AnnotateHappensAfter(const char *file, int line, const volatile void *object);

static int data;
static atomic_int ready;

static void *writer(void *unused) {
  data = 1;
  AnnotateHappensBefore(__FILE__, __LINE__, &ready);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, writer, 0);
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) {
  }
  AnnotateHappensAfter(__FILE__, __LINE__, &ready);
  int result = data;
  pthread_join(other, 0);
  return result - 1;
}
"#;

#[test]
fn what_a_program_announces_is_not_believed() {
    need_gcc();
    let world = World::new();
    world.write("annotated.c", ANNOTATED);
    let races = |report: &Value| report["races"].as_array().map_or(0, Vec::len);
    let report = check(&world, &["annotated.c", "--runs", "10"]);
    assert_eq!(races(&report), 1, "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("ignored 2 or more annotations"), "{notes}");
    let trusting = ["annotated.c", "--runs", "10", "--annotations", "trust"];
    let report = check(&world, &trusting);
    assert_eq!(races(&report), 0, "{report}");
    assert!(!report["notes"].to_string().contains("annotations"));
}
