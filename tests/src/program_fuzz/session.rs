//! Programs one after the other until the time is up, and what was found, as small as it
//! gets.

use std::fmt;
use std::time::{Duration, Instant};

use super::generate::{Weights, generate};
use super::lab::{Lab, Way};
use super::machine::HANG;
use super::oracles::{Contradiction, ORACLES, Oracle};
use super::shrink::shrink;
use super::spell::{Pauses, spell};
use super::truth::Truth;
use crate::rng::Rng;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// The seed of the first program; that of each further one is one more.
    pub seed: u64,
    /// What programs are made of, besides litmus programs.
    pub weights: Weights,
}

/// A contradiction.
#[derive(Clone, Debug)]
pub struct Found {
    /// The seed of the program.
    pub seed: u64,
    /// The oracle.
    pub oracle: &'static str,
    /// The small program.
    pub source: String,
    /// What contradicts what there.
    contradiction: Contradiction,
}

/// Of 100 programs that may hang, how many are tried.
const HANGING: u32 = 8;

/// How long a program is shrunk.
const SHRINKING: Duration = Duration::from_secs(180);

/// What came of a seed.
#[derive(Clone, Debug)]
enum Tried {
    /// The truth about its program is not known, or takes long to see.
    LeftOut,
    /// Nothing contradicts anything.
    Agrees {
        /// Every class of runs was explored.
        complete: bool,
        /// And wmfix says that it is proved.
        proved: bool,
    },
    /// Something does.
    Contradicts(Box<Found>),
}

/// What came of many.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many programs were run.
    pub programs: usize,
    /// Of those without a contradiction, how many were explored to the end.
    pub complete: usize,
    /// How many of these are proved.
    pub proved: usize,
    /// The contradictions.
    pub found: Vec<Found>,
}

impl Tally {
    fn add(&mut self, tried: Tried, mut tell: impl FnMut(&Found)) {
        match tried {
            Tried::LeftOut => return,
            Tried::Agrees { complete, proved } => {
                self.complete += usize::from(complete);
                self.proved += usize::from(proved);
            }
            Tried::Contradicts(found) => {
                tell(&found);
                self.found.push(*found);
            }
        }
        self.programs += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            programs,
            complete,
            proved,
            found,
        } = self;
        let found = found.len();
        write!(
            out,
            "{programs} programs, {complete} explored to the end, {proved} proved, {found} contradictions"
        )
    }
}

impl Session {
    /// Tries this many programs.
    pub fn programs(&self, count: usize) -> Tally {
        let mut tally = Tally::default();
        for seed in self.seed.. {
            if tally.programs == count {
                break;
            }
            tally.add(self.one(seed), |_| ());
        }
        tally
    }

    /// Tries programs for some time. What is found is told as it is.
    pub fn for_time(&self, time: Duration, mut tell: impl FnMut(&Found)) -> Tally {
        let started = Instant::now();
        let mut tally = Tally::default();
        for seed in self.seed.. {
            if started.elapsed() > time {
                break;
            }
            tally.add(self.one(seed), &mut tell);
        }
        tally
    }

    /// Tries the program of the first seed alone.
    pub fn only(&self) -> Tally {
        let mut tally = Tally::default();
        tally.add(self.one(self.seed), |_| ());
        tally
    }

    /// Tries the program of a seed, in some of the ways: which ones, the seed decides.
    fn one(&self, seed: u64) -> Tried {
        let rng = &mut Rng::new(seed);
        let weights = if rng.percent(30) {
            Weights::CORE
        } else {
            self.weights
        };
        let program = generate(rng, &weights);
        let ways = ways(rng);
        // Every run that hangs takes its time.
        let may_hang = rng.percent(HANGING);
        let Some(truth) = Truth::of(&program) else {
            return Tried::LeftOut;
        };
        if truth.interleavings.ends.contains(HANG) && !may_hang {
            return Tried::LeftOut;
        }
        let lab = Lab::new(program, truth, seed % 1000 + 1);
        let found = ORACLES.into_iter().find_map(|oracle| {
            let contradiction = (oracle.judge)(&lab, &ways)?;
            Some((oracle, contradiction))
        });
        let Some((oracle, contradiction)) = found else {
            let explored = lab.see(Way::Exhaustive);
            return Tried::Agrees {
                complete: explored.is_complete(),
                proved: explored.proof()["proved"] == true,
            };
        };
        let ways = ways_needed(oracle, &lab, ways);
        let found = shrunk(seed, &lab, &ways, oracle, contradiction);
        Tried::Contradicts(Box::new(found))
    }
}

/// The exploration always, the others in turn.
fn ways(rng: &mut Rng) -> Vec<Way> {
    let mut ways = vec![Way::Exhaustive];
    ways.extend(match rng.below(10) {
        0 => vec![Way::Priorities, Way::PrioritiesAgain],
        1 => vec![Way::Native, Way::System],
        2 => vec![Way::Tsan],
        3 => vec![Way::Native, Way::Usual],
        4..7 => vec![Way::Free],
        _ => vec![Way::Usual],
    });
    ways
}

/// The fewest ways that show it, of what was seen.
fn ways_needed(oracle: Oracle, lab: &Lab, ways: Vec<Way>) -> Vec<Way> {
    let one = ways.iter().map(|way| vec![*way]);
    let two = ways[1..].iter().map(|way| vec![ways[0], *way]);
    let shows = |some: &Vec<Way>| (oracle.judge)(lab, some).is_some();
    one.chain(two).find(shows).unwrap_or(ways.clone())
}

fn shrunk(
    seed: u64,
    lab: &Lab,
    ways: &[Way],
    oracle: Oracle,
    contradiction: Contradiction,
) -> Found {
    let started = Instant::now();
    let mut last = contradiction;
    let least = shrink(lab.program.clone(), |less| {
        if started.elapsed() > SHRINKING {
            return false;
        }
        let Some(truth) = Truth::of(less) else {
            return false;
        };
        let lab = Lab::new(less.clone(), truth, seed % 1000 + 1);
        let again = (oracle.judge)(&lab, ways);
        let does_it = again.is_some();
        last = again.unwrap_or(last.clone());
        does_it
    });
    Found {
        seed,
        oracle: oracle.name,
        source: spell(&least, Pauses::None),
        contradiction: last,
    }
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "seed {}, oracle `{}`", self.seed, self.oracle)?;
        writeln!(out, "{}", self.contradiction.what)?;
        writeln!(out, "fuzz.c:\n{}", self.source)?;
        writeln!(out, "{}", self.contradiction.command)
    }
}
