//! Changes in words: what is done, and what the processor pays for it.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

use crate::repair::Action;

/// What a change does.
pub fn action_words(action: Action) -> String {
    match action {
        Action::FenceBefore => "a seq_cst fence before it".to_owned(),
        Action::FenceAfter => "a seq_cst fence after it".to_owned(),
        Action::Load(order) => match order {
            LoadOrder::Relaxed => "relaxed".to_owned(),
            LoadOrder::Acquire => "acquire".to_owned(),
            LoadOrder::SeqCst => "seq_cst".to_owned(),
        },
        Action::Store(order) => match order {
            StoreOrder::Relaxed => "relaxed".to_owned(),
            StoreOrder::Release => "release".to_owned(),
            StoreOrder::SeqCst => "seq_cst".to_owned(),
        },
        Action::Rmw(order) => rmw_words(order).to_owned(),
        Action::CompareExchange { success, failure } => {
            let failure = match failure {
                LoadOrder::Relaxed => "relaxed",
                LoadOrder::Acquire => "acquire",
                LoadOrder::SeqCst => "seq_cst",
            };
            format!("{} on success, {failure} on failure", rmw_words(success))
        }
        Action::Fence(order) => match order {
            FenceOrder::Acquire => "an acquire fence".to_owned(),
            FenceOrder::Release => "a release fence".to_owned(),
            FenceOrder::AcqRel => "an acq_rel fence".to_owned(),
            FenceOrder::SeqCst => "a seq_cst fence".to_owned(),
        },
    }
}

fn rmw_words(order: RmwOrder) -> &'static str {
    match order {
        RmwOrder::Relaxed => "relaxed",
        RmwOrder::Acquire => "acquire",
        RmwOrder::Release => "release",
        RmwOrder::AcqRel => "acq_rel",
        RmwOrder::SeqCst => "seq_cst",
    }
}

/// What a change costs on x86-64 and AArch64.
pub fn cost_words(action: Action) -> &'static str {
    match action {
        Action::FenceBefore | Action::FenceAfter | Action::Fence(FenceOrder::SeqCst) => {
            "a full barrier on x86-64 (mfence or a locked instruction) and on AArch64 (dmb ish)"
        }
        Action::Fence(_) => "nothing on x86-64; a barrier on AArch64 (dmb)",
        Action::Load(_) => "nothing on x86-64; a load-acquire on AArch64 (ldar)",
        Action::Store(StoreOrder::SeqCst) => {
            "an exchange instead of a store on x86-64; a store-release on AArch64 (stlr)"
        }
        Action::Store(_) => "nothing on x86-64; a store-release on AArch64 (stlr)",
        Action::Rmw(_) | Action::CompareExchange { .. } => {
            "nothing on x86-64; the ordered form of the instruction on AArch64"
        }
    }
}
