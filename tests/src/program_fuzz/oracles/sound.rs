//! Every command of wmfix ends in time, by itself, with a code that is a verdict, and
//! with a report.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way};
use crate::program_fuzz::running::Ended;

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    first(lab, ways, |way, seen| {
        if matches!(way, Way::Native | Way::Tsan) {
            return None;
        }
        if !matches!(seen.ended, Ended::Code(0 | 1 | 3)) {
            let what = format!("wmfix ended with {:?}: {}", seen.ended, seen.stderr);
            return contradiction(seen, what);
        }
        if seen.report.is_none() {
            return contradiction(seen, format!("there is no report: {}", seen.stderr));
        }
        None
    })
}
