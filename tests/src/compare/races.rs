//! Races by an analysis against races by the definition, over the SC runs of a
//! program: at every step a race exactly if the new access has a partner that
//! happens-before does not order. A run ends at its first race, for what follows
//! has no meaning.

use rustc_hash::FxHashMap;
use wmfix_analysis::{Analyzer, AnalyzerConfig, Event, Model, RacingAccess};
use wmfix_trace::CheckRecord;

use super::analyzer::axioms_of;
use super::lockstep::{Disagreement, Effort};
use super::online::said_on_line;
use crate::brute::{Axioms, Graph, Partner, State, races};
use crate::litmus::{Program, thread_id};

/// Compares over the runs of a program; gives back in how many of them there is
/// a race, and in how many there is none to the end.
pub fn compare_races(
    program: &Program,
    model: Model,
    effort: Effort,
) -> Result<(usize, usize), Box<Disagreement>> {
    let config = AnalyzerConfig {
        model,
        races: true,
        ..AnalyzerConfig::default()
    };
    let mut walk = Walk {
        program,
        config,
        effort,
        visits: FxHashMap::default(),
        racing: 0,
        clean: 0,
        trace: Vec::new(),
    };
    let state = State::new(program, axioms_of(model));
    let mut analyzer = Analyzer::new(config);
    for event in state.machine.prologue() {
        walk.feed(&mut analyzer, event, &[])?;
    }
    walk.from(state, analyzer)?;
    Ok((walk.racing, walk.clean))
}

struct Walk<'p> {
    program: &'p Program,
    config: AnalyzerConfig,
    effort: Effort,
    visits: FxHashMap<Vec<u8>, usize>,
    racing: usize,
    clean: usize,
    trace: Vec<Event>,
}

impl<'p> Walk<'p> {
    fn from(&mut self, state: State<'p>, analyzer: Analyzer) -> Result<(), Box<Disagreement>> {
        let visits = self.visits.entry(state.graph.key()).or_default();
        *visits += 1;
        if *visits > self.effort.runs_per_graph {
            return Ok(());
        }
        let mut stuck = true;
        for thread in 0..self.program.threads.len() {
            for &choice in state.machine.choices(thread) {
                stuck = false;
                let mut next = state.clone();
                let mut analyzer = analyzer.clone();
                let stepped = next.step(thread, choice);
                let before = self.trace.len();
                let partners = partners(&next.graph, axioms_of(self.config.model));
                self.feed(&mut analyzer, stepped.event, &partners)?;
                if partners.is_empty() {
                    if stepped.ended {
                        self.feed(&mut analyzer, next.machine.exit_event(thread), &[])?;
                    }
                    self.from(next, analyzer)?;
                } else {
                    self.racing += 1;
                    self.check_on_line(true)?;
                }
                self.trace.truncate(before);
            }
        }
        if stuck {
            self.clean += 1;
            self.check_on_line(false)?;
        }
        Ok(())
    }

    /// A run that is checked in its process must say the same.
    fn check_on_line(&self, races: bool) -> Result<(), Box<Disagreement>> {
        let said = said_on_line(&self.trace, self.config);
        let is_race = |record: &CheckRecord| matches!(record, CheckRecord::Race { .. });
        if said.iter().any(is_race) == races {
            return Ok(());
        }
        Err(Box::new(Disagreement {
            program: self.program.to_string(),
            trace: self.trace.clone(),
            expected: format!("on line, races: {races}"),
            answer: format!("{said:?}"),
        }))
    }

    fn feed(
        &mut self,
        analyzer: &mut Analyzer,
        event: Event,
        partners: &[Partner],
    ) -> Result<(), Box<Disagreement>> {
        self.trace.push(event);
        let step = analyzer.feed(&event);
        let answer = match &step {
            Ok(step) => match step.race {
                None => Ok(partners.is_empty()),
                // Whoever is blamed must be one of those who can be.
                Some(race) => {
                    let first = analyzer.races()[race].race.first;
                    Ok(partners.iter().any(|p| is_partner(&first, p)))
                }
            },
            Err(error) => Err(error.to_string()),
        };
        if answer == Ok(true) {
            return Ok(());
        }
        Err(Box::new(Disagreement {
            program: self.program.to_string(),
            trace: self.trace.clone(),
            expected: format!("{partners:?}"),
            answer: format!("{step:?}, {:?}", analyzer.races()),
        }))
    }
}

/// Who races with the newest node: the graph without it has no race.
fn partners(graph: &Graph, axioms: Axioms) -> Vec<Partner> {
    races(graph, axioms)
        .into_iter()
        .flat_map(|(a, b)| [a, b])
        .collect()
}

fn is_partner(first: &RacingAccess, partner: &Partner) -> bool {
    first.thread == thread_id(partner.thread)
        && first.writes == partner.writes
        && first.atomic == partner.atomic
}
