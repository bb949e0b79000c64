//! How often the lines of a case run: one run of its test, built with gcov, on
//! one processor so that waiting loops do not count for much.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::case::{Case, Language};

/// Executions by file and line.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<(String, usize), i64>);

impl Counts {
    /// How often something on a line or between two lines runs: as often as the
    /// rarer of the two, since the other may be the head of a loop. What gcov does
    /// not count runs once.
    pub(super) fn of(&self, file: &str, lines: [usize; 2]) -> i64 {
        let count = |line: &usize| self.0.get(&(file.to_owned(), *line)).copied();
        let counts = lines.iter().filter_map(count).filter(|count| *count > 0);
        counts.min().unwrap_or(1)
    }

    /// Builds the version that lies in the folder, runs its test and counts. gcov counts
    /// lines of several blocks more than once, and which ones these are depends on the
    /// optimisation: of two ways, the less. What becomes part of a caller is not counted
    /// at its own line.
    pub(super) fn measure(case: &Case, folder: &Path) -> Self {
        let kept = ["-Og", "-fno-inline", "-fno-ipa-icf", "-fno-ipa-pure-const"];
        let mut counts = Self::measured_with(&["-O0"], case, folder);
        for (line, count) in Self::measured_with(&kept, case, folder).0 {
            let known = counts.0.entry(line).or_insert(count);
            *known = (*known).min(count);
        }
        for (file, text) in case.texts(folder) {
            counts.add_macros(&file, &text, &case.texts(folder));
        }
        counts
    }

    fn measured_with(optimisation: &[&str], case: &Case, folder: &Path) -> Self {
        let compiler = match case.description.language {
            Language::C => ["gcc", "-std=gnu11"],
            Language::Cxx => ["g++", "-std=c++17"],
        };
        run(Command::new(compiler[0])
            .args([compiler[1], "--coverage"])
            .args(optimisation)
            .args(["-fprofile-update=atomic", "-pthread", "-o", "counted"])
            .args(&case.description.flags)
            .args(case.sources())
            .args(&case.description.libraries)
            .current_dir(folder));
        let data = |source: &str| {
            let stem = source.rsplit_once('.').expect("an ending").0;
            format!("counted-{stem}.gcda")
        };
        // What an earlier run has counted would be added to.
        for source in case.sources() {
            let _ = fs::remove_file(folder.join(data(&source)));
        }
        run(Command::new("taskset")
            .args(["-c", "0", "./counted"])
            .current_dir(folder));
        let mut counts = Self::default();
        for source in case.sources() {
            let output = run(Command::new("gcov")
                .args(["--json-format", "--stdout", &data(&source)])
                .current_dir(folder));
            counts.add(&output);
        }
        counts
    }

    fn add(&mut self, json: &str) {
        let report: serde_json::Value = serde_json::from_str(json).expect("gcov prints JSON");
        for file in report["files"].as_array().into_iter().flatten() {
            let name = file["file"].as_str().unwrap_or_default();
            for line in file["lines"].as_array().into_iter().flatten() {
                let number = line["line_number"].as_u64().unwrap_or_default();
                let number = usize::try_from(number).expect("a line number");
                let count = line["count"].as_i64().unwrap_or_default();
                *self.0.entry((name.to_owned(), number)).or_default() += count;
            }
        }
    }

    /// A macro runs as often as the lines that have its name.
    fn add_macros(&mut self, file: &str, text: &str, all: &BTreeMap<String, String>) {
        for (index, line) in text.lines().enumerate() {
            let Some(definition) = line.strip_prefix("#define ") else {
                continue;
            };
            let end = definition.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &definition[..end.unwrap_or(definition.len())];
            let mut sum = 0;
            for (user, user_text) in all {
                for (at, user_line) in user_text.lines().enumerate() {
                    if user_line.contains(&format!("{name}(")) {
                        sum += self.0.get(&(user.clone(), at + 1)).copied().unwrap_or(0);
                    }
                }
            }
            self.0.insert((file.to_owned(), index + 1), sum);
        }
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("gcov prints UTF-8")
}
