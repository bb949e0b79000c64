//! Functions that are nothing but one atomic operation, and their calls as
//! places where a text can be changed. These are functions that no vocabulary
//! describes.

use std::sync::Arc;

use tree_sitter::Node;

use crate::calls::without_release;
use crate::found_site::Surroundings;
use crate::order::MemoryOrder;
use crate::orders::{squeeze, standard};
use crate::site::{OrderForm, OrderSpelling, Site};
use crate::site_lines::starting_in;
use crate::source::ParsedFile;
use crate::syntax::{self, arguments, callee, children};
use crate::vocabulary::Vocabularies;

/// Whether a function's body is one statement, and a site the only operation in
/// it: to change it there is to change it for every caller.
pub fn is_whole_body(file: &ParsedFile, sites: &[Site], site: &Site) -> bool {
    let Some(function) = &site.function_span else {
        return false;
    };
    let inside = |other: &&Site| syntax::within(&other.span, function);
    let mut inside = starting_in(sites, function).iter().filter(inside);
    if site.macro_name.is_some() || inside.next().is_none() || inside.next().is_some() {
        return false;
    }
    let root = file.tree().root_node();
    let body = root
        .descendant_for_byte_range(function.start, function.end)
        .and_then(|definition| definition.child_by_field_name("body"));
    let statements = body.map(children).unwrap_or_default();
    let [statement] = statements[..] else {
        return false;
    };
    matches!(
        statement.kind(),
        "return_statement" | "expression_statement"
    )
}

/// How a function is called in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallForm<'a> {
    /// By this name.
    Named(&'a str),
    /// As an object that is called: a lambda, a class with `operator()`.
    Object,
    /// As this operator or conversion, without a call: `operator int`, `operator++`.
    Operator(&'a str),
}

impl CallForm<'_> {
    /// The word that stands for the operation.
    fn word(self, call: Node<'_>, file: &ParsedFile) -> String {
        match self {
            Self::Operator(name) => name.to_owned(),
            Self::Named(_) | Self::Object => callee(call).map_or_else(
                || "operator()".to_owned(),
                |callee| file.node_text(callee.name).into_owned(),
            ),
        }
    }
}

/// A call at a line and column as a site of its own, that does what `inner` does in
/// the called function. Its order is said in the function, unless an argument
/// names just the order that the run had.
pub fn call_as_site(
    file: &ParsedFile,
    point: (u32, u32),
    form: CallForm<'_>,
    inner: &Site,
    run_had: Option<MemoryOrder>,
    vocabularies: &Vocabularies,
) -> Option<Site> {
    let call = called_at(file, point, form)?;
    let span = call.byte_range();
    let called = callee(call).filter(|_| call.kind() == "call_expression");
    let word = form.word(call, file);
    let callee_span = called
        .as_ref()
        .map_or(span.clone(), |callee| callee.name.byte_range());
    let object = called.as_ref().and_then(|called| {
        let first = || arguments(call).first().copied().map(syntax::pointee);
        called.receiver.or_else(first)
    });
    let mut said = orders_of(call, file, vocabularies).into_iter();
    let (order, failure) = (said.next(), said.next());
    let order = order.filter(|order| run_had.is_none() || order.order == run_had);
    let said_inside = |order: &OrderSpelling| OrderSpelling {
        order: order.order,
        form: OrderForm::Macro(word.clone()),
    };
    let failure_order = match (&inner.failure_order, failure, &order) {
        (None, ..) => None,
        (Some(_), Some(failure), Some(_)) => Some(failure),
        (Some(_), None, Some(success)) => Some(OrderSpelling {
            order: success.order.map(without_release),
            form: OrderForm::Implied,
        }),
        (Some(inner), _, None) => Some(said_inside(inner)),
    };
    let around = Surroundings::at(&span, file);
    let lines = file.lines();
    Some(Site {
        file: Arc::clone(file.path()),
        start: lines.position(span.start),
        end: lines.position(span.end),
        span,
        callee_start: lines.position(callee_span.start),
        callee_span,
        object: object.map(|object| object.byte_range()),
        operation: inner.operation,
        order: order.unwrap_or_else(|| said_inside(&inner.order)),
        failure_order,
        vocabulary: Arc::clone(&inner.vocabulary),
        function: around.function,
        function_span: around.function_span,
        statement_line: lines.position(around.statement.start).line,
        statement: around.statement,
        loop_span: around.loop_span,
        macro_name: None,
        role: crate::LoopRole::None,
        callee: word,
    })
}

/// The orders that the arguments of a call name, in their order.
fn orders_of(call: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) -> Vec<OrderSpelling> {
    let template = callee(call).map_or_else(Vec::new, |callee| callee.template_arguments);
    let all = template.into_iter().chain(arguments(call));
    let spelled = all.filter_map(|argument| {
        let text = squeeze(&file.node_text(argument));
        let order = standard(&text).or_else(|| vocabularies.order_spelled(&text))?;
        Some(OrderSpelling {
            order: Some(order),
            form: OrderForm::Literal(argument.byte_range()),
        })
    });
    spelled.collect()
}

/// The one call that debug information means by a line and column.
pub(crate) fn called_at<'f>(
    file: &'f ParsedFile,
    point: (u32, u32),
    form: CallForm<'_>,
) -> Option<Node<'f>> {
    match form {
        CallForm::Named(name) => call_at(file, point, name).or_else(|| macro_use_at(file, point)),
        CallForm::Object => {
            let all = calls_on_line(file, point.0, |_| true);
            the_one(all, file, point)
        }
        CallForm::Operator(name) => {
            let converts = name.starts_with("operator ");
            operand_at(file, point, converts)
        }
    }
}

/// The one call of the function `name` that debug information means by a line
/// and column.
pub(crate) fn call_at<'f>(file: &'f ParsedFile, point: (u32, u32), name: &str) -> Option<Node<'f>> {
    let calls = calls_on_line(file, point.0, |called| called == name);
    the_one(calls, file, point)
}

/// What starts just at a line and column, or has its parenthesis there, and looks like a
/// call: the use of a macro, where a function is called there whose name the line does not
/// have. Compilers point at the start of what a macro stands for; gcc points at the
/// parenthesis of a call in C++, which is no part of a macro that is only another name.
fn macro_use_at<'f>(file: &'f ParsedFile, (line, column): (u32, u32)) -> Option<Node<'f>> {
    let start = file.lines().line_start(line)?;
    let at = start + (column as usize).checked_sub(1)?;
    let is_here = |call: &Node<'_>| {
        let arguments = call.child_by_field_name("arguments");
        let parenthesis = arguments.map(|arguments| arguments.start_byte());
        callee(*call).is_some_and(|callee| callee.name.start_byte() == at)
            || parenthesis == Some(at)
    };
    let calls = calls_on_line(file, line, |_| true);
    calls.into_iter().find(is_here)
}

fn calls_on_line<'f>(
    file: &'f ParsedFile,
    line: u32,
    fits: impl Fn(&str) -> bool,
) -> Vec<Node<'f>> {
    let mut calls = Vec::new();
    let lines = file.lines();
    let Some(start) = lines.line_start(line) else {
        return calls;
    };
    let end = lines.line_start(line.saturating_add(1));
    let on_line = start..end.unwrap_or(file.text().len());
    syntax::visit_span(file.tree().root_node(), &on_line, |node| {
        if node.kind() == "call_expression"
            && callee(node).is_some_and(|callee| fits(&file.node_text(callee.name)))
        {
            calls.push(node);
        }
    });
    calls
}

/// The innermost of the calls that a column points into, if there are several.
fn the_one<'f>(
    mut calls: Vec<Node<'f>>,
    file: &ParsedFile,
    (line, column): (u32, u32),
) -> Option<Node<'f>> {
    if calls.len() > 1 {
        let start = file.lines().line_start(line)?;
        let at = start + (column as usize).checked_sub(1)?;
        calls.retain(|node| node.byte_range().contains(&at));
        // Compilers point at a call's name or its parenthesis, not at its
        // arguments.
        let within = |outer: &Node<'_>, inner: &Node<'_>| {
            outer != inner && syntax::within(&inner.byte_range(), &outer.byte_range())
        };
        let all = calls.clone();
        calls.retain(|outer| !all.iter().any(|inner| within(outer, inner)));
    }
    match calls[..] {
        [call] => Some(call),
        _ => None,
    }
}

/// The expression that debug information means by a line and column, where an
/// operator of a class is applied to it. A conversion is of the object alone.
fn operand_at<'f>(
    file: &'f ParsedFile,
    (line, column): (u32, u32),
    converts: bool,
) -> Option<Node<'f>> {
    let start = file.lines().line_start(line)?;
    let at = start + (column as usize).checked_sub(1)?;
    let root = file.tree().root_node();
    let mut node = root.named_descendant_for_byte_range(at, at + 1)?;
    if syntax::is_statement(node) || syntax::is_function(node) {
        return None;
    }
    let is_part = |parent: Node<'_>| match parent.kind() {
        "field_expression" | "subscript_expression" | "pointer_expression" => true,
        "update_expression" | "assignment_expression" => !converts,
        _ => false,
    };
    while let Some(parent) = node.parent().filter(|parent| is_part(*parent)) {
        node = parent;
    }
    Some(node)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CallForm, call_as_site, is_whole_body};
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
        let vocabularies = Vocabularies::builtin();
        let call_at = |point| {
            let form = CallForm::Named("get");
            call_as_site(&file, point, form, &scan.sites[0], None, &vocabularies)
        };
        let call = call_at((5, 8)).expect("a call");
        assert_eq!(&text[call.span.clone()], "get()");
        assert_eq!(&text[call.statement.clone()], "a += get();");
        assert_eq!(call.function.as_deref(), Some("f"));
        assert_eq!(call.order.form, OrderForm::Macro("get".to_owned()));
        assert_eq!(call_at((6, 0)), None);
        assert!(call_at((6, 18)).is_some());
    }
    #[test]
    fn the_use_of_a_macro_is_the_call_of_what_it_stands_for() {
        let text = "int get_int(int *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }\n\
            #define GET(p) get_int((p))\n\
            int f(int *a, int *b) {\n  return use(a) + GET(b);\n}\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let vocabularies = Vocabularies::builtin();
        let scan = scan_parsed(&file, &vocabularies);
        let call_at = |point| {
            let form = CallForm::Named("get_int");
            call_as_site(&file, point, form, &scan.sites[0], None, &vocabularies)
        };
        let column = |word: &str| {
            let line = text.lines().nth(3).expect("a line");
            line.find(word).expect("a word") as u32 + 1
        };
        let call = call_at((4, column("GET"))).expect("a call");
        assert_eq!((&text[call.span.clone()], &*call.callee), ("GET(b)", "GET"));
        assert_eq!(call_at((4, column("+"))), None);
    }
}
