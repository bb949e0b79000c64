//! The line that stands for the function around a hunk. This is the rule of
//! plain `git diff`, without attributes that name a language: it knows nothing
//! of C, and a label or `public:` at the start of a line counts as well.

/// Bytes of a line that git remembers.
const LONGEST_LINE: usize = 80;

/// The function lines of the old text, asked for from top to bottom.
pub(super) struct FunctionLines<'t> {
    lines: &'t [&'t [u8]],
    /// Lines above this one have been searched.
    searched: usize,
    /// What was found there.
    last: &'t [u8],
}

impl<'t> FunctionLines<'t> {
    pub(super) fn new(lines: &'t [&'t [u8]]) -> Self {
        Self {
            lines,
            searched: 0,
            last: &[],
        }
    }

    /// The last function line above the line with this index; empty if there is
    /// none. Must not be asked for an earlier line than the time before.
    pub(super) fn before(&mut self, line: usize) -> &'t [u8] {
        let found = self.lines[self.searched..line]
            .iter()
            .rev()
            .find_map(|line| function_line(line));
        self.searched = line;
        self.last = found.unwrap_or(self.last);
        self.last
    }
}

/// The line as a hunk's header shows it, if it can open a function.
fn function_line(line: &[u8]) -> Option<&[u8]> {
    let first = *line.first()?;
    if !first.is_ascii_alphabetic() && first != b'_' && first != b'$' {
        return None;
    }
    let cut = &line[..line.len().min(LONGEST_LINE)];
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let end = cut.iter().rposition(|byte| !is_space(byte))? + 1;
    Some(whole_characters(&cut[..end]))
}

/// The text up to the first byte that is not UTF-8, such as a character that
/// was cut in two.
fn whole_characters(text: &[u8]) -> &[u8] {
    match std::str::from_utf8(text) {
        Ok(_) => text,
        Err(error) => &text[..error.valid_up_to()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_line_begins_with_an_identifier() {
        for line in ["int f(void)", "_start:", "$x", "done:", "public:"] {
            assert_eq!(function_line(line.as_bytes()), Some(line.as_bytes()));
        }
        for line in [
            "", " int x;", "\tint x;", "{", "}", "#if X", "/* a */", "9", "\n",
        ] {
            assert_eq!(function_line(line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn it_is_cut_at_80_bytes_between_characters_and_trimmed() {
        assert_eq!(
            function_line(b"int f(void) \t\r\n"),
            Some(&b"int f(void)"[..])
        );
        let long = "f".repeat(79) + " g";
        assert_eq!(function_line(long.as_bytes()), Some(&[b'f'; 79][..]));
        let long = "f".repeat(79) + "ä";
        assert_eq!(function_line(long.as_bytes()), Some(&[b'f'; 79][..]));
        assert_eq!(function_line(b"int \xff x"), Some(&b"int "[..]));
    }

    #[test]
    fn a_function_is_remembered_from_hunk_to_hunk() {
        let lines: [&[u8]; 6] = [b"a", b" 1", b" 2", b"b", b" 3", b" 4"];
        let mut functions = FunctionLines::new(&lines);
        assert_eq!(functions.before(0), b"");
        assert_eq!(functions.before(2), b"a");
        assert_eq!(functions.before(3), b"a");
        assert_eq!(functions.before(5), b"b");
    }
}
