//! The cheapest repair of a corpus of recorded runs: which orders to raise and
//! where to put fences so that no run holds a violation or a race any more.
//! A repair is judged by analysing the same runs again with stronger labels, so
//! nothing here knows about source text, building or running: what may be
//! changed comes in as [`ChangePoint`]s, and what should be changed goes out as
//! [`Change`]s of those points.
//!
//! Store buffering: two threads each write one variable and then read the
//! other's. With relaxed orders both may read the old value, which no
//! interleaving allows. The cheapest repair is a full fence after each store.
//!
//! ```
//! use wmfix_analysis::{
//!     Event, FenceOrder, LoadOrder, LocationId, Operation, SiteId, StoreOrder, ThreadId,
//! };
//! use wmfix_repair::{ChangeKind, Change, Options, Orders, ChangePoint, Problem, repair};
//!
//! let (x, y) = (LocationId(0), LocationId(1));
//! let event = |thread, site, operation| Event {
//!     thread: ThreadId(thread),
//!     site: SiteId(site),
//!     operation,
//! };
//! let store = |location| Operation::Store { location, order: StoreOrder::Relaxed, value: 1 };
//! let load = |location, value| {
//!     Operation::Load { location, order: LoadOrder::Relaxed, value, exit: None }
//! };
//! let run = vec![
//!     event(0, 0, Operation::Create { child: ThreadId(1) }),
//!     event(0, 1, store(x)),
//!     event(0, 2, load(y, 0)),
//!     event(1, 3, store(y)),
//!     event(1, 4, load(x, 1)),
//! ];
//!
//! let (stores, loads) = (Orders::Store(StoreOrder::Relaxed), Orders::Load(LoadOrder::Relaxed));
//! let points = [(1, stores), (2, loads), (3, stores), (4, loads)];
//! let problem = Problem {
//!     traces: vec![run],
//!     points: points.map(|(site, orders)| ChangePoint::new(vec![SiteId(site)], orders)).to_vec(),
//!     ..Problem::default()
//! };
//! let outcome = repair(&problem, &Options::default(), |_| {})?;
//!
//! let repair = outcome.repair.expect("store buffering can be repaired");
//! let changes: Vec<Change> = repair.changes.iter().map(|reasoned| reasoned.change).collect();
//! let fence_after = |point| Change { point, kind: ChangeKind::FenceAfter(FenceOrder::SeqCst) };
//! assert_eq!(changes, [fence_after(0), fence_after(2)]);
//! # Ok::<(), wmfix_repair::RepairError>(())
//! ```
#![forbid(unsafe_code)]

mod allowed;
mod change_point;
mod cost;
mod error;
mod explain;
mod hitting;
mod judge;
mod layers;
mod moves;
mod outcome;
mod problem;
mod relax;
mod search;
mod selection;
mod solve;
mod stop;
mod variable;

pub use allowed::AllowedFindings;
pub use change_point::{Change, ChangeKind, ChangePoint, MoveDirection, Orders};
pub use cost::{Profile, costs};
pub use error::RepairError;
pub use layers::repair_in_layers;
pub use moves::FenceMove;
pub use outcome::{Finding, Outcome, ReasonedChange, RefusedChange, Repair, SearchEnd, Work};
pub use problem::{Options, Problem, Progress, Stage};
pub use relax::{Relaxation, Saving, relax};
pub use solve::{holds, repair, unneeded};
