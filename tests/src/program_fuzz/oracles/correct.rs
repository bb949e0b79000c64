//! A correct program is clean, whoever looks at it.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way};
use crate::program_fuzz::running::Ended;

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    if !lab.truth.is_correct() {
        return None;
    }
    first(lab, ways, |way, seen| {
        let is_clean = match &seen.report {
            Some(report) => seen.ended == Ended::Code(0) && report["verdict"] == "clean",
            None => seen.ended == Ended::Code(0),
        };
        if is_clean {
            return None;
        }
        let failures = seen
            .report
            .as_ref()
            .map(|report| report["failures"].to_string());
        let what = format!(
            "{way:?}: the program is correct, and this ended with {:?}: {failures:?}\n{}",
            seen.ended, seen.stderr
        );
        contradiction(seen, what)
    })
}
