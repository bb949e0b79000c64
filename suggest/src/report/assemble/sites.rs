//! The sites of the program: how many there are, and which no run reached.

use std::collections::HashSet;
use std::path::PathBuf;

use super::spots::{SpotFinder, site_place};
use crate::findings::CollectedFindings;
use crate::path_limit::PathLimit;
use crate::report::dossier::InventoryEntry;
use crate::report::model::Sites;

/// How many sites the files have, and those of the limit that runs reached, which of
/// them were not executed, and all of them.
pub(super) fn sites(
    spots: &mut SpotFinder<'_>,
    collected: &CollectedFindings,
    files: &[PathBuf],
    limit: &PathLimit,
) -> (Sites, Vec<InventoryEntry>) {
    let mut reached = HashSet::new();
    for &site in collected.reached.keys() {
        let place = spots.places.get(site);
        if let Some(site) = &place.site {
            let file = PathBuf::clone(&site.file);
            reached.insert((file, site.span.start, site.span.end));
        }
    }
    let mut all_files: Vec<PathBuf> = files.to_vec();
    let reached_files = reached.iter().map(|(file, ..)| file);
    all_files.extend(reached_files.filter(|file| limit.holds_file(file)).cloned());
    all_files.sort();
    all_files.dedup();
    let mut sites = Sites::default();
    let mut inventory = Vec::new();
    for path in all_files {
        let Some(file) = spots.places.sources.file(&path) else {
            continue;
        };
        for site in file
            .scan
            .sites
            .iter()
            .filter(|site| site.macro_name.is_none())
        {
            let is_reached = reached.contains(&(path.clone(), site.span.start, site.span.end));
            // The calls are the sites where a vocabulary says so.
            if !is_reached && spots.places.sources.is_body_of_a_layer(site) {
                continue;
            }
            let order = site.order.order.map_or("", |order| order.name());
            let place = site_place(site, spots.shown(&path), order.to_owned());
            sites.total += 1;
            if is_reached {
                sites.reached += 1;
            } else {
                sites.unreached.push(place.clone());
            }
            inventory.push(InventoryEntry {
                place,
                reached: is_reached,
            });
        }
    }
    sites.unreached.sort();
    inventory.sort_by(|a, b| a.place.cmp(&b.place));
    (sites, inventory)
}
