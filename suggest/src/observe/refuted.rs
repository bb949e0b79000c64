//! Waits that a run refutes: the text says that a round stays in the loop, and the
//! thread went on behind it, or looked at another object in the next round.

use std::collections::HashMap;

use wmfix_analysis::{Event, LocationId, Operation, SiteId, ThreadId};
use wmfix_frontend::Site;

use super::places::Places;

/// The places of loops that are not what their text says.
pub(super) fn refuted_waits(events: &[Event], places: &Places) -> Vec<SiteId> {
    let mut last: HashMap<ThreadId, &Event> = HashMap::new();
    let mut refuted = Vec::new();
    let is_step = |event: &&Event| !super::steps::is_plain(&event.operation);
    for event in events.iter().filter(is_step) {
        let before = last.insert(event.thread, event);
        let Some(before) = before.filter(|before| before.operation.stays_in_loop()) else {
            continue;
        };
        let site = |event: &Event| places.get(event.site).site.as_ref();
        let is_refuted = match (site(before), site(event)) {
            (Some(waits), Some(next)) => {
                is_behind(waits, next) || {
                    let is_same = before.site == event.site;
                    is_same && location(before) != location(event)
                }
            }
            _ => event.operation == Operation::Exit,
        };
        if is_refuted && !refuted.contains(&before.site) {
            refuted.push(before.site);
        }
    }
    refuted
}

/// Whether an operation is not in the loop of another.
fn is_behind(waits: &Site, next: &Site) -> bool {
    waits.loop_span.as_ref().is_some_and(|around| {
        let is_inside = around.start <= next.span.start && next.span.end <= around.end;
        waits.file != next.file || !is_inside
    })
}

fn location(event: &Event) -> Option<LocationId> {
    match event.operation {
        Operation::Load { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => Some(location),
        _ => None,
    }
}
