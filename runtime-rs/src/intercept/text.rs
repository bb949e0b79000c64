//! Zero-terminated strings: `strlen`, `strcpy` and the like. What is read is what the
//! function must look at to know its result, up to the zero at most.

use core::ffi::{c_char, c_int};

use crate::abi::{read, write};
use crate::{real, wrapped};

type Text = *const c_char;
type Room = *mut c_char;

wrapped! {
    1 strlen(text: Text) -> usize, real, pc => {
        let length = real(text);
        reads(text, length + 1, pc);
        length
    }
    2 strnlen(text: Text, most: usize) -> usize, real, pc => {
        let length = real(text, most);
        reads(text, most.min(length + 1), pc);
        length
    }

    2 strcpy(to: Room, from: Text) -> Room, real, pc => {
        copies(to, from, length_of(from) + 1, pc);
        real(to, from)
    }
    2 stpcpy(to: Room, from: Text) -> Room, real, pc => {
        copies(to, from, length_of(from) + 1, pc);
        real(to, from)
    }
    3 strncpy(to: Room, from: Text, size: usize) -> Room, real, pc => {
        fills(to, from, size, pc);
        real(to, from, size)
    }
    3 stpncpy(to: Room, from: Text, size: usize) -> Room, real, pc => {
        fills(to, from, size, pc);
        real(to, from, size)
    }
    2 strcat(to: Room, from: Text) -> Room, real, pc => {
        appends(to, from, usize::MAX, pc);
        real(to, from)
    }
    3 strncat(to: Room, from: Text, most: usize) -> Room, real, pc => {
        appends(to, from, most, pc);
        real(to, from, most)
    }
    1 strdup(from: Text) -> Room, real, pc => {
        let new = real(from);
        duplicated(new, from, usize::MAX, pc);
        new
    }
    2 strndup(from: Text, most: usize) -> Room, real, pc => {
        let new = real(from, most);
        duplicated(new, from, most, pc);
        new
    }

    2 strcmp(one: Text, other: Text) -> c_int, real, pc => {
        compares(one, other, usize::MAX, |byte| byte, pc);
        real(one, other)
    }
    3 strncmp(one: Text, other: Text, most: usize) -> c_int, real, pc => {
        compares(one, other, most, |byte| byte, pc);
        real(one, other, most)
    }
    2 strcasecmp(one: Text, other: Text) -> c_int, real, pc => {
        compares(one, other, usize::MAX, lower, pc);
        real(one, other)
    }
    3 strncasecmp(one: Text, other: Text, most: usize) -> c_int, real, pc => {
        compares(one, other, most, lower, pc);
        real(one, other, most)
    }

    2 strchr(text: Text, byte: c_int) -> Text, real, pc => {
        let found = real(text, byte);
        reads_up_to(text, found, pc);
        found
    }
    2 index(text: Text, byte: c_int) -> Text, real, pc => {
        let found = real(text, byte);
        reads_up_to(text, found, pc);
        found
    }
    2 strchrnul(text: Text, byte: c_int) -> Text, real, pc => {
        let found = real(text, byte);
        reads_up_to(text, found, pc);
        found
    }
    2 strrchr(text: Text, byte: c_int) -> Text, real, pc => {
        reads(text, length_of(text) + 1, pc);
        real(text, byte)
    }
    2 rindex(text: Text, byte: c_int) -> Text, real, pc => {
        reads(text, length_of(text) + 1, pc);
        real(text, byte)
    }
    2 strstr(text: Text, part: Text) -> Text, real, pc => {
        let found = real(text, part);
        reads_part(text, part, found, pc);
        found
    }
    2 strcasestr(text: Text, part: Text) -> Text, real, pc => {
        let found = real(text, part);
        reads_part(text, part, found, pc);
        found
    }
    2 strspn(text: Text, set: Text) -> usize, real, pc => {
        let length = real(text, set);
        reads(text, length + 1, pc);
        reads(set, length_of(set) + 1, pc);
        length
    }
    2 strcspn(text: Text, set: Text) -> usize, real, pc => {
        let length = real(text, set);
        reads(text, length + 1, pc);
        reads(set, length_of(set) + 1, pc);
        length
    }
    2 strpbrk(text: Text, set: Text) -> Text, real, pc => {
        let found = real(text, set);
        reads_up_to(text, found, pc);
        reads(set, length_of(set) + 1, pc);
        found
    }

    3 __strcpy_chk(to: Room, from: Text, room: usize) -> Room, real, pc => {
        copies(to, from, length_of(from) + 1, pc);
        real(to, from, room)
    }
    3 __stpcpy_chk(to: Room, from: Text, room: usize) -> Room, real, pc => {
        copies(to, from, length_of(from) + 1, pc);
        real(to, from, room)
    }
    4 __strncpy_chk(to: Room, from: Text, size: usize, room: usize) -> Room, real, pc => {
        fills(to, from, size, pc);
        real(to, from, size, room)
    }
    4 __stpncpy_chk(to: Room, from: Text, size: usize, room: usize) -> Room, real, pc => {
        fills(to, from, size, pc);
        real(to, from, size, room)
    }
    3 __strcat_chk(to: Room, from: Text, room: usize) -> Room, real, pc => {
        appends(to, from, usize::MAX, pc);
        real(to, from, room)
    }
    4 __strncat_chk(to: Room, from: Text, most: usize, room: usize) -> Room, real, pc => {
        appends(to, from, most, pc);
        real(to, from, most, room)
    }
}

fn length_of(text: Text) -> usize {
    real::strlen(text)
}

fn length_within(text: Text, most: usize) -> usize {
    let byte_at = |at| {
        // SAFETY: before the end of the text, or at it.
        unsafe { text.add(at).read() }
    };
    (0..most).find(|&at| byte_at(at) == 0).unwrap_or(most)
}

fn lower(byte: c_int) -> c_int {
    unsafe extern "C" {
        safe fn tolower(byte: c_int) -> c_int;
    }
    tolower(byte)
}

fn reads(text: Text, size: usize, pc: u64) {
    read(text as u64, size as u64, pc);
}

/// All of the text, or what comes before `found` and `found` itself.
fn reads_up_to(text: Text, found: Text, pc: u64) {
    let size = if found.is_null() {
        length_of(text) + 1
    } else {
        found as usize - text as usize + 1
    };
    reads(text, size, pc);
}

fn reads_part(text: Text, part: Text, found: Text, pc: u64) {
    let length = length_of(part);
    let size = if found.is_null() {
        length_of(text) + 1
    } else {
        found as usize - text as usize + length
    };
    reads(text, size, pc);
    reads(part, length + 1, pc);
}

fn copies(to: Room, from: Text, size: usize, pc: u64) {
    reads(from, size, pc);
    write(to as u64, size as u64, pc);
}

/// As much as there is, and zeros for the rest of `size`.
fn fills(to: Room, from: Text, size: usize, pc: u64) {
    reads(from, size.min(length_within(from, size) + 1), pc);
    write(to as u64, size as u64, pc);
}

fn appends(to: Room, from: Text, most: usize, pc: u64) {
    let (before, added) = (length_of(to), length_within(from, most));
    reads(to, before + 1, pc);
    reads(from, most.min(added + 1), pc);
    write(to as u64 + before as u64, added as u64 + 1, pc);
}

fn duplicated(new: Room, from: Text, most: usize, pc: u64) {
    let length = length_within(from, most);
    reads(from, most.min(length + 1), pc);
    if !new.is_null() {
        write(new as u64, length as u64 + 1, pc);
    }
}

/// Both up to the first difference.
fn compares(one: Text, other: Text, most: usize, folded: impl Fn(c_int) -> c_int, pc: u64) {
    let byte_at = |text: Text, at| {
        // SAFETY: no text is looked at behind its end, nor behind a difference.
        unsafe { text.add(at).cast::<u8>().read() }
    };
    let mut looked_at = 0;
    while looked_at < most {
        let (a, b) = (byte_at(one, looked_at), byte_at(other, looked_at));
        looked_at += 1;
        if a == 0 || folded(a.into()) != folded(b.into()) {
            break;
        }
    }
    reads(one, looked_at, pc);
    reads(other, looked_at, pc);
}
