//! A copy of a program's sources with the patched ones in place. If a header is
//! patched, all headers of the tree are copied, because any of them may include
//! it; what is not copied is found by quoted includes where it is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use wmfix_frontend::Language;

use super::programs::Program;
use super::walk::{is_hidden, walk};
use crate::subject::PatchedFile;

/// A tree with more headers than this is not copied.
const MAX_HEADERS: usize = 20_000;

/// The patched sources of programs in a folder of their own.
#[derive(Debug)]
pub(super) struct PatchedCopy {
    /// The programs, their sources in the copy.
    pub programs: Vec<Program>,
    /// The folders of the original sources, for quoted includes.
    pub include: Vec<PathBuf>,
}

impl PatchedCopy {
    /// Copies the sources of programs into a folder, and the patched files.
    pub(super) fn make(
        programs: &[Program],
        files: &[PatchedFile],
        tree: &Path,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let tree = tree.canonicalize().context("cannot find the sources")?;
        let mut include = Vec::new();
        let mut copies = Vec::new();
        for program in programs {
            let mut sources = Vec::new();
            for source in &program.sources {
                let source = source
                    .canonicalize()
                    .with_context(|| format!("cannot find {}", source.display()))?;
                let target = copy_path(&tree, folder, &source);
                let text = fs::read(&source)
                    .with_context(|| format!("cannot read {}", source.display()))?;
                write(&target, &text)?;
                sources.push(target);
                include.extend(source.parent().map(Path::to_owned));
            }
            copies.push(Program {
                name: program.name.clone(),
                sources,
            });
        }
        let is_source = |file: &PatchedFile| {
            let mut sources = programs.iter().flat_map(|program| &program.sources);
            sources.any(|source| same_file(source, &file.path))
        };
        if !files.iter().all(is_source) {
            copy_headers(&tree, folder)?;
        }
        for file in files {
            let source = file.path.canonicalize();
            let source = source.with_context(|| format!("cannot find {}", file.path.display()))?;
            write(&copy_path(&tree, folder, &source), &file.after)?;
        }
        include.sort();
        include.dedup();
        Ok(Self {
            programs: copies,
            include,
        })
    }
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
