//! Races of a run in which one access took an old write: happens-before follows
//! the write that was really read.

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, LoadOrder, LocationId, Operation, SiteId,
    StoreOrder, ThreadId,
};

const X: LocationId = LocationId(0);
const DATA: Bytes = Bytes {
    address: 0x100,
    size: 4,
};

fn event(thread: u32, operation: Operation) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        operation,
    }
}

fn store(value: u64) -> Operation {
    Operation::Store {
        location: X,
        order: StoreOrder::Release,
        value,
    }
}

fn load(value: u64) -> Operation {
    Operation::Load {
        location: X,
        order: LoadOrder::Acquire,
        value,
        exit: None,
    }
}

/// Thread 1 publishes, writes data, publishes again; thread 2 acquires and reads
/// the data. `taken` is the write that thread 2 reads, if not the newest one.
fn races(read: u64, taken: Option<Option<EventIndex>>) -> usize {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..AnalyzerConfig::default()
    });
    if let Some(Some(write)) = taken {
        analyzer.keep_message_of(write);
    }
    let before = [
        event(0, Operation::Create { child: ThreadId(1) }),
        event(0, Operation::Create { child: ThreadId(2) }),
        event(1, store(1)),
        event(1, Operation::Write { bytes: DATA }),
        event(1, store(2)),
    ];
    for event in &before {
        analyzer.feed(event).unwrap();
    }
    let at = EventIndex(before.len() as u64);
    let access = event(2, load(read));
    match taken {
        Some(source) => analyzer.feed_stale_at(at, &access, source).unwrap(),
        None => analyzer.feed_at(at, &access).unwrap(),
    };
    analyzer
        .feed(&event(2, Operation::Read { bytes: DATA }))
        .unwrap();
    analyzer.races().len()
}

#[test]
fn the_newest_write_orders_what_came_before_it() {
    assert_eq!(races(2, None), 0);
}

#[test]
fn an_old_write_orders_only_what_came_before_it() {
    assert_eq!(races(1, Some(Some(EventIndex(2)))), 1);
}

#[test]
fn the_first_value_orders_nothing() {
    assert_eq!(races(0, Some(None)), 1);
}

#[test]
fn a_stale_access_that_takes_the_newest_write_is_an_ordinary_one() {
    assert_eq!(races(2, Some(Some(EventIndex(4)))), 0);
}

#[test]
fn a_stale_write_hands_on_what_it_took_to_another_stale_access() {
    let update = Operation::Rmw {
        location: X,
        order: wmfix_analysis::RmwOrder::Relaxed,
        read: 1,
        written: 5,
        exit: None,
    };
    let races = |kept: &[EventIndex]| {
        let mut analyzer = Analyzer::new(AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        });
        for &write in kept {
            analyzer.keep_message_of(write);
        }
        let before = [1, 2, 3].map(|child| {
            let child = ThreadId(child);
            event(0, Operation::Create { child })
        });
        let writer = [Operation::Write { bytes: DATA }, store(1), store(2)];
        let writer = writer.map(|operation| event(1, operation));
        for event in before.iter().chain(&writer) {
            analyzer.feed(event).unwrap();
        }
        // Thread 2 updates the 1, and thread 3 reads what it wrote.
        let published = Some(EventIndex(4));
        let update = event(2, update);
        let fed = analyzer.feed_stale_at(EventIndex(6), &update, published);
        fed.unwrap();
        let look = event(3, load(5));
        let fed = analyzer.feed_stale_at(EventIndex(7), &look, Some(EventIndex(6)));
        fed.unwrap();
        let read = event(3, Operation::Read { bytes: DATA });
        analyzer.feed(&read).unwrap();
        analyzer.races().len()
    };
    assert_eq!(races(&[EventIndex(4), EventIndex(6)]), 0);
    assert_eq!(races(&[EventIndex(6)]), 1);
}
