//! The copy of a tree that is built instead of the user's own: kept from run to
//! run, brought up to date file by file, so that the build tool's own rules say
//! what has to be built again. Knows nothing of build tools.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::rules::{Rules, is_build_product};
use crate::path_text;

/// A tree with more files is not copied.
const MAX_FILES: usize = 200_000;

/// A file that changed this recently may change again without its metadata showing
/// it.
const RECENT_CHANGE: Duration = Duration::from_secs(2);

/// What a copy holds.
#[derive(Debug)]
pub(super) struct TreeCopy {
    /// Its files, relative to the tree, sorted.
    pub files: Vec<PathBuf>,
    /// Equal for equal contents.
    pub digest: String,
}

/// What is known of a copy: for each file, by its path in the tree.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    #[serde(with = "path_text::keys")]
    files: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    /// The original as it looked when it was read; none if it was too fresh.
    seen: Option<FileMetadata>,
    /// What the original holds.
    original: String,
    /// What the copy holds; none if it is left out of the copy.
    copied: Option<String>,
    /// How the copy looked when it was made.
    made: Option<FileMetadata>,
}

/// What shows that a file has not changed, without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMetadata {
    size: u64,
    inode: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Brings the copy of the tree at `root` up to date: `folder` then holds what the
/// rules take, with the files of `instead` instead of the tree's own, and
/// what builds have left there. `manifest` is where its state is kept.
pub(super) fn bring_up_to_date(
    root: &Path,
    rules: &Rules,
    instead: &BTreeMap<PathBuf, &[u8]>,
    folder: &Path,
    manifest: &Path,
) -> anyhow::Result<TreeCopy> {
    let old = read_manifest(manifest);
    // If this is ended half way, the next one must not believe in it.
    let first = old.is_none();
    remove_file(manifest)?;
    let mut old = old.unwrap_or_default().files;
    if first {
        super::build_folder::remove(folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut new = Manifest::default();
    let mut digest = blake3::Hasher::new();
    for entry in rules.walk(root) {
        let entry = entry.context("cannot read the source tree")?;
        let path = entry.path();
        let Ok(inside) = path.strip_prefix(root) else {
            continue;
        };
        let meta = fs::symlink_metadata(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let target = folder.join(inside);
        if meta.is_dir() {
            if !target.is_dir() {
                remove_file(&target)?;
                fs::create_dir_all(&target)?;
            }
            continue;
        }
        if !meta.is_file() && !meta.is_symlink() {
            // Sockets, pipes, devices: no build reads them.
            continue;
        }
        if new.files.len() == MAX_FILES {
            bail!(
                "{} has more than {MAX_FILES} files: use `exclude` in wmfix.toml to leave out what the build does not need",
                root.display()
            );
        }
        let known = old.remove(inside);
        let file = Original {
            path,
            root,
            copy: folder,
            meta: &meta,
            instead: instead.get(inside).copied(),
            kept: rules.keeps(path),
        };
        let entry = file
            .copy(known, &target, first)
            .with_context(|| format!("cannot copy {}", path.display()))?;
        if let Some(copied) = &entry.copied {
            digest.update(inside.as_os_str().as_encoded_bytes());
            digest.update(&[0, u8::from(meta.mode() & 0o111 != 0)]);
            digest.update(copied.as_bytes());
        }
        new.files.insert(inside.to_owned(), entry);
    }
    for gone in old.keys() {
        remove_with_folders(folder, gone)?;
    }
    let written = serde_json::to_vec(&new)?;
    fs::write(manifest, written).with_context(|| format!("cannot write {}", manifest.display()))?;
    let files = new.files.into_iter();
    Ok(TreeCopy {
        files: files
            .filter(|(_, entry)| entry.copied.is_some())
            .map(|(path, _)| path)
            .collect(),
        digest: digest.finalize().to_hex().to_string(),
    })
}

/// A file of the tree.
struct Original<'a> {
    path: &'a Path,
    root: &'a Path,
    copy: &'a Path,
    meta: &'a Metadata,
    instead: Option<&'a [u8]>,
    /// It is copied even if it looks like something that was built.
    kept: bool,
}

impl Original<'_> {
    /// Copies the file unless the copy holds the same already.
    fn copy(&self, known: Option<Entry>, target: &Path, first: bool) -> io::Result<Entry> {
        let look = FileMetadata::of(self.meta);
        let unchanged = known
            .as_ref()
            .is_some_and(|known| known.seen.as_ref() == Some(&look));
        let (original, product) = match &known {
            Some(known) if unchanged => (known.original.clone(), known.copied.is_none()),
            _ => self.read()?,
        };
        let wanted = match self.instead {
            Some(text) => Some(blake3::hash(text).to_hex().to_string()),
            None => (!product || self.kept).then(|| original.clone()),
        };
        let recent = self.meta.modified().map_or(true, |modified| {
            modified.elapsed().map_or(true, |age| age < RECENT_CHANGE)
        });
        let mut entry = Entry {
            seen: (!recent).then_some(look),
            original,
            copied: wanted,
            made: None,
        };
        if entry.copied.is_none() {
            // A build of our own may have made one of this name: it stays.
            return Ok(entry);
        }
        let there = fs::symlink_metadata(target)
            .ok()
            .map(|m| FileMetadata::of(&m));
        if let Some(known) = known
            && known.copied == entry.copied
            && known.made.is_some()
            && known.made == there
        {
            entry.made = there;
            return Ok(entry);
        }
        self.write(target, first)?;
        entry.made = Some(FileMetadata::of(&fs::symlink_metadata(target)?));
        Ok(entry)
    }

    /// The file's content, as a hash, and whether a build has made it.
    fn read(&self) -> io::Result<(String, bool)> {
        if self.meta.is_symlink() {
            let target = fs::read_link(self.path)?;
            let hash = blake3::hash(target.as_os_str().as_encoded_bytes());
            return Ok((format!("-> {}", hash.to_hex()), false));
        }
        let product = is_build_product(self.path)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(self.path)?)?;
        Ok((hasher.finalize().to_hex().to_string(), product))
    }

    fn write(&self, target: &Path, first: bool) -> io::Result<()> {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        // Never written through: it may be a link to somewhere else.
        match fs::symlink_metadata(target) {
            Ok(there) if there.is_dir() => fs::remove_dir_all(target)?,
            Ok(_) => fs::remove_file(target)?,
            Err(_) => {}
        }
        if let Some(text) = self.instead {
            fs::write(target, text)?;
        } else if self.meta.is_symlink() {
            return symlink(self.link_target()?, target);
        } else {
            clone(self.path, target)?;
        }
        let mode = self.meta.permissions().mode() | 0o200;
        fs::set_permissions(target, fs::Permissions::from_mode(mode & 0o777))?;
        // At first the files keep their order of age, which some builds go by;
        // later a file that has changed must be newer than what was built of it.
        let modified = if first && self.instead.is_none() {
            self.meta.modified()?
        } else {
            SystemTime::now()
        };
        File::options()
            .write(true)
            .open(target)?
            .set_modified(modified)
    }

    /// Where a link of the copy points: into the copy, if it points into the tree,
    /// and else where the original points.
    fn link_target(&self) -> io::Result<PathBuf> {
        let link = fs::read_link(self.path)?;
        let folder = self.path.parent().unwrap_or(self.root);
        let full = folder.join(&link);
        // A link to nothing stays one.
        let real = full.canonicalize().ok();
        let inside = real.as_deref().map(|real| real.strip_prefix(self.root));
        Ok(match inside {
            Some(Ok(inside)) if link.is_absolute() => self.copy.join(inside),
            Some(Err(_)) => full,
            _ => link,
        })
    }
}

impl FileMetadata {
    fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            inode: meta.ino(),
            mode: meta.mode(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// Copies a file, sharing its blocks where the file system can.
fn clone(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let target = File::create(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
        return Ok(());
    }
    io::copy(&mut &source, &mut &target).map(drop)
}

/// The manifest, if there is one that can be believed in.
fn read_manifest(path: &Path) -> Option<Manifest> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file of the copy, and the folders that are empty then.
fn remove_with_folders(folder: &Path, inside: &Path) -> io::Result<()> {
    let path = folder.join(inside);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let above = path.ancestors().skip(1);
    for parent in above.take_while(|parent| *parent != folder) {
        if fs::remove_dir(parent).is_err() {
            // Something is left in it.
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
