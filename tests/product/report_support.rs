//! What the tests of reports share: programs, and ways to ask wmfix about them.

#![allow(dead_code, reason = "each test file uses a part")]

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering: two violations, no race.
pub(crate) const STORE_BUFFERING: &str = include_str!("../corpus/suggest/sb.c");
/// Message passing: a race.
pub(crate) const MESSAGE_PASSING: &str = include_str!("../corpus/suggest/mp.c");
/// Peterson's lock: violations and races.
pub(crate) const PETERSON: &str = include_str!("../corpus/suggest/peterson.c");

/// Two pairs of threads that have nothing to do with each other: store buffering
/// in one file's beginning, message passing at its end.
pub(crate) const TWO_CAUSES: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y, ready;\nstatic int data, a, b;\n\
    static void *left(void *p) {\n\
    \x20   atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
    \x20   a = atomic_load_explicit(&y, memory_order_relaxed);\n    return p;\n}\n\
    static void *right(void *p) {\n\
    \x20   atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
    \x20   b = atomic_load_explicit(&x, memory_order_relaxed);\n    return p;\n}\n\
    \n\n\n\n\n\n\n\n\n\n\
    static void *producer(void *p) {\n    data = 42;\n\
    \x20   atomic_store_explicit(&ready, 1, memory_order_relaxed);\n    return p;\n}\n\
    static void *consumer(void *p) {\n\
    \x20   while (!atomic_load_explicit(&ready, memory_order_relaxed))\n        ;\n\
    \x20   b = data;\n    return p;\n}\n\
    int main(void) {\n    pthread_t t[4];\n\
    \x20   void *(*run[])(void *) = {left, right, producer, consumer};\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, run[i], 0);\n\
    \x20   for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n\
    \x20   for (int i = 2; i < 4; i++)\n        pthread_create(&t[i], 0, run[i], 0);\n\
    \x20   for (int i = 2; i < 4; i++)\n        pthread_join(t[i], 0);\n\
    \x20   return a + b > 100;\n}\n";

/// Fails with every mistake that a report has under a schema.
pub(crate) fn assert_valid(report: &serde_json::Value, schema: &jsonschema::Validator) {
    let mistakes: Vec<String> = schema
        .iter_errors(report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

/// Whether what a test of a report needs is here.
pub(crate) fn need_tools() {
    need(&[Need::Program("gcc"), Need::Program("git")]);
}

/// Runs wmfix in a world with the words of a line.
pub(crate) fn wmfix(world: &World, line: &str) -> CommandResult {
    CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
}
