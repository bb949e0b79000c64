//! An example's core as a litmus program whose instructions carry the names of
//! the source's atomic operations, and what can be changed in it. One operation
//! of the source may be several instructions: both threads run the same code.

use std::collections::BTreeMap;

use crate::litmus::{Instruction, Program, program};
use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// A litmus program with names for some of its instructions.
pub struct Sketch {
    program: Program,
    /// For each instruction of each thread the name of its operation.
    names: Vec<Vec<Option<String>>>,
}

/// Something about an operation that can be changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable {
    /// The operation's name.
    pub operation: String,
    /// What of it.
    pub part: Part,
}

/// What can be changed about an operation. The order is that of preference
/// among repairs of one cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its order; of a compare-exchange, its order on success.
    Order,
    /// The order of a compare-exchange that fails.
    Failure,
    /// An SC fence in front of it.
    FenceBefore,
    /// An SC fence behind it.
    FenceAfter,
}

/// How far an order is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What a load, a store, or one half of an RMW can do to hand data over.
    Acquire,
    /// Likewise.
    Release,
    /// Both.
    AcqRel,
    /// Everything.
    SeqCst,
}

/// A set of changes.
pub type Repair = BTreeMap<Variable, Level>;

impl Sketch {
    /// Reads threads in the litmus notation; `@name` in front of an instruction
    /// names its operation.
    pub fn new(threads: &[&str]) -> Self {
        let mut names = Vec::new();
        let mut bare = Vec::new();
        for text in threads {
            let mut thread_names = Vec::new();
            let mut thread = Vec::new();
            for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
                let (name, rest) = match part.strip_prefix('@') {
                    Some(named) => {
                        let (name, rest) = named.split_once(' ').expect("a name, then a blank");
                        (Some(name.to_owned()), rest.trim())
                    }
                    None => (None, part),
                };
                thread_names.push(name);
                thread.push(rest);
            }
            names.push(thread_names);
            bare.push(thread.join("; "));
        }
        let bare: Vec<&str> = bare.iter().map(String::as_str).collect();
        let program = program("sketch", &bare).expect("the notation of litmus programs");
        Self { program, names }
    }

    /// The program as it stands.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The name of an instruction's operation.
    pub fn name(&self, thread: usize, place: usize) -> Option<&str> {
        self.names[thread][place].as_deref()
    }

    /// Everything that can be changed.
    pub fn variables(&self) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (thread, instructions) in self.program.threads.iter().enumerate() {
            for (place, instruction) in instructions.iter().enumerate() {
                let Some(name) = self.name(thread, place) else {
                    continue;
                };
                for part in parts(instruction) {
                    variables.push(Variable {
                        operation: name.to_owned(),
                        part,
                    });
                }
            }
        }
        variables.sort();
        variables.dedup();
        variables
    }

    /// The orders next below one, for what the variable's operation does.
    pub fn below(&self, variable: &Variable, level: Level) -> &'static [Level] {
        use Instruction as I;
        let instruction = self.instruction(&variable.operation);
        match (variable.part, level) {
            (Part::FenceBefore | Part::FenceAfter, _) => &[],
            (Part::Failure, Level::SeqCst) => &[Level::Acquire],
            (Part::Failure, _) => &[],
            (Part::Order, level) => match (instruction, level) {
                (I::Load { .. } | I::Wait { .. }, Level::SeqCst) => &[Level::Acquire],
                (I::Store { .. }, Level::SeqCst) => &[Level::Release],
                (I::Load { .. } | I::Wait { .. } | I::Store { .. }, _) => &[],
                (_, Level::SeqCst) => &[Level::AcqRel],
                (_, Level::AcqRel) => &[Level::Acquire, Level::Release],
                (_, Level::Acquire | Level::Release) => &[],
            },
        }
    }

    /// Whether an operation of this name is there.
    pub fn has(&self, variable: &Variable) -> bool {
        let mut names = self.names.iter().flatten();
        names.any(|name| name.as_deref() == Some(&variable.operation))
    }

    fn instruction(&self, operation: &str) -> &Instruction {
        let named = self.names.iter().flatten();
        let mut all = named.zip(self.program.instructions());
        let found = all.find(|(name, _)| name.as_deref() == Some(operation));
        found.expect("a variable of this sketch").1
    }

    /// The program with changes made.
    pub fn repaired(&self, repair: &Repair) -> Program {
        let mut threads = Vec::new();
        for (thread, instructions) in self.program.threads.iter().enumerate() {
            let mut pieces: Vec<Vec<Instruction>> = instructions
                .iter()
                .enumerate()
                .map(|(place, &instruction)| match self.name(thread, place) {
                    Some(name) => changed(name, instruction, repair),
                    None => vec![instruction],
                })
                .collect();
            drop_double_fences(instructions, &mut pieces);
            threads.push(put_together(&pieces));
        }
        Program {
            threads,
            ..self.program.clone()
        }
    }
}

fn parts(instruction: &Instruction) -> Vec<Part> {
    use Instruction as I;
    match instruction {
        I::CompareExchange { .. } => vec![
            Part::Order,
            Part::Failure,
            Part::FenceBefore,
            Part::FenceAfter,
        ],
        I::Fence { .. } => vec![Part::Order],
        _ => vec![Part::Order, Part::FenceBefore, Part::FenceAfter],
    }
}

fn changed(name: &str, instruction: Instruction, repair: &Repair) -> Vec<Instruction> {
    use Instruction as I;
    let level = |part| {
        let variable = Variable {
            operation: name.to_owned(),
            part,
        };
        repair.get(&variable).copied()
    };
    let fence = I::Fence {
        order: FenceOrder::SeqCst,
    };
    let mut raised = instruction;
    if let Some(level) = level(Part::Order) {
        match &mut raised {
            I::Store { order, .. } => *order = order.join(store_order(level)),
            I::Load { order, .. } | I::Wait { order, .. } => *order = order.join(load_order(level)),
            I::FetchAdd { order, .. } | I::Exchange { order, .. } => {
                *order = order.join(rmw_order(level));
            }
            I::CompareExchange { success, .. } | I::BlockingCompareExchange { success, .. } => {
                *success = success.join(rmw_order(level));
            }
            I::Fence { order } => *order = order.join(fence_order(level)),
            other => panic!("{name}: {other:?} has no order"),
        }
    }
    if let (Some(level), I::CompareExchange { failure, .. }) = (level(Part::Failure), &mut raised) {
        *failure = failure.join(load_order(level));
    }
    let mut piece = Vec::new();
    piece.extend(level(Part::FenceBefore).map(|_| fence));
    piece.push(raised);
    piece.extend(level(Part::FenceAfter).map(|_| fence));
    piece
}

/// A fence behind an operation and one in front of the next are one fence,
/// unless a skip leads in between.
fn drop_double_fences(instructions: &[Instruction], pieces: &mut [Vec<Instruction>]) {
    let is_target = |place: usize| {
        instructions.iter().enumerate().any(|(at, i)| match i {
            Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } => {
                at + 1 + usize::from(*count) == place
            }
            _ => false,
        })
    };
    for place in 1..pieces.len() {
        let behind = pieces[place - 1]
            .last()
            .is_some_and(Instruction::is_sc_fence);
        let in_front = pieces[place].first().is_some_and(Instruction::is_sc_fence);
        if behind && in_front && !is_target(place) {
            pieces[place].remove(0);
        }
    }
}

/// Skips go over the fences of what they skip.
fn put_together(pieces: &[Vec<Instruction>]) -> Vec<Instruction> {
    let mut thread = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        for mut instruction in piece.iter().copied() {
            if let Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } =
                &mut instruction
            {
                let skipped = pieces.iter().skip(place + 1).take(usize::from(*count));
                let length: usize = skipped.map(Vec::len).sum();
                *count = u8::try_from(length).expect("a short thread");
            }
            thread.push(instruction);
        }
    }
    thread
}

fn load_order(level: Level) -> LoadOrder {
    match level {
        Level::SeqCst => LoadOrder::SeqCst,
        _ => LoadOrder::Acquire,
    }
}

fn store_order(level: Level) -> StoreOrder {
    match level {
        Level::SeqCst => StoreOrder::SeqCst,
        _ => StoreOrder::Release,
    }
}

fn rmw_order(level: Level) -> RmwOrder {
    match level {
        Level::Acquire => RmwOrder::Acquire,
        Level::Release => RmwOrder::Release,
        Level::AcqRel => RmwOrder::AcqRel,
        Level::SeqCst => RmwOrder::SeqCst,
    }
}

fn fence_order(level: Level) -> FenceOrder {
    match level {
        Level::Acquire => FenceOrder::Acquire,
        Level::Release => FenceOrder::Release,
        Level::AcqRel => FenceOrder::AcqRel,
        Level::SeqCst => FenceOrder::SeqCst,
    }
}
