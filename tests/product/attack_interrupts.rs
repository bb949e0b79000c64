//! Ctrl-C and TERM at any moment, whatever wmfix is doing then: it ends with what is
//! known, and says that this is not all. What comes after them is the test's own limit
//! for a hang; how soon wmfix ends is not measured on a machine that does other things.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering, which notes each of its runs in a file, and stays in the one whose
/// number HOLD has.
const NOTED: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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
  FILE *notes = fopen(NOTES, "a");
  if (!notes) return 2;
  fputc('r', notes);
  fflush(notes);
  long run = ftell(notes);
  fclose(notes);
  const char *hold = getenv("HOLD");
  while (hold && run == atol(hold)) pause();
  pthread_t one, two;
  pthread_create(&one, 0, left, 0);
  pthread_create(&two, 0, right, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(a + b > 0);
  return 0;
}
"#;

/// A folder with the program, which has findings if it is `relaxed`.
fn noted(relaxed: bool) -> World {
    let world = World::new();
    let order = match relaxed {
        true => "memory_order_relaxed",
        false => "memory_order_seq_cst",
    };
    let notes = world.path().join("notes");
    let text = NOTED.replace("ORDER", order);
    let text = text.replace("NOTES", &format!("\"{}\"", notes.display()));
    world.write("noted.c", &text);
    world
}

fn runs(notes: &Path) -> u64 {
    notes.metadata().map_or(0, |meta| meta.len())
}

/// Sends the signal in the run of this number, and says what came of it; `None` if there
/// was none.
fn stopped_after(world: &World, line: &str, signal: &str, count: u64) -> Option<CommandResult> {
    let notes = world.path().join("notes");
    let _none_yet = fs::remove_file(&notes);
    let mut command = world.wmfix("gcc");
    let mut child: Child = command
        .args(line.split_whitespace())
        .env("HOLD", count.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while runs(&notes) < count {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let number = child.id().to_string();
    let killed = Command::new("kill").args([signal, &number]).status();
    assert!(killed.unwrap().success());
    Some(CommandResult::from(child.wait_with_output().unwrap()))
}

/// Stops a command at several moments: in every stage there is one.
fn stop_at(world: &World, line: &str, counts: &[u64]) -> usize {
    let mut stopped = 0;
    for (number, &count) in counts.iter().enumerate() {
        let signal = ["-INT", "-TERM"][number % 2];
        let Some(result) = stopped_after(world, line, signal, count) else {
            continue;
        };
        let all = format!("{line}, {signal} after {count}: {result:?}");
        assert!(matches!(result.code, Some(0 | 1 | 3)), "{all}");
        assert!(!all.contains("panicked"), "{all}");
        assert!(all.contains("interrupted"), "{all}");
        stopped += 1;
    }
    stopped
}

#[test]
fn an_interrupt_ends_the_repair_in_every_stage() {
    need(&[Need::Program("gcc")]);
    let world = noted(true);
    // Runs, replays, stale runs and the runs of the patched program come one after the
    // other: some of these numbers are in each.
    let counts = [1, 8, 20, 30, 45, 60, 80, 100, 130];
    let stopped = stop_at(
        &world,
        "suggest noted.c --runs 25 --jobs 1 --timeout 1000",
        &counts,
    );
    assert!(stopped >= 3, "{stopped}");
}

#[test]
fn an_interrupt_ends_an_exploration() {
    need(&[Need::Program("gcc")]);
    let world = noted(false);
    let line = "check noted.c --exhaustive --jobs 1 --timeout 1000";
    assert!(stop_at(&world, line, &[1, 3]) >= 1);
}

#[test]
fn an_interrupt_ends_relax() {
    need(&[Need::Program("gcc")]);
    let world = noted(false);
    let line = "relax noted.c --runs 25 --jobs 1 --timeout 1000";
    assert!(stop_at(&world, line, &[1, 10, 40, 80]) >= 1);
}

#[test]
fn an_interrupt_ends_a_merge() {
    need(&[Need::Program("gcc")]);
    let world = noted(true);
    let shard = "suggest noted.c --runs 40 --jobs 1 --shard 1/1";
    let shard: Vec<&str> = shard.split_whitespace().collect();
    let made = CommandResult::of(world.wmfix("gcc").args(shard));
    assert_eq!(made.code, Some(1), "{}", made.stderr);
    let line = "merge wmfix-shards --jobs 1";
    assert!(stop_at(&world, line, &[1, 10, 40]) >= 1);
}
