//! Finds what a scan must point out: parts that could not be parsed, and code that
//! no instrumentation sees.

use tree_sitter::Node;

use crate::note::{Note, NoteKind};
use crate::source::ParsedFile;
use crate::syntax;

/// How much of a broken part a note quotes.
const QUOTED: usize = 40;

/// The notes on one file.
pub(crate) fn notes(file: &ParsedFile) -> Vec<Note> {
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
    syntax::visit(file.tree().root_node(), |node, ancestors| {
        if node.is_error() || node.is_missing() {
            // One note for one broken stretch, however it is nested.
            if node.start_byte() >= broken_until {
                note(node, NoteKind::NotParsed, quote(node, file));
            }
            broken_until = broken_until.max(node.end_byte());
        }
        match node.kind() {
            "gnu_asm_expression" => {
                note(node, NoteKind::InlineAssembly, around(ancestors, file));
            }
            "function_definition" if says_no_sanitize(node, file) => {
                let name = syntax::function_name(node, file).unwrap_or_default();
                note(node, NoteKind::NoSanitize, name);
            }
            _ => {}
        }
    });
    notes
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
    head.contains("no_sanitize") || head.contains("disable_sanitizer_instrumentation")
}

fn quote(node: Node<'_>, file: &ParsedFile) -> String {
    if node.is_missing() {
        return format!("`{}` is missing", node.kind());
    }
    let text = file.node_text(node);
    let line = text.lines().next().unwrap_or_default().trim();
    let mut quoted: String = line.chars().take(QUOTED).collect();
    if quoted.len() < line.len() {
        quoted.push('…');
    }
    quoted.retain(|c| !c.is_control());
    quoted
}
