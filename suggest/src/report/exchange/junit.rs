//! Findings as test results in the XML that JUnit made common: each finding is a
//! test that failed, and the runs themselves are one that passed, so that a clean
//! report is not an empty one. Only what the strictest reader takes: a case has no
//! attributes for its file and line, its name begins with them.

use std::fmt::Write;

use super::ExchangeSettings;
use super::entry::{Entry, entries};
use crate::report::dossier::Dossier;
use crate::report::harm_words;
use crate::report::model::{UNREPORTED, Verdict};

/// The document.
pub(crate) fn junit(dossier: &Dossier, settings: &ExchangeSettings) -> String {
    let report = &dossier.report;
    let entries = entries(dossier);
    let failed = entries.iter().filter(|entry| entry.excuse.is_none());
    let outside = usize::from(!report.counted_outside().is_empty());
    let (failures, skipped) = (
        failed.count() + outside,
        entries.iter().filter(|e| e.excuse.is_some()),
    );
    let errors = usize::from(report.verdict == Verdict::Failed);
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\"",
        entries.len() + 1,
        report.runs.seconds
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"wmfix\" {counts}>\n  \
         <testsuite name=\"wmfix\" {counts} skipped=\"{}\">\n",
        skipped.count()
    );
    runs(&mut text, dossier);
    for entry in &entries {
        case(&mut text, entry, settings);
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn runs(text: &mut String, dossier: &Dossier) {
    let report = &dossier.report;
    let runs = &report.runs;
    let name = format!(
        "{} runs with {} schedules, {} of {} atomic sites reached",
        runs.total, runs.distinct_schedules, report.sites.reached, report.sites.total
    );
    let head = format!(
        "    <testcase classname=\"wmfix.runs\" name=\"{}\" time=\"{:.3}\"",
        escaped(&name),
        runs.seconds
    );
    let output = dossier.output.as_deref().unwrap_or_default();
    let written = match report.verdict {
        Verdict::Failed => writeln!(
            text,
            "{head}>\n      <error message=\"{}\">{}</error>\n    </testcase>",
            match report.has_unreported() {
                true => UNREPORTED,
                false => "a program failed in every run",
            },
            escaped(output)
        ),
        Verdict::Findings if !report.counted_outside().is_empty() => writeln!(
            text,
            "{head}>\n      <failure message=\"{} outside of the part that was named\"/>\n    \
             </testcase>",
            harm_words::counted(report.counted_outside().len() as u64, "finding"),
        ),
        Verdict::Clean | Verdict::Findings => writeln!(text, "{head}/>"),
    };
    written.expect("a text takes all that is written");
}

fn case(text: &mut String, entry: &Entry<'_>, settings: &ExchangeSettings) {
    let path = settings.path(&entry.place.file);
    let at = format!("{path}:{}", entry.place.line);
    let name = format!("{at}: {}", entry.title);
    let head = format!(
        "    <testcase classname=\"wmfix.{}\" name=\"{}\" time=\"0\">",
        entry.rule,
        escaped(&name)
    );
    let inner = match &entry.excuse {
        Some(excuse) => format!("<skipped message=\"{}\"/>", escaped(excuse)),
        None => format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            entry.rule,
            escaped(&format!("{}: {}", entry.id, entry.title)),
            escaped(&format!(
                "{at}\n{}\nTo reproduce: {}",
                entry.text, entry.again
            ))
        ),
    };
    writeln!(text, "{head}\n      {inner}\n    </testcase>")
        .expect("a text takes all that is written");
}

/// Text for an element or a quoted attribute. What XML cannot hold at all is left
/// out: programs print anything.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            '\t' => out += "&#9;",
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter < ' ' => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_and_control_characters_do_not_get_through() {
        assert_eq!(
            escaped("<a b=\"&\">\u{1b}[31m\n\u{0}"),
            "&lt;a b=&quot;&amp;&quot;&gt;[31m&#10;"
        );
    }
}
