//! Folders without a build system, and builds that fail: what a person would guess is
//! linked, and what nobody can guess is said, with the compiler's own words.

use std::fs;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const HEADER: &str = "#include <stdatomic.h>\n\
    struct slot { _Atomic int full; int value; };\n\
    void slot_init(struct slot *s);\n\
    int slot_push(struct slot *s, int value);\nint slot_pop(struct slot *s, int *out);\n";

/// The store of `full` lets the reader see an old value.
const SOURCE: &str = "#include \"slot.h\"\n\
    void slot_init(struct slot *s) { s->value = 0; }\n\
    int slot_push(struct slot *s, int value) {\n\
    \x20   if (atomic_load_explicit(&s->full, memory_order_acquire)) return 0;\n\
    \x20   s->value = value;\n\
    \x20   atomic_store_explicit(&s->full, 1, memory_order_relaxed);\n    return 1;\n}\n\
    int slot_pop(struct slot *s, int *out) {\n\
    \x20   if (!atomic_load_explicit(&s->full, memory_order_acquire)) return 0;\n\
    \x20   *out = s->value;\n\
    \x20   atomic_store_explicit(&s->full, 0, memory_order_release);\n    return 1;\n}\n";

const TEST: &str = "#include <slot.h>\n#include <pthread.h>\n#include <sched.h>\n\
    static struct slot slot;\n\
    static void *work(void *p) { while (!slot_push(&slot, 3)) sched_yield(); return p; }\n\
    int main(void) { pthread_t t; int value; pthread_create(&t, 0, work, 0);\n\
    while (!slot_pop(&slot, &value)) sched_yield();\n\
    pthread_join(t, 0); return value != 3; }\n";

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

fn wmfix(world: &World, folder: &str, line: &str) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join(folder));
    CommandResult::of(command.args(line.split_whitespace()))
}

fn said(result: &CommandResult, code: i32, words: &[&str]) {
    let all = format!("{}\n{}", result.stdout, result.stderr);
    assert_eq!(result.code, Some(code), "{all}");
    for word in words {
        assert!(all.contains(word), "{word} is not in:\n{all}");
    }
}

fn library() -> World {
    need_gcc();
    let world = World::new();
    world.write("p/include/slot.h", HEADER);
    world.write("p/src/slot.c", SOURCE);
    world
}

#[test]
fn tests_in_a_folder_of_their_own_are_linked_with_the_sources_beside_it() {
    let world = library();
    world.write("p/tests/unit/slot_test.c", TEST);
    // Nothing needs it, so nobody misses it.
    world.write("p/src/windows.c", "#include <windows.h>\n");
    for (folder, path) in [
        ("p", "."),
        ("p", "tests"),
        ("p/tests", "unit/slot_test.c"),
        ("p", "src"),
    ] {
        let result = wmfix(&world, folder, &format!("suggest {path} --runs 10"));
        said(&result, 1, &["memory_order_release", "slot.c"]);
        let patch = &result.stdout;
        assert!(patch.contains("src/slot.c"), "{path}: {patch}");
    }
}

#[test]
fn a_missing_definition_is_told_in_the_linkers_words() {
    let world = library();
    world.write("p/tests/t.c", &TEST.replace("slot_pop", "slot_take"));
    said(
        &wmfix(&world, "p", "check ."),
        3,
        &["slot_take", "t does not build"],
    );
}

#[test]
fn a_library_without_a_program_is_told_what_to_write() {
    let world = library();
    said(
        &wmfix(&world, "p", "check ."),
        2,
        &[
            "no file in",
            "main function",
            "[build]",
            "commands = ",
            "[test]",
            "-- sh -c",
        ],
    );
    let only_headers = World::new();
    only_headers.write("include/slot.h", HEADER);
    said(
        &wmfix(&only_headers, ".", "check include"),
        2,
        &["only headers", "wmfix init --harness"],
    );
}

#[test]
fn a_command_of_the_user_may_build_what_it_runs() {
    let world = library();
    let build = "gcc -pthread -Iinclude src/slot.c checks/t.inc -x c -o t && ./t";
    world.write("p/checks/t.inc", TEST);
    let build = build.replace("checks/t.inc -x c", "-x c checks/t.inc");
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join("p"));
    let result =
        CommandResult::of(command.args(["check", "--runs", "5", "--", "sh", "-c", &build]));
    said(&result, 1, &["race", "slot.c"]);
}

#[test]
fn compile_commands_say_how_sources_are_compiled() {
    let world = library();
    world.write(
        "p/odd/t.c",
        &format!("#ifndef NAMED\n#error no\n#endif\n{TEST}"),
    );
    let folder = world.path().join("p");
    let entry = |file: &str| {
        serde_json::json!({ "directory": folder, "file": file,
            "command": format!("cc -DNAMED=1 -Iinclude -O3 -c {file} -o x.o") })
    };
    let database = serde_json::json!([entry("odd/t.c"), entry("src/slot.c")]);
    world.write("p/compile_commands.json", &database.to_string());
    let result = wmfix(&world, "p", "suggest . --runs 10");
    said(&result, 1, &["src/slot.c"]);
    assert!(
        result.stdout.contains("+++ b/src/slot.c"),
        "{}",
        result.stdout
    );
}

#[test]
fn a_harness_is_written_only_when_asked_for_and_finds_the_bug() {
    let world = library();
    let result = wmfix(&world, "p", "init --harness");
    said(
        &result,
        0,
        &["wrote wmfix_harness.c", "slot_push and slot_pop"],
    );
    let text = fs::read_to_string(world.path().join("p/wmfix_harness.c")).unwrap();
    assert!(text.contains("slot_init(&object)"), "{text}");
    said(
        &wmfix(&world, "p", "init --harness"),
        2,
        &["already exists"],
    );
    said(
        &wmfix(&world, "p", "check wmfix_harness.c --runs 5"),
        1,
        &["slot.c"],
    );
}

#[test]
fn a_harness_for_a_class_template_builds_as_it_is() {
    need(&[Need::Program("g++")]);
    let world = World::new();
    world.write(
        "ring.hpp",
        "#pragma once\n#include <atomic>\n#include <mutex>\n#include <optional>\n\
         namespace rings {\ntemplate <typename T, int N = 4> class Ring {\n    std::mutex lock;\n    T slots[N];\n    unsigned head = 0, tail = 0;\n\
         public:\n    bool push(const T &value) {\n        std::lock_guard<std::mutex> held(lock);\n        if (tail - head == N) return false;\n        slots[tail++ % N] = value;\n        return true;\n    }\n\
         \x20   std::optional<T> pop() {\n        std::lock_guard<std::mutex> held(lock);\n        if (head == tail) return {};\n        return slots[head++ % N];\n    }\n};\n}\n",
    );
    said(
        &wmfix(&world, ".", "init --harness"),
        0,
        &["wmfix_harness.cpp", "push and pop"],
    );
    let result = wmfix(&world, ".", "check . --runs 3");
    said(&result, 0, &["nothing found"]);
}

#[test]
fn a_harness_for_a_queue_of_one_producer_shows_its_bug() {
    need(&[Need::Program("g++")]);
    let world = World::new();
    world.write(
        "include/q/spsc_queue.hpp",
        "#pragma once\n#include <atomic>\nnamespace q {\n\
         template <typename T, unsigned N = 4> class Queue {\n public:\n  bool try_push(const T& value) {\n\
         \x20   unsigned h = head_.load(std::memory_order_relaxed);\n\
         \x20   if (h - tail_.load(std::memory_order_acquire) == N) return false;\n    slots_[h % N] = value;\n\
         \x20   head_.store(h + 1, std::memory_order_relaxed);\n    return true;\n  }\n  bool try_pop(T& value) {\n\
         \x20   unsigned t = tail_.load(std::memory_order_relaxed);\n\
         \x20   if (head_.load(std::memory_order_acquire) == t) return false;\n    value = slots_[t % N];\n\
         \x20   tail_.store(t + 1, std::memory_order_release);\n    return true;\n  }\n private:\n\
         \x20 std::atomic<unsigned> head_{0}, tail_{0};\n  T slots_[N]{};\n};\n}\n",
    );
    said(
        &wmfix(&world, ".", "init --harness"),
        0,
        &["try_push and try_pop"],
    );
    let result = wmfix(&world, ".", "suggest --runs 20");
    said(&result, 1, &[]);
    let release = "+    head_.store(h + 1, std::memory_order_release);";
    assert!(result.stdout.contains(release), "{result:?}");
    assert_eq!(result.stdout.matches("\n+ ").count(), 1, "{result:?}");
}

/// Made with a capacity, and taken from by looking at the front first.
#[test]
fn a_harness_makes_and_empties_what_has_no_usual_form() {
    need(&[Need::Program("g++")]);
    let world = World::new();
    world.write(
        "include/q/spsc.h",
        "#pragma once\n#include <atomic>\n#include <memory>\n#include <cstddef>\nnamespace q {\n\
         template <typename T> class Spsc {\n public:\n  explicit Spsc(std::size_t n) : n_(n + 1), slots_(new T[n + 1]) {}\n\
         \x20 Spsc(const Spsc &) = delete;\n  Spsc &operator=(const Spsc &) = delete;\n\
         \x20 void push(const T &value) {\n    auto w = write_.load(std::memory_order_relaxed);\n\
         \x20   while ((w + 1) % n_ == read_.load(std::memory_order_acquire)) {}\n    slots_[w] = value;\n\
         \x20   write_.store((w + 1) % n_, std::memory_order_release);\n  }\n\
         \x20 T *front() {\n    auto r = read_.load(std::memory_order_relaxed);\n\
         \x20   return write_.load(std::memory_order_acquire) == r ? nullptr : &slots_[r];\n  }\n\
         \x20 void pop() {\n    auto r = read_.load(std::memory_order_relaxed);\n\
         \x20   read_.store((r + 1) % n_, std::memory_order_release);\n  }\n private:\n\
         \x20 std::size_t n_;\n  std::unique_ptr<T[]> slots_;\n  std::atomic<std::size_t> write_{0}, read_{0};\n};\n}\n",
    );
    let result = wmfix(&world, ".", "check include");
    said(&result, 2, &["init --harness"]);
    let result = wmfix(&world, ".", "init --harness");
    said(&result, 0, &["push and pop"]);
    let result = wmfix(&world, ".", "check include/q/spsc.h --runs 20");
    said(&result, 0, &["nothing found"]);
}

#[test]
fn a_failing_build_says_why() {
    need(&[
        Need::Program("gcc"),
        Need::Program("make"),
        Need::Program("git"),
    ]);
    let world = World::new();
    // The test is compiled by the test target.
    world.write(
        "a/Makefile",
        "all:\ncheck: t\n\t./t\nt: t.c\n\t$(CC) -o t t.c\n",
    );
    world.write("a/t.c", "int main(void) { return undeclared; }\n");
    said(
        &wmfix(&world, "a", "check --runs 3"),
        3,
        &["undeclared", "test command failed"],
    );
    // A header that git ignores.
    CommandResult::well(world.command("git").args(["init", "-q", "b"]));
    world.write("b/.gitignore", "config.h\n");
    world.write("b/config.h", "#define ANSWER 0\n");
    world.write("b/Makefile", "t: t.c\n\t$(CC) -o t t.c\ntest: t\n\t./t\n");
    world.write(
        "b/t.c",
        "#include \"config.h\"\nint main(void) { return ANSWER; }\n",
    );
    said(
        &wmfix(&world, "b", "check --runs 3"),
        3,
        &["config.h: No such file", "exclude = [\"!config.h\"]"],
    );
    // The same where the test target compiles.
    world.write(
        "b/Makefile",
        "all:\ncheck: t\n\t./t\nt: t.c\n\t$(CC) -o t t.c\n",
    );
    said(
        &wmfix(&world, "b", "check --runs 3"),
        3,
        &[
            "config.h: No such file",
            "test command failed",
            "exclude = [\"!config.h\"]",
        ],
    );
    world.write("b/wmfix.toml", "exclude = [\"!config.h\"]\n");
    said(&wmfix(&world, "b", "check --runs 3"), 0, &[]);
}

#[test]
fn a_cmake_project_that_sets_its_compiler_is_told_so() {
    need(&[Need::Program("gcc"), Need::Program("cmake")]);
    let world = World::new();
    let lists = |compiler: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.13)\nset(CMAKE_C_COMPILER {compiler})\nproject(t C)\n\
             enable_testing()\nadd_executable(t t.c)\nadd_test(NAME t COMMAND t)\n"
        )
    };
    world.write("p/t.c", "int main(void) { return 0; }\n");
    world.write("p/CMakeLists.txt", &lists("/usr/bin/gcc"));
    said(
        &wmfix(&world, "p", "check --runs 2"),
        3,
        &["sets its compiler itself", "/usr/bin/gcc"],
    );
    // By its name it leads to the wrapper.
    world.write("p/CMakeLists.txt", &lists("gcc"));
    said(
        &wmfix(&world, "p", "check --runs 2"),
        0,
        &["nothing to check"],
    );
}
