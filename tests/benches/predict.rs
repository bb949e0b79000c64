//! Race prediction beside the happens-before detector, in one run, on the same
//! random streams with locks: nanoseconds an event from 10⁴ to 10⁷ events, for 2
//! to 25 threads. Linear means that a row is flat.
//!
//! Times are CPU time of the thread, so that a busy machine disturbs less. With
//! an argument, that many events at most (10⁷ take some minutes).

use wmfix_analysis::predict::{Predictor, PredictorConfig};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, LockId, LockMode, Operation, SiteId, ThreadId,
};
use wmfix_tests::rng::Rng;

const LENGTHS: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// How often a short stream is measured.
const REPEATS: usize = 1_000_000;

/// Shared variables, each with its lock; and variables of each thread's own.
const SHARED: u64 = 64;
const OWN: u64 = 256;

fn main() {
    let most = std::env::args().find_map(|argument| argument.parse().ok());
    let lengths = LENGTHS
        .into_iter()
        .filter(|&n| n <= most.unwrap_or(usize::MAX));
    let lengths: Vec<usize> = lengths.collect();
    println!("ns an event: happens-before / prediction, and accesses remembered at the end");
    print!("threads |");
    for length in &lengths {
        print!(" {length:>10} events      |");
    }
    println!(" slowest / fastest");
    for threads in [2, 4, 8, 16, 25] {
        print!("{threads:7} |");
        let mut times = Vec::new();
        for &length in &lengths {
            let repeats = (REPEATS / length).max(1);
            let (hb, _) = measure(threads, length, repeats, Detector::happens_before);
            let (predicted, remembered) = measure(threads, length, repeats, Detector::prediction);
            print!(" {hb:5.0} / {predicted:5.0} {remembered:9} |");
            times.push(predicted);
        }
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        println!(" {:.2}", slowest / fastest);
    }
}

enum Detector {
    HappensBefore(Box<Analyzer>),
    Prediction(Box<Predictor>),
}

impl Detector {
    fn happens_before() -> Self {
        let config = AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        };
        Self::HappensBefore(Box::new(Analyzer::new(config)))
    }

    fn prediction() -> Self {
        Self::Prediction(Box::new(Predictor::new(PredictorConfig::default())))
    }

    fn feed(&mut self, event: &Event) {
        match self {
            Self::HappensBefore(analyzer) => {
                analyzer.feed(event).expect("a run");
            }
            Self::Prediction(predictor) => predictor.feed(event),
        }
    }

    fn remembered(&self) -> usize {
        match self {
            Self::HappensBefore(analyzer) => analyzer.remembered(),
            Self::Prediction(predictor) => predictor.remembered(),
        }
    }
}

/// Nanoseconds an event, and what is remembered at the end. Events are made in
/// pieces, outside of the measured time.
fn measure(
    threads: u32,
    length: usize,
    repeats: usize,
    new: impl Fn() -> Detector,
) -> (f64, usize) {
    let (mut time, mut fed, mut remembered) = (0.0, 0, 0);
    for repeat in 0..repeats {
        let mut source = Source::new(threads, Rng::new(repeat as u64));
        let mut detector = new();
        let mut left = length;
        while left > 0 {
            let piece = source.piece(left.min(4_096));
            let start = cpu_time();
            piece.iter().for_each(|event| detector.feed(event));
            time += cpu_time() - start;
            left -= piece.len().min(left);
            fed += piece.len();
        }
        remembered = detector.remembered();
    }
    (time / fed as f64, remembered)
}

/// Threads that change shared variables under their locks, and their own without.
struct Source {
    threads: u32,
    rng: Rng,
    begun: bool,
}

impl Source {
    fn new(threads: u32, rng: Rng) -> Self {
        Self {
            threads,
            rng,
            begun: false,
        }
    }

    fn piece(&mut self, at_least: usize) -> Vec<Event> {
        let mut events = Vec::with_capacity(at_least + 64);
        let mut push = |thread, site, operation| {
            events.push(Event {
                thread: ThreadId(thread),
                site: SiteId(site),
                operation,
            });
            events.len()
        };
        if !self.begun {
            self.begun = true;
            for child in 1..self.threads {
                let child = ThreadId(child);
                push(0, 0, Operation::Create { child });
            }
        }
        loop {
            let thread = self.rng.below(self.threads as usize) as u32;
            for _ in 0..4 {
                let own = 0x10_0000 + 0x1_0000 * u64::from(thread);
                let bytes = variable(own, self.rng.below(OWN as usize) as u64);
                push(thread, 1, Operation::Read { bytes });
                push(thread, 2, Operation::Write { bytes });
            }
            let number = self.rng.below(SHARED as usize) as u64;
            let (lock, mode) = (LockId(number), LockMode::Exclusive);
            let bytes = variable(0x1000, number);
            push(thread, 3, Operation::Acquire { lock, mode });
            push(thread, 4, Operation::Read { bytes });
            push(thread, 5, Operation::Write { bytes });
            if push(thread, 6, Operation::Release { lock, mode }) >= at_least {
                return events;
            }
        }
    }
}

fn variable(base: u64, number: u64) -> Bytes {
    Bytes {
        address: base + 8 * number,
        size: 8,
    }
}

/// CPU time of this thread in nanoseconds.
fn cpu_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the record is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
