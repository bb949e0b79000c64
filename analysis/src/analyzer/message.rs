//! What the last write to a location hands on to whoever reads it by an acquire
//! read: what was known at the heads of the release sequences that it is in.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::view::View;
use crate::event::ThreadId;
use crate::model::ReleaseSequences;

/// What a write hands on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// All of it.
    pub(crate) view: View,
    /// Which thread's sequences it is of; only what C++17's rule asks for.
    sequences: Option<Box<Sequences>>,
}

/// The release sequences that a write is in, by the thread of their heads.
#[derive(Clone, Debug, Default)]
struct Sequences {
    /// The heads are all this thread's, and hand on the whole message.
    only: Option<ThreadId>,
    /// Otherwise what those of each thread hand on.
    parts: Vec<(ThreadId, View)>,
}

/// A write as messages see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageWrite<'v> {
    /// Who makes it.
    pub(crate) thread: ThreadId,
    /// What it hands on itself: all that the thread knows if it releases, or else what
    /// the thread knew at its last release fence. As the head of a sequence (after a
    /// fence, of the one that it would head).
    pub(crate) source: &'v View,
    /// It releases.
    pub(crate) releases: bool,
    /// It is a read-modify-write.
    pub(crate) is_rmw: bool,
    /// What continues a release sequence.
    pub(crate) rule: ReleaseSequences,
}

impl Message {
    /// The write comes next in modification order. Whether it hands on more than it
    /// would by C++20's rule.
    #[inline]
    pub(crate) fn follow(&mut self, write: &MessageWrite<'_>) -> bool {
        match write.rule {
            ReleaseSequences::Cxx20 if write.is_rmw => {
                self.view.join(write.source);
                false
            }
            ReleaseSequences::Cxx20 => {
                self.view.copy_from(write.source);
                false
            }
            ReleaseSequences::Cxx17 => self.follow_by_thread(write),
        }
    }

    fn follow_by_thread(&mut self, write: &MessageWrite<'_>) -> bool {
        let sequences = self.sequences.get_or_insert_default();
        if write.is_rmw {
            sequences.add(write, &self.view);
            self.view.join(write.source);
            return false;
        }
        let continues = sequences.leave_to(write.thread, &mut self.view);
        if !continues || write.releases {
            // What the thread knows now includes what it knew at an earlier head.
            self.view.copy_from(write.source);
            return false;
        }
        let known = &write.source.happened_before;
        let more = !self.view.happened_before.within(known);
        self.view.join(write.source);
        more
    }

    /// Becomes `other`, keeping its own memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.view.copy_from(&other.view);
        self.sequences.clone_from(&other.sequences);
    }
}

impl Sequences {
    /// A read-modify-write, which continues all sequences and heads one of its own, after
    /// a write that hands on `message`.
    fn add(&mut self, write: &MessageWrite<'_>, message: &View) {
        if self.only == Some(write.thread) {
            return;
        }
        if let Some(only) = self.only.take() {
            self.parts.push((only, message.clone()));
        }
        match (self.parts.iter_mut()).find(|(thread, _)| *thread == write.thread) {
            Some((_, part)) => {
                part.join(write.source);
            }
            None => self.parts.push((write.thread, write.source.clone())),
        }
    }

    /// A store, which ends the sequences of all other threads. Whether it continues any,
    /// which then hand on what is left of `message`.
    fn leave_to(&mut self, thread: ThreadId, message: &mut View) -> bool {
        let only = self.only.replace(thread);
        if only == Some(thread) {
            return true;
        }
        let mut parts = self.parts.drain(..);
        match parts.find(|(of, _)| *of == thread) {
            Some((_, part)) => {
                *message = part;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view that knows as much of each thread as the text's digits say.
    fn view(known: &[u32]) -> View {
        let mut view = View::default();
        for (slot, &number) in known.iter().enumerate() {
            view.happened_before.set(slot, number);
        }
        view
    }

    struct Writes {
        message: Message,
        rule: ReleaseSequences,
    }

    impl Writes {
        fn new(rule: ReleaseSequences) -> Self {
            let message = Message::default();
            Self { message, rule }
        }

        /// Whether the write hands on more than by C++20's rule.
        fn make(&mut self, thread: u32, known: &[u32], releases: bool, is_rmw: bool) -> bool {
            self.message.follow(&MessageWrite {
                thread: ThreadId(thread),
                source: &view(known),
                releases,
                is_rmw,
                rule: self.rule,
            })
        }

        fn hands_on(&self, known: [u32; 2]) -> bool {
            known == [0, 1].map(|slot| self.message.view.happened_before.get(slot))
        }
    }

    #[test]
    fn a_store_of_the_same_thread_continues_a_sequence_up_to_cpp17() {
        for (rule, continues) in [
            (ReleaseSequences::Cxx17, true),
            (ReleaseSequences::Cxx20, false),
        ] {
            let mut writes = Writes::new(rule);
            assert!(!writes.make(0, &[3, 0], true, false));
            assert_eq!(writes.make(0, &[0, 0], false, false), continues);
            assert!(writes.hands_on([if continues { 3 } else { 0 }, 0]));
        }
    }

    #[test]
    fn another_threads_store_ends_it_and_its_read_modify_write_does_not() {
        let mut writes = Writes::new(ReleaseSequences::Cxx17);
        writes.make(0, &[3, 0], true, false);
        writes.make(1, &[0, 5], true, true);
        assert!(writes.hands_on([3, 5]));
        // The other thread's head is parted from what follows.
        assert!(writes.make(0, &[0, 0], false, false));
        assert!(writes.hands_on([3, 0]));
        assert!(!writes.make(1, &[0, 0], false, false));
        assert!(writes.hands_on([0, 0]));
        assert!(!writes.make(0, &[0, 0], false, false));
        assert!(writes.hands_on([0, 0]), "what was ended stays so");
    }
}
