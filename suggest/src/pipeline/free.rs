//! The stage of free runs: those that the user asked for, and those without which a
//! program is not called clean whose stale values do nothing one at a time. Decides when
//! they are made; what they show is for `harm` to say.

use std::collections::BTreeSet;

use super::assemble_report;
use crate::cli::WeakChoice;
use crate::evidence::Evidence;
use crate::harm::{FEWEST_RUNS, FreePlan, FreeRuns, Harms, USUAL_RUNS};
use crate::path_limit::PathLimit;
use crate::preparation::Settings;
use crate::report::{Judged, Verdict};
use crate::run::Deadline;
use crate::subject::Subject;

/// Makes the free runs that are due, if any are. What they show of known violations is
/// added to the verdicts on these.
pub(super) fn run_freely(
    evidence: &mut Evidence,
    subject: &Subject,
    settings: &Settings,
    deadline: Deadline,
    harms: Harms,
) -> anyhow::Result<(Option<FreeRuns>, Harms)> {
    let options = &settings.options;
    let plan = match options.weak {
        Some(how) => FreePlan {
            how,
            programs: None,
            runs: options.runs.unwrap_or(USUAL_RUNS),
        },
        None => match due(evidence, &harms, settings, &settings.limit) {
            Some(plan) if is_clean(evidence, &harms, subject, settings)? => plan,
            _ => return Ok((None, harms)),
        },
    };
    let (runs, harms) = evidence.run_freely(subject, options, &plan, deadline, harms)?;
    Ok((Some(runs), harms))
}

/// The free runs that are due because of stale values in these limits that do not count
/// one at a time.
pub(super) fn due(
    evidence: &mut Evidence,
    harms: &Harms,
    settings: &Settings,
    limit: &PathLimit,
) -> Option<FreePlan> {
    let options = &settings.options;
    let allowances = evidence.allowances(&[]);
    let (found, places) = evidence.findings();
    let of_little_harm = found.violations.iter().filter(|finding| {
        let (access, _, kind) = finding.key;
        let harm = harms.get(&finding.key);
        !harms.counts(&finding.key, options.target)
            && harm.is_some_and(|harm| harm.shows_on(options.target))
            && allowances.violation(access, kind).is_none()
            && limit.holds_violation(places, &finding.key)
    });
    let programs: BTreeSet<usize> = of_little_harm
        .flat_map(|finding| finding.programs.iter().copied())
        .collect();
    (!programs.is_empty()).then_some(FreePlan {
        how: WeakChoice::Mixed,
        programs: Some(programs),
        runs: due_runs(settings),
    })
}

/// How many are due of each program. What `--runs` says of parts is for all of them together.
fn due_runs(settings: &Settings) -> u64 {
    let is_in_parts = settings.options.shard.is_some() || settings.merged.is_some();
    let runs = match settings.options.runs {
        Some(runs) if is_in_parts => runs.min(USUAL_RUNS),
        Some(runs) => runs,
        None => USUAL_RUNS,
    };
    runs.max(FEWEST_RUNS)
}

/// Whether a report without free runs would be clean.
fn is_clean(
    evidence: &mut Evidence,
    harms: &Harms,
    subject: &Subject,
    settings: &Settings,
) -> anyhow::Result<bool> {
    let judged = Judged {
        harms,
        free: None,
        notices: &[],
    };
    let dossier = assemble_report(evidence, judged, subject, settings, None)?;
    Ok(dossier.report.verdict == Verdict::Clean)
}
