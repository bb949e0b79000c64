//! The analyzer as the subject of a comparison.

use std::collections::HashMap;

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, CasOutcome, Event, EventIndex, LocationId, Model, Operation,
    ReleaseSequences, SeqCst, SiteId, Violation,
};

use super::lockstep::{Effort, Subject, Tally, compare};
use crate::brute::Axioms;
use crate::litmus::Program;

/// An analyzer, and the writes it has been told of, so that the writes its
/// reports name can be counted. Every event gets a site of its own, or a report
/// could be folded into an earlier one.
#[derive(Clone, Debug)]
pub struct WatchedAnalyzer {
    /// The analyzer.
    pub analyzer: Analyzer,
    writes: HashMap<LocationId, Vec<u64>>,
    fed: u64,
}

impl WatchedAnalyzer {
    /// A fresh analyzer.
    pub fn new(config: AnalyzerConfig) -> Self {
        Self {
            analyzer: Analyzer::new(config),
            writes: HashMap::new(),
            fed: 0,
        }
    }

    /// Takes the next event; gives back what the analyzer says of it.
    pub fn watch(&mut self, event: &Event) -> Result<Option<Violation>, String> {
        let index = self.fed;
        let site = SiteId(u32::try_from(index).expect("a short run"));
        let step = self
            .analyzer
            .feed(&Event { site, ..*event })
            .map_err(|e| e.to_string())?;
        self.fed += 1;
        if let Some(location) = written(&event.operation) {
            self.writes.entry(location).or_default().push(index);
        }
        let found = step.violation.map(|v| &self.analyzer.violations()[v]);
        Ok(found.map(|f| f.violation.clone()))
    }

    /// The places of the stale writes that a violation names, in the order of
    /// writes to its location.
    pub fn places(&self, violation: &Violation) -> Vec<usize> {
        let stale = violation.stale.iter();
        (stale.map(|w| w.event.map_or(0, |event| self.place_of(event)))).collect()
    }

    /// The place of a write of the run in the order of writes to its location.
    ///
    /// # Panics
    /// If the event wrote nothing.
    pub fn place_of(&self, event: EventIndex) -> usize {
        let place = |writes: &Vec<u64>| writes.iter().position(|&write| write == event.0);
        let place = self.writes.values().find_map(place);
        place.expect("a stale write is a write of the run") + 1
    }
}

impl Subject for WatchedAnalyzer {
    fn feed(&mut self, event: &Event) -> Result<Vec<usize>, String> {
        let violation = self.watch(event)?;
        Ok(violation.map_or_else(Vec::new, |v| self.places(&v)))
    }
}

/// The axioms of a model.
pub fn axioms_of(model: Model) -> Axioms {
    let axioms = match model.seq_cst {
        SeqCst::Rc11 => Axioms::RC11,
        SeqCst::Rc20 => Axioms::RC20,
    };
    Axioms {
        own_stores_continue: model.release_sequences == ReleaseSequences::Cxx17,
        ..axioms
    }
}

/// Compares the analyzer with the axioms over the runs of a program.
///
/// # Panics
/// With the run, if they disagree.
pub fn assert_agrees(program: &Program, model: Model, runs_per_graph: usize) -> Tally {
    let config = AnalyzerConfig {
        model,
        ..AnalyzerConfig::default()
    };
    let effort = Effort { runs_per_graph };
    match compare(
        program,
        axioms_of(model),
        &WatchedAnalyzer::new(config),
        effort,
    ) {
        Ok(tally) => tally,
        Err(disagreement) => panic!("{disagreement}"),
    }
}

fn written(operation: &Operation) -> Option<LocationId> {
    match *operation {
        Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange {
            location,
            outcome: CasOutcome::Exchanged(_),
            ..
        } => Some(location),
        _ => None,
    }
}
