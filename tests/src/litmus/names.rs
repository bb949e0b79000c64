//! The short names of memory orders and the signs of comparisons, both ways.

use wmfix_analysis::{Comparison, FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// Two-character signs first, or `<=` would be read as `<`.
pub(super) const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// The sign of a comparison, as in C.
pub(super) fn sign(comparison: Comparison) -> &'static str {
    COMPARISONS
        .iter()
        .find(|(_, r)| *r == comparison)
        .map(|(sign, _)| *sign)
        .expect("every comparison has a sign")
}

pub(super) fn load_order(text: &str) -> Option<LoadOrder> {
    Some(match text {
        "rlx" => LoadOrder::Relaxed,
        "acq" => LoadOrder::Acquire,
        "sc" => LoadOrder::SeqCst,
        _ => return None,
    })
}

pub(super) fn store_order(text: &str) -> Option<StoreOrder> {
    Some(match text {
        "rlx" => StoreOrder::Relaxed,
        "rel" => StoreOrder::Release,
        "sc" => StoreOrder::SeqCst,
        _ => return None,
    })
}

pub(super) fn rmw_order(text: &str) -> Option<RmwOrder> {
    Some(match text {
        "rlx" => RmwOrder::Relaxed,
        "acq" => RmwOrder::Acquire,
        "rel" => RmwOrder::Release,
        "acqrel" => RmwOrder::AcqRel,
        "sc" => RmwOrder::SeqCst,
        _ => return None,
    })
}

pub(super) fn fence_order(text: &str) -> Option<FenceOrder> {
    Some(match text {
        "acq" => FenceOrder::Acquire,
        "rel" => FenceOrder::Release,
        "acqrel" => FenceOrder::AcqRel,
        "sc" => FenceOrder::SeqCst,
        _ => return None,
    })
}

pub(super) fn load_name(order: LoadOrder) -> &'static str {
    match order {
        LoadOrder::Relaxed => "rlx",
        LoadOrder::Acquire => "acq",
        LoadOrder::SeqCst => "sc",
    }
}

pub(super) fn store_name(order: StoreOrder) -> &'static str {
    match order {
        StoreOrder::Relaxed => "rlx",
        StoreOrder::Release => "rel",
        StoreOrder::SeqCst => "sc",
    }
}

pub(super) fn rmw_name(order: RmwOrder) -> &'static str {
    match order {
        RmwOrder::Relaxed => "rlx",
        RmwOrder::Acquire => "acq",
        RmwOrder::Release => "rel",
        RmwOrder::AcqRel => "acqrel",
        RmwOrder::SeqCst => "sc",
    }
}

pub(super) fn fence_name(order: FenceOrder) -> &'static str {
    match order {
        FenceOrder::Acquire => "acq",
        FenceOrder::Release => "rel",
        FenceOrder::AcqRel => "acqrel",
        FenceOrder::SeqCst => "sc",
    }
}
