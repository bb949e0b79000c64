//! What a round of a loop does besides waiting: names of calls that only wait, and
//! whether an expression changes anything that outlives the round.

use tree_sitter::Node;

use super::rounds::Rounds;
use super::values::Values;
use super::{called_name, is_repeatable};
use crate::syntax::{self, callee, operator};

/// Whether a call by this name only passes the time.
pub(super) fn only_waits(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "pause",
        "yield",
        "relax",
        "backoff",
        "back_off",
        "sleep",
        "nop",
        "spin",
        "wait",
        "delay",
        "switchtothread",
        "futex",
        "hint",
        "snooze",
        "doze",
    ]
    .iter()
    .any(|part| name.contains(part))
        || name == "sched"
}

/// Whether a call by this name asks for the time.
pub(super) fn is_clock(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "timeout",
        "timed_out",
        "expired",
        "elapsed",
        "deadline",
        "clock",
        "rdtsc",
        "now",
        "gettime",
        "time_",
    ]
    .iter()
    .any(|part| name.contains(part))
}

/// Whether evaluating an expression has an effect beyond the round.
pub(super) fn has_effect(node: Node<'_>, rounds: &Rounds<'_>, values: &Values<'_, '_>) -> bool {
    let mut effect = false;
    syntax::visit(node, |inner, _| {
        effect |= match values.site_at(inner) {
            Some(site) => !is_repeatable(values.found(site)),
            None => is_effect(inner, rounds, values),
        };
    });
    effect
}

fn is_effect(node: Node<'_>, rounds: &Rounds<'_>, values: &Values<'_, '_>) -> bool {
    match node.kind() {
        "call_expression" => !is_harmless_call(node, values),
        "assignment_expression" => {
            let (Some(left), Some(right)) = (
                node.child_by_field_name("left"),
                node.child_by_field_name("right"),
            ) else {
                return true;
            };
            if operator(node) == "=" {
                !is_local(left, values)
                    || !values.is_reload(right)
                    || keeps_value(node, left, rounds, values)
            } else {
                !is_counter(left, rounds, values) || !values.is_invariant(right)
            }
        }
        "update_expression" => node
            .child_by_field_name("argument")
            .is_none_or(|target| !is_counter(target, rounds, values)),
        "new_expression"
        | "delete_expression"
        | "lambda_expression"
        | "co_await_expression"
        | "co_yield_statement" => true,
        _ => false,
    }
}

fn is_harmless_call(node: Node<'_>, values: &Values<'_, '_>) -> bool {
    let Some(name) = called_name(node, values.context()) else {
        return false;
    };
    if values.helper(node).is_some() || values.calculated(node).is_some() {
        return true;
    }
    // A name may say `wait` and the function do more than that.
    if values.writes(&name) {
        return false;
    }
    let receiver_waits = callee(node)
        .and_then(|callee| callee.receiver)
        .is_some_and(|receiver| only_waits(&values.context().file.node_text(receiver)));
    only_waits(&name)
        || receiver_waits
        || is_clock(&name)
        || syntax::is_transparent(&name)
        || matches!(&*name, "assert" | "min" | "max" | "sizeof")
}

fn is_local(target: Node<'_>, values: &Values<'_, '_>) -> bool {
    let target = syntax::unwrap_parentheses(target);
    let context = values.context();
    target.kind() == "identifier"
        && context
            .declared
            .is_local(&context.file.node_text(target), &target.byte_range())
}

/// Whether an assignment keeps the value of a round that stayed in the loop for
/// what comes after it.
fn keeps_value(
    assignment: Node<'_>,
    target: Node<'_>,
    rounds: &Rounds<'_>,
    values: &Values<'_, '_>,
) -> bool {
    let context = values.context();
    let target = syntax::unwrap_parentheses(target);
    let name = context.file.node_text(target);
    rounds.is_read_afterwards(&name, context)
        && !rounds.reads(&name, context)
        && rounds.may_end_before(assignment)
}

/// A local variable that only counts rounds: nothing after the loop reads it.
fn is_counter(target: Node<'_>, rounds: &Rounds<'_>, values: &Values<'_, '_>) -> bool {
    let target = syntax::unwrap_parentheses(target);
    is_local(target, values)
        && !rounds.is_read_afterwards(&values.context().file.node_text(target), values.context())
}
