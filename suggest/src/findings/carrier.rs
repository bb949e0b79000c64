//! The atomic that should have ordered a race: what carried the news of the first
//! access to the thread of the second one, and was too weak to order the two.
//! Follows the news through a run; decides nothing about whether it is a race.

use std::collections::HashMap;

use wmfix_analysis::{
    Bytes, CasOutcome, Event, LocationId, Operation, Race, RmwOrder, SiteId, ThreadId,
};

/// A write and the read that took it, which do not synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Carrier {
    /// The write.
    pub write: SiteId,
    /// The read.
    pub read: SiteId,
    /// The write does not release.
    pub weak_write: bool,
    /// The read does not acquire.
    pub weak_read: bool,
}

/// The message by which the second thread knew of the first access and that does
/// not order the two.
pub(super) fn carrier(race: &Race, events: &[Event]) -> Option<Carrier> {
    let second = usize::try_from(race.event.0).ok()?;
    let before = events.get(..second)?;
    let first = before.iter().rposition(|event| {
        let is_first = (event.site, event.thread) == (race.first.site, race.first.thread);
        is_first && touches(&event.operation, race.bytes)
    })?;
    let mut news = News {
        origin: race.first.thread,
        origin_fenced: false,
        threads: HashMap::new(),
        objects: HashMap::new(),
    };
    for event in &before[first..] {
        news.follow(event);
    }
    news.threads.get(&race.second.thread)?.weak()
}

/// Whether an operation may be an access to these bytes: that of an atomic access
/// is not looked up, its site tells enough.
fn touches(operation: &Operation, bytes: Bytes) -> bool {
    match operation {
        Operation::Read { bytes: own } | Operation::Write { bytes: own } => {
            own.address < bytes.address + bytes.size && bytes.address < own.address + own.size
        }
        _ => true,
    }
}

/// Which threads and objects may know of the first access.
struct News {
    /// The thread that made it, and whether a release fence has come since.
    origin: ThreadId,
    origin_fenced: bool,
    threads: HashMap<ThreadId, Message>,
    objects: HashMap<LocationId, Written>,
}

/// The last message that a thread got.
#[derive(Clone, Copy)]
struct Message {
    written: Written,
    read: SiteId,
    acquired: bool,
    /// A release fence has come since.
    fenced: bool,
}

/// A write that tells of the access.
#[derive(Clone, Copy)]
struct Written {
    site: SiteId,
    thread: ThreadId,
    released: bool,
    /// What was too weak on the way to its thread.
    weak_before: Option<Carrier>,
}

impl Message {
    fn weak(&self) -> Option<Carrier> {
        let (weak_write, weak_read) = (!self.written.released, !self.acquired);
        let own = (weak_write || weak_read).then_some(Carrier {
            write: self.written.site,
            read: self.read,
            weak_write,
            weak_read,
        });
        own.or(self.written.weak_before)
    }
}

impl News {
    fn follow(&mut self, event: &Event) {
        match event.operation {
            Operation::Load {
                location, order, ..
            } => self.read(event, location, order.acquires()),
            Operation::CompareExchange {
                location,
                failure,
                outcome: CasOutcome::Failed,
                ..
            } => self.read(event, location, failure.acquires()),
            Operation::Store {
                location, order, ..
            } => self.write(event, location, order.releases(), false),
            Operation::Rmw {
                location, order, ..
            }
            | Operation::CompareExchange {
                location,
                success: order,
                ..
            } => self.update(event, location, order),
            Operation::Fence { order } => {
                if event.thread == self.origin {
                    self.origin_fenced |= order.releases();
                } else if let Some(message) = self.threads.get_mut(&event.thread) {
                    message.fenced |= order.releases();
                    message.acquired |= order.acquires();
                }
            }
            _ => {}
        }
    }

    fn update(&mut self, event: &Event, location: LocationId, order: RmwOrder) {
        self.read(event, location, order.acquires());
        self.write(event, location, order.releases(), true);
    }

    fn read(&mut self, event: &Event, location: LocationId, acquired: bool) {
        if event.thread == self.origin {
            return;
        }
        if let Some(&written) = self.objects.get(&location)
            && written.thread != event.thread
        {
            let message = Message {
                written,
                read: event.site,
                acquired,
                fenced: false,
            };
            self.threads.insert(event.thread, message);
        }
    }

    fn write(&mut self, event: &Event, location: LocationId, releases: bool, continues: bool) {
        let message = self.threads.get(&event.thread);
        let (fenced, weak_before) = match message {
            _ if event.thread == self.origin => (self.origin_fenced, None),
            Some(message) => (message.fenced, message.weak()),
            None => {
                self.objects.remove(&location);
                return;
            }
        };
        // A read-modify-write goes on with what the write before it released.
        let before = self.objects.get(&location).filter(|_| continues);
        let goes_on = before.is_some_and(|before| before.released);
        let written = Written {
            site: event.site,
            thread: event.thread,
            released: releases || fenced || goes_on,
            weak_before,
        };
        self.objects.insert(location, written);
    }
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::{EventIndex, LoadOrder, RacingAccess, StoreOrder};

    use super::*;

    const DATA: Bytes = Bytes {
        address: 64,
        size: 4,
    };

    fn event(thread: u32, site: u32, operation: Operation) -> Event {
        Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            operation,
        }
    }

    /// Message passing with these orders.
    fn passed(store: StoreOrder, load: LoadOrder) -> Option<Carrier> {
        let flag = LocationId(0);
        let events = [
            event(1, 0, Operation::Write { bytes: DATA }),
            event(
                1,
                1,
                Operation::Store {
                    location: flag,
                    order: store,
                    value: 1,
                },
            ),
            event(
                2,
                2,
                Operation::Load {
                    location: flag,
                    order: load,
                    value: 1,
                    exit: None,
                },
            ),
            event(2, 3, Operation::Read { bytes: DATA }),
        ];
        let side = |thread, site, writes| RacingAccess {
            thread: ThreadId(thread),
            site: SiteId(site),
            writes,
            atomic: false,
        };
        let race = Race {
            first: side(1, 0, true),
            second: side(2, 3, false),
            event: EventIndex(3),
            bytes: DATA,
        };
        carrier(&race, &events)
    }

    #[test]
    fn the_weak_side_of_a_message_is_told() {
        let weak = |weak_write, weak_read| {
            Some(Carrier {
                write: SiteId(1),
                read: SiteId(2),
                weak_write,
                weak_read,
            })
        };
        assert_eq!(
            passed(StoreOrder::Relaxed, LoadOrder::Relaxed),
            weak(true, true)
        );
        assert_eq!(
            passed(StoreOrder::Release, LoadOrder::Relaxed),
            weak(false, true)
        );
        assert_eq!(
            passed(StoreOrder::Relaxed, LoadOrder::Acquire),
            weak(true, false)
        );
        assert_eq!(passed(StoreOrder::Release, LoadOrder::Acquire), None);
    }
}
