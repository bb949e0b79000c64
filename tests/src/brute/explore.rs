//! All SC graphs of a program, and for each what the next access of each thread
//! could do that SC does not allow. Consistency survives cutting a graph down to
//! a prefix of po ∪ rf, so a program that is not robust has an SC graph that one
//! more event makes consistent and not SC (`naive` checks this argument by doing
//! without it).

use rustc_hash::FxHashSet;
use wmfix_analysis::CasStrength;

use super::axioms::{Axioms, is_consistent, is_sequential};
use super::graph::{FenceEncoding, Graph, Kind, Node};
use crate::litmus::{Choice, ExecutedInstruction, Instruction, Machine, Program};

/// An SC run so far, as a graph.
#[derive(Clone)]
pub struct State<'p> {
    /// Where the program is.
    pub machine: Machine<'p>,
    /// What it has done.
    pub graph: Graph,
    axioms: Axioms,
}

/// A way for an access to leave SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleChoice {
    /// The write it reads or follows: its place among the writes to the
    /// location, 0 for the first value.
    pub position: usize,
    /// The value of that write.
    pub value: u64,
    /// Whether the access then writes.
    pub writes: bool,
}

impl<'p> State<'p> {
    /// The start.
    pub fn new(program: &'p Program, axioms: Axioms) -> Self {
        Self {
            machine: Machine::new(program),
            graph: Graph::new(program, axioms.fences),
            axioms,
        }
    }

    /// Lets a thread take a step.
    pub fn step(&mut self, thread: usize, choice: Choice) -> ExecutedInstruction {
        let stepped = self.machine.step(thread, choice);
        self.graph.push_sequential(thread, &stepped.event.operation);
        stepped
    }

    /// The ways in which a thread's next access could leave SC, oldest write
    /// first. A thread that waits is asked too.
    pub fn stale(&self, thread: usize) -> Vec<StaleChoice> {
        let all = self.candidates(thread).into_iter();
        all.filter_map(|(stale, allowed)| allowed.then_some(stale))
            .collect()
    }

    /// Every old write that a thread's next access could take for all that the
    /// program cares, oldest first, and whether that is consistent and not SC.
    pub fn candidates(&self, thread: usize) -> Vec<(StaleChoice, bool)> {
        let Some((_, instruction)) = self.machine.next(thread) else {
            return Vec::new();
        };
        let Some(location) = instruction.atomic_location() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let values: Vec<u64> = self.graph.values(location.0).collect();
        // After the newest write is where SC puts the access.
        for (position, &value) in values[..values.len() - 1].iter().enumerate() {
            for node in outcomes(instruction, value) {
                let mut graph = self.graph.clone();
                graph.push_at(thread, node, position);
                let stale = StaleChoice {
                    position,
                    value,
                    writes: node.kind != Kind::Read,
                };
                let allowed = !is_sequential(&graph) && is_consistent(&graph, self.axioms);
                found.push((stale, allowed));
            }
        }
        found
    }
}

/// What an access can be if the write it reads, or follows, has this value.
/// Nothing if it would wait on.
fn outcomes(instruction: &Instruction, value: u64) -> Vec<Node> {
    use Instruction as I;
    let node = |kind, acquires, releases, sc, written| Node {
        kind,
        location: instruction.atomic_location().map(|l| l.0),
        acquires,
        releases,
        sc,
        written,
    };
    let read = |order: wmfix_analysis::LoadOrder| {
        node(Kind::Read, order.acquires(), false, order.is_sc(), 0)
    };
    let update = |order: wmfix_analysis::RmwOrder, written| {
        node(
            Kind::Update,
            order.acquires(),
            order.releases(),
            order.is_sc(),
            written,
        )
    };
    match *instruction {
        I::Store { value, order, .. } => {
            vec![node(
                Kind::Write,
                false,
                order.releases(),
                order.is_sc(),
                value,
            )]
        }
        I::Load { order, .. } => vec![read(order)],
        I::Wait { exit, order, .. } if exit.leaves(value) => vec![read(order)],
        I::FetchAdd {
            value: added,
            order,
            ..
        } => vec![update(order, value.wrapping_add(added))],
        I::Exchange {
            value: new, order, ..
        } => vec![update(order, new)],
        I::CompareExchange {
            expected,
            desired,
            success,
            failure,
            strength,
            ..
        } => match (value == expected, strength) {
            (true, CasStrength::Strong) => vec![update(success, desired)],
            (true, CasStrength::Weak) => vec![update(success, desired), read(failure)],
            (false, _) => vec![read(failure)],
        },
        I::BlockingCompareExchange {
            expected,
            desired,
            success,
            ..
        } if value == expected => vec![update(success, desired)],
        _ => Vec::new(),
    }
}

/// Visits every SC graph of a program once, complete or not, but for those that
/// lack a fence which could have been taken: a fence at the end of a thread
/// decides nothing. The visitor ends the walk by answering false.
pub fn explore<'p>(
    program: &'p Program,
    axioms: Axioms,
    mut visit: impl FnMut(&State<'p>) -> bool,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![State::new(program, axioms)];
    while let Some(mut state) = stack.pop() {
        take_fences(&mut state);
        if !seen.insert(state.graph.key()) {
            continue;
        }
        if !visit(&state) {
            return false;
        }
        for thread in 0..program.threads.len() {
            for &choice in state.machine.choices(thread) {
                let mut next = state.clone();
                next.step(thread, choice);
                stack.push(next);
            }
        }
    }
    true
}

/// Whether a program is robust.
pub fn is_robust(program: &Program, axioms: Axioms) -> bool {
    explore(program, axioms, |state| {
        (0..program.threads.len()).all(|thread| state.stale(thread).is_empty())
    })
}

fn take_fences(state: &mut State<'_>) {
    for thread in 0..state.machine.program().threads.len() {
        while let Some((_, Instruction::Fence { order })) = state.machine.next(thread) {
            // Encoded as RMWs, SC fences have an order of their own.
            if order.is_sc() && state.axioms.fences == FenceEncoding::SharedLocation {
                break;
            }
            state.step(thread, Choice::Run);
        }
    }
}
