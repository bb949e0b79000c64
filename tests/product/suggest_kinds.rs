//! Kinds of change beside an order raised in place: what a header of the project has
//! for it, the body of a macro, a fence that moves, a volatile or plain access that
//! becomes an atomic one; and what needs no change because it is a barrier already.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn need_tools() {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
}

fn wmfix(world: &World, line: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(line.split_whitespace());
    CommandResult::of(&mut command)
}

/// The lines that a patch takes away and adds, each with its sign, and the report.
fn suggested(files: &[(&str, &str)], line: &str) -> (Vec<String>, CommandResult) {
    let world = World::new();
    for (name, text) in files {
        world.write(name, text);
    }
    let ran = wmfix(&world, line);
    let changed = ran.stdout.lines().filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    });
    let changed = changed.map(|line| format!("{} {}", &line[..1], line[1..].trim()));
    (changed.collect(), ran)
}

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

#[test]
fn the_stronger_macro_of_a_header_is_taken() {
    need_tools();
    let macros = "
#define BX_GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define BX_GET_ACQ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define BX_SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define BX_SET_REL(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
";
    let code = "
#include \"box.h\"
#include \"bx.h\"
void box_put(struct box *box, int value)
{
    box->value = value;
    BX_SET(box->full, 1);
}
int box_get(struct box *box, int *value)
{
    if (!BX_GET(box->full))
        return 0;
    *value = box->value;
    return 1;
}
";
    let files = [
        ("box.h", BOX),
        ("bx.h", macros),
        ("box.c", code),
        ("test_box.c", TEST_OF_BOX),
    ];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let expected = [
        "- BX_SET(box->full, 1);",
        "+ BX_SET_REL(box->full, 1);",
        "- if (!BX_GET(box->full))",
        "+ if (!BX_GET_ACQ(box->full))",
    ];
    assert_eq!(changed, expected, "{ran:?}");
}

#[test]
fn an_order_that_a_macro_says_is_raised_in_the_macro() {
    need_tools();
    let macros = "
#define BX_ASSIGN(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define BX_FOLLOW(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
";
    let code = "
#include \"box.h\"
#include \"bx.h\"
void box_put(struct box *box, int value)
{
    box->value = value;
    BX_ASSIGN(box->full, 1);
}
int box_get(struct box *box, int *value)
{
    if (!BX_FOLLOW(box->full))
        return 0;
    *value = box->value;
    return 1;
}
";
    let files = [
        ("box.h", BOX),
        ("bx.h", macros),
        ("box.c", code),
        ("test_box.c", TEST_OF_BOX),
    ];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let expected = [
        "- #define BX_ASSIGN(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)",
        "+ #define BX_ASSIGN(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)",
    ];
    assert_eq!(changed, expected, "{ran:?}");
}

/// A function that says by its name that it is relaxed stays so, and the call goes
/// to the method that differs in its order alone, whatever that is called.
#[test]
fn a_call_goes_to_the_method_that_differs_in_its_order_alone() {
    need_tools();
    let program = "
#include <atomic>
#include <cassert>
#include <thread>
class Word {
public:
    int get() const { return word_.load(std::memory_order_acquire); }
    void set_relaxed(int v) { word_.store(v, std::memory_order_relaxed); }
    void publish(int v) { word_.store(v, std::memory_order_release); }

private:
    std::atomic<int> word_{0};
};
static int data;
static Word ready;
int main()
{
    std::thread one([] {
        data = 1;
        ready.set_relaxed(1);
    });
    std::thread other([] {
        if (ready.get())
            assert(data == 1);
    });
    one.join();
    other.join();
}
";
    let (changed, ran) = suggested(&[("word.cpp", program)], "suggest word.cpp --runs 60");
    let expected = ["- ready.set_relaxed(1);", "+ ready.publish(1);"];
    assert_eq!(changed, expected, "{ran:?}");
}

#[test]
fn a_fence_that_is_a_line_late_moves() {
    need_tools();
    let code = "
#include <stdatomic.h>
#include \"box.h\"
static atomic_int full;
void box_put(struct box *box, int value)
{
    box->value = value;
    atomic_store_explicit(&full, 1, memory_order_relaxed);
    /* The value is there before the flag. */
    atomic_thread_fence(memory_order_release);
}
int box_get(struct box *box, int *value)
{
    if (!atomic_load_explicit(&full, memory_order_acquire))
        return 0;
    *value = box->value;
    return 1;
}
";
    let files = [("box.h", BOX), ("box.c", code), ("test_box.c", TEST_OF_BOX)];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let store = "atomic_store_explicit(&full, 1, memory_order_relaxed);";
    let expected = [format!("- {store}"), format!("+ {store}")];
    assert_eq!(changed, expected, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");

    let (_, ran) = suggested(&files, "suggest . --runs 60 --format json");
    let report = ran.json();
    let change = &report["repair"]["changes"][0];
    assert_eq!(change["kind"], "move", "{change}");
    assert_eq!(change["side"], "before", "{change}");
    assert_eq!(report["repair"]["cost"], 0);
}

#[test]
fn volatile_words_that_threads_race_on_become_atomic() {
    need_tools();
    let code = "
#include \"box.h\"
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
    let files = [("box.h", BOX), ("box.c", code), ("test_box.c", TEST_OF_BOX)];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let expected = [
        "- full = 1;",
        "+ __atomic_store_n(&full, 1, __ATOMIC_RELEASE);",
        "- int is_full = full;",
        "+ int is_full = __atomic_load_n(&full, __ATOMIC_ACQUIRE);",
    ];
    assert_eq!(changed, expected, "{ran:?}");
    assert!(ran.stderr.contains("race on volatile objects"), "{ran:?}");

    let (_, ran) = suggested(&files, "suggest . --runs 60 --format json");
    let report = ran.json();
    for change in report["repair"]["changes"].as_array().unwrap() {
        assert_eq!(change["kind"], "atomic", "{change}");
        assert_eq!(change["from"], "volatile", "{change}");
    }
}

/// Nothing but a plain flag orders the plain data: the flag becomes atomic, with the
/// orders that publish the data, and the data stays as it is.
#[test]
fn a_plain_flag_becomes_atomic_and_its_data_stays_plain() {
    need_tools();
    let code = "
#include \"box.h\"
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
    let files = [("box.h", BOX), ("box.c", code), ("test_box.c", TEST_OF_BOX)];
    let (changed, ran) = suggested(&files, "suggest . --runs 60");
    let expected = [
        "- box->full = 1;",
        "+ __atomic_store_n(&box->full, 1, __ATOMIC_RELEASE);",
        "- if (!box->full)",
        "+ if (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))",
    ];
    assert_eq!(changed, expected, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
    assert!(
        ran.stderr.contains("makes their accesses atomic"),
        "{ran:?}"
    );

    let (_, ran) = suggested(&files, "suggest . --runs 60 --format json");
    let report = ran.json();
    for change in report["repair"]["changes"].as_array().unwrap() {
        assert_eq!(change["kind"], "atomic", "{change}");
        assert_eq!(change["from"], "plain", "{change}");
        assert_ne!(change["reached_runs"], 0, "{change}");
    }
}

/// Every write of the count publishes a value, also one that repeats a write which no
/// other thread has looked at in between.
#[test]
fn a_plain_count_that_is_written_twice_in_a_row_publishes_both_values() {
    need_tools();
    let code = "
#include <assert.h>
#include <pthread.h>
static int values[2];
static int count;
static void put(int value)
{
    values[count] = value;
    count = count + 1;
}
static void *sender(void *unused)
{
    put(7);
    put(8);
    return unused;
}
static void *receiver(void *unused)
{
    int seen = count;
    if (seen > 0)
        assert(values[seen - 1] == 6 + seen);
    return unused;
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
    let (changed, ran) = suggested(&[("count.c", code)], "suggest count.c --runs 60");
    let expected = [
        "- count = count + 1;",
        "+ __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);",
        "- int seen = count;",
        "+ int seen = __atomic_load_n(&count, __ATOMIC_ACQUIRE);",
    ];
    assert_eq!(changed, expected, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}

/// Two threads that change a number by what they read of it: two atomic accesses
/// instead would hide the lost update, and are not offered.
#[test]
fn an_update_of_two_threads_is_not_made_of_two_atomic_accesses() {
    need_tools();
    let code = "
#include <pthread.h>
static int sum;
static void *add(void *unused)
{
    int now = sum;
    sum = now + 1;
    return unused;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return sum < 1;
}
";
    let (changed, ran) = suggested(&[("sum.c", code)], "suggest sum.c --runs 30");
    assert_eq!(changed, [] as [&str; 0], "{ran:?}");
    assert!(
        ran.stderr.contains("a lock or a read-modify-write"),
        "{ran:?}"
    );
}

/// gcc documents them so, and compiles them so.
#[test]
fn the_older_builtins_of_gcc_are_full_barriers() {
    need_tools();
    let program = "
#include <assert.h>
#include <pthread.h>
#define ADD(p) BARRIER
static int x, y, first, second, left, right;
static void *one(void *unused)
{
    (void)unused;
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
    ADD(&first);
    left = __atomic_load_n(&y, __ATOMIC_RELAXED);
    return 0;
}
static void *other(void *unused)
{
    (void)unused;
    __atomic_store_n(&y, 1, __ATOMIC_RELAXED);
    ADD(&second);
    right = __atomic_load_n(&x, __ATOMIC_RELAXED);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(left || right);
    return 0;
}
";
    for (barrier, code) in [
        ("__sync_fetch_and_add((p), 1)", 0),
        ("__atomic_fetch_add((p), 1, __ATOMIC_SEQ_CST)", 1),
        ("__sync_lock_test_and_set((p), 1)", 1),
    ] {
        let text = program.replace("BARRIER", barrier);
        let (_, ran) = suggested(&[("sb.c", &text)], "check sb.c --runs 100");
        assert_eq!(ran.code, Some(code), "{barrier}: {ran:?}");
    }
}

/// What is not declared volatile may be accessed through a pointer to volatile, and a
/// thread may end with such a write.
#[test]
fn a_pointer_to_volatile_counts_as_volatile() {
    need_tools();
    let program = "
#include <assert.h>
#include <pthread.h>
#include <sched.h>
static int flag, data;
static void *one(void *unused)
{
    (void)unused;
    data = 1;
    *(volatile int *)&flag = 1;
    return 0;
}
static void *other(void *unused)
{
    volatile int *ready = &flag;
    (void)unused;
    while (*ready == 0)
        sched_yield();
    assert(data == 1);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";
    for (volatile, code) in [("ignore", 1), ("relaxed", 1), ("acqrel", 0)] {
        let line = format!("check flag.c --runs 60 --volatile {volatile}");
        let (_, ran) = suggested(&[("flag.c", program)], &line);
        assert_eq!(ran.code, Some(code), "{volatile}: {ran:?}");
    }
}

/// Without a standard that has references to atomics, the compilers' builtins are used.
#[test]
fn a_plain_flag_of_a_cpp20_file_becomes_atomic_by_a_reference() {
    need_tools();
    let code = "
#include <cassert>
#include <thread>
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
    let expected = |store: &str, load: &str, include: Option<&str>| {
        let include = include.map(str::to_owned);
        let changed = [
            "- full = true;".to_owned(),
            format!("+ {store};"),
            "- bool is_full = full;".to_owned(),
            format!("+ bool is_full = {load};"),
        ];
        include.into_iter().chain(changed).collect::<Vec<_>>()
    };
    let (changed, ran) = suggested(
        &[("a.cpp", code)],
        "suggest a.cpp --runs 60 --cxxflags=-std=c++20",
    );
    let reference = expected(
        "std::atomic_ref(full).store(true, std::memory_order_release)",
        "std::atomic_ref(full).load(std::memory_order_acquire)",
        Some("+ #include <atomic>"),
    );
    assert_eq!(changed, reference, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");

    let (changed, ran) = suggested(
        &[("a.cpp", code)],
        "suggest a.cpp --runs 60 --cxxflags=-std=c++17",
    );
    let builtin = expected(
        "__atomic_store_n(&full, true, __ATOMIC_RELEASE)",
        "__atomic_load_n(&full, __ATOMIC_ACQUIRE)",
        None,
    );
    assert_eq!(changed, builtin, "{ran:?}");
}

/// An order by a name of one letter, and what the repair should make of the line.
const SHORTHANDS: &str = include_str!("../corpus/suggest/shorthands.cc");

#[test]
fn an_order_with_a_short_name_is_changed_in_place() {
    need_tools();
    let line = "suggest shorthands.cc --runs 100";
    let (changed, ran) = suggested(&[("shorthands.cc", SHORTHANDS)], line);
    let expected = [
        "- if (state.compare_exchange_strong(expected, 2, X, X))",
        "+ if (state.compare_exchange_strong(expected, 2, A, X))",
    ];
    assert_eq!(changed, expected, "{ran:?}");
}

const BIT_FIELDS: &str = include_str!("../corpus/suggest/bit_fields.c");

#[test]
fn a_plain_read_in_an_expression_takes_its_name_from_the_atomic_write() {
    need_tools();
    // gcc points at the operator of the expression, not at the object that is read.
    let source = "
#include <pthread.h>
struct ring { unsigned head, tail; } ring;
static void *producer(void *unused)
{
    __atomic_store_n(&ring.head, 1, __ATOMIC_RELAXED);
    return unused;
}
static unsigned pending(const struct ring *r) { return r->tail - r->head; }
int main(void)
{
    pthread_t thread;
    ring.tail = 1;
    pthread_create(&thread, 0, producer, 0);
    unsigned left = pending(&ring);
    pthread_join(thread, 0);
    return left > 1;
}
";
    let (changed, ran) = suggested(&[("ring.c", source)], "suggest ring.c --runs 60");
    let added = "+ static unsigned pending(const struct ring *r) { return r->tail - \
        __atomic_load_n(&r->head, __ATOMIC_RELAXED); }";
    let removed = "- static unsigned pending(const struct ring *r) { return r->tail - r->head; }";
    assert_eq!(changed, [removed, added], "{ran:?}");
}

#[test]
fn a_bit_field_is_not_made_atomic() {
    need_tools();
    let line = "suggest bit_fields.c --runs 100";
    let (changed, ran) = suggested(&[("bit_fields.c", BIT_FIELDS)], line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!ran.stderr.contains("did not compile"), "{ran:?}");
    let added: Vec<_> = changed
        .iter()
        .filter(|line| line.starts_with('+'))
        .collect();
    assert!(
        added.iter().any(|line| line.contains("&page.count")),
        "{ran:?}"
    );
    assert!(
        !added.iter().any(|line| line.contains("&page.full")),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("not repaired: R"), "{ran:?}");
}
