//! Text of others (what a program printed, names from files and debug information)
//! made safe for a terminal: nothing in it moves the cursor, changes colours or the
//! direction of writing.

/// The text with every control character but line ends and tabs shown as a sign.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// A name on one line: line ends and tabs are shown as signs, too.
pub(crate) fn printable_name(name: &str) -> String {
    let signs = |character| match character {
        '\n' => '\u{240a}',
        '\t' => '\u{2409}',
        other => shown(other),
    };
    name.chars().map(signs).collect()
}

fn shown(character: char) -> char {
    /// The signs for the control characters of ASCII begin here.
    const CONTROL_PICTURES: u32 = 0x2400;
    let code = u32::from(character);
    match character {
        '\n' | '\t' => character,
        '\u{7f}' => '\u{2421}',
        _ if code < 0x20 => char::from_u32(CONTROL_PICTURES + code).unwrap_or('\u{fffd}'),
        '\u{80}'..='\u{9f}'
        | '\u{200e}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{printable, printable_name};

    #[test]
    fn only_line_ends_and_tabs_control_anything() {
        assert_eq!(printable("a\tb\nc"), "a\tb\nc");
        let hostile = "\u{1b}[2J\u{9b}31m\r\u{202e}\u{7}";
        assert_eq!(
            printable(hostile),
            "\u{241b}[2J\u{fffd}31m\u{240d}\u{fffd}\u{2407}"
        );
        assert!(!printable(hostile).contains(char::is_control));
        assert_eq!(printable("größe → 大"), "größe → 大");
        assert_eq!(
            printable_name("a\nb\tc\u{7}"),
            "a\u{240a}b\u{2409}c\u{2407}"
        );
    }
}
