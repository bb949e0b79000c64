//! Ends that come from outside, while runs are under way: wmfix is killed, or
//! interrupted. Nothing of the program stays behind, and nothing that was known
//! is lost.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::Trace;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::Ending;

/// What has not come about by then never will.
const HANG: Duration = Duration::from_secs(120);

/// Two threads that never end, and a child process that does not either.
const ENDLESS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int x, y;
static void *work(void *unused) {
  for (;;) {
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    if (atomic_load_explicit(&y, memory_order_relaxed) == -1) return unused;
  }
}
int main(void) {
  pthread_t threads[2];
  fork();
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
"#;

/// Store buffering, which notes each of its runs in a file.
const NOTED: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int x, y;
static int a, b;
static void *left(void *unused) {
  atomic_store_explicit(&x, 1, ORDER);
  a = atomic_load_explicit(&y, ORDER);
  return unused;
}
static void *right(void *unused) {
  atomic_store_explicit(&y, 1, ORDER);
  b = atomic_load_explicit(&x, ORDER);
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  FILE *notes = fopen(NOTES, "a");
  if (!notes) return 2;
  fputc('r', notes);
  fclose(notes);
  return 0;
}
"#;

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

/// Looks until it sees.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(started.elapsed() < HANG, "{what}: not in {HANG:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(signal: &str, process: u32) {
    CommandResult::well(Command::new("kill").args([signal, &process.to_string()]));
}

/// Starts wmfix with a folder of its own for what it puts aside.
fn start(world: &World, compiler: &str, arguments: &[&str]) -> Child {
    let aside = world.path().join("aside");
    std::fs::create_dir_all(&aside).expect("a folder in the test's folder");
    let mut command = world.wmfix(compiler);
    command
        .args(arguments)
        .env("TMPDIR", &aside)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("wmfix starts")
}

/// The traces that lie in a folder.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "wmtrace")
            {
                found.push(path);
            }
        }
    }
    found
}

/// The processes that were told to write their traces below a folder.
fn processes(folder: &Path) -> Vec<String> {
    let mark = format!("WMFIX_OUT={}/", folder.display());
    let entries = std::fs::read_dir("/proc").expect("a /proc");
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let environment = std::fs::read(path.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable.starts_with(mark.as_bytes()))
        })
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn whoever_kills_wmfix_kills_what_it_runs() {
    need_gcc();
    let world = World::new();
    world.write("endless.c", ENDLESS);
    let aside = world.path().join("aside");
    let arguments = [
        "check",
        "endless.c",
        "--record",
        "--timeout",
        "100000",
        "--jobs",
        "2",
    ];
    let mut child = start(&world, "gcc", &arguments);
    // Two runs of two processes each, all of them well under way.
    until("the runs", || {
        let large = |path: &&PathBuf| path.metadata().is_ok_and(|meta| meta.len() > 1 << 20);
        (traces(&aside).iter().filter(large).count() >= 4).then_some(())
    });
    assert!(processes(&aside).len() >= 4);
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    until("the end of the runs", || {
        processes(&aside).is_empty().then_some(())
    });
    for path in traces(&aside) {
        let trace = Trace::read(&path);
        assert_eq!(trace.ending, Ending::Open, "{}", path.display());
        assert!(trace.events().count() > 10_000);
    }
    // What was left behind does not disturb the next one in the same folder.
    write_noted(&world, "memory_order_relaxed");
    let arguments = ["check", "noted.c", "--runs", "20"];
    let next = start(&world, "gcc", &arguments).wait_with_output();
    let next = CommandResult::from(next.expect("a child of ours"));
    assert_eq!(next.code, Some(1), "{}", next.stderr);
}

/// Writes the program whose stores and loads have this order.
fn write_noted(world: &World, order: &str) {
    let notes = world.path().join("notes");
    let definitions = format!("#define ORDER {order}\n#define NOTES {notes:?}\n");
    world.write("noted.c", &format!("{definitions}{NOTED}"));
}

#[test]
fn an_interrupt_ends_the_runs_and_what_is_known_is_said() {
    need_gcc();
    for (order, code) in [("memory_order_relaxed", 1), ("memory_order_seq_cst", 0)] {
        let world = World::new();
        write_noted(&world, order);
        let arguments = ["check", "noted.c", "--runs", "100000000"];
        let child = start(&world, "gcc", &arguments);
        let notes = world.path().join("notes");
        until("a hundred runs", || {
            (notes.metadata().ok()?.len() >= 100).then_some(())
        });
        send("-INT", child.id());
        let ran = CommandResult::from(child.wait_with_output().expect("a child of ours"));
        assert_eq!(
            ran.code,
            Some(code),
            "{order}: {}\n{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            ran.stdout
                .contains("interrupted: these results are incomplete"),
            "{order}: {}\n{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(ran.stdout.contains("[V1]"), code == 1, "{}", ran.stdout);
        let aside = world.path().join("aside");
        assert_eq!(processes(&aside), Vec::<String>::new());
        assert_eq!(traces(&aside), Vec::<PathBuf>::new());
    }
}

#[test]
fn an_interrupt_ends_a_program_that_would_never_end() {
    need_gcc();
    let world = World::new();
    world.write("endless.c", ENDLESS);
    let aside = world.path().join("aside");
    let child = start(
        &world,
        "gcc",
        &["check", "endless.c", "--timeout", "100000"],
    );
    until("a run", || (!traces(&aside).is_empty()).then_some(()));
    send("-TERM", child.id());
    let ran = CommandResult::from(child.wait_with_output().expect("a child of ours"));
    assert!(ran.code.is_some(), "{}", ran.stderr);
    until("the end of the runs", || {
        processes(&aside).is_empty().then_some(())
    });
}

#[test]
fn a_kept_trace_shows_the_finding_again() {
    need_gcc();
    let world = World::new();
    write_noted(&world, "memory_order_relaxed");
    let check = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.args(["check", "noted.c", "--format", "json"]);
        CommandResult::of(command.args(more)).json()
    };
    let first = check(&["--runs", "50"]);
    let story = CommandResult::well(world.wmfix("gcc").args(["explain", "V1"])).stdout;
    let (_, rest) = story.split_once("--replay ").expect("how to reproduce it");
    let trace = rest.lines().next().expect("a path that needs no quotes");
    let again = check(&["--replay", trace]);
    assert_eq!(again["runs"]["distinct_schedules"], 1, "{again}");
    let told = |report: &serde_json::Value| {
        let violation = &report["violations"][0];
        ["kind", "location", "access", "write"].map(|field| violation[field].clone())
    };
    assert_eq!(told(&again), told(&first));
    assert!(told(&again)[0].is_string());
}
