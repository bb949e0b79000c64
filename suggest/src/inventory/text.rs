//! The inventory for people: a table by file, totals, and what needs a look.

use std::collections::BTreeMap;
use std::fmt::Write;

use wmfix_frontend::{NoteKind, OrderForm, Site, TreeScan};

use super::json::{operation_name, order_name, role_name};

/// The report. `quiet` leaves only the numbers.
pub(super) fn render(scan: &TreeScan, quiet: bool) -> String {
    let mut out = String::new();
    if scan.seen == 0 && scan.unreadable.is_empty() {
        return "No C or C++ files found.\n".to_owned();
    }
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
    not_literal(scan, quiet, &mut out);
    notes(scan, quiet, &mut out);
    out
}

fn row(site: &Site) -> String {
    let mut row = format!(
        "{:>5}:{:<4} {:<16} {:<16}",
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
            "{} in {with_sites} of {}",
            counted(sites().count(), "site"),
            counted(scan.seen, "file")
        ),
    );
    for ((operation, order), count) in by_kind {
        line(out, format_args!("  {count:>6}  {operation:<16} {order}"));
    }
}

fn not_literal(scan: &TreeScan, quiet: bool, out: &mut String) {
    let sites = scan.files.iter().flat_map(|(_, file)| &file.sites);
    let vague: Vec<&Site> = sites
        .filter(|site| match site.order.form {
            OrderForm::NotLiteral(_) => true,
            OrderForm::Pasted { .. } => site.order.order.is_none(),
            _ => false,
        })
        .collect();
    if vague.is_empty() {
        return;
    }
    let heading = format!(
        "{} whose order is not written at the operation",
        counted(vague.len(), "site")
    );
    if !begin(&heading, quiet, out) {
        return;
    }
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

fn notes(scan: &TreeScan, quiet: bool, out: &mut String) {
    let all = || {
        let of_files = scan.files.iter().flat_map(|(_, file)| &file.notes);
        of_files.chain(&scan.unreadable)
    };
    for (kind, what, about) in [
        (
            NoteKind::InlineAssembly,
            "piece",
            "of inline assembly, which instrumentation does not see",
        ),
        (
            NoteKind::NoSanitize,
            "function",
            "without instrumentation, whose accesses are not seen",
        ),
        (
            NoteKind::NotParsed,
            "part",
            "that could not be parsed, where sites may be missing",
        ),
        (NoteKind::Unreadable, "file", "that could not be read"),
    ] {
        let of_kind: Vec<_> = all().filter(|note| note.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let heading = format!("{} {about}", counted(of_kind.len(), what));
        if !begin(&heading, quiet, out) {
            continue;
        }
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

/// Begins a list, if it is wanted at all; otherwise its heading says enough.
fn begin(heading: &str, quiet: bool, out: &mut String) -> bool {
    if quiet {
        line(out, format_args!("{heading}"));
    } else {
        line(out, format_args!("\n{heading}:"));
    }
    !quiet
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use std::fs;

    use wmfix_frontend::{Vocabularies, scan_tree};

    use super::render;

    const SOURCE: &str = "#include <stdatomic.h>\n\
        int take(atomic_int *lock, memory_order order) {\n  int free = 0;\n  \
        while (!atomic_compare_exchange_weak_explicit(lock, &free, 1, order, memory_order_relaxed)) free = 0;\n  \
        __asm__ volatile(\"\" ::: \"memory\");\n  return atomic_load(lock);\n}\n";

    fn rendered(text: Option<&str>, quiet: bool) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(text) = text {
            fs::write(folder.path().join("lock.c"), text).expect("a file");
        }
        let scan = scan_tree(&[folder.path()], &Vocabularies::builtin());
        let root = format!("{}/", folder.path().display());
        render(&scan, quiet).replace(&root, "")
    }

    #[test]
    fn sites_stand_in_columns_and_lists_below() {
        let expected = "\
lock.c
      4:11   compare-exchange ?/relaxed        atomic_compare_exchange_weak_explicit in take [blocks until == 0]
      6:10   load             seq_cst          atomic_load in take

2 sites in 1 of 1 file
       1  compare-exchange ?
       1  load             seq_cst

1 site whose order is not written at the operation:
  lock.c:4: atomic_compare_exchange_weak_explicit

1 piece of inline assembly, which instrumentation does not see:
  lock.c:5: take
";
        assert_eq!(rendered(Some(SOURCE), false), expected);
    }

    #[test]
    fn quiet_leaves_the_numbers() {
        let expected = "\
2 sites in 1 of 1 file
       1  compare-exchange ?
       1  load             seq_cst
1 site whose order is not written at the operation
1 piece of inline assembly, which instrumentation does not see
";
        assert_eq!(rendered(Some(SOURCE), true), expected);
    }

    #[test]
    fn nothing_to_look_at_is_said() {
        assert_eq!(rendered(None, false), "No C or C++ files found.\n");
        assert_eq!(
            rendered(Some("int x;\n"), false),
            "0 sites in 0 of 1 file\n"
        );
    }
}
