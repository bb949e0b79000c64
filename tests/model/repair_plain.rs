//! Plain accesses that a repair may make atomic, against brute force: no set of changes
//! with fewer such accesses, or with as many at a lower cost, repairs the program.

use std::collections::BTreeSet;

use wmfix_analysis::{AnalyzerConfig, Bytes, Event, Operation, SiteId};
use wmfix_repair::{
    Change, ChangeKind, ChangePoint, Options, Orders, Problem, Profile, SearchEnd, costs, repair,
};
use wmfix_tests::litmus::{Instruction, Profile as Shape, Program, Rng, program, random};
use wmfix_tests::repairing::{apply_at, is_repaired, points, traces};

/// A program with plain accesses, and the same with relaxed ones in their place.
struct Case {
    plain: Program,
    atomic: Program,
    sites: BTreeSet<SiteId>,
}

impl Case {
    /// The accesses to some locations of a program without conditions as plain ones.
    fn new(atomic: &Program, names: &[&str]) -> Self {
        let (mut plain, mut sites) = (atomic.clone(), BTreeSet::new());
        for (thread, instructions) in atomic.threads.iter().enumerate() {
            for (at, instruction) in instructions.iter().enumerate() {
                let made = match *instruction {
                    Instruction::Load { location, .. } => Instruction::Read { location },
                    Instruction::Store {
                        location, value, ..
                    } => Instruction::Write { location, value },
                    _ => continue,
                };
                let location = instruction.atomic_location().expect("an access");
                if names.contains(&atomic.locations[usize::from(location.0)].as_str()) {
                    plain.threads[thread][at] = made;
                    sites.insert(atomic.site(thread, at));
                }
            }
        }
        Self {
            plain,
            atomic: atomic.clone(),
            sites,
        }
    }

    /// Whether some location is accessed in both ways, or an access is no load or store.
    fn is_mixed(&self) -> bool {
        let plain: Vec<_> = (self.plain.instructions())
            .filter_map(Instruction::plain_location)
            .collect();
        let mut atomic = (self.plain.instructions()).filter_map(Instruction::atomic_location);
        atomic.any(|location| plain.contains(&location))
    }

    /// The SC runs, in which the plain accesses have their places in memory.
    fn problem(&self) -> Problem {
        let made_plain = |mut event: Event| {
            let bytes = |location: wmfix_analysis::LocationId| Bytes {
                address: 4096 + 16 * u64::from(location.0),
                size: 4,
            };
            if self.sites.contains(&event.site) {
                event.operation = match event.operation {
                    Operation::Load { location, .. } => {
                        let bytes = bytes(location);
                        Operation::Read { bytes }
                    }
                    Operation::Store { location, .. } => {
                        let bytes = bytes(location);
                        Operation::Write { bytes }
                    }
                    other => other,
                };
            }
            event
        };
        let runs = traces(&self.atomic).into_iter();
        let runs = runs.map(|run| run.into_iter().map(made_plain).collect());
        Problem {
            traces: runs.collect(),
            points: self.points(),
            analysis: AnalyzerConfig {
                races: true,
                ..AnalyzerConfig::default()
            },
            ..Problem::default()
        }
    }

    /// The accesses as points. Without fences every set of changes can be tried.
    fn points(&self) -> Vec<ChangePoint> {
        let mut points = points(&self.atomic);
        for point in &mut points {
            if self.sites.contains(&point.sites[0]) {
                point.orders = match point.orders {
                    Orders::Load(_) => Orders::PlainRead,
                    _ => Orders::PlainWrite,
                };
            }
            for kind in point.kinds().into_iter().filter(|k| k.is_new_fence()) {
                point.refuse(kind, "no fences");
            }
        }
        points
    }

    /// The program itself with changes.
    fn changed(&self, changes: &[Change]) -> Program {
        let points = self.points();
        let mut program = self.plain.clone();
        for change in changes {
            let site = points[change.point].sites[0];
            for (thread, instructions) in program.threads.iter_mut().enumerate() {
                for (at, instruction) in instructions.iter_mut().enumerate() {
                    if self.atomic.site(thread, at) == site {
                        *instruction = self.atomic.threads[thread][at];
                    }
                }
            }
        }
        apply_at(&program, &points, changes)
    }

    fn promotions(&self, changes: &[Change]) -> usize {
        let points = self.points();
        let plain = changes.iter().filter(|c| points[c.point].orders.is_plain());
        plain.count()
    }

    /// Every set of changes.
    fn sets(&self) -> Vec<Vec<Change>> {
        let mut sets: Vec<Vec<Change>> = vec![Vec::new()];
        for (number, point) in self.points().iter().enumerate() {
            let kinds: Vec<ChangeKind> = point.kinds();
            let kinds = kinds.into_iter().filter(|kind| !kind.is_new_fence());
            let more: Vec<Vec<Change>> = kinds
                .flat_map(|kind| {
                    let change = Change {
                        point: number,
                        kind,
                    };
                    let with = |set: &Vec<Change>| [&set[..], &[change]].concat();
                    sets.iter().map(with).collect::<Vec<_>>()
                })
                .collect();
            sets.extend(more);
        }
        sets
    }

    /// Repairs the program, and tries everything that would be better. How many plain
    /// accesses became atomic; `None` if nothing removes all findings.
    fn judge(&self, profile: Profile) -> Option<usize> {
        let program = &self.plain;
        let problem = self.problem();
        let options = Options {
            profile,
            ..Options::default()
        };
        let outcome = repair(&problem, &options, |_| {}).unwrap();
        assert_eq!(outcome.end, SearchEnd::Optimal, "{program}");
        if !outcome.beyond_repair.is_empty() || !outcome.unrepairable.is_empty() {
            return None;
        }
        let found = outcome.repair.expect("a search that ends has a repair");
        let changes: Vec<Change> = found.changes.iter().map(|c| c.change).collect();
        let repaired = self.changed(&changes);
        assert!(is_repaired(&repaired), "{profile:?}: {program}\n{repaired}");
        let price = |changes: &[Change]| {
            let traces = problem.traces.iter().map(Vec::as_slice);
            let cost: u64 = costs(profile, &problem.points, traces, changes)
                .iter()
                .sum();
            (self.promotions(changes), cost)
        };
        let reached = price(&changes);
        assert_eq!(reached.1, found.cost, "{program}");
        assert_eq!(outcome.lower_bound, found.cost, "{program}");
        for better in self.sets().iter().filter(|set| price(set) < reached) {
            let changed = self.changed(better);
            assert!(
                !is_repaired(&changed),
                "{profile:?}: {program}\n{repaired}\nbetter: {changed}"
            );
        }
        Some(reached.0)
    }
}

fn named(threads: &[&str], plain: &[&str]) -> Case {
    Case::new(&program("named", threads).unwrap(), plain)
}

/// A flag that waits is atomic in either program; what it guards needs no change.
#[test]
fn orders_come_before_atomic_accesses() {
    let message = named(&["d=1.rlx; f=1.rlx", "wait(f==1).rlx; a=d.rlx"], &["d"]);
    assert_eq!(message.judge(Profile::Portable), Some(0));
    let bare = named(&["d=1.rlx; f=1.rlx", "a=f.rlx; b=d.rlx"], &["d"]);
    assert_eq!(bare.judge(Profile::Portable), Some(2));
}

#[test]
fn store_buffering_of_plain_words_takes_seq_cst_accesses() {
    let case = named(&["x=1.rlx; a=y.rlx", "y=1.rlx; b=x.rlx"], &["x", "y"]);
    assert_eq!(case.judge(Profile::Portable), Some(4));
}

#[test]
fn of_random_programs_the_fewest_plain_accesses_become_atomic() {
    let mut rng = Rng::new(71);
    let shape = Shape {
        threads: 2,
        accesses: 3,
        locations: 3,
        sc: 10,
        sc_fence: 0,
        weak_fence: 0,
        relaxed: 70,
        rmw: 0,
        ..Shape::PLAIN
    };
    let (mut tried, mut promoted) = (0, 0);
    while tried < 40 {
        let program = random(&mut rng, &shape);
        let count = rng.range(1, 2);
        let names: Vec<&str> = program.locations.iter().map(String::as_str).collect();
        let case = Case::new(&program, &names[..count.min(names.len())]);
        let is_small = case.points().len() <= 5 && !case.sites.is_empty();
        let has_conditions = program.instructions().any(|instruction| {
            matches!(
                instruction,
                Instruction::SkipIf { .. } | Instruction::SkipUnless { .. }
            )
        });
        if !is_small || has_conditions || case.is_mixed() || is_repaired(&case.plain) {
            continue;
        }
        for profile in [Profile::Fewest, Profile::Portable] {
            let Some(made_atomic) = case.judge(profile) else {
                continue;
            };
            promoted += made_atomic;
        }
        tried += 1;
    }
    assert!(promoted > 60, "{promoted}");
}
