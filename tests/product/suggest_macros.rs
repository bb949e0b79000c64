//! Operations behind macros that put names together: found, named at the use, and
//! repaired there, in the macro's own words.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// The lines that the patch for a project with this layer adds. `put` and `get` are how
/// its code uses the layer.
fn repaired(layer: &[(&str, &str)], put: &str, get: &str) -> Vec<String> {
    need(&[Need::Program("gcc")]);
    let code = format!(
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include \"layer.h\"
static _Atomic int full;
static int value;
static void *sender(void *unused)
{{
    value = 7;
    {put};
    return unused;
}}
static void *receiver(void *unused)
{{
    if ({get})
        assert(value == 7);
    return unused;
}}
int main(void)
{{
    pthread_t one, other;
    pthread_create(&one, 0, sender, 0);
    pthread_create(&other, 0, receiver, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}}
"
    );
    let world = World::new();
    world.write("box.c", &code);
    for (name, text) in layer {
        world.write(name, text);
    }
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["suggest", "box.c", "--runs", "30"]));
    assert!(
        ran.stderr.contains("showed no further findings"),
        "{put}: {ran:?}"
    );
    let lines = ran.stdout.lines();
    let added = lines.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    added.map(|line| line[1..].trim().to_owned()).collect()
}

#[test]
fn an_order_that_is_pasted_together_is_raised_at_the_use() {
    let layer = "
#define LOAD(p, o) atomic_load_explicit(p, memory_order_##o)
#define STORE(p, v, o) __atomic_store_n(p, v, __ATOMIC_ ## o)
";
    let added = repaired(
        &[("layer.h", layer)],
        "STORE(&full, 1, RELAXED)",
        "LOAD(&full, relaxed)",
    );
    let expected = ["STORE(&full, 1, RELEASE);", "if (LOAD(&full, acquire))"];
    assert_eq!(added, expected);
}

#[test]
fn an_operation_whose_name_is_pasted_together_is_repaired() {
    let layer = "#define ATOMIC(op, p, ...) atomic_##op##_explicit(p, __VA_ARGS__)\n";
    let added = repaired(
        &[("layer.h", layer)],
        "ATOMIC(store, &full, 1, memory_order_relaxed)",
        "ATOMIC(load, &full, memory_order_relaxed)",
    );
    let expected = [
        "ATOMIC(store, &full, 1, memory_order_release);",
        "if (ATOMIC(load, &full, memory_order_acquire))",
    ];
    assert_eq!(added, expected);
}

#[test]
fn calls_of_functions_that_a_macro_defines_are_repaired() {
    // Defined in one header, used in another.
    let generator = "
#define AT_RELAXED memory_order_relaxed
#define GENERATE(type, name) \\
static inline type at_load_##name(const _Atomic type *p, memory_order o) { \\
    /* \\
     * C11 wants an object that is not const. \\
     */ \\
    _Atomic type *q = (_Atomic type *)p; \\
    return atomic_load_explicit(q, o); \\
} \\
static inline void at_store_##name(_Atomic type *p, type v, memory_order o) { \\
    atomic_store_explicit(p, v, o); \\
}
";
    let layer = "#include \"generator.h\"\nGENERATE(int, i)\n";
    let added = repaired(
        &[("generator.h", generator), ("layer.h", layer)],
        "at_store_i(&full, 1, memory_order_relaxed)",
        "at_load_i(&full, memory_order_relaxed)",
    );
    let expected = [
        "at_store_i(&full, 1, memory_order_release);",
        "if (at_load_i(&full, memory_order_acquire))",
    ];
    assert_eq!(added, expected);
}

#[test]
fn the_stronger_function_that_a_macro_defines_is_called() {
    let layer = "
#define GENERATE_LOAD(o) static inline int at_load_##o(_Atomic int *p) { return atomic_load_explicit(p, memory_order_##o); }
#define GENERATE_STORE(o) static inline void at_store_##o(_Atomic int *p, int v) { atomic_store_explicit(p, v, memory_order_##o); }
GENERATE_LOAD(relaxed)
GENERATE_LOAD(acquire)
GENERATE_STORE(relaxed)
GENERATE_STORE(release)
";
    let added = repaired(
        &[("layer.h", layer)],
        "at_store_relaxed(&full, 1)",
        "at_load_relaxed(&full)",
    );
    let expected = ["at_store_release(&full, 1);", "if (at_load_acquire(&full))"];
    assert_eq!(added, expected);
}

/// A macro that takes an object, beside others that take its address.
const OBJECTS: &str = "
#define MY_PEEK(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define MY_POKE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define my_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
#define my_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
";

#[test]
fn the_stronger_macro_is_called_with_the_address_of_the_object() {
    let added = repaired(&[("layer.h", OBJECTS)], "MY_POKE(full, 1)", "MY_PEEK(full)");
    let expected = ["my_store_release(&full, 1);", "if (my_load_acquire(&full))"];
    assert_eq!(added, expected);
    let added = repaired(
        &[("layer.h", OBJECTS)],
        "_Atomic int *box[1] = {&full}; MY_POKE(*box[0], 1)",
        "MY_PEEK(*(&full))",
    );
    let expected = [
        "_Atomic int *box[1] = {&full}; my_store_release(box[0], 1);",
        "if (my_load_acquire(&(*(&full))))",
    ];
    assert_eq!(added, expected);
}

#[test]
fn the_body_of_a_macro_does_not_become_stronger_than_another_one() {
    // The other one is written in another way, and may do something else.
    let layer = "
#define MY_PEEK(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define my_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define my_store(p, v) atomic_store_explicit((p), (v), memory_order_release)
";
    let added = repaired(&[("layer.h", layer)], "my_store(&full, 1)", "MY_PEEK(full)");
    let says = |word: &str| added.iter().any(|line| line.contains(word));
    assert!(
        says("atomic_thread_fence(memory_order_acquire)"),
        "{added:?}"
    );
    assert!(!says("seq_cst") && !says("#define"), "{added:?}");
}
