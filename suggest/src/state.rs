//! The result of the last run, kept for `wmfix explain` in the user's cache folder,
//! for the folder that the command was given in and for the project's. Any number of
//! processes may keep and read results at once: a result has a folder of its own that
//! never changes, and what is last is a small file that is replaced as a whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;

use crate::private_files::{make_private_folder, write_file};
use crate::report::Dossier;
use crate::runtime_archive::cache_folder;

/// This many results are kept.
const MAX_RESULTS: usize = 64;

/// A younger result is not removed: a process may be about to read or to name it.
const MIN_AGE: Duration = Duration::from_secs(10 * 60);

/// The file of a result's folder that holds the dossier.
const DOSSIER: &str = "dossier.json";

/// What the folder of a result is called, before a part that no other has.
const RESULT: &str = "result-";

/// Keeps a dossier, and the traces of its findings, as those of the last run in
/// the current folder and in the project's.
pub(crate) fn save(dossier: &Dossier, project: &Path) -> anyhow::Result<()> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    save_in(&last_folder()?, dossier, &[&current, project])
}

/// The dossier of the last run in the current folder or one above it, if there was
/// one.
pub(crate) fn load() -> anyhow::Result<Option<Dossier>> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    load_from(&last_folder()?, &current)
}

fn save_in(last: &Path, dossier: &Dossier, folders: &[&Path]) -> anyhow::Result<()> {
    let made = make_private_folder(last);
    made.with_context(|| format!("cannot make {}", last.display()))?;
    let result = tempfile::Builder::new().prefix(RESULT).tempdir_in(last);
    let result = result.with_context(|| format!("cannot write to {}", last.display()))?;
    let mut kept = dossier.clone();
    for (id, bytes) in &dossier.traces {
        let file = result.path().join(format!("{id}.trace"));
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        if let Some(detail) = kept.details.get_mut(id) {
            detail.trace = Some(file);
        } else if let Some(unconfirmed) = kept.unconfirmed.get_mut(id) {
            unconfirmed.trace = Some(file);
        }
    }
    let file = result.path().join(DOSSIER);
    let mut out =
        fs::File::create(&file).with_context(|| format!("cannot write {}", file.display()))?;
    out.write_all(&serde_json::to_vec(&kept)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let result = result.keep();
    let name = result.file_name().unwrap_or_default();
    for folder in folders {
        write_file(&pointer(last, folder), name.as_encoded_bytes())?;
    }
    remove_old(last);
    Ok(())
}

fn load_from(last: &Path, current: &Path) -> anyhow::Result<Option<Dossier>> {
    let pointers = current.ancestors().map(|folder| pointer(last, folder));
    let written = |path: PathBuf| Some((fs::metadata(&path).ok()?.modified().ok()?, path));
    let mut known: Vec<(SystemTime, PathBuf)> = pointers.filter_map(written).collect();
    // The newest first; of two that were written together, either.
    known.sort_by(|(one, _), (other, _)| other.cmp(one));
    for (_, pointer) in known {
        let name = match fs::read_to_string(&pointer) {
            Ok(name) if name.starts_with(RESULT) && !name.contains('/') => name,
            // Another process replaces it, or it is none of ours.
            _ => continue,
        };
        let path = last.join(name).join(DOSSIER);
        match fs::read(&path) {
            Ok(bytes) => {
                let dossier = serde_json::from_slice(&bytes);
                return Ok(Some(dossier.with_context(|| {
                    format!("{} is damaged: run again", path.display())
                })?));
            }
            // It was removed to make room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        }
    }
    Ok(None)
}

/// Removes the oldest results of too many, and what names none. What cannot be
/// removed now is left for the next time.
fn remove_old(last: &Path) {
    let Ok(entries) = fs::read_dir(last) else {
        return;
    };
    let mut results = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Ok(modified) = fs::metadata(&path).and_then(|meta| meta.modified()) else {
            continue;
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(RESULT) && path.is_dir() {
            results.push((modified, path));
        } else if !is_pointer(&name) && is_old(modified) {
            // Left by an earlier version, or by a process that was killed.
            let _next_time = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        } else if is_old(modified)
            && let Ok(named) = fs::read_to_string(&path)
            && !last.join(named).is_dir()
        {
            let _next_time = fs::remove_file(&path);
        }
    }
    results.sort();
    let too_many = results.len().saturating_sub(MAX_RESULTS);
    for (_, path) in results
        .into_iter()
        .take(too_many)
        .filter(|(modified, _)| is_old(*modified))
    {
        let _next_time = fs::remove_dir_all(path);
    }
}

fn is_old(modified: SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age| age > MIN_AGE)
}

/// The file that names the last result for a folder.
fn pointer(last: &Path, folder: &Path) -> PathBuf {
    let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    last.join(format!("{}.last", &hash[..32]))
}

fn is_pointer(name: &str) -> bool {
    name.strip_suffix(".last")
        .is_some_and(|hash| hash.len() == 32)
}

fn last_folder() -> anyhow::Result<PathBuf> {
    Ok(cache_folder()?.join("last"))
}
