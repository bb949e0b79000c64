//! What an access does to the clocks, after it has been checked: one function
//! on one thread and one location, in the order that exactness needs.

use smallvec::SmallVec;

use super::clock::ThreadSlot;
use super::history::{LastAccess, Mark, ScAccess, ScMark};
use super::location::Location;
use super::message::{Message, MessageWrite};
use super::thread::Thread;
use super::values::WriteRecord;
use super::view::{ScSet, View};
use crate::event::{LocationId, SiteId};
use crate::model::ReleaseSequences;

/// An access as the clocks see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// It reads.
    pub(crate) reads: bool,
    /// It writes this.
    pub(crate) writes: Option<WriteRecord>,
    /// Its read acquires.
    pub(crate) acquires: bool,
    /// Its write releases.
    pub(crate) releases: bool,
    /// It is an SC event.
    pub(crate) sc: bool,
    /// What continues a release sequence.
    pub(crate) rule: ReleaseSequences,
    /// Where it is made.
    pub(crate) site: SiteId,
}

/// What came of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Applied {
    /// By how many entries and values the location's memory has grown.
    pub(crate) grown: usize,
    /// It hands on more than it would by C++20's rule for release sequences.
    pub(crate) continues: bool,
}

/// The thread in `slot` makes the access.
#[inline]
pub(crate) fn apply(
    thread: &mut Thread,
    slot: ThreadSlot,
    location: &mut Location,
    id: LocationId,
    access: &Access,
) -> Applied {
    thread.number += 1;
    // A location begun anew is another one under the same name: a thread in the
    // middle of a run there would have a history.
    let again = thread.run != Some(id) || location.has_history(slot);
    thread.leave_run(again.then_some(id));
    thread.run = Some(id);
    // Before the acquire below: what comes with this access's own message is not
    // psc-before it just for that.
    let mut own = ScSet::default();
    if access.sc {
        own = thread.own_sc.clone();
        own.join(&thread.view.from_fences);
    }
    thread.sc_before.set(slot, thread.number);
    location.follow_sc(&mut thread.sc_before, access.writes.is_some());
    if let Some(written) = access.writes {
        location.values.push(written);
    }
    if access.reads {
        receive(thread, &location.message.view, access.acquires);
    }
    thread.view.happened_before.set(slot, thread.number);
    inherit_sc_order(thread, slot, location, access, &mut own);
    if access.sc {
        own.add_access(slot, thread.number);
        thread.own_sc = own.clone();
        thread.run_sc = own.clone();
        if access.writes.is_some() {
            location.sc_accesses.set_to(&own, slot, thread.number);
        } else {
            location.sc_accesses.add(&own, slot, thread.number);
        }
    }
    location.from_fences.join(&thread.view.from_fences);
    let mut continues = false;
    if access.writes.is_some() {
        location
            .from_fences_at_write
            .clone_from(&location.from_fences);
        continues = publish(thread, &mut location.message, access);
    }
    let grown = remember(thread, slot, location, access, own);
    if access.writes.is_some() && access.releases {
        thread.has_published();
    }
    Applied {
        grown: grown + usize::from(access.writes.is_some()),
        continues,
    }
}

/// The thread in `slot` makes an access that takes an old write, which hands on
/// `message`; afterwards that is what its own write hands on. Only happens-before
/// follows it: the run is not SC any more, and nothing but its races can be asked
/// for from here on.
pub(crate) fn apply_stale(
    thread: &mut Thread,
    slot: ThreadSlot,
    location: &mut Location,
    message: &mut Message,
    access: &Access,
) {
    thread.number += 1;
    thread.leave_run(None);
    if access.reads {
        receive(thread, &message.view, access.acquires);
    }
    thread.view.happened_before.set(slot, thread.number);
    if access.writes.is_some() {
        publish(thread, message, access);
    }
    let last = LastAccess {
        number: thread.number,
        thread: thread.id,
        site: access.site,
    };
    let history = location.history_mut(slot);
    history.last_access = last;
    if access.writes.is_some() {
        history.last_write = last;
    }
    if access.writes.is_some() && access.releases {
        thread.has_published();
    }
}

/// What a read gets from the write that it reads: at once, or with the next fence.
#[inline]
fn receive(thread: &mut Thread, message: &View, acquires: bool) {
    if acquires {
        thread.learn(message);
    } else {
        thread.acquirable.join(message);
    }
}

/// psc: what comes in over the location. For a write that is mo and fr from
/// every earlier access; for a read rf from the write, which only a later fence
/// can use, and happens-before at the same location.
#[inline]
fn inherit_sc_order(
    thread: &mut Thread,
    slot: ThreadSlot,
    location: &Location,
    access: &Access,
    own: &mut ScSet,
) {
    let view = &mut thread.view;
    if access.writes.is_some() {
        if access.sc {
            location.sc_accesses.join_into(own);
            own.join(&location.from_fences);
        }
        location.sc_accesses.join_into(&mut view.for_next_fence);
        view.for_next_fence.join(&location.from_fences);
        return;
    }
    view.for_next_fence.join(&location.from_fences_at_write);
    if access.sc {
        inherit_same_location(thread, slot, location, own);
    }
}

/// The accesses to this location that happened before an SC read of it. The
/// thread's own are in its `own_sc` already.
fn inherit_same_location(thread: &Thread, slot: ThreadSlot, location: &Location, own: &mut ScSet) {
    let view = &thread.view;
    // A mark without an SC part has nothing to add.
    let mut known: SmallVec<[(ThreadSlot, &Mark, &ScMark); 8]> = location
        .histories()
        .iter()
        .filter(|history| history.slot != slot)
        .filter_map(|history| {
            let (mark, sc_mark) = history.rounded_up(view.happened_before.get(history.slot))?;
            Some((history.slot, mark, sc_mark?))
        })
        .collect();
    // Newest first: the SC writes of a location form a chain, so that usually
    // nothing or one set has to be joined.
    let mut accesses: SmallVec<[(ThreadSlot, &ScAccess); 8]> = known
        .iter()
        .filter_map(|&(slot, _, sc_mark)| Some((slot, sc_mark.access.as_ref()?)))
        .collect();
    accesses.sort_by_key(|(_, access)| core::cmp::Reverse(access.seen));
    for (slot, access) in accesses {
        if !own.has(slot, access.number) {
            own.join(&access.set);
        }
    }
    // Fences that the access learns of only now, from the message it reads: they
    // count if an access to this location lies between.
    if !view.from_fences.events_within(own) {
        known.sort_by_key(|(_, mark, _)| core::cmp::Reverse(mark.seen));
        for (_, _, sc_mark) in known {
            own.join(&sc_mark.from_fences);
            if view.from_fences.events_within(own) {
                break;
            }
        }
    }
}

/// hb: what a write hands on. Whether that is more than by C++20's rule.
#[inline]
fn publish(thread: &Thread, message: &mut Message, access: &Access) -> bool {
    message.follow(&MessageWrite {
        thread: thread.id,
        source: if access.releases {
            &thread.view
        } else {
            &thread.released
        },
        releases: access.releases,
        is_rmw: access.reads,
        rule: access.rule,
    })
}

/// Adds the access to the history of its thread. Returns by how much that grew.
#[inline]
fn remember(
    thread: &Thread,
    slot: ThreadSlot,
    location: &mut Location,
    access: &Access,
    own: ScSet,
) -> usize {
    let seen = location.values.newest();
    let number = thread.number;
    let history = location.history_mut(slot);
    let (written, sc_before) = match history.newest() {
        Some((mark, sc_mark)) => (mark.written, sc_mark),
        None => (0, None),
    };
    let from_fences = &thread.view.from_fences;
    let has_changed = access.sc
        || match sc_before {
            Some(before) => !before.from_fences.is_same(from_fences),
            None => !from_fences.is_empty(),
        };
    let sc_mark = has_changed.then(|| {
        let mut sc_mark = sc_before.cloned().unwrap_or_default();
        sc_mark.from_fences.clone_from(from_fences);
        if access.sc {
            sc_mark.access = Some(ScAccess {
                seen,
                number,
                set: own,
            });
            if access.writes.is_some() {
                sc_mark.written = seen;
            }
        }
        sc_mark
    });
    let last = LastAccess {
        number,
        thread: thread.id,
        site: access.site,
    };
    history.last_access = last;
    let written = match access.writes {
        Some(_) => {
            history.last_write = last;
            seen
        }
        None => written,
    };
    let before = history.len();
    history.push(
        Mark {
            number,
            seen,
            written,
        },
        sc_mark,
        thread.epoch,
    );
    history.len() - before
}
