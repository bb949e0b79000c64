//! Tests that go on for long: their runs are ended after some steps, what these showed is
//! told, and so is that there is more.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Message passing without release, for as many rounds as is asked for.
const MESSAGES: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int data;
static void *sender(void *unused) {
  for (int i = 1; i <= ROUNDS; i++) {
    while (atomic_load_explicit(&flag, memory_order_acquire) != 0) {}
    data = i;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  int sum = 0;
  pthread_create(&thread, NULL, sender, NULL);
  for (int i = 1; i <= ROUNDS; i++) {
    while (atomic_load_explicit(&flag, memory_order_acquire) != 1) {}
    sum += data == i;
    atomic_store_explicit(&flag, 0, memory_order_release);
  }
  pthread_join(thread, NULL);
  return sum != ROUNDS;
}
"#;

const NOTE: &str = "went on for long";

fn check(rounds: &str, arguments: &[&str]) -> CommandResult {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("messages.c", &MESSAGES.replace("ROUNDS", rounds));
    let command = ["check", "messages.c", "--runs", "5", "--format", "json"];
    CommandResult::of(world.wmfix("gcc").args(command).args(arguments))
}

fn notes(ran: &CommandResult) -> String {
    ran.json()["notes"].to_string()
}

#[test]
fn a_test_that_goes_on_for_ever_shows_what_its_beginning_shows() {
    let ran = check("2000000000", &[]);
    assert_eq!(ran.code, Some(1), "{} {}", ran.stdout, ran.stderr);
    let report = ran.json();
    assert_eq!(report["races"].as_array().map(Vec::len), Some(1));
    assert!(report["runs"]["total"].as_u64() >= Some(5), "{report}");
    assert!(report["failures"].as_array().is_some_and(Vec::is_empty));
    assert!(notes(&ran).contains(NOTE), "{report}");
}

#[test]
fn short_tests_come_to_their_end() {
    let ran = check("20", &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(!notes(&ran).contains(NOTE), "{}", ran.stdout);
    let ended = check("20", &["--steps", "30"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(notes(&ended).contains(NOTE), "{}", ended.stdout);
}

#[test]
fn a_run_that_is_ended_is_the_beginning_of_the_whole_run() {
    let [whole, ended] = ["0", "200"].map(|steps| check("200", &["--steps", steps]).json());
    let events = |report: &serde_json::Value| report["runs"]["events"].as_u64().unwrap();
    assert!(events(&ended) < events(&whole), "{ended} {whole}");
    for field in ["first", "second", "location"] {
        assert_eq!(ended["races"][0][field], whole["races"][0][field]);
    }
    let again = check("200", &["--steps", "200"]).json();
    assert_eq!(ended["runs"]["events"], again["runs"]["events"]);
}

#[test]
fn a_run_hangs_when_the_time_says_so() {
    let ran = check("2000000000", &["--timeout", "2", "--time", "20"]);
    assert!(!notes(&ran).contains(NOTE), "{}", ran.stdout);
}
