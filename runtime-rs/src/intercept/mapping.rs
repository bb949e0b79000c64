//! Mapping memory: what is mapped twice is known by one address
//! (`crate::shared_memory`), and memory that is shared with other processes is said to
//! be.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use wmfix_trace::Limit;

use super::memory::given_back;
use super::time::fail_with;
use crate::passed_on;
use crate::shared_memory::{SharedObject, Unmapped};
use crate::sys;
use crate::trampoline;
use crate::turn;

const PAGE_BYTES: u64 = 4096;

/// The kind of a mapping, among its flags.
const KIND: c_int = 0xf;

fn whole_pages(address: u64, size: u64) -> Range<u64> {
    let end = address.saturating_add(size).next_multiple_of(PAGE_BYTES);
    address - address % PAGE_BYTES..end
}

/// The result of a system call that gives an address.
fn address_or_error(result: isize) -> *mut c_void {
    if (-4095..0).contains(&result) {
        fail_with(-result as c_int);
        return libc::MAP_FAILED;
    }
    result as *mut c_void
}

// By system calls of our own: an allocator of the program may map memory before any
// function of the C library can be looked for.
unsafe extern "C" fn mmap(
    address: *mut c_void,
    size: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    let arguments = [
        address as usize,
        size,
        access as usize,
        flags as usize,
        file as usize,
        offset as usize,
    ];
    // SAFETY: the program's own call.
    let mapped = address_or_error(unsafe { sys::raw_syscall(libc::SYS_mmap, arguments) });
    if mapped == libc::MAP_FAILED || !turn::is_on() {
        return mapped;
    }
    let at = whole_pages(mapped as u64, size as u64);
    if flags & libc::MAP_FIXED != 0 {
        gone(&at, 0);
    }
    if flags & KIND == libc::MAP_SHARED || flags & KIND == libc::MAP_SHARED_VALIDATE {
        let object = match flags & libc::MAP_ANONYMOUS {
            0 => object_of(file),
            _ => Some(nameless()),
        };
        if let Some(object) = object {
            come(at, object, offset as u64);
        }
    }
    mapped
}

fn nameless() -> SharedObject {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    SharedObject::Nameless(NEXT.fetch_add(1, Ordering::Relaxed))
}

fn object_of(file: c_int) -> Option<SharedObject> {
    let mut stat = MaybeUninit::<libc::stat>::zeroed();
    let into = stat.as_mut_ptr() as usize;
    // SAFETY: the kernel fills the record, which is ours.
    let stat = unsafe {
        if sys::raw_syscall(libc::SYS_fstat, [file as usize, into, 0, 0, 0, 0]) != 0 {
            return None;
        }
        stat.assume_init()
    };
    Some(SharedObject::File {
        device: stat.st_dev,
        inode: stat.st_ino,
    })
}

/// The program has mapped something that others may have, too.
fn come(at: Range<u64>, object: SharedObject, offset: u64) {
    if let Some(mut held) = turn::enter() {
        let state = held.state();
        if !state.shared_memory.map(at, object, offset) {
            state.meets(Limit::ManyMappings);
        }
        if state.has_relatives {
            state.meets(Limit::SharedMemory);
        }
    }
}

/// The program has given these addresses back.
fn gone(at: &Range<u64>, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    if held.state().shared_memory.is_empty() {
        drop(held);
        given_back(at.start, at.end - at.start, pc);
        return;
    }
    let Unmapped {
        ended,
        to_keep,
        to_release,
    } = held.state().shared_memory.unmap(at);
    drop(held);
    for range in &ended {
        given_back(range.start, range.end - range.start, pc);
    }
    for range in &to_release {
        let arguments = [
            range.start as usize,
            (range.end - range.start) as usize,
            0,
            0,
            0,
            0,
        ];
        // SAFETY: nothing but what `keep` has mapped is there.
        unsafe { sys::raw_syscall(libc::SYS_munmap, arguments) };
    }
    to_keep.iter().for_each(keep);
}

/// Keeps addresses from being handed out. Whoever accesses them is sent the same signal
/// as if nothing were there.
fn keep(range: &Range<u64>) {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let size = (range.end - range.start) as usize;
    let arguments = [
        range.start as usize,
        size,
        libc::PROT_NONE as usize,
        flags as usize,
        usize::MAX,
        0,
    ];
    // SAFETY: maps what is free, or nothing.
    unsafe { sys::raw_syscall(libc::SYS_mmap, arguments) };
}

unsafe extern "C" fn munmap(address: *mut c_void, size: usize, pc: u64) -> c_int {
    if !turn::is_on() {
        return unmap_now(address, size);
    }
    let at = whole_pages(address as u64, size as u64);
    // While the memory is there: what is told about it comes before others can have it.
    let shared = match turn::enter() {
        Some(mut held) => !held.state().shared_memory.is_empty(),
        None => return unmap_now(address, size),
    };
    if !shared {
        given_back(address as u64, size as u64, pc);
        return unmap_now(address, size);
    }
    let result = unmap_now(address, size);
    if result == 0 {
        gone(&at, pc);
    }
    result
}

fn unmap_now(address: *mut c_void, size: usize) -> c_int {
    // SAFETY: the program's own call.
    match unsafe { sys::raw_syscall(libc::SYS_munmap, [address as usize, size, 0, 0, 0, 0]) } {
        0 => 0,
        error => fail_with(-error as c_int),
    }
}

unsafe extern "C" fn mremap(
    old: *mut c_void,
    old_size: usize,
    size: usize,
    flags: c_int,
    wanted: *mut c_void,
) -> *mut c_void {
    let arguments = [
        old as usize,
        old_size,
        size,
        flags as usize,
        wanted as usize,
        0,
    ];
    // SAFETY: the program's own call.
    let mapped = address_or_error(unsafe { sys::raw_syscall(libc::SYS_mremap, arguments) });
    if mapped == libc::MAP_FAILED || !turn::is_on() {
        return mapped;
    }
    let found = turn::enter().and_then(|mut held| held.state().shared_memory.object_at(old as u64));
    let was = whole_pages(old as u64, old_size as u64);
    let at = whole_pages(mapped as u64, size as u64);
    // A size of nothing asks for a second mapping.
    if old_size != 0 && (mapped != old || size < old_size) {
        let rest = if mapped == old { at.end..was.end } else { was };
        if let Some((object, offset)) = found
            && mapped != old
        {
            // Before the old one goes: what it is known by must not end.
            come(at.clone(), object, offset);
        }
        gone(&rest, 0);
        return mapped;
    }
    if let Some((object, offset)) = found {
        let new = if old_size == 0 { at } else { was.end..at.end };
        let offset = if old_size == 0 {
            offset
        } else {
            offset + (new.start - old as u64)
        };
        if !new.is_empty() {
            come(new, object, offset);
        }
    }
    mapped
}

unsafe extern "C" fn shmat(
    segment: c_int,
    address: *mut c_void,
    flags: c_int,
    _pc: u64,
) -> *mut c_void {
    let arguments = [segment as usize, address as usize, flags as usize, 0, 0, 0];
    // SAFETY: the program's own call.
    let mapped = address_or_error(unsafe { sys::raw_syscall(libc::SYS_shmat, arguments) });
    if mapped == libc::MAP_FAILED || !turn::is_on() {
        return mapped;
    }
    let mut about = MaybeUninit::<libc::shmid_ds>::zeroed();
    let into = about.as_mut_ptr() as usize;
    let arguments = [segment as usize, libc::IPC_STAT as usize, into, 0, 0, 0];
    // SAFETY: the kernel fills the record, which is ours.
    let size = unsafe {
        if sys::raw_syscall(libc::SYS_shmctl, arguments) != 0 {
            return mapped;
        }
        about.assume_init().shm_segsz
    };
    let object = SharedObject::Segment(segment as u64);
    come(whole_pages(mapped as u64, size as u64), object, 0);
    mapped
}

unsafe extern "C" fn shmdt(address: *mut c_void, pc: u64) -> c_int {
    let len =
        turn::enter().and_then(|mut held| held.state().shared_memory.length_at(address as u64));
    // SAFETY: the program's own call.
    match unsafe { sys::raw_syscall(libc::SYS_shmdt, [address as usize, 0, 0, 0, 0, 0]) } {
        0 => {
            if let Some(len) = len {
                gone(&(address as u64..address as u64 + len), pc);
            }
            0
        }
        error => fail_with(-error as c_int),
    }
}

passed_on! {
    "mmap" mmap;
    "mmap64" mmap;
    "mremap" mremap;
}
trampoline!(weak, "munmap", 2, munmap);
trampoline!(weak, "shmat", 3, shmat);
trampoline!(weak, "shmdt", 1, shmdt);
