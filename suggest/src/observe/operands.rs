//! What loops wait for when the text does not say it: `while (x != turn)`. The
//! read that leaves such a loop has read the operand, or, where the loop is left
//! on any other value, the reads that stay in it have. That takes knowing which
//! reads are of one pass through the loop: those between two operations that
//! every pass comes after. Where the run contradicts the text, or the thread was
//! never seen to go on, the reads are left as they are, plain loads.

use std::collections::HashMap;
use std::sync::Arc;

use wmfix_analysis::{LoopExit, ThreadId};

use super::waits::OpenExit;

/// A place in the text where an atomic operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(pub u32);

/// A waiting loop, reached on one way of calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WaitLoop {
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
pub(super) enum Round<'w> {
    /// A read of this value, of a location of this size, by a waiting loop.
    Read(&'w Arc<WaitLoop>, u64, u8),
    /// Something that may happen within a waiting loop.
    Within,
    /// Something that no waiting loop does, at this place.
    Outside(Option<TextId>),
}

/// The passes of one process's threads through waiting loops.
#[derive(Debug, Default)]
pub(super) struct OperandTracker {
    threads: HashMap<ThreadId, Thread>,
    found: Vec<(usize, LoopExit)>,
}

#[derive(Debug, Default)]
struct Thread {
    /// When each place was last executed.
    last: HashMap<TextId, usize>,
    /// When the thread last did something that no waiting loop does.
    outside: Option<usize>,
    passes: HashMap<usize, Pass>,
}

#[derive(Debug)]
struct Pass {
    watch: Arc<WaitLoop>,
    /// The numbers of its reads, and what they read.
    reads: Vec<(usize, u64)>,
    size: u8,
    /// The run and the text agree on what a pass is.
    sound: bool,
}

impl OperandTracker {
    /// Takes an event of a thread.
    pub(super) fn event(&mut self, number: usize, thread: ThreadId, round: Round<'_>) {
        let thread = self.threads.entry(thread).or_default();
        match round {
            Round::Within => {}
            Round::Outside(text) => {
                thread.outside = Some(number);
                thread.last.extend(text.map(|text| (text, number)));
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
                        self.found.extend(pass.exits());
                        pass.reads.clear();
                    } else if thread.outside > Some(before) {
                        // It left the loop and came back on a way that the text
                        // does not show.
                        pass.sound = false;
                    }
                }
                pass.reads.push((number, value));
            }
        }
    }

    /// The exit conditions of reads, by the numbers of their events.
    pub(super) fn finish(mut self) -> Vec<(usize, LoopExit)> {
        for thread in self.threads.into_values() {
            for pass in thread.passes.into_values() {
                let last = pass.reads.last().map(|&(number, _)| number);
                if thread.outside > last {
                    self.found.extend(pass.exits());
                }
            }
        }
        self.found
    }
}

impl Pass {
    /// The exit conditions of a pass that has left the loop.
    fn exits(&self) -> Vec<(usize, LoopExit)> {
        let Some((&(_, left), stayed)) = self.reads.split_last().filter(|_| self.sound) else {
            return Vec::new();
        };
        let exit = match (self.watch.exit.equal, stayed.first()) {
            (true, _) => self.watch.exit.closed(left, self.size),
            (false, Some(&(_, first))) => self.watch.exit.closed(first, self.size),
            // Left at once, with one of all values but one.
            (false, None) => return Vec::new(),
        };
        let agrees = stayed.iter().all(|&(_, value)| !exit.leaves(value));
        if !exit.leaves(left) || self.watch.exit.sole && !agrees {
            return Vec::new();
        }
        self.reads
            .iter()
            .map(|&(number, _)| (number, exit))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::waits::WaitRole;
    use wmfix_frontend::{Comparison, Joint, LoopRole, Operand};

    fn watch(comparison: Comparison, after: &[u32]) -> Arc<WaitLoop> {
        let role = LoopRole::Spin(wmfix_frontend::LoopExit {
            mask: None,
            comparison,
            operand: Operand::Unknown("turn".to_owned()),
            bounded: false,
            joint: Joint::Sole,
        });
        Arc::new(WaitLoop {
            id: 0,
            exit: WaitRole::of(&role).open.unwrap(),
            after: after.iter().copied().map(TextId).collect(),
        })
    }

    /// Operands of the reads of a thread: `Ok(value)` is a read, `Err(text)`
    /// something else.
    fn operands(watch: &Arc<WaitLoop>, events: &[Result<u64, u32>]) -> Vec<Option<u64>> {
        let mut all = OperandTracker::default();
        for (number, event) in events.iter().enumerate() {
            let round = match *event {
                Ok(value) => Round::Read(watch, value, 8),
                Err(text) => Round::Outside(Some(TextId(text))),
            };
            all.event(number, ThreadId(1), round);
        }
        let found: HashMap<usize, LoopExit> = all.finish().into_iter().collect();
        let reads = events.iter().enumerate().filter(|(_, event)| event.is_ok());
        reads
            .map(|(n, _)| found.get(&n).map(|exit| exit.operand))
            .collect()
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
