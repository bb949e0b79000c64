//! Every outcome of a program that the axioms allow: all consistent graphs, built
//! up event by event, since consistency survives cutting a graph down to a prefix
//! of po ∪ rf.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use wmfix_analysis::Event;

use super::axioms::{Axioms, is_consistent};
use super::graph::Graph;
use crate::litmus::{ExecutedInstruction, Instruction, Machine, Outcome, Program};

/// A program that has got somewhere in a run that need not be SC.
#[derive(Clone)]
pub struct WeakState<'p> {
    /// Where it is. Memory holds the newest write in modification order.
    pub machine: Machine<'p>,
    /// What it has done.
    pub graph: Graph,
    last: Option<ExecutedInstruction>,
}

impl<'p> WeakState<'p> {
    /// The start.
    pub fn new(program: &'p Program, axioms: Axioms) -> Self {
        Self {
            machine: Machine::new(program),
            graph: Graph::new(program, axioms.fences),
            last: None,
        }
    }

    /// The event of the last step.
    ///
    /// # Panics
    /// At the start.
    pub fn last_event(&self) -> Event {
        self.last.expect("a step was taken").event
    }

    /// Whether the last step wrote.
    pub fn last_writes(&self) -> bool {
        self.last.is_some_and(|stepped| stepped.written.is_some())
    }

    /// Every state that a thread's next step can lead to, with the position of
    /// the write that was taken, whether the model allows it or not.
    pub fn steps(&self, thread: usize) -> Vec<(Option<usize>, Self)> {
        let Some((_, instruction)) = self.machine.next(thread) else {
            return Vec::new();
        };
        let mut next = Vec::new();
        let Some(location) = instruction.atomic_location() else {
            for &choice in self.machine.choices(thread) {
                let mut state = self.clone();
                let stepped = state.machine.step(thread, choice);
                state
                    .graph
                    .push_sequential(thread, &stepped.event.operation);
                state.last = Some(stepped);
                next.push((None, state));
            }
            return next;
        };
        let values: Vec<u64> = self.graph.values(location.0).collect();
        for (position, &value) in values.iter().enumerate() {
            for &choice in self.machine.choices_on(thread, value) {
                let mut state = self.clone();
                let stepped = if position + 1 == values.len() {
                    state.machine.step(thread, choice)
                } else {
                    state.machine.step_on(thread, choice, value)
                };
                (state.graph).push_operation_at(thread, &stepped.event.operation, position);
                state.last = Some(stepped);
                next.push((Some(position), state));
            }
        }
        next
    }

    /// Takes the fences that come next: in a graph it does not matter when.
    pub fn take_fences(&mut self) {
        for thread in 0..self.machine.program().threads.len() {
            while let Some((_, Instruction::Fence { .. })) = self.machine.next(thread) {
                let choice = self.machine.choices(thread)[0];
                let stepped = self.machine.step(thread, choice);
                (self.graph).push_sequential(thread, &stepped.event.operation);
            }
        }
    }
}

/// The outcomes of a program, or `None` if it has more than `limit` graphs.
pub fn outcomes(program: &Program, axioms: Axioms, limit: usize) -> Option<BTreeSet<Outcome>> {
    let mut found = BTreeSet::new();
    walk(program, axioms, limit, |state| {
        if state.machine.all_ended() {
            found.insert(state.machine.outcome());
        }
    })?;
    Some(found)
}

/// Visits every consistent graph of a program, complete or not, once; `None` if
/// there are more than `limit`.
pub fn walk(
    program: &Program,
    axioms: Axioms,
    limit: usize,
    mut visit: impl FnMut(&WeakState<'_>),
) -> Option<()> {
    let mut seen = FxHashSet::default();
    let mut start = WeakState::new(program, axioms);
    start.take_fences();
    seen.insert(start.graph.key());
    let mut stack = vec![start];
    while let Some(state) = stack.pop() {
        visit(&state);
        for thread in 0..program.threads.len() {
            for (_, mut next) in state.steps(thread) {
                next.take_fences();
                if seen.contains(&next.graph.key()) || !is_consistent(&next.graph, axioms) {
                    continue;
                }
                seen.insert(next.graph.key());
                if seen.len() > limit {
                    return None;
                }
                stack.push(next);
            }
        }
    }
    Some(())
}
