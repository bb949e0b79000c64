//! Findings as workflow commands of GitHub Actions, which shows them as
//! annotations of the lines they are about.

use super::ExchangeSettings;
use super::entry::{Entry, Severity, entries};
use crate::report::dossier::Dossier;

/// A line for each finding that counts or that nobody has judged yet.
pub(crate) fn github(dossier: &Dossier, settings: &ExchangeSettings) -> String {
    let entries = entries(dossier);
    let shown = entries.iter().filter(|entry| entry.excuse.is_none());
    shown.map(|entry| command(entry, settings)).collect()
}

fn command(entry: &Entry<'_>, settings: &ExchangeSettings) -> String {
    let name = match entry.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    if entry.place.line > 0 {
        properties.push(("file", settings.path(&entry.place.file)));
        properties.push(("line", entry.place.line.to_string()));
        // Columns are for annotations of one line only.
        if let Some((from, to)) = entry.range.filter(|(from, to)| from.line == to.line) {
            properties.push(("endLine", to.line.to_string()));
            properties.push(("col", from.column.to_string()));
            properties.push(("endColumn", to.column.to_string()));
        }
    }
    properties.push(("title", format!("wmfix {}: {}", entry.id, entry.title)));
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", property(value)))
        .collect();
    let text = format!("{}\nTo reproduce: {}", entry.text, entry.again);
    format!("::{name} {}::{}\n", properties.join(","), data(&text))
}

/// The text of a command: it is one line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property: it ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        assert_eq!(data("50%\r\nof: a, b"), "50%25%0D%0Aof: a, b");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }
}
