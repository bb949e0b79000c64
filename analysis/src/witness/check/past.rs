//! Happens-before, closed: of each node, how many nodes of every thread are before
//! it. These are always the first ones of the thread, as po is part of hb. A node
//! that learns nothing from elsewhere shares the row of the one before it.

use super::edges::{Edges, Place};
use crate::witness::digraph::EdgeList;

/// The most numbers in all rows, as a bound on memory: 128 megabytes.
const MAX_NUMBERS: usize = 1 << 25;

/// What is before each node in hb.
pub(super) struct Past {
    threads: usize,
    /// Which row a vertex has.
    rows: Vec<u32>,
    /// For each row and thread: how many of its nodes. What a row says of the
    /// thread of a node itself does not count: that is known by its place.
    numbers: Vec<u32>,
}

/// The rows need more memory than they may have.
#[derive(Debug)]
pub(super) struct TooManyNumbers;

impl Past {
    /// The closure of a relation that contains po; `last_first` has its vertices,
    /// each after all that it leads to.
    pub(super) fn of(
        edges: &Edges,
        hb: &EdgeList,
        last_first: &[u32],
    ) -> Result<Self, TooManyNumbers> {
        let threads = edges.threads.len();
        let mut past = Self {
            threads,
            rows: vec![0; hb.vertices()],
            numbers: vec![0; threads],
        };
        let before = hb.backward();
        let mut row = Vec::new();
        for &vertex in last_first.iter().rev() {
            let vertex = vertex as usize;
            let thread = |vertex| edges.place(vertex).map(|place: Place| place.thread);
            let own = |from: &usize| thread(*from).is_some() && thread(*from) == thread(vertex);
            let own = before.at(vertex).find(own);
            let shared = own.map_or(0, |own| past.rows[own]);
            past.rows[vertex] = shared;
            if before.at(vertex).len() == usize::from(own.is_some()) {
                continue;
            }
            row.clear();
            row.resize(threads, 0);
            for from in before.at(vertex) {
                past.join(&mut row, from, edges.place(from));
            }
            if own.is_none() || !past.says_no_less(shared, &row, thread(vertex)) {
                past.rows[vertex] = past.add(&row)?;
            }
        }
        Ok(past)
    }

    /// Whether one node is before another in hb.
    pub(super) fn is_before(&self, edges: &Edges, earlier: usize, later: usize) -> bool {
        (edges.place(earlier))
            .is_some_and(|Place { thread, index }| index < self.known(edges, later, thread))
    }

    /// How many nodes of a thread are before the node in hb.
    pub(super) fn known(&self, edges: &Edges, node: usize, thread: usize) -> usize {
        match edges.place(node) {
            Some(own) if own.thread == thread => own.index,
            _ => self.row(self.rows[node])[thread] as usize,
        }
    }

    fn row(&self, row: u32) -> &[u32] {
        let begin = row as usize * self.threads;
        &self.numbers[begin..begin + self.threads]
    }

    /// Adds what is before a vertex, and the vertex itself.
    fn join(&self, row: &mut [u32], from: usize, place: Option<Place>) {
        for (mine, theirs) in row.iter_mut().zip(self.row(self.rows[from])) {
            *mine = (*mine).max(*theirs);
        }
        if let Some(Place { thread, index }) = place {
            row[thread] = row[thread].max(index as u32 + 1);
        }
    }

    /// Whether an old row has all that a new one has, but for one thread.
    fn says_no_less(&self, old: u32, new: &[u32], except: Option<usize>) -> bool {
        let threads = self.row(old).iter().zip(new).enumerate();
        { threads }.all(|(thread, (old, new))| old >= new || Some(thread) == except)
    }

    fn add(&mut self, row: &[u32]) -> Result<u32, TooManyNumbers> {
        let number = self.numbers.len() / self.threads;
        if self.numbers.len() + row.len() > MAX_NUMBERS {
            return Err(TooManyNumbers);
        }
        self.numbers.extend_from_slice(row);
        Ok(number as u32)
    }
}
