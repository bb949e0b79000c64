//! The trace file: records go straight into a shared map of it, so whatever
//! happens to the process, what was written stays. The file is opened by name
//! whenever it grows and at no other time: a descriptor that the program might
//! close, or use for something else, is never kept.
//!
//! Knows bytes and files; what the records mean is the callers' business.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr;

use wmfix_trace::{
    ContextId, End, Header, MAX_RECORD, RecordedOperation, encode_event, encode_header,
};

use crate::filter::{plain, plain_mode, set_plain_mode};
use crate::sys;

/// Reserved behind the last record for the one that ends the trace.
const END_RECORD_BYTES: usize = MAX_RECORD;
/// Enough for most runs that are checked: they say little.
const FIRST_GROWTH_BYTES: usize = 8 << 10;
const LARGEST_GROWTH_BYTES: usize = 16 << 20;
const PAGE_BYTES: usize = 4096;

/// Writes one process's trace, or nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The file's absolute name, ended by a zero.
    path: Vec<u8>,
    /// The mapped end of the file.
    window: *mut u8,
    window_len: usize,
    /// Where in the file the window begins.
    window_offset: usize,
    /// Where in the window the next record goes.
    at: usize,
    /// Up to where records may go; 0 if nothing is recorded.
    limit: usize,
    records: u64,
    /// Of these, how many only say where memory comes from.
    notes: u64,
    /// How large the file may become, in bytes.
    most: u64,
    /// After how many records the file grows no more.
    most_records: u64,
    /// What the threads did, where this trace has what the check of that shows.
    beside: Option<Box<Recorder>>,
    /// This is such a second trace.
    is_beside: bool,
}

/// Why a trace cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrowthError {
    /// The system refused.
    Errno(i32),
    /// It is as large as it may be.
    LimitReached,
}

impl From<i32> for GrowthError {
    fn from(errno: i32) -> Self {
        Self::Errno(errno)
    }
}

impl Recorder {
    /// One that writes nothing.
    pub(crate) fn off() -> Self {
        Self {
            path: Vec::new(),
            window: ptr::null_mut(),
            window_len: 0,
            window_offset: 0,
            at: 0,
            limit: 0,
            records: 0,
            notes: 0,
            most: u64::MAX,
            most_records: u64::MAX,
            beside: None,
            is_beside: false,
        }
    }

    /// Makes the file in `folder` (ended by a zero) and writes the header.
    pub(crate) fn create(
        folder: &[u8],
        header: &Header,
        command: &[u8],
        limits: (u64, u64),
    ) -> Result<Self, i32> {
        let path = free_path(folder, header.pid)?;
        Self::create_at(path, header, command, limits)
    }

    /// Makes a second file, for what the threads do, of a run that cannot be made again
    /// when the check of it shows something.
    pub(crate) fn record_beside(&mut self, header: &Header, command: &[u8]) -> Result<(), i32> {
        let mut path = self.path.strip_suffix(&[0]).unwrap_or(&self.path).to_vec();
        path.extend_from_slice(wmfix_trace::RECORDED_BESIDE.as_bytes());
        path.push(0);
        let limits = (self.most, self.most_records);
        let mut beside = Self::create_at(path, header, command, limits)?;
        beside.is_beside = true;
        self.beside = Some(Box::new(beside));
        Ok(())
    }

    fn create_at(
        path: Vec<u8>,
        header: &Header,
        command: &[u8],
        (most, most_records): (u64, u64),
    ) -> Result<Self, i32> {
        let mut recorder = Self::off();
        recorder.most = most;
        recorder.most_records = most_records;
        let file;
        (recorder.path, file) = new_file(&path)?;
        let bytes = encode_header(header, command);
        let mut unused = Some(file);
        let grown = recorder.grow_file(bytes.len(), |_| Ok(unused.take().unwrap_or(file)));
        if let Err(error) = grown {
            if let Some(file) = unused {
                close(file);
            }
            remove(&recorder.path);
            return Err(match error {
                GrowthError::Errno(errno) => errno,
                GrowthError::LimitReached => libc::EFBIG,
            });
        }
        // The magic last: half a header must not look like a whole one.
        let magic = wmfix_trace::MAGIC.len();
        // SAFETY: `grow` has made this much room.
        let out = unsafe { core::slice::from_raw_parts_mut(recorder.window, bytes.len()) };
        out[magic..].copy_from_slice(&bytes[magic..]);
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
        out[..magic].copy_from_slice(&bytes[..magic]);
        recorder.at = bytes.len();
        // A process that is killed before this has not begun, and leaves no trace.
        if let Err(errno) = rename(&recorder.path, &path) {
            remove(&recorder.path);
            recorder.abandon();
            return Err(errno);
        }
        recorder.path = path;
        Ok(recorder)
    }

    /// Whether anything is written.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.limit != 0
    }

    /// How many records there are, but for notes.
    pub(crate) fn records(&self) -> u64 {
        self.records - self.notes
    }

    /// Whether there is a second trace.
    pub(crate) fn has_beside(&self) -> bool {
        self.beside.is_some()
    }

    /// The second trace, if there is one.
    #[inline(always)]
    pub(crate) fn beside(&mut self) -> Option<&mut Self> {
        self.beside.as_deref_mut()
    }

    /// Writes what the thread that has the turn did; not into a second trace.
    #[inline(always)]
    pub(crate) fn event(&mut self, context: u32, operation: &RecordedOperation) {
        self.write_here(MAX_RECORD, |out| {
            encode_event(out, ContextId(context), operation)
        });
    }

    /// Writes a record of at most `room` bytes, into a second trace as well.
    #[inline(always)]
    pub(crate) fn write(&mut self, room: usize, encode: impl Fn(&mut [u8]) -> usize) {
        if let Some(beside) = &mut self.beside {
            beside.write_here(room, &encode);
        }
        self.write_here(room, encode);
    }

    /// Writes a record of at most `room` bytes; not into a second trace.
    #[inline(always)]
    pub(crate) fn write_here(&mut self, room: usize, encode: impl FnOnce(&mut [u8]) -> usize) {
        if self.at + room > self.limit && !self.make_room(room) {
            return;
        }
        // SAFETY: the window is mapped up to its end, which is beyond the
        // limit, and nobody else writes to it: the caller holds the turn.
        let out = unsafe { core::slice::from_raw_parts_mut(self.window.add(self.at), room) };
        self.at += encode(out);
        self.records += 1;
    }

    /// Writes a record that says nothing about what threads did, and does not count as
    /// one that does; not into a second trace.
    #[cfg(not(test))]
    pub(crate) fn write_note(&mut self, encode: impl FnOnce(&mut [u8]) -> usize) {
        let before = self.records;
        self.write_here(MAX_RECORD, encode);
        self.notes += self.records - before;
    }

    #[cold]
    fn make_room(&mut self, room: usize) -> bool {
        if !self.is_on() {
            return false;
        }
        match self.grow(room) {
            Ok(()) => true,
            Err(error) => {
                self.stop(error);
                false
            }
        }
    }

    /// Ends the trace before the run ends.
    fn stop(&mut self, error: GrowthError) {
        let goes_on = match self.is_beside {
            true => "the run goes on unrecorded, but checked",
            false => "the run goes on unrecorded",
        };
        match error {
            GrowthError::Errno(errno) => {
                sys::say(format_args!(
                    "wmfix: the trace cannot grow (errno {errno}): {goes_on}\n"
                ));
                self.finish(End::NoSpace { errno });
            }
            GrowthError::LimitReached => {
                sys::say(format_args!(
                    "wmfix: the trace has reached its limit of {} bytes (--trace-limit) or {} events (--event-limit): {goes_on}\n",
                    self.most, self.most_records
                ));
                self.finish(End::LimitReached);
            }
        }
        // What is not checked either need not be looked at.
        if !self.is_beside || plain_mode() == plain::ALL {
            set_plain_mode(plain::OFF);
        }
    }

    /// Writes how the run ended, cuts the file to its length and stops.
    pub(crate) fn finish(&mut self, end: End) {
        if let Some(beside) = &mut self.beside {
            beside.finish(end);
        }
        if !self.is_on() {
            return;
        }
        let records = self.records;
        // SAFETY: the reserve behind the limit is kept for this record.
        let out =
            unsafe { core::slice::from_raw_parts_mut(self.window.add(self.at), END_RECORD_BYTES) };
        self.at += wmfix_trace::encode_end(out, end, records);
        let len = self.window_offset + self.at;
        // Should this fail, the file keeps its tail of zeros, which readers take.
        if let Ok(file) = open(&self.path, libc::O_RDWR) {
            // SAFETY: shrinks our own file behind what is written.
            unsafe { sys::raw_syscall(libc::SYS_ftruncate, [file, len, 0, 0, 0, 0]) };
            close(file);
        }
        self.abandon();
    }

    /// Drops the file without an end record: in a forked child, whose parent
    /// writes it.
    pub(crate) fn abandon(&mut self) {
        if let Some(mut beside) = self.beside.take() {
            beside.abandon();
        }
        self.limit = 0;
        if !self.window.is_null() {
            unmap(self.window, self.window_len);
            self.window = ptr::null_mut();
        }
    }

    /// Drops the file and removes it: nobody needs what is in it.
    #[cfg(not(test))]
    pub(crate) fn discard(&mut self) {
        if let Some(beside) = &mut self.beside {
            beside.discard();
        }
        if self.is_on() {
            self.abandon();
            remove(&self.path);
        }
    }

    /// Makes the file longer and maps its new end.
    fn grow(&mut self, room: usize) -> Result<(), GrowthError> {
        self.grow_file(room, |path| open(path, libc::O_RDWR))
    }

    /// The same with a descriptor that `opened` gives, and that is closed.
    fn grow_file(
        &mut self,
        room: usize,
        opened: impl FnOnce(&[u8]) -> Result<usize, i32>,
    ) -> Result<(), GrowthError> {
        if self.records() > self.most_records {
            return Err(GrowthError::LimitReached);
        }
        let position = self.window_offset + self.at;
        let offset = position / PAGE_BYTES * PAGE_BYTES;
        let old_len = self.window_offset + self.window_len;
        let step = old_len
            .clamp(FIRST_GROWTH_BYTES, LARGEST_GROWTH_BYTES)
            .max(room + END_RECORD_BYTES);
        let mut len = (old_len + step).next_multiple_of(PAGE_BYTES);
        // Growing past the limit for file sizes would be answered by a signal.
        let system_limit = sys::limit(libc::RLIMIT_FSIZE);
        let limit = system_limit.min(self.most);
        if len as u64 > limit {
            len = limit as usize / PAGE_BYTES * PAGE_BYTES;
            if len < position + room + END_RECORD_BYTES || len <= old_len {
                return Err(if self.most <= system_limit {
                    GrowthError::LimitReached
                } else {
                    GrowthError::Errno(libc::EFBIG)
                });
            }
        }
        let file = opened(&self.path)?;
        let grown = allocate(file, old_len, len - old_len)
            .and_then(|()| map_file(file, offset, len - offset));
        close(file);
        let window = grown?;
        if !self.window.is_null() {
            unmap(self.window, self.window_len);
        }
        self.window = window;
        self.window_len = len - offset;
        self.window_offset = offset;
        self.at = position - offset;
        self.limit = self.window_len - END_RECORD_BYTES;
        Ok(())
    }
}

/// The first of `PID.0.wmtrace`, `PID.1.wmtrace`… that is not there.
fn free_path(folder: &[u8], pid: u32) -> Result<Vec<u8>, i32> {
    let folder = folder.strip_suffix(&[0]).unwrap_or(folder);
    let mut absolute = Vec::new();
    if !folder.starts_with(b"/") {
        let mut current = [0u8; 4096];
        let room = [current.as_mut_ptr() as usize, current.len(), 0, 0, 0, 0];
        // SAFETY: the buffer is ours. The call counts the final zero.
        let len = check(unsafe { sys::raw_syscall(libc::SYS_getcwd, room) })?;
        absolute.extend_from_slice(&current[..len - 1]);
        absolute.push(b'/');
    }
    absolute.extend_from_slice(folder);
    let mut number = 0;
    loop {
        let mut path = absolute.clone();
        path.extend_from_slice(alloc::format!("/{pid}.{number}.wmtrace\0").as_bytes());
        match access(&path) {
            Ok(()) => number += 1,
            Err(libc::ENOENT) => return Ok(path),
            Err(errno) => return Err(errno),
        }
    }
}

/// Makes the file that is to be the trace at `path`, under another name; that, and its
/// descriptor.
fn new_file(path: &[u8]) -> Result<(Vec<u8>, usize), i32> {
    let mut unfinished = path.strip_suffix(&[0]).unwrap_or(path).to_vec();
    unfinished.extend_from_slice(wmfix_trace::UNFINISHED.as_bytes());
    unfinished.push(0);
    let file = open(&unfinished, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC)?;
    Ok((unfinished, file))
}

/// Whether there is a file.
fn access(path: &[u8]) -> Result<(), i32> {
    let arguments = [libc::AT_FDCWD as usize, path.as_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: the path ends in a zero.
    check(unsafe { sys::raw_syscall(libc::SYS_faccessat, arguments) }).map(drop)
}

fn rename(from: &[u8], to: &[u8]) -> Result<(), i32> {
    let here = libc::AT_FDCWD as usize;
    let arguments = [
        here,
        from.as_ptr() as usize,
        here,
        to.as_ptr() as usize,
        0,
        0,
    ];
    // SAFETY: the paths end in a zero.
    check(unsafe { sys::raw_syscall(libc::SYS_renameat2, arguments) }).map(drop)
}

fn open(path: &[u8], flags: i32) -> Result<usize, i32> {
    let arguments = [
        libc::AT_FDCWD as usize,
        path.as_ptr() as usize,
        (flags | libc::O_CLOEXEC) as usize,
        0o644,
        0,
        0,
    ];
    // SAFETY: the path ends in a zero.
    check(unsafe { sys::raw_syscall(libc::SYS_openat, arguments) })
}

/// Removes a file.
fn remove(path: &[u8]) {
    let arguments = [libc::AT_FDCWD as usize, path.as_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: the path ends in a zero.
    unsafe { sys::raw_syscall(libc::SYS_unlinkat, arguments) };
}

fn close(file: usize) {
    // SAFETY: opened by us a moment ago.
    unsafe { sys::raw_syscall(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
}

/// Has the disk set the bytes aside: a map of a file that the disk has no room
/// for would kill the program with SIGBUS.
fn allocate(file: usize, offset: usize, len: usize) -> Result<(), i32> {
    // SAFETY: grows our own file.
    let result = unsafe { sys::raw_syscall(libc::SYS_fallocate, [file, 0, offset, len, 0, 0]) };
    match check(result) {
        Err(libc::EOPNOTSUPP | libc::ENOSYS) => write_zeros(file, offset, len),
        result => result.map(drop),
    }
}

fn write_zeros(file: usize, mut offset: usize, len: usize) -> Result<(), i32> {
    static ZEROS: [u8; FIRST_GROWTH_BYTES] = [0; FIRST_GROWTH_BYTES];
    let end = offset + len;
    while offset < end {
        let part = ZEROS.len().min(end - offset);
        let arguments = [file, ZEROS.as_ptr() as usize, part, offset, 0, 0];
        // SAFETY: writes a constant to our own file.
        offset += check(unsafe { sys::raw_syscall(libc::SYS_pwrite64, arguments) })?;
    }
    Ok(())
}

fn map_file(file: usize, offset: usize, len: usize) -> Result<*mut u8, i32> {
    let arguments = [
        sys::address_for_own(len),
        len,
        (libc::PROT_READ | libc::PROT_WRITE) as usize,
        libc::MAP_SHARED as usize,
        file,
        offset,
    ];
    // SAFETY: a new map disturbs nothing.
    let address = check(unsafe { sys::raw_syscall(libc::SYS_mmap, arguments) })?;
    Ok(address as *mut u8)
}

fn unmap(window: *mut u8, len: usize) {
    // SAFETY: our own map, with no reference into it left.
    unsafe { sys::raw_syscall(libc::SYS_munmap, [window as usize, len, 0, 0, 0, 0]) };
}

fn check(result: isize) -> Result<usize, i32> {
    usize::try_from(result).map_err(|_| -result as i32)
}
