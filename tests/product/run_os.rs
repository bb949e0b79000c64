//! Runs that the system schedules and that are checked as they go on: what the check
//! of a run says is what the recording of the same run shows, and reports have what
//! was found with all that proves it.

use std::collections::HashMap;

use serde_json::Value;
use wmfix_analysis::AnalyzerConfig;
use wmfix_online::{CheckConfig, Checker, ContextKey, SiteTable};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::{Program, Run, Trace};
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{CheckRecord, Counts, GiveUp, Record, RecordedOperation as Operation};

use crate::report_support::{MESSAGE_PASSING, PETERSON, STORE_BUFFERING, TWO_CAUSES};

const SEQLOCK: &str = include_str!("../corpus/programs/seqlock.c");

/// Eight threads that write the same object before anything orders them.
const RACY: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static long data, guarded;\nstatic atomic_long count;\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *work(void *p) {\n    data++;\n\
    \x20   for (int i = 0; i < 2000; i++) {\n\
    \x20       atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);\n\
    \x20       pthread_mutex_lock(&lock);\n        guarded++;\n        pthread_mutex_unlock(&lock);\n    }\n\
    \x20   return p;\n}\n\
    int main(void) {\n    pthread_t t[8];\n\
    \x20   for (int i = 0; i < 8; i++)\n        pthread_create(&t[i], 0, work, 0);\n\
    \x20   for (int i = 0; i < 8; i++)\n        pthread_join(t[i], 0);\n\
    \x20   return guarded != 16000;\n}\n";

/// Sixteen threads that share plain memory in every right way: a mutex, a spin lock of
/// acquire and release, blocks that are handed on and freed, neighbours in one word,
/// memory of their own.
const CLEAN: &str = "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n\
    #include <stdlib.h>\n#include <string.h>\n\
    enum { THREADS = 16, ROUNDS = 300 };\n\
    static long guarded, spun;\nstatic unsigned char parts[THREADS];\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic atomic_flag spin;\n\
    static long *_Atomic box;\n\
    static void *work(void *p) {\n    long me = (long)p, mine[16] = {0};\n\
    \x20   for (int i = 0; i < ROUNDS; i++) {\n\
    \x20       pthread_mutex_lock(&lock);\n        guarded++;\n        pthread_mutex_unlock(&lock);\n\
    \x20       while (atomic_flag_test_and_set_explicit(&spin, memory_order_acquire))\n            sched_yield();\n\
    \x20       spun++;\n        atomic_flag_clear_explicit(&spin, memory_order_release);\n\
    \x20       long *block = malloc(4 * sizeof *block);\n        memset(block, i & 1, 4 * sizeof *block);\n\
    \x20       block[0] = me;\n        block = atomic_exchange_explicit(&box, block, memory_order_acq_rel);\n\
    \x20       if (block) {\n            mine[block[0]] += block[1];\n            block[3]++;\n            free(block);\n        }\n\
    \x20       parts[me] = (unsigned char)(parts[me] + mine[me & 15]);\n    }\n    return 0;\n}\n\
    int main(void) {\n    pthread_t t[THREADS];\n\
    \x20   for (long i = 0; i < THREADS; i++)\n        pthread_create(&t[i], 0, work, (void *)i);\n\
    \x20   for (int i = 0; i < THREADS; i++)\n        pthread_join(t[i], 0);\n\
    \x20   free(atomic_load_explicit(&box, memory_order_acquire));\n\
    \x20   return guarded != THREADS * ROUNDS || spun != THREADS * ROUNDS;\n}\n";

/// One thread waits for the other, with orders that are too weak: whatever the system
/// does, the read of `data` comes last, and races.
const WAITS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static int data;\nstatic atomic_int ready;\n\
    static void *produce(void *p) {\n    data = 42;\n\
    \x20   atomic_store_explicit(&ready, 1, memory_order_relaxed);\n    return p;\n}\n\
    static void *consume(void *p) {\n\
    \x20   while (!atomic_load_explicit(&ready, memory_order_relaxed))\n        ;\n\
    \x20   return data == 42 ? p : (void *)1;\n}\n\
    int main(void) {\n    pthread_t t[2];\n    void *wrong = 0;\n\
    \x20   pthread_create(&t[0], 0, consume, 0);\n    pthread_create(&t[1], 0, produce, 0);\n\
    \x20   pthread_join(t[0], &wrong);\n    pthread_join(t[1], 0);\n    return wrong != 0;\n}\n";

/// Two threads that do much in an order, and race at their end.
const LATE_RACE: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static long data;\nstatic atomic_long count;\n\
    static void *work(void *p) {\n\
    \x20   for (int i = 0; i < 60000; i++)\n        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);\n\
    \x20   data++;\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, work, 0);\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n    return 0;\n}\n";

/// A run that the system schedules, checked with a table that has nothing in it.
fn checked_run(world: &World, program: &Program) -> Run {
    let table = empty_table(world);
    let settings = [
        ("WMFIX_STRATEGY", "os"),
        ("WMFIX_CHECK", table.as_str()),
        ("WMFIX_RACES", "on"),
    ];
    program.run_with(&settings, 1, &[])
}

/// A file with a table of sites that has nothing in it.
fn empty_table(world: &World) -> String {
    let table = world.path().join("table");
    std::fs::write(&table, SiteTable::default().encode()).expect("a file");
    table.to_str().expect("a path in UTF-8").to_owned()
}

/// What the check of a run says, and what it did.
fn both_traces(run: &Run) -> (&Trace, &Trace) {
    let of = |checked: bool| {
        let mut traces = run.traces.iter();
        traces.find(|trace| trace.header.checked == checked)
    };
    assert_eq!(run.traces.len(), 2, "{}", run.stderr);
    (of(true).expect("a check"), of(false).expect("a recording"))
}

/// What a check says: findings, and how much there was to look at.
fn said(trace: &Trace) -> Vec<CheckRecord> {
    let records = trace.records.iter().filter_map(|record| match record {
        Record::Check(record) => Some(*record),
        _ => None,
    });
    last_counts(records.collect())
}

/// How far a run has come is said several times; the last counts. Plain accesses that
/// add nothing are looked at and not recorded.
fn last_counts(mut said: Vec<CheckRecord>) -> Vec<CheckRecord> {
    let mut last = None;
    said.retain(|record| match *record {
        CheckRecord::Counts(counts) => {
            last = Some(CheckRecord::Counts(Counts {
                plain_events: 0,
                ..counts
            }));
            false
        }
        _ => true,
    });
    said.extend(last);
    said
}

/// What a check of a recording says.
fn analysed(trace: &Trace) -> Vec<CheckRecord> {
    let config = CheckConfig {
        analyzer: AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        },
        predict: false,
    };
    let mut checker = Checker::new(config, SiteTable::default());
    let mut said = Vec::new();
    let mut sizes = HashMap::new();
    for record in &trace.records {
        match record {
            Record::Turn(turn) => checker.turn(turn.thread),
            Record::Event(event) => {
                if let Operation::Birth { location, size, .. } = event.operation {
                    sizes.insert(location, size);
                }
                let size = location_of(&event.operation).map_or(0, |location| sizes[&location]);
                let key = ContextKey::default;
                checker.event(
                    event.context.0,
                    key,
                    &event.operation,
                    size,
                    &mut |said_now| {
                        said.push(said_now);
                    },
                );
            }
            _ => {}
        }
    }
    checker.finish(&mut |said_now| said.push(said_now));
    said.push(CheckRecord::Counts(checker.counts()));
    last_counts(said)
}

fn location_of(operation: &Operation) -> Option<wmfix_trace::LocationId> {
    match operation {
        Operation::Birth { location, .. }
        | Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => Some(*location),
        _ => None,
    }
}

fn findings(said: &[CheckRecord]) -> usize {
    let is_finding = |record: &&CheckRecord| {
        matches!(
            record,
            CheckRecord::Violation { .. } | CheckRecord::Race { .. }
        )
    };
    said.iter().filter(is_finding).count()
}

#[test]
fn a_check_says_what_the_recording_of_the_same_run_shows() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
    let world = World::new();
    let programs = [
        ("sb.c", STORE_BUFFERING, true),
        ("mp.c", MESSAGE_PASSING, true),
        ("peterson.c", PETERSON, true),
        ("two_causes.c", TWO_CAUSES, true),
        ("seqlock.c", SEQLOCK, false),
        ("waits.c", WAITS, true),
        ("racy.c", RACY, true),
        ("clean.c", CLEAN, false),
    ];
    for (number, (name, text, is_wrong)) in programs.into_iter().enumerate() {
        let file = world.write(name, text);
        let compiler = ["gcc", "clang"][number % 2];
        let program = Program::build_file(&file, compiler, &["-pthread"]);
        let mut found = 0;
        for _ in 0..4 {
            let run = checked_run(&world, &program);
            let (checked, recorded) = both_traces(&run);
            assert_eq!(said(checked), analysed(recorded), "{name}");
            assert_eq!(checked.ending, recorded.ending, "{name}");
            found += findings(&said(checked));
        }
        assert!(!is_wrong || found > 0, "{name}");
    }
}

#[test]
fn many_threads_that_race_are_found_in_every_run() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let file = world.write("racy.c", RACY);
    let program = Program::build_file(&file, "gcc", &["-pthread"]);
    for _ in 0..5 {
        let run = checked_run(&world, &program);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let said = said(both_traces(&run).0);
        let race = |record: &CheckRecord| matches!(record, CheckRecord::Race { .. });
        assert!(said.iter().any(race), "{said:?}");
    }
}

#[test]
fn many_threads_that_are_right_are_left_alone() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
    let world = World::new();
    let file = world.write("clean.c", CLEAN);
    for compiler in ["gcc", "clang"] {
        let program = Program::build_file(&file, compiler, &["-pthread"]);
        for _ in 0..5 {
            let run = checked_run(&world, &program);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let said = said(both_traces(&run).0);
            let race = |record: &CheckRecord| matches!(record, CheckRecord::Race { .. });
            assert!(!said.iter().any(race), "{said:?}");
        }
    }
}

/// What `wmfix` says about a file.
fn report(world: &World, arguments: &[&str]) -> Value {
    let mut wmfix = world.wmfix("gcc");
    wmfix
        .args(["check", "--strategy", "os", "--format", "json"])
        .args(arguments);
    CommandResult::of(&mut wmfix).json()
}

#[test]
fn a_finding_comes_with_its_proof_and_is_the_one_of_recorded_runs() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("waits.c", WAITS);
    let ids = |more: &[&str]| -> Vec<String> {
        let report = report(&world, &[&["waits.c", "--runs", "8"], more].concat());
        let races = report["races"].as_array().expect("races").clone();
        assert_eq!(races[0]["location"], "data", "{report}");
        let mut ids: Vec<String> = races.iter().map(|race| race["id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&[]), ids(&["--record"]));
    let mut suggest = world.wmfix("gcc");
    suggest.args(["suggest", "waits.c", "--strategy", "os", "--runs", "8"]);
    let printed = CommandResult::of(&mut suggest).stdout;
    assert!(printed.contains("memory_order_release"), "{printed}");
}

#[test]
fn a_program_that_is_right_has_no_findings_and_no_notes_about_its_runs() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("clean.c", CLEAN);
    let report = report(&world, &["clean.c", "--runs", "6"]);
    assert_eq!(report["races"], Value::Array(Vec::new()), "{report}");
    assert_eq!(report["failures"], Value::Array(Vec::new()), "{report}");
    let notes = report["notes"].to_string();
    assert!(!notes.contains("while under way"), "{notes}");
}

#[test]
fn what_came_after_the_end_of_the_recording_is_said_not_to_be_reported() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("late.c", LATE_RACE);
    let report = report(&world, &["late.c", "--runs", "2", "--event-limit", "1000"]);
    assert_eq!(report["races"], Value::Array(Vec::new()), "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("after the recording had ended"), "{notes}");
    let whole = self::report(&world, &["late.c", "--runs", "2"]);
    assert_eq!(whole["races"][0]["location"], "data", "{whole}");
}

/// More atomics than the analysis has memory for, all of them used by two threads that
/// race when they are done.
const MANY_ATOMICS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static long data;\nstatic atomic_long all[400000];\n\
    static void *use(void *p) {\n\
    \x20   for (int i = 0; i < 400000; i++)\n        atomic_fetch_add(&all[i], 1);\n\
    \x20   data++;\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, use, 0);\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n\
    \x20   return all[399999] != 2;\n}\n";

#[test]
fn a_check_that_gives_up_leaves_the_rest_to_the_recording() {
    need(&[Need::Program("gcc"), Need::Program("bash")]);
    let world = World::new();
    let file = world.write("many.c", MANY_ATOMICS);
    let program = Program::build_file(&file, "gcc", &["-pthread"]);
    let table = empty_table(&world);
    let settings = [
        ("WMFIX_STRATEGY", "os"),
        ("WMFIX_CHECK", table.as_str()),
        ("WMFIX_RACES", "on"),
    ];
    let mut command = world.command("bash");
    command.args(["-c", "ulimit -v 560000; exec \"$PROGRAM\""]);
    let run = program.run_command(command, &settings, 1);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (checked, recorded) = both_traces(&run);
    let gave_up = CheckRecord::GaveUp(GiveUp::NoMemory);
    assert!(said(checked).contains(&gave_up), "{:?}", said(checked));
    let raced = analysed(recorded);
    let race = |record: &CheckRecord| matches!(record, CheckRecord::Race { .. });
    assert!(raced.iter().any(race), "{raced:?}");
}
