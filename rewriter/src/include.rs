//! Adds a missing include where the file keeps its includes: in their order if
//! they have one, behind the last of its kind, inside of an include guard.

use tree_sitter::Node;
use wmfix_frontend::ParsedFile;

use crate::edit::Edit;
use crate::layout::Layout;
use crate::view::children;

/// The headers that a file includes, with their brackets or quotes.
pub(crate) fn include_targets(file: &ParsedFile) -> Vec<String> {
    file.text()
        .split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let line = String::from_utf8_lossy(line);
            let rest = line.trim().strip_prefix('#')?.trim_start();
            let target = rest.strip_prefix("include")?.trim_start();
            let end = match target.chars().next()? {
                '<' => '>',
                '"' => '"',
                _ => return None,
            };
            let length = target[1..].find(end)? + 2;
            Some(target[..length].to_owned())
        })
        .collect()
}

/// The edit that includes `<header>`; `None` if the file already does.
pub(crate) fn include(file: &ParsedFile, layout: &Layout<'_>, header: &str) -> Option<Edit> {
    let wanted = format!("<{header}>");
    let container = inside_guard(file, file.tree().root_node());
    let found = includes(file, container);
    if found.iter().any(|include| include.target == wanted) {
        return None;
    }
    let newline = layout.newline;
    let line = format!("#include {wanted}{newline}");
    let system: Vec<&Include> = found
        .iter()
        .filter(|include| include.target.starts_with('<'))
        .collect();
    let sorted = system
        .windows(2)
        .all(|pair| pair[0].target <= pair[1].target && pair[0].end == pair[1].start);
    let next = system
        .iter()
        .find(|include| sorted && system.len() > 1 && include.target > wanted);
    let (at, text) = if let Some(next) = next {
        (next.start, line)
    } else if let Some(last) = system.last().copied().or(found.last()) {
        (last.end, line)
    } else {
        (
            first_place(file, layout, container),
            format!("{line}{newline}"),
        )
    };
    let ends_line = at == 0 || file.text()[at - 1] == b'\n';
    let text = if ends_line {
        text
    } else {
        format!("{newline}{text}")
    };
    Some(Edit {
        span: at..at,
        text: text.into_bytes(),
    })
}

struct Include {
    target: String,
    /// The whole line.
    start: usize,
    end: usize,
}

fn includes(file: &ParsedFile, container: Node<'_>) -> Vec<Include> {
    children(container)
        .into_iter()
        .filter(|node| node.kind() == "preproc_include")
        .filter_map(|node| {
            let target = file
                .node_text(node.child_by_field_name("path")?)
                .into_owned();
            let text = file.text();
            let end = text[node.start_byte()..]
                .iter()
                .position(|&byte| byte == b'\n')
                .map_or(text.len(), |length| node.start_byte() + length + 1);
            Some(Include {
                target,
                start: node.start_byte(),
                end,
            })
        })
        .collect()
}

/// The include guard's inside, if the whole file is in one.
fn inside_guard<'t>(file: &ParsedFile, root: Node<'t>) -> Node<'t> {
    let parts = children(root);
    let guard = match parts.as_slice() {
        [only] if only.kind() == "preproc_ifdef" => *only,
        _ => return root,
    };
    let name = guard.child_by_field_name("name");
    let defines = children(guard).into_iter().any(|child| {
        child.kind() == "preproc_def"
            && child
                .child_by_field_name("name")
                .map(|name| file.node_text(name))
                == name.map(|name| file.node_text(name))
    });
    if defines { guard } else { root }
}

/// The start of the line on which the code begins: behind leading comments,
/// `#pragma once` and the guard's own definition.
fn first_place(file: &ParsedFile, layout: &Layout<'_>, container: Node<'_>) -> usize {
    let name = container.child_by_field_name("name");
    let first = children(container).into_iter().find(|child| {
        let is_guard = child.kind() == "preproc_def" && name.is_some();
        let is_name = name.is_some_and(|name| name.id() == child.id());
        let is_pragma = child.kind() == "preproc_call" && file.node_text(*child).contains("once");
        !is_guard && !is_name && !is_pragma
    });
    let Some(first) = first else {
        return file.text().len();
    };
    // A comment right above the code belongs to the code.
    let mut at = first;
    while let Some(comment) = at.prev_named_sibling().filter(|near| {
        near.kind() == "comment" && near.end_position().row + 1 == at.start_position().row
    }) {
        let is_title = comment.prev_named_sibling().is_none();
        if is_title {
            break;
        }
        at = comment;
    }
    layout.line_start(at.start_byte())
}
