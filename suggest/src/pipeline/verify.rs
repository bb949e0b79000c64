//! The stage that verifies: a patched copy is built and run as the original was, and what
//! it shows is judged. What that means for the patch is for the caller to compare.

use std::collections::BTreeSet;
use std::time::Instant;

use super::free::due;
use super::{HARM_SHARE, VERIFY_SHARE, needs_repair};
use crate::cli::Target;
use crate::evidence::{Evidence, RunLimit, RunPlan};
use crate::findings::ViolationKey;
use crate::harm::{Criterion, FreeFinding, FreeRuns, HarmVerdict, Harms};
use crate::path_limit::PathLimit;
use crate::preparation::Settings;
use crate::progress::Stage;
use crate::project::{Prepared, Project};
use crate::repair_loop::{
    PatchedRuns, Trial, Verification, VerificationFailure, ViolationPlaces, violation_places,
};
use crate::run::{Deadline, interrupted};
use crate::shards::Selection;
use crate::subject::{PatchedFile, Subject};

/// How a patched copy is verified.
pub(super) struct VerificationPlan<'a> {
    pub(super) settings: &'a Settings,
    /// The first seed.
    pub(super) seed: u64,
    /// By what violations count.
    pub(super) criterion: &'a Criterion,
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
        deadline,
        ..
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
    let runs = RunPlan {
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
    let mut patched = patched.gather(&subject, runs)?;
    limit.read_macros(patched.places());
    let judged = judge(&mut patched, &subject, &plan, &limit)?;
    let mut verification = compare(original, &mut patched, &judged.left, &limit);
    if let (Verification::Clean(verified), Some(free)) = (&mut verification, &judged.free) {
        verified.free_runs = Some((free.runs, free.are_enough));
        let fails = |finding: &FreeFinding| finding.verdict == HarmVerdict::Harmful;
        if free.findings.iter().any(fails) {
            verification = Verification::Fails(VerificationFailure::StaleTogether);
        }
    }
    Ok(Trial {
        verification,
        runs: Some(PatchedRuns {
            evidence: patched,
            copy: subject.copy,
            harmless: judged.left,
            harmful: judged.harmful,
        }),
        elapsed: started.elapsed(),
    })
}

/// What is known of what a patched program does with stale values.
struct JudgedPatch {
    /// The violations that do too little harm.
    left: BTreeSet<ViolationKey>,
    /// Those of which a failing execution is known.
    harmful: BTreeSet<ViolationPlaces>,
    /// What free runs showed, if they were due.
    free: Option<FreeRuns>,
}

/// Judges the violations of a patched program, if any may be left.
fn judge(
    patched: &mut Evidence,
    subject: &Subject,
    plan: &VerificationPlan<'_>,
    limit: &PathLimit,
) -> anyhow::Result<JudgedPatch> {
    let mut judged = JudgedPatch {
        left: BTreeSet::new(),
        harmful: BTreeSet::new(),
        free: None,
    };
    let options = &plan.settings.options;
    if matches!(plan.criterion, Criterion::Robustness(_)) && options.target == Target::C11 {
        return Ok(judged);
    }
    let deadline = plan.deadline.share(HARM_SHARE);
    let mut harms = patched.judge_harm(
        subject,
        options,
        deadline,
        Harms::by(plan.criterion.clone()),
    )?;
    let within = (limit, options.target);
    let is_left = !needs_repair(patched, &harms, within);
    if is_left && let Some(free) = due(patched, &harms, plan.settings, within.0) {
        let deadline = plan.deadline.share(HARM_SHARE);
        let (runs, raised) = patched.run_freely(subject, options, &free, deadline, harms)?;
        (judged.free, harms) = (Some(runs), raised);
    }
    judged.left = harms.below(options.target).copied().collect();
    // What there is no time for does what it did without the patch.
    let places = patched.places();
    let late = harms.out_of_time();
    let late = late.filter(|key| plan.left.contains(&violation_places(places, key)));
    judged.left.extend(late);
    let harmful = harms.harmful().map(|key| violation_places(places, key));
    judged.harmful = harmful.collect();
    Ok(judged)
}
