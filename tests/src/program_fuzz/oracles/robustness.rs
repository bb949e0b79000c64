//! Stale values are found only in programs that are not robust, and a complete
//! exploration of one finds them. It runs each execution graph once.

use super::{Contradiction, contradiction, first};
use crate::program_fuzz::lab::{Lab, Way, list};

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    let robust = lab.truth.is_robust()?;
    first(lab, ways, |way, seen| {
        let report = seen.report.as_ref()?;
        let found = list(report, "violations");
        if robust && !found.is_empty() {
            let what = format!("{way:?}: it is robust, but this is found: {}", found[0]);
            return contradiction(seen, what);
        }
        if way != Way::Exhaustive {
            return None;
        }
        let graphs = lab.truth.graphs.as_ref()?;
        let proof = seen.proof();
        if !seen.is_complete() {
            // Runs that hang take long.
            let is_late = proof["obstacles"].to_string().contains("the time was up");
            let what = format!("the exploration is not complete: {proof}");
            return if is_late {
                None
            } else {
                contradiction(seen, what)
            };
        }
        // A graph that is not SC only by plain accesses is that of a race.
        if !robust && !graphs.race && found.is_empty() {
            let what = "the exploration is complete, and nothing is found; it is not robust";
            return contradiction(seen, what.to_owned());
        }
        // Graphs order plain accesses that race, explorations do not.
        if !graphs.race && proof["classes"] != graphs.classes {
            let what = format!(
                "there are {} execution graphs and {} classes",
                graphs.classes, proof["classes"]
            );
            return contradiction(seen, what);
        }
        None
    })
}
