//! A part of a project is named, from wherever one works: the project around it is
//! built and tested as a whole, and the report and the patch are limited to the part.

use std::fs;
use std::path::Path;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering in a header, and a second one in a source.
const HEADER: &str = "#include <stdatomic.h>\n\
    static atomic_int x, y;\n\
    static inline int left(void) {\n\
    \x20   atomic_store_explicit(&x, 1, memory_order_release);\n\
    \x20   return atomic_load_explicit(&y, memory_order_acquire);\n}\n\
    static inline int right(void) {\n\
    \x20   atomic_store_explicit(&y, 1, memory_order_release);\n\
    \x20   return atomic_load_explicit(&x, memory_order_acquire);\n}\n\
    int up(void);\nint down(void);\n";

const SOURCE: &str = "#include \"flags.h\"\nstatic atomic_int a, b;\n\
    int up(void) {\n\
    \x20   atomic_store_explicit(&a, 1, memory_order_release);\n\
    \x20   return atomic_load_explicit(&b, memory_order_acquire);\n}\n\
    int down(void) {\n\
    \x20   atomic_store_explicit(&b, 1, memory_order_release);\n\
    \x20   return atomic_load_explicit(&a, memory_order_acquire);\n}\n";

const TEST: &str = "#include \"flags.h\"\n#include <pthread.h>\nstatic int seen[4];\n\
    static void *one(void *p) { seen[0] = left(); seen[1] = up(); return p; }\n\
    static void *two(void *p) { seen[2] = right(); seen[3] = down(); return p; }\n\
    int main(void) { pthread_t s, t; pthread_create(&s, 0, one, 0);\n\
    pthread_create(&t, 0, two, 0); pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";

fn project() -> World {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write("p/include/flags.h", HEADER);
    world.write("p/src/flags.c", SOURCE);
    world.write("p/test/test_flags.c", TEST);
    world.write(
        "p/Makefile",
        "CFLAGS = -Iinclude\ntest_flags: test/test_flags.c src/flags.c include/flags.h\n\
         \t$(CC) $(CFLAGS) -pthread -o $@ test/test_flags.c src/flags.c\n\
         test: test_flags\n\t./test_flags\n",
    );
    world
}

fn wmfix(world: &World, folder: &str, line: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    let folder = world.path().join(folder);
    command.current_dir(&folder).env("PWD", &folder);
    CommandResult::of(command.args(line.split_whitespace()).args(["--runs", "20"]))
}

/// The files of all violations.
fn files(result: &CommandResult) -> Vec<String> {
    let report = result.json();
    let violations = report["violations"].as_array().unwrap();
    let files = violations
        .iter()
        .map(|one| one["access"]["file"].as_str().unwrap());
    let mut files: Vec<String> = files.map(str::to_owned).collect();
    files.sort();
    files.dedup();
    files
}

fn note_about_the_rest(result: &CommandResult) -> bool {
    let report = result.json();
    let mut notes = report["notes"].as_array().unwrap().iter();
    notes.any(|note| note.as_str().unwrap().contains("findings outside of"))
}

#[test]
fn the_report_is_limited_to_what_was_named() {
    let world = project();
    for (folder, path, file) in [
        ("p", "src", "src/flags.c"),
        ("p", "include/flags.h", "include/flags.h"),
        (".", "p/include", "p/include/flags.h"),
        ("p/src", ".", "flags.c"),
        ("p/test", "../src/flags.c", "src/flags.c"),
    ] {
        let result = wmfix(&world, folder, &format!("check {path} --format json"));
        assert_eq!(result.code, Some(1), "{path}: {}", result.stderr);
        let found = files(&result);
        assert!(
            matches!(&found[..], [one] if one.ends_with(file)),
            "{path}: {found:?}"
        );
        assert!(note_about_the_rest(&result), "{path}: {}", result.stdout);
        let sites = &result.json()["sites"];
        assert_eq!(sites["total"], 4, "{path}: {sites}");
    }
    let all = wmfix(&world, "p", "check . --format json");
    assert_eq!(files(&all), ["include/flags.h", "src/flags.c"]);
    assert!(!note_about_the_rest(&all), "{}", all.stdout);
    // The test itself has no atomics: nothing is found, and that is said.
    let none = wmfix(&world, "p", "check test --format json");
    assert_eq!(none.code, Some(0), "{}", none.stdout);
    assert!(
        none.stdout
            .contains("no run executed an atomic operation of test"),
        "{}",
        none.stdout
    );
}

/// What has no code is no part of a project that could be found clean.
#[test]
fn a_part_without_code_is_refused() {
    let world = project();
    world.write("p/docs/index.md", "How it works.\n");
    for part in ["docs", "docs/index.md", "Makefile"] {
        let none = wmfix(&world, "p", &format!("check {part}"));
        assert_eq!(none.code, Some(2), "{part}: {none:?}");
        let said = format!("{part} has no C or C++ file");
        assert!(none.stderr.contains(&said), "{none:?}");
    }
}

#[test]
fn the_patch_is_limited_and_applied_there_and_explain_works_everywhere() {
    let world = project();
    let before = fs::read(world.path().join("p/include/flags.h")).unwrap();
    let result = wmfix(&world, "p/src", "suggest . --apply");
    assert_eq!(result.code, Some(0), "{}", result.stderr);
    assert!(result.stdout.contains("+++ b/flags.c"), "{}", result.stdout);
    assert!(!result.stdout.contains("flags.h"), "{}", result.stdout);
    assert!(
        result.stderr.contains("wmfix: changed flags.c"),
        "{}",
        result.stderr
    );
    assert_ne!(
        fs::read_to_string(world.path().join("p/src/flags.c")).unwrap(),
        SOURCE
    );
    assert_eq!(
        fs::read(world.path().join("p/include/flags.h")).unwrap(),
        before
    );
    // The last run is the project's, wherever one is in it.
    for folder in ["p", "p/src", "p/include", "p/test"] {
        let mut command = world.wmfix("gcc");
        let command = command.current_dir(world.path().join(folder));
        let explained = CommandResult::of(command.args(["explain", "V1"]));
        assert_eq!(explained.code, Some(0), "{folder}: {}", explained.stderr);
        assert!(explained.stdout.contains("flags.c"), "{}", explained.stdout);
    }
    let again = wmfix(&world, "p/src", "suggest . --apply");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(
        again.stderr.contains("nothing to repair"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_program_that_no_build_file_names_is_built_alone() {
    let world = project();
    world.write(
        "p/notes/try.c",
        &TEST.replace("flags.h", "../include/flags.h").replace(
            "int main",
            "int up(void) { return 0; } int down(void) { return 0; }\nint main",
        ),
    );
    let result = wmfix(&world, "p", "check notes/try.c --format json");
    assert_eq!(result.code, Some(1), "{}", result.stderr);
    assert_eq!(files(&result), ["include/flags.h"]);
}

/// A CMake project with a library, tests in a folder of their own, and a test that
/// is switched off.
#[test]
fn cmake_projects_are_found_from_their_folders_and_take_options() {
    need(&[Need::Program("gcc"), Need::Program("cmake")]);
    let world = World::new();
    world.write("p/include/flags.h", HEADER);
    world.write("p/src/flags.c", SOURCE);
    world.write("p/test/test_flags.c", TEST);
    world.write(
        "p/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(flags C)\noption(FLAGS_TESTS \"tests\" OFF)\n\
         find_package(Threads REQUIRED)\ninclude_directories(include)\nadd_subdirectory(src)\n\
         if(FLAGS_TESTS)\nenable_testing()\nadd_subdirectory(test)\nendif()\n",
    );
    world.write(
        "p/src/CMakeLists.txt",
        "add_library(flags STATIC flags.c)\n",
    );
    world.write(
        "p/test/CMakeLists.txt",
        "project(flags_tests C)\nadd_executable(test_flags test_flags.c)\n\
         target_link_libraries(test_flags flags Threads::Threads)\n\
         add_test(NAME flags COMMAND test_flags)\n",
    );
    let off = wmfix(&world, "p/src", "check");
    assert_eq!(off.code, Some(3), "{}", off.stderr);
    assert!(off.stderr.contains("`-D FLAGS_TESTS=ON`"), "{}", off.stderr);
    let on = wmfix(&world, "p/src", "check -D FLAGS_TESTS=ON --format json");
    assert_eq!(on.code, Some(1), "{}", on.stderr);
    assert_eq!(files(&on), ["flags.c"]);
    // A program that was built is found by its name, wherever it is.
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join("p"));
    let line = "check -D FLAGS_TESTS=ON --runs 20 --format json -- test_flags";
    let named = CommandResult::of(command.args(line.split(' ')));
    assert_eq!(named.code, Some(1), "{}", named.stderr);
    assert_eq!(files(&named), ["include/flags.h", "src/flags.c"]);
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join("p"));
    let line = "check -D FLAGS_TESTS=ON --runs 20 -- no_such_test";
    let missing = CommandResult::of(command.args(line.split(' ')));
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("what was built: test_flags"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_preset_of_cmake_configures_the_project() {
    need(&[Need::Program("gcc"), Need::Program("cmake")]);
    let world = World::new();
    world.write("p/include/flags.h", HEADER);
    world.write("p/src/flags.c", SOURCE);
    world.write("p/test/test_flags.c", TEST);
    world.write(
        "p/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(flags C)\nenable_testing()\n\
         find_package(Threads REQUIRED)\nif(WITH_TESTS)\n\
         add_executable(test_flags test/test_flags.c src/flags.c)\n\
         target_include_directories(test_flags PRIVATE include)\n\
         target_link_libraries(test_flags Threads::Threads)\n\
         add_test(NAME flags COMMAND test_flags)\nendif()\n",
    );
    let preset = |name: &str, variable: &str| {
        format!(
            "{{\"name\": \"{name}\", \"generator\": \"Unix Makefiles\", \
             \"binaryDir\": \"${{sourceDir}}/out\", \
             \"cacheVariables\": {{\"WITH_TESTS\": \"ON\"{variable}}}}}"
        )
    };
    let compiler = ", \"CMAKE_C_COMPILER\": \"/usr/bin/gcc\"";
    world.write(
        "p/CMakePresets.json",
        &format!(
            "{{\"version\": 3, \"configurePresets\": [{}, {}]}}",
            preset("tests", ""),
            preset("own", compiler)
        ),
    );
    let found = wmfix(&world, "p", "check --preset tests --format json");
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    assert_eq!(files(&found), ["include/flags.h", "src/flags.c"]);
    assert!(
        !world.path().join("p/out").exists(),
        "only the copy is built"
    );
    for (preset, said) in [
        ("none", "No such preset"),
        ("own", "sets its compiler itself"),
    ] {
        let refused = wmfix(&world, "p", &format!("check --preset {preset}"));
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
    world.write("p/wmfix.toml", "[build]\npreset = \"tests\"\n");
    let named = wmfix(&world, "p", "check --format json");
    assert_eq!(files(&named), ["include/flags.h", "src/flags.c"]);
}

#[test]
fn the_examples_are_built_alone_although_a_repository_is_around_them() {
    need(&[Need::Program("gcc")]);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/store_buffering");
    let world = World::new();
    for path in [examples.clone(), examples.join("store_buffering.c")] {
        let mut command = world.wmfix("gcc");
        command
            .arg("check")
            .arg(&path)
            .args(["--runs", "20", "--format", "json"]);
        let result = CommandResult::of(&mut command);
        assert_eq!(result.code, Some(1), "{}", result.stderr);
        assert_eq!(result.json()["sites"]["total"], 4, "{}", result.stdout);
    }
}

#[test]
fn a_race_belongs_to_the_part_whose_order_is_missing() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write(
        "p/include/slot.h",
        "#include <stdatomic.h>\n#include <stddef.h>\nstatic _Atomic(int *) slot;\n\
         static inline void put(int *item) {\n\
         \x20   atomic_store_explicit(&slot, item, memory_order_relaxed);\n}\n\
         static inline int *get(void) {\n\
         \x20   return atomic_load_explicit(&slot, memory_order_acquire);\n}\n",
    );
    // What is handed over is touched by the test only.
    world.write(
        "p/test/test_slot.c",
        "#include \"slot.h\"\n#include <pthread.h>\nstatic int item;\n\
         static void *giver(void *p) { item = 1; put(&item); return p; }\n\
         int main(void) { pthread_t t; int *got; pthread_create(&t, 0, giver, 0);\n\
         while (!(got = get())) ; int bad = *got != 1; pthread_join(t, 0); return bad; }\n",
    );
    world.write(
        "p/Makefile",
        "test_slot: test/test_slot.c include/slot.h\n\
         \t$(CC) -Iinclude -pthread -o $@ test/test_slot.c\ntest: test_slot\n\t./test_slot\n",
    );
    let report = wmfix(&world, "p", "suggest include --format json").json();
    let races = report["races"].as_array().unwrap();
    assert_eq!(races.len(), 1, "{report}");
    let patch = report["repair"]["patch"].as_str().unwrap();
    assert!(
        patch.contains("+    atomic_store_explicit(&slot, item, memory_order_release);"),
        "{patch}"
    );
}

/// A header without a fault, and a source beside it in which nothing orders two writes.
fn project_with_a_race() -> World {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write(
        "p/include/count.h",
        "#include <stdatomic.h>\nextern atomic_int count;\n\
         static inline void more(void) { atomic_fetch_add(&count, 1); }\n",
    );
    world.write(
        "p/src/last.c",
        "#include \"count.h\"\natomic_int count;\nint last;\n\
         void note(int number) {\n\
         \x20   last = number;\n}\n",
    );
    world.write(
        "p/test/test_count.c",
        "#include \"count.h\"\n#include <pthread.h>\nvoid note(int number);\n\
         static void *one(void *p) { more(); note(1); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);\n\
         more(); note(2); pthread_join(t, 0); return count != 2; }\n",
    );
    world.write(
        "p/Makefile",
        "test_count: test/test_count.c src/last.c include/count.h\n\
         \t$(CC) -Iinclude -pthread -o $@ test/test_count.c src/last.c\n\
         test: test_count\n\t./test_count\n",
    );
    world
}

#[test]
fn a_race_outside_of_the_part_counts_and_is_named() {
    let world = project_with_a_race();
    let found = wmfix(&world, "p", "check include --format json");
    let report = found.json();
    assert_eq!(
        (found.code, &report["verdict"]),
        (Some(1), &"findings".into()),
        "{report}"
    );
    assert_eq!(
        report["races"].as_array().map(Vec::len),
        Some(0),
        "{report}"
    );
    let outside = &report["outside"];
    assert_eq!(
        (&outside["path"], &outside["total"]),
        (&"include".into(), &1.into()),
        "{report}"
    );
    let [race] = &outside["counted"].as_array().unwrap()[..] else {
        panic!("{report}");
    };
    assert_eq!(
        (&race["kind"], &race["location"]),
        (&"data-race".into(), &"last".into())
    );
    let notes = report["notes"].as_array().unwrap();
    let notes: Vec<&str> = notes.iter().filter_map(|note| note.as_str()).collect();
    let note = "1 finding outside of include is not shown but counts, the data race of last at \
                src/last.c:5, in note: name the project's folder to see it";
    assert!(notes.contains(&note), "{notes:?}");
    let text = wmfix(&world, "p", "check include").stdout;
    assert!(text.contains("nothing found in include"), "{text}");

    // It is not repaired from here, and nothing says that all is well.
    let repair = wmfix(&world, "p", "suggest include --apply");
    assert_eq!((repair.code, &*repair.stdout), (Some(1), ""), "{repair:?}");

    // What is known does not count.
    let written = wmfix(&world, "p", "baseline include --output known.json");
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(written.stderr.contains("1 finding"), "{written:?}");
    let known = wmfix(&world, "p", "check include --baseline known.json");
    assert_eq!(known.code, Some(0), "{known:?}");

    // Where it is inside, it is an ordinary finding, and nothing is outside.
    let inside = wmfix(&world, "p", "check src --format json").json();
    assert_eq!(
        inside["races"].as_array().map(Vec::len),
        Some(1),
        "{inside}"
    );
    assert_eq!(inside["outside"]["total"], 0, "{inside}");
    assert!(wmfix(&world, "p", "check --format json").json()["outside"].is_null());
}

#[test]
fn a_header_of_wrappers_has_what_they_are_used_for() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    // A layer, a second one around it, and macros.
    world.write(
        "p/include/inner.h",
        "#pragma once\n#include <stdatomic.h>\n\
         static inline int inner_get(atomic_int *p) {\n\
         \x20   return atomic_load_explicit(p, memory_order_relaxed);\n}\n\
         static inline void inner_put(atomic_int *p, int v) {\n\
         \x20   atomic_store_explicit(p, v, memory_order_relaxed);\n}\n",
    );
    world.write(
        "p/include/outer.h",
        "#pragma once\n#include \"inner.h\"\n\
         static inline int outer_get(atomic_int *p) { return inner_get(p); }\n\
         static inline void outer_put(atomic_int *p, int v) { inner_put(p, v); }\n",
    );
    world.write(
        "p/include/words.h",
        "#pragma once\n#include <stdatomic.h>\n\
         #define WORD_GET(p) atomic_load_explicit((p), memory_order_relaxed)\n\
         #define WORD_PUT(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)\n",
    );
    world.write(
        "p/test/test_words.c",
        "#include \"outer.h\"\n#include \"words.h\"\n#include <pthread.h>\n\
         static atomic_int a, b, c, d;\nstatic int seen[4];\n\
         static void *one(void *p) {\n  outer_put(&a, 1);\n  seen[0] = outer_get(&b);\n\
         \x20 WORD_PUT(&c, 1);\n  seen[1] = WORD_GET(&d);\n  return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);\n\
         \x20 outer_put(&b, 1);\n  seen[2] = outer_get(&a);\n\
         \x20 WORD_PUT(&d, 1);\n  seen[3] = WORD_GET(&c);\n  pthread_join(t, 0); return 0; }\n",
    );
    world.write(
        "p/Makefile",
        "test_words: test/test_words.c\n\t$(CC) -Iinclude -pthread -o $@ $<\n\
         test: test_words\n\t./test_words\n",
    );
    for header in ["inner.h", "outer.h", "words.h"] {
        let found = wmfix(
            &world,
            "p",
            &format!("check include/{header} --format json"),
        );
        let report = found.json();
        let violations = report["violations"].as_array().unwrap();
        assert!(!violations.is_empty(), "{header}: {report}");
        let outside = &report["outside"];
        assert_eq!(outside["nothing_inside"], false, "{header}: {report}");
        assert_ne!(outside["total"], 0, "{header}: {report}");
    }
}

#[test]
fn a_change_outside_of_the_part_is_refused_for_that() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    world.write(
        "p/include/slot.h",
        "#include <stdatomic.h>\n#include <stddef.h>\nextern _Atomic(int *) slot;\n\
         int *get(void);\n\
         static inline void put(int *item) {\n\
         \x20   atomic_store_explicit(&slot, item, memory_order_release);\n}\n",
    );
    world.write(
        "p/src/get.c",
        "#include \"slot.h\"\n_Atomic(int *) slot;\nint *get(void)\n{\n\
         \x20   return atomic_load_explicit(&slot, memory_order_relaxed);\n}\n",
    );
    world.write(
        "p/test/test_slot.c",
        "#include \"slot.h\"\n#include <pthread.h>\nstatic int item;\n\
         static void *giver(void *p) { item = 1; put(&item); return p; }\n\
         int main(void) { pthread_t t; int *got; pthread_create(&t, 0, giver, 0);\n\
         while (!(got = get())) ; int bad = *got != 1; pthread_join(t, 0); return bad; }\n",
    );
    world.write(
        "p/Makefile",
        "test_slot: test/test_slot.c src/get.c include/slot.h\n\
         \t$(CC) -Iinclude -pthread -o $@ test/test_slot.c src/get.c\n\
         test: test_slot\n\t./test_slot\n",
    );
    let report = wmfix(&world, "p", "suggest include --format json").json();
    let remaining = report["unrepairable"].to_string();
    assert!(
        remaining.contains("src/get.c is outside of the part that was named"),
        "{report}"
    );
}
