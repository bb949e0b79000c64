//! The memory model by brute force: every execution graph of a small program,
//! judged by the axioms themselves. Shares the event types with the analysis
//! and nothing else, so that the two can be held against each other.
//!
//! The axioms are RC11's with C++20's or C++17's release sequences. Nodes are accesses,
//! fences and edges (create, join, mutex); `rf` is reads-from, `mo` the order of
//! writes to a location, `fr` is `rf⁻¹; mo`:
//!
//! ```text
//! sw  = [rel]; ([F]; po)?; rs; (po; [F])?; [acq]
//! rs  = rf⁺, which goes through RMWs only              C++20
//!     | (mo while RMW or of the same thread)?; rf      C++17
//! hb  = (po ∪ sw ∪ edges)⁺                             irreflexive
//! eco = (rf ∪ mo ∪ fr)⁺                                hb; eco irreflexive
//! an RMW follows directly, in mo, the write it reads
//! po ∪ rf ∪ edges                                      acyclic
//! scb = po ∪ po≠; hb; po≠ ∪ hb|loc ∪ mo ∪ fr           po≠: to another location
//! psc = ([SC] ∪ [Fsc]; hb?); scb; ([SC] ∪ hb?; [Fsc])
//!     ∪ [Fsc]; (hb ∪ hb; eco; hb); [Fsc]               acyclic
//! ```
//!
//! A graph is SC when po ∪ rf ∪ mo ∪ fr ∪ edges is acyclic. A program is robust
//! when none of its graphs, complete or not, is consistent but not SC.

mod axioms;
mod explore;
mod graph;
mod naive;
mod outcomes;
mod races;
mod relation;

pub use axioms::{Axioms, happens_before, is_consistent, is_sequential};
pub use explore::{StaleChoice, State, explore, is_robust};
pub use graph::Graph;
pub use naive::is_robust_naively;
pub use outcomes::{WeakState, outcomes, walk};
pub use races::{Partner, has_race, races};
