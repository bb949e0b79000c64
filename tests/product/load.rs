//! Load: the memory of a checked run is the same after a third of it and at its end,
//! and nothing wrong is reported, however many accesses and threads there are. In CI
//! a short form; `WMFIX_LOAD=all` takes 10⁹ plain accesses and 64 threads for ten
//! minutes.

use std::time::Duration;

use wmfix_online::SiteTable;
use wmfix_tests::product::World;
use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{CheckRecord, Record};

/// What the programs say how much memory of their own they have with, in KiB: pages of
/// files come and go as the system likes.
const PAGES: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
    #include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\
    static void say_pages(void) {\n    char line[256];\n    long used = 0;\n\
    \x20   FILE *f = fopen(\"/proc/self/status\", \"r\");\n\
    \x20   while (f && fgets(line, sizeof line, f))\n\
    \x20       sscanf(line, \"RssAnon: %ld\", &used);\n\
    \x20   if (f)\n        fclose(f);\n    printf(\"%ld\\n\", used);\n}\n";

/// A program that has little may take this much more later.
const SLACK_KIB: i64 = 256;

/// Blocks that one thread fills and another reads and frees, in plain accesses of all
/// sizes, handed over under a lock. `PROGRAM BLOCKS`.
const BLOCKS: &str = "enum { WORDS = 512 };\n\
    static long *box;\nstatic long taken, sum;\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;\n\
    static void *take(void *p) {\n    long blocks = *(long *)p;\n\
    \x20   for (long n = 0; n < blocks; n++) {\n        pthread_mutex_lock(&lock);\n\
    \x20       while (!box)\n            pthread_cond_wait(&changed, &lock);\n\
    \x20       long *mine = box;\n        box = 0;\n        pthread_cond_signal(&changed);\n\
    \x20       pthread_mutex_unlock(&lock);\n\
    \x20       for (int i = 0; i < WORDS; i++)\n            sum += mine[i] + ((char *)mine)[i];\n\
    \x20       free(mine);\n        taken++;\n    }\n    return p;\n}\n\
    int main(int count, char **arguments) {\n    long blocks = atol(arguments[count - 1]);\n\
    \x20   pthread_t t;\n    pthread_create(&t, 0, take, &blocks);\n\
    \x20   for (long n = 0; n < blocks; n++) {\n\
    \x20       long *next = malloc((WORDS + n % 64) * sizeof *next);\n\
    \x20       memset(next, 1, WORDS * sizeof *next);\n\
    \x20       for (int i = 0; i < WORDS; i++)\n            next[i] += i;\n\
    \x20       pthread_mutex_lock(&lock);\n        while (box)\n\
    \x20           pthread_cond_wait(&changed, &lock);\n        box = next;\n\
    \x20       pthread_cond_signal(&changed);\n        pthread_mutex_unlock(&lock);\n\
    \x20       if (n == blocks / 3)\n            say_pages();\n    }\n\
    \x20   pthread_join(t, 0);\n    say_pages();\n    return taken != blocks;\n}\n";

/// 64 threads with a lock, an atomic and memory of their own, in turns of some rounds
/// until the time is over. `PROGRAM SECONDS ROUNDS`: at least twelve turns of them.
const MANY: &str = "enum { THREADS = 64 };\n\
    static atomic_long total;\nstatic long guarded, rounds;\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *work(void *p) {\n\
    \x20   for (long n = 0; n < rounds; n++) {\n        char *mine = malloc(100 + n % 50);\n\
    \x20       memset(mine, (int)n, 100);\n        atomic_fetch_add(&total, mine[50] == (char)n);\n\
    \x20       pthread_mutex_lock(&lock);\n        guarded++;\n\
    \x20       pthread_mutex_unlock(&lock);\n        free(mine);\n    }\n    return p;\n}\n\
    int main(int count, char **arguments) {\n    (void)count;\n\
    \x20   time_t end = time(0) + atol(arguments[1]);\n    rounds = atol(arguments[2]);\n\
    \x20   long turns = 0;\n\
    \x20   for (; turns < 12 || time(0) < end; turns++) {\n        pthread_t t[THREADS];\n\
    \x20       for (int i = 0; i < THREADS; i++)\n            pthread_create(&t[i], 0, work, 0);\n\
    \x20       for (int i = 0; i < THREADS; i++)\n            pthread_join(t[i], 0);\n\
    \x20       if (turns == 4)\n            say_pages();\n    }\n    say_pages();\n\
    \x20   return guarded != turns * THREADS * rounds || total != guarded;\n}\n";

fn is_long() -> bool {
    std::env::var("WMFIX_LOAD").is_ok_and(|value| value == "all")
}

/// Runs a program, checked, and holds its memory early and late against each other.
fn stays_flat(text: &str, arguments: &[&str]) {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let file = world.write("load.c", &format!("{PAGES}{text}"));
    let program = Program::build_file(&file, "gcc", &["-O1"]);
    let table = world.path().join("table");
    std::fs::write(&table, SiteTable::default().encode()).expect("a file");
    let settings = [
        ("WMFIX_STRATEGY", "random"),
        ("WMFIX_CHECK", table.to_str().expect("a path in UTF-8")),
        ("WMFIX_RACES", "on"),
    ];
    let limit = Duration::from_secs(if is_long() { 1_800 } else { 120 });
    let run = program.run_within(limit, &settings, 1, arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let pages: Vec<i64> = run
        .stdout
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    let [early, late] = pages.as_slice() else {
        panic!("{}", run.stdout);
    };
    assert!(*early > 0, "{}", run.stdout);
    assert!(
        *late < early + early / 10 + SLACK_KIB,
        "{early} KiB, then {late}"
    );
    let trace = run.well("load");
    let says_wrong = |record: &Record| {
        matches!(
            record,
            Record::Check(
                CheckRecord::Race { .. } | CheckRecord::Violation { .. } | CheckRecord::GaveUp(_)
            )
        )
    };
    assert!(!trace.records.iter().any(says_wrong), "{:?}", trace.records);
}

#[test]
fn plain_accesses_leave_nothing_behind() {
    // A block is about three thousand accesses.
    let blocks = if is_long() { "360000" } else { "3000" };
    stays_flat(BLOCKS, &[blocks]);
}

#[test]
fn many_threads_leave_nothing_behind() {
    let (seconds, rounds) = if is_long() {
        ("600", "200")
    } else {
        ("0", "5")
    };
    stays_flat(MANY, &[seconds, rounds]);
}
