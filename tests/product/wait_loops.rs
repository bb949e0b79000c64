//! Loops that look like waits, through `wmfix check`: none is taken for one that is none,
//! by a proof or by a stale read that is passed over. `WMFIX_LITMUS=all` makes many more.

use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::rng::Rng;
use wmfix_tests::tools::{Need, need};
use wmfix_tests::wait_loops::{WaitLoop, source};

/// Loops in a program.
const LOOPS: usize = 25;
/// Programs.
const PROGRAMS: usize = 12;

#[test]
fn no_random_wait_is_wrongly_proved() {
    need(&["gcc", "g++"].map(Need::Program));
    let all = std::env::var("WMFIX_LITMUS").is_ok_and(|value| value == "all");
    let count = if all { 8 * PROGRAMS } else { PROGRAMS };
    let programs: Vec<(usize, usize, usize)> = (0..count).into_par_iter().map(judge).collect();
    let sum = |of: fn(&(usize, usize, usize)) -> usize| programs.iter().map(of).sum::<usize>();
    let (right, proved, all) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
    wmfix_tests::note!("{all} loops, {right} never fail, {proved} of them proved");
    assert!(all >= 300 && right > all / 5, "{right} of {all}");
    // What is written plainly is still a wait.
    assert!(3 * proved > right, "{proved} proved of {right}");
}

/// The loops of one program: how many never fail, how many were proved, all of them.
fn judge(number: usize) -> (usize, usize, usize) {
    let is_cpp = number % 2 == 1;
    let mut rng = Rng::new(7000 + number as u64);
    let loops: Vec<WaitLoop> = (0..LOOPS)
        .map(|_| WaitLoop::random(&mut rng, is_cpp))
        .collect();
    let (world, program) = built(&source(&loops, is_cpp), is_cpp);
    let (mut right, mut proved) = (0, 0);
    for (place, one) in loops.iter().enumerate() {
        let which = char::from(b'A' + u8::try_from(place).expect("few loops"));
        let report = explored(&world, &program, &which.to_string());
        let is_proved = report["proof"]["proved"] == true;
        let text = || std::fs::read_to_string(world.path().join(file(is_cpp))).unwrap_or_default();
        assert!(
            !(is_proved && one.can_fail()),
            "loop {place} is proved: {one:#?}\n{}\n{report}",
            text()
        );
        let failed = report["failures"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        assert!(
            !failed || one.can_fail(),
            "loop {place} fails: {one:#?}\n{}\n{report}",
            text()
        );
        right += usize::from(!one.can_fail());
        proved += usize::from(is_proved);
    }
    (right, proved, loops.len())
}

fn file(is_cpp: bool) -> &'static str {
    if is_cpp { "loops.cc" } else { "loops.c" }
}

fn built(text: &str, is_cpp: bool) -> (World, String) {
    let world = World::new();
    world.write(file(is_cpp), text);
    let mut command = world.wmfix("gcc");
    let wrapper = if is_cpp { "c++" } else { "cc" };
    command.env("WMFIX_REAL_CXX", "g++");
    let arguments = [
        wrapper,
        "-g",
        "-O1",
        "-w",
        "-pthread",
        file(is_cpp),
        "-o",
        "loops",
    ];
    CommandResult::well(command.args(arguments));
    (world, "./loops".to_owned())
}

fn explored(world: &World, program: &str, argument: &str) -> Value {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "1");
    let arguments = [
        "check",
        "--exhaustive",
        "--time",
        "20",
        "--harm",
        "off",
        "--jobs",
        "1",
        "--format",
        "json",
    ];
    command.args(arguments).args(["--", program, argument]);
    CommandResult::of(&mut command).json()
}

/// Two threads, one of which waits as told; the test fails where it leaves too early.
fn proof_of(declarations: &str, writer: &str, waiter: &str) -> Value {
    let world = World::new();
    let text = format!(
        "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         {declarations}\n\
         static void *write_it(void *p) {{ {writer} return p; }}\n\
         static void *wait_for_it(void *p) {{ {waiter} return p; }}\n\
         int main(void) {{ pthread_t a, b; pthread_create(&a, 0, write_it, 0);\n\
         pthread_create(&b, 0, wait_for_it, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }}\n"
    );
    world.write("test.c", &text);
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "1");
    let arguments = ["check", "--exhaustive", "--harm", "off", "--format", "json"];
    command.args(arguments).arg(Path::new("test.c"));
    CommandResult::of(&mut command).json()["proof"].clone()
}

#[test]
fn a_loop_that_only_looks_like_a_wait_is_not_proved() {
    need(&[Need::Program("gcc")]);
    let count = "static atomic_int x; static int n; ";
    let set = "atomic_store(&x, 1);";
    let fails = "if (n) abort();";
    let cases = [
        (
            format!("{count} static void acknowledge(void) {{ n++; }}"),
            set.to_owned(),
            format!("while (!atomic_load(&x)) acknowledge(); {fails}"),
        ),
        (
            format!(
                "{count} static void up(void) {{ n++; }} static struct {{ void (*wait)(void); }} ops = {{ up }};"
            ),
            set.to_owned(),
            format!("while (!atomic_load(&x)) ops.wait(); {fails}"),
        ),
        (
            format!("{count}\n#define PAUSE (n++)\n"),
            set.to_owned(),
            format!("while (!atomic_load(&x)) PAUSE; {fails}"),
        ),
        (
            count.to_owned(),
            set.to_owned(),
            "int i = 0; for (; i < 3; i++) if (atomic_load(&x)) break; if (i) abort();".to_owned(),
        ),
        (
            "static atomic_int x = 256; static atomic_int y;".to_owned(),
            "atomic_store(&x, 512); atomic_store(&y, 1); atomic_store(&x, 1);".to_owned(),
            "while ((char)atomic_load(&x) != 0) ; if (!atomic_load(&y)) abort();".to_owned(),
        ),
        (
            "static atomic_uchar x = 200; static atomic_int y;".to_owned(),
            "atomic_store(&y, 1); atomic_store(&x, 250);".to_owned(),
            "while (atomic_load(&x) < 100) ; if (!atomic_load(&y)) abort();".to_owned(),
        ),
        (
            "static atomic_int a[3] = { 1, 1, 0 };".to_owned(),
            "atomic_store(&a[0], 0);".to_owned(),
            "int i = 0; while (atomic_load(&a[i])) i++; if (i) abort();".to_owned(),
        ),
    ];
    for (declarations, writer, waiter) in &cases {
        let proof = proof_of(declarations, writer, waiter);
        assert_ne!(proof["proved"], true, "{declarations} {waiter}\n{proof}");
    }
}

#[test]
fn an_ordinary_wait_is_still_proved() {
    need(&[Need::Program("gcc")]);
    let cases = [
        (
            "static atomic_int x;",
            "atomic_store(&x, 1);",
            "while (!atomic_load(&x)) sched_yield();",
        ),
        (
            "static atomic_uchar x;",
            "atomic_store(&x, 200);",
            "while (atomic_load(&x) < 100) ;",
        ),
        (
            "static atomic_int x;",
            "atomic_store(&x, 7);",
            "int t = 7; while (atomic_load(&x) != t) ;",
        ),
        (
            "static atomic_int l;",
            "while (atomic_exchange(&l, 1)) ; atomic_store(&l, 0);",
            "while (atomic_exchange(&l, 1)) while (atomic_load(&l)) sched_yield(); atomic_store(&l, 0);",
        ),
        (
            "static atomic_int l;",
            "int e = 0; while (!atomic_compare_exchange_weak(&l, &e, 1)) e = 0; atomic_store(&l, 0);",
            "int e = 0; while (!atomic_compare_exchange_weak(&l, &e, 1)) e = 0; atomic_store(&l, 0);",
        ),
    ];
    for (declarations, writer, waiter) in cases {
        let proof = proof_of(declarations, writer, waiter);
        assert_eq!(proof["proved"], true, "{declarations} {waiter}\n{proof}");
    }
}

#[test]
fn a_stale_value_that_ends_a_loop_is_reported() {
    need(&[Need::Program("gcc")]);
    // 200 is no negative number to an unsigned char.
    let world = World::new();
    let text = "#include <pthread.h>\n#include <stdatomic.h>\n\
        static atomic_uchar x = 200; static atomic_int y; static int seen;\n\
        static void *one(void *p) { atomic_store_explicit(&x, 201, memory_order_relaxed);\n\
        atomic_thread_fence(memory_order_seq_cst);\n\
        seen = atomic_load_explicit(&y, memory_order_relaxed); return p; }\n\
        static void *two(void *p) { atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
        while (atomic_load_explicit(&x, memory_order_relaxed) < 100) ;\n\
        return p; }\n\
        int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);\n\
        pthread_join(a, 0); pthread_join(b, 0); return 0; }\n";
    world.write("test.c", text);
    let mut command = world.wmfix("gcc");
    command.args(["check", "test.c", "--harm", "off", "--format", "json"]);
    let report = CommandResult::of(&mut command).json();
    let violations = report["violations"].as_array().expect("a list");
    let of_the_loop = violations.iter().any(|one| one["access"]["line"] == 8);
    assert!(of_the_loop, "{violations:#?}");
}
