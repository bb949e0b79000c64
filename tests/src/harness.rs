//! Runs the tests of an executable that has `harness = false`, with the command
//! line and the output of the built-in harness. What that one cannot do: a test
//! that finds out that something it needs is missing is counted as ignored, one that
//! does not end fails (`WMFIX_TEST_MINUTES`), and the longest ones are named.
//!
//! `#[test]` registers a test (package `wmfix-test-attribute`). As a safeguard,
//! the sources are searched for tests that are not registered.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use linkme::distributed_slice;

#[doc(hidden)]
pub use linkme;

/// All tests of the executable.
#[distributed_slice]
pub static TESTS: [Test];

/// A registered test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Its path, the executable's name first.
    pub path: &'static str,
    /// The function.
    pub run: fn(),
}

/// What a test unwinds with that cannot run here.
struct SkippedTest(String);

/// `--nocapture` was given.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// How long each test took.
static DURATIONS: Mutex<Vec<(Duration, &str)>> = Mutex::new(Vec::new());

/// So many of the longest tests are named, if they are this long.
const LONGEST: usize = 10;
const LONG: Duration = Duration::from_secs(20);

/// Registers a function of the current module as a test.
#[macro_export]
macro_rules! register_test {
    ($function:ident) => {
        const _: () = {
            #[$crate::harness::linkme::distributed_slice($crate::harness::TESTS)]
            #[linkme(crate = $crate::harness::linkme)]
            static TEST: $crate::harness::Test = $crate::harness::Test {
                path: concat!(module_path!(), "::", stringify!($function)),
                run: $function,
            };
        };
    };
}

/// Prints a line if the command line has `--nocapture`.
#[macro_export]
macro_rules! note {
    ($($argument:tt)*) => {
        if $crate::harness::is_verbose() {
            println!($($argument)*);
        }
    };
}

/// Runs the tests that the command line asks for. `sources` is the folder of the
/// executable's modules.
pub fn run(sources: &Path) -> ExitCode {
    let (options, filters) = split_arguments(std::env::args());
    let arguments = Arguments::from_iter(options);
    VERBOSE.store(arguments.nocapture, Ordering::Relaxed);
    let names: BTreeSet<&str> = TESTS.iter().map(Test::name).collect();
    let unregistered = unregistered(sources, &names);
    if !unregistered.is_empty() {
        eprintln!("tests that are not registered: {unregistered:?}");
        return ExitCode::FAILURE;
    }
    let wanted = |test: &&Test| test.is_wanted(&filters, arguments.exact);
    let mut tests: Vec<Test> = TESTS.iter().filter(wanted).copied().collect();
    tests.sort_by_key(Test::name);
    let trials = tests.into_iter().map(Test::trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_longest();
    conclusion.exit_code()
}

/// What to look at first when the tests take too long.
fn print_longest() {
    let mut durations = DURATIONS.lock().expect("no panic while locked");
    durations.sort_unstable_by(|one, other| other.cmp(one));
    let long = durations.iter().filter(|(duration, _)| *duration >= LONG);
    for (duration, name) in long.take(LONGEST) {
        println!("{:>6} s  {name}", duration.as_secs());
    }
}

/// How long a test may take; for ever if nothing is said.
fn time_limit() -> Option<Duration> {
    let minutes = std::env::var("WMFIX_TEST_MINUTES").ok()?;
    let minutes: u64 = minutes.parse().expect("WMFIX_TEST_MINUTES is a number");
    Some(Duration::from_secs(60 * minutes))
}

/// Ends the current test; it is counted as ignored, with this reason.
pub fn skip(reason: String) -> ! {
    resume_unwind(Box::new(SkippedTest(reason)))
}

/// Whether a test may print: with `--nocapture`.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

impl Test {
    /// Its path within the executable.
    fn name(&self) -> &'static str {
        self.path
            .split_once("::")
            .map_or(self.path, |(_, name)| name)
    }

    /// Whether one of the filters selects it; no filter selects all.
    fn is_wanted(&self, filters: &[String], exact: bool) -> bool {
        let selects = |filter: &String| match exact {
            true => self.name() == filter,
            false => self.name().contains(filter.as_str()),
        };
        filters.is_empty() || filters.iter().any(selects)
    }

    fn trial(self) -> Trial {
        Trial::ignorable_test(self.name(), move || self.complete(time_limit()))
    }

    /// Runs it in a thread of its name, which a panic message mentions.
    fn complete(self, limit: Option<Duration>) -> Result<Completion, Failed> {
        let (ended, end) = mpsc::channel::<()>();
        let started = Instant::now();
        let thread = thread::Builder::new()
            .name(self.name().to_owned())
            .spawn(move || {
                let _until_the_end = ended;
                (self.run)();
            })
            .expect("a thread for the test");
        if let Some(limit) = limit
            && end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
        {
            // The thread, and what it waits for, go when the executable does.
            let minutes = limit.as_secs() / 60;
            return Err(format!("has not ended after {minutes} minutes").into());
        }
        let result = thread.join();
        let mut durations = DURATIONS.lock().expect("no panic while locked");
        durations.push((started.elapsed(), self.name()));
        drop(durations);
        match result {
            Ok(()) => Ok(Completion::Completed),
            Err(payload) => skipped(payload).map_or_else(
                |payload| resume_unwind(payload),
                |reason| Ok(Completion::ignored_with(reason)),
            ),
        }
    }
}

/// The options of a command line, and the filters: the built-in harness takes any
/// number of them, `libtest_mimic` one.
fn split_arguments(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let with_value = [
        "--test-threads",
        "--skip",
        "--logfile",
        "--format",
        "--color",
    ];
    let (mut options, mut filters) = (Vec::new(), Vec::new());
    let mut is_value = true; // as the name of the program is no filter
    for argument in arguments {
        let takes_value = with_value.contains(&argument.as_str());
        if is_value || argument.starts_with('-') {
            options.push(argument);
        } else {
            filters.push(argument);
        }
        is_value = takes_value;
    }
    (options, filters)
}

/// Why a test was skipped, or the panic that it was instead.
fn skipped(payload: Box<dyn Any + Send>) -> Result<String, Box<dyn Any + Send>> {
    payload.downcast::<SkippedTest>().map(|skipped| skipped.0)
}

/// The tests in the files of a folder, as `file::function`, without those of
/// these names.
fn unregistered(sources: &Path, names: &BTreeSet<&str>) -> Vec<String> {
    let mut missing = Vec::new();
    for entry in fs::read_dir(sources).expect("the folder of the tests") {
        let path = entry.expect("the folder of the tests").path();
        let Some(module) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source of the tests");
        for function in tests_in(&text) {
            let registered = names.iter().any(|name| {
                let rest = name.strip_prefix(module).unwrap_or_default();
                rest.starts_with("::") && rest.ends_with(&format!("::{function}"))
            });
            if !registered {
                missing.push(format!("{module}::{function}"));
            }
        }
    }
    missing
}

/// The functions that `#[test]` is written before.
fn tests_in(text: &str) -> Vec<&str> {
    let mut lines = text.lines().map(str::trim);
    let mut functions = Vec::new();
    while lines.any(|line| line == "#[test]") {
        let name = lines.find_map(|line| line.strip_prefix("fn "));
        functions.extend(name.and_then(|name| name.split('(').next()));
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_below_further_attributes_and_in_modules() {
        let text = "#[test]\nfn one() {}\nfn helper() {}\nmod inner {\n    #[test]\n    \
                    #[allow(dead_code)]\n    fn two() {}\n}\n";
        assert_eq!(tests_in(text), ["one", "two"]);
    }

    #[test]
    fn a_test_of_a_file_that_is_no_module_is_unregistered() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "#[test]\nfn one() {}\n").unwrap();
        fs::write(folder.path().join("b.rs"), "#[test]\nfn one() {}\n").unwrap();
        let names = BTreeSet::from(["a::one", "ab::one", "c::b::one"]);
        assert_eq!(unregistered(folder.path(), &names), ["b::one"]);
    }

    #[test]
    fn any_number_of_filters_among_the_options() {
        let line = "model a --test-threads 2 --exact b --skip c --format=terse";
        let (options, filters) = split_arguments(line.split(' ').map(str::to_owned));
        assert_eq!(
            options.join(" "),
            "model --test-threads 2 --exact --skip c --format=terse"
        );
        assert_eq!(filters, ["a", "b"]);
        let test = Test {
            path: "model::a::one",
            run: || {},
        };
        assert!(test.is_wanted(&[], true) && test.is_wanted(&filters, false));
        assert!(!test.is_wanted(&filters, true) && !test.is_wanted(&filters[1..], false));
    }

    #[test]
    fn a_skipped_test_is_ignored_and_a_panic_is_not() {
        let test = |run| Test {
            path: "tests::a",
            run,
        };
        let skipping = test(|| skip("no such compiler".to_owned())).complete(None);
        assert!(
            matches!(skipping, Ok(Completion::Ignored { reason: Some(why) }) if why == "no such compiler")
        );
        let passing = test(|| {}).complete(None);
        assert!(matches!(passing, Ok(Completion::Completed)));
        let panicking = test(|| resume_unwind(Box::new("no")));
        assert!(std::panic::catch_unwind(|| panicking.complete(None)).is_err());
    }

    #[test]
    fn a_test_that_does_not_end_fails() {
        let test = Test {
            path: "tests::a",
            run: || thread::sleep(Duration::MAX),
        };
        let failed = test.complete(Some(Duration::ZERO)).err();
        let failed = failed.expect("it failed");
        let message = failed.message().unwrap_or_default();
        assert_eq!(message, "has not ended after 0 minutes");
    }
}
