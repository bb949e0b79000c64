//! What a change costs: what the target pays for one execution, times how often
//! it ran. The numbers are rough cycles of current cores; only their proportion
//! matters: a full barrier costs about ten times as much as an ordered access.

use rustc_hash::FxHashMap;
use wmfix_analysis::{
    Event, FenceOrder, LoadOrder, LocationId, Operation, RmwOrder, SiteId, StoreOrder, ThreadId,
};

use crate::change_point::{Change, ChangeKind, ChangePoint, Orders};

/// The cost model that ranks repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Every change costs 1, however often it runs.
    Fewest,
    /// Acquire, release and SC loads are free; SC stores and SC fences are dear.
    X86,
    /// Ordered accesses are cheap, barriers are dear.
    Arm64,
    /// The worse of x86 and arm64.
    #[default]
    Portable,
}

/// The most that a count weighs: larger ones are scaled down, because only
/// their proportion matters and the solver computes with few digits.
const LARGEST_WEIGHT: u64 = 10_000;

/// A full barrier, or an exchange where a store was, on x86.
const X86_BARRIER: u64 = 20;

/// How often each site ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// All its events; of an access with fences beside it only the access.
    all: FxHashMap<SiteId, u64>,
    /// The rounds of waiting loops that stay in the loop: they do not get to
    /// what comes after the operation.
    staying: FxHashMap<SiteId, u64>,
    /// Loads whose thread went on to a read-modify-write of the same object.
    superseded: FxHashMap<SiteId, u64>,
}

impl Counts {
    pub(crate) fn of<'a>(traces: impl IntoIterator<Item = &'a [Event]>) -> Self {
        let mut counts = Self::default();
        let mut fences: FxHashMap<SiteId, u64> = FxHashMap::default();
        for trace in traces {
            let mut last_load: FxHashMap<ThreadId, (LocationId, SiteId)> = FxHashMap::default();
            for event in trace {
                let counted = match event.operation {
                    Operation::Fence { .. } => &mut fences,
                    _ => &mut counts.all,
                };
                *counted.entry(event.site).or_default() += 1;
                if event.operation.stays_in_loop() {
                    *counts.staying.entry(event.site).or_default() += 1;
                }
                match event.operation {
                    Operation::Load { location, .. } => {
                        last_load.insert(event.thread, (location, event.site));
                    }
                    Operation::Rmw { location, .. }
                    | Operation::CompareExchange { location, .. } => {
                        if let Some((loaded, site)) = last_load.remove(&event.thread)
                            && loaded == location
                        {
                            *counts.superseded.entry(site).or_default() += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        for (site, count) in fences {
            counts.all.entry(site).or_insert(count);
        }
        counts
    }

    /// Whether a change orders a load that only looks ahead: what the thread goes
    /// on to do depends on a read-modify-write of the same object that follows,
    /// which may read something newer.
    pub(crate) fn is_fragile(&self, point: &ChangePoint, kind: ChangeKind) -> bool {
        let mut sites = point.sites.iter();
        matches!(kind, ChangeKind::Load(_)) && sites.any(|site| self.superseded.contains_key(site))
    }

    /// How often a change would be paid for. Nobody pays for a stronger order in a round
    /// of a waiting loop that stays in it: the thread waits anyway, and how many rounds
    /// there are depends on the schedule. A fence in every round delays the last one.
    fn paid(&self, point: &ChangePoint, kind: ChangeKind) -> u64 {
        match kind {
            ChangeKind::FenceBefore(_) => self.runs(point, kind),
            _ => self.runs(point, ChangeKind::FenceAfter(FenceOrder::SeqCst)),
        }
    }

    /// How often a change would run.
    pub(crate) fn runs(&self, point: &ChangePoint, kind: ChangeKind) -> u64 {
        let sum = |counts: &FxHashMap<SiteId, u64>| -> u64 {
            let counted = point.sites.iter().filter_map(|site| counts.get(site));
            counted.sum()
        };
        match kind {
            ChangeKind::FenceAfter(_) => sum(&self.all) - sum(&self.staying),
            _ => sum(&self.all),
        }
    }
}

/// The cost of each of some changes, weighed by how often they run in traces.
pub fn costs<'a>(
    profile: Profile,
    points: &[ChangePoint],
    traces: impl IntoIterator<Item = &'a [Event]>,
    changes: &[Change],
) -> Vec<u64> {
    let counts = Counts::of(traces);
    Weights::new(profile, &counts, points).costs(points, changes)
}

/// Counts, scaled so that they can be weighed.
pub(crate) struct Weights<'c> {
    profile: Profile,
    counts: &'c Counts,
    largest: u64,
}

impl<'c> Weights<'c> {
    pub(crate) fn new(profile: Profile, counts: &'c Counts, points: &[ChangePoint]) -> Self {
        let any = ChangeKind::FenceBefore(FenceOrder::SeqCst);
        let runs = points.iter().map(|point| counts.runs(point, any));
        Self {
            profile,
            counts,
            largest: runs.max().unwrap_or(0),
        }
    }

    fn costs(&self, points: &[ChangePoint], changes: &[Change]) -> Vec<u64> {
        changes.iter().map(|&c| self.cost(points, c)).collect()
    }

    pub(crate) fn cost(&self, points: &[ChangePoint], change: Change) -> u64 {
        let point = &points[change.point];
        let unit = self.profile.unit(point.orders, change.kind);
        match self.profile {
            Profile::Fewest => unit,
            _ => unit * self.weight(self.counts.paid(point, change.kind)),
        }
    }

    /// What all executions of an operation cost more with these orders than with the
    /// weakest that it could have.
    pub(crate) fn of_orders(&self, point: &ChangePoint, orders: Orders) -> u64 {
        let weakest = orders.weakest();
        let kind = orders.as_change().filter(|_| orders != weakest);
        kind.map_or(0, |kind| {
            self.profile.unit(weakest, kind) * self.counts.paid(point, kind).max(1)
        })
    }

    fn weight(&self, runs: u64) -> u64 {
        let scaled = match self.largest > LARGEST_WEIGHT {
            true => u128::from(runs) * u128::from(LARGEST_WEIGHT) / u128::from(self.largest),
            false => u128::from(runs),
        };
        u64::try_from(scaled)
            .expect("no more than the largest weight")
            .max(1)
    }
}

impl Profile {
    /// What one execution of an operation costs more after the change.
    fn unit(self, orders: Orders, kind: ChangeKind) -> u64 {
        match self {
            Self::Fewest => changed_orders(orders, kind),
            Self::X86 => x86(orders, kind),
            Self::Arm64 => arm64(orders, kind),
            Self::Portable => x86(orders, kind).max(arm64(orders, kind)),
        }
    }
}

/// The orders of a compare-exchange are two changes, unless the success is raised
/// only as far as the failure needs it: compilers warn of a failure that is
/// stronger than the success, and older standards forbid it.
fn changed_orders(orders: Orders, kind: ChangeKind) -> u64 {
    match (orders, kind) {
        (
            Orders::CompareExchange {
                success, failure, ..
            },
            ChangeKind::CompareExchange {
                success: s,
                failure: f,
            },
        ) if f != failure && s == success.join(as_rmw(f)) => 1,
        (
            Orders::CompareExchange {
                success, failure, ..
            },
            ChangeKind::CompareExchange {
                success: s,
                failure: f,
            },
        ) => u64::from(s != success) + u64::from(f != failure),
        _ => 1,
    }
}

/// Only what must wait for the store buffer costs; a read-modify-write always
/// does.
fn x86(orders: Orders, kind: ChangeKind) -> u64 {
    let barrier = match kind {
        ChangeKind::FenceBefore(order) | ChangeKind::FenceAfter(order) => order.is_sc(),
        ChangeKind::Store(order) => order.is_sc(),
        ChangeKind::Fence(order) => order.is_sc() && orders != Orders::Fence(FenceOrder::SeqCst),
        ChangeKind::Load(_)
        | ChangeKind::Rmw(_)
        | ChangeKind::CompareExchange { .. }
        | ChangeKind::RemoveFence
        | ChangeKind::Move(_) => false,
    };
    if barrier { X86_BARRIER } else { 0 }
}

/// The difference between two instructions.
fn arm64(orders: Orders, kind: ChangeKind) -> u64 {
    let before = match orders {
        Orders::Load(order) => arm64_load(order),
        Orders::Store(order) => arm64_store(order),
        Orders::Rmw(order) => arm64_rmw(order),
        Orders::CompareExchange {
            success, failure, ..
        } => arm64_rmw(success.join(as_rmw(failure))),
        Orders::Fence(order) => arm64_fence(order),
        Orders::NoFence | Orders::PlainRead | Orders::PlainWrite | Orders::None => 0,
    };
    let after = match kind {
        // A new fence leaves the operation as it is.
        ChangeKind::FenceBefore(order) | ChangeKind::FenceAfter(order) => {
            return arm64_fence(order);
        }
        ChangeKind::Move(_) | ChangeKind::RemoveFence => return 0,
        ChangeKind::Load(order) => arm64_load(order),
        ChangeKind::Store(order) => arm64_store(order),
        ChangeKind::Rmw(order) => arm64_rmw(order),
        // One instruction has one order, whatever comes of it.
        ChangeKind::CompareExchange { success, failure } => {
            arm64_rmw(success.join(as_rmw(failure)))
        }
        ChangeKind::Fence(order) => arm64_fence(order),
    };
    after.saturating_sub(before)
}

fn arm64_load(order: LoadOrder) -> u64 {
    match order {
        LoadOrder::Relaxed => 0,
        LoadOrder::Acquire => 2,
        LoadOrder::SeqCst => 3,
    }
}

fn arm64_store(order: StoreOrder) -> u64 {
    match order {
        StoreOrder::Relaxed => 0,
        StoreOrder::Release => 3,
        StoreOrder::SeqCst => 4,
    }
}

fn arm64_rmw(order: RmwOrder) -> u64 {
    match order {
        RmwOrder::Relaxed => 0,
        RmwOrder::Acquire | RmwOrder::Release => 1,
        RmwOrder::AcqRel => 2,
        RmwOrder::SeqCst => 3,
    }
}

/// Only an acquire fence has a barrier of its own (`dmb ishld`).
fn arm64_fence(order: FenceOrder) -> u64 {
    match order {
        FenceOrder::Acquire => 8,
        FenceOrder::Release | FenceOrder::AcqRel | FenceOrder::SeqCst => 15,
    }
}

fn as_rmw(order: LoadOrder) -> RmwOrder {
    match order {
        LoadOrder::Relaxed => RmwOrder::Relaxed,
        LoadOrder::Acquire => RmwOrder::Acquire,
        LoadOrder::SeqCst => RmwOrder::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_analysis::LoopExit;

    const FENCE_BEFORE: ChangeKind = ChangeKind::FenceBefore(FenceOrder::SeqCst);
    const FENCE_AFTER: ChangeKind = ChangeKind::FenceAfter(FenceOrder::SeqCst);

    fn load(site: u32, value: u64) -> Event {
        Event {
            thread: ThreadId(0),
            site: SiteId(site),
            operation: Operation::Load {
                location: LocationId(0),
                order: LoadOrder::Relaxed,
                value,
                exit: Some(LoopExit::equal(1)),
            },
        }
    }

    fn cost(profile: Profile, trace: &[Event], kind: ChangeKind) -> u64 {
        let points = [
            ChangePoint::new(vec![SiteId(1), SiteId(2)], Orders::Load(LoadOrder::Relaxed)),
            ChangePoint::new(vec![SiteId(3)], Orders::Load(LoadOrder::Relaxed)),
        ];
        costs(profile, &points, [trace], &[Change { point: 0, kind }])[0]
    }

    #[test]
    fn a_place_runs_as_often_as_all_its_sites() {
        let trace = [load(1, 1), load(2, 1), load(3, 1)];
        assert_eq!(cost(Profile::X86, &trace, FENCE_BEFORE), 40);
        assert_eq!(cost(Profile::Fewest, &trace, FENCE_BEFORE), 1);
        let acquire = ChangeKind::Load(LoadOrder::Acquire);
        assert_eq!(cost(Profile::X86, &trace, acquire), 0);
        assert_eq!(cost(Profile::Arm64, &trace, acquire), 4);
        assert_eq!(cost(Profile::Portable, &trace, acquire), 4);
        assert_eq!(cost(Profile::Portable, &trace, FENCE_AFTER), 40);
        let release = ChangeKind::FenceAfter(FenceOrder::Release);
        assert_eq!(cost(Profile::X86, &trace, release), 0);
        assert_eq!(cost(Profile::Portable, &trace, release), 30);
    }

    #[test]
    fn a_round_that_stays_in_its_loop_pays_for_the_fence_before_only() {
        let trace = [load(1, 0), load(1, 0), load(1, 1)];
        assert_eq!(cost(Profile::X86, &trace, FENCE_BEFORE), 60);
        assert_eq!(cost(Profile::X86, &trace, FENCE_AFTER), 20);
        let acquire = ChangeKind::Load(LoadOrder::Acquire);
        assert_eq!(cost(Profile::Arm64, &trace, acquire), 2);
        // It is never free.
        assert_eq!(cost(Profile::Arm64, &trace[..2], acquire), 2);
    }

    #[test]
    fn a_fence_beside_an_access_does_not_count_as_another_one() {
        let fence = Event {
            operation: Operation::Fence {
                order: FenceOrder::SeqCst,
            },
            ..load(1, 1)
        };
        let trace = [fence, load(1, 1), fence, load(1, 1)];
        assert_eq!(cost(Profile::X86, &trace, FENCE_BEFORE), 40);
        assert_eq!(cost(Profile::X86, &[fence], FENCE_BEFORE), 20);
    }

    #[test]
    fn large_counts_are_scaled_and_never_free() {
        let mut trace = vec![load(3, 1); 100_000];
        trace.push(load(1, 1));
        assert_eq!(cost(Profile::X86, &trace, FENCE_BEFORE), 20);
        let hot = [load(1, 1)].repeat(50_000);
        assert_eq!(cost(Profile::X86, &hot, FENCE_BEFORE), 200_000);
    }

    #[test]
    fn both_orders_of_a_compare_exchange_are_two_changes() {
        let orders = Orders::CompareExchange {
            success: RmwOrder::Relaxed,
            failure: LoadOrder::Relaxed,
            free_failure: true,
        };
        let to = |success, failure| ChangeKind::CompareExchange { success, failure };
        let unit = |kind| Profile::Fewest.unit(orders, kind);
        assert_eq!(unit(to(RmwOrder::SeqCst, LoadOrder::Relaxed)), 1);
        assert_eq!(unit(to(RmwOrder::Relaxed, LoadOrder::Acquire)), 1);
        assert_eq!(unit(to(RmwOrder::Release, LoadOrder::Acquire)), 2);
        assert_eq!(unit(to(RmwOrder::AcqRel, LoadOrder::Acquire)), 2);
        // The success only goes along.
        assert_eq!(unit(to(RmwOrder::Acquire, LoadOrder::Acquire)), 1);
    }
}
