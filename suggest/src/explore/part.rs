//! An exploration in parts: the top of the tree that all parts have in common, what is
//! written down of a part, and the parts put together. Knows nothing of files.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use wmfix_analysis::explore::{Assignment, Explorer, Frontier, Run};

use super::{At, Exploration, ExplorePlan, Obstacle, SavedProgram, ShownRun, Top};
use super::{ended, sole_run};
use crate::findings::Observation;
use crate::observe::ExploredRun;
use crate::shard_number::Shard;

/// So many schedules are dealt out to each part: what lies below one may be little and
/// below another one much.
const LEAVES_A_PART: usize = 8;

/// No part has more classes, runs or schedules.
const MOST_COUNTED: u64 = 1 << 40;

/// What came of a part, without names that only its process knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExploredPart {
    /// What it is a part of; none if it ended before that was known.
    top: Option<Top>,
    /// Classes of runs that are its own.
    pub classes: u64,
    /// Runs that were made beyond those for the top.
    runs: u64,
    /// Schedules that are known and were not run.
    pub open: u64,
    /// How many classes there are in it, as far as one can tell.
    estimate: Option<u64>,
    /// What keeps it from being a part of a proof, but for what runs show again.
    obstacles: BTreeSet<PartObstacle>,
    /// Runs that are made again.
    shown: Vec<ShownRun>,
}

/// What keeps a part from being one of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartObstacle {
    TimeUp,
    Interrupted,
    Diverged,
    Processes,
    NoTrace,
    Incomplete,
    TooLong,
    Gaps,
}

impl PartObstacle {
    /// The obstacle as it is written down; none if a run shows it again, or the options.
    fn of(obstacle: &Obstacle) -> Option<Self> {
        Some(match obstacle {
            Obstacle::TimeUp => Self::TimeUp,
            Obstacle::Interrupted => Self::Interrupted,
            Obstacle::Diverged { .. } | Obstacle::PartDiverged | Obstacle::PartsDiffer => {
                Self::Diverged
            }
            Obstacle::Processes => Self::Processes,
            Obstacle::NoTrace => Self::NoTrace,
            Obstacle::Incomplete => Self::Incomplete,
            Obstacle::TooLong => Self::TooLong,
            Obstacle::Gaps => Self::Gaps,
            Obstacle::Loop(_)
            | Obstacle::MixedSizes(_)
            | Obstacle::Uncontrolled(_)
            | Obstacle::Unseen(_)
            | Obstacle::NotInstrumented(_)
            | Obstacle::EndedEarly
            | Obstacle::OnePart
            | Obstacle::RacesOff => return None,
        })
    }

    fn obstacle(self) -> Obstacle {
        match self {
            Self::TimeUp => Obstacle::TimeUp,
            Self::Interrupted => Obstacle::Interrupted,
            Self::Diverged => Obstacle::PartDiverged,
            Self::Processes => Obstacle::Processes,
            Self::NoTrace => Obstacle::NoTrace,
            Self::Incomplete => Obstacle::Incomplete,
            Self::TooLong => Obstacle::TooLong,
            Self::Gaps => Obstacle::Gaps,
        }
    }
}

impl ExploredPart {
    /// What is written down.
    pub(crate) fn of(exploration: &Exploration, saved: &SavedProgram) -> Self {
        let for_top = saved.top.as_ref().map_or(0, |top| top.runs);
        let obstacles = exploration.obstacles.iter();
        Self {
            top: saved.top.clone(),
            classes: exploration.classes,
            runs: exploration.runs.saturating_sub(for_top),
            open: exploration.open,
            estimate: exploration.estimate,
            obstacles: obstacles.filter_map(PartObstacle::of).collect(),
            shown: saved.shown.clone(),
        }
    }

    /// Whether the numbers are those of an exploration.
    pub(crate) fn makes_sense(&self) -> bool {
        let for_top = self.top.as_ref().map_or(0, |top| top.runs);
        let counted = [self.classes, self.runs, self.open, for_top];
        counted.iter().all(|&count| count <= MOST_COUNTED)
    }

    /// Whether it ended before its last run.
    pub(crate) fn is_cut_short(&self) -> bool {
        let ended = [PartObstacle::TimeUp, PartObstacle::Interrupted];
        let was_ended = ended.iter().any(|one| self.obstacles.contains(one));
        self.open > 0 || self.top.is_none() || was_ended
    }

    fn exploration(&self) -> Exploration {
        let obstacles = self.obstacles.iter();
        Exploration {
            classes: self.classes,
            runs: self.runs,
            open: self.open,
            estimate: self.estimate,
            obstacles: obstacles.map(|one| one.obstacle()).collect(),
        }
    }
}

/// The part that this shard has, or why it is not known. `first` is given the first run.
pub(super) fn find_top(
    shard: Shard,
    plan: ExplorePlan,
    run: &impl Fn(&Assignment, At) -> anyhow::Result<Observation>,
    first: impl FnOnce(Observation, &ExploredRun),
) -> anyhow::Result<Result<(Explorer, Top), Obstacle>> {
    let parts = usize::try_from(shard.total())?;
    let mut frontier = Frontier::new(LEAVES_A_PART * parts);
    let mut first = Some(first);
    while let Some(assignment) = frontier.assign() {
        if let Some(obstacle) = ended(plan) {
            return Ok(Err(obstacle));
        }
        let mut observation = run(&assignment, At::Home)?;
        let ran = match sole_run(&mut observation) {
            Ok(ran) if !observation.was_interrupted() => ran,
            Ok(_) => return Ok(Err(ended(plan).unwrap_or(Obstacle::Interrupted))),
            Err(obstacle) => return Ok(Err(ended(plan).unwrap_or(obstacle))),
        };
        if let Some(first) = first.take() {
            first(observation, &ran);
        }
        frontier.finish(ran.run);
    }
    let explorer = frontier.part(usize::try_from(shard.number())? - 1, parts);
    let top = Top {
        name: top_name(&explorer),
        runs: frontier.runs(),
    };
    Ok(Ok((explorer, top)))
}

/// Puts parts together, of which there must be `total`: makes the runs again that showed
/// something. `run` and `take` are those of [`super::explore`].
pub(crate) fn put_together(
    (parts, total): (&[&ExploredPart], u64),
    plan: ExplorePlan,
    run: impl Fn(&Assignment, At) -> anyhow::Result<Observation>,
    mut take: impl FnMut(Observation, &Exploration) -> bool,
) -> anyhow::Result<Exploration> {
    let mut all = Exploration::default();
    for part in parts {
        all.add(part.exploration());
    }
    let tops: Vec<&Top> = parts.iter().filter_map(|part| part.top.as_ref()).collect();
    if parts.len() as u64 != total || tops.iter().any(|top| *top != tops[0]) {
        all.obstacles.insert(Obstacle::PartsDiffer);
    }
    all.runs += tops.first().map_or(0, |top| top.runs);
    let mut made = HashSet::new();
    for shown in parts.iter().flat_map(|part| &part.shown) {
        if !made.insert(&shown.schedule) {
            continue;
        }
        if let Some(obstacle) = ended(plan) {
            all.obstacles.insert(obstacle);
            break;
        }
        let mut observation = run(&shown.schedule.assignment(), At::Home)?;
        if observation.was_interrupted() {
            all.obstacles
                .insert(ended(plan).unwrap_or(Obstacle::Interrupted));
            break;
        }
        let course = observation.explored.pop().map(|ran| {
            all.note(&ran);
            course_name(&ran.run)
        });
        if shown.course.is_some() && shown.course != course {
            all.obstacles.insert(Obstacle::PartsDiffer);
        }
        take(observation, &all);
    }
    Ok(all)
}

/// Equal for runs in which the same threads took steps in the same order.
pub(super) fn course_name(run: &Run) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for step in &run.steps {
        hasher.update(&step.actor.thread.to_le_bytes());
    }
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Equal for equal tops: addresses may differ from machine to machine.
fn top_name(explorer: &Explorer) -> String {
    let mut hasher = blake3::Hasher::new();
    for node in explorer.save() {
        hasher.update(&node.parent.to_le_bytes());
        hasher.update(&node.actor.thread.to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
