//! What runs come to is what brute force says: of an exploration that is complete, all
//! of it; of runs under SC, nothing else; of free and native runs, nothing that the
//! memory model does not allow.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way};

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    let sequential = lab.truth.ends()?;
    let all = lab.truth.all_ends();
    first(lab, ways, |way, seen| {
        let may_be_weak = matches!(way, Way::Free | Way::Native | Way::Tsan);
        let allowed = if may_be_weak {
            all.as_ref()?
        } else {
            sequential
        };
        if let Some(end) = seen.ends.difference(allowed).next() {
            let what = format!("{way:?}: no run comes to `{end}`, only to {allowed:?}");
            return contradiction(seen, what);
        }
        if way == Way::Exhaustive && seen.is_complete() {
            let missing = sequential.difference(&seen.ends).next()?;
            let what = format!("the exploration is complete and has not come to `{missing}`");
            return contradiction(seen, what);
        }
        None
    })
}
