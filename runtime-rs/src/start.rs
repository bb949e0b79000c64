//! The beginning of the run and of each thread, and a thread's end.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use wmfix_analysis::AnalyzerConfig;
use wmfix_online::{BadTable, CheckConfig, SiteTable};
use wmfix_trace::{Header, Reader, RecordedOperation, Strategy as Named, WaitsFor, process_key_of};

use crate::allocations;
use crate::arena;
use crate::config::{RuntimeConfig, cannot_start};
use crate::directed::Directed;
use crate::environment;
use crate::filter::{self, plain};
use crate::finish;
use crate::free_run::FreeRun;
use crate::granules::{self, NoTable, ShadowStore};
use crate::lost_orders::LostOrders;
use crate::online::Online;
use crate::park::{HOLDER, WATCH_INTERVAL_MS, park};
use crate::random;
use crate::real;
use crate::recorder::Recorder;
use crate::scheduler::Scheduler;
use crate::stale_run::{StaleRun, StaleRunKind};
use crate::state::{self, State};
use crate::strategy::{AnyStrategy, Explore, Pct, Plan, Pos, Random, Replay, Seek};
use crate::sys;
use crate::thread::{Thread, phase};
use crate::thread_key::{self, settle};
use crate::tls;
use crate::turn::{self, Held, MODE, mode};
use crate::volatile;

const NOT_STARTED: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;

static START_STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);

/// Starts the runtime, if that has not happened yet.
#[inline]
pub(crate) fn ensure() {
    if START_STATE.load(Ordering::Acquire) == NOT_STARTED {
        start();
    }
}

#[cold]
fn start() {
    if START_STATE
        .compare_exchange(NOT_STARTED, STARTING, Ordering::SeqCst, Ordering::SeqCst)
        .is_err()
    {
        return;
    }
    // Built with wmfix but not run by it, as build systems do: stay out of it.
    let asked = [
        c"WMFIX_OUT",
        c"WMFIX_STRATEGY",
        c"WMFIX_SEED",
        c"WMFIX_REPLAY",
    ];
    if asked.iter().all(|name| sys::variable(name).is_none()) {
        START_STATE.store(STARTED, Ordering::Release);
        return;
    }
    real::find_allocator();
    real::find_functions();
    // SAFETY: the destructor takes what `settle` puts under the key.
    if !unsafe { thread_key::create(thread_ends) } {
        cannot_start(format_args!("no thread-specific key is left"));
    }
    environment::take_server_address();
    let config = RuntimeConfig::read();
    volatile::configure(config.volatile);
    begin_run(config, false);
    finish::watch_for_the_end();
    START_STATE.store(STARTED, Ordering::Release);
}

/// Begins a trace whose only thread is the calling one.
pub(crate) fn begin_run(config: RuntimeConfig, forked: bool) {
    let strategy = config.strategy;
    let mut random_seed = config.seed;
    #[cfg(not(test))]
    if strategy == Named::Explore || environment::server_address().is_some() {
        crate::unseen::watch();
    }
    let chosen = match strategy {
        Named::Mixed => AnyStrategy::mixed(config.seed, config.length, config.depth),
        Named::Seek => AnyStrategy::Seek(Seek::new(config.seed)),
        Named::Pos => AnyStrategy::Pos(Pos::new(config.seed)),
        Named::Pct => AnyStrategy::Pct(Pct::new(config.seed, config.length, config.depth)),
        Named::Random | Named::Os => AnyStrategy::Random(Random::new(config.seed)),
        Named::Replay => recorded_schedule(&config, &mut random_seed),
        Named::Explore => asked_steps(&config),
    };
    if !forked {
        random::begin(strategy, random_seed, &command_line());
    }
    let online = config.out.as_ref().and_then(|_| checker(&config));
    let recorder = match &config.out {
        Some(folder) => new_trace(folder, &config, forked, online.is_some()),
        None => Recorder::off(),
    };
    WATCH_INTERVAL_MS.store(config.patience.min(60_000) as u32, Ordering::Relaxed);
    let main = if forked {
        tls::current()
    } else {
        Thread::new(0, phase::OUTSIDE)
    };
    let mut scheduler = Scheduler::new(chosen);
    scheduler.any_time = config.any_time;
    // SAFETY: asks who is calling.
    scheduler.add(main, unsafe { libc::pthread_self() });
    // Where the system schedules, no run can be repeated.
    let stale_run = match strategy {
        Named::Os => None,
        _ => stale_run(&config, forked),
    };
    let (filters, races) = (config.filter, config.races && recorder.is_on());
    // What came of a stale choice is told by the names of the run that it was made in.
    let shows_findings = config.stale.is_none() && config.weak.is_none();
    let is_recorded = online.is_none() || recorder.has_beside();
    allocations::set_recorded(recorder.is_on() && shows_findings && is_recorded);
    let mut state = State::new(config, scheduler, recorder, online);
    // SAFETY: the calling thread's own record.
    let main_record = unsafe { &mut *main };
    filter::set_plain_mode(if races { plain::ALL } else { plain::OFF });
    if filters {
        state.start_filtering(main_record);
    }
    state.stale_run = stale_run.map(Box::new);
    #[cfg(not(test))]
    if strategy == Named::Explore && !forked {
        crate::unseen::begin(&mut state.recorder);
    }
    state::install(state);
    if !forked {
        settle(main);
        thread_key::find_own_stack(main_record);
    }
    HOLDER.store(main, Ordering::SeqCst);
    let mode = match strategy {
        Named::Os => mode::OS,
        _ => mode::CONTROLLED,
    };
    MODE.store(mode, Ordering::SeqCst);
}

/// The old writes that this process is to take.
fn stale_run(config: &RuntimeConfig, forked: bool) -> Option<StaleRun> {
    if config.stale.is_none() && config.weak.is_none() {
        return None;
    }
    let mut targets = config.stale.clone().map_or_else(Vec::new, |stale| stale.0);
    let key = process_key_of(&command_line(), forked);
    targets.retain(|target| target.process.is_none_or(|process| process == key));
    let kind = match config.weak {
        Some(strategy) => {
            let rule = config.model.release_sequences;
            StaleRunKind::Free(FreeRun::new(strategy, rule, config.seed, targets))
        }
        None => StaleRunKind::Directed(Directed::new(targets.first().copied()?)),
    };
    let mut run = StaleRun::new(kind).undoing(config.undone);
    run.lost = lost_orders(config);
    Some(run)
}

/// The orders that the run loses. Without its table it would be another run.
fn lost_orders(config: &RuntimeConfig) -> Option<LostOrders> {
    let lost = config.lost.clone()?;
    let Some(path) = config.sites.as_deref() else {
        cannot_start(format_args!("WMFIX_LOSE needs WMFIX_SITES"));
    };
    match site_table(path) {
        Ok(table) => Some(LostOrders::new(lost, table)),
        Err(why) => cannot_start(format_args!("{why}")),
    }
}

/// Why there is no table of sites.
enum NoSiteTable<'a> {
    Unreadable(&'a str, i32),
    Bad(&'a str, BadTable),
}

impl core::fmt::Display for NoSiteTable<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unreadable(name, errno) => write!(f, "cannot read {name} (errno {errno})"),
            Self::Bad(name, error) => write!(f, "{name}: {error}"),
        }
    }
}

/// Reads a table of sites; the path is ended by a zero.
fn site_table(path: &[u8]) -> Result<SiteTable, NoSiteTable<'_>> {
    let name = core::str::from_utf8(&path[..path.len() - 1]).unwrap_or("?");
    let bytes = sys::read_file(path).map_err(|errno| NoSiteTable::Unreadable(name, errno))?;
    SiteTable::decode(&bytes).map_err(|error| NoSiteTable::Bad(name, error))
}

/// What checks the run while it goes on; `None` if it is to be recorded. Where a
/// stale choice is made, runs are recorded.
fn checker(config: &RuntimeConfig) -> Option<Box<Online>> {
    let path = config.check.as_deref()?;
    if config.stale.is_some() || config.weak.is_some() {
        return None;
    }
    let table = match site_table(path) {
        Ok(table) => table,
        Err(why) => {
            sys::say(format_args!("wmfix: {why}: the run is recorded\n"));
            return None;
        }
    };
    let config = CheckConfig {
        analyzer: AnalyzerConfig {
            model: config.model,
            races: config.races,
            ..AnalyzerConfig::default()
        },
        predict: config.predict,
    };
    arena::set_reserve_aside();
    granules::set_reads_count(config.predict);
    let store = match config.analyzer.races {
        false => ShadowStore::default(),
        true => match ShadowStore::new() {
            Ok(store) => store,
            Err(NoTable) => {
                sys::say(format_args!(
                    "wmfix: no room for shadow memory in the address space: the run is recorded\n"
                ));
                return None;
            }
        },
    };
    Some(Box::new(Online::new(config, table, store)))
}

fn new_trace(folder: &[u8], config: &RuntimeConfig, forked: bool, checked: bool) -> Recorder {
    let command = command_line();
    // SAFETY: these take nothing.
    let (pid, parent) = unsafe {
        (
            sys::raw_syscall(libc::SYS_getpid, [0; 6]) as u32,
            sys::raw_syscall(libc::SYS_getppid, [0; 6]) as u32,
        )
    };
    let header = Header {
        pid,
        parent,
        started: sys::clock(libc::CLOCK_REALTIME),
        seed: config.seed,
        strategy: config.strategy,
        volatile: config.volatile,
        races: config.races,
        forked,
        checked,
        command: Vec::new(),
    };
    let limits = (config.trace_limit, config.event_limit);
    let name = core::str::from_utf8(&folder[..folder.len() - 1]).unwrap_or("?");
    let mut recorder = match Recorder::create(folder, &header, &command, limits) {
        Ok(recorder) => recorder,
        Err(errno) => {
            sys::say(format_args!(
                "wmfix: cannot write a trace into {name} (errno {errno}): the run goes on unrecorded\n"
            ));
            return Recorder::off();
        }
    };
    // What the system has scheduled once cannot be had again, nor what a library has
    // whose threads meet in it.
    if checked && (config.strategy == Named::Os || real::has_openmp()) {
        let header = Header {
            checked: false,
            ..header
        };
        if let Err(errno) = recorder.record_beside(&header, &command) {
            sys::say(format_args!(
                "wmfix: cannot write a second trace into {name} (errno {errno}): the run goes on unrecorded, but checked\n"
            ));
        }
    }
    recorder
}

fn asked_steps(config: &RuntimeConfig) -> AnyStrategy {
    let text = config.explore.unwrap_or_default();
    match Explore::parse(text) {
        Some(explore) => AnyStrategy::Explore(explore),
        None => cannot_start(format_args!(
            "WMFIX_EXPLORE={text}: expected threads as in 1,2,1;3"
        )),
    }
}

/// The schedule to follow, and the seed of the run that it is from.
fn recorded_schedule(config: &RuntimeConfig, seed: &mut u64) -> AnyStrategy {
    let path = config.replay.as_deref().unwrap_or(b"\0");
    let name = core::str::from_utf8(&path[..path.len() - 1]).unwrap_or("?");
    let bytes = match sys::read_file(path) {
        Ok(bytes) => bytes,
        Err(errno) => cannot_start(format_args!("cannot read {name} (errno {errno})")),
    };
    let reader = || match Reader::new(&bytes) {
        Ok(reader) => reader,
        Err(error) => cannot_start(format_args!("{name}: {error}")),
    };
    *seed = reader().header().seed;
    if reader().header().strategy == Named::Explore {
        return AnyStrategy::Explore(Explore::again(reader()));
    }
    match Plan::new(reader()) {
        Some(plan) => AnyStrategy::Plan(plan),
        None => AnyStrategy::Replay(Replay::new(reader())),
    }
}

fn command_line() -> Vec<u8> {
    sys::read_file(b"/proc/self/cmdline\0").unwrap_or_default()
}

/// A new thread's first act: waits for its first turn. What it is to run is
/// given back to the assembly that called.
pub(crate) unsafe extern "C" fn thread_begins(thread: *mut Thread) -> Task {
    settle(thread);
    // SAFETY: the thread's own record; the creator has filled it.
    unsafe {
        sys::block_signals((*thread).blocked_signals);
        // One that a library has made runs without the turn until it calls us.
        if (*thread).starts_away {
            (*thread).openmp.in_library = true;
            (*thread).phase.store(phase::PREEMPTED, Ordering::SeqCst);
        } else {
            if MODE.load(Ordering::SeqCst) == mode::CONTROLLED {
                park(thread);
            } else {
                await_announcement(&(*thread).announced);
            }
            (*thread).phase.store(phase::OUTSIDE, Ordering::SeqCst);
        }
        (*thread).inside = false;
        Task {
            routine: (*thread).routine,
            argument: (*thread).argument,
        }
    }
}

/// Under `os` a thread may run before its creator has said that it exists.
fn await_announcement(announced: &AtomicBool) {
    const NAP_NS: u32 = 10_000;
    while !announced.load(Ordering::Acquire) {
        sys::nap(NAP_NS);
    }
}

/// What a thread is to run.
#[repr(C)]
pub(crate) struct Task {
    routine: *mut c_void,
    argument: *mut c_void,
}

/// A thread's last act. libc runs the destructors of keys in rounds; ours puts
/// itself off to the last one, so that whatever the program does there is seen.
unsafe extern "C" fn thread_ends(value: *mut c_void) {
    let thread = value.cast::<Thread>();
    // SAFETY: what `settle` put under the key is this thread's own record.
    let rounds = unsafe { &mut (*thread).rounds };
    *rounds = rounds.saturating_sub(1);
    if *rounds > 0 {
        thread_key::keep(thread);
        return;
    }
    if let Some(held) = turn::enter() {
        end_thread(held);
    }
}

fn end_thread(mut held: Held) {
    let me = held.thread().id;
    let context = held.context(0);
    // The stack and the thread-local storage in it are used again by others.
    let low = held.thread().stack.0.load(Ordering::Relaxed);
    let high = held.thread().stack.1.load(Ordering::Relaxed);
    if me != 0 && low < high {
        held.state().reclaim(context, low, high - low);
        held.thread().stack.1.store(low, Ordering::Relaxed);
    }
    held.leave_meetings(context);
    #[cfg(not(test))]
    crate::misuse::thread_ends(&mut held, context);
    held.record(context, &RecordedOperation::Exit);
    let (thread, state) = held.parts();
    state.exit(thread);
    held.thread().release_frames();
    let scheduler = &mut held.state().scheduler;
    scheduler.end(me);
    scheduler.wake_all(WaitsFor::Thread(wmfix_trace::ThreadId(me)));
    held.leave_for_good();
}
