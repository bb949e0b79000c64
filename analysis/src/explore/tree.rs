//! The tree of schedules: what has been run, what is to be run, and what need not be.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use super::race::{Causality, Later};
use super::step::{Access, Actor, ORDERED, Run, Step, dependent};
use crate::event::SiteId;

/// A schedule that is to be run, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafId(usize);

/// What is to be run: the actors of the first steps in their order, and who must not
/// go on after them before somebody else has taken a step that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Names the result.
    pub leaf: LeafId,
    /// The first steps.
    pub prefix: Vec<Actor>,
    /// Who sleeps.
    pub asleep: Vec<Actor>,
}

/// A run did not begin as it was asked to, although an earlier one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The number of the first step that is another one.
    pub step: usize,
    /// Who was to take it.
    pub actor: Actor,
    /// Where in the program it was.
    pub site: SiteId,
}

/// How far the exploration is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Classes of runs that were run.
    pub classes: u64,
    /// Runs that turned out to belong to a class that another run stands for.
    pub redundant: u64,
    /// Schedules that are known and not run.
    pub open: u64,
    /// Schedules that could not be followed and may have stood for others.
    pub gaps: u64,
    /// How much of the tree is done, as far as one can tell from what is known of it
    /// (Knuth's estimate: every branch of a node is taken to be as large as the others).
    pub fraction: f64,
}

/// A node of a tree that was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedNode {
    /// The number of the parent in the list; its own for the root, which is the first.
    pub parent: usize,
    /// Who takes the step.
    pub actor: Actor,
    /// What it accesses, as far as that is known.
    pub accesses: Vec<Access>,
    /// Everything that begins like this belongs to it.
    pub full: bool,
    /// It is to be run.
    pub open: bool,
    /// Something else is taken to be explored because it is.
    pub trusted: bool,
}

/// What has been counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Classes of runs that were run.
    pub classes: u64,
    /// Runs that belonged to a class that another run stands for.
    pub redundant: u64,
    /// Schedules that could not be followed and may have stood for others.
    pub gaps: u64,
}

/// The site of a step of a tree that was written down: another process gives other
/// numbers to sites, and the next run says which it is.
const FORGOTTEN: SiteId = SiteId(u32::MAX);

impl Assignment {
    /// A schedule that was run before, to be run again; it is nobody's assignment.
    pub fn again(prefix: Vec<Actor>, asleep: Vec<Actor>) -> Self {
        Self {
            leaf: LeafId(usize::MAX),
            prefix,
            asleep,
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    parent: usize,
    actor: Actor,
    site: SiteId,
    accesses: SmallVec<[Access; 2]>,
    children: Vec<usize>,
    /// Whatever begins like this is explored below, without more being asked for.
    full: bool,
    /// Schedules to be run at or below the node.
    open: u64,
    /// Something was not asked for because it begins with this, which nobody has run.
    trusted: bool,
}

/// See the module. Every assignment must be handed back by [`Explorer::finish`] or
/// [`Explorer::give_back`].
#[derive(Clone, Debug)]
pub struct Explorer {
    nodes: Vec<Node>,
    free: Vec<usize>,
    /// Leaves to be run; the next one last.
    leaves: Vec<usize>,
    classes: u64,
    redundant: u64,
    gaps: u64,
}

impl Default for Explorer {
    fn default() -> Self {
        let root = Node {
            parent: 0,
            actor: Actor { thread: 0 },
            site: SiteId(0),
            accesses: SmallVec::new(),
            children: Vec::new(),
            full: true,
            open: 1,
            trusted: false,
        };
        Self {
            nodes: vec![root],
            free: Vec::new(),
            leaves: vec![0],
            classes: 0,
            redundant: 0,
            gaps: 0,
        }
    }
}

impl Explorer {
    /// What to run next; nothing if all is done or under way.
    pub fn assign(&mut self) -> Option<Assignment> {
        let leaf = self.leaves.pop()?;
        let path = self.path(leaf);
        let prefix: Vec<Actor> = path[1..].iter().map(|&n| self.nodes[n].actor).collect();
        let mut asleep: Vec<usize> = Vec::new();
        for pair in path.windows(2) {
            asleep.extend(self.earlier_siblings(pair[0], pair[1]));
            for &sleeper in &asleep {
                self.nodes[sleeper].trusted = true;
            }
            let step = &self.nodes[pair[1]];
            asleep.retain(|&n| self.sleeps_on(n, step.actor, &step.accesses));
        }
        Some(Assignment {
            leaf: LeafId(leaf),
            prefix,
            asleep: asleep.iter().map(|&n| self.nodes[n].actor).collect(),
        })
    }

    /// The run was not made after all.
    pub fn give_back(&mut self, leaf: LeafId) {
        self.leaves.push(leaf.0);
    }

    /// Takes what came of an assignment. True if the run stands for a class of its own.
    pub fn finish(&mut self, leaf: LeafId, run: &Run) -> Result<bool, Diverged> {
        let mut path = self.path(leaf.0);
        let depth = path.len() - 1;
        for (number, &node) in path[1..].iter().enumerate() {
            let Node {
                actor,
                site,
                ref accesses,
                ..
            } = self.nodes[node];
            let as_before = |step: &Step| {
                step.actor == actor
                    && (step.site == site || site == FORGOTTEN)
                    && first_object(&step.accesses) == first_object(accesses)
            };
            if !run.steps.get(number).is_some_and(as_before) {
                self.give_back(leaf);
                return Err(Diverged {
                    step: number,
                    actor,
                    site,
                });
            }
        }
        for (number, &node) in path[1..].iter().enumerate() {
            self.nodes[node].accesses = run.steps[number].accesses.clone();
            self.nodes[node].site = run.steps[number].site;
        }
        for step in &run.steps[depth..] {
            let parent = path[path.len() - 1];
            path.push(self.add(parent, step, true));
        }
        let (sleeping, end) = self.sleep_sets(&path, run);
        let new = end == run.steps.len();
        self.classes += u64::from(new);
        self.redundant += u64::from(!new);
        self.reverse(run, &path, &sleeping, end);
        self.close(&path, depth);
        Ok(new)
    }

    /// The last step of an assignment could not be taken: its thread had to wait.
    pub fn discard(&mut self, leaf: LeafId) {
        self.leaves.retain(|&open| open != leaf.0);
        self.redundant += 1;
        self.gaps += u64::from(self.nodes[leaf.0].trusted);
        let path = self.path(leaf.0);
        for &node in &path {
            self.nodes[node].open -= 1;
        }
        if let [.., parent, leaf] = path[..] {
            self.nodes[parent].children.retain(|&child| child != leaf);
            self.free.push(leaf);
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            classes: self.classes,
            redundant: self.redundant,
            open: self.nodes[0].open,
            gaps: self.gaps,
            fraction: self.fraction(),
        }
    }

    /// What has been counted.
    pub fn totals(&self) -> Totals {
        Totals {
            classes: self.classes,
            redundant: self.redundant,
            gaps: self.gaps,
        }
    }

    /// Everything that is needed to go on later; assignments that are under way are
    /// open again.
    pub fn save(&self) -> Vec<SavedNode> {
        let mut saved: Vec<SavedNode> = Vec::new();
        let mut stack = vec![(0, 0)];
        while let Some((node, parent)) = stack.pop() {
            let number = saved.len();
            let Node {
                actor,
                accesses,
                children,
                full,
                open,
                trusted,
                ..
            } = &self.nodes[node];
            let below: u64 = children.iter().map(|&c| self.nodes[c].open).sum();
            saved.push(SavedNode {
                parent,
                actor: *actor,
                accesses: accesses.to_vec(),
                full: *full,
                open: *open > below,
                trusted: *trusted,
            });
            // The order of siblings is what sleep sets are made of.
            stack.extend(children.iter().rev().map(|&child| (child, number)));
        }
        saved
    }

    /// Goes on with what was saved; nothing if that is not a tree.
    pub fn restore(saved: &[SavedNode], totals: Totals) -> Option<Self> {
        let mut explorer = Self {
            nodes: Vec::with_capacity(saved.len()),
            free: Vec::new(),
            leaves: Vec::new(),
            classes: totals.classes,
            redundant: totals.redundant,
            gaps: totals.gaps,
        };
        for (number, node) in saved.iter().enumerate() {
            if node.parent > number || (node.parent == number) != (number == 0) {
                return None;
            }
            explorer.nodes.push(Node {
                parent: node.parent,
                actor: node.actor,
                site: FORGOTTEN,
                accesses: node.accesses.iter().copied().collect(),
                children: Vec::new(),
                full: node.full,
                open: 0,
                trusted: node.trusted,
            });
            if number > 0 {
                explorer.nodes[node.parent].children.push(number);
            }
            if node.open {
                explorer.leaves.push(number);
                explorer.count_open(number);
            }
        }
        (!saved.is_empty()).then_some(explorer)
    }

    fn path(&self, leaf: usize) -> Vec<usize> {
        let mut path = vec![leaf];
        let mut at = leaf;
        while at != 0 {
            at = self.nodes[at].parent;
            path.push(at);
        }
        path.reverse();
        path
    }

    fn add(&mut self, parent: usize, step: &Step, full: bool) -> usize {
        let node = Node {
            parent,
            actor: step.actor,
            site: step.site,
            accesses: step.accesses.clone(),
            children: Vec::new(),
            full,
            open: 0,
            trusted: false,
        };
        let number = match self.free.pop() {
            Some(number) => {
                self.nodes[number] = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.nodes[parent].children.push(number);
        number
    }

    fn earlier_siblings(&self, parent: usize, child: usize) -> impl Iterator<Item = usize> {
        let siblings = self.nodes[parent].children.iter().copied();
        siblings.take_while(move |&sibling| sibling != child)
    }

    /// Whether a sleeping node goes on sleeping after a step.
    fn sleeps_on(&self, sleeper: usize, actor: Actor, accesses: &[Access]) -> bool {
        let node = &self.nodes[sleeper];
        node.actor.thread != actor.thread && !dependent(&node.accesses, accesses)
    }

    /// The nodes that sleep before each step, and the number of the first step that
    /// was taken by one of them (or of all steps).
    fn sleep_sets(&self, path: &[usize], run: &Run) -> (Vec<Vec<usize>>, usize) {
        let mut sets = Vec::with_capacity(run.steps.len());
        let mut asleep: Vec<usize> = Vec::new();
        for (number, step) in run.steps.iter().enumerate() {
            asleep.extend(self.earlier_siblings(path[number], path[number + 1]));
            if asleep.iter().any(|&n| self.nodes[n].actor == step.actor) {
                return (sets, number);
            }
            sets.push(asleep.clone());
            asleep.retain(|&n| self.sleeps_on(n, step.actor, &step.accesses));
        }
        (sets, run.steps.len())
    }

    /// Asks for every run in which two steps of this one change places.
    fn reverse(&mut self, run: &Run, path: &[usize], sleeping: &[Vec<usize>], end: usize) {
        let causality = Causality::new(run);
        for race in causality.races(run, end) {
            let mut sequence = independent_after(run, &causality, race.earlier);
            let mut last = match race.later {
                Later::Taken(number) => run.steps[number].clone(),
                Later::Blocked(number) => run.blocked[number].clone(),
            };
            if let Some(before) = &last.writes_before {
                last.set_writes(before.contains(&race.earlier));
            }
            sequence.push(last);
            self.insert(path, race.earlier, &sleeping[race.earlier], sequence);
        }
    }

    /// Asks for a sequence of steps from a node of the path on, unless what begins with
    /// it is explored elsewhere.
    fn insert(&mut self, path: &[usize], at: usize, asleep: &[usize], mut sequence: Vec<Step>) {
        let covers = |&&node: &&usize| self.weak_initial(node, &sequence).is_some();
        if let Some(&node) = asleep.iter().find(covers) {
            self.nodes[node].trusted = true;
            return;
        }
        let mut node = path[at];
        let mut skip = self.nodes[node]
            .children
            .iter()
            .position(|&child| child == path[at + 1])
            .map_or(0, |position| position + 1);
        loop {
            let next = self.nodes[node].children[skip..]
                .iter()
                .find_map(|&child| Some((child, self.weak_initial(child, &sequence)?)));
            let Some((child, position)) = next else {
                break;
            };
            if self.nodes[child].full {
                self.nodes[child].trusted = true;
                return;
            }
            if let Some(position) = position {
                sequence.remove(position);
            }
            if sequence.is_empty() {
                return;
            }
            node = child;
            skip = 0;
        }
        let count = sequence.len();
        for (number, step) in sequence.iter().enumerate() {
            node = self.add(node, step, number + 1 == count);
        }
        self.leaves.push(node);
        self.count_open(node);
    }

    fn count_open(&mut self, leaf: usize) {
        let mut at = leaf;
        loop {
            self.nodes[at].open += 1;
            if at == 0 {
                return;
            }
            at = self.nodes[at].parent;
        }
    }

    /// Whether a sequence could as well begin with the step of a node; then also where
    /// in the sequence that step is, if it is there.
    fn weak_initial(&self, node: usize, sequence: &[Step]) -> Option<Option<usize>> {
        let Node {
            actor, accesses, ..
        } = &self.nodes[node];
        let own = sequence
            .iter()
            .position(|step| step.actor.thread == actor.thread);
        let (before, accesses) = match own {
            Some(own) => (&sequence[..own], &sequence[own].accesses),
            None => (sequence, accesses),
        };
        let free = before
            .iter()
            .all(|step| !dependent(&step.accesses, accesses));
        free.then_some(own)
    }

    /// The leaf at this depth of the path has been run: forgets what is complete.
    fn close(&mut self, path: &[usize], depth: usize) {
        for &node in &path[..=depth] {
            self.nodes[node].open -= 1;
        }
        for &node in path.iter().rev() {
            if self.nodes[node].open == 0 && self.nodes[node].full {
                self.forget_below(node);
            }
        }
    }

    fn forget_below(&mut self, node: usize) {
        let mut stack = core::mem::take(&mut self.nodes[node].children);
        while let Some(node) = stack.pop() {
            stack.append(&mut self.nodes[node].children);
            self.free.push(node);
        }
    }

    fn fraction(&self) -> f64 {
        let mut done = 0.0;
        let mut stack = vec![(0, 1.0)];
        while let Some((node, weight)) = stack.pop() {
            let Node { children, open, .. } = &self.nodes[node];
            if *open == 0 {
                done += weight;
            } else if !children.is_empty() {
                let share = weight / children.len() as f64;
                stack.extend(children.iter().map(|&child| (child, share)));
            }
        }
        done
    }
}

/// The steps after this one that do not rest on it.
fn independent_after(run: &Run, causality: &Causality, number: usize) -> Vec<Step> {
    let later = number + 1..run.steps.len();
    later
        .filter(|&later| !causality.rests_on(later, number))
        .map(|later| run.steps[later].clone())
        .collect()
}

/// What a step is about, which is the same whenever it is taken.
fn first_object(accesses: &[Access]) -> Option<u64> {
    let objects = accesses.iter().map(|access| access.object);
    objects.into_iter().find(|&object| object < ORDERED)
}
