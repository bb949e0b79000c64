//! What a stale value does to the program: each violation is made to happen in runs of
//! its own, and in free runs beside others; how they end is the verdict. Decides
//! verdicts, and which of them count; must not know how they are shown or what is
//! repaired because of them.

mod access;
mod choices;
mod criterion;
mod directed_run;
mod free;
mod interleavings;
mod judge;
mod nearest;
mod notice;
mod parallel;
mod reduce;
mod runner;
#[cfg(test)]
mod sample_events;
mod verdicts;

use wmfix_analysis::SiteId;
use wmfix_analysis::witness::Machine;
use wmfix_trace::StaleTargets;

use crate::cli::Target;
use crate::findings::{EndCause, ProcessEnd, RaceKey};
use crate::run::RunEnd;
use crate::symbols::Frame;

pub(crate) use criterion::{Criterion, RobustnessReason};
pub(crate) use directed_run::TakenOld;
pub(crate) use free::{
    FEWEST_RUNS, FreeFinding, FreePlan, FreeRuns, USUAL_RUNS, explore, hand_over,
};
pub(crate) use judge::{HarmPlan, judge, untried_by_command};
pub(crate) use notice::{Extent, Loss, Notice, Noticed, SeenBy, notice};
pub(crate) use verdicts::Harms;

/// What came of taking the stale value, from the least to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HarmVerdict {
    /// It could not be made to happen.
    NotTried,
    /// Nothing that the test looks at showed it.
    NoEffectSeen,
    /// The run printed what no run without the choice printed, and not all interleavings
    /// were made: one of them may print it.
    NotDecided,
    /// The run failed as no interleaving that was made does.
    Harmful,
}

/// What was found out about one violation.
#[derive(Clone, Debug)]
pub(crate) struct Harm {
    /// The worst of all runs.
    pub(crate) verdict: HarmVerdict,
    /// The runs that took its stale value.
    pub(crate) runs: u64,
    /// The run that shows the verdict.
    pub(crate) shown_by: Option<ShownBy>,
    /// The most ordered of the machines that can show it, where that is known.
    pub(crate) machine: Option<Machine>,
    /// Why it could not be made to happen, if it could not.
    pub(crate) untried: Option<UntriedReason>,
}

impl Harm {
    /// Nothing was found out.
    pub(crate) fn untried(reason: UntriedReason) -> Self {
        Self {
            verdict: HarmVerdict::NotTried,
            runs: 0,
            shown_by: None,
            untried: Some(reason),
            machine: None,
        }
    }

    /// Whether a machine of this kind can show it; true where that is not known.
    pub(crate) fn shows_on(&self, target: Target) -> bool {
        let needed = match target {
            Target::X86_64 => Machine::X86_64,
            Target::Aarch64 => Machine::AArch64,
            Target::C11 => Machine::C11,
        };
        self.machine.is_none_or(|machine| machine <= needed)
    }
}

/// The run that shows a verdict.
#[derive(Clone, Debug)]
pub(crate) struct ShownBy {
    /// Which of the programs.
    pub(crate) program: usize,
    /// Its seed.
    pub(crate) seed: u64,
    /// Its stale choices.
    pub(crate) choices: StaleTargets,
    /// It is a free run, in which every access takes these choices only where the model
    /// allows it.
    pub(crate) was_free: bool,
    /// What it came to.
    pub(crate) effect: Effect,
    /// The process that failed, where that is what it came to.
    pub(crate) failed: Option<FailedProcess>,
    /// The end of what the program printed.
    pub(crate) last_words: String,
}

/// A process that failed, and where it stood then.
#[derive(Clone, Debug)]
pub(crate) struct FailedProcess {
    /// How it ended.
    pub(crate) end: ProcessEnd,
    /// The calls that the thread was in that a signal killed, innermost first.
    pub(crate) died_in: Vec<Frame>,
}

/// What a run with stale choices came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It ended otherwise than runs do.
    Ended(RunEnd),
    /// A process of it came to an end that no process did.
    Process(EndCause),
    /// Two accesses raced, first at these sites.
    Race {
        /// Equal for the same race in other runs.
        key: RaceKey,
        /// One of the two.
        one: SiteId,
        /// The other.
        other: SiteId,
    },
    /// This access used freed memory.
    FreedMemory(SiteId),
    /// It printed something else.
    Printed,
    /// Nothing that the test looks at.
    Nothing,
}

impl Effect {
    /// Whether it is an end that only a test comes to that looks.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Process(_))
    }

    /// How bad it is; another output is, where all interleavings were made.
    pub(crate) fn verdict(self, is_explored: bool) -> HarmVerdict {
        match self {
            Self::Ended(_) | Self::Process(_) | Self::Race { .. } | Self::FreedMemory(_) => {
                HarmVerdict::Harmful
            }
            Self::Printed if is_explored => HarmVerdict::Harmful,
            Self::Printed => HarmVerdict::NotDecided,
            Self::Nothing => HarmVerdict::NoEffectSeen,
        }
    }
}

/// Why a violation could not be made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UntriedReason {
    /// Runs under the system's scheduling cannot be repeated.
    NotControlled,
    /// In this memory model no run can be shown to be allowed.
    OtherModel,
    /// The run is too long.
    NoTrace,
    /// No choice can be made by the runtime: the old value is not known, or the
    /// program reads it without asking.
    NoChoice,
    /// The runs went elsewhere when they were repeated.
    WentElsewhere,
    /// The time was up.
    TimeUp,
    /// Nobody asked for it.
    NotAsked,
}
