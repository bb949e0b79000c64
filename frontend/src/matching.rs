//! Joins debug information with sites: which site is meant by a file's line and
//! column. Compilers point at different places of one call (its start, its name,
//! its parenthesis), and some lose the column.

use crate::scan::FileScan;
use crate::site::{Operation, Position, Site};

/// What an instrumented operation did, as far as its entry point tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// An exchange or fetch-and-modify.
    Rmw,
    /// A compare-exchange.
    CompareExchange,
    /// A fence between threads.
    Fence,
    /// A fence against signal handlers.
    SignalFence,
}

/// The site that a place in debug information means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match<'s> {
    /// This one.
    Site(&'s Site),
    /// One of these: nothing known tells them apart.
    Ambiguous(Vec<&'s Site>),
    /// None of the file's sites.
    None,
}

/// Finds the site at a line (from 1) and column (from 1, 0 if it is not known)
/// that does this kind of operation.
pub fn match_site(scan: &FileScan, line: u32, column: u32, kind: OperationKind) -> Match<'_> {
    let on_line: Vec<&Site> = scan
        .sites
        .iter()
        .filter(|site| site.macro_name.is_none())
        .filter(|site| site.start.line <= line && line <= site.end.line)
        .collect();
    // The kind first: a compiler never turns a store into a fence. Only when no
    // site does that kind may another be meant, such as the load and
    // compare-exchange that `x *= 2` becomes.
    for fits in [exactly, loosely] {
        let mut fitting: Vec<&Site> = on_line
            .iter()
            .copied()
            .filter(|site| fits(site.operation, kind))
            .collect();
        if fitting.is_empty() {
            continue;
        }
        if column > 0 {
            let place = Position { line, column };
            let nearest = fitting
                .iter()
                .map(|site| distance(site, place))
                .min()
                .unwrap_or_default();
            fitting.retain(|site| distance(site, place) == nearest);
        } else if fitting.iter().any(|site| starts_on(site, line)) {
            fitting.retain(|site| starts_on(site, line));
        }
        return match fitting[..] {
            [site] => Match::Site(site),
            _ => Match::Ambiguous(fitting),
        };
    }
    Match::None
}

fn exactly(operation: Operation, kind: OperationKind) -> bool {
    kind == match operation {
        Operation::Load => OperationKind::Load,
        Operation::Store => OperationKind::Store,
        Operation::Rmw => OperationKind::Rmw,
        Operation::CompareExchange { .. } => OperationKind::CompareExchange,
        Operation::Fence => OperationKind::Fence,
        Operation::SignalFence => OperationKind::SignalFence,
    }
}

/// What compilers make of an operation that the target cannot do in one go: a
/// read-modify-write becomes a loop of a load and a compare-exchange.
fn loosely(operation: Operation, kind: OperationKind) -> bool {
    matches!(
        (operation, kind),
        (
            Operation::Rmw | Operation::CompareExchange { .. },
            OperationKind::Load | OperationKind::Rmw | OperationKind::CompareExchange
        )
    )
}

fn starts_on(site: &Site, line: u32) -> bool {
    site.start.line == line || site.callee_start.line == line
}

/// How far a place is from the spots of a site that compilers point at, first
/// those outside the site, then by the nearest spot.
fn distance(site: &Site, place: Position) -> (bool, u32) {
    let outside = place < site.start || place >= site.end;
    let parenthesis = Position {
        line: site.callee_start.line,
        column: site
            .callee_start
            .column
            .saturating_add(u32::try_from(site.callee_span.len()).unwrap_or(u32::MAX)),
    };
    let spots = [site.start, site.callee_start, parenthesis];
    let nearest = spots
        .iter()
        .filter(|spot| spot.line == place.line)
        .map(|spot| spot.column.abs_diff(place.column))
        .min()
        .unwrap_or(u32::MAX);
    (outside, nearest)
}
