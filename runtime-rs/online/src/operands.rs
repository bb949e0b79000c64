//! What loops wait for when the text does not say it: `while (x != turn)`. The
//! read that leaves such a loop has read the operand, or, where the loop is left on any other value, the reads
//! that stay in it have. That takes knowing which reads are of one pass through the
//! loop: those between two operations that every pass comes after. Where the run
//! contradicts the text, or the thread was never seen to go on, the reads are left
//! as they are, plain loads.
//!
//! What a read waited for is decided when its thread does something that the loop
//! does not do. A run that contradicts the text later takes that back.

use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use wmfix_analysis::{LoopExit, ThreadId};

use crate::waits::OpenExit;

/// A place in the text where an atomic operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

/// A waiting loop, reached on one way of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitLoop {
    /// Its number among all.
    pub id: usize,
    /// When it is left.
    pub exit: OpenExit,
    /// Operations of which one comes before each pass; none if a thread passes
    /// only once.
    pub after: Vec<TextId>,
}

/// What an event is for the loops around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round<'w> {
    /// A read of this value, of a location of this size, by a waiting loop.
    Read(&'w Arc<WaitLoop>, u64, u8),
    /// Something that may happen within a waiting loop.
    Within,
    /// Something that no waiting loop does, at this place.
    Outside(Option<TextId>),
}

/// What a read of a waiting loop waited for: its exit condition, or nothing that
/// the run tells. The last decision about a read counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The number of the read's event.
    pub number: u64,
    /// The condition.
    pub exit: Option<LoopExit>,
}

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// The passes of one process's threads through waiting loops.
#[derive(Debug, Default)]
pub struct OperandTracker {
    threads: Map<ThreadId, Thread>,
    decisions: Vec<Decision>,
}

#[derive(Debug, Default)]
struct Thread {
    /// When each place was last executed.
    last: Map<TextId, u64>,
    /// When the thread last did something that no waiting loop does.
    outside: Option<u64>,
    passes: Map<usize, Pass>,
    /// The loops with reads that are not decided.
    undecided: Vec<usize>,
}

#[derive(Debug)]
struct Pass {
    watch: Arc<WaitLoop>,
    /// The numbers of its reads, and what they read.
    reads: Vec<(u64, u64)>,
    size: u8,
    /// The run and the text agree on what a pass is.
    sound: bool,
}

impl OperandTracker {
    /// Takes an event of a thread. Numbers must grow.
    pub fn event(&mut self, number: u64, thread: ThreadId, round: Round<'_>) {
        let thread = self.threads.entry(thread).or_default();
        match round {
            Round::Within => {}
            Round::Outside(text) => {
                thread.outside = Some(number);
                thread.last.extend(text.map(|text| (text, number)));
                for watch in thread.undecided.drain(..) {
                    if let Some(pass) = thread.passes.get(&watch) {
                        pass.decide(&mut self.decisions);
                    }
                }
            }
            Round::Read(watch, value, size) => {
                let separated = watch.after.iter().filter_map(|d| thread.last.get(d));
                let separated = separated.max().copied();
                let pass = thread.passes.entry(watch.id).or_insert_with(|| Pass {
                    watch: Arc::clone(watch),
                    reads: Vec::new(),
                    size,
                    sound: watch.after.is_empty() || separated.is_some(),
                });
                if let Some(&(before, _)) = pass.reads.last() {
                    if separated > Some(before) {
                        pass.reads.clear();
                    } else if thread.outside > Some(before) && pass.sound {
                        // It left the loop and came back on a way that the text
                        // does not show.
                        pass.sound = false;
                        pass.decide(&mut self.decisions);
                    }
                }
                if !pass.sound {
                    let exit = None;
                    self.decisions.push(Decision { number, exit });
                    pass.reads.clear();
                } else if !thread.undecided.contains(&watch.id) {
                    thread.undecided.push(watch.id);
                }
                pass.reads.push((number, value));
            }
        }
    }

    /// The thread has ended.
    pub fn end(&mut self, thread: ThreadId) {
        self.threads.remove(&thread);
    }

    /// The run is over: what is undecided stays so.
    pub fn finish(&mut self) {
        for thread in core::mem::take(&mut self.threads).into_values() {
            for watch in &thread.undecided {
                let reads = thread.passes.get(watch).map(|pass| &pass.reads);
                let nothing = reads
                    .into_iter()
                    .flatten()
                    .map(|&(number, _)| Decision { number, exit: None });
                self.decisions.extend(nothing);
            }
        }
    }

    /// What was decided since the last call.
    pub fn take_decisions(&mut self) -> impl Iterator<Item = Decision> {
        self.decisions.drain(..)
    }
}

impl Pass {
    /// Decides about its reads, by whether it has left the loop as the text says.
    fn decide(&self, decisions: &mut Vec<Decision>) {
        let exit = self.exit();
        let of_reads = self.reads.iter();
        decisions.extend(of_reads.map(|&(number, _)| Decision { number, exit }));
    }

    /// The exit condition of a pass that has left the loop.
    fn exit(&self) -> Option<LoopExit> {
        let (&(_, left), stayed) = self.reads.split_last().filter(|_| self.sound)?;
        let exit = match (self.watch.exit.is_told_by_staying(), stayed.first()) {
            (false, _) => self.watch.exit.closed(left, self.size),
            (true, Some(&(_, first))) => self.watch.exit.closed(first, self.size),
            // Left at once, with one of all values but one.
            (true, None) => return None,
        };
        let agrees = stayed.iter().all(|&(_, value)| !exit.leaves(value));
        (exit.leaves(left) && (agrees || !self.watch.exit.sole)).then_some(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_analysis::Comparison;

    fn watch(comparison: Comparison, after: &[u32]) -> Arc<WaitLoop> {
        Arc::new(WaitLoop {
            id: 0,
            exit: OpenExit {
                mask: None,
                comparison,
                sole: true,
            },
            after: after.iter().copied().map(TextId).collect(),
        })
    }

    /// Operands of the reads of a thread: `Ok(value)` is a read, `Err(text)`
    /// something else.
    fn operands(watch: &Arc<WaitLoop>, events: &[Result<u64, u32>]) -> Vec<Option<u64>> {
        let mut all = OperandTracker::default();
        for (number, event) in (0..).zip(events) {
            let round = match *event {
                Ok(value) => Round::Read(watch, value, 8),
                Err(text) => Round::Outside(Some(TextId(text))),
            };
            all.event(number, ThreadId(1), round);
        }
        all.finish();
        let decisions = all.take_decisions();
        let found: Map<u64, Option<LoopExit>> =
            decisions.map(|one| (one.number, one.exit)).collect();
        let reads = (0..).zip(events).filter(|(_, event)| event.is_ok());
        let decided = reads.map(|(number, _): (u64, _)| found[&number]);
        decided.map(|exit| exit.map(|exit| exit.operand)).collect()
    }

    #[test]
    fn the_read_that_leaves_tells_what_was_waited_for() {
        let watch = watch(Comparison::Equal, &[7]);
        let events = [
            Err(7),
            Ok(0),
            Ok(1),
            Ok(2),
            Err(9),
            Err(7),
            Ok(2),
            Ok(3),
            Err(9),
        ];
        let expected = [Some(2), Some(2), Some(2), Some(3), Some(3)];
        assert_eq!(operands(&watch, &events), expected);
    }

    #[test]
    fn the_reads_that_stay_tell_what_must_change() {
        let watch = watch(Comparison::NotEqual, &[7]);
        let events = [Err(7), Ok(4), Ok(4), Ok(6), Err(7), Ok(6), Err(9)];
        assert_eq!(operands(&watch, &events), [Some(4), Some(4), Some(4), None]);
    }

    #[test]
    fn a_thread_that_was_not_seen_to_go_on_tells_nothing() {
        let watch = watch(Comparison::Equal, &[]);
        assert_eq!(operands(&watch, &[Ok(0), Ok(1)]), [None, None]);
        assert_eq!(
            operands(&watch, &[Ok(0), Ok(1), Err(9)]),
            [Some(1), Some(1)]
        );
    }

    #[test]
    fn a_run_that_contradicts_the_text_tells_nothing() {
        // Something else happened between two reads of what should be one pass.
        let once = watch(Comparison::Equal, &[]);
        assert_eq!(
            operands(&once, &[Ok(0), Err(9), Ok(1), Err(9)]),
            [None, None]
        );
        // What should come first never did.
        let after = watch(Comparison::Equal, &[7]);
        assert_eq!(operands(&after, &[Ok(0), Ok(1), Err(9)]), [None, None]);
        // The operand was read by a read that stayed.
        let events = [Err(7), Ok(1), Ok(0), Ok(1), Err(9)];
        assert_eq!(operands(&after, &events), [None, None, None]);
    }
}
