//! Vocabulary text: the TOML in which families of atomics are described, ours and
//! a project's own. Turns text into rules; knows nothing of source files.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::rule::{CallResult, OrderRule, Rule};
use crate::order::MemoryOrder;
use crate::site::{Comparison, SiteOperation};

/// A vocabulary as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVocabulary {
    /// Its name in reports.
    pub name: String,
    /// The header that declares it.
    pub header: Option<String>,
    /// How a fence is written; `{order}` stands for the order.
    pub fence: Option<String>,
    /// Type names whose objects are atomic when used with plain operators.
    #[serde(default)]
    pub types: Vec<String>,
    /// The vocabulary counts only in files that hold one of these texts.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Texts without one of which a file holds none of its operations. Absent:
    /// worked out from the names.
    #[serde(default)]
    pub words: Vec<String>,
    /// Where its calls say their order, unless a call says otherwise.
    #[serde(default)]
    pub style: Style,
    /// How each order is spelled: an argument's text, or a suffix.
    #[serde(default)]
    pub orders: BTreeMap<OrderName, String>,
    /// Calls in short: name → what it does.
    #[serde(default)]
    pub calls: BTreeMap<String, OperationName>,
    /// Calls at length.
    #[serde(default)]
    pub call: Vec<RawCall>,
}

/// Where a vocabulary's calls say their order.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// As their last argument.
    #[default]
    Argument,
    /// At the end of their name.
    Suffix,
    /// As their first template argument.
    Template,
}

/// Calls that are written alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCall {
    /// The names; each may hold one `*`.
    pub names: Vec<String>,
    /// What they do.
    pub operation: OperationName,
    /// Methods of the object.
    #[serde(default)]
    pub member: bool,
    /// Which argument is the object or its address.
    pub object: Option<usize>,
    /// Where the order is.
    pub order: Option<RawOrder>,
    /// Where the failure order is.
    pub failure: Option<RawOrder>,
    /// The order of a call that does not say it.
    pub default: Option<OrderName>,
    /// The fewest and the most arguments.
    pub arguments: Option<(usize, usize)>,
    /// Which argument a compare-exchange expects.
    pub expected: Option<usize>,
    /// The expected argument is the value itself.
    pub expected_by_value: Option<bool>,
    /// Which argument a compare-exchange writes.
    pub desired: Option<usize>,
    /// Which argument says that a compare-exchange may fail for no reason.
    pub weak: Option<usize>,
    /// What the call gives back.
    pub result: Option<ResultName>,
    /// The call waits until the value compares so with its second argument.
    pub awaits: Option<Comparison>,
    /// The name alone says that this is an atomic operation.
    pub distinctive: Option<bool>,
}

/// Where an order is: an argument's index, or a word.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum RawOrder {
    Argument(usize),
    Named(OrderWord),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderWord {
    Suffix,
    Template,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderName {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl From<OrderName> for MemoryOrder {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Relaxed => Self::Relaxed,
            OrderName::Acquire => Self::Acquire,
            OrderName::Release => Self::Release,
            OrderName::AcqRel => Self::AcqRel,
            OrderName::SeqCst => Self::SeqCst,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OperationName {
    Load,
    Store,
    Rmw,
    CompareExchange,
    CompareExchangeWeak,
    Fence,
    SignalFence,
}

impl From<OperationName> for SiteOperation {
    fn from(name: OperationName) -> Self {
        match name {
            OperationName::Load => Self::Load,
            OperationName::Store => Self::Store,
            OperationName::Rmw => Self::Rmw,
            OperationName::CompareExchange => Self::CompareExchange { weak: false },
            OperationName::CompareExchangeWeak => Self::CompareExchange { weak: true },
            OperationName::Fence => Self::Fence,
            OperationName::SignalFence => Self::SignalFence,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResultName {
    Old,
    New,
    Success,
}

impl RawVocabulary {
    /// Every call of the vocabulary at length: name pattern and rule.
    pub(super) fn rules(&self, vocabulary: usize) -> Vec<(String, Rule)> {
        let short = self.calls.iter().map(|(name, &operation)| RawCall {
            names: vec![name.clone()],
            operation,
            member: false,
            object: None,
            order: None,
            failure: None,
            default: None,
            arguments: None,
            expected: None,
            expected_by_value: None,
            desired: None,
            weak: None,
            result: None,
            awaits: None,
            distinctive: None,
        });
        let mut rules = Vec::new();
        for call in short.chain(self.call.iter().cloned()) {
            let order = self.order_or_style(&call);
            if matches!(order, RawOrder::Named(OrderWord::Suffix)) {
                for (&name, suffix) in &self.orders {
                    let order = if suffix.is_empty() {
                        OrderRule::Fixed(name.into())
                    } else {
                        OrderRule::Suffix {
                            order: name.into(),
                            length: suffix.len(),
                        }
                    };
                    let rule = call.rule(vocabulary, order);
                    rules.extend(
                        call.names
                            .iter()
                            .map(|n| (format!("{n}{suffix}"), rule.clone())),
                    );
                }
            } else {
                let rule = call.rule(vocabulary, call.order_rule(&order));
                rules.extend(call.names.iter().map(|n| (n.clone(), rule.clone())));
            }
        }
        rules
    }

    fn order_or_style(&self, call: &RawCall) -> RawOrder {
        call.order.clone().unwrap_or(match self.style {
            Style::Argument => RawOrder::Argument(call.plain_arguments()),
            Style::Suffix => RawOrder::Named(OrderWord::Suffix),
            Style::Template => RawOrder::Named(OrderWord::Template),
        })
    }
}

impl RawCall {
    fn rule(&self, vocabulary: usize, order: OrderRule) -> Rule {
        let operation = SiteOperation::from(self.operation);
        let compares = matches!(operation, SiteOperation::CompareExchange { .. });
        let plain = self.plain_arguments();
        let failure = match (&self.failure, &order) {
            (Some(raw), _) => Some(self.order_rule(raw)),
            (None, OrderRule::Argument { index, default }) if compares => {
                Some(OrderRule::Argument {
                    index: index + 1,
                    default: *default,
                })
            }
            _ => None,
        };
        let highest = |rule: &OrderRule| match rule {
            OrderRule::Argument { index, .. } => index + 1,
            _ => 0,
        };
        let most = highest(&order).max(failure.as_ref().map_or(0, highest));
        let no_object = matches!(operation, SiteOperation::Fence | SiteOperation::SignalFence);
        let receiver = usize::from(!self.member);
        Rule {
            vocabulary,
            operation,
            member: self.member,
            object: (!no_object && !self.member).then_some(self.object.unwrap_or(0)),
            order,
            failure,
            arity: self.arguments.unwrap_or((plain, plain.max(most))),
            expected: compares.then_some(self.expected.unwrap_or(receiver)),
            expected_by_value: self
                .expected_by_value
                .unwrap_or(matches!(self.result, Some(ResultName::Old))),
            desired: compares.then_some(self.desired.unwrap_or(receiver + 1)),
            weak: self.weak,
            result: match self.result {
                Some(ResultName::Old) => CallResult::Old,
                Some(ResultName::New) => CallResult::New,
                Some(ResultName::Success) => CallResult::Success,
                None if compares => CallResult::Success,
                None => CallResult::Old,
            },
            awaits: self.awaits,
            distinctive: self.distinctive.unwrap_or(true),
            plain: None,
        }
    }

    fn order_rule(&self, raw: &RawOrder) -> OrderRule {
        let default = self.default.map_or(MemoryOrder::SeqCst, MemoryOrder::from);
        match raw {
            RawOrder::Argument(index) => OrderRule::Argument {
                index: *index,
                default,
            },
            RawOrder::Named(OrderWord::Template) => OrderRule::Template { index: 0, default },
            // A suffix is worked out by the caller; alone it says the default.
            RawOrder::Named(OrderWord::Suffix) => OrderRule::Fixed(default),
            RawOrder::Named(OrderWord::Relaxed) => OrderRule::Fixed(MemoryOrder::Relaxed),
            RawOrder::Named(OrderWord::Acquire) => OrderRule::Fixed(MemoryOrder::Acquire),
            RawOrder::Named(OrderWord::Release) => OrderRule::Fixed(MemoryOrder::Release),
            RawOrder::Named(OrderWord::AcqRel) => OrderRule::Fixed(MemoryOrder::AcqRel),
            RawOrder::Named(OrderWord::SeqCst) => OrderRule::Fixed(MemoryOrder::SeqCst),
        }
    }

    /// How many arguments such a call has without any order.
    fn plain_arguments(&self) -> usize {
        let as_function = match self.operation {
            OperationName::Load => 1,
            OperationName::Store | OperationName::Rmw => 2,
            OperationName::CompareExchange | OperationName::CompareExchangeWeak => 3,
            OperationName::Fence | OperationName::SignalFence => 0,
        };
        if self.member {
            as_function.max(1) - 1
        } else {
            as_function
        }
    }
}
