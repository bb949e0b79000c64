//! Where the time of the repair search goes, on the litmus programs that have
//! the most runs: making the runs, analysing them once as they are, and the
//! search, of that in the solver of integer programs. All in one run, so that
//! the shares can be compared.

use std::time::{Duration, Instant};

use wmfix_analysis::{Analyzer, AnalyzerConfig};
use wmfix_repair::{Options, Problem, Profile, repair};
use wmfix_tests::litmus::corpus;
use wmfix_tests::repairing::problem;

const SHOWN: usize = 12;

fn main() {
    let entries = corpus().expect("the corpus can be read");
    let mut problems: Vec<(String, Problem, Duration)> = entries
        .iter()
        .filter(|entry| !entry.robust)
        .map(|entry| {
            let started = Instant::now();
            let problem = problem(&entry.program);
            (entry.program.name.clone(), problem, started.elapsed())
        })
        .collect();
    problems.sort_by_key(|(_, problem, _)| std::cmp::Reverse(problem.traces.len()));
    let mut all = Duration::ZERO;
    let mut slowest = Duration::ZERO;
    println!("milliseconds; search: all of it, of that in the solver");
    println!(
        "program           |  runs events | run them  once | search solver | analyses clauses cost"
    );
    for (number, (name, problem, running)) in problems.iter().enumerate() {
        for profile in [Profile::Fewest, Profile::X86] {
            let options = Options {
                profile,
                ..Options::default()
            };
            let outcome = repair(problem, &options, |_| {}).expect("the runs are runs");
            let work = outcome.work;
            all += work.total;
            slowest = slowest.max(work.total);
            if number >= SHOWN {
                continue;
            }
            println!(
                "{name:17} | {:5} {:6} | {:8.1} {:5.1} | {:6.1} {:6.1} | {:8} {:7} {:?} {}",
                problem.traces.len(),
                problem.traces.iter().map(Vec::len).sum::<usize>(),
                milliseconds(*running),
                milliseconds(analysed_once(problem)),
                milliseconds(work.total),
                milliseconds(work.solving),
                work.analyses,
                work.clauses,
                profile,
                outcome.repair.map_or(0, |found| found.cost),
            );
        }
    }
    println!(
        "{} searches: {:.1} ms altogether, the slowest {:.1} ms",
        2 * problems.len(),
        milliseconds(all),
        milliseconds(slowest)
    );
}

fn analysed_once(problem: &Problem) -> Duration {
    let started = Instant::now();
    for trace in &problem.traces {
        let mut analyzer = Analyzer::new(AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        });
        for event in trace {
            analyzer.feed(event).expect("the runs are runs");
        }
    }
    started.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
