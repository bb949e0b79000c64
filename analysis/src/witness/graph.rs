//! An execution graph as data: what each thread did, where every read took its
//! value from, and in which order the writes of a location took effect. It can
//! be wrong in any way; `check` decides. Knows nothing of how it was found.

use std::collections::BTreeMap;

use crate::event::{LocationId, LockId, LockMode, LoopExit, ThreadId};
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use crate::violation::EventIndex;

/// A proof that a program is not robust: an execution graph of a part of it
/// that the memory model allows and that no interleaving has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The events of the graph; a [`NodeId`] is an index into them.
    pub nodes: Vec<Node>,
    /// rf, from the node that reads to the node it reads from.
    pub reads_from: BTreeMap<NodeId, NodeId>,
    /// mo: the writes to each location, oldest first, the initial one included.
    pub modification: BTreeMap<ObjectId, Vec<NodeId>>,
    /// The order in which the threads took and gave back each lock.
    pub lock_order: BTreeMap<LockId, Vec<NodeId>>,
    /// The order of the SC fences, which only RC20 has; empty for RC11.
    pub fence_order: Vec<NodeId>,
    /// The access that goes stale.
    pub access: NodeId,
    /// Where the graph begins.
    pub start: Start,
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// A location between one birth and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// The location.
    pub location: LocationId,
    /// How many objects had this location before.
    pub incarnation: u32,
}

/// One event of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Who; `None` for an initial write, which is before every thread. A write
    /// without an event has a thread to itself, numbered from the top.
    pub thread: Option<ThreadId>,
    /// How many events of the graph the thread has before it.
    pub position: u32,
    /// The event of the run, if there is one; of an initial write, the one
    /// that wrote the value before the graph begins.
    pub event: Option<EventIndex>,
    /// What.
    pub label: Label,
}

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The value a location has when the graph begins.
    Initial {
        /// The location.
        object: ObjectId,
        /// Its value, if the run recorded it.
        value: Option<u64>,
    },
    /// A load, or a compare-exchange that failed.
    Read {
        /// The location.
        object: ObjectId,
        /// Its order.
        order: LoadOrder,
        /// The value read; `None` for an initial value that the run never recorded.
        value: Option<u64>,
        /// What the program demands of the value for this to happen.
        guard: Guard,
    },
    /// A store.
    Write {
        /// The location.
        object: ObjectId,
        /// Its order.
        order: StoreOrder,
        /// The value written.
        value: u64,
    },
    /// A read-modify-write.
    Rmw {
        /// The location.
        object: ObjectId,
        /// Its order.
        order: RmwOrder,
        /// The value read; `None` for an initial value that the run never recorded.
        read: Option<u64>,
        /// The value written; `None` if the run did not show what the operation
        /// makes of the value read. Then nothing may read it.
        written: Option<u64>,
        /// What the program demands of the value read for this to happen.
        guard: Guard,
    },
    /// A fence.
    Fence {
        /// Its order.
        order: FenceOrder,
    },
    /// The thread starts another one.
    Create {
        /// The new thread.
        child: ThreadId,
    },
    /// A created thread begins.
    Start,
    /// The thread ends.
    Exit,
    /// The thread has waited for another one's end.
    Join {
        /// The ended thread.
        child: ThreadId,
    },
    /// The thread takes a lock.
    Acquire {
        /// The lock.
        lock: LockId,
        /// How.
        mode: LockMode,
    },
    /// The thread gives a lock back.
    Release {
        /// The lock.
        lock: LockId,
        /// How it was held.
        mode: LockMode,
    },
}

/// A condition on a value read without which the program does something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// None: the operation happens whatever it reads.
    Any,
    /// A compare-exchange that succeeds has read what it expected.
    Equals(u64),
    /// A strong compare-exchange that fails has not.
    Differs(u64),
    /// A spin loop has been left.
    Leaves(LoopExit),
}

/// Where a graph begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the beginning of the run: no thread has done anything.
    Run,
    /// In the middle of the run. All edges of the run so far lead forward in
    /// time, and the edges that the stale access adds lead to writes after the
    /// cut, so nothing before it can be on a cycle: it is left out, and every
    /// location starts with the value it had.
    Cut {
        /// The first event of the run that may be in the graph.
        first: EventIndex,
        /// The position of each thread's first node.
        positions: BTreeMap<ThreadId, u32>,
    },
}

impl Witness {
    /// A node.
    ///
    /// # Panics
    /// If the graph has no such node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// All nodes with their names.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i), n))
    }
}

impl Label {
    /// The location it accesses, if it does.
    pub fn object(&self) -> Option<ObjectId> {
        match *self {
            Self::Initial { object, .. }
            | Self::Read { object, .. }
            | Self::Write { object, .. }
            | Self::Rmw { object, .. } => Some(object),
            _ => None,
        }
    }

    /// The value it reads, if it reads and that is known.
    pub fn value_read(&self) -> Option<u64> {
        match *self {
            Self::Read { value, .. } | Self::Rmw { read: value, .. } => value,
            _ => None,
        }
    }

    /// The value it writes, if that is known.
    pub fn value_written(&self) -> Option<u64> {
        match *self {
            Self::Initial { value, .. } => value,
            Self::Write { value, .. } => Some(value),
            Self::Rmw { written, .. } => written,
            _ => None,
        }
    }

    /// Whether it reads.
    pub fn reads(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Rmw { .. })
    }

    /// Whether it writes.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Initial { .. } | Self::Write { .. } | Self::Rmw { .. }
        )
    }

    /// Whether it is a read-modify-write.
    pub fn is_rmw(&self) -> bool {
        matches!(self, Self::Rmw { .. })
    }

    /// Whether it is a fence.
    pub fn is_fence(&self) -> bool {
        matches!(self, Self::Fence { .. })
    }

    /// Whether it is an SC fence.
    pub fn is_sc_fence(&self) -> bool {
        matches!(self, Self::Fence { order } if order.is_sc())
    }

    /// Whether it is an SC access.
    pub fn is_sc_access(&self) -> bool {
        match self {
            Self::Read { order, .. } => order.is_sc(),
            Self::Write { order, .. } => order.is_sc(),
            Self::Rmw { order, .. } => order.is_sc(),
            _ => false,
        }
    }

    /// Whether it releases, as a write or as a fence.
    pub fn releases(&self) -> bool {
        match self {
            Self::Write { order, .. } => order.releases(),
            Self::Rmw { order, .. } => order.releases(),
            Self::Fence { order } => order.releases(),
            _ => false,
        }
    }

    /// Whether it acquires, as a read or as a fence.
    pub fn acquires(&self) -> bool {
        match self {
            Self::Read { order, .. } => order.acquires(),
            Self::Rmw { order, .. } => order.acquires(),
            Self::Fence { order } => order.acquires(),
            _ => false,
        }
    }
}

impl Guard {
    /// Whether the operation is known to happen when it reads this value.
    pub fn admits(&self, value: Option<u64>) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (_, None) => false,
            (Self::Equals(expected), Some(value)) => value == *expected,
            (Self::Differs(expected), Some(value)) => value != *expected,
            (Self::Leaves(exit), Some(value)) => exit.leaves(value),
        }
    }
}
