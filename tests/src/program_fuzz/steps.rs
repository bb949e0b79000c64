//! What a thread of a program does, flat: one step for what happens at once. Loops are
//! unrolled, and what no other thread notices is left out.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

use super::program::{Change, Ending, Leaving, Lock, Locking, Program, Statement};

/// A step. A number that says where to go is that of a step of the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An atomic load.
    Load {
        /// The object.
        atomic: u8,
        /// Where the value goes.
        slot: usize,
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
    /// A read-modify-write.
    Rmw {
        /// The object.
        atomic: u8,
        /// Where the old value goes.
        slot: Option<usize>,
        /// What it does.
        change: Change,
        /// Its order.
        order: RmwOrder,
    },
    /// A fence.
    Fence(FenceOrder),
    /// A plain read.
    Read {
        /// The object.
        plain: u8,
        /// Where the value goes.
        slot: usize,
    },
    /// A plain write.
    Write {
        /// The object.
        plain: u8,
        /// The value.
        value: u8,
    },
    /// Goes on when the value is there.
    Await {
        /// The object.
        atomic: u8,
        /// The value.
        value: u8,
        /// Its order.
        order: LoadOrder,
    },
    /// Takes a lock.
    Lock(Lock),
    /// Gives it back.
    Unlock(Lock),
    /// Takes it or goes elsewhere.
    TryLock {
        /// The lock.
        lock: Lock,
        /// Where the result goes.
        slot: usize,
        /// Where to go on otherwise.
        otherwise: usize,
    },
    /// Goes elsewhere if the flag is set.
    SkipIfFlag(usize),
    /// Gives mutex 0 back and waits for the condition.
    Sleep,
    /// Woken, takes mutex 0 again, and goes back to look.
    Relock(usize),
    /// Sets the flag.
    Flag,
    /// Wakes who sleeps.
    Wake {
        /// All of them.
        broadcast: bool,
    },
    /// Raises the semaphore.
    Post,
    /// Lowers it.
    SemWait,
    /// Lowers it if it can be.
    SemTry(usize),
    /// Comes to the barrier.
    Arrive,
    /// Leaves it.
    Depart,
    /// Begins what is done once, or goes elsewhere when it is done.
    BeginOnce(usize),
    /// Ends it.
    EndOnce,
    /// Goes elsewhere unless the last value seen is this.
    SkipUnless(u8, usize),
    /// Aborts unless the last value seen is this.
    Assert(u8),
    /// Writes a new object.
    Fill(u8),
    /// Hands it over.
    Share(u8, StoreOrder),
    /// Takes the pointer, or goes elsewhere if there is none.
    Take(LoadOrder, usize),
    /// Takes the pointer away, or goes elsewhere if there is none.
    TakeAway(RmwOrder, usize),
    /// Reads the object that the pointer is of.
    ReadTaken(usize),
    /// Frees it.
    FreeTaken,
    /// Starts a thread.
    Create(usize),
    /// Waits for its end.
    Join(usize),
    /// Prints what was seen.
    Print,
    /// Ends the process.
    EndProcess(ProcessEnd),
    /// Ends the thread.
    EndThread,
}

impl Step {
    /// The slot that it writes.
    pub(super) fn slot(&self) -> Option<usize> {
        match *self {
            Self::Load { slot, .. }
            | Self::Read { slot, .. }
            | Self::TryLock { slot, .. }
            | Self::SemTry(slot)
            | Self::ReadTaken(slot) => Some(slot),
            Self::Rmw { slot, .. } => slot,
            _ => None,
        }
    }

    /// Whether another thread may learn by it what happened before.
    pub(super) fn hands_over(&self) -> bool {
        matches!(
            self,
            Self::Store { .. }
                | Self::Rmw { .. }
                | Self::Fence(_)
                | Self::Unlock(_)
                | Self::Sleep
                | Self::Post
                | Self::Arrive
                | Self::EndOnce
                | Self::Share(..)
                | Self::TakeAway(..)
                | Self::Create(_)
                | Self::EndThread
        )
    }
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// With this code.
    Code(u8),
    /// By `abort`.
    Abort,
}

/// The steps of `main` and of each thread.
pub(super) fn steps(program: &Program) -> Vec<Vec<Step>> {
    let mut cells = 0;
    let mut all = Vec::new();
    let mut main = Flattener::new(program, &mut cells);
    for thread in 1..=program.threads.len() {
        main.steps.push(Step::Create(thread));
    }
    main.body(&program.main);
    for (number, thread) in program.threads.iter().enumerate() {
        if !thread.detached {
            main.steps.push(Step::Join(number + 1));
        }
    }
    main.steps.push(Step::Print);
    match program.ending {
        Ending::Return | Ending::Exit => main.exit(0),
        Ending::QuickExit => main.steps.push(Step::EndProcess(ProcessEnd::Code(0))),
        Ending::ThreadExit => main.steps.push(Step::EndThread),
    }
    all.push(main.steps);
    for thread in &program.threads {
        let mut flattener = Flattener::new(program, &mut cells);
        flattener.body(&thread.body);
        flattener.steps.push(Step::EndThread);
        all.push(flattener.steps);
    }
    all
}

struct Flattener<'p> {
    program: &'p Program,
    steps: Vec<Step>,
    slots: usize,
    /// How many objects are handed over.
    cells: &'p mut u8,
}

impl<'p> Flattener<'p> {
    fn new(program: &'p Program, cells: &'p mut u8) -> Self {
        Self {
            program,
            steps: Vec::new(),
            slots: 0,
            cells,
        }
    }

    fn body(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// `exit`: the handler, then the end.
    fn exit(&mut self, code: u8) {
        let program = self.program;
        let slots = self.slots;
        self.body(&program.at_exit);
        self.slots = slots;
        self.steps.push(Step::EndProcess(ProcessEnd::Code(code)));
    }

    /// Adds what is skipped by a step that is only known when its end is.
    fn around(&mut self, step: impl FnOnce(usize) -> Step, inner: impl FnOnce(&mut Self)) {
        let at = self.steps.len();
        self.steps.push(Step::EndThread);
        inner(self);
        self.steps[at] = step(self.steps.len());
    }

    fn statement(&mut self, statement: &Statement) {
        let slot = self.slots;
        self.slots += usize::from(statement.has_slot());
        match *statement {
            Statement::Load { atomic, order } => self.steps.push(Step::Load {
                atomic,
                slot,
                order,
            }),
            Statement::Store {
                atomic,
                value,
                order,
            } => self.steps.push(Step::Store {
                atomic,
                value,
                order,
            }),
            Statement::Rmw {
                atomic,
                change,
                order,
            } => self.steps.push(Step::Rmw {
                atomic,
                slot: Some(slot),
                change,
                order,
            }),
            Statement::Fence(order) => self.steps.push(Step::Fence(order)),
            Statement::Read(plain) => self.steps.push(Step::Read { plain, slot }),
            Statement::Write { plain, value } => self.steps.push(Step::Write { plain, value }),
            Statement::Await {
                atomic,
                value,
                order,
            } => self.steps.push(Step::Await {
                atomic,
                value,
                order,
            }),
            Statement::Locked {
                lock,
                how,
                ref body,
            } => self.locked(lock, how, slot, body),
            Statement::WaitForFlag => {
                self.steps.push(Step::Lock(Lock::Mutex(0)));
                let look = self.steps.len();
                self.around(Step::SkipIfFlag, |inner| {
                    inner.steps.extend([Step::Sleep, Step::Relock(look)]);
                });
                self.steps.push(Step::Unlock(Lock::Mutex(0)));
            }
            Statement::SetFlag { broadcast } => self.steps.extend([
                Step::Lock(Lock::Mutex(0)),
                Step::Flag,
                Step::Wake { broadcast },
                Step::Unlock(Lock::Mutex(0)),
            ]),
            Statement::Post => self.steps.push(Step::Post),
            Statement::SemWait => self.steps.push(Step::SemWait),
            Statement::SemTry => self.steps.push(Step::SemTry(slot)),
            Statement::Arrive => self.steps.extend([Step::Arrive, Step::Depart]),
            Statement::Once => self.around(Step::BeginOnce, |inner| {
                inner.steps.extend([ADD_TO_FIRST, Step::EndOnce]);
            }),
            Statement::Repeat { times, ref body } => {
                let first = self.slots;
                for _ in 0..times {
                    self.slots = first;
                    self.body(body);
                }
            }
            Statement::IfSaw { value, ref body } => {
                self.around(|end| Step::SkipUnless(value, end), |inner| inner.body(body));
            }
            Statement::Assert(value) => self.steps.push(Step::Assert(value)),
            Statement::Share(order) => {
                let cell = *self.cells;
                *self.cells += 1;
                self.steps
                    .extend([Step::Fill(cell), Step::Share(cell, order)]);
            }
            Statement::Take(order) => self.around(
                |end| Step::Take(order, end),
                |inner| inner.steps.push(Step::ReadTaken(slot)),
            ),
            Statement::TakeAway(order) => self.around(
                |end| Step::TakeAway(order, end),
                |inner| {
                    inner.steps.extend([Step::ReadTaken(slot), Step::FreeTaken]);
                },
            ),
            Statement::Raise => self.steps.push(ADD_TO_FIRST),
            Statement::Private(_) => {}
            Statement::Leave(leaving) => match leaving {
                Leaving::Return | Leaving::ThreadExit => self.steps.push(Step::EndThread),
                Leaving::Exit => self.exit(3),
                Leaving::QuickExit => self.steps.push(Step::EndProcess(ProcessEnd::Code(4))),
                Leaving::Abort => self.steps.push(Step::EndProcess(ProcessEnd::Abort)),
            },
        }
    }

    fn locked(&mut self, lock: Lock, how: Locking, slot: usize, body: &[Statement]) {
        let inner = |inner: &mut Self| {
            inner.body(body);
            inner.steps.push(Step::Unlock(lock));
        };
        match how {
            Locking::Wait => {
                self.steps.push(Step::Lock(lock));
                inner(self);
            }
            Locking::Try | Locking::Timed => self.around(
                |otherwise| Step::TryLock {
                    lock,
                    slot,
                    otherwise,
                },
                inner,
            ),
        }
    }
}

const ADD_TO_FIRST: Step = Step::Rmw {
    atomic: 0,
    slot: None,
    change: Change::Add(1),
    order: RmwOrder::SeqCst,
};
