//! A random run and a random access that comes next.

use super::generate::{Dice, Profile, access, run};
use super::run::Run;
use crate::event::ThreadId;
use crate::model::Model;
use crate::violation::Violation;
use crate::witness::emit;
use crate::witness::graph::{Label, Witness};
use crate::witness::part::Part;
use crate::witness::run_graph::{PlainWrites, RunGraph};
use crate::witness::stale::{StaleChoice, choices};

/// A random run that ends with a random access, which is not in the graph.
pub(super) struct Case {
    pub(super) run: Run,
    pub(super) graph: RunGraph,
    pub(super) location: u32,
}

pub(super) fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let profile = Profile::varied(&mut dice);
    case_of(&mut dice, profile)
}

/// The same of another kind of run.
pub(super) fn case_of(dice: &mut Dice, profile: Profile) -> Case {
    let mut run = run(dice, profile);
    let graph = RunGraph::of(&run.events, PlainWrites::Restart);
    let location = dice.below(u64::from(profile.locations)) as u32;
    let exited = |thread: &u32| graph.exit.contains_key(&ThreadId(*thread));
    let threads: Vec<u32> = (1..=profile.threads).filter(|t| !exited(t)).collect();
    let mut current = newest(&graph, location)
        .and_then(|(o, n)| graph.value(o, n))
        .unwrap_or(2);
    let operation = access(dice, profile, location, &mut current);
    run.push(dice.pick(&threads), operation);
    Case {
        run,
        graph,
        location,
    }
}

/// The object of a location at the end of a run, and the number of its newest write.
pub(super) fn newest(graph: &RunGraph, location: u32) -> Option<(usize, usize)> {
    let object = graph.live(crate::LocationId(location))?;
    Some((object, graph.object(object).writes.len()))
}

impl Case {
    /// The violation that the last event has each stale write to choose from.
    pub(super) fn violation(&self, newer: usize) -> Option<Violation> {
        let (object, _) = newest(&self.graph, self.location)?;
        let object = self.graph.object(object);
        let recorded = |&node: &usize| self.graph.nodes[node].recorded;
        let event = |&node: &usize| self.graph.nodes[node].event;
        if object.unrecorded != 0
            || !object.writes.iter().all(recorded)
            || object.writes.len() < newer
        {
            return None;
        }
        let writes: Vec<usize> = object.writes.iter().map(event).collect();
        let stale: Vec<Option<usize>> = [None]
            .into_iter()
            .chain(writes.iter().copied().map(Some))
            .collect();
        Some(self.run.violation(writes[newer - 1], &stale[..newer]))
    }

    pub(super) fn choices(&self, violation: &Violation) -> Vec<StaleChoice> {
        choices(&self.graph, &self.run.events, violation).expect("the violation fits")
    }

    /// The whole run, and the access in a stale place.
    pub(super) fn whole(
        &self,
        violation: &Violation,
        stale: &StaleChoice,
        label: Label,
        model: Model,
    ) -> Witness {
        let all: Vec<usize> = (0..self.graph.nodes.len()).collect();
        let part = Part::resting_on(&self.graph, &all, 0, model, usize::MAX);
        let part = part.expect("a part of any size");
        emit::witness(&part, violation, stale, label)
    }
}
