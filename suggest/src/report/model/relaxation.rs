//! Weaker orders as data: what changes where, what it saves, what was verified, and
//! what keeps its order.

use serde::{Deserialize, Serialize};

use super::{OrderChange, ReportedPlace};

/// The cheapest orders for a program that shows nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedRelaxation {
    /// The changes, in the order of the source.
    pub changes: Vec<ReportedRelaxedOrder>,
    /// What the changes save on each machine.
    pub saves: Savings,
    /// What all orders and fences cost now.
    pub cost_before: u64,
    /// What they cost with the changes.
    pub cost: u64,
    /// The cost model that ranked them.
    pub profile: String,
    /// No cheaper orders of these operations and fences are enough for the runs.
    pub optimal: bool,
    /// No orders that are enough for the runs cost less than this.
    pub lower_bound: u64,
    /// What decided.
    pub searched: SearchedOrders,
    /// All runs of the program and of the patched program were explored, and nothing
    /// was found in any.
    pub proved: bool,
    /// How many runs of the patched program showed nothing; 0 if it was not verified.
    pub verified_runs: u64,
    /// How many different schedules these had.
    pub schedules: u64,
    /// How many patches were tried in all, this one counted.
    pub rounds: u64,
    /// Why there is no patch, if one was found and did not hold or was not verified.
    pub why: Option<String>,
    /// What keeps its order.
    pub kept: KeptOrders,
    /// All of it as one unified diff.
    pub patch: String,
}

/// An operation that gets another order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedRelaxedOrder {
    /// What is changed.
    pub kind: RelaxedKind,
    /// The operation or fence.
    pub place: ReportedPlace,
    /// The order before.
    pub from: String,
    /// The order after; `none` for a fence that goes.
    pub to: String,
    /// The failure orders of a compare-exchange, before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OrderChange>,
    /// The order becomes stronger, so that others can be weaker.
    pub stronger: bool,
    /// How often it was executed in the recorded runs.
    pub executions: u64,
    /// What is done, for people.
    pub what: String,
}

/// What a change of orders is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RelaxedKind {
    /// The order of an operation or a fence is another one.
    Order,
    /// A fence goes.
    RemovedFence,
}

/// What orders and fences cost on each machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Savings {
    /// On x86-64.
    #[serde(rename = "x86-64")]
    pub x86_64: MachineCost,
    /// On AArch64.
    pub aarch64: MachineCost,
}

/// What orders and fences cost on a machine: rough cycles of all recorded runs together,
/// beyond those of relaxed accesses and no fences.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MachineCost {
    /// As the program is.
    pub before: u64,
    /// With the changes.
    pub after: u64,
}

/// What decided about the orders.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SearchedOrders {
    /// How many operations and fences had a choice.
    pub operations: u64,
    /// How many recorded runs decided.
    pub runs: u64,
    /// These were all runs of the program.
    pub all_runs: bool,
}

/// What keeps its order though nothing says that it must.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeptOrders {
    /// No run reached them.
    pub unreached: Vec<ReportedPlace>,
    /// In no run did two threads access their object.
    pub one_thread: Vec<ReportedPlace>,
    /// They cannot be changed.
    pub unchangeable: Vec<UnchangeableOrder>,
}

/// An order that cannot be changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnchangeableOrder {
    /// Where.
    pub place: ReportedPlace,
    /// Why.
    pub why: String,
}
