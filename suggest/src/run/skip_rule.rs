//! Tests that say that they cannot be run here: by an exit code or by what they print, as
//! CMake's `SKIP_RETURN_CODE` and `SKIP_REGULAR_EXPRESSION` have it. A run that does has
//! not failed.

use std::fs;
use std::io;
use std::path::Path;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use serde::{Deserialize, Serialize};

/// How a test says that it was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SkipRule {
    code: Option<i32>,
    /// In our notation.
    patterns: Vec<String>,
}

impl SkipRule {
    /// By this exit code, or by a text that one of these expressions of CMake matches;
    /// `None` if one of them is none.
    pub(crate) fn of_cmake(code: Option<i32>, expressions: &[String]) -> Option<Self> {
        let patterns = expressions.iter().map(|expression| {
            let pattern = translated(expression);
            regex(&pattern).map(|_| pattern)
        });
        Some(Self {
            code,
            patterns: patterns.collect::<Option<_>>()?,
        })
    }

    /// By this exit code.
    pub(crate) fn of_code(code: i32) -> Self {
        Self {
            code: Some(code),
            patterns: Vec::new(),
        }
    }

    /// Whether a run that ended with this exit code was skipped; `output` has what it
    /// printed.
    pub(super) fn skips(&self, code: i32, output: &Path) -> io::Result<bool> {
        if self.code == Some(code) {
            return Ok(true);
        }
        if self.patterns.is_empty() {
            return Ok(false);
        }
        let printed = match fs::read(output) {
            // What it prints is shown, and not kept.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            printed => printed?,
        };
        let mut regexes = self.patterns.iter().filter_map(|pattern| regex(pattern));
        Ok(regexes.any(|regex| regex.is_match(&printed)))
    }
}

/// As CMake matches: a point is any character, and output need not be text.
fn regex(pattern: &str) -> Option<Regex> {
    let syntax = syntax::Config::new().dot_matches_new_line(true).utf8(false);
    Regex::builder().syntax(syntax).build(pattern).ok()
}

/// An expression of CMake in our notation: braces mean themselves there, and so does all
/// within brackets but a range.
fn translated(expression: &str) -> String {
    let mut pattern = String::new();
    let mut chars = expression.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => literal(chars.next().unwrap_or('\\'), &mut pattern),
            '[' => {
                pattern.push('[');
                pattern.extend(chars.next_if_eq(&'^'));
                // At the beginning it does not end the set.
                if chars.next_if_eq(&']').is_some() {
                    literal(']', &mut pattern);
                }
                for c in chars.by_ref().take_while(|&c| c != ']') {
                    match c {
                        '-' => pattern.push('-'),
                        c => literal(c, &mut pattern),
                    }
                }
                pattern.push(']');
            }
            '{' | '}' => literal(c, &mut pattern),
            c => pattern.push(c),
        }
    }
    pattern
}

/// Adds a character that means itself.
fn literal(c: char, pattern: &mut String) {
    if c.is_ascii_punctuation() && !"<>".contains(c) {
        pattern.push('\\');
    }
    pattern.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(rule: &SkipRule, code: i32, printed: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), printed).expect("it is written");
        rule.skips(code, file.path()).expect("it can be read")
    }

    #[test]
    fn an_exit_code_or_a_text_says_so() {
        let of = |code, expression: &str| {
            SkipRule::of_cmake(code, &[expression.to_owned()]).expect("an expression")
        };
        let gtest = of(None, "\\[  SKIPPED \\]");
        assert!(skips(&gtest, 1, b"\xff\n[  SKIPPED ] a.b\n"));
        assert!(!skips(&gtest, 1, b"[  FAILED  ] a.b\n"));
        let by_code = SkipRule::of_cmake(Some(4), &[]).expect("no expression");
        assert!(skips(&by_code, 4, b"") && !skips(&by_code, 1, b""));
        for (expression, printed) in [
            ("[[{]x}", "{x}"),
            ("a.b{", "a\nb{"),
            ("[^]a]-[a-c&&b]", "z-&"),
            ("(no|cannot) run$", "cannot run"),
        ] {
            let rule = of(None, expression);
            assert!(skips(&rule, 1, printed.as_bytes()), "{expression}");
        }
        assert_eq!(SkipRule::of_cmake(None, &["(".to_owned()]), None);
    }
}
