//! Wraps the notes of rendered findings to the width of a terminal. Source lines
//! and commands stay as they are: a command that is broken cannot be copied.

use super::wrapped;

/// What notes begin with, after the margin.
const NOTE: &str = "= note: ";

/// The text with every note in lines of at most `width` columns where its words
/// allow it.
pub(super) fn fit_notes(text: &str, width: usize) -> String {
    let lines = text.lines().map(|line| fit(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

/// The text with every line that is too long for the terminal broken between words, and
/// what follows further in.
pub(super) fn fit_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let fitted = text.lines().map(|line| {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.chars().count() > width {
            true => wrapped(line, indent, &format!("{indent}    "), width),
            false => format!("{line}\n"),
        }
    });
    fitted.collect()
}

fn fit(line: &str, width: usize) -> String {
    let shown = without_colors(line);
    let margin = shown.len() - shown.trim_start().len();
    if shown.chars().count() <= width || !shown[margin..].starts_with(NOTE) {
        return line.to_owned();
    }
    let indent = margin + NOTE.len();
    let mut lines = String::new();
    let mut column = 0;
    for (number, word) in line.split(' ').enumerate() {
        let length = without_colors(word).chars().count();
        if number > 0 && column > indent && column + 1 + length > width {
            lines.push('\n');
            lines += &" ".repeat(indent);
            column = indent;
        } else if number > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

/// A line as a terminal shows it: without escape sequences of colours.
fn without_colors(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("\u{1b}[") {
        shown += &rest[..start];
        rest = match rest[start..].find('m') {
            Some(end) => &rest[start + end + 1..],
            None => "",
        };
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_wrapped_and_nothing_else() {
        let text = "3 |     a_line_of_source(that, is, long);\n  = note: one two three four\n  = help: to reproduce: wmfix check long";
        assert_eq!(
            fit_notes(text, 20),
            "3 |     a_line_of_source(that, is, long);\n  = note: one two\n          three four\n  = help: to reproduce: wmfix check long"
        );
    }

    #[test]
    fn long_lines_go_on_further_in_if_there_is_a_terminal() {
        let text = "2 changes (no cheaper set)\n    reason: it is so\nshort\n";
        assert_eq!(fit_lines(text, None), text);
        assert_eq!(
            fit_lines(text, Some(18)),
            "2 changes (no\n    cheaper set)\n    reason: it is\n        so\nshort\n"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let line = "  \u{1b}[1m= \u{1b}[0m\u{1b}[1mnote\u{1b}[0m: one two three";
        assert_eq!(without_colors(line), "  = note: one two three");
        assert_eq!(fit(line, 23), line);
        assert_eq!(fit(line, 22), line.replace(" three", "\n          three"));
    }
}
