//! `wmfix relax`: textbook algorithms written with seq_cst get the orders that textbooks
//! give, fences that nothing needs go, and what the runs do not cover stays.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn need_tools() {
    need(&["gcc", "g++", "clang", "clang++"].map(Need::Program));
}

/// What `wmfix` says to a line about a file.
fn wmfix(world: &World, compiler: &str, line: &str) -> CommandResult {
    let mut command = world.wmfix(compiler);
    let cxx = if compiler == "gcc" { "g++" } else { "clang++" };
    command.env("WMFIX_REAL_CXX", cxx);
    command.args(line.split_whitespace());
    CommandResult::of(&mut command)
}

/// A text after `relax --apply`, and what was said.
fn relaxed(name: &str, text: &str, compiler: &str, flags: &str) -> (String, CommandResult) {
    let world = World::new();
    let path = world.write(name, text);
    let ran = wmfix(&world, compiler, &format!("relax {name} --apply {flags}"));
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    (std::fs::read_to_string(path).unwrap(), ran)
}

/// Panics unless a text has all of these lines, and none of the others.
fn expect(text: &str, has: &[&str], has_not: &[&str], ran: &CommandResult) {
    for line in has {
        assert!(text.contains(line), "no {line} in\n{text}\n{}", ran.stderr);
    }
    for line in has_not {
        assert!(!text.contains(line), "{line} in\n{text}\n{}", ran.stderr);
    }
}

const TICKET_C: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint next_ticket, now_serving;
static int counter;
static void lock(void)
{
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&now_serving) != mine) {
    }
}
static void unlock(void)
{
    unsigned now = atomic_load(&now_serving);
    atomic_store(&now_serving, now + 1);
}
static void *worker(void *unused)
{
    (void)unused;
    lock();
    counter++;
    unlock();
    return 0;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
    return 0;
}
";

const TICKET_CPP: &str = "
#include <atomic>
#include <cassert>
#include <thread>
class ticket_lock {
public:
    void lock()
    {
        const unsigned mine = next_++;
        while (serving_ != mine) {
        }
    }
    void unlock()
    {
        serving_ = serving_ + 1;
    }
private:
    std::atomic<unsigned> next_{0}, serving_{0};
};
static ticket_lock guard;
static int counter;
static void work()
{
    guard.lock();
    ++counter;
    guard.unlock();
}
int main()
{
    std::thread one(work), other(work);
    one.join();
    other.join();
    assert(counter == 2);
}
";

#[test]
fn a_ticket_lock_gets_the_orders_of_textbooks() {
    need_tools();
    let c = [
        "atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed)",
        "while (atomic_load_explicit(&now_serving, memory_order_acquire) != mine)",
        "unsigned now = atomic_load_explicit(&now_serving, memory_order_relaxed)",
        "atomic_store_explicit(&now_serving, now + 1, memory_order_release)",
    ];
    let cpp = [
        "next_.fetch_add(1, std::memory_order_relaxed)",
        "while (serving_.load(std::memory_order_acquire) != mine)",
        "serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release)",
    ];
    for compiler in ["gcc", "clang"] {
        let (text, ran) = relaxed("ticket.c", TICKET_C, compiler, "");
        expect(&text, &c, &[], &ran);
        assert!(ran.stderr.starts_with("no finding in "), "{}", ran.stderr);
        let (text, ran) = relaxed("ticket.cpp", TICKET_CPP, compiler, "");
        expect(&text, &cpp, &[], &ran);
    }
}

const MCS_C: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *_Atomic next; atomic_int locked; };
static struct node *_Atomic tail;
static int counter;
static void lock(struct node *me)
{
    atomic_store(&me->next, 0);
    atomic_store(&me->locked, 1);
    struct node *before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&before->next, me);
        while (atomic_load(&me->locked)) {
        }
    }
}
static void unlock(struct node *me)
{
    struct node *after = atomic_load(&me->next);
    if (!after) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, 0))
            return;
        while (!(after = atomic_load(&me->next))) {
        }
    }
    atomic_store(&after->locked, 0);
}
static void *worker(void *own)
{
    struct node *node = own;
    lock(node);
    counter++;
    unlock(node);
    return 0;
}
int main(void)
{
    static struct node nodes[2];
    pthread_t one, other;
    pthread_create(&one, 0, worker, &nodes[0]);
    pthread_create(&other, 0, worker, &nodes[1]);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
    return 0;
}
";

const MCS_CPP: &str = "
#include <atomic>
#include <cassert>
#include <thread>
struct node { std::atomic<node *> next{nullptr}; std::atomic<bool> locked{false}; };
static std::atomic<node *> tail{nullptr};
static int counter;
static void lock(node &me)
{
    me.next.store(nullptr);
    me.locked.store(true);
    node *before = tail.exchange(&me);
    if (before) {
        before->next.store(&me);
        while (me.locked.load()) {
        }
    }
}
static void unlock(node &me)
{
    node *after = me.next.load();
    if (!after) {
        node *expected = &me;
        if (tail.compare_exchange_strong(expected, nullptr))
            return;
        while (!(after = me.next.load())) {
        }
    }
    after->locked.store(false);
}
static void work(node *own)
{
    lock(*own);
    ++counter;
    unlock(*own);
}
int main()
{
    static node nodes[2];
    std::thread one(work, &nodes[0]), other(work, &nodes[1]);
    one.join();
    other.join();
    assert(counter == 2);
}
";

/// The first node of a queue has nobody to see its fields but through `tail`.
#[test]
fn an_mcs_lock_gets_the_orders_of_textbooks() {
    need_tools();
    let c = [
        "atomic_store_explicit(&me->next, 0, memory_order_relaxed)",
        "atomic_store_explicit(&me->locked, 1, memory_order_relaxed)",
        "atomic_exchange_explicit(&tail, me, memory_order_acq_rel)",
        "atomic_store_explicit(&before->next, me, memory_order_release)",
        "while (atomic_load_explicit(&me->locked, memory_order_acquire))",
        "atomic_compare_exchange_strong_explicit(&tail, &expected, 0, memory_order_release, memory_order_relaxed)",
        "atomic_store_explicit(&after->locked, 0, memory_order_release)",
    ];
    let cpp = [
        "me.next.store(nullptr, std::memory_order_relaxed)",
        "me.locked.store(true, std::memory_order_relaxed)",
        "tail.exchange(&me, std::memory_order_acq_rel)",
        "before->next.store(&me, std::memory_order_release)",
        "while (me.locked.load(std::memory_order_acquire))",
        "tail.compare_exchange_strong(expected, nullptr, std::memory_order_release)",
        "after->locked.store(false, std::memory_order_release)",
    ];
    // Weaker orders hang it, which takes a while to be found out.
    let (text, ran) = relaxed("mcs.c", MCS_C, "gcc", "");
    expect(&text, &c, &["seq_cst"], &ran);
    let (text, ran) = relaxed("mcs.cpp", MCS_CPP, "clang", "");
    expect(&text, &cpp, &["seq_cst"], &ran);
}

const RING_C: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum { SIZE = 4, ITEMS = 6 };
static int slots[SIZE];
static atomic_uint head, tail;
static int push(int value)
{
    unsigned t = atomic_load(&tail);
    unsigned h = atomic_load(&head);
    if (t - h == SIZE)
        return 0;
    slots[t % SIZE] = value;
    atomic_store(&tail, t + 1);
    return 1;
}
static int pop(int *value)
{
    unsigned own = atomic_load(&head);
    unsigned end = atomic_load(&tail);
    if (own == end)
        return 0;
    *value = slots[own % SIZE];
    atomic_store(&head, own + 1);
    return 1;
}
static void *producer(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++)
        while (!push(i)) {
        }
    return 0;
}
static void *consumer(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        int value;
        while (!pop(&value)) {
        }
        assert(value == i);
    }
    return 0;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, producer, 0);
    pthread_create(&other, 0, consumer, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

/// A ring is not robust with the orders of textbooks: each side may see an old index of the
/// other. What is said here holds for orders that leave nothing stale.
#[test]
fn a_ring_of_one_producer_and_one_consumer_reads_nothing_stale_with_its_orders() {
    need_tools();
    let expected = [
        "unsigned t = atomic_load_explicit(&tail, memory_order_relaxed)",
        "unsigned h = atomic_load(&head)",
        "atomic_store(&tail, t + 1)",
        "unsigned own = atomic_load_explicit(&head, memory_order_relaxed)",
        "unsigned end = atomic_load(&tail)",
        "atomic_store(&head, own + 1)",
    ];
    for compiler in ["gcc", "clang"] {
        let (text, ran) = relaxed("ring.c", RING_C, compiler, "");
        expect(&text, &expected, &[], &ran);
    }
    let cpp = RING_C
        .replace(
            "#include <stdatomic.h>",
            "#include <atomic>\nusing std::atomic;",
        )
        .replace(
            "static atomic_uint head, tail;",
            "static atomic<unsigned> head, tail;",
        )
        .replace("atomic_load(&tail)", "tail.load()")
        .replace("atomic_load(&head)", "head.load()")
        .replace("atomic_store(&tail, t + 1)", "tail = t + 1")
        .replace("atomic_store(&head, own + 1)", "head = own + 1");
    let expected = [
        "unsigned t = tail.load(std::memory_order_relaxed)",
        "unsigned h = head.load()",
        "tail = t + 1",
        "unsigned own = head.load(std::memory_order_relaxed)",
        "unsigned end = tail.load()",
        "head = own + 1",
    ];
    let (text, ran) = relaxed("ring.cpp", &cpp, "clang", "");
    expect(&text, &expected, &[], &ran);
}

const MESSAGE: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready, spare;
static int data;
static void never(void)
{
    atomic_store(&ready, 7);
}
static void *sender(void *unused)
{
    if (unused)
        never();
    data = 1;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&ready, 1, memory_order_release);
    atomic_store(&spare, 1);
    return 0;
}
static void *receiver(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    }
    assert(data == 1);
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

fn lines_of(patch: &str, sign: char) -> Vec<String> {
    let lines = patch.lines().filter(|line| {
        line.starts_with(sign) && !line.starts_with("+++") && !line.starts_with("---")
    });
    lines.map(|line| line[1..].trim().to_owned()).collect()
}

#[test]
fn a_fence_that_nothing_needs_goes_and_what_the_runs_do_not_cover_stays() {
    need_tools();
    let world = World::new();
    world.write("message.c", MESSAGE);
    let ran = wmfix(&world, "gcc", "relax message.c --format json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = ran.json();
    let relaxation = &report["relaxation"];
    let patch = relaxation["patch"].as_str().unwrap();
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    assert_eq!(lines_of(patch, '-'), [fence], "{patch}");
    assert_eq!(lines_of(patch, '+'), [""; 0], "{patch}");
    let change = &relaxation["changes"][0];
    assert_eq!(change["kind"], "removed-fence");
    assert_eq!(
        (&change["from"], &change["to"]),
        (&Value::from("seq_cst"), &Value::from("none"))
    );
    let lines = |kept: &str| -> Vec<u64> {
        let places = relaxation["kept"][kept].as_array().unwrap().iter();
        places
            .map(|place| place["line"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(lines("unreached"), [9]);
    // Nobody else looks at it.
    assert_eq!(lines("one_thread"), [18]);
    assert_eq!(relaxation["optimal"], true);
    assert_eq!(relaxation["proved"], false);
    assert!(relaxation["verified_runs"].as_u64().unwrap() > 0);
    for machine in ["x86-64", "aarch64"] {
        let saves = &relaxation["saves"][machine];
        assert!(
            saves["before"].as_u64() > saves["after"].as_u64(),
            "{saves}"
        );
    }
    assert_eq!(report["repair"], Value::Null);

    let text = wmfix(&world, "gcc", "relax message.c").stderr;
    assert!(text.contains("the seq_cst fence goes"), "{text}");
    assert!(
        text.contains("kept: 1 operation that no run reached: message.c:9"),
        "{text}"
    );
    assert!(
        text.contains("only one thread accessed: message.c:18"),
        "{text}"
    );
}

#[test]
fn the_patch_applies_with_git_and_what_it_leaves_has_no_weaker_orders() {
    need(&["gcc", "git"].map(Need::Program));
    let world = World::new();
    world.write("ticket.c", TICKET_C);
    let ran = wmfix(&world, "gcc", "relax ticket.c");
    world.write("p.patch", &ran.stdout);
    CommandResult::well(world.command("git").args(["init", "-q"]));
    CommandResult::well(world.command("git").args(["apply", "p.patch"]));
    let again = wmfix(&world, "gcc", "relax ticket.c");
    assert_eq!(
        (again.code, &*again.stdout),
        (Some(0), ""),
        "{}",
        again.stderr
    );
    assert!(
        again.stderr.contains("no order to be changed"),
        "{}",
        again.stderr
    );
    let checked = wmfix(&world, "gcc", "check ticket.c");
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}

#[test]
fn a_program_with_a_bug_is_sent_to_suggest() {
    need_tools();
    let broken = MESSAGE
        .replace("memory_order_release", "memory_order_relaxed")
        .replace("    atomic_thread_fence(memory_order_seq_cst);\n", "");
    let world = World::new();
    let path = world.write("message.c", &broken);
    let ran = wmfix(&world, "gcc", "relax message.c --apply");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("run `wmfix suggest` first"),
        "{}",
        ran.stderr
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), broken);
    let failing = MESSAGE.replace("assert(data == 1)", "assert(data == 2)");
    world.write("failing.c", &failing);
    let ran = wmfix(&world, "gcc", "relax failing.c");
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""), "{}", ran.stderr);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    need(&["gcc"].map(Need::Program));
    let world = World::new();
    world.write("message.c", MESSAGE);
    for flags in ["--races off", "--shard 1/2"] {
        let ran = wmfix(&world, "gcc", &format!("relax message.c {flags}"));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("relax does not work with"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn all_runs_explored_prove_the_orders() {
    need_tools();
    for compiler in ["gcc", "clang"] {
        let (text, ran) = relaxed("ticket.c", TICKET_C, compiler, "--exhaustive");
        let expected = [
            "atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed)",
            "atomic_store_explicit(&now_serving, now + 1, memory_order_release)",
        ];
        expect(&text, &expected, &[], &ran);
        assert!(
            ran.stderr.starts_with("proved for this test"),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("for all runs of this test"),
            "{}",
            ran.stderr
        );
    }
}

/// Dekker's entry, whose fences are needed: one machine prefers barriers, the other
/// ordered accesses.
#[test]
fn the_machine_decides_between_fences_and_orders() {
    need_tools();
    let sb = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int a, b;
static void *one(void *unused)
{
    (void)unused;
    atomic_store(&x, 1);
    atomic_thread_fence(memory_order_seq_cst);
    a = atomic_load(&y);
    return 0;
}
static void *two(void *unused)
{
    (void)unused;
    atomic_store(&y, 1);
    atomic_thread_fence(memory_order_seq_cst);
    b = atomic_load(&x);
    return 0;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(a || b);
    return 0;
}
";
    let (text, ran) = relaxed("sb.c", sb, "gcc", "--cost arm64");
    expect(
        &text,
        &["atomic_store(&x, 1)", "atomic_load(&y)"],
        &["fence"],
        &ran,
    );
    let (text, ran) = relaxed("sb.c", sb, "gcc", "--cost x86");
    let barriers =
        text.matches("atomic_thread_fence").count() + text.matches("atomic_store(").count();
    assert_eq!(barriers, 2, "{text}\n{}", ran.stderr);
}

#[test]
fn the_weaker_macro_of_a_header_is_taken() {
    need_tools();
    let macros = "
#define BX_GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define BX_GET_ACQ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define BX_SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define BX_SET_REL(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
";
    let code = "
#include <assert.h>
#include <pthread.h>
#include \"bx.h\"
static int hits, flag, data;
static void *one(void *unused)
{
    (void)unused;
    BX_SET_REL(hits, 1);
    data = 1;
    BX_SET_REL(flag, 1);
    return 0;
}
static void *two(void *unused)
{
    (void)unused;
    if (BX_GET_ACQ(flag))
        assert(data == 1);
    assert(BX_GET_ACQ(hits) <= 1);
    return 0;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
";
    let world = World::new();
    world.write("bx.h", macros);
    world.write("box.c", code);
    let ran = wmfix(&world, "gcc", "relax box.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let added = lines_of(&ran.stdout, '+');
    assert!(
        added.contains(&"BX_SET(hits, 1);".to_owned()),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
    let kept = ["BX_SET(flag, 1);", "if (BX_GET(flag))"];
    assert!(
        !added.iter().any(|line| kept.contains(&line.as_str())),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("__ATOMIC"), "{}", ran.stdout);
}

/// A function around an operation is one point for all who call it.
#[test]
fn a_wrapper_is_relaxed_for_all_of_its_callers_or_not_at_all() {
    need_tools();
    let code = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag, hits;
static int data;
static void set(atomic_int *object, int value)
{
    atomic_store(object, value);
}
static int get(atomic_int *object)
{
    return atomic_load(object);
}
static void *one(void *unused)
{
    (void)unused;
    set(&hits, 1);
    data = 1;
    set(&flag, 1);
    return 0;
}
static void *two(void *unused)
{
    (void)unused;
    if (get(&flag))
        assert(data == 1);
    assert(get(&hits) <= 1);
    return 0;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
";
    for compiler in ["gcc", "clang"] {
        let (text, ran) = relaxed("wrapper.c", code, compiler, "");
        let expected = [
            "atomic_store_explicit(object, value, memory_order_release)",
            "return atomic_load_explicit(object, memory_order_acquire)",
            "    set(&hits, 1);",
        ];
        expect(&text, &expected, &[], &ran);
    }
}
