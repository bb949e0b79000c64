//! Values of wmfix.toml that are more than TOML's own: checked where they are read,
//! so that an error names their line.

use std::path::Path;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A positive number of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(from)?;
        if value > 0.0 && Duration::try_from_secs_f64(value).is_ok() {
            Ok(Self(value))
        } else {
            Err(D::Error::custom("must be a positive number of seconds"))
        }
    }
}

/// A command: a text for the shell, or a list of words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "must be a shell command or a list of words")]
pub(crate) enum CommandText {
    /// For the shell.
    Shell(String),
    /// The program and its arguments.
    List(Vec<String>),
}

/// A pattern for paths: `*` within a name, `**` across folders, `?`, `[…]`.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    text: String,
    matcher: GlobMatcher,
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl Glob {
    /// The pattern as it is written.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Whether a path, relative to the configuration's folder, fits.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Err(D::Error::custom("an empty pattern matches nothing"));
        }
        let glob = GlobBuilder::new(&text).literal_separator(true).build();
        match glob {
            Ok(glob) => Ok(Self {
                text,
                matcher: glob.compile_matcher(),
            }),
            Err(error) => Err(D::Error::custom(format!(
                "invalid path pattern: {}",
                error.kind()
            ))),
        }
    }
}

/// A text that says something.
pub(super) fn not_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("must not be empty"));
    }
    Ok(text)
}
