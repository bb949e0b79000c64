//! What a plain write stored, as a digest. Read through the system: the memory may be
//! gone by the time that it is looked at.

use crate::sys;

/// Of a larger write only so many bytes are looked at.
const MOST_BYTES: u64 = 64 << 10;

/// A digest of what memory holds; 0 if it cannot be read.
pub(crate) fn digest(address: u64, size: u64) -> u64 {
    let mut digest = Digest(size);
    let end = address.saturating_add(size.min(MOST_BYTES));
    let mut part = [0u8; 512];
    let mut next = address;
    while next < end {
        let len = (end - next).min(part.len() as u64) as usize;
        if !sys::copy_memory(next, &mut part[..len]) {
            return 0;
        }
        digest.add(&part[..len]);
        next += len as u64;
    }
    digest.0.max(1)
}

struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            let mixed = (self.0.rotate_left(5) ^ u64::from_le_bytes(word))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 32);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        digest(bytes.as_ptr() as u64, bytes.len() as u64)
    }

    #[test]
    fn equal_bytes_have_equal_digests() {
        let long: Vec<u8> = (0..2000u32).map(|number| number as u8).collect();
        let mut other = long.clone();
        assert_eq!(of(&long), of(&other));
        other[1999] ^= 1;
        assert_ne!(of(&long), of(&other));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_ne!(of(&[0; 8]), 0);
    }

    #[test]
    fn memory_that_is_not_there_has_none() {
        assert_eq!(digest(16, 8), 0);
    }
}
