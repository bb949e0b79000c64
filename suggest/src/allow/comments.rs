//! `// wmfix: allow(reason)` in source text: which comments there are, and the
//! line that each speaks of. Knows comments and literals of C and C++, nothing
//! else of them.

/// A comment that allows what is found on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The line that it speaks of: its own, or the next one with code if it has
    /// its line to itself.
    pub speaks_of: u32,
    /// Why; `None` if it does not say.
    pub reason: Option<String>,
}

/// The comments of a text that allow something.
pub(super) fn comments(text: &[u8]) -> Vec<Comment> {
    let word = b"wmfix:";
    if !text.windows(word.len()).any(|window| window == word) {
        return Vec::new();
    }
    let spans = comment_spans(text);
    let mut found = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        let comment = String::from_utf8_lossy(&text[span.clone()]);
        let Some(reason) = allowed(&comment) else {
            continue;
        };
        let line = line_of(text, span.start);
        let before = &text[line_start(text, span.start)..span.start];
        let speaks_of = match before.iter().all(u8::is_ascii_whitespace) {
            true => next_code(text, &spans[number..]).unwrap_or(line),
            false => line,
        };
        found.push(Comment {
            line,
            speaks_of,
            reason,
        });
    }
    found
}

/// What a comment allows: `None` if it is not about that, `Some(None)` if it
/// does not say why.
fn allowed(comment: &str) -> Option<Option<String>> {
    let (_, rest) = comment.split_once("wmfix:")?;
    let rest = rest.trim_start().strip_prefix("allow")?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut depth = 0;
    let inside = rest.trim_start().strip_prefix('(');
    let reason = inside.and_then(|inside| {
        let end = inside.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0
        });
        let (end, _) = end?;
        let words: Vec<&str> = inside[..end].split_whitespace().collect();
        Some(words.join(" ")).filter(|words| !words.is_empty())
    });
    Some(reason)
}

/// The first line with code from the first of these comments on.
fn next_code(text: &[u8], comments: &[std::ops::Range<usize>]) -> Option<u32> {
    let mut comments = comments.iter().peekable();
    let mut at = comments.peek()?.start;
    while at < text.len() {
        match comments.peek() {
            Some(comment) if comment.start == at => {
                at = comment.end;
                comments.next();
            }
            _ if text[at].is_ascii_whitespace() => at += 1,
            _ => return Some(line_of(text, at)),
        }
    }
    None
}

fn line_of(text: &[u8], at: usize) -> u32 {
    let newlines = text[..at].iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(newlines + 1).unwrap_or(u32::MAX)
}

fn line_start(text: &[u8], at: usize) -> usize {
    let newline = text[..at].iter().rposition(|&byte| byte == b'\n');
    newline.map_or(0, |at| at + 1)
}

/// Where the comments are.
fn comment_spans(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest[0] {
            b'/' if rest.starts_with(b"//") => {
                let length = line_comment(rest);
                spans.push(at..at + length);
                length
            }
            b'/' if rest.starts_with(b"/*") => {
                let length = until(rest, 2, b"*/");
                spans.push(at..at + length);
                length
            }
            quote @ (b'"' | b'\'') => literal(rest, quote),
            byte if is_word(byte) => {
                let word = rest.iter().take_while(|&&byte| is_word(byte)).count();
                match (byte.is_ascii_digit(), rest.get(word)) {
                    // In 1'000 the quotation mark opens nothing.
                    (true, Some(b'\'')) => word + 1,
                    (false, Some(b'"')) if rest[..word].ends_with(b"R") => {
                        word + raw_literal(&rest[word..])
                    }
                    _ => word,
                }
            }
            _ => 1,
        };
        at += length;
    }
    spans
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length of a comment up to the end of its line; a backslash there makes it
/// go on.
fn line_comment(rest: &[u8]) -> usize {
    let mut at = 2;
    while at < rest.len() && rest[at] != b'\n' {
        let goes_on = rest[at..].starts_with(b"\\\n") || rest[at..].starts_with(b"\\\r\n");
        at += if goes_on {
            2 + usize::from(rest[at + 1] == b'\r')
        } else {
            1
        };
    }
    at
}

fn until(rest: &[u8], from: usize, end: &[u8]) -> usize {
    let found = rest[from..]
        .windows(end.len())
        .position(|window| window == end);
    found.map_or(rest.len(), |at| from + at + end.len())
}

/// The length of a literal; one that is not closed ends with its line.
fn literal(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote && rest[at] != b'\n' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The length of `"delimiter(…)delimiter"`.
fn raw_literal(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|&byte| byte == b'(') else {
        return literal(rest, b'"');
    };
    let mut end = vec![b')'];
    end.extend(&rest[1..open]);
    end.push(b'"');
    until(rest, open, &end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, u32, Option<String>)> {
        let comments = comments(text.as_bytes()).into_iter();
        comments
            .map(|comment| (comment.line, comment.speaks_of, comment.reason))
            .collect()
    }

    fn because(words: &str) -> Option<String> {
        Some(words.to_owned())
    }

    #[test]
    fn a_comment_speaks_of_its_line_or_of_the_next_one() {
        let text = "int x; // wmfix: allow(a statistic)\n\
            \n/* wmfix: allow(read (again) later) */\n// more words\n\n  y = 1;\n";
        let expected = [
            (1, 1, because("a statistic")),
            (3, 6, because("read (again) later")),
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn one_without_a_reason_is_found_as_such() {
        let text = "a; // wmfix: allow\nb; // wmfix: allow( )\nc; // wmfix: allow(never closed\n";
        let none = |line| (line, line, None);
        assert_eq!(found(text), [none(1), none(2), none(3)]);
    }

    #[test]
    fn other_words_and_literals_are_no_comments() {
        for text in [
            "char *s = \"// wmfix: allow(no)\";\n",
            "auto s = R\"x(\" // wmfix: allow(no) )\" )x\"; int y;\n",
            "int x; // wmfix: V1\n",
            "int x; // wmfix: allowed(no)\n",
            "char c = '\"'; char *s = \"// wmfix: allow(no)\";\n",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        let separators = "int x = 1'000'000; // wmfix: allow(yes)\n";
        assert_eq!(found(separators), [(1, 1, because("yes"))]);
    }
}
