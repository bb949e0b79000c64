//! What is said about a change: what it does, what it guarantees, and what
//! the processor pays for it. Pure text, no layout.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

use super::model::{FenceSide, OrderChange, Price, ReportedChangeKind};
use wmfix_repair::{ChangeKind, MoveDirection, Orders};

/// What a change does.
pub(super) struct ChangeDescription {
    /// An order is raised, or a fence is new.
    pub kind: ReportedChangeKind,
    /// The order before; `none` for a new fence.
    pub from: String,
    /// The order after.
    pub to: String,
    /// The failure orders of a compare-exchange.
    pub on_failure: Option<OrderChange>,
    /// The side of a new fence.
    pub side: Option<FenceSide>,
    /// In words.
    pub what: String,
}

impl ChangeDescription {
    /// What a change does where these orders are.
    pub(super) fn of(kind: ChangeKind, before: Orders) -> Self {
        let side = match kind {
            ChangeKind::FenceBefore(_) => Some(FenceSide::Before),
            ChangeKind::FenceAfter(_) => Some(FenceSide::After),
            _ => None,
        };
        let to = match (kind, before) {
            (ChangeKind::Move(_), Orders::Fence(order)) => order.name().to_owned(),
            _ => order_name(kind).to_owned(),
        };
        if let ChangeKind::Move(direction) = kind {
            let (side, what) = match direction {
                MoveDirection::Up => (
                    FenceSide::Before,
                    "it moves up, before the statement above it",
                ),
                MoveDirection::Down => (
                    FenceSide::After,
                    "it moves down, behind the statement below it",
                ),
            };
            return Self {
                kind: ReportedChangeKind::Move,
                from: to.clone(),
                to,
                on_failure: None,
                side: Some(side),
                what: what.to_owned(),
            };
        }
        if let Some(side) = side {
            let word = match side {
                FenceSide::Before => "before",
                FenceSide::After => "after",
            };
            return Self {
                kind: ReportedChangeKind::Fence,
                from: "none".to_owned(),
                what: format!("{} {to} fence {word} it", article(&to)),
                to,
                on_failure: None,
                side: Some(side),
            };
        }
        let (from, failure_from) = orders_before(before);
        let on_failure = match (failure_from, kind) {
            (Some(from), ChangeKind::CompareExchange { failure, .. }) => Some(OrderChange {
                from: from.to_owned(),
                to: failure.name().to_owned(),
            }),
            _ => None,
        };
        let failure = on_failure.as_ref().filter(|f| f.from != f.to);
        let what = match failure {
            None if kind == ChangeKind::RemoveFence => format!("the {from} fence goes"),
            None => format!("{from} becomes {to}"),
            Some(on) if from == to => {
                format!("on failure, {} becomes {}", on.from, on.to)
            }
            Some(on) => format!(
                "{from} becomes {to}, and on failure {} becomes {}",
                on.from, on.to
            ),
        };
        Self {
            kind: ReportedChangeKind::Order,
            from: from.to_owned(),
            to,
            on_failure,
            side: None,
            what,
        }
    }

    /// The same where the access is a volatile one.
    pub(super) fn of_volatile(self) -> Self {
        Self {
            kind: ReportedChangeKind::Atomic,
            from: "volatile".to_owned(),
            what: format!("the volatile access becomes an atomic one, {}", self.to),
            ..self
        }
    }

    /// The same where the access is a plain one.
    pub(super) fn of_plain(self) -> Self {
        Self {
            kind: ReportedChangeKind::Atomic,
            what: format!("the plain access becomes an atomic one, {}", self.to),
            ..self
        }
    }
}

/// The indefinite article before the name of an order.
pub(super) fn article(order: &str) -> &'static str {
    if order.starts_with('a') { "an" } else { "a" }
}

/// The order that something has after a change.
pub(super) fn order_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::FenceBefore(order) | ChangeKind::FenceAfter(order) => order.name(),
        ChangeKind::Load(order) => order.name(),
        ChangeKind::Store(order) => order.name(),
        ChangeKind::Rmw(order) | ChangeKind::CompareExchange { success: order, .. } => order.name(),
        ChangeKind::Fence(order) => order.name(),
        ChangeKind::RemoveFence => "none",
        ChangeKind::Move(_) => "the same",
    }
}

/// What a change guarantees, in one sentence.
pub(super) fn ensures(kind: ChangeKind, before: Orders) -> &'static str {
    const ACQUIRE: &str = "Acquire: a thread that reads a released value here also sees everything that was written before the release.";
    const RELEASE: &str = "Release: a thread that reads this value with acquire also sees everything that was written before it.";
    const ACQ_REL: &str = "Acquire and release: this thread sees everything that was written before the value it reads, and passes that on with the value it writes.";
    const SEQ_CST: &str = "Sequentially consistent operations take effect in a single order that all threads agree on.";
    const ON_FAILURE: &str = "With the stronger order on failure, the thread also sees everything that was written before the value it found.";
    const ACQUIRE_FENCE: &str = "The acquire fence makes the reads before it acquire: what was written before the released values they read is seen after it.";
    const RELEASE_FENCE: &str = "The release fence makes the writes after it release: a thread that reads one of them with acquire also sees everything that was written before the fence.";
    const FENCE: &str = "The fence orders both ways: writes before it are published before writes after it, and reads after it see nothing older than reads before it.";
    const SEQ_CST_FENCE: &str = "The fence separates what this thread does before it from what it does after it, for every thread that has such a fence: earlier writes are visible before later reads happen.";
    const MOVED: &str = "Where it was, the fence had the operation on the wrong side: it orders what is before it with what is after it.";
    const ATOMIC: &str = "Atomic: the access is no data race any more, and the compiler neither repeats it nor leaves it out. It orders nothing else.";
    const GONE: &str = "Nothing relied on the fence in any run.";
    match kind {
        ChangeKind::Load(LoadOrder::Relaxed) | ChangeKind::Store(StoreOrder::Relaxed)
            if before.is_plain() =>
        {
            ATOMIC
        }
        ChangeKind::RemoveFence => GONE,
        ChangeKind::Move(_) => MOVED,
        ChangeKind::FenceBefore(order)
        | ChangeKind::FenceAfter(order)
        | ChangeKind::Fence(order) => match order {
            FenceOrder::Acquire => ACQUIRE_FENCE,
            FenceOrder::Release => RELEASE_FENCE,
            FenceOrder::AcqRel => FENCE,
            FenceOrder::SeqCst => SEQ_CST_FENCE,
        },
        ChangeKind::Load(LoadOrder::Acquire) => ACQUIRE,
        ChangeKind::Store(StoreOrder::Release) => RELEASE,
        ChangeKind::Load(LoadOrder::SeqCst) | ChangeKind::Store(StoreOrder::SeqCst) => SEQ_CST,
        ChangeKind::Load(LoadOrder::Relaxed) | ChangeKind::Store(StoreOrder::Relaxed) => ON_FAILURE,
        ChangeKind::Rmw(order) | ChangeKind::CompareExchange { success: order, .. } => {
            match order {
                RmwOrder::Relaxed => ON_FAILURE,
                RmwOrder::Acquire => ACQUIRE,
                RmwOrder::Release => RELEASE,
                RmwOrder::AcqRel => ACQ_REL,
                RmwOrder::SeqCst => SEQ_CST,
            }
        }
    }
}

/// What a change costs each time it is executed, where these orders are.
pub(super) fn price(kind: ChangeKind, before: Orders) -> Price {
    let nothing = "nothing";
    let (x86_64, aarch64) = match (kind, before) {
        (ChangeKind::Move(_) | ChangeKind::RemoveFence, _) => (nothing, nothing),
        (ChangeKind::Fence(FenceOrder::SeqCst), Orders::Fence(FenceOrder::AcqRel)) => {
            ("a full barrier (mfence or a locked instruction)", nothing)
        }
        (
            ChangeKind::FenceBefore(FenceOrder::SeqCst)
            | ChangeKind::FenceAfter(FenceOrder::SeqCst)
            | ChangeKind::Fence(FenceOrder::SeqCst),
            _,
        ) => (
            "a full barrier (mfence or a locked instruction)",
            "a full barrier (dmb ish)",
        ),
        (
            ChangeKind::FenceBefore(FenceOrder::Acquire)
            | ChangeKind::FenceAfter(FenceOrder::Acquire),
            _,
        ) => (nothing, "a load barrier (dmb ishld)"),
        (ChangeKind::FenceBefore(_) | ChangeKind::FenceAfter(_), _) => {
            (nothing, "a full barrier (dmb ish)")
        }
        (ChangeKind::Fence(_), _) => (nothing, "a full barrier (dmb ish) at most"),
        (ChangeKind::Load(LoadOrder::Relaxed) | ChangeKind::Store(StoreOrder::Relaxed), _) => {
            (nothing, nothing)
        }
        (ChangeKind::Load(_), Orders::Load(LoadOrder::Acquire)) => {
            (nothing, "ldar instead of ldapr at most")
        }
        (ChangeKind::Load(_), _) => (nothing, "a load-acquire (ldar) instead of a load"),
        (ChangeKind::Store(StoreOrder::SeqCst), Orders::Store(StoreOrder::Release)) => {
            ("a locked exchange instead of a store", nothing)
        }
        (ChangeKind::Store(StoreOrder::SeqCst), _) => (
            "a locked exchange instead of a store",
            "a store-release (stlr) instead of a store",
        ),
        (ChangeKind::Store(_), _) => (nothing, "a store-release (stlr) instead of a store"),
        (ChangeKind::Rmw(_) | ChangeKind::CompareExchange { .. }, _) => {
            (nothing, "the ordered form of the instruction")
        }
    };
    Price {
        x86_64: x86_64.to_owned(),
        aarch64: aarch64.to_owned(),
    }
}

/// The orders that are there, of a compare-exchange also that on failure.
fn orders_before(orders: Orders) -> (&'static str, Option<&'static str>) {
    match orders {
        Orders::Load(order) => (order.name(), None),
        Orders::Store(order) => (order.name(), None),
        Orders::Rmw(order) => (order.name(), None),
        Orders::CompareExchange {
            success, failure, ..
        } => (success.name(), Some(failure.name())),
        Orders::Fence(order) => (order.name(), None),
        Orders::PlainRead | Orders::PlainWrite => ("plain", None),
        Orders::NoFence | Orders::None => ("none", None),
    }
}
