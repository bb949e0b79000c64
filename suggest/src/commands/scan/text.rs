//! The inventory for people: a table by file, totals, and what needs a look.

use std::collections::BTreeMap;
use std::fmt::Write;

use wmfix_frontend::{NoteKind, OrderPlace, Site, TreeScan};

use super::json::{operation_name, order_name, role_name};

/// The report. `quiet` leaves the table of sites out.
pub fn render(scan: &TreeScan, quiet: bool) -> String {
    let mut out = String::new();
    if !quiet {
        for (path, file) in &scan.files {
            if file.sites.is_empty() {
                continue;
            }
            line(&mut out, format_args!("{}", path.display()));
            for site in &file.sites {
                line(&mut out, format_args!("  {}", row(site)));
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
    }
    totals(scan, &mut out);
    not_literal(scan, &mut out);
    notes(scan, &mut out);
    out
}

fn row(site: &Site) -> String {
    let mut row = format!(
        "{:>5}:{:<4} {:<12} {:<16}",
        site.start.line,
        site.start.column,
        operation_name(site.operation),
        order_words(site),
    );
    row += &format!(" {}", site.callee);
    if let Some(function) = &site.function {
        row += &format!(" in {function}");
    }
    if let Some(name) = &site.macro_name {
        row += &format!(" in macro {name}");
    }
    if let Some(role) = role_name(&site.role) {
        row += &format!(" [{role}]");
    }
    row
}

fn order_words(site: &Site) -> String {
    let mut words = order_name(&site.order).to_owned();
    if let Some(failure) = &site.failure_order {
        words += &format!("/{}", order_name(failure));
    }
    words
}

fn totals(scan: &TreeScan, out: &mut String) {
    let sites = || scan.files.iter().flat_map(|(_, file)| &file.sites);
    let mut by_kind: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for site in sites() {
        let key = (operation_name(site.operation), order_name(&site.order));
        *by_kind.entry(key).or_default() += 1;
    }
    let with_sites = scan
        .files
        .iter()
        .filter(|(_, f)| !f.sites.is_empty())
        .count();
    line(
        out,
        format_args!(
            "{} sites in {with_sites} of {} files",
            sites().count(),
            scan.seen
        ),
    );
    for ((operation, order), count) in by_kind {
        line(out, format_args!("  {count:>6}  {operation:<16} {order}"));
    }
}

fn not_literal(scan: &TreeScan, out: &mut String) {
    let sites = scan.files.iter().flat_map(|(_, file)| &file.sites);
    let vague: Vec<&Site> = sites
        .filter(|site| matches!(site.order.place, OrderPlace::NotLiteral(_)))
        .collect();
    if vague.is_empty() {
        return;
    }
    line(
        out,
        format_args!(
            "\n{} sites whose order is not written at the site:",
            vague.len()
        ),
    );
    for site in vague {
        line(
            out,
            format_args!(
                "  {}:{}: {}",
                site.file.display(),
                site.start.line,
                site.callee
            ),
        );
    }
}

fn notes(scan: &TreeScan, out: &mut String) {
    let all = || {
        let of_files = scan.files.iter().flat_map(|(_, file)| &file.notes);
        of_files.chain(&scan.unreadable)
    };
    for (kind, heading) in [
        (
            NoteKind::InlineAssembly,
            "inline assembly, which instrumentation does not see",
        ),
        (NoteKind::NoSanitize, "functions that are not instrumented"),
        (
            NoteKind::NotParsed,
            "parts that could not be parsed: sites in them may be missing",
        ),
        (NoteKind::Unreadable, "files that could not be read"),
    ] {
        let of_kind: Vec<_> = all().filter(|note| note.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        line(out, format_args!("\n{} {heading}:", of_kind.len()));
        for note in of_kind {
            let place = note.place.map_or(String::new(), |p| format!(":{}", p.line));
            let detail = if note.detail.is_empty() {
                String::new()
            } else {
                format!(": {}", note.detail)
            };
            line(
                out,
                format_args!("  {}{place}{detail}", note.file.display()),
            );
        }
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
