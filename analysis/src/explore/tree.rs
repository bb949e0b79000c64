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
    /// It is part of a [`Frontier`](super::Frontier).
    pub top: bool,
}

/// What has been counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Classes of runs that were run.
    pub classes: u64,
    /// Runs that belonged to a class that another run stands for.
    pub redundant: u64,
    /// Schedules that could not be followed and may have stood for others.
    pub gaps: u64,
    /// How much of the tree others explore, as [`Progress::fraction`] measures it.
    pub elsewhere: f64,
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

/// Nodes whose threads sleep.
#[derive(Clone, Debug, Default)]
pub(super) struct Asleep {
    /// Somewhere on the way.
    pub(super) ever: Vec<usize>,
    /// At its end.
    pub(super) still: Vec<usize>,
}

/// Who sleeps in a run.
#[derive(Clone, Debug)]
pub(super) struct SleepSets {
    /// The nodes that sleep before each step, up to the one at `end`.
    before: Vec<Vec<usize>>,
    /// The number of the first step that was taken by one of them, or of all steps.
    pub(super) end: usize,
    /// That one is at the top of a tree that is explored in parts.
    by_top: bool,
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
    /// It is part of a [`Frontier`](super::Frontier).
    top: bool,
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
    /// How much of the tree others explore, as [`Progress::fraction`] measures it.
    elsewhere: f64,
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
            top: false,
        };
        Self {
            nodes: vec![root],
            free: Vec::new(),
            leaves: vec![0],
            classes: 0,
            redundant: 0,
            gaps: 0,
            elsewhere: 0.0,
        }
    }
}

impl Explorer {
    /// What to run next; nothing if all is done or under way.
    pub fn assign(&mut self) -> Option<Assignment> {
        let leaf = self.leaves.pop()?;
        let path = self.path(leaf);
        let asleep = self.asleep_after(&path);
        for sleeper in asleep.ever {
            self.nodes[sleeper].trusted = true;
        }
        Some(Assignment {
            leaf: LeafId(leaf),
            prefix: self.actors(&path[1..]),
            asleep: self.actors(&asleep.still),
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
        let mut asleep = self.sleep_sets(&path, run);
        let new = asleep.end == run.steps.len();
        self.classes += u64::from(new);
        self.redundant += u64::from(!new);
        if !asleep.by_top {
            self.reverse(run, &path, &asleep);
        } else if let Some(step) = self.awake_at(run, &asleep) {
            self.put_off(&path, depth, asleep.end, Some(&step));
            return Ok(false);
        } else if run.steps[depth..asleep.end]
            .iter()
            .any(|step| !step.repeats)
        {
            self.put_off(&path, depth, asleep.end, None);
            return Ok(false);
        } else {
            // Nobody else could go on, but for loops that wait.
            asleep.end = depth;
            self.reverse(&run.cut_at(depth), &path, &asleep);
        }
        self.close(&path, depth);
        Ok(new)
    }

    /// A step that could have been taken instead of the first one of a sleeper.
    fn awake_at(&self, run: &Run, asleep: &SleepSets) -> Option<Step> {
        let sleepers = self.actors(&asleep.before[asleep.end]);
        let mut others = run.instead_of(asleep.end).into_iter();
        others.find(|step| !step.repeats && !sleepers.contains(&step.actor))
    }

    /// A thread took a step that was to sleep on. Has the run made again up to there, and
    /// on with a step of somebody who is awake; without one, whoever makes it looks for
    /// that.
    fn put_off(&mut self, path: &[usize], depth: usize, end: usize, step: Option<&Step>) {
        self.forget_below(path[end]);
        let mut leaf = path[end];
        if let Some(step) = step {
            leaf = self.add(leaf, step, true);
            self.nodes[leaf].open = 1;
            // What follows is explored nowhere else.
            self.nodes[leaf].trusted = true;
        }
        for &node in &path[depth + 1..=end] {
            self.nodes[node].open = 1;
        }
        self.leaves.push(leaf);
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
            elsewhere: self.elsewhere,
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
                top,
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
                top: *top,
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
            elsewhere: totals.elsewhere,
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
                top: node.top,
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

    /// The same tree with these of its leaves to be run, the first one first; the others
    /// are run elsewhere.
    pub(super) fn with_open(&self, leaves: &[usize]) -> Self {
        let mut tree = self.clone();
        tree.leaves = leaves.iter().rev().copied().collect();
        for node in &mut tree.nodes {
            node.open = 0;
            node.top = true;
        }
        for &leaf in leaves {
            tree.count_open(leaf);
        }
        tree.elsewhere = tree.done();
        tree
    }

    /// The leaves of the tree, in its order.
    pub(super) fn all_leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            let children = &self.nodes[node].children;
            stack.extend(children.iter().rev());
            if children.is_empty() {
                leaves.push(node);
            }
        }
        leaves
    }

    pub(super) fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    pub(super) fn actors(&self, nodes: &[usize]) -> Vec<Actor> {
        nodes.iter().map(|&node| self.nodes[node].actor).collect()
    }

    /// Who sleeps on the way to the end of a path, and who still does there.
    pub(super) fn asleep_after(&self, path: &[usize]) -> Asleep {
        let mut asleep = Asleep::default();
        for pair in path.windows(2) {
            let earlier: Vec<usize> = self.earlier_siblings(pair[0], pair[1]).collect();
            asleep.ever.extend(&earlier);
            asleep.still.extend(earlier);
            let step = &self.nodes[pair[1]];
            let sleeps_on = |&n: &usize| self.sleeps_on(n, step.actor, &step.accesses);
            asleep.still.retain(sleeps_on);
        }
        asleep
    }

    pub(super) fn path(&self, leaf: usize) -> Vec<usize> {
        let mut path = vec![leaf];
        let mut at = leaf;
        while at != 0 {
            at = self.nodes[at].parent;
            path.push(at);
        }
        path.reverse();
        path
    }

    pub(super) fn add(&mut self, parent: usize, step: &Step, full: bool) -> usize {
        let node = Node {
            parent,
            actor: step.actor,
            site: step.site,
            accesses: step.accesses.clone(),
            children: Vec::new(),
            full,
            open: 0,
            trusted: false,
            top: false,
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
    pub(super) fn sleeps_on(&self, sleeper: usize, actor: Actor, accesses: &[Access]) -> bool {
        let node = &self.nodes[sleeper];
        node.actor.thread != actor.thread && !dependent(&node.accesses, accesses)
    }

    /// Who sleeps in a run. The path may end before the run.
    pub(super) fn sleep_sets(&self, path: &[usize], run: &Run) -> SleepSets {
        let mut before = Vec::with_capacity(run.steps.len());
        let mut asleep: Vec<usize> = Vec::new();
        let mut by_top = false;
        let mut end = 0;
        for (number, step) in run.steps.iter().enumerate() {
            if let [node, child, ..] = path[number.min(path.len())..] {
                asleep.extend(self.earlier_siblings(node, child));
            }
            before.push(asleep.clone());
            let mut taken = asleep.iter().map(|&n| &self.nodes[n]);
            if let Some(sleeper) = taken.find(|node| node.actor == step.actor) {
                by_top = sleeper.top;
                break;
            }
            asleep.retain(|&n| self.sleeps_on(n, step.actor, &step.accesses));
            end = number + 1;
        }
        SleepSets {
            before,
            end,
            by_top,
        }
    }

    /// Asks for every run in which two steps of this one change places.
    fn reverse(&mut self, run: &Run, path: &[usize], asleep: &SleepSets) {
        let causality = Causality::new(run);
        for race in causality.races(run, asleep.end) {
            let mut sequence = independent_after(run, &causality, race.earlier);
            let mut last = match race.later {
                Later::Taken(number) => run.steps[number].clone(),
                Later::Blocked(number) => run.blocked[number].clone(),
            };
            if let Some(before) = &last.writes_before {
                last.set_writes(before.contains(&race.earlier));
            }
            sequence.push(last);
            self.insert(path, race.earlier, &asleep.before[race.earlier], sequence);
        }
    }

    /// Asks for a sequence of steps from a node of the path on, unless what begins with
    /// it is explored elsewhere.
    fn insert(&mut self, path: &[usize], at: usize, asleep: &[usize], mut sequence: Vec<Step>) {
        let covers = |&&node: &&usize| self.stands_for(node, &sequence).is_some();
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
                .find_map(|&child| Some((child, self.stands_for(child, &sequence)?)));
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

    /// Whether what begins with a sequence is explored where a node is; then also where in
    /// the sequence its step is. A node at the top of a tree that is explored in parts
    /// stands for what holds its step, not for what it could be put in front of: with
    /// that, a run below it would ask for more here, and nobody would hear of it.
    fn stands_for(&self, node: usize, sequence: &[Step]) -> Option<Option<usize>> {
        let own = self.weak_initial(node, sequence)?;
        (own.is_some() || !self.nodes[node].top).then_some(own)
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
        match 1.0 - self.elsewhere {
            here if here > 0.0 => (self.done() - self.elsewhere).max(0.0) / here,
            _ => 1.0,
        }
    }

    fn done(&self) -> f64 {
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
