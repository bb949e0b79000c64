//! Sets of pairs of nodes with the operations that the axioms are written in: a row
//! of bits for every node, so that graphs of a few hundred nodes can be decided.

/// A binary relation on the nodes 0..n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    rows: Vec<Vec<u64>>,
}

impl Pairs {
    pub(super) fn of(nodes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut all = Self {
            rows: vec![vec![0; nodes.div_ceil(64)]; nodes],
        };
        for (from, to) in pairs {
            all.rows[from][to / 64] |= 1 << (to % 64);
        }
        all
    }

    pub(super) fn contains(&self, (from, to): (usize, usize)) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let nodes = self.rows.len();
        let all = (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to)));
        all.filter(|&pair| self.contains(pair))
    }

    pub(super) fn only(&self, wanted: impl Fn(usize, usize) -> bool) -> Self {
        Self::of(
            self.rows.len(),
            self.iter().filter(|&(from, to)| wanted(from, to)),
        )
    }

    pub(super) fn union<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = self.clone();
        for other in others {
            for (mine, theirs) in all.rows.iter_mut().zip(&other.rows) {
                unite(mine, theirs);
            }
        }
        all
    }

    /// This, then the other.
    pub(super) fn then(&self, other: &Self) -> Self {
        let mut composed = Self::of(self.rows.len(), []);
        for (from, to) in self.iter() {
            unite(&mut composed.rows[from], &other.rows[to]);
        }
        composed
    }

    /// The transitive closure.
    pub(super) fn closure(&self) -> Self {
        let mut closure = self.clone();
        loop {
            let more = closure.union([&closure.then(&closure)]);
            if more == closure {
                return closure;
            }
            closure = more;
        }
    }

    pub(super) fn is_irreflexive(&self) -> bool {
        (0..self.rows.len()).all(|node| !self.contains((node, node)))
    }
}

fn unite(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine |= theirs;
    }
}
