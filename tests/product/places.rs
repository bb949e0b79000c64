//! Places in context: through functions, methods, operators, macros and lambdas that
//! only hand an operation on, the place is the call that the author wrote; what a
//! library does inside is the library's; tests are not edited.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Compilers with their C++ side, and how much they optimise.
const BUILDS: [(&str, &str, &str); 4] = [
    ("gcc", "g++", "-O0"),
    ("gcc", "g++", "-O2"),
    ("clang", "clang++", "-O0"),
    ("clang", "clang++", "-O2"),
];

const C_LAYERS: &str = include_str!("../corpus/places/layers.c");
const BARRIERS: &str = include_str!("../corpus/places/barriers.c");
const WRAPPED_WORDS: &str = include_str!("../corpus/places/wrapped_words.c");
const GENERATED: &str = include_str!("../corpus/places/generated.c");
const GENERATED_TYPES: &str = include_str!("../corpus/places/generated.h");
const WORD_TYPES: &str = include_str!("../corpus/places/word_types.h");
const CPP_LAYERS: &str = include_str!("../corpus/places/layers.cc");
const CPP_HEADER: &str = include_str!("../corpus/places/cell.h");
const MACRO_HEADER: &str = include_str!("../corpus/places/macro_cell.h");
const ORDER_AT_THE_CALL: &str = include_str!("../corpus/places/order_at_the_call.c");
const LIBRARY: &str = include_str!("../corpus/places/library.cc");
const REDUCTION: &str = include_str!("../corpus/places/reduction.c");
const BOX: &str = include_str!("../corpus/places/box.h");
const CHANGED_COUNT: &str = include_str!("../corpus/places/changed_count.c");
const LONG_NAMES: &str = include_str!("../corpus/places/long_names.cc");
const TEST_BOX: &str = include_str!("../corpus/places/test_box.c");

fn need_tools() {
    need(&["gcc", "g++", "clang", "clang++"].map(Need::Program));
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// The lines of a text that end with a comment of this word, by the number in it.
fn marked(text: &str, word: &str) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut lines: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let number = text.split_once(&format!("// {word} "));
        if let Some(number) = number.and_then(|(_, number)| number.trim().parse().ok()) {
            lines.entry(number).or_default().insert(line);
        }
    }
    lines
}

/// Holds the violations of a program against its marks: each place is found where
/// its line is marked, through the lines that are marked with its number.
fn assert_marked(build: (&str, &str, &str), file: &str, text: &str, header: &str) -> Value {
    let (cc, cxx, optimise) = build;
    let world = World::new();
    world.write(file, text);
    world.write("cell.h", header);
    let flags = format!("[build]\ncflags = [\"{optimise}\"]\ncxxflags = [\"{optimise}\"]\n");
    world.write("wmfix.toml", &flags);
    let mut command = world.wmfix(cc);
    command.env("WMFIX_REAL_CXX", cxx);
    command.args(["check", file, "--runs", "8", "--format", "json"]);
    let report = CommandResult::of(&mut command).json();
    let places = marked(text, "place");
    let mut via = marked(text, "via");
    for (number, lines) in marked(header, "via") {
        via.entry(number).or_default().extend(lines);
    }
    let mut found = BTreeSet::new();
    for violation in list(&report, "violations") {
        let line = violation["access"]["line"].as_u64().expect("a line");
        let number = places.iter().find(|(_, lines)| lines.contains(&line));
        let (number, _) = number.unwrap_or_else(|| panic!("{build:?}: {violation}"));
        found.insert(line);
        let through: BTreeSet<u64> = list(violation, "via")
            .iter()
            .filter_map(|place| place["line"].as_u64())
            .collect();
        let expected = via.get(number).cloned().unwrap_or_default();
        assert_eq!(through, expected, "{build:?}: {violation}");
    }
    let all: BTreeSet<u64> = places.into_values().flatten().collect();
    assert_eq!(found, all, "{build:?}: {report}");
    report
}

#[test]
fn c_helpers_and_macros_are_looked_through() {
    need_tools();
    for build in BUILDS {
        assert_marked(build, "layers.c", C_LAYERS, "");
    }
}

#[test]
fn helpers_that_hold_the_compiler_back_are_looked_through() {
    need_tools();
    for build in BUILDS {
        assert_marked(build, "barriers.c", BARRIERS, "");
    }
}

/// The same text is C and C++.
#[test]
fn helpers_of_words_in_structures_are_looked_through_whatever_their_names() {
    need_tools();
    for build in BUILDS {
        for file in ["words.c", "words.cc"] {
            assert_marked(build, file, WRAPPED_WORDS, WORD_TYPES);
        }
    }
}

/// The operations of the text are those that its author wrote, not what is in the macros.
#[test]
fn what_macros_define_and_put_together_is_looked_through() {
    need_tools();
    for build in BUILDS {
        let report = assert_marked(build, "words.c", GENERATED, GENERATED_TYPES);
        let violations = list(&report, "violations").iter();
        let operations: BTreeSet<&str> = violations
            .filter_map(|violation| violation["access"]["operation"].as_str())
            .collect();
        let expected = ["BLOCK_GET", "lib_get", "word_get", "word_get_relaxed_u32_"];
        assert_eq!(operations, BTreeSet::from(expected), "{build:?}: {report}");
    }
}

#[test]
fn classes_operators_and_lambdas_are_looked_through() {
    need_tools();
    for build in BUILDS {
        assert_marked(build, "layers.cc", CPP_LAYERS, CPP_HEADER);
    }
}

#[test]
fn macros_for_attributes_are_no_obstacle() {
    need_tools();
    for build in BUILDS {
        assert_marked(build, "layers.cc", CPP_LAYERS, MACRO_HEADER);
    }
}

#[test]
fn an_order_is_changed_where_it_is_said() {
    need_tools();
    let world = World::new();
    world.write("order.c", ORDER_AT_THE_CALL);
    let suggest = |format: &[&str]| {
        let mut command = world.wmfix("gcc");
        command
            .args(["suggest", "order.c", "--runs", "20", "--cost", "portable"])
            .args(format);
        CommandResult::of(&mut command)
    };
    let patch = suggest(&[]).stdout;
    let changed = |sign: char| -> Vec<&str> {
        let lines = patch.lines().filter(|line| line.starts_with(sign));
        let lines = lines.filter(|line| !line.starts_with("+++") && !line.starts_with("---"));
        lines.collect()
    };
    assert_eq!(
        changed('-'),
        ["-    put(&ready, 1, memory_order_relaxed);"],
        "{patch}"
    );
    assert_eq!(
        changed('+'),
        ["+    put(&ready, 1, memory_order_release);"],
        "{patch}"
    );
    let report = suggest(&["--format", "json"]).json();
    // The race names what should have ordered it.
    let [race] = list(&report, "races") else {
        panic!("{report}");
    };
    let message = &race["ordered_by"];
    assert_eq!(message["weak"], serde_json::json!(["write"]), "{race}");
    assert_eq!(message["write"]["operation"], "put", "{race}");
    assert_eq!(race["location"], "data", "{race}");
}

#[test]
fn what_the_standard_library_does_inside_is_its_own() {
    need_tools();
    let world = World::new();
    world.write("library.cc", LIBRARY);
    world.write("wmfix.toml", "[build]\ncxxflags = [\"-std=c++20\"]\n");
    let check = |more: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.env("WMFIX_REAL_CXX", "g++");
        command.args(["check", "library.cc", "--runs", "20", "--format", "json"]);
        CommandResult::of(command.args(more)).json()
    };
    let report = check(&[]);
    assert_eq!(list(&report, "violations").len(), 0, "{report}");
    assert_eq!(list(&report, "races").len(), 0, "{report}");
    let notes = list(&report, "notes");
    let note = notes.iter().filter_map(Value::as_str);
    assert_eq!(
        note.filter(|note| note.contains("--system-headers"))
            .count(),
        1,
        "{report}"
    );
    let shown = check(&["--system-headers"]);
    let all = list(&shown, "violations").len() + list(&shown, "races").len();
    assert!(all > 0, "{shown}");
}

/// The atomic update of a reduction is tried again when it read an old value: nothing
/// that the author of the directive could change. The library's threads do not do the
/// same in every run, so that there are many.
#[test]
fn what_a_compiler_makes_of_a_directive_is_not_the_authors() {
    let library = "/usr/lib/x86_64-linux-gnu/libomp.so.5";
    need(&[Need::Program("clang"), Need::File(library, "libomp-dev")]);
    let world = World::new();
    world.write("reduction.c", REDUCTION);
    let mut command = world.wmfix("clang");
    command.args(["check", "reduction.c", "--runs", "300", "--format", "json"]);
    command.args(["--cflags", "-fopenmp", "--ldflags", "-fopenmp"]);
    let ran = CommandResult::of(&mut command);
    let report = ran.json();
    assert_eq!((ran.code, list(&report, "violations").len()), (Some(0), 0));
    assert_eq!(report["verdict"], "clean", "{report}");
}

#[test]
fn what_is_changed_on_the_way_to_a_value_is_what_a_race_is_on() {
    need_tools();
    for (cc, _, _) in [BUILDS[0], BUILDS[2]] {
        let world = World::new();
        world.write("count.c", CHANGED_COUNT);
        let mut command = world.wmfix(cc);
        command.args(["check", "count.c", "--runs", "5", "--format", "json"]);
        let report = CommandResult::of(&mut command).json();
        let races = list(&report, "races").iter();
        let names: Vec<&Value> = races.map(|race| &race["location"]).collect();
        assert_eq!(names, ["span->size"], "{cc}: {report}");
    }
}

#[test]
fn long_arguments_of_templates_are_left_out_of_the_names_of_objects() {
    need_tools();
    let world = World::new();
    world.write("names.cc", LONG_NAMES);
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(["check", "names.cc", "--runs", "30"]);
    let shown = CommandResult::of(&mut command);
    let text = &shown.stdout;
    assert!(
        text.contains("stale read of Registry<…>::seen "),
        "{shown:?}"
    );
    assert!(
        text.contains("this read of `Registry<…>::seen`"),
        "{shown:?}"
    );
    assert!(!text.contains("TraitsOfSomething"), "{shown:?}");
}

#[test]
fn tests_are_not_edited_when_there_is_anything_else() {
    need_tools();
    let world = World::new();
    world.write("box.h", BOX);
    world.write("test_box.c", TEST_BOX);
    let suggest = |world: &World| {
        let mut command = world.wmfix("gcc");
        command.args(["suggest", ".", "--runs", "20"]);
        CommandResult::of(&mut command)
    };
    let patch = suggest(&world).stdout;
    let files: BTreeSet<&str> = patch
        .lines()
        .filter_map(|line| line.strip_prefix("+++ b/"))
        .collect();
    assert_eq!(files, BTreeSet::from(["box.h"]), "{patch}");
    // Unless the project says so.
    world.write("wmfix.toml", "[repair]\ninclude = [\"**\"]\n");
    let patch = suggest(&world).stdout;
    assert!(patch.contains("+++ b/test_box.c"), "{patch}");
    world.write("wmfix.toml", "[repair]\nexclude = [\"*.h\", \"*.c\"]\n");
    let refused = suggest(&world);
    assert_eq!(refused.stdout, "", "{refused:?}");
    assert!(refused.stderr.contains("excludes"), "{refused:?}");
}

/// A layer behind a search path, and the header that uses it without including it.
const BEHIND_A_SEARCH_PATH: [(&str, &str); 5] = [
    (
        "Makefile",
        "CFLAGS = -g -O2 -pthread -Iring -Ieal\ntest_ring: test.c\n\t$(CC) $(CFLAGS) -o $@ $<\n\
         test: test_ring\n\t./test_ring\n",
    ),
    (
        "eal/layer.h",
        "#define layer_load(p, o) __atomic_load_n(p, o)\n\
         #define layer_store(p, v, o) __atomic_store_n(p, v, o)\n",
    ),
    ("ring/ring.h", "#include <layer.h>\n#include <ring_pvt.h>\n"),
    ("ring/ring_pvt.h", RING_HEADER),
    ("test.c", RING_TEST),
];

const RING_HEADER: &str = "struct ring { int full, value; };
static inline void ring_put(struct ring *r, int value)
{
    r->value = value;
    layer_store(&r->full, 1, __ATOMIC_RELEASE);
}
static inline int ring_get(struct ring *r, int *value)
{
    if (!layer_load(&r->full, __ATOMIC_RELAXED))
        return 0;
    *value = r->value;
    return 1;
}
";

const RING_TEST: &str = "#include <pthread.h>
#include <ring.h>
static struct ring ring;
static void *writer(void *unused)
{
    ring_put(&ring, 7);
    return unused;
}
int main(void)
{
    pthread_t t;
    int value = 7;
    pthread_create(&t, 0, writer, 0);
    ring_get(&ring, &value);
    pthread_join(t, 0);
    return value != 7;
}
";

#[test]
fn operations_of_a_layer_behind_a_search_path_are_repaired() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    for (path, text) in BEHIND_A_SEARCH_PATH {
        world.write(path, text);
    }
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["suggest", ".", "--runs", "20"]));
    let added: Vec<&str> = (ran.stdout.lines())
        .filter(|line| line.starts_with('+') && !line.starts_with("+++"))
        .collect();
    let acquire = "+    if (!layer_load(&r->full, __ATOMIC_ACQUIRE))";
    assert_eq!(added, [acquire], "{ran:?}");
}
