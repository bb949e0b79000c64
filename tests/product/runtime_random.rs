//! The system's random numbers: where the runtime schedules, a run has the same ones
//! every time, and what else could be read or go wrong is as it was.

use std::collections::BTreeSet;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::{Program, Run};
use wmfix_tests::tools::{Need, need};

fn need_compilers() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
}

/// Older C libraries have no `arc4random`.
fn flags() -> &'static [&'static str] {
    let probe = "#include <stdlib.h>\nint main(void) { return arc4random() == 1; }\n";
    let world = World::new();
    world.write("probe.c", probe);
    let mut gcc = std::process::Command::new("gcc");
    gcc.current_dir(world.path());
    gcc.args(["-Werror=implicit-function-declaration", "probe.c"]);
    match CommandResult::of(&mut gcc).code {
        Some(0) => &["-DARC4RANDOM"],
        _ => &[],
    }
}

/// What a run that must have gone well has printed.
fn printed(run: Run) -> String {
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    run.stdout
}

/// The lines of two runs that are the same in both, by the name before the numbers.
fn same_lines<'a>(one: &'a str, other: &str) -> Vec<&'a str> {
    assert_eq!(one.lines().count(), other.lines().count());
    let pairs = one.lines().zip(other.lines());
    let same = pairs.filter(|(one, other)| one == other);
    same.map(|(line, _)| line).collect()
}

#[test]
fn a_seed_has_its_random_numbers() {
    need_compilers();
    let flags = flags();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("random.c", compiler, flags);
        for strategy in ["mixed", "pct"] {
            let first = printed(program.run(strategy, 3));
            assert_eq!(first, printed(program.run(strategy, 3)), "{compiler}");
            // Nothing is drawn twice.
            let numbers = first
                .lines()
                .map(|line| line.split_once(' ').expect(line).1);
            assert_eq!(
                numbers.collect::<BTreeSet<_>>().len(),
                first.lines().count()
            );
            // What comes before `main` does so before a server of runs knows their seeds.
            let other = printed(program.run(strategy, 4));
            let same = same_lines(&first, &other);
            assert_eq!(same.len(), 2, "{same:?}");
            assert!(same[0].starts_with("constructor ") && same[1].starts_with("AT_RANDOM "));
        }
        let system = |seed| printed(program.run("os", seed));
        let (first, second) = (system(3), system(3));
        assert_eq!(
            same_lines(&first, &second),
            Vec::<&str>::new(),
            "{compiler}"
        );
    }
}

#[test]
fn the_cpp_librarys_random_numbers_are_the_seeds_too() {
    need_compilers();
    for (compiler, library) in [
        ("gcc", "-shared-libgcc"),
        ("gcc", "-static-libstdc++"),
        ("clang", "-shared-libgcc"),
    ] {
        let program = Program::build("random_device.cpp", compiler, &["-std=c++17", library]);
        let first = printed(program.run("mixed", 3));
        assert_eq!(first, printed(program.run("mixed", 3)), "{compiler}");
        let other = printed(program.run("mixed", 4));
        assert_eq!(same_lines(&first, &other), Vec::<&str>::new(), "{compiler}");
        let (first, second) = (program.run("os", 3), program.run("os", 3));
        assert_ne!(printed(first), printed(second), "{compiler}");
    }
}

#[test]
fn a_replay_draws_what_was_drawn() {
    need_compilers();
    let program = Program::build("random.c", "gcc", flags());
    let run = program.run("random", 5);
    let drawn = run.stdout.clone();
    let trace = run.well("random.c");
    let replay = [("WMFIX_REPLAY", trace.path.to_str().expect("a path"))];
    assert_eq!(printed(program.run_with(&replay, 9, &[])), drawn);
}

#[test]
fn a_child_draws_numbers_of_its_own() {
    need_compilers();
    let program = Program::build("random.c", "gcc", flags());
    let run = || printed(program.run_with(&[("WMFIX_STRATEGY", "mixed")], 3, &["forks"]));
    let first = run();
    assert_eq!(first, run());
    let numbers = first
        .lines()
        .map(|line| line.split_once(' ').expect(line).1);
    assert_eq!(numbers.collect::<BTreeSet<_>>().len(), 3, "{first}");
}

#[test]
fn errors_and_other_files_are_as_they_were() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("random.c", compiler, flags());
        for strategy in ["mixed", "os"] {
            for what in ["errors", "file.txt"] {
                let run = program.run_with(&[("WMFIX_STRATEGY", strategy)], 1, &[what]);
                assert_eq!(printed(run), "ok\n", "{compiler} {strategy} {what}");
            }
        }
    }
}

/// The same with and without a server of runs, which has run the constructors before
/// it knows the seed.
#[test]
fn a_served_run_draws_what_any_other_does() {
    need_compilers();
    let world = World::new();
    world.write(
        "draws.c",
        "#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/random.h>\n\
         static unsigned early[2]; static atomic_int x;\n\
         __attribute__((constructor)) static void begin(void) {\n\
         getrandom(&early[0], 4, 0); getrandom(&early[1], 4, 0); }\n\
         int main(void) { unsigned late; getrandom(&late, 4, 0); atomic_store(&x, 1);\n\
         FILE *out = fopen(\"drawn.txt\", \"a\");\n\
         fprintf(out, \"%s: %u %u %u\\n\", getenv(\"WMFIX_SEED\"), early[0], early[1], late);\n\
         fclose(out); return 0; }\n",
    );
    CommandResult::well(world.wmfix("gcc").args(["cc", "-o", "draws", "draws.c"]));
    let seeds_of = |lines: &BTreeSet<String>| -> BTreeSet<String> {
        let seeds = lines.iter().filter_map(|line| line.split(':').next());
        seeds.map(str::to_owned).collect()
    };
    let drawn = |server: &str| -> BTreeSet<String> {
        let _ = std::fs::remove_file(world.path().join("drawn.txt"));
        let line = format!("run --runs 6 --seed 1 --fork-server {server} -- ./draws");
        CommandResult::well(world.wmfix("gcc").args(line.split(' ')));
        let lines = std::fs::read_to_string(world.path().join("drawn.txt")).expect("written");
        lines.lines().map(str::to_owned).collect()
    };
    // Whichever runs are made: one thread has one schedule.
    let (served, others) = (drawn("on"), drawn("off"));
    assert!(seeds_of(&served).intersection(&seeds_of(&others)).count() > 1);
    let all: BTreeSet<String> = served.union(&others).cloned().collect();
    assert_eq!(all.len(), seeds_of(&all).len(), "{all:#?}");
}
