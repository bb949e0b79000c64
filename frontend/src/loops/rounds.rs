//! One loop as rounds: what a round executes, how it can end the loop, and whether
//! it has an effect. Covers `while`, `do`, `for`, and a `goto` back to a label.

use tree_sitter::Node;

use super::condition::Condition;
use super::effects::has_effect;
use super::values::Values;
use crate::context::ScanContext;
use crate::outline::{Marks, Outline};
use crate::syntax::{self, children, is_function, is_loop};

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
    /// Where the loop ends in the text.
    end: usize,
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
                end: node.end_byte(),
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
        end: body[last].end_byte(),
        body,
        update: None,
        label: Some(label),
        function,
    })
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

    /// Whether the function still reads a variable when the loop is over.
    pub(super) fn is_read_afterwards(&self, name: &str, context: &ScanContext<'_>) -> bool {
        let Some(function) = self.function else {
            return false;
        };
        let mut read = false;
        syntax::visit(function, |node, _| {
            read |= node.start_byte() >= self.end
                && node.kind() == "identifier"
                && context.file.node_text(node) == name;
        });
        read
    }

    /// Whether the last round may leave the loop before it comes to this node: what
    /// the node assigns is then the value of a round that stayed.
    pub(super) fn may_end_before(&self, node: Node<'_>) -> bool {
        let is_before = |other: Node<'_>| other.end_byte() <= node.start_byte();
        let mut ends = self.condition.is_some_and(is_before);
        for part in self.parts() {
            syntax::visit(part, |inner, _| {
                let leaves = matches!(
                    inner.kind(),
                    "break_statement" | "return_statement" | "goto_statement"
                );
                ends |= leaves && is_before(inner);
            });
        }
        ends
    }

    /// Whether a round reads a variable, and does not only assign it.
    pub(super) fn reads(&self, name: &str, context: &ScanContext<'_>) -> bool {
        let mut read = false;
        for part in self.parts() {
            syntax::visit(part, |node, ancestors| {
                let is_assigned = ancestors.last().is_some_and(|parent| {
                    parent.kind() == "assignment_expression"
                        && syntax::operator(*parent) == "="
                        && parent.child_by_field_name("left") == Some(node)
                });
                read |= !is_assigned
                    && node.kind() == "identifier"
                    && context.file.node_text(node) == name;
            });
        }
        read
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
            "compound_statement" | "else_clause" | "preproc_if" | "preproc_ifdef"
            | "preproc_else" | "preproc_elif" => {
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
            "continue_statement" | "goto_statement" => {}
            "expression_statement" | "declaration" => self.expression(node),
            "while_statement" | "do_statement" | "for_statement" => self.inner_loop(node, level),
            "labeled_statement" => {
                if let Some(inner) = children(node).pop() {
                    self.statement(inner, guards, level + 1);
                }
            }
            "attributed_statement"
            | "comment"
            | "identifier"
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
                let name = super::called_name(call, self.values.context())?;
                let leaves = matches!(
                    &*name,
                    "abort"
                        | "exit"
                        | "_exit"
                        | "terminate"
                        | "__builtin_trap"
                        | "__builtin_unreachable"
                );
                (leaves || call.kind() == "throw_statement").then_some(Jump::Out)
            }
            "compound_statement" | "else_clause" => self.jump(*children(node).last()?),
            _ if is_loop(node) => None,
            _ => None,
        }
    }
}
