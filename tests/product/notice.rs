//! What a test notices: orders that are lost and stores that are undone while it runs,
//! held against the same losses in the source.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Each line has one order. The assertions need those of the store buffer and of the
/// message; the counter's are more than it needs.
const MIXED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define SC memory_order_seq_cst
static atomic_int x, y, counter, ready, number;
static int text, seen_by_left, seen_by_right;
static void *left(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    seen_by_left = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_fetch_add_explicit(&counter, 1, memory_order_acq_rel);
    atomic_store_explicit(&number, 7, memory_order_relaxed);
    text = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return arg;
}
static void *right(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    seen_by_right = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(text == 42 && atomic_load_explicit(&number, memory_order_relaxed) == 7);
    return arg;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(seen_by_left || seen_by_right);
    assert(atomic_load_explicit(&counter, memory_order_relaxed) == 2);
    return 0;
}
";

fn notice(report: &Value) -> &Value {
    &report["notices"][0]
}

#[test]
fn orders_that_are_lost_as_data_are_those_that_are_lost_in_the_source() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", MIXED);
    let audit = ["audit", "prog.c", "--runs", "100", "--format", "json"];
    let ran = CommandResult::of(world.wmfix("gcc").args(audit));
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    let report = ran.json();
    let notice = notice(&report);
    assert_eq!(notice["sees"], true, "{notice}");
    assert!(notice["stores_noticed"].as_u64() > Some(0), "{notice}");
    let orders = notice["orders"].as_array().expect("a list");
    // Two fences, an addition that loses either half, a release and an acquire.
    assert_eq!(orders.len(), 6, "{notice}");
    for loss in orders {
        let line = loss["place"]["line"].as_u64().expect("a line") as usize;
        let order = |name: &str| format!("memory_order_{}", loss[name].as_str().expect("an order"));
        let text = MIXED.lines().enumerate().map(|(number, text)| {
            let is_here = number + 1 == line;
            let text = match is_here {
                true => text.replace(&order("had"), &order("left")),
                false => text.to_owned(),
            };
            text + "\n"
        });
        let weaker: String = text.collect();
        assert_ne!(weaker, MIXED, "{loss}");
        world.write("weaker.c", &weaker);
        let check = [
            "check", "weaker.c", "--weak", "--runs", "200", "--format", "json",
        ];
        let ran = CommandResult::of(world.wmfix("gcc").args(check));
        let report = ran.json();
        let shown = match (ran.code, report["races"].as_array().map(Vec::is_empty)) {
            (Some(0), _) => "nothing",
            (_, Some(false)) => "race",
            _ => "failure",
        };
        // The race detector does not hide that the test fails as well.
        let agrees = loss["noticed"] == shown || shown == "race" && loss["noticed"] == "failure";
        assert!(agrees, "{shown}, but {loss}");
    }
    let noticed = |word: &str| orders.iter().filter(|loss| loss["noticed"] == word).count();
    assert_eq!(noticed("nothing"), 2, "{notice}");
    assert_eq!(noticed("failure"), 4, "{notice}");
}

#[test]
fn an_audit_lists_the_orders_that_nobody_would_miss() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", MIXED);
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["audit", "prog.c", "--runs", "100"]),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let text = ran.stdout.replace('\n', " ");
    assert!(text.contains("notices the loss of 4 of 6 orders"), "{text}");
    assert!(
        text.contains("not: prog.c:11, in left: acquire for acq_rel"),
        "{text}"
    );
    assert!(
        text.contains("not: prog.c:11, in left: release for acq_rel"),
        "{text}"
    );
}

#[test]
fn a_race_beside_it_opens_no_eyes() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    // The text's order is missed by the race detector, and by no assertion.
    let blind = MIXED
        .replace("assert(text == 42 && ", "(void)(text == 42 && ")
        .replace("assert(seen_by_left || seen_by_right);", "")
        .replace("atomic_thread_fence(memory_order_seq_cst);", "")
        .replace("assert(atomic_load", "(void)(atomic_load");
    world.write("prog.c", &blind);
    let check = ["check", "prog.c", "--runs", "100", "--format", "json"];
    let ran = CommandResult::of(world.wmfix("gcc").args(check));
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    let report = ran.json();
    assert_eq!(
        report["races"].as_array().map(Vec::len),
        Some(0),
        "{report}"
    );
    let notice = notice(&report);
    assert_eq!(notice["sees"], false, "{notice}");
    let orders = notice["orders"].as_array().expect("a list");
    assert!(
        orders.iter().any(|loss| loss["noticed"] == "race"),
        "{notice}"
    );
    assert!(
        orders.iter().all(|loss| loss["noticed"] != "failure"),
        "{notice}"
    );
}
