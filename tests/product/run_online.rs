//! Runs that are checked in their process and runs that are recorded show the same:
//! the same findings with the same names and counts, in everything that a report
//! says but the time.

use std::path::Path;

use serde_json::Value;
use wmfix_online::SiteTable;
use wmfix_tests::litmus::{Spelling, corpus, emit};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{CheckRecord, GiveUp, Record};

use crate::report_support::{MESSAGE_PASSING, PETERSON, STORE_BUFFERING, TWO_CAUSES};

const SEQLOCK: &str = include_str!("../corpus/programs/seqlock.c");

/// A ticket lock: what its loop waits for is in a variable.
const TICKET_LOCK: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_uint next, serving;\nstatic int count;\nstatic atomic_int x, y;\n\
    static int seen[2];\n\
    static void lock(void) {\n\
    \x20   unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);\n\
    \x20   while (atomic_load_explicit(&serving, memory_order_acquire) != mine)\n        ;\n}\n\
    static void unlock(void) {\n\
    \x20   unsigned now = atomic_load_explicit(&serving, memory_order_relaxed);\n\
    \x20   atomic_store_explicit(&serving, now + 1, memory_order_release);\n}\n\
    static void *work(void *p) {\n\
    \x20   for (int i = 0; i < 3; i++) {\n        lock();\n        count++;\n        unlock();\n    }\n\
    \x20   atomic_store_explicit(p ? &x : &y, 1, memory_order_relaxed);\n\
    \x20   seen[p != 0] = atomic_load_explicit(p ? &y : &x, memory_order_relaxed);\n\
    \x20   return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, work, i ? &count : 0);\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n    return count != 6;\n}\n";

/// Does as much as the addresses of its threads' stacks say.
const BY_ADDRESS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x;\n\
    static void *work(void *p) {\n    volatile char here = 0;\n\
    \x20   for (unsigned n = ((unsigned long)&here >> 12) % 97; n > 0; n--)\n\
    \x20       atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[3];\n\
    \x20   for (int i = 0; i < 3; i++)\n        pthread_create(&t[i], 0, work, 0);\n\
    \x20   for (int i = 0; i < 3; i++)\n        pthread_join(t[i], 0);\n    return 0;\n}\n";

/// What `wmfix` says about a file, without the time that it took.
fn report(world: &World, compiler: &str, command: &str, arguments: &[&str]) -> Value {
    let mut wmfix = world.wmfix(compiler);
    wmfix.args([command, "--format", "json"]).args(arguments);
    let mut report = CommandResult::of(&mut wmfix).json();
    report["runs"]["seconds"] = Value::Null;
    report
}

/// Checks a file both ways.
fn assert_same(world: &World, compiler: &str, command: &str, file: &str) {
    let arguments = [file, "--runs", "25"];
    let checked = report(world, compiler, command, &arguments);
    let recorded = report(
        world,
        compiler,
        command,
        &[&arguments[..], &["--record"]].concat(),
    );
    assert_eq!(checked, recorded, "{file} with {compiler}");
}

fn compilers() -> [&'static str; 2] {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
    ["gcc", "clang"]
}

#[test]
fn programs_show_the_same_checked_as_they_run_or_recorded() {
    let world = World::new();
    let programs = [
        ("sb.c", STORE_BUFFERING),
        ("mp.c", MESSAGE_PASSING),
        ("peterson.c", PETERSON),
        ("two_causes.c", TWO_CAUSES),
        ("seqlock.c", SEQLOCK),
        ("ticket.c", TICKET_LOCK),
        ("by_address.c", BY_ADDRESS),
    ];
    for (number, (name, text)) in programs.into_iter().enumerate() {
        world.write(name, text);
        assert_same(&world, compilers()[number % 2], "check", name);
    }
    for name in ["sb.c", "mp.c"] {
        assert_same(&world, "gcc", "suggest", name);
    }
}

#[test]
fn addresses_are_the_same_however_many_run_at_a_time() {
    let world = World::new();
    world.write("by_address.c", BY_ADDRESS);
    let of_jobs = |jobs: &str| {
        let arguments = ["by_address.c", "--runs", "25", "--jobs", jobs];
        report(&world, compilers()[0], "check", &arguments)
    };
    assert_eq!(of_jobs("1"), of_jobs("3"));
}

#[test]
fn examples_show_the_same_checked_as_they_run_or_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let world = World::new();
    let sources = [
        "dekker/dekker.c",
        "hidden_race/importer.c",
        "reference_count/reference_count.cpp",
    ];
    for (number, source) in sources.into_iter().enumerate() {
        let file = folder.join(source);
        let file = file.to_str().expect("a path in UTF-8");
        assert_same(&world, compilers()[number % 2], "check", file);
    }
}

#[test]
fn litmus_programs_show_the_same_checked_as_they_run_or_recorded() {
    /// In CI, one program in this many.
    const ONE_IN: usize = 60;
    let world = World::new();
    let corpus = corpus().expect("a corpus");
    for (number, entry) in corpus.iter().enumerate().step_by(ONE_IN) {
        let compiler = compilers()[number / ONE_IN % 2];
        let file = format!("{number}.c");
        world.write(&file, &emit(&entry.program, Spelling::C11));
        assert_same(&world, compiler, "check", &file);
    }
}

#[test]
fn a_checked_run_has_findings_and_counts_instead_of_events() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let file = world.write("sb.c", STORE_BUFFERING);
    let program = Program::build_file(&file, "gcc", &[]);
    let settings = checked_settings(&world);
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut violations = 0;
    for seed in 0..10 {
        let trace = program.run_with(&settings, seed, &[]).well("sb");
        assert!(trace.header.checked);
        assert_eq!(trace.events().count(), 0);
        let said: Vec<CheckRecord> = trace
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Check(record) => Some(*record),
                _ => None,
            })
            .collect();
        let found = |record: &&CheckRecord| matches!(record, CheckRecord::Violation { .. });
        violations += said.iter().filter(found).count();
        let Some(CheckRecord::Counts(counts)) = said.last() else {
            panic!("no counts: {said:?}");
        };
        assert!(counts.concurrent && counts.events > 10, "{counts:?}");
    }
    assert!(violations > 0);
}

#[test]
fn a_table_that_cannot_be_read_makes_the_run_a_recorded_one() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let table = world.write("table", "nothing");
    let file = world.write("sb.c", STORE_BUFFERING);
    let program = Program::build_file(&file, "gcc", &[]);
    for path in [table.to_str().expect("a path in UTF-8"), "/nowhere/at/all"] {
        let run = program.run_with(&[("WMFIX_CHECK", path)], 1, &[]);
        assert!(run.stderr.contains("the run is recorded"), "{}", run.stderr);
        let trace = run.well("sb");
        assert!(!trace.header.checked && trace.events().count() > 0);
    }
}

/// Settings of a run that is checked, with a table that has nothing in it.
fn checked_settings(world: &World) -> Vec<(&'static str, String)> {
    let table = world.path().join("table");
    std::fs::write(&table, SiteTable::default().encode()).expect("a file");
    let table = table.to_str().expect("a path in UTF-8").to_owned();
    vec![
        ("WMFIX_STRATEGY", "random".to_owned()),
        ("WMFIX_CHECK", table),
    ]
}

/// More atomics than the analysis has memory for, all of them used by two threads.
const MANY_ATOMICS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_long all[150000];\n\
    static void *use(void *p) {\n\
    \x20   for (int i = 0; i < 150000; i++)\n        atomic_fetch_add(&all[i], 1);\n\
    \x20   return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, use, 0);\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n\
    \x20   return all[149999] != 2;\n}\n";

#[test]
fn a_process_without_memory_goes_on_unchecked_and_says_so() {
    need(&[Need::Program("gcc"), Need::Program("bash")]);
    let world = World::new();
    let file = world.write("many.c", MANY_ATOMICS);
    let program = Program::build_file(&file, "gcc", &[]);
    let settings = checked_settings(&world);
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut command = world.command("bash");
    command.args(["-c", "ulimit -v 163840; exec \"$PROGRAM\""]);
    let trace = program.run_command(command, &settings, 1).well("many");
    let gave_up = Record::Check(CheckRecord::GaveUp(GiveUp::NoMemory));
    assert!(trace.records.contains(&gave_up), "{:?}", trace.ending);
}

/// Makes and frees atomics that two threads use, and says how much memory the
/// process has after a third of the time and at its end, in pages.
const SHORT_LIVED: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
    #include <stdlib.h>\n\
    static atomic_long *_Atomic shared;\nstatic atomic_int stop;\n\
    static void *look(void *p) {\n\
    \x20   while (!atomic_load_explicit(&stop, memory_order_acquire)) {\n\
    \x20       atomic_long *now = atomic_exchange(&shared, 0);\n\
    \x20       if (now) {\n            atomic_fetch_add(now, 1);\n            free(now);\n        }\n    }\n\
    \x20   return p;\n}\n\
    static long pages(void) {\n    long all = 0, used = 0;\n\
    \x20   FILE *f = fopen(\"/proc/self/statm\", \"r\");\n\
    \x20   if (f && fscanf(f, \"%ld %ld\", &all, &used) != 2)\n        used = 0;\n\
    \x20   if (f)\n        fclose(f);\n    return used;\n}\n\
    int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, look, 0);\n\
    \x20   for (int i = 0; i < 150000; i++) {\n\
    \x20       atomic_long *next = malloc(64);\n        atomic_init(next, i);\n\
    \x20       free(atomic_exchange(&shared, next));\n\
    \x20       if (i == 50000)\n            printf(\"%ld\\n\", pages());\n    }\n\
    \x20   atomic_store_explicit(&stop, 1, memory_order_release);\n    pthread_join(t, 0);\n\
    \x20   printf(\"%ld\\n\", pages());\n    return 0;\n}\n";

#[test]
fn atomics_that_come_and_go_leave_nothing_behind() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let file = world.write("short_lived.c", SHORT_LIVED);
    let program = Program::build_file(&file, "gcc", &[]);
    let settings = checked_settings(&world);
    let mut settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    settings.push(("WMFIX_RACES", "on"));
    let run = program.run_with(&settings, 1, &[]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let pages: Vec<i64> = run
        .stdout
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    let [early, late] = pages.as_slice() else {
        panic!("{}", run.stdout);
    };
    assert!(*late < early + early / 4, "{early} pages, then {late}");
}

/// Starts and joins threads, two at a time, each with an atomic of its own, and says
/// how much memory the process has after a third of them and at its end, in pages.
const MANY_THREADS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
    #include <stdlib.h>\n\
    static atomic_long total;\nstatic long guarded;\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *work(void *p) {\n    atomic_long *mine = malloc(sizeof *mine);\n\
    \x20   atomic_init(mine, 1);\n    atomic_fetch_add(&total, atomic_load(mine));\n\
    \x20   pthread_mutex_lock(&lock);\n    guarded++;\n    pthread_mutex_unlock(&lock);\n\
    \x20   free(mine);\n    return p;\n}\n\
    static long pages(void) {\n    long all = 0, used = 0;\n\
    \x20   FILE *f = fopen(\"/proc/self/statm\", \"r\");\n\
    \x20   if (f && fscanf(f, \"%ld %ld\", &all, &used) != 2)\n        used = 0;\n\
    \x20   if (f)\n        fclose(f);\n    return used;\n}\n\
    int main(int count, char **arguments) {\n\
    \x20   long threads = count > 1 ? atol(arguments[1]) : 100000;\n\
    \x20   for (long i = 0; i < threads; i += 2) {\n        pthread_t t[2];\n\
    \x20       for (int k = 0; k < 2; k++)\n            pthread_create(&t[k], 0, work, 0);\n\
    \x20       for (int k = 0; k < 2; k++)\n            pthread_join(t[k], 0);\n\
    \x20       if (i == threads / 6 * 2)\n            printf(\"%ld\\n\", pages());\n    }\n\
    \x20   printf(\"%ld\\n\", pages());\n\
    \x20   return atomic_load(&total) != threads || guarded != threads;\n}\n";

#[test]
fn threads_that_come_and_go_leave_next_to_nothing_behind() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let file = world.write("many_threads.c", MANY_THREADS);
    let program = Program::build_file(&file, "gcc", &[]);
    let settings = checked_settings(&world);
    let mut settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    settings.extend([("WMFIX_RACES", "on"), ("WMFIX_PREDICT", "on")]);
    // In CI a short form.
    let all = std::env::var("WMFIX_LOAD").is_ok_and(|value| value == "all");
    let threads = if all { "100000" } else { "12000" };
    let run = program.run_with(&settings, 1, &[threads]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let pages: Vec<i64> = run
        .stdout
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    let [early, late] = pages.as_slice() else {
        panic!("{}", run.stdout);
    };
    assert!(*late < early + early / 20, "{early} pages, then {late}");
    let found = |record: &Record| {
        matches!(
            record,
            Record::Check(CheckRecord::Race { .. } | CheckRecord::Violation { .. })
        )
    };
    let trace = run.well("many threads");
    assert!(!trace.records.iter().any(found), "{:?}", trace.records);
}

/// Raced-on data, and two threads that must both be there.
const NEEDS_THREADS: &str = "#include <pthread.h>\n#include <stdlib.h>\nstatic int data;\n\
    static void *work(void *p) {\n    data++;\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (int i = 0; i < 2; i++)\n        if (pthread_create(&t[i], 0, work, 0))\n            abort();\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n    return 0;\n}\n";

#[test]
fn a_limited_address_space_is_left_to_the_program() {
    need(&[Need::Program("gcc"), Need::Program("bash")]);
    let world = World::new();
    world.write("needs.c", NEEDS_THREADS);
    let mut build = world.wmfix("gcc");
    CommandResult::well(build.args(["cc", "needs.c", "-o", "needs", "-pthread"]));
    for kilobytes in [70_000, 150_000, 250_000, 600_000] {
        let limited = format!("ulimit -v {kilobytes}; exec ./needs");
        let arguments = ["--runs", "5", "--", "bash", "-c", &limited];
        let report = report(&world, "gcc", "run", &arguments);
        assert_eq!(report["failures"], Value::Array(Vec::new()), "{report}");
        assert_eq!(report["races"][0]["location"], "data", "{report}");
    }
}

/// Takes all of the address space but for holes, then has two threads race.
const GREEDY: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n\
    static int data;\n\
    static void *work(void *p) {\n    data++;\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[2];\n\
    \x20   for (size_t size = (size_t)1 << 46; size >= SMALLEST; size /= 2)\n\
    \x20       while (mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)\n            ;\n\
    \x20   for (int i = 0; i < 2; i++)\n        if (pthread_create(&t[i], 0, work, 0))\n            abort();\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n    return 0;\n}\n";

/// The holes that are left: room for shadow memory, room for threads only.
#[test]
fn an_address_space_that_is_taken_leaves_the_race_to_be_found() {
    need(&[Need::Program("gcc")]);
    for (name, smallest) in [("roomy", 1_u64 << 30), ("tight", 1 << 25)] {
        let world = World::new();
        world.write("greedy.c", GREEDY);
        let mut build = world.wmfix("gcc");
        let define = format!("-DSMALLEST={smallest}ull");
        CommandResult::well(build.args(["cc", &define, "greedy.c", "-o", "greedy", "-pthread"]));
        let arguments = ["--runs", "5", "--", "./greedy"];
        let report = report(&world, "gcc", "run", &arguments);
        assert_eq!(
            report["failures"],
            Value::Array(Vec::new()),
            "{name}: {report}"
        );
        assert_eq!(report["races"][0]["location"], "data", "{name}: {report}");
    }
}

/// Counts at the same time in two threads, but only where the file it is told of is not
/// there, which it makes.
fn racy_once(world: &World, team: bool) -> String {
    let mark = world.path().join("mark").display().to_string();
    let head = "#include <fcntl.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
        static int data, first;\n\
        static void *work(void *p) {\n    if (first)\n        data++;\n    return p;\n}\n";
    let run = match team {
        true => "#pragma omp parallel num_threads(2)\n    work(0);\n",
        false => {
            "    pthread_t t[2];\n    for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, work, 0);\n\
             \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n"
        }
    };
    let begin = format!("    first = open(\"{mark}\", O_CREAT | O_EXCL, 0600) >= 0;\n");
    format!("{head}int main(void) {{\n{begin}{run}    return 0;\n}}\n")
}

/// Checks the program, and gives the report with the exit code.
fn checked_once(team: bool) -> (Value, Option<i32>) {
    let world = World::new();
    world.write("once.c", &racy_once(&world, team));
    let mut wmfix = world.wmfix("gcc");
    wmfix.args(["check", "once.c", "--runs", "5", "--jobs", "1"]);
    wmfix.args(["--format", "json"]);
    if team {
        wmfix.args(["--cflags", "-fopenmp", "--ldflags", "-fopenmp"]);
    }
    let ran = CommandResult::of(&mut wmfix);
    (ran.json(), ran.code)
}

/// Which threads of a team come first, and what they do, is decided in the library for
/// OpenMP: what the check of a run shows is reported from the recording of that very run.
#[test]
fn a_run_with_openmp_is_not_made_again_for_its_findings() {
    need(&[Need::Program("gcc")]);
    let (report, code) = checked_once(true);
    let race = report["races"][0]["location"].as_str();
    assert_eq!((race, code), (Some("data"), Some(1)), "{report}");
    assert!(!report["notes"].to_string().contains("made again"));
}

/// A run was found wrong and nobody knows why: that is not "nothing found".
#[test]
fn a_finding_that_cannot_be_had_again_is_no_clean_verdict() {
    need(&[Need::Program("gcc")]);
    let (report, code) = checked_once(false);
    assert_eq!(report["races"].as_array().map(Vec::len), Some(0));
    assert!(report["notes"].to_string().contains("made again"));
    assert_eq!(report["verdict"], "failed", "{report}");
    assert_eq!((code, &report["runs"]["incomplete"]), (Some(3), &1.into()));
}
