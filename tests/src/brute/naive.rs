//! Robustness without any argument: every candidate graph of every prefix of a
//! program (all values that reads could have, all reads-from, all modification
//! orders), with relations as sets of pairs and each axiom spelled out. Slow, and
//! for nothing but to check `explore`; knows RC11 with native fences and programs
//! without edges and plain accesses.

use std::collections::BTreeSet;

use wmfix_analysis::CasStrength;

use crate::litmus::{Instruction, Program};

type Pairs = BTreeSet<(usize, usize)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    /// None for the first value of a location.
    thread: Option<usize>,
    location: Option<u8>,
    read: Option<u64>,
    written: Option<u64>,
    acquires: bool,
    releases: bool,
    sc: bool,
}

/// Whether a program is robust in RC11, or `None` if it has more than `limit`
/// candidate graphs.
pub fn is_robust_naively(program: &Program, limit: usize) -> Option<bool> {
    let values = possible_values(program);
    let prefixes: Vec<Vec<Vec<Event>>> = (0..program.threads.len())
        .map(|thread| thread_prefixes(program, thread, &values))
        .collect();
    let mut budget = limit;
    let mut chosen = Vec::new();
    robust_from(program, &prefixes, &mut chosen, &mut budget)
}

fn robust_from(
    program: &Program,
    prefixes: &[Vec<Vec<Event>>],
    chosen: &mut Vec<Vec<Event>>,
    budget: &mut usize,
) -> Option<bool> {
    let Some(options) = prefixes.get(chosen.len()) else {
        return graphs_are_robust(program, chosen, budget);
    };
    for option in options {
        chosen.push(option.clone());
        let robust = robust_from(program, prefixes, chosen, budget);
        chosen.pop();
        if robust != Some(true) {
            return robust;
        }
    }
    Some(true)
}

/// Goes through all reads-from and modification orders of given events.
fn graphs_are_robust(
    program: &Program,
    threads: &[Vec<Event>],
    budget: &mut usize,
) -> Option<bool> {
    let mut events: Vec<Event> = (0..program.locations.len())
        .map(|location| Event {
            thread: None,
            location: Some(location as u8),
            read: None,
            written: Some(0),
            acquires: false,
            releases: false,
            sc: false,
        })
        .collect();
    events.extend(threads.iter().flatten());
    let sources: Vec<(usize, Vec<usize>)> = (0..events.len())
        .filter_map(|r| Some((r, events[r].read?)))
        .map(|(r, value)| {
            let fits = |w: &usize| {
                *w != r
                    && events[*w].location == events[r].location
                    && events[*w].written == Some(value)
            };
            (r, (0..events.len()).filter(fits).collect())
        })
        .collect();
    let mut orders: Vec<Vec<Vec<usize>>> = Vec::new();
    for location in 0..program.locations.len() {
        let writes: Vec<usize> = (program.locations.len()..events.len())
            .filter(|&w| events[w].written.is_some() && events[w].location == Some(location as u8))
            .collect();
        orders.push(permutations(&writes, location));
    }
    for rf in products(&sources.iter().map(|(_, s)| s.clone()).collect::<Vec<_>>()) {
        let rf: Pairs = rf
            .into_iter()
            .zip(&sources)
            .map(|(w, (r, _))| (w, *r))
            .collect();
        for order in products(&orders) {
            *budget = budget.checked_sub(1)?;
            let mo: Pairs = order
                .iter()
                .flat_map(|writes| {
                    (0..writes.len())
                        .flat_map(|j| (0..j).map(move |i| (i, j)))
                        .map(|(i, j)| (writes[i], writes[j]))
                })
                .collect();
            let relations = Relations::new(&events, &rf, &mo);
            if relations.consistent(&events) && !relations.sequential() {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Every value that some location could hold.
fn possible_values(program: &Program) -> BTreeSet<u64> {
    let mut values = BTreeSet::from([0]);
    for instruction in program.instructions() {
        match *instruction {
            Instruction::Store { value, .. } | Instruction::Exchange { value, .. } => {
                values.insert(value);
            }
            Instruction::CompareExchange { desired, .. }
            | Instruction::BlockingCompareExchange { desired, .. } => {
                values.insert(desired);
            }
            _ => {}
        }
    }
    // Each addition can happen once, on top of any others.
    for instruction in program.instructions() {
        if let Instruction::FetchAdd { value, .. } = *instruction {
            let sums: Vec<u64> = values.iter().map(|v| v + value).collect();
            values.extend(sums);
        }
    }
    values
}

/// Everything that a thread could have done so far, whatever its reads returned.
fn thread_prefixes(program: &Program, thread: usize, values: &BTreeSet<u64>) -> Vec<Vec<Event>> {
    let mut all = Vec::new();
    let mut stack = vec![(0, vec![0; program.registers.len()], Vec::new())];
    while let Some((place, registers, events)) = stack.pop() {
        let Some(instruction) = program.threads[thread].get(place) else {
            all.push(events);
            continue;
        };
        if let Instruction::SkipIf {
            register,
            value,
            count,
        }
        | Instruction::SkipUnless {
            register,
            value,
            count,
        } = *instruction
        {
            let equal = registers[usize::from(register.0)] == value;
            let wanted = matches!(instruction, Instruction::SkipIf { .. });
            let skipped = if equal == wanted {
                usize::from(count)
            } else {
                0
            };
            stack.push((place + 1 + skipped, registers, events));
            continue;
        }
        all.push(events.clone());
        for event in events_of(instruction, thread, values) {
            let mut registers = registers.clone();
            if let (Some(register), Some(value)) = (instruction.result(), event.read) {
                registers[usize::from(register.0)] = value;
            }
            let mut events = events.clone();
            events.push(event);
            stack.push((place + 1, registers, events));
        }
    }
    all
}

fn events_of(instruction: &Instruction, thread: usize, values: &BTreeSet<u64>) -> Vec<Event> {
    use Instruction as I;
    let blank = Event {
        thread: Some(thread),
        location: instruction.atomic_location().map(|l| l.0),
        read: None,
        written: None,
        acquires: false,
        releases: false,
        sc: false,
    };
    let read = |value: u64, order: wmfix_analysis::LoadOrder| Event {
        read: Some(value),
        acquires: order.acquires(),
        sc: order.is_sc(),
        ..blank
    };
    let update = |value: u64, written: u64, order: wmfix_analysis::RmwOrder| Event {
        read: Some(value),
        written: Some(written),
        acquires: order.acquires(),
        releases: order.releases(),
        sc: order.is_sc(),
        ..blank
    };
    let each = values.iter().copied();
    match *instruction {
        I::Store { value, order, .. } => vec![Event {
            written: Some(value),
            releases: order.releases(),
            sc: order.is_sc(),
            ..blank
        }],
        I::Fence { order } => vec![Event {
            acquires: order.acquires(),
            releases: order.releases(),
            sc: order.is_sc(),
            ..blank
        }],
        I::Load { order, .. } => each.map(|v| read(v, order)).collect(),
        I::Wait { exit, order, .. } => each
            .filter(|&v| exit.leaves(v))
            .map(|v| read(v, order))
            .collect(),
        I::FetchAdd { value, order, .. } => each.map(|v| update(v, v + value, order)).collect(),
        I::Exchange { value, order, .. } => each.map(|v| update(v, value, order)).collect(),
        I::CompareExchange {
            expected,
            desired,
            success,
            failure,
            strength,
            ..
        } => each
            .filter(|&v| v != expected || strength == CasStrength::Weak)
            .map(|v| read(v, failure))
            .chain([update(expected, desired, success)])
            .collect(),
        I::BlockingCompareExchange {
            expected,
            desired,
            success,
            ..
        } => vec![update(expected, desired, success)],
        _ => panic!("the naive enumeration knows accesses and fences only"),
    }
}

/// The relations of a candidate graph.
struct Relations {
    po: Pairs,
    rf: Pairs,
    mo: Pairs,
    fr: Pairs,
}

impl Relations {
    fn new(events: &[Event], rf: &Pairs, mo: &Pairs) -> Self {
        let mut po = Pairs::new();
        for a in 0..events.len() {
            for b in 0..events.len() {
                let initial = events[a].thread.is_none() && events[b].thread.is_some();
                let same = events[a].thread.is_some() && events[a].thread == events[b].thread;
                if initial || same && a < b {
                    po.insert((a, b));
                }
            }
        }
        let fr = rf
            .iter()
            .flat_map(|&(w, r)| {
                mo.iter()
                    .filter(move |&&(old, new)| old == w && new != r)
                    .map(move |&(_, new)| (r, new))
            })
            .collect();
        Self {
            po,
            rf: rf.clone(),
            mo: mo.clone(),
            fr,
        }
    }

    /// No RMW has a write between the one it reads and its own.
    fn atomic(&self) -> bool {
        let between = compose(&self.fr, &self.mo);
        // A read that follows in mo the write it reads is an RMW.
        self.mo
            .iter()
            .filter(|pair| self.rf.contains(pair))
            .all(|&(_, u)| !between.contains(&(u, u)))
            && self.rf.iter().all(|&(w, r)| !self.mo.contains(&(r, w)))
    }

    fn sequential(&self) -> bool {
        let all = union(&[&self.po, &self.rf, &self.mo, &self.fr]);
        self.atomic() && irreflexive(&closure(&all))
    }

    fn consistent(&self, events: &[Event]) -> bool {
        let is_fence = |e: usize| events[e].location.is_none();
        let is_write = |e: usize| events[e].written.is_some();
        let is_read = |e: usize| events[e].read.is_some();
        let everything: Pairs = (0..events.len()).map(|e| (e, e)).collect();
        if !self.atomic() || !irreflexive(&closure(&union(&[&self.po, &self.rf]))) {
            return false;
        }
        let release: Pairs = union(&[
            &everything,
            &keep(&self.po, |a, b| is_fence(a) && is_write(b)),
        ]);
        let release = keep(&release, |a, _| events[a].releases);
        let acquire: Pairs = union(&[
            &everything,
            &keep(&self.po, |a, b| is_read(a) && is_fence(b)),
        ]);
        let acquire = keep(&acquire, |_, b| events[b].acquires);
        let sw = compose(&compose(&release, &closure(&self.rf)), &acquire);
        let hb = closure(&union(&[&self.po, &sw]));
        let eco = closure(&union(&[&self.rf, &self.mo, &self.fr]));
        if !irreflexive(&hb) || !irreflexive(&eco) || !irreflexive(&compose(&hb, &eco)) {
            return false;
        }
        let same = |a: usize, b: usize| !is_fence(a) && events[a].location == events[b].location;
        let elsewhere = keep(&self.po, |a, b| !same(a, b));
        let scb = union(&[
            &self.po,
            &compose(&compose(&elsewhere, &hb), &elsewhere),
            &keep(&hb, same),
            &self.mo,
            &self.fr,
        ]);
        let accesses = keep(&everything, |e, _| events[e].sc && !is_fence(e));
        let hb_or_none = union(&[&hb, &everything]);
        let sc_fence = |e: usize| events[e].sc && is_fence(e);
        let left = union(&[&accesses, &keep(&hb_or_none, |a, _| sc_fence(a))]);
        let right = union(&[&accesses, &keep(&hb_or_none, |_, b| sc_fence(b))]);
        let base = compose(&compose(&left, &scb), &right);
        let fences = union(&[&hb, &compose(&compose(&hb, &eco), &hb)]);
        let fences = keep(&fences, |a, b| sc_fence(a) && sc_fence(b));
        irreflexive(&closure(&union(&[&base, &fences])))
    }
}

fn union(parts: &[&Pairs]) -> Pairs {
    parts.iter().copied().flatten().copied().collect()
}

fn keep(pairs: &Pairs, condition: impl Fn(usize, usize) -> bool) -> Pairs {
    pairs
        .iter()
        .copied()
        .filter(|&(a, b)| condition(a, b))
        .collect()
}

fn compose(first: &Pairs, second: &Pairs) -> Pairs {
    first
        .iter()
        .flat_map(|&(a, b)| {
            second
                .range((b, 0)..=(b, usize::MAX))
                .map(move |&(_, c)| (a, c))
        })
        .collect()
}

fn closure(pairs: &Pairs) -> Pairs {
    let mut all = pairs.clone();
    loop {
        let longer = compose(&all, pairs);
        let before = all.len();
        all.extend(longer);
        if all.len() == before {
            return all;
        }
    }
}

fn irreflexive(pairs: &Pairs) -> bool {
    pairs.iter().all(|(a, b)| a != b)
}

/// One item of each list, in all ways.
fn products<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|before| {
                list.iter().map(move |item| {
                    let mut next = before.clone();
                    next.push(item.clone());
                    next
                })
            })
            .collect()
    })
}

/// All orders of the items, each after `first`.
fn permutations(items: &[usize], first: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![first]];
    for &item in items {
        all = all
            .iter()
            .flat_map(|order| {
                (1..=order.len()).map(move |place| {
                    let mut next = order.clone();
                    next.insert(place, item);
                    next
                })
            })
            .collect();
    }
    all
}
