//! An exploration that was stopped, written down so that another process goes on with
//! it: the tree of schedules, and the schedules of those runs whose findings are to be
//! had again. Knows nothing of where that is kept.

use serde::{Deserialize, Serialize};
use wmfix_analysis::explore::{Access, Actor, Assignment, Explorer, SavedNode, Totals};

/// The version of the format.
const VERSION: u32 = 2;

/// The explorations of all programs of a test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedExploration {
    version: u32,
    /// What it is an exploration of.
    pub key: ExplorationKey,
    /// The programs, in their order.
    pub programs: Vec<SavedProgram>,
}

/// What must be the same for an exploration to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExplorationKey {
    /// The version of wmfix, and the hash of its runtime.
    pub wmfix: String,
    /// The options that decide what a run shows.
    pub options: Vec<String>,
    /// The hash of the programs.
    pub programs: String,
}

/// How far the exploration of a program came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedProgram {
    nodes: Vec<Node>,
    classes: u64,
    redundant: u64,
    gaps: u64,
    elsewhere: f64,
    /// What it is a part of, if it is one.
    pub top: Option<Top>,
    /// Runs that were made.
    pub runs: u64,
    /// Runs that are made again: they showed something for the first time.
    pub shown: Vec<ShownRun>,
    /// Schedules of which it is seen to that they lead where they led before.
    pub samples: Vec<Schedule>,
}

/// A schedule: the threads of the first steps, and those that sleep after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Schedule(Vec<u32>, Vec<u32>);

/// A run that showed something for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownRun {
    /// How to have it again.
    pub schedule: Schedule,
    /// Equal for runs with equal steps; none if it left no trace.
    pub course: Option<u64>,
}

/// The top of a tree that is explored in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Top {
    /// Equal for equal ones.
    pub name: String,
    /// How many runs it took to find it.
    pub runs: u64,
}

/// A node of the tree: its parent, its thread, what is known of it as bits, and what
/// its step accesses as object, size and whether it writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Node(usize, u32, u8, Vec<(u64, u8, bool)>);

const FULL: u8 = 1;
const OPEN: u8 = 2;
const TRUSTED: u8 = 4;
const TOP: u8 = 8;

impl SavedExploration {
    /// The explorations of all programs.
    pub(crate) fn new(key: ExplorationKey, programs: Vec<SavedProgram>) -> Self {
        Self {
            version: VERSION,
            key,
            programs,
        }
    }

    /// Whether this version can read it.
    pub(crate) fn is_known(&self) -> bool {
        self.version == VERSION
    }
}

impl Schedule {
    /// Of an assignment.
    pub(crate) fn of(assignment: &Assignment) -> Self {
        let threads = |actors: &[Actor]| actors.iter().map(|actor| actor.thread).collect();
        Self(threads(&assignment.prefix), threads(&assignment.asleep))
    }

    /// To be run again.
    pub(crate) fn assignment(&self) -> Assignment {
        let actors = |threads: &[u32]| threads.iter().map(|&thread| Actor { thread }).collect();
        Assignment::again(actors(&self.0), actors(&self.1))
    }
}

impl SavedProgram {
    /// The state of an explorer.
    pub(crate) fn of(explorer: &Explorer) -> Self {
        let totals = explorer.totals();
        let nodes = explorer.save().into_iter().map(|node| {
            let bit = |is: bool, bit: u8| if is { bit } else { 0 };
            let flags = bit(node.full, FULL)
                | bit(node.open, OPEN)
                | bit(node.trusted, TRUSTED)
                | bit(node.top, TOP);
            let accesses = node.accesses.iter();
            let accesses = accesses.map(|access| (access.object, access.size, access.writes));
            Node(node.parent, node.actor.thread, flags, accesses.collect())
        });
        Self {
            nodes: nodes.collect(),
            classes: totals.classes,
            redundant: totals.redundant,
            gaps: totals.gaps,
            elsewhere: totals.elsewhere,
            ..Self::default()
        }
    }

    /// Whether there is anything to go on with.
    pub(crate) fn is_begun(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// The explorer that goes on; nothing if what was written down is no tree.
    pub(crate) fn explorer(&self) -> Option<Explorer> {
        let nodes = self
            .nodes
            .iter()
            .map(|Node(parent, thread, flags, accesses)| {
                let accesses = accesses.iter().map(|&(object, size, writes)| Access {
                    object,
                    size,
                    writes,
                });
                SavedNode {
                    parent: *parent,
                    actor: Actor { thread: *thread },
                    accesses: accesses.collect(),
                    full: flags & FULL != 0,
                    open: flags & OPEN != 0,
                    trusted: flags & TRUSTED != 0,
                    top: flags & TOP != 0,
                }
            });
        let nodes: Vec<SavedNode> = nodes.collect();
        let totals = Totals {
            classes: self.classes,
            redundant: self.redundant,
            gaps: self.gaps,
            elsewhere: self.elsewhere,
        };
        Explorer::restore(&nodes, totals)
    }
}
