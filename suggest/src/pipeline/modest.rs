//! Repairs of the worst findings alone. What a stale value does depends on the rest of the
//! program: where a lock orders nothing, values that its holder reads are old as well, and
//! do no harm once the lock is repaired. Such a repair is cheaper than one of everything. It
//! is enough if the patched program shows nothing that counts, and what the recorded runs
//! have in spite of it is seen there to do no harm.

use std::collections::BTreeSet;

use super::repair::Attempts;
use crate::cli::Target;
use crate::evidence::Evidence;
use crate::findings::ViolationKey;
use crate::harm::Harms;
use crate::repair_loop::{Ranking, RepairLoop, RepairResult};
use crate::run::interrupted;

/// The part of the time that is left for each of them.
const SHARE: f64 = 0.25;

impl Attempts<'_> {
    /// The first such repair that is enough, if there is one.
    pub(super) fn modest(
        &self,
        repair_loop: &mut RepairLoop<'_>,
        evidence: &mut Evidence,
        harms: &Harms,
    ) -> anyhow::Result<Option<RepairResult>> {
        let target = self.settings.options.target;
        let left: BTreeSet<ViolationKey> = harms.below(target).copied().collect();
        let minor = harms.minor().copied().collect();
        let names = self.names(evidence, harms)?;
        for spared in self.spared(evidence, harms, target) {
            if interrupted() || self.deadline.is_over() {
                break;
            }
            let rank = Ranking {
                left_alone: &left.union(&spared).copied().collect(),
                minor: &minor,
                spared: &spared,
            };
            let deadline = self.deadline.share(SHARE);
            let attempt = self.make(repair_loop, evidence, rank, names.as_ref(), deadline);
            let (proposal, trial) = attempt?;
            let accepted = repair_loop.accept(evidence, proposal, trial, spared.len() as u64);
            if accepted.is_some() {
                return Ok(accepted);
            }
        }
        repair_loop.begins_anew();
        Ok(None)
    }

    /// What each of them leaves alone of what counts: all but races, then what the test
    /// does not see. None of them is a repair of everything, or of nothing.
    fn spared(
        &self,
        evidence: &mut Evidence,
        harms: &Harms,
        target: Target,
    ) -> Vec<BTreeSet<ViolationKey>> {
        let (found, _) = evidence.findings();
        let has_races = !found.races.is_empty();
        let keys = found.violations.iter().map(|finding| finding.key);
        let counting: BTreeSet<ViolationKey> =
            keys.filter(|key| harms.counts(key, target)).collect();
        let hidden = |key: &&ViolationKey| !harms.is_harmful(key);
        let hidden: BTreeSet<ViolationKey> = counting.iter().filter(hidden).copied().collect();
        let mut all = Vec::new();
        if has_races && !counting.is_empty() {
            all.push(counting.clone());
        }
        if !hidden.is_empty() && hidden.len() < counting.len() {
            all.push(hidden);
        }
        all
    }
}
