//! All shards of an examination together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::file::{RunRecord, ShardFile, ShardSettings, ShownAgain};
use crate::explore::ExploredPart;

/// All shards of an examination.
#[derive(Clone, Debug)]
pub(crate) struct MergedShards {
    /// What they have in common.
    pub settings: ShardSettings,
    /// The command line of the first.
    pub command: Vec<String>,
    /// The shards that ended before their last run.
    pub cut_short: Vec<u64>,
    /// For each program, the runs by number.
    programs: Vec<BTreeMap<u64, RunRecord>>,
    /// For each program, the runs that are there or can be made.
    numbers: Vec<Vec<u64>>,
    /// For each program, the parts of its exploration.
    explored: Vec<Vec<ExploredPart>>,
}

impl MergedShards {
    /// Puts the files together. The error says what is missing or does not fit.
    pub(crate) fn new(files: Vec<(PathBuf, ShardFile)>) -> Result<Self, String> {
        let mut shards: BTreeMap<u64, (PathBuf, ShardFile)> = BTreeMap::new();
        for (path, file) in files {
            if let Some((other, known)) = shards.get(&file.number)
                && *known != file
                && known.settings == file.settings
            {
                if let (Some(before), Some(now)) = (known.explored(), file.explored()) {
                    if now > before {
                        shards.insert(file.number, (path, file));
                    }
                    continue;
                }
                return Err(format!(
                    "shard {} of {} is there twice, and the two differ: {} and {}; remove one, or run it again",
                    file.number,
                    file.settings.shards,
                    other.display(),
                    path.display()
                ));
            }
            shards.entry(file.number).or_insert((path, file));
        }
        let Some((_, first)) = shards.values().next() else {
            return Err(
                "there is no file of a shard: run `wmfix check --shard I/N` first".to_owned(),
            );
        };
        let settings = first.settings.clone();
        let command = first.command.clone();
        if let Some((path, other)) = shards.values().find(|(_, one)| one.settings != settings) {
            return Err(different(&settings, &other.settings, path));
        }
        let missing: Vec<String> = (1..=settings.shards)
            .filter(|number| !shards.contains_key(number))
            .map(|number| number.to_string())
            .collect();
        if !missing.is_empty() {
            let shard = if missing.len() == 1 {
                "shard"
            } else {
                "shards"
            };
            return Err(format!(
                "{shard} {} of {} missing: run {}, then merge again",
                missing.join(", "),
                settings.shards,
                if missing.len() == 1 { "it" } else { "them" }
            ));
        }
        Ok(Self::of(settings, command, shards))
    }

    fn of(
        settings: ShardSettings,
        command: Vec<String>,
        shards: BTreeMap<u64, (PathBuf, ShardFile)>,
    ) -> Self {
        let count = shards.values().map(|(_, one)| one.programs.len()).max();
        let count = count.unwrap_or(0);
        let mut programs = vec![BTreeMap::new(); count];
        let mut explored = vec![Vec::new(); count];
        let mut cut_short = Vec::new();
        let mut gone: Vec<Vec<u64>> = vec![Vec::new(); count];
        for (number, (_, shard)) in shards {
            if shard.programs.iter().any(|program| program.cut_short) {
                cut_short.push(number);
            }
            for (at, program) in shard.programs.into_iter().enumerate() {
                explored[at].extend(program.explored);
                let last = program.runs.last().map(|run| run.number);
                if program.cut_short {
                    let first_gone = last.map_or(number - 1, |last| last + settings.shards);
                    let step = usize::try_from(settings.shards).unwrap_or(usize::MAX);
                    gone[at].extend((first_gone..settings.runs).step_by(step));
                }
                let runs = program.runs.into_iter().map(|run| (run.number, run));
                programs[at].extend(runs);
            }
        }
        let numbers = gone.into_iter().map(|gone| {
            let gone: BTreeSet<u64> = gone.into_iter().collect();
            let all = 0..settings.runs;
            all.filter(|number| !gone.contains(number)).collect()
        });
        Self {
            numbers: numbers.collect(),
            settings,
            command,
            cut_short,
            programs,
            explored,
        }
    }

    /// The parts of the exploration of a program.
    pub(crate) fn explored(&self, program: usize) -> Vec<&ExploredPart> {
        self.explored.get(program).into_iter().flatten().collect()
    }

    /// The number of the run after `count` others.
    pub(super) fn run_number(&self, program: usize, count: u64) -> Option<u64> {
        let numbers = self.numbers.get(program)?;
        numbers.get(usize::try_from(count).ok()?).copied()
    }

    /// What is written down of a run; `None` if it has to be made.
    pub(crate) fn shown(&self, program: usize, number: u64) -> Option<&ShownAgain> {
        self.programs.get(program)?.get(&number)?.shown.as_ref()
    }
}

/// Why two shards are not of one examination.
fn different(one: &ShardSettings, other: &ShardSettings, path: &std::path::Path) -> String {
    let differences = [
        (one.wmfix != other.wmfix, "made by another wmfix"),
        (one.sources != other.sources, "made from other sources"),
        (
            one.shards != other.shards,
            "one of another number of shards",
        ),
        (one.runs != other.runs, "one of another number of runs"),
        (one.seed != other.seed, "made with another seed"),
        (one.options != other.options, "made with other options"),
    ];
    let found = differences.iter().find(|(differs, _)| *differs);
    let why = found.map_or("another", |(_, why)| *why);
    format!(
        "{} does not belong to the others: it is {why}",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use wmfix_tests::fuzzing::fuzz;

    use super::super::file::ProgramRecord;
    use super::super::notebook::Notebook;
    use super::*;
    use crate::shard_number::Shard;

    fn file(number: u64, total: u64, runs: &[u64], cut_short: bool) -> (PathBuf, ShardFile) {
        let settings = ShardSettings {
            wmfix: String::new(),
            shards: total,
            runs: 6,
            seed: 1,
            options: Vec::new(),
            sources: String::new(),
        };
        let record = |&number: &u64| RunRecord {
            number,
            shown: None,
        };
        let program = ProgramRecord {
            cut_short,
            runs: runs.iter().map(record).collect(),
            explored: None,
        };
        let shard = Shard::new(number, total).expect("a shard");
        let file = ShardFile::new(shard, settings, Vec::new(), vec![program]);
        (PathBuf::from(format!("{number}.json")), file)
    }

    fn numbers(files: Vec<(PathBuf, ShardFile)>) -> Vec<u64> {
        let merged = MergedShards::new(files).expect("all are there");
        (0..)
            .map_while(|count| merged.run_number(0, count))
            .collect()
    }

    #[test]
    fn runs_that_no_shard_needed_can_be_made_but_not_those_that_were_cut_off() {
        let whole = file(1, 2, &[0, 2, 4], false);
        let enough = file(2, 2, &[1], false);
        assert_eq!(numbers(vec![whole.clone(), enough]), [0, 1, 2, 3, 4, 5]);
        let cut = file(2, 2, &[1], true);
        assert_eq!(numbers(vec![whole.clone(), cut]), [0, 1, 2, 4]);
        let nothing = file(2, 2, &[], true);
        assert_eq!(numbers(vec![whole, nothing]), [0, 2, 4]);
    }

    #[test]
    fn a_missing_shard_is_named_and_one_that_is_there_twice_counts_once() {
        let (one, two) = (file(1, 3, &[0, 3], false), file(3, 3, &[2, 5], false));
        let error = MergedShards::new(vec![one.clone(), two.clone()]).expect_err("2 is missing");
        assert!(error.starts_with("shard 2 of 3 missing"), "{error}");
        let all = vec![one.clone(), file(2, 3, &[1, 4], false), two, one.clone()];
        assert_eq!(numbers(all).len(), 6);
        let other = file(1, 3, &[0], false);
        let error = MergedShards::new(vec![one.clone(), other]).expect_err("they differ");
        assert!(error.contains("twice"), "{error}");
        let error = MergedShards::new(vec![one, file(2, 2, &[1], false)]).expect_err("of 2 and 3");
        assert!(error.contains("another number of shards"), "{error}");
        assert!(MergedShards::new(Vec::new()).is_err());
    }

    fn explored(number: u64, classes: u64, open: u64) -> (PathBuf, ShardFile) {
        let (path, mut file) = file(number, 2, &[], false);
        let part = format!(
            r#"{{"top": {{"name": "a", "runs": 9}}, "classes": {classes}, "runs": 4,
               "open": {open}, "estimate": null, "obstacles": [], "shown": []}}"#
        );
        let part = serde_json::from_str(&part).expect("a part");
        file.programs = vec![ProgramRecord::of_exploration(part)];
        (path, file)
    }

    #[test]
    fn of_a_part_that_was_run_again_the_one_that_came_furthest_counts() {
        let (cut, whole, other) = (explored(1, 7, 2), explored(1, 5, 0), explored(2, 3, 0));
        let orders = [
            [cut.clone(), whole.clone(), other.clone()],
            [other.clone(), whole.clone(), cut.clone()],
        ];
        for files in orders {
            let merged = MergedShards::new(files.to_vec()).expect("all are there");
            assert!(merged.cut_short.is_empty());
            let classes: Vec<u64> = merged.explored(0).iter().map(|one| one.classes).collect();
            assert_eq!(classes, [5, 3]);
        }
        let merged = MergedShards::new(vec![cut, other]).expect("all are there");
        assert_eq!(merged.cut_short, [1]);
        assert!(MergedShards::new(vec![whole]).is_err(), "2 is missing");
    }

    /// Whatever is in the files of shards, they are put together and read again or
    /// refused.
    #[test]
    fn fuzz_shard_files() {
        let shown = ShownAgain {
            ended: 0,
            events: 10,
            plain_events: 2,
            schedule: 7,
            processes: 1,
            concurrent: true,
            printed: 1,
            violations: vec![(0, 0)],
            races: vec![(0, 1)],
            ends: vec![(0, 0)],
            failures: vec![(2, 0)],
            problems: Vec::new(),
        };
        let (_, mut first) = file(1, 2, &[0, 2, 4], false);
        first.programs[0].runs[1].shown = Some(shown);
        let (_, second) = file(2, 2, &[1], true);
        let (_, only) = file(1, 1, &[0, 1, 2, 3, 4, 5], true);
        let (_, mut explored) = file(1, 1, &[], false);
        let part = r#"{"top": {"name": "a", "runs": 9}, "classes": 3, "runs": 4, "open": 1,
            "estimate": 5, "obstacles": ["time_up"],
            "shown": [{"schedule": [[0, 1], [2]], "course": 7}]}"#;
        explored.programs[0].explored = Some(serde_json::from_str(part).unwrap());
        let seeds = [first, only, explored].map(|one| serde_json::to_vec(&one).unwrap());
        let words = r#""number": "runs": "shards": "shown": "cut_short":true null [ ] { } , true "violations":[[0,0]]"#;
        let words: Vec<&str> = words.split_whitespace().collect();
        fuzz("file of a shard", &seeds, &words, |bytes| {
            let Ok(parsed) = ShardFile::parse(bytes) else {
                return;
            };
            let name = PathBuf::from("x.json");
            let files = match parsed.settings.shards {
                2 => vec![(name.clone(), parsed), (name, second.clone())],
                _ => vec![(name, parsed)],
            };
            let Ok(merged) = MergedShards::new(files) else {
                return;
            };
            let notebook = Notebook::default();
            for count in 0..20 {
                let number = merged.run_number(0, count).unwrap_or(count);
                if let Some(shown) = merged.shown(0, number) {
                    assert!(notebook.read(shown).is_none(), "no run was made");
                }
            }
        });
    }
}
