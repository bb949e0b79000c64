//! Coverage on the page: how many of the atomic operations of each file some run
//! reached.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::report::dossier::Dossier;

/// A row a file, those with most that was not reached first.
pub(super) fn coverage(dossier: &Dossier) -> Markup {
    let mut files: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for site in &dossier.inventory {
        let (reached, total) = files.entry(&site.place.file).or_default();
        *reached += usize::from(site.reached);
        *total += 1;
    }
    let mut rows: Vec<(&str, usize, usize)> = files
        .into_iter()
        .map(|(file, (reached, total))| (file, reached, total))
        .collect();
    rows.sort_by_key(|&(file, reached, total)| (std::cmp::Reverse(total - reached), file));
    html! {
        @if !rows.is_empty() {
            h2 id="coverage" { "Coverage" }
            p class="soft" { "Atomic operations of each file that some run reached." }
            div class="scroll" { table {
                tr { th { "file" } th { "reached" } th { "of" } th { } }
                @for (file, reached, total) in rows {
                    tr {
                        td class="place" { (file) }
                        td { (reached) }
                        td { (total) }
                        td { meter min="0" max=(total) value=(reached) { (reached) " of " (total) } }
                    }
                }
            } }
        }
    }
}
