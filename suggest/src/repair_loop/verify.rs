//! The patched program, built and run: whether it shows anything that the
//! original did not, or that the repair was to remove.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use wmfix_analysis::SiteId;

use super::RepairTask;
use crate::findings::Identity;
use crate::observe::{EventKind, Places};
use crate::pipeline::{Keep, Session};
use crate::project::Prepared;
use crate::run::interrupted;
use crate::subject::PatchedFile;
use crate::subject::SourceCopy;

/// The seeds of a patched program's runs begin so far from the original's.
const FRESH: u64 = 1 << 32;

/// What the patched program showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// There was nothing to verify.
    NoPatch,
    /// Nothing more than what cannot be repaired.
    Clean(Verified),
    /// It does not build.
    DoesNotBuild,
    /// Something is still wrong with it.
    Fails(String),
    /// The user wanted an end before that was known.
    Interrupted,
}

/// What was run of a patched program that shows nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many runs.
    pub runs: u64,
    /// How many different schedules they had.
    pub schedules: u64,
    /// Operations that the runs of the original reached, and these did not, as
    /// sites of the original.
    pub missed: Vec<SiteId>,
}

/// The runs of a patched program.
pub(super) struct Patched<'m> {
    /// What was seen.
    pub(super) session: Session<'m>,
    /// The copy that it was built from.
    pub(super) copied: Option<SourceCopy>,
}

/// Builds and runs the patched program with seeds that no round before has used.
pub(super) fn verify<'m>(
    original: &mut Session<'_>,
    mending: &RepairTask<'m>,
    files: &[PatchedFile],
    left: &BTreeSet<Whereabouts>,
    round: u64,
) -> anyhow::Result<(Verification, Option<Patched<'m>>)> {
    if files.is_empty() {
        return Ok((Verification::NoPatch, None));
    }
    let subject = match mending.project.prepare(files, mending.options)? {
        Prepared::Built(subject) => subject,
        Prepared::Failed(_) if interrupted() => return Ok((Verification::Interrupted, None)),
        Prepared::Failed(trouble) => {
            trouble.tell();
            return Ok((Verification::DoesNotBuild, None));
        }
    };
    let allow_rules = match &subject.copy {
        Some(copied) => mending
            .allow_rules
            .in_copy(&copied.original, &copied.folder),
        None => mending.allow_rules.clone(),
    };
    let mut session = Session::new(
        mending.options,
        Keep::Traces,
        &mending.project.config.vocabularies,
        allow_rules,
    )
    .for_stage("verifying the patch");
    let seed = mending.options.seed.wrapping_add(FRESH * round);
    let verification = match session.run(&subject, seed)? {
        Some(_) => Verification::Fails("it cannot be run".to_owned()),
        None if interrupted() => Verification::Interrupted,
        None => judged(original, &mut session, left),
    };
    let copied = subject.copy;
    Ok((verification, Some(Patched { session, copied })))
}

/// What the runs of a patched program come to.
fn judged(
    original: &mut Session<'_>,
    session: &mut Session<'_>,
    left: &BTreeSet<Whereabouts>,
) -> Verification {
    let runs = session.summary().runs;
    let ends: Vec<_> = session.collected().ended.keys().copied().collect();
    let new_end = ends
        .iter()
        .find(|end| !original.collected().ended.contains_key(end));
    if let Some(end) = new_end {
        return Verification::Fails(format!("a run ends with {end:?}"));
    }
    let allowances = session.allowances();
    let keys: Vec<[Option<SiteId>; 2]> = {
        let found = session.collected();
        let violations = found.violations.iter().map(|v| v.key);
        let violations = violations
            .filter(|&(access, _, kind)| allowances.violation(access, kind).is_none())
            .map(|(access, newer, _)| [Some(access), newer]);
        let races = found.races.iter().map(|r| {
            let race = &r.first.race.race;
            (race.first.site, race.second.site)
        });
        let races = races
            .filter(|&(one, other)| allowances.race(one, other).is_none())
            .map(|(one, other)| [Some(one), Some(other)]);
        violations.chain(races).collect()
    };
    let places = session.places();
    for sites in keys {
        let place: Vec<Whereabouts> = sites
            .into_iter()
            .flatten()
            .map(|site| whereabouts(places, site))
            .collect();
        if !place.iter().all(|place| left.contains(place)) {
            let (file, function, _) = &place[0];
            return Verification::Fails(format!("there is still a finding in {function} ({file})"));
        }
    }
    let schedules = session.collected().distinct_schedules();
    let reached = operations(session);
    let missed = operations(original)
        .into_iter()
        .filter(|(operation, _)| !reached.contains_key(operation));
    Verification::Clean(Verified {
        runs,
        schedules,
        missed: missed.map(|(_, site)| site).collect(),
    })
}

/// The operations that runs reached, by what they are known by before and after
/// the patch. Fences are left out: the patch may have added some.
fn operations(session: &mut Session<'_>) -> BTreeMap<(OsString, Identity), SiteId> {
    let reached: Vec<SiteId> = session.collected().reached.iter().copied().collect();
    let places = session.places();
    let mut operations = BTreeMap::new();
    for id in reached {
        let place = places.get(id).clone();
        if place.action == EventKind::Fence {
            continue;
        }
        if let (Some(site), Some(point)) = (&place.site, &place.point)
            && let Some(file) = places.sources.file(&point.file)
        {
            let name = point.file.file_name().unwrap_or_default().to_owned();
            let identity = Identity::of(site, &file.scan, &file.text);
            operations.entry((name, identity)).or_insert(id);
        }
    }
    operations
}

/// What a place is known by before and after the patch: its file's name, its
/// function, and what is done there.
pub(super) type Whereabouts = (String, String, EventKind);

pub(super) fn whereabouts(places: &Places, site: SiteId) -> Whereabouts {
    let place = places.get(site);
    let file = place
        .point
        .as_ref()
        .and_then(|point| point.file.file_name());
    let file = file.unwrap_or_default().to_string_lossy().into_owned();
    (file, place.function.clone(), place.action)
}
