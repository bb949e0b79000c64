//! The tests that CMake or Meson knows of, each as a command of its own: run one by
//! one they are explored one by one, and a test without threads is not run again
//! and again for the sake of another. What only the tool itself can judge is left
//! to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
}

/// Properties that do not change what a test does or how it is judged.
const HARMLESS: [&str; 7] = [
    "COST",
    "LABELS",
    "PROCESSORS",
    "PROCESSOR_AFFINITY",
    "RESOURCE_LOCK",
    "RUN_SERIAL",
    "TIMEOUT",
];

#[derive(Debug, Deserialize)]
struct Listing {
    tests: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    command: Option<Vec<String>>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    value: serde_json::Value,
}

/// The tests of what `ctest --show-only=json-v1` prints; `None` if there is one
/// that only ctest can run, or if the text is not that.
pub(super) fn ctest(text: &str) -> Option<Vec<Test>> {
    let listing: Listing = serde_json::from_str(text).ok()?;
    let mut tests = Vec::new();
    for listed in listing.tests {
        let mut test = Test {
            // Without a command it has not been built: ctest says so.
            words: listed.command?,
            folder: None,
            environment: Vec::new(),
            shares_files: false,
        };
        let mut disabled = false;
        for property in listed.properties {
            match property.name.as_str() {
                "WORKING_DIRECTORY" => test.folder = Some(property.value.as_str()?.into()),
                "ENVIRONMENT" => {
                    for entry in property.value.as_array()? {
                        let (name, value) = entry.as_str()?.split_once('=')?;
                        test.environment.push((name.to_owned(), value.to_owned()));
                    }
                }
                "DISABLED" => disabled = property.value.as_bool()?,
                name if HARMLESS.contains(&name) => {}
                _ => return None,
            }
        }
        if !disabled && !calls_wmfix(&test) {
            tests.push(test);
        }
    }
    Some(tests)
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
        shares_files: false,
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

    fn listed(properties: &str) -> Option<Vec<Test>> {
        ctest(&format!(
            r#"{{"kind": "ctestInfo", "tests": [{{"name": "a", "command": ["/b/a", "x"],
               "properties": [{properties}]}}]}}"#
        ))
    }

    #[test]
    fn plain_tests_are_commands_and_others_are_left_to_ctest() {
        let plain = listed(
            r#"{"name": "WORKING_DIRECTORY", "value": "/b"},
               {"name": "ENVIRONMENT", "value": ["A=1=2"]}, {"name": "TIMEOUT", "value": 5.0}"#,
        );
        let expected = Test {
            words: vec!["/b/a".to_owned(), "x".to_owned()],
            folder: Some("/b".into()),
            environment: vec![("A".to_owned(), "1=2".to_owned())],
            shares_files: false,
        };
        assert_eq!(plain, Some(vec![expected]));
        assert_eq!(listed(r#"{"name": "WILL_FAIL", "value": true}"#), None);
        let off = listed(r#"{"name": "DISABLED", "value": true}"#);
        assert_eq!(off, Some(Vec::new()));
        assert_eq!(ctest(r#"{"tests": [{"name": "not built"}]}"#), None);
        assert_eq!(ctest("No tests were found!!!"), None);
    }
}
