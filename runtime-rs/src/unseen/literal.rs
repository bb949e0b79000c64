//! Texts that nobody can write to, and formats that have a call look at nothing else.

use core::ffi::{CStr, c_char};

use super::watched;

/// Whether an address lies in a part of a file that is never writable.
pub(super) fn is_constant(address: usize) -> bool {
    let holds = |&(first, end): &(usize, usize)| (first..end).contains(&address);
    watched().is_some_and(|watched| watched.constant.iter().any(holds))
}

/// Whether a format is constant and asks for numbers, characters and addresses only.
pub(super) fn is_scalar_format(address: usize) -> bool {
    if !is_constant(address) {
        return false;
    }
    // SAFETY: a zero-terminated text, as the caller of the C library promises.
    let mut rest = unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        let conversion = rest[at + 1..].iter();
        let letter = |byte: &&u8| !b"-+ #0123456789.*'$hlLqjzt".contains(byte);
        let Some(length) = conversion.clone().position(|byte| letter(&byte)) else {
            return false;
        };
        let end = at + 1 + length;
        if !b"diouxXcCeEfFgGaApm%".contains(&rest[end]) {
            return false;
        }
        rest = &rest[end + 1..];
    }
    true
}
