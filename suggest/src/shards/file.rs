//! The file of a shard: what its runs showed, as far as merging needs it. It has
//! neither times nor names of machines in it and is named by its content, so that a
//! task that is run twice leaves one file.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::explore::ExploredPart;
use crate::private_files::make_folder;
use crate::regular_file;
use crate::shard_number::Shard;

/// The version of the format.
const VERSION: u32 = 1;

/// More runs are not put together: a list of them would not fit into memory.
const MAX_RUNS: u64 = 1 << 26;

/// The file of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardFile {
    version: u32,
    /// Its number, from 1.
    pub number: u64,
    /// What all shards of an examination have in common.
    pub settings: ShardSettings,
    /// The command line that made it, without the program.
    pub command: Vec<String>,
    /// The runs of each program.
    pub programs: Vec<ProgramRecord>,
}

/// What all shards of an examination have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardSettings {
    /// The version of wmfix, and the hash of its runtime.
    pub wmfix: String,
    /// How many shards there are.
    pub shards: u64,
    /// How many runs they make together, of each program.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// The other options that decide what a run shows.
    pub options: Vec<String>,
    /// The hash of the sources.
    pub sources: String,
}

/// The runs that a shard made of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramRecord {
    /// It ended before its last run, because the time was up or it was interrupted.
    pub cut_short: bool,
    /// The runs, in order.
    pub runs: Vec<RunRecord>,
    /// What came of a part of an exploration, which has no runs by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<ExploredPart>,
}

impl ProgramRecord {
    /// What is written down of a part of an exploration.
    pub(crate) fn of_exploration(part: ExploredPart) -> Self {
        Self {
            cut_short: part.is_cut_short(),
            runs: Vec::new(),
            explored: Some(part),
        }
    }
}

/// What is known of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// Its number among all runs of the program.
    pub number: u64,
    /// What it showed, if it showed nothing that no run of the shard before it had
    /// shown. Without this, the run has to be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownAgain>,
}

/// What a run showed, said with the runs of the shard that showed it first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownAgain {
    /// The run that ended as this one did.
    pub ended: u64,
    /// How many events it had, but for plain ones.
    pub events: u64,
    /// Plain accesses that were looked at, and ends of memory.
    pub plain_events: u64,
    /// Equal for equal schedules.
    pub schedule: u64,
    /// How many processes left a trace.
    pub processes: usize,
    /// Whether one of them had more than one thread.
    pub concurrent: bool,
    /// Equal for runs that printed the same.
    pub printed: u64,
    /// Violations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<FirstSight>,
    /// Races.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<FirstSight>,
    /// Ends of processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<FirstSight>,
    /// Failures of processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FirstSight>,
    /// What was wrong with traces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FirstSight>,
}

/// Where something was first seen: the number of the run, and which of the things
/// of its sort it is there.
pub(crate) type FirstSight = (u64, usize);

impl ShardFile {
    /// The file of a shard.
    pub(crate) fn new(
        shard: Shard,
        settings: ShardSettings,
        command: Vec<String>,
        programs: Vec<ProgramRecord>,
    ) -> Self {
        Self {
            version: VERSION,
            number: shard.number(),
            settings,
            command,
            programs,
        }
    }

    /// How far it came, if it is a part of an exploration: that may be run again with
    /// more time, and which schedules come first is nobody's choice.
    pub(super) fn explored(&self) -> Option<(bool, u64)> {
        let parts = self
            .programs
            .iter()
            .map(|program| program.explored.as_ref());
        let parts: Vec<&ExploredPart> = parts.collect::<Option<_>>()?;
        let whole = !parts.iter().any(|part| part.is_cut_short());
        Some((whole, parts.iter().map(|part| part.classes).sum()))
    }

    /// Writes the file into a folder, whole or not at all, and says where it is.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let text = serde_json::to_vec(self)?;
        let hash = blake3::hash(&text).to_hex();
        let (number, total) = (self.number, self.settings.shards);
        let path = folder.join(format!("shard-{number}-of-{total}-{}.json", &hash[..16]));
        make_folder(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".wmfix-shard-")
            // Others put the shards together: as readable as any new file is.
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write to {}", folder.display()))?;
        file.write_all(&text)?;
        file.persist(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// The files of shards in a folder, each with its path.
    pub(crate) fn read_all(folder: &Path) -> Result<Vec<(PathBuf, Self)>, String> {
        let shown = folder.display();
        let listed =
            fs::read_dir(folder).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let mut paths: Vec<PathBuf> = listed
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_shard(path))
            .collect();
        paths.sort();
        let read = paths
            .into_iter()
            .map(|path| Ok((path.clone(), Self::read(&path)?)));
        read.collect()
    }

    fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text =
            regular_file::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let file = Self::parse(&text);
        let file = file.map_err(|error| format!("{shown} is not the file of a shard: {error}"))?;
        let hash = blake3::hash(&text).to_hex();
        let named = path
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned());
        if !named.is_some_and(|name| name.ends_with(&hash[..16])) {
            return Err(format!(
                "{shown} was changed or cut off: its name does not belong to its content; run the shard again"
            ));
        }
        Ok(file)
    }

    /// What a text says, or what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let file: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match file.version {
            VERSION if file.makes_sense() => Ok(file),
            VERSION => Err("its numbers contradict one another".to_owned()),
            other => Err(format!("version {other} is not known to this wmfix")),
        }
    }

    /// Whether the numbers are those that a shard writes.
    fn makes_sense(&self) -> bool {
        let shard = Shard::new(self.number, self.settings.shards);
        let runs = self.programs.iter().flat_map(|program| &program.runs);
        let mut explored = self.programs.iter().filter_map(|one| one.explored.as_ref());
        shard.is_some()
            && explored.all(ExploredPart::makes_sense)
            && self.settings.runs <= MAX_RUNS
            && runs.into_iter().all(|run| run.number < self.settings.runs)
    }
}

fn is_shard(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with("shard-") && name.ends_with(".json"))
}
