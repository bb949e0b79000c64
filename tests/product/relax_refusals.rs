//! What `wmfix relax` is not for: programs with stale accesses, whatever these do one at a
//! time. What it does relax has none afterwards.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// The queue of Michael and Scott with orders that are left out.
const QUEUE: &str = include_str!("../corpus/correct/michael_scott.c");

/// The same with acquire and release: a thread may see an old end of the queue.
fn textbook() -> String {
    QUEUE
        .replace("atomic_load(&", "LOAD(&")
        .replace("atomic_compare_exchange_strong(&", "SWAP(&")
        .replace(
            "#include <stdatomic.h>",
            "#include <stdatomic.h>\n\
             #define LOAD(object) atomic_load_explicit(object, memory_order_acquire)\n\
             #define SWAP(object, old, new) atomic_compare_exchange_strong_explicit( \\\n    \
                 object, old, new, memory_order_acq_rel, memory_order_acquire)",
        )
}

fn run(world: &World, line: &str) -> CommandResult {
    CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
}

#[test]
fn a_queue_without_stale_accesses_is_relaxed_and_has_none_then() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("queue.c", QUEUE);
    let ran = run(&world, "relax queue.c --apply --runs 1000");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.is_empty(), "{}", ran.stderr);
    let line = "check queue.c --robust --runs 400 --seed 5000 --weak";
    let checked = run(&world, line);
    assert_eq!(checked.code, Some(0), "{}\n{}", checked.stdout, ran.stdout);
}

#[test]
fn a_program_with_a_stale_access_is_refused_whatever_it_does() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let queue = textbook();
    let path = world.write("queue.c", &queue);
    let checked = run(&world, "check queue.c --runs 200 --format json");
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    let report = checked.json();
    let found = report["violations"].as_array().expect("a list");
    assert!(!found.is_empty(), "{report}");
    for flags in ["", "--robust", "--harm off", "--format json"] {
        let ran = run(&world, &format!("relax queue.c --apply --runs 200 {flags}"));
        assert_eq!(ran.code, Some(1), "{flags}: {}", ran.stderr);
        let said = ["V1 at queue.c:", "a stale access", "wmfix suggest --robust"];
        for words in said {
            assert!(ran.stderr.contains(words), "{flags}: {}", ran.stderr);
        }
        match flags {
            "--format json" => {
                let report = ran.json();
                assert_eq!(report["verdict"], "findings");
                assert!(report["relaxation"].is_null());
            }
            _ => assert_eq!(ran.stdout, "", "{flags}"),
        }
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), queue);
}

#[test]
fn what_somebody_has_allowed_stands_against_weaker_orders_too() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let reader = "#include <pthread.h>\n#include <stdatomic.h>\n\
        static atomic_int x, y;\n\
        static void *writer(void *arg) {\n\
            atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
            atomic_store(&y, 1);\n\
            return arg;\n\
        }\n\
        int main(void) {\n\
            pthread_t thread;\n\
            pthread_create(&thread, 0, writer, 0);\n\
            if (atomic_load_explicit(&y, memory_order_relaxed))\n\
                // wmfix: allow(only a statistic)\n\
                atomic_load_explicit(&x, memory_order_relaxed);\n\
            pthread_join(thread, 0);\n\
            return 0;\n\
        }\n";
    world.write("reader.c", reader);
    let checked = run(&world, "check reader.c --runs 50");
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    let ran = run(&world, "relax reader.c --runs 50");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("at reader.c:14"), "{}", ran.stderr);
}
