//! The result of the last run in a folder, kept for `wmfix explain` in the user's
//! cache folder. Touches no source tree.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::report::Dossier;
use crate::runtime_archive::cache_folder;

/// Keeps a dossier, and the traces of its findings, as those of the last run in
/// the current folder.
pub(crate) fn save(dossier: &Dossier) -> anyhow::Result<()> {
    let mut kept = dossier.clone();
    let path = path()?;
    let folder = path.parent().context("a file in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let traces = path.with_extension("traces");
    match fs::remove_dir_all(&traces) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {
            fs::create_dir(&traces).with_context(|| format!("cannot make {}", traces.display()))?
        }
    }
    for (id, bytes) in &dossier.traces {
        let file = traces.join(format!("{id}.trace"));
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        if let Some(detail) = kept.details.get_mut(id) {
            detail.trace = Some(file);
        } else if let Some(unconfirmed) = kept.unconfirmed.get_mut(id) {
            unconfirmed.trace = Some(file);
        }
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(&kept)?)?;
    file.persist(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// The dossier of the last run in the current folder, if there was one.
pub(crate) fn load() -> anyhow::Result<Option<Dossier>> {
    let path = path()?;
    match fs::read(&path) {
        Ok(bytes) => {
            let dossier = serde_json::from_slice(&bytes);
            Ok(Some(dossier.with_context(|| {
                format!("{} is damaged: run again", path.display())
            })?))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn path() -> anyhow::Result<PathBuf> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    let hash = blake3::hash(current.as_os_str().as_encoded_bytes()).to_hex();
    Ok(cache_folder()?
        .join("last")
        .join(format!("{}.json", &hash[..32])))
}
