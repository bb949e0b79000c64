//! Holds an analysis of runs against the truth: all SC interleavings of a
//! program are fed to it, and at every access its answer must be exactly the
//! writes that brute force says the access could wrongly take.

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wmfix_analysis::Event;

use crate::brute::{Axioms, State};
use crate::litmus::{Program, Rng};

/// An analysis that is fed a run. It is cloned where runs part.
pub trait Subject: Clone {
    /// Takes the next event; answers with the places, in the order of writes to
    /// the location, of the stale writes that the access could take.
    fn feed(&mut self, event: &Event) -> Result<Vec<usize>, String>;
}

/// How many runs to try.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A graph is reached by many interleavings; this many of them are gone
    /// through.
    pub runs_per_graph: usize,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Accesses, over all runs.
    pub accesses: usize,
    /// Those at which SC could be left.
    pub violations: usize,
    /// Graphs.
    pub graphs: usize,
}

/// A run at whose last event the analysis does not tell the truth.
#[derive(Debug)]
pub struct Disagreement {
    /// The program, as text.
    pub program: String,
    /// The run.
    pub trace: Vec<Event>,
    /// What brute force says.
    pub expected: String,
    /// What the analysis says.
    pub answer: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.program)?;
        for event in &self.trace {
            writeln!(
                f,
                "    {:?} {:?} {:?}",
                event.thread, event.site, event.operation
            )?;
        }
        writeln!(f, "by brute force: {}", self.expected)?;
        write!(f, "by the analysis: {}", self.answer)
    }
}

/// Compares over the interleavings of a program.
pub fn compare<S: Subject>(
    program: &Program,
    axioms: Axioms,
    subject: &S,
    effort: Effort,
) -> Result<Tally, Box<Disagreement>> {
    let mut walk = Walk {
        program,
        effort,
        known: FxHashMap::default(),
        tally: Tally::default(),
        trace: Vec::new(),
    };
    let state = State::new(program, axioms);
    let mut subject = subject.clone();
    for event in state.machine.prologue() {
        walk.feed(&mut subject, event, Rc::default())?;
    }
    walk.from(state, subject)?;
    Ok(walk.tally)
}

/// Compares along one random run to its end, for programs with too many runs to
/// go through all. Before every step all threads that wait make a round.
pub fn compare_along<S: Subject>(
    program: &Program,
    axioms: Axioms,
    subject: &S,
    rng: &mut Rng,
) -> Result<Tally, Box<Disagreement>> {
    let mut walk = Walk {
        program,
        effort: Effort { runs_per_graph: 1 },
        known: FxHashMap::default(),
        tally: Tally::default(),
        trace: Vec::new(),
    };
    let mut state = State::new(program, axioms);
    let mut subject = subject.clone();
    for event in state.machine.prologue() {
        walk.feed(&mut subject, event, Rc::default())?;
    }
    loop {
        let threads = 0..program.threads.len();
        for thread in threads.clone() {
            if let Some(event) = state.machine.blocked_round(thread) {
                walk.feed(&mut subject, event, Rc::new(places(&state, thread)))?;
            }
        }
        let able: Vec<usize> = threads
            .filter(|&t| !state.machine.choices(t).is_empty())
            .collect();
        if able.is_empty() {
            return Ok(walk.tally);
        }
        let thread = rng.pick(&able);
        let choice = rng.pick(state.machine.choices(thread));
        let stale = Rc::new(places(&state, thread));
        let stepped = state.step(thread, choice);
        walk.feed(&mut subject, stepped.event, stale)?;
        if stepped.ended {
            walk.feed(
                &mut subject,
                state.machine.exit_event(thread),
                Rc::default(),
            )?;
        }
    }
}

/// What brute force says of a graph: for each thread, the stale writes.
struct Truth {
    stale: Vec<Rc<Vec<usize>>>,
    visits: usize,
}

struct Walk<'p> {
    program: &'p Program,
    effort: Effort,
    known: FxHashMap<Vec<u8>, Truth>,
    tally: Tally,
    trace: Vec<Event>,
}

impl<'p> Walk<'p> {
    fn from<S: Subject>(&mut self, state: State<'p>, subject: S) -> Result<(), Box<Disagreement>> {
        let threads = 0..self.program.threads.len();
        let tally = &mut self.tally;
        let truth = self.known.entry(state.graph.key()).or_insert_with(|| {
            tally.graphs += 1;
            Truth {
                stale: threads
                    .clone()
                    .map(|t| Rc::new(places(&state, t)))
                    .collect(),
                visits: 0,
            }
        });
        truth.visits += 1;
        if truth.visits > self.effort.runs_per_graph {
            return Ok(());
        }
        let stale = truth.stale.clone();
        let length = self.trace.len();
        // Rounds that stay in their loop change nothing: they are fed, and what
        // follows must not notice.
        let mut subject = subject;
        for thread in threads.clone() {
            if let Some(event) = state.machine.blocked_round(thread) {
                self.feed(&mut subject, event, stale[thread].clone())?;
            }
        }
        for thread in threads {
            for &choice in state.machine.choices(thread) {
                let mut next = state.clone();
                let mut subject = subject.clone();
                let stepped = next.step(thread, choice);
                let before = self.trace.len();
                self.feed(&mut subject, stepped.event, stale[thread].clone())?;
                if stepped.ended {
                    self.feed(&mut subject, next.machine.exit_event(thread), Rc::default())?;
                }
                self.from(next, subject)?;
                self.trace.truncate(before);
            }
        }
        self.trace.truncate(length);
        Ok(())
    }

    fn feed<S: Subject>(
        &mut self,
        subject: &mut S,
        event: Event,
        expected: Rc<Vec<usize>>,
    ) -> Result<(), Box<Disagreement>> {
        self.trace.push(event);
        self.tally.accesses += 1;
        self.tally.violations += usize::from(!expected.is_empty());
        let answer = subject.feed(&event);
        if answer.as_ref().is_ok_and(|places| *places == *expected) {
            return Ok(());
        }
        Err(Box::new(Disagreement {
            program: self.program.to_string(),
            trace: self.trace.clone(),
            expected: format!("stale {expected:?}"),
            answer: format!("stale {answer:?}"),
        }))
    }
}

fn places(state: &State<'_>, thread: usize) -> Vec<usize> {
    let mut places: Vec<usize> = state.stale(thread).iter().map(|s| s.position).collect();
    places.dedup();
    places
}
