//! An instruction with its callers. Of a recursion that is thousands of calls deep,
//! the innermost calls are kept: who reads a report needs no more, and every operation
//! in it would cost as much as all the calls around it.

use crate::symbols::Address;

/// So many calls are kept: more than programs nest that do not recurse.
const MAX_CALLS: usize = 128;

/// An instruction and its callers, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallChain {
    /// `None` for one that lies in no module.
    addresses: Vec<Option<Address>>,
    is_whole: bool,
}

impl CallChain {
    /// An instruction whose callers are not known yet.
    pub(crate) fn new(instruction: Option<Address>) -> Self {
        Self {
            addresses: vec![instruction],
            is_whole: true,
        }
    }

    /// Adds the next caller, if there is room for it.
    pub(super) fn push(&mut self, caller: Option<Address>) -> bool {
        self.is_whole = self.addresses.len() <= MAX_CALLS;
        if self.is_whole {
            self.addresses.push(caller);
        }
        self.is_whole
    }

    /// Whether it has all the callers.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The instruction.
    pub(super) fn innermost(&self) -> Option<Address> {
        self.addresses[0]
    }

    /// Those that lie in a module.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.addresses.iter().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_recursion_keeps_its_innermost_calls() {
        let at = |offset| Some(Address { module: 0, offset });
        let mut chain = CallChain::new(at(0));
        let kept = (1..=10_000).take_while(|&offset| chain.push(at(offset)));
        assert_eq!(kept.count(), MAX_CALLS);
        assert!(!chain.is_whole());
        assert_eq!(chain.innermost(), at(0));
        let last = chain.addresses().last();
        assert_eq!(last.map(|last| last.offset), Some(MAX_CALLS as u64));
        let mut short = CallChain::new(None);
        assert!(short.push(at(1)) && short.is_whole());
        assert_eq!(short.addresses().count(), 1);
    }
}
