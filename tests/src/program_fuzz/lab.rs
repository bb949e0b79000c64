//! A program in a folder of its own: built and run natively, with TSan, and by wmfix in
//! each of its ways, once each, when somebody asks.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::machine::HANG;
use super::program::{Ending, Program};
use super::running::{Ended, Ran, run};
use super::spell::{OUTCOMES, Pauses, spell};
use super::truth::Truth;
use crate::product::{World, wmfix};

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// `wmfix check --exhaustive`.
    Exhaustive,
    /// By seeds, as the system schedules.
    System,
    /// By seeds and priorities.
    Priorities,
    /// The same command again, with the machine busy.
    PrioritiesAgain,
    /// By seeds, as usual.
    Usual,
    /// Free runs.
    Free,
    /// Natively, with pauses.
    Native,
    /// With TSan.
    Tsan,
}

/// What a way showed.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    /// How the command ended.
    pub(super) ended: Ended,
    /// The command.
    pub(super) command: String,
    /// wmfix's report.
    pub(super) report: Option<Value>,
    /// What the runs came to, as [`super::machine::Interleavings::ends`] has it.
    pub(super) ends: BTreeSet<String>,
    /// Whether a race was found.
    pub(super) race: bool,
    /// What the command wrote to stderr.
    pub(super) stderr: String,
}

impl Observation {
    /// What the report says of its proof.
    pub(super) fn proof(&self) -> &Value {
        self.report
            .as_ref()
            .map_or(&Value::Null, |report| &report["proof"])
    }

    /// Whether all runs were explored.
    pub(super) fn is_complete(&self) -> bool {
        self.proof()["complete"] == true
    }
}

/// Nothing that wmfix does with these programs takes nearly as long.
const LIMIT: Duration = Duration::from_secs(120);

/// How long wmfix may explore, in seconds.
const EXPLORING: &str = "10";

/// How long a native run may take where it must not hang.
const NATIVE_LIMIT: Duration = Duration::from_secs(20);

/// Where it may: what is a hang then contradicts nothing.
const SHORT_LIMIT: Duration = Duration::from_millis(300);

/// How many native runs there are.
const NATIVE_RUNS: usize = 25;

/// A program with what is known and was seen of it.
pub(super) struct Lab {
    /// The program.
    pub(super) program: Program,
    /// The truth about it.
    pub(super) truth: Truth,
    world: World,
    seen: RefCell<HashMap<Way, Observation>>,
    seed: u64,
}

impl Lab {
    /// A lab for a program; the seed is that of wmfix's runs.
    pub(super) fn new(program: Program, truth: Truth, seed: u64) -> Self {
        let world = World::new();
        world.write("fuzz.c", &spell(&program, Pauses::None));
        world.write("paused.c", &spell(&program, Pauses::Random));
        Self {
            program,
            truth,
            world,
            seen: RefCell::default(),
            seed,
        }
    }

    /// A lab in which this was seen.
    #[cfg(test)]
    pub(super) fn with_seen(self, way: Way, seen: Observation) -> Self {
        self.seen.borrow_mut().insert(way, seen);
        self
    }

    /// What a way shows.
    pub(super) fn see(&self, way: Way) -> Observation {
        if let Some(seen) = self.seen.borrow().get(&way) {
            return seen.clone();
        }
        let observation = match way {
            Way::Native => self.native(),
            Way::Tsan => self.tsan(),
            _ => self.wmfix(way),
        };
        self.seen.borrow_mut().insert(way, observation.clone());
        observation
    }

    fn wmfix(&self, way: Way) -> Observation {
        let build = self.program.build;
        let mut command = self.world.command(wmfix());
        command.env("WMFIX_REAL_CC", build.compiler);
        // By how many seeds what an exploration found is looked for again.
        command.env("WMFIX_RUNS", "1");
        let outcomes = self.world.path().join(format!("outcomes-{way:?}"));
        command.env(OUTCOMES, &outcomes);
        let seed = self.seed.to_string();
        let level = format!("--cflags=-O{}", build.level);
        let mut words = vec!["check", "fuzz.c", &level];
        words.extend(["--timeout", "10", "--harm", "off", "--format", "json"]);
        words.extend(match way {
            Way::Exhaustive => vec!["--exhaustive", "--time", EXPLORING],
            Way::System => vec!["--strategy", "os", "--runs", "15"],
            Way::Priorities | Way::PrioritiesAgain => {
                vec!["--strategy", "pct", "--runs", "30", "--jobs", "1"]
            }
            Way::Free => vec!["--weak", "--runs", "60"],
            _ => vec!["--runs", "60"],
        });
        if way != Way::Exhaustive {
            words.extend(["--seed", &seed]);
        }
        command.args(&words);
        let busy = (way == Way::PrioritiesAgain).then(Busy::start);
        let ran = run(command, self.world.path(), LIMIT);
        drop(busy);
        let report: Option<Value> = serde_json::from_str(&ran.stdout).ok();
        let mut ends = lines(&outcomes);
        let mut race = false;
        if let Some(report) = &report {
            ends.extend(list(report, "failures").iter().map(failure));
            race = !list(report, "races").is_empty();
        }
        Observation {
            ended: ran.ended,
            command: format!("WMFIX_REAL_CC={} wmfix {}", build.compiler, words.join(" ")),
            report,
            ends,
            race,
            stderr: ran.stderr,
        }
    }

    fn compile(&self, name: &str, options: &[&str]) -> String {
        let build = self.program.build;
        let mut command = self.world.command(build.compiler);
        let level = format!("-O{}", build.level);
        let mut words = vec![&*level, "-g", "-w", "-pthread", "paused.c", "-o", name];
        words.extend(options);
        command.args(&words);
        let ran = run(command, self.world.path(), LIMIT);
        assert_eq!(
            ran.ended,
            Ended::Code(0),
            "{}\n{}",
            spell(&self.program, Pauses::Random),
            ran.stderr
        );
        format!("{} {}", build.compiler, words.join(" "))
    }

    fn native(&self) -> Observation {
        let command = self.compile("native", &[]);
        let may_hang = self.truth.interleavings.ends.contains(HANG);
        let (limit, runs) = match may_hang {
            true => (SHORT_LIMIT, 4),
            false => (NATIVE_LIMIT, NATIVE_RUNS),
        };
        let (mut ends, mut ended, mut stderr) = (BTreeSet::new(), Ended::Code(0), String::new());
        for number in 0..runs {
            // Every fourth run on one processor.
            let mut command = self.world.command("taskset");
            let processors = if number % 4 == 3 { "0" } else { "0-1023" };
            command.args(["-c", processors, "./native"]);
            let ran = self.native_run(command, limit, &mut ends);
            if ran.ended != Ended::Code(0) {
                (ended, stderr) = (ran.ended, ran.stderr);
            }
        }
        Observation {
            ended,
            command: format!("{command} && ./native"),
            report: None,
            ends,
            race: false,
            stderr,
        }
    }

    fn native_run(
        &self,
        mut command: Command,
        limit: Duration,
        ends: &mut BTreeSet<String>,
    ) -> Ran {
        let outcomes = self.world.path().join("outcomes");
        command.env(OUTCOMES, &outcomes);
        let ran = run(command, self.world.path(), limit);
        ends.extend(lines(&outcomes));
        let _ = std::fs::remove_file(&outcomes);
        match ran.ended {
            Ended::Code(0) => {}
            Ended::Code(code) => drop(ends.insert(format!("exit {code}"))),
            Ended::Signal(signal) => drop(ends.insert(format!("signal {signal}"))),
            Ended::TooLate => drop(ends.insert(HANG.to_owned())),
        }
        ran
    }

    fn tsan(&self) -> Observation {
        let command = self.compile("tsan", &["-fsanitize=thread"]);
        // A thread of libtsan's own keeps a process that `main` has left.
        let may_hang = self.truth.interleavings.ends.contains(HANG)
            || self.program.ending == Ending::ThreadExit;
        let limit = if may_hang {
            SHORT_LIMIT * 3
        } else {
            NATIVE_LIMIT
        };
        let (mut ends, mut race, mut stderr) = (BTreeSet::new(), false, String::new());
        for _ in 0..if may_hang { 3 } else { 6 } {
            let mut command = self.world.command("./tsan");
            command.env("TSAN_OPTIONS", "exitcode=0 report_thread_leaks=0");
            let ran = self.native_run(command, limit, &mut ends);
            let of_race = ["data race", "heap-use-after-free"];
            let races = |text: &str| ran.stderr.contains(&format!("ThreadSanitizer: {text}"));
            if of_race.into_iter().any(races) {
                (race, stderr) = (true, ran.stderr);
            }
        }
        ends.remove(HANG);
        Observation {
            ended: Ended::Code(0),
            command: format!("{command} && ./tsan"),
            report: None,
            ends,
            race,
            stderr,
        }
    }
}

/// A list of a report.
pub(super) fn list<'r>(report: &'r Value, name: &str) -> &'r [Value] {
    report[name].as_array().map_or(&[], Vec::as_slice)
}

/// What a failure of a report is as an end.
fn failure(failure: &Value) -> String {
    match failure["kind"].as_str() {
        Some("exit") => format!("exit {}", failure["exit_code"]),
        Some("signal") => format!("signal {}", failure["signal"]),
        Some("deadlock" | "livelock" | "timeout") => HANG.to_owned(),
        kind => format!("{kind:?}"),
    }
}

fn lines(path: &std::path::Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Something else that uses a processor for as long as this lives.
struct Busy(std::process::Child);

impl Busy {
    fn start() -> Self {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        Self(child.expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
