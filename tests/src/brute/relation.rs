//! Binary relations over at most 64 nodes, a word a row.

use std::ops::BitOr;

/// More nodes than any graph here has.
pub(super) const MAX_NODES: usize = 64;

/// A relation: bit `b` of row `a` says that `a` is related to `b`.
#[derive(Clone, Copy)]
pub struct Relation {
    rows: [u64; MAX_NODES],
    nodes: usize,
}

impl Relation {
    /// The empty relation.
    pub fn empty(nodes: usize) -> Self {
        assert!(nodes <= MAX_NODES, "a graph of {nodes} nodes is too large");
        Self {
            rows: [0; MAX_NODES],
            nodes,
        }
    }

    /// The identity on some nodes.
    pub fn identity(nodes: usize, on: u64) -> Self {
        let mut relation = Self::empty(nodes);
        for node in 0..nodes {
            relation.rows[node] = on & (1 << node);
        }
        relation
    }

    /// What a node is related to.
    pub fn row(&self, from: usize) -> u64 {
        self.rows[from]
    }

    /// Relates a node to these.
    pub fn add(&mut self, from: usize, to: u64) {
        self.rows[from] |= to;
    }

    /// Whether two nodes are related.
    pub fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from] >> to & 1 == 1
    }

    /// One after the other.
    pub fn then(&self, next: &Self) -> Self {
        let mut result = Self::empty(self.nodes);
        for node in 0..self.nodes {
            result.rows[node] =
                bits(self.rows[node]).fold(0, |row, middle| row | next.rows[middle]);
        }
        result
    }

    /// The transitive closure.
    pub fn closure(&self) -> Self {
        let mut result = *self;
        for middle in 0..self.nodes {
            let through = result.rows[middle];
            if through == 0 {
                continue;
            }
            for row in &mut result.rows[..self.nodes] {
                if *row >> middle & 1 == 1 {
                    *row |= through;
                }
            }
        }
        result
    }

    /// The part from some nodes to some nodes.
    pub fn between(&self, from: u64, to: u64) -> Self {
        let mut result = Self::empty(self.nodes);
        for node in bits(from).take_while(|&node| node < self.nodes) {
            result.rows[node] = self.rows[node] & to;
        }
        result
    }

    /// The part that another relation does not have.
    pub fn without(&self, other: &Self) -> Self {
        let mut result = *self;
        for node in 0..self.nodes {
            result.rows[node] &= !other.rows[node];
        }
        result
    }

    /// The part that another relation has too.
    pub fn within(&self, other: &Self) -> Self {
        let mut result = *self;
        for node in 0..self.nodes {
            result.rows[node] &= other.rows[node];
        }
        result
    }

    /// Together with the identity.
    pub fn reflexive(&self) -> Self {
        let mut result = *self;
        for node in 0..self.nodes {
            result.rows[node] |= 1 << node;
        }
        result
    }

    /// Whether no node is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.nodes).all(|node| !self.has(node, node))
    }

    /// Whether no node reaches itself.
    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}

impl BitOr for Relation {
    type Output = Self;

    fn bitor(mut self, other: Self) -> Self {
        for node in 0..self.nodes {
            self.rows[node] |= other.rows[node];
        }
        self
    }
}

/// The places of the bits that are set.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let place = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_finds_the_way_round() {
        let mut ring = Relation::empty(5);
        for node in 0..5 {
            ring.add(node, 1 << ((node + 1) % 5));
        }
        assert!(ring.is_irreflexive());
        assert!(!ring.is_acyclic());
        assert!(ring.between(0b01111, u64::MAX).is_acyclic());
        assert!(ring.then(&ring).has(3, 0));
    }
}
