//! Findings that were reviewed and accepted, by a comment at the access or by an
//! entry of wmfix.toml. Decides which findings those are; knows nothing of how
//! they are reported or left out of a repair.

mod comments;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use wmfix_analysis::{SiteId, ViolationKind};
use wmfix_frontend::Site;

use crate::config::{AllowRule, AllowedKind, ProjectConfig};
use crate::observe::{Place, Places};
use wmfix_repair::AllowedFindings;

/// What a project allows, before its sources are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowRules {
    entries: Vec<AllowRule>,
    /// The file of the entries, and its folder.
    file: PathBuf,
    folder: PathBuf,
    /// The folder that the sources were copied to, and the original folder.
    moved: Option<(PathBuf, PathBuf)>,
}

/// Something that allows findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Where it stands.
    pub file: PathBuf,
    /// On which line.
    pub line: u32,
    /// Why; without a reason nothing is allowed.
    pub reason: Option<String>,
}

/// What is allowed at the places of a program.
#[derive(Debug, Default)]
pub(crate) struct Allowances {
    all: Vec<Allowance>,
    by_site: HashMap<(SiteId, AllowedKind), usize>,
}

const KINDS: [AllowedKind; 4] = [
    AllowedKind::StaleRead,
    AllowedKind::StaleWrite,
    AllowedKind::StaleRmw,
    AllowedKind::Race,
];

impl AllowRules {
    /// What a configuration allows, and every comment.
    pub(crate) fn of(config: &ProjectConfig) -> Self {
        Self {
            entries: config.allow.clone(),
            file: config.file.clone().unwrap_or_default(),
            folder: config.folder.clone(),
            moved: None,
        }
    }

    /// The same for sources that were copied from a folder to another.
    pub(crate) fn in_copy(&self, original: &Path, copy: &Path) -> Self {
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self {
            moved: Some((full(copy), full(original))),
            ..self.clone()
        }
    }

    /// What is allowed at places. Comments are also looked for in these files.
    pub(crate) fn allowances(&self, places: &mut Places, files: &[PathBuf]) -> Allowances {
        let mut allowances = Allowances::default();
        for entry in &self.entries {
            allowances.all.push(Allowance {
                file: self.file.clone(),
                line: u32::try_from(entry.line).unwrap_or_default(),
                reason: Some(entry.reason.clone()),
            });
        }
        let mut files: Vec<PathBuf> = files.to_vec();
        files.extend(places.iter().flat_map(|(_, place)| {
            let frames = place.via.iter().filter_map(|frame| frame.at.as_ref());
            let points = place.point.iter().chain(frames);
            points.map(|point| point.file.clone()).collect::<Vec<_>>()
        }));
        files.sort();
        files.dedup();
        let mut speaking: HashMap<PathBuf, Vec<(u32, usize)>> = HashMap::new();
        for path in files {
            let Some(file) = places.sources.file(&path) else {
                continue;
            };
            for comment in comments::comments(&file.text) {
                let spoken = speaking.entry(path.clone()).or_default();
                spoken.push((comment.speaks_of, allowances.all.len()));
                allowances.all.push(Allowance {
                    file: path.clone(),
                    line: comment.line,
                    reason: comment.reason,
                });
            }
        }
        let sites: Vec<(SiteId, Place)> = places
            .iter()
            .map(|(id, place)| (id, place.clone()))
            .collect();
        for (id, place) in sites {
            let fitting = self.fitting(&place, places);
            for kind in KINDS {
                let entry = fitting
                    .iter()
                    .copied()
                    .find(|&number| self.entries[number].kind.is_none_or(|k| k == kind));
                let comment = || {
                    let lines = lines(&place);
                    let mut here = lines.iter().flat_map(|(file, lines)| {
                        let spoken = speaking.get(*file).into_iter().flatten();
                        spoken.filter(|(line, _)| lines.contains(line))
                    });
                    here.find(|&&(_, number)| allowances.all[number].reason.is_some())
                        .map(|&(_, number)| number)
                };
                if let Some(number) = comment().or(entry) {
                    allowances.by_site.insert((id, kind), number);
                }
            }
        }
        allowances
    }

    /// The entries that speak of a place, whatever the kind of finding.
    fn fitting(&self, place: &Place, places: &mut Places) -> Vec<usize> {
        let Some(point) = place.point.as_ref().filter(|_| !self.entries.is_empty()) else {
            return Vec::new();
        };
        let full = point.file.canonicalize();
        let full = full.as_deref().unwrap_or(&point.file);
        let original = match &self.moved {
            Some((copy, original)) => full
                .strip_prefix(copy)
                .map_or(full.to_owned(), |below| original.join(below)),
            None => full.to_owned(),
        };
        let below = original.strip_prefix(&self.folder).unwrap_or(&original);
        let in_text = place.shown().and_then(|site| site.function.as_ref());
        let in_function = |wanted: &String| *wanted == place.function || in_text == Some(wanted);
        let mut on_line = |wanted: &String| {
            let line = places.sources.line(&point.file, point.line);
            line.is_some_and(|line| line.contains(wanted.as_str()))
        };
        let mut fits = |entry: &AllowRule| {
            entry.file.matches(below)
                && entry.function.as_ref().is_none_or(in_function)
                && entry.operation.as_ref().is_none_or(&mut on_line)
        };
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| fits(entry))
            .map(|(number, _)| number)
            .collect()
    }
}

impl Allowances {
    /// What allows a violation at this access, by number.
    pub(crate) fn violation(&self, access: SiteId, kind: ViolationKind) -> Option<usize> {
        let kind = match kind {
            ViolationKind::StaleRead => AllowedKind::StaleRead,
            ViolationKind::StaleWrite => AllowedKind::StaleWrite,
            ViolationKind::StaleRmw => AllowedKind::StaleRmw,
        };
        self.by_site.get(&(access, kind)).copied()
    }

    /// What allows a race of these two accesses, by number: at either of them.
    pub(crate) fn race(&self, one: SiteId, other: SiteId) -> Option<usize> {
        let at = |site| self.by_site.get(&(site, AllowedKind::Race)).copied();
        at(one).or_else(|| at(other))
    }

    /// Everything that allows, or was to allow, something.
    pub(crate) fn all(&self) -> &[Allowance] {
        &self.all
    }

    /// What the repair search is to leave alone.
    pub(crate) fn allowed_findings(&self) -> AllowedFindings {
        let mut allowed = AllowedFindings::default();
        for &(site, kind) in self.by_site.keys() {
            match kind {
                AllowedKind::StaleRead => allowed.allow_violation(site, ViolationKind::StaleRead),
                AllowedKind::StaleWrite => allowed.allow_violation(site, ViolationKind::StaleWrite),
                AllowedKind::StaleRmw => allowed.allow_violation(site, ViolationKind::StaleRmw),
                AllowedKind::Race => allowed.allow_race(site),
            }
        }
        allowed
    }
}

/// The lines of an access: those of the event, and those of the operation and its
/// statement in the text; of a call that leads to the operation, the inner lines too.
fn lines(place: &Place) -> Vec<(&PathBuf, RangeInclusive<u32>)> {
    let around = |line: u32, site: Option<&Site>| match site {
        Some(site) => {
            let first = site.statement_line.min(site.start.line).min(line);
            first..=site.end.line.max(line)
        }
        None => line..=line,
    };
    let point = place.point.iter();
    let mut lines: Vec<_> = point
        .map(|point| (&point.file, around(point.line, place.shown())))
        .collect();
    let last = place.via.len().saturating_sub(1);
    let inner = place.via.iter().enumerate().filter_map(|(number, frame)| {
        let point = frame.at.as_ref()?;
        let site = place.site.as_ref().filter(|_| number == last);
        Some((&point.file, around(point.line, site)))
    });
    lines.extend(inner);
    lines
}
