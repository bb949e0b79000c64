//! From the frames of an event to its place: the operation as its author thinks of
//! it. Walks out from where the operation is made through functions that only hand
//! it on, as far as the text shows that they do; the last call of them is the place.

use wmfix_frontend::{MemoryOrder, Site};
use wmfix_trace::{Order, RecordedOperation as Operation};

use super::directive::makes_operations;
use super::scope::{Editing, Scope};
use super::sources::Sources;
use crate::symbols::{
    Frame, SourcePoint, innermost_own, is_of_library, is_own, is_plain_of_library,
};
use wmfix_online::EventKind;

/// More layers than this are not looked through.
const MAX_LAYERS: usize = 16;

/// Where an event is.
#[derive(Debug, Default)]
pub(super) struct Located {
    /// The frame of the operation in the text.
    pub own: Option<usize>,
    /// The operation in the text.
    pub site: Option<Site>,
    /// The frame of the place: the same, or that of the call which leads there.
    pub at: Option<usize>,
    /// That call in the text.
    pub call: Option<Site>,
    /// Nothing but the operation is done between the call and it.
    pub is_bare: bool,
    /// It is the access of a library to an object of its own.
    pub is_library: bool,
    /// The compiler makes it for a directive of OpenMP.
    pub is_generated: bool,
}

/// Finds the place of an event with these frames, innermost first.
pub(super) fn locate(
    frames: &[Frame],
    operation: &Operation,
    sources: &mut Sources,
    scope: &Scope,
) -> Located {
    let kind = EventKind::of(operation);
    let own = innermost_own(frames);
    let mut located = Located {
        own,
        at: own,
        is_bare: true,
        ..Located::default()
    };
    let Some(own) = own.filter(|_| kind.is_atomic()) else {
        let inner = &frames[..own.unwrap_or(0)];
        located.is_library = !scope.system_headers && is_plain_of_library(inner);
        return located;
    };
    if !scope.system_headers && is_of_library(&frames[..own]) {
        located.is_library = true;
        return located;
    }
    let order = order(operation).map(spelled);
    let (own, described) = described_call(frames, own, (kind, order), sources);
    let point = frames[own].at.as_ref();
    located.site = described.or_else(|| sources.site(point?, kind));
    located.own = Some(own);
    located.at = Some(own);
    located.is_generated = !scope.system_headers
        && located.site.is_none()
        && point.is_some_and(|point| is_of_directive(point, sources));
    located.walk_out(frames, sources, scope);
    let at = located.at.unwrap_or(own);
    if let (true, Some(site)) = (at > own, &located.site) {
        let (function, caller) = (&frames[at - 1].function, frames[at].at.as_ref());
        located.call = caller.and_then(|point| sources.call(function, point, site, order));
    }
    let is_system = |frame: &Frame| {
        frame
            .at
            .as_ref()
            .is_some_and(|at| scope.is_system(&at.file))
    };
    if is_system(&frames[at]) {
        located.is_library = true;
        // The line of its user is what the author knows.
        let user = (at..frames.len()).find(|&one| is_own(&frames[one]) && !is_system(&frames[one]));
        located.at = user.or(located.at);
    }
    located
}

impl Located {
    /// Goes to the call of each function that only hands the operation on.
    fn walk_out(&mut self, frames: &[Frame], sources: &mut Sources, scope: &Scope) {
        let (Some(own), Some(site)) = (self.own, self.site.clone()) else {
            return;
        };
        for at in (own..frames.len().saturating_sub(1)).take(MAX_LAYERS) {
            let (here, caller) = (&frames[at], &frames[at + 1]);
            let (Some(point), Some(outer)) = (&here.at, &caller.at) else {
                return;
            };
            if !is_own(caller) || leaves_library(point, outer, scope) {
                return;
            }
            let forwarder = match at == own {
                true => sources.forwards_site(&site),
                false => sources.forwards_call(point, &frames[at - 1].function),
            };
            let Some(forwarder) = forwarder else {
                return;
            };
            self.is_bare &= forwarder.is_bare;
            self.at = Some(at + 1);
        }
    }
}

fn is_of_directive(point: &SourcePoint, sources: &mut Sources) -> bool {
    let line = sources.line(&point.file, point.line);
    line.is_some_and(|line| makes_operations(&line))
}

/// Whether a call leads from a test into what is tested: the test's line is not
/// where the author would change anything.
fn leaves_library(inner: &SourcePoint, outer: &SourcePoint, scope: &Scope) -> bool {
    scope.editing(&inner.file) == Editing::Allowed && scope.editing(&outer.file) != Editing::Allowed
}

/// Where the author of the program sees the operation: if a vocabulary describes
/// the function around it, the call of that function is the operation.
fn described_call(
    frames: &[Frame],
    own: usize,
    (kind, order): (EventKind, Option<MemoryOrder>),
    sources: &mut Sources,
) -> (usize, Option<Site>) {
    let (mut at, mut found) = (own, None);
    while let Some(caller) = frames.get(at + 1)
        && let Some(call) = sources.described_call(&frames[at], caller, kind, order)
    {
        (at, found) = (at + 1, Some(call));
    }
    (at, found)
}

/// The order of an operation.
pub(super) fn order(operation: &Operation) -> Option<Order> {
    match operation {
        Operation::Load { order, .. }
        | Operation::Store { order, .. }
        | Operation::Rmw { order, .. }
        | Operation::CompareExchange { success: order, .. }
        | Operation::Fence { order } => Some(*order),
        _ => None,
    }
}

/// An order of a run as the text would say it.
fn spelled(order: Order) -> MemoryOrder {
    match order {
        Order::Relaxed => MemoryOrder::Relaxed,
        Order::Consume | Order::Acquire => MemoryOrder::Acquire,
        Order::Release => MemoryOrder::Release,
        Order::AcqRel => MemoryOrder::AcqRel,
        Order::SeqCst => MemoryOrder::SeqCst,
    }
}
