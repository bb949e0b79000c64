//! An audit for people: what no test reached first, then what was found, the
//! repair, and the inventory.

use std::collections::BTreeMap;

use super::fit::fit_lines;
use super::{TextRenderer, counted, repair_text};
use crate::report::dossier::Dossier;
use crate::report::model::ReportedPlace;
use crate::report::notice_words;

impl TextRenderer {
    /// The audit of what was examined, as it was named.
    pub(crate) fn audit(&self, dossier: &Dossier, subject: &str) -> String {
        let report = &dossier.report;
        let mut text = format!("Audit of {subject}\n\n");
        let sites = &report.sites;
        let unreached = sites.unreached.len();
        if unreached > 0 {
            text += &format!(
                "Not reached by any run: {unreached} of {}. Nothing is known about these.\n",
                counted(sites.total, "atomic operation")
            );
            text += &table(&sites.unreached);
        } else {
            text += &format!(
                "Every atomic operation ({}) was reached by some run.\n",
                sites.total
            );
        }
        if !report.notices.is_empty() {
            text += "\nWhat the tests notice\n\n";
            text += &fit_lines(&notice_words::in_full(&report.notices), self.style.width);
        }
        text += "\nFindings\n\n";
        text += &self.report(dossier);
        let repair = repair_text(dossier, self.style);
        if !repair.is_empty() {
            text += "\nRepair\n\n";
            text += &repair;
        }
        if let Some(repair) = &report.repair {
            text += "\nPatch\n\n";
            text += &repair.patch;
        }
        text += "\nInventory\n\n";
        text + &inventory(dossier)
    }
}

/// Places, a line each.
fn table(places: &[ReportedPlace]) -> String {
    let at = |place: &ReportedPlace| place.point();
    let width = |of: &dyn Fn(&ReportedPlace) -> usize| places.iter().map(of).max().unwrap_or(0);
    let at_width = width(&|place| at(place).chars().count());
    let function_width = width(&|place| place.function.chars().count());
    let lines = places.iter().map(|place| {
        let line = format!(
            "  {:<at_width$}  {:<function_width$}  {} {}",
            at(place),
            place.function,
            place.operation,
            place.order
        );
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// How many operations each file has, with which orders, and how many of them
/// were reached.
fn inventory(dossier: &Dossier) -> String {
    let mut files: BTreeMap<&str, (u64, u64, BTreeMap<&str, u64>)> = BTreeMap::new();
    for site in &dossier.inventory {
        let (total, reached, orders) = files.entry(&site.place.file).or_default();
        *total += 1;
        *reached += u64::from(site.reached);
        let order = match site.place.order.as_str() {
            "" => "of unknown order",
            order => order,
        };
        *orders.entry(order).or_default() += 1;
    }
    let mut text = String::new();
    for (file, (total, reached, orders)) in files {
        let orders: Vec<String> = orders
            .into_iter()
            .map(|(order, count)| format!("{count} {order}"))
            .collect();
        text += &format!(
            "  {file}: {} ({}), {reached} reached\n",
            counted(total, "atomic operation"),
            orders.join(", ")
        );
    }
    text
}
