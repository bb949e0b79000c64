//! Where in the syntax an operation is, and what the same statement does
//! before it, beside it and after it. This decides which forms of a fence are
//! exact; it does not know how they are written.

use tree_sitter::Node;

use crate::assertion::is_assertion;
use crate::evaluation::{Effects, is_static, is_transparent_call, is_unevaluated};
use crate::refusal::Refusal;
use crate::view::children;

/// An operation's position in its full expression.
pub(crate) struct OperationPosition<'t> {
    /// What holds the full expression.
    pub(crate) holder: Holder<'t>,
    /// The operation is not evaluated each time that the holder is: it is behind
    /// `&&`, `||` or `?`.
    pub(crate) conditional: bool,
    /// Something that acts is evaluated before the operation, for certain.
    pub(crate) acts_before: bool,
    /// Something that acts is evaluated before or after it: the language does not say.
    pub(crate) acts_beside: bool,
    /// Memory is accessed after it, or beside it, in the same full expression.
    pub(crate) accesses_after: bool,
    /// It is an argument of what is, or looks like, a macro, which may evaluate
    /// it never or twice.
    pub(crate) in_macro_argument: bool,
    /// That macro may evaluate it twice in one expression.
    pub(crate) may_repeat: bool,
    /// The assertion that it is an argument of: only around it there is room for
    /// what is to stay in a build without debugging.
    pub(crate) in_assertion: Option<String>,
    /// Its value is not used, whatever its type.
    pub(crate) discarded: bool,
    /// Its value only reaches others through the arms of `?:`, whose types must agree.
    pub(crate) in_arm: bool,
}

/// What holds a full expression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'t> {
    /// An expression statement or a declaration in a block.
    Statement(Node<'t>),
    /// The last statement of a statement expression: its value is that of the whole.
    BlockValue(Node<'t>),
    /// `return`, `throw`, `co_return`.
    Exit(Node<'t>),
    /// What `if` or `switch` decides by, or the range or the start of a `for`:
    /// evaluated once, before the rest of the statement.
    Head(Node<'t>),
    /// The same of an `if` that follows an `else`: no statement can precede it.
    ElseIf,
    /// The condition of `while` or `for`: evaluated before each round.
    LoopCondition(Node<'t>),
    /// The condition of `do`, the step of a `for`, or a static's initialiser.
    Expression,
    /// An initialiser outside of any function: of a global, a member, a parameter.
    Outside,
}

/// Finds the position of `site`. `is_macro` says of a callee's name whether it is a macro.
pub(crate) fn find_position<'t>(
    effects: &Effects<'_>,
    site: Node<'t>,
    is_macro: &dyn Fn(&str) -> bool,
) -> Result<OperationPosition<'t>, Refusal> {
    let mut walk = AncestorWalk {
        effects,
        is_macro,
        conditional: false,
        acts_before: false,
        acts_beside: false,
        accesses_after: false,
        in_macro_argument: false,
        may_repeat: false,
        in_assertion: None,
        discarded: false,
        in_arm: false,
        only_forwarded: true,
    };
    let mut at = site;
    let holder = loop {
        let parent = at.parent().ok_or(Refusal::NotUnderstood)?;
        match walk.step(at, parent)? {
            Some(holder) => break holder,
            None => at = parent,
        }
    };
    Ok(OperationPosition {
        holder,
        conditional: walk.conditional,
        acts_before: walk.acts_before,
        acts_beside: walk.acts_beside,
        accesses_after: walk.accesses_after,
        in_macro_argument: walk.in_macro_argument,
        may_repeat: walk.may_repeat,
        in_assertion: walk.in_assertion,
        discarded: walk.discarded,
        in_arm: walk.in_arm,
    })
}

/// The way up from an operation, and what has been met on it.
struct AncestorWalk<'a> {
    effects: &'a Effects<'a>,
    is_macro: &'a dyn Fn(&str) -> bool,
    conditional: bool,
    acts_before: bool,
    acts_beside: bool,
    accesses_after: bool,
    in_macro_argument: bool,
    may_repeat: bool,
    in_assertion: Option<String>,
    discarded: bool,
    in_arm: bool,
    /// The value has only gone through parentheses, commas and arms so far.
    only_forwarded: bool,
}

impl AncestorWalk<'_> {
    /// One step up, from `at` to `parent`; the holder, if `parent` is (part of) one.
    fn step<'t>(&mut self, at: Node<'t>, parent: Node<'t>) -> Result<Option<Holder<'t>>, Refusal> {
        if is_unevaluated(parent) {
            return Err(Refusal::Unevaluated(
                self.effects.view.text(parent).into_owned(),
            ));
        }
        match parent.kind() {
            "parenthesized_expression"
            | "condition_clause"
            | "init_statement"
            | "argument_list" => {
                self.order_of_siblings(at, parent);
            }
            "binary_expression" => self.binary(at, parent),
            "conditional_expression" => self.conditional(at, parent),
            "comma_expression" => self.comma(at, parent),
            "assignment_expression" => {
                self.only_forwarded = false;
                self.assignment(at, parent);
            }
            "call_expression" => {
                self.only_forwarded = false;
                self.call(at, parent);
            }
            "initializer_list" | "init_declarator" => {
                self.only_forwarded = false;
                self.in_order(at, parent);
            }
            "generic_expression" => {
                let controlling = children(parent).first().map(Node::id);
                if controlling == Some(at.id()) {
                    return Err(Refusal::Unevaluated("_Generic".to_owned()));
                }
                // Which association is taken is decided before the program runs,
                // but only the chosen one may hold the fence.
                self.conditional = true;
                self.only_forwarded = false;
            }
            "cast_expression" | "unary_expression" | "compound_literal_expression" => {
                self.only_forwarded = false;
            }
            "field_expression" | "pointer_expression" | "subscript_expression" => {
                self.only_forwarded = false;
                let direct = parent
                    .child_by_field_name("operator")
                    .is_some_and(|operator| matches!(operator.kind(), "." | "&"));
                self.accesses_after |= !direct;
                self.beside(at, parent);
            }
            "gnu_asm_expression" | "gnu_asm_input_operand" | "gnu_asm_output_operand" => {
                return Err(Refusal::InlineAssembly);
            }
            "ERROR" => return Err(Refusal::NotUnderstood),
            "array_declarator" | "enumerator" | "bitfield_clause" | "case_statement" => {
                return Err(Refusal::NoPlace("constant expression".to_owned()));
            }
            "lambda_capture_initializer" | "lambda_capture_specifier" | "lambda_expression" => {
                self.only_forwarded = false;
                self.in_order(at, parent);
            }
            _ => return self.holder_or_unknown(at, parent),
        }
        Ok(None)
    }

    fn holder_or_unknown<'t>(
        &mut self,
        at: Node<'t>,
        parent: Node<'t>,
    ) -> Result<Option<Holder<'t>>, Refusal> {
        let holder = match parent.kind() {
            "expression_statement" => {
                let is_value = is_block_value(parent);
                self.discarded |= self.only_forwarded && !is_value;
                if is_value {
                    Holder::BlockValue(parent)
                } else {
                    Holder::Statement(parent)
                }
            }
            "declaration" => {
                self.only_forwarded = false;
                self.in_order(at, parent);
                match parent.parent().map(|above| above.kind()) {
                    Some("condition_clause" | "init_statement") => return Ok(None),
                    Some("for_statement") => Holder::Head(parent.parent().unwrap_or(parent)),
                    _ if is_outside(parent) => Holder::Outside,
                    _ if is_static(self.effects.view, parent) => Holder::Expression,
                    _ => Holder::Statement(parent),
                }
            }
            "return_statement" | "co_return_statement" | "throw_statement" => Holder::Exit(parent),
            "if_statement" | "switch_statement" => {
                if parent
                    .parent()
                    .is_some_and(|above| above.kind() == "else_clause")
                {
                    Holder::ElseIf
                } else {
                    Holder::Head(parent)
                }
            }
            "while_statement" => Holder::LoopCondition(parent),
            "do_statement" => Holder::Expression,
            "for_range_loop" => Holder::Head(parent),
            "for_statement" => {
                let is = |field| {
                    parent
                        .child_by_field_name(field)
                        .is_some_and(|part| part.id() == at.id())
                };
                if is("initializer") {
                    self.discarded |= self.only_forwarded;
                    Holder::Head(parent)
                } else if is("condition") {
                    Holder::LoopCondition(parent)
                } else {
                    self.discarded |= self.only_forwarded;
                    Holder::Expression
                }
            }
            "field_initializer" | "field_declaration" | "optional_parameter_declaration" => {
                Holder::Outside
            }
            kind if kind.starts_with("preproc") || kind == "translation_unit" => {
                return Err(Refusal::NotUnderstood);
            }
            // An expression that is not known: anything in it may come before or after.
            _ => {
                self.only_forwarded = false;
                self.accesses_after = true;
                self.beside(at, parent);
                return Ok(None);
            }
        };
        Ok(Some(holder))
    }

    fn binary(&mut self, at: Node<'_>, parent: Node<'_>) {
        self.only_forwarded = false;
        let operator = parent
            .child_by_field_name("operator")
            .map_or("", |operator| operator.kind());
        match operator {
            "&&" | "||" | "and" | "or" => {
                self.conditional |= !is_first(at, parent);
                self.in_order(at, parent);
            }
            // Since C++17 in this order; and printing wants it so in any case.
            "<<" | ">>" => self.in_order(at, parent),
            _ => self.beside(at, parent),
        }
    }

    fn conditional(&mut self, at: Node<'_>, parent: Node<'_>) {
        let condition = parent.child_by_field_name("condition");
        if condition.is_some_and(|condition| condition.id() == at.id()) {
            self.only_forwarded = false;
            self.in_order(at, parent);
        } else {
            self.conditional = true;
            self.in_arm = true;
            self.acts_before |= condition.is_some_and(|condition| self.effects.acts(condition));
        }
    }

    fn comma(&mut self, at: Node<'_>, parent: Node<'_>) {
        if is_first(at, parent) {
            self.discarded |= self.only_forwarded;
            self.only_forwarded = false;
        }
        self.in_order(at, parent);
    }

    /// The target of an assignment is no access that matters: in nearly every
    /// text it is a local variable.
    fn assignment(&mut self, at: Node<'_>, parent: Node<'_>) {
        let span = self.effects.view.span(parent);
        self.accesses_after |= self.effects.sites.contains(&(span.start, span.end));
        for other in children(parent) {
            if other.id() != at.id() && self.effects.acts(other) {
                self.acts_beside = true;
                self.accesses_after = true;
            }
        }
    }

    fn call(&mut self, at: Node<'_>, parent: Node<'_>) {
        let callee = parent.child_by_field_name("function");
        let is_transparent = is_transparent_call(self.effects.view, parent);
        if let Some(callee) = callee.filter(|callee| callee.id() != at.id()) {
            let name = self.effects.view.text(callee);
            if callee.kind() == "identifier" && is_assertion(&name) {
                self.in_assertion = Some(name.into_owned());
                self.beside(at, parent);
                return;
            }
            let is_macro = callee.kind() == "identifier" && (self.is_macro)(&name);
            self.in_macro_argument |= is_macro && !is_transparent;
            self.may_repeat |= is_macro && !is_transparent;
        }
        self.accesses_after |= !is_transparent;
        self.beside(at, parent);
    }

    /// The other parts of `parent` are evaluated in the order of the text.
    fn in_order(&mut self, at: Node<'_>, parent: Node<'_>) {
        for other in children(parent) {
            if other.end_byte() <= at.start_byte() {
                self.acts_before |= self.effects.acts(other);
            } else if other.start_byte() >= at.end_byte() {
                self.accesses_after |= self.effects.accesses(other);
            }
        }
    }

    /// The other parts of `parent` are evaluated in any order.
    fn beside(&mut self, at: Node<'_>, parent: Node<'_>) {
        for other in children(parent)
            .into_iter()
            .filter(|other| other.id() != at.id())
        {
            self.acts_beside |= self.effects.acts(other);
            self.accesses_after |= self.effects.accesses(other);
        }
    }

    fn order_of_siblings(&mut self, at: Node<'_>, parent: Node<'_>) {
        let call = parent.kind() == "argument_list";
        if call {
            self.only_forwarded = false;
            self.beside(at, parent);
        } else {
            self.in_order(at, parent);
        }
    }
}

fn is_first(at: Node<'_>, parent: Node<'_>) -> bool {
    children(parent)
        .first()
        .is_some_and(|first| first.id() == at.id())
}

/// Whether a statement's value is that of the statement expression around it.
fn is_block_value(statement: Node<'_>) -> bool {
    statement.parent().is_some_and(|block| {
        block.kind() == "compound_statement"
            && block
                .parent()
                .is_some_and(|above| above.kind() == "parenthesized_expression")
            && children(block)
                .last()
                .is_some_and(|last| last.id() == statement.id())
    })
}

/// Whether a declaration is outside of every function.
fn is_outside(declaration: Node<'_>) -> bool {
    crate::view::enclosing_function(declaration).is_none()
        && !crate::view::ancestors(declaration).any(|above| above.kind() == "compound_statement")
}
