//! The forms of a fence that keep a value: a temporary before the statement,
//! fences on both ways out of a loop's condition, a lambda or a statement
//! expression around the operation.

use tree_sitter::Node;
use wmfix_frontend::{Language, SiteOperation, Span};

use super::{Fences, Target, fence_item, is_void, statement_of};
use crate::change::Side;
use crate::evaluation::declared_name;
use crate::insertion_point::{InsertedStatement, Room};
use crate::operation_position::Holder;
use crate::refusal::Refusal;
use crate::room::{insertion_point_at, insertion_point_in_empty, with_attributes};
use crate::view::{View, ancestors, children, sibling};

impl Fences<'_> {
    /// Fences on both ways out of a loop's condition: into the body and past the loop.
    pub(super) fn around_loop(
        &mut self,
        target: &Target<'_, '_>,
        found: Node<'_>,
    ) -> Result<Option<bool>, Refusal> {
        let Some(body) = found.child_by_field_name("body") else {
            return Ok(None);
        };
        let Ok(past) = insertion_point_at(target.view, found) else {
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
                let mut point = insertion_point_in_empty(target.view, body);
                point.before.push(fence_item(target));
                self.draft.points.insert(point.span.start, point);
                changed = true;
            }
            Some(first) if self.is_fence(target, first) => {}
            Some(first) => {
                let Ok(point) = insertion_point_at(target.view, first) else {
                    return Ok(None);
                };
                let point = self.draft.points.entry(point.span.start).or_insert(point);
                point.before.push(fence_item(target));
                changed = true;
            }
        }
        if !sibling(found, true).is_some_and(|next| self.is_fence(target, next)) {
            let point = self.draft.points.entry(past.span.start).or_insert(past);
            point.after.push(fence_item(target));
            changed = true;
        }
        Ok(Some(changed))
    }

    /// Whether the value can be computed before its statement.
    pub(super) fn can_take_out(&self, target: &Target<'_, '_>) -> bool {
        let position = &target.position;
        !position.conditional && !position.acts_before && !position.in_macro_argument
    }

    /// Computes the value into a temporary before its statement, the fence behind it.
    pub(super) fn take_value_out(
        &mut self,
        target: &Target<'_, '_>,
        statement: Node<'_>,
    ) -> Result<Option<bool>, Refusal> {
        let statement = with_attributes(statement);
        let Some(room) = self.room_for_temporary(target, statement) else {
            return Ok(None);
        };
        let span = target.view.span(target.node);
        self.say_load(target, &span);
        let name = self.temporaries.name(target.view, target.site);
        let type_name = self.temporaries.type_of_site(
            target.view,
            target.site,
            target.node,
            self.spelling.is_shared_header,
        );
        let temporary = InsertedStatement::Temporary {
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

    /// Where C++ reads an atomic by naming it, the temporary must not become a
    /// copy of the atomic.
    fn say_load(&mut self, target: &Target<'_, '_>, span: &Span) {
        let is_implicit = target.site.object.as_ref() == Some(span);
        if is_implicit && target.view.language == Language::Cpp {
            self.draft.wrap(span, "", ".load()");
        }
    }

    pub(super) fn set_room(&mut self, view: &View<'_>, statement: Node<'_>, room: Option<Room>) {
        if let Some(room) = room
            && let Some(point) = self.draft.points.get_mut(&view.span(statement).start)
        {
            point.room = room;
        }
    }

    /// Whether a temporary can be declared before `statement`: in a block of its
    /// own, if something could jump over it.
    pub(super) fn room_for_temporary(
        &self,
        target: &Target<'_, '_>,
        statement: Node<'_>,
    ) -> Option<Option<Room>> {
        let point = insertion_point_at(target.view, statement).ok()?;
        if std::str::from_utf8(self.layout.slice(target.view.span(target.node))).is_err() {
            return None;
        }
        let is_declaration = statement.kind() == "declaration";
        if self.declarations_first && point.room == Room::Block {
            let after_declarations =
                sibling(statement, false).is_none_or(|previous| previous.kind() == "declaration");
            if is_declaration || !after_declarations {
                return None;
            }
        }
        if names_of_its_statement(target.view, statement, target.node) {
            return None;
        }
        let labelled = statement
            .parent()
            .is_some_and(|parent| parent.kind() == "labeled_statement");
        let in_case = statement
            .parent()
            .is_some_and(|parent| parent.kind() == "case_statement");
        let jumps = target.view.language == Language::Cpp && has_labels(statement);
        if point.room != Room::Block || !(in_case || jumps || labelled) {
            return Some(None);
        }
        let span = target.view.span(statement);
        let one_line = self.layout.same_line(span.start, span.end);
        (!is_declaration && one_line).then_some(Some(Room::OwnBlock))
    }

    /// The parts of the operation that act themselves, in their order: operands,
    /// and in C++ the object that it is called on.
    pub(super) fn acting_operands<'t>(&self, target: &Target<'_, 't>) -> Vec<Node<'t>> {
        let effects = self.effects(target.view, &target.locals);
        let node = target.node;
        let mut parts: Vec<Node<'t>> = Vec::new();
        parts.extend(
            ["function", "left", "argument"]
                .iter()
                .filter_map(|field| node.child_by_field_name(field)),
        );
        match node.child_by_field_name("arguments") {
            Some(arguments) => parts.extend(children(arguments)),
            None => parts.extend(node.child_by_field_name("right")),
        }
        parts.retain(|part| effects.acts(*part));
        parts
    }

    /// Computes operands into temporaries, then the fence, then the operation.
    pub(super) fn take_operands_out(
        &mut self,
        target: &Target<'_, '_>,
        operands: &[Node<'_>],
    ) -> Result<bool, Refusal> {
        let (view, position) = (target.view, &target.position);
        let refusal =
            |operand: Node<'_>| Refusal::OperandHasEffects(view.text(operand).into_owned());
        let first = *operands.first().ok_or(Refusal::NotUnderstood)?;
        let movable = self.can_take_out(target) && !position.acts_beside;
        let statement = statement_of(position.holder)
            .filter(|_| movable)
            .map(with_attributes)
            .ok_or_else(|| refusal(first))?;
        let room = self
            .room_for_temporary(target, statement)
            .ok_or_else(|| refusal(first))?;
        let mut moves = Vec::new();
        for &operand in operands {
            moves.push(operand_to_move(target, operand).ok_or_else(|| refusal(operand))?);
        }
        for (operand, by_reference) in moves {
            let span = view.span(operand);
            let name = self
                .temporaries
                .operand_name(view, target.site, by_reference);
            let type_name = if by_reference {
                "auto &&".to_owned()
            } else {
                self.temporaries
                    .type_of_value(view, operand, self.spelling.is_shared_header)
            };
            let point = insertion_point_at(view, statement)?;
            let point = self.draft.points.entry(point.span.start).or_insert(point);
            point.before.push(InsertedStatement::Temporary {
                key: (span.end, 1),
                type_name,
                name: name.clone(),
                span: span.clone(),
            });
            self.draft.move_out(span, name);
        }
        let point = insertion_point_at(view, statement)?;
        let point = self.draft.points.entry(point.span.start).or_insert(point);
        point.before.push(fence_item(target));
        self.set_room(view, statement, room);
        Ok(true)
    }

    /// A fence before an operation beside which something else acts. A compiler
    /// may run the left side of a comma before the neighbours of the right side,
    /// so that the comma would not hold the fence and the operation together.
    pub(super) fn before_unsequenced(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let view = target.view;
        let span = view.span(target.node);
        if self.can_take_out(target)
            && !is_void(target.site)
            && let Some(statement) = statement_of(target.position.holder).map(with_attributes)
            && let Some(room) = self.room_for_temporary(target, statement)
        {
            self.say_load(target, &span);
            let name = self.temporaries.name(view, target.site);
            let shared = self.spelling.is_shared_header;
            let type_name = self
                .temporaries
                .type_of_site(view, target.site, target.node, shared);
            self.put_at(target, statement, Side::Before, None)?;
            let point = insertion_point_at(view, statement)?;
            let point = self.draft.points.entry(point.span.start).or_insert(point);
            point.before.push(InsertedStatement::Temporary {
                key: (span.end, 1),
                type_name,
                name: name.clone(),
                span: span.clone(),
            });
            self.set_room(view, statement, room);
            self.draft.move_out(span, name);
            return Ok(true);
        }
        let fence = fence_statement(target);
        let (open, close) = self.block(target)?;
        let returns = if open.starts_with('[') { "return " } else { "" };
        self.draft.wrap(
            &span,
            &format!("{open} {fence} {returns}"),
            &format!("; {close}"),
        );
        Ok(true)
    }

    /// A fence after an operation without a value, beside which something acts.
    pub(super) fn block_after(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let span = target.view.span(target.node);
        let fence = fence_statement(target);
        let (open, close) = self.block(target)?;
        self.draft
            .wrap(&span, &format!("{open} "), &format!("; {fence} {close}"));
        Ok(true)
    }

    /// The start and end of a block that can be part of an expression.
    /// Nobody would write a compare-exchange into one.
    fn block(&self, target: &Target<'_, '_>) -> Result<(&'static str, &'static str), Refusal> {
        let view = target.view;
        if matches!(target.site.operation, SiteOperation::CompareExchange { .. }) {
            return Err(Refusal::ValueNeeded);
        }
        if view.language != Language::Cpp || self.spelling.is_shared_header {
            return Ok(("({", "})"));
        }
        if captures_binding(view, target.node) {
            return Err(Refusal::ValueNeeded);
        }
        let outside = matches!(target.position.holder, Holder::Outside)
            && !ancestors(target.node)
                .any(|above| matches!(above.kind(), "field_initializer" | "field_declaration"));
        Ok((if outside { "[] {" } else { "[&] {" }, "}()"))
    }

    /// A lambda or a statement expression around the operation, which keeps the
    /// value while the fence runs.
    pub(super) fn around_value(&mut self, target: &Target<'_, '_>) -> Result<bool, Refusal> {
        let (view, site) = (target.view, target.site);
        let (open, close) = self.block(target)?;
        let fence = fence_statement(target);
        let name = self.temporaries.name(view, site);
        let span = view.span(target.node);
        self.say_load(target, &span);
        let (type_name, returns) = if open.starts_with('[') {
            ("auto".to_owned(), "return ")
        } else {
            let shared = self.spelling.is_shared_header;
            let type_name = self
                .temporaries
                .type_of_site(view, site, target.node, shared);
            (type_name, "")
        };
        self.draft.wrap(
            &span,
            &format!("{open} {type_name} {name} = "),
            &format!("; {fence} {returns}{name}; {close}"),
        );
        Ok(true)
    }
}

/// The fence as a statement inside of a line.
fn fence_statement(target: &Target<'_, '_>) -> String {
    match &target.comment {
        Some(comment) => format!("{}; {}", target.fence.text, comment.inline),
        None => format!("{};", target.fence.text),
    }
}

/// What of an acting part of the operation can be computed first, and whether by
/// reference: the object of a method, or a value.
fn operand_to_move<'t>(target: &Target<'_, 't>, part: Node<'t>) -> Option<(Node<'t>, bool)> {
    let is_callee = target
        .node
        .child_by_field_name("function")
        .is_some_and(|callee| callee.id() == part.id());
    if is_callee {
        let object = part.child_by_field_name("argument")?;
        let direct = part.child_by_field_name("operator")?.kind() == ".";
        return (direct && target.view.language == Language::Cpp).then_some((object, true));
    }
    let arguments = target.node.child_by_field_name("arguments");
    let index = arguments.and_then(|arguments| {
        children(arguments)
            .iter()
            .position(|argument| argument.id() == part.id())
    });
    let is_method = target
        .node
        .child_by_field_name("function")
        .is_some_and(|callee| callee.kind() == "field_expression");
    // What a compare-exchange expects is written back to: a copy would not do.
    let is_expected = matches!(target.site.operation, SiteOperation::CompareExchange { .. })
        && index == Some(usize::from(!is_method));
    let is_value = index.is_some()
        || target
            .node
            .child_by_field_name("right")
            .is_some_and(|right| right.id() == part.id());
    (is_value && !is_expected && part.kind() != "initializer_list").then_some((part, false))
}

/// Whether an operation uses a name that its own statement declares before it:
/// it cannot be computed before that.
fn names_of_its_statement(view: &View<'_>, statement: Node<'_>, node: Node<'_>) -> bool {
    fn declared(view: &View<'_>, at: Node<'_>, end: usize, names: &mut Vec<String>) {
        if at.start_byte() >= end {
            return;
        }
        let mut cursor = at.walk();
        for declarator in at.children_by_field_name("declarator", &mut cursor) {
            let name = declared_name(declarator).filter(|name| name.end_byte() <= end);
            names.extend(name.map(|name| view.text(name).into_owned()));
        }
        for child in children(at) {
            declared(view, child, end, names);
        }
    }
    let mut names = Vec::new();
    declared(view, statement, node.start_byte(), &mut names);
    uses(view, node, &names)
}

/// Whether an expression uses one of these names.
fn uses(view: &View<'_>, node: Node<'_>, names: &[String]) -> bool {
    (node.kind() == "identifier" && names.iter().any(|name| *name == view.text(node)))
        || children(node)
            .into_iter()
            .any(|child| uses(view, child, names))
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
    let mut names = Vec::new();
    if let Some(function) = crate::view::enclosing_function(node) {
        bindings(view, function, &mut names);
    }
    uses(view, node, &names)
}
