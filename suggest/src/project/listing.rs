//! The tests that CMake or Meson knows of, each as a command of its own: run one by
//! one they are explored one by one, and a test without threads is not run again
//! and again for the sake of another. What only the tool itself can judge is left
//! to it: by CMake's, each test for itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::run::SkipRule;

/// A command that tests a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Test {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Where it runs; where the project was built, if not given.
    pub folder: Option<PathBuf>,
    /// More of the environment.
    pub environment: Vec<(String, String)>,
    /// It writes to the same files whenever it is run: its program, or results of tests.
    #[serde(default)]
    pub shares_files: bool,
    /// How it says that it cannot be run here.
    #[serde(default)]
    pub skip: SkipRule,
}

/// Properties that do not change what a test does or how it is judged.
const HARMLESS: [&str; 12] = [
    "ATTACHED_FILES",
    "ATTACHED_FILES_ON_FAIL",
    "COST",
    "LABELS",
    "MEASUREMENT",
    "PROCESSORS",
    "PROCESSOR_AFFINITY",
    "RESOURCE_LOCK",
    "RUN_SERIAL",
    "TIMEOUT",
    "TIMEOUT_SIGNAL_GRACE_PERIOD",
    "TIMEOUT_SIGNAL_NAME",
];

#[derive(Debug, Deserialize)]
struct Listing {
    tests: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    command: Option<Vec<String>>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    value: serde_json::Value,
}

impl Listed {
    /// A property's value, as a list where it may be one.
    fn list(&self, name: &str) -> Vec<String> {
        let value = self
            .properties
            .iter()
            .find(|property| property.name == name);
        let Some(Property { value, .. }) = value else {
            return Vec::new();
        };
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        match value.as_array() {
            Some(all) => all.iter().filter_map(text).collect(),
            None => text(value).into_iter().collect(),
        }
    }

    fn is_set(&self, name: &str) -> bool {
        let mut all = self.properties.iter();
        all.any(|property| property.name == name && property.value != false)
    }

    /// The command of the test, if it can be judged by its exit code.
    fn direct(&self) -> Option<Test> {
        let mut test = Test {
            // Without a command it has not been built: ctest says so.
            words: self.command.clone()?,
            ..Test::default()
        };
        let mut skip_code = None;
        for property in &self.properties {
            let value = &property.value;
            match property.name.as_str() {
                "WORKING_DIRECTORY" => test.folder = Some(value.as_str()?.into()),
                "ENVIRONMENT" => {
                    for entry in value.as_array()? {
                        let (name, value) = entry.as_str()?.split_once('=')?;
                        test.environment.push((name.to_owned(), value.to_owned()));
                    }
                }
                "SKIP_RETURN_CODE" => skip_code = Some(i32::try_from(value.as_i64()?).ok()?),
                "SKIP_REGULAR_EXPRESSION" | "DISABLED" => {}
                name if HARMLESS.contains(&name) => {}
                _ => return None,
            }
        }
        let expressions = self.list("SKIP_REGULAR_EXPRESSION");
        test.skip = SkipRule::of_cmake(skip_code, &expressions)?;
        Some(test)
    }

    /// ctest, for this test and those that come before it.
    fn by_ctest(&self, all: &[Self]) -> Test {
        let mut names = vec![self.name.clone()];
        let mut at = 0;
        while let Some(name) = names.get(at) {
            let listed = all.iter().find(|listed| listed.name == *name);
            let needed = listed.map(|listed| listed.list("DEPENDS"));
            for name in needed.unwrap_or_default() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            at += 1;
        }
        let escaped = names.iter().map(|name| expression_of(name));
        let only = format!("^({})$", escaped.collect::<Vec<_>>().join("|"));
        let words = ["ctest", "--output-on-failure", "-R", &only];
        Test {
            words: words.map(str::to_owned).into(),
            ..Test::default()
        }
    }
}

/// The expression of CMake that matches a name and nothing else.
fn expression_of(name: &str) -> String {
    let mut expression = String::new();
    for c in name.chars() {
        if "^$.[]|()*+?\\".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

/// The tests of what `ctest --show-only=json-v1` prints; `None` if the text is not that.
/// One that is judged in another way than by its exit code, or needs more than itself, is
/// run by ctest.
pub(super) fn ctest(text: &str) -> Option<Vec<Test>> {
    let Listing { tests: all } = serde_json::from_str(text).ok()?;
    // What makes ready for others is run with these.
    let is_test = |listed: &&Listed| {
        !["DISABLED", "FIXTURES_SETUP", "FIXTURES_CLEANUP"]
            .iter()
            .any(|name| listed.is_set(name))
    };
    let tests = all.iter().filter(is_test);
    let tests = tests.map(|listed| match listed.direct() {
        Some(test) => test,
        None => listed.by_ctest(&all),
    });
    Some(tests.filter(|test| !calls_wmfix(test)).collect())
}

#[derive(Debug, Deserialize)]
struct OfMeson {
    cmd: Vec<String>,
    workdir: Option<PathBuf>,
    protocol: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The tests of what `meson introspect --tests` prints; `None` if there is one
/// that is not judged by its exit code, or if the text is not that.
pub(super) fn meson(text: &str) -> Option<Vec<Test>> {
    let listing: Vec<OfMeson> = serde_json::from_str(text).ok()?;
    let by_code = |test: &OfMeson| ["exitcode", "gtest"].contains(&test.protocol.as_str());
    if !listing.iter().all(by_code) {
        return None;
    }
    let tests = listing.into_iter().map(|test| Test {
        words: test.cmd,
        folder: test.workdir,
        environment: test.env.into_iter().collect(),
        ..Test::default()
    });
    Some(tests.filter(|test| !calls_wmfix(test)).collect())
}

/// Whether a test is a check by wmfix itself, which would check the copy once more.
fn calls_wmfix(test: &Test) -> bool {
    let program = test.words.first().map(Path::new);
    program.and_then(Path::file_name) == Some("wmfix".as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesons_tests_are_commands_if_their_exit_codes_say_all() {
        let text = |protocol: &str| {
            format!(
                r#"[{{"cmd": ["/b/a"], "env": {{"A": "1"}}, "name": "a", "workdir": null,
                   "timeout": 30, "protocol": "{protocol}"}}]"#
            )
        };
        let tests = meson(&text("exitcode")).unwrap();
        assert_eq!(tests[0].words, ["/b/a"]);
        assert_eq!(tests[0].environment, [("A".to_owned(), "1".to_owned())]);
        assert_eq!(meson(&text("tap")), None);
        let nested = text("exitcode").replace("/b/a", "/usr/bin/wmfix");
        assert_eq!(meson(&nested), Some(Vec::new()));
    }

    fn listed(properties: &str) -> Vec<Test> {
        let text = format!(
            r#"{{"kind": "ctestInfo", "tests": [{{"name": "a+b", "command": ["/b/a", "x"],
               "properties": [{properties}]}}, {{"name": "other", "command": ["/b/o"],
               "properties": [{{"name": "DEPENDS", "value": ["a+b", "third"]}}]}}]}}"#
        );
        ctest(&text).expect("tests")
    }

    #[test]
    fn plain_tests_are_commands_and_each_other_is_left_to_ctest() {
        let by_ctest = |only: &str| {
            let words = ["ctest", "--output-on-failure", "-R", only];
            words.map(str::to_owned)
        };
        let plain = listed(
            r#"{"name": "WORKING_DIRECTORY", "value": "/b"},
               {"name": "ENVIRONMENT", "value": ["A=1=2"]}, {"name": "TIMEOUT", "value": 5.0}"#,
        );
        let expected = Test {
            words: vec!["/b/a".to_owned(), "x".to_owned()],
            folder: Some("/b".into()),
            environment: vec![("A".to_owned(), "1=2".to_owned())],
            ..Test::default()
        };
        assert_eq!(plain[0], expected);
        assert_eq!(plain[1].words, by_ctest("^(other|a\\+b|third)$"));
        let inverted = listed(r#"{"name": "WILL_FAIL", "value": true}"#);
        assert_eq!(inverted[0].words, by_ctest("^(a\\+b)$"));
        let skipped = listed(
            r#"{"name": "SKIP_RETURN_CODE", "value": 4},
               {"name": "SKIP_REGULAR_EXPRESSION", "value": ["\\[  SKIPPED \\]"]}"#,
        );
        assert_eq!(skipped[0].words, ["/b/a", "x"]);
        assert_ne!(skipped[0].skip, SkipRule::default());
        let no_expression = r#"{"name": "SKIP_REGULAR_EXPRESSION", "value": ["("]}"#;
        assert_eq!(listed(no_expression)[0].words, by_ctest("^(a\\+b)$"));
        for name in ["DISABLED", "FIXTURES_SETUP"] {
            let none = listed(&format!(r#"{{"name": "{name}", "value": true}}"#));
            assert_eq!(none.len(), 1, "{name}");
        }
        let unbuilt = ctest(r#"{"tests": [{"name": "not built"}]}"#).expect("a test");
        assert_eq!(unbuilt[0].words, by_ctest("^(not built)$"));
        assert_eq!(ctest("No tests were found!!!"), None);
    }
}
