//! Execution graphs. A node has a number that depends only on its thread and
//! its place there, so that two runs that make the same graph make equal ones.

use wmfix_analysis::{CasOutcome, Operation};

use super::relation::{MAX_NODES, Relation};
use crate::litmus::Program;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An atomic read.
    Read,
    /// An atomic write; also the first value of a location.
    Write,
    /// A read-modify-write.
    Update,
    /// A fence.
    Fence,
    /// An end of a create, join or mutex edge.
    Edge,
    /// A plain read.
    PlainRead,
    /// A plain write.
    PlainWrite,
}

/// A node without its place in the graph.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it accesses memory.
    pub location: Option<u8>,
    /// It acquires (or, a fence, lets earlier reads acquire).
    pub acquires: bool,
    /// It releases (or, a fence, lets later writes release).
    pub releases: bool,
    /// It has an SC order.
    pub sc: bool,
    /// The value it writes, if it does.
    pub written: u64,
}

/// How an SC fence is put into a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceEncoding {
    /// A node of its own.
    Native,
    /// An acquire fence, an acquire-release RMW on a location that all SC
    /// fences share, a release fence.
    SharedLocation,
}

/// An execution graph of (a prefix of) a program.
#[derive(Clone)]
pub struct Graph {
    encoding: FenceEncoding,
    /// Nodes by number; those of `present` are there.
    nodes: [Node; MAX_NODES],
    present: u64,
    /// The first number of each thread, and then the end of all.
    bases: Vec<usize>,
    /// How many nodes each thread has.
    lengths: Vec<usize>,
    /// For each reading node, the write it reads.
    sources: [u8; MAX_NODES],
    /// The writes to each location, oldest first.
    orders: Vec<Vec<u8>>,
    /// Edges of creates, joins and mutexes.
    edges: Vec<(u8, u8)>,
    /// For each thread, the node that will be before its next one by an edge.
    pending: Vec<Option<u8>>,
    /// For each mutex, the unlocks so far.
    unlocks: Vec<Vec<u8>>,
}

/// Stands for "reads nothing" in `sources`.
const NOTHING: u8 = u8::MAX;

impl Graph {
    /// Whether the graphs of a program can be represented, with any encoding.
    pub fn fits(program: &Program) -> bool {
        let bases = Self::bases(program, FenceEncoding::SharedLocation);
        bases[program.threads.len()] <= MAX_NODES
    }

    /// The first number of each thread, and the end of all. First come the first
    /// values of the locations, the one that SC fences share being the last.
    fn bases(program: &Program, encoding: FenceEncoding) -> Vec<usize> {
        let mut next = program.locations.len() + 1;
        let mut bases = vec![next];
        for thread in &program.threads {
            let nodes = thread.iter().map(|i| match encoding {
                FenceEncoding::SharedLocation if i.is_sc_fence() => 3,
                _ => usize::from(!i.is_skip()),
            });
            // The start and the end of a thread are nodes when an edge is there.
            next += nodes.sum::<usize>() + 2;
            bases.push(next);
        }
        bases
    }

    /// The graph of the start: the first values of all locations.
    pub fn new(program: &Program, encoding: FenceEncoding) -> Self {
        let bases = Self::bases(program, encoding);
        let end = bases[program.threads.len()];
        assert!(end <= MAX_NODES, "too large for a graph: {program}");
        let locations = bases[0];
        let first = |location: usize| Node {
            kind: Kind::Write,
            location: Some(location as u8),
            acquires: false,
            releases: false,
            sc: false,
            written: 0,
        };
        let mut nodes = [first(0); MAX_NODES];
        for (location, node) in nodes.iter_mut().enumerate().take(locations) {
            *node = first(location);
        }
        Self {
            encoding,
            nodes,
            present: (1 << locations) - 1,
            bases,
            lengths: vec![0; program.threads.len()],
            sources: [NOTHING; MAX_NODES],
            orders: (0..locations).map(|l| vec![l as u8]).collect(),
            edges: Vec::new(),
            pending: vec![None; program.threads.len()],
            unlocks: vec![Vec::new(); program.mutexes.len()],
        }
    }

    /// Adds what a thread did in an SC run: a read reads the newest write, a
    /// write is the newest.
    pub fn push_sequential(&mut self, thread: usize, operation: &Operation) {
        match *operation {
            Operation::Fence { order }
                if order.is_sc() && self.encoding == FenceEncoding::SharedLocation =>
            {
                // The outer fences stay SC, which counts where psc does.
                self.push(thread, fence(true, false, true));
                let shared = (self.orders.len() - 1) as u8;
                self.push_newest(thread, access(Kind::Update, shared, true, true, false, 0));
                self.push(thread, fence(false, true, true));
            }
            Operation::Fence { order } => {
                self.push(
                    thread,
                    fence(order.acquires(), order.releases(), order.is_sc()),
                );
            }
            Operation::Create { child } => {
                let node = self.push(thread, edge());
                self.pending[child.0 as usize - 1] = Some(node);
            }
            Operation::Join { child } => {
                let child = child.0 as usize - 1;
                let last = self.push(child, edge());
                let node = self.push(thread, edge());
                self.edges.push((last, node));
            }
            Operation::Acquire { lock, .. } => {
                let node = self.push(thread, edge());
                let unlocks = self.unlocks[lock.0 as usize].clone();
                self.edges.extend(unlocks.into_iter().map(|u| (u, node)));
            }
            Operation::Release { lock, .. } => {
                let node = self.push(thread, edge());
                self.unlocks[lock.0 as usize].push(node);
            }
            Operation::Read { bytes } => {
                self.push(thread, plain(Kind::PlainRead, bytes.address));
            }
            Operation::Write { bytes } => {
                // Where it is not a race, what comes later sees this write.
                let node = plain(Kind::PlainWrite, bytes.address);
                self.push_newest(thread, node);
            }
            _ => {
                let node = node_of(operation).expect("an atomic access");
                self.push_newest(thread, node);
            }
        }
    }

    /// Adds an access that reads, and if it writes follows directly, the
    /// `position`-th write to its location.
    pub fn push_at(&mut self, thread: usize, node: Node, position: usize) {
        let number = self.push(thread, node);
        let order = &mut self.orders[usize::from(node.location.expect("an access"))];
        if matches!(node.kind, Kind::Read | Kind::Update) {
            self.sources[usize::from(number)] = order[position];
        }
        if node.kind != Kind::Read {
            order.insert(position + 1, number);
        }
    }

    /// Adds an atomic access that takes the `position`-th write to its location.
    pub fn push_operation_at(&mut self, thread: usize, operation: &Operation, position: usize) {
        let node = node_of(operation).expect("an atomic access");
        self.push_at(thread, node, position);
    }

    /// The values written to a location, oldest first.
    pub fn values(&self, location: u8) -> impl Iterator<Item = u64> {
        self.orders[usize::from(location)]
            .iter()
            .map(|&write| self.nodes[usize::from(write)].written)
    }

    /// Two graphs of one program are equal if their keys are.
    pub fn key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(MAX_NODES);
        for (thread, &length) in self.lengths.iter().enumerate() {
            for number in self.bases[thread]..self.bases[thread] + length {
                // A compare-exchange can read the same write and yet fail.
                key.push(self.nodes[number].kind as u8);
                key.push(self.sources[number]);
            }
            key.push(NOTHING);
        }
        for order in self.orders.iter().chain(&self.unlocks) {
            key.extend(order);
            key.push(NOTHING);
        }
        key
    }

    /// How many numbers are in use for nodes, present or not.
    pub fn size(&self) -> usize {
        *self.bases.last().expect("there is an end")
    }

    /// The nodes that are there and satisfy a condition.
    pub fn select(&self, condition: impl Fn(&Node) -> bool) -> u64 {
        super::relation::bits(self.present)
            .filter(|&n| condition(&self.nodes[n]))
            .fold(0, |mask, n| mask | 1 << n)
    }

    /// A node.
    pub fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    /// The thread of a node; none for first values.
    pub fn thread_of(&self, number: usize) -> Option<usize> {
        (0..self.lengths.len()).find(|&t| (self.bases[t]..self.bases[t + 1]).contains(&number))
    }

    /// Program order; first values come before everything.
    pub fn po(&self) -> Relation {
        let mut po = Relation::empty(self.size());
        let initial = self.orders.len();
        for node in 0..initial {
            po.add(node, self.present & !((1 << initial) - 1));
        }
        for (&base, &length) in self.bases.iter().zip(&self.lengths) {
            for place in 0..length {
                po.add(base + place, span(base + place + 1, base + length));
            }
        }
        po
    }

    /// Reads-from.
    pub fn rf(&self) -> Relation {
        let mut rf = Relation::empty(self.size());
        for (reader, &source) in self.sources[..self.size()].iter().enumerate() {
            if source != NOTHING {
                rf.add(usize::from(source), 1 << reader);
            }
        }
        rf
    }

    /// Modification order.
    pub fn mo(&self) -> Relation {
        let mut mo = Relation::empty(self.size());
        for order in &self.orders {
            let mut later = 0;
            for &write in order.iter().rev() {
                mo.add(usize::from(write), later);
                later |= 1 << write;
            }
        }
        mo
    }

    /// From a write to those that follow it in modification order, as long as they are
    /// RMWs or made by its own thread.
    pub fn contiguous(&self) -> Relation {
        let mut contiguous = Relation::empty(self.size());
        for order in &self.orders {
            for (place, &head) in order.iter().enumerate() {
                let head = usize::from(head);
                let continues = |write: &usize| {
                    self.nodes[*write].kind == Kind::Update
                        || self.thread_of(*write) == self.thread_of(head)
                };
                let later = order[place + 1..].iter().map(|&write| usize::from(write));
                for write in later.take_while(continues) {
                    contiguous.add(head, 1 << write);
                }
            }
        }
        contiguous
    }

    /// From a read to the writes that are newer than the one it read.
    pub fn fr(&self, mo: &Relation) -> Relation {
        let mut fr = Relation::empty(self.size());
        for (reader, &source) in self.sources[..self.size()].iter().enumerate() {
            if source != NOTHING {
                fr.add(reader, mo.row(usize::from(source)) & !(1 << reader));
            }
        }
        fr
    }

    /// Create, join and mutex edges.
    pub fn edges(&self) -> Relation {
        let mut edges = Relation::empty(self.size());
        for &(from, to) in &self.edges {
            edges.add(usize::from(from), 1 << to);
        }
        edges
    }

    /// Pairs of accesses to one location, each with itself too.
    pub fn same_location(&self) -> Relation {
        let mut same = Relation::empty(self.size());
        for location in 0..self.orders.len() {
            let here = self.select(|n| n.location == Some(location as u8));
            for node in super::relation::bits(here) {
                same.add(node, here);
            }
        }
        same
    }

    /// Whether every RMW follows directly the write it reads.
    pub fn is_atomic(&self) -> bool {
        self.orders.iter().all(|order| {
            order.iter().enumerate().all(|(place, &write)| {
                let number = usize::from(write);
                self.nodes[number].kind != Kind::Update
                    || place > 0 && order[place - 1] == self.sources[number]
            })
        })
    }

    fn push_newest(&mut self, thread: usize, node: Node) {
        let location = usize::from(node.location.expect("an access"));
        self.push_at(thread, node, self.orders[location].len() - 1);
    }

    fn push(&mut self, thread: usize, node: Node) -> u8 {
        if let Some(before) = self.pending[thread].take() {
            let start = self.push(thread, edge());
            self.edges.push((before, start));
        }
        let number = self.bases[thread] + self.lengths[thread];
        assert!(number < self.bases[thread + 1], "room for the node");
        self.nodes[number] = node;
        self.present |= 1 << number;
        self.lengths[thread] += 1;
        number as u8
    }
}

/// The node of an atomic access.
pub(super) fn node_of(operation: &Operation) -> Option<Node> {
    Some(match *operation {
        Operation::Load {
            location, order, ..
        } => access(
            Kind::Read,
            location.0 as u8,
            order.acquires(),
            false,
            order.is_sc(),
            0,
        ),
        Operation::Store {
            location,
            order,
            value,
        } => access(
            Kind::Write,
            location.0 as u8,
            false,
            order.releases(),
            order.is_sc(),
            value,
        ),
        Operation::Rmw {
            location,
            order,
            written,
            ..
        } => access(
            Kind::Update,
            location.0 as u8,
            order.acquires(),
            order.releases(),
            order.is_sc(),
            written,
        ),
        Operation::CompareExchange {
            location,
            success,
            outcome: CasOutcome::Exchanged(written),
            ..
        } => access(
            Kind::Update,
            location.0 as u8,
            success.acquires(),
            success.releases(),
            success.is_sc(),
            written,
        ),
        Operation::CompareExchange {
            location, failure, ..
        } => access(
            Kind::Read,
            location.0 as u8,
            failure.acquires(),
            false,
            failure.is_sc(),
            0,
        ),
        _ => return None,
    })
}

fn access(
    kind: Kind,
    location: u8,
    acquires: bool,
    releases: bool,
    sc: bool,
    written: u64,
) -> Node {
    Node {
        kind,
        location: Some(location),
        acquires,
        releases,
        sc,
        written,
    }
}

fn plain(kind: Kind, address: u64) -> Node {
    let location = ((address - 0x1000) / 16) as u8;
    access(kind, location, false, false, false, 0)
}

fn fence(acquires: bool, releases: bool, sc: bool) -> Node {
    Node {
        kind: Kind::Fence,
        location: None,
        acquires,
        releases,
        sc,
        written: 0,
    }
}

fn edge() -> Node {
    Node {
        kind: Kind::Edge,
        ..fence(false, false, false)
    }
}

/// The bits from `from` up to, not including, `to`.
fn span(from: usize, to: usize) -> u64 {
    let below = |n: usize| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}
