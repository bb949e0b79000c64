//! Assembly, and intrinsic functions like it, in source files: what the files of a program
//! say in it, and in the headers that they include. Text is looked at, as what a compiler makes of assembly does not say so;
//! where the text leaves it open, it counts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::UnseenCode;
use super::standard::is_standard_library;

/// Instructions that access no memory and order nothing.
const IDLE: [&str; 6] = ["", "nop", "pause", "rep nop", "yield", "isb"];

/// Collects the files of a program.
#[derive(Default)]
pub(super) struct AssemblyFinder {
    /// Those that were compiled, not included.
    compiled: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    /// The lines that there is code of.
    lines: BTreeSet<(PathBuf, u32)>,
}

/// Assembly with an instruction that is not idle.
struct Piece {
    line: u32,
    /// The macro that it is in.
    definition: Option<String>,
    /// It is an attribute instead, by which a function is not instrumented.
    is_excused: bool,
}

/// What a file says.
struct Contents {
    pieces: Vec<Piece>,
    includes: Vec<String>,
    /// Every name, with the macros in whose definition it is.
    names: HashMap<String, BTreeSet<Option<String>>>,
}

impl AssemblyFinder {
    /// Adds the files of a compilation.
    pub(super) fn add(
        &mut self,
        compiled: Option<&str>,
        files: &[PathBuf],
        lines: impl FnOnce() -> BTreeSet<(PathBuf, u32)>,
    ) {
        let files = files.iter();
        let is_compiled = |file: &&PathBuf| compiled.is_some_and(|name| file.ends_with(name));
        self.compiled
            .extend(files.clone().filter(is_compiled).cloned());
        self.files.extend(files.cloned());
        self.lines.extend(lines());
    }

    /// All assembly that may be part of the program, and all functions that are said not
    /// to be instrumented.
    pub(super) fn find(self) -> Vec<UnseenCode> {
        let contents = self.read();
        let mut found = Vec::new();
        for (file, text) in &contents {
            for piece in &text.pieces {
                let place = (file.clone(), piece.line);
                let counts = match &piece.definition {
                    Some(name) => contents.values().any(|text| uses(text, name)),
                    // An attribute stands before the code.
                    None if piece.is_excused => true,
                    // A function of a header that nobody calls leaves no code.
                    None => {
                        let is_header = !self.compiled.contains(file);
                        !is_header || self.lines.contains(&place)
                    }
                };
                let (file, line) = place;
                if counts && piece.is_excused {
                    found.push(UnseenCode::Excused(file, line));
                } else if counts {
                    found.push(UnseenCode::Assembly(file, line));
                }
            }
        }
        found
    }

    /// All files with the headers that they include, as far as they are found.
    fn read(&self) -> BTreeMap<PathBuf, Contents> {
        let folders: BTreeSet<&Path> = self.files.iter().filter_map(|file| file.parent()).collect();
        let mut contents = BTreeMap::new();
        let mut done = HashSet::new();
        let mut left: Vec<PathBuf> = self.files.iter().cloned().collect();
        while let Some(file) = left.pop() {
            if is_of_system(&file) || !done.insert(file.canonicalize().unwrap_or(file.clone())) {
                continue;
            }
            let Ok(bytes) = std::fs::read(&file) else {
                continue;
            };
            let text = scan(&String::from_utf8_lossy(&bytes));
            for name in &text.includes {
                let own = file.parent().into_iter();
                let mut tried = own
                    .chain(folders.iter().copied())
                    .map(|folder| folder.join(name));
                let system = Path::new("/usr/include").join(name);
                left.extend(tried.find(|path| path.is_file()).or(Some(system)));
            }
            contents.insert(file, text);
        }
        contents
    }
}

/// Headers of the compiler, the C library and the kernel, whose assembly only names symbols.
fn is_of_system(file: &Path) -> bool {
    let within = ["sys", "bits", "gnu", "asm", "asm-generic", "linux"];
    let is_part = |part: &str| file.starts_with(Path::new("/usr/include").join(part));
    is_standard_library(file)
        || within.iter().any(|part| is_part(part))
        || file.starts_with("/usr/include/x86_64-linux-gnu")
        || file.starts_with("/usr/include/aarch64-linux-gnu")
}

/// Whether a file names a macro outside of its own definition.
fn uses(text: &Contents, name: &str) -> bool {
    let within = text.names.get(name);
    within.is_some_and(|all| all.iter().any(|one| one.as_deref() != Some(name)))
}

fn scan(text: &str) -> Contents {
    let mut contents = Contents {
        pieces: Vec::new(),
        includes: Vec::new(),
        names: HashMap::new(),
    };
    let tokens = tokens(text);
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Word = token.kind else {
            continue;
        };
        let definition = token.definition.clone();
        contents
            .names
            .entry(token.text.to_owned())
            .or_default()
            .insert(definition.clone());
        let is_assembly = ["asm", "__asm", "__asm__"].contains(&token.text);
        let is_excused = excuses_function(token, &tokens[at + 1..]);
        let is_instruction =
            is_assembly && !is_idle(&tokens[at + 1..]) || is_unseen_intrinsic(token.text);
        if is_excused || is_instruction {
            contents.pieces.push(Piece {
                line: token.line,
                definition,
                is_excused,
            });
        }
    }
    let included = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        let name = rest.strip_prefix(['"', '<'])?;
        Some(name.split(['"', '>']).next()?.to_owned())
    });
    contents.includes.extend(included);
    contents
}

/// Whether a word names an intrinsic function with which the compiler accesses memory, or
/// begins a transaction, without telling the instrumentation. Ordinary vector loads and
/// stores are accesses of the language in the compiler's headers, and seen.
fn is_unseen_intrinsic(word: &str) -> bool {
    const PARTS: [&str; 7] = [
        "stream",
        "mask",
        "gather",
        "scatter",
        "lddqu",
        "cmpccxadd",
        "movdir",
    ];
    let is_vector = word.starts_with("_mm") && PARTS.iter().any(|part| word.contains(part));
    let is_builtin = word.starts_with("__builtin_ia32_") && word != "__builtin_ia32_pause";
    is_vector
        || is_builtin
        || word.starts_with("__builtin_nontemporal_")
        || matches!(word, "_xbegin" | "_directstoreu_u32" | "_directstoreu_u64")
}

/// Whether a word is the attribute of a function that is not to be instrumented.
fn excuses_function(word: &Token<'_>, after: &[Token<'_>]) -> bool {
    match word.text.trim_matches('_') {
        "no_sanitize_thread" => true,
        "no_sanitize" => {
            let named = after.iter().skip(1);
            let mut named = named.take_while(|token| token.text != ")");
            named.any(|token| ["thread", "all"].iter().any(|one| token.text.contains(one)))
        }
        _ => false,
    }
}

/// Whether the assembly that these tokens begin has only idle instructions.
fn is_idle(after: &[Token<'_>]) -> bool {
    let qualifiers = [
        "volatile",
        "__volatile__",
        "__volatile",
        "inline",
        "__inline__",
    ];
    let mut rest = after
        .iter()
        .skip_while(|token| qualifiers.contains(&token.text));
    if rest.next().is_none_or(|token| token.text != "(") {
        return false;
    }
    let rest: Vec<_> = rest.collect();
    let texts = rest.iter().take_while(|token| token.kind == Kind::Text);
    let code: String = texts.clone().map(|token| token.text).collect();
    let ends = rest
        .get(texts.count())
        .is_some_and(|token| [":", ")", "::"].contains(&token.text));
    let code = code.replace("\\n", ";").replace("\\t", " ");
    let code = code.replace("rep;", "rep ");
    let mut instructions = code.split([';', '\n']);
    let spaced = |one: &str| one.split_whitespace().collect::<Vec<_>>().join(" ");
    !rest.is_empty()
        && rest[0].kind == Kind::Text
        && ends
        && instructions.all(|one| IDLE.contains(&spaced(one).as_str()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Text,
    Other,
}

struct Token<'t> {
    kind: Kind,
    /// Of a text, what is between the quotes.
    text: &'t str,
    line: u32,
    /// The macro whose definition it is part of.
    definition: Option<String>,
}

/// The words, texts and signs of a file, without its comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let mut found: Vec<Token<'_>> = Vec::new();
    // A directive goes to the end of its line; `#define` is followed by its name.
    let (mut directive, mut definition) = (None, None);
    while at < bytes.len() {
        let start = at;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let (kind, from, to) = match bytes[at] {
            b'\n' => {
                (directive, definition) = (None, None);
                (line, at) = (line + 1, at + 1);
                continue;
            }
            b'\\' if text[at + 1..].starts_with(['\n', '\r']) => {
                at += 1 + usize::from(bytes[at + 1] == b'\r');
                if bytes.get(at) == Some(&b'\n') {
                    (line, at) = (line + 1, at + 1);
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/");
                at = end.map_or(bytes.len(), |end| at + 2 + end + 2);
                line += newlines(&text[start..at]);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                let end = at.min(bytes.len());
                at = (end + usize::from(bytes.get(end) == Some(&quote))).min(bytes.len());
                (Kind::Text, start + 1, end)
            }
            byte if is_word(byte) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                (Kind::Word, start, at)
            }
            byte => {
                at += 1;
                if byte.is_ascii_whitespace() {
                    continue;
                }
                (Kind::Other, start, at)
            }
        };
        // An escape may end in the middle of a character.
        let piece = text.get(from..to).unwrap_or_default();
        match (directive, piece) {
            (None, "#") if kind == Kind::Other => directive = Some(0),
            (Some(0), _) => directive = Some(if piece == "define" { 1 } else { 2 }),
            (Some(1), _) => (directive, definition) = (Some(2), Some(piece.to_owned())),
            _ => {}
        }
        found.push(Token {
            kind,
            text: piece,
            line,
            definition: definition.clone(),
        });
        line += newlines(&text[start..at]);
    }
    found
}

fn newlines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(u32, Option<String>)> {
        let pieces = scan(text).pieces.into_iter();
        pieces.map(|piece| (piece.line, piece.definition)).collect()
    }

    #[test]
    fn instructions_that_do_nothing_are_no_assembly() {
        for idle in [
            r#"asm volatile("" ::: "memory");"#,
            r#"__asm__ __volatile__ ("pause");"#,
            r#"asm volatile ("rep; nop" : : : "memory");"#,
            "asm volatile(\"nop\\n\\t\"\n \"yield\\n\");",
            r#"// asm("mfence")"#,
            r#"/* asm("mfence") */ char *s = "asm(\"mfence\")";"#,
        ] {
            assert_eq!(pieces(idle), [], "{idle}");
        }
    }

    #[test]
    fn other_assembly_is_found_with_its_line_and_macro() {
        assert_eq!(pieces("\nasm(\"mfence\");"), [(2, None)]);
        assert_eq!(
            pieces("asm volatile(\"\" \"lock; incl %0\" : \"+m\"(x));"),
            [(1, None)]
        );
        assert_eq!(pieces("asm(CODE);"), [(1, None)]);
        assert_eq!(pieces("asm goto(\"jmp %l0\" :::: out);"), [(1, None)]);
        let macros = "#define FENCE() \\\n  __asm__ volatile(\"mfence\")\nasm(\"sfence\");";
        assert_eq!(pieces(macros), [(2, Some("FENCE".to_owned())), (3, None)]);
    }

    #[test]
    fn intrinsics_that_no_instrumentation_sees_are_found() {
        assert_eq!(pieces("_mm_stream_si32(&data, 1);"), [(1, None)]);
        assert_eq!(pieces("v = _mm256_i32gather_epi32(p, i, 4);"), [(1, None)]);
        assert_eq!(pieces("v = __builtin_nontemporal_load(p);"), [(1, None)]);
        assert_eq!(pieces("if (_xbegin() == _XBEGIN_STARTED)"), [(1, None)]);
        for seen in [
            "_mm_pause();",
            "__builtin_ia32_pause();",
            "_mm_loadu_si128(p);",
        ] {
            assert_eq!(pieces(seen), [], "{seen}");
        }
    }

    #[test]
    fn a_macro_counts_where_it_is_used() {
        let text = scan("#define F() asm(\"mfence\")\n");
        assert!(!uses(&text, "F"));
        assert!(uses(&scan("#define G() F()\n"), "F"));
        assert!(uses(&scan("void f(void) { F(); }\n"), "F"));
    }
}
