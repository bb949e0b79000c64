//! What is left of atomic locations that were taken a part of: memory that is
//! accessed in different sizes still hands on what the last write of the whole did.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::view::View;
use crate::event::Bytes;

/// The largest atomic object, which bounds the search to the left.
const LONGEST: u64 = 16;

/// The parts that are left, none of which overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remainders {
    parts: BTreeMap<u64, (u64, View)>,
}

impl Remainders {
    /// Keeps what the location in `whole` handed on, for the bytes of it that are not
    /// `taken`.
    pub(crate) fn keep(&mut self, whole: Bytes, taken: Bytes, message: &View) {
        for part in outside(whole, taken) {
            self.parts
                .insert(part.address, (part.size, message.clone()));
        }
    }

    /// Takes these bytes out, and joins what they hand on into the message.
    pub(crate) fn take(&mut self, bytes: Bytes, message: &mut View) {
        if self.parts.is_empty() {
            return;
        }
        let from = bytes.address.saturating_sub(LONGEST);
        let end = bytes.address.saturating_add(bytes.size);
        let overlapping: Vec<u64> = (self.parts.range(from..end))
            .filter(|&(&address, &(size, _))| address + size > bytes.address)
            .map(|(&address, _)| address)
            .collect();
        for address in overlapping {
            if let Some((size, handed_on)) = self.parts.remove(&address) {
                message.join(&handed_on);
                self.keep(Bytes { address, size }, bytes, &handed_on);
            }
        }
    }

    /// What lies in these bytes ends.
    pub(crate) fn end(&mut self, bytes: Bytes) {
        if !self.parts.is_empty() {
            self.take(bytes, &mut View::default());
        }
    }
}

/// The bytes of `whole` before and after those that are `taken`.
fn outside(whole: Bytes, taken: Bytes) -> impl Iterator<Item = Bytes> {
    let whole_end = whole.address + whole.size;
    let taken_end = taken.address.saturating_add(taken.size);
    let before = (whole.address, taken.address.min(whole_end));
    let after = (taken_end.max(whole.address), whole_end);
    let parts = [before, after].into_iter();
    parts
        .filter(|(from, end)| from < end)
        .map(|(address, end)| Bytes {
            address,
            size: end - address,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(address: u64, size: u64) -> Bytes {
        Bytes { address, size }
    }

    #[test]
    fn only_what_was_not_taken_is_left() {
        let of = |whole, taken| outside(whole, taken).collect::<Vec<_>>();
        assert_eq!(of(bytes(16, 16), bytes(16, 8)), [bytes(24, 8)]);
        assert_eq!(of(bytes(16, 16), bytes(24, 8)), [bytes(16, 8)]);
        assert_eq!(
            of(bytes(16, 16), bytes(20, 4)),
            [bytes(16, 4), bytes(24, 8)]
        );
        assert_eq!(of(bytes(16, 8), bytes(16, 16)), []);
    }

    #[test]
    fn a_part_hands_on_once_what_the_whole_did() {
        let mut message = View::default();
        message.happened_before.set(1, 7);
        let mut remainders = Remainders::default();
        remainders.keep(bytes(16, 16), bytes(16, 8), &message);
        let mut got = View::default();
        remainders.take(bytes(8, 16), &mut got);
        assert_eq!(got.happened_before.get(1), 0, "that is before it");
        remainders.take(bytes(28, 4), &mut got);
        assert_eq!(got.happened_before.get(1), 7);
        let mut rest = View::default();
        remainders.take(bytes(24, 4), &mut rest);
        assert_eq!(rest.happened_before.get(1), 7);
        let mut nothing = View::default();
        remainders.take(bytes(24, 8), &mut nothing);
        assert_eq!(nothing.happened_before.get(1), 0);
    }
}
