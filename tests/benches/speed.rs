//! The analyzer against the published location-clock algorithm, in one run, on
//! the same random streams: nanoseconds an event, and how many times faster.
//!
//! The rival's clocks have an entry for every location that was written, and each
//! location has three: at 60,000 locations it would take tens of gigabytes to get
//! to where nothing more is added. So it is stopped after some seconds or
//! gigabytes, and compared on the stretch that it got through (its clocks are then
//! still far from full, which is in its favour). The last column is the analyzer
//! alone, after two million events.
//!
//! Times are CPU time of the thread, so that a busy machine disturbs less.

mod counting;

use std::time::{Duration, Instant};

use wmfix_analysis::{Analyzer, AnalyzerConfig, Event, Model};
use wmfix_tests::litmus::Rng;
use wmfix_tests::reference::Reference;
use wmfix_tests::streams::{Shape, stream};

use counting::{CountingAllocator, bytes_in_use};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Where the rival is stopped.
const LONGEST: Duration = Duration::from_secs(4);
const MOST_BYTES: usize = 3 << 30;

const EVENTS: usize = 3_000_000;
const WARM_UP: usize = 2_000_000;

fn main() {
    println!("accesses only, no SC; ns an event");
    println!("threads locations |  compared on | rival  analyzer   faster | analyzer, warm");
    for threads in [2, 8, 25, 64] {
        for locations in [10, 1_000, 60_000] {
            let shape = Shape::steady(threads, locations);
            compare(&shape, &shape_stream(&shape));
        }
    }
    println!();
    println!("the analyzer alone, warm, 1,000 locations; ns an event");
    println!("threads | no SC  SC accesses  SC fences  both");
    for threads in [2, 8, 25, 64] {
        let steady = Shape::steady(threads, 1_000);
        let kinds = [
            steady,
            Shape { sc: 60, ..steady },
            Shape {
                fence: 10,
                sc_fence: 100,
                ..steady
            },
            Shape {
                sc: 40,
                fence: 10,
                sc_fence: 60,
                ..steady
            },
        ];
        let times = kinds.map(|shape| warm(&shape_stream(&shape)));
        println!(
            "{threads:7} | {:5.0} {:12.0} {:10.0} {:5.0}",
            times[0], times[1], times[2], times[3]
        );
    }
}

fn shape_stream(shape: &Shape) -> Vec<Event> {
    stream(shape, EVENTS, &mut Rng::new(7))
}

fn compare(shape: &Shape, events: &[Event]) {
    let before = bytes_in_use();
    let mut rival = Reference::default();
    let (start, mut fed) = (Instant::now(), 0);
    // The second half of what the rival gets through is what counts.
    let mut halfway = (0, cpu_time());
    for chunk in events.chunks(256) {
        for event in chunk {
            std::hint::black_box(rival.feed(event));
        }
        fed += chunk.len();
        let (elapsed, bytes) = (start.elapsed(), bytes_in_use() - before);
        if elapsed < LONGEST / 2 && bytes < MOST_BYTES / 2 && fed <= events.len() / 2 {
            halfway = (fed, cpu_time());
        }
        if elapsed > LONGEST || bytes > MOST_BYTES {
            break;
        }
    }
    let stretch = (fed - halfway.0) as f64;
    let rival_time = (cpu_time() - halfway.1).as_nanos() as f64 / stretch;
    drop(rival);

    let mut analyzer = analyzer();
    feed(&mut analyzer, &events[..halfway.0]);
    let start = cpu_time();
    feed(&mut analyzer, &events[halfway.0..fed]);
    let time = (cpu_time() - start).as_nanos() as f64 / stretch;
    println!(
        "{:7} {:9} | {stretch:7} ev. | {rival_time:6.0} {time:8.0} {:7.1}x | {:6.0}",
        shape.threads,
        shape.locations,
        rival_time / time,
        warm(events)
    );
}

/// Nanoseconds an event once the analyzer has seen much.
fn warm(events: &[Event]) -> f64 {
    let mut analyzer = analyzer();
    feed(&mut analyzer, &events[..WARM_UP]);
    let start = cpu_time();
    feed(&mut analyzer, &events[WARM_UP..]);
    (cpu_time() - start).as_nanos() as f64 / (events.len() - WARM_UP) as f64
}

/// How long this thread has run.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the answer.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "the system knows how long a thread has run");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn analyzer() -> Analyzer {
    Analyzer::new(AnalyzerConfig {
        model: Model::RC11,
        ..AnalyzerConfig::default()
    })
}

fn feed(analyzer: &mut Analyzer, events: &[Event]) {
    for event in events {
        std::hint::black_box(analyzer.feed(event).expect("a well-formed stream"));
    }
}
