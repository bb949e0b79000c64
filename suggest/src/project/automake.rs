//! The tests of a project whose Makefiles automake has made, each as a command of its own:
//! `make check` would look at all files again for every run. What the Makefiles do
//! otherwise than automake does by itself is left to make.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::BuildFailure;
use super::command::BuildCommand;
use super::listing::Test;
use super::test_search::{TestPlan, TestSearch};
use super::walk::is_hidden;
use crate::run::SkipRule;

/// A test that ends with this could not be run.
const SKIPPED: i32 = 77;

/// Makefiles with tests this many folders down are looked at.
const MAX_DEPTH: usize = 8;

/// Variables by which a test is run in another way than by itself; all are empty by default.
const OTHER_WAYS: [&str; 6] = [
    "XFAIL_TESTS",
    "TESTS_ENVIRONMENT",
    "AM_TESTS_ENVIRONMENT",
    "LOG_COMPILER",
    "AM_LOG_FLAGS",
    "LOG_FLAGS",
];

impl TestSearch<'_> {
    /// The tests that automake would run; `None` if make has to run them.
    pub(super) fn of_automake(&self) -> anyhow::Result<Option<Result<TestPlan, BuildFailure>>> {
        let folders = folders_with_tests(self.layout.build);
        if folders.is_empty() {
            return Ok(None);
        }
        // Builds all that tests need, and runs none.
        let mut build = self.make("check");
        build.push("TESTS=".into());
        let step = BuildCommand {
            words: build,
            must_succeed: true,
        };
        if let Some(failure) = self.of.step(&step, self.layout.build, self.tools)? {
            return Ok(Some(Err(failure)));
        }
        let mut tests = Vec::new();
        for folder in folders {
            let names = ["TESTS", "TEST_EXTENSIONS", "LOG_DRIVER", "srcdir"];
            let info = names.iter().chain(&OTHER_WAYS);
            let info = info.map(|name| format!("$(info wmfix:{name}=$({name}))"));
            let rule = format!("wmfix-variables: ; {}@:", info.collect::<String>());
            let ask = BuildCommand::new(["make", "-s", "--eval", &rule, "wmfix-variables"]);
            if self.of.step(&ask, &folder, self.tools)?.is_some() {
                return Ok(None);
            }
            let printed = fs::read(self.of.log())?;
            match tests_in(&folder, &String::from_utf8_lossy(&printed)) {
                Some(of_folder) => tests.extend(of_folder),
                None => return Ok(None),
            }
        }
        Ok((!tests.is_empty()).then(|| Ok(TestPlan::of(tests))))
    }
}

/// The folders whose Makefiles are automake's and have tests; none if one of them also
/// tests in a way of its own.
fn folders_with_tests(build: &Path) -> Vec<PathBuf> {
    // What was configured is often in an ignore file.
    let entries = WalkDir::new(build).max_depth(MAX_DEPTH).sort_by_file_name();
    let entries = entries
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry));
    let entries = entries.filter_map(Result::ok);
    let makefiles = entries.filter(|entry| {
        let path = entry.path();
        entry.file_name() == "Makefile" && path.with_file_name("Makefile.in").is_file()
    });
    let mut folders = Vec::new();
    for makefile in makefiles {
        let text = fs::read_to_string(makefile.path()).unwrap_or_default();
        let has_rule = |name: &str| text.lines().any(|line| line.starts_with(name));
        if has_rule("check-local:") {
            return Vec::new();
        }
        if has_rule("check-TESTS:") {
            folders.extend(makefile.path().parent().map(Path::to_owned));
        }
    }
    folders
}

/// The tests of a folder, by what make has printed of its variables.
fn tests_in(folder: &Path, printed: &str) -> Option<Vec<Test>> {
    let value = |name: &str| {
        let mut lines = printed.lines();
        let start = format!("wmfix:{name}=");
        lines.find_map(|line| Some(line.strip_prefix(&start)?.trim()))
    };
    let driver = value("LOG_DRIVER")?;
    let is_usual = driver.is_empty() || driver.ends_with("/test-driver");
    let has_other = |name: &str| !value(name).is_none_or(str::is_empty);
    if !is_usual || OTHER_WAYS.iter().any(|name| has_other(name)) {
        return None;
    }
    let extensions: Vec<&str> = value("TEST_EXTENSIONS")?.split_whitespace().collect();
    let source = folder.join(value("srcdir")?);
    let names = value("TESTS")?.split_whitespace();
    let tests = names.map(|name| {
        let program = [folder, &source].map(|at| at.join(name));
        let program = program.into_iter().find(|path| is_executable(path))?;
        let has_runner = extensions.iter().any(|extension| name.ends_with(extension));
        (!has_runner).then(|| Test {
            words: vec![program.to_string_lossy().into_owned()],
            folder: Some(folder.to_owned()),
            environment: vec![("srcdir".to_owned(), source.to_string_lossy().into_owned())],
            skip: SkipRule::of_code(SKIPPED),
            ..Test::default()
        })
    });
    tests.collect()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "wmfix:TESTS= a  b \nwmfix:TEST_EXTENSIONS=.test\n\
        wmfix:LOG_DRIVER=/bin/sh ../test-driver\nwmfix:srcdir=.\nwmfix:XFAIL_TESTS=\n";

    #[test]
    fn tests_are_commands_unless_make_runs_them_in_another_way() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b", "c.test"] {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("a file");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, mode).expect("its mode");
        }
        let tests = |text: &str| tests_in(folder.path(), text);
        let usual = tests(USUAL).expect("tests");
        let words: Vec<_> = usual.iter().map(|test| test.words[0].clone()).collect();
        let expected = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
        assert_eq!(words, expected);
        for (part, other) in [
            ("XFAIL_TESTS=", "XFAIL_TESTS=a"),
            ("../test-driver", "../tap-driver.sh"),
            (" b ", " gone"),
            (" b ", " c.test"),
        ] {
            assert_eq!(tests(&USUAL.replace(part, other)), None, "{other}");
        }
    }
}
