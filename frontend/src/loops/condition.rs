//! Conditions under which a loop ends, as data: what is asked of the value read,
//! and what the text does not show.

use tree_sitter::Node;

use super::called_name;
use super::pauses::is_hint;
use super::values::{Loaded, Values};
use crate::scalar::{Constant, IntegerKind, Scalar};
use crate::site::{Comparison, Joint, LoopExit, Operand, SiteOperation};
use crate::syntax::{MAX_DEPTH, arguments, operator, unwrap_parentheses};
use crate::vocabulary::rule::CallResult;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// About the value that a site read.
    Value { site: usize, exit: LoopExit },
    /// Whether a compare-exchange wrote.
    Swapped { site: usize, success: bool },
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
        let node = without_hints(node, values);
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
            return if number.value == 0 {
                Self::Never
            } else {
                Self::Always
            };
        }
        if let Some(value) = values.value_of(node) {
            let zero = Constant {
                value: 0,
                kind: Some(IntegerKind::INT),
            };
            return about(value, Comparison::NotEqual, Asked::Constant(zero), values);
        }
        match values.answer(node) {
            Some(inner) => Self::read(inner, values, level + 1),
            None => Self::Opaque,
        }
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

    /// Whether the loop is over if it is fulfilled as far as this site, which writes: the
    /// last that it asks.
    pub(super) fn ends_with(&self, writing: usize, values: &Values<'_, '_>) -> bool {
        let last = match self {
            Self::All(parts) => parts.iter().max_by_key(|part| part.start(values)),
            one => Some(one),
        };
        matches!(
            last,
            Some(Self::Value { site, .. } | Self::Swapped { site, success: true }) if *site == writing
        )
    }

    fn start(&self, values: &Values<'_, '_>) -> usize {
        match self {
            Self::Value { site, .. } | Self::Swapped { site, .. } => {
                values.found(*site).node.start_byte()
            }
            _ => 0,
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

/// What a value is compared with.
enum Asked {
    Constant(Constant),
    /// Something that does not change: its text.
    Unknown(String),
}

fn compare(
    left: Node<'_>,
    comparison: Comparison,
    right: Node<'_>,
    values: &Values<'_, '_>,
) -> Condition {
    let sides = [
        (left, comparison, right),
        (right, comparison.turned(), left),
    ];
    for (value, comparison, operand) in sides {
        if let Some(value) = values.value_of(value)
            && values.is_invariant(operand)
        {
            let asked = match values.constant(operand) {
                Some(constant) => Asked::Constant(constant),
                None if values.is_scalar(operand) => {
                    let text = values.context().file.node_text(operand);
                    Asked::Unknown(text.trim().to_owned())
                }
                None => return Condition::Opaque,
            };
            return about(value, comparison, asked, values);
        }
    }
    for (value, comparison, operand) in sides {
        if let Some(shifted) = values.shifted(value)
            && values.is_invariant(operand)
            && values.is_scalar(operand)
            && !matches!(
                values.found(shifted.site).operation,
                SiteOperation::CompareExchange { .. }
            )
        {
            let (comparison, operand) = shifted.solved(comparison, operand, values);
            return match operand {
                Operand::Unknown(text) => open(shifted.site, None, comparison, text),
                Operand::Constant(_) => Condition::Opaque,
            };
        }
    }
    Condition::Opaque
}

/// A comparison with something that only the run tells, and only equality tells.
fn open(site: usize, mask: Option<i128>, comparison: Comparison, operand: String) -> Condition {
    match comparison {
        Comparison::Equal | Comparison::NotEqual => Condition::Value {
            site,
            exit: LoopExit {
                mask: mask.map(Operand::Constant),
                comparison,
                operand: Operand::Unknown(operand),
                signed: false,
                size: None,
                joint: Joint::Sole,
            },
        },
        _ => Condition::Opaque,
    }
}

fn about(
    value: Loaded,
    comparison: Comparison,
    operand: Asked,
    values: &Values<'_, '_>,
) -> Condition {
    let Loaded { site, mask, scalar } = value;
    let found = values.found(site);
    if let SiteOperation::CompareExchange { .. } = found.operation {
        return about_exchange(site, comparison, operand, values);
    }
    match operand {
        Asked::Constant(constant) => match scalar.test(mask, comparison, constant) {
            Some(test) => Condition::Value {
                site,
                exit: LoopExit {
                    mask: test.mask.map(Operand::Constant),
                    comparison: test.comparison,
                    operand: Operand::Constant(test.operand),
                    signed: test.signed,
                    size: test.size,
                    joint: Joint::Sole,
                },
            },
            None => Condition::Opaque,
        },
        Asked::Unknown(text) => {
            let zero = Constant {
                value: 0,
                kind: Some(IntegerKind::INT),
            };
            let has_mask = mask.is_some();
            let fits = matches!(scalar, Scalar::Integer { .. } | Scalar::Bool)
                && scalar.test(mask, Comparison::Equal, zero).is_some();
            match !has_mask || fits {
                true => open(site, mask.map(|mask| mask.value), comparison, text),
                false => Condition::Opaque,
            }
        }
    }
}

/// Whether a compare-exchange wrote, by what it gives back.
fn about_exchange(
    site: usize,
    comparison: Comparison,
    operand: Asked,
    values: &Values<'_, '_>,
) -> Condition {
    let equal = match comparison {
        Comparison::Equal => true,
        Comparison::NotEqual => false,
        _ => return Condition::Opaque,
    };
    let operand = match operand {
        Asked::Constant(constant) => Operand::Constant(constant.value),
        Asked::Unknown(text) => Operand::Unknown(text),
    };
    let success = match values.found(site).result() {
        CallResult::Success => match operand {
            Operand::Constant(0) => !equal,
            Operand::Constant(1) => equal,
            _ => return Condition::Opaque,
        },
        _ if values.expects(site) == Some(operand) => equal,
        _ => return Condition::Opaque,
    };
    Condition::Swapped { site, success }
}

/// The node without parentheses and hints to the branch predictor, which leave the
/// truth of an expression as it is.
fn without_hints<'t>(node: Node<'t>, values: &Values<'_, '_>) -> Node<'t> {
    let mut node = unwrap_parentheses(node);
    for _ in 0..MAX_DEPTH {
        let is_call = node.kind() == "call_expression" && values.site_at(node).is_none();
        let name = called_name(node, values.context()).filter(|_| is_call);
        let inner = arguments(node).first().copied();
        match (name, inner) {
            (Some(name), Some(inner)) if is_hint(&name, values.context()) => {
                node = unwrap_parentheses(inner);
            }
            _ => break,
        }
    }
    node
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
