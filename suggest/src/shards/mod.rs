//! Runs that are spread over several machines. `--shard I/N` makes every N-th run
//! and writes down what it showed; `wmfix merge` makes only those runs again that
//! showed something for the first time, takes the others as they are written down,
//! and goes on as if it had made all of them itself. Which machine makes which part
//! is the business of whatever starts them.
//!
//! Why that is the same as one machine: the seed decides a run, so a run that is
//! made again shows the same; a run that is the first to show something is also the
//! first of its shard to do so, hence made again; and all runs are taken in the
//! order of their seeds.
//!
//! Of an exploration a shard is a part of the tree (`explore::part`): its file has how
//! far it came and the schedules of the runs that showed something, which `wmfix merge`
//! makes again.

mod engine;
mod file;
mod merged;
mod notebook;

pub(crate) use engine::from_environment;
pub(crate) use file::{ProgramRecord, ShardFile, ShardSettings};
pub(crate) use merged::MergedShards;
pub(crate) use notebook::{Notebook, Outcome};

use crate::shard_number::Shard;

/// The runs of a shard or of all shards, instead of runs until nothing new is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selection<'a> {
    /// Run after run, until nothing new was found for a while.
    UntilQuiet,
    /// The runs of one shard.
    Shard {
        /// Which one.
        shard: Shard,
        /// How many runs all shards make together.
        runs: u64,
    },
    /// The runs of all shards.
    Merged(&'a MergedShards),
}

impl Selection<'_> {
    /// The number, among all runs of a program, of the run that is made after
    /// `count` others; `None` if there is no further one.
    pub(crate) fn run_number(&self, program: usize, count: u64) -> Option<u64> {
        match self {
            Self::UntilQuiet => Some(count),
            Self::Shard { shard, runs } => {
                let number = shard.run_number(count);
                (number < *runs).then_some(number)
            }
            Self::Merged(merged) => merged.run_number(program, count),
        }
    }

    /// Whether the runs go on until nothing new is found.
    pub(crate) fn is_until_quiet(&self) -> bool {
        matches!(self, Self::UntilQuiet)
    }
}
