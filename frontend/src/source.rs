//! A source file as text and syntax tree. Owns which language a file is in and
//! what had to be done to the text so that the grammar understands it; knows
//! nothing of atomics beyond the `_Atomic(…)` that the grammar trips over.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tree_sitter::{Node, Parser, Range, Tree};

use crate::attribute_macros::attribute_macros;
use crate::language::Language;
use crate::lines::LineIndex;
use crate::literal::literal_end;
use crate::pasting::readable_body;
use crate::site::Span;
use crate::typeof_types::typeof_types;

/// A file's text with its syntax tree. Offsets in the tree are offsets in the text.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    path: Arc<PathBuf>,
    text: Arc<[u8]>,
    language: Language,
    tree: Tree,
    lines: LineIndex,
}

impl ParsedFile {
    /// Parses a text. Always gives a tree, with error nodes where it must.
    pub fn parse(path: &Path, text: impl Into<Arc<[u8]>>, language: Language) -> Self {
        let text = text.into();
        Self {
            path: Arc::new(path.to_path_buf()),
            language,
            tree: parse_ranges(&text, language, &[]),
            lines: LineIndex::new(&text),
            text,
        }
    }

    /// Parses a text in the language that its path and content say; as C++ if they
    /// say neither.
    pub(crate) fn read(path: &Path, text: Vec<u8>) -> Self {
        let language = Language::of(path, &text).unwrap_or(Language::Cpp);
        Self::parse(path, text, language)
    }

    /// The file's path, as it was given.
    pub fn path(&self) -> &Arc<PathBuf> {
        &self.path
    }

    /// The file's text, byte for byte.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The language it was parsed as.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The syntax tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Where the lines start.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The text of a span; bytes that are not UTF-8 are replaced.
    pub fn slice(&self, span: &Span) -> Cow<'_, str> {
        String::from_utf8_lossy(self.text.get(span.clone()).unwrap_or_default())
    }

    /// The text of a node.
    pub fn node_text(&self, node: Node<'_>) -> Cow<'_, str> {
        self.slice(&node.byte_range())
    }

    /// The text as the grammar is given it.
    pub(crate) fn readable(&self) -> Cow<'_, [u8]> {
        readable(&self.text)
    }

    /// The file with the tree of another text of the same length.
    pub(crate) fn read_as(&self, text: &[u8]) -> Self {
        Self {
            tree: parse_readable(text, self.language, &[]),
            ..self.clone()
        }
    }

    /// A tree of one stretch of the text only: what lies inside a part that could
    /// not be parsed.
    pub(crate) fn parse_part(&self, span: &Span) -> Tree {
        parse_ranges(&self.text, self.language, std::slice::from_ref(span))
    }

    /// A tree of a macro's body as a statement: what is pasted together is one word,
    /// and a semicolon tells a call from a declaration.
    pub fn parse_macro_body(&self, span: &Span) -> Tree {
        let code = without_line_comment(&self.text[span.clone()]);
        let end = span.start + code.len();
        let after = self.text.get(end + 1..).unwrap_or_default();
        let text = [&self.text[..span.start], &readable_body(code), b";", after].concat();
        let statement = span.start..end + 1;
        parse_ranges(&text, self.language, std::slice::from_ref(&statement))
    }
}

fn parse_ranges(text: &[u8], language: Language, spans: &[Span]) -> Tree {
    // Only what is parsed has to be readable: a part is often a line of a large file.
    let start = spans.first().map_or(0, |span| span.start);
    let end = spans.last().map_or(text.len(), |span| span.end);
    let text = match readable(&text[start..end]) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(part) => Cow::Owned([&text[..start], &part, &text[end..]].concat()),
    };
    parse_readable(&text, language, spans)
}

fn parse_readable(text: &[u8], language: Language, spans: &[Span]) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&language.grammar())
        .expect("the grammars are built for this tree-sitter");
    let ranges: Vec<Range> = spans
        .iter()
        .map(|span| Range {
            start_byte: span.start,
            end_byte: span.end,
            start_point: tree_sitter::Point::default(),
            end_point: tree_sitter::Point::default(),
        })
        .collect();
    parser
        .set_included_ranges(&ranges)
        .expect("one range cannot overlap another");
    parser
        .parse(text, None)
        .expect("a parser with a language and no time limit gives a tree")
}

/// The text as the grammars can read it, same length: `_Atomic(T)` is a type
/// specifier that the C grammar knows only as a macro, so the keyword gives way to
/// a name, and so does the type of an expression; a byte order mark gives way to blanks,
/// and so do macros that stand for attributes, and comments in definitions of macros,
/// where the grammar takes a body to end.
fn readable(text: &[u8]) -> Cow<'_, [u8]> {
    const KEYWORD: &[u8] = b"_Atomic";
    let mut changed = Cow::Borrowed(text);
    if text.starts_with(b"\xef\xbb\xbf") {
        changed.to_mut()[..3].fill(b' ');
    }
    let blank = |byte: &mut u8| {
        if !matches!(byte, b'\\' | b'\r' | b'\n') {
            *byte = b' ';
        }
    };
    for span in comments_in_definitions(text)
        .into_iter()
        .chain(attribute_macros(text))
    {
        changed.to_mut()[span].iter_mut().for_each(blank);
    }
    for span in typeof_types(text) {
        changed.to_mut()[span].fill(b'X');
    }
    for at in memchr::memmem::find_iter(text, KEYWORD) {
        let after = &text[at + KEYWORD.len()..];
        let blanks = after.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let part_of_name = at > 0 && (text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_');
        if after.get(blanks) == Some(&b'(') && !part_of_name {
            changed.to_mut()[at] = b'X';
        }
    }
    changed
}

/// The comments inside of macro definitions, which end on the line that they begin on
/// or on one that continues it.
fn comments_in_definitions(text: &[u8]) -> Vec<Span> {
    let mut comments = Vec::new();
    for at in memchr::memmem::find_iter(text, b"define") {
        let line = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        let before = text[line..at].trim_ascii();
        if before != b"#" {
            continue;
        }
        let mut i = at;
        while i < text.len() && text[i] != b'\n' && !text[i..].starts_with(b"//") {
            match &text[i..] {
                [b'\\', b'\r', b'\n', ..] => i += 3,
                [b'\\', _, ..] => i += 2,
                [quote @ (b'"' | b'\''), ..] => i = literal_end(text, i, *quote),
                [b'/', b'*', ..] => {
                    let Some(end) = memchr::memmem::find(&text[i..], b"*/") else {
                        break;
                    };
                    let comment = i..i + end + 2;
                    if !is_continued(&text[comment.clone()]) {
                        break;
                    }
                    i = comment.end;
                    comments.push(comment);
                }
                _ => i += 1,
            }
        }
    }
    comments
}

/// Whether every line of a text says that the next one continues it.
fn is_continued(text: &[u8]) -> bool {
    let ends = memchr::memchr_iter(b'\n', text);
    ends.map(|end| text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]))
        .all(|line| line.ends_with(b"\\"))
}

/// A macro's body without the comment that ends it.
fn without_line_comment(body: &[u8]) -> &[u8] {
    let mut i = 0;
    while i < body.len() && !body[i..].starts_with(b"//") {
        i = match body[i] {
            quote @ (b'"' | b'\'') => literal_end(body, i, quote),
            _ => i + 1,
        };
    }
    &body[..i.min(body.len())]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Language, ParsedFile};

    #[test]
    fn a_header_is_what_it_holds() {
        let of = |text: &str| Language::of(Path::new("a.h"), text.as_bytes());
        assert_eq!(of("struct s { int x; };"), Some(Language::C));
        assert_eq!(of("namespace n {}"), Some(Language::Cpp));
        assert_eq!(of("// std::atomic\nint x;"), Some(Language::C));
        assert_eq!(
            of("#ifdef __cplusplus\nnamespace n {}\n#endif\nint x;"),
            Some(Language::C)
        );
        assert_eq!(Language::of(Path::new("a.rs"), b""), None);
    }

    #[test]
    fn an_atomic_specifier_with_parentheses_is_no_error() {
        let text = b"_Atomic(int) x; int f(void) { _Atomic(int *) *p = 0; return x; }";
        let parsed = ParsedFile::parse(Path::new("a.c"), text.to_vec(), Language::C);
        assert!(!parsed.tree().root_node().has_error());
        assert_eq!(parsed.text(), text);
    }

    #[test]
    fn the_type_of_an_expression_is_a_type() {
        let text = "#define GET(x) atomic_load((_Atomic __typeof__(x) *)&(x))\n\
            int f(int *p) {\n  __typeof__(*(p)) v = *p; typeof(v) w;\n\
            \x20 return g((_Atomic __typeof__(*p) *)(p)) + ({ __typeof__ (v) u = v; u; });\n}\n";
        for language in [Language::C, Language::Cpp] {
            let parsed = ParsedFile::parse(Path::new("a.h"), text.as_bytes(), language);
            let root = parsed.tree().root_node();
            assert!(!root.has_error(), "{language:?}: {}", root.to_sexp());
            let start = text.find("atomic_load").unwrap();
            let end = text.find('\n').unwrap();
            let body = parsed.parse_macro_body(&(start..end));
            assert!(
                !body.root_node().has_error(),
                "{}",
                body.root_node().to_sexp()
            );
        }
    }
}
