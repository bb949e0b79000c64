//! Values of wmfix.toml that are more than TOML's own: checked where they are read,
//! so that an error names their line.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::cli::{MAX_JOBS, MAX_SECONDS};

/// A positive number of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(from)?;
        if value > MAX_SECONDS {
            let most = format!("must be at most {MAX_SECONDS} seconds (ten years)");
            return Err(D::Error::custom(most));
        }
        if value > 0.0 {
            Ok(Self(value))
        } else {
            Err(D::Error::custom("must be a positive number of seconds"))
        }
    }
}

/// How many runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jobs(pub u64);

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u64::deserialize(from)? {
            jobs @ 1..=MAX_JOBS => Ok(Self(jobs)),
            _ => Err(D::Error::custom(format!("must be from 1 to {MAX_JOBS}"))),
        }
    }
}

/// A command: a text for the shell, or a list of words. There is something to run in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenCommand")]
pub(crate) enum CommandText {
    /// For the shell.
    Shell(String),
    /// The program and its arguments.
    List(Vec<String>),
}

/// A command as it is written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a shell command or a list of words")]
enum WrittenCommand {
    Shell(String),
    List(Vec<String>),
}

impl TryFrom<WrittenCommand> for CommandText {
    type Error = &'static str;

    fn try_from(written: WrittenCommand) -> Result<Self, Self::Error> {
        let program = match &written {
            WrittenCommand::Shell(text) => text.trim(),
            WrittenCommand::List(words) => words.first().map_or("", String::as_str),
        };
        if program.is_empty() {
            return Err("must name a program: leave it out for the usual test command");
        }
        Ok(match written {
            WrittenCommand::Shell(text) => Self::Shell(text),
            WrittenCommand::List(words) => Self::List(words),
        })
    }
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
