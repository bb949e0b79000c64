//! Baselines: files that list the findings of some day, so that only what is new
//! fails. Owns the file's format and what it means for a report; reads and writes
//! no files.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::dossier::Dossier;
use super::fingerprint::{self, lasting_names};
use super::model::{Baseline, HarmWord, OutsideFinding, Race, ReportedPlace, Verdict, Violation};

/// The version of the format.
const VERSION: u32 = 1;

/// A baseline, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaselineFile {
    version: u32,
    findings: Vec<KnownFinding>,
}

/// A finding of a baseline: its lasting name decides, the rest is for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct KnownFinding {
    file: String,
    function: String,
    kind: String,
    object: String,
    id: String,
    /// Whether it was harmful then; older files do not say, and mean any harm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    harmful: Option<bool>,
}

impl BaselineFile {
    /// The findings of a report, without those that are allowed anyway.
    pub(crate) fn of(dossier: &Dossier) -> Self {
        let prints = lasting_names(dossier);
        let report = &dossier.report;
        let known = |id: &str, place: &ReportedPlace, kind: &str, object: &str| KnownFinding {
            harmful: None,
            file: place.file.clone(),
            function: place.function.clone(),
            kind: kind.to_owned(),
            object: object.to_owned(),
            id: prints.get(id).cloned().unwrap_or_default(),
        };
        let violation = |one: &Violation| KnownFinding {
            harmful: Some(is_harmful(one)),
            ..known(
                &one.id,
                &one.access,
                fingerprint::rule(one.kind),
                &one.location,
            )
        };
        let race = |one: &Race| known(&one.id, &one.second, fingerprint::DATA_RACE, &one.location);
        let outside = |one: &OutsideFinding| KnownFinding {
            // Only what is harmful counts there.
            harmful: None,
            file: one.place.file.clone(),
            function: one.place.function.clone(),
            kind: one.kind.clone(),
            object: one.location.clone(),
            id: one.stable_id.clone(),
        };
        let violations = report.violations.iter().map(violation);
        let inside = violations.chain(report.races.iter().map(race));
        let outside = report.counted_outside().iter().map(outside);
        let mut findings: Vec<_> = inside.chain(outside).collect();
        findings.sort();
        Self {
            version: VERSION,
            findings,
        }
    }

    /// How many findings it lists.
    pub(crate) fn len(&self) -> usize {
        self.findings.len()
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// What a text says, or what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let file: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match file.version {
            VERSION => Ok(file),
            other => Err(format!("version {other} is not known to this wmfix")),
        }
    }

    /// Marks the findings of a report that are listed: they do not count. `name` is
    /// that of the file. If nothing else was found, the report is clean, unless
    /// runs failed.
    pub(crate) fn apply(&self, name: &str, dossier: &mut Dossier, never_worked: bool) {
        let prints = lasting_names(dossier);
        let listed: BTreeSet<&str> = (self.findings.iter())
            .map(|finding| finding.id.as_str())
            .collect();
        let outside = dossier.report.counted_outside().iter();
        let outside = outside.map(|finding| finding.stable_id.as_str());
        let found: BTreeSet<&str> = prints.values().map(String::as_str).chain(outside).collect();
        let not_found = listed.difference(&found).count();
        let was_harmless: BTreeSet<&str> = (self.findings.iter())
            .filter(|finding| finding.harmful == Some(false))
            .map(|finding| finding.id.as_str())
            .collect();
        let report = &dossier.report;
        let known = |id: &str| {
            let Some(print) = prints.get(id).map(String::as_str) else {
                return false;
            };
            // What has become harmful since is new.
            let is_worse =
                was_harmless.contains(print) && report.violation(id).is_some_and(is_harmful);
            listed.contains(print) && !is_worse
        };
        let ids = report.violations.iter().map(|violation| &violation.id);
        let ids = ids.chain(report.races.iter().map(|race| &race.id));
        let baseline = Baseline {
            file: name.to_owned(),
            known: ids.filter(|id| known(id)).cloned().collect(),
            not_found,
        };
        let new = |id: &str| !baseline.has(id);
        let violations = report.violations.iter();
        let any = violations.filter(|one| one.counts).any(|one| new(&one.id))
            || report.races.iter().any(|one| new(&one.id))
            || (report.counted_outside().iter())
                .any(|one| !listed.contains(one.stable_id.as_str()))
            || (report.free_findings().iter()).any(|one| one.harm.verdict == HarmWord::Harmful);
        let report = &mut dossier.report;
        if let Some(outside) = &mut report.outside {
            let is_new = |one: &OutsideFinding| !listed.contains(one.stable_id.as_str());
            outside.counted.retain(is_new);
        }
        if report.verdict == Verdict::Findings && !any {
            // Runs that fail are no finding that one gets used to.
            report.verdict = match (never_worked, report.failures.is_empty()) {
                (true, _) => Verdict::Failed,
                (false, false) => Verdict::Findings,
                (false, true) => Verdict::Clean,
            };
        }
        if not_found > 0 {
            let (were, they) = match not_found {
                1 => ("finding", "it is"),
                _ => ("findings", "they are"),
            };
            report.notes.push(format!(
                "{not_found} {were} of {name} did not show up in these runs: if {they} repaired, `wmfix baseline` writes the file anew"
            ));
        }
        report.baseline = Some(baseline);
    }
}

fn is_harmful(violation: &Violation) -> bool {
    let harm = violation.harm.as_ref();
    harm.is_some_and(|harm| harm.verdict == HarmWord::Harmful)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dossier() -> Dossier {
        serde_json::from_str(include_str!("testdata/dossier.json")).expect("a dossier")
    }

    #[test]
    fn what_a_baseline_lists_does_not_count() {
        let mut dossier = dossier();
        let file = BaselineFile::of(&dossier);
        let text = file.text().expect("a text");
        assert_eq!(BaselineFile::parse(&text), Ok(file.clone()));
        assert_eq!(dossier.report.verdict, Verdict::Findings);
        file.apply("b.json", &mut dossier, false);
        assert_eq!(dossier.report.verdict, Verdict::Clean);
        let known = dossier.report.baseline.take().expect("a baseline").known;
        assert_eq!(known, ["V1", "V2", "R1"]);
    }

    #[test]
    fn one_finding_more_counts_and_one_less_is_told() {
        let mut dossier = dossier();
        let mut file = BaselineFile::of(&dossier);
        let gone = KnownFinding {
            id: "0".repeat(32),
            ..file.findings[0].clone()
        };
        file.findings[0] = gone;
        file.apply("b.json", &mut dossier, false);
        assert_eq!(dossier.report.verdict, Verdict::Findings);
        let baseline = dossier.report.baseline.as_ref().expect("a baseline");
        assert_eq!((baseline.known.len(), baseline.not_found), (2, 1));
        let told = dossier.report.notes.last().expect("a note");
        assert!(told.starts_with("1 finding of b.json"), "{told}");
    }

    #[test]
    fn what_has_become_harmful_counts_again() {
        use crate::report::model::ReportedHarm;
        let file = BaselineFile::of(&dossier());
        let harmful = |dossier: &mut Dossier| {
            dossier.report.violations[0].harm = Some(ReportedHarm {
                verdict: HarmWord::Harmful,
                runs: 1,
                ended: "SIGABRT".to_owned(),
                stack: Vec::new(),
                seed: None,
                command: None,
            });
        };
        let mut worse = dossier();
        harmful(&mut worse);
        file.apply("b.json", &mut worse, false);
        assert_eq!(worse.report.verdict, Verdict::Findings);
        let known = worse.report.baseline.expect("a baseline").known;
        assert_eq!(known, ["V2", "R1"]);
        // It was, when it was written down; and who wrote an old file accepted any harm.
        let mut was = dossier();
        harmful(&mut was);
        let accepted = BaselineFile::of(&was);
        let mut old = file;
        for finding in &mut old.findings {
            finding.harmful = None;
        }
        for file in [accepted, old] {
            let mut again = dossier();
            harmful(&mut again);
            file.apply("b.json", &mut again, false);
            assert_eq!(again.report.verdict, Verdict::Clean);
        }
    }

    #[test]
    fn a_file_of_another_version_or_shape_is_refused() {
        for text in ["", "{}", "[]", r#"{"version":2,"findings":[]}"#] {
            assert!(BaselineFile::parse(text).is_err(), "{text}");
        }
    }
}
