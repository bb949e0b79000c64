//! What the runtime keeps for a thread: how it takes part in the turn, and its
//! shadow call stack. Records of ended threads are kept, as others may still
//! look at them.

use alloc::boxed::Box;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::arena;
use crate::clocks::ClockSlot;
use crate::openmp_task::OpenMpTask;

/// How a thread takes part in the turn.
pub(crate) mod phase {
    /// Runs program code and holds the turn.
    pub(crate) const OUTSIDE: u32 = 0;
    /// Is in the runtime: holds the turn, or is parked.
    pub(crate) const INSIDE: u32 = 1;
    /// Runs program code, or a call that is not controlled, without the turn.
    pub(crate) const PREEMPTED: u32 = 2;
    /// Was preempted, has come back, and waits to be let in.
    pub(crate) const ARRIVED: u32 = 3;
}

/// States of the word that a parked thread waits on.
pub(crate) mod go {
    pub(crate) const WAIT: u32 = 0;
    pub(crate) const GO: u32 = 1;
    pub(crate) const ASLEEP: u32 = 2;
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The return address in the caller.
    pub(crate) pc: u64,
    /// The stack pointer of the function itself, just after it was entered.
    pub(crate) sp: u64,
    /// The number of the stack up to here; 0 until it is needed.
    pub(crate) stack: u32,
}

/// Deeper calls are counted, not kept.
const MAX_FRAMES: usize = 1 << 13;

/// How many rounds of destructors libc makes when a thread ends: ours is to be
/// the last to run.
const DESTRUCTOR_ROUNDS: u32 = 4;

/// A thread of the program.
pub(crate) struct Thread {
    pub(crate) id: u32,
    pub(crate) phase: AtomicU32,
    pub(crate) go: AtomicU32,
    /// Whether it could be handed the turn: what a watcher needs to know.
    pub(crate) ready: AtomicBool,
    /// Whether it waits for a time, for something until then, or for a message.
    pub(crate) timed: AtomicBool,
    /// The signals, a bit each, that came while it was in the runtime.
    pub(crate) pending_signals: AtomicU64,
    /// The signals, a bit each, whose handlers wait until it has left the runtime.
    pub(crate) deferred: AtomicU64,
    /// What the kernel said of the last of them.
    pub(crate) signal_info: libc::siginfo_t,
    /// A handler has run that ends the call which it interrupted.
    pub(crate) interrupted: bool,
    /// The task of OpenMP that it runs.
    pub(crate) openmp: OpenMpTask,
    /// Counts entries into the runtime, so that a watcher sees life.
    pub(crate) steps: AtomicU32,
    /// The kernel's number for it.
    pub(crate) number: AtomicU32,
    /// Under `os`: it is in the runtime, whose own hooks are ignored.
    pub(crate) inside: bool,
    /// Its stack's lowest and highest address; with thread-local storage.
    pub(crate) stack: (AtomicU64, AtomicU64),
    /// The lowest and highest atomic that lie on its stack.
    pub(crate) locals: (AtomicU64, AtomicU64),
    frames: *mut Frame,
    /// How many frames there is room for: none any more when it has ended.
    capacity: usize,
    depth: usize,
    /// What it was started to do.
    pub(crate) routine: *mut c_void,
    pub(crate) argument: *mut c_void,
    /// It begins without the turn.
    pub(crate) starts_away: bool,
    /// Its creator has said that it exists.
    pub(crate) announced: AtomicBool,
    /// The signals it does not get once it has settled: those of its creator.
    pub(crate) blocked_signals: u64,
    /// How often its key's destructor may still put off its end.
    pub(crate) rounds: u32,
    /// Where it called what ends the process, as `abort` does; 0 while it has not.
    pub(crate) gives_up_at: u64,
    /// A write whose value will be known at the next hook.
    pub(crate) pending: Option<PendingWrite>,
    /// What it last read of volatile objects that are taken for plain ones.
    pub(crate) volatile_reads: VolatileReads,
    /// Its position in the clocks of the access filter.
    pub(crate) clock_slot: Option<ClockSlot>,
    /// What shadow memory knows its current epoch by; 0 without a clock.
    pub(crate) epoch_tag: u64,
    /// How often it has drawn random numbers.
    pub(crate) random_draws: AtomicU64,
    /// The next in the list of threads that no interceptor announced.
    pub(crate) next_newcomer: *mut Thread,
}

/// The same volatile object, read in the same place again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VolatileReads {
    pub(crate) address: u64,
    pub(crate) pc: u64,
    pub(crate) times: u32,
}

/// A write that the program makes after it has told us.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PendingWrite {
    /// A volatile one, where volatile means atomic; memory had this value before.
    Volatile {
        address: u64,
        size: u8,
        pc: u64,
        before: u64,
    },
    /// None by the program: memory holds an old value for a volatile read that takes it,
    /// and gets the newest one back.
    Lent {
        address: u64,
        size: u8,
        lent: u64,
        newest: u64,
    },
    /// One whose bytes are to be what they were before.
    Undone {
        address: u64,
        size: u64,
        before: [u8; 16],
    },
}

impl Thread {
    pub(crate) fn new(id: u32, phase: u32) -> *mut Self {
        Box::into_raw(Box::new(Self::fresh(id, phase)))
    }

    /// A new thread in the record of one that has ended.
    ///
    /// # Safety
    /// The thread of the record was joined.
    pub(crate) unsafe fn renewed(record: *mut Self, phase: u32) -> *mut Self {
        let fresh = Self::fresh(u32::MAX, phase);
        // SAFETY: as promised by the caller.
        unsafe {
            // A watcher that has seen the old one is to see another step.
            let steps = (*record).steps.load(Ordering::SeqCst);
            fresh.steps.store(steps.wrapping_add(1), Ordering::SeqCst);
            record.write(fresh);
        }
        record
    }

    fn fresh(id: u32, phase: u32) -> Self {
        let frames = arena::map_fresh(MAX_FRAMES * size_of::<Frame>()).cast::<Frame>();
        assert!(!frames.is_null(), "no memory for a thread's shadow stack");
        Self {
            id,
            phase: AtomicU32::new(phase),
            go: AtomicU32::new(go::WAIT),
            ready: AtomicBool::new(false),
            timed: AtomicBool::new(false),
            pending_signals: AtomicU64::new(0),
            deferred: AtomicU64::new(0),
            // SAFETY: numbers and addresses, all of which may be zero.
            signal_info: unsafe { core::mem::zeroed() },
            interrupted: false,
            openmp: OpenMpTask::default(),
            steps: AtomicU32::new(0),
            number: AtomicU32::new(0),
            inside: phase == phase::INSIDE,
            stack: (AtomicU64::new(0), AtomicU64::new(0)),
            locals: (AtomicU64::new(u64::MAX), AtomicU64::new(0)),
            frames,
            capacity: MAX_FRAMES,
            depth: 0,
            routine: ptr::null_mut(),
            argument: ptr::null_mut(),
            starts_away: false,
            announced: AtomicBool::new(false),
            blocked_signals: 0,
            rounds: DESTRUCTOR_ROUNDS,
            gives_up_at: 0,
            pending: None,
            volatile_reads: VolatileReads::default(),
            clock_slot: None,
            epoch_tag: 0,
            random_draws: AtomicU64::new(0),
            next_newcomer: ptr::null_mut(),
        }
    }

    /// A function was entered.
    #[inline(always)]
    pub(crate) fn push(&mut self, pc: u64, sp: u64) {
        // Frames below the stack pointer were left by `longjmp`.
        while self.depth > 0 && self.depth <= self.capacity && self.frame(self.depth - 1).sp <= sp {
            self.depth -= 1;
        }
        if self.depth < self.capacity {
            // SAFETY: within the map, and only this thread writes to it.
            unsafe {
                self.frames
                    .add(self.depth)
                    .write(Frame { pc, sp, stack: 0 })
            };
        }
        self.depth += 1;
    }

    /// A function is left.
    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// How many frames are kept.
    pub(crate) fn depth(&self) -> usize {
        self.depth.min(self.capacity)
    }

    /// A frame, counted from the outermost.
    #[inline(always)]
    pub(crate) fn frame(&self, index: usize) -> &Frame {
        debug_assert!(index < self.depth());
        // SAFETY: frames below the depth are written.
        unsafe { &*self.frames.add(index) }
    }

    /// The number of its stack; `None` if it has none yet.
    #[inline(always)]
    pub(crate) fn known_stack(&self) -> Option<u32> {
        match self.depth() {
            0 => Some(0),
            depth => Some(self.frame(depth - 1).stack).filter(|&stack| stack != 0),
        }
    }

    /// Remembers a frame's stack number.
    pub(crate) fn set_stack(&mut self, index: usize, stack: u32) {
        // SAFETY: frames below the depth are written.
        unsafe { (*self.frames.add(index)).stack = stack };
    }

    /// Forgets the numbers: in a forked child, whose trace has none yet.
    pub(crate) fn forget_stacks(&mut self) {
        for index in 0..self.depth() {
            self.set_stack(index, 0);
        }
    }

    /// Whether the address lies on this thread's stack.
    pub(crate) fn owns(&self, address: u64) -> bool {
        let low = self.stack.0.load(Ordering::Relaxed);
        let high = self.stack.1.load(Ordering::Relaxed);
        (low..high).contains(&address)
    }

    /// Gives the shadow stack's memory back when the thread has ended.
    pub(crate) fn release_frames(&mut self) {
        self.depth = 0;
        self.capacity = 0;
        let size = MAX_FRAMES * size_of::<Frame>();
        // SAFETY: our own map; with no capacity left, nothing looks into it.
        unsafe {
            crate::sys::raw_syscall(libc::SYS_munmap, [self.frames as usize, size, 0, 0, 0, 0])
        };
    }
}
