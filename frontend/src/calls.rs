//! Recognises calls of a vocabulary: names, arguments, orders. Decides for
//! methods with everyday names (`load`, `clear`) whether the object is atomic.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::declarations::{AtomicKind, Type};
use crate::found_site::FoundSite;
use crate::order::MemoryOrder;
use crate::site::{LoopRole, OrderForm, OrderSpelling, SiteOperation, Span};
use crate::syntax::{Callee, arguments, callee, pointee};
use crate::vocabulary::rule::{OrderRule, Rule};

/// Reads a call expression.
pub(crate) fn recognise<'t>(call: Node<'t>, context: &ScanContext<'_>) -> Option<FoundSite<'t>> {
    let callee = callee(call)?;
    let name = context.file.node_text(callee.name);
    let arguments = arguments(call);
    let texts = || {
        let texts = arguments.iter();
        texts.map(|&one| context.file.node_text(one).into_owned())
    };
    let instance = context.declared.instance_rule(&name, || texts().collect());
    for rule in context.rules(&name).chain(instance) {
        if rule.member != callee.receiver.is_some() {
            continue;
        }
        let (fewest, most) = rule.arity;
        if arguments.len() < fewest || arguments.len() > most {
            continue;
        }
        let order = read_order(&rule.order, &callee, &arguments, context);
        if rule.member && !rule.distinctive && !is_atomic_call(&callee, &order, &arguments, context)
        {
            continue;
        }
        let failure_order = matches!(rule.operation, SiteOperation::CompareExchange { .. })
            .then(|| failure_order(rule, &order, &callee, &arguments, context));
        let object = match (callee.receiver, rule.object) {
            (Some(receiver), _) => Some(receiver),
            (None, Some(index)) => arguments.get(index).map(|&argument| pointee(argument)),
            (None, None) => None,
        };
        let vocabulary = refine_vocabulary(rule, &callee, &order, context);
        return Some(FoundSite {
            node: call,
            operation: operation(rule, &arguments, context),
            callee: name.to_string(),
            callee_span: callee.name.byte_range(),
            object,
            arguments,
            order,
            failure_order,
            vocabulary,
            rule: Some(rule.clone()),
            role: LoopRole::None,
            certain: true,
        });
    }
    None
}

/// Whether a method call with an everyday name is an atomic operation: its order
/// says so, or its object's declaration does, or nothing contradicts it.
fn is_atomic_call(
    callee: &Callee<'_>,
    order: &OrderSpelling,
    arguments: &[Node<'_>],
    context: &ScanContext<'_>,
) -> bool {
    if let OrderForm::Literal(span) | OrderForm::NotLiteral(span) = &order.form {
        let text = context.file.slice(span);
        if context.orders().any(|names| names.plausible(order, &text)) {
            return true;
        }
    }
    let Some(receiver) = callee.receiver else {
        return false;
    };
    let name = context.file.node_text(callee.name);
    match context.type_of(receiver) {
        // `counts.clear()` on a container of atomics clears the container.
        Type::Atomic { kind, depth } => {
            let arrow = callee.access == "->";
            kind != AtomicKind::Volatile && arrow == (depth > 0)
        }
        Type::Plain => false,
        // Not declared in sight: believe the names that few classes but atomics
        // have, with just the arguments an atomic takes.
        Type::Unknown => match &*name {
            "load" => arguments.is_empty(),
            "store" | "exchange" => arguments.len() == 1,
            _ => false,
        },
    }
}

fn read_order(
    rule: &OrderRule,
    callee: &Callee<'_>,
    arguments: &[Node<'_>],
    context: &ScanContext<'_>,
) -> OrderSpelling {
    let implied = |order| OrderSpelling {
        order: Some(order),
        form: OrderForm::Implied,
    };
    match rule {
        OrderRule::Argument { index, default } => match arguments.get(*index) {
            Some(&argument) => context.read_order(argument),
            None => implied(*default),
        },
        OrderRule::Template { index, default } => match callee.template_arguments.get(*index) {
            Some(&argument) => context.read_order(argument),
            None => implied(*default),
        },
        OrderRule::Pasted {
            index,
            prefix,
            suffix,
        } => match arguments.get(*index) {
            Some(&argument) => context.read_pasted_order(argument, prefix, suffix),
            None => implied(MemoryOrder::SeqCst),
        },
        OrderRule::Suffix { order, length } => {
            let end = callee.name.end_byte();
            OrderSpelling {
                order: Some(*order),
                form: OrderForm::Suffix(end - length..end),
            }
        }
        OrderRule::Fixed(order) => implied(*order),
        OrderRule::Macro { order, name } => OrderSpelling {
            order: *order,
            form: OrderForm::Macro(name.clone()),
        },
    }
}

fn failure_order(
    rule: &Rule,
    success: &OrderSpelling,
    callee: &Callee<'_>,
    arguments: &[Node<'_>],
    context: &ScanContext<'_>,
) -> OrderSpelling {
    let said = rule
        .failure
        .as_ref()
        .map(|failure| read_order(failure, callee, arguments, context));
    match said {
        Some(said) if said.form != OrderForm::Implied => said,
        Some(said) if matches!(rule.failure, Some(OrderRule::Fixed(_))) => said,
        _ => OrderSpelling {
            order: success.order.map(without_release),
            form: OrderForm::Implied,
        },
    }
}

/// The failure order that a success order implies: a failed compare-exchange
/// does not write, so it cannot release.
pub(crate) fn without_release(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::AcqRel => MemoryOrder::Acquire,
        MemoryOrder::Release => MemoryOrder::Relaxed,
        other => other,
    }
}

fn operation(rule: &Rule, arguments: &[Node<'_>], context: &ScanContext<'_>) -> SiteOperation {
    match (rule.operation, rule.weak) {
        (SiteOperation::CompareExchange { .. }, Some(index)) => {
            let says_weak = arguments.get(index).is_some_and(|&argument| {
                matches!(&*context.file.node_text(argument), "1" | "true")
            });
            SiteOperation::CompareExchange { weak: says_weak }
        }
        (operation, _) => operation,
    }
}

/// `std::atomic_load(…)` belongs to C++ although C11 has the name, and a method of
/// a boost atomic to boost: the vocabulary decides how orders are spelled.
fn refine_vocabulary(
    rule: &Rule,
    callee: &Callee<'_>,
    order: &OrderSpelling,
    context: &ScanContext<'_>,
) -> usize {
    let vocabularies = context.vocabularies;
    let named = &*vocabularies.by_index(rule.vocabulary).name;
    let scope = callee.scope.map(|scope| context.file.node_text(scope));
    let boost_order = |span: &Span| context.file.slice(span).contains("boost::");
    let is_boost = scope.as_deref() == Some("boost")
        || matches!(&order.form, OrderForm::Literal(span) if boost_order(span))
        || callee.receiver.is_some_and(|receiver| {
            matches!(context.type_of(receiver),
                Type::Atomic { kind: AtomicKind::Class(index), .. }
                    if &*vocabularies.by_index(index).name == "boost")
        });
    let wanted = match named {
        "std" | "c11" if is_boost => "boost",
        "c11" if scope.as_deref() == Some("std") => "std",
        _ => return rule.vocabulary,
    };
    vocabularies.index(wanted).unwrap_or(rule.vocabulary)
}
