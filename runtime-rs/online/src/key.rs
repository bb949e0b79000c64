//! Names for contexts that are the same in every run of a program, wherever the
//! loader has put its files: a number made of the files and the positions in them
//! that the instruction and its callers have.

/// A file that code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleKey(u64);

/// An instruction with its calls; of the default, an empty stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextKey(pub u64);

const FACTOR: u64 = 0xff51_afd7_ed55_8ccd;
const OTHER_FACTOR: u64 = 0xc4ce_b9fe_1a85_ec53;

/// What a frame counts as that lies in no file.
const NOWHERE: (u64, u64) = (0x6e6f_7768_6572_6521, 0);

impl ModuleKey {
    /// The file at a path.
    pub fn of(path: &str) -> Self {
        Self(path.bytes().fold(FACTOR, |hash, byte| {
            mix(hash ^ u64::from(byte)).wrapping_add(1)
        }))
    }
}

impl ContextKey {
    /// The same calls with one more: the instruction at an offset in a file, or one
    /// that lies in none.
    #[must_use]
    pub fn then(self, frame: Option<(ModuleKey, u64)>) -> Self {
        let (module, offset) = frame.map_or(NOWHERE, |(module, offset)| (module.0, offset));
        Self(mix(mix(self.0 ^ module).wrapping_add(offset)).wrapping_add(1))
    }
}

/// Every bit of the result depends on every bit of the number, and no two numbers
/// have the same result.
fn mix(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(FACTOR);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(OTHER_FACTOR);
    bits ^ bits >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_positions_and_callers_tell_contexts_apart() {
        let (a, b) = (ModuleKey::of("/bin/a"), ModuleKey::of("/bin/b"));
        let stack = ContextKey::default().then(Some((a, 16)));
        let keys = [
            stack,
            stack.then(Some((a, 16))),
            stack.then(Some((a, 17))),
            stack.then(Some((b, 16))),
            stack.then(None),
            ContextKey::default().then(None),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key));
        }
        assert_eq!(stack, ContextKey::default().then(Some((a, 16))));
    }
}
