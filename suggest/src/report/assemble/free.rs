//! What free runs showed → what the report says about it.

use std::collections::BTreeMap;

use super::findings::{no_write, stack};
use super::spots::SpotFinder;
use crate::harm::{FreeFinding, FreeRuns, TakenOld};
use crate::report::dossier::Spot;
use crate::report::harm_words;
use crate::report::model::{
    ReportedChoice, ReportedFreeFinding, ReportedFreeRuns, ReportedHarm, Value,
};
use crate::report::rerun::with_choices;
use crate::subject::RerunCommand;

/// What free runs showed, and where their choices were made.
pub(super) fn reported(
    spots: &mut SpotFinder<'_>,
    free: &FreeRuns,
    rerun: &[RerunCommand],
) -> (ReportedFreeRuns, BTreeMap<String, Vec<Spot>>) {
    let mut choices = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, one) in (1..).zip(&free.findings) {
        let id = format!("W{number}");
        let at = one.choices.iter().map(|choice| spots.spot(choice.site));
        choices.insert(id.clone(), at.collect());
        findings.push(finding(spots, id, one, rerun));
    }
    let runs = ReportedFreeRuns {
        total: free.runs,
        stale: free.stale,
        racy: free.racy,
        telling: free.telling,
        findings,
    };
    (runs, choices)
}

/// What else there is to know about free runs.
pub(super) fn notes(free: &FreeRuns) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = free.untried {
        let why = harm_words::untried(reason);
        notes.push(format!("the free runs are not complete: {why}"));
    }
    if free.lost > 0 {
        notes.push(format!(
            "{} of what free runs came to is not reported: it did not come again",
            free.lost
        ));
    }
    notes
}

fn finding(
    spots: &mut SpotFinder<'_>,
    id: String,
    finding: &FreeFinding,
    rerun: &[RerunCommand],
) -> ReportedFreeFinding {
    let ended = harm_words::effect(finding.effect, &finding.last_words, |site| {
        spots.spot(site).place
    });
    let failed = finding.failed.as_ref();
    let rerun = rerun.get(finding.program);
    ReportedFreeFinding {
        id,
        harm: ReportedHarm {
            verdict: harm_words::word(finding.verdict()),
            runs: finding.runs,
            ended,
            stack: failed.map_or_else(Vec::new, |failed| stack(spots, failed)),
            seed: Some(finding.seed),
            command: rerun.map(|rerun| with_choices(rerun, finding.seed, &finding.targets())),
        },
        choices: (finding.choices.iter())
            .map(|choice| reported_choice(spots, choice))
            .collect(),
    }
}

fn reported_choice(spots: &mut SpotFinder<'_>, choice: &TakenOld) -> ReportedChoice {
    ReportedChoice {
        thread: choice.thread.0,
        access: spots.spot(choice.site).place,
        write: choice
            .writer
            .map_or_else(no_write, |site| spots.spot(site).place),
        value: choice.value.map(Value::Number),
    }
}
