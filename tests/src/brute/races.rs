//! Data races by the definition: two accesses of different threads to one
//! location, at least one of them plain and at least one a write, that
//! happens-before does not order, in an SC graph of the program.

use super::axioms::{Axioms, happens_before};
use super::explore::{State, explore};
use super::graph::{Graph, Kind};
use super::relation::bits;
use crate::litmus::Program;

/// The numbers of two racing nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacePair(pub usize, pub usize);

/// The races in a graph.
pub fn races(graph: &Graph) -> Vec<RacePair> {
    let hb = happens_before(graph);
    let plain = graph.select(|n| matches!(n.kind, Kind::PlainRead | Kind::PlainWrite));
    let writes = graph.select(|n| matches!(n.kind, Kind::PlainWrite | Kind::Write | Kind::Update));
    let accesses = graph.select(|n| n.location.is_some());
    let mut found = Vec::new();
    for a in bits(plain) {
        for b in bits(accesses) {
            let conflict = (writes >> a | writes >> b) & 1 == 1
                && graph.node(a).location == graph.node(b).location;
            let apart = graph.thread_of(a) != graph.thread_of(b);
            // A pair of plain accesses is met twice.
            let once = plain >> b & 1 == 0 || a < b;
            if conflict && apart && once && !hb.has(a, b) && !hb.has(b, a) {
                found.push(RacePair(a, b));
            }
        }
    }
    found
}

/// Whether some SC run of a program has a race.
pub fn has_race(program: &Program) -> bool {
    !explore(program, Axioms::RC11, |state: &State<'_>| {
        races(&state.graph).is_empty()
    })
}
