//! Plain accesses that become atomic by the project's own macros and functions: taken if
//! they do just that for the object, with the order that the repair needs, and can be
//! called from the file; else the compilers' builtins are.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const TEST_OF_BOX: &str = "
#include <assert.h>
#include <pthread.h>
#include \"box.h\"
static struct box box;
static void *sender(void *unused) { (void)unused; box_put(&box, 7); return 0; }
static void *receiver(void *unused)
{
    int value;
    (void)unused;
    if (box_get(&box, &value))
        assert(value == 7);
    return 0;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, sender, 0);
    pthread_create(&other, 0, receiver, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

const BOX: &str = "
struct box { int value; int full; };
void box_put(struct box *box, int value);
int box_get(struct box *box, int *value);
";

const CODE: &str = "
#include \"box.h\"
#include \"base.h\"
void box_put(struct box *box, int value)
{
    box->value = value;
    box->full = 1;
}
int box_get(struct box *box, int *value)
{
    if (!box->full)
        return 0;
    *value = box->value;
    return 1;
}
";

/// The lines that a patch takes away and adds, each with its sign, and the report.
fn suggested(files: &[(&str, &str)], line: &str) -> (Vec<String>, CommandResult) {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let world = World::new();
    for (name, text) in files {
        world.write(name, text);
    }
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(line.split_whitespace());
    let ran = CommandResult::of(&mut command);
    let changed = ran.stdout.lines().filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    });
    let changed = changed.map(|line| format!("{} {}", &line[..1], line[1..].trim()));
    (changed.collect(), ran)
}

/// What the store and the load of the box's flag become where `base.h` has this text.
fn with_base(base: &str, others: &[(&str, &str)]) -> (Vec<String>, CommandResult) {
    let mut files = vec![
        ("box.h", BOX),
        ("base.h", base),
        ("box.c", CODE),
        ("test_box.c", TEST_OF_BOX),
    ];
    files.extend(others);
    suggested(&files, "suggest . --runs 60")
}

fn expected(store: &str, load: &str) -> [String; 4] {
    [
        "- box->full = 1;".to_owned(),
        format!("+ {store};"),
        "- if (!box->full)".to_owned(),
        format!("+ if (!{load})"),
    ]
}

const BUILTIN_STORE: &str = "__atomic_store_n(&box->full, 1, __ATOMIC_RELEASE)";
const BUILTIN_LOAD: &str = "__atomic_load_n(&box->full, __ATOMIC_ACQUIRE)";

#[test]
fn the_macros_of_a_header_make_an_access_atomic() {
    let base = "
#ifndef BASE_H
#define BASE_H
#include \"compiler.h\"
#endif
";
    let compiler = "
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) do { __atomic_store_n((p), (v), __ATOMIC_RELEASE); } while (0)
";
    let (changed, ran) = with_base(base, &[("compiler.h", compiler)]);
    let wanted = expected(
        "smp_store_release(&box->full, 1)",
        "smp_load_acquire(&box->full)",
    );
    assert_eq!(changed, wanted, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}

/// The threads only tell each other a number: relaxed accesses do.
#[test]
fn a_number_that_orders_nothing_takes_the_relaxed_macros() {
    let code = "
#include <pthread.h>
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define READ_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
static long progress;
static void *worker(void *unused)
{
    progress = 42;
    return unused;
}
int main(void)
{
    pthread_t thread;
    long seen;
    pthread_create(&thread, 0, worker, 0);
    seen = progress;
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}
";
    let (changed, ran) = suggested(&[("progress.c", code)], "suggest progress.c --runs 60");
    let wanted = [
        "- progress = 42;",
        "+ WRITE_ONCE(progress, 42);",
        "- seen = progress;",
        "+ seen = READ_ONCE(progress);",
    ];
    assert_eq!(changed, wanted, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}

#[test]
fn names_do_not_matter_and_functions_are_called_too() {
    let base = "
#ifdef _MSC_VER
#define bx_tell(v, x) InterlockedExchange(&(x), (v))
#else
#define bx_tell(v, x) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#endif
static inline long bx_ask_long(const long *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline int bx_ask(const int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
";
    let (changed, ran) = with_base(base, &[]);
    let wanted = expected("bx_tell(1, box->full)", "bx_ask(&box->full)");
    assert_eq!(changed, wanted, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}

#[test]
fn what_is_for_atomic_objects_or_has_another_order_is_not_called() {
    let base = "
#include <stdatomic.h>
#define LOAD_ACQUIRE(x) atomic_load_explicit(&(x), memory_order_acquire)
#define STORE_RELEASE(x, v) atomic_store_explicit(&(x), (v), memory_order_release)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define STORE_STRONG(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)
";
    let (changed, ran) = with_base(base, &[]);
    assert_eq!(changed, expected(BUILTIN_STORE, BUILTIN_LOAD), "{ran:?}");
}

#[test]
fn what_a_header_has_that_is_not_included_is_not_called() {
    let other = "
#define LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
";
    let (changed, ran) = with_base("", &[("once.h", other)]);
    assert_eq!(changed, expected(BUILTIN_STORE, BUILTIN_LOAD), "{ran:?}");
    let (changed, ran) = with_base("#include \"once.h\"\n", &[("once.h", other)]);
    let wanted = expected("STORE_RELEASE(box->full, 1)", "LOAD_ACQUIRE(box->full)");
    assert_eq!(changed, wanted, "{ran:?}");
}

#[test]
fn volatile_words_take_the_macros_of_the_project() {
    let base = "
#define load_acq(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_rel(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
";
    let code = "
#include \"box.h\"
#include \"base.h\"
static volatile int full;
void box_put(struct box *box, int value)
{
    box->value = value;
    full = 1;
}
int box_get(struct box *box, int *value)
{
    int is_full = full;
    if (!is_full)
        return 0;
    *value = box->value;
    return 1;
}
";
    let files = [
        ("box.h", BOX),
        ("base.h", base),
        ("box.c", code),
        ("test_box.c", TEST_OF_BOX),
    ];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let wanted = [
        "- full = 1;",
        "+ store_rel(&full, 1);",
        "- int is_full = full;",
        "+ int is_full = load_acq(&full);",
    ];
    assert_eq!(changed, wanted, "{ran:?}");
}

/// A volatile access is no atomic one, unless the user says that it counts as one.
#[test]
fn volatile_macros_are_called_where_volatile_counts() {
    let code = "
#include <pthread.h>
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) do { *(volatile __typeof__(x) *)&(x) = (v); } while (0)
static int progress;
static void *worker(void *unused)
{
    progress = 42;
    return unused;
}
int main(void)
{
    pthread_t thread;
    int seen;
    pthread_create(&thread, 0, worker, 0);
    seen = progress;
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}
";
    let wanted = |store: &str, load: &str| {
        [
            "- progress = 42;".to_owned(),
            format!("+ {store};"),
            "- seen = progress;".to_owned(),
            format!("+ seen = {load};"),
        ]
    };
    let builtins = wanted(
        "__atomic_store_n(&progress, 42, __ATOMIC_RELAXED)",
        "__atomic_load_n(&progress, __ATOMIC_RELAXED)",
    );
    let marked = wanted("WRITE_ONCE(progress, 42)", "READ_ONCE(progress)");
    for (flags, expected) in [
        ("", &builtins),
        ("--volatile ignore", &builtins),
        ("--volatile relaxed", &marked),
        // The repair needs no more than relaxed accesses, which these are not.
        ("--volatile acqrel", &builtins),
    ] {
        let line = format!("suggest progress.c --runs 60 {flags}");
        let (changed, ran) = suggested(&[("progress.c", code)], &line);
        assert_eq!(changed, *expected, "{flags}: {ran:?}");
        assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
    }
}

/// Templates that take references; in C++20 they come before `std::atomic_ref`.
#[test]
fn templates_of_a_header_make_an_access_atomic() {
    let base = "
#pragma once
namespace once {
template <typename T>
inline T load_acquire(const T &object) { return __atomic_load_n(&object, __ATOMIC_ACQUIRE); }
template <typename T, typename V>
inline void store_release(T &object, V value)
{
    __atomic_store_n(&object, static_cast<T>(value), __ATOMIC_RELEASE);
}
template <typename T>
inline void publish(T &object, T value) { __atomic_store_n(&object, value, __ATOMIC_RELEASE); }
}
";
    let code = "
#include <cassert>
#include <thread>
#include \"base.hpp\"
static bool full;
static int value;
int main()
{
    std::thread one([] {
        value = 7;
        full = true;
    });
    std::thread other([] {
        bool is_full = full;
        if (is_full)
            assert(value == 7);
    });
    one.join();
    other.join();
}
";
    let wanted = [
        "- full = true;",
        "+ once::publish(full, true);",
        "- bool is_full = full;",
        "+ bool is_full = once::load_acquire(full);",
    ];
    for standard in ["c++17", "c++20"] {
        let line = format!("suggest a.cpp --runs 60 --cxxflags=-std={standard}");
        let (changed, ran) = suggested(&[("a.cpp", code), ("base.hpp", base)], &line);
        assert_eq!(changed, wanted, "{ran:?}");
        assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
    }
}
