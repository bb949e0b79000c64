//! Repairs of programs whose threads share volatile objects: their stale values are made
//! to happen like those of atomic ones, only what does harm is repaired, and what is said
//! about the patched program counts the accesses that have become atomic.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn need_tools() {
    need(&[Need::Program("gcc")]);
}

/// The lines that a patch adds, and the report.
fn suggested(code: &str, options: &str) -> (Vec<String>, CommandResult) {
    let world = World::new();
    world.write("ring.c", code);
    let mut command = world.wmfix("gcc");
    command.args(["suggest", "ring.c"]);
    command.args(options.split_whitespace());
    let ran = CommandResult::of(&mut command);
    let added = ran.stdout.lines();
    let added = added.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    let added = added.map(|line| line[1..].trim().to_owned()).collect();
    (added, ran)
}

/// Positions that one thread writes and the other looks at again before it does anything:
/// what they order has to be ordered, and an old position does no harm.
#[test]
fn the_positions_of_a_volatile_ring_get_release_and_acquire_and_no_barrier() {
    need_tools();
    let code = "
#include <pthread.h>
#include <sched.h>
#define LEN 2u
static int slots[LEN];
static volatile unsigned head, tail;
static int wrong;
static int put(int value)
{
    unsigned h = head;
    if (h - tail == LEN)
        return 0;
    slots[h % LEN] = value;
    head = h + 1;
    return 1;
}
static int get(int *value)
{
    unsigned t = tail;
    if (t == head)
        return 0;
    *value = slots[t % LEN];
    tail = t + 1;
    return 1;
}
static void *writer(void *unused)
{
    for (int i = 1; i <= 4; i++)
        while (!put(i))
            sched_yield();
    return unused;
}
int main(void)
{
    pthread_t t;
    int value;
    pthread_create(&t, 0, writer, 0);
    for (int i = 1; i <= 4; i++) {
        while (!get(&value))
            sched_yield();
        if (value != i)
            wrong++;
    }
    pthread_join(t, 0);
    return wrong != 0;
}
";
    let (added, ran) = suggested(code, "--runs 100");
    let expected = [
        "if (h - __atomic_load_n(&tail, __ATOMIC_ACQUIRE) == LEN)",
        "__atomic_store_n(&head, h + 1, __ATOMIC_RELEASE);",
        "if (t == __atomic_load_n(&head, __ATOMIC_ACQUIRE))",
        "__atomic_store_n(&tail, t + 1, __ATOMIC_RELEASE);",
    ];
    assert_eq!(added, expected, "{ran:?}");
    // They were tried, and the accesses that have become atomic are the same sites.
    assert!(!ran.stderr.contains("not tried"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("these runs reached 6 of 6 atomic sites"),
        "{ran:?}"
    );
}

const DEKKER: &str = "
#include <pthread.h>
static volatile int wants[2];
static int inside, both;
static int raise_first(void)
{
    return wants[0] = 1;
}
static int raise_second(void)
{
    return wants[1] = 1;
}
static void *first(void *unused)
{
    raise_first();
    if (!wants[1])
        both += __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) > 0;
    return unused;
}
static void *second(void *unused)
{
    raise_second();
    if (!wants[0])
        __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return inside > 1;
}
";

/// A volatile word that does harm when it is old, and a barrier behind a value that is
/// returned: that the runs came to it is known.
#[test]
fn a_stale_volatile_word_that_does_harm_is_told_and_repaired() {
    need_tools();
    let (added, ran) = suggested(DEKKER, "--runs 200 --volatile relaxed");
    assert!(ran.stderr.contains("harmful: "), "{ran:?}");
    let is_fence = |line: &&String| line.contains("__sync_synchronize") || line.contains("fence");
    assert_eq!(added.iter().filter(is_fence).count(), 2, "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
    assert!(!ran.stderr.contains("not verified:"), "{ran:?}");
    assert!(!ran.stderr.contains("not reached:"), "{ran:?}");
}

/// A race that no change removes is in the runs of the patched program as well.
#[test]
fn what_is_not_repaired_is_said_to_be_still_there() {
    need_tools();
    let code = "
#include <pthread.h>
static int sum, data, seen;
static int flag;
static void *add(void *unused)
{
    int now = sum;
    sum = now + 1;
    data = 1;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return unused;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, 0, add, 0);
    int now = sum;
    sum = now + 1;
    if (__atomic_load_n(&flag, __ATOMIC_RELAXED))
        seen = data;
    pthread_join(one, 0);
    return sum < 1;
}
";
    let (added, ran) = suggested(code, "--runs 60");
    assert!(!added.is_empty(), "{ran:?}");
    assert!(ran.stderr.contains("not repaired: R"), "{ran:?}");
    assert!(
        !ran.stderr.contains("showed no further findings"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("still showed R"), "{ran:?}");
    assert!(
        ran.stderr.contains(", which the patch does not repair,"),
        "{ran:?}"
    );
}
