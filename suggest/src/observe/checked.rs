//! What a run showed that was checked in its process, in terms of the sites.

use std::collections::BTreeSet;

use wmfix_analysis::{SiteId, ViolationKind};
use wmfix_online::{EventKind, violation_kind};
use wmfix_trace::{CheckRecord, Counts, GiveUp, LocalSite};

/// A run that was checked in its process.
#[derive(Debug, Default)]
pub(crate) struct CheckedRun {
    /// Violations: the access, the newer write, and what could go stale.
    pub violations: Vec<(SiteId, Option<SiteId>, ViolationKind)>,
    /// Races that it showed.
    pub races: Vec<(SiteId, SiteId)>,
    /// Races that were predicted from it.
    pub predicted: Vec<(SiteId, SiteId)>,
    /// Atomic sites that were executed.
    pub reached: BTreeSet<SiteId>,
    /// How much it did.
    pub counts: Counts,
    /// Why it was not checked to its end.
    pub gave_up: Option<GiveUp>,
    /// It had too many threads for predictions.
    pub too_many_threads: bool,
    /// It did something of which it had to know what the text says, and did not.
    pub lacked_text: bool,
    unlisted: Vec<SiteId>,
}

impl CheckedRun {
    /// An operation that the run was not told of.
    pub(super) fn add_unlisted(&mut self, site: SiteId, kind: EventKind, matters: bool) {
        self.unlisted.push(site);
        self.lacked_text |= matters;
        if kind.is_atomic() {
            self.reached.insert(site);
        }
    }

    /// Anything else that the run says; `sites` is how many there are. What it
    /// cannot mean makes it a run to record.
    pub(super) fn take(&mut self, record: CheckRecord, sites: usize) {
        self.lacked_text |= self.add(record, sites).is_none();
    }

    fn add(&mut self, record: CheckRecord, sites: usize) -> Option<()> {
        match record {
            CheckRecord::Unlisted { .. } => {}
            CheckRecord::Reached(site) => {
                self.reached.insert(self.site(site, sites)?);
            }
            CheckRecord::Violation {
                access,
                newer,
                kind,
            } => {
                let newer = match newer {
                    Some(newer) => Some(self.site(newer, sites)?),
                    None => None,
                };
                let access = self.site(access, sites)?;
                self.violations.push((access, newer, violation_kind(kind)?));
            }
            CheckRecord::Race {
                first,
                second,
                predicted,
            } => {
                let pair = (self.site(first, sites)?, self.site(second, sites)?);
                match predicted {
                    true => self.predicted.push(pair),
                    false => self.races.push(pair),
                }
            }
            CheckRecord::Counts(counts) => self.counts = counts,
            CheckRecord::GaveUp(GiveUp::Prediction) => self.too_many_threads = true,
            CheckRecord::GaveUp(why) => self.gave_up = Some(why),
        }
        Some(())
    }

    fn site(&self, site: LocalSite, sites: usize) -> Option<SiteId> {
        match site.0.checked_sub(LocalSite::FIRST_UNLISTED) {
            Some(unlisted) => self.unlisted.get(unlisted as usize).copied(),
            None => ((site.0 as usize) < sites).then_some(SiteId(site.0)),
        }
    }
}
