//! All interleavings of a program, by going through its states: what they come to, and
//! whether one of them races. Shares nothing with wmfix.

use std::collections::{BTreeSet, HashSet};

use super::clocks::{Accesses, Clock, Knowledge, MOST_THREADS, join};
use super::program::{Change, Lock, PlainKind, Program, TextReader};
use super::steps::{ProcessEnd, Step, steps};

/// What the interleavings of a program come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interleavings {
    /// What is printed, and how the process ends if not well: `exit 3`, `signal 6`, `hang`.
    pub(super) ends: BTreeSet<String>,
    /// Whether two accesses race in one of them.
    pub(super) race: bool,
}

/// The end of a process that waits for ever.
pub(super) const HANG: &str = "hang";

/// The most mutexes of a program.
pub(super) const MOST_MUTEXES: usize = 2;

/// Goes through all interleavings; nothing if there are more states than `limit`.
pub(super) fn interleavings(program: &Program, limit: usize) -> Option<Interleavings> {
    let steps = steps(program);
    let mut found = Interleavings {
        ends: BTreeSet::new(),
        race: false,
    };
    let mut seen = HashSet::new();
    let mut stack = vec![State::new(program, &steps)];
    while let Some(state) = stack.pop() {
        if state.over {
            continue;
        }
        let mut stuck = true;
        for thread in 0..steps.len() {
            let Some(step) = state.next(&steps, thread) else {
                continue;
            };
            let mut next = state.clone();
            let Some(()) = next.take(program, &steps, thread, step) else {
                continue;
            };
            stuck = false;
            found.race |= std::mem::take(&mut next.raced);
            found.ends.extend(next.end.take());
            if seen.insert(next.clone()) {
                stack.push(next);
            }
        }
        if stuck && state.ended.contains(&false) {
            found.ends.insert(HANG.to_owned());
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(found)
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Value {
    value: u8,
    handed_over: Clock,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Held {
    by: Option<usize>,
    handed_over: Clock,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    started: Vec<bool>,
    ended: Vec<bool>,
    knowledge: [Knowledge; MOST_THREADS],
    last: Vec<u8>,
    slots: Vec<Vec<u8>>,
    atomics: Vec<Value>,
    plains: Vec<(u8, Accesses)>,
    cells: Vec<Accesses>,
    taken: Vec<u8>,
    pointer: Value,
    mutexes: Vec<Held>,
    spin: Held,
    writer: Held,
    readers: Vec<usize>,
    readers_handed_over: Clock,
    flag: bool,
    asleep: BTreeSet<usize>,
    woken: BTreeSet<usize>,
    semaphore: Value,
    arrived: BTreeSet<usize>,
    departing: BTreeSet<usize>,
    barrier: Clock,
    /// To begin, under way, done.
    once: u8,
    once_handed_over: Clock,
    /// What the last step printed or ended with.
    end: Option<String>,
    over: bool,
    raced: bool,
}

impl State {
    fn new(program: &Program, steps: &[Vec<Step>]) -> Self {
        let count = steps.len();
        let held = Held {
            by: None,
            handed_over: Clock::default(),
        };
        let value = Value {
            value: 0,
            handed_over: Clock::default(),
        };
        let mut knowledge = [Knowledge::default(); MOST_THREADS];
        for (thread, knowledge) in knowledge.iter_mut().enumerate() {
            knowledge.now[thread] = 1;
        }
        let all = || steps.iter().flatten();
        let slots = all()
            .filter_map(Step::slot)
            .max()
            .map_or(0, |most| most + 1);
        let cells = all().filter(|step| matches!(step, Step::Fill(_))).count();
        Self {
            at: vec![0; count],
            started: (0..count).map(|thread| thread == 0).collect(),
            ended: vec![false; count],
            knowledge,
            last: vec![0; count],
            slots: vec![vec![0; slots]; count],
            atomics: vec![value.clone(); program.widths.len()],
            plains: vec![(0, Accesses::default()); program.plains.len()],
            cells: vec![Accesses::default(); cells],
            taken: vec![0; count],
            pointer: value.clone(),
            mutexes: vec![held.clone(); MOST_MUTEXES],
            spin: held.clone(),
            writer: held,
            readers: Vec::new(),
            readers_handed_over: Clock::default(),
            flag: false,
            asleep: BTreeSet::new(),
            woken: BTreeSet::new(),
            semaphore: value,
            arrived: BTreeSet::new(),
            departing: BTreeSet::new(),
            barrier: Clock::default(),
            once: 0,
            once_handed_over: Clock::default(),
            end: None,
            over: false,
            raced: false,
        }
    }

    fn next(&self, steps: &[Vec<Step>], thread: usize) -> Option<Step> {
        let able = self.started[thread] && !self.ended[thread];
        able.then(|| steps[thread][self.at[thread]])
    }

    /// A step of a thread; nothing if it has to wait.
    fn take(
        &mut self,
        program: &Program,
        steps: &[Vec<Step>],
        thread: usize,
        step: Step,
    ) -> Option<()> {
        self.at[thread] += 1;
        let me = &mut self.knowledge[thread];
        match step {
            Step::Load {
                atomic,
                slot,
                order,
            } => {
                let object = &self.atomics[usize::from(atomic)];
                me.read(&object.handed_over, order.acquires());
                self.see(thread, slot, self.atomics[usize::from(atomic)].value);
            }
            Step::Await {
                atomic,
                value,
                order,
            } => {
                let object = &self.atomics[usize::from(atomic)];
                if object.value != value {
                    return None;
                }
                me.read(&object.handed_over, order.acquires());
            }
            Step::Store {
                atomic,
                value,
                order,
            } => {
                let handed_over = me.written(order.releases());
                self.atomics[usize::from(atomic)] = Value { value, handed_over };
            }
            Step::Rmw {
                atomic,
                slot,
                change,
                order,
            } => {
                let object = &mut self.atomics[usize::from(atomic)];
                let old = object.value;
                let new = match change {
                    Change::Add(more) => Some(old.wrapping_add(more)),
                    Change::Exchange(new) => Some(new),
                    Change::Cas { expected, desired } => (old == expected).then_some(desired),
                };
                let (acquires, releases) = match new {
                    Some(_) => (order.acquires(), order.releases()),
                    None => (order.read_half().acquires(), false),
                };
                me.read(&object.handed_over, acquires);
                if let Some(new) = new {
                    object.value = new;
                    join(&mut object.handed_over, &me.written(releases));
                }
                if let Some(slot) = slot {
                    self.see(thread, slot, old);
                }
            }
            Step::Fence(order) => me.fence(order.acquires(), order.releases()),
            Step::Read { plain, slot } => {
                let (value, accesses) = &mut self.plains[usize::from(plain)];
                self.raced = accesses.access(thread, me, false);
                self.slots[thread][slot] = match program.plains[usize::from(plain)] {
                    PlainKind::Text(TextReader::Compare) => u8::from(*value == 1),
                    _ => *value,
                };
            }
            Step::Write { plain, value } => {
                let (held, accesses) = &mut self.plains[usize::from(plain)];
                self.raced = accesses.access(thread, me, true);
                *held = value;
            }
            Step::Lock(lock) => self.lock(thread, lock)?,
            Step::Unlock(lock) => self.unlock(thread, lock),
            Step::TryLock {
                lock,
                slot,
                otherwise,
            } => {
                let taken = self.lock(thread, lock).is_some();
                self.slots[thread][slot] = u8::from(taken);
                if !taken {
                    self.at[thread] = otherwise;
                }
            }
            Step::SkipIfFlag(end) => {
                if self.flag {
                    self.at[thread] = end;
                }
            }
            Step::Sleep => {
                self.unlock(thread, Lock::Mutex(0));
                self.asleep.insert(thread);
            }
            Step::Relock(look) => {
                if !self.woken.contains(&thread) {
                    return None;
                }
                self.lock(thread, Lock::Mutex(0))?;
                self.woken.remove(&thread);
                self.at[thread] = look;
            }
            Step::Flag => self.flag = true,
            // Which one a signal wakes is not said: with two asleep, both are tried by
            // programs in which they come in another order.
            Step::Wake { broadcast: true } => self.woken.append(&mut self.asleep),
            Step::Wake { broadcast: false } => self.woken.extend(self.asleep.pop_first()),
            Step::Post => {
                self.semaphore.value += 1;
                let now = me.now;
                join(&mut self.semaphore.handed_over, &now);
            }
            Step::SemWait => {
                self.semaphore.value = self.semaphore.value.checked_sub(1)?;
                join(&mut me.now, &self.semaphore.handed_over);
            }
            Step::SemTry(slot) => {
                let able = self.semaphore.value > 0;
                if able {
                    self.semaphore.value -= 1;
                    join(&mut me.now, &self.semaphore.handed_over);
                }
                self.slots[thread][slot] = u8::from(able);
            }
            Step::Arrive => {
                let now = me.now;
                if self.arrived.is_empty() {
                    // Those who leave have what they need already.
                    self.barrier = Clock::default();
                }
                join(&mut self.barrier, &now);
                self.arrived.insert(thread);
                if self.arrived.len() == 2 {
                    for &other in &self.arrived {
                        join(&mut self.knowledge[other].now, &self.barrier);
                    }
                    self.departing.append(&mut self.arrived);
                }
            }
            Step::Depart => {
                if !self.departing.remove(&thread) {
                    return None;
                }
            }
            Step::BeginOnce(end) => match self.once {
                0 => self.once = 1,
                1 => return None,
                _ => {
                    join(&mut me.now, &self.once_handed_over);
                    self.at[thread] = end;
                }
            },
            Step::EndOnce => {
                self.once = 2;
                self.once_handed_over = me.now;
            }
            Step::SkipUnless(value, end) => {
                if self.last[thread] != value {
                    self.at[thread] = end;
                }
            }
            Step::Assert(value) => {
                if self.last[thread] != value {
                    self.finish("signal 6".to_owned());
                }
            }
            Step::Fill(cell) => {
                self.raced = self.cells[usize::from(cell)].access(thread, me, true);
            }
            Step::Share(cell, order) => {
                self.pointer = Value {
                    value: cell + 1,
                    handed_over: me.written(order.releases()),
                };
            }
            Step::Take(order, end) => {
                me.read(&self.pointer.handed_over, order.acquires());
                self.taken[thread] = self.pointer.value;
                if self.pointer.value == 0 {
                    self.at[thread] = end;
                }
            }
            Step::TakeAway(order, end) => {
                me.read(&self.pointer.handed_over, order.acquires());
                join(&mut self.pointer.handed_over, &me.written(order.releases()));
                self.taken[thread] = std::mem::take(&mut self.pointer.value);
                if self.taken[thread] == 0 {
                    self.at[thread] = end;
                }
            }
            Step::ReadTaken(slot) => {
                let cell = self.taken[thread] - 1;
                self.raced = self.cells[usize::from(cell)].access(thread, me, false);
                self.slots[thread][slot] = cell + 1;
            }
            Step::FreeTaken => {
                let cell = usize::from(self.taken[thread] - 1);
                self.raced = self.cells[cell].access(thread, me, true);
            }
            Step::Create(other) => {
                let now = me.now;
                join(&mut self.knowledge[other].now, &now);
                self.started[other] = true;
            }
            Step::Join(other) => {
                if !self.ended[other] {
                    return None;
                }
                let known = self.knowledge[other].now;
                join(&mut self.knowledge[thread].now, &known);
            }
            Step::Print => self.print(program, thread),
            Step::EndProcess(ProcessEnd::Code(0)) => self.over = true,
            Step::EndProcess(ProcessEnd::Code(code)) => self.finish(format!("exit {code}")),
            Step::EndProcess(ProcessEnd::Abort) => self.finish("signal 6".to_owned()),
            Step::EndThread => self.ended[thread] = true,
        }
        if step.hands_over() {
            self.knowledge[thread].now[thread] += 1;
        }
        debug_assert!(self.over || self.ended[thread] || self.at[thread] < steps[thread].len());
        Some(())
    }

    fn finish(&mut self, end: String) {
        self.end = Some(end);
        self.over = true;
    }

    fn see(&mut self, thread: usize, slot: usize, value: u8) {
        self.slots[thread][slot] = value;
        self.last[thread] = value;
    }

    fn lock(&mut self, thread: usize, lock: Lock) -> Option<()> {
        let me = &mut self.knowledge[thread].now;
        if matches!(lock, Lock::Read | Lock::Write) {
            let is_free = self.writer.by.is_none();
            if !is_free || (lock == Lock::Write && !self.readers.is_empty()) {
                return None;
            }
            join(me, &self.writer.handed_over);
            if lock == Lock::Read {
                self.readers.push(thread);
                self.readers.sort_unstable();
            } else {
                join(me, &self.readers_handed_over);
                self.writer.by = Some(thread);
            }
            return Some(());
        }
        let held = match lock {
            Lock::Mutex(number) => &mut self.mutexes[usize::from(number)],
            _ => &mut self.spin,
        };
        if held.by.is_some() {
            return None;
        }
        held.by = Some(thread);
        join(me, &held.handed_over);
        Some(())
    }

    fn unlock(&mut self, thread: usize, lock: Lock) {
        let now = self.knowledge[thread].now;
        let held = match lock {
            Lock::Mutex(number) => &mut self.mutexes[usize::from(number)],
            Lock::Spin => &mut self.spin,
            Lock::Write => &mut self.writer,
            Lock::Read => {
                let own = self.readers.iter().position(|reader| *reader == thread);
                self.readers.remove(own.expect("it reads"));
                join(&mut self.readers_handed_over, &now);
                return;
            }
        };
        held.by = None;
        join(&mut held.handed_over, &now);
    }

    /// What `main` prints: slots of threads that were joined, and memory where nobody can
    /// write it any more.
    fn print(&mut self, program: &Program, thread: usize) {
        let mut text = String::new();
        for (number, thread) in program.threads.iter().enumerate() {
            if !thread.detached {
                super::spell::print_slots(&mut text, &self.slots[number + 1], &thread.body);
            }
        }
        super::spell::print_slots(&mut text, &self.slots[0], &program.main);
        if program.prints_memory() {
            for atomic in &self.atomics {
                text += &format!("{} ", atomic.value);
            }
            for (value, accesses) in &mut self.plains {
                self.raced |= accesses.access(thread, &mut self.knowledge[thread], false);
                text += &format!("{value} ");
            }
        }
        self.end = Some(text.trim_end().to_owned());
    }
}
