//! Copying, filling and comparing bytes: `memcpy`, `memset`, `memcmp` and the
//! like, under the C library's names and those that newer compilers call. One
//! call is one read, one write, or both, of a range.

use core::ffi::c_int;

use crate::abi::{read, write};
use crate::{trampoline, wrapped};

type Bytes = *const u8;
type Room = *mut u8;

wrapped! {
    3 memcpy(to: Room, from: Bytes, size: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size)
    }
    3 memmove(to: Room, from: Bytes, size: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size)
    }
    3 mempcpy(to: Room, from: Bytes, size: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size)
    }
    3 bcopy(from: Bytes, to: Room, size: usize) -> (), real, pc => {
        copies(to, from, size, pc);
        real(from, to, size)
    }
    4 memccpy(to: Room, from: Bytes, stop: c_int, size: usize) -> Room, real, pc => {
        let end = real(to, from, stop, size);
        let copied = if end.is_null() { size } else { end as usize - to as usize };
        copies(to, from, copied, pc);
        end
    }
    3 memset(to: Room, byte: c_int, size: usize) -> Room, real, pc => {
        write(to as u64, size as u64, pc);
        real(to, byte, size)
    }
    2 bzero(to: Room, size: usize) -> (), real, pc => {
        write(to as u64, size as u64, pc);
        real(to, size)
    }
    2 explicit_bzero(to: Room, size: usize) -> (), real, pc => {
        write(to as u64, size as u64, pc);
        real(to, size)
    }
    // The C standard lets the comparisons look at all bytes, whatever they find.
    3 memcmp(one: Bytes, other: Bytes, size: usize) -> c_int, real, pc => {
        read(one as u64, size as u64, pc);
        read(other as u64, size as u64, pc);
        real(one, other, size)
    }
    3 bcmp(one: Bytes, other: Bytes, size: usize) -> c_int, real, pc => {
        read(one as u64, size as u64, pc);
        read(other as u64, size as u64, pc);
        real(one, other, size)
    }
    3 memchr(bytes: Bytes, byte: c_int, size: usize) -> Bytes, real, pc => {
        let found = real(bytes, byte, size);
        let looked_at = if found.is_null() { size } else { found as usize - bytes as usize + 1 };
        read(bytes as u64, looked_at as u64, pc);
        found
    }
    3 memrchr(bytes: Bytes, byte: c_int, size: usize) -> Bytes, real, pc => {
        let found = real(bytes, byte, size);
        let first = if found.is_null() { bytes } else { found };
        read(first as u64, (bytes as usize + size - first as usize) as u64, pc);
        found
    }
    2 rawmemchr(bytes: Bytes, byte: c_int) -> Bytes, real, pc => {
        let found = real(bytes, byte);
        read(bytes as u64, (found as usize - bytes as usize + 1) as u64, pc);
        found
    }
    4 memmem(hay: Bytes, size: usize, needle: Bytes, length: usize) -> Bytes, real, pc => {
        let found = real(hay, size, needle, length);
        let looked_at = if found.is_null() { size } else { found as usize - hay as usize + length };
        read(hay as u64, looked_at as u64, pc);
        read(needle as u64, length as u64, pc);
        found
    }

    4 __memcpy_chk(to: Room, from: Bytes, size: usize, room: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size, room)
    }
    4 __memmove_chk(to: Room, from: Bytes, size: usize, room: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size, room)
    }
    4 __mempcpy_chk(to: Room, from: Bytes, size: usize, room: usize) -> Room, real, pc => {
        copies(to, from, size, pc);
        real(to, from, size, room)
    }
    4 __memset_chk(to: Room, byte: c_int, size: usize, room: usize) -> Room, real, pc => {
        write(to as u64, size as u64, pc);
        real(to, byte, size, room)
    }
    3 __explicit_bzero_chk(to: Room, size: usize, room: usize) -> (), real, pc => {
        write(to as u64, size as u64, pc);
        real(to, size, room)
    }
}

fn copies(to: Room, from: Bytes, size: usize, pc: u64) {
    read(from as u64, size as u64, pc);
    write(to as u64, size as u64, pc);
}

trampoline!(globl, "__tsan_memcpy", 3, memcpy);
trampoline!(globl, "__tsan_memmove", 3, memmove);
trampoline!(globl, "__tsan_memset", 3, memset);
