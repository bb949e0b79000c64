//! An exploration in parts: put together they prove or find what one machine does, with
//! as many classes of runs, and never prove anything while something is missing.

use std::fs;

use crate::report_support::{PETERSON, STORE_BUFFERING, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};

const HEADERS: &str = "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y, z; static int plain, ready;\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
    static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n\
    static sem_t sem;\n";

/// A program with a thread for each of these.
fn program(threads: &[&str]) -> String {
    let bodies = threads.iter().enumerate().map(|(number, body)| {
        format!("static void *run{number}(void *p) {{ {body}; return p; }}\n")
    });
    let names: Vec<String> = (0..threads.len()).map(|n| format!("run{n}")).collect();
    let count = threads.len();
    format!(
        "{HEADERS}{}int main(void) {{ pthread_t t[{count}];\n\
         void *(*run[])(void *) = {{{}}};\n\
         (void)plain; (void)ready; (void)z; (void)m; (void)k; (void)c; (void)rw;\n\
         sem_init(&sem, 0, 0);\n\
         for (int i = 0; i < {count}; i++) pthread_create(&t[i], 0, run[i], 0);\n\
         for (int i = 0; i < {count}; i++) pthread_join(t[i], 0);\n\
         return 0; }}\n",
        bodies.collect::<String>(),
        names.join(", ")
    )
}

/// What a command found, as far as it is the same however it was explored.
fn essence(ran: &CommandResult) -> Value {
    let mut report = ran.json();
    report["proof"]["runs"].take();
    report["runs"].take();
    report
}

fn check(world: &World, more: &str) -> CommandResult {
    let line = format!("check test.c --exhaustive --harm off --format json {more}");
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "10");
    CommandResult::of(command.args(line.split_whitespace()))
}

fn merge(world: &World, folder: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "10");
    CommandResult::of(command.args(["merge", folder, "--format", "json"]))
}

/// Explores a program as a whole and in parts: both find the same. Gives that, and the
/// number of parts that had classes of their own.
fn in_parts(source: &str, total: u32) -> (Value, usize) {
    let world = World::new();
    world.write("test.c", source);
    let whole = check(&world, "");
    let mut busy = 0;
    for number in 1..=total {
        let part = check(&world, &format!("--shard {number}/{total}"));
        let proof = &part.json()["proof"];
        assert_eq!(proof["complete"], false, "a part proves nothing: {part:?}");
        assert_eq!(proof["proved"], false, "{part:?}");
        busy += usize::from(proof["classes"] != 0);
    }
    let merged = merge(&world, "wmfix-shards");
    assert_eq!(merged.code, whole.code, "{merged:?}");
    assert_eq!(essence(&merged), essence(&whole), "{source}");
    (essence(&whole), busy)
}

#[test]
fn parts_prove_what_one_machine_proves() {
    need_tools();
    let twice = "for (int i = 0; i < 2; i++) \
                 { pthread_mutex_lock(&m); plain++; pthread_mutex_unlock(&m); }";
    let adds = "atomic_fetch_add(&x, 1); atomic_fetch_add(&y, 1)";
    let waits = "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); \
                 pthread_mutex_unlock(&m); atomic_fetch_add(&x, 1)";
    let signals = "atomic_fetch_add(&x, 1); pthread_mutex_lock(&m); ready = 1; \
                   pthread_cond_broadcast(&c); pthread_mutex_unlock(&m)";
    let one_of = "while (atomic_load(&x) == 0 && atomic_load(&y) == 0); atomic_store(&z, 1)";
    let publish = "atomic_store(&x, 1); atomic_load(&z); atomic_store(&y, 1)";
    let tries = "if (pthread_mutex_trylock(&m) == 0) { atomic_fetch_add(&x, 1); \
                 pthread_mutex_unlock(&m); }";
    let takes = "sem_wait(&sem); atomic_fetch_add(&x, 1); sem_post(&sem)";
    let reads = "pthread_rwlock_rdlock(&rw); atomic_load(&x); pthread_rwlock_unlock(&rw)";
    let writes = "pthread_rwlock_wrlock(&rw); atomic_fetch_add(&x, 1); pthread_rwlock_unlock(&rw)";
    let own_first = "atomic_store(&z, 1); atomic_fetch_add(&x, 1); atomic_load(&y)";
    let programs: [(&[&str], u32); 9] = [
        (&[twice, twice, twice], 3),
        (&[adds, adds, adds], 5),
        (&[waits, signals, "atomic_fetch_add(&x, 1)"], 2),
        (&[waits, waits, signals], 3),
        (&[one_of, publish], 2),
        (&[tries, tries, twice], 2),
        (&[takes, takes, "sem_post(&sem); atomic_load(&x)"], 3),
        (&[reads, reads, writes], 2),
        (&[adds, own_first, "atomic_load(&y); atomic_load(&x)"], 5),
    ];
    let mut shared = 0;
    for (threads, total) in programs {
        let (report, busy) = in_parts(&program(threads), total);
        assert_eq!(report["proof"]["proved"], true, "{report}");
        shared += usize::from(busy > 1);
    }
    assert!(shared >= 8, "{shared}");
}

#[test]
fn parts_find_what_one_machine_finds() {
    need_tools();
    let (report, busy) = in_parts(STORE_BUFFERING, 2);
    assert_eq!(report["proof"]["complete"], true, "{report}");
    assert_ne!(report["violations"].as_array().map_or(0, Vec::len), 0);
    assert_eq!(busy, 2);
    // Fails in some schedules, hangs in others.
    let locks = |one: &str, other: &str| {
        format!(
            "pthread_mutex_lock(&{one}); pthread_mutex_lock(&{other}); \
             if (atomic_fetch_add(&x, 1) == 1 && '{one}' == 'm') __builtin_trap(); \
             pthread_mutex_unlock(&{other}); pthread_mutex_unlock(&{one})"
        )
    };
    let (report, _) = in_parts(&program(&[&locks("m", "k"), &locks("k", "m")]), 3);
    assert_eq!(
        report["failures"].as_array().map(Vec::len),
        Some(2),
        "{report}"
    );
}

#[test]
fn the_repair_of_parts_is_that_of_one_machine() {
    need_tools();
    let world = World::new();
    world.write("peterson.c", PETERSON);
    let line = "suggest peterson.c --exhaustive --format json";
    let whole = wmfix(&world, line);
    for number in 1..=2 {
        let part = wmfix(&world, &format!("{line} --shard {number}/2"));
        assert_eq!(part.json()["repair"], Value::Null, "{part:?}");
    }
    let merged = wmfix(&world, "merge wmfix-shards --format json");
    let (whole, merged) = (whole.json(), merged.json());
    assert_eq!(whole["proof"]["complete"], true, "{whole}");
    for field in ["complete", "proved", "classes", "open"] {
        assert_eq!(merged["proof"][field], whole["proof"][field], "{field}");
    }
    assert_eq!(merged["violations"], whole["violations"]);
    assert_eq!(merged["races"], whole["races"]);
    assert!(whole["repair"].is_object(), "{whole}");
    // The cost counts how often a site ran in the runs that were recorded.
    assert_eq!(merged["repair"]["changes"], whole["repair"]["changes"]);
}

#[test]
fn what_is_missing_or_open_is_no_proof_and_a_part_may_be_run_again() {
    need_tools();
    let world = World::new();
    let adds = "for (int i = 0; i < 3; i++) atomic_fetch_add(&x, 1)";
    world.write("test.c", &program(&[adds, adds, adds]));
    check(&world, "--shard 1/3");
    let cut = check(&world, "--shard 3/3 --time 0.001");
    assert_eq!(cut.json()["proof"]["complete"], false, "{cut:?}");
    let missing = merge(&world, "wmfix-shards");
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(
        missing.stderr.contains("shard 2 of 3 missing"),
        "{missing:?}"
    );
    check(&world, "--shard 2/3");
    let open = merge(&world, "wmfix-shards").json();
    assert_eq!(open["proof"]["complete"], false, "{open}");
    assert_eq!(open["proof"]["proved"], false, "{open}");
    assert_ne!(open["proof"]["open"], 0, "{open}");
    let said = open.to_string();
    assert!(said.contains("the time was up"), "{said}");
    assert!(said.contains("ended before their last run: 3"), "{said}");
    // 9! / (3!)³
    check(&world, "--shard 3/3");
    let whole = essence(&merge(&world, "wmfix-shards"));
    assert_eq!(whole["proof"]["proved"], true, "{whole}");
    assert_eq!(whole["proof"]["classes"], 1680, "{whole}");
    check(&world, "--shard 2/3");
    check(&world, "--shard 1/3 --time 0.001");
    assert_eq!(essence(&merge(&world, "wmfix-shards")), whole);
    // Runs by seeds are none of its parts, and another program has none.
    check(&world, "--shard 1/3 --races on");
    let other = merge(&world, "wmfix-shards");
    assert!([Some(0), Some(2)].contains(&other.code), "{other:?}");
    world.write("test.c", &program(&[adds, adds]));
    let changed = merge(&world, "wmfix-shards");
    assert_eq!(changed.code, Some(2), "{changed:?}");
}

#[test]
fn a_part_that_was_stopped_goes_on() {
    need_tools();
    let world = World::new();
    let adds = "for (int i = 0; i < 3; i++) atomic_fetch_add(&x, 1)";
    world.write("test.c", &program(&[adds, adds, adds]));
    let explore = |more: &str| {
        let mut command = world.wmfix("gcc");
        command.env("XDG_CACHE_HOME", world.path().join("cache"));
        let line = format!("check test.c --exhaustive --format json {more}");
        CommandResult::of(command.args(line.split_whitespace()))
    };
    let mut time = 0.4;
    let mut part = explore("--shard 1/2 --time 0.4");
    while part.stdout.contains("the time was up") {
        time *= 1.5;
        let resumed = explore(&format!("--shard 1/2 --time {time} --resume"));
        // It may have ended before it knew the top of the tree.
        part = match resumed.code {
            Some(2) => explore(&format!("--shard 1/2 --time {time}")),
            _ => resumed,
        };
    }
    assert_eq!(
        explore("--shard 2/2 --resume").code,
        Some(2),
        "another part"
    );
    explore("--shard 2/2");
    let merged = merge(&world, "wmfix-shards").json();
    assert_eq!(merged["proof"]["proved"], true, "{merged}");
    assert_eq!(merged["proof"]["classes"], 1680, "{merged}");
}

#[test]
fn engines_split_explorations_too() {
    need_tools();
    let world = World::new();
    world.write("test.c", STORE_BUFFERING);
    for number in ["1", "2"] {
        let mut command = world.wmfix("gcc");
        command.args(["check", "test.c", "--exhaustive", "--harm", "off"]);
        command
            .env("CI_NODE_INDEX", number)
            .env("CI_NODE_TOTAL", "2");
        let ran = CommandResult::of(&mut command);
        let said = format!("shard {number} of 2, says GitLab");
        assert!(ran.stderr.contains(&said), "{ran:?}");
    }
    let files = fs::read_dir(world.path().join("wmfix-shards")).expect("a folder");
    assert_eq!(files.count(), 2);
    let merged = merge(&world, "wmfix-shards");
    assert_eq!(merged.code, Some(1), "{merged:?}");
    assert_eq!(merged.json()["proof"]["classes"], 3, "{merged:?}");
}
