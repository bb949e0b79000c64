//! Puts a full fence right before or right after an operation. Of the forms
//! that are exact at the operation's place it takes the plainest: a statement,
//! an expression with a comma, a temporary, a small function around the value;
//! if none is, it refuses.

use std::collections::HashSet;

use tree_sitter::Node;
use wmfix_frontend::{Language, LoopRole, Operation, Site, Span};

use crate::draft::Draft;
use crate::evaluation::{Effects, local_names};
use crate::layout::Layout;
use crate::place::{Holder, Place, place};
use crate::refusal::Refusal;
use crate::room::{slot_at, slot_in_empty, with_attributes};
use crate::slot::{Comment, Item, Room};
use crate::spelling::{Fence, Spelling};
use crate::temporary::Temporaries;
use crate::view::{View, ancestors, children, contains, sibling};

/// What fences in one file share.
pub(crate) struct Fences<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) site_spans: &'a HashSet<(usize, usize)>,
    pub(crate) spelling: &'a Spelling<'a>,
    pub(crate) layout: &'a Layout<'a>,
    pub(crate) temporaries: &'a mut Temporaries,
    pub(crate) draft: &'a mut Draft,
    /// The file keeps declarations at the start of their block.
    pub(crate) declarations_first: bool,
}

/// One fence to be put, and all that is known about the place.
struct Target<'a, 't> {
    view: &'a View<'a>,
    site: &'a Site,
    node: Node<'t>,
    place: Place<'t>,
    locals: HashSet<String>,
    fence: Fence,
    comment: Option<Comment>,
}

/// Which side of the operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Fences<'_> {
    /// Drafts one fence. The header that it needs, if something changes and it
    /// needs one.
    pub(crate) fn put(
        &mut self,
        view: &View<'_>,
        site: &Site,
        side: Side,
        comment: Option<Comment>,
    ) -> Result<Option<&'static str>, Refusal> {
        let node = view
            .expression_at(&site.span)
            .ok_or(Refusal::SiteNotFound)?;
        if node.has_error() {
            return Err(Refusal::NotUnderstood);
        }
        let locals = local_names(view, node);
        let mut place = self.place_of(view, node, &locals)?;
        if let Holder::Statement(statement)
        | Holder::BlockValue(statement)
        | Holder::Exit(statement) = place.holder
            && statement.has_error()
        {
            return Err(Refusal::NotUnderstood);
        }
        if view.in_macro && is_macro_top(place.holder) {
            // Uses of the macro may allow for one statement only.
            place.holder = Holder::Expression;
        }
        let target = Target {
            view,
            site,
            node,
            place,
            locals,
            fence: self.spelling.fence(site),
            comment,
        };
        let header = target.fence.header;
        let changed = match side {
            Side::Before => self.before(&target)?,
            Side::After => self.after(&target)?,
        };
        Ok(header.filter(|_| changed))
    }

    fn place_of<'t>(
        &self,
        view: &View<'_>,
        node: Node<'t>,
        locals: &HashSet<String>,
    ) -> Result<Place<'t>, Refusal> {
        let effects = self.effects(view, locals);
        place(&effects, node, &|name| self.spelling.is_macro(name))
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
        let (view, place) = (target.view, &target.place);
        if self.fence_precedes(target) {
            return Ok(false);
        }
        if let Some(spin) = self.spin_loop(target, Side::Before)
            && let Ok(changed) = self.put_at(target, spin, Side::Before, None)
        {
            return Ok(changed);
        }
        if let Some(operands) = self.acting_operands(target)? {
            return self.take_operands_out(target, &operands);
        }
        let first = !place.conditional && !place.acts_before && !place.acts_beside;
        if first
            && !place.in_macro_argument
            && let Some(statement) = statement_of(place.holder)
        {
            let declared_late = self.declarations_first && statement.kind() == "declaration";
            if !declared_late {
                return self.put_at(target, statement, Side::Before, None);
            }
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
        let place = &target.place;
        if self.fence_follows(target) {
            return Ok(false);
        }
        if let Some(spin) = self.spin_loop(target, Side::After)
            && let Ok(changed) = self.put_at(target, spin, Side::After, None)
        {
            return Ok(changed);
        }
        let last = !place.conditional && !place.accesses_after && !place.in_macro_argument;
        if last
            && let Holder::Statement(statement) = place.holder
            && let Some(statement) = self.room_after(target, statement)
        {
            return self.put_at(target, statement, Side::After, None);
        }
        if place.discarded && !place.in_arm || is_void(target.site) {
            return self.comma_after(target);
        }
        if last
            && let Holder::LoopCondition(found) = place.holder
            && let Some(changed) = self.around_loop(target, found)?
        {
            return Ok(changed);
        }
        if self.can_take_out(target)
            && let Some(statement) = statement_of(place.holder)
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
        temporary: Option<Item>,
    ) -> Result<bool, Refusal> {
        let statement = with_attributes(statement);
        let near = sibling(statement, side == Side::After);
        if temporary.is_none() && near.is_some_and(|near| self.is_fence(target.view, near)) {
            return Ok(false);
        }
        let slot = slot_at(target.view, statement)?;
        let item = Item::Fence {
            key: (
                target.site.span.end,
                if temporary.is_some() { 2 } else { 0 },
            ),
            text: format!("{};", target.fence.text),
            comment: target.comment.clone(),
        };
        let slot = self.draft.slots.entry(slot.span.start).or_insert(slot);
        match side {
            Side::Before => {
                slot.before.extend(temporary);
                slot.before.push(item);
            }
            Side::After => slot.after.push(item),
        }
        Ok(true)
    }

    /// A comma and the fence behind an operation whose value nobody uses.
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

    /// Fences on both ways out of a loop's condition: into the body and past the loop.
    fn around_loop(
        &mut self,
        target: &Target<'_, '_>,
        found: Node<'_>,
    ) -> Result<Option<bool>, Refusal> {
        let Some(body) = found.child_by_field_name("body") else {
            return Ok(None);
        };
        let Ok(past) = slot_at(target.view, found) else {
            return Ok(None);
        };
        let first = if body.kind() == "compound_statement" {
            children(body).into_iter().next()
        } else {
            Some(body)
        };
        if self.declarations_first && first.is_some_and(|first| first.kind() == "declaration") {
            return Ok(None);
        }
        let mut changed = false;
        match first {
            None => {
                let mut slot = slot_in_empty(target.view, body);
                slot.before.push(fence_item(target));
                self.draft.slots.insert(slot.span.start, slot);
                changed = true;
            }
            Some(first) if self.is_fence(target.view, first) => {}
            Some(first) => {
                let Ok(slot) = slot_at(target.view, first) else {
                    return Ok(None);
                };
                let slot = self.draft.slots.entry(slot.span.start).or_insert(slot);
                slot.before.push(fence_item(target));
                changed = true;
            }
        }
        if !sibling(found, true).is_some_and(|next| self.is_fence(target.view, next)) {
            let slot = self.draft.slots.entry(past.span.start).or_insert(past);
            slot.after.push(fence_item(target));
            changed = true;
        }
        Ok(Some(changed))
    }

    /// Whether the value can be computed before its statement.
    fn can_take_out(&self, target: &Target<'_, '_>) -> bool {
        let place = &target.place;
        !place.conditional && !place.acts_before && !place.in_macro_argument
    }

    /// Computes the value into a temporary before its statement, the fence behind it.
    fn take_value_out(
        &mut self,
        target: &Target<'_, '_>,
        statement: Node<'_>,
    ) -> Result<Option<bool>, Refusal> {
        let statement = with_attributes(statement);
        let Some(room) = self.room_for_temporary(target, statement) else {
            return Ok(None);
        };
        let span = target.view.span(target.node);
        let name = self.temporaries.name(target.view, target.site);
        let type_name = self.temporaries.type_of_site(
            target.view,
            target.site,
            target.node,
            self.spelling.is_shared_header,
        );
        let temporary = Item::Temporary {
            key: (span.end, 1),
            type_name,
            name: name.clone(),
            span: span.clone(),
        };
        self.put_at(target, statement, Side::Before, Some(temporary))?;
        self.set_room(target.view, statement, room);
        self.draft.move_out(span, name);
        Ok(Some(true))
    }

    fn set_room(&mut self, view: &View<'_>, statement: Node<'_>, room: Option<Room>) {
        if let Some(room) = room
            && let Some(slot) = self.draft.slots.get_mut(&view.span(statement).start)
        {
            slot.room = room;
        }
    }

    /// Whether a temporary can be declared before `statement`: in a block of its
    /// own, if something could jump over it.
    fn room_for_temporary(
        &self,
        target: &Target<'_, '_>,
        statement: Node<'_>,
    ) -> Option<Option<Room>> {
        let slot = slot_at(target.view, statement).ok()?;
        if std::str::from_utf8(self.layout.slice(target.view.span(target.node))).is_err() {
            return None;
        }
        let is_declaration = statement.kind() == "declaration";
        if self.declarations_first && slot.room == Room::Block {
            let after_declarations =
                sibling(statement, false).is_none_or(|previous| previous.kind() == "declaration");
            if is_declaration || !after_declarations {
                return None;
            }
        }
        let labelled = ancestors(statement)
            .take_while(|above| above.kind() != "function_definition")
            .any(|above| above.kind() == "labeled_statement");
        let in_case = statement
            .parent()
            .is_some_and(|parent| parent.kind() == "case_statement");
        let jumps = target.view.language == Language::Cpp && has_labels(statement);
        if slot.room != Room::Block || !(in_case || jumps || labelled) {
            return Some(None);
        }
        let span = target.view.span(statement);
        let one_line = self.layout.same_line(span.start, span.end);
        (!is_declaration && one_line).then_some(Some(Room::OwnBlock))
    }

    /// The operands of the operation that act themselves, in their order.
    fn acting_operands<'t>(
        &self,
        target: &Target<'_, 't>,
    ) -> Result<Option<Vec<Node<'t>>>, Refusal> {
        let effects = self.effects(target.view, &target.locals);
        let arguments = match target.node.child_by_field_name("arguments") {
            Some(arguments) => children(arguments),
            None => target
                .node
                .child_by_field_name("right")
                .into_iter()
                .collect(),
        };
        let acting: Vec<Node<'t>> = arguments
            .iter()
            .copied()
            .filter(|argument| effects.acts(*argument))
            .collect();
        let object = target
            .node
            .child_by_field_name("function")
            .or_else(|| target.node.child_by_field_name("left"))
            .or_else(|| target.node.child_by_field_name("argument"));
        if let Some(object) = object.filter(|object| effects.acts(*object)) {
            return Err(Refusal::OperandHasEffects(
                target.view.text(object).into_owned(),
            ));
        }
        Ok((!acting.is_empty()).then_some(acting))
    }

    /// Computes operands into temporaries, then the fence, then the operation.
    fn take_operands_out(
        &mut self,
        target: &Target<'_, '_>,
        operands: &[Node<'_>],
    ) -> Result<bool, Refusal> {
        let (view, place) = (target.view, &target.place);
        let refusal =
            |operand: Node<'_>| Refusal::OperandHasEffects(view.text(operand).into_owned());
        let movable = self.can_take_out(target) && !place.acts_beside;
        let by_address = matches!(target.site.operation, Operation::CompareExchange { .. });
        let first = *operands.first().ok_or(Refusal::NotUnderstood)?;
        let statement = statement_of(place.holder)
            .filter(|_| movable && !by_address)
            .map(with_attributes)
            .ok_or_else(|| refusal(first))?;
        let room = self
            .room_for_temporary(target, statement)
            .ok_or_else(|| refusal(first))?;
        for &operand in operands {
            if operand.kind() == "initializer_list" {
                return Err(refusal(operand));
            }
            let span = view.span(operand);
            let name = self.temporaries.operand_name(view, target.site);
            let type_name =
                self.temporaries
                    .type_of_value(view, operand, self.spelling.is_shared_header);
            let slot = slot_at(view, statement)?;
            let slot = self.draft.slots.entry(slot.span.start).or_insert(slot);
            slot.before.push(Item::Temporary {
                key: (span.end, 1),
                type_name,
                name: name.clone(),
                span: span.clone(),
            });
            self.draft.move_out(span, name);
        }
        let slot = slot_at(view, statement)?;
        let slot = self.draft.slots.entry(slot.span.start).or_insert(slot);
        slot.before.push(fence_item(target));
        self.set_room(view, statement, room);
        Ok(true)
    }

    /// A lambda or a statement expression around the operation, which keeps the
    /// value while the fence runs.
    fn around_value(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let (view, site) = (target.view, target.site);
        let fence = match &target.comment {
            Some(comment) => format!("{}; {}", target.fence.text, comment.inline),
            None => format!("{};", target.fence.text),
        };
        let name = self.temporaries.name(view, site);
        let span = view.span(target.node);
        let shared = self.spelling.is_shared_header;
        if view.language == Language::Cpp && !shared {
            if captures_binding(view, target.node) {
                return Err(Refusal::ValueNeeded);
            }
            let outside = matches!(target.place.holder, Holder::Outside)
                && !ancestors(target.node)
                    .any(|above| matches!(above.kind(), "field_initializer" | "field_declaration"));
            let capture = if outside { "[]" } else { "[&]" };
            self.draft.wrap(
                &span,
                &format!("{capture} {{ auto {name} = "),
                &format!("; {fence} return {name}; }}()"),
            );
        } else {
            let type_name = self
                .temporaries
                .type_of_site(view, site, target.node, shared);
            self.draft.wrap(
                &span,
                &format!("({{ {type_name} {name} = "),
                &format!("; {fence} {name}; }})"),
            );
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

    fn is_fence(&self, view: &View<'_>, node: Node<'_>) -> bool {
        let inner = match node.kind() {
            "expression_statement" => node.named_child(0),
            "labeled_statement" => children(node).last().copied(),
            _ => None,
        };
        if let Some(inner) = inner {
            return self.is_fence(view, inner);
        }
        let expression = node;
        self.spelling
            .is_full_fence(expression, &view.text(expression))
    }

    /// Whether a full fence already comes right before the operation in its expression.
    fn fence_precedes(&self, target: &Target<'_, '_>) -> bool {
        let Some(comma) = target
            .node
            .parent()
            .filter(|p| p.kind() == "comma_expression")
        else {
            return false;
        };
        let Some(left) = comma
            .child_by_field_name("left")
            .filter(|left| !contains(*left, target.node))
        else {
            return false;
        };
        let last = match left.kind() {
            "comma_expression" => left.child_by_field_name("right"),
            _ => Some(left),
        };
        last.is_some_and(|last| self.is_fence(target.view, last))
    }

    /// Whether a full fence already comes right after the operation in its expression.
    fn fence_follows(&self, target: &Target<'_, '_>) -> bool {
        let mut at = target.node;
        while let Some(comma) = at.parent().filter(|p| p.kind() == "comma_expression") {
            let right = comma.child_by_field_name("right");
            if right.is_some_and(|right| right.id() != at.id()) {
                return right.is_some_and(|right| {
                    let mut first = right;
                    while first.kind() == "comma_expression"
                        && let Some(left) = first.child_by_field_name("left")
                    {
                        first = left;
                    }
                    self.is_fence(target.view, first)
                });
            }
            at = comma;
        }
        false
    }
}

fn fence_item(target: &Target<'_, '_>) -> Item {
    Item::Fence {
        key: (target.site.span.end, 0),
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

/// Whether the function around a statement has labels that something may jump to.
fn has_labels(statement: Node<'_>) -> bool {
    fn labels(node: Node<'_>) -> bool {
        node.kind() == "labeled_statement" || children(node).into_iter().any(labels)
    }
    crate::view::enclosing_function(statement).is_some_and(labels)
}

/// Whether an expression names a structured binding, which a lambda cannot
/// capture before C++20.
fn captures_binding(view: &View<'_>, node: Node<'_>) -> bool {
    fn bindings(view: &View<'_>, node: Node<'_>, names: &mut Vec<String>) {
        if node.kind() == "structured_binding_declarator" {
            names.extend(
                children(node)
                    .into_iter()
                    .map(|name| view.text(name).into_owned()),
            );
        }
        for child in children(node) {
            bindings(view, child, names);
        }
    }
    fn uses(view: &View<'_>, node: Node<'_>, names: &[String]) -> bool {
        (node.kind() == "identifier" && names.iter().any(|name| *name == view.text(node)))
            || children(node)
                .into_iter()
                .any(|child| uses(view, child, names))
    }
    let mut names = Vec::new();
    if let Some(function) = crate::view::enclosing_function(node) {
        bindings(view, function, &mut names);
    }
    uses(view, node, &names)
}

/// Whether an operation gives no value back.
fn is_void(site: &Site) -> bool {
    let named = site
        .callee
        .starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    site.operation == Operation::Store && named && &*site.vocabulary != "volatile"
}

/// The spans of all sites but signal fences.
pub(crate) fn spans(sites: &[Site]) -> HashSet<(usize, usize)> {
    sites
        .iter()
        .filter(|site| site.operation != Operation::SignalFence)
        .map(|site| -> &Span { &site.span })
        .map(|span| (span.start, span.end))
        .collect()
}
