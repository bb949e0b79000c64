//! The stage that decides by what violations count: what the tests notice is measured
//! where that is not known yet. A test that fails because of a stale value looks.

use std::collections::BTreeSet;

use crate::evidence::Evidence;
use crate::harm::{Criterion, Extent, Harms, Notice, RobustnessReason, untried_by_command};
use crate::options::RunOptions;
use crate::preparation::Settings;
use crate::run::Deadline;
use crate::subject::Subject;

/// By what violations count before anything is known of the tests.
pub(super) fn at_first(options: &RunOptions) -> Criterion {
    let reason = match options.robust {
        true => Some(RobustnessReason::Asked),
        false => untried_by_command(options).map(RobustnessReason::NotLookedAt),
    };
    reason.map_or_else(Criterion::of_tests_that_look, Criterion::Robustness)
}

/// Has violations count by what the tests notice, and says what that is.
pub(super) fn decide(
    evidence: &Evidence,
    subject: &Subject,
    settings: &Settings,
    extent: Extent,
    (deadline, harms): (Deadline, &mut Harms),
) -> anyhow::Result<Vec<Notice>> {
    if matches!(harms.criterion(), Criterion::Robustness(_)) {
        return Ok(Vec::new());
    }
    let options = &settings.options;
    let collected = evidence.collected();
    let found = collected.violations.iter();
    let found: BTreeSet<usize> = found
        .flat_map(|finding| finding.programs.iter().copied())
        .collect();
    let looking = harms.programs_that_failed();
    let programs: BTreeSet<usize> = match extent {
        Extent::Whether => found.difference(&looking).copied().collect(),
        Extent::EveryOrder => {
            let tallies = collected.tallies.iter();
            let concurrent = tallies.filter(|(_, tally)| tally.concurrent > 0);
            concurrent.map(|(program, _)| *program).collect()
        }
    };
    let notices = evidence.notice(subject, options, deadline, (&programs, extent))?;
    let blind = notices.iter().filter(|notice| !notice.sees());
    let blind: BTreeSet<usize> = blind.map(|notice| notice.program).collect();
    evidence.count_by(
        harms,
        Criterion::Correctness {
            blind: blind.difference(&looking).copied().collect(),
        },
    );
    Ok(notices)
}
