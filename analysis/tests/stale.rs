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
