//! A sequentially consistent interpreter of litmus programs. It says which
//! steps a program can take and turns each into the event that a recorded run
//! would have; which step is taken is the caller's business.

use wmfix_analysis::{
    Bytes, CasOutcome, CasStrength, Event, LocationId, LockId, LockMode, Operation, SiteId,
    ThreadId,
};

use super::program::{Instruction, Location, Program};

/// How to take a step that is not determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// As usual.
    Run,
    /// A weak compare-exchange fails although the value is as expected.
    FailSpuriously,
}

/// What a step did.
#[derive(Clone, Copy, Debug)]
pub struct ExecutedInstruction {
    /// The instruction's place in its thread.
    pub instruction: usize,
    /// The event of the run.
    pub event: Event,
    /// The value an atomic access read.
    pub read: Option<u64>,
    /// The value an atomic access wrote.
    pub written: Option<u64>,
    /// It was the thread's last instruction.
    pub ended: bool,
}

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// The registers of each thread.
    pub registers: Vec<Vec<u64>>,
    /// The newest value of each location.
    pub memory: Vec<u64>,
}

/// The state of a program between two steps.
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    program: &'p Program,
    threads: Vec<ThreadState>,
    memory: Vec<u64>,
    owners: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct ThreadState {
    started: bool,
    next: usize,
    registers: Vec<u64>,
}

/// The thread that starts the program's threads. It makes no access.
pub fn main_thread() -> ThreadId {
    ThreadId(0)
}

/// The id in events of one of the program's threads.
pub fn thread_id(thread: usize) -> ThreadId {
    ThreadId(u32::try_from(thread).expect("few threads") + 1)
}

impl<'p> Machine<'p> {
    /// A program about to start.
    pub fn new(program: &'p Program) -> Self {
        let mut machine = Self {
            program,
            threads: (0..program.threads.len())
                .map(|t| ThreadState {
                    started: !program.is_created(t),
                    next: 0,
                    registers: vec![0; program.registers.len()],
                })
                .collect(),
            memory: vec![0; program.locations.len()],
            owners: vec![None; program.mutexes.len()],
        };
        for thread in 0..machine.threads.len() {
            machine.skip(thread);
        }
        machine
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// What the main thread does before the first step: makes the atomic
    /// objects if plain accesses could tell, and starts threads.
    pub fn prologue(&self) -> Vec<Event> {
        let event = |operation| Event {
            thread: main_thread(),
            site: SiteId(u32::MAX),
            operation,
        };
        let mut events = Vec::new();
        if self
            .program
            .instructions()
            .any(|i| i.plain_location().is_some())
        {
            let mut atomic: Vec<Location> = self
                .program
                .instructions()
                .filter_map(Instruction::atomic_location)
                .collect();
            atomic.sort();
            atomic.dedup();
            events.extend(atomic.into_iter().map(|location| {
                event(Operation::Birth {
                    location: location_id(location),
                    bytes: bytes(location),
                    value: 0,
                })
            }));
        }
        events.extend(
            (0..self.threads.len())
                .filter(|&t| self.threads[t].started)
                .map(|t| {
                    event(Operation::Create {
                        child: thread_id(t),
                    })
                }),
        );
        events
    }

    /// The instruction that a thread would run next, and its place.
    pub fn next(&self, thread: usize) -> Option<(usize, &'p Instruction)> {
        let state = &self.threads[thread];
        let instruction = self.program.threads[thread].get(state.next)?;
        state.started.then_some((state.next, instruction))
    }

    /// Whether a thread has run to its end.
    pub fn ended(&self, thread: usize) -> bool {
        let state = &self.threads[thread];
        state.started && state.next >= self.program.threads[thread].len()
    }

    /// The ways in which a thread can go on now; none if it has ended or waits.
    pub fn choices(&self, thread: usize) -> &'static [Choice] {
        let Some((_, instruction)) = self.next(thread) else {
            return &[];
        };
        let ready = match *instruction {
            Instruction::Wait { location, exit, .. } => exit.leaves(self.value(location)),
            Instruction::BlockingCompareExchange {
                location, expected, ..
            } => self.value(location) == expected,
            Instruction::Join { thread } => self.ended(usize::from(thread)),
            Instruction::Lock { mutex } => self.owners[usize::from(mutex.0)].is_none(),
            Instruction::CompareExchange {
                location,
                expected,
                strength: CasStrength::Weak,
                ..
            } if self.value(location) == expected => {
                return &[Choice::Run, Choice::FailSpuriously];
            }
            _ => true,
        };
        if ready { &[Choice::Run] } else { &[] }
    }

    /// The ways in which a thread could go on if the location of its next access
    /// held `value`.
    pub fn choices_on(&self, thread: usize, value: u64) -> &'static [Choice] {
        let mut other = self.clone();
        if let Some(location) = self.next_location(thread) {
            other.memory[usize::from(location.0)] = value;
        }
        other.choices(thread)
    }

    /// Lets a thread take its next step as if the location of its access held
    /// `value`. Memory stays as it is: what the access writes, if it does, is older
    /// than what memory holds.
    pub fn step_on(&mut self, thread: usize, choice: Choice, value: u64) -> ExecutedInstruction {
        let location = self.next_location(thread).expect("an access");
        let place = usize::from(location.0);
        let newest = std::mem::replace(&mut self.memory[place], value);
        let stepped = self.step(thread, choice);
        self.memory[place] = newest;
        stepped
    }

    /// The location of a thread's next access.
    pub fn next_location(&self, thread: usize) -> Option<Location> {
        self.next(thread)?.1.atomic_location()
    }

    /// Whether every thread has run to its end.
    pub fn all_ended(&self) -> bool {
        (0..self.threads.len()).all(|thread| self.ended(thread))
    }

    /// The registers of each thread and what memory holds.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            registers: (self.threads.iter())
                .map(|thread| thread.registers.clone())
                .collect(),
            memory: self.memory.clone(),
        }
    }

    /// The event of a round that stays in its loop, for a thread that waits for
    /// a value.
    pub fn blocked_round(&self, thread: usize) -> Option<Event> {
        let (place, instruction) = self.next(thread)?;
        if !self.choices(thread).is_empty() {
            return None;
        }
        let operation = match *instruction {
            Instruction::Wait {
                location,
                exit,
                order,
            } => Operation::Load {
                location: location_id(location),
                order,
                value: self.value(location),
                exit: Some(exit),
            },
            Instruction::BlockingCompareExchange {
                location,
                expected,
                success,
                failure,
                ..
            } => Operation::CompareExchange {
                location: location_id(location),
                success,
                failure,
                strength: CasStrength::Strong,
                expected,
                read: self.value(location),
                outcome: CasOutcome::Failed,
                blocking: true,
            },
            _ => return None,
        };
        Some(self.event(thread, place, operation))
    }

    /// For a thread that waits for a mutex: the event that it waits to make.
    pub fn blocked_lock(&self, thread: usize) -> Option<Event> {
        let (place, instruction) = self.next(thread)?;
        let Instruction::Lock { mutex } = *instruction else {
            return None;
        };
        let operation = Operation::Acquire {
            lock: LockId(mutex.0.into()),
            mode: LockMode::Exclusive,
        };
        let waits = self.choices(thread).is_empty();
        waits.then(|| self.event(thread, place, operation))
    }

    /// The event that ends a thread.
    pub fn exit_event(&self, thread: usize) -> Event {
        self.event(thread, self.program.threads[thread].len(), Operation::Exit)
    }

    /// Lets a thread take its next step, in one of the ways that
    /// [`Machine::choices`] gave.
    pub fn step(&mut self, thread: usize, choice: Choice) -> ExecutedInstruction {
        let (place, instruction) = self.next(thread).expect("the thread has a next step");
        let (operation, read, written) = self.run(thread, instruction, choice);
        if let (Some(register), Some(value)) = (instruction.result(), read) {
            self.threads[thread].registers[usize::from(register.0)] = value;
        }
        if let (Some(location), Some(value)) = (instruction.atomic_location(), written) {
            self.memory[usize::from(location.0)] = value;
        }
        self.threads[thread].next += 1;
        self.skip(thread);
        ExecutedInstruction {
            instruction: place,
            event: self.event(thread, place, operation),
            read,
            written,
            ended: self.ended(thread),
        }
    }

    fn run(
        &mut self,
        thread: usize,
        instruction: &Instruction,
        choice: Choice,
    ) -> (Operation, Option<u64>, Option<u64>) {
        use Instruction as I;
        match *instruction {
            I::Store {
                location,
                value,
                order,
            } => {
                let operation = Operation::Store {
                    location: location_id(location),
                    order,
                    value,
                };
                (operation, None, Some(value))
            }
            I::Load {
                location, order, ..
            } => {
                let value = self.value(location);
                let operation = Operation::Load {
                    location: location_id(location),
                    order,
                    value,
                    exit: None,
                };
                (operation, Some(value), None)
            }
            I::Wait {
                location,
                exit,
                order,
            } => {
                let value = self.value(location);
                let operation = Operation::Load {
                    location: location_id(location),
                    order,
                    value,
                    exit: Some(exit),
                };
                (operation, Some(value), None)
            }
            I::FetchAdd {
                location,
                value,
                order,
                ..
            } => {
                let read = self.value(location);
                let written = read.wrapping_add(value);
                let operation = Operation::Rmw {
                    location: location_id(location),
                    order,
                    read,
                    written,
                    exit: None,
                };
                (operation, Some(read), Some(written))
            }
            I::Exchange {
                location,
                value,
                order,
                ..
            } => {
                let read = self.value(location);
                let operation = Operation::Rmw {
                    location: location_id(location),
                    order,
                    read,
                    written: value,
                    exit: None,
                };
                (operation, Some(read), Some(value))
            }
            I::CompareExchange {
                location,
                expected,
                desired,
                success,
                failure,
                strength,
                ..
            } => {
                let read = self.value(location);
                let written = (read == expected && choice == Choice::Run).then_some(desired);
                let operation = Operation::CompareExchange {
                    location: location_id(location),
                    success,
                    failure,
                    strength,
                    expected,
                    read,
                    outcome: written.map_or(CasOutcome::Failed, CasOutcome::Exchanged),
                    blocking: false,
                };
                (operation, Some(read), written)
            }
            I::BlockingCompareExchange {
                location,
                expected,
                desired,
                success,
                failure,
            } => {
                let operation = Operation::CompareExchange {
                    location: location_id(location),
                    success,
                    failure,
                    strength: CasStrength::Strong,
                    expected,
                    read: expected,
                    outcome: CasOutcome::Exchanged(desired),
                    blocking: true,
                };
                (operation, Some(expected), Some(desired))
            }
            I::Fence { order } => (Operation::Fence { order }, None, None),
            I::Read { location } => {
                let bytes = bytes(location);
                (Operation::Read { bytes }, None, None)
            }
            I::Write { location, value } => {
                self.memory[usize::from(location.0)] = value;
                let bytes = bytes(location);
                (Operation::Write { bytes }, None, None)
            }
            I::Create { thread } => {
                self.threads[usize::from(thread)].started = true;
                let child = thread_id(thread.into());
                (Operation::Create { child }, None, None)
            }
            I::Join { thread } => {
                let child = thread_id(thread.into());
                (Operation::Join { child }, None, None)
            }
            I::Lock { mutex } => {
                self.owners[usize::from(mutex.0)] = Some(thread);
                let lock = LockId(mutex.0.into());
                let mode = LockMode::Exclusive;
                (Operation::Acquire { lock, mode }, None, None)
            }
            I::Unlock { mutex } => {
                self.owners[usize::from(mutex.0)] = None;
                let lock = LockId(mutex.0.into());
                let mode = LockMode::Exclusive;
                (Operation::Release { lock, mode }, None, None)
            }
            I::SkipIf { .. } | I::SkipUnless { .. } => unreachable!("skips are never a step"),
        }
    }

    /// Runs the skips that a thread has come to: they are no events.
    fn skip(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        while let Some(instruction) = self.program.threads[thread].get(state.next) {
            let (register, value, count, if_equal) = match *instruction {
                Instruction::SkipIf {
                    register,
                    value,
                    count,
                } => (register, value, count, true),
                Instruction::SkipUnless {
                    register,
                    value,
                    count,
                } => (register, value, count, false),
                _ => break,
            };
            let equal = state.registers[usize::from(register.0)] == value;
            let skipped = if equal == if_equal { count } else { 0 };
            state.next += 1 + usize::from(skipped);
        }
    }

    fn value(&self, location: Location) -> u64 {
        self.memory[usize::from(location.0)]
    }

    fn event(&self, thread: usize, place: usize, operation: Operation) -> Event {
        Event {
            thread: thread_id(thread),
            site: self.program.site(thread, place),
            operation,
        }
    }
}

impl Program {
    /// The site of an instruction in the events of a run. One past the last
    /// instruction is the site of the thread's end.
    pub fn site(&self, thread: usize, place: usize) -> SiteId {
        let before: usize = self.threads[..thread].iter().map(|t| t.len() + 1).sum();
        SiteId(u32::try_from(before + place).expect("few instructions"))
    }
}

fn location_id(location: Location) -> LocationId {
    LocationId(location.0.into())
}

fn bytes(location: Location) -> Bytes {
    Bytes {
        address: 0x1000 + 16 * u64::from(location.0),
        size: 4,
    }
}
