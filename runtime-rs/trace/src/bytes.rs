//! Numbers in bytes: LEB128 for what is mostly small, eight fixed bytes for
//! addresses, so that traces of two runs differ only in those.

use core::sync::atomic::{Ordering, compiler_fence};

/// Fills a record from its second byte on; the first, the tag, comes last.
pub(crate) struct Sink<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Sink<'a> {
    #[inline(always)]
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 1 }
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.out[self.at] = byte;
        self.at += 1;
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    #[inline(always)]
    pub(crate) fn wide(&mut self, value: u128) {
        match u64::try_from(value) {
            Ok(small) => self.number(small),
            Err(_) => self.wide_slow(value),
        }
    }

    #[cold]
    fn wide_slow(&mut self, mut value: u128) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    #[inline(always)]
    pub(crate) fn address(&mut self, value: u64) {
        self.slice(&value.to_le_bytes());
    }

    #[inline(always)]
    pub(crate) fn slice(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Makes the record exist. The tag is stored after everything else, so a
    /// process killed in the middle leaves no half of a record behind.
    #[inline(always)]
    pub(crate) fn commit(self, tag: u8) -> usize {
        compiler_fence(Ordering::Release);
        self.out[0] = tag;
        self.at
    }
}

/// Takes numbers from bytes.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Why a number could not be taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ByteError {
    /// The bytes ended.
    Short,
    /// They are no number, or not one that may stand here.
    Value(&'static str),
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ByteError> {
        let byte = *self.bytes.get(self.at).ok_or(ByteError::Short)?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn wide(&mut self) -> Result<u128, ByteError> {
        let mut value = 0u128;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if shift == 126 && bits > 3 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ByteError::Value("a number of more than 128 bits"))
    }

    pub(crate) fn number(&mut self) -> Result<u64, ByteError> {
        u64::try_from(self.wide()?).map_err(|_| ByteError::Value("a number of more than 64 bits"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, ByteError> {
        u32::try_from(self.number()?).map_err(|_| ByteError::Value("a number of more than 32 bits"))
    }

    pub(crate) fn address(&mut self) -> Result<u64, ByteError> {
        let mut eight = [0; 8];
        eight.copy_from_slice(self.slice(8)?);
        Ok(u64::from_le_bytes(eight))
    }

    pub(crate) fn slice(&mut self, len: usize) -> Result<&'a [u8], ByteError> {
        let end = self.at.checked_add(len).ok_or(ByteError::Short)?;
        let slice = self.bytes.get(self.at..end).ok_or(ByteError::Short)?;
        self.at = end;
        Ok(slice)
    }
}
