//! What a stale value does to the program: each violation is made to happen in
//! runs of its own, and how they go is the verdict. Decides verdicts; must not know
//! how they are shown or what is repaired because of them.

mod access;
mod choices;
mod conduct;
mod delayed;
mod directed_run;
mod discard;
mod earlier;
mod effects;
mod free;
mod judge;
mod later_readers;
mod noise;
mod other_schedule;
mod parallel;
mod printed;
mod reduce;
#[cfg(test)]
mod sample_events;
mod seen;
mod sequential;
mod unseen;

use std::collections::{HashMap, HashSet};

use wmfix_analysis::SiteId;
use wmfix_analysis::witness::Machine;
use wmfix_trace::StaleTarget;

use crate::cli::{HarmLevel, Target};
use crate::findings::{EndCause, ProcessEnd, ViolationKey};
use crate::run::RunEnd;
use crate::symbols::Frame;

pub(crate) use directed_run::TakenOld;
pub(crate) use free::{
    FEWEST_RUNS, FreeFinding, FreePlan, FreeRuns, USUAL_RUNS, explore, hand_over,
};
pub(crate) use judge::{HarmPlan, judge};

/// What came of taking the stale value, from the least to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HarmVerdict {
    /// The thread threw the stale value away before anybody could notice, did what it
    /// does with the newest one, or the run is one of an interleaving all the same.
    Discarded,
    /// It could not be made to happen.
    Untried,
    /// The value was used, and nothing that the test looks at showed it.
    Survived,
    /// The run ended well, but printed what no run without the choice printed.
    Visible,
    /// The run ended as no run without the choice does.
    Harmful,
}

impl HarmVerdict {
    /// Whether a finding with this verdict counts at a level.
    pub(crate) fn counts(self, level: HarmLevel) -> bool {
        match level {
            HarmLevel::Harmful => self == Self::Harmful,
            HarmLevel::Visible => self >= Self::Visible,
            HarmLevel::Survived => self > Self::Discarded,
            HarmLevel::All => true,
        }
    }
}

/// What was found out about one violation.
#[derive(Clone, Debug)]
pub(crate) struct Harm {
    /// The worst of all runs.
    pub(crate) verdict: HarmVerdict,
    /// The directed runs that were made.
    pub(crate) runs: u64,
    /// The run that shows the verdict.
    pub(crate) shown_by: Option<ShownBy>,
    /// The most ordered of the machines that can show it, where that is known.
    pub(crate) machine: Option<Machine>,
    /// Why it could not be made to happen, if it could not.
    pub(crate) untried: Option<UntriedReason>,
}

impl Harm {
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
    /// Its seed.
    pub(crate) seed: u64,
    /// Its stale choice.
    pub(crate) target: StaleTarget,
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

/// What a directed run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It ended otherwise than runs do.
    Ended(RunEnd),
    /// A process of it came to an end that no process did.
    Process(EndCause),
    /// These two accesses raced.
    Race(SiteId, SiteId),
    /// This access used freed memory.
    FreedMemory(SiteId),
    /// It printed something else.
    Printed,
    /// Nothing that the test looks at.
    Nothing,
    /// The stale value was thrown away.
    Discarded,
    /// The stale value made no difference to anything that the program did.
    NoDifference,
    /// An interleaving has the same run, but for attempts that were given up.
    Sequential,
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

/// The verdicts on the violations of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Harms {
    by_key: HashMap<ViolationKey, Harm>,
    /// Stale with others they do harm, whatever they do alone.
    together: HashSet<ViolationKey>,
}

impl Harms {
    /// Adds a verdict.
    pub(crate) fn insert(&mut self, key: ViolationKey, harm: Harm) {
        self.by_key.insert(key, harm);
    }

    /// A run has shown a violation to be as bad as this. What is known to be as bad
    /// stays.
    pub(crate) fn raise(&mut self, key: ViolationKey, verdict: HarmVerdict, shown_by: ShownBy) {
        let harm = self.by_key.entry(key).or_insert(Harm {
            verdict: HarmVerdict::Untried,
            runs: 0,
            shown_by: None,
            machine: None,
            untried: None,
        });
        harm.runs += 1;
        if harm.shown_by.is_none() || harm.verdict < verdict {
            harm.verdict = verdict;
            harm.shown_by = Some(shown_by);
            harm.untried = None;
        }
    }

    /// Has a violation count, whatever its stale value does alone: with others it does
    /// harm.
    pub(crate) fn count(&mut self, key: ViolationKey) {
        self.together.insert(key);
    }

    /// The violations that do harm only with others.
    pub(crate) fn together(&self) -> impl Iterator<Item = &ViolationKey> {
        self.together.iter()
    }

    /// The same without those that there was no time for.
    pub(crate) fn without_late(mut self) -> Self {
        let is_late = |harm: &Harm| harm.untried == Some(UntriedReason::TimeUp);
        self.by_key.retain(|_, harm| !is_late(harm));
        self
    }

    /// What is known about a violation; `None` if nobody asked.
    pub(crate) fn get(&self, key: &ViolationKey) -> Option<&Harm> {
        self.by_key.get(key)
    }

    /// Whether a violation counts at this level for this target. One that nobody has
    /// judged does.
    pub(crate) fn counts(&self, key: &ViolationKey, level: HarmLevel, target: Target) -> bool {
        let is_together = self.together.contains(key);
        let counts =
            |harm: &Harm| (is_together || harm.verdict.counts(level)) && harm.shows_on(target);
        self.get(key).is_none_or(counts)
    }

    /// The violations that there was no time for.
    pub(crate) fn out_of_time(&self) -> impl Iterator<Item = &ViolationKey> {
        let late = |harm: &Harm| harm.untried == Some(UntriedReason::TimeUp);
        let found = self.by_key.iter().filter(move |(_, harm)| late(harm));
        found.map(|(key, _)| key)
    }

    /// The violations that do not count at this level for this target.
    pub(crate) fn below(
        &self,
        level: HarmLevel,
        target: Target,
    ) -> impl Iterator<Item = &ViolationKey> {
        let keys = self.by_key.keys();
        keys.filter(move |key| !self.counts(key, level, target))
    }
}
