//! The contents of `std::string`, which libstdc++ has compiled before C++20: races on them
//! are found in every standard, and what is in order is silent.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

/// Kept within the object, and on the heap.
const LENGTHS: [&str; 2] = ["-DLENGTH=3", "-DLENGTH=40"];

fn need_compilers() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
}

fn source(name: &str) -> PathBuf {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/runtime");
    corpus.join(name)
}

/// What runs of a program of the corpus show.
fn report(name: &str, (compiler, cxx): (&str, &str), flags: &[&str]) -> Value {
    let world = World::new();
    let mut build = world.wmfix(compiler);
    build.env("WMFIX_REAL_CXX", cxx);
    build.args([
        "c++", "-O1", "-pthread", "-Wall", "-Werror", "-o", "program",
    ]);
    CommandResult::well(build.args(flags).arg(source(name)));
    let mut run = world.wmfix(compiler);
    run.args(["run", "--seed", "1", "--runs", "30", "--format", "json"]);
    CommandResult::of(run.args(["--", "./program"])).json()
}

fn races(report: &Value) -> &Vec<Value> {
    report["races"].as_array().expect("a list of races")
}

/// The orders of a flag, as macros.
fn orders(store: &str, load: &str) -> [String; 2] {
    [
        format!("-DORDER_STORE=std::memory_order_{store}"),
        format!("-DORDER_LOAD=std::memory_order_{load}"),
    ]
}

#[test]
fn a_string_that_is_published_too_early_is_a_race_in_every_standard() {
    need_compilers();
    let [store, load] = orders("relaxed", "relaxed");
    let text = include_str!("../corpus/runtime/string_contents.cpp");
    let line = |mark: &str| {
        1 + text
            .lines()
            .position(|line| line.ends_with(mark))
            .expect(mark)
    };
    // Neither is a function that the header has inline.
    let (write, read) = (line("// write"), line("// read"));
    for compiler in COMPILERS {
        for standard in ["-std=c++11", "-std=gnu++17"] {
            for length in LENGTHS {
                let flags = [standard, length, &store, &load];
                let report = report("string_contents.cpp", compiler, &flags);
                let what = format!("{compiler:?} {flags:?}: {report:#}");
                let is_it =
                    |race: &Value| race["first"]["line"] == write && race["second"]["line"] == read;
                assert!(races(&report).iter().any(is_it), "{what}");
            }
        }
    }
}

#[test]
fn a_string_that_is_published_is_silent() {
    need_compilers();
    let [store, load] = orders("release", "acquire");
    for compiler in COMPILERS {
        for length in LENGTHS {
            let flags = ["-std=c++17", length, &store, &load];
            let report = report("string_contents.cpp", compiler, &flags);
            assert_eq!(
                races(&report).len(),
                0,
                "{compiler:?} {flags:?}: {report:#}"
            );
        }
    }
}

#[test]
fn strings_and_streams_in_order_are_silent() {
    need_compilers();
    for compiler in COMPILERS {
        for flags in [
            &["-std=c++11"][..],
            &["-std=c++17"],
            &["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"],
            &["-std=c++17", "-D_GLIBCXX_ASSERTIONS"],
        ] {
            let report = report("string_correct.cpp", compiler, flags);
            assert_eq!(report["failures"], serde_json::json!([]), "{report:#}");
            assert_eq!(
                races(&report).len(),
                0,
                "{compiler:?} {flags:?}: {report:#}"
            );
            let violations = report["violations"].as_array().expect("a list");
            assert_eq!(violations.len(), 0, "{compiler:?} {flags:?}: {report:#}");
        }
    }
}
