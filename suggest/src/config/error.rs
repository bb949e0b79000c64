//! What is wrong with a wmfix.toml, in one line that says where, which key, and
//! what was probably meant.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wmfix_frontend::VocabularyError;

/// A wmfix.toml that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {what}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub(crate) struct ConfigError {
    file: PathBuf,
    line: Option<usize>,
    what: String,
}

impl ConfigError {
    /// The file cannot be read.
    pub(crate) fn unreadable(file: &Path, error: &std::io::Error) -> Self {
        Self {
            file: shown(file),
            line: None,
            what: error.to_string(),
        }
    }

    /// The text is not TOML, or says what cannot be said.
    pub(super) fn of(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        let span = error.span();
        let key = span.as_ref().and_then(|span| key_at(text, span));
        Self {
            file: shown(file),
            line: span.map(|span| line_of(text, span.start)),
            what: message_text(error.message(), key),
        }
    }

    /// A text has a NUL in it, which no argument, file name or variable can have.
    pub(super) fn of_nul(file: &Path, text: &str) -> Option<Self> {
        let table = DeTable::parse(text).ok()?;
        let span = nul_in_table(table.get_ref())?;
        Some(Self {
            file: shown(file),
            line: Some(line_of(text, span.start)),
            what: message_text("must not have a NUL in it", key_at(text, &span)),
        })
    }

    /// A vocabulary is not one.
    pub(super) fn of_vocabulary(file: &Path, text: &str, error: &VocabularyError) -> Self {
        let (line, what) = match error {
            VocabularyError::Text { number, source } => {
                let message = source.message();
                let at = header(text, *number);
                let inside = unknown(message).and_then(|(_, name, _)| {
                    let line = text.lines().skip(at).position(|line| {
                        let line = line.trim_start();
                        line.starts_with(name) || line.contains(&format!("\"{name}\""))
                    });
                    line.map(|line| at + line + 1)
                });
                let key = Some("vocabulary".to_owned());
                (inside.unwrap_or(at), message_text(message, key))
            }
            other => (header(text, 1), other.to_string()),
        };
        Self {
            file: shown(file),
            line: Some(line),
            what,
        }
    }
}

/// As one would type it from here.
fn shown(file: &Path) -> PathBuf {
    let current = std::env::current_dir().ok();
    let inside = current.and_then(|current| file.strip_prefix(current).ok());
    inside.unwrap_or(file).to_owned()
}

/// The line, from 1, of a position in a text.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The line, from 1, of the header of a vocabulary, by its number from 1.
fn header(text: &str, number: usize) -> usize {
    let headers = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("[[vocabulary]]"));
    headers
        .map(|(line, _)| line + 1)
        .nth(number - 1)
        .unwrap_or(1)
}

/// The parser's message in our words. `key` is where it happened.
fn message_text(message: &str, key: Option<String>) -> String {
    let message = message.trim_end();
    if let Some((what, name, known)) = unknown(message) {
        let nearest = nearest(name, &known);
        let place = match (what, key.as_deref().and_then(|key| key.rsplit_once('.'))) {
            ("field", Some((section, _))) => format!(" in [{section}]"),
            ("field", None) => key
                .filter(|key| key != name)
                .map_or(String::new(), |key| format!(" in [{key}]")),
            _ => key.map_or(String::new(), |key| format!(" for `{key}`")),
        };
        let what = if what == "field" { "key" } else { "value" };
        let hint = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        return format!("unknown {what} `{name}`{place}: {hint}");
    }
    let message = message.replace("missing field", "missing key");
    match key {
        Some(key) => format!("`{key}`: {message}"),
        None => message,
    }
}

/// What serde says of names that it does not know: `field` or `variant`, the
/// name, and the names that it knows.
fn unknown(message: &str) -> Option<(&str, &str, Vec<&str>)> {
    let (what, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (name, expected) = rest.split_once('`')?;
    let known = expected.split('`').skip(1).step_by(2).collect();
    Some((what, name, known))
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // A third of the letters may be wrong, or its end may be missing.
    let most = name.chars().count().div_ceil(3);
    let distance = |word: &str| {
        let begun = name.chars().count() > 2 && word.starts_with(name);
        let wrong = strsim::damerau_levenshtein(name, word);
        (begun || wrong <= most).then_some(wrong)
    };
    known
        .iter()
        .filter_map(|&word| Some((distance(word)?, word)))
        .min()
        .map(|(_, word)| word)
}

/// The key, with those above it, that is at a place of the text or whose
/// value does.
fn key_at(text: &str, place: &Range<usize>) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    in_table(table.get_ref(), place)
}

fn in_table(table: &DeTable<'_>, place: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        if let Some(inner) = in_value(value, place) {
            return Some(match inner.as_str() {
                "" => name.to_string(),
                inner => format!("{name}.{inner}"),
            });
        }
        holds(&key.span(), place).then(|| name.to_string())
    })
}

/// The key within a value; empty if it is the value itself.
fn in_value(value: &Spanned<DeValue<'_>>, place: &Range<usize>) -> Option<String> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => in_table(table, place),
        DeValue::Array(list) => list.iter().find_map(|value| in_value(value, place)),
        _ => None,
    };
    inner.or_else(|| holds(&value.span(), place).then(String::new))
}

/// The place of a text with a NUL in it.
fn nul_in_table(table: &DeTable<'_>) -> Option<Range<usize>> {
    table.iter().find_map(|(_, value)| nul_in_value(value))
}

fn nul_in_value(value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::String(text) => text.contains('\0').then(|| value.span()),
        DeValue::Table(table) => nul_in_table(table),
        DeValue::Array(list) => list.iter().find_map(nul_in_value),
        _ => None,
    }
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end && !outer.is_empty()
}
