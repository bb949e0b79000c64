//! A race is found only where two accesses race, and a complete exploration finds one
//! wherever they do. TSan, which knows no fences, is asked where there are none.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way};
use crate::program_fuzz::program::Statement;

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    let race = lab.truth.interleavings.race;
    let fences = lab.program.any(|s| matches!(s, Statement::Fence(_)));
    first(lab, ways, |way, seen| {
        let judged = match way {
            Way::Native => false,
            Way::Tsan => !fences,
            _ => true,
        };
        if seen.race && !race && judged {
            let what = format!(
                "{way:?}: there is no race, but one is found\n{}",
                seen.stderr
            );
            return contradiction(seen, what);
        }
        if way == Way::Exhaustive && race && seen.is_complete() && !seen.race {
            let what = "the exploration is complete and has not found the race".to_owned();
            return contradiction(seen, what);
        }
        None
    })
}
