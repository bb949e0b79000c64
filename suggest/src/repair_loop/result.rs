//! What came of mending, as data: the changes with the findings they remove,
//! what stays, what was verified and what it took. How that is told to people
//! is the report's business.

use std::time::Duration;

use wmfix_analysis::{SiteId, ViolationKind};
use wmfix_frontend::Site;

use super::groups::Group;
use super::verify::Verification;
use crate::subject::PatchedFile;
use wmfix_repair::{ChangeKind, Orders};

/// What tells findings apart: the places, and what could go stale (`None` for
/// a race).
pub type FindingKey = (SiteId, Option<SiteId>, Option<ViolationKind>);

/// What came of it.
pub struct RepairResult {
    /// The patched files; none if there is no repair.
    pub files: Vec<PatchedFile>,
    /// The changes with their reasons, in the order of the source.
    pub changes: Vec<ExplainedChange>,
    /// Changes that belong together.
    pub groups: Vec<Group>,
    /// What the changes cost together.
    pub cost: u64,
    /// Whether no repair of the runs is cheaper.
    pub optimal: bool,
    /// No repair of the runs costs less than this.
    pub lower_bound: u64,
    /// What the patched program showed.
    pub verification: Verification,
    /// What cannot be repaired.
    pub left: Vec<RemainingFindings>,
    /// How many repairs were tried, this one counted.
    pub rounds: u64,
    /// What people should know about how it was found.
    pub notes: Vec<String>,
    /// How long the search took, all rounds together.
    pub searched: Duration,
    /// How long the patched program was built and run, all rounds together.
    pub verified: Duration,
}

/// Where something is done, or would have to be.
pub struct ChangeSite {
    /// A site of the runs that it touches.
    pub site: SiteId,
    /// The operation in the text, if it was found there.
    pub text: Option<Site>,
}

/// A change with its reasons.
pub struct ExplainedChange {
    /// What is done.
    pub action: ChangeKind,
    /// Where.
    pub at: ChangeSite,
    /// The orders before.
    pub before: Orders,
    /// The findings that come back without it.
    pub reasons: Vec<FindingKey>,
}

/// Findings that stay.
pub struct RemainingFindings {
    /// Which.
    pub findings: Vec<FindingKey>,
    /// The change that would be needed, and why it cannot be had; `None` if no
    /// change would help.
    pub needed: Option<(ChangeKind, ChangeSite, String)>,
}

impl RepairResult {
    /// Whether the patched program could be built at all.
    pub fn builds(&self) -> bool {
        self.verification != Verification::DoesNotBuild
    }

    /// Whether the patch was built and run, and held.
    pub fn holds(&self) -> bool {
        matches!(self.verification, Verification::Clean(_))
    }
}
