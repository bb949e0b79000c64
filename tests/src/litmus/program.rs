//! A litmus program: a few threads of a few instructions each. Locations,
//! registers and mutexes are small numbers; their names live in the program.

use wmfix_analysis::{CasStrength, FenceOrder, LoadOrder, LoopExit, RmwOrder, StoreOrder};

/// A location in memory, by its place in [`Program::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(pub u8);

/// A register, by its place in [`Program::registers`]. Registers are private to
/// a thread even when two threads use the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u8);

/// A mutex, by its place in [`Program::mutexes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mutex(pub u8);

/// One instruction of a thread. All but the skips make at most one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// An atomic store.
    Store {
        /// Where.
        location: Location,
        /// What.
        value: u64,
        /// Its order.
        order: StoreOrder,
    },
    /// An atomic load.
    Load {
        /// Receives the value.
        register: Register,
        /// Where.
        location: Location,
        /// Its order.
        order: LoadOrder,
    },
    /// An atomic addition.
    FetchAdd {
        /// Receives the old value.
        register: Register,
        /// Where.
        location: Location,
        /// What is added.
        value: u64,
        /// Its order.
        order: RmwOrder,
    },
    /// An atomic exchange.
    Exchange {
        /// Receives the old value.
        register: Register,
        /// Where.
        location: Location,
        /// The new value.
        value: u64,
        /// Its order.
        order: RmwOrder,
    },
    /// A compare-exchange that is tried once.
    CompareExchange {
        /// Receives the value read.
        register: Register,
        /// Where.
        location: Location,
        /// The value it expects.
        expected: u64,
        /// The value it writes.
        desired: u64,
        /// Order if it succeeds.
        success: RmwOrder,
        /// Order if it fails.
        failure: LoadOrder,
        /// A weak one may fail for no reason.
        strength: CasStrength,
    },
    /// A compare-exchange that is tried until it succeeds: only the success is
    /// an event.
    BlockingCompareExchange {
        /// Where.
        location: Location,
        /// The value it expects.
        expected: u64,
        /// The value it writes.
        desired: u64,
        /// Order of the success.
        success: RmwOrder,
        /// Order of the rounds that fail.
        failure: LoadOrder,
    },
    /// A load that is repeated until its value satisfies a condition: only the
    /// last one is an event.
    Wait {
        /// Where.
        location: Location,
        /// When it ends.
        exit: LoopExit,
        /// Its order.
        order: LoadOrder,
    },
    /// A thread fence.
    Fence {
        /// Its order.
        order: FenceOrder,
    },
    /// Skips instructions if a register has a value.
    SkipIf {
        /// The register.
        register: Register,
        /// The value.
        value: u64,
        /// How many instructions.
        count: u8,
    },
    /// Skips instructions unless a register has a value.
    SkipUnless {
        /// The register.
        register: Register,
        /// The value.
        value: u64,
        /// How many instructions.
        count: u8,
    },
    /// A plain read, whose value nothing depends on.
    Read {
        /// Where.
        location: Location,
    },
    /// A plain write.
    Write {
        /// Where.
        location: Location,
        /// What.
        value: u64,
    },
    /// Starts a thread, which does not run before.
    Create {
        /// Its place in [`Program::threads`].
        thread: u8,
    },
    /// Waits for the end of a thread.
    Join {
        /// Its place in [`Program::threads`].
        thread: u8,
    },
    /// Takes a mutex.
    Lock {
        /// The mutex.
        mutex: Mutex,
    },
    /// Gives a mutex back.
    Unlock {
        /// The mutex.
        mutex: Mutex,
    },
}

/// A litmus program. A thread that no instruction creates runs from the start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// What it is called.
    pub name: String,
    /// The threads.
    pub threads: Vec<Vec<Instruction>>,
    /// Names of the locations. All of them are 0 at the start.
    pub locations: Vec<String>,
    /// Names of the registers. All of them are 0 at the start.
    pub registers: Vec<String>,
    /// Names of the mutexes.
    pub mutexes: Vec<String>,
}

impl Instruction {
    /// The location of an atomic access.
    pub fn atomic_location(&self) -> Option<Location> {
        match *self {
            Self::Store { location, .. }
            | Self::Load { location, .. }
            | Self::FetchAdd { location, .. }
            | Self::Exchange { location, .. }
            | Self::CompareExchange { location, .. }
            | Self::BlockingCompareExchange { location, .. }
            | Self::Wait { location, .. } => Some(location),
            _ => None,
        }
    }

    /// The location of a plain access.
    pub fn plain_location(&self) -> Option<Location> {
        match *self {
            Self::Read { location } | Self::Write { location, .. } => Some(location),
            _ => None,
        }
    }

    /// The register that the instruction sets.
    pub fn result(&self) -> Option<Register> {
        match *self {
            Self::Load { register, .. }
            | Self::FetchAdd { register, .. }
            | Self::Exchange { register, .. }
            | Self::CompareExchange { register, .. } => Some(register),
            _ => None,
        }
    }

    /// Whether it is an atomic access with an SC order in any of its outcomes.
    pub fn is_sc_access(&self) -> bool {
        match *self {
            Self::Store { order, .. } => order.is_sc(),
            Self::Load { order, .. } | Self::Wait { order, .. } => order.is_sc(),
            Self::FetchAdd { order, .. } | Self::Exchange { order, .. } => order.is_sc(),
            Self::CompareExchange {
                success, failure, ..
            } => success.is_sc() || failure.is_sc(),
            Self::BlockingCompareExchange { success, .. } => success.is_sc(),
            _ => false,
        }
    }

    /// Whether it is an SC fence.
    pub fn is_sc_fence(&self) -> bool {
        matches!(self, Self::Fence { order } if order.is_sc())
    }

    /// Whether it is one of the two skips.
    pub fn is_skip(&self) -> bool {
        matches!(self, Self::SkipIf { .. } | Self::SkipUnless { .. })
    }
}

impl Program {
    /// All instructions, thread after thread.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.threads.iter().flatten()
    }

    /// Whether some instruction creates this thread.
    pub fn is_created(&self, thread: usize) -> bool {
        self.instructions()
            .any(|i| matches!(i, Instruction::Create { thread: t } if usize::from(*t) == thread))
    }

    /// Whether it has atomic accesses with an SC order.
    pub fn has_sc_access(&self) -> bool {
        self.instructions().any(Instruction::is_sc_access)
    }

    /// Whether it has SC fences.
    pub fn has_sc_fence(&self) -> bool {
        self.instructions().any(Instruction::is_sc_fence)
    }
}

/// Puts a program together, giving numbers to names as they come.
#[derive(Debug, Default)]
pub struct Builder {
    threads: Vec<Vec<Instruction>>,
    locations: Vec<String>,
    registers: Vec<String>,
    mutexes: Vec<String>,
}

impl Builder {
    /// Begins the next thread.
    pub fn thread(&mut self) {
        self.threads.push(Vec::new());
    }

    /// Adds to the thread begun last.
    pub fn push(&mut self, instruction: Instruction) {
        self.threads
            .last_mut()
            .expect("a thread has been begun")
            .push(instruction);
    }

    /// The location of this name.
    pub fn location(&mut self, name: &str) -> Location {
        Location(intern(&mut self.locations, name))
    }

    /// The register of this name.
    pub fn register(&mut self, name: &str) -> Register {
        Register(intern(&mut self.registers, name))
    }

    /// The mutex of this name.
    pub fn mutex(&mut self, name: &str) -> Mutex {
        Mutex(intern(&mut self.mutexes, name))
    }

    /// Whether the name has been used for a location.
    pub fn is_location(&self, name: &str) -> bool {
        self.locations.iter().any(|n| n == name)
    }

    /// The program.
    pub fn finish(self, name: &str) -> Program {
        Program {
            name: name.to_owned(),
            threads: self.threads,
            locations: self.locations,
            registers: self.registers,
            mutexes: self.mutexes,
        }
    }
}

fn intern(names: &mut Vec<String>, name: &str) -> u8 {
    let place = names.iter().position(|n| n == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    u8::try_from(place).expect("litmus programs have few names")
}
