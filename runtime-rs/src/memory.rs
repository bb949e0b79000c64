//! The one place that touches the program's atomic memory. Whoever wants a load
//! to see something else than what memory holds has to come here.
//!
//! The holder of the turn excludes all other operations, so acquire and release
//! are strong enough here; where the runtime is not in charge, the callers
//! surround the operation with [`full_fence`].

use core::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Release, SeqCst},
    fence,
};

use wmfix_trace::RmwKind;

/// A value that the compilers' instrumentation knows atomics of.
pub(crate) trait Word: Copy + Eq {
    /// Bytes.
    const SIZE: u8;

    /// Zero-extended.
    fn wide(self) -> u128;

    /// Without the upper bits.
    fn narrow(value: u128) -> Self;

    /// Reads.
    ///
    /// # Safety
    /// `address` is that of an aligned, live object of this size; so in all of
    /// these functions.
    unsafe fn load(address: *mut Self) -> Self;

    /// Writes.
    ///
    /// # Safety
    /// See [`Word::load`].
    unsafe fn store(address: *mut Self, value: Self);

    /// Writes if the object holds `expected`; what it held is returned.
    ///
    /// # Safety
    /// See [`Word::load`].
    unsafe fn compare_exchange(address: *mut Self, expected: Self, value: Self) -> Self;

    /// What a read-modify-write writes for what it has read.
    fn modified(self, kind: RmwKind, operand: Self) -> Self;

    /// Reads, modifies and writes; what it read is returned.
    ///
    /// # Safety
    /// See [`Word::load`].
    unsafe fn rmw(address: *mut Self, kind: RmwKind, operand: Self) -> Self {
        // SAFETY: as promised by the caller.
        unsafe {
            let mut read = Self::load(address);
            loop {
                let found = Self::compare_exchange(address, read, read.modified(kind, operand));
                if found == read {
                    return read;
                }
                read = found;
            }
        }
    }
}

/// Orders everything before against everything after.
pub(crate) fn full_fence() {
    fence(SeqCst);
}

macro_rules! modified {
    ($type:ty) => {
        fn modified(self, kind: RmwKind, operand: Self) -> Self {
            match kind {
                RmwKind::Exchange => operand,
                RmwKind::Add => self.wrapping_add(operand),
                RmwKind::Sub => self.wrapping_sub(operand),
                RmwKind::And => self & operand,
                RmwKind::Or => self | operand,
                RmwKind::Xor => self ^ operand,
                RmwKind::Nand => !(self & operand),
            }
        }
    };
}

macro_rules! word {
    ($type:ty, $atomic:ty) => {
        impl Word for $type {
            const SIZE: u8 = size_of::<$type>() as u8;

            #[inline(always)]
            fn wide(self) -> u128 {
                u128::from(self)
            }

            fn narrow(value: u128) -> Self {
                value as Self
            }

            #[inline(always)]
            unsafe fn load(address: *mut Self) -> Self {
                // SAFETY: as promised by the caller.
                unsafe { <$atomic>::from_ptr(address) }.load(Acquire)
            }

            #[inline(always)]
            unsafe fn store(address: *mut Self, value: Self) {
                // SAFETY: as promised by the caller.
                unsafe { <$atomic>::from_ptr(address) }.store(value, Release);
            }

            #[inline(always)]
            unsafe fn compare_exchange(address: *mut Self, expected: Self, value: Self) -> Self {
                // SAFETY: as promised by the caller.
                let object = unsafe { <$atomic>::from_ptr(address) };
                match object.compare_exchange(expected, value, AcqRel, Acquire) {
                    Ok(found) | Err(found) => found,
                }
            }

            modified!($type);
        }
    };
}

word!(u8, AtomicU8);
word!(u16, AtomicU16);
word!(u32, AtomicU32);
word!(u64, AtomicU64);

impl Word for u128 {
    const SIZE: u8 = 16;

    fn wide(self) -> u128 {
        self
    }

    fn narrow(value: u128) -> Self {
        value
    }

    unsafe fn load(address: *mut Self) -> Self {
        // SAFETY: as promised by the caller. Exchanging 0 for 0 changes nothing.
        unsafe { Self::compare_exchange(address, 0, 0) }
    }

    unsafe fn store(address: *mut Self, value: Self) {
        // SAFETY: as promised by the caller.
        unsafe { Self::rmw(address, RmwKind::Exchange, value) };
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn compare_exchange(address: *mut Self, expected: Self, value: Self) -> Self {
        let (low, high): (u64, u64);
        // SAFETY: as promised by the caller; every processor that a 16-byte
        // atomic of C was compiled for has the instruction. rbx is LLVM's own.
        unsafe {
            core::arch::asm!(
                "xchg rbx, {new}",
                "lock cmpxchg16b xmmword ptr [{address}]",
                "mov rbx, {new}",
                address = in(reg) address,
                new = inout(reg) value as u64 => _,
                in("rcx") (value >> 64) as u64,
                inout("rax") expected as u64 => low,
                inout("rdx") (expected >> 64) as u64 => high,
                options(nostack)
            );
        }
        u128::from(high) << 64 | u128::from(low)
    }

    #[cfg(target_arch = "aarch64")]
    unsafe fn compare_exchange(address: *mut Self, expected: Self, value: Self) -> Self {
        let (low, high): (u64, u64);
        // SAFETY: as promised by the caller. The old value is stored back when
        // it is not the expected one, which is what makes the load single.
        unsafe {
            core::arch::asm!(
                "2:",
                "ldaxp {low}, {high}, [{address}]",
                "cmp {low}, {expected_low}",
                "ccmp {high}, {expected_high}, #0, eq",
                "csel {new_low}, {value_low}, {low}, eq",
                "csel {new_high}, {value_high}, {high}, eq",
                "stlxp {failed:w}, {new_low}, {new_high}, [{address}]",
                "cbnz {failed:w}, 2b",
                address = in(reg) address,
                expected_low = in(reg) expected as u64,
                expected_high = in(reg) (expected >> 64) as u64,
                value_low = in(reg) value as u64,
                value_high = in(reg) (value >> 64) as u64,
                low = out(reg) low,
                high = out(reg) high,
                new_low = out(reg) _,
                new_high = out(reg) _,
                failed = out(reg) _,
                options(nostack)
            );
        }
        u128::from(high) << 64 | u128::from(low)
    }

    modified!(u128);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<W: Word + core::fmt::Debug>() {
        let top = W::narrow(u128::MAX);
        let cases = [
            (RmwKind::Exchange, 3, 3),
            (RmwKind::Add, 2, 1),
            (RmwKind::Sub, 1, u128::MAX - 1),
            (RmwKind::And, 0xf0, 0xf0),
            (RmwKind::Or, 1, u128::MAX),
            (RmwKind::Xor, 1, u128::MAX - 1),
            (RmwKind::Nand, 1, u128::MAX - 1),
        ];
        #[repr(align(16))]
        struct Aligned<W>(W);
        for (kind, operand, after) in cases {
            let mut object = Aligned(top);
            let address = &raw mut object.0;
            // SAFETY: an aligned local.
            unsafe {
                assert_eq!(W::rmw(address, kind, W::narrow(operand)), top);
                assert_eq!(W::load(address), W::narrow(after), "{kind:?}");
                W::store(address, top);
                assert_eq!(W::compare_exchange(address, W::narrow(1), top), top);
                assert_eq!(W::compare_exchange(address, top, W::narrow(7)), top);
                assert_eq!(W::load(address), W::narrow(7));
            }
        }
    }

    #[test]
    fn every_size_does_every_operation() {
        all::<u8>();
        all::<u16>();
        all::<u32>();
        all::<u64>();
        all::<u128>();
    }
}
