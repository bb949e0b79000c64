//! One loop as rounds: what a round executes, how it can end the loop, and whether
//! it has an effect. Covers `while`, `do`, `for`, and a `goto` back to a label.

use tree_sitter::Node;

use super::condition::Condition;
use super::effects::has_effect;
use super::values::Values;
use crate::context::ScanContext;
use crate::outline::{Marks, Outline};
use crate::site::Span;
use crate::syntax::{self, children, is_function, is_loop, within};

/// A loop.
pub(super) struct Rounds<'t> {
    /// The condition to go on, tested before or after the body.
    condition: Option<Node<'t>>,
    /// The statements of the body.
    body: Vec<Node<'t>>,
    /// What a `for` does between rounds.
    update: Option<Node<'t>>,
    /// A loop made with `goto`: its label. Such a loop ends by falling through.
    label: Option<String>,
    /// Where the loop stands in the text.
    span: Span,
    /// The condition is tested before the body.
    is_tested_first: bool,
    /// The function around it.
    function: Option<Node<'t>>,
}

/// The result of one round.
pub(super) struct RoundOutcome {
    /// The conditions under which the loop ends, any of them.
    pub exits: Vec<Condition>,
    /// Something happens in a round that outlives it.
    pub effect: bool,
}

/// The loops under a root, outer before inner.
pub(super) fn loops<'t>(outline: &Outline<'t>, context: &ScanContext<'_>) -> Vec<Rounds<'t>> {
    let mut loops = Vec::new();
    outline.visit(Marks::LOOP, |node, _, ancestors| {
        let function = || ancestors.iter().rev().find(|a| is_function(**a)).copied();
        let body = |node: Node<'t>| node.child_by_field_name("body").into_iter().collect();
        match node.kind() {
            "while_statement" | "do_statement" | "for_statement" => loops.push(Rounds {
                condition: node.child_by_field_name("condition"),
                body: body(node),
                update: node.child_by_field_name("update"),
                label: None,
                span: node.byte_range(),
                is_tested_first: node.kind() != "do_statement",
                function: function(),
            }),
            "labeled_statement" => loops.extend(labelled(node, ancestors, function(), context)),
            _ => {}
        }
    });
    loops
}

/// `again: …; if (…) goto again;`
fn labelled<'t>(
    node: Node<'t>,
    ancestors: &[Node<'t>],
    function: Option<Node<'t>>,
    context: &ScanContext<'_>,
) -> Option<Rounds<'t>> {
    let label = context
        .file
        .node_text(node.child_by_field_name("label")?)
        .into_owned();
    let first = children(node).pop()?;
    let mut body = vec![first];
    let following = children(*ancestors.last()?)
        .into_iter()
        .skip_while(|sibling| *sibling != node)
        .skip(1);
    body.extend(following);
    let jumps_back = |statement: &Node<'t>| {
        let mut found = false;
        syntax::visit(*statement, |inner, _| {
            found |= inner.kind() == "goto_statement" && goes_to(inner, &label, context);
        });
        found
    };
    let last = body.iter().rposition(jumps_back)?;
    body.truncate(last + 1);
    Some(Rounds {
        condition: None,
        span: node.start_byte()..body[last].end_byte(),
        is_tested_first: false,
        body,
        update: None,
        label: Some(label),
        function,
    })
}

/// What the text of a function does with a variable.
struct VariableUses {
    /// Nobody else can reach it: declared once, in the function, and neither a
    /// reference nor the target of one.
    is_plain: bool,
    /// It is used outside of the loop.
    is_outside: bool,
}

impl VariableUses {
    fn of(variable: Node<'_>, rounds: &Rounds<'_>, context: &ScanContext<'_>) -> Self {
        let name = context.file.node_text(variable);
        let mut uses = Self {
            is_plain: !context.declared.is_in_macro(&name),
            is_outside: false,
        };
        let scope = rounds
            .function
            .and_then(|function| scope_of(variable, &name, function, context));
        let Some(scope) = scope else {
            uses.is_plain = false;
            return uses;
        };
        let mut declared = 0;
        syntax::visit(scope, |node, ancestors| {
            if node.kind() != "identifier" || context.file.node_text(node) != name {
                return;
            }
            let Some(parent) = ancestors.last() else {
                return;
            };
            let inner = &ancestors[1..];
            if is_declared_name(node, ancestors) {
                declared += 1;
                uses.is_plain &= is_plain_declaration(ancestors);
                return;
            }
            let has = |kind: &str| inner.iter().any(|around| around.kind() == kind);
            uses.is_plain &= !has("lambda_expression") && !has("reference_declarator");
            let refers = inner
                .iter()
                .rev()
                .find(|around| around.kind() == "init_declarator");
            let is_bound = refers.is_some_and(|declarator| {
                let name = declarator.child_by_field_name("declarator");
                name.is_some_and(|name| name.kind() == "reference_declarator")
            });
            let is_inside = within(&node.byte_range(), &rounds.span);
            // Whoever was given it before may have kept a reference.
            let is_passed = parent.kind() == "argument_list" && !is_inside;
            let is_before = node.end_byte() <= rounds.span.start;
            let has_address = parent.kind() == "pointer_expression"
                && syntax::operator(*parent) == "&"
                && !is_inside;
            uses.is_plain &= !(is_bound || has_address || is_passed && is_before);
            uses.is_outside |= !is_inside;
        });
        uses.is_plain &= declared == 1;
        uses
    }
}

/// The innermost stretch around a variable in which its name is declared.
fn scope_of<'t>(
    variable: Node<'_>,
    name: &str,
    function: Node<'t>,
    context: &ScanContext<'_>,
) -> Option<Node<'t>> {
    let mut innermost: Option<Node<'t>> = None;
    syntax::visit(function, |node, ancestors| {
        let is_name = node.kind() == "identifier"
            && context.file.node_text(node) == name
            && is_declared_name(node, ancestors);
        if !is_name {
            return;
        }
        let scope = ancestors.iter().rev().find(|around| is_scope(**around));
        let scope = scope.filter(|scope| within(&variable.byte_range(), &scope.byte_range()));
        let is_inner = |scope: &&Node<'_>| {
            innermost.is_none_or(|known| within(&scope.byte_range(), &known.byte_range()))
        };
        if let Some(scope) = scope.filter(is_inner) {
            innermost = Some(*scope);
        }
    });
    innermost
}

fn is_scope(node: Node<'_>) -> bool {
    matches!(node.kind(), "compound_statement" | "if_statement")
        || is_loop(node)
        || is_function(node)
}

fn is_declared_name(node: Node<'_>, ancestors: &[Node<'_>]) -> bool {
    let mut inner = node;
    for around in ancestors.iter().rev() {
        let is_declarator = around.child_by_field_name("declarator") == Some(inner) || {
            let mut cursor = around.walk();
            around
                .children_by_field_name("declarator", &mut cursor)
                .any(|one| one == inner)
        };
        match around.kind() {
            "declaration" | "parameter_declaration" | "optional_parameter_declaration" => {
                return is_declarator;
            }
            "init_declarator" | "pointer_declarator" | "array_declarator" if is_declarator => {}
            "reference_declarator" => {}
            _ => return false,
        }
        inner = *around;
    }
    false
}

fn is_plain_declaration(ancestors: &[Node<'_>]) -> bool {
    for around in ancestors.iter().rev() {
        match around.kind() {
            "declaration" => {
                return children(*around)
                    .iter()
                    .all(|child| child.kind() != "storage_class_specifier");
            }
            "parameter_declaration" | "optional_parameter_declaration" => return true,
            "reference_declarator" | "array_declarator" => return false,
            _ => {}
        }
    }
    false
}

/// Whether a name that is declared by one node means the same at another.
fn is_in_sight(declarator: Node<'_>, used: Node<'_>) -> bool {
    let mut around = declarator.parent();
    while let Some(node) = around {
        if is_scope(node) {
            return within(&used.byte_range(), &node.byte_range());
        }
        around = node.parent();
    }
    false
}

fn has_kind(root: Node<'_>, is: impl Fn(Node<'_>) -> bool) -> bool {
    let mut found = false;
    syntax::visit(root, |inner, _| found |= is(inner));
    found
}

fn leaves_or_goes_on(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "break_statement" | "return_statement" | "goto_statement" | "throw_statement"
    )
}

fn goes_to(node: Node<'_>, label: &str, context: &ScanContext<'_>) -> bool {
    node.child_by_field_name("label")
        .is_some_and(|target| context.file.node_text(target) == label)
}

/// How a statement ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jump {
    /// Out of the loop.
    Out,
    /// To the next round.
    Next,
}

impl<'t> Rounds<'t> {
    /// Everything that a round executes.
    pub(super) fn parts(&self) -> impl Iterator<Item = Node<'t>> {
        self.condition
            .into_iter()
            .chain(self.body.iter().copied())
            .chain(self.update)
    }

    /// Whether a variable is one of the function's that nobody else can reach, and that
    /// is used nowhere but in this loop.
    pub(super) fn is_private(&self, variable: Node<'_>, context: &ScanContext<'_>) -> bool {
        let uses = VariableUses::of(variable, self, context);
        uses.is_plain && !uses.is_outside
    }

    /// What a variable of the function is set to where it is declared.
    pub(super) fn initializer(
        &self,
        variable: Node<'_>,
        context: &ScanContext<'_>,
    ) -> Option<Node<'t>> {
        let name = context.file.node_text(variable);
        let scope = scope_of(variable, &name, self.function?, context)?;
        let mut values = Vec::new();
        syntax::visit(scope, |node, _| {
            let declares = |inner: Node<'_>| context.file.node_text(inner) == name;
            if node.kind() == "init_declarator"
                && node.child_by_field_name("declarator").is_some_and(declares)
            {
                values.push(node.child_by_field_name("value"));
            }
        });
        match values[..] {
            [value] => value,
            _ => None,
        }
    }

    /// Whether a variable has the value that the last round read when the loop is over.
    pub(super) fn is_last_value(
        &self,
        assignment: Node<'_>,
        variable: Node<'_>,
        values: &Values<'_, '_>,
    ) -> bool {
        let context = values.context();
        let name = context.file.node_text(variable);
        if !VariableUses::of(variable, self, context).is_plain
            || !self.is_in_every_round(assignment)
        {
            return false;
        }
        let is_in = |part: Option<Node<'_>>| {
            part.is_some_and(|part| within(&assignment.byte_range(), &part.byte_range()))
        };
        let leaves = |before: usize| {
            self.body.iter().any(|statement| {
                has_kind(*statement, |inner| {
                    inner.start_byte() < before && leaves_or_goes_on(inner)
                })
            })
        };
        if is_in(self.condition) {
            return self.is_tested_first || !leaves(usize::MAX);
        }
        // What is tested next is what was read.
        let tested = self.condition.is_none_or(|condition| {
            let mut names = false;
            let mut site = false;
            syntax::visit(condition, |inner, _| {
                names |= inner.kind() == "identifier" && context.file.node_text(inner) == name;
                site |= values.site_at(inner).is_some();
            });
            names && !site
        });
        let before = match is_in(self.update) {
            true => usize::MAX,
            false => assignment.start_byte(),
        };
        tested && !leaves(before) && !self.skips()
    }

    /// Whether the body goes to the next round from anywhere but its end.
    fn skips(&self) -> bool {
        self.body
            .iter()
            .any(|statement| has_kind(*statement, |inner| inner.kind() == "continue_statement"))
    }

    /// Whether every round that is not over before comes to a node.
    pub(super) fn is_in_every_round(&self, node: Node<'_>) -> bool {
        let mut inner = node;
        for _ in 0..syntax::MAX_DEPTH {
            if self.parts().any(|part| part == inner) {
                return true;
            }
            let Some(parent) = inner.parent() else {
                return false;
            };
            let is_field = |field: &str| parent.child_by_field_name(field) == Some(inner);
            let goes_on = match parent.kind() {
                "binary_expression" => {
                    let word = syntax::operator(parent);
                    !matches!(word, "&&" | "||" | "and" | "or") || is_field("left")
                }
                "if_statement" | "conditional_expression" => is_field("condition"),
                "parenthesized_expression"
                | "condition_clause"
                | "expression_statement"
                | "compound_statement"
                | "unary_expression"
                | "init_declarator"
                | "declaration"
                | "assignment_expression"
                | "argument_list"
                | "call_expression" => true,
                "labeled_statement" => self.label.is_some(),
                _ => false,
            };
            if !goes_on {
                return false;
            }
            inner = parent;
        }
        false
    }

    /// Whether what is used at a node is what was assigned in the same round.
    pub(super) fn is_of_this_round(&self, assignment: Node<'_>, used: Node<'_>) -> bool {
        let is_in = |node: Node<'_>, part: Option<Node<'_>>| {
            part.is_some_and(|part| within(&node.byte_range(), &part.byte_range()))
        };
        if !self.is_in_every_round(assignment) || !within(&used.byte_range(), &self.span) {
            return false;
        }
        let is_before = assignment.end_byte() <= used.start_byte();
        let is_declared = assignment.kind() == "init_declarator";
        if is_declared && !is_in_sight(assignment, used) {
            return false;
        }
        match (
            is_in(assignment, self.condition),
            is_in(used, self.condition),
        ) {
            (true, true) => is_before || within(&assignment.byte_range(), &used.byte_range()),
            (true, false) => self.is_tested_first,
            (false, true) => !is_declared && !self.skips(),
            (false, false) => {
                !is_in(assignment, self.update) && !is_in(used, self.update) && is_before
            }
        }
    }

    /// Whether a `goto` stays in the round: what follows it is done twice, or not at all.
    fn jumps_within(&self, node: Node<'_>, context: &ScanContext<'_>) -> bool {
        self.parts().any(|part| {
            has_kind(part, |inner| {
                let label = inner.child_by_field_name("label");
                inner.kind() == "labeled_statement"
                    && label
                        .is_some_and(|label| goes_to(node, &context.file.node_text(label), context))
            })
        })
    }

    /// What a round does.
    pub(super) fn outcome(&self, values: &Values<'_, '_>) -> RoundOutcome {
        let mut walk = RoundWalk {
            rounds: self,
            values,
            outcome: RoundOutcome {
                exits: Vec::new(),
                effect: false,
            },
        };
        if let Some(condition) = self.condition {
            walk.expression(condition);
            let goes_on = Condition::of(condition, values);
            walk.outcome.exits.push(goes_on.negated());
        }
        if let Some(update) = self.update {
            walk.expression(update);
        }
        let mut guards = Vec::new();
        walk.block(&self.body, &mut guards, 0);
        if self.label.is_some() {
            walk.outcome.exits.push(Condition::all(guards));
        }
        walk.outcome
    }
}

/// One look through a round.
struct RoundWalk<'r, 't, 'v, 'a> {
    rounds: &'r Rounds<'t>,
    values: &'v Values<'t, 'a>,
    outcome: RoundOutcome,
}

impl RoundWalk<'_, '_, '_, '_> {
    fn expression(&mut self, node: Node<'_>) {
        self.outcome.effect |= has_effect(node, self.rounds, self.values);
    }

    /// Statements one after the other. `guards` must hold for them to be reached;
    /// what a statement lets pass becomes a guard of those behind it.
    fn block(&mut self, statements: &[Node<'_>], guards: &mut Vec<Condition>, level: usize) {
        for &statement in statements {
            self.statement(statement, guards, level);
        }
    }

    fn statement(&mut self, node: Node<'_>, guards: &mut Vec<Condition>, level: usize) {
        if level > syntax::MAX_DEPTH {
            self.outcome.effect = true;
            return;
        }
        match node.kind() {
            "compound_statement"
            | "else_clause"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "attributed_statement" => {
                self.block(&children(node), guards, level + 1);
            }
            "if_statement" => self.branch(node, guards, level),
            "break_statement"
            | "return_statement"
            | "throw_statement"
            | "goto_statement"
            | "co_return_statement"
                if self.jump(node) == Some(Jump::Out) =>
            {
                self.outcome.exits.push(Condition::all(guards.clone()));
            }
            "goto_statement" if self.rounds.jumps_within(node, self.values.context()) => {
                self.outcome.effect = true;
            }
            "continue_statement" | "goto_statement" => {}
            "expression_statement" | "declaration" => self.expression(node),
            "while_statement" | "do_statement" | "for_statement" => self.inner_loop(node, level),
            "labeled_statement" => {
                if let Some(inner) = children(node).pop() {
                    self.statement(inner, guards, level + 1);
                }
            }
            // The name that an `#ifdef` asks for.
            "identifier"
                if node
                    .parent()
                    .is_some_and(|parent| parent.kind().starts_with("preproc")) => {}
            "comment"
            | "attribute_declaration"
            | "preproc_directive"
            | "preproc_call"
            | "preproc_defined" => {}
            _ => self.outcome.effect = true,
        }
    }

    fn branch(&mut self, node: Node<'_>, guards: &mut Vec<Condition>, level: usize) {
        let (Some(condition), Some(then)) = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("consequence"),
        ) else {
            self.outcome.effect = true;
            return;
        };
        self.expression(condition);
        let holds = Condition::of(condition, self.values);
        let otherwise = node.child_by_field_name("alternative");
        let mut passed = None;
        for (branch, guard) in [
            (Some(then), holds.clone()),
            (otherwise, holds.clone().negated()),
        ] {
            let Some(branch) = branch else { continue };
            match self.jump(branch) {
                Some(Jump::Out) => {
                    // What is done on the way out is not done in every round.
                    let mut reached = guards.clone();
                    reached.push(guard.clone());
                    self.outcome.exits.push(Condition::all(reached));
                    passed = Some(guard.negated());
                }
                jump => {
                    let mut inner = guards.clone();
                    inner.push(guard.clone());
                    self.statement(branch, &mut inner, level + 1);
                    if jump == Some(Jump::Next) {
                        passed = Some(guard.negated());
                    }
                }
            }
        }
        // An exit that was not taken says nothing new about what comes behind it:
        // the loop would be over. A round that was cut short does.
        if self.jump(then) == Some(Jump::Next)
            || otherwise.map(|o| self.jump(o)) == Some(Some(Jump::Next))
        {
            guards.extend(passed);
        }
    }

    /// A loop in the loop may only wait or count.
    fn inner_loop(&mut self, node: Node<'_>, level: usize) {
        for part in ["initializer", "condition", "update"] {
            if let Some(part) = node.child_by_field_name(part) {
                self.expression(part);
            }
        }
        if let Some(body) = node.child_by_field_name("body") {
            let before = self.outcome.exits.len();
            self.statement(body, &mut vec![Condition::Opaque], level + 1);
            let leaves = {
                let mut leaves = false;
                syntax::visit(body, |inner, _| {
                    leaves |= matches!(
                        inner.kind(),
                        "return_statement" | "throw_statement" | "goto_statement"
                    );
                });
                leaves
            };
            // Its `break` ends only itself.
            self.outcome.exits.truncate(before);
            if leaves {
                self.outcome.exits.push(Condition::Opaque);
            }
        }
    }

    /// How a statement certainly ends, if it does not just go on.
    fn jump(&self, node: Node<'_>) -> Option<Jump> {
        match node.kind() {
            "break_statement" | "return_statement" | "throw_statement" | "co_return_statement" => {
                Some(Jump::Out)
            }
            "continue_statement" => Some(Jump::Next),
            "goto_statement" if self.rounds.jumps_within(node, self.values.context()) => None,
            "goto_statement" => {
                let back = self
                    .rounds
                    .label
                    .as_deref()
                    .is_some_and(|label| goes_to(node, label, self.values.context()));
                Some(if back { Jump::Next } else { Jump::Out })
            }
            "expression_statement" => {
                let call = node.named_child(0)?;
                let context = self.values.context();
                let function = call.child_by_field_name("function")?;
                let name = context.file.node_text(function);
                let leaves = matches!(
                    &*name,
                    "abort"
                        | "exit"
                        | "_exit"
                        | "std::abort"
                        | "std::exit"
                        | "std::terminate"
                        | "__builtin_trap"
                        | "__builtin_unreachable"
                );
                let last = name.rsplit("::").next().unwrap_or_default();
                let is_own = context.declared.declares_function(last)
                    || context.declared.macro_texts(last).next().is_some();
                (leaves && !is_own).then_some(Jump::Out)
            }
            "compound_statement" | "else_clause" => self.jump(*children(node).last()?),
            _ if is_loop(node) => None,
            _ => None,
        }
    }
}
