//! What came of mending, and how it is told: to people and as JSON.

use super::verify::Verification;
use crate::cli::Cost;
use crate::patch::PatchedFile;

/// What came of it.
pub struct Mended {
    /// The patched files; none if there is no repair.
    pub files: Vec<PatchedFile>,
    /// The changes in words, with their reasons.
    pub changes: Vec<Explained>,
    /// What the changes cost together.
    pub cost: u64,
    /// Whether no repair of the runs is cheaper.
    pub optimal: bool,
    /// No repair of the runs costs less than this.
    pub lower_bound: u64,
    /// What the patched program showed.
    pub verification: Verification,
    /// What cannot be repaired, and the change that would be needed.
    pub unrepairable: Vec<String>,
}

/// A change in words.
pub struct Explained {
    /// `order` or `fence`.
    pub(super) kind: &'static str,
    /// File, line and column.
    pub(super) place: (String, u32, u32),
    /// The operation, as written.
    pub(super) operation: String,
    /// The order before.
    pub(super) from: Option<&'static str>,
    /// What it is changed to.
    pub(super) to: String,
    /// Why.
    pub(super) reasons: Vec<String>,
    /// What the processor pays.
    pub(super) price: &'static str,
}

impl Mended {
    /// Whether the patched program could be built at all.
    pub fn builds(&self) -> bool {
        self.verification != Verification::DoesNotBuild
    }

    /// Whether the patch was built and run, and held.
    pub fn verified(&self) -> bool {
        matches!(self.verification, Verification::Clean(_))
    }

    /// Tells, on stderr, what the patch does and why.
    pub fn tell(&self) {
        if self.files.is_empty() {
            eprintln!("wmfix: no change that can be made removes a finding");
        }
        for change in &self.changes {
            let (file, line, _) = &change.place;
            eprintln!("{file}:{line}: {}: {}", change.operation, change.to);
            for reason in &change.reasons {
                eprintln!("    without it, {reason}");
            }
            eprintln!("    costs {}", change.price);
        }
        for left in &self.unrepairable {
            eprintln!("not repaired: {left}");
        }
        let count = self.changes.len();
        let how_good = if self.optimal {
            "no cheaper repair exists for these runs".to_owned()
        } else {
            format!(
                "the search was stopped: they cost {}, the cheapest repair costs at least {}",
                self.cost, self.lower_bound
            )
        };
        match &self.verification {
            Verification::NoPatch => {}
            Verification::Clean(runs) => eprintln!(
                "{count} changes ({how_good}); the patched program was built and showed nothing more in {runs} runs"
            ),
            Verification::DoesNotBuild => {
                eprintln!(
                    "wmfix: the patched program does not build: that is our fault, and the patch is not shown"
                );
            }
            Verification::Fails(why) => {
                eprintln!("{count} changes; the patch is not enough: {why}");
            }
            Verification::Interrupted => {
                eprintln!("{count} changes ({how_good}); interrupted before they were verified");
            }
        }
    }

    /// The repair as the JSON report has it.
    pub fn as_json(&self, cost: Cost, patch: &str) -> Option<serde_json::Value> {
        if self.files.is_empty() {
            return None;
        }
        let changes: Vec<serde_json::Value> = self
            .changes
            .iter()
            .map(|change| {
                let (file, line, column) = &change.place;
                serde_json::json!({
                    "kind": change.kind,
                    "place": { "file": file, "line": line, "column": column,
                        "operation": change.operation, "order": change.from },
                    "from": change.from,
                    "to": change.to,
                    "reasons": change.reasons,
                })
            })
            .collect();
        let verified = match self.verification {
            Verification::Clean(runs) => runs,
            _ => 0,
        };
        Some(serde_json::json!({
            "changes": changes,
            "cost": self.cost,
            "profile": format!("{cost:?}").to_lowercase(),
            "optimal": self.optimal,
            "verified_runs": verified,
            "patch": patch,
        }))
    }
}
