//! From findings to a verified patch: search the cheapest repair for the runs
//! there are, put it into a copy, build and run that again, and go back for
//! more runs if it shows what the first ones did not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wmfix_analysis::SiteId;

use crate::cli::{Cost, RunOptions};
use crate::observe::{Action as Kind, Places};
use crate::patch::{Menu, PatchedCopy, PatchedFile, action_words, cost_words};
use crate::pipeline::{Keep, Session, Subject};
use crate::project::Program;
use crate::repair::{Change, Ended, Finding, Options, Outcome, Problem, Profile, Reasoned, repair};
use crate::run::interrupted;

/// So many times a repair that does not hold is followed by more runs.
const ROUNDS: u64 = 4;

/// The seeds of a patched program's runs begin so far from the original's.
const FRESH: u64 = 1 << 32;

/// Builds programs, with more folders for quoted includes, into a folder, and
/// says how to run them; `None` if they do not build, and has said why.
pub type Build<'a> = dyn Fn(&[Program], &[PathBuf], &Path) -> anyhow::Result<Option<Subject>> + 'a;

/// What a patch is made for and how.
pub struct Mending<'a> {
    /// The programs.
    pub programs: &'a [Program],
    /// The folder whose files may be changed.
    pub tree: &'a Path,
    /// What changes are weighed by.
    pub profile: Profile,
    /// How programs are run.
    pub options: &'a RunOptions,
    /// How they are built.
    pub build: &'a Build<'a>,
}

/// What came of it.
pub struct Mended {
    /// The patched files; none if there is no repair.
    pub files: Vec<PatchedFile>,
    /// The changes in words, with their reasons.
    pub changes: Vec<Explained>,
    /// What the changes cost together.
    pub cost: u64,
    /// Whether no repair of the runs is cheaper.
    pub optimal: bool,
    /// What the patched program showed.
    pub verification: Verification,
    /// What cannot be repaired, and the change that would be needed.
    pub unrepairable: Vec<String>,
}

/// A change in words.
pub struct Explained {
    /// `order` or `fence`.
    kind: &'static str,
    /// File, line and column.
    place: (String, u32, u32),
    /// The operation, as written.
    operation: String,
    /// The order before.
    from: Option<&'static str>,
    /// What it is changed to.
    to: String,
    /// Why.
    reasons: Vec<String>,
    /// What the processor pays.
    price: &'static str,
}

/// What the patched program showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// There was nothing to verify.
    NoPatch,
    /// Nothing more than what cannot be repaired, in so many runs.
    Clean(u64),
    /// It does not build.
    DoesNotBuild,
    /// Something is still wrong with it.
    Fails(String),
    /// The user wanted an end before that was known.
    Interrupted,
}

/// Finds a repair and verifies it.
pub fn mend(
    session: &mut Session<'_>,
    subject: &Subject,
    mending: &Mending<'_>,
) -> anyhow::Result<Mended> {
    let mut refused: Vec<(Change, String)> = Vec::new();
    let mut round = 0;
    loop {
        let config = session.config();
        let (traces, places) = session.traces();
        let mut menu = Menu::new(traces, places, mending.tree);
        for (change, reason) in &refused {
            menu.places[change.place].refuse(change.action, reason.clone());
        }
        let problem = Problem {
            traces: traces.to_vec(),
            places: menu.places.clone(),
            analysis: config,
        };
        let outcome = searched(&problem, mending.profile)?;
        let changes: Vec<Change> = chosen(&outcome).iter().map(|c| c.change).collect();
        let (files, together) = menu.patched(&changes);
        if !together.is_empty() && !interrupted() {
            // The search has to go around what does not fit together.
            refused.extend(together);
            continue;
        }
        let names = Namer {
            menu: &menu,
            places,
        };
        let mut mended = names.mended(&outcome, files);
        let left = names.left(&outcome);
        mended.verification = verify(session, mending, &mended.files, &left)?;
        round += 1;
        let again = matches!(mended.verification, Verification::Fails(_)) && round < ROUNDS;
        if !again || interrupted() {
            return Ok(mended);
        }
        // Numbers of places may change with more runs.
        refused.clear();
        let seed = mending.options.seed.wrapping_add(session.summary().runs);
        session.run(subject, seed)?;
    }
}

fn searched(problem: &Problem, profile: Profile) -> anyhow::Result<Outcome> {
    let cancel = Arc::new(AtomicBool::new(interrupted()));
    let options = Options {
        profile,
        budget: None,
        cancel: Some(cancel.clone()),
    };
    let outcome = repair(problem, &options, |_| {
        cancel.store(interrupted(), Ordering::Relaxed);
    })?;
    Ok(outcome)
}

fn chosen(outcome: &Outcome) -> &[Reasoned] {
    let repair = outcome.repair.as_ref();
    repair.map_or(&[], |repair| &repair.changes)
}

/// Builds and runs the patched program with fresh seeds.
fn verify(
    original: &Session<'_>,
    mending: &Mending<'_>,
    files: &[PatchedFile],
    left: &BTreeSet<Whereabouts>,
) -> anyhow::Result<Verification> {
    if files.is_empty() {
        return Ok(Verification::NoPatch);
    }
    let folder = tempfile::Builder::new()
        .prefix("wmfix-patched-")
        .tempdir()?;
    let sources = folder.path().join("sources");
    let copy = PatchedCopy::make(mending.programs, files, mending.tree, &sources)?;
    let Some(subject) = (mending.build)(&copy.programs, &copy.include, folder.path())? else {
        return Ok(Verification::DoesNotBuild);
    };
    let mut session = Session::new(mending.options, Keep::Findings);
    let seed = mending.options.seed.wrapping_add(FRESH);
    if session.run(&subject, seed)?.is_some() {
        return Ok(Verification::Fails("it cannot be run".to_owned()));
    }
    if interrupted() {
        return Ok(Verification::Interrupted);
    }
    let runs = session.summary().runs;
    let ends: Vec<_> = session.collected().ended.keys().copied().collect();
    let new_end = ends
        .iter()
        .find(|end| !original.collected().ended.contains_key(end));
    if let Some(end) = new_end {
        return Ok(Verification::Fails(format!("a run ends with {end:?}")));
    }
    let keys: Vec<[Option<SiteId>; 2]> = {
        let found = session.collected();
        let violations = found.violations.iter();
        let violations = violations.map(|v| [Some(v.key.0), v.key.1]);
        let races = found.races.iter().map(|r| {
            let race = &r.first.race.race;
            [Some(race.first.site), Some(race.second.site)]
        });
        violations.chain(races).collect()
    };
    let (_, places) = session.traces();
    for sites in keys {
        let place: Vec<Whereabouts> = sites
            .into_iter()
            .flatten()
            .map(|site| whereabouts(places, site))
            .collect();
        if !place.iter().all(|place| left.contains(place)) {
            let (file, function, _) = &place[0];
            return Ok(Verification::Fails(format!(
                "there is still a finding in {function} ({file})"
            )));
        }
    }
    Ok(Verification::Clean(runs))
}

/// What a place is known by before and after the patch: its file's name, its
/// function, and what is done there.
type Whereabouts = (String, String, Kind);

fn whereabouts(places: &Places, site: SiteId) -> Whereabouts {
    let place = places.get(site);
    let file = place
        .point
        .as_ref()
        .and_then(|point| point.file.file_name());
    let file = file.unwrap_or_default().to_string_lossy().into_owned();
    (file, place.function.clone(), place.action)
}

/// Gives changes and findings their words.
struct Namer<'a> {
    menu: &'a Menu,
    places: &'a Places,
}

impl Namer<'_> {
    fn mended(&self, outcome: &Outcome, files: Vec<PatchedFile>) -> Mended {
        let needed = outcome.unrepairable.iter().map(|needed| {
            let what = self.findings(&needed.findings).join("; ");
            let change = action_words(needed.change.action);
            let place = self.place(needed.change.place);
            format!("{what}: needs {change} at {place}, but {}", needed.refusal)
        });
        let beyond = self.findings(&outcome.beyond_repair).into_iter();
        let beyond = beyond.map(|what| format!("{what}: no memory order or fence changes that"));
        Mended {
            files,
            changes: chosen(outcome).iter().map(|c| self.explained(c)).collect(),
            cost: outcome.repair.as_ref().map_or(0, |repair| repair.cost),
            optimal: outcome.ended == Ended::Optimal,
            verification: Verification::NoPatch,
            unrepairable: needed.chain(beyond).collect(),
        }
    }

    /// The places of findings that stay.
    fn left(&self, outcome: &Outcome) -> BTreeSet<Whereabouts> {
        let needed = outcome.unrepairable.iter().flat_map(|n| &n.findings);
        let findings = needed.chain(&outcome.beyond_repair);
        findings
            .flat_map(|finding| {
                let (one, other, _) = finding.key();
                [Some(one), other].into_iter().flatten()
            })
            .map(|site| whereabouts(self.places, site))
            .collect()
    }

    fn explained(&self, reasoned: &Reasoned) -> Explained {
        let Change { place, action } = reasoned.change;
        let site = self.menu.site(place);
        let first = self.menu.places[place].sites[0];
        let known = self.places.get(first);
        Explained {
            kind: if action.is_new_fence() {
                "fence"
            } else {
                "order"
            },
            place: site.map_or_else(
                || (self.place(place), 0, 0),
                |site| (shown(&site.file), site.start.line, site.start.column),
            ),
            operation: site.map(|site| site.callee.clone()).unwrap_or_default(),
            from: known.order,
            to: action_words(action),
            reasons: self.findings(&reasoned.reasons),
            price: cost_words(action),
        }
    }

    fn findings(&self, findings: &[Finding]) -> Vec<String> {
        let mut words: Vec<String> = findings.iter().map(|f| self.finding(f)).collect();
        // Read and write of one line are one story.
        let mut told = BTreeSet::new();
        words.retain(|line| told.insert(line.clone()));
        words
    }

    fn finding(&self, finding: &Finding) -> String {
        match finding {
            Finding::Violation { violation, .. } => {
                let newer = violation.newer.origin.map(|(_, site)| self.at(site));
                let newer = newer.unwrap_or_else(|| "the first value".to_owned());
                let access = self.at(violation.site);
                format!("the access at {access} may miss the write at {newer}")
            }
            Finding::Race { race, .. } => {
                let (first, second) = (self.at(race.first.site), self.at(race.second.site));
                format!("the plain accesses at {first} and {second} race")
            }
        }
    }

    fn place(&self, place: usize) -> String {
        self.at(self.menu.places[place].sites[0])
    }

    fn at(&self, site: SiteId) -> String {
        match &self.places.get(site).point {
            Some(point) => format!("{}:{}", shown(&point.file), point.line),
            None => "a place without debug information".to_owned(),
        }
    }
}

/// A path as people like it: relative to the current folder, if it is below.
fn shown(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&current).unwrap_or(path);
    below.display().to_string()
}

impl Mended {
    /// Whether the patch was built and run, and held.
    pub fn verified(&self) -> bool {
        matches!(self.verification, Verification::Clean(_))
    }

    /// Tells, on stderr, what the patch does and why.
    pub fn tell(&self) {
        if self.files.is_empty() {
            eprintln!("wmfix: no change that can be made removes a finding");
        }
        for change in &self.changes {
            let (file, line, _) = &change.place;
            eprintln!("{file}:{line}: {}: {}", change.operation, change.to);
            for reason in &change.reasons {
                eprintln!("    without it, {reason}");
            }
            eprintln!("    costs {}", change.price);
        }
        for left in &self.unrepairable {
            eprintln!("not repaired: {left}");
        }
        let count = self.changes.len();
        let how_good = if self.optimal {
            "no cheaper repair exists for these runs"
        } else {
            "the search was stopped: there may be a cheaper one"
        };
        match &self.verification {
            Verification::NoPatch => {}
            Verification::Clean(runs) => eprintln!(
                "{count} changes ({how_good}); the patched program was built and showed nothing more in {runs} runs"
            ),
            Verification::DoesNotBuild => {
                eprintln!(
                    "{count} changes; the patched program does not build: do not use the patch"
                );
            }
            Verification::Fails(why) => {
                eprintln!("{count} changes; the patch is not enough: {why}");
            }
            Verification::Interrupted => {
                eprintln!("{count} changes ({how_good}); interrupted before they were verified");
            }
        }
    }

    /// The repair as the JSON report has it.
    pub fn as_json(&self, cost: Cost, patch: &str) -> Option<serde_json::Value> {
        if self.files.is_empty() {
            return None;
        }
        let changes: Vec<serde_json::Value> = self
            .changes
            .iter()
            .map(|change| {
                let (file, line, column) = &change.place;
                serde_json::json!({
                    "kind": change.kind,
                    "place": { "file": file, "line": line, "column": column,
                        "operation": change.operation, "order": change.from },
                    "from": change.from,
                    "to": change.to,
                    "reasons": change.reasons,
                })
            })
            .collect();
        let verified = match self.verification {
            Verification::Clean(runs) => runs,
            _ => 0,
        };
        Some(serde_json::json!({
            "changes": changes,
            "cost": self.cost,
            "profile": format!("{cost:?}").to_lowercase(),
            "optimal": self.optimal,
            "verified_runs": verified,
            "patch": patch,
        }))
    }
}
