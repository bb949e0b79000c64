//! Puts a fence right before or right after an operation. Of the forms
//! that are exact at the operation's position it takes the plainest: a statement,
//! an expression with a comma, a temporary, a small function around the value;
//! if none is, it refuses.

mod existing;
mod values;

use std::collections::HashSet;

use tree_sitter::Node;
use wmfix_frontend::{LoopRole, MemoryOrder, Site, SiteOperation, Span};

use crate::change::Side;
use crate::draft::Draft;
use crate::evaluation::{Effects, local_names};
use crate::fence_spelling::Fence;
use crate::insertion_point::{Comment, InsertedStatement};
use crate::layout::Layout;
use crate::operation_position::{Holder, OperationPosition, find_position};
use crate::refusal::Refusal;
use crate::room::{insertion_point_at, with_attributes, with_labels};
use crate::spelling::Spelling;
use crate::temporary::Temporaries;
use crate::view::{View, ancestors, children, sibling};

/// What fences in one file share.
pub(crate) struct Fences<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) site_spans: &'a HashSet<(usize, usize)>,
    pub(crate) spelling: &'a Spelling<'a>,
    pub(crate) layout: &'a Layout<'a>,
    pub(crate) temporaries: &'a mut Temporaries<'a>,
    pub(crate) draft: &'a mut Draft,
    /// The file keeps declarations at the start of their block.
    pub(crate) declarations_first: bool,
}

/// One fence to be put, and all that is known about the place.
struct Target<'a, 't> {
    view: &'a View<'a>,
    site: &'a Site,
    node: Node<'t>,
    position: OperationPosition<'t>,
    locals: HashSet<String>,
    fence: Fence,
    comment: Option<Comment>,
}

impl Fences<'_> {
    /// Drafts one fence. The header that it needs, if something changes and it
    /// needs one.
    pub(crate) fn put(
        &mut self,
        view: &View<'_>,
        site: &Site,
        side: Side,
        order: MemoryOrder,
        comment: Option<Comment>,
    ) -> Result<Option<&'static str>, Refusal> {
        let node = view
            .expression_at(&site.span)
            .ok_or(Refusal::SiteNotFound)?;
        if node.has_error() {
            return Err(Refusal::NotUnderstood);
        }
        let locals = local_names(view, node);
        let mut position = self.position_of(view, node, &locals)?;
        if let Holder::Statement(statement)
        | Holder::BlockValue(statement)
        | Holder::Exit(statement) = position.holder
            && statement.has_error()
        {
            return Err(Refusal::NotUnderstood);
        }
        if view.in_macro && is_macro_top(position.holder) {
            // Uses of the macro may allow for one statement only, and without a
            // semicolon of its own the macro is a value.
            position.discarded &=
                statement_of(position.holder).is_some_and(|statement| !view.reaches_out(statement));
            position.holder = Holder::Expression;
        }
        let target = Target {
            view,
            site,
            node,
            position,
            locals,
            fence: self.spelling.fence(site, order),
            comment,
        };
        let header = target.fence.header;
        let changed = match side {
            Side::Before => self.before(&target)?,
            Side::After => self.after(&target)?,
        };
        Ok(header.filter(|_| changed))
    }

    fn position_of<'t>(
        &self,
        view: &View<'_>,
        node: Node<'t>,
        locals: &HashSet<String>,
    ) -> Result<OperationPosition<'t>, Refusal> {
        let effects = self.effects(view, locals);
        find_position(&effects, node, &|name| self.spelling.is_macro(name))
    }

    fn effects<'e>(&'e self, view: &'e View<'e>, locals: &'e HashSet<String>) -> Effects<'e> {
        Effects {
            view,
            sites: self.site_spans,
            locals,
            draft: self.draft,
        }
    }

    fn before(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let (view, position) = (target.view, &target.position);
        if self.fence_precedes(target) {
            return Ok(false);
        }
        if let Some(spin) = self.spin_loop(target, Side::Before)
            && let Ok(changed) = self.put_at(target, spin, Side::Before, None)
        {
            return Ok(changed);
        }
        let operands = self.acting_operands(target);
        if !operands.is_empty() {
            outside_of_assertion(target)?;
            return self.take_operands_out(target, &operands);
        }
        let first = !position.conditional && !position.acts_before && !position.acts_beside;
        if first
            && !position.in_macro_argument
            && let Some(statement) = statement_of(position.holder)
        {
            let declared_late = self.declarations_first && statement.kind() == "declaration";
            if !declared_late {
                return self.put_at(target, statement, Side::Before, None);
            }
        }
        outside_of_assertion(target)?;
        if position.acts_beside || position.may_repeat {
            return self.before_unsequenced(target);
        }
        self.as_expression(target)?;
        let span = view.span(target.node);
        let text = inline_fence(target);
        if needs_no_parentheses(target.node) {
            self.draft.wrap(&span, &format!("{text}, "), "");
        } else {
            self.draft.wrap(&span, &format!("({text}, "), ")");
        }
        Ok(true)
    }

    fn after(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let position = &target.position;
        if self.fence_follows(target) {
            return Ok(false);
        }
        if let Some(spin) = self.spin_loop(target, Side::After)
            && let Ok(changed) = self.put_at(target, spin, Side::After, None)
        {
            return Ok(changed);
        }
        let last = !position.conditional && !position.accesses_after && !position.in_macro_argument;
        if last
            && let Holder::Statement(statement) = position.holder
            && let Some(statement) = self.room_after(target, statement)
        {
            return self.put_at(target, statement, Side::After, None);
        }
        outside_of_assertion(target)?;
        if position.discarded && !position.in_arm || is_void(target.site) {
            if position.acts_beside || position.may_repeat {
                return self.block_after(target);
            }
            return self.comma_after(target);
        }
        if last
            && let Holder::LoopCondition(found) = position.holder
            && let Some(changed) = self.around_loop(target, found)?
        {
            return Ok(changed);
        }
        if self.can_take_out(target)
            && let Some(statement) = statement_of(position.holder)
            && let Some(changed) = self.take_value_out(target, statement)?
        {
            return Ok(changed);
        }
        self.around_value(target)
    }

    /// The loop that only waits for this operation, if a fence outside of it does
    /// all that one inside of it would: what the loop reads in vain has no effect.
    fn spin_loop<'t>(&self, target: &Target<'_, 't>, side: Side) -> Option<Node<'t>> {
        if !matches!(
            target.site.role,
            LoopRole::Spin(_) | LoopRole::BlockingCas(_)
        ) {
            return None;
        }
        let found = ancestors(target.node).find(|above| {
            matches!(
                above.kind(),
                "while_statement" | "for_statement" | "do_statement"
            )
        })?;
        let span = target.view.span(found);
        let own = &target.site.span;
        let in_the_way = self.sites.iter().any(|other| {
            let within = span.start <= other.span.start && other.span.end <= span.end;
            within
                && match side {
                    Side::Before => other.span.start < own.start,
                    Side::After => other.span.end > own.end,
                }
        });
        let leaves = side == Side::After && leaves_otherwise(found);
        (!in_the_way && !leaves).then_some(found)
    }

    /// The statement behind which a fence can stand, for one that is to follow `statement`.
    fn room_after<'t>(&self, target: &Target<'_, 't>, statement: Node<'t>) -> Option<Node<'t>> {
        if !self.declarations_first || statement.kind() != "declaration" {
            return Some(statement);
        }
        // Behind the other declarations, if these do nothing that matters.
        let effects = self.effects(target.view, &target.locals);
        let mut last = statement;
        while let Some(next) = sibling(last, true).filter(|next| next.kind() == "declaration") {
            if effects.accesses(next) {
                return None;
            }
            last = next;
        }
        Some(last)
    }

    /// Puts the fence, and a temporary, next to a statement.
    fn put_at(
        &mut self,
        target: &Target<'_, '_>,
        statement: Node<'_>,
        side: Side,
        temporary: Option<InsertedStatement>,
    ) -> Result<bool, Refusal> {
        let statement = with_attributes(statement);
        let near = match side {
            Side::Before => sibling(statement, false),
            Side::After => sibling(with_labels(statement), true),
        };
        if temporary.is_none()
            && let Some(near) = near
        {
            if self.is_fence(target, near) {
                return Ok(false);
            }
            if let Some(span) = self.signal_fence(target.view, near) {
                self.draft.replace(span, target.fence.text.clone());
                return Ok(true);
            }
        }
        let point = insertion_point_at(target.view, statement)?;
        let item = InsertedStatement::Fence {
            key: (
                target.site.span.end,
                if temporary.is_some() { 2 } else { 0 },
            ),
            order: target.fence.order,
            text: format!("{};", target.fence.text),
            comment: target.comment.clone(),
        };
        let point = self.draft.points.entry(point.span.start).or_insert(point);
        match side {
            Side::Before => {
                point.before.extend(temporary);
                point.before.push(item);
            }
            Side::After => point.after.push(item),
        }
        Ok(true)
    }

    /// A comma and the fence behind an operation whose value is not used.
    fn comma_after(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        self.as_expression(target)?;
        let span = target.view.span(target.node);
        let text = inline_fence(target);
        if needs_no_parentheses(target.node) {
            self.draft.wrap(&span, "", &format!(", {text}"));
        } else {
            self.draft.wrap(&span, "(", &format!(", {text})"));
        }
        Ok(true)
    }

    fn as_expression(&self, target: &Target<'_, '_>) -> Result<(), Refusal> {
        if target.fence.is_expression {
            Ok(())
        } else {
            Err(Refusal::FenceIsStatement(target.fence.text.clone()))
        }
    }
}

/// Refuses to put anything into an assertion: it would go with it.
fn outside_of_assertion(target: &Target<'_, '_>) -> Result<(), Refusal> {
    match &target.position.in_assertion {
        Some(name) => Err(Refusal::InAssertion(name.clone())),
        None => Ok(()),
    }
}

fn fence_item(target: &Target<'_, '_>) -> InsertedStatement {
    InsertedStatement::Fence {
        key: (target.site.span.end, 0),
        order: target.fence.order,
        text: format!("{};", target.fence.text),
        comment: target.comment.clone(),
    }
}

fn inline_fence(target: &Target<'_, '_>) -> String {
    match &target.comment {
        Some(comment) => format!("{} {}", target.fence.text, comment.inline),
        None => target.fence.text.clone(),
    }
}

/// The statement before which things can be put that come before the holder.
fn statement_of(holder: Holder<'_>) -> Option<Node<'_>> {
    match holder {
        Holder::Statement(node)
        | Holder::BlockValue(node)
        | Holder::Exit(node)
        | Holder::Head(node) => Some(node),
        _ => None,
    }
}

/// Whether the holder is a statement of a macro's body that is in no block of it.
fn is_macro_top(holder: Holder<'_>) -> bool {
    statement_of(holder)
        .or(match holder {
            Holder::LoopCondition(node) => Some(node),
            _ => None,
        })
        .is_some_and(|statement| {
            statement
                .parent()
                .and_then(|block| block.parent())
                .is_some_and(|function| {
                    function.kind() == "function_definition" && function.start_byte() == 0
                })
        })
}

/// Whether the operation is already set apart, so that a comma can follow or precede it.
fn needs_no_parentheses(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        let alone = children(parent).len() == 1;
        match parent.kind() {
            "comma_expression" => true,
            "parenthesized_expression" | "condition_clause" => alone,
            "for_statement" => parent
                .child_by_field_name("condition")
                .is_none_or(|condition| condition.id() != node.id()),
            _ => false,
        }
    })
}

/// Whether a loop can be left otherwise than past its end.
fn leaves_otherwise(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "return_statement" | "goto_statement" | "throw_statement" | "co_return_statement"
    ) || (node.kind() != "lambda_expression" && children(node).into_iter().any(leaves_otherwise))
}

/// Whether an operation gives no value back.
fn is_void(site: &Site) -> bool {
    let named = site
        .callee
        .starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    let operators = ["volatile", "plain"];
    site.operation == SiteOperation::Store && named && !operators.contains(&&*site.vocabulary)
}

/// The spans of all sites but signal fences.
pub(crate) fn spans(sites: &[Site]) -> HashSet<(usize, usize)> {
    sites
        .iter()
        .filter(|site| site.operation != SiteOperation::SignalFence)
        .map(|site| -> &Span { &site.span })
        .map(|span| (span.start, span.end))
        .collect()
}
