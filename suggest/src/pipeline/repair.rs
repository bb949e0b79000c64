//! The stage that repairs: proposals and their verification, round by round, then the
//! report on all runs.

use std::collections::BTreeSet;

use super::verify::{VerificationPlan, verify};
use super::{
    Examination, HARM_SHARE, RepairRequest, RepairStage, Repaired, SUGGEST_SHARE, assemble_report,
    finding_names, predicts, profile,
};
use crate::cli::{Cost, Volatile};
use crate::evidence::{Evidence, RunLimit, RunPlan};
use crate::exit::Stop;
use crate::findings::FindingNames;
use crate::harm::{Criterion, FreeRuns, Harms, Notice};
use crate::options::value_name;
use crate::patch::{Patch, patch};
use crate::preparation::Settings;
use crate::progress::Stage;
use crate::project::Project;
use crate::repair_loop::{
    NextRound, Proposal, Ranking, RepairLoop, RepairNote, RepairTask, Trial, violation_places,
};
use crate::report::{Judged, RepairInputs};
use crate::run::Deadline;
use crate::shards::Selection;
use crate::subject::Subject;

/// What is to be repaired.
pub(super) struct Found {
    pub(super) evidence: Evidence,
    pub(super) harms: Harms,
    /// What free runs showed, if there were any.
    pub(super) free: Option<FreeRuns>,
    /// What the tests notice.
    pub(super) notices: Vec<Notice>,
    pub(super) subject: Subject,
}

/// Repair and verify, round by round, then report on all runs.
pub(super) fn repaired(
    found: Found,
    settings: Settings,
    project: &Project,
    wanted: &RepairRequest,
    deadline: Deadline,
) -> Result<Examination, Stop> {
    let Found {
        mut evidence,
        mut harms,
        free,
        notices,
        subject,
    } = found;
    let cost = wanted.cost.or(project.config.repair.cost);
    let cost = cost.unwrap_or_default();
    let mut repair_loop = RepairLoop::new(RepairTask {
        tree: settings.limit.path().unwrap_or(project.tree()),
        limit: &settings.limit,
        profile: profile(cost),
        options: &settings.options,
        deadline,
    });
    let attempts = Attempts {
        settings: &settings,
        project,
        wanted,
        criterion: harms.criterion().clone(),
        deadline,
    };
    let modest = match cost {
        Cost::Fewest => None,
        _ => attempts.modest(&mut repair_loop, &mut evidence, &harms)?,
    };
    let mut result = match modest {
        Some(result) => result,
        None => loop {
            let target = settings.options.target;
            let rank = Ranking {
                left_alone: &harms.below(target).copied().collect(),
                minor: &harms.minor().copied().collect(),
                spared: &BTreeSet::new(),
            };
            let names = attempts.names(&mut evidence, &harms)?;
            let attempt = attempts.make(
                &mut repair_loop,
                &mut evidence,
                rank,
                names.as_ref(),
                deadline,
            );
            let (proposal, trial) = attempt?;
            count_harmful(&mut harms, &mut evidence, &trial);
            match repair_loop.conclude(&mut evidence, proposal, trial) {
                NextRound::Finished(result) => break *result,
                NextRound::Search => {}
                NextRound::RunOriginal => {
                    let plan = RunPlan {
                        options: &settings.options,
                        seed: settings.options.seed.wrapping_add(evidence.summary().runs),
                        record: true,
                        predict: predicts(&settings.options),
                        stage: Stage::Running,
                        limit: RunLimit {
                            deadline,
                            share: SUGGEST_SHARE,
                        },
                        selection: Selection::UntilQuiet,
                        resumed: None,
                    };
                    evidence = evidence.gather(&subject, plan)?;
                    let deadline = deadline.share(HARM_SHARE);
                    harms = evidence.judge_harm(&subject, &settings.options, deadline, harms)?;
                }
            }
        },
    };
    if settings.volatile_is_open && settings.options.volatile != Volatile::Ignore {
        result.notes.push(RepairNote::VolatileTakenForAtomic);
    }
    result.sort_groups(&harms);
    let patch = match result.is_patch() {
        true => patch(&result.files)?,
        false => Patch::default(),
    };
    let inputs = RepairInputs {
        result: &result,
        profile: value_name(cost),
        patch: &patch.text,
    };
    let judged = Judged {
        harms: &harms,
        free: free.as_ref(),
        notices: &notices,
    };
    let dossier = assemble_report(&mut evidence, judged, &subject, &settings, Some(inputs))?;
    Ok(Examination {
        dossier,
        options: settings.options,
        repair: RepairStage::Done(Box::new(Repaired {
            result,
            patch,
            tree: project.tree().to_owned(),
        })),
        folder: settings.folder,
    })
}

/// Has those violations count that do harm in the patched program. What kept them from it
/// in the original is repaired: a race that was there in any case, or a store.
fn count_harmful(harms: &mut Harms, evidence: &mut Evidence, trial: &Trial) {
    let Some(runs) = &trial.runs else { return };
    let (found, places) = evidence.findings();
    let keys = found.violations.iter().map(|finding| finding.key);
    for key in keys {
        if runs.harmful.contains(&violation_places(places, &key)) {
            harms.count(key);
        }
    }
}

/// What repairs are tried with.
pub(super) struct Attempts<'a> {
    pub(super) settings: &'a Settings,
    pub(super) project: &'a Project,
    pub(super) wanted: &'a RepairRequest,
    /// By what violations count.
    pub(super) criterion: Criterion,
    pub(super) deadline: Deadline,
}

impl Attempts<'_> {
    /// A repair of what is ranked, and what became of its patched program by a deadline.
    pub(super) fn make(
        &self,
        repair_loop: &mut RepairLoop<'_>,
        evidence: &mut Evidence,
        rank: Ranking<'_>,
        names: Option<&FindingNames>,
        deadline: Deadline,
    ) -> anyhow::Result<(Proposal, Trial)> {
        let proposal = repair_loop.propose(evidence, rank, names)?;
        let places = evidence.places();
        let harmless = rank.left_alone.difference(rank.spared);
        let harmless = harmless.map(|key| violation_places(places, key));
        let plan = VerificationPlan {
            settings: self.settings,
            seed: repair_loop.seed(),
            criterion: &self.criterion,
            left: &harmless.collect(),
            deadline,
        };
        let compare = |original: &mut _, patched: &mut _, left: &_, limit: &_| {
            proposal.verify(original, patched, left, limit)
        };
        let trial = verify(evidence, proposal.files(), self.project, plan, compare)?;
        Ok((proposal, trial))
    }

    /// What the patch is to call the findings, if it is to name them.
    pub(super) fn names(
        &self,
        evidence: &mut Evidence,
        harms: &Harms,
    ) -> anyhow::Result<Option<FindingNames>> {
        let names = self
            .wanted
            .annotate
            .then(|| finding_names(evidence, harms, self.settings));
        names.transpose()
    }
}
