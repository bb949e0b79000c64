//! Sparse directed graphs and the search for a cycle in them, in time and memory
//! linear in the edges. Where all of a line leads to all that comes later, a vertex
//! that stands for the line so far saves the pairs. Knows nothing of memory models.

/// The edges of a graph that is being made. What it is about are the first
/// vertices; those added later only stand for several of them.
#[derive(Clone, Debug)]
pub(super) struct EdgeList {
    vertices: usize,
    edges: Vec<(u32, u32)>,
}

/// A graph that is looked at: what each vertex leads to.
#[derive(Debug)]
pub(super) struct Digraph {
    /// Where the neighbours of each vertex begin, and where the last ones end.
    begins: Vec<u32>,
    neighbours: Vec<u32>,
}

impl EdgeList {
    /// No edges yet.
    pub(super) fn new(vertices: usize) -> Self {
        Self {
            vertices,
            edges: Vec::new(),
        }
    }

    /// How many vertices there are.
    pub(super) fn vertices(&self) -> usize {
        self.vertices
    }

    /// An edge.
    pub(super) fn add(&mut self, from: usize, to: usize) {
        self.edges.push((from as u32, to as u32));
    }

    /// The same if both are there.
    pub(super) fn add_some(&mut self, from: Option<usize>, to: Option<usize>) {
        if let (Some(from), Some(to)) = (from, to) {
            self.add(from, to);
        }
    }

    /// A vertex that both of these lead to, to lead on from: a new one, or the one
    /// that is there.
    pub(super) fn after_both(&mut self, one: Option<usize>, other: Option<usize>) -> Option<usize> {
        let (Some(one), Some(other)) = (one, other) else {
            return one.or(other);
        };
        let both = self.vertices;
        self.vertices += 1;
        self.add(one, both);
        self.add(other, both);
        Some(both)
    }

    /// What each vertex leads to.
    pub(super) fn forward(&self) -> Digraph {
        Digraph::of(self.vertices, || self.edges.iter().copied())
    }

    /// What leads to each vertex.
    pub(super) fn backward(&self) -> Digraph {
        Digraph::of(self.vertices, || {
            self.edges.iter().map(|&(from, to)| (to, from))
        })
    }
}

impl Digraph {
    fn of<I: Iterator<Item = (u32, u32)>>(vertices: usize, edges: impl Fn() -> I) -> Self {
        let mut begins = vec![0; vertices + 1];
        for (from, _) in edges() {
            begins[from as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            begins[vertex + 1] += begins[vertex];
        }
        let mut filled = begins.clone();
        let mut neighbours = vec![0; begins[vertices] as usize];
        for (from, to) in edges() {
            let at = &mut filled[from as usize];
            neighbours[*at as usize] = to;
            *at += 1;
        }
        Self { begins, neighbours }
    }

    /// The neighbours of a vertex.
    pub(super) fn at(&self, vertex: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let range = self.begins[vertex] as usize..self.begins[vertex + 1] as usize;
        self.neighbours[range].iter().map(|&to| to as usize)
    }

    /// The vertices, each after all that it leads to.
    ///
    /// # Errors
    /// A cycle.
    pub(super) fn last_first(&self) -> Result<Vec<u32>, Vec<usize>> {
        let vertices = self.begins.len() - 1;
        let mut order = Vec::with_capacity(vertices);
        let leads_to = |vertex, to: &mut Vec<usize>| to.extend(self.at(vertex));
        walk(vertices, 0..vertices, leads_to, |vertex| {
            order.push(vertex as u32);
        })?;
        Ok(order)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Walks a graph depth first from some vertices on; `leads_to` lists what a vertex
/// leads to, and `done` is told of each vertex after all that it leads to.
///
/// # Errors
/// A cycle.
pub(super) fn walk(
    vertices: usize,
    roots: impl IntoIterator<Item = usize>,
    leads_to: impl Fn(usize, &mut Vec<usize>),
    mut done: impl FnMut(usize),
) -> Result<(), Vec<usize>> {
    let mut visits = vec![Visit::New; vertices];
    // The vertices on the way, each with where its own part of what is left to
    // visit begins.
    let mut way: Vec<(usize, usize)> = Vec::new();
    let mut left: Vec<usize> = Vec::new();
    for root in roots {
        left.push(root);
        loop {
            if let Some(&(vertex, begin)) = way.last()
                && begin == left.len()
            {
                visits[vertex] = Visit::Done;
                done(vertex);
                way.pop();
                continue;
            }
            let Some(next) = left.pop() else {
                break;
            };
            match visits[next] {
                Visit::Done => {}
                Visit::Open => {
                    let begin = way.iter().position(|&(vertex, _)| vertex == next);
                    let cycle = &way[begin.unwrap_or(0)..];
                    return Err(cycle.iter().map(|&(vertex, _)| vertex).collect());
                }
                Visit::New => {
                    visits[next] = Visit::Open;
                    way.push((next, left.len()));
                    leads_to(next, &mut left);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(vertices: usize, edges: &[(usize, usize)]) -> EdgeList {
        let mut list = EdgeList::new(vertices);
        for &(from, to) in edges {
            list.add(from, to);
        }
        list
    }

    #[test]
    fn what_a_vertex_leads_to_comes_before_it() {
        let edges = [(0, 3), (3, 1), (2, 0), (2, 1)];
        let order = graph(5, &edges).forward().last_first().expect("no cycle");
        let at = |vertex: usize| order.iter().position(|&v| v as usize == vertex);
        assert!(edges.iter().all(|&(from, to)| at(from) > at(to)));
        assert_eq!(order.len(), 5);
    }

    #[test]
    fn a_cycle_is_found_and_shown_in_its_order() {
        let list = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (0, 4)]);
        let mut cycle = list.forward().last_first().expect_err("a cycle");
        let first = cycle.iter().position(|&vertex| vertex == 1);
        cycle.rotate_left(first.expect("on the cycle"));
        assert_eq!(cycle, [1, 2, 3]);
        assert_eq!(graph(2, &[(1, 1)]).forward().last_first(), Err(vec![1]));
    }

    #[test]
    fn a_vertex_after_both_leads_on_from_both() {
        let mut list = EdgeList::new(3);
        assert_eq!(list.after_both(None, None), None);
        assert_eq!(list.after_both(Some(1), None), Some(1));
        let both = list.after_both(Some(0), Some(1));
        list.add_some(both, Some(2));
        list.add_some(None, Some(0));
        assert_eq!(both, Some(3));
        let (forward, backward) = (list.forward(), list.backward());
        assert_eq!(forward.at(3).collect::<Vec<_>>(), [2]);
        assert_eq!(backward.at(3).collect::<Vec<_>>(), [0, 1]);
    }
}
