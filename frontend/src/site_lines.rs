//! Where to look in a long list of sites, which is in the order of the text: those
//! that a line can mean, and those inside a span. A file may have tens of thousands,
//! and each is asked for by each place of a run.

use std::ops::Range;

use crate::site::{Site, Span};

/// Which sites of a list a line can mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteLines {
    /// For each site, the last line of it and of all before it.
    last: Vec<u32>,
    /// For each site, the first line of its statement and of those of all behind it.
    first: Vec<u32>,
}

impl SiteLines {
    pub(crate) fn of(sites: &[Site]) -> Self {
        let mut last: Vec<u32> = sites.iter().map(|site| site.end.line).collect();
        for at in 1..last.len() {
            last[at] = last[at].max(last[at - 1]);
        }
        let mut first: Vec<u32> = sites
            .iter()
            .map(|site| site.statement_line.min(site.start.line))
            .collect();
        for at in (1..first.len()).rev() {
            first[at - 1] = first[at - 1].min(first[at]);
        }
        Self { last, first }
    }

    /// The part of the list with all sites that are, or whose statement is, on a line.
    pub(crate) fn around(&self, line: u32) -> Range<usize> {
        let from = self.last.partition_point(|&last| last < line);
        let to = self.first.partition_point(|&first| first <= line);
        from..to.max(from)
    }
}

/// The sites that start inside a span.
pub(crate) fn starting_in<'s>(sites: &'s [Site], span: &Span) -> &'s [Site] {
    let from = sites.partition_point(|site| site.span.start < span.start);
    let to = sites.partition_point(|site| site.span.start < span.end);
    &sites[from..to.max(from)]
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use super::{SiteLines, starting_in};
    use crate::{FileScan, Vocabularies, scan_source};

    fn scan(text: &str) -> FileScan {
        scan_source(Path::new("a.cc"), text.as_bytes(), &Vocabularies::builtin())
    }

    /// A function of twenty increments, again and again.
    fn long_file(functions: usize) -> String {
        let mut text = "#include <atomic>\nstd::atomic<int> x;\n".to_owned();
        for number in 0..functions {
            let body = "  x.fetch_add(1);\n".repeat(20);
            writeln!(text, "void f{number}() {{\n{body}}}").expect("a string");
        }
        text
    }

    /// How many sites are looked at if every site is asked for by its line, and by its
    /// function.
    fn looked_at(functions: usize) -> (usize, usize) {
        let scan = scan(&long_file(functions));
        assert_eq!(scan.sites.len(), 20 * functions);
        let lines = SiteLines::of(&scan.sites);
        let by_line = |line| lines.around(line).len();
        let by_function = |span| starting_in(&scan.sites, span).len();
        let spans = scan.sites.iter().filter_map(|s| s.function_span.as_ref());
        (
            scan.sites.iter().map(|s| by_line(s.start.line)).sum(),
            spans.map(by_function).sum(),
        )
    }

    #[test]
    fn the_sites_looked_at_grow_with_the_file_and_not_with_its_square() {
        assert_eq!(looked_at(10), (200, 200 * 20));
        assert_eq!(looked_at(1000), (20_000, 20_000 * 20));
    }

    #[test]
    fn no_site_on_a_line_is_left_out() {
        let text = "#include <atomic>\nstd::atomic<int> x, y;\nint f(int, int);\nvoid g() {\n\
            \x20 f(\n    x.load(),\n    [] {\n      y.store(1);\n      return y.load();\n    }());\n\
            \x20 x.store(f(1,\n    y.load()\n  ));\n\
            \x20 int a = x.load() +\n    y.load();\n}\n";
        let scan = scan(text);
        assert_eq!(scan.sites.len(), 7);
        let lines = SiteLines::of(&scan.sites);
        for line in 0..20 {
            let near = lines.around(line);
            for (at, site) in scan.sites.iter().enumerate() {
                let first = site.statement_line.min(site.start.line);
                let is_on_it = first <= line && line <= site.end.line;
                assert!(!is_on_it || near.contains(&at), "{line}: {site:?}");
            }
        }
        assert!(SiteLines::default().around(3).is_empty());
    }
}
