//! Joins debug information with sites: which site is meant by a file's line and
//! column. Compilers point at different places of one call (its start, its name,
//! its parenthesis), and some lose the column.

use crate::scan::FileScan;
use crate::site::{OperationKind, Position, Site, SiteOperation};

/// The site that a place in debug information means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteMatch<'s> {
    /// This one.
    Site(&'s Site),
    /// One of these: nothing known tells them apart.
    Ambiguous(Vec<&'s Site>),
    /// None of the file's sites.
    None,
}

/// Finds the site at a line (from 1) and column (from 1, 0 if it is not known)
/// that does this kind of operation.
pub fn match_site(scan: &FileScan, line: u32, column: u32, kind: OperationKind) -> SiteMatch<'_> {
    let near = &scan.sites[scan.lines.around(line)];
    let certain = match_on_line(near, line, column, kind);
    let possible = &scan.possible[scan.possible_lines.around(line)];
    let possible = match_on_line(possible, line, column, kind);
    match (certain, possible) {
        // That an atomic access was seen there is what a possible site lacks. It is
        // meant if nothing else can be, or if the column points into it.
        (SiteMatch::None, possible @ SiteMatch::Site(_)) => possible,
        (SiteMatch::Site(site), SiteMatch::Site(possible)) => {
            let place = Position { line, column };
            let nearer = distance(possible, place) < distance(site, place);
            let inside = possible.start <= place && place < possible.end;
            SiteMatch::Site(if column > 0 && nearer && inside {
                possible
            } else {
                site
            })
        }
        (SiteMatch::None, _) => match_around(near, line, kind),
        (found, _) => found,
    }
}

/// The same among some sites.
pub(crate) fn match_among(
    sites: &[Site],
    line: u32,
    column: u32,
    kind: OperationKind,
) -> SiteMatch<'_> {
    match match_on_line(sites, line, column, kind) {
        SiteMatch::None => match_around(sites, line, kind),
        found => found,
    }
}

fn match_on_line(sites: &[Site], line: u32, column: u32, kind: OperationKind) -> SiteMatch<'_> {
    let on_line: Vec<&Site> = sites
        .iter()
        .filter(|site| site.macro_name.is_none())
        .filter(|site| site.start.line <= line && line <= site.end.line)
        .collect();
    // The kind first: a compiler never turns a store into a fence. Only when no
    // site does that kind may another be meant, such as the load and
    // compare-exchange that `x *= 2` becomes.
    let exactly = |operation: SiteOperation, kind| operation.kind() == kind;
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
            [site] => SiteMatch::Site(site),
            _ => SiteMatch::Ambiguous(fitting),
        };
    }
    SiteMatch::None
}

/// Optimised code is sometimes ascribed to the statement around a site.
fn match_around(sites: &[Site], line: u32, kind: OperationKind) -> SiteMatch<'_> {
    let mut around = sites
        .iter()
        .filter(|site| site.macro_name.is_none() && site.operation.kind() == kind)
        .filter(|site| site.statement_line <= line && line <= site.end.line);
    match (around.next(), around.next()) {
        (Some(site), None) => SiteMatch::Site(site),
        (Some(first), Some(second)) => {
            SiteMatch::Ambiguous([first, second].into_iter().chain(around).collect())
        }
        _ => SiteMatch::None,
    }
}

/// What compilers make of an operation that the target cannot do in one go: a
/// read-modify-write becomes a loop of a load and a compare-exchange.
fn loosely(operation: SiteOperation, kind: OperationKind) -> bool {
    matches!(
        (operation, kind),
        (
            SiteOperation::Rmw | SiteOperation::CompareExchange { .. },
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{OperationKind, SiteMatch, match_site};
    use crate::{FileScan, Vocabularies, scan_source};

    fn scan(text: &str) -> FileScan {
        scan_source(Path::new("a.cc"), text.as_bytes(), &Vocabularies::builtin())
    }

    fn object<'t>(found: &SiteMatch<'_>, text: &'t str) -> &'t str {
        match found {
            SiteMatch::Site(site) => &text[site.object.clone().expect("it has an object")],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sites_on_one_line_are_told_apart_by_column() {
        let text = "std::atomic<int> a, b; int f() { return a.load() + b.load(); }";
        let scan = scan(text);
        let column =
            |needle: &str| u32::try_from(text.find(needle).expect("there") + 1).expect("fits");
        // gcc points behind the name, clang at the name or the start of the call.
        for (start, name) in [("a.load", "a"), ("b.load", "b")] {
            for offset in [0, 2, 6] {
                let found = match_site(&scan, 1, column(start) + offset, OperationKind::Load);
                assert_eq!(object(&found, text), name, "{start}+{offset}");
            }
        }
        assert!(matches!(
            match_site(&scan, 1, 0, OperationKind::Load),
            SiteMatch::Ambiguous(sites) if sites.len() == 2
        ));
    }

    #[test]
    fn sites_on_one_line_are_told_apart_by_kind() {
        let text = "std::atomic<int> a, b; void f() { a.store(b.load()); a++; }";
        let scan = scan(text);
        let load = match_site(&scan, 1, 0, OperationKind::Load);
        assert_eq!(object(&load, text), "b");
        let store = match_site(&scan, 1, 0, OperationKind::Store);
        assert_eq!(object(&store, text), "a");
        assert_eq!(
            match_site(&scan, 1, 0, OperationKind::Fence),
            SiteMatch::None
        );
        assert_eq!(
            match_site(&scan, 2, 0, OperationKind::Load),
            SiteMatch::None
        );
    }

    #[test]
    fn a_call_over_several_lines_is_found_on_each() {
        let text = "std::atomic<int> a;\nint f() {\n  return a\n    .load(\n      std::memory_order_acquire);\n}\n";
        let scan = scan(text);
        for line in 3..=5 {
            let found = match_site(&scan, line, 5, OperationKind::Load);
            assert_eq!(object(&found, text), "a", "line {line}");
        }
    }

    #[test]
    fn what_may_be_a_site_is_one_when_an_access_was_seen_there() {
        let text = "struct A { std::atomic<int> n; }; struct B; A a;\n\
            int f(B* b) { return get(b)->n; }\n\
            int g(B* b) { return a.n.load() + get(b)->n; }\n";
        let scan = scan(text);
        let lines: Vec<u32> = scan.sites.iter().map(|site| site.start.line).collect();
        assert_eq!(lines, [3], "only the call is certain");
        let found = match_site(&scan, 2, 30, OperationKind::Load);
        assert_eq!(object(&found, text), "get(b)->n");
        assert_eq!(
            match_site(&scan, 2, 30, OperationKind::Fence),
            SiteMatch::None
        );
        // gcc's column of a call is that of its parenthesis, of a read its operator.
        let call = match_site(&scan, 3, 32, OperationKind::Load);
        assert_eq!(object(&call, text), "a.n");
        let read = match_site(&scan, 3, 43, OperationKind::Load);
        assert_eq!(object(&read, text), "get(b)->n");
    }

    #[test]
    fn what_compilers_make_a_loop_of_is_the_operation() {
        let text = "std::atomic<int> a; void f() { a.fetch_max(3); }";
        let scan = scan(text);
        let found = match_site(&scan, 1, 32, OperationKind::CompareExchange);
        assert_eq!(object(&found, text), "a");
    }
}
