//! OpenMP's explicit tasks: what was done before one was created comes before it,
//! and its end before whatever waits for it: its parent, its group, the team's next
//! barrier, and the tasks that depend on it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use super::{BARRIER, children_key, current, give, key, learn};
use crate::openmp_task::OpenMpTask;
use crate::turn;

/// Tasks are known by numbers that no address has. So many are told apart at a time:
/// those that share a number are ordered more than they are.
const TASK_KEYS: u64 = 1 << 62 | 1 << 45;
const TASKS_TOLD_APART: u64 = 1 << 14;

/// Numbers of what tasks depend on, for those that write and those that read.
const WRITERS: u64 = 1 << 62 | 1 << 49;
const READERS: u64 = 1 << 62 | 1 << 50;

static NEXT_TASK: AtomicU64 = AtomicU64::new(0);

/// Something that a task depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependence {
    pub(super) address: u64,
    pub(super) writes: bool,
}

/// What the end of a task is told to, and what its beginning comes after.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct TaskLinks {
    created: u64,
    parent: u64,
    group: u64,
    team: u64,
    /// A boxed list, or null.
    dependences: *mut Vec<Dependence>,
}

impl TaskLinks {
    /// Those of a task that the running one creates now.
    pub(super) fn create(dependences: Vec<Dependence>, pc: u64) -> Self {
        let number = NEXT_TASK.fetch_add(1, Ordering::Relaxed) % TASKS_TOLD_APART;
        let created = TASK_KEYS | number;
        give(&[created], pc);
        let running = current().map_or_else(OpenMpTask::default, |task| *task);
        Self {
            created,
            parent: children_key(),
            group: running.group,
            team: running.team,
            dependences: if dependences.is_empty() {
                core::ptr::null_mut()
            } else {
                Box::into_raw(Box::new(dependences))
            },
        }
    }

    /// The creator has copied what the task works on.
    pub(super) fn copied(&self) {
        give(&[self.created], 0);
    }

    /// Runs the task, which is known by the address of what it works on. `once`: it
    /// is not run again.
    pub(super) fn run<R>(&self, address: u64, once: bool, body: impl FnOnce() -> R) -> R {
        learn(&[self.created], 0);
        // SAFETY: boxed when the task was created.
        let dependences = unsafe { self.dependences.as_ref() };
        let dependences = dependences.map_or(&[][..], Vec::as_slice);
        wait_for(dependences);
        let task = OpenMpTask {
            children: address,
            group: self.group,
            team: self.team,
            ..OpenMpTask::default()
        };
        let before = current().map(|current| core::mem::replace(current, task));
        let result = body();
        for dependence in dependences {
            let kind = if dependence.writes { WRITERS } else { READERS };
            give(&[kind | dependence.address], 0);
        }
        give(&[self.parent, self.group, self.team, key(&BARRIER)], 0);
        if let (Some(current), Some(before)) = (current(), before) {
            *current = before;
        }
        if once && !self.dependences.is_null() {
            // SAFETY: boxed when the task was created, and used by nobody else.
            drop(unsafe { Box::from_raw(self.dependences) });
        }
        turn::go_away();
        result
    }
}

/// What the tasks did that these dependences are on comes before what is next.
pub(super) fn wait_for(dependences: &[Dependence]) {
    for dependence in dependences {
        learn(&[WRITERS | dependence.address], 0);
        if dependence.writes {
            learn(&[READERS | dependence.address], 0);
        }
    }
}

/// A group of tasks: its number is its address.
struct Group {
    outer: u64,
}

/// The running task begins a group.
pub(super) fn begin_group() {
    if let Some(task) = current() {
        let group = Box::new(Group { outer: task.group });
        task.group = Box::into_raw(group) as u64;
    }
}

/// All tasks of the group have ended.
pub(super) fn end_group(pc: u64) {
    let Some(task) = current() else {
        return;
    };
    let group = task.group;
    if group == 0 {
        return;
    }
    learn(&[group], pc);
    // SAFETY: boxed by `begin_group` of the same task.
    task.group = unsafe { Box::from_raw(group as *mut Group) }.outer;
}
