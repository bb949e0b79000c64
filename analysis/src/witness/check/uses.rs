//! Who accesses a location: its nodes, thread by thread in program order, and the
//! ones among them that are before or after a node in hb.

use std::ops::Range;

use super::edges::Edges;
use super::past::Past;

/// The accesses of all threads.
pub(super) struct Uses {
    /// By location, then thread, then program order.
    nodes: Vec<usize>,
    /// For each location the part of each thread that accesses it.
    stretches: Vec<Vec<Range<usize>>>,
    /// Where in the list each node is, if it is.
    at: Vec<usize>,
}

impl Uses {
    pub(super) fn of(edges: &Edges) -> Self {
        let object = |node: usize| edges.access(node).map(|access| access.object);
        let mut nodes: Vec<usize> = (0..edges.nodes)
            .filter(|&node| edges.place(node).is_some() && object(node).is_some())
            .collect();
        nodes.sort_unstable_by_key(|&node| (object(node), edges.place(node)));
        let mut at = vec![usize::MAX; edges.nodes];
        for (index, &node) in nodes.iter().enumerate() {
            at[node] = index;
        }
        let mut stretches = vec![Vec::new(); edges.modification.len()];
        let thread = |node: usize| edges.place(node).map(|place| place.thread);
        let mut begin = 0;
        for stretch in nodes.chunk_by(|&a, &b| object(a) == object(b) && thread(a) == thread(b)) {
            if let Some(object) = object(stretch[0]) {
                stretches[object].push(begin..begin + stretch.len());
            }
            begin += stretch.len();
        }
        Self {
            nodes,
            stretches,
            at,
        }
    }

    /// The accesses to a location, of one thread after the other.
    pub(super) fn of_object(&self, object: usize) -> impl Iterator<Item = &[usize]> {
        let stretches = self.stretches[object].iter();
        stretches.map(|stretch| &self.nodes[stretch.clone()])
    }

    /// The next access of the same thread to the same location.
    pub(super) fn next(&self, edges: &Edges, node: usize) -> Option<usize> {
        let next = *self.nodes.get(self.at[node].checked_add(1)?)?;
        let thread = |node: usize| edges.place(node).map(|place| place.thread);
        (thread(next) == thread(node) && edges.same_object(next, node)).then_some(next)
    }
}

/// How many of these accesses of one thread are before the node in hb.
pub(super) fn before(own: &[usize], node: usize, past: &Past, edges: &Edges) -> usize {
    let Some(place) = edges.place(own[0]) else {
        return 0;
    };
    let known = past.known(edges, node, place.thread);
    own.partition_point(|&use_| edges.place(use_).is_some_and(|place| place.index < known))
}

/// The first of these accesses of one thread that the node is before in hb.
pub(super) fn first_after(own: &[usize], node: usize, past: &Past, edges: &Edges) -> Option<usize> {
    let first = own.partition_point(|&later| !past.is_before(edges, node, later));
    own.get(first).copied()
}
