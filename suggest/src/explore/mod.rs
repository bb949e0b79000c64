//! All runs of a program, up to the order of steps that do not depend on each other:
//! asks the explorer which are left, has them run, and says how far that came. Knows
//! nothing of what a finding is.

mod outcome;
mod part;
mod saved;

pub(crate) use outcome::{Exploration, Obstacle};
pub(crate) use part::{ExploredPart, put_together};
use part::{course_name, find_top};
pub(crate) use saved::{ExplorationKey, SavedExploration, SavedProgram};
use saved::{Schedule, ShownRun, Top};

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use anyhow::Context;
use wmfix_analysis::SiteId;
use wmfix_analysis::explore::{Actor, Assignment, Explorer, Run};

use crate::findings::Observation;
use crate::observe::ExploredRun;
use crate::run::{Deadline, interrupted};
use crate::shard_number::Shard;

/// How long the end of the time or an interrupt may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How an exploration is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplorePlan {
    /// When it ends at the latest.
    pub deadline: Deadline,
    /// How many runs at a time.
    pub jobs: usize,
}

/// Of this many runs it is seen to that the same schedule gives them again.
const MOST_REPEATED: usize = 16;
/// So many runs, at least, are made again at other addresses: a bit of one decides as
/// before in half of them.
const LEAST_MOVED: usize = 16;

/// Where a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// At the same addresses as all others.
    Home,
    /// At other addresses, in a process that shares nothing with the others.
    Elsewhere,
}

/// What an exploration begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// Nothing.
    Whole,
    /// One that was stopped.
    Stopped(&'a SavedProgram),
    /// The leaves that one part of several has.
    Part(Shard),
}

/// What a run came to, step by step.
type Course = Vec<(Actor, SiteId)>;

struct Shared<T> {
    explorer: Explorer,
    /// Runs to be repeated.
    samples: Vec<(Assignment, Course)>,
    outcome: Exploration,
    /// Runs that showed something for the first time.
    shown: Vec<ShownRun>,
    under_way: usize,
    stop: bool,
    failed: Option<anyhow::Error>,
    take: T,
}

/// What came of an exploration, and all that is needed to go on with it.
pub(crate) type Explored = (Exploration, SavedProgram);

/// Runs everything that there is to run, or what is left of it, or a part. `run` follows
/// an assignment; `take` is given what each run showed, and how far the exploration is,
/// and says whether that was shown for the first time.
pub(crate) fn explore(
    plan: ExplorePlan,
    start: Start<'_>,
    run: impl Fn(&Assignment, At) -> anyhow::Result<Observation> + Sync,
    end_all: impl Fn() + Sync,
    take: impl FnMut(Observation, &Exploration) -> bool + Send,
) -> anyhow::Result<Explored> {
    let mut shared = Shared {
        explorer: Explorer::default(),
        samples: Vec::new(),
        outcome: Exploration::default(),
        shown: Vec::new(),
        under_way: 0,
        stop: false,
        failed: None,
        take,
    };
    let mut top = None;
    match start {
        Start::Whole => {}
        Start::Stopped(saved) => {
            shared.explorer = saved.explorer().context("what was kept is damaged")?;
            shared.outcome.runs = saved.runs;
            shared.outcome.update(&shared.explorer.progress());
            shared.run_again(saved, plan, &run)?;
            top.clone_from(&saved.top);
        }
        Start::Part(shard) => match find_top(shard, plan, &run, |o, ran| shared.begin(o, ran))? {
            Ok((explorer, found)) => {
                shared.explorer = explorer;
                shared.outcome.runs = found.runs;
                shared.outcome.update(&shared.explorer.progress());
                top = Some(found);
            }
            Err(obstacle) => {
                shared.outcome.open = 1;
                shared.outcome.obstacles.insert(obstacle);
                return Ok((shared.outcome, SavedProgram::default()));
            }
        },
    }
    let shared = Mutex::new(shared);
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| work(plan, &shared, &changed, &run));
        }
        // Runs that are under way are ended when the time is.
        let mut state = shared.lock().expect("no panic while locked");
        while !state.is_over() {
            if let Some(obstacle) = ended(plan) {
                state.stop = true;
                state.outcome.obstacles.insert(obstacle);
                end_all();
            }
            let waited = changed.wait_timeout(state, LOOK_EVERY);
            state = waited.expect("no panic while locked").0;
        }
        changed.notify_all();
    });
    let mut shared = shared.into_inner().expect("no panic while locked");
    if let Some(error) = shared.failed {
        return Err(error);
    }
    if shared.outcome.is_complete() {
        let repeated = repeat(&shared.samples, plan, &run)?;
        shared.outcome.obstacles.extend(repeated);
    }
    let samples = shared.samples.iter().map(|(one, _)| Schedule::of(one));
    let mut saved = SavedProgram::of(&shared.explorer);
    saved.top = top;
    saved.runs = shared.outcome.runs;
    saved.samples = samples.collect();
    saved.shown = shared.shown;
    Ok((shared.outcome, saved))
}

/// Runs some of the schedules again: what the program takes from outside may have
/// decided what it did, and then the exploration has seen a part of that only.
fn repeat(
    samples: &[(Assignment, Course)],
    plan: ExplorePlan,
    run: &impl Fn(&Assignment, At) -> anyhow::Result<Observation>,
) -> anyhow::Result<Option<Obstacle>> {
    let moved = samples.len().max(LEAST_MOVED);
    let moved = samples
        .iter()
        .cycle()
        .take(moved)
        .map(|one| (one, At::Elsewhere));
    let again = samples.iter().map(|one| (one, At::Home));
    for ((assignment, course), at) in again.chain(moved) {
        if let Some(obstacle) = ended(plan) {
            return Ok(Some(obstacle));
        }
        let observation = run(assignment, at)?;
        let [again] = &observation.explored[..] else {
            return Ok(Some(Obstacle::NoTrace));
        };
        let again = course_of(&again.run);
        let pairs = course.iter().map(Some).chain([None]);
        let mut pairs = pairs.zip(again.iter().map(Some).chain([None]));
        if let Some((first, instead)) = pairs.find(|(one, other)| one != other) {
            let (actor, site) = *first.or(instead).unwrap_or(&course[0]);
            return Ok(Some(Obstacle::Diverged {
                expected: site,
                thread: actor.thread,
                instead: instead.map(|(actor, site)| (actor.thread, *site)),
            }));
        }
    }
    Ok(None)
}

/// A longer run is not put into other orders: who depends on whom takes the square of its
/// steps to find out, without an end in sight that the deadline could wait for.
pub(crate) const MOST_STEPS: usize = 5_000;

/// The steps of a run of one process, or why there are none.
fn sole_run(observation: &mut Observation) -> Result<ExploredRun, Obstacle> {
    let mut explored = std::mem::take(&mut observation.explored);
    match (explored.pop(), observation.processes == 1) {
        (Some(ran), true) if ran.run.steps.len() > MOST_STEPS => Err(Obstacle::TooLong),
        (Some(ran), true) if !observation.is_incomplete() => Ok(ran),
        (None, _) => Err(Obstacle::NoTrace),
        (Some(_), true) => Err(Obstacle::Incomplete),
        (Some(_), false) => Err(Obstacle::Processes),
    }
}

fn course_of(run: &Run) -> Course {
    let steps = run.steps.iter();
    steps.map(|step| (step.actor, step.site)).collect()
}

fn ended(plan: ExplorePlan) -> Option<Obstacle> {
    if interrupted() {
        Some(Obstacle::Interrupted)
    } else {
        plan.deadline.is_over().then_some(Obstacle::TimeUp)
    }
}

impl<T: FnMut(Observation, &Exploration) -> bool> Shared<T> {
    /// Nothing is left to run, or nothing more is to be run.
    fn is_over(&self) -> bool {
        self.under_way == 0 && (self.stop || self.explorer.progress().open == 0)
    }

    /// Makes those runs again that showed something, or are compared with others, before
    /// the exploration was stopped.
    fn run_again(
        &mut self,
        saved: &SavedProgram,
        plan: ExplorePlan,
        run: &impl Fn(&Assignment, At) -> anyhow::Result<Observation>,
    ) -> anyhow::Result<()> {
        let shown = saved.shown.iter().map(|one| (&one.schedule, false));
        let samples = saved.samples.iter().map(|one| (one, true));
        self.shown.clone_from(&saved.shown);
        for (schedule, is_sample) in shown.chain(samples) {
            if ended(plan).is_some() {
                continue;
            }
            let assignment = schedule.assignment();
            let mut observation = run(&assignment, At::Home)?;
            if observation.was_interrupted() {
                continue;
            }
            if let Some(ran) = observation.explored.pop() {
                self.outcome.note(&ran);
                if is_sample {
                    self.samples.push((assignment, course_of(&ran.run)));
                }
            }
            if !is_sample {
                (self.take)(observation, &self.outcome);
            }
        }
        Ok(())
    }

    /// Takes the first run of all: a part may have none of its own.
    fn begin(&mut self, observation: Observation, ran: &ExploredRun) {
        self.outcome.runs = 1;
        self.shown.push(ShownRun {
            schedule: Schedule::of(&Assignment::again(Vec::new(), Vec::new())),
            course: Some(course_name(&ran.run)),
        });
        self.outcome.note(ran);
        (self.take)(observation, &self.outcome);
    }

    /// Takes what came of an assignment.
    fn finish(&mut self, assignment: &Assignment, mut observation: Observation) {
        self.outcome.runs += 1;
        let mut is_new = false;
        let mut course = None;
        match sole_run(&mut observation) {
            Ok(ran) => {
                is_new = self.outcome.note(&ran);
                course = Some(course_name(&ran.run));
                self.follow(assignment, &ran);
            }
            // The others are run all the same.
            Err(obstacle @ Obstacle::TooLong) => {
                self.explorer.discard(assignment.leaf);
                self.outcome.obstacles.insert(obstacle);
            }
            Err(obstacle) => self.give_up(assignment, obstacle),
        }
        self.outcome.update(&self.explorer.progress());
        is_new |= (self.take)(observation, &self.outcome);
        if is_new {
            let schedule = Schedule::of(assignment);
            self.shown.push(ShownRun { schedule, course });
        }
    }

    /// Tells the explorer about a run.
    fn follow(&mut self, assignment: &Assignment, ran: &ExploredRun) {
        let last = assignment.prefix.len().saturating_sub(1);
        match self.explorer.finish(assignment.leaf, &ran.run) {
            Ok(_) => self.sample(assignment, &ran.run),
            // The thread had to wait where it was to go on.
            Err(diverged)
                if diverged.step == last
                    && ran.run.steps.get(last).map(|step| step.actor) != Some(diverged.actor) =>
            {
                self.explorer.discard(assignment.leaf);
            }
            Err(diverged) => {
                let instead = ran.run.steps.get(diverged.step);
                self.outcome.obstacles.insert(Obstacle::Diverged {
                    expected: diverged.site,
                    thread: diverged.actor.thread,
                    instead: instead.map(|step| (step.actor.thread, step.site)),
                });
                self.stop = true;
            }
        }
    }

    /// Keeps the first runs and ever fewer of the others.
    fn sample(&mut self, assignment: &Assignment, run: &Run) {
        let few = self.samples.len() < MOST_REPEATED / 2;
        let rare = self.outcome.runs.is_power_of_two();
        if few || rare && self.samples.len() < MOST_REPEATED {
            self.samples.push((assignment.clone(), course_of(run)));
        }
    }

    fn give_up(&mut self, assignment: &Assignment, obstacle: Obstacle) {
        self.explorer.give_back(assignment.leaf);
        self.outcome.obstacles.insert(obstacle);
        self.stop = true;
    }
}

fn work<T: FnMut(Observation, &Exploration) -> bool>(
    plan: ExplorePlan,
    shared: &Mutex<Shared<T>>,
    changed: &Condvar,
    run: &(impl Fn(&Assignment, At) -> anyhow::Result<Observation> + Sync),
) {
    let mut state = shared.lock().expect("no panic while locked");
    while !state.is_over() {
        let assignment = match state.stop || ended(plan).is_some() {
            true => None,
            false => state.explorer.assign(),
        };
        let Some(assignment) = assignment else {
            let waited = changed.wait_timeout(state, LOOK_EVERY);
            state = waited.expect("no panic while locked").0;
            continue;
        };
        state.under_way += 1;
        drop(state);
        let result = run(&assignment, At::Home);
        state = shared.lock().expect("no panic while locked");
        state.under_way -= 1;
        match result {
            Ok(observation) if observation.was_interrupted() => {
                state.explorer.give_back(assignment.leaf);
            }
            Ok(observation) => state.finish(&assignment, observation),
            Err(error) => {
                state.stop = true;
                state.failed.get_or_insert(error);
            }
        }
        changed.notify_all();
    }
}
