//! Projects with a build system, as their users have them: built in a copy, with
//! findings in the user's own files, and not built again without need.

use std::fs;
use std::path::Path;

use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

/// Store buffering: both threads may read 0.
const BUFFERING: &str = r#"
#include "flags.h"
#include <pthread.h>
static void *left(void *unused) { set(&x); saw_y = get(&y); return unused; }
static void *right(void *unused) { set(&y); saw_x = get(&x); return unused; }
int buffering(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

const FLAGS: &str = r#"
#include <stdatomic.h>
static atomic_int x, y;
static int saw_x, saw_y;
static void set(atomic_int *flag) { atomic_store_explicit(flag, 1, memory_order_release); }
static int get(atomic_int *flag) { return atomic_load_explicit(flag, memory_order_acquire); }
int buffering(void);
"#;

fn sources(world: &World, folder: &str) {
    world.write(&format!("{folder}/include/flags.h"), FLAGS);
    world.write(&format!("{folder}/src/buffering.c"), BUFFERING);
    world.write(
        &format!("{folder}/test/main.c"),
        "int buffering(void);\nint main(void) { return buffering(); }\n",
    );
}

fn cmake(world: &World, folder: &str) {
    sources(world, folder);
    world.write(
        &format!("{folder}/CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.13)\nproject(flags C)\nfind_package(Threads REQUIRED)\n\
         include_directories(include)\nadd_library(flags STATIC src/buffering.c)\n\
         target_link_libraries(flags Threads::Threads)\nadd_executable(prog test/main.c)\n\
         target_link_libraries(prog flags)\nenable_testing()\nadd_test(NAME works COMMAND prog)\n\
         add_test(NAME again COMMAND prog)\nset_tests_properties(again PROPERTIES ENVIRONMENT \"A=1\")\n",
    );
}

fn make(world: &World, folder: &str) {
    sources(world, folder);
    world.write(
        &format!("{folder}/Makefile"),
        "CC = gcc\nCFLAGS = -Iinclude -Wall -Wno-unused-variable -Werror\nall: libflags.a\n\
         libflags.a: src/buffering.o\n\tar rcs $@ $^\n\
         src/buffering.o: include/flags.h\n\
         prog: test/main.o libflags.a\n\tgcc -pthread -o $@ $^\n\
         check: prog\n\t./prog\n\t./prog\n.PHONY: all check\n",
    );
}

fn meson(world: &World, folder: &str) {
    sources(world, folder);
    world.write(
        &format!("{folder}/meson.build"),
        "project('flags', 'c')\nthreads = dependency('threads')\n\
         flags = static_library('flags', 'src/buffering.c', include_directories: 'include')\n\
         prog = executable('prog', 'test/main.c', link_with: flags, dependencies: threads)\n\
         test('works', prog)\ntest('again', prog)\n",
    );
}

/// A compiler that notes that it was called.
fn counted_compiler(world: &World) -> String {
    let log = world.path().join("compiled.log");
    let path = world.write(
        "bin/gcc",
        &format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\nexec /usr/bin/gcc \"$@\"\n",
            log.display()
        ),
    );
    CommandResult::well(world.command("chmod").arg("+x").arg(&path));
    path.to_str().unwrap().to_owned()
}

/// How often it was called since the last time.
fn compiled(world: &World) -> usize {
    let log = world.path().join("compiled.log");
    let lines = fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    if log.exists() {
        fs::remove_file(&log).unwrap();
    }
    lines
}

/// All files of a folder, with what they hold.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

/// Checks, repairs, and checks that nothing is built without need.
fn assert_project(world: &World, folder: &str, source: &str, header: &str) {
    let compiler = counted_compiler(world);
    let before = contents(&world.path().join(folder));
    let wmfix = |arguments: &[&str]| CommandResult::of(world.wmfix(&compiler).args(arguments));

    let first = wmfix(&["check", folder, "--format", "json"]);
    assert_eq!(first.code, Some(1), "{} {}", first.stdout, first.stderr);
    assert!(compiled(world) > 0);
    let report = first.json();
    // The call is what a finding is about; the helper that it goes through is named.
    let violation = &report["violations"][0];
    assert_eq!(violation["access"]["file"], source, "{report}");
    assert_eq!(violation["via"][0]["file"], header, "{report}");
    let again = wmfix(&["check", folder, "--format", "json"]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert_eq!(compiled(world), 0, "built without a change");
    assert_eq!(again.json()["violations"], report["violations"]);

    // A finding is seen again with its seed alone.
    let seed = report["violations"][0]["seed"].to_string();
    let once = wmfix(&[
        "check", folder, "--seed", &seed, "--runs", "1", "--format", "json",
    ]);
    let found = once.json()["violations"].as_array().unwrap().len();
    assert!(found > 0, "{}", once.stdout);

    let suggested = wmfix(&["suggest", folder]);
    assert_eq!(suggested.code, Some(1), "{}", suggested.stderr);
    let built = compiled(world);
    assert!(built > 0, "the patched program is built");
    assert_eq!(
        contents(&world.path().join(folder)),
        before,
        "the tree is untouched"
    );
    world.write("it.patch", &suggested.stdout);
    CommandResult::well(world.command("git").args(["apply", "--check", "it.patch"]));
    let same = wmfix(&["suggest", folder]);
    assert_eq!(same.stdout, suggested.stdout, "{}", same.stderr);
    assert_eq!(compiled(world), 0, "the patched program is built already");

    let applied = wmfix(&["suggest", folder, "--apply"]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(compiled(world), 0);
    let clean = wmfix(&["check", folder]);
    assert_eq!(clean.code, Some(0), "{} {}", clean.stdout, clean.stderr);
    assert!(compiled(world) > 0, "the files have changed");
}

#[test]
fn a_cmake_project() {
    let needs = ["gcc", "cmake", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    cmake(&world, "a project");
    assert_project(
        &world,
        "a project",
        "a project/src/buffering.c",
        "a project/include/flags.h",
    );
}

#[test]
fn a_make_project() {
    let needs = ["gcc", "make", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    make(&world, "project");
    // What the user has built is no good to us.
    world.write("project/prog", "\u{7f}ELF: not instrumented");
    assert_project(
        &world,
        "project",
        "project/src/buffering.c",
        "project/include/flags.h",
    );
}

#[test]
fn a_makefile_that_does_not_know_its_headers_builds_what_is_there() {
    need(&["gcc", "make"].map(Need::Program));
    let world = World::new();
    make(&world, "project");
    let makefile = world.path().join("project/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    let without = text.replace("src/buffering.o: include/flags.h\n", "");
    assert_ne!(text, without);
    world.write("project/Makefile", &without);
    let check = || {
        let arguments = ["check", "project", "--runs", "20"];
        CommandResult::of(world.wmfix("gcc").args(arguments))
    };
    let buggy = check();
    assert_eq!(buggy.code, Some(1), "{}", buggy.stderr);
    let mended = FLAGS
        .replace("release", "seq_cst")
        .replace("acquire", "seq_cst");
    world.write("project/include/flags.h", &mended);
    let clean = check();
    assert_eq!(clean.code, Some(0), "{} {}", clean.stdout, clean.stderr);
}

#[test]
fn a_meson_project() {
    let needs = ["gcc", "meson", "ninja", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    meson(&world, "project");
    assert_project(
        &world,
        "project",
        "project/src/buffering.c",
        "project/include/flags.h",
    );
}

#[test]
fn a_folder_without_a_build_system() {
    let needs = ["gcc", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    world.write("project/include/flags.h", FLAGS);
    let source = BUFFERING.replace("flags.h", "include/flags.h");
    world.write("project/buffering.c", &source);
    world.write(
        "project/main.c",
        "int buffering(void);\nint main(void) { return buffering(); }\n",
    );
    assert_project(
        &world,
        "project",
        "project/buffering.c",
        "project/include/flags.h",
    );
}

#[test]
fn a_test_folder_may_reach_the_rest_of_its_repository() {
    let needs = ["gcc", "make", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    sources(&world, "repository");
    world.write(
        "repository/test/Makefile",
        "prog: main.c ../src/buffering.c ../include/flags.h\n\
         \t$(CC) -I../include -pthread -o $@ main.c ../src/buffering.c\n\
         test: prog\n\t./prog\n",
    );
    CommandResult::well(world.command("git").args(["init", "-q", "repository"]));
    assert_project(
        &world,
        "repository/test",
        "repository/src/buffering.c",
        "repository/include/flags.h",
    );
}

#[test]
fn wmfix_toml_says_how_to_build_and_test() {
    let needs = ["gcc", "make"].map(Need::Program);
    need(&needs);
    let world = World::new();
    sources(&world, "project");
    world.write(
        "project/wmfix.toml",
        "[build]\ncommands = [\"mkdir -p out\", \"$CC -Iinclude -pthread src/*.c test/*.c -o out/prog\"]\n\
         cflags = [\"-DBUFFERING=1\"]\n\n[test]\ncommand = [\"out/prog\"]\n\n[run]\nruns = 30\n",
    );
    let source = format!("#if BUFFERING != 1\n#error no flags\n#endif\n{BUFFERING}");
    world.write("project/src/buffering.c", &source);
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["check", "project", "--format", "json"]),
    );
    assert_eq!(ran.code, Some(1), "{} {}", ran.stdout, ran.stderr);
    assert!(
        ran.json()["runs"]["total"].as_u64().unwrap() < 80,
        "{}",
        ran.stdout
    );
}

#[test]
fn init_writes_a_file_that_changes_nothing() {
    let needs = ["gcc", "cmake"].map(Need::Program);
    need(&needs);
    let world = World::new();
    cmake(&world, ".");
    world.write(
        "include/layer.h",
        "#include <stdatomic.h>\nstatic inline int layer_get(atomic_int *x) { return atomic_load_explicit(x, memory_order_acquire); }\n",
    );
    let check = || {
        let mut report =
            CommandResult::of(world.wmfix("gcc").args(["check", "--format", "json"])).json();
        report["runs"]["seconds"].take();
        report
    };
    let before = check();
    let wrote = CommandResult::well(world.wmfix("gcc").arg("init"));
    let text = fs::read_to_string(world.path().join("wmfix.toml")).unwrap();
    assert_eq!(
        (wrote.stdout.as_str(), wrote.stderr.lines().count()),
        ("", 1)
    );
    assert!(wrote.stderr.contains("wrote wmfix.toml"), "{wrote:?}");
    assert!(text.contains("\nsystem = \"cmake\"\n"), "{text}");
    assert!(text.contains("layer_get"), "{text}");
    assert_eq!(check(), before);

    let refused = CommandResult::of(world.wmfix("gcc").arg("init"));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    CommandResult::well(world.wmfix("gcc").args(["init", "--force"]));
}

#[test]
fn a_commit_hook_lets_through_what_has_been_repaired() {
    let needs = ["gcc", "make", "git"].map(Need::Program);
    need(&needs);
    let world = World::new();
    make(&world, ".");
    world.write("wmfix.toml", "[build]\nsystem = \"make\"\n");
    let git = |arguments: &[&str]| {
        let mut git = world.command("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        git.env("WMFIX_REAL_CC", "gcc");
        CommandResult::of(git.args(arguments))
    };
    let hook = "#!/bin/sh\nexec WMFIX check --quiet\n".replace("WMFIX", wmfix().to_str().unwrap());
    assert_eq!(git(&["init", "-q"]).code, Some(0));
    assert_eq!(git(&["add", "."]).code, Some(0));
    assert_eq!(git(&["commit", "-qm", "as it was"]).code, Some(0));
    let hook = world.write(".git/hooks/pre-commit", &hook);
    CommandResult::well(world.command("chmod").arg("+x").arg(hook));

    let refused = git(&["commit", "--allow-empty", "-qm", "not repaired"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stdout.contains("flags.h") || refused.stderr.contains("flags.h"));

    let suggested = CommandResult::of(world.wmfix("gcc").args(["suggest", "--apply"]));
    assert_eq!(suggested.code, Some(0), "{}", suggested.stderr);
    let changed = git(&["diff", "--name-only"]).stdout;
    assert_eq!(changed.lines().count(), 1, "{changed}");
    let lines = |diff: &str| -> Vec<String> {
        let changes = diff.lines().filter(|line| line.starts_with(['+', '-']));
        changes.map(str::to_owned).collect()
    };
    assert_eq!(lines(&git(&["diff"]).stdout), lines(&suggested.stdout));
    assert_eq!(
        git(&["status", "--porcelain"]).stdout,
        format!(" M {changed}")
    );

    let passed = git(&["commit", "-qam", "repaired"]);
    assert_eq!(passed.code, Some(0), "{} {}", passed.stdout, passed.stderr);
}

#[test]
fn pre_commit_runs_the_hook_for_an_installed_wmfix() {
    let needs = ["gcc", "make", "git", "pre-commit"].map(Need::Program);
    need(&needs);
    let (world, home) = (World::new(), World::new());
    make(&world, ".");
    world.write("wmfix.toml", "[build]\nsystem = \"make\"\n");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.pre-commit-hooks.yaml");
    let shipped = fs::read_to_string(shipped).expect("the hooks that we ship");
    let hooks: String = shipped.lines().map(|line| format!("  {line}\n")).collect();
    let config = format!("repos:\n- repo: local\n  hooks:\n{hooks}");
    world.write(".pre-commit-config.yaml", &config);
    CommandResult::well(world.command("git").args(["init", "-q"]));
    CommandResult::well(world.command("git").args(["add", "."]));

    let ours = wmfix().parent().expect("it is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(ours).chain(std::env::split_paths(&path)));
    let path = path.expect("folders without colons");
    let hook = || {
        let mut pre_commit = world.command("pre-commit");
        pre_commit.env("PATH", &path).env("WMFIX_REAL_CC", "gcc");
        pre_commit.env("PRE_COMMIT_HOME", home.path());
        CommandResult::of(pre_commit.args(["run", "wmfix-check-system", "--all-files"]))
    };
    let refused = hook();
    assert_eq!(
        refused.code,
        Some(1),
        "{} {}",
        refused.stdout,
        refused.stderr
    );
    assert!(refused.stdout.contains("warning[V1]"), "{}", refused.stdout);

    CommandResult::of(world.wmfix("gcc").args(["suggest", "--apply"]));
    CommandResult::well(world.command("git").args(["add", "."]));
    let passed = hook();
    assert_eq!(passed.code, Some(0), "{} {}", passed.stdout, passed.stderr);
}

/// What shows that a folder was written to: its files with their sizes and times.
fn looks(folder: &Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let files = entries.into_iter().map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| !entry.file_type().is_dir());
    let files = files.map(|entry| {
        let meta = entry.metadata().expect("its metadata");
        let modified = meta.modified().expect("a time");
        (entry.into_path(), meta.len(), modified)
    });
    files.collect()
}

fn shell(world: &World, folder: &str, script: &str) {
    let mut sh = world.command("sh");
    sh.args(["-ec", script])
        .current_dir(world.path().join(folder));
    CommandResult::well(&mut sh);
}

/// Checks a folder; nothing in it is touched. The exit code and what was said.
fn untouched(world: &World, folder: &str) -> (Option<i32>, String) {
    let before = looks(&world.path().join(folder));
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["check", folder, "--runs", "3"]));
    assert_eq!(
        looks(&world.path().join(folder)),
        before,
        "{folder}: {ran:?}"
    );
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

fn autotools(world: &World, folder: &str) {
    sources(world, folder);
    world.write(
        &format!("{folder}/configure.ac"),
        "AC_INIT([flags], [1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\nAC_PROG_RANLIB\n\
         AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    world.write(
        &format!("{folder}/Makefile.am"),
        "AM_CPPFLAGS = -I$(srcdir)/include\nAM_LDFLAGS = -pthread\ncheck_PROGRAMS = prog\n\
         prog_SOURCES = test/main.c src/buffering.c\nTESTS = prog\n",
    );
}

/// Whatever builds a project, and wherever it was configured before: the user's folder
/// stays as it is, and the project is built all the same.
#[test]
fn a_folder_that_was_configured_in_place_stays_as_it_is() {
    let programs = ["gcc", "cmake", "make", "meson", "ninja", "autoreconf"];
    need(&programs.map(Need::Program));
    let world = World::new();
    for (name, project) in [
        ("cmake", cmake as fn(&World, &str)),
        ("make", make),
        ("meson", meson),
        ("autotools", autotools),
        ("plain", sources),
    ] {
        let configure = match name {
            "cmake" => vec!["cmake . && make", "cmake -G Ninja \"$PWD\" && ninja"],
            "make" => vec!["make prog"],
            "meson" => vec!["meson setup out && ninja -C out"],
            "autotools" => vec!["autoreconf -fi && \"$PWD/configure\" && make check"],
            _ => vec![""],
        };
        for (number, script) in configure.into_iter().enumerate() {
            let folder = format!("{name}{number}");
            project(&world, &folder);
            shell(&world, &folder, script);
            let (code, said) = untouched(&world, &folder);
            assert_eq!(code, Some(1), "{folder}: {said}");
        }
    }
}

/// Build files that name the user's folder would have it built there: they are refused.
#[test]
fn a_build_file_that_names_the_users_folder_is_refused() {
    need(&[
        Need::Program("gcc"),
        Need::Program("make"),
        Need::Program("cmake"),
    ]);
    let world = World::new();
    make(&world, "absolute");
    let top = world
        .path()
        .join("absolute")
        .canonicalize()
        .expect("a folder");
    world.write("absolute/paths.mk", &format!("TOP = {}\n", top.display()));
    world.write(
        "absolute/Makefile",
        "include paths.mk\ncheck: $(TOP)/prog\n\t$(TOP)/prog\n\
         $(TOP)/prog: $(TOP)/test/main.c $(TOP)/src/buffering.c\n\t$(CC) -I$(TOP)/include -pthread -o $@ $^\n",
    );
    let (code, said) = untouched(&world, "absolute");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("paths.mk:1 names "), "{said}");

    cmake(&world, "project");
    shell(&world, "project", "cmake -S . -B out");
    let (code, said) = untouched(&world, "project/out");
    assert_eq!(code, Some(3), "{said}");
}

/// What a build writes into the user's folder all the same is not passed over.
#[test]
fn a_build_that_writes_into_the_users_folder_is_a_fault() {
    need(&[Need::Program("gcc"), Need::Program("make")]);
    let world = World::new();
    make(&world, "project");
    let top = world
        .path()
        .join("project")
        .canonicalize()
        .expect("a folder");
    let hidden = top.display().to_string().replacen('/', "/./", 1);
    world.write("project/paths.mk", &format!("TOP = {hidden}\n"));
    world.write(
        "project/Makefile",
        "include paths.mk\ncheck: $(TOP)/prog\n\t$(TOP)/prog\n\
         $(TOP)/prog: test/main.c src/buffering.c\n\t$(CC) -Iinclude -pthread -o $@ $^\n",
    );
    let mut command = world.wmfix("gcc");
    let ran = CommandResult::of(command.args(["check", "project", "--runs", "20"]));
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("were written: prog"), "{ran:?}");
}
