//! The result of the search for weaker orders → the report: changes get their places
//! and their words.

use anyhow::Context;
use wmfix_repair::{ChangeKind, Profile};

use super::repair::place;
use super::spots::SpotFinder;
use crate::observe::Places;
use crate::relax::{KeptReason, KeptSite, RelaxResult, RelaxedSite};
use crate::repair_loop::Verification;
use crate::report::change_words::ChangeDescription;
use crate::report::dossier::Dossier;
use crate::report::model::{
    KeptOrders, MachineCost, RelaxedKind, ReportedRelaxation, ReportedRelaxedOrder, Savings,
    SearchedOrders, UnchangeableOrder,
};
use crate::report::repair_words::failure_text;

/// Weaker orders for the report.
pub(crate) struct RelaxInputs<'a> {
    /// What came of the loop.
    pub result: &'a RelaxResult,
    /// What orders were weighed by.
    pub profile: String,
    /// All of it as one unified diff.
    pub patch: &'a [u8],
}

/// Puts weaker orders into the dossier of the program that they are for.
pub(crate) fn add_relaxation(
    dossier: &mut Dossier,
    places: &mut Places,
    inputs: RelaxInputs<'_>,
) -> anyhow::Result<()> {
    let current_folder = std::env::current_dir().context("cannot find the current folder")?;
    let mut spots = SpotFinder {
        places,
        current_folder,
    };
    let result = inputs.result;
    dossier.seconds.search = result.search_time.as_secs_f64();
    dossier.seconds.verification = result.verification_time.as_secs_f64();
    let others = dossier.seconds.search + dossier.seconds.verification;
    dossier.seconds.runs = (dossier.seconds.runs - others).max(0.0);
    let (verified_runs, schedules) = match &result.verification {
        Verification::Clean(runs) => (runs.runs, runs.schedules),
        _ => (0, 0),
    };
    let cost_on = |machine: Profile| {
        let saving = result
            .savings
            .iter()
            .find(|saving| saving.machine == machine);
        saving.map_or_else(MachineCost::default, |saving| MachineCost {
            before: saving.before,
            after: match result.holds() {
                true => saving.after,
                false => saving.before,
            },
        })
    };
    let changes = result
        .changes
        .iter()
        .map(|change| relaxed(change, &mut spots));
    let changes: Vec<ReportedRelaxedOrder> = changes.collect();
    let mut kept = kept(&result.kept, &mut spots);
    kept.unreached.clone_from(&dossier.report.sites.unreached);
    dossier.report.relaxation = Some(ReportedRelaxation {
        // What does not hold is not told as if it did.
        changes: match result.holds() {
            true => changes,
            false => Vec::new(),
        },
        saves: Savings {
            x86_64: cost_on(Profile::X86),
            aarch64: cost_on(Profile::Arm64),
        },
        cost_before: result.cost_before,
        cost: match result.holds() {
            true => result.cost,
            false => result.cost_before,
        },
        profile: inputs.profile,
        optimal: result.optimal && why(result).is_none(),
        lower_bound: result.lower_bound,
        searched: SearchedOrders {
            operations: result.choices,
            runs: result.recorded_runs,
            all_runs: result.all_runs,
        },
        proved: result.proved,
        verified_runs,
        schedules,
        rounds: result.rounds,
        why: why(result),
        kept,
        patch: String::from_utf8_lossy(inputs.patch).into_owned(),
    });
    Ok(())
}

/// Why there is no patch though weaker orders were found.
fn why(result: &RelaxResult) -> Option<String> {
    match &result.verification {
        Verification::Clean(_) | Verification::NoPatch => None,
        Verification::Fails(failure) => Some(failure_text(failure)),
        Verification::DoesNotBuild(_) => Some("the patched program does not build".to_owned()),
        Verification::Interrupted => Some("interrupted before it was verified".to_owned()),
        Verification::OutOfTime => {
            Some("not verified: the time was up (--time gives it more)".to_owned())
        }
    }
}

fn relaxed(change: &RelaxedSite, spots: &mut SpotFinder<'_>) -> ReportedRelaxedOrder {
    let done = ChangeDescription::of(change.kind, change.before);
    ReportedRelaxedOrder {
        kind: match change.kind {
            ChangeKind::RemoveFence => RelaxedKind::RemovedFence,
            _ => RelaxedKind::Order,
        },
        place: place(&change.at, spots),
        from: done.from,
        to: done.to,
        on_failure: done.on_failure,
        stronger: change.is_raise(),
        executions: change.executions,
        what: done.what,
    }
}

fn kept(sites: &[KeptSite], spots: &mut SpotFinder<'_>) -> KeptOrders {
    let mut kept = KeptOrders::default();
    for site in sites {
        let place = place(&site.at, spots);
        match &site.why {
            KeptReason::Weakest => {}
            KeptReason::OneThread => kept.one_thread.push(place),
            KeptReason::Refused(why) => kept.unchangeable.push(UnchangeableOrder {
                place,
                why: why.clone(),
            }),
        }
    }
    kept.one_thread.sort();
    kept.unchangeable
        .sort_by(|one, other| one.place.cmp(&other.place));
    kept
}
