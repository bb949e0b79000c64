//! What is found and not shown as a finding: what libraries do with objects of
//! their own, what the compiler makes of directives, and what the independent checker
//! did not confirm.

use std::collections::BTreeMap;
use std::sync::Arc;

use wmfix_analysis::witness::check::MAX_NODES;

use super::spots::SpotFinder;
use crate::findings::{CollectedFindings, Doubt, FindingKey};
use crate::observe::Places;
use crate::report::dossier::UnconfirmedFinding;

/// Notes on what libraries do, and on what the compiler makes of directives.
pub(super) fn libraries(collected: &CollectedFindings, places: &Places) -> Vec<String> {
    let all = collected.of_libraries.len();
    let is_generated = |key: &&FindingKey| places.get(key.0).is_generated;
    let generated = collected.of_libraries.iter().filter(is_generated).count();
    let note = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!(
            "1 finding is {one} and not shown: --system-headers shows it"
        )),
        count => Some(format!(
            "{count} findings are {several} and not shown: --system-headers shows them"
        )),
    };
    let of_libraries = note(
        all - generated,
        "inside the standard library or another system header",
        "inside the standard library or other system headers",
    );
    let generated = note(
        generated,
        "in what the compiler makes of an OpenMP directive",
        "in what the compiler makes of OpenMP directives",
    );
    of_libraries.into_iter().chain(generated).collect()
}

/// What the checker confirmed in no run, with notes on it. The traces are kept by
/// the same names.
pub(super) fn unconfirmed(
    collected: &CollectedFindings,
    spots: &mut SpotFinder<'_>,
    traces: &mut BTreeMap<String, Arc<[u8]>>,
) -> (BTreeMap<String, UnconfirmedFinding>, Vec<String>) {
    let mut all = BTreeMap::new();
    for (number, finding) in (1..).zip(collected.never_confirmed()) {
        let id = format!("U{number}");
        if let Some(trace) = &finding.first.trace {
            traces.insert(id.clone(), Arc::clone(trace));
        }
        let unconfirmed = UnconfirmedFinding {
            access: spots.spot(finding.key.0).place,
            too_large: finding.first.doubt == Some(Doubt::TooLarge),
            program: finding.program,
            seed: finding.seed,
            trace: None,
        };
        all.insert(id, unconfirmed);
    }
    let notes = notes_on(&all);
    (all, notes)
}

fn notes_on(all: &BTreeMap<String, UnconfirmedFinding>) -> Vec<String> {
    let of = |too_large: bool| {
        let ids: Vec<&str> = (all.iter())
            .filter(|(_, finding)| finding.too_large == too_large)
            .map(|(id, _)| id.as_str())
            .collect();
        ids.first().map(|&first| match ids.len() {
            1 => ("1 violation".to_owned(), "was", "rests", first, "it"),
            count => (format!("{count} violations"), "were", "rest", first, "them"),
        })
    };
    let refuted = of(false).map(|(count, were, _, id, them)| {
        format!(
            "{count} {were} not confirmed by the independent check of the memory model and not \
             shown: a fault of wmfix; `wmfix explain {id}` says how to report {them}"
        )
    });
    let too_large = of(true).map(|(count, were, rest, id, them)| {
        format!(
            "{count} {rest} on more events than the independent check of the memory model decides \
             about ({MAX_NODES}) and {were} not shown: a test that does less shows more of {them}; \
             see `wmfix explain {id}`"
        )
    });
    refuted.into_iter().chain(too_large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::ReportedPlace;

    #[test]
    fn what_was_not_decided_is_no_fault() {
        let access = ReportedPlace {
            file: "queue.c".to_owned(),
            line: 1,
            column: 1,
            function: "put".to_owned(),
            operation: "load".to_owned(),
            order: "relaxed".to_owned(),
        };
        let finding = |too_large| UnconfirmedFinding {
            access: access.clone(),
            too_large,
            program: 0,
            seed: 1,
            trace: None,
        };
        let notes = |kinds: &[bool]| {
            let numbered = (1..).zip(kinds);
            notes_on(
                &numbered
                    .map(|(number, &kind)| (format!("U{number}"), finding(kind)))
                    .collect(),
            )
        };
        assert_eq!(notes(&[]), Vec::<String>::new());
        let [refuted, too_large] = notes(&[true, false, true]).try_into().expect("two notes");
        assert!(
            refuted.starts_with("1 violation was not confirmed") && refuted.contains("explain U2"),
            "{refuted}"
        );
        assert!(
            too_large.starts_with("2 violations rest on more events")
                && too_large.contains("explain U1")
                && !too_large.contains("fault"),
            "{too_large}"
        );
    }
}
