//! What carries messages between threads through the kernel: pipes, sockets,
//! event counters and the like, known by a number that both ends share. Coarser
//! than the kernel's own order where the ends cannot be told apart, so that order
//! is only ever added.

use alloc::collections::{BTreeMap, BTreeSet};
use core::mem::{MaybeUninit, size_of};

use crate::sys;

/// The number of what any descriptor tells, for those who wait for several.
pub(crate) const ANY: u64 = OUTSIDE | 1;

/// The bit of numbers whose other end may be outside of this process.
const OUTSIDE: u64 = 1 << 63;

/// What numbers of descriptors are told from addresses by: no program's memory
/// lies there.
const KEYS: u64 = 1 << 62;

/// The bit of what the end of a channel says, apart from what was sent before.
const END: u64 = 1 << 61;

/// The numbers of signals come after those of descriptors without an inode.
const SIGNALS: u64 = KEYS | 1 << 40;

/// The numbers of System V's objects.
#[cfg(not(test))]
const KERNEL_OBJECTS: u64 = 1 << 42;

/// The number that sockets with names share.
const NAMED_SOCKETS: u64 = KEYS | OUTSIDE | 1 << 41;

/// A channel between the two ends of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel(u64);

impl Channel {
    /// The number that both ends have.
    pub(crate) fn key(self) -> u64 {
        self.0
    }

    /// The number of its end, which only those learn of who find that nothing more comes.
    #[cfg(not(test))]
    pub(crate) fn end(self) -> u64 {
        self.0 | END
    }

    /// Whether help may come from outside of this process.
    pub(crate) fn is_outside(key: u64) -> bool {
        key & OUTSIDE != 0
    }

    /// Whether both ends were made in this process.
    #[cfg(not(test))]
    pub(crate) fn is_own(self) -> bool {
        !Self::is_outside(self.0)
    }

    /// What any descriptor tells.
    #[cfg(not(test))]
    pub(crate) fn any() -> Self {
        Self(ANY)
    }

    /// A message queue, or a file as what is locked, by the device and the number that
    /// it has there.
    #[cfg(not(test))]
    pub(crate) fn of_file(descriptor: i32) -> Option<Self> {
        End::status(descriptor).map(|status| Self(outside(mixed(status.st_dev, status.st_ino))))
    }

    /// Something that the kernel has under a number of its own.
    #[cfg(not(test))]
    pub(crate) fn of_kernel_object(kind: u64, number: i32) -> Self {
        Self(outside(
            KERNEL_OBJECTS | kind << 32 | u64::from(number.unsigned_abs()),
        ))
    }

    /// What listens at an address, if it is one of this machine or the network.
    ///
    /// # Safety
    /// The address can be read, for its length.
    #[cfg(not(test))]
    pub(crate) unsafe fn of_address(address: *const u8, len: usize) -> Option<Self> {
        if address.is_null() || len < 4 {
            return None;
        }
        let mut start = [0; 4];
        // SAFETY: as promised by the caller.
        unsafe { core::ptr::copy_nonoverlapping(address, start.as_mut_ptr(), 4) };
        let family = i32::from(u16::from_ne_bytes([start[0], start[1]]));
        match family {
            libc::AF_INET | libc::AF_INET6 => {
                let port = u64::from(u16::from_be_bytes([start[2], start[3]]));
                Some(Self(outside(mixed(0, port))))
            }
            libc::AF_UNIX => Some(Self(NAMED_SOCKETS)),
            _ => None,
        }
    }

    /// What a signal carries from those who send it.
    pub(crate) fn of_signal(number: i32) -> Self {
        Self(SIGNALS | u64::from(number.unsigned_abs()) | OUTSIDE)
    }
}

/// What is known of descriptors besides what the kernel says.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// What was made in this process, so that nobody outside has an end of it. By the
    /// number of one end: that of the channel.
    own: BTreeMap<u64, u64>,
    /// Descriptors that tell of signals.
    of_signals: BTreeSet<i32>,
    /// Files that were locked through these.
    locked: BTreeSet<i32>,
}

impl Descriptors {
    /// Two descriptors are the ends of one thing of this process.
    pub(crate) fn pair(&mut self, first: i32, second: i32) {
        let (Some(first), Some(second)) = (End::of(first), End::of(second)) else {
            return;
        };
        let (first, second) = (first.number(), second.number());
        let channel = first.min(second) & !OUTSIDE;
        self.own.insert(first, channel);
        self.own.insert(second, channel);
    }

    /// A descriptor is about to be closed: its number may mean something else
    /// next.
    pub(crate) fn closes(&mut self, descriptor: i32) {
        self.of_signals.remove(&descriptor);
        if let Some(End::Numbered(number)) = End::of(descriptor) {
            self.own.remove(&number);
        }
    }

    /// A descriptor tells of signals from now on.
    #[cfg(not(test))]
    pub(crate) fn tell_signals(&mut self, descriptor: i32) {
        self.of_signals.insert(descriptor);
    }

    /// Whether a descriptor tells of signals.
    #[cfg(not(test))]
    pub(crate) fn tells_signals(&self, descriptor: i32) -> bool {
        self.of_signals.contains(&descriptor)
    }

    /// A file was locked through a descriptor, or unlocked.
    #[cfg(not(test))]
    pub(crate) fn has_locked(&mut self, descriptor: i32, locked: bool) {
        match locked {
            true => self.locked.insert(descriptor),
            false => self.locked.remove(&descriptor),
        };
    }

    /// The lock on a file that ends with a descriptor, which is about to be closed.
    #[cfg(not(test))]
    pub(crate) fn lock_of(&mut self, descriptor: i32) -> Option<Channel> {
        let locked = self.locked.remove(&descriptor);
        Channel::of_file(descriptor).filter(|_| locked)
    }

    /// Where a datagram goes that is sent to an address, or to the one that the socket is
    /// connected to. `None` for what is no socket for datagrams.
    #[cfg(not(test))]
    pub(crate) fn destination(&self, socket: i32, address: Option<Channel>) -> Option<Channel> {
        if !is_for_datagrams(socket) {
            return None;
        }
        let peer = || port(libc::SYS_getpeername, socket);
        address.or_else(|| Some(Channel(outside(mixed(0, peer()?)))))
    }

    /// The channel of a descriptor; `None` for files, terminals and devices.
    pub(crate) fn channel(&self, descriptor: i32) -> Option<Channel> {
        let end = End::of(descriptor)?;
        let own = self.own.get(&end.number()).copied();
        Some(Channel(own.unwrap_or(end.shared())))
    }
}

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Something that has a number of its own, the same at both ends.
    Known(u64),
    /// A socket whose other end has another number.
    Socket(u64),
    /// Counters, timers and the like have nothing but the descriptor's number.
    Numbered(u64),
}

impl End {
    /// What the kernel says of a descriptor.
    fn status(descriptor: i32) -> Option<libc::stat> {
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the kernel fills the record, or says that it did not.
        unsafe {
            let arguments = [
                descriptor as usize,
                status.as_mut_ptr() as usize,
                0,
                0,
                0,
                0,
            ];
            if sys::raw_syscall(libc::SYS_fstat, arguments) != 0 {
                return None;
            }
            Some(status.assume_init())
        }
    }

    /// The end that is behind a descriptor.
    fn of(descriptor: i32) -> Option<Self> {
        let status = Self::status(descriptor)?;
        let inode = mixed(status.st_dev, status.st_ino);
        Some(match status.st_mode & libc::S_IFMT {
            libc::S_IFIFO => Self::Known(outside(inode)),
            libc::S_IFSOCK => match connection(descriptor) {
                Some(ports) => Self::Known(outside(ports)),
                None => Self::Socket(outside(inode)),
            },
            0 => Self::Numbered(outside(u64::from(descriptor.unsigned_abs()))),
            _ => return None,
        })
    }

    /// Its own number.
    fn number(self) -> u64 {
        match self {
            Self::Known(number) | Self::Socket(number) | Self::Numbered(number) => number,
        }
    }

    /// The number that the other end has too, if nobody knows which that is: one
    /// for all sockets with names.
    fn shared(self) -> u64 {
        match self {
            Self::Socket(_) => NAMED_SOCKETS,
            _ => self.number(),
        }
    }
}

/// A number whose other end may be outside.
fn outside(number: u64) -> u64 {
    number & (KEYS - 1) | KEYS | OUTSIDE
}

/// A connection over the network, by the ports of its ends. Datagrams come to a port from
/// wherever they were sent.
fn connection(socket: i32) -> Option<u64> {
    let here = port(libc::SYS_getsockname, socket)?;
    let there = match is_for_datagrams(socket) {
        true => 0,
        false => port(libc::SYS_getpeername, socket).unwrap_or(0),
    };
    Some(mixed(here.min(there), here.max(there)))
}

/// Whether a descriptor is a socket that takes each message for itself.
fn is_for_datagrams(socket: i32) -> bool {
    let mut kind: i32 = 0;
    let mut len = size_of::<i32>() as libc::socklen_t;
    let arguments = [
        socket as usize,
        libc::SOL_SOCKET as usize,
        libc::SO_TYPE as usize,
        &raw mut kind as usize,
        &raw mut len as usize,
        0,
    ];
    // SAFETY: the kernel fills the number.
    let answer = unsafe { sys::raw_syscall(libc::SYS_getsockopt, arguments) };
    answer == 0 && kind == libc::SOCK_DGRAM
}

/// The port of one end of a socket of the internet's families.
fn port(call: libc::c_long, socket: i32) -> Option<u64> {
    let mut address = [0u8; size_of::<libc::sockaddr_storage>()];
    let mut len = address.len() as libc::socklen_t;
    let arguments = [
        socket as usize,
        address.as_mut_ptr() as usize,
        &raw mut len as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the kernel fills the buffer up to its length.
    if unsafe { sys::raw_syscall(call, arguments) } != 0 {
        return None;
    }
    let family = i32::from(u16::from_ne_bytes([address[0], address[1]]));
    let port = u16::from_be_bytes([address[2], address[3]]);
    (family == libc::AF_INET || family == libc::AF_INET6).then_some(u64::from(port))
}

/// Two numbers as one, below the bits that say what it is.
fn mixed(first: u64, second: u64) -> u64 {
    let mixed = (first ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ second;
    // Numbers of descriptors and signals stay apart from these, and the bits above.
    mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 3 | 1 << 45
}
