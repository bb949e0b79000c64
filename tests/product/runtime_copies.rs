//! What the C library reads and writes for a program and its libraries is seen as
//! their own, and nothing else that the C library does.

use std::path::Path;
use std::process::Command;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::{Program, Trace};
use wmfix_tests::tools::{Need, need};
use wmfix_trace::RecordedOperation as Operation;

const SOURCE: &str = include_str!("../corpus/runtime/copies.c");

fn need_compilers() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
}

/// What the comments say, by line.
fn expected(line: u64) -> Vec<String> {
    let text = SOURCE.lines().nth(line as usize - 1).expect("a line");
    let (_, comment) = text.rsplit_once("//").expect("a line with a comment");
    let parts = comment.split(',').map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// What was seen of each call: the line and the accesses, in the comments' words.
fn calls(trace: &Trace) -> Vec<(u64, Vec<String>)> {
    let mut calls = Vec::new();
    let mut regions: Vec<(u64, &str)> = Vec::new();
    let mut current: Option<(u64, Vec<String>)> = None;
    for event in trace.events() {
        let (kind, address, size) = match event.operation {
            Operation::Store { value, .. } if regions.len() < 2 => {
                regions.push((value as u64, ["from", "to"][regions.len()]));
                continue;
            }
            Operation::Store { value, .. } => {
                calls.extend(current.take());
                current = (value != 0).then_some((value as u64, Vec::new()));
                continue;
            }
            Operation::Read { address, size } => ("r", address, size),
            Operation::Write { address, size } => ("w", address, size),
            _ => continue,
        };
        let Some((_, accesses)) = &mut current else {
            continue;
        };
        let region = regions
            .iter()
            .find(|(first, _)| (*first..first + 64).contains(&address));
        accesses.push(match region {
            Some((first, name)) => format!("{kind} {name} {} {size}", address - first),
            None => format!("{kind} new 0 {size}"),
        });
    }
    calls
}

#[test]
fn every_function_is_seen_to_do_what_it_does() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O2"] {
            // What is to be called is called.
            let program = Program::build("copies.c", compiler, &["-fno-builtin", "-w", level]);
            for strategy in ["pct", "os"] {
                let settings = [
                    ("WMFIX_RACES", "on"),
                    ("WMFIX_FILTER", "off"),
                    ("WMFIX_STRATEGY", strategy),
                ];
                let run = program.run_with(&settings, 1, &[]);
                assert_eq!(run.stdout, "ok\n", "{compiler} {level}: {}", run.stderr);
                let calls = calls(&run.well(compiler));
                let made = 2 * SOURCE.matches("  CALL(").count();
                assert_eq!(calls.len(), made, "{compiler} {level} {strategy}");
                for (line, seen) in calls {
                    assert_eq!(seen, expected(line), "{compiler} {level}: line {line}");
                }
            }
        }
    }
}

#[test]
fn memory_that_is_copied_over_an_atomic_makes_a_new_one() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("copies.c", compiler, &["-w"]);
        for races in ["on", "off"] {
            let run = program.run_with(&[("WMFIX_RACES", races), ("WMFIX_FILTER", "off")], 1, &[]);
            let trace = run.well(compiler);
            let births: Vec<(u64, u128)> = trace
                .events()
                .filter_map(|event| match event.operation {
                    Operation::Birth {
                        address,
                        size: 4,
                        value,
                        ..
                    } => Some((address, value)),
                    _ => None,
                })
                .collect();
            let [(first, 7), (second, 0)] = births[..] else {
                panic!("{compiler} {races}: {births:?}");
            };
            assert_eq!(first, second);
            let ends = trace.count(|operation| match *operation {
                Operation::Write { address, size: 4 } => races == "on" && address == first,
                Operation::Reclaim { address, size: 4 } => races == "off" && address == first,
                _ => false,
            });
            assert_eq!(ends, 1, "{compiler} {races}");
        }
    }
}

#[test]
fn copies_are_seen_in_every_library() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let host = Program::build("copies_host.c", compiler, &["-ldl"]);
        let library = Program::build("copies_library.c", compiler, &["-shared", "-fPIC"]);
        let instrumented = library.folder().join("program");
        let plain = library.folder().join("plain.so");
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/corpus/runtime/copies_library.c"
        );
        let mut command = Command::new(compiler);
        command.args(["-shared", "-fPIC", "-O1", source, "-o"]);
        CommandResult::well(command.arg(&plain));
        for path in [&instrumented, &plain] {
            let settings = [("WMFIX_RACES", "on"), ("WMFIX_FILTER", "off")];
            let run = host.run_with(&settings, 1, &[path.to_str().expect("a path")]);
            assert_eq!(run.stdout, "the eagle\n", "{compiler}: {}", run.stderr);
            let trace = run.well(compiler);
            for wanted in [61, 10] {
                let writes = trace.count(
                    |operation| matches!(operation, Operation::Write { size, .. } if *size == wanted),
                );
                assert_eq!(writes, 1, "{compiler}: {wanted} bytes by {path:?}");
            }
        }
    }
}

#[test]
fn a_race_on_the_bytes_of_a_string_is_found_at_every_level() {
    need_compilers();
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/runtime/string_race.cpp");
    let line = |text: &str| {
        let source = include_str!("../corpus/runtime/string_race.cpp");
        1 + source
            .lines()
            .position(|line| line.contains(text))
            .expect("a line")
    };
    let expected = [line("message = "), line("copy = message")];
    for (compiler, cxx) in [("gcc", "g++"), ("clang", "clang++")] {
        for level in ["-O0", "-O1", "-O2"] {
            let world = World::new();
            let mut build = world.wmfix(compiler);
            build
                .env("WMFIX_REAL_CXX", cxx)
                .args(["c++", level, "-o", "race"]);
            CommandResult::well(build.arg(&source));
            let mut run = world.wmfix(compiler);
            run.args(["run", "--seed", "1", "--runs", "30", "--format", "json"]);
            let report = CommandResult::of(run.args(["--", "./race"])).json();
            let races = report["races"].as_array().expect("a list of races");
            let lines = races.iter().map(|race| {
                [&race["first"], &race["second"]].map(|side| side["line"].as_u64().unwrap_or(0))
            });
            assert!(
                lines.into_iter().any(|[first, second]| {
                    [first.min(second), first.max(second)] == expected.map(|line| line as u64)
                }),
                "{compiler} {level}: {races:#?}"
            );
        }
    }
}

/// A thread that hands something over in one of several ways and another that
/// takes it; `ORDER` is the order of the store and `WAIT` that of the load.
const HAND_OVER: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
struct parcel { int part[20]; } sent, kept;
static char text[32], copy[32];
static atomic_int ready;
static void *send(void *unused) {
  SEND;
  atomic_store_explicit(&ready, 1, ORDER);
  return unused;
}
static void *take(void *unused) {
  while (!atomic_load_explicit(&ready, WAIT)) {}
  TAKE;
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, send, NULL);
  pthread_create(&two, NULL, take, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  printf("%d\n", text[0] + copy[0] + kept.part[3]);
  return 0;
}
"#;

#[test]
fn what_is_handed_over_by_copying_is_handed_over_in_order() {
    need_compilers();
    let by_hand = "for (int i = 0; i < 31; i++) copy[i] = text[i]";
    let loop_copy = r#"const char *m = "the eagle has landed"; int n = 0; while (m[n]) { text[n] = m[n]; n++; }"#;
    let cases = [
        (r#"strcpy(text, "hello")"#, by_hand, "text"),
        (loop_copy, by_hand, "text"),
        ("memset(text, 'a', 31)", "memcpy(copy, text, 31)", "text"),
        ("sent.part[3] = 4", "kept = sent", "sent"),
        (
            "struct parcel p = {{1, 2, 3, 4}}; sent = p",
            "kept.part[3] = sent.part[3]",
            "sent",
        ),
        ("text[0] = 'a'", "memmove(copy, text, 20)", "text"),
        (
            "strncpy(text, \"hello\", 31)",
            "copy[0] = strlen(text)",
            "text",
        ),
    ];
    for compiler in ["gcc", "clang"] {
        for (send, take, object) in cases {
            let world = World::new();
            for (name, order, wait) in [
                ("loose.c", "memory_order_relaxed", "memory_order_relaxed"),
                ("tight.c", "memory_order_release", "memory_order_acquire"),
            ] {
                let definitions = format!(
                    "#define SEND {send}\n#define TAKE {take}\n#define ORDER {order}\n#define WAIT {wait}\n"
                );
                world.write(name, &format!("{definitions}{HAND_OVER}"));
                let mut command = world.wmfix(compiler);
                let ran = CommandResult::of(
                    command
                        .args(["check", name, "--runs", "10"])
                        .args(["--format", "json"]),
                );
                let report = ran.json();
                let races: Vec<&str> = report["races"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .filter_map(|race| race["location"].as_str())
                    .collect();
                let raced = races.iter().any(|place| place.starts_with(object));
                assert_eq!(
                    raced,
                    name == "loose.c",
                    "{compiler} {send}; {take}: {name}: {report}"
                );
                if name == "tight.c" {
                    assert_eq!(report["verdict"], "clean", "{compiler} {send}: {report}");
                }
            }
        }
    }
}
