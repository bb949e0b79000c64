//! Functions that are nothing but one atomic operation, and their calls as
//! places where a text can be changed. Knows nothing of vocabularies: these are
//! functions that no vocabulary describes.

use std::sync::Arc;

use tree_sitter::Node;

use crate::found_site::Surroundings;
use crate::site::{OrderForm, OrderSpelling, Site};
use crate::source::ParsedFile;
use crate::syntax::{self, callee, children};

/// Whether a function's body is one statement, and a site the only operation in
/// it: to change it there is to change it for every caller.
pub fn is_whole_body(file: &ParsedFile, sites: &[Site], site: &Site) -> bool {
    let Some(function) = &site.function_span else {
        return false;
    };
    let root = file.tree().root_node();
    let body = root
        .descendant_for_byte_range(function.start, function.end)
        .and_then(|definition| definition.child_by_field_name("body"));
    let statements = body.map(children).unwrap_or_default();
    let [statement] = statements[..] else {
        return false;
    };
    let inside = |other: &&Site| syntax::within(&other.span, function);
    matches!(
        statement.kind(),
        "return_statement" | "expression_statement"
    ) && site.macro_name.is_none()
        && sites.iter().filter(inside).count() == 1
}

/// A call of the function `name` at a line and column as a site of its own, that
/// does what `inner` does in the function: a fence can be put next to it. Its
/// order is said in the function, not here.
pub fn call_as_site(
    file: &ParsedFile,
    point: (u32, u32),
    name: &str,
    inner: &Site,
) -> Option<Site> {
    let call = call_at(file, point, name)?;
    let (span, callee) = (call.byte_range(), callee(call)?.name.byte_range());
    let around = Surroundings::at(&span, file);
    let lines = file.lines();
    let said_inside = |order: &OrderSpelling| OrderSpelling {
        order: order.order,
        form: OrderForm::Macro(name.to_owned()),
    };
    Some(Site {
        file: Arc::clone(file.path()),
        start: lines.position(span.start),
        end: lines.position(span.end),
        span,
        callee: name.to_owned(),
        callee_start: lines.position(callee.start),
        callee_span: callee,
        object: None,
        operation: inner.operation,
        order: said_inside(&inner.order),
        failure_order: inner.failure_order.as_ref().map(said_inside),
        vocabulary: Arc::clone(&inner.vocabulary),
        function: around.function,
        function_span: around.function_span,
        statement_line: lines.position(around.statement.start).line,
        statement: around.statement,
        loop_span: around.loop_span,
        macro_name: None,
        role: crate::LoopRole::None,
    })
}

/// The one call of the function `name` that debug information means by a line
/// and column.
pub(crate) fn call_at<'f>(
    file: &'f ParsedFile,
    (line, column): (u32, u32),
    name: &str,
) -> Option<Node<'f>> {
    let mut calls = Vec::new();
    let lines = file.lines();
    syntax::visit(file.tree().root_node(), |node, _| {
        let on_line = |node: Node<'_>| {
            let range = node.byte_range();
            (lines.position(range.start).line..=lines.position(range.end).line).contains(&line)
        };
        if node.kind() == "call_expression"
            && on_line(node)
            && callee(node).is_some_and(|callee| file.node_text(callee.name) == name)
        {
            calls.push(node);
        }
    });
    if calls.len() > 1 {
        let start = lines.line_start(line)?;
        let at = start + (column as usize).checked_sub(1)?;
        calls.retain(|node| node.byte_range().contains(&at));
    }
    match calls[..] {
        [call] => Some(call),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{call_as_site, is_whole_body};
    use crate::{Language, OrderForm, ParsedFile, Vocabularies, scan_parsed};

    #[test]
    fn a_function_of_one_operation_is_told_from_others() {
        let text = "#include <atomic>\nstd::atomic<int> x, y;\n\
            bool ready() { return x.load() == 1; }\n\
            void set() { x.store(1); }\n\
            int both() { return x.load() + y.load(); }\n\
            void more() { int a = x.load(); y.store(a); }\n\
            void wait() { while (x.load() != 1) {} }\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let whole = scan.sites.iter();
        let whole = whole.filter(|site| is_whole_body(&file, &scan.sites, site));
        let functions: Vec<_> = whole.filter_map(|site| site.function.as_deref()).collect();
        assert_eq!(functions, ["ready", "set"]);
    }

    #[test]
    fn a_call_can_be_a_place_for_a_fence() {
        let text = "#include <atomic>\nstd::atomic<int> x;\n\
            int get() { return x.load(); }\n\
            int f(int a) {\n  a += get();\n  return get() + get();\n}\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let call = call_as_site(&file, (5, 8), "get", &scan.sites[0]).expect("a call");
        assert_eq!(&text[call.span.clone()], "get()");
        assert_eq!(&text[call.statement.clone()], "a += get();");
        assert_eq!(call.function.as_deref(), Some("f"));
        assert_eq!(call.order.form, OrderForm::Macro("get".to_owned()));
        assert_eq!(call_as_site(&file, (6, 0), "get", &scan.sites[0]), None);
        assert!(call_as_site(&file, (6, 18), "get", &scan.sites[0]).is_some());
    }
}
