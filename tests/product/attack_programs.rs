//! Programs that wmfix must not stumble over (`tests/corpus/attack`): each in a correct
//! version, which is silent, and most in a broken one, which is reported. A file holds
//! many of them, each with what must come out in front.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// A program of the corpus.
struct AttackProgram {
    name: String,
    /// What is said in front of it, by its word.
    said: BTreeMap<String, String>,
    source: String,
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/attack")
}

/// The programs of a file: each begins with a line of `===` and its name, and its text
/// comes after a line of `---`.
fn programs(file: &str) -> Vec<AttackProgram> {
    let path = corpus().join(file).with_extension("programs");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let prelude = |name: &str| fs::read_to_string(corpus().join(name)).unwrap();
    let preludes = (prelude("prelude.h"), prelude("prelude.hpp"));
    let parts = text.split("=== ").skip(1).map(|part| {
        let (head, source) = part.split_once("\n---\n").expect("a text after the head");
        let mut lines = head.lines();
        let name = lines.next().expect("a name").to_owned();
        let said = lines.map(|line| {
            let (word, value) = line.split_once(": ").expect("a word and what it is");
            (word.to_owned(), value.to_owned())
        });
        let mut program = AttackProgram {
            name,
            said: said.collect(),
            source: source.to_owned(),
        };
        let prelude = match program.is_cpp() {
            true => &preludes.1,
            false => &preludes.0,
        };
        program.source.insert_str(0, prelude);
        program
    });
    parts.collect()
}

impl AttackProgram {
    fn says(&self, word: &str) -> Option<&str> {
        self.said.get(word).map(String::as_str)
    }

    fn is_cpp(&self) -> bool {
        self.says("language") == Some("c++")
    }

    /// Checks one version; what is wrong with what came out.
    fn problem(&self, version: &str, compiler: &str) -> Option<String> {
        let expected = self.says(version)?;
        let world = World::new();
        let file = match self.is_cpp() {
            true => "prog.cpp",
            false => "prog.c",
        };
        world.write(file, &self.source);
        let mut command = world.wmfix(compiler);
        // Libraries with threads of their own do not do the same in every run.
        let of_library = version == "broken" && self.says("cflags").is_some();
        let runs = if of_library { "40" } else { "10" };
        command.args(["check", file, "--runs", runs, "--format", "json"]);
        if self.is_cpp() {
            command.args(["--cflags", "-std=c++20"]);
        }
        // A run that hangs is killed and reported, whatever the machine is busy with.
        command.args(["--timeout", "60"]);
        if version == "broken" {
            command.args(["-D", "BROKEN=1"]);
        }
        if let Some(flags) = self.says("cflags") {
            command.args(["--cflags", flags, "--ldflags", flags]);
        }
        if let Some(flags) = self.says("ldflags") {
            command.args(["--ldflags", flags]);
        }
        let options = self.says("options").unwrap_or_default();
        command.args(options.split_whitespace());
        let ran = CommandResult::of(&mut command);
        let wrong = |what: &str| {
            let name = &self.name;
            let out = (ran.code, &ran.stdout, &ran.stderr);
            Some(format!(
                "{name}, {version}, {compiler}: expected {expected}: {what}\n{out:?}"
            ))
        };
        let Ok(report) = serde_json::from_str::<serde_json::Value>(&ran.stdout) else {
            return wrong("no report");
        };
        let mut words = expected.split_whitespace();
        let holds = match words.next() {
            Some("clean") => report["verdict"] == "clean" && ran.code == Some(0),
            Some("race") => {
                let object = words.next().unwrap_or_default();
                let names = |race: &serde_json::Value| {
                    let location = race["location"].as_str().unwrap_or_default();
                    location.starts_with(object)
                };
                report["races"].as_array().unwrap().iter().any(names)
            }
            Some("violation") => report["violations"][0].is_object(),
            Some("failure") => {
                let kind = words.next().unwrap_or_default();
                let placed =
                    kind != "misuse" || report["failures"][0]["threads"][0]["place"]["line"] != 0;
                report["failures"][0]["kind"] == kind && placed
            }
            _ => return wrong("an unknown expectation"),
        };
        if !holds {
            return wrong("not so");
        }
        let notes = report["notes"].to_string();
        if notes.contains("contradicts itself") {
            return wrong("the trace contradicts itself");
        }
        match (words.next(), words.next()) {
            (Some("note"), Some(word)) if !notes.contains(word) => wrong("no such note"),
            _ => None,
        }
    }
}

/// Checks all versions of the programs of a file.
fn hold(file: &str, compiler: &'static str) {
    need(&[Need::Program(compiler)]);
    let mut problems = Vec::new();
    for program in programs(file) {
        let compilers = program.says("compilers").unwrap_or("gcc");
        if !compilers.split_whitespace().any(|one| one == compiler) {
            continue;
        }
        for version in ["correct", "broken"] {
            problems.extend(program.problem(version, compiler));
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n\n")
    );
}

#[test]
fn attack_openmp_of_gcc() {
    hold("openmp", "gcc");
}

#[test]
fn attack_openmp_of_clang() {
    let library = "/usr/lib/x86_64-linux-gnu/libomp.so.5";
    need(&[Need::File(library, "libomp-dev")]);
    hold("openmp", "clang");
}

#[test]
fn attack_handoffs() {
    hold("handoffs", "gcc");
}

#[test]
fn attack_waits() {
    hold("waits", "gcc");
}

#[test]
fn attack_processes() {
    hold("processes", "gcc");
}

#[test]
fn attack_library() {
    need(&[Need::Program("g++")]);
    hold("library", "gcc");
}

#[test]
fn attack_system() {
    hold("system", "gcc");
}

#[test]
fn attack_streams() {
    hold("streams", "gcc");
}

#[test]
fn attack_errors() {
    hold("errors", "gcc");
}

#[test]
fn attack_calls() {
    hold("calls", "gcc");
}

#[test]
fn attack_misuse() {
    hold("misuse", "gcc");
}

/// A lock that is misused does not keep `suggest` from repairing what else there is.
#[test]
fn attack_misuse_beside_a_violation() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let buffering = include_str!("../corpus/suggest/sb.c");
    let misused = "static pthread_mutex_t unheld = PTHREAD_MUTEX_INITIALIZER;\n\
        int main(void) {\n  pthread_mutex_unlock(&unheld);";
    world.write(
        "prog.c",
        &buffering.replacen("int main(void) {", misused, 1),
    );
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["suggest", "prog.c", "--runs", "20"]),
    );
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.stdout, ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains("a lock is misused"), "{all}");
    assert!(all.contains("+++ b/prog.c"), "{all}");
}
