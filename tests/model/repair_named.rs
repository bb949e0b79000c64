//! Programs whose repair everybody knows, and what a search does when changes
//! are refused, when races cannot be ordered, and when it is stopped.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use wmfix_repair::{
    Change, ChangeKind, ChangePoint, Finding, Options, Orders, Outcome, Problem, Profile, Repair,
    SearchEnd, costs, repair, unneeded,
};
use wmfix_tests::litmus::{Program, program};
use wmfix_tests::repairing::{Cheaper, Effort, apply, cheaper_repair, is_repaired, problem};

const RELEASE: ChangeKind = ChangeKind::Store(StoreOrder::Release);
const ACQUIRE: ChangeKind = ChangeKind::Load(LoadOrder::Acquire);
const SC_STORE: ChangeKind = ChangeKind::Store(StoreOrder::SeqCst);
const FENCE_BEFORE: ChangeKind = ChangeKind::FenceBefore(FenceOrder::SeqCst);
const FENCE_AFTER: ChangeKind = ChangeKind::FenceAfter(FenceOrder::SeqCst);
const SC_LOAD: ChangeKind = ChangeKind::Load(LoadOrder::SeqCst);

fn searched(problem: &Problem, profile: Profile) -> Outcome {
    let options = Options {
        profile,
        ..Options::default()
    };
    let outcome = repair(problem, &options, |_| {}).unwrap();
    assert_eq!(outcome.end, SearchEnd::Optimal);
    outcome
}

fn changes(repair: &Repair) -> Vec<(usize, ChangeKind)> {
    let pairs = repair.changes.iter();
    pairs.map(|c| (c.change.point, c.change.kind)).collect()
}

/// Repairs a program that can be repaired; gives the changes as (point, kind).
fn repaired(program: &Program, profile: Profile) -> Vec<(usize, ChangeKind)> {
    let outcome = searched(&problem(program), profile);
    assert!(outcome.unrepairable.is_empty() && outcome.beyond_repair.is_empty());
    let found = outcome.repair.expect("a search that ends has a repair");
    let plain: Vec<Change> = found.changes.iter().map(|c| c.change).collect();
    assert!(is_repaired(&apply(program, &plain)), "{program}");
    changes(&found)
}

fn named(name: &str, threads: &[&str]) -> Program {
    program(name, threads).expect("the notation is right")
}

fn dekker(order: [&str; 2]) -> Program {
    let [store, load] = order;
    let one = format!("x=1.{store}; a=y.{load}");
    let other = format!("y=1.{store}; b=x.{load}");
    named("dekker", &[&one, &other])
}

#[test]
fn dekkers_entry_takes_one_fence_a_thread() {
    for orders in [["rlx", "rlx"], ["rel", "acq"]] {
        let fences = [(0, FENCE_AFTER), (2, FENCE_AFTER)];
        assert_eq!(repaired(&dekker(orders), Profile::Fewest), fences);
    }
}

#[test]
fn dekkers_entry_on_x86_takes_fences_where_they_run_least() {
    // An SC store costs as much as a fence there, but the load would have to be
    // raised with it: the fence touches fewer points.
    let fences = [(0, FENCE_AFTER), (2, FENCE_AFTER)];
    assert_eq!(repaired(&dekker(["rlx", "rlx"]), Profile::X86), fences);
    // A fence before the load of a waiting loop runs in every round.
    let spinning = named(
        "spinning",
        &[
            "x=1.rlx; wait(y==1).rlx; a=z.rlx",
            "z=1.rlx; b=x.rlx; y=1.rlx",
        ],
    );
    let found = repaired(&spinning, Profile::X86);
    assert!(!found.contains(&(1, FENCE_BEFORE)), "{found:?}");
}

#[test]
fn message_passing_takes_release_and_acquire() {
    let mp = named("mp", &["d=1.rlx; f=1.rlx", "a=f.rlx; b=d.rlx"]);
    for profile in [
        Profile::Fewest,
        Profile::X86,
        Profile::Arm64,
        Profile::Portable,
    ] {
        let expected = [(1, RELEASE), (2, ACQUIRE)];
        assert_eq!(repaired(&mp, profile), expected, "{profile:?}");
    }
}

#[test]
fn published_plain_data_is_repaired_too() {
    let mp = named(
        "mp",
        &["write d 1; f=1.rlx", "a=f.rlx; skipunless a 1 1; read d"],
    );
    let outcome = searched(&problem(&mp), Profile::Fewest);
    let found = outcome.repair.unwrap();
    assert_eq!(changes(&found), [(0, RELEASE), (1, ACQUIRE)]);
    for change in &found.changes {
        assert!(matches!(change.reasons[..], [Finding::Race { .. }]));
    }
}

#[test]
fn waiting_is_not_fenced_without_need() {
    let robust = named(
        "handshake",
        &["x=1.rel; wait(y==1).acq", "wait(x==1).acq; y=1.rel"],
    );
    assert_eq!(repaired(&robust, Profile::Fewest), []);
    let relaxed = named("spin", &["write d 1; f=1.rlx", "wait(f==1).rlx; read d"]);
    let expected = [(0, RELEASE), (1, ACQUIRE)];
    assert_eq!(repaired(&relaxed, Profile::Fewest), expected);
    assert_eq!(repaired(&relaxed, Profile::X86), expected);
}

#[test]
fn petersons_lock_is_repaired_as_cheaply_as_brute_force_can() {
    let peterson = named(
        "peterson",
        &[
            "f=1.rlx; t=1.rlx; a=g.rlx; skipif a 0 2; b=t.rlx; skipif b 1 2; write c 1; f=0.rlx",
            "g=1.rlx; t=2.rlx; a=f.rlx; skipif a 0 2; b=t.rlx; skipif b 2 2; write c 2; g=0.rlx",
        ],
    );
    let problem = problem(&peterson);
    for profile in [Profile::Fewest, Profile::X86] {
        let found = repaired(&peterson, profile);
        let fences = found.iter().filter(|(_, kind)| kind.is_new_fence());
        // One fence a thread is not enough, and fences alone leave the race.
        assert!(found.len() > 2 && fences.count() < found.len(), "{found:?}");
        let traces = || problem.traces.iter().map(Vec::as_slice);
        let cost = |change| costs(profile, &problem.points, traces(), &[change])[0];
        let total: u64 = found
            .iter()
            .map(|&(point, kind)| cost(Change { point, kind }))
            .sum();
        let effort = Effort { programs: 20_000 };
        let cheaper = cheaper_repair(&peterson, &cost, total - 1, effort);
        assert_eq!(cheaper, Cheaper::None, "{profile:?}: {found:?}");
    }
}

#[test]
fn a_spinlock_takes_acquire_and_release_where_they_belong() {
    let lock = "bcas(l,0,1).rlx; write d 1; l=0.rlx";
    let spinlock = named("spinlock", &[lock, lock]);
    let acquire = ChangeKind::CompareExchange {
        success: RmwOrder::Acquire,
        failure: LoadOrder::Relaxed,
    };
    let expected = [(0, acquire), (1, RELEASE), (2, acquire), (3, RELEASE)];
    assert_eq!(repaired(&spinlock, Profile::Fewest), expected);
}

/// A lock that is looked at before it is taken: acquire belongs to the
/// compare-exchange, which may read something newer than the look did.
#[test]
fn a_lock_is_acquired_where_it_is_taken() {
    let test_and_set = named(
        "ttas",
        &[
            "wait(l==0).rlx; bcas(l,0,1).rlx; write d 1; l=0.rlx",
            "wait(l==0).rlx; bcas(l,0,1).rlx; write d 2; l=0.rlx",
        ],
    );
    let acquire = ChangeKind::CompareExchange {
        success: RmwOrder::Acquire,
        failure: LoadOrder::Relaxed,
    };
    for profile in [Profile::Fewest, Profile::X86, Profile::Portable] {
        let expected = [(1, acquire), (2, RELEASE), (4, acquire), (5, RELEASE)];
        assert_eq!(repaired(&test_and_set, profile), expected, "{profile:?}");
    }
}

#[test]
fn the_search_goes_around_what_is_refused() {
    let mut dekker = problem(&dekker(["rlx", "rlx"]));
    dekker.points[0].refuse(FENCE_AFTER, "a macro");
    let found = searched(&dekker, Profile::Fewest).repair.unwrap();
    assert_eq!(changes(&found), [(1, FENCE_BEFORE), (2, FENCE_AFTER)]);
    dekker.points[1].refuse(FENCE_BEFORE, "a macro");
    let found = searched(&dekker, Profile::Fewest).repair.unwrap();
    let mixed = [(0, SC_STORE), (1, SC_LOAD), (2, FENCE_AFTER)];
    assert_eq!(changes(&found), mixed);
}

#[test]
fn what_only_refused_changes_repair_is_said_with_the_change() {
    let mut mp = problem(&named(
        "mp+sb",
        &[
            "d=1.rlx; f=1.rlx",
            "a=f.rlx; b=d.rlx",
            "x=1.rlx; a=y.rlx",
            "y=1.rlx; b=x.rlx",
        ],
    ));
    for point in 0..2 {
        for kind in mp.points[point].kinds() {
            mp.points[point].refuse(kind, "a system header");
        }
    }
    let outcome = searched(&mp, Profile::Fewest);
    let needed: Vec<_> = outcome
        .unrepairable
        .iter()
        .map(|n| (n.change.point, n.change.kind, n.refusal.as_str()))
        .collect();
    assert_eq!(needed, [(1, RELEASE, "a system header")]);
    assert!(!outcome.unrepairable[0].findings.is_empty());
    // The rest is repaired as if that were not there.
    let found = changes(&outcome.repair.unwrap());
    assert_eq!(found, [(4, FENCE_AFTER), (6, FENCE_AFTER)]);
}

#[test]
fn a_race_that_nothing_orders_is_set_aside() {
    let both = named(
        "race",
        &["write d 1; x=1.rlx; a=y.rlx", "write d 2; y=1.rlx; b=x.rlx"],
    );
    let outcome = searched(&problem(&both), Profile::Fewest);
    assert!(matches!(outcome.beyond_repair[..], [Finding::Race { .. }]));
    let found = changes(&outcome.repair.unwrap());
    assert_eq!(found, [(0, FENCE_AFTER), (2, FENCE_AFTER)]);
}

#[test]
fn sites_of_one_place_change_together() {
    // Both threads run the same code: my flag, then the other's.
    let sb = dekker(["rlx", "rlx"]);
    let all = problem(&sb);
    let merged = |a: usize, b: usize, orders| {
        let sites = [all.points[a].sites[0], all.points[b].sites[0]];
        ChangePoint::new(sites.to_vec(), orders)
    };
    let shared = Problem {
        points: vec![
            merged(0, 2, Orders::Store(StoreOrder::Relaxed)),
            merged(1, 3, Orders::Load(LoadOrder::Relaxed)),
        ],
        ..all.clone()
    };
    let found = searched(&shared, Profile::Fewest).repair.unwrap();
    assert_eq!(changes(&found), [(0, FENCE_AFTER)]);
    // A caller of its own is a point with fences only; one of the two is not enough.
    let caller = Problem {
        points: vec![
            ChangePoint::new(all.points[0].sites.clone(), Orders::None),
            ChangePoint::new(all.points[2].sites.clone(), Orders::None),
        ],
        ..all
    };
    let found = searched(&caller, Profile::Fewest).repair.unwrap();
    let fences = [(0, FENCE_AFTER), (1, FENCE_AFTER)];
    assert_eq!(changes(&found), fences);
}

#[test]
fn a_fence_on_the_slow_path_is_preferred() {
    // The same point in a hot loop and after it: x86 pays by the execution.
    let sb = dekker(["rlx", "rlx"]);
    let mut hot = problem(&sb);
    // Ten more runs of the first thread's store, alone.
    let alone: Vec<_> = hot.traces[0]
        .iter()
        .copied()
        .filter(|e| e.thread.0 == 0 || e.site == hot.points[0].sites[0])
        .collect();
    hot.traces.extend(vec![alone; 10]);
    let found = searched(&hot, Profile::X86).repair.unwrap();
    assert_eq!(changes(&found), [(1, FENCE_BEFORE), (2, FENCE_AFTER)]);
}

#[test]
fn a_search_without_time_or_cancelled_says_so() {
    let sb = problem(&dekker(["rlx", "rlx"]));
    let options = Options {
        budget: Some(Duration::ZERO),
        ..Options::default()
    };
    let outcome = repair(&sb, &options, |_| {}).unwrap();
    assert_eq!(outcome.end, SearchEnd::OutOfTime);
    assert!(outcome.repair.is_none());
    let options = Options {
        cancel: Some(Arc::new(AtomicBool::new(true))),
        ..Options::default()
    };
    let outcome = repair(&sb, &options, |_| {}).unwrap();
    assert_eq!(outcome.end, SearchEnd::Cancelled);
}

#[test]
fn a_search_cancelled_on_the_way_gives_the_best_so_far() {
    let iriw = problem(&named(
        "iriw",
        &["x=1.rlx", "y=1.rlx", "a=x.rlx; b=y.rlx", "c=y.rlx; d=x.rlx"],
    ));
    let cancel = Arc::new(AtomicBool::new(false));
    let options = Options {
        cancel: Some(cancel.clone()),
        ..Options::default()
    };
    let outcome = repair(&iriw, &options, |progress| {
        if progress.best_cost.is_some() {
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(outcome.end, SearchEnd::Cancelled);
    let best = outcome.repair.expect("it knew one");
    assert!(best.cost >= outcome.lower_bound);
    let left_out = unneeded(
        &iriw,
        &best.changes.iter().map(|c| c.change).collect::<Vec<_>>(),
        None,
    );
    assert_eq!(left_out.unwrap(), [] as [usize; 0]);
}

#[test]
fn what_is_not_needed_is_found() {
    let mp = problem(&named("mp", &["d=1.rlx; f=1.rlx", "a=f.rlx; b=d.rlx"]));
    let change = |point, kind| Change { point, kind };
    let with_too_much = [
        change(0, RELEASE),
        change(1, RELEASE),
        change(2, ACQUIRE),
        change(3, FENCE_BEFORE),
    ];
    // The fence would do for the acquire, but it comes last and goes first.
    assert_eq!(unneeded(&mp, &with_too_much, None).unwrap(), [3, 0]);
}

#[test]
fn the_same_problem_has_the_same_repair() {
    let iriw = problem(&named(
        "iriw",
        &["x=1.rlx", "y=1.rlx", "a=x.rlx; b=y.rlx", "c=y.rlx; d=x.rlx"],
    ));
    for profile in [Profile::Fewest, Profile::X86, Profile::Arm64] {
        let first = searched(&iriw, profile).repair;
        let alone = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        assert_eq!(alone.install(|| searched(&iriw, profile).repair), first);
    }
}
