//! What is found and not shown as a finding: what libraries do with objects of
//! their own, and what the independent checker did not confirm.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::spots::SpotFinder;
use crate::findings::CollectedFindings;
use crate::report::dossier::UnconfirmedFinding;

/// A note on what libraries do.
pub(super) fn libraries(collected: &CollectedFindings) -> Option<String> {
    match collected.of_libraries.len() {
        0 => None,
        1 => Some(
            "1 finding is inside the standard library or another system header and not shown: \
             --system-headers shows it"
                .to_owned(),
        ),
        count => Some(format!(
            "{count} findings are inside the standard library or other system headers and not \
             shown: --system-headers shows them"
        )),
    }
}

/// What the checker confirmed in no run, with a note on it. The traces are kept by
/// the same names.
pub(super) fn unconfirmed(
    collected: &CollectedFindings,
    spots: &mut SpotFinder<'_>,
    traces: &mut BTreeMap<String, Arc<[u8]>>,
) -> (BTreeMap<String, UnconfirmedFinding>, Option<String>) {
    let mut all = BTreeMap::new();
    for (number, finding) in (1..).zip(collected.never_confirmed()) {
        let id = format!("U{number}");
        if let Some(trace) = &finding.first.trace {
            traces.insert(id.clone(), Arc::clone(trace));
        }
        let unconfirmed = UnconfirmedFinding {
            access: spots.spot(finding.key.0).place,
            program: finding.program,
            seed: finding.seed,
            trace: None,
        };
        all.insert(id, unconfirmed);
    }
    let note = (!all.is_empty()).then(|| {
        let (count, show) = match all.len() {
            1 => ("1 violation was".to_owned(), "it"),
            count => (format!("{count} violations were"), "them"),
        };
        format!(
            "{count} not confirmed by the independent check of the memory model and not shown: a \
             fault of wmfix; `wmfix explain U1` says how to report {show}"
        )
    });
    (all, note)
}
