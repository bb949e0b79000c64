//! What a test notices: whether it fails when memory orders are lost, or a store is
//! undone. Weak runs take orders as data, so that nothing is built for this. A test that
//! notices none of it by how it ends looks at nothing: what stale values do to it says
//! nothing about the code that it runs.

mod orders;
mod stores;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use wmfix_analysis::SiteId;
use wmfix_trace::{LostOrder, StaleTargets};

use super::directed_run::RunRecord;
use super::interleavings::Interleavings;
use super::judge::{HarmPlan, cannot_try, hangs_after};
use super::parallel::each;
use super::runner::Runner;
use super::{Effect, UntriedReason};
use crate::cli::WeakChoice;
use crate::findings::{CollectedFindings, EndCause};
use crate::observe::{EventKind, Places};
use crate::run::{Launch, RunEnd, RunFolders};
use crate::subject::Subject;
use crate::symbols::SourcePoint;

pub(crate) use orders::Loss;

/// Schedules from which orders and stores are taken.
const SCHEDULES: u64 = 8;

/// Stores that are undone, one in a run.
const MOST_STORES: usize = 32;

/// So many of them before it is asked whether that is enough.
const STORES_AT_A_TIME: usize = 8;

/// A run without a store takes this many times as many steps as one with all of them has
/// events at most, and this many more.
const STEPS_FACTOR: u64 = 8;
const MORE_STEPS: u64 = 10_000;

/// Runs in which an order is lost.
const RUNS_PER_ORDER: usize = 40;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only whether the test notices anything.
    Whether,
    /// Every order that was reached.
    EveryOrder,
}

/// What the loss of an order came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// The test failed.
    Failure,
    /// The race detector, which looks in every test, found a race or a use of freed
    /// memory, and the test did not fail.
    Race,
    /// Nothing.
    Nothing,
}

/// Where a place stands in the text, and what is done there: in every run the same, while
/// sites have their numbers by which run was read first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    point: Option<SourcePoint>,
    kind: EventKind,
    site: SiteId,
}

impl Position {
    /// The position of the place that a site is shown as.
    fn of(site: SiteId, places: &Places) -> Self {
        let site = places.get(site).reported_site;
        let place = places.get(site);
        Self {
            point: place.point.clone(),
            kind: place.kind,
            site,
        }
    }
}

/// What made a test fail.
#[derive(Clone, Debug)]
pub(crate) enum SeenBy {
    /// This store was undone, which this access reads.
    Store { store: SiteId, reader: SiteId },
    /// This order was lost.
    Order(Loss),
}

/// What the test of a program notices.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    /// Which of the programs.
    pub(crate) program: usize,
    /// The first thing that made it fail.
    pub(crate) seen_by: Option<SeenBy>,
    /// How many stores were undone, and how many of these it noticed.
    pub(crate) stores: (usize, usize),
    /// The orders that were lost, and what that came to.
    pub(crate) orders: Vec<(Loss, Noticed)>,
    /// Everything was tried that was to be.
    pub(crate) is_complete: bool,
    /// Why nothing was.
    pub(crate) untried: Option<UntriedReason>,
}

impl Notice {
    fn of(program: usize) -> Self {
        Self {
            program,
            seen_by: None,
            stores: (0, 0),
            orders: Vec::new(),
            is_complete: true,
            untried: None,
        }
    }

    /// Whether the test has been seen to look at anything.
    pub(crate) fn sees(&self) -> bool {
        self.seen_by.is_some()
    }
}

/// What the tests of these programs notice.
pub(crate) fn notice(
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    subject: &Subject,
    plan: HarmPlan<'_>,
    (programs, extent): (&BTreeSet<usize>, Extent),
) -> anyhow::Result<Vec<Notice>> {
    let folders = RunFolders::new()?;
    let mut notices = Vec::new();
    for (number, &program) in programs.iter().enumerate() {
        let mut notice = Notice::of(program);
        notice.untried = cannot_try(plan);
        if notice.untried.is_none() {
            let steps = (collected.tallies.get(&program)).and_then(|tally| tally.steps);
            let part = 1.0 / (programs.len() - number) as f64;
            let mut measurement = Measurement {
                launch: &subject.commands[program].launch.as_far_as(steps),
                extent,
                runner: Runner {
                    options: plan.options,
                    places,
                    folders: &folders,
                    deadline: plan.deadline.share(part),
                    limit: Duration::from_secs_f64(plan.options.timeout),
                },
            };
            let seen = Interleavings::new(collected, program, places);
            measurement.make(seen, &mut notice)?;
        }
        notices.push(notice);
    }
    Ok(notices)
}

/// The measurement of one program.
struct Measurement<'a> {
    launch: &'a Launch,
    extent: Extent,
    runner: Runner<'a>,
}

impl Measurement<'_> {
    fn make(&mut self, mut seen: Interleavings, notice: &mut Notice) -> anyhow::Result<()> {
        let options = self.runner.options;
        let longest = self.runner.limit;
        let newest = self.launch.with_choices(&StaleTargets(Vec::new()));
        let mut stores = stores::Stores::default();
        let mut most_events = 0;
        let mut losses = orders::Losses::default();
        for seed in (0..SCHEDULES).map(|number| options.seed.wrapping_add(number)) {
            let started = Instant::now();
            let (record, processes) = self.runner.run_with_traces(&newest, seed)?;
            if record.ended == RunEnd::Interrupted {
                break;
            }
            self.runner.limit = hangs_after(started.elapsed(), longest);
            seen.add(&record);
            for (_, decoded) in &processes {
                losses.add(decoded, self.runner.places);
            }
            // A store is named by its number in a process.
            if let [(_, decoded)] = &processes[..] {
                stores.add(seed, decoded, self.runner.places);
                most_events = most_events.max(decoded.events.len() as u64);
            }
        }
        // Whoever waits for what was undone goes on for long.
        let steps = STEPS_FACTOR * most_events + MORE_STEPS;
        self.undo(&stores.few(MOST_STORES), steps, &seen, notice)?;
        if self.extent == Extent::Whether && notice.sees() {
            return Ok(());
        }
        self.lose(&losses.all(), &mut seen, notice)
    }

    /// Undoes stores, one in a run, and looks whether the test fails.
    fn undo(
        &self,
        stores: &[stores::Store],
        steps: u64,
        seen: &Interleavings,
        notice: &mut Notice,
    ) -> anyhow::Result<()> {
        let runner = self.runner;
        for part in stores.chunks(STORES_AT_A_TIME) {
            let records = each(
                runner.options.jobs(),
                part.len(),
                runner.deadline,
                |number| {
                    let launch = self.launch.undoing(part[number].name).with_steps(steps);
                    runner.run(&launch, part[number].seed)
                },
            )?;
            notice.is_complete &= records.len() == part.len();
            for (number, record) in records {
                notice.stores.0 += 1;
                // Whoever waits for a value that never comes waits in any test.
                let effect = seen.difference(&record);
                if effect.is_some_and(Effect::is_failure) && !hangs(&record) {
                    notice.stores.1 += 1;
                    let stores::Store { site, reader, .. } = part[number];
                    let [store, reader] = [site, reader].map(|site| self.shown(site));
                    notice
                        .seen_by
                        .get_or_insert(SeenBy::Store { store, reader });
                }
            }
            if self.extent == Extent::Whether && notice.sees() {
                break;
            }
        }
        Ok(())
    }

    /// Loses orders, one after the other.
    fn lose(
        &self,
        losses: &[Loss],
        seen: &mut Interleavings,
        notice: &mut Notice,
    ) -> anyhow::Result<()> {
        let runner = self.runner;
        let options = runner.options;
        let free = self.launch.free(WeakChoice::Mixed);
        let seeds = |launch: &Launch| {
            each(options.jobs(), RUNS_PER_ORDER, runner.deadline, |number| {
                let seed = options.seed.wrapping_add(number as u64);
                Ok((seed, runner.run(launch, seed)?))
            })
        };
        // What happens without any loss says nothing about one.
        for (_, (_, record)) in seeds(&free)? {
            seen.add(&record);
        }
        let folder = runner.folders.take()?;
        let table = folder.path().join("sites");
        let bytes = {
            let places = runner.places.lock().expect("no panic while locked");
            places.listed.encode()
        };
        std::fs::write(&table, bytes)
            .with_context(|| format!("cannot write {}", table.display()))?;
        for loss in losses {
            if runner.deadline.is_over() {
                notice.is_complete = false;
                return Ok(());
            }
            let lost = LostOrder {
                sites: self.sites(loss.site),
                order: loss.left.order,
                failure: loss.left.failure,
            };
            let launch = free.losing(&lost, &table);
            let mut noticed = Noticed::Nothing;
            for (_, (seed, record)) in seeds(&launch)? {
                let Some(effect) = seen.difference(&record) else {
                    continue;
                };
                if noticed == Noticed::Failure || !is_weak(effect) {
                    continue;
                }
                if self.is_of_the_loss(seed, &record, seen)? {
                    noticed = match effect.is_failure() {
                        true => Noticed::Failure,
                        false => Noticed::Race,
                    };
                }
            }
            notice.orders.push((*loss, noticed));
            if noticed == Noticed::Failure {
                notice.seen_by.get_or_insert(SeenBy::Order(*loss));
                if self.extent == Extent::Whether {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether a run with a loss came to what the same choices, as far as they are
    /// allowed without it, do not come to. What they do come to was there before.
    fn is_of_the_loss(
        &self,
        seed: u64,
        record: &RunRecord,
        seen: &mut Interleavings,
    ) -> anyhow::Result<bool> {
        let choices = record.taken.iter().map(|choice| choice.target);
        let launch = self.launch.with_choices(&StaleTargets(choices.collect()));
        let control = self.runner.run(&launch, seed)?;
        if control.ended == RunEnd::Interrupted {
            return Ok(false);
        }
        seen.add(&control);
        Ok(seen.difference(record).is_some_and(is_weak))
    }

    /// All sites of the operation that one stands for.
    fn sites(&self, site: SiteId) -> Vec<u32> {
        let places = self.runner.places.lock().expect("no panic while locked");
        let same = places.iter();
        let same = same.filter(|(_, place)| place.reported_site == site);
        same.map(|(site, _)| site.0).collect()
    }

    fn shown(&self, site: SiteId) -> SiteId {
        let places = self.runner.places.lock().expect("no panic while locked");
        places.get(site).reported_site
    }
}

/// Whether a run failed, or came to what the race detector finds in every test.
fn is_weak(effect: Effect) -> bool {
    effect.is_failure() || matches!(effect, Effect::Race { .. } | Effect::FreedMemory(_))
}

fn hangs(record: &RunRecord) -> bool {
    let waits = |cause| matches!(cause, EndCause::Deadlock | EndCause::Livelock);
    record.ended == RunEnd::TimedOut
        || record.ended_early
        || record.failed.iter().any(|failed| waits(failed.end.cause))
}
