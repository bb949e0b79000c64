//! The settings of a run: the `WMFIX_*` environment, read once. The variables
//! are described in `docs/trace-format.md`.

use alloc::vec::Vec;
use core::ffi::CStr;
use core::str::FromStr;

use wmfix_analysis::{Model, ReleaseSequences};
use wmfix_trace::{LostOrder, StaleTargets, Strategy, UndoneStore, Volatile};

use crate::free_run::WeakStrategy;
use crate::sys;

/// The exit code of a program whose runtime could not start.
pub(crate) const CANNOT_START_EXIT_CODE: i32 = 125;

const DEFAULT_TRACE_LIMIT_BYTES: u64 = 1 << 30;
const DEFAULT_EVENT_LIMIT: u64 = 50_000_000;

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct RuntimeConfig {
    /// The folder for traces, ended by a zero; `None`: nothing is recorded.
    pub(crate) out: Option<Vec<u8>>,
    /// The trace to replay, ended by a zero.
    pub(crate) replay: Option<Vec<u8>>,
    pub(crate) seed: u64,
    pub(crate) strategy: Strategy,
    /// The expected number of choices.
    pub(crate) length: Option<u64>,
    /// The number of priority changes.
    pub(crate) depth: Option<u64>,
    pub(crate) races: bool,
    /// Check the run while it goes on, with this table of sites (ended by a zero),
    /// instead of recording it.
    pub(crate) check: Option<Vec<u8>>,
    /// What SC accesses and fences mean to the check; what continues a release
    /// sequence, to free runs as well.
    pub(crate) model: Model,
    /// Whether the check predicts races.
    pub(crate) predict: bool,
    /// Leave out what adds nothing to what the trace says.
    pub(crate) filter: bool,
    pub(crate) volatile: Volatile,
    /// How large a trace may become, in bytes.
    pub(crate) trace_limit: u64,
    /// How many records a trace may have: whoever reads it needs more for each.
    pub(crate) event_limit: u64,
    /// After how many steps, while there are several threads, the run ends.
    pub(crate) step_limit: u64,
    /// The steps that an exploration asks for.
    pub(crate) explore: Option<&'static str>,
    /// The stale choices to be made.
    pub(crate) stale: Option<StaleTargets>,
    /// How accesses of a free run choose what they take.
    pub(crate) weak: Option<WeakStrategy>,
    /// The orders that a free run loses.
    pub(crate) lost: Option<LostOrder>,
    /// A table of the sites that they are those of, ended by a zero.
    pub(crate) sites: Option<Vec<u8>>,
    /// The store of a free run that is undone.
    pub(crate) undone: Option<UndoneStore>,
    /// Whether happens-before that the program announces is believed.
    pub(crate) trusts_annotations: bool,
    /// Whether a sleep or a timed wait may end at any step.
    pub(crate) any_time: bool,
    /// Milliseconds before a thread stuck outside loses the turn.
    pub(crate) patience: u64,
    /// Milliseconds without progress that make a livelock.
    pub(crate) livelock: u64,
}

impl RuntimeConfig {
    /// Reads the environment; a value that makes no sense ends the program.
    pub(crate) fn read() -> Self {
        let replay = variable(c"WMFIX_REPLAY");
        let explore = variable(c"WMFIX_EXPLORE").map(|steps| steps.to_str().unwrap_or("?"));
        let strategy = choice(
            c"WMFIX_STRATEGY",
            &[
                ("mixed", Strategy::Mixed),
                ("seek", Strategy::Seek),
                ("pct", Strategy::Pct),
                ("pos", Strategy::Pos),
                ("random", Strategy::Random),
                ("os", Strategy::Os),
            ],
        );
        Self {
            out: variable(c"WMFIX_OUT").map(|folder| folder.to_bytes_with_nul().to_vec()),
            seed: number(c"WMFIX_SEED").unwrap_or(0),
            strategy: match (&replay, explore) {
                (Some(_), _) => Strategy::Replay,
                (None, Some(_)) => Strategy::Explore,
                (None, None) => strategy,
            },
            explore,
            replay: replay.map(|file| file.to_bytes_with_nul().to_vec()),
            length: number(c"WMFIX_LENGTH"),
            depth: number(c"WMFIX_DEPTH"),
            races: choice(c"WMFIX_RACES", &[("off", false), ("on", true)]),
            check: variable(c"WMFIX_CHECK").map(|file| file.to_bytes_with_nul().to_vec()),
            model: choice(
                c"WMFIX_MODEL",
                &[("rc11", Model::RC11), ("rc20", Model::RC20)],
            )
            .with(choice(
                c"WMFIX_RELEASE_SEQUENCES",
                &[
                    ("c++20", ReleaseSequences::Cxx20),
                    ("c++17", ReleaseSequences::Cxx17),
                ],
            )),
            predict: choice(c"WMFIX_PREDICT", &[("off", false), ("on", true)]),
            filter: choice(c"WMFIX_FILTER", &[("on", true), ("off", false)]),
            volatile: choice(
                c"WMFIX_VOLATILE",
                &[
                    ("ignore", Volatile::Ignore),
                    ("relaxed", Volatile::Relaxed),
                    ("acqrel", Volatile::AcqRel),
                ],
            ),
            trace_limit: number(c"WMFIX_TRACE_LIMIT").unwrap_or(DEFAULT_TRACE_LIMIT_BYTES),
            event_limit: number(c"WMFIX_EVENT_LIMIT").unwrap_or(DEFAULT_EVENT_LIMIT),
            step_limit: number(c"WMFIX_STEPS").unwrap_or(u64::MAX),
            stale: parsed(c"WMFIX_STALE"),
            weak: choice(
                c"WMFIX_WEAK",
                &[
                    ("off", None),
                    ("mixed", Some(WeakStrategy::Mixed)),
                    ("uniform", Some(WeakStrategy::Uniform)),
                    ("few", Some(WeakStrategy::Few)),
                    ("pctwm", Some(WeakStrategy::Pctwm)),
                    ("given", Some(WeakStrategy::Given)),
                ],
            ),
            lost: parsed(c"WMFIX_LOSE"),
            sites: variable(c"WMFIX_SITES").map(|file| file.to_bytes_with_nul().to_vec()),
            undone: parsed(c"WMFIX_UNDO"),
            trusts_annotations: choice(c"WMFIX_ANNOTATIONS", &[("ignore", false), ("trust", true)]),
            any_time: choice(c"WMFIX_SLEEPS", &[("any", true), ("clock", false)]),
            patience: number(c"WMFIX_PATIENCE").unwrap_or(20).max(1),
            livelock: number(c"WMFIX_LIVELOCK").unwrap_or(5000),
        }
    }
}

/// Prints why the program cannot run, and ends it.
pub(crate) fn cannot_start(why: core::fmt::Arguments<'_>) -> ! {
    sys::say(format_args!("wmfix: {why}\n"));
    sys::exit_now(CANNOT_START_EXIT_CODE)
}

fn variable(name: &CStr) -> Option<&'static CStr> {
    sys::variable(name).filter(|value| !value.is_empty())
}

fn parsed<T: FromStr<Err: core::fmt::Display>>(name: &CStr) -> Option<T> {
    let text = variable(name)?.to_str().unwrap_or("?");
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => cannot_start(format_args!(
            "{}={text}: {error}",
            name.to_str().unwrap_or_default()
        )),
    }
}

fn number(name: &CStr) -> Option<u64> {
    let text = variable(name)?.to_str().unwrap_or("?");
    match u64::from_str(text) {
        Ok(number) => Some(number),
        Err(_) => cannot_start(format_args!(
            "{}={text}: expected a decimal number",
            name.to_str().unwrap_or_default()
        )),
    }
}

/// The value of the first choice if the variable is not there.
fn choice<T: Copy>(name: &CStr, choices: &[(&str, T)]) -> T {
    let Some(value) = variable(name) else {
        return choices[0].1;
    };
    let text = value.to_str().unwrap_or("?");
    match choices.iter().find(|(word, _)| *word == text) {
        Some((_, choice)) => *choice,
        None => {
            let mut words = alloc::string::String::new();
            for (word, _) in choices {
                words.push_str(if words.is_empty() { " " } else { ", " });
                words.push_str(word);
            }
            cannot_start(format_args!(
                "{}={text}: expected one of{words}",
                name.to_str().unwrap_or_default()
            ))
        }
    }
}
