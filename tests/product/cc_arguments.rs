//! The compiler wrappers behave as the bare compiler does, whatever they are
//! asked, and what they compile is instrumented.

use std::path::Path;
use std::process::Command;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

const ANSWER: &str = "#include <stdatomic.h>\n\
    #include <stdio.h>\n\
    atomic_int answer;\n\
    int part(void);\n\
    int main(void) { atomic_store(&answer, part()); printf(\"%d\\n\", atomic_load(&answer)); return 3; }\n";
const PART: &str = "#include <stdatomic.h>\n\
    static atomic_int six = 6;\n\
    int part(void) { return atomic_fetch_add_explicit(&six, 1, memory_order_relaxed) * 7; }\n";

fn need_tools() {
    need(&[
        Need::Program("gcc"),
        Need::Program("clang"),
        Need::Program("nm"),
    ]);
}

fn world() -> World {
    let world = World::new();
    world.write("main.c", ANSWER);
    world.write("part.c", PART);
    world
}

fn cc(world: &World, compiler: &str, line: &str) -> Command {
    let mut command = world.wmfix(compiler);
    command.arg("cc").args(line.split_whitespace());
    command
}

/// The program must do what it does when built by the bare compiler.
fn answers(world: &World, program: &str) {
    let ran = CommandResult::of(&mut world.command(world.path().join(program)));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(3), "42\n"),
        "{}",
        ran.stderr
    );
}

fn symbols(world: &World, file: &str) -> String {
    CommandResult::well(world.command("nm").arg(file)).stdout
}

#[test]
fn compile_and_link_in_one_or_in_steps() {
    need_tools();
    for compiler in COMPILERS {
        let world = world();
        CommandResult::well(&mut cc(&world, compiler, "main.c part.c -o together"));
        answers(&world, "together");

        CommandResult::well(&mut cc(&world, compiler, "-O2 -c main.c part.c"));
        assert!(symbols(&world, "part.o").contains("__tsan_atomic32_fetch_add"));
        CommandResult::well(&mut cc(&world, compiler, "main.o part.o"));
        answers(&world, "a.out");

        CommandResult::well(&mut cc(
            &world,
            compiler,
            "-r main.o part.o -nostdlib -o both.o",
        ));
        CommandResult::well(&mut cc(&world, compiler, "both.o -o from-one-object"));
        answers(&world, "from-one-object");
    }
}

#[test]
fn other_ways_to_name_inputs() {
    need_tools();
    for compiler in COMPILERS {
        let world = world();
        world.write("in put/options.txt", "-o 'out put'\nmain.c part.c");
        let mut command = world.wmfix(compiler);
        CommandResult::well(command.args(["cc", "@in put/options.txt"]));
        answers(&world, "out put");

        std::fs::rename(world.path().join("part.c"), world.path().join("part.text")).unwrap();
        CommandResult::well(&mut cc(
            &world,
            compiler,
            "main.c -x c part.text -o by-language",
        ));
        answers(&world, "by-language");
    }
}

#[test]
fn dependencies_assembly_and_preprocessing() {
    need_tools();
    for compiler in COMPILERS {
        let world = world();
        let file = |name: &str| std::fs::read_to_string(world.path().join(name)).unwrap();
        CommandResult::well(&mut cc(
            &world,
            compiler,
            "-MD -MF deps.d -MT target.o -c part.c -o part.o",
        ));
        assert!(file("deps.d").starts_with("target.o:"));
        assert!(file("deps.d").contains("stdatomic.h"));
        CommandResult::well(&mut cc(&world, compiler, "-S part.c"));
        assert!(file("part.s").contains("__tsan_"));
        let preprocessed = CommandResult::well(&mut cc(&world, compiler, "-E part.c")).stdout;
        assert!(preprocessed.contains("int part(void)"));
        let only_dependencies = CommandResult::well(&mut cc(&world, compiler, "-MM part.c")).stdout;
        assert_eq!(only_dependencies.trim(), "part.o: part.c");
    }
}

#[test]
fn questions_get_the_compilers_own_answers() {
    need_tools();
    let world = world();
    for compiler in COMPILERS {
        for question in [
            "--version",
            "-v",
            "-dumpmachine",
            "-dumpversion",
            "-print-search-dirs",
            "--help",
            "",
        ] {
            let ours = CommandResult::of(&mut cc(&world, compiler, question));
            let theirs =
                CommandResult::of(world.command(compiler).args(question.split_whitespace()));
            assert_eq!(ours.code, theirs.code, "{compiler} {question}");
            assert_eq!(ours.stdout, theirs.stdout, "{compiler} {question}");
            assert_eq!(ours.stderr, theirs.stderr, "{compiler} {question}");
        }
    }
}

#[test]
fn errors_are_the_compilers_own() {
    need_tools();
    let world = World::new();
    world.write("bad.c", "int main(void) { return missing; }\n");
    for compiler in COMPILERS {
        let ran = CommandResult::of(&mut cc(&world, compiler, "-c bad.c"));
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains("bad.c:1:"), "{}", ran.stderr);
    }
    let mut nobody = cc(&world, "no-such-compiler", "-c bad.c");
    let ran = CommandResult::of(&mut nobody);
    assert_eq!(ran.code, Some(4));
    assert!(ran.stderr.contains("no-such-compiler"), "{}", ran.stderr);
}

#[test]
fn warnings_as_errors_still_build() {
    need_tools();
    let world = World::new();
    world.write(
        "strict.c",
        "#include <stdatomic.h>\n\
         atomic_int flag;\n\
         volatile int seen;\n\
         static int twice(int n) { return n * 2; }\n\
         int main(void) { int value; if (seen) value = twice(1); else value = 2;\n\
         atomic_thread_fence(memory_order_seq_cst);\n\
         atomic_store_explicit(&flag, value, memory_order_release);\n\
         return atomic_load_explicit(&flag, memory_order_acquire) - 2; }\n",
    );
    for compiler in COMPILERS {
        for level in ["-O0", "-O2"] {
            let line = format!(
                "{level} -Wall -Wextra -Wpedantic -Wframe-larger-than=4096 -Werror strict.c -o strict"
            );
            let ran = CommandResult::well(&mut cc(&world, compiler, &line));
            assert_eq!(ran.stderr, "", "{compiler} {level}");
            CommandResult::well(&mut world.command(world.path().join("strict")));
        }
    }
}

#[test]
fn shared_libraries_find_the_runtime_in_the_program() {
    need_tools();
    let world = world();
    world.write(
        "opens.c",
        "#include <dlfcn.h>\n#include <stdio.h>\n\
         int main(void) { void *library = dlopen(\"./libpart.so\", RTLD_NOW);\n\
         if (!library) { puts(dlerror()); return 1; }\n\
         int (*part)(void) = (int (*)(void))dlsym(library, \"part\");\n\
         printf(\"%d\\n\", part()); return 3; }\n",
    );
    for compiler in COMPILERS {
        let line = "-shared -fPIC part.c -Wl,--no-undefined -Wl,-z,defs -o libpart.so";
        CommandResult::well(&mut cc(&world, compiler, line));
        let undefined =
            CommandResult::well(
                world
                    .command("nm")
                    .args(["-D", "--undefined-only", "libpart.so"]),
            )
            .stdout;
        assert!(
            undefined.contains("__tsan_atomic32_fetch_add"),
            "{undefined}"
        );
        CommandResult::well(&mut cc(
            &world,
            compiler,
            "main.c -L. -lpart -Wl,-rpath,$ORIGIN -o linked",
        ));
        answers(&world, "linked");
        CommandResult::well(&mut cc(&world, compiler, "opens.c -o opens"));
        answers(&world, "opens");
    }
}

#[test]
fn other_sanitizers_static_links_and_link_time_optimisation() {
    need_tools();
    for compiler in COMPILERS {
        let world = world();
        CommandResult::well(&mut cc(
            &world,
            compiler,
            "-fsanitize=thread main.c part.c -o theirs",
        ));
        answers(&world, "theirs");
        let needed = CommandResult::well(world.command("readelf").args(["-d", "theirs"])).stdout;
        assert!(!needed.contains("tsan"), "{needed}");

        let ran = CommandResult::well(&mut cc(
            &world,
            compiler,
            "-fsanitize=address main.c part.c -o address",
        ));
        assert!(
            ran.stderr.contains("ignoring -fsanitize=address"),
            "{}",
            ran.stderr
        );
        answers(&world, "address");

        let ran = CommandResult::well(&mut cc(&world, compiler, "-static main.c part.c -o static"));
        assert!(ran.stderr.contains("ignoring -static"), "{}", ran.stderr);
        answers(&world, "static");

        CommandResult::well(&mut cc(
            &world,
            compiler,
            "-O2 -flto main.c part.c -o whole",
        ));
        answers(&world, "whole");
    }
}

#[test]
fn the_compiler_may_be_handed_over_or_be_called_by_one_word() {
    need_tools();
    let world = world();
    let bin = world.path().join("bin");
    CommandResult::well(world.wmfix("gcc").arg("wrappers").arg(&bin));
    for compiler in COMPILERS {
        let mut launched = world.wmfix("no-such-compiler");
        CommandResult::well(launched.args(["cc", compiler, "main.c", "part.c", "-o", "launched"]));
        answers(&world, "launched");

        let mut one_word = world.command(bin.join("wmfix-cc"));
        CommandResult::well(
            one_word
                .env("WMFIX_REAL_CC", compiler)
                .args(["main.c", "part.c", "-o", "word"]),
        );
        answers(&world, "word");
    }
    world.write(
        "main.cc",
        "#include <atomic>\nstd::atomic<int> x{3};\nint main() { return x.load() - 3; }\n",
    );
    for compiler in COMPILERS {
        let mut one_word = world.command(bin.join("wmfix-c++"));
        CommandResult::well(
            one_word
                .env("WMFIX_REAL_CC", compiler)
                .args(["main.cc", "-o", "cxx"]),
        );
        CommandResult::well(&mut world.command(world.path().join("cxx")));
    }
}

#[test]
fn the_binary_defines_no_symbol_of_the_runtime() {
    need_tools();
    let world = World::new();
    let table = symbols(&world, path(wmfix_tests::product::wmfix()));
    assert!(table.lines().count() > 1000, "the table is there");
    for line in table.lines() {
        let mut words = line.split_whitespace().rev();
        let (name, kind) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let defined = !matches!(kind, "U" | "w" | "v");
        let of_the_runtime = name.starts_with("__tsan_") || name.starts_with("pthread_");
        assert!(!(defined && of_the_runtime), "{line}");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn other_machines_are_refused_where_a_program_would_come_of_it() {
    need_tools();
    let world = World::new();
    world.write("main.c", "int main(void) { return 0; }\n");
    for line in [
        "-m32 main.c -o main",
        "--target=riscv64-linux-gnu main.c -o main",
    ] {
        let ran = CommandResult::of(&mut cc(&world, "clang", line));
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("another architecture"),
            "{}",
            ran.stderr
        );
    }
    // What is only compiled is the compiler's business.
    let bare = CommandResult::well(
        world
            .command("clang")
            .args(["-m32", "-S", "main.c", "-o", "-"]),
    );
    let ours = CommandResult::well(&mut cc(&world, "clang", "-m32 -S main.c -o -"));
    assert_eq!(ours.stdout, bare.stdout);
}

/// A gcc that says it is an old one, and does not take what an old one does not.
const OLD_GCC: &str = r#"#!/bin/sh
for argument; do
  case "$argument" in
    -dumpversion) echo 10.2.1; exit 0;;
    -specs=*) grep -q distinguish-volatile "${argument#-specs=}" && {
      echo "invalid --param name 'tsan-distinguish-volatile'" >&2; exit 1; };;
    -Wno-error=dangling-pointer | -Wno-error=tsan)
      echo "no option $argument" >&2; exit 1;;
  esac
done
exec gcc "$@"
"#;

#[test]
fn an_old_gcc_is_told_only_what_it_understands() {
    need_tools();
    let world = World::new();
    let old = world.write("bin/gcc", OLD_GCC);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&old, executable).expect("a file of ours");
    world.write("main.c", "int main(void) { return 0; }\n");
    let compiler = old.to_str().expect("a path");
    let ran = CommandResult::well(&mut cc(&world, compiler, "-Wall -Werror main.c -o main"));
    assert!(
        ran.stderr.contains("gcc 10 does not mark volatile"),
        "{}",
        ran.stderr
    );
    CommandResult::well(&mut world.command("./main"));
}
