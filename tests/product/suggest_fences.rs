//! New fences in the project's own words: its macros, through layers and whichever
//! definition the compiler sees, with the names that it has for orders; the standard's
//! where these do not compile.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// The lines that the patch adds where the reader of a message needs a fence, and the
/// report. `get` is how it asks whether the message is there.
fn added(layer: &str, get: &str) -> (Vec<String>, CommandResult) {
    need(&[Need::Program("gcc")]);
    let code = format!(
        "#include <pthread.h>
#include \"layer.h\"
static int data, flag;
static void *writer(void *unused)
{{
    data = 42;
    my_store(&flag, 1, my_order_release);
    return unused;
}}
int main(void)
{{
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while ({get} == 0)
        ;
    int seen = data;
    pthread_join(thread, 0);
    return seen != 42;
}}
"
    );
    let world = World::new();
    world.write("mp.c", &code);
    world.write("layer.h", layer);
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["suggest", ".", "--runs", "30"]));
    let lines = ran.stdout.lines();
    let added = lines.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    let added = added.map(|line| line[1..].trim().to_owned()).collect();
    (added, ran)
}

#[test]
fn a_fence_with_two_definitions_is_called_with_the_names_of_the_project() {
    let layer = "
#ifdef MY_ENABLE_STDATOMIC
#include <stdatomic.h>
#define my_order_relaxed memory_order_relaxed
#define my_order_acquire memory_order_acquire
#define my_order_release memory_order_release
#define my_load(p, o) atomic_load_explicit(p, o)
#define my_store(p, v, o) atomic_store_explicit(p, v, o)
#define my_fence(o) atomic_thread_fence(o)
#else
#define my_order_relaxed __ATOMIC_RELAXED
#define my_order_acquire __ATOMIC_ACQUIRE
#define my_order_release __ATOMIC_RELEASE
#define my_load(p, o) __atomic_load_n(p, o)
#define my_store(p, v, o) __atomic_store_n(p, v, o)
#define my_fence(o) __atomic_thread_fence(o)
#endif
";
    let (lines, ran) = added(layer, "my_load(&flag, my_order_relaxed)");
    assert_eq!(lines, ["my_fence(my_order_acquire);"], "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}

/// The macro is a fence as it reads, but what it calls is not declared.
#[test]
fn a_fence_that_does_not_compile_is_written_in_the_standards_way() {
    need(&[Need::Program("gcc")]);
    let code = "#include <pthread.h>
#define smp_mb() do { atomic_thread_fence(memory_order_seq_cst); } while (0)
#define get(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define set(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
static int x, y, a, b;
static void *one(void *unused)
{
    set(&x, 1);
    a = get(&y);
    return unused;
}
static void *two(void *unused)
{
    set(&y, 1);
    b = get(&x);
    return unused;
}
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return a == 0 && b == 0;
}
";
    let world = World::new();
    world.write("sb.c", code);
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["suggest", ".", "--runs", "100"]));
    let lines = ran.stdout.lines();
    let added = lines.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    let added: Vec<&str> = added.map(|line| line[1..].trim()).collect();
    let builtin = "__atomic_thread_fence(__ATOMIC_SEQ_CST);";
    assert_eq!(added, [builtin; 2], "{ran:?}");
    assert!(ran.stderr.contains("showed no further findings"), "{ran:?}");
}
