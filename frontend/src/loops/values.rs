//! What expressions inside a loop stand for: the value that a site read, something
//! that does not change, a counter. Judged by all assignments in the loop.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::helpers::{Helpers, called_function};
use super::pauses::is_hint;
use super::rounds::Rounds;
use super::{called_name, is_repeatable, plain_arguments};
use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::orders::{squeeze, standard};
use crate::scalar::{Constant, Scalar, literal};
use crate::site::{Comparison, Operand, SiteOperation, Span};
use crate::syntax::{self, MAX_DEPTH, callee, operator, unwrap_parentheses};
use crate::vocabulary::rule::CallResult;

/// The values in one loop.
pub(super) struct Values<'t, 'a> {
    context: &'a ScanContext<'a>,
    found: &'a [FoundSite<'t>],
    by_node: &'a FxHashMap<usize, usize>,
    helpers: &'a Helpers<'t>,
    rounds: &'a Rounds<'t>,
    assigned: FxHashMap<String, Assignments<'t>>,
    used_helpers: RefCell<Vec<Span>>,
    used: RefCell<Vec<usize>>,
}

/// The value that a site read.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    /// The site.
    pub(super) site: usize,
    /// The bits of it that count.
    pub(super) mask: Option<Constant>,
    /// The type in which it is compared.
    pub(super) scalar: Scalar,
}

/// What happens to a variable in a loop.
#[derive(Default)]
struct Assignments<'t> {
    /// What `=` and initialisers give it, and where.
    to: Vec<(Node<'t>, Node<'t>)>,
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
        rounds: &'a Rounds<'t>,
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
            rounds,
            assigned: FxHashMap::default(),
            used_helpers: RefCell::default(),
            used: RefCell::default(),
        };
        for part in rounds.parts() {
            values.note_assignments(part);
        }
        values
    }

    pub(super) fn context(&self) -> &'a ScanContext<'a> {
        self.context
    }

    pub(super) fn found(&self, site: usize) -> &FoundSite<'t> {
        &self.found[site]
    }

    /// Notes that a round executes a site.
    pub(super) fn note_use(&self, site: usize) {
        self.used.borrow_mut().push(site);
    }

    /// Whether a site may write.
    pub(super) fn writes(&self, site: usize) -> bool {
        matches!(
            self.found[site].operation,
            SiteOperation::Store | SiteOperation::Rmw | SiteOperation::CompareExchange { .. }
        )
    }

    /// The sites that a round executes.
    pub(super) fn used(&self) -> Vec<usize> {
        self.used.borrow().clone()
    }

    /// The operation that a node is.
    pub(super) fn site_at(&self, node: Node<'_>) -> Option<usize> {
        self.by_node.get(&node.id()).copied()
    }

    fn note_assignments(&mut self, root: Node<'t>) {
        let file = self.context.file;
        let mut note = |at: Node<'t>, target: Node<'t>, value: Option<Node<'t>>| {
            let target = unwrap_parentheses(target);
            if target.kind() != "identifier" {
                return;
            }
            let assigned: &mut Assignments<'t> = self
                .assigned
                .entry(file.node_text(target).into_owned())
                .or_default();
            match value {
                Some(value) => assigned.to.push((at, value)),
                None => assigned.counted = true,
            }
        };
        syntax::visit(root, |node, _| {
            let side = |name: &str| node.child_by_field_name(name);
            match node.kind() {
                "assignment_expression" => {
                    let value = side("right").filter(|_| operator(node) == "=");
                    if let Some(target) = side("left") {
                        note(node, target, value);
                    }
                }
                "update_expression" => {
                    if let Some(target) = side("argument") {
                        note(node, target, None);
                    }
                }
                "init_declarator" => {
                    if let (Some(target), Some(value)) = (side("declarator"), side("value")) {
                        note(node, target, Some(value));
                    }
                }
                _ => {}
            }
        });
    }

    /// The site whose value an expression is, unchanged.
    pub(super) fn value_of(&self, node: Node<'_>) -> Option<Loaded> {
        self.value(node, 0)
    }

    fn value(&self, node: Node<'_>, level: usize) -> Option<Loaded> {
        if level > MAX_DEPTH {
            return None;
        }
        let node = unwrap_parentheses(node);
        if let Some(site) = self.site_at(node) {
            let found = &self.found[site];
            let readable = match found.operation {
                SiteOperation::CompareExchange { .. } => true,
                SiteOperation::Load | SiteOperation::Rmw => found.result() == CallResult::Old,
                _ => false,
            };
            let scalar = self.scalar(site).filter(|_| readable)?;
            let mask = None;
            return Some(Loaded { site, mask, scalar });
        }
        match (node.kind(), operator(node)) {
            // Its value is the variable's, after the assignment.
            ("assignment_expression", "=") => {
                let target = node.child_by_field_name("left")?;
                let value = self.value(node.child_by_field_name("right")?, level + 1)?;
                self.kept(value, target)
            }
            ("binary_expression", "&" | "bitand") => {
                let left = node.child_by_field_name("left")?;
                let right = node.child_by_field_name("right")?;
                [(left, right), (right, left)]
                    .into_iter()
                    .find_map(|(value, mask)| {
                        let value = self.value(value, level + 1)?;
                        let mask = self.constant(mask).filter(|_| value.mask.is_none())?;
                        Some(Loaded {
                            mask: Some(mask),
                            ..value
                        })
                    })
            }
            ("identifier", _) => {
                let name = self.context.file.node_text(node);
                let assigned = self.assigned.get(&*name)?;
                match assigned.to[..] {
                    [(at, value)]
                        if !assigned.counted && self.rounds.is_of_this_round(at, node) =>
                    {
                        self.kept(self.value(value, level + 1)?, node)
                    }
                    _ => None,
                }
            }
            ("call_expression", _) => {
                let value = self.value(self.helper(node)?, level + 1)?;
                let returned = self.scalar_of_type(self.returns(node)?)?;
                let scalar = value.scalar.kept_in(returned)?;
                value.mask.is_none().then_some(Loaded { scalar, ..value })
            }
            _ => None,
        }
    }

    /// A value in the type of the variable that it was kept in, if that holds all of it.
    fn kept(&self, value: Loaded, variable: Node<'_>) -> Option<Loaded> {
        let context = self.context;
        let variable = unwrap_parentheses(variable);
        if value.mask.is_some() {
            return None;
        }
        let text = context.file.node_text(variable);
        if variable.kind() == "identifier"
            && context.declared.is_deduced(&text, &variable.byte_range())
        {
            return Some(value);
        }
        let scalar = context.declared.scalar_of(variable, context.file)?;
        let scalar = value.scalar.kept_in(scalar)?;
        Some(Loaded { scalar, ..value })
    }

    /// The type of what a site reads, where its object is one that the text shows the
    /// declaration of.
    pub(super) fn scalar(&self, site: usize) -> Option<Scalar> {
        let found = &self.found[site];
        let declared = self.context.declared;
        let object = found.object?;
        let Some(rule) = &found.rule else {
            return declared.scalar_of(object, self.context.file);
        };
        if declared.declares_function(&found.callee) && !rule.member
            || !self.is_bare_macro(&found.callee, 0)
        {
            return None;
        }
        let is_behind = match rule.member {
            true => callee(found.node)?.access == "->",
            false => !found.arguments.iter().any(|argument| {
                let argument = unwrap_parentheses(*argument);
                argument.kind() == "pointer_expression"
                    && operator(argument) == "&"
                    && syntax::within(&object.byte_range(), &argument.byte_range())
            }),
        };
        let steps = usize::from(is_behind);
        let scalar = declared.scalar_behind(object, steps, self.context.file)?;
        let vocabulary = &self.context.vocabularies.by_index(found.vocabulary).name;
        match (
            scalar,
            matches!(&**vocabulary, "c11" | "std" | "boost" | "gnu" | "volatile"),
        ) {
            // What such a function gives back may be of another sign.
            (Scalar::Integer { bytes, .. }, false) => Some(Scalar::Integer {
                bytes,
                signed: None,
            }),
            _ => Some(scalar),
        }
    }

    /// Whether no macro of this name does more to an operation's value than to name it.
    fn is_bare_macro(&self, name: &str, level: usize) -> bool {
        level < 8
            && self.context.declared.macro_texts(name).all(|text| {
                let body = squeeze(text.body.as_deref().unwrap_or_default());
                let called = body.trim_start_matches('(');
                let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '#');
                let end = called.find(|c: char| !of_name(c)).unwrap_or(0);
                let is_call = end > 0 && called[end..].starts_with('(');
                is_call && self.is_bare_macro(&called[..end], level + 1)
            })
    }

    /// The type that a type descriptor names, if that is a scalar's.
    pub(super) fn scalar_of_type(&self, node: Node<'_>) -> Option<Scalar> {
        let text = self.context.file.node_text(node);
        self.context.declared.scalar_named(&text, 0)
    }

    /// Whether an expression is a scalar by the text: no operator on it is a function.
    pub(super) fn is_scalar(&self, node: Node<'_>) -> bool {
        self.is_scalar_at(node, 0)
    }

    fn is_scalar_at(&self, node: Node<'_>, level: usize) -> bool {
        if level > MAX_DEPTH {
            return false;
        }
        let node = unwrap_parentheses(node);
        let context = self.context;
        if let Some(site) = self.site_at(node) {
            return self.scalar(site).is_some();
        }
        let both = |sides: &[&str]| {
            sides.iter().all(|side| {
                let side = node.child_by_field_name(side);
                side.is_some_and(|side| self.is_scalar_at(side, level + 1))
            })
        };
        match node.kind() {
            "number_literal" => literal(&context.file.node_text(node)).is_some(),
            "char_literal" | "true" | "false" | "null" | "nullptr" => true,
            "identifier" | "qualified_identifier" => {
                self.constant(node).is_some()
                    || context.declared.scalar_of(node, context.file).is_some()
                    || self.value_of(node).is_some()
                    || self.is_deduced_scalar(node, level)
            }
            "field_expression" | "subscript_expression" | "pointer_expression" => {
                context.declared.scalar_of(node, context.file).is_some()
            }
            "unary_expression" | "update_expression" => both(&["argument"]),
            "binary_expression" => both(&["left", "right"]),
            "assignment_expression" => both(&["right"]),
            "conditional_expression" => both(&["consequence", "alternative"]),
            "cast_expression" => {
                let target = node.child_by_field_name("type");
                target.is_some_and(|target| self.scalar_of_type(target).is_some())
                    && both(&["value"])
            }
            "call_expression" => {
                if let Some(result) = self.helper(node).or_else(|| self.calculated(node)) {
                    return self.is_scalar_at(result, level + 1);
                }
                let name = called_name(node, context);
                let arguments = syntax::arguments(node);
                name.is_some_and(|name| is_hint(&name, context))
                    && arguments
                        .iter()
                        .all(|one| self.is_scalar_at(*one, level + 1))
            }
            _ => false,
        }
    }

    /// `auto n = 0`, `auto ticket = next.fetch_add(1)`
    fn is_deduced_scalar(&self, node: Node<'_>, level: usize) -> bool {
        let name = self.context.file.node_text(node);
        self.context.declared.is_deduced(&name, &node.byte_range())
            && self
                .rounds
                .initializer(node, self.context)
                .is_some_and(|value| self.is_scalar_at(value, level + 1))
    }

    /// Whether a name means something that the text shows, and no macro that may do
    /// anything.
    pub(super) fn is_known_name(&self, node: Node<'_>) -> bool {
        let declared = self.context.declared;
        let name = self.context.file.node_text(node);
        if self.is_macro(node) {
            return false;
        }
        declared.constant(&name).is_some()
            || declared.is_object(&name, &node.byte_range())
            || standard(&name).is_some()
            || self.is_order(&name)
            || matches!(&*name, "NULL" | "true" | "false")
    }

    /// Whether a name is a macro that may be more than a constant.
    pub(super) fn is_macro(&self, node: Node<'_>) -> bool {
        let declared = self.context.declared;
        let name = self.context.file.node_text(node);
        declared.macro_texts(&name).next().is_some()
            && declared.constant(&name).is_none()
            && !self.is_order(&name)
    }

    /// Whether a name stands for an order.
    pub(super) fn is_order(&self, name: &str) -> bool {
        let mut texts = self.context.declared.macro_texts(name).peekable();
        let last = name.rsplit("::").next().unwrap_or_default();
        match texts.peek().is_some() {
            true => texts.all(|text| {
                let body = text.body.as_deref().map(squeeze);
                text.parameters.is_none() && body.is_some_and(|body| standard(&body).is_some())
            }),
            false => {
                let mut orders = self.context.orders();
                orders
                    .any(|names| names.aliases.contains_key(last) || names.variables.contains(last))
            }
        }
    }

    /// Whether what stands before `[…]`, `->` or behind `*` is a pointer or an array,
    /// and no object of a class whose operator is a function.
    pub(super) fn is_indirect(&self, node: Node<'_>) -> bool {
        let argument = node.child_by_field_name("argument").map(unwrap_parentheses);
        argument.is_some_and(|argument| {
            argument.kind() == "this"
                || self
                    .context
                    .declared
                    .is_indirect(argument, self.context.file)
        })
    }

    /// The site of which an expression is the value and something unchanging, added or
    /// subtracted: `x.load() - start`, `now - x.load()`.
    pub(super) fn shifted<'n>(&self, node: Node<'n>) -> Option<Shifted<'n>> {
        let node = unwrap_parentheses(node);
        let sign = match (node.kind(), operator(node)) {
            ("binary_expression", "+") => Sign::Plus,
            ("binary_expression", "-") => Sign::Minus,
            _ => return None,
        };
        let left = node.child_by_field_name("left")?;
        let right = node.child_by_field_name("right")?;
        let is_value = |node| {
            self.value_of(node)
                .is_some_and(|value| value.mask.is_none())
        };
        let (value, by, form) = match (is_value(left), is_value(right), sign) {
            (true, false, Sign::Plus) => (left, right, Shift::Added),
            (true, false, Sign::Minus) => (left, right, Shift::Subtracted),
            (false, true, Sign::Plus) => (right, left, Shift::Added),
            (false, true, Sign::Minus) => (right, left, Shift::SubtractedFrom),
            _ => return None,
        };
        let steady = |_: &Loaded| self.is_invariant(by) && self.is_scalar(by);
        let Loaded { site, scalar, .. } = self.value_of(value).filter(steady)?;
        let is_integer = matches!(scalar, Scalar::Integer { .. });
        is_integer.then_some(Shifted { site, by, form })
    }

    /// What a call of a helper in this file gives back.
    pub(super) fn helper(&self, node: Node<'_>) -> Option<Node<'t>> {
        if node.kind() != "call_expression" || self.site_at(node).is_some() {
            return None;
        }
        let name = called_function(node, self.context)?;
        let result = self.helpers.result(&name)?;
        self.used_helpers.borrow_mut().push(node.byte_range());
        Some(result)
    }

    fn returns(&self, call: Node<'_>) -> Option<Node<'t>> {
        let name = called_function(call, self.context)?;
        self.helpers.returns(&name)
    }

    /// What a call of a helper gives back, if that is the truth of it.
    pub(super) fn answer(&self, call: Node<'_>) -> Option<Node<'t>> {
        let result = self.helper(call)?;
        let is_bool = self.scalar_of_type(self.returns(call)?)? == Scalar::Bool;
        let inner = unwrap_parentheses(result);
        let is_truth = match inner.kind() {
            "unary_expression" => operator(inner) == "!",
            "binary_expression" => matches!(
                operator(inner),
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||"
            ),
            _ => false,
        };
        (is_bool || is_truth).then_some(result)
    }

    /// What a call gives back of a function of this file that only calculates.
    pub(super) fn calculated(&self, call: Node<'_>) -> Option<Node<'t>> {
        let has_receiver =
            callee(call).is_none_or(|callee| callee.receiver.is_some() || callee.scope.is_some());
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
                            .is_some_and(|name| is_hint(&name, self.context))
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

    /// The value of a literal, an enumerator or a named constant.
    pub(super) fn constant(&self, node: Node<'_>) -> Option<Constant> {
        let node = unwrap_parentheses(node);
        let text = self.context.file.node_text(node);
        let declared = self.context.declared;
        match node.kind() {
            "number_literal" | "char_literal" | "true" | "false" | "null" | "nullptr"
            | "unary_expression" => literal(&text),
            "identifier" if &*text == "NULL" => literal(&text),
            "identifier" => {
                let is_assigned = self.assigned.contains_key(&*text);
                declared.constant(&text).filter(|_| !is_assigned)
            }
            "qualified_identifier" => {
                declared.constant(text.rsplit("::").next().unwrap_or_default())
            }
            _ => None,
        }
    }

    /// An expression that does not change, as data.
    pub(super) fn operand(&self, node: Node<'_>) -> Operand {
        match self.constant(node) {
            Some(constant) => Operand::Constant(constant.value),
            None => Operand::Unknown(self.context.file.node_text(node).trim().to_owned()),
        }
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
        let is_sure = |(at, _): &&(Node<'_>, Node<'_>)| self.rounds.is_in_every_round(*at);
        let (&(_, first), rest) = assigned.to.split_first()?;
        assigned.to.iter().find(is_sure)?;
        let operand = self.operand(first);
        let same = |&node: &Node<'_>| self.is_invariant(node) && self.operand(node) == operand;
        (!assigned.counted && same(&first) && rest.iter().all(|(_, value)| same(value)))
            .then_some(operand)
    }

    /// Whether a site can drive a wait: it reads the same object in every round, and
    /// what it may write changes nothing while the wait goes on.
    pub(super) fn can_wait(&self, site: usize) -> bool {
        let found = &self.found[site];
        let is_steady = found
            .object
            .is_some_and(|object| self.is_invariant_object(site, object));
        is_steady
            && match found.operation {
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

    /// Whether what a site works on is the same object in every round. The name of an
    /// implicit access is the site itself.
    pub(super) fn is_invariant_object(&self, site: usize, object: Node<'_>) -> bool {
        let is_itself = self.site_at(object) == Some(site);
        match is_itself && object.kind() == "identifier" {
            true => !self
                .assigned
                .contains_key(&*self.context.file.node_text(object)),
            false if is_itself => {
                let parts = syntax::children(object).into_iter();
                parts
                    .filter(|part| part.kind() != "field_identifier")
                    .all(|part| self.is_invariant(part))
            }
            false => self.is_invariant(object),
        }
    }
}
