//! `check --exhaustive` proves nothing where a part of the program is not seen: calls of
//! code that is not instrumented, assembly, and what runs at the end of the process. Each
//! has a near miss that is proved.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const HEADERS: &str = "#include <fcntl.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
     #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
     #include <sys/syscall.h>\n";

/// Two threads that do this, and what `main` does before and after.
fn threads(globals: &str, body: &str, before: &str, after: &str) -> String {
    format!(
        "{HEADERS}static atomic_int x; static char room[64] = \"12\"; static int numbers[4];\n\
         {globals}\nstatic void *work(void *p) {{ (void)room; (void)numbers; {body} return p; }}\n\
         int main(void) {{ pthread_t a, b; {before}\n\
         pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); {after}\n\
         atomic_load(&x); return 0; }}\n"
    )
}

fn explored_by(compiler: &str, file: &str, source: &str, more: &[&str]) -> Value {
    let world = World::new();
    world.write(file, source);
    explored_in(&world, compiler, &[&[file], more].concat())
}

fn explored_in(world: &World, compiler: &str, arguments: &[&str]) -> Value {
    let mut command = world.wmfix(compiler);
    command.env("WMFIX_RUNS", "10");
    command.args(["check", "--exhaustive", "--harm", "off", "--format", "json"]);
    CommandResult::of(command.args(arguments)).json()
}

/// With both compilers.
fn explored(source: &str) -> [Value; 2] {
    need(&["gcc", "clang"].map(Need::Program));
    ["gcc", "clang"].map(|compiler| explored_by(compiler, "test.c", source, &[]))
}

fn assert_proved(source: &str) {
    for report in explored(source) {
        assert_eq!(report["proof"]["proved"], true, "{source}{report}");
    }
}

/// No proof, but an obstacle that says this, and nothing else found.
fn assert_obstacle(source: &str, says: &str) {
    for report in explored(source) {
        is_obstacle(&report, says);
    }
}

fn is_obstacle(report: &Value, says: &str) {
    assert_eq!(report["proof"]["proved"], false, "{report}");
    assert_eq!(report["proof"]["complete"], false, "{report}");
    let obstacles = report["proof"]["obstacles"].as_array().expect("a list");
    let said = obstacles
        .iter()
        .any(|one| one.as_str().is_some_and(|text| text.contains(says)));
    assert!(said, "{says}: {report}");
}

#[test]
fn calls_of_the_c_library_beside_a_thread_are_obstacles() {
    for (call, name) in [
        ("snprintf(room, sizeof room, \"%d\", 7);", "snprintf"),
        ("long n = strtol(room, 0, 10); (void)n;", "strtol"),
        ("puts(room);", "puts"),
        ("printf(\"<%s>\\n\", room);", "printf"),
        ("int n; sscanf(room, \"%d\", &n);", "sscanf"),
        ("char *s = getcwd(room, sizeof room); (void)s;", "getcwd"),
        (
            "int f = open(\"/dev/zero\", O_RDONLY); if (read(f, room, 8) < 0) abort(); close(f);",
            "read",
        ),
        ("if (write(2, room, 2) < 0) abort();", "write"),
        // One that the library has a function for is named as that.
        ("syscall(SYS_write, 2, room, 2);", "write"),
        ("syscall(SYS_getcwd, room, sizeof room);", "syscall"),
    ] {
        assert_obstacle(
            &threads("", call, "", ""),
            &format!("{name} reads and writes"),
        );
    }
    let sorts = threads(
        "static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }",
        "qsort(numbers, 4, sizeof *numbers, compare);",
        "",
        "",
    );
    assert_obstacle(&sorts, "qsort reads and writes");
}

#[test]
fn calls_that_nobody_can_notice_are_proved() {
    // Alone, whatever it is.
    let after = "snprintf(room, 8, \"%d\", atoi(room)); puts(room); printf(\"<%s>\\n\", room);";
    assert_proved(&threads("", "atomic_fetch_add(&x, 1);", after, after));
    // Numbers and constants only.
    let prints = "printf(\"%d %5.2f%%\\n\", atomic_fetch_add(&x, 1), 0.5); puts(\"done\"); \
                  fprintf(stderr, \"note\\n\"); putchar('x');";
    assert_proved(&threads("", prints, "", ""));
}

#[test]
fn a_thread_that_was_only_detached_is_company_for_good() {
    let source = format!(
        "{HEADERS}static atomic_int x; static char room[8];\n\
         static void *work(void *p) {{ room[0] = '1'; atomic_store(&x, 1); return p; }}\n\
         int main(void) {{ pthread_t a; pthread_create(&a, 0, work, 0); pthread_detach(a);\n\
         while (!atomic_load(&x)); long n = strtol(room, 0, 10); return n != 1; }}\n"
    );
    assert_obstacle(&source, "strtol reads and writes");
}

#[test]
fn what_uses_memory_later_is_an_obstacle_where_it_is_called_alone() {
    let before = "setvbuf(stdout, room, _IOFBF, sizeof room);";
    let prints = "printf(\"%d\\n\", 1);";
    assert_obstacle(&threads("", prints, before, ""), "setvbuf reads and writes");
    let finds = "int (*f)(const char *) = (int (*)(const char *))dlsym(0, \"puts\"); f(room);";
    let source = threads("#include <dlfcn.h>", "atomic_load(&x);", finds, "");
    assert_obstacle(&source, "dlsym reads and writes");
}

#[test]
fn texts_are_compared_where_it_is_seen() {
    need(&[Need::Program("gcc")]);
    for call in [
        "strcmp(room, \"12\")",
        "memcmp(room, \"1234\", 4)",
        "strncmp(room, \"ab\", 2)",
    ] {
        let body = format!(
            "if (atomic_fetch_add(&x, 1)) room[0] = 'b'; else if ({call} == 0) puts(\"\");"
        );
        let report = explored_by(
            "gcc",
            "test.c",
            &threads("", &body, "", ""),
            &["--cflags=-O2"],
        );
        assert!(report["races"][0].is_object(), "{call} {report}");
    }
    let formats = threads("", "sprintf(room, \"%s\", \"ab\");", "", "");
    assert_obstacle(&formats, "sprintf reads and writes");
}

#[test]
fn assembly_with_an_instruction_is_an_obstacle() {
    let stores = "__asm__ volatile(\"\" \"/* */\" ::: \"memory\");";
    assert_obstacle(
        &threads("", stores, "", ""),
        "the assembly or intrinsic function at test.c:",
    );
    let fence = "#define FENCE() __asm__ volatile(\"mfence\" ::: \"memory\")";
    if cfg!(target_arch = "x86_64") {
        assert_obstacle(
            &threads(fence, "FENCE();", "", ""),
            "the assembly or intrinsic function at test.c:",
        );
        let pause = "__asm__ volatile(\"pause\");";
        assert_proved(&threads("", pause, "", ""));
    }
    let excused = "__attribute__((no_sanitize_thread)) static int get(void) { return numbers[0]; }";
    assert_obstacle(
        &threads(excused, "numbers[1] = get();", "", ""),
        "is said not to be",
    );
    // A macro that nobody uses, and a barrier of the compiler.
    let barrier = "__asm__ volatile(\"\" ::: \"memory\");";
    assert_proved(&threads(fence, barrier, "", ""));
}

#[test]
fn objects_that_are_not_instrumented_are_obstacles() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("other.c", "int shared; void change(void) { shared++; }\n");
    let built = std::process::Command::new("gcc")
        .args(["-c", "other.c", "-o", "other.o"])
        .current_dir(world.path())
        .status();
    assert!(built.expect("gcc runs").success());
    let object = world.path().join("other.o");
    let source = threads("void change(void);", "change(); atomic_load(&x);", "", "");
    world.write("test.c", &source);
    let object = object.to_str().expect("a path of UTF-8");
    let report = explored_in(&world, "gcc", &["test.c", "--ldflags", object]);
    is_obstacle(&report, "change in test is not instrumented");
}

#[test]
fn handlers_at_the_end_run_beside_threads_that_nobody_joined() {
    // Both find that the other one was first, in some run.
    let handler = format!(
        "{HEADERS}static atomic_int up, down;\n\
         static void *work(void *p) {{ atomic_store(&up, 1); if (atomic_load(&down)) abort(); return p; }}\n\
         static void at_end(void) {{ atomic_store(&down, 1); }}\n\
         int main(void) {{ pthread_t a; atexit(at_end);\n\
         pthread_create(&a, 0, work, 0); pthread_detach(a); return 0; }}\n"
    );
    for report in explored(&handler) {
        assert_eq!(report["proof"]["proved"], false, "{report}");
        assert_eq!(report["failures"][0]["kind"], "signal", "{report}");
    }
    let joined = handler.replace("pthread_detach(a)", "pthread_join(a, 0)");
    assert_proved(&joined);
    let destructor = handler
        .replace(
            "static void at_end",
            "__attribute__((destructor)) static void at_end",
        )
        .replace("atexit(at_end);", "");
    assert_obstacle(&destructor, "destructor attributes");
    // It may even start threads.
    let joined = destructor.replace("pthread_detach(a)", "pthread_join(a, 0)");
    assert_obstacle(&joined, "destructor attributes");
}

#[test]
fn static_destructors_run_beside_threads_that_nobody_joined() {
    need(&["g++", "clang++"].map(Need::Program));
    let source = "#include <atomic>\n#include <cstdlib>\n#include <iostream>\n#include <string>\n\
        #include <thread>\nstd::atomic<int> down;\n\
        struct End { ~End() { down = 1; } } end;\nstd::string name = \"a name that is not short\";\n\
        int main() { std::thread a([] { if (down) std::abort(); });\n\
        a.detach(); return 0; }\n";
    let joined = source.replace(
        "a.detach(); return 0;",
        "a.join(); std::cout << name << 1 << std::endl;",
    );
    let prints = source
        .replace("if (down) std::abort();", "std::cout << name;")
        .replace("a.detach()", "a.join()");
    for compiler in ["gcc", "clang"] {
        let report = explored_by(compiler, "test.cc", source, &[]);
        assert_eq!(report["proof"]["proved"], false, "{report}");
        assert_eq!(report["failures"][0]["kind"], "signal", "{report}");
        let report = explored_by(compiler, "test.cc", &joined, &[]);
        assert_eq!(report["proof"]["proved"], true, "{report}");
        is_obstacle(
            &explored_by(compiler, "test.cc", &prints, &[]),
            "what std::",
        );
    }
}
