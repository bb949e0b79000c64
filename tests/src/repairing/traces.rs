//! The SC runs of a program: enough of them that every graph, complete or not,
//! is a part of one.

use rustc_hash::FxHashSet;
use wmfix_analysis::{AnalyzerConfig, Event};
use wmfix_repair::{ChangePoint, Orders, Problem};

use crate::brute::{Axioms, State};
use crate::litmus::{Instruction, Program};

/// A program as a problem: its runs, and its atomic instructions as points.
pub fn problem(program: &Program) -> Problem {
    Problem {
        traces: traces(program),
        points: points(program),
        analysis: AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        },
        ..Problem::default()
    }
}

/// A point for each atomic instruction and each fence, thread after thread.
pub fn points(program: &Program) -> Vec<ChangePoint> {
    let mut points = Vec::new();
    for (thread, instructions) in program.threads.iter().enumerate() {
        for (at, instruction) in instructions.iter().enumerate() {
            if let Some(orders) = orders(instruction) {
                points.push(ChangePoint::new(vec![program.site(thread, at)], orders));
            }
        }
    }
    points
}

/// The orders of an instruction that has any.
fn orders(instruction: &Instruction) -> Option<Orders> {
    use Instruction as I;
    Some(match *instruction {
        I::Store { order, .. } => Orders::Store(order),
        I::Load { order, .. } | I::Wait { order, .. } => Orders::Load(order),
        I::FetchAdd { order, .. } | I::Exchange { order, .. } => Orders::Rmw(order),
        I::CompareExchange {
            success, failure, ..
        }
        | I::BlockingCompareExchange {
            success, failure, ..
        } => Orders::CompareExchange {
            success,
            failure,
            free_failure: true,
        },
        I::Fence { order } => Orders::Fence(order),
        _ => return None,
    })
}

/// Runs of a program. Wherever a thread waits for a value, a round of its loop
/// is part of the run.
pub fn traces(program: &Program) -> Vec<Vec<Event>> {
    let state = State::new(program, Axioms::RC11);
    let mut walk = Walk {
        seen: FxHashSet::default(),
        trace: state.machine.prologue(),
        traces: Vec::new(),
    };
    walk.from(&state);
    walk.traces
}

struct Walk {
    seen: FxHashSet<Vec<u8>>,
    trace: Vec<Event>,
    traces: Vec<Vec<Event>>,
}

impl Walk {
    /// Walks on from a state. A graph that was met before is not followed, but
    /// a run that leads nowhere else is brought to its end, in any way: all
    /// runs are whole, so that counts of executions are fair.
    fn from(&mut self, state: &State<'_>) {
        let length = self.trace.len();
        let threads = 0..state.machine.program().threads.len();
        for thread in threads.clone() {
            self.trace.extend(state.machine.blocked_round(thread));
        }
        let choices = threads.flat_map(|thread| {
            let choices = state.machine.choices(thread).iter();
            choices.map(move |&choice| (thread, choice))
        });
        let mut steps: Vec<(State<'_>, Vec<Event>, bool)> = choices
            .map(|(thread, choice)| {
                let mut next = state.clone();
                let stepped = next.step(thread, choice);
                let mut events = vec![stepped.event];
                if stepped.ended {
                    events.push(next.machine.exit_event(thread));
                }
                let new = self.seen.insert(next.graph.key());
                (next, events, new)
            })
            .collect();
        if steps.iter().all(|(_, _, new)| !new) {
            steps.truncate(1);
            steps.iter_mut().for_each(|(_, _, new)| *new = true);
        }
        if steps.is_empty() {
            self.traces.push(self.trace.clone());
        }
        for (next, events, _) in steps.iter().filter(|(_, _, new)| *new) {
            let before = self.trace.len();
            self.trace.extend(events);
            self.from(next);
            self.trace.truncate(before);
        }
        self.trace.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::program;

    #[test]
    fn store_buffering_has_three_outcomes() {
        let sb = program("SB", &["x=1.rlx; a=y.rlx", "y=1.rlx; b=x.rlx"]).unwrap();
        let traces = traces(&sb);
        let complete = traces.iter().filter(|trace| trace.len() == 2 + 4 + 2);
        assert!(complete.count() >= 3);
    }

    #[test]
    fn a_waiting_thread_goes_round_its_loop() {
        let mp = program("W", &["x=1.rlx", "wait(x==1).rlx"]).unwrap();
        let all: Vec<Event> = traces(&mp).into_iter().flatten().collect();
        assert!(all.iter().any(|event| event.operation.stays_in_loop()));
    }
}
