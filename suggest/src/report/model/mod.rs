//! The report as data: what `--format json` prints, and what is kept of the last
//! run. Everything in it is sorted and free of addresses, so that two runs with
//! the same seed give the same report but for the seconds.

mod allocation;
mod failure;
mod free;
mod harm;
mod notice;
mod outside;
mod relaxation;
mod repair;

use serde::{Deserialize, Serialize};

pub(crate) use allocation::{Allocation, Pointer};
pub(crate) use failure::{FailedThread, Failure, FailureWord};
pub(crate) use free::{ReportedChoice, ReportedFreeFinding, ReportedFreeRuns};
pub(crate) use harm::{HarmWord, ReportedHarm};
pub(crate) use notice::{AskedFor, NoticedWord, ReportedCriterion, ReportedLoss, ReportedNotice};
pub(crate) use outside::{OutsideFinding, OutsideFindings};
pub(crate) use relaxation::{
    KeptOrders, MachineCost, RelaxedKind, ReportedRelaxation, ReportedRelaxedOrder, Savings,
    SearchedOrders, UnchangeableOrder,
};
pub(crate) use repair::{
    CandidateChange, FenceSide, Group, NoPatch, OrderChange, PatchedFreeRuns, Position, Price,
    Repair, RepairCandidate, ReportedChange, ReportedChangeKind, ReportedEdit, ReportedHunk,
    SearchedRepairs, UnrepairedFindings, Verification, VerificationOutcome,
};

/// The version of the format.
pub(crate) const VERSION: u32 = 2;

/// The whole report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The version of the format.
    pub version: u32,
    /// The result in one word.
    pub verdict: Verdict,
    /// By what violations count.
    pub criterion: ReportedCriterion,
    /// What the tests notice, where it was measured.
    pub notices: Vec<ReportedNotice>,
    /// What was run.
    pub runs: Runs,
    /// The atomic sites of the program.
    pub sites: Sites,
    /// Runs that failed.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// Accesses that could be stale.
    pub violations: Vec<Violation>,
    /// Data races.
    pub races: Vec<Race>,
    /// What was found outside of the part that was named; `None` if all of the project
    /// was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideFindings>,
    /// What free runs showed, if there were any.
    #[serde(default)]
    pub free_runs: Option<ReportedFreeRuns>,
    /// How far the exploration of all runs came, if there was one.
    #[serde(default)]
    pub proof: Option<ReportedProof>,
    /// The repair, if one was asked for and found.
    pub repair: Option<Repair>,
    /// Changes that were found and are no patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<RepairCandidate>,
    /// Weaker orders, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<ReportedRelaxation>,
    /// Findings that no repair could be found for.
    pub unrepairable: Vec<UnrepairedFindings>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// Findings that were reviewed and accepted. They do not count.
    pub allowed: Vec<AllowedFinding>,
    /// What a baseline says about the findings; `None` without one.
    #[serde(default)]
    pub baseline: Option<Baseline>,
}

/// Findings that were known before. They do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    /// The file that lists them.
    pub file: String,
    /// Those that were found again, by their names in this report.
    pub known: Vec<String>,
    /// How many were not.
    pub not_found: usize,
}

impl Baseline {
    /// Whether a finding of this report was known.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.known.iter().any(|known| known == id)
    }
}

/// A finding that was reviewed and accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AllowedFinding {
    /// Its name in this report.
    pub id: String,
    /// Why it was accepted.
    pub reason: String,
    /// The comment or the entry of wmfix.toml that says so.
    pub by: SourceLine,
    /// What it is.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A finding of either sort.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Finding {
    /// An access that could be stale.
    Violation(Violation),
    /// A data race.
    Race(Race),
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SourceLine {
    /// The file, relative to the current folder where it lies in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// How far the exploration of all runs came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedProof {
    /// Every run was made, up to the order of independent steps.
    pub complete: bool,
    /// And nothing was found in any of them.
    pub proved: bool,
    /// Classes of runs that were explored.
    pub classes: u64,
    /// Runs that this took.
    pub runs: u64,
    /// Schedules that are known and were not run.
    pub open: u64,
    /// How many classes there are, as far as one can tell.
    pub estimate: Option<u64>,
    /// What keeps it from being a proof.
    pub obstacles: Vec<String>,
}

/// The result in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Nothing was found.
    Clean,
    /// Something was found.
    Findings,
    /// A program failed in every run.
    Failed,
}

/// What was run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// How many runs.
    pub total: u64,
    /// How many of them were not recorded as a whole.
    #[serde(default)]
    pub incomplete: u64,
    /// How many different schedules they had.
    pub distinct_schedules: u64,
    /// How many events they had.
    pub events: u64,
    /// How long it took.
    pub seconds: f64,
}

/// The atomic sites of the program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sites {
    /// How many there are.
    pub total: u64,
    /// How many of them were executed.
    pub reached: u64,
    /// The others.
    pub unreached: Vec<ReportedPlace>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ReportedPlace {
    /// The file, relative to the current folder where it lies in it.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column in bytes, from 1; 0 if it is not known.
    pub column: u32,
    /// The function.
    pub function: String,
    /// The operation as it is written, or what it does.
    pub operation: String,
    /// The memory order; empty for plain accesses.
    pub order: String,
}

impl ReportedPlace {
    /// The file and the line; the file alone where the line is not known.
    pub(crate) fn point(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

/// An access that could be stale.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Violation {
    /// Its name in this report.
    pub id: String,
    /// Its name in every report on this program.
    #[serde(default)]
    pub stable_id: String,
    /// What it shares with other findings that have one cause.
    #[serde(default)]
    pub cause: String,
    /// What could go stale.
    pub kind: StaleKind,
    /// The access.
    pub access: ReportedPlace,
    /// The newer write that it may miss; without a file and line if no
    /// instruction made it.
    pub write: ReportedPlace,
    /// The thread of the access, and that of the write.
    pub threads: Vec<u32>,
    /// What is accessed.
    pub location: String,
    /// The line that made the memory which it is in, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Allocation>,
    /// What was read, if it reads.
    pub read_value: Option<Value>,
    /// What it could take instead.
    pub stale_values: Vec<Value>,
    /// Those of the values that point into memory that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<Pointer>,
    /// All of these are the value that was read.
    pub same_value: bool,
    /// How many runs showed it.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// The independent checker of witnesses agrees.
    pub witness_checked: bool,
    /// What taking the stale value did to the program.
    pub harm: Option<ReportedHarm>,
    /// It counts: it is harmful, or everything stale counts.
    pub counts: bool,
    /// The machines that can show it: `x86-64`, `aarch64`, `c11`. Empty where that
    /// is not known.
    #[serde(default)]
    pub machines: Vec<String>,
    /// The lines through which the access, a call, leads to its operation, the
    /// operation last.
    #[serde(default)]
    pub via: Vec<ReportedPlace>,
}

/// What could go stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum StaleKind {
    /// A read may see an old value.
    #[serde(rename = "stale-read")]
    Read,
    /// A write may land before a newer one.
    #[serde(rename = "stale-write")]
    Write,
    /// A read-modify-write may act on an old value.
    #[serde(rename = "stale-rmw")]
    Rmw,
}

/// A value of an atomic object, raw bits. A number where JSON's numbers can hold
/// it, and else hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// Up to 64 bits.
    Number(u64),
    /// More.
    Digits(String),
}

/// A data race.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Race {
    /// Its name in this report.
    pub id: String,
    /// Its name in every report on this program.
    #[serde(default)]
    pub stable_id: String,
    /// What it shares with other findings that have one cause.
    #[serde(default)]
    pub cause: String,
    /// The access that came first in the run that showed it.
    pub first: ReportedPlace,
    /// The access that came second.
    pub second: ReportedPlace,
    /// What is accessed.
    pub location: String,
    /// The line that made the memory which it is in, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Allocation>,
    /// Which of the two gives the memory back; `None` if neither does.
    #[serde(default)]
    pub frees: Option<RaceSide>,
    /// The seed of the first run that showed it, or that it was predicted from.
    pub seed: u64,
    /// What should have ordered the accesses, if something carried the news of the
    /// first one to the second.
    #[serde(default)]
    pub ordered_by: Option<WeakMessage>,
    /// What came of the prediction; `None` if a run showed the race.
    #[serde(default)]
    pub prediction: Option<RacePrediction>,
}

/// A write and the read that took it, too weak to order what is around them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WeakMessage {
    /// The write.
    pub write: ReportedPlace,
    /// The read.
    pub read: ReportedPlace,
    /// Which of them is too weak: `write`, `read` or both.
    pub weak: Vec<String>,
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RaceSide {
    /// The one that came first in the run that showed it.
    First,
    /// The other one.
    Second,
}

/// A race that no run showed until it was made to happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RacePrediction {
    /// What came of following its schedule.
    pub outcome: FollowedSchedule,
    /// Why the race was not seen.
    pub why: Option<String>,
}

/// What came of following a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FollowedSchedule {
    /// The race was seen.
    Seen,
    /// The run did something else.
    Elsewhere,
    /// It was not followed.
    NotFollowed,
}

/// A verdict on runs that showed what is not reported, and nothing else.
pub(crate) const UNREPORTED: &str =
    "nothing was confirmed: a run showed what its recording does not have";

impl Report {
    /// Whether the verdict is that: programs that fail in every run have failures, and
    /// runs of which none is recorded as a whole show nothing.
    pub(crate) fn has_unreported(&self) -> bool {
        let Runs {
            total, incomplete, ..
        } = self.runs;
        self.verdict == Verdict::Failed && self.failures.is_empty() && incomplete < total
    }

    /// The findings that count although they lie outside of the part that was named.
    pub(crate) fn counted_outside(&self) -> &[OutsideFinding] {
        let outside = self.outside.as_ref();
        outside.map_or(&[], |outside| outside.counted.as_slice())
    }

    /// The findings that a word may mean, by their names in this report: the one
    /// of that name, or those whose stable name begins with it.
    pub(crate) fn meant_by(&self, word: &str) -> Vec<&str> {
        let all = || self.names();
        if let Some((id, _)) = all().find(|(id, _)| id.eq_ignore_ascii_case(word)) {
            return vec![id];
        }
        if let Some((id, _)) = all().find(|(_, stable)| *stable == word) {
            return vec![id];
        }
        let begun = all().filter(|(_, stable)| !word.is_empty() && stable.starts_with(word));
        begun.map(|(id, _)| id).collect()
    }

    /// The names of all findings, allowed or not: here, and in every report.
    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        // A failure has no name that stays: its place may be anywhere.
        let failures = self.failures.iter().map(|one| (one.id.as_str(), ""));
        let violations = self.violations.iter();
        let violations = violations.map(|one| (one.id.as_str(), one.stable_id.as_str()));
        let races = self.races.iter();
        let races = races.map(|one| (one.id.as_str(), one.stable_id.as_str()));
        let allowed = self.allowed.iter().map(|allowed| match &allowed.finding {
            Finding::Violation(one) => (allowed.id.as_str(), one.stable_id.as_str()),
            Finding::Race(one) => (allowed.id.as_str(), one.stable_id.as_str()),
        });
        let free = self.free_findings().iter();
        let free = free.map(|one| (one.id.as_str(), ""));
        let own = failures.chain(violations).chain(races);
        own.chain(allowed).chain(free)
    }

    /// The name of a finding in every report.
    pub(crate) fn stable_id(&self, id: &str) -> Option<&str> {
        let (_, stable) = self.names().find(|(known, _)| *known == id)?;
        Some(stable)
    }

    /// Whether a baseline lists the finding of this name.
    pub(crate) fn is_known(&self, id: &str) -> bool {
        let baseline = self.baseline.as_ref();
        baseline.is_some_and(|baseline| baseline.has(id))
    }

    /// The violation of this name, allowed or not.
    pub(crate) fn violation(&self, id: &str) -> Option<&Violation> {
        let allowed = self.allowed.iter().filter_map(|one| match &one.finding {
            Finding::Violation(violation) => Some(violation),
            Finding::Race(_) => None,
        });
        let mut all = self.violations.iter().chain(allowed);
        all.find(|violation| violation.id == id)
    }

    /// What free runs showed under this name.
    pub(crate) fn free_finding(&self, id: &str) -> Option<&ReportedFreeFinding> {
        let mut all = self.free_findings().iter();
        all.find(|finding| finding.id == id)
    }

    /// All that free runs showed.
    pub(crate) fn free_findings(&self) -> &[ReportedFreeFinding] {
        let free = self.free_runs.as_ref();
        free.map_or(&[], |free| free.findings.as_slice())
    }

    /// The race of this name, allowed or not.
    pub(crate) fn race(&self, id: &str) -> Option<&Race> {
        let allowed = self.allowed.iter().filter_map(|one| match &one.finding {
            Finding::Race(race) => Some(race),
            Finding::Violation(_) => None,
        });
        let mut all = self.races.iter().chain(allowed);
        all.find(|race| race.id == id)
    }
}

impl From<u128> for Value {
    fn from(value: u128) -> Self {
        match u64::try_from(value) {
            Ok(value) => Self::Number(value),
            Err(_) => Self::Digits(format!("{value:#x}")),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // Small numbers are numbers; large ones are flags or pointers, but for those
            // that are a small negative one of 4 or 8 bytes.
            Self::Number(value) if *value < 1 << 16 => write!(f, "{value}"),
            Self::Number(value) => match small_negative(*value) {
                Some(negative) => write!(f, "{value:#x} ({negative})"),
                None => write!(f, "{value:#x}"),
            },
            Self::Digits(digits) => f.write_str(digits),
        }
    }
}

/// The number above -65536 that bits of 4 or 8 bytes are, if they are one.
fn small_negative(bits: u64) -> Option<i64> {
    let of_word = u32::try_from(bits).map(|bits| i64::from(bits.cast_signed()));
    let number = of_word.unwrap_or_else(|_| bits.cast_signed());
    (-(1 << 16)..0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn bits_are_shown_as_the_numbers_that_they_may_be() {
        for (bits, shown) in [
            (7, "7"),
            (0xffff, "65535"),
            (0x1_0000, "0x10000"),
            (0xffff_ffff, "0xffffffff (-1)"),
            (0xffff_0000, "0xffff0000 (-65536)"),
            (0xfffe_ffff, "0xfffeffff"),
            (u64::MAX - 1, "0xfffffffffffffffe (-2)"),
            (0x7f00_ffff_ffff_fff0, "0x7f00fffffffffff0"),
        ] {
            assert_eq!(Value::Number(bits).to_string(), shown);
        }
    }
}
