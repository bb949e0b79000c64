//! The plain accesses of recorded runs that race and that the text shows: what a repair
//! may make atomic. Knows nothing of how a repair is chosen.

use std::collections::{BTreeMap, BTreeSet};

use wmfix_analysis::{Analyzer, AnalyzerConfig, Event, Operation, RacingAccess, SiteId};
use wmfix_frontend::{Site, SiteOperation, object_name, plain_accesses};

use crate::observe::{EventKind, Places};

/// Plain accesses that could be atomic ones.
#[derive(Debug, Default)]
pub(crate) struct PlainAccesses {
    /// The access in the text, by the site of the runs.
    found: BTreeMap<SiteId, Site>,
    /// What they are called whom several threads change by what they read of them.
    updated: BTreeSet<String>,
}

impl PlainAccesses {
    /// The plain accesses that race in these runs.
    pub(crate) fn racing(
        traces: &[Vec<Event>],
        config: AnalyzerConfig,
        places: &mut Places,
    ) -> Self {
        let mut accesses = Self::default();
        for (first, second) in races(traces, config) {
            accesses.add(first, second, places);
        }
        if !accesses.found.is_empty() {
            accesses.add_other_ways(traces, places);
        }
        accesses
    }

    /// The accesses, each with its text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteId, &Site)> {
        self.found.iter().map(|(&id, site)| (id, site))
    }

    /// Whether several threads change the object of an access by what they read of it:
    /// what they do would have to be one step, which two atomic accesses are not.
    pub(crate) fn is_update(&self, site: &Site, places: &mut Places) -> bool {
        let name = name_of(site, places);
        name.is_some_and(|name| self.updated.contains(&name))
    }

    /// Adds the sides of a race that are plain. Compilers point at a write exactly: what
    /// it is called tells which of several reads in a line is meant.
    fn add(&mut self, first: RacingAccess, second: RacingAccess, places: &mut Places) {
        let sides = [first, second];
        let names: Vec<Option<String>> = sides
            .iter()
            .map(|side| called(side.site, side.writes, places))
            .collect();
        for (number, side) in sides.iter().enumerate() {
            let (own, other) = (&names[number], &names[1 - number]);
            let tried = match side.writes {
                true => [own, &None],
                false => [other, own],
            };
            if side.atomic || self.found.contains_key(&side.site) {
                continue;
            }
            let mut tried = tried.into_iter().flatten();
            let site = tried.find_map(|name| access(side.site, side.writes, name, places));
            if let Some(site) = site {
                self.found.insert(side.site, site);
            }
        }
        if first.writes && second.writes {
            for side in sides {
                let Some(site) = self.found.get(&side.site).cloned() else {
                    continue;
                };
                self.updated.extend(updated_object(&site, places));
            }
        }
    }

    /// The sites by which other calls come to the same accesses: those at the same
    /// points, and others in their lines by what they access there.
    fn add_other_ways(&mut self, traces: &[Vec<Event>], places: &mut Places) {
        let mut others: BTreeMap<SiteId, bool> = BTreeMap::new();
        for event in traces.iter().flatten() {
            let writes = match event.operation {
                Operation::Read { .. } => false,
                Operation::Write { .. } => true,
                _ => continue,
            };
            others.insert(event.site, writes);
        }
        let known: Vec<(SiteId, Site)> = (self.found.iter())
            .map(|(&id, site)| (id, site.clone()))
            .collect();
        for (id, writes) in others {
            let Some(at) = places.get(id).point.clone() else {
                continue;
            };
            if self.found.contains_key(&id) {
                continue;
            }
            for (known, site) in known.iter().filter(|(_, site)| {
                *site.file == at.file && (site.start.line..=site.end.line).contains(&at.line)
            }) {
                let name = name_of(site, places);
                let is_at_it = places.get(*known).point.as_ref() == Some(&at);
                if !is_at_it && called(id, writes, places) != name {
                    continue;
                }
                let same = name.and_then(|name| access(id, writes, &name, places));
                if same.is_some_and(|same| same.span == site.span) {
                    self.found.insert(id, site.clone());
                }
            }
        }
    }
}

/// The pairs of accesses that race.
fn races(traces: &[Vec<Event>], config: AnalyzerConfig) -> Vec<(RacingAccess, RacingAccess)> {
    let mut pairs = Vec::new();
    let mut known = BTreeSet::new();
    for trace in traces {
        let mut analyzer = Analyzer::new(config);
        // A run that cannot be analysed is the search's to complain of.
        if trace.iter().any(|event| analyzer.feed(event).is_err()) {
            continue;
        }
        for found in analyzer.races() {
            let (first, second) = (found.race.first, found.race.second);
            if known.insert((first.site, second.site)) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// What the object of an access is called.
fn called(id: SiteId, writes: bool, places: &mut Places) -> Option<String> {
    if let Some(atomic) = places.get(id).site.clone() {
        return name_of(&atomic, places).map(without_address);
    }
    let point = places.get(id).point.clone()?;
    let object = places.sources.object(&point, writes)?;
    Some(object_name(&object))
}

/// The name of an object that is handed over by its address.
fn without_address(name: String) -> String {
    let inner = name.trim_start_matches(['&', '(']).trim_end_matches(')');
    match inner.len() == name.len() {
        true => name,
        false => inner.to_owned(),
    }
}

/// The access of a site to an object of this name.
fn access(id: SiteId, writes: bool, name: &str, places: &mut Places) -> Option<Site> {
    let place = places.get(id);
    let is_plain = matches!(place.kind, EventKind::Read | EventKind::Write);
    let point = place.point.clone().filter(|_| is_plain)?;
    if place.is_library {
        return None;
    }
    places.sources.plain_access(&point, writes, name)
}

/// What the object of an access is called.
fn name_of(site: &Site, places: &mut Places) -> Option<String> {
    let object = places.sources.text(&site.file, site.object.as_ref()?)?;
    Some(object_name(&object))
}

/// What a written object is called, if the same function reads it, too.
fn updated_object(write: &Site, places: &mut Places) -> Option<String> {
    let name = name_of(write, places)?;
    let around = write.function_span.clone()?;
    let file = places.sources.file(&write.file)?;
    let named = BTreeSet::from([name.clone()]);
    let accesses = plain_accesses(file.parsed(&write.file), &named, &file.scan.sites);
    let reads = accesses.iter().any(|site| {
        site.operation == SiteOperation::Load
            && around.start <= site.span.start
            && site.span.end <= around.end
    });
    reads.then_some(name)
}
