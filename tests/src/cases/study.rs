//! What wmfix makes of a case: the bug found or not, at which line, the patch
//! beside the maintainers', and what it says about the fixed version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::case::{Case, apply};
use super::counts::Counts;
use super::edits::{Edits, counterparts};
use super::tokens::{Words, lines};
use crate::product::{CommandResult, World};

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Runs in a row with nothing new.
    pub runs: u32,
    /// Seconds for `suggest`, and for `check` of the fixed version.
    pub seconds: u32,
    /// The first seed.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Study {
    /// The case.
    pub case: Case,
    /// How many runs it took to find the bug; `None` if it was not found.
    pub found_after: Option<u64>,
    /// What names the operation that the maintainers changed.
    pub right_line: RightLine,
    /// The part of the patch that removes the bug, beside the maintainers'.
    pub patch: PatchVerdict,
    /// What the part that removes the bug costs, and the maintainers' change.
    pub prices: Option<(i64, i64)>,
    /// How `suggest` says that the verification ended.
    pub verification: Option<String>,
    /// Changes of orders for findings other than the bug.
    pub further_changes: usize,
    /// Findings that are not the bug.
    pub others: usize,
    /// Of these, how many the fixed version shows, too.
    pub others_in_fixed: usize,
    /// All runs of `suggest`.
    pub runs: u64,
    /// What `suggest` took.
    pub seconds: f64,
    /// What is reported for the fixed version, each in a line.
    pub remaining: Vec<String>,
    /// Why a command gave no report, if so.
    pub failures: Vec<String>,
}

/// What names the operation that the maintainers changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightLine {
    /// A finding.
    Finding,
    /// Only the patch.
    Patch,
    /// Nothing.
    Nothing,
}

/// A patch beside the maintainers' change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchVerdict {
    /// The same orders and fences.
    Equal,
    /// Others, for the same price.
    SamePrice,
    /// For less.
    Cheaper,
    /// For more, with an operation in common.
    Dearer,
    /// For more, with no operation in common.
    Elsewhere,
    /// Nothing that removes the bug.
    None,
}

/// A violation or a race of a report.
struct Finding {
    id: String,
    kind: String,
    seed: u64,
    places: BTreeSet<(String, usize)>,
    /// The same in both versions: the kind and the code at both sides.
    key: (String, String, String),
    words: String,
}

impl Study {
    /// Runs wmfix on both versions of a case.
    pub fn of(case: &Case, limits: &Limits) -> Self {
        let words = Words::new(&case.description.orders);
        let (buggy, fixed) = (World::new(), World::new());
        case.write_buggy(buggy.path());
        case.write_fixed(fixed.path());
        let mut failures = Vec::new();
        let started = Instant::now();
        let report = ask(&buggy, "suggest", limits, &mut failures);
        let seconds = started.elapsed().as_secs_f64();
        let after = ask(&fixed, "check", limits, &mut failures);

        let findings = findings(case, &report, buggy.path(), &words);
        let remaining = self::findings(case, &after, fixed.path(), &words);
        let keys: BTreeSet<_> = remaining.iter().map(|finding| &finding.key).collect();
        let target = case.line_of(&case.description.expected.line);
        let shows = case.description.expected.shows.iter();
        let mut shown: BTreeSet<_> = shows.map(|text| case.line_of(text)).collect();
        shown.insert(target.clone());
        let is_bug = |finding: &&Finding| {
            !keys.contains(&finding.key) && !finding.places.is_disjoint(&shown)
        };
        let (bug, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_bug);

        let expected = bug
            .iter()
            .filter(|finding| finding.kind == case.description.expected.kind);
        let numbers = expected.map(|finding| finding.seed - limits.seed + 1);
        let mut study = Self {
            case: case.clone(),
            found_after: numbers.min(),
            right_line: right_line(&bug, &report["repair"], &target),
            patch: PatchVerdict::None,
            prices: None,
            verification: None,
            further_changes: 0,
            others: others.len(),
            others_in_fixed: others
                .iter()
                .filter(|other| keys.contains(&other.key))
                .count(),
            runs: report["runs"]["total"].as_u64().unwrap_or(0),
            seconds,
            remaining: remaining
                .iter()
                .map(|finding| finding.words.clone())
                .collect(),
            failures,
        };
        study.compare_patches(&bug, &report, &words);
        study
    }

    fn compare_patches(&mut self, bug: &[&Finding], report: &Value, words: &Words) {
        let (repair, unrepairable) = (&report["repair"], &report["unrepairable"]);
        let ids: BTreeSet<&str> = bug.iter().map(|finding| finding.id.as_str()).collect();
        let before = self.case.texts(&self.case.folder);
        let groups = repair["groups"].as_array().into_iter().flatten();
        let (mut for_bug, mut further): (Vec<&Value>, Vec<&Value>) = groups.partition(|group| {
            let removed = group["removes"].as_array().into_iter().flatten();
            removed.filter_map(Value::as_str).any(|id| ids.contains(id))
        });
        if for_bug.is_empty() && !ids.is_empty() && !names_any(unrepairable, &ids) {
            // No group alone brings the bug back: all of them remove it.
            for_bug.append(&mut further);
        }
        let edits = |groups: &[&Value]| Edits::between(&before, &edited(&before, groups), words);
        let ours = edits(&for_bug);
        self.further_changes = edits(&further).len();
        self.verification = repair["verification"]["outcome"]
            .as_str()
            .map(str::to_owned);
        if for_bug.is_empty() {
            return;
        }
        let world = World::new();
        self.case.write_buggy(world.path());
        let counts = Counts::measure(&self.case, world.path());
        apply(&self.case.patch(), world.path());
        let theirs = Edits::between(&before, &self.case.texts(world.path()), words);
        let prices = (ours.price(&counts), theirs.price(&counts));
        self.prices = Some(prices);
        self.patch = match prices.0.cmp(&prices.1) {
            _ if ours == theirs => PatchVerdict::Equal,
            std::cmp::Ordering::Equal => PatchVerdict::SamePrice,
            std::cmp::Ordering::Less => PatchVerdict::Cheaper,
            std::cmp::Ordering::Greater if ours.meet(&theirs) => PatchVerdict::Dearer,
            std::cmp::Ordering::Greater => PatchVerdict::Elsewhere,
        };
    }
}

fn ask(world: &World, command: &str, limits: &Limits, failures: &mut Vec<String>) -> Value {
    let mut wmfix = world.wmfix("gcc");
    wmfix.env("WMFIX_REAL_CXX", "g++");
    wmfix.args([command, ".", "--format", "json"]);
    wmfix.args(["--runs", &limits.runs.to_string()]);
    wmfix.args(["--time", &limits.seconds.to_string()]);
    wmfix.args(["--seed", &limits.seed.to_string()]);
    if command == "suggest" {
        wmfix.args(["--cost", "portable"]);
    }
    let ran = CommandResult::of(&mut wmfix);
    match serde_json::from_str(&ran.stdout) {
        Ok(report) => report,
        Err(_) => {
            let last = ran
                .stderr
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            failures.push(format!("{command}: {:?}: {}", ran.code, last.unwrap_or("")));
            Value::Null
        }
    }
}

fn findings(case: &Case, report: &Value, folder: &Path, words: &Words) -> Vec<Finding> {
    let code = CodeLines::of(case, folder, words);
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let violations = list("violations").into_iter().map(|violation| {
        let kind = violation["kind"].as_str().unwrap_or_default().to_owned();
        finding(&violation, kind, ["access", "write"], &code)
    });
    let races = list("races")
        .into_iter()
        .map(|race| finding(&race, "race".to_owned(), ["first", "second"], &code));
    violations.chain(races).collect()
}

fn finding(value: &Value, kind: String, sides: [&str; 2], lines: &CodeLines) -> Finding {
    let mut places = BTreeSet::new();
    collect_places(value, &mut places);
    let code = sides.map(|side| lines.at(&value[side]));
    let spelled = sides.map(|side| {
        let place = &value[side];
        format!(
            "{}:{} ({})",
            place["file"].as_str().unwrap_or_default(),
            place["line"],
            place["function"].as_str().unwrap_or_default(),
        )
    });
    let (mut first, mut second) = (code[0].clone(), code[1].clone());
    if kind == "race" && second < first {
        std::mem::swap(&mut first, &mut second);
    }
    Finding {
        id: value["id"].as_str().unwrap_or_default().to_owned(),
        seed: value["seed"].as_u64().unwrap_or_default(),
        places,
        words: format!("{kind}: {} against {}", spelled[0], spelled[1]),
        key: (kind.clone(), first, second),
        kind,
    }
}

/// All places that a finding names, but for the run that shows it.
fn collect_places(value: &Value, places: &mut BTreeSet<(String, usize)>) {
    match value {
        Value::Object(fields) => {
            if let (Some(file), Some(line)) = (value["file"].as_str(), value["line"].as_u64()) {
                let line = usize::try_from(line).expect("a line number");
                places.insert((file.to_owned(), line));
            }
            for (name, field) in fields {
                if !["witness", "story", "schedule"].contains(&name.as_str()) {
                    collect_places(field, places);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_places(item, places);
            }
        }
        _ => {}
    }
}

/// The lines of a version of a case without their orders, as the buggy version has
/// them: by file and number.
struct CodeLines(BTreeMap<(String, u64), String>);

impl CodeLines {
    fn of(case: &Case, folder: &Path, words: &Words) -> Self {
        let buggy = case.texts(&case.folder);
        let mut all = BTreeMap::new();
        for (file, text) in case.texts(folder) {
            let own = lines(&text, words);
            let old = lines(buggy.get(&file).map_or("", String::as_str), words);
            let counterparts = counterparts(&old, &own);
            for line in own {
                let was = counterparts.get(&line.number);
                let text = was.cloned().unwrap_or(line.text);
                all.insert((file.clone(), line.number as u64), text);
            }
        }
        Self(all)
    }

    /// The code at a place.
    fn at(&self, place: &Value) -> String {
        let file = place["file"].as_str().unwrap_or_default().to_owned();
        let number = place["line"].as_u64().unwrap_or_default();
        self.0.get(&(file, number)).cloned().unwrap_or_default()
    }
}

fn right_line(bug: &[&Finding], repair: &Value, target: &(String, usize)) -> RightLine {
    if bug.iter().any(|finding| finding.places.contains(target)) {
        return RightLine::Finding;
    }
    let mut places = BTreeSet::new();
    collect_places(&repair["changes"], &mut places);
    match places.contains(target) {
        true => RightLine::Patch,
        false => RightLine::Nothing,
    }
}

/// Whether one of these findings is among those that stay.
fn names_any(unrepairable: &Value, ids: &BTreeSet<&str>) -> bool {
    let kept = unrepairable.as_array().into_iter().flatten();
    let mut named = kept.flat_map(|kept| kept["findings"].as_array().into_iter().flatten());
    named.any(|id| id.as_str().is_some_and(|id| ids.contains(id)))
}

/// The files with the edits of some groups of changes.
fn edited(before: &BTreeMap<String, String>, groups: &[&Value]) -> BTreeMap<String, String> {
    let mut after = before.clone();
    let groups = groups.iter();
    let edits = groups.flat_map(|group| group["edits"].as_array().into_iter().flatten());
    let mut edits: Vec<(&str, u64, u64, &str)> = edits
        .map(|edit| {
            let byte = |end: &str| edit[end]["byte"].as_u64().expect("an edit has its bytes");
            let text = |name: &str| edit[name].as_str().expect("an edit has its text");
            (text("file"), byte("from"), byte("to"), text("text"))
        })
        .collect();
    edits.sort_unstable();
    edits.dedup();
    for (file, from, to, text) in edits.into_iter().rev() {
        let content = after.get_mut(file).expect("an edit of a file of the case");
        let byte = |at| usize::try_from(at).expect("a place in a small file");
        content.replace_range(byte(from)..byte(to), text);
    }
    after
}
