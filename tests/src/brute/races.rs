//! Data races by the definition: two accesses of different threads to one
//! location, at least one of them plain and at least one a write, that
//! happens-before does not order, in an SC graph of the program.

use super::axioms::{Axioms, happens_before};
use super::explore::{State, explore};
use super::graph::{Graph, Kind};
use super::relation::bits;
use crate::litmus::Program;

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partner {
    /// Whose access.
    pub thread: usize,
    /// It writes.
    pub writes: bool,
    /// It is atomic.
    pub atomic: bool,
}

/// The races in a graph.
pub fn races(graph: &Graph, axioms: Axioms) -> Vec<(Partner, Partner)> {
    let plain = graph.select(|n| matches!(n.kind, Kind::PlainRead | Kind::PlainWrite));
    if plain == 0 {
        return Vec::new();
    }
    let hb = happens_before(graph, axioms);
    let writes = graph.select(|n| matches!(n.kind, Kind::PlainWrite | Kind::Write | Kind::Update));
    let accesses = graph.select(|n| n.location.is_some());
    let partner = |node: usize| {
        let thread = graph.thread_of(node)?;
        Some(Partner {
            thread,
            writes: writes >> node & 1 == 1,
            atomic: plain >> node & 1 == 0,
        })
    };
    let mut found = Vec::new();
    for a in bits(plain) {
        for b in bits(accesses) {
            // First values belong to no thread and come before everything.
            let (Some(one), Some(other)) = (partner(a), partner(b)) else {
                continue;
            };
            let conflict = (one.writes || other.writes)
                && graph.node(a).location == graph.node(b).location
                && one.thread != other.thread;
            // A pair of plain accesses is met twice.
            let once = other.atomic || a < b;
            if conflict && once && !hb.has(a, b) && !hb.has(b, a) {
                found.push((one, other));
            }
        }
    }
    found
}

/// Whether some SC run of a program has a race.
pub fn has_race(program: &Program, axioms: Axioms) -> bool {
    !explore(program, axioms, |state: &State<'_>| {
        races(&state.graph, axioms).is_empty()
    })
}
