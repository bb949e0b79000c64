//! Where an exploration that was stopped is kept, in the user's cache folder: one for
//! each test of each folder, and for each part of it. It goes on only with the same programs, the same options
//! and the same wmfix.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use object::{Object, ObjectSection, SectionKind};

use crate::explore::{ExplorationKey, SavedExploration, SavedProgram};
use crate::options::RunOptions;
use crate::private_files::{make_private_folder, write_file};
use crate::runtime_archive::cache_folder;
use crate::subject::Subject;

/// This many are kept.
const MAX_KEPT: usize = 64;

/// Keeps an exploration that was stopped; without one, there is none any more.
pub(crate) fn keep(
    subject: &Subject,
    options: &RunOptions,
    stopped: Option<Vec<SavedProgram>>,
) -> anyhow::Result<()> {
    let file = file_of(subject, options)?;
    let Some(programs) = stopped else {
        return match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", file.display()))
            }
            _ => Ok(()),
        };
    };
    if let Some(folder) = file.parent() {
        make_private_folder(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let saved = SavedExploration::new(key_of(subject, options)?, programs);
    write_file(&file, &serde_json::to_vec(&saved)?)?;
    remove_old(&file);
    Ok(())
}

/// Removes the oldest of too many. What cannot be removed is left for the next time.
fn remove_old(file: &Path) {
    let Some(Ok(entries)) = file.parent().map(fs::read_dir) else {
        return;
    };
    let age = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let mut kept: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    kept.sort_by_key(age);
    let too_many = kept.len().saturating_sub(MAX_KEPT);
    for path in &kept[..too_many] {
        let _next_time = fs::remove_file(path);
    }
}

/// The exploration that was stopped, or why there is none to go on with.
pub(crate) fn find(subject: &Subject, options: &RunOptions) -> Result<SavedExploration, String> {
    let file = file_of(subject, options).map_err(|error| format!("{error:#}"))?;
    let shown = file.display();
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(
                "--resume: no exploration of this test was stopped; leave --resume out to begin one"
                    .to_owned(),
            );
        }
        Err(error) => return Err(format!("--resume: cannot read {shown}: {error}")),
    };
    let begin_anew = "leave --resume out to begin anew";
    let saved: SavedExploration = serde_json::from_slice(&text)
        .map_err(|error| format!("--resume: {shown} is damaged ({error}); {begin_anew}"))?;
    if !saved.is_known() {
        return Err(format!(
            "--resume: {shown} is of another version; {begin_anew}"
        ));
    }
    let key = key_of(subject, options).map_err(|error| format!("{error:#}"))?;
    let why = if saved.key.wmfix != key.wmfix {
        "another wmfix"
    } else if saved.key.options != key.options {
        "other options"
    } else if saved.key.programs != key.programs {
        "another program: it has changed since"
    } else if saved.programs.len() != subject.commands.len()
        || saved.programs.iter().any(|one| one.explorer().is_none())
    {
        return Err(format!("--resume: {shown} is damaged; {begin_anew}"));
    } else {
        return Ok(saved);
    };
    Err(format!(
        "--resume: the exploration that was stopped was of {why}; {begin_anew}"
    ))
}

fn file_of(subject: &Subject, options: &RunOptions) -> anyhow::Result<PathBuf> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    let mut what = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        what.update(&bytes.len().to_le_bytes());
        what.update(bytes);
    };
    add(current.as_os_str().as_encoded_bytes());
    let mut files = subject.files.clone();
    files.sort();
    for file in &files {
        add(file.as_os_str().as_encoded_bytes());
    }
    for command in &subject.commands {
        add(command.launch.name().as_bytes());
        for word in command.launch.command.iter().skip(1) {
            add(word.as_encoded_bytes());
        }
    }
    if let Some(shard) = options.shard {
        add(shard.to_string().as_bytes());
    }
    let name = format!("{}.json", &what.finalize().to_hex()[..32]);
    Ok(cache_folder()?.join("explorations").join(name))
}

fn key_of(subject: &Subject, options: &RunOptions) -> anyhow::Result<ExplorationKey> {
    let mut programs = blake3::Hasher::new();
    for command in &subject.commands {
        let Some(path) = command.launch.program() else {
            continue;
        };
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        programs.update(digest(&bytes, &path).as_bytes());
    }
    Ok(ExplorationKey {
        wmfix: format!(
            "{} {}",
            env!("CARGO_PKG_VERSION"),
            env!("WMFIX_RUNTIME_HASH")
        ),
        options: options.to_repeat(),
        programs: programs.finalize().to_hex()[..32].to_owned(),
    })
}

/// The hash of what is loaded of a program: where it was built does not count, which
/// is in the rest of the file and in the identifier that the linker makes of it.
fn digest(bytes: &[u8], path: &Path) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let Ok(file) = object::File::parse(bytes) else {
        // A script.
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(bytes);
        return hasher.finalize();
    };
    for section in file.sections() {
        let is_loaded = matches!(
            section.kind(),
            SectionKind::Text
                | SectionKind::Data
                | SectionKind::ReadOnlyData
                | SectionKind::ReadOnlyDataWithRel
                | SectionKind::ReadOnlyString
                | SectionKind::Tls
        );
        if is_loaded {
            hasher.update(section.name_bytes().unwrap_or_default());
            hasher.update(&section.address().to_le_bytes());
            hasher.update(section.data().unwrap_or_default());
        }
    }
    hasher.finalize()
}
