//! Free runs of a program on the weak memory: all of them, or one at random.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use wmfix_analysis::weak::{LogLimits, MemoryKey, WeakMemory};
use wmfix_analysis::{Model, Operation, ReleaseSequences};

use crate::brute::{Axioms, WeakState, is_consistent};
use crate::compare::axioms_of;
use crate::litmus::{Instruction, Outcome, Program, Rng, thread_id};

/// What the free runs of a program came to.
#[derive(Clone, Debug, Default)]
pub struct Free {
    /// Their outcomes.
    pub outcomes: BTreeSet<Outcome>,
    /// Complete graphs.
    pub graphs: usize,
    /// Those that the axioms do not allow.
    pub inconsistent: usize,
}

#[derive(Clone)]
struct Run<'p> {
    state: WeakState<'p>,
    memory: WeakMemory,
}

/// Takes all free runs of a program; `None` if it has more than `limit` states.
pub fn free(program: &Program, rule: ReleaseSequences, limit: usize) -> Option<Free> {
    let axioms = axioms_of(Model::RC11.with(rule));
    let mut result = Free::default();
    let mut seen: FxHashSet<(Vec<u8>, MemoryKey)> = FxHashSet::default();
    let mut stack = vec![Run::new(program, rule, LogLimits::default())];
    while let Some(run) = stack.pop() {
        if !seen.insert((run.state.graph.key(), run.memory.key())) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        if run.state.machine.all_ended() {
            result.graphs += 1;
            let consistent = is_consistent(&run.state.graph, axioms);
            result.inconsistent += usize::from(!consistent);
            result.outcomes.insert(run.state.machine.outcome());
        }
        // What only its own thread can tell need not be tried in other orders.
        let local = (0..program.threads.len()).find(|&thread| {
            let next = run.state.machine.next(thread);
            next.is_some_and(|(_, i)| matches!(i, Instruction::Fence { order } if !order.is_sc()))
        });
        match local {
            Some(thread) => stack.extend(run.steps(thread)),
            None => {
                for thread in 0..program.threads.len() {
                    stack.extend(run.steps(thread));
                }
            }
        }
    }
    Some(result)
}

/// A free run to its end or to where nobody can go on: whether the axioms allow
/// every graph on the way, and the outcome if all threads ended.
pub fn random_free_run(
    program: &Program,
    rule: ReleaseSequences,
    limits: LogLimits,
    rng: &mut Rng,
) -> (bool, Option<Outcome>) {
    let mut run = Run::new(program, rule, limits);
    let axioms = axioms_of(Model::RC11.with(rule));
    loop {
        let mut next = Vec::new();
        for thread in 0..program.threads.len() {
            next.extend(run.steps(thread));
        }
        if next.is_empty() {
            let consistent = is_consistent(&run.state.graph, axioms);
            let machine = &run.state.machine;
            return (consistent, machine.all_ended().then(|| machine.outcome()));
        }
        run = next.swap_remove(rng.below(next.len()));
    }
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, rule: ReleaseSequences, limits: LogLimits) -> Self {
        let state = WeakState::new(program, Axioms::RC11);
        let mut memory = WeakMemory::new(limits, rule);
        for event in state.machine.prologue() {
            memory.apply(&event, None);
        }
        Self { state, memory }
    }

    fn steps(&self, thread: usize) -> Vec<Self> {
        let location = self.state.machine.next_location(thread);
        let writes = location.map(|l| self.state.graph.values(l.0).count());
        let mut next = Vec::new();
        for (position, state) in self.state.steps(thread) {
            let event = state.last_event();
            let mut memory = self.memory.clone();
            let mut taken = None;
            if let (Some(position), Some(writes), Some(location)) = (position, writes, location) {
                let id = wmfix_analysis::LocationId(location.0.into());
                let sc = is_sc(&event.operation);
                // The memory may have forgotten the oldest writes.
                let forgotten = writes - memory.remembered(id);
                let candidates = memory.candidates(thread_id(thread), id, sc);
                let Some(candidate) = (candidates.iter())
                    .find(|candidate| candidate.position + forgotten == position)
                else {
                    continue;
                };
                let newest = position + 1 == writes;
                if state.last_writes() && candidate.parts_rmw && !newest {
                    continue;
                }
                taken = Some(candidate.position);
            }
            memory.apply(&event, taken);
            if state.machine.ended(thread) {
                memory.apply(&state.machine.exit_event(thread), None);
            }
            next.push(Self { state, memory });
        }
        next
    }
}

fn is_sc(operation: &Operation) -> bool {
    use wmfix_analysis::CasOutcome;
    match *operation {
        Operation::Load { order, .. } => order.is_sc(),
        Operation::Store { order, .. } => order.is_sc(),
        Operation::Rmw { order, .. } => order.is_sc(),
        Operation::CompareExchange {
            success,
            outcome: CasOutcome::Exchanged(_),
            ..
        } => success.is_sc(),
        Operation::CompareExchange { failure, .. } => failure.is_sc(),
        _ => false,
    }
}
