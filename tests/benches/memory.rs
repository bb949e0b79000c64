//! Memory does not grow with the length of a run: the bytes that the analyzer
//! holds after 10⁷ and after 10⁸ events of one stream (`WMFIX_BENCH_EVENTS` sets
//! the latter). Ends with an error if they have grown by more than a tenth.

mod counting;

use wmfix_analysis::{Analyzer, AnalyzerConfig};
use wmfix_tests::litmus::Rng;
use wmfix_tests::streams::{Shape, Source};

use counting::{CountingAllocator, bytes_in_use};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    let last: u64 = match std::env::var("WMFIX_BENCH_EVENTS") {
        Ok(text) => text.parse().expect("a number of events"),
        Err(_) => 100_000_000,
    };
    let first = last / 10;
    let steady = Shape::steady(8, 1_000);
    let shapes = [
        ("messages", steady),
        (
            "no synchronisation at all",
            Shape {
                relaxed: 100,
                ..steady
            },
        ),
        (
            "SC accesses and fences, mutexes",
            Shape {
                threads: 4,
                locations: 100,
                sc: 20,
                fence: 10,
                sc_fence: 50,
                lock: 5,
                ..steady
            },
        ),
        (
            "threads that come and go",
            Shape {
                turnover: 1,
                locations: 100,
                ..steady
            },
        ),
    ];
    let mut grown = false;
    println!("bytes held after | {first:>12} | {last:>12} events");
    for (name, shape) in shapes {
        let (early, late) = held(shape, first, last);
        let ratio = late as f64 / early as f64;
        grown |= ratio > 1.1;
        println!("{early:29} | {late:12}   {ratio:5.2}x  {name}");
    }
    if grown {
        eprintln!("memory grows with the run");
        std::process::exit(1);
    }
}

fn held(shape: Shape, first: u64, last: u64) -> (usize, usize) {
    let mut source = Source::new(shape, Rng::new(11));
    let mut events = Vec::with_capacity(64);
    let before = bytes_in_use();
    let mut analyzer = Analyzer::new(AnalyzerConfig::default());
    let (mut fed, mut early) = (0, 0);
    while fed < last {
        events.clear();
        source.next_into(&mut events);
        for event in &events {
            analyzer.feed(event).expect("a well-formed stream");
            fed += 1;
            if fed == first {
                early = bytes_in_use() - before;
            }
        }
    }
    (early, bytes_in_use() - before)
}
