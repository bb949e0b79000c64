//! Finds what a scan must point out: parts that could not be parsed, and code that
//! no instrumentation sees.

use memchr::memmem;
use tree_sitter::Node;

use crate::conditional::{Presence, presence};
use crate::note::{Note, NoteKind};
use crate::outline::{Marks, Outline};
use crate::source::ParsedFile;
use crate::syntax;

/// How much of a broken part a note quotes.
const MAX_QUOTED_CHARS: usize = 40;

/// Attributes of functions that are not instrumented.
const NOT_INSTRUMENTED: [&str; 2] = ["no_sanitize", "disable_sanitizer_instrumentation"];

/// The notes on one file.
pub(crate) fn notes(file: &ParsedFile, outline: &Outline<'_>) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut note = |node: Node<'_>, kind, detail: String| {
        let note = Note {
            file: file.path().clone(),
            place: Some(file.lines().position(node.start_byte())),
            kind,
            detail,
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let mut broken_until = 0;
    let mut wanted = Marks::BROKEN | Marks::ASSEMBLY;
    if NOT_INSTRUMENTED
        .iter()
        .any(|word| memmem::find(file.text(), word.as_bytes()).is_some())
    {
        wanted = wanted | Marks::FUNCTION;
    }
    outline.visit(wanted, |node, marks, ancestors| {
        if marks.meet(Marks::BROKEN) {
            // One note for one broken stretch, however it is nested.
            if node.start_byte() >= broken_until {
                note(node, NoteKind::NotParsed, quote(node, file));
            }
            broken_until = broken_until.max(node.end_byte());
        }
        if marks.meet(Marks::ASSEMBLY) {
            if presence(node, "", file, file.path()) != Presence::Absent {
                note(node, NoteKind::InlineAssembly, around(ancestors, file));
            }
        } else if marks.meet(Marks::FUNCTION) && says_no_sanitize(node, file) {
            let name = syntax::function_name(node, file).unwrap_or_default();
            note(node, NoteKind::NoSanitize, name);
        }
    });
    notes
}

/// How many lines have a part that could not be parsed.
pub(crate) fn unread_lines(file: &ParsedFile, outline: &Outline<'_>) -> usize {
    let (mut count, mut next) = (0, 0);
    outline.visit(Marks::BROKEN, |node, _, _| {
        let line = |at| file.lines().position(at).line as usize;
        let first = line(node.start_byte()).max(next);
        let last = line(node.end_byte().saturating_sub(1).max(node.start_byte()));
        count += (last + 1).saturating_sub(first);
        next = next.max(last + 1);
    });
    count
}

fn around(ancestors: &[Node<'_>], file: &ParsedFile) -> String {
    ancestors
        .iter()
        .rev()
        .find(|ancestor| ancestor.kind() == "function_definition")
        .and_then(|definition| syntax::function_name(*definition, file))
        .unwrap_or_default()
}

fn says_no_sanitize(definition: Node<'_>, file: &ParsedFile) -> bool {
    let end = definition
        .child_by_field_name("body")
        .map_or(definition.end_byte(), |body| body.start_byte());
    let head = file.slice(&(definition.start_byte()..end));
    NOT_INSTRUMENTED.iter().any(|word| head.contains(word))
}

fn quote(node: Node<'_>, file: &ParsedFile) -> String {
    if node.is_missing() {
        return format!("`{}` is missing", node.kind());
    }
    let text = file.node_text(node);
    let line = text.lines().next().unwrap_or_default().trim();
    let mut quoted: String = line.chars().take(MAX_QUOTED_CHARS).collect();
    if quoted.len() < line.len() {
        quoted.push('…');
    }
    quoted.retain(|c| !c.is_control());
    quoted
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{NoteKind, Vocabularies, scan_source};

    #[test]
    fn assembly_that_the_compilers_do_not_see_is_left_out() {
        let text = "void pause(void)\n{\n#if defined(__GNUC__)\n  \
            __asm__ volatile(\"nop\");\n#elif defined(__arm__)\n  \
            __asm__ volatile(\"dmb\");\n#endif\n#ifdef __mips__\n  \
            __asm__ volatile(\"sync\");\n#endif\n}\n";
        let scan = scan_source(Path::new("a.c"), text.as_bytes(), &Vocabularies::builtin());
        let lines = scan.notes.iter();
        let lines = lines.filter(|note| note.kind == NoteKind::InlineAssembly);
        let lines: Vec<u32> = lines.filter_map(|note| Some(note.place?.line)).collect();
        assert_eq!(lines, [4]);
    }
}
