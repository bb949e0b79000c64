//! What is true of a sketch, by enumeration of its execution graphs: which
//! operations can go stale, which plain data is raced on, and which sets of
//! changes of the least size leave neither.

use std::collections::{BTreeMap, BTreeSet};

use crate::brute::{Axioms, Graph, explore, has_race, is_robust};

use super::sketch::{Level, Part, Repair, Sketch, Variable};

/// The operations that can leave SC, by name.
pub fn stale_operations(sketches: &[Sketch]) -> BTreeSet<String> {
    let mut stale = BTreeSet::new();
    for sketch in sketches {
        explore(sketch.program(), Axioms::RC11, |state| {
            for thread in 0..sketch.program().threads.len() {
                if state.stale(thread).is_empty() {
                    continue;
                }
                let (place, _) = state.machine.next(thread).expect("it is about to act");
                let name = sketch.name(thread, place).unwrap_or("(unnamed)");
                stale.insert(name.to_owned());
            }
            true
        });
    }
    stale
}

/// Whether plain data is raced on.
pub fn have_race(sketches: &[Sketch]) -> bool {
    sketches
        .iter()
        .any(|sketch| has_race(sketch.program(), Axioms::RC11))
}

/// Whether a repair leaves neither a stale access nor a race in any sketch.
pub fn is_sound(sketches: &[Sketch], repair: &Repair) -> bool {
    sketches.iter().all(|sketch| {
        let program = sketch.repaired(repair);
        !has_race(&program, Axioms::RC11) && is_robust(&program, Axioms::RC11)
    })
}

/// All smallest sets of changes that make all sketches of one program sound,
/// each with its orders no stronger than needed. Exact: where a set fails, so
/// does a larger one, as large as can be enumerated, and every repair changes
/// something outside of it.
pub fn cheapest(sketches: &[Sketch]) -> Vec<Repair> {
    let variables: BTreeSet<Variable> = sketches.iter().flat_map(Sketch::variables).collect();
    let variables: Vec<Variable> = variables.into_iter().collect();
    let full = |chosen: &BTreeSet<usize>| -> Repair {
        let chosen = chosen.iter().map(|&variable| variables[variable].clone());
        chosen.map(|variable| (variable, Level::SeqCst)).collect()
    };
    let sound = |chosen: &BTreeSet<usize>| is_sound(sketches, &full(chosen));
    let fits = |chosen: &BTreeSet<usize>| {
        let repair = full(chosen);
        sketches.iter().all(|s| Graph::fits(&s.repaired(&repair)))
    };
    let mut clauses: Vec<BTreeSet<usize>> = Vec::new();
    for size in 0..=variables.len() {
        let mut repairs = Vec::new();
        for chosen in subsets(variables.len(), size) {
            if clauses.iter().any(|clause| clause.is_disjoint(&chosen)) {
                continue;
            }
            if sound(&chosen) {
                repairs.extend(weakest(sketches, &full(&chosen)));
                continue;
            }
            let mut failing = chosen;
            for variable in 0..variables.len() {
                if failing.insert(variable) && (!fits(&failing) || sound(&failing)) {
                    failing.remove(&variable);
                }
            }
            clauses.push(
                (0..variables.len())
                    .filter(|s| !failing.contains(s))
                    .collect(),
            );
        }
        if !repairs.is_empty() {
            repairs.sort();
            repairs.dedup();
            return repairs;
        }
    }
    panic!("no change of orders repairs this")
}

/// Lowers the orders of a repair as far as it stays one, in every way.
fn weakest(sketches: &[Sketch], repair: &Repair) -> Vec<Repair> {
    let mut weaker = Vec::new();
    for (variable, &level) in repair {
        let holder = sketches.iter().find(|sketch| sketch.has(variable));
        let holder = holder.expect("a variable is of some sketch");
        for &lower in holder.below(variable, level) {
            let mut candidate = repair.clone();
            candidate.insert(variable.clone(), lower);
            if is_sound(sketches, &candidate) {
                weaker.extend(weakest(sketches, &candidate));
            }
        }
    }
    if weaker.is_empty() {
        weaker.push(repair.clone());
    }
    weaker
}

fn subsets(of: usize, size: usize) -> Vec<BTreeSet<usize>> {
    fn extend(
        from: usize,
        of: usize,
        left: usize,
        chosen: &mut Vec<usize>,
        all: &mut Vec<BTreeSet<usize>>,
    ) {
        if left == 0 {
            all.push(chosen.iter().copied().collect());
            return;
        }
        for next in from..of {
            chosen.push(next);
            extend(next + 1, of, left - 1, chosen, all);
            chosen.pop();
        }
    }
    let mut all = Vec::new();
    extend(0, of, size, &mut Vec::new(), &mut all);
    all
}

/// A repair in a line: `ready: release, look: fence before`.
pub fn spell(repair: &Repair) -> String {
    let word = |(variable, level): (&Variable, &Level)| {
        let order = match level {
            Level::Acquire => "acquire",
            Level::Release => "release",
            Level::AcqRel => "acq_rel",
            Level::SeqCst => "seq_cst",
        };
        let what = match variable.part {
            Part::Order => order.to_owned(),
            Part::Failure => format!("failure {order}"),
            Part::FenceBefore => "fence before".to_owned(),
            Part::FenceAfter => "fence after".to_owned(),
        };
        format!("{}: {what}", variable.operation)
    };
    let repair: BTreeMap<_, _> = repair.iter().collect();
    let words: Vec<String> = repair.into_iter().map(word).collect();
    words.join(", ")
}
