//! The tokens of C and C++ as far as what may follow what can be told from them: words,
//! parentheses in pairs, and marks. Knows no grammar.

use crate::literal::literal_end;
use crate::site::Span;

/// A token; comments, directives and blanks are none.
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Word,
    /// A closing parenthesis, and the index of the token that opened it.
    Closing(usize),
    /// Anything else, by its first byte; `::` and `->` are one token.
    Mark(u8),
}

/// The tokens of a text.
pub(crate) fn tokens(text: &[u8]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    let mut line_has_token = false;
    while at < text.len() {
        let rest = &text[at..];
        let end = match rest {
            [b'\n', ..] => {
                line_has_token = false;
                at += 1;
                continue;
            }
            [byte, ..] if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            [b'#', ..] if !line_has_token => {
                at = behind_line(text, at);
                continue;
            }
            [b'/', b'/', ..] => {
                at = behind_line(text, at);
                line_has_token = false;
                continue;
            }
            [b'/', b'*', ..] => {
                at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            [b'R', b'"', ..] => behind_raw_string(text, at),
            [quote @ (b'"' | b'\''), ..] => literal_end(text, at, *quote),
            [b':', b':', ..] | [b'-', b'>', ..] => at + 2,
            [byte, ..] if is_word_byte(*byte) => {
                at + rest.iter().take_while(|byte| is_word_byte(**byte)).count()
            }
            _ => at + 1,
        };
        line_has_token = true;
        let kind = match rest[0] {
            b'R' if rest.get(1) == Some(&b'"') => TokenKind::Mark(b'"'),
            byte if is_word_byte(byte) && !byte.is_ascii_digit() => TokenKind::Word,
            b'(' => {
                open.push(tokens.len());
                TokenKind::Mark(b'(')
            }
            b')' => open.pop().map_or(TokenKind::Mark(b')'), TokenKind::Closing),
            byte => TokenKind::Mark(byte),
        };
        tokens.push(Token {
            kind,
            span: at..end,
        });
        at = end;
    }
    tokens
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The offset behind a line and those that continue it.
fn behind_line(text: &[u8], start: usize) -> usize {
    for end in memchr::memchr_iter(b'\n', &text[start..]) {
        let line = text[start..start + end].trim_ascii_end();
        if !line.ends_with(b"\\") {
            return start + end;
        }
    }
    text.len()
}

/// The offset behind `R"name(…)name"`.
fn behind_raw_string(text: &[u8], start: usize) -> usize {
    let rest = &text[start + 2..];
    let Some(length) = memchr::memchr(b'(', rest) else {
        return text.len();
    };
    let end = [b")", &rest[..length], b"\""].concat();
    memchr::memmem::find(rest, &end).map_or(text.len(), |at| start + 2 + at + end.len())
}
