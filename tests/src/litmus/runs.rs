//! Whole SC runs of programs, as the events that would be recorded.

use wmfix_analysis::Event;

use super::machine::Machine;
use super::program::Program;
use crate::rng::Rng;

/// All SC runs of a program, or `None` if there are more than `limit`. Threads
/// that wait for a value make a round of their loop before every step.
pub fn all_runs(program: &Program, limit: usize) -> Option<Vec<Vec<Event>>> {
    let mut runs = Vec::new();
    let machine = Machine::new(program);
    let trace = machine.prologue();
    let mut stack = vec![(machine, trace)];
    while let Some((machine, mut trace)) = stack.pop() {
        let threads = 0..program.threads.len();
        trace.extend(threads.clone().filter_map(|t| machine.blocked_round(t)));
        let mut stuck = true;
        for thread in threads {
            for &choice in machine.choices(thread) {
                stuck = false;
                let (mut machine, mut trace) = (machine.clone(), trace.clone());
                let stepped = machine.step(thread, choice);
                trace.push(stepped.event);
                if stepped.ended {
                    trace.push(machine.exit_event(thread));
                }
                stack.push((machine, trace));
            }
        }
        if stuck {
            runs.push(trace);
            if runs.len() > limit {
                return None;
            }
        }
    }
    Some(runs)
}

/// The run in which the threads take their steps in this order. Steps of a
/// thread that cannot go on are left out.
pub fn scheduled_run(program: &Program, schedule: impl IntoIterator<Item = usize>) -> Vec<Event> {
    let mut machine = Machine::new(program);
    let mut trace = machine.prologue();
    for thread in schedule {
        match machine.choices(thread).first() {
            Some(&choice) => {
                let stepped = machine.step(thread, choice);
                trace.push(stepped.event);
                if stepped.ended {
                    trace.push(machine.exit_event(thread));
                }
            }
            None => trace.extend(machine.blocked_round(thread)),
        }
    }
    trace
}

/// A random run to the end, or to where nobody can go on.
pub fn random_run(program: &Program, rng: &mut Rng) -> Vec<Event> {
    let mut machine = Machine::new(program);
    let mut trace = machine.prologue();
    loop {
        let able: Vec<usize> = (0..program.threads.len())
            .filter(|&t| !machine.choices(t).is_empty())
            .collect();
        if able.is_empty() {
            return trace;
        }
        let thread = rng.pick(&able);
        let choice = rng.pick(machine.choices(thread));
        let stepped = machine.step(thread, choice);
        trace.push(stepped.event);
        if stepped.ended {
            trace.push(machine.exit_event(thread));
        }
    }
}
