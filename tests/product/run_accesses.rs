//! Accesses that are easily missed or misread: plain reads whose value nobody uses,
//! one object in several sizes, volatile objects behind pointers, what initialises an
//! atomic, and waits for a number in a variable. Each with a correct program beside it that must stay silent.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

fn need_compilers() {
    need(&["gcc", "g++", "clang", "clang++"].map(Need::Program));
}

fn check(world: &World, compiler: &str, arguments: &[&str]) -> Value {
    let mut command = world.wmfix(compiler);
    command.arg("check").args(arguments);
    CommandResult::of(command.args(["--format", "json"])).json()
}

fn races(report: &Value) -> Vec<String> {
    let races = report["races"].as_array().expect("a list").iter();
    let location = |race: &Value| race["location"].as_str().expect("a name").to_owned();
    races.map(location).collect()
}

fn violations(report: &Value) -> usize {
    report["violations"].as_array().expect("a list").len()
}

fn has_note(report: &Value, words: &str) -> bool {
    let notes = report["notes"].as_array().expect("a list").iter();
    notes
        .filter_map(Value::as_str)
        .any(|note| note.contains(words))
}

/// Two threads, each a function body, and what they share.
fn two_threads(shared: &str, first: &str, second: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdint.h>\n#include <stdatomic.h>\n{shared}\n\
         static void *first(void *unused) {{ {first} return 0; }}\n\
         static void *second(void *unused) {{ {second} return 0; }}\n\
         int main(void) {{\n  pthread_t a, b;\n  pthread_create(&a, 0, first, 0);\n\
         \x20 pthread_create(&b, 0, second, 0);\n  pthread_join(a, 0);\n\
         \x20 pthread_join(b, 0);\n  return 0;\n}}\n"
    )
}

/// Reads whose value is not used, as programs have them.
const UNUSED_READS: [&str; 7] = [
    "int r = data; (void)r;",
    "if (data) ;",
    "sink = data;",
    "int sum = 0; for (int i = 0; i < 2; i++) sum += data;",
    "get(&data);",
    "struct pair copy = pair; (void)copy;",
    "int r = data == 1 && pair.b == 0; r = 0;",
];

const UNUSED_SHARED: &str = "struct pair { int a, b; };\nstatic struct pair pair;\nstatic int data, sink;\n\
    static atomic_int ready;\nstatic int get(const int *p) { return *p; }";

#[test]
fn reads_whose_value_is_not_used_race() {
    need_compilers();
    let world = World::new();
    let writes = "data = 1; pair.a = pair.b = 1;";
    for (number, read) in UNUSED_READS.iter().enumerate() {
        let file = format!("unused{number}.c");
        world.write(&file, &two_threads(UNUSED_SHARED, writes, read));
        let published = format!("{writes} atomic_store(&ready, 1);");
        let guarded = format!("if (atomic_load(&ready)) {{ {read} }}");
        let ordered = format!("ordered{number}.c");
        world.write(&ordered, &two_threads(UNUSED_SHARED, &published, &guarded));
        for compiler in COMPILERS {
            let found = races(&check(&world, compiler, &[&file, "--runs", "5"]));
            assert!(!found.is_empty(), "{compiler}: {read}");
            let found = races(&check(&world, compiler, &[&ordered, "--runs", "20"]));
            assert!(found.is_empty(), "{compiler}: {read}: {found:?}");
        }
    }
}

#[test]
fn reads_whose_value_is_not_used_stay_in_an_optimised_build_of_gcc() {
    need_compilers();
    let world = World::new();
    world.write("wmfix.toml", "[build]\ncflags = [\"-O2\"]\n");
    world.write(
        "unused.c",
        &two_threads(UNUSED_SHARED, "data = 1;", UNUSED_READS[0]),
    );
    let found = races(&check(&world, "gcc", &["unused.c", "--runs", "5"]));
    assert_eq!(found, ["data"]);
}

#[test]
fn code_that_needs_optimisation_is_built_with_it() {
    need_compilers();
    let world = World::new();
    // In C, such a function is no definition for the linker: calls must be inlined.
    let shared = "static atomic_int x;\ninline int add(int a) { return a + 1; }";
    let text = two_threads(shared, "atomic_store(&x, add(1));", "atomic_load(&x);");
    world.write("inlined.c", &text);
    for compiler in COMPILERS {
        let report = check(&world, compiler, &["inlined.c", "--runs", "5"]);
        assert_eq!(report["verdict"], "clean", "{compiler}: {report}");
        let is_said = has_note(&report, "does not build without optimisation");
        assert_eq!(is_said, compiler == "clang", "{report}");
    }
}

/// A word that one thread stores as a whole and the other loads a half of.
fn halves(store: &str, load: &str) -> String {
    let shared =
        "static union { uint64_t all; uint32_t half[2]; } word;\nstatic int data;\nint got;";
    let first = format!("data = 42; __atomic_store_n(&word.all, 0x100000001, {store});");
    let second = format!("if (__atomic_load_n(&word.half[1], {load})) got = data;");
    two_threads(shared, &first, &second)
}

#[test]
fn accesses_of_different_sizes_synchronise() {
    need_compilers();
    let world = World::new();
    world.write("ordered.c", &halves("__ATOMIC_RELEASE", "__ATOMIC_ACQUIRE"));
    world.write(
        "released.c",
        &halves("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
    );
    world.write(
        "acquired.c",
        &halves("__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE"),
    );
    for compiler in COMPILERS {
        let report = check(&world, compiler, &["ordered.c", "--runs", "30"]);
        assert_eq!(races(&report), [""; 0], "{compiler}");
        assert!(
            has_note(&report, "in different sizes"),
            "{compiler}: {report}"
        );
        for weak in ["released.c", "acquired.c"] {
            let report = check(&world, compiler, &[weak, "--runs", "30"]);
            assert_eq!(races(&report), ["data"], "{compiler}: {weak}");
        }
    }
}

/// A stack whose head is a pointer with a counter: swapped together, loaded apart.
fn tagged_stack(success: &str) -> String {
    let shared = format!(
        "#include <stdlib.h>\n#include <string.h>\n\
         struct node {{ struct node *next; int value; }};\n\
         struct head {{ struct node *top; uint64_t count; }} __attribute__((aligned(16)));\n\
         static struct head head;\nint sum;\n\
         static int swap(struct head *expected, struct head wanted) {{\n\
         \x20 __int128 old, new; memcpy(&old, expected, 16); memcpy(&new, &wanted, 16);\n\
         \x20 int done = __atomic_compare_exchange_n((__int128 *)&head, &old, new, 0, {success}, __ATOMIC_RELAXED);\n\
         \x20 memcpy(expected, &old, 16); return done;\n}}\n\
         static void push(struct node *n) {{\n\
         \x20 struct head h = {{ __atomic_load_n(&head.top, __ATOMIC_ACQUIRE), __atomic_load_n(&head.count, __ATOMIC_ACQUIRE) }}, w;\n\
         \x20 do {{ n->next = h.top; w.top = n; w.count = h.count + 1; }} while (!swap(&h, w));\n}}"
    );
    let first = "for (int i = 0; i < 2; i++) { struct node *n = malloc(sizeof *n); \
                 n->value = i; push(n); }";
    let second = "for (int i = 0; i < 3; i++) { \
                  struct node *n = __atomic_load_n(&head.top, __ATOMIC_ACQUIRE); \
                  if (n) sum += n->value; }";
    two_threads(&shared, first, second)
}

#[test]
fn a_tagged_pointer_publishes_what_it_points_to() {
    need_compilers();
    let world = World::new();
    world.write(
        "wmfix.toml",
        "[build]\ncflags = [\"-mcx16\"]\nldflags = [\"-latomic\"]\n",
    );
    world.write("ordered.c", &tagged_stack("__ATOMIC_ACQ_REL"));
    world.write("weak.c", &tagged_stack("__ATOMIC_RELAXED"));
    for compiler in COMPILERS {
        let report = check(&world, compiler, &["ordered.c", "--runs", "30"]);
        assert_eq!(races(&report), [""; 0], "{compiler}");
        let report = check(&world, compiler, &["weak.c", "--runs", "30"]);
        assert_eq!(races(&report), ["n->value"], "{compiler}");
    }
}

#[test]
fn what_a_pointer_to_volatile_points_to_is_volatile() {
    need_compilers();
    let world = World::new();
    let shared =
        "static int flag, data;\nint got;\nstatic volatile int *const flag_pointer = &flag;";
    let first = "data = 42; *flag_pointer = 1;";
    let second = "if (*(volatile int *)&flag) got = data;";
    world.write("flag.c", &two_threads(shared, first, second));
    for level in ["-O0", "-O2"] {
        let config = format!("[build]\ncflags = [\"{level}\"]\n");
        world.write("wmfix.toml", &config);
        for compiler in COMPILERS {
            let found = |volatile| {
                let arguments = ["flag.c", "--runs", "30", "--volatile", volatile];
                let mut found = races(&check(&world, compiler, &arguments));
                found.sort();
                found
            };
            assert_eq!(found("acqrel"), [""; 0], "{compiler} {level}");
            assert_eq!(found("relaxed"), ["data"], "{compiler} {level}");
            assert_eq!(found("ignore"), ["data", "flag"], "{compiler} {level}");
        }
    }
}

/// Two threads that each write and then wait for the other, by this condition.
fn meeting(wait_for_y: &str) -> String {
    let shared = "static atomic_ulong x, y;\nstatic unsigned long n = 1, zero;";
    let first = format!(
        "unsigned long want = n, none = zero; (void)none;\n\
         atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
         while ({wait_for_y}) ;"
    );
    let second = "unsigned long want = n;\n\
                  atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
                  while (atomic_load_explicit(&x, memory_order_relaxed) != want) ;";
    two_threads(shared, &first, second)
}

#[test]
fn waits_for_a_number_in_a_variable_are_waits() {
    need_compilers();
    let world = World::new();
    let load = "atomic_load_explicit(&y, memory_order_relaxed)";
    let waits = [
        format!("{load} != want"),
        format!("want != {load}"),
        format!("!({load} == want)"),
    ];
    for (number, wait) in waits.iter().enumerate() {
        let file = format!("meeting{number}.c");
        world.write(&file, &meeting(wait));
        for compiler in COMPILERS {
            let report = check(&world, compiler, &[&file, "--runs", "30"]);
            assert_eq!(violations(&report), 0, "{compiler}: {wait}");
        }
    }
    // A loop that ends whatever it reads is no wait: each thread may miss the other.
    let shared = "static atomic_ulong x, y;\nstatic unsigned long n = 1;";
    let once = |mine: &str, others: &str| {
        format!(
            "unsigned long want = n;\n\
             atomic_store_explicit(&{mine}, 1, memory_order_relaxed);\n\
             do ; while (atomic_load_explicit(&{others}, memory_order_relaxed) < want && 0);"
        )
    };
    let text = two_threads(shared, &once("x", "y"), &once("y", "x"));
    world.write("once.c", &text);
    for compiler in COMPILERS {
        let report = check(&world, compiler, &["once.c", "--runs", "30"]);
        assert!(violations(&report) > 0, "{compiler}");
    }
    // The second write, which the wait may miss, comes before a look at the first.
    let first = "unsigned long want = n;\n\
                 atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
                 while (atomic_load_explicit(&y, memory_order_relaxed) < want) ;";
    let second = "atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
                  atomic_store_explicit(&y, 2, memory_order_relaxed);\n\
                  atomic_load_explicit(&x, memory_order_relaxed);";
    world.write("stale.c", &two_threads(shared, first, second));
    for compiler in COMPILERS {
        let report = check(&world, compiler, &["stale.c", "--runs", "50"]);
        assert!(violations(&report) > 0, "{compiler}");
    }
}

/// Makes a node whose only member is atomic, and publishes it with ORDER.
fn publishes_an_atomic(order: &str) -> String {
    let shared = "#include <stdlib.h>\nstruct node { atomic_int state; };\n\
                  static _Atomic(struct node *) newest;";
    let first = format!(
        "struct node *node = malloc(sizeof *node); atomic_init(&node->state, 1);\n\
         atomic_store_explicit(&newest, node, memory_order_{order});"
    );
    let second = "struct node *node = atomic_load_explicit(&newest, memory_order_acquire);\n\
                  if (node) atomic_fetch_add_explicit(&node->state, 1, memory_order_relaxed);";
    two_threads(shared, &first, second)
}

#[test]
fn to_initialise_an_atomic_is_no_atomic_access() {
    need_compilers();
    for compiler in COMPILERS {
        let world = World::new();
        world.write("relaxed.c", &publishes_an_atomic("relaxed"));
        world.write("release.c", &publishes_an_atomic("release"));
        let report = check(&world, compiler, &["relaxed.c"]);
        assert_eq!(races(&report), ["node->state"], "{compiler}: {report}");
        assert_eq!(report["races"][0]["first"]["line"], 7, "{report}");
        let report = check(&world, compiler, &["release.c"]);
        assert_eq!(report["verdict"], "clean", "{compiler}: {report}");
    }
}

/// Everything that C lets one initialise, for a compiler that takes no warning.
const INITIALISES: &str = r#"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
struct pair { long a, b; };
static _Atomic struct pair pair;
static volatile atomic_bool flag;
static _Atomic double number;
static _Atomic(const char *) text;
static atomic_char letters[3];
int main(void) {
  struct pair both = {1, 2};
  atomic_init(&pair, both);
  atomic_init(&flag, true);
  atomic_init(&number, 1);
  atomic_init(&text, NULL);
  for (int i = 0; i < 3; i++)
    atomic_init(&letters[i], (char)i);
  return atomic_load(&flag) && atomic_load(&number) == 1.0 && letters[2] == 2 ? 0 : 1;
}
"#;

#[test]
fn all_kinds_of_atomics_can_be_initialised_without_a_warning() {
    need_compilers();
    let warnings = "-std=c11 -pedantic -Wall -Wextra -Wcast-qual -Wshadow -Wconversion -Werror";
    for optimise in ["-O0", "-O2"] {
        let world = World::new();
        world.write("initialises.c", INITIALISES);
        let mut command = world.wmfix("gcc");
        command.arg("cc").args(warnings.split(' ')).arg(optimise);
        command.args(["-pthread", "-o", "initialises", "initialises.c", "-latomic"]);
        CommandResult::well(&mut command);
        let mut command = world.wmfix("gcc");
        CommandResult::well(command.args(["run", "--runs", "1", "--", "./initialises"]));
    }
}
