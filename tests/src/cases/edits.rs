//! What a patch changes about orders, read off the text before and after, so that
//! two patches of one program can be compared: the same edits, or what each of
//! them costs by the profile `portable`, weighed by how often its lines run.

use std::collections::{BTreeMap, BTreeSet};

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use wmfix_repair::{Change, ChangeKind, ChangePoint, Orders, Profile, costs};

use super::counts::Counts;
use super::tokens::{Line, Operation, Order, Token, Words, lines};

/// One order that a patch changes, adds or takes away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The file.
    pub file: String,
    /// Where.
    pub position: Position,
    /// What the order belongs to.
    pub operation: Operation,
    /// The order before; `None` for an operation that was not there.
    pub from: Option<Order>,
    /// The order after; `None` for an operation that is gone.
    pub to: Option<Order>,
}

/// A position in the text before the patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// The order of this number on this line.
    On(usize, usize),
    /// Between two lines with code.
    Between(usize, usize),
}

/// All edits of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits(BTreeSet<Edit>);

impl Edits {
    /// The edits that lead from some files to others of the same names.
    pub fn between(
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
        words: &Words,
    ) -> Self {
        let mut edits = BTreeSet::new();
        for (file, old) in before {
            let new = after.get(file).expect("a patch renames no file");
            edits.extend(edits_of(file, &lines(old, words), &lines(new, words)));
        }
        Self(edits)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.0.iter()
    }

    /// What all executions together cost more than before.
    pub fn price(&self, counts: &Counts) -> i64 {
        let price_of = |edit: &Edit| {
            let price = |order: Option<Order>| order.map_or(0, |o| price(edit.operation, o));
            let lines = match edit.position {
                Position::On(line, _) => [line, line],
                Position::Between(first, second) => [first, second],
            };
            (price(edit.to) - price(edit.from)) * counts.of(&edit.file, lines)
        };
        self.0.iter().map(price_of).sum()
    }

    /// Whether some operation is touched by both. A fence touches the operations
    /// at both sides of it.
    pub fn meet(&self, other: &Self) -> bool {
        let mine = self.places();
        other.places().iter().any(|place| mine.contains(place))
    }

    fn places(&self) -> BTreeSet<(&str, usize)> {
        let places = self.0.iter().flat_map(|edit| {
            let lines = match edit.position {
                Position::On(line, _) => [line, line],
                Position::Between(first, second) => [first, second],
            };
            lines.map(|line| (edit.file.as_str(), line))
        });
        places.collect()
    }
}

/// What one execution of an operation with an order costs on the worse machine,
/// in the units of the profile.
fn price(operation: Operation, order: Order) -> i64 {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let kind = match (operation, order) {
        // One instruction has one order, whatever comes of it: the success pays.
        (Operation::Failure, _) | (_, Relaxed) => return 0,
        (Operation::Load, SeqCst) => ChangeKind::Load(LoadOrder::SeqCst),
        (Operation::Load, _) => ChangeKind::Load(LoadOrder::Acquire),
        (Operation::Store, SeqCst) => ChangeKind::Store(StoreOrder::SeqCst),
        (Operation::Store, _) => ChangeKind::Store(StoreOrder::Release),
        (Operation::Rmw, Acquire) => ChangeKind::Rmw(RmwOrder::Acquire),
        (Operation::Rmw, Release) => ChangeKind::Rmw(RmwOrder::Release),
        (Operation::Rmw, AcqRel) => ChangeKind::Rmw(RmwOrder::AcqRel),
        (Operation::Rmw, SeqCst) => ChangeKind::Rmw(RmwOrder::SeqCst),
        (Operation::Fence, Acquire) => ChangeKind::Fence(FenceOrder::Acquire),
        (Operation::Fence, Release) => ChangeKind::Fence(FenceOrder::Release),
        (Operation::Fence, AcqRel) => ChangeKind::Fence(FenceOrder::AcqRel),
        (Operation::Fence, SeqCst) => ChangeKind::Fence(FenceOrder::SeqCst),
    };
    let point = ChangePoint::new(vec![SiteId(0)], Orders::None);
    let change = Change { point: 0, kind };
    let price = costs(Profile::Portable, &[point], [], &[change])[0];
    i64::try_from(price).expect("a price of one execution is small")
}

fn edits_of(file: &str, old: &[Line], new: &[Line]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut add = |position, operation, from, to| {
        edits.push(Edit {
            file: file.to_owned(),
            position,
            operation,
            from,
            to,
        });
    };
    let (mut i, mut j) = (0, 0);
    for (a, b) in common(old, new) {
        for line in &old[i..a] {
            for (index, token) in line.tokens.iter().enumerate() {
                let position = Position::On(line.number, index);
                add(position, token.operation, Some(token.order), None);
            }
        }
        let gap = Position::Between(number_before(old, i), number_at(old, a));
        for token in new[j..b].iter().flat_map(|line| &line.tokens) {
            add(gap, token.operation, None, Some(token.order));
        }
        if let (Some(was), Some(is)) = (old.get(a), new.get(b)) {
            for (index, (was_token, is_token)) in was.tokens.iter().zip(&is.tokens).enumerate() {
                if was_token.order != is_token.order {
                    let position = Position::On(was.number, index);
                    let Token { operation, order } = *is_token;
                    add(position, operation, Some(was_token.order), Some(order));
                }
            }
        }
        (i, j) = (a + 1, b + 1);
    }
    edits
}

fn number_before(lines: &[Line], index: usize) -> usize {
    index
        .checked_sub(1)
        .map_or(0, |before| lines[before].number)
}

fn number_at(lines: &[Line], index: usize) -> usize {
    let past_the_end = lines.last().map_or(0, |line| line.number) + 1;
    lines.get(index).map_or(past_the_end, |line| line.number)
}

/// Of two lines that changed places the fence is the one that moved.
fn weight(line: &Line) -> usize {
    let is_fence = |token: &Token| token.operation == Operation::Fence;
    match line.tokens.first().is_some_and(is_fence) {
        true => 2,
        false => 3,
    }
}

/// The lines of an older text that lines of a newer one stand in place of, by number:
/// the same but for their orders, or changed where as many were taken away as added.
pub(super) fn counterparts(old: &[Line], new: &[Line]) -> BTreeMap<usize, String> {
    let mut counterparts = BTreeMap::new();
    let (mut i, mut j) = (0, 0);
    for (a, b) in common(old, new) {
        let replaced = old[i..a].iter().zip(&new[j..b]);
        let replaced = replaced.filter(|_| a - i == b - j);
        let same = old.get(a).zip(new.get(b));
        for (was, is) in replaced.chain(same) {
            counterparts.insert(is.number, was.text.clone());
        }
        (i, j) = (a + 1, b + 1);
    }
    counterparts
}

/// The longest common subsequence of lines that differ in their orders at most,
/// as pairs of indices, and the two ends as the last pair.
fn common(old: &[Line], new: &[Line]) -> Vec<(usize, usize)> {
    let mut length = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    let same = |i: usize, j: usize| old[i].text == new[j].text;
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            length[i][j] = match same(i, j) {
                true => length[i + 1][j + 1] + weight(&old[i]),
                false => length[i + 1][j].max(length[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if same(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if length[i + 1][j] >= length[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs.push((old.len(), new.len()));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
x.store(1, memory_order_relaxed);
// A comment.
y.store(1, memory_order_relaxed);
atomic_thread_fence(memory_order_release);
";

    fn edits(after: &str) -> Edits {
        let file = |text: &str| BTreeMap::from([("a.c".to_owned(), text.to_owned())]);
        Edits::between(&file(BEFORE), &file(after), &Words::default())
    }

    #[test]
    fn a_raised_order_costs_what_the_profile_says() {
        let raised = edits(&BEFORE.replacen("relaxed", "release", 1));
        assert_eq!(raised.len(), 1);
        assert_eq!(raised.price(&Counts::default()), 3);
        let sc = edits(&BEFORE.replacen("relaxed", "seq_cst", 1));
        assert_eq!(sc.price(&Counts::default()), 20);
        assert!(raised.meet(&sc));
        assert_ne!(raised, sc);
    }

    #[test]
    fn a_fence_is_between_lines_whatever_the_comments() {
        let fence = "atomic_thread_fence(memory_order_seq_cst);\n";
        let above = edits(&BEFORE.replace("// A", &format!("{fence}// A")));
        let below = edits(&BEFORE.replace("y.store", &format!("{fence}y.store")));
        assert_eq!(above, below);
        assert_eq!(above.price(&Counts::default()), 20);
    }

    #[test]
    fn a_changed_line_stands_in_place_of_the_one_it_was() {
        let words = Words::default();
        let old = lines("int a = x;\nb();\nx = 1;\n", &words);
        let new = lines(
            "int a = __atomic_load_n(&x, __ATOMIC_ACQUIRE);\nb();\nc();\nd();\n",
            &words,
        );
        let found = counterparts(&old, &new);
        let texts: Vec<(usize, &str)> = found.iter().map(|(n, text)| (*n, text.trim())).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert_eq!(texts[0].0, 1);
        assert!(texts[0].1.starts_with("int"), "{texts:?}");
        assert_eq!(texts[1].0, 2);
    }

    #[test]
    fn a_fence_that_moves_costs_nothing() {
        let fence = "atomic_thread_fence(memory_order_release);\n";
        let moved = BEFORE
            .replace(fence, "")
            .replace("y.store", &format!("{fence}y.store"));
        let moved = edits(&moved);
        assert_eq!(moved.len(), 2);
        assert_eq!(moved.price(&Counts::default()), 0);
        let other = edits(&BEFORE.replacen("relaxed", "release", 1));
        assert!(moved.meet(&other));
    }
}
