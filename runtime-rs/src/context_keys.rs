//! The names of stacks and contexts that all runs share, by their numbers in this one.

use alloc::vec::Vec;

use wmfix_online::{ContextKey, ModuleKey};

/// The names, as far as contexts were given numbers.
#[derive(Debug)]
pub(crate) struct ContextKeys {
    stacks: Vec<ContextKey>,
    contexts: Vec<ContextKey>,
}

impl ContextKeys {
    pub(crate) fn new() -> Self {
        Self {
            stacks: Vec::from([ContextKey::default()]),
            contexts: Vec::from([ContextKey::default().then(None)]),
        }
    }

    /// A stack was given the next number.
    pub(crate) fn add_stack(&mut self, parent: u32, frame: Option<(ModuleKey, u64)>) {
        self.stacks.push(self.stacks[parent as usize].then(frame));
    }

    /// A context was given the next number: its name.
    pub(crate) fn add_context(
        &mut self,
        stack: u32,
        frame: Option<(ModuleKey, u64)>,
    ) -> ContextKey {
        let key = self.stacks[stack as usize].then(frame);
        self.contexts.push(key);
        key
    }

    /// The name of a context.
    #[inline]
    pub(crate) fn of(&self, context: u32) -> ContextKey {
        self.contexts[context as usize]
    }
}
