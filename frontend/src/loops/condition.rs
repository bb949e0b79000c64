//! Conditions under which a loop ends, as data: what is asked of the value read,
//! what only bounds the waiting, and what the text does not show.

use tree_sitter::Node;

use super::values::Values;
use crate::site::{Comparison, Joint, LoopExit, Operand, SiteOperation};
use crate::syntax::{MAX_DEPTH, bare_value, operator};
use crate::vocabulary::rule::CallResult;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// About the value that a site read.
    Value { site: usize, exit: LoopExit },
    /// Whether a compare-exchange wrote.
    Swapped { site: usize, success: bool },
    /// A number of rounds, or a time.
    Bound,
    /// True in every round.
    Always,
    /// True in no round.
    Never,
    /// About something else.
    Opaque,
    /// All of these.
    All(Vec<Self>),
    /// Any of these.
    Any(Vec<Self>),
}

impl Condition {
    /// Reads the condition that an expression states.
    pub(super) fn of(node: Node<'_>, values: &Values<'_, '_>) -> Self {
        Self::read(node, values, 0)
    }

    fn read(node: Node<'_>, values: &Values<'_, '_>, level: usize) -> Self {
        if level > MAX_DEPTH {
            return Self::Opaque;
        }
        let node = bare_value(node, values.context().file);
        let side = |name: &str| node.child_by_field_name(name);
        match (node.kind(), operator(node)) {
            ("unary_expression", "!" | "not") => {
                let inner = side("argument").map(|inner| Self::read(inner, values, level + 1));
                return inner.map_or(Self::Opaque, Self::negated);
            }
            ("binary_expression", word @ ("&&" | "and" | "||" | "or")) => {
                let parts: Vec<Self> = [side("left"), side("right")]
                    .into_iter()
                    .flatten()
                    .map(|part| Self::read(part, values, level + 1))
                    .collect();
                return if matches!(word, "&&" | "and") {
                    Self::all(parts)
                } else {
                    Self::any(parts)
                };
            }
            ("binary_expression", sign) => {
                if let (Some(comparison), Some(left), Some(right)) =
                    (comparison(sign), side("left"), side("right"))
                {
                    return compare(left, comparison, right, values);
                }
            }
            _ => {}
        }
        if let Some(number) = values.constant(node) {
            return if number == 0 {
                Self::Never
            } else {
                Self::Always
            };
        }
        if let Some((site, mask)) = values.value_of(node) {
            return about(
                site,
                mask,
                Comparison::NotEqual,
                Operand::Constant(0),
                values,
            );
        }
        if let Some(inner) = values.helper(node) {
            return Self::read(inner, values, level + 1);
        }
        if values.is_bound(node) {
            return Self::Bound;
        }
        Self::Opaque
    }

    /// All of the parts, flat.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::All(inner) => flat.extend(inner),
                Self::Always => {}
                Self::Never => return Self::Never,
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Always,
            1 => flat.swap_remove(0),
            _ => Self::All(flat),
        }
    }

    fn any(parts: Vec<Self>) -> Self {
        Self::all(parts.into_iter().map(Self::negated).collect()).negated()
    }

    /// The opposite.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Value { site, mut exit } => {
                exit.comparison = opposite(exit.comparison);
                Self::Value { site, exit }
            }
            Self::Swapped { site, success } => Self::Swapped {
                site,
                success: !success,
            },
            Self::Bound => Self::Bound,
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Opaque => Self::Opaque,
            Self::All(parts) => Self::Any(parts.into_iter().map(Self::negated).collect()),
            Self::Any(parts) => Self::all(parts.into_iter().map(Self::negated).collect()),
        }
    }

    /// The conditions of which any suffices.
    pub(super) fn alternatives(self) -> Vec<Self> {
        match self {
            Self::Any(parts) => parts.into_iter().flat_map(Self::alternatives).collect(),
            other => vec![other],
        }
    }

    /// Whether it is not about sites alone.
    pub(super) fn is_other(&self) -> bool {
        match self {
            Self::Value { .. } | Self::Swapped { .. } => false,
            Self::All(parts) => parts.iter().any(Self::is_other),
            _ => true,
        }
    }
}

fn compare(
    left: Node<'_>,
    comparison: Comparison,
    right: Node<'_>,
    values: &Values<'_, '_>,
) -> Condition {
    for (value, comparison, operand) in [
        (left, comparison, right),
        (right, comparison.turned(), left),
    ] {
        if let Some((site, mask)) = values.value_of(value)
            && values.is_invariant(operand)
        {
            return about(site, mask, comparison, values.operand(operand), values);
        }
    }
    for (value, comparison, operand) in [
        (left, comparison, right),
        (right, comparison.turned(), left),
    ] {
        if let Some(shifted) = values.shifted(value)
            && values.is_invariant(operand)
            && !matches!(
                values.found(shifted.site).operation,
                SiteOperation::CompareExchange { .. }
            )
        {
            let (comparison, operand) = shifted.solved(comparison, operand, values);
            return about(shifted.site, None, comparison, operand, values);
        }
    }
    if values.is_bound(left) || values.is_bound(right) {
        return Condition::Bound;
    }
    Condition::Opaque
}

fn about(
    site: usize,
    mask: Option<Operand>,
    comparison: Comparison,
    operand: Operand,
    values: &Values<'_, '_>,
) -> Condition {
    let found = values.found(site);
    if let SiteOperation::CompareExchange { .. } = found.operation {
        let equal = match comparison {
            Comparison::Equal => true,
            Comparison::NotEqual => false,
            _ => return Condition::Opaque,
        };
        return match found.result() {
            CallResult::Success => match operand {
                Operand::Constant(0) => Condition::Swapped {
                    site,
                    success: !equal,
                },
                Operand::Constant(1) => Condition::Swapped {
                    site,
                    success: equal,
                },
                _ => Condition::Opaque,
            },
            _ if values.expects(site) == Some(operand) => Condition::Swapped {
                site,
                success: equal,
            },
            _ => Condition::Opaque,
        };
    }
    Condition::Value {
        site,
        exit: LoopExit {
            mask,
            comparison,
            operand,
            bounded: false,
            joint: Joint::Sole,
        },
    }
}

fn comparison(sign: &str) -> Option<Comparison> {
    match sign {
        "==" => Some(Comparison::Equal),
        "!=" | "not_eq" => Some(Comparison::NotEqual),
        "<" => Some(Comparison::Less),
        "<=" => Some(Comparison::LessOrEqual),
        ">" => Some(Comparison::Greater),
        ">=" => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

fn opposite(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::GreaterOrEqual,
        Comparison::LessOrEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessOrEqual,
        Comparison::GreaterOrEqual => Comparison::Less,
    }
}
