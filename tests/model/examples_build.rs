//! The examples as anybody would build and run them: no warnings, the same
//! result every time, with their own build systems where they have one.

use std::process::Command;

use wmfix_tests::examples::example::{
    CLANG, Compiler, GCC, assert_went_well, example, examples, run_on_one_processor,
};
use wmfix_tests::tools::{Need, need};

#[test]
fn all_are_there_and_explained() {
    let examples = examples();
    let names: Vec<&str> = examples.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "chase_lev_deque",
            "dekker",
            "hidden_race",
            "message_passing",
            "mpmc_queue",
            "peterson",
            "reference_count",
            "seqlock",
            "spsc_ring",
            "store_buffering",
            "treiber_stack",
        ]
    );
    for example in examples {
        let readme = std::fs::read_to_string(example.folder.join("README.md"))
            .unwrap_or_else(|error| panic!("{}: {error}", example.name));
        let folder = format!("examples/{}", example.name);
        let command = |line: &str| line.starts_with("    wmfix ") && line.contains(&folder);
        assert!(readme.lines().any(command), "no command for {folder}");
    }
}

#[test]
fn gcc_builds_programs_that_check_themselves() {
    let needs = [
        Need::Program("gcc"),
        Need::Program("g++"),
        Need::Program("taskset"),
    ];
    need(&needs);
    assert_builds_and_runs(GCC);
}

#[test]
fn clang_builds_programs_that_check_themselves() {
    let needs = [
        Need::Program("clang"),
        Need::Program("clang++"),
        Need::Program("taskset"),
    ];
    need(&needs);
    assert_builds_and_runs(CLANG);
}

#[test]
fn the_ring_has_a_makefile_with_a_test() {
    let needs = [Need::Program("make"), Need::Program("gcc")];
    need(&needs);
    let folder = tempfile::tempdir().unwrap();
    let ring = example("spsc_ring").copy_into(folder.path());
    let output = Command::new("make")
        .args(["CC=gcc", "test"])
        .current_dir(&ring.folder)
        .output()
        .unwrap();
    assert_went_well("make test", &output);
    assert!(String::from_utf8_lossy(&output.stdout).contains("6 of 6 packets arrived whole"));
}

#[test]
fn the_deque_has_a_ctest() {
    let needs = [Need::Program("cmake"), Need::Program("g++")];
    need(&needs);
    let folder = tempfile::tempdir().unwrap();
    let deque = example("chase_lev_deque").copy_into(folder.path());
    let build = deque.folder.join("build");
    let steps: [&[&str]; 3] = [
        &["cmake", "-S", ".", "-B", "build"],
        &["cmake", "--build", "build"],
        // Built but not run: on this machine's two processors the deque may
        // really fail before it is repaired.
        &["ctest", "--test-dir", "build", "--show-only"],
    ];
    for step in steps {
        let output = Command::new(step[0])
            .args(&step[1..])
            .current_dir(&deque.folder)
            .output()
            .unwrap();
        assert_went_well(&step.join(" "), &output);
    }
    assert_went_well(
        "the deque",
        &run_on_one_processor(&build.join("test_deque")),
    );
}

fn assert_builds_and_runs(compiler: Compiler) {
    let folder = tempfile::tempdir().unwrap();
    for example in examples() {
        let results: Vec<Vec<u8>> = ["-O0", "-O2"]
            .into_iter()
            .map(|level| {
                let program = example.compile(compiler, level, folder.path());
                let output = run_on_one_processor(&program);
                assert_went_well(&example.name, &output);
                output.stdout
            })
            .collect();
        assert!(!results[0].is_empty(), "{} says nothing", example.name);
        assert_eq!(results[0], results[1], "{}", example.name);
    }
}
