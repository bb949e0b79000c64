//! The repair as data: what changes where, why, what it costs and what was
//! verified. Ids name findings of the same report.

use serde::{Deserialize, Serialize};

use super::{ReportedPlace, ReportedProof};

/// A repair of everything that can be repaired.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Repair {
    /// The changes, in the order of the source.
    pub changes: Vec<ReportedChange>,
    /// What they cost together.
    pub cost: u64,
    /// The cost model that ranked repairs.
    pub profile: String,
    /// No repair of these runs is cheaper.
    pub optimal: bool,
    /// No repair of the runs costs less than this.
    pub lower_bound: u64,
    /// What it is the cheapest of.
    pub searched: SearchedRepairs,
    /// How many runs of the patched program showed no further findings; 0 if it was
    /// not verified.
    pub verified_runs: u64,
    /// What the patched program showed.
    pub verification: Verification,
    /// Changes that belong together. With `--output`, each group is one patch.
    pub groups: Vec<Group>,
    /// The patch hunk by hunk.
    pub hunks: Vec<ReportedHunk>,
    /// All of it as one unified diff.
    pub patch: String,
}

/// Changes that are no patch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RepairCandidate {
    /// Why they are none.
    pub why: NoPatch,
    /// What would be changed; nothing if that is too much to be sensible.
    pub changes: Vec<CandidateChange>,
    /// No repair of the runs costs less than these.
    pub optimal: bool,
}

/// Why there is no patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoPatch {
    /// The time was up before it was built and run.
    OutOfTime,
    /// It was interrupted before it was built and run.
    Interrupted,
    /// The search was stopped with one of more changes than can be sensible.
    TooLarge,
}

/// A change that was not tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CandidateChange {
    /// Where.
    pub place: ReportedPlace,
    /// What would be done, for people.
    pub what: String,
}

/// Changes that belong together, because they remove the same findings or are
/// too close to be patches of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    /// The changes, by number from 0.
    pub changes: Vec<usize>,
    /// The findings that they remove.
    pub removes: Vec<String>,
    /// The group as a diff, for when the groups before it are applied.
    pub patch: String,
    /// What it does to the files as they are, for programs that edit.
    pub edits: Vec<ReportedEdit>,
}

/// A replacement in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedEdit {
    /// The file.
    pub file: String,
    /// Start of the text that is replaced.
    pub from: Position,
    /// End of the text that is replaced, exclusive.
    pub to: Position,
    /// The new text.
    pub text: String,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The byte, from 0.
    pub byte: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in UTF-16 units, from 1, as editors count.
    pub column: usize,
    /// The column in bytes, from 1, as compilers count.
    pub byte_column: usize,
}

impl Position {
    /// The position of a byte of a text.
    pub(crate) fn of(text: &[u8], byte: usize) -> Self {
        let before = &text[..byte.min(text.len())];
        let start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            byte,
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[start..])
                .encode_utf16()
                .count()
                + 1,
            byte_column: before.len() - start + 1,
        }
    }
}

/// A hunk of the patch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedHunk {
    /// The file.
    pub file: String,
    /// The first line that it shows, before the patch.
    pub line: u32,
    /// How many lines it shows, before the patch.
    pub lines: u32,
    /// The changes that it makes, by number from 0; none if it only declares what
    /// other hunks use.
    pub changes: Vec<usize>,
    /// The hunk, as the diff has it.
    pub text: String,
}

/// One change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedChange {
    /// An order is raised, or a fence is new.
    pub kind: ReportedChangeKind,
    /// The operation whose order is raised, or that the fence is next to.
    pub place: ReportedPlace,
    /// The order before; `none` for a new fence.
    pub from: String,
    /// The order after.
    pub to: String,
    /// The failure orders of a compare-exchange, before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OrderChange>,
    /// The side of the operation that a new fence is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<FenceSide>,
    /// The findings that come back without it.
    pub removes: Vec<String>,
    /// They come back only without the changes for findings that matter less, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub covered: bool,
    /// The seed of a run that shows the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How many runs of the patched program came to this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_runs: Option<u64>,
    /// What is done, for people.
    pub what: String,
    /// What could go wrong without it, in one sentence.
    pub without: String,
    /// What it guarantees, in one sentence.
    pub ensures: String,
    /// What the processor pays.
    pub price: Price,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReportedChangeKind {
    /// The order of an operation is raised.
    Order,
    /// A fence is put in.
    Fence,
    /// A fence changes places with the statement next to it.
    Move,
    /// An access of an object that is not atomic becomes an atomic one.
    Atomic,
}

impl ReportedChangeKind {
    /// What a search chooses from.
    pub(crate) const SEARCHED: [Self; 4] = [Self::Order, Self::Fence, Self::Move, Self::Atomic];
}

/// What the cheapest repair is the cheapest of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SearchedRepairs {
    /// How many recorded runs every repair had to hold on.
    pub runs: u64,
    /// In how many layers it was searched for: races, harmful findings, the rest, each
    /// on top of those before.
    #[serde(default = "one_layer")]
    pub layers: u64,
    /// How many violations that count it was not searched for, as they are gone or do too
    /// little harm with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spared: u64,
    /// The kinds of change that it was chosen from.
    pub kinds: Vec<ReportedChangeKind>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn one_layer() -> u64 {
    1
}

/// An order before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderChange {
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

/// A side of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FenceSide {
    /// Right before it.
    Before,
    /// Right after it.
    After,
}

/// What the processors pay for a change, each time it is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Price {
    /// On x86-64.
    #[serde(rename = "x86-64")]
    pub x86_64: String,
    /// On AArch64.
    pub aarch64: String,
}

/// What the patched program showed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Verification {
    /// In one word.
    pub outcome: VerificationOutcome,
    /// How many repairs were tried in all, this one counted.
    pub rounds: u64,
    /// What is still wrong, if something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many different schedules the runs of the patched program had.
    pub schedules: u64,
    /// Atomic sites that the runs before the patch reached, and these did not.
    pub missed: Vec<ReportedPlace>,
    /// Findings that the runs of the patched program show all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<String>,
    /// How many findings they show beside these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u64,
    /// Free runs of the patched program, if stale values are left in it that do not count
    /// one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_runs: Option<PatchedFreeRuns>,
    /// How far all runs of the patched program were explored, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ReportedProof>,
}

/// Free runs of a patched program, which showed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PatchedFreeRuns {
    /// How many.
    pub total: u64,
    /// Whether there were as many as are needed.
    pub enough: bool,
}

impl Verification {
    /// Whether it is not known what the stale values that are left do together.
    pub(crate) fn lacks_free_runs(&self) -> bool {
        self.free_runs.is_some_and(|free| !free.enough)
    }

    /// Whether every run of the patched program was made, and none showed anything.
    pub(crate) fn is_proved(&self) -> bool {
        self.proof.as_ref().is_some_and(|proof| proof.proved)
    }
}

/// Whether the patch held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum VerificationOutcome {
    /// No further findings.
    Held,
    /// There are still findings.
    NotEnough,
}

/// Findings that stay, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnrepairedFindings {
    /// The findings.
    pub findings: Vec<String>,
    /// The place where a change would be needed; `None` if none would help.
    pub place: Option<ReportedPlace>,
    /// All of it in words.
    pub text: String,
}
