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
        asked: free.were_asked_for,
        enough: free.are_enough,
        why: free.untried.map(|why| harm_words::untried(why).to_owned()),
        other_outputs: free.other_outputs,
        total: free.runs,
        stale: free.stale,
        racy: free.racy,
        telling: free.telling,
        findings,
    };
    (runs, choices)
}

/// What else there is to know about free runs.
pub(super) fn notes(free: &ReportedFreeRuns, lost: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if !free.asked {
        notes.push(harm_words::one_at_a_time(free));
    }
    if let Some(why) = free.why.as_ref().filter(|_| !free.are_missing()) {
        notes.push(format!("the free runs are not complete: {why}"));
    }
    if free.other_outputs > 0 {
        notes.push(format!(
            "{} printed what no other run did. Other interleavings may print it, too: that does \
             not count; `wmfix check --weak` shows it",
            harm_words::counted(free.other_outputs, "free run")
        ));
    }
    if lost > 0 {
        notes.push(format!(
            "{lost} of what free runs came to is not reported: it did not come again"
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
            verdict: harm_words::word(finding.verdict),
            runs: finding.runs,
            ended,
            stack: failed.map_or_else(Vec::new, |failed| stack(spots, failed)),
            seed: Some(finding.seed),
            command: rerun.map(|rerun| with_choices(rerun, finding.seed, &finding.targets())),
        },
        choices: (finding.choices.iter())
            .map(|choice| reported_choice(spots, choice))
            .collect(),
        minimal: finding.is_minimal,
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
