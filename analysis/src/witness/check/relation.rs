//! Relations between the nodes of a graph as dense rows of bits, with the few
//! operations the axioms are written in. Knows nothing of memory models.

/// A set of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    words: Vec<u64>,
}

/// A binary relation on the nodes 0..n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    rows: Vec<Set>,
}

impl Set {
    pub(super) fn empty(n: usize) -> Self {
        Self {
            words: vec![0; n.div_ceil(64)],
        }
    }

    pub(super) fn insert(&mut self, item: usize) {
        self.words[item / 64] |= 1 << (item % 64);
    }

    pub(super) fn has(&self, item: usize) -> bool {
        self.words[item / 64] >> (item % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(super) fn unite(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    pub(super) fn intersect(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= theirs;
        }
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= !theirs;
        }
    }

    /// The first item from `item` on that is not in `other`.
    fn first_outside(&self, item: usize, other: &Self) -> Option<usize> {
        let first = item / 64;
        let mut mask = u64::MAX << (item % 64);
        let words = self.words.iter().zip(&other.words).enumerate();
        for (at, (mine, theirs)) in words.skip(first) {
            let left = mine & !theirs & mask;
            if left != 0 {
                return Some(at * 64 + left.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| at * 64 + rest.trailing_zeros() as usize)
        })
    }
}

impl Relation {
    pub(super) fn empty(n: usize) -> Self {
        Self {
            rows: vec![Set::empty(n); n],
        }
    }

    /// The relation of these pairs.
    pub(super) fn of(n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut relation = Self::empty(n);
        for (from, to) in pairs {
            relation.insert(from, to);
        }
        relation
    }

    pub(super) fn union<'a>(n: usize, parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut union = Self::empty(n);
        for part in parts {
            for (row, other) in union.rows.iter_mut().zip(&part.rows) {
                row.unite(other);
            }
        }
        union
    }

    pub(super) fn insert(&mut self, from: usize, to: usize) {
        self.rows[from].insert(to);
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from].has(to)
    }

    /// Everything that `from` is related to.
    pub(super) fn row(&self, from: usize) -> &Set {
        &self.rows[from]
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows
            .iter()
            .enumerate()
            .flat_map(|(from, row)| row.iter().map(move |to| (from, to)))
    }

    /// The same with every row changed.
    pub(super) fn with_rows(&self, mut change: impl FnMut(usize, &mut Set)) -> Self {
        let mut changed = self.clone();
        for (from, row) in changed.rows.iter_mut().enumerate() {
            change(from, row);
        }
        changed
    }

    /// Everything that some member of the set is related to.
    pub(super) fn image(&self, set: &Set) -> Set {
        let mut image = Set::empty(self.rows.len());
        for item in set.iter() {
            image.unite(&self.rows[item]);
        }
        image
    }

    /// The transitive closure, or a cycle if there is one.
    pub(super) fn closure(&self) -> Result<Self, Vec<usize>> {
        let mut closure = Self::empty(self.rows.len());
        for node in self.last_first()? {
            let mut row = Set::empty(self.rows.len());
            for next in self.rows[node].iter() {
                // What is in the row already has brought all it reaches.
                if !row.has(next) {
                    row.insert(next);
                    row.unite(&closure.rows[next]);
                }
            }
            closure.rows[node] = row;
        }
        Ok(closure)
    }

    /// The nodes, each after all that it is related to, or a cycle.
    pub(super) fn last_first(&self) -> Result<Vec<usize>, Vec<usize>> {
        let nodes = self.rows.len();
        // What is done is passed over a word at a time: relations may be dense.
        let (mut open, mut done) = (Set::empty(nodes), Set::empty(nodes));
        let mut order = Vec::with_capacity(nodes);
        for root in 0..nodes {
            if done.has(root) {
                continue;
            }
            open.insert(root);
            // The nodes on the way, each with where to go on in its row.
            let mut path = vec![(root, 0)];
            while let Some((node, from)) = path.last_mut() {
                let (node, next) = (*node, self.rows[*node].first_outside(*from, &done));
                let Some(next) = next else {
                    done.insert(node);
                    order.push(node);
                    path.pop();
                    continue;
                };
                *from = next;
                if open.has(next) {
                    let way: Vec<usize> = path.iter().map(|&(node, _)| node).collect();
                    let begin = way.iter().position(|&n| n == next).unwrap_or(0);
                    return Err(self.shorten(way[begin..].to_vec()));
                }
                open.insert(next);
                path.push((next, 0));
            }
        }
        Ok(order)
    }

    /// The same cycle without the detours that a chord saves.
    fn shorten(&self, mut cycle: Vec<usize>) -> Vec<usize> {
        let mut at = 0;
        while at < cycle.len() {
            // The farthest node ahead that this one leads to directly; leading
            // back to the start closes the cycle.
            if at > 0 && self.has(cycle[at], cycle[0]) {
                cycle.truncate(at + 1);
                break;
            }
            let farthest = (at + 1..cycle.len())
                .rev()
                .find(|&to| self.has(cycle[at], cycle[to]));
            if let Some(farthest) = farthest {
                cycle.drain(at + 1..farthest);
            }
            at += 1;
        }
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_reaches_what_a_walk_reaches() {
        let relation = Relation::of(130, [(0, 70), (70, 129), (129, 3), (64, 0)]);
        let closure = relation.closure().expect("no cycle");
        let expected = [
            (0, 3),
            (0, 70),
            (0, 129),
            (64, 0),
            (64, 3),
            (64, 70),
            (64, 129),
        ];
        let expected = expected.into_iter().chain([(70, 3), (70, 129), (129, 3)]);
        assert_eq!(
            closure.pairs().collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_cycle_is_shown_without_detours() {
        let relation = Relation::of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 1), (2, 4)]);
        assert_eq!(relation.closure(), Err(vec![1, 2, 4]));
        assert_eq!(Relation::of(2, [(1, 1)]).closure(), Err(vec![1]));
    }

    #[test]
    fn image_and_changed_rows_follow_the_pairs() {
        let relation = Relation::of(4, [(0, 1), (0, 2), (3, 0)]);
        let mut set = Set::empty(4);
        set.insert(0);
        set.insert(3);
        assert_eq!(relation.image(&set).iter().collect::<Vec<_>>(), [0, 1, 2]);
        let one = Set {
            words: Vec::from([1 << 1]),
        };
        let rest = relation.with_rows(|from, row| {
            assert!(from < 4);
            row.subtract(&one);
        });
        assert_eq!(rest.pairs().collect::<Vec<_>>(), [(0, 2), (3, 0)]);
    }
}
