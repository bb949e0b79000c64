//! Litmus programs explored: runs of the SC machine that follow an assignment of the
//! explorer, and the truth about them, by enumeration of all SC graphs.

use rustc_hash::FxHashSet;
use wmfix_analysis::explore::{
    Actor, Assignment, Blocked, Explorer, Frontier, Run, Segment, run_of,
};
use wmfix_analysis::{CasStrength, Event};

use crate::brute::{Axioms, State, explore};
use crate::litmus::{Choice, Instruction, Machine, Program, thread_id};

/// What an exploration came to.
pub struct Explored {
    /// The events of one run of each class, rounds of waiting loops included.
    pub runs: Vec<Vec<Event>>,
    /// The graph of each.
    pub graphs: Vec<Vec<u8>>,
    /// Runs that belonged to a class which another run stands for.
    pub redundant: u64,
}

/// Explores a program to the end; nothing if it has more classes than `limit`.
pub fn explore_all(program: &Program, limit: u64) -> Option<Explored> {
    explore_rest(program, Explorer::default(), Waking::Exact, limit)
}

/// How an exploration is split.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The number of parts.
    pub total: usize,
    /// About how many leaves the tree has where it is cut.
    pub leaves: usize,
    /// When those who sleep are woken by the machine.
    pub waking: Waking,
}

/// When threads that sleep go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waking {
    /// When another thread has taken a step that they depend on.
    Exact,
    /// When another thread has taken any step: who runs a program knows less than who
    /// has seen the run.
    Early,
}

/// The same in parts.
pub fn explore_parts(program: &Program, split: Split, limit: u64) -> Option<Vec<Explored>> {
    let mut frontier = Frontier::new(split.leaves);
    while let Some(assignment) = frontier.assign() {
        let (_, run) = follow(program, &assignment, split.waking);
        frontier.finish(run);
    }
    let parts = (0..split.total).map(|number| frontier.part(number, split.total));
    parts
        .map(|part| explore_rest(program, part, split.waking, limit))
        .collect()
}

/// Explores what is left of a program.
fn explore_rest(
    program: &Program,
    mut explorer: Explorer,
    waking: Waking,
    limit: u64,
) -> Option<Explored> {
    let (mut runs, mut graphs) = (Vec::new(), Vec::new());
    while let Some(assignment) = explorer.assign() {
        let (ran, run) = follow(program, &assignment, waking);
        let new = explorer.finish(assignment.leaf, &run);
        if new.unwrap_or_else(|diverged| panic!("{diverged:?} of {assignment:?}: {program}")) {
            runs.push(ran.trace);
            graphs.push(ran.graph);
        }
        if explorer.progress().classes > limit {
            return None;
        }
    }
    let progress = explorer.progress();
    assert_eq!((progress.open, progress.gaps), (0, 0), "{program}");
    Some(Explored {
        runs,
        graphs,
        redundant: progress.redundant,
    })
}

fn follow(program: &Program, assignment: &Assignment, waking: Waking) -> (Ran, Run) {
    let ran = run_once(program, assignment, waking);
    let blocked: Vec<Blocked> = ran.blocked.iter().copied().map(Blocked::Event).collect();
    let run = run_of(ran.segments(), &blocked);
    (ran, run)
}

/// The program without what the exploration leaves out: weak compare-exchanges that fail
/// for no reason.
pub fn without_spurious_failures(mut program: Program) -> Program {
    for instruction in program.threads.iter_mut().flatten() {
        if let Instruction::CompareExchange { strength, .. } = instruction {
            *strength = CasStrength::Strong;
        }
    }
    program
}

/// The complete SC graphs of a program by brute force.
pub fn complete_graphs(program: &Program) -> FxHashSet<Vec<u8>> {
    let mut complete = FxHashSet::default();
    explore(program, Axioms::RC11, |state| {
        let threads = 0..program.threads.len();
        if threads.clone().all(|t| state.machine.choices(t).is_empty()) {
            complete.insert(state.graph.key());
        }
        true
    });
    complete
}

struct Ran {
    /// The steps: who, and its events.
    steps: Vec<(Actor, Vec<Event>)>,
    /// What threads wait to do at the end.
    blocked: Vec<Event>,
    trace: Vec<Event>,
    graph: Vec<u8>,
}

impl Ran {
    fn segments(&self) -> impl Iterator<Item = Segment<'_>> + Clone {
        self.steps.iter().map(|(actor, events)| Segment {
            actor: *actor,
            events,
            marks: &[],
            is_cut: false,
            waits_while: None,
        })
    }
}

/// Follows an assignment, then lets the first thread go on that is awake.
fn run_once(program: &Program, assignment: &Assignment, waking: Waking) -> Ran {
    let mut state = State::new(program, Axioms::RC11);
    let mut trace = state.machine.prologue();
    let mut steps = vec![(main(), trace.clone())];
    for thread in 0..program.threads.len() {
        let events = take_plain(&mut state, thread);
        trace.extend(&events);
        steps[0].1.extend(events);
    }
    // The main thread has taken the first step.
    let mut prefix = assignment.prefix.iter().skip(1);
    let mut asleep = assignment.asleep.clone();
    loop {
        let rounds: Vec<Event> = (0..program.threads.len())
            .filter_map(|t| state.machine.blocked_round(t))
            .collect();
        trace.extend(&rounds);
        let asked = prefix.next().copied();
        let Some(actor) = asked.or_else(|| next_actor(&state.machine, &asleep)) else {
            return Ran {
                steps,
                blocked: rounds.into_iter().chain(waiting(&state.machine)).collect(),
                trace,
                graph: state.graph.key(),
            };
        };
        let thread = actor.thread as usize - 1;
        if asked.is_none() {
            asleep.retain(|sleeper| {
                waking == Waking::Exact && sleeps_on(&state.machine, *sleeper, actor)
            });
        }
        let choices = state.machine.choices(thread);
        let Some(&choice) = choices.first() else {
            panic!("{actor:?} cannot go on after {steps:?}: {program}");
        };
        let stepped = state.step(thread, choice);
        let mut events = vec![stepped.event];
        if stepped.ended {
            events.push(state.machine.exit_event(thread));
        }
        for thread in 0..program.threads.len() {
            events.extend(take_plain(&mut state, thread));
        }
        trace.extend(&events);
        steps.push((actor, events));
    }
}

/// Lets a thread make the plain accesses that it has come to: they are no steps.
fn take_plain(state: &mut State<'_>, thread: usize) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some((_, instruction)) = state.machine.next(thread)
        && instruction.plain_location().is_some()
    {
        let stepped = state.step(thread, Choice::Run);
        events.push(stepped.event);
        if stepped.ended {
            events.push(state.machine.exit_event(thread));
        }
    }
    events
}

fn main() -> Actor {
    Actor { thread: 0 }
}

/// The first thread that can go on and does not sleep, or any that can.
fn next_actor(machine: &Machine<'_>, asleep: &[Actor]) -> Option<Actor> {
    let threads = 0..machine.program().threads.len();
    let actors = threads.filter(|&t| !machine.choices(t).is_empty());
    let mut all: Vec<Actor> = actors
        .map(|t| Actor {
            thread: thread_id(t).0,
        })
        .collect();
    all.sort_by_key(|actor| asleep.contains(actor));
    all.first().copied()
}

/// Whether who sleeps goes on sleeping when another takes a step.
fn sleeps_on(machine: &Machine<'_>, sleeper: Actor, actor: Actor) -> bool {
    let accesses = |actor: Actor| {
        let thread = actor.thread as usize - 1;
        let mut copy = machine.clone();
        let choice: Choice = machine.choices(thread)[0];
        let stepped = copy.step(thread, choice);
        let instruction = &machine.program().threads[thread][stepped.instruction];
        let mutex = match instruction {
            Instruction::Lock { mutex } | Instruction::Unlock { mutex } => Some(*mutex),
            _ => None,
        };
        (
            instruction.atomic_location(),
            stepped.written.is_some(),
            mutex,
        )
    };
    if sleeper.thread == actor.thread {
        return false;
    }
    let (theirs, mine) = (accesses(sleeper), accesses(actor));
    let same_location = theirs.0.is_some() && theirs.0 == mine.0 && (theirs.1 || mine.1);
    let same_mutex = theirs.2.is_some() && theirs.2 == mine.2;
    !same_location && !same_mutex
}

/// Threads that wait for a mutex, as the events that they wait to make.
fn waiting(machine: &Machine<'_>) -> Vec<Event> {
    let threads = 0..machine.program().threads.len();
    threads
        .filter_map(|thread| machine.blocked_lock(thread))
        .collect()
}
