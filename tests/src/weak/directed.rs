//! All directed runs of a program: every SC run up to every violation that the
//! analyzer reports, the stale choice, and every way to go on.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use wmfix_analysis::weak::{StaleChoice, StaleSource, choices};
use wmfix_analysis::{AnalyzerConfig, Event, Model};

use crate::brute::{WeakState, is_consistent};
use crate::compare::{WatchedAnalyzer, axioms_of};
use crate::litmus::{Outcome, Program};

/// What the directed runs of a program came to.
#[derive(Clone, Debug, Default)]
pub struct Directed {
    /// The outcomes of SC runs.
    pub sequential: BTreeSet<Outcome>,
    /// The outcomes of directed runs.
    pub outcomes: BTreeSet<Outcome>,
    /// Graphs of directed runs, complete or not.
    pub graphs: usize,
    /// Those that the axioms do not allow.
    pub inconsistent: usize,
}

#[derive(Clone)]
struct Walk<'p> {
    model: Model,
    state: WeakState<'p>,
    /// The analyzer and the run, until the stale choice is made.
    sequential: Option<(WatchedAnalyzer, Vec<Event>)>,
}

/// Takes all directed runs of a program; `None` if it has more than `limit` graphs.
///
/// # Panics
/// If the analyzer refuses an event.
pub fn directed(program: &Program, model: Model, limit: usize) -> Option<Directed> {
    let axioms = axioms_of(model);
    let mut result = Directed::default();
    let mut seen = FxHashSet::default();
    let state = WeakState::new(program, axioms);
    let mut watched = WatchedAnalyzer::new(AnalyzerConfig {
        model,
        ..AnalyzerConfig::default()
    });
    let events = state.machine.prologue();
    for event in &events {
        watched.watch(event).expect("the prologue of a run");
    }
    let sequential = Some((watched, events));
    let mut stack = vec![Walk {
        model,
        state,
        sequential,
    }];
    while let Some(walk) = stack.pop() {
        if !seen.insert((walk.state.graph.key(), walk.sequential.is_some())) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let machine = &walk.state.machine;
        if walk.sequential.is_none() {
            result.graphs += 1;
            result.inconsistent += usize::from(!is_consistent(&walk.state.graph, axioms));
        }
        if machine.all_ended() {
            let outcome = machine.outcome();
            if walk.sequential.is_some() {
                result.sequential.insert(outcome.clone());
            }
            result.outcomes.insert(outcome);
        }
        for thread in 0..program.threads.len() {
            stack.extend(walk.steps(thread));
        }
    }
    Some(result)
}

impl<'p> Walk<'p> {
    /// Where a thread's next step can lead: SC's, and if no stale choice was made
    /// yet, those that the analyzer names.
    fn steps(&self, thread: usize) -> Vec<Self> {
        let mut next = Vec::new();
        let stale = match &self.sequential {
            Some((watched, events)) => self.stale(thread, watched, events),
            None => Vec::new(),
        };
        let newest = (self.state.machine.next_location(thread))
            .map(|location| self.state.graph.values(location.0).count() - 1);
        for (position, state) in self.state.steps(thread) {
            if position == newest {
                let sequential = self.sequential.clone().map(|(mut watched, mut events)| {
                    let event = state.last_event();
                    watched.watch(&event).expect("an event of a run");
                    events.push(event);
                    if state.machine.ended(thread) {
                        let exit = state.machine.exit_event(thread);
                        watched.watch(&exit).expect("an event of a run");
                        events.push(exit);
                    }
                    (watched, events)
                });
                next.push(Self {
                    state,
                    sequential,
                    ..*self
                });
            } else if stale.contains(&(position.unwrap_or(0), state.last_writes())) {
                next.push(Self {
                    state,
                    sequential: None,
                    ..*self
                });
            }
        }
        next
    }

    /// The stale choices of a thread's next access: which write it takes, and
    /// whether it then writes.
    fn stale(
        &self,
        thread: usize,
        watched: &WatchedAnalyzer,
        events: &[Event],
    ) -> Vec<(usize, bool)> {
        let machine = &self.state.machine;
        let mut found = Vec::new();
        let rounds = machine.blocked_round(thread).into_iter();
        let steps = machine.choices(thread).iter().map(|&choice| {
            let mut machine = machine.clone();
            machine.step(thread, choice).event
        });
        for event in rounds.chain(steps) {
            let mut watched = watched.clone();
            let Some(violation) = watched.watch(&event).expect("an event of a run") else {
                continue;
            };
            let mut events = events.to_vec();
            events.push(event);
            let choices = choices(&events, &violation, self.model).expect("a witness");
            assert!(!choices.is_empty(), "no stale choice is allowed");
            for (choice, _) in choices {
                found.push((watched.position(&choice), choice.writes));
            }
        }
        found
    }
}

impl WatchedAnalyzer {
    /// The place of the write that a choice takes, in the order of writes.
    fn position(&self, choice: &StaleChoice) -> usize {
        match choice.taken {
            StaleSource::First => 0,
            StaleSource::Event(event) => self.place_of(event),
            StaleSource::Unseen => panic!("litmus programs hide no writes"),
        }
    }
}
