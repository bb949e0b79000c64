//! Programs that are started once and forked for every run: the results are those
//! of a start for every run, whatever the program does, and what a fork cannot give
//! to every run is noticed.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering that notes when it starts and when `main` does, and then does
/// what its argument says.
const NOTED: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int x, y;
static int a, b;
static char *shared;

static void note(const char *text) {
  int file = open(NOTES, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (write(file, text, 1) != 1) _exit(9);
  close(file);
}
static void *idle(void *unused) { return unused; }
static void on_child(int signal) { (void)signal; }

__attribute__((constructor)) static void before(void) {
  const char *what = getenv("BEFORE");
  note("c");
  if (!what) return;
  if (!strcmp(what, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
    pthread_join(thread, NULL);
  } else if (!strcmp(what, "process")) {
    if (fork() == 0) _exit(0);
  } else if (!strcmp(what, "file")) {
    if (open("/dev/null", O_RDONLY) < 0) _exit(9);
  } else if (!strcmp(what, "memory")) {
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  } else if (!strcmp(what, "output")) {
    if (write(1, "hello\n", 6) != 6) _exit(9);
  } else if (!strcmp(what, "timer")) {
    struct itimerval far = {{0, 0}, {100000, 0}};
    setitimer(ITIMER_REAL, &far, NULL);
  } else if (!strcmp(what, "clock")) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } else if (!strcmp(what, "handler")) {
    signal(SIGCHLD, on_child);
  } else if (!strcmp(what, "atomic")) {
    atomic_store_explicit(&x, 0, memory_order_release);
  }
}

static void *left(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_seq_cst);
  a = atomic_load_explicit(&y, memory_order_seq_cst);
  return unused;
}
static void *right(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_seq_cst);
  b = atomic_load_explicit(&x, memory_order_seq_cst);
  return unused;
}

static int is_server(pid_t parent) {
  char link[64], ours[4096], theirs[4096];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)parent);
  ssize_t one = readlink("/proc/self/exe", ours, sizeof ours);
  ssize_t other = readlink(link, theirs, sizeof theirs);
  return one == other && one > 0 && !memcmp(ours, theirs, one);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  pthread_t one, two;
  note("m");
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  printf("%d, seed %s, input %d\n", a + b > 0, getenv("WMFIX_SEED") ? "set" : "not set", getchar());
  fflush(stdout);
  if (!strcmp(what, "crash")) abort();
  if (!strcmp(what, "exit")) exit(7);
  if (!strcmp(what, "hang")) for (;;) pause();
  if (!strcmp(what, "killed")) kill(getpid(), SIGKILL);
  if (!strcmp(what, "forks") && fork() == 0) for (;;) pause();
  if (!strcmp(what, "closes")) for (int file = 0; file < 2000; file++) close(file);
  if (!strcmp(what, "limits")) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGCHLD, SIG_IGN);
  }
  if (!strcmp(what, "folder") && chdir("/")) exit(9);
  if (!strcmp(what, "server") && is_server(getppid())) kill(getppid(), SIGKILL);
  return 0;
}
"#;

/// The program, built.
fn built() -> World {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let notes = world.path().join("notes");
    let notes = format!("\"{}\"", notes.display());
    world.write("noted.c", &NOTED.replace("NOTES", &notes));
    let mut build = world.wmfix("gcc");
    build.args(["cc", "-O1", "noted.c", "-o", "noted", "-pthread"]);
    CommandResult::well(&mut build);
    world
}

/// What `wmfix run` says about the program.
fn report(world: &World, options: &[&str], before: Option<&str>, what: &str) -> Value {
    let mut command = world.wmfix("gcc");
    command
        .args(["run", "--format", "json", "--jobs", "1"])
        .args(options)
        .args(["--", "./noted", what]);
    if let Some(before) = before {
        command.env("BEFORE", before);
    }
    let mut report = CommandResult::of(&mut command).json();
    report["runs"]["seconds"].take();
    if what == "forks" {
        // Whether the child, which outlives its run, has begun when it is killed.
        report["runs"]["distinct_schedules"].take();
    }
    report
}

/// How often the program was started, and how often `main` was.
fn starts(world: &World) -> (usize, usize) {
    let notes = world.path().join("notes");
    let text = std::fs::read_to_string(&notes).expect("the program's notes");
    std::fs::remove_file(&notes).expect("a file of the test");
    let count = |letter| text.chars().filter(|&c| c == letter).count();
    (count('c'), count('m'))
}

#[test]
fn a_program_is_started_once_for_all_its_runs() {
    let world = built();
    let forked = report(&world, &["--runs", "20"], None, "");
    // A run that nobody needs any more may have begun.
    let (started, ran) = starts(&world);
    assert!(started == 1 && ran >= 20, "{started} {ran} {forked}");
    let fresh = report(&world, &["--runs", "20", "--fork-server", "off"], None, "");
    let (started, ran) = starts(&world);
    assert!(started >= ran && ran >= 20, "{started} {ran} {fresh}");
    assert_eq!(forked, fresh);
    assert_eq!(forked["runs"]["total"], 20);
}

#[test]
fn whatever_a_run_does_the_next_one_is_as_ever() {
    let world = built();
    for what in [
        "crash", "exit", "hang", "killed", "forks", "closes", "limits", "folder",
    ] {
        let options = ["--runs", "5", "--timeout", "2"];
        let forked = report(&world, &options, None, what);
        let (started, ran) = starts(&world);
        assert!(started < ran, "{what}: {started} starts, {forked}");
        let options = ["--runs", "5", "--timeout", "2", "--fork-server", "off"];
        let fresh = report(&world, &options, None, what);
        starts(&world);
        assert_eq!(forked, fresh, "{what}");
    }
}

#[test]
fn a_server_that_dies_is_started_again_once() {
    let world = built();
    let report = report(&world, &["--runs", "5"], None, "server");
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("the process that was to be forked ended twice"),
        "{notes}"
    );
    assert_eq!(report["runs"]["total"], 5);
    assert_eq!(report["verdict"], "clean");
    let (started, _) = starts(&world);
    assert!(started >= 7, "two servers and a start for every run");
}

#[test]
fn what_a_fork_cannot_give_to_every_run_is_noticed() {
    let world = built();
    for (before, said) in [
        ("thread", "starts a thread"),
        ("process", "starts a process"),
        ("file", "opens a file"),
        ("memory", "shares memory"),
        ("output", "prints something"),
        ("timer", "sets a timer"),
        ("clock", "looks at a clock"),
        ("handler", "handles the end of child processes"),
        ("atomic", "makes atomic accesses or takes locks"),
    ] {
        let report = report(&world, &["--runs", "3"], Some(before), "");
        let notes = report["notes"].to_string();
        assert!(notes.contains(said), "{before}: {notes}");
        assert_eq!(report["runs"]["total"], 3, "{before}");
        let (started, ran) = starts(&world);
        assert!(started > ran && ran >= 3, "{before}: {started} {ran}");
    }
}

#[test]
fn a_script_is_started_as_ever() {
    let world = built();
    world.write("script", "#!/bin/sh\n./noted\n");
    let mut command = world.wmfix("gcc");
    command.args(["run", "--runs", "4", "--jobs", "1", "--format", "json"]);
    command.args(["--", "sh", "./script"]);
    let report = CommandResult::of(&mut command).json();
    assert_eq!(report["runs"]["total"], 4);
    assert_eq!(report["notes"], serde_json::json!([]));
    let (started, ran) = starts(&world);
    assert!(started >= ran && ran >= 4, "{started} {ran}");
}

/// With findings, predictions and directed runs: all of it is the same.
#[test]
fn reports_are_equal_with_and_without() {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let world = World::new();
    for example in [
        "store_buffering",
        "dekker",
        "hidden_race",
        "peterson",
        "seqlock",
    ] {
        let report = |switch: &str| {
            let mut command = world.wmfix("gcc");
            command
                .args(["check", "--runs", "25", "--format", "json"])
                .args(["--fork-server", switch])
                .arg(format!("{examples}/{example}"));
            let mut report = CommandResult::of(&mut command).json();
            report["runs"]["seconds"].take();
            report
        };
        assert_eq!(report("on"), report("off"), "{example}");
    }
}
