//! A site while its tree is still at hand: nodes instead of spans, and the rule
//! that recognised it. Becomes a [`Site`] when everything about it is known.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::order::MemoryOrder;
use crate::site::{LoopRole, OrderForm, OrderSpelling, Site, SiteOperation, Span};
use crate::source::ParsedFile;
use crate::syntax;
use crate::vocabulary::rule::{CallResult, Rule};

/// An atomic operation in a syntax tree.
#[derive(Clone)]
pub(crate) struct FoundSite<'t> {
    /// The whole operation.
    pub node: Node<'t>,
    /// What it does.
    pub operation: SiteOperation,
    /// The callee's name, or the operator.
    pub callee: String,
    /// Where that is.
    pub callee_span: Span,
    /// The atomic object.
    pub object: Option<Node<'t>>,
    /// A call's arguments.
    pub arguments: Vec<Node<'t>>,
    /// The order, on success.
    pub order: OrderSpelling,
    /// The order on failure, for a compare-exchange.
    pub failure_order: Option<OrderSpelling>,
    /// The vocabulary to name.
    pub vocabulary: usize,
    /// The rule that recognised it; operators have none.
    pub rule: Option<Rule>,
    /// The part it plays in a loop, once that is known.
    pub role: LoopRole,
    /// The text tells that the object is atomic; otherwise only its name does.
    pub certain: bool,
}

impl FoundSite<'_> {
    /// What the operation's value is.
    pub(crate) fn result(&self) -> CallResult {
        match (&self.rule, self.operation) {
            (Some(rule), _) => rule.result,
            (None, SiteOperation::Load) => CallResult::Old,
            (None, _) => CallResult::New,
        }
    }

    /// The site, with its surroundings.
    pub(crate) fn into_site(self, around: Surroundings, context: &ScanContext<'_>) -> Site {
        let lines = context.file.lines();
        let span = self.node.byte_range();
        Site {
            file: context.file.path().clone(),
            start: lines.position(span.start),
            end: lines.position(span.end),
            span,
            callee: self.callee,
            callee_start: lines.position(self.callee_span.start),
            callee_span: self.callee_span,
            object: self.object.map(|object| object.byte_range()),
            operation: self.operation,
            order: self.order,
            failure_order: self.failure_order,
            vocabulary: context.vocabularies.by_index(self.vocabulary).name.clone(),
            function: around.function,
            function_span: around.function_span,
            statement_line: lines.position(around.statement.start).line,
            statement: around.statement,
            loop_span: around.loop_span,
            macro_name: around.macro_name,
            role: self.role,
        }
    }
}

/// The code around a node.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub function: Option<String>,
    pub function_span: Option<Span>,
    pub statement: Span,
    pub loop_span: Option<Span>,
    pub macro_name: Option<String>,
}

impl Surroundings {
    /// The surroundings of a node with these ancestors, outermost first.
    pub(crate) fn of(node: Node<'_>, ancestors: &[Node<'_>], file: &ParsedFile) -> Self {
        let definition = ancestors
            .iter()
            .rev()
            .find(|ancestor| ancestor.kind() == "function_definition");
        let statement = ancestors
            .iter()
            .rev()
            .find(|ancestor| syntax::is_statement(**ancestor));
        let loop_node = ancestors
            .iter()
            .rev()
            .take_while(|ancestor| !syntax::is_function(**ancestor))
            .find(|ancestor| syntax::is_loop(**ancestor));
        Self {
            function: definition.and_then(|d| syntax::function_name(*d, file)),
            function_span: definition.map(Node::byte_range),
            statement: statement.map_or_else(|| node.byte_range(), Node::byte_range),
            loop_span: loop_node.map(Node::byte_range),
            macro_name: None,
        }
    }

    /// The surroundings of a span of the file's own tree.
    pub(crate) fn at(span: &Span, file: &ParsedFile) -> Self {
        let mut ancestors = Vec::new();
        let mut node = file.tree().root_node();
        while let Some(child) = child_around(node, span) {
            ancestors.push(node);
            node = child;
        }
        let mut around = Self::of(node, &ancestors, file);
        if !syntax::within(span, &around.statement) {
            around.statement = span.clone();
        }
        around
    }
}

/// The order of operators on atomic objects.
pub(crate) fn implied(order: MemoryOrder) -> OrderSpelling {
    OrderSpelling {
        order: Some(order),
        form: OrderForm::Implied,
    }
}

fn child_around<'t>(node: Node<'t>, span: &Span) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    // Of a node with many children the tree knows where to look.
    cursor.goto_first_child_for_byte(span.start)?;
    let child = cursor.node();
    syntax::within(span, &child.byte_range()).then_some(child)
}
