//! A copy of a program's sources with the patched ones in place. If a header is
//! patched, all headers of the tree are copied, because any of them may include
//! it; what is not copied is found by quoted includes where it is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use wmfix_frontend::Language;

use super::programs::Program;
use super::walk::{is_hidden, walk};
use crate::subject::PatchedFile;

/// A tree with more headers than this is not copied.
const MAX_HEADERS: usize = 20_000;

/// What programs are built of.
#[derive(Clone, Debug)]
pub(super) struct ProgramParts {
    /// The programs.
    pub programs: Vec<Program>,
    /// Sources that are linked as far as something in them is needed.
    pub library: Vec<PathBuf>,
    /// Folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// Compiler options of single sources.
    pub options: BTreeMap<PathBuf, Vec<OsString>>,
}

/// The patched sources of programs in a folder of their own.
#[derive(Debug)]
pub(super) struct PatchedCopy {
    /// The programs, their sources in the copy.
    pub parts: ProgramParts,
    /// The folders of the original sources, for quoted includes.
    pub quoted: Vec<PathBuf>,
}

impl PatchedCopy {
    /// Copies the sources of programs into a folder, and the patched files.
    pub(super) fn make(
        original: &ProgramParts,
        files: &[PatchedFile],
        tree: &Path,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let tree = tree.canonicalize().context("cannot find the sources")?;
        let mut quoted = Vec::new();
        let mut options = BTreeMap::new();
        let mut copied = |source: &PathBuf| -> anyhow::Result<PathBuf> {
            let full = source
                .canonicalize()
                .with_context(|| format!("cannot find {}", source.display()))?;
            let target = copy_path(&tree, folder, &full);
            let text =
                fs::read(&full).with_context(|| format!("cannot read {}", full.display()))?;
            write(&target, &text)?;
            quoted.extend(full.parent().map(Path::to_owned));
            if let Some(own) = original.options.get(source) {
                options.insert(target.clone(), in_copy(own, &tree, folder));
            }
            Ok(target)
        };
        let mut programs = Vec::new();
        for program in &original.programs {
            let sources = program.sources.iter().map(&mut copied);
            programs.push(Program {
                name: program.name.clone(),
                sources: sources.collect::<anyhow::Result<_>>()?,
            });
        }
        let library = original.library.iter().map(&mut copied);
        let library = library.collect::<anyhow::Result<Vec<_>>>()?;
        let is_source = |file: &PatchedFile| {
            let own = original
                .programs
                .iter()
                .flat_map(|program| &program.sources);
            own.chain(&original.library)
                .any(|source| same_file(source, &file.path))
        };
        if !files.iter().all(is_source) {
            copy_headers(&tree, folder)?;
        }
        for file in files {
            let source = file.path.canonicalize();
            let source = source.with_context(|| format!("cannot find {}", file.path.display()))?;
            write(&copy_path(&tree, folder, &source), &file.after)?;
        }
        quoted.sort();
        quoted.dedup();
        // The copy's headers come before the original ones.
        let include = original.include.iter();
        let include = include.flat_map(|at| [copy_path(&tree, folder, at), at.clone()]);
        Ok(Self {
            parts: ProgramParts {
                programs,
                library,
                include: include.collect(),
                options,
            },
            quoted,
        })
    }
}

/// Options of a source with the folders of the copy before those of the tree.
fn in_copy(options: &[OsString], tree: &Path, folder: &Path) -> Vec<OsString> {
    let mut moved: Vec<OsString> = Vec::new();
    for word in options {
        if let Some(option) = moved.last().cloned()
            && let Ok(inside) = Path::new(word).strip_prefix(tree)
            && ["-I", "-isystem", "-iquote"]
                .iter()
                .any(|name| option == *name)
        {
            moved.extend([folder.join(inside).into(), option]);
        }
        moved.push(word.clone());
    }
    moved
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Copies what may be included, as far as it is not ignored by the project.
fn copy_headers(tree: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut copied = 0;
    for entry in walk(tree, |entry| !is_hidden(entry)) {
        let entry = entry.context("cannot read the source tree")?;
        let path = entry.path();
        if !path.is_file() || !Language::may_be(path) {
            continue;
        }
        copied += 1;
        if copied > MAX_HEADERS {
            bail!(
                "{} has more than {MAX_HEADERS} source files: choose a smaller folder",
                tree.display()
            );
        }
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        write(&copy_path(tree, folder, path), &text)?;
    }
    Ok(())
}

/// Where a file of the tree is in the copy.
fn copy_path(tree: &Path, folder: &Path, source: &Path) -> PathBuf {
    match source.strip_prefix(tree) {
        Ok(below) => folder.join(below),
        // Not in the tree: it is compiled from the copy all the same.
        Err(_) => folder.join(source.file_name().unwrap_or_default()),
    }
}

fn write(target: &Path, text: &[u8]) -> anyhow::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    // What is the same is not touched, and not built again.
    if fs::read(target).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(target, text).with_context(|| format!("cannot write {}", target.display()))
}
