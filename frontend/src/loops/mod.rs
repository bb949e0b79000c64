//! Loop roles: which sites drive a loop that only waits, or one that retries a
//! compare-exchange. A loop that does anything else has no role, and a loop that
//! cannot be understood has none either: a wrong role would hide a violation.

mod condition;
mod effects;
mod helpers;
mod pauses;
mod rounds;
mod values;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use self::condition::Condition;
use self::helpers::Helpers;
use self::rounds::{Rounds, loops};
use self::values::Values;
use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::outline::Outline;
use crate::scalar::literal;
use crate::site::{Comparison, Joint, LoopExit, LoopRole, Operand, SiteOperation};
use crate::syntax::{arguments, callee, pointee};

/// Gives every operation under `root` its role.
pub(crate) fn assign<'t>(
    outline: &Outline<'t>,
    found: &mut [FoundSite<'t>],
    context: &ScanContext<'_>,
) {
    if found.is_empty() {
        return;
    }
    let by_node: FxHashMap<usize, usize> = found
        .iter()
        .enumerate()
        .map(|(index, item)| (item.node.id(), index))
        .collect();
    let mut starts: Vec<usize> = found.iter().map(|item| item.node.start_byte()).collect();
    starts.sort_unstable();
    let helpers = Helpers::of(outline, &by_node, context);
    let mut roles = Vec::new();
    let mut waits_of_helpers = Vec::new();
    for rounds in loops(outline, context) {
        let has_site = rounds.parts().any(|part| holds_one(part, &starts));
        if !has_site && helpers.bodies_called_in(&rounds, context).is_empty() {
            continue;
        }
        let values = Values::of(&rounds, found, &by_node, &helpers, context);
        roles.extend(roles_in(&rounds, &values));
        waits_of_helpers.extend(values.helper_calls());
    }
    for (index, role) in roles {
        // The innermost loop comes last, and knows best.
        found[index].role = role;
    }
    // A helper that is also called without waiting is no wait by itself.
    for index in helpers.called_elsewhere(outline, &waits_of_helpers, context) {
        found[index].role = LoopRole::None;
    }
    for item in found.iter_mut() {
        if let Some(role) = awaits(item, context) {
            item.role = role;
        }
    }
}

fn roles_in(rounds: &Rounds<'_>, values: &Values<'_, '_>) -> Vec<(usize, LoopRole)> {
    let outcome = rounds.outcome(values);
    let mut alternatives = Vec::new();
    let mut others = false;
    for exit in outcome.exits.into_iter().flat_map(Condition::alternatives) {
        match exit {
            Condition::Never => {}
            // Ends in its first round: not a loop at all.
            Condition::Always => return Vec::new(),
            condition => {
                others |= condition.is_other();
                alternatives.push(condition);
            }
        }
    }
    // A loop that something else can end, too, is left with any value.
    let only_waits = !outcome.effect
        && !others
        && values.used().into_iter().all(|site| {
            !values.writes(site) || alternatives.iter().any(|one| one.ends_with(site, values))
        });
    let several = alternatives.len() > 1;
    let mut roles = Vec::new();
    for alternative in alternatives {
        let (parts, all) = match alternative {
            Condition::All(parts) => (parts, true),
            part => (vec![part], false),
        };
        let joint = match (several, all) {
            (true, _) => Joint::Any,
            (false, true) => Joint::All,
            (false, false) => Joint::Sole,
        };
        for part in parts {
            let role = match part {
                Condition::Value { site, mut exit } if only_waits && values.can_wait(site) => {
                    exit.joint = joint;
                    Some((site, LoopRole::Spin(exit)))
                }
                Condition::Swapped {
                    site,
                    success: true,
                } => {
                    let waits = only_waits.then(|| fixed_expectation(site, values));
                    let role = match waits.flatten() {
                        Some(operand) => LoopRole::BlockingCas(LoopExit {
                            mask: None,
                            comparison: Comparison::Equal,
                            operand,
                            signed: false,
                            size: None,
                            joint,
                        }),
                        None => LoopRole::CasLoop,
                    };
                    Some((site, role))
                }
                _ => None,
            };
            // A site that is asked twice cannot say both: the first one, `Any`.
            roles.extend(role.filter(|(site, _)| !has_role(&roles, *site)));
        }
    }
    // What a loop reads before it retries is not what it waits for.
    if roles.iter().any(|(_, role)| *role == LoopRole::CasLoop) {
        roles.retain(|(_, role)| *role == LoopRole::CasLoop);
    }
    roles
}

/// Whether a node holds one of these offsets, which are sorted.
fn holds_one(node: Node<'_>, offsets: &[usize]) -> bool {
    let first = offsets.partition_point(|&offset| offset < node.start_byte());
    offsets
        .get(first)
        .is_some_and(|&offset| offset < node.end_byte())
}

fn has_role(roles: &[(usize, LoopRole)], site: usize) -> bool {
    roles.iter().any(|(known, _)| *known == site)
}

/// What a compare-exchange expects, if that and what it writes are the same in
/// every round: then the loop waits for that value, as a lock does.
fn fixed_expectation(site: usize, values: &Values<'_, '_>) -> Option<Operand> {
    let found = values.found(site);
    let rule = found.rule.as_ref()?;
    let expected = *found.arguments.get(rule.expected?)?;
    let desired = *found.arguments.get(rule.desired?)?;
    values.scalar(site)?;
    if !values.is_invariant_object(site, found.object?) || !values.is_invariant(desired) {
        return None;
    }
    if rule.expected_by_value {
        return values
            .is_invariant(expected)
            .then(|| values.operand(expected));
    }
    let target = pointee(expected);
    if target.kind() == "compound_literal_expression" {
        let list = target.child_by_field_name("value")?;
        let value = list.named_child(0)?;
        return values.is_invariant(value).then(|| values.operand(value));
    }
    values.reset_to(target)
}

/// The role of a call that waits by itself.
fn awaits(found: &FoundSite<'_>, context: &ScanContext<'_>) -> Option<LoopRole> {
    let rule = found.rule.as_ref()?;
    // How a call compares by size, the text does not tell.
    let is_equality = |one: &Comparison| matches!(one, Comparison::Equal | Comparison::NotEqual);
    let comparison = rule.awaits.filter(is_equality)?;
    let index = if rule.member { 0 } else { 1 };
    let operand = *found.arguments.get(index)?;
    let text = context.file.node_text(operand);
    let constant = literal(&text).or_else(|| context.declared.constant(&text));
    Some(LoopRole::Spin(LoopExit {
        mask: None,
        comparison,
        operand: match constant.filter(|constant| (0..=127).contains(&constant.value)) {
            Some(constant) => Operand::Constant(constant.value),
            None => Operand::Unknown(text.into_owned()),
        },
        signed: false,
        size: None,
        joint: Joint::Sole,
    }))
}

/// The name that a call calls.
fn called_name(call: Node<'_>, context: &ScanContext<'_>) -> Option<String> {
    callee(call).map(|callee| context.file.node_text(callee.name).into_owned())
}

/// Whether a read-modify-write that reads what it wrote leaves memory as it was:
/// taking a lock that is taken does, counting does not.
fn is_repeatable(found: &FoundSite<'_>) -> bool {
    let mut name = found.callee.as_str();
    for family in ["__c11_", "__atomic_", "atomic_", "__sync_"] {
        name = name.strip_prefix(family).unwrap_or(name);
    }
    for form in ["_explicit", "_n"] {
        name = name.strip_suffix(form).unwrap_or(name);
    }
    let is_one = matches!(
        name,
        "exchange"
            | "xchg"
            | "swap"
            | "test_and_set"
            | "lock_test_and_set"
            | "flag_test_and_set"
            | "fetch_or"
            | "fetch_and"
            | "fetch_and_or"
            | "fetch_and_and"
    );
    found.operation == SiteOperation::Rmw && found.rule.is_some() && is_one
}

/// The arguments of a call that are neither the object nor an order.
fn plain_arguments<'t>(found: &FoundSite<'t>) -> Vec<Node<'t>> {
    arguments(found.node)
        .into_iter()
        .filter(|argument| {
            let span = argument.byte_range();
            let is_object = found
                .object
                .is_some_and(|object| crate::syntax::within(&object.byte_range(), &span));
            !is_object
        })
        .collect()
}
