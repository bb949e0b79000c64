//! The stage that verifies: a patched copy is built and run as the original was, and what
//! it shows is judged. What that means for the patch is for the caller to compare.

use std::collections::BTreeSet;
use std::time::Instant;

use super::{HARM_SHARE, VERIFY_SHARE};
use crate::cli::HarmLevel;
use crate::evidence::{Evidence, RunLimit, RunPlan};
use crate::findings::ViolationKey;
use crate::harm::Harms;
use crate::path_limit::PathLimit;
use crate::preparation::Settings;
use crate::progress::Stage;
use crate::project::{Prepared, Project};
use crate::repair_loop::{PatchedRuns, Trial, Verification, ViolationPlaces, violation_places};
use crate::run::{Deadline, interrupted};
use crate::shards::Selection;
use crate::subject::PatchedFile;

/// How a patched copy is verified.
pub(super) struct VerificationPlan<'a> {
    pub(super) settings: &'a Settings,
    /// The first seed.
    pub(super) seed: u64,
    /// What findings are repaired.
    pub(super) fix: HarmLevel,
    /// What does too little harm in the original.
    pub(super) left: &'a BTreeSet<ViolationPlaces>,
    /// When everything has to be over.
    pub(super) deadline: Deadline,
}

/// Verify: the patched copy is built and run as the original was, with seeds of
/// its own.
pub(super) fn verify(
    original: &mut Evidence,
    files: &[PatchedFile],
    project: &Project,
    plan: VerificationPlan<'_>,
    compare: impl FnOnce(
        &mut Evidence,
        &mut Evidence,
        &BTreeSet<ViolationKey>,
        &PathLimit,
    ) -> Verification,
) -> anyhow::Result<Trial> {
    let VerificationPlan {
        settings,
        seed,
        fix,
        left: left_in_original,
        deadline,
    } = plan;
    let options = &settings.options;
    let started = Instant::now();
    let without_runs = |verification| Trial {
        verification,
        runs: None,
        elapsed: started.elapsed(),
    };
    if files.is_empty() {
        return Ok(without_runs(Verification::NoPatch));
    }
    let subject = match project.prepare(files, options, deadline)? {
        Prepared::Built(subject) => subject,
        Prepared::Failed(_) if interrupted() => {
            return Ok(without_runs(Verification::Interrupted));
        }
        Prepared::Failed(_) if deadline.is_over() => {
            return Ok(without_runs(Verification::OutOfTime));
        }
        Prepared::Failed(failure) => {
            return Ok(without_runs(Verification::DoesNotBuild(failure)));
        }
    };
    let rules = &settings.allow_rules;
    let (rules, scope, limit) = match &subject.copy {
        Some(copy) => (
            rules.in_copy(&copy.original, &copy.folder),
            settings.scope.in_copy(&copy.original, &copy.folder),
            settings.limit.in_copy(copy),
        ),
        None => (
            rules.clone(),
            settings.scope.clone(),
            settings.limit.clone(),
        ),
    };
    let plan = RunPlan {
        options,
        seed,
        record: true,
        // A repair is judged by what runs show.
        predict: false,
        stage: Stage::Verifying,
        limit: RunLimit {
            deadline,
            share: VERIFY_SHARE,
        },
        selection: Selection::UntilQuiet,
        resumed: None,
    };
    let patched = Evidence::new(&settings.vocabularies, scope, rules);
    let mut patched = patched.gather(&subject, plan)?;
    let deadline = deadline.share(HARM_SHARE);
    let harms = patched.judge_harm(&subject, options, deadline, Harms::default())?;
    let mut left: BTreeSet<ViolationKey> = harms.below(fix, options.target).copied().collect();
    // What there is no time for does what it did without the patch.
    let places = patched.places();
    let late = harms.out_of_time();
    left.extend(late.filter(|key| left_in_original.contains(&violation_places(places, key))));
    Ok(Trial {
        verification: compare(original, &mut patched, &left, &limit),
        runs: Some(PatchedRuns {
            evidence: patched,
            copy: subject.copy,
            harmless: left,
        }),
        elapsed: started.elapsed(),
    })
}
