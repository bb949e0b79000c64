//! The table on top of a report: a row for each cause, or two lines where the
//! terminal is too narrow for the table.

use super::wrapped;
use crate::report::dossier::Dossier;
use crate::report::overview::{Row, rows};

const HEADS: [&str; 6] = ["finding", "what", "where", "harm", "seen", "removed by"];

/// At most this many rows; the rest is counted.
const MAX_ROWS: usize = 40;

/// The table; empty if nothing was found.
pub(super) fn overview(dossier: &Dossier, width: Option<usize>) -> String {
    let rows = rows(dossier);
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    let cells: Vec<[String; 6]> = rows.iter().take(MAX_ROWS).map(cells).collect();
    let widths = widths(&cells);
    let needed = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
    let mut text = match width {
        Some(width) if needed > width => cells.iter().map(|row| stacked(row, width)).collect(),
        _ => table(&cells, &widths),
    };
    if more > 0 {
        text += &format!("and {more} more\n");
    }
    text + "\n"
}

fn cells(row: &Row) -> [String; 6] {
    let ids = match &row.ids[..] {
        [first] => first.clone(),
        [first, others @ ..] => format!("{first} +{}", others.len()),
        [] => String::new(),
    };
    [
        ids,
        row.what.clone(),
        row.place.clone(),
        row.harm.to_owned(),
        row.seen.clone(),
        row.removed_by.clone(),
    ]
}

/// How wide each column is; 0 for one that has nothing in it.
fn widths(cells: &[[String; 6]]) -> [usize; 6] {
    std::array::from_fn(|column| {
        let longest = cells.iter().map(|row| row[column].chars().count()).max();
        match longest.unwrap_or(0) {
            0 => 0,
            longest => longest.max(HEADS[column].len()),
        }
    })
}

fn table(cells: &[[String; 6]], widths: &[usize; 6]) -> String {
    let heads = HEADS.map(str::to_owned);
    let lines = std::iter::once(&heads).chain(cells).map(|row| {
        let columns = row.iter().zip(widths).filter(|(_, width)| **width > 0);
        let columns = columns.map(|(cell, width)| format!("{cell:<width$}"));
        let line: Vec<String> = columns.collect();
        line.join("  ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn stacked(row: &[String; 6], width: usize) -> String {
    let [id, what, place, harm, seen, removed] = row;
    let mut text = wrapped(&format!("{id} {harm}: {what}"), "", "  ", width);
    let mut rest = format!("{place}; {seen}");
    if !removed.is_empty() {
        rest += &format!("; {removed}");
    }
    text += &wrapped(&rest, "  ", "  ", width);
    text
}
