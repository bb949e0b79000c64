//! The compiler wrappers as CC and CXX of the usual build systems. What they
//! build must be instrumented and do what it did.

use std::path::Path;
use std::process::Command;

use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

/// A C library with a flag, a C++ program that uses it from two threads.
fn sources(world: &World) {
    world.write(
        "flag.h",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid raise_flag(void);\nint flag_is_up(void);\n#ifdef __cplusplus\n}\n#endif\n",
    );
    world.write(
        "flag.c",
        "#include \"flag.h\"\n#include <stdatomic.h>\nstatic atomic_int flag;\n\
         void raise_flag(void) { atomic_store_explicit(&flag, 1, memory_order_release); }\n\
         int flag_is_up(void) { return atomic_load_explicit(&flag, memory_order_acquire); }\n",
    );
    world.write(
        "main.cc",
        "#include \"flag.h\"\n#include <atomic>\n#include <cstdio>\n#include <thread>\n\
         static std::atomic<int> count{0};\n\
         int main() { std::thread other([] { ++count; raise_flag(); });\n\
         while (!flag_is_up()) std::this_thread::yield();\n\
         other.join(); std::printf(\"%d\\n\", count.load()); return 0; }\n",
    );
}

fn works(world: &World, program: &Path) {
    let ran = CommandResult::well(&mut world.command(program));
    assert_eq!(ran.stdout, "1\n");
    let symbols = CommandResult::well(world.command("nm").arg(program)).stdout;
    assert!(
        symbols.contains("T __tsan_atomic32_load"),
        "the runtime is linked"
    );
}

fn with_wrappers(command: &mut Command, (cc, cxx): (&str, &str)) {
    let wmfix = wmfix().to_str().expect("a path in UTF-8");
    command.env("WMFIX_REAL_CC", cc).env("WMFIX_REAL_CXX", cxx);
    command
        .env("CC", format!("{wmfix} cc"))
        .env("CXX", format!("{wmfix} c++"));
}

#[test]
fn make() {
    let needs = ["gcc", "clang", "make", "nm"].map(Need::Program);
    need(&needs);
    for compilers in COMPILERS {
        let world = World::new();
        sources(&world);
        world.write(
            "Makefile",
            "CFLAGS = -Wall -Werror -O2 -MMD\nCXXFLAGS = -Wall -Werror -O2\n\
             prog: main.o libflag.a\n\t$(CXX) $(LDFLAGS) main.o -L. -lflag -pthread -o $@\n\
             libflag.a: flag.o\n\tar rcs $@ $^\n",
        );
        let mut make = world.command("make");
        with_wrappers(&mut make, compilers);
        CommandResult::well(make.args(["-e", "-j2"]));
        works(&world, &world.path().join("prog"));
        assert!(world.path().join("flag.d").exists());
    }
}

#[test]
fn cmake_with_compilers_and_with_launchers() {
    let needs = ["gcc", "clang", "cmake", "ninja", "nm"].map(Need::Program);
    need(&needs);
    for compilers in COMPILERS {
        let world = World::new();
        sources(&world);
        world.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.21)\nproject(flag C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
             find_package(Threads REQUIRED)\n\
             add_library(flag SHARED flag.c)\n\
             add_executable(prog main.cc)\ntarget_link_libraries(prog flag Threads::Threads)\n",
        );
        let bin = world.path().join("bin");
        CommandResult::well(world.wmfix(compilers.0).arg("wrappers").arg(&bin));

        let mut configure = world.command("cmake");
        configure.args(["-G", "Ninja", "-S", ".", "-B", "by-compiler"]);
        configure.arg(format!(
            "-DCMAKE_C_COMPILER={}",
            bin.join("wmfix-cc").display()
        ));
        configure.arg(format!(
            "-DCMAKE_CXX_COMPILER={}",
            bin.join("wmfix-c++").display()
        ));
        let real = [
            ("WMFIX_REAL_CC", compilers.0),
            ("WMFIX_REAL_CXX", compilers.1),
        ];
        CommandResult::well(configure.envs(real));
        CommandResult::well(
            world
                .command("cmake")
                .args(["--build", "by-compiler"])
                .envs(real),
        );
        works(&world, &world.path().join("by-compiler/prog"));

        let mut configure = world.command("cmake");
        configure.args(["-G", "Ninja", "-S", ".", "-B", "by-launcher"]);
        configure.arg(format!("-DCMAKE_C_COMPILER={}", compilers.0));
        configure.arg(format!("-DCMAKE_CXX_COMPILER={}", compilers.1));
        for (language, word) in [("C", "wmfix-cc"), ("CXX", "wmfix-c++")] {
            let wrapper = bin.join(word).display().to_string();
            configure.arg(format!("-DCMAKE_{language}_COMPILER_LAUNCHER={wrapper}"));
            configure.arg(format!("-DCMAKE_{language}_LINKER_LAUNCHER={wrapper}"));
        }
        CommandResult::well(&mut configure);
        CommandResult::well(world.command("cmake").args(["--build", "by-launcher"]));
        works(&world, &world.path().join("by-launcher/prog"));
    }
}

#[test]
fn meson() {
    let needs = ["gcc", "clang", "meson", "ninja", "nm"].map(Need::Program);
    need(&needs);
    for compilers in COMPILERS {
        let world = World::new();
        sources(&world);
        world.write(
            "meson.build",
            "project('flag', 'c', 'cpp', default_options: ['werror=true', 'warning_level=2'])\n\
             threads = dependency('threads')\n\
             flag = shared_library('flag', 'flag.c')\n\
             prog = executable('prog', 'main.cc', link_with: flag, dependencies: threads)\n\
             test('works', prog)\n",
        );
        let mut setup = world.command("meson");
        with_wrappers(&mut setup, compilers);
        CommandResult::well(setup.args(["setup", "built"]));
        let mut compile = world.command("meson");
        with_wrappers(&mut compile, compilers);
        CommandResult::well(compile.args(["compile", "-C", "built"]));
        CommandResult::well(world.command("meson").args(["test", "-C", "built"]));
        works(&world, &world.path().join("built/prog"));
    }
}

#[test]
fn autotools() {
    let needs = ["gcc", "clang", "autoreconf", "automake", "make", "nm"].map(Need::Program);
    need(&needs);
    for compilers in COMPILERS {
        let world = World::new();
        sources(&world);
        world.write(
            "configure.ac",
            "AC_INIT([flag], [1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\nAC_PROG_CXX\n\
             AC_PROG_RANLIB\nAM_PROG_AR\nAC_CHECK_HEADERS([stdatomic.h], [], [AC_MSG_ERROR([no atomics])])\n\
             AC_SEARCH_LIBS([pthread_create], [pthread], [], [AC_MSG_ERROR([no threads])])\n\
             AC_CHECK_FUNCS([no_such_function])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        );
        world.write(
            "Makefile.am",
            "noinst_LIBRARIES = libflag.a\nlibflag_a_SOURCES = flag.c flag.h\n\
             bin_PROGRAMS = prog\nprog_SOURCES = main.cc\nprog_LDADD = libflag.a\n",
        );
        CommandResult::well(world.command("autoreconf").arg("--install"));
        let mut configure = world.command(world.path().join("configure"));
        with_wrappers(&mut configure, compilers);
        let ran = CommandResult::well(&mut configure);
        assert!(
            ran.stdout.contains("no_such_function... no"),
            "{}",
            ran.stdout
        );
        let mut make = world.command("make");
        with_wrappers(&mut make, compilers);
        CommandResult::well(make.arg("-j2"));
        works(&world, &world.path().join("prog"));
    }
}
