//! What expressions inside a loop stand for: the value that a site read, something
//! that does not change, a counter. Judged by all assignments in the loop.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::effects::is_clock;
use super::helpers::Helpers;
use super::rounds::Rounds;
use super::{called_name, is_repeatable, plain_arguments};
use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::literal::integer;
use crate::site::{Comparison, Operand, SiteOperation, Span};
use crate::syntax::{self, MAX_DEPTH, bare_value, callee, operator};
use crate::vocabulary::rule::CallResult;

/// The values in one loop.
pub(super) struct Values<'t, 'a> {
    context: &'a ScanContext<'a>,
    found: &'a [FoundSite<'t>],
    by_node: &'a FxHashMap<usize, usize>,
    helpers: &'a Helpers<'t>,
    assigned: FxHashMap<String, Assignments<'t>>,
    used_helpers: RefCell<Vec<Span>>,
}

/// What happens to a variable in a loop.
#[derive(Default)]
struct Assignments<'t> {
    /// What `=` and initialisers give it.
    to: Vec<Node<'t>>,
    /// It is counted up or down, or otherwise changed in place.
    counted: bool,
}

/// The value that a site read, and something unchanging that it is put together with.
pub(super) struct Shifted<'n> {
    /// The site.
    pub(super) site: usize,
    by: Node<'n>,
    form: Shift,
}

#[derive(Clone, Copy)]
enum Shift {
    /// `value + by`
    Added,
    /// `value - by`
    Subtracted,
    /// `by - value`
    SubtractedFrom,
}

#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

impl Shifted<'_> {
    /// What a comparison of the sum with `operand` asks of the value alone, as long as
    /// nothing overflows.
    pub(super) fn solved(
        &self,
        comparison: Comparison,
        operand: Node<'_>,
        values: &Values<'_, '_>,
    ) -> (Comparison, Operand) {
        let text = |node| values.context.file.node_text(node);
        let (by, operand) = (text(self.by), text(operand));
        let (comparison, operand) = match self.form {
            Shift::Added => (comparison, format!("{operand} - ({by})")),
            Shift::Subtracted => (comparison, format!("{operand} + {by}")),
            Shift::SubtractedFrom => (comparison.turned(), format!("{by} - ({operand})")),
        };
        (comparison, Operand::Unknown(operand))
    }
}

impl<'t, 'a> Values<'t, 'a> {
    /// Looks through a loop.
    pub(super) fn of(
        rounds: &Rounds<'t>,
        found: &'a [FoundSite<'t>],
        by_node: &'a FxHashMap<usize, usize>,
        helpers: &'a Helpers<'t>,
        context: &'a ScanContext<'a>,
    ) -> Self {
        let mut values = Self {
            context,
            found,
            by_node,
            helpers,
            assigned: FxHashMap::default(),
            used_helpers: RefCell::default(),
        };
        for part in rounds.parts() {
            values.note_assignments(part);
        }
        for body in helpers.bodies_called_in(rounds, context) {
            values.note_assignments(body);
        }
        values
    }

    pub(super) fn context(&self) -> &'a ScanContext<'a> {
        self.context
    }

    pub(super) fn found(&self, site: usize) -> &FoundSite<'t> {
        &self.found[site]
    }

    /// Whether a function of this file writes to atomic objects.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.helpers.writes(name)
    }

    /// The operation that a node is.
    pub(super) fn site_at(&self, node: Node<'_>) -> Option<usize> {
        self.by_node.get(&node.id()).copied()
    }

    fn note_assignments(&mut self, root: Node<'t>) {
        let file = self.context.file;
        let mut note = |target: Node<'t>, value: Option<Node<'t>>| {
            let target = syntax::unwrap_parentheses(target);
            if target.kind() != "identifier" {
                return;
            }
            let assigned: &mut Assignments<'t> = self
                .assigned
                .entry(file.node_text(target).into_owned())
                .or_default();
            match value {
                Some(value) => assigned.to.push(value),
                None => assigned.counted = true,
            }
        };
        syntax::visit(root, |node, _| {
            let side = |name: &str| node.child_by_field_name(name);
            match node.kind() {
                "assignment_expression" => {
                    let value = side("right").filter(|_| operator(node) == "=");
                    if let Some(target) = side("left") {
                        note(target, value);
                    }
                }
                "update_expression" => {
                    if let Some(target) = side("argument") {
                        note(target, None);
                    }
                }
                "init_declarator" => {
                    if let (Some(target), Some(value)) = (side("declarator"), side("value")) {
                        note(target, Some(first_of_list(value)));
                    }
                }
                _ => {}
            }
        });
    }

    /// The site whose value an expression is, and the bits of it that count.
    pub(super) fn value_of(&self, node: Node<'_>) -> Option<(usize, Option<Operand>)> {
        self.value(node, 0)
    }

    fn value(&self, node: Node<'_>, level: usize) -> Option<(usize, Option<Operand>)> {
        if level > MAX_DEPTH {
            return None;
        }
        let node = bare_value(node, self.context.file);
        if let Some(site) = self.site_at(node) {
            let found = &self.found[site];
            let readable = match found.operation {
                SiteOperation::CompareExchange { .. } => true,
                SiteOperation::Load | SiteOperation::Rmw => found.result() == CallResult::Old,
                _ => false,
            };
            return readable.then_some((site, None));
        }
        match (node.kind(), operator(node)) {
            ("assignment_expression", "=") => {
                self.value(node.child_by_field_name("right")?, level + 1)
            }
            ("binary_expression", "&" | "bitand") => {
                let left = node.child_by_field_name("left")?;
                let right = node.child_by_field_name("right")?;
                [(left, right), (right, left)]
                    .into_iter()
                    .find_map(|(value, mask)| match self.value(value, level + 1)? {
                        (site, None) if self.is_invariant(mask) => {
                            Some((site, Some(self.operand(mask))))
                        }
                        _ => None,
                    })
            }
            ("identifier", _) => {
                let name = self.context.file.node_text(node);
                let assigned = self.assigned.get(&*name)?;
                match assigned.to[..] {
                    [value] if !assigned.counted => self.value(value, level + 1),
                    _ => None,
                }
            }
            ("call_expression", _) => self.value(self.helper(node)?, level + 1),
            _ => None,
        }
    }

    /// The site of which an expression is the value and something unchanging, added or
    /// subtracted: `x.load() - start`, `now - x.load()`.
    pub(super) fn shifted<'n>(&self, node: Node<'n>) -> Option<Shifted<'n>> {
        let node = bare_value(node, self.context.file);
        let sign = match (node.kind(), operator(node)) {
            ("binary_expression", "+") => Sign::Plus,
            ("binary_expression", "-") => Sign::Minus,
            _ => return None,
        };
        let left = node.child_by_field_name("left")?;
        let right = node.child_by_field_name("right")?;
        let is_value = |node| matches!(self.value_of(node), Some((_, None)));
        let (value, by, form) = match (is_value(left), is_value(right), sign) {
            (true, false, Sign::Plus) => (left, right, Shift::Added),
            (true, false, Sign::Minus) => (left, right, Shift::Subtracted),
            (false, true, Sign::Plus) => (right, left, Shift::Added),
            (false, true, Sign::Minus) => (right, left, Shift::SubtractedFrom),
            _ => return None,
        };
        let (site, _) = self.value_of(value).filter(|_| self.is_invariant(by))?;
        Some(Shifted { site, by, form })
    }

    /// What a call of a helper in this file gives back.
    pub(super) fn helper(&self, node: Node<'_>) -> Option<Node<'t>> {
        if node.kind() != "call_expression" || self.site_at(node).is_some() {
            return None;
        }
        let name = called_name(node, self.context)?;
        let result = self.helpers.result(&name)?;
        self.used_helpers.borrow_mut().push(node.byte_range());
        Some(result)
    }

    /// What a call gives back of a function of this file that only calculates.
    pub(super) fn calculated(&self, call: Node<'_>) -> Option<Node<'t>> {
        let has_receiver = callee(call).is_none_or(|callee| callee.receiver.is_some());
        let name = called_name(call, self.context).filter(|_| !has_receiver)?;
        self.helpers.calculated(&name)
    }

    /// The calls of helpers that were followed.
    pub(super) fn helper_calls(&self) -> Vec<Span> {
        self.used_helpers.borrow().clone()
    }

    /// Whether an expression is the same in every round.
    pub(super) fn is_invariant(&self, node: Node<'_>) -> bool {
        let mut invariant = true;
        syntax::visit(node, |inner, _| {
            invariant &= match inner.kind() {
                "identifier" => {
                    let name = self.context.file.node_text(inner);
                    !self.assigned.contains_key(&*name) && self.site_at(inner).is_none()
                }
                "call_expression" => {
                    self.site_at(inner).is_none()
                        && (called_name(inner, self.context)
                            .is_some_and(|name| syntax::is_transparent(&name))
                            || self
                                .calculated(inner)
                                .is_some_and(|result| self.is_invariant(result)))
                }
                "assignment_expression" | "update_expression" | "lambda_expression" => false,
                _ => self.site_at(inner).is_none(),
            };
        });
        invariant
    }

    /// Whether an expression is about a number of rounds or a time.
    pub(super) fn is_bound(&self, node: Node<'_>) -> bool {
        let mut bound = false;
        let mut site = false;
        syntax::visit(node, |inner, _| {
            site |= self.site_at(inner).is_some();
            bound |= match inner.kind() {
                "identifier" => self
                    .assigned
                    .get(&*self.context.file.node_text(inner))
                    .is_some_and(|assigned| assigned.counted),
                "update_expression" => true,
                "call_expression" => {
                    called_name(inner, self.context).is_some_and(|name| is_clock(&name))
                }
                _ => false,
            };
        });
        bound && !site
    }

    /// The value of a constant expression.
    pub(super) fn constant(&self, node: Node<'_>) -> Option<i128> {
        match operand_of(&self.context.file.node_text(node), self.context) {
            Operand::Constant(value) => Some(value),
            Operand::Unknown(_) => None,
        }
    }

    /// An expression that does not change, as data.
    pub(super) fn operand(&self, node: Node<'_>) -> Operand {
        operand_of(&self.context.file.node_text(node), self.context)
    }

    /// What a compare-exchange that gives back the old value expects.
    pub(super) fn expects(&self, site: usize) -> Option<Operand> {
        let found = &self.found[site];
        let index = found.rule.as_ref()?.expected?;
        found.arguments.get(index).map(|&node| self.operand(node))
    }

    /// The one unchanging value that a variable is set to in every round.
    pub(super) fn reset_to(&self, target: Node<'_>) -> Option<Operand> {
        if target.kind() != "identifier" {
            return None;
        }
        let assigned = self.assigned.get(&*self.context.file.node_text(target))?;
        let (&first, rest) = assigned.to.split_first()?;
        let operand = self.operand(first);
        let same = |&node: &Node<'_>| self.is_invariant(node) && self.operand(node) == operand;
        (!assigned.counted && same(&first) && rest.iter().all(same)).then_some(operand)
    }

    /// Whether a local variable may be assigned in a round without that being an
    /// effect: it is reloaded, or set back to what it was.
    pub(super) fn is_reload(&self, value: Node<'_>) -> bool {
        self.value_of(value).is_some() || self.is_invariant(value)
    }

    /// Whether a site can drive a wait: a read, or a write that changes nothing
    /// while the wait goes on.
    pub(super) fn can_wait(&self, site: usize) -> bool {
        let found = &self.found[site];
        match found.operation {
            SiteOperation::Load => true,
            SiteOperation::Rmw => {
                is_repeatable(found)
                    && plain_arguments(found)
                        .into_iter()
                        .all(|argument| self.is_invariant(argument))
            }
            _ => false,
        }
    }
}

/// An expression's text as data.
pub(super) fn operand_of(text: &str, context: &ScanContext<'_>) -> Operand {
    let text = text.trim();
    let last = text.rsplit("::").next().unwrap_or_default();
    match integer(text).or_else(|| context.declared.constant_value(last)) {
        Some(value) => Operand::Constant(value),
        None => Operand::Unknown(text.to_owned()),
    }
}

/// `{0}` initialises with its first element.
fn first_of_list(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "initializer_list" | "argument_list" => node.named_child(0).unwrap_or(node),
        _ => node,
    }
}
