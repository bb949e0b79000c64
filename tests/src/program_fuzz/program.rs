//! A random C program as a tree: threads of statements, and how the process ends. What
//! a thread sees goes into numbered slots, which `main` prints when all have been joined.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// A program. Objects are numbers; each that is used is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The width of each atomic object: 8, 16, 32 or 64 bits.
    pub(super) widths: Vec<u8>,
    /// What each plain object is.
    pub(super) plains: Vec<PlainKind>,
    /// What `main` does after it has started the threads and before it joins them.
    pub(super) main: Vec<Statement>,
    /// The threads that `main` starts.
    pub(super) threads: Vec<Thread>,
    /// What an `atexit` handler does.
    pub(super) at_exit: Vec<Statement>,
    /// How `main` ends.
    pub(super) ending: Ending,
    /// Who compiles it, and how.
    pub(super) build: Build,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// Nobody joins it, and what it saw is not printed.
    pub(super) detached: bool,
    /// What it does.
    pub(super) body: Vec<Statement>,
}

/// A compiler and its optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Build {
    /// Its name.
    pub(super) compiler: &'static str,
    /// The digit of `-O`.
    pub(super) level: u8,
}

/// What a plain object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainKind {
    /// An `int`.
    Word,
    /// A string of one digit, read and written by functions of the C library.
    Text(TextReader),
}

/// How a string is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextReader {
    /// `memcpy`.
    Copy,
    /// `strcmp` with "1".
    Compare,
    /// `strtol`.
    Number,
    /// `snprintf` of `%s`.
    Format,
}

/// How `main` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// `return 0`.
    Return,
    /// `exit(0)`.
    Exit,
    /// `_exit(0)`: no handlers.
    QuickExit,
    /// `pthread_exit(0)`: detached threads run to their ends.
    ThreadExit,
}

/// How a thread ends itself or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// `return 0` from the thread.
    Return,
    /// `pthread_exit(0)`.
    ThreadExit,
    /// `exit(3)`.
    Exit,
    /// `_exit(4)`.
    QuickExit,
    /// `abort()`.
    Abort,
}

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lock {
    /// A mutex.
    Mutex(u8),
    /// A spinlock.
    Spin,
    /// The read side of a read-write lock.
    Read,
    /// Its write side.
    Write,
}

/// How it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locking {
    /// Until it is free.
    Wait,
    /// Only if it is free.
    Try,
    /// With a deadline that is now.
    Timed,
}

/// What an atomic read-modify-write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Adds.
    Add(u8),
    /// Replaces.
    Exchange(u8),
    /// Replaces what is as expected.
    Cas {
        /// The expected value.
        expected: u8,
        /// The new value.
        desired: u8,
    },
}

/// What no other thread notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Private {
    /// A thread-local counter.
    ThreadLocal,
    /// `malloc`, use, `free`.
    Heap,
    /// `calloc`, `realloc`, `free`.
    Grow,
    /// Strings on the stack.
    Strings,
    /// `snprintf` and `strtol`.
    Numbers,
    /// `qsort` of an array on the stack.
    Sort,
    /// `getenv`.
    Environment,
    /// `sched_yield`.
    Yield,
    /// `usleep`.
    Sleep,
    /// `pthread_sigmask`, blocked and put back.
    Mask,
    /// `pthread_key_create`, `pthread_setspecific`, `pthread_getspecific`.
    Key,
    /// `clock_gettime`.
    Clock,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// An atomic load into a slot.
    Load {
        /// The object.
        atomic: u8,
        /// Its order.
        order: LoadOrder,
    },
    /// An atomic store.
    Store {
        /// The object.
        atomic: u8,
        /// The value.
        value: u8,
        /// Its order.
        order: StoreOrder,
    },
    /// An atomic read-modify-write; the old value goes into a slot.
    Rmw {
        /// The object.
        atomic: u8,
        /// What it does.
        change: Change,
        /// Its order.
        order: RmwOrder,
    },
    /// A fence.
    Fence(FenceOrder),
    /// A plain read into a slot.
    Read(u8),
    /// A plain write.
    Write {
        /// The object.
        plain: u8,
        /// The value.
        value: u8,
    },
    /// A loop that waits for a value.
    Await {
        /// The object.
        atomic: u8,
        /// The value.
        value: u8,
        /// Its order.
        order: LoadOrder,
    },
    /// Statements under a lock; whether one that is tried was free goes into a slot.
    Locked {
        /// The lock.
        lock: Lock,
        /// How it is taken.
        how: Locking,
        /// The statements.
        body: Vec<Statement>,
    },
    /// Waits, under mutex 0, with the condition variable until the flag is set.
    WaitForFlag,
    /// Sets the flag under mutex 0 and wakes one or all.
    SetFlag {
        /// All.
        broadcast: bool,
    },
    /// `sem_post`.
    Post,
    /// `sem_wait`.
    SemWait,
    /// `sem_trywait`; whether it took one goes into a slot.
    SemTry,
    /// A barrier of two.
    Arrive,
    /// `pthread_once` of a function that adds to atomic object 0.
    Once,
    /// Statements several times.
    Repeat {
        /// How many times.
        times: u8,
        /// The statements.
        body: Vec<Statement>,
    },
    /// Statements if the last atomic read of this thread saw this.
    IfSaw {
        /// The value.
        value: u8,
        /// The statements.
        body: Vec<Statement>,
    },
    /// A failed assertion unless the last atomic read of this thread saw this.
    Assert(u8),
    /// A new object, written and handed over through a pointer.
    Share(StoreOrder),
    /// Reads what was handed over.
    Take(LoadOrder),
    /// Takes what was handed over away, reads and frees it.
    TakeAway(RmwOrder),
    /// `raise` of a signal whose handler adds to atomic object 0.
    Raise,
    /// What no other thread notices.
    Private(Private),
    /// An end.
    Leave(Leaving),
}

impl Statement {
    /// Whether it has a slot of its own, which comes before those in its body.
    pub(super) fn has_slot(&self) -> bool {
        match self {
            Self::Load { .. }
            | Self::Rmw { .. }
            | Self::Read(_)
            | Self::SemTry
            | Self::Take(_)
            | Self::TakeAway(_) => true,
            Self::Locked { how, .. } => *how != Locking::Wait,
            _ => false,
        }
    }

    /// The statements in it.
    pub(super) fn body(&self) -> &[Self] {
        match self {
            Self::Locked { body, .. } | Self::Repeat { body, .. } | Self::IfSaw { body, .. } => {
                body
            }
            _ => &[],
        }
    }

    /// The same, to change them.
    pub(super) fn body_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Locked { body, .. } | Self::Repeat { body, .. } | Self::IfSaw { body, .. } => {
                Some(body)
            }
            _ => None,
        }
    }

    /// Whether it, or one in it, is as asked for.
    pub(super) fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self) || self.body().iter().any(|inner| inner.any(is))
    }
}

impl Program {
    /// The lists of statements: `main`, the threads, the handler.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Vec<Statement>> {
        let threads = self.threads.iter().map(|thread| &thread.body);
        [&self.main]
            .into_iter()
            .chain(threads)
            .chain([&self.at_exit])
    }

    /// The same, to change them.
    pub(super) fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Vec<Statement>> {
        let threads = self.threads.iter_mut().map(|thread| &mut thread.body);
        [&mut self.main]
            .into_iter()
            .chain(threads)
            .chain([&mut self.at_exit])
    }

    /// Whether a statement is as asked for.
    pub(super) fn any(&self, is: impl Fn(&Statement) -> bool) -> bool {
        self.bodies().flatten().any(|statement| statement.any(&is))
    }

    /// Whether `main` prints what memory holds: where nobody can write it any more.
    pub(super) fn prints_memory(&self) -> bool {
        !self.threads.iter().any(|thread| thread.detached)
    }

    /// Whether all atomic accesses are SC: then it is robust unless it races.
    pub(super) fn is_sequential(&self) -> bool {
        !self.any(|statement| match statement {
            Statement::Load { order, .. }
            | Statement::Await { order, .. }
            | Statement::Take(order) => !order.is_sc(),
            Statement::Store { order, .. } | Statement::Share(order) => !order.is_sc(),
            Statement::Rmw { order, .. } | Statement::TakeAway(order) => !order.is_sc(),
            _ => false,
        })
    }
}
