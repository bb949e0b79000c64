//! What is proved holds: nobody finds anything in the program, and nothing comes of it
//! that the exploration did not come to; and what is said to be proved is true.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way, list};
use crate::program_fuzz::program::Statement;
use crate::program_fuzz::truth::is_failure;

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    if !ways.contains(&Way::Exhaustive) {
        return None;
    }
    let explored = lab.see(Way::Exhaustive);
    if explored.proof()["proved"] != true {
        return None;
    }
    let truth = &lab.truth;
    if truth.interleavings.race {
        return contradiction(&explored, "proved, but it races".to_owned());
    }
    if truth.is_robust() == Some(false) {
        return contradiction(&explored, "proved, but it is not robust".to_owned());
    }
    if let Some(failure) = truth.failures().first() {
        return contradiction(&explored, format!("proved, but it may fail: `{failure}`"));
    }
    let fences = lab.program.any(|s| matches!(s, Statement::Fence(_)));
    first(lab, ways, |way, seen| {
        if let Some(end) = seen.ends.difference(&explored.ends).next() {
            let kind = if is_failure(end) {
                "fails with"
            } else {
                "prints"
            };
            let what = format!(
                "proved, but {way:?} {kind} `{end}`, none of {:?}",
                explored.ends
            );
            return contradiction(seen, what);
        }
        if seen.race && !(way == Way::Tsan && fences) {
            let what = format!("proved, but {way:?} finds a race\n{}", seen.stderr);
            return contradiction(seen, what);
        }
        let report = seen.report.as_ref()?;
        let free = list(&report["free_runs"], "findings");
        let found = list(report, "violations").first().or(free.first())?;
        contradiction(seen, format!("proved, but {way:?} finds {found}"))
    })
}
