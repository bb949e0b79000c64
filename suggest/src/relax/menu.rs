//! Which operations may get other orders. Each site of the runs belongs to one point:
//! the call that says its order if that can be changed there, else the operation
//! itself, for all who call it, else the body of the macro. What the runs do not cover
//! and what cannot be changed keeps its order, and is said.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use wmfix_analysis::{Event, LocationId, Operation, SiteId, ThreadId};
use wmfix_frontend::Site;
use wmfix_repair::{ChangePoint, Orders};

use super::result::{KeptReason, KeptSite};
use crate::candidates::{Candidates, orders_of};
use crate::observe::{Place, Places};
use crate::repair_loop::ChangeSite;

/// Leaves the points that may get other orders, and empties the others. What is kept
/// though its order could be weaker.
pub(super) fn choose(
    candidates: &mut Candidates,
    traces: &[Vec<Event>],
    places: &Places,
) -> Vec<KeptSite> {
    let coverage = Coverage::of(traces);
    let chosen = chosen_points(candidates, &coverage, places);
    let mut taken: BTreeSet<SiteId> = BTreeSet::new();
    for (number, is_chosen) in chosen.iter().enumerate() {
        if *is_chosen {
            taken.extend(&candidates.points[number].sites);
        }
    }
    let mut kept = Vec::new();
    for (number, is_chosen) in chosen.into_iter().enumerate() {
        let point = &candidates.points[number];
        if !is_chosen && point.sites.iter().any(|site| !taken.contains(site)) {
            kept.extend(kept_site(candidates, number, &coverage, places));
        }
        let point = &mut candidates.points[number];
        if !is_chosen {
            *point = ChangePoint::new(point.sites.clone(), Orders::None);
        }
    }
    kept
}

/// For each point whether it is on the menu.
fn chosen_points(candidates: &Candidates, coverage: &Coverage, places: &Places) -> Vec<bool> {
    let points = &candidates.points;
    let mut by_rank: BTreeMap<Rank, Vec<usize>> = BTreeMap::new();
    for (number, point) in points.iter().enumerate() {
        let rank = rank(candidates.site(number), point, places);
        by_rank.entry(rank).or_default().push(number);
    }
    let mut owned: HashSet<SiteId> = HashSet::new();
    let mut chosen = vec![false; points.len()];
    for number in by_rank.into_values().flatten() {
        let point = &points[number];
        let is_free = point.sites.iter().all(|site| !owned.contains(site));
        if is_free && obstacle(candidates, number, coverage, places).is_none() {
            owned.extend(&point.sites);
            chosen[number] = true;
        }
    }
    chosen
}

/// Where the order of an operation is said: what comes first is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Call,
    Operation,
    MacroBody,
}

fn rank(text: Option<&Site>, point: &ChangePoint, places: &Places) -> Rank {
    let is = |which: fn(&Place) -> Option<&Site>| {
        let mut sites = point.sites.iter();
        text.is_some() && sites.all(|&site| which(places.get(site)) == text)
    };
    if is(|place| place.call.as_ref()) {
        Rank::Call
    } else if is(|place| place.site.as_ref()) {
        Rank::Operation
    } else {
        Rank::MacroBody
    }
}

/// Why a point cannot get a weaker order.
fn obstacle(
    candidates: &Candidates,
    number: usize,
    coverage: &Coverage,
    places: &Places,
) -> Option<KeptReason> {
    let point = &candidates.points[number];
    let own = point.orders.as_change();
    let refusal = |text: &str| Some(KeptReason::Refused(text.to_owned()));
    if own.is_none() {
        return refusal("its order is not said there");
    }
    let places = || point.sites.iter().map(|&site| places.get(site));
    if places().any(|place| place.is_full_barrier) {
        return refusal("it is a full barrier, which no memory order is");
    }
    let text = candidates.site(number);
    if text.is_some_and(|site| &*site.vocabulary == "volatile") {
        return refusal("it is a volatile access");
    }
    if !coverage.has_one_order(&point.sites, point.orders) {
        return refusal("it runs with different orders");
    }
    let mut weaker = point.orders.assignments();
    weaker.retain(|&kind| Some(kind) != own && point.orders.covers(point.orders.after(kind)));
    let refused = |kind| point.refused.iter().find(|(refused, _)| *refused == kind);
    if weaker.is_empty() {
        return Some(KeptReason::Weakest);
    }
    if weaker.iter().all(|&kind| refused(kind).is_some()) {
        let first = weaker.iter().find_map(|&kind| refused(kind));
        return refusal(first.map_or("", |(_, reason)| reason));
    }
    (!coverage.is_shared(&point.sites)).then_some(KeptReason::OneThread)
}

/// A point that keeps its order though a weaker one could be asked for.
fn kept_site(
    candidates: &Candidates,
    number: usize,
    coverage: &Coverage,
    places: &Places,
) -> Option<KeptSite> {
    let point = &candidates.points[number];
    let why = obstacle(candidates, number, coverage, places)?;
    let is_weakest = point.orders == point.orders.weakest() || why == KeptReason::Weakest;
    (!is_weakest).then(|| KeptSite {
        at: ChangeSite {
            site: point.sites[0],
            text: candidates.site(number).cloned(),
        },
        why,
    })
}

/// What the runs say about their operations.
struct Coverage {
    /// Operations on objects that several threads of one run accessed, and fences of
    /// threads that accessed such objects.
    shared: HashSet<SiteId>,
    /// The orders that each operation had.
    orders: HashMap<SiteId, Vec<Orders>>,
}

impl Coverage {
    fn of(traces: &[Vec<Event>]) -> Self {
        let mut coverage = Self {
            shared: HashSet::new(),
            orders: HashMap::new(),
        };
        for trace in traces {
            coverage.add(trace);
        }
        coverage
    }

    fn add(&mut self, trace: &[Event]) {
        let mut threads: HashMap<LocationId, (ThreadId, bool)> = HashMap::new();
        for event in trace {
            if let Some(location) = location_of(&event.operation) {
                let (first, several) = threads.entry(location).or_insert((event.thread, false));
                *several |= *first != event.thread;
            }
        }
        let is_shared = |location| threads.get(&location).is_some_and(|(_, several)| *several);
        let mut sharing: HashSet<ThreadId> = HashSet::new();
        for event in trace {
            if location_of(&event.operation).is_some_and(is_shared) {
                sharing.insert(event.thread);
                self.shared.insert(event.site);
            }
        }
        for event in trace {
            let is_fence = matches!(event.operation, Operation::Fence { .. });
            if is_fence && sharing.contains(&event.thread) {
                self.shared.insert(event.site);
            }
            if let Some(orders) = orders_of(&event.operation) {
                let known = self.orders.entry(event.site).or_default();
                if !known.contains(&orders) {
                    known.push(orders);
                }
            }
        }
    }

    /// Whether an object of some of these sites was accessed by several threads.
    fn is_shared(&self, sites: &[SiteId]) -> bool {
        sites.iter().any(|site| self.shared.contains(site))
    }

    /// Whether all of these sites ran with these orders only.
    fn has_one_order(&self, sites: &[SiteId], orders: Orders) -> bool {
        let had = sites.iter().filter_map(|site| self.orders.get(site));
        had.flatten()
            .all(|had| had.as_change() == orders.as_change())
    }
}

fn location_of(operation: &Operation) -> Option<LocationId> {
    match *operation {
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => Some(location),
        _ => None,
    }
}
