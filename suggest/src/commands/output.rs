//! `--output DIR`: the repair as numbered patches, one a group of changes, and
//! the report as a page.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use wmfix_rewriter::unified_diff;

use crate::repair_loop::{RepairResult, steps};
use crate::report::{Dossier, Page, group_text, html};

/// Writes the patches of a repair and the page of a report into a folder. Patches
/// of ours from before go, so that those in the folder are those of one repair.
pub fn write(
    folder: &Path,
    dossier: &Dossier,
    mended: Option<&RepairResult>,
    subject: &str,
    page: Page,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .file_name()
            .is_some_and(|name| is_ours(&name.to_string_lossy()))
        {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    if let (Some(mended), Some(repair)) = (mended, &dossier.report.repair) {
        let groups = steps(&mended.groups);
        for (number, step) in groups.iter().enumerate() {
            let mut patch = group_text(repair, number).into_bytes();
            for file in step {
                let shown = shown(&file.path)?.0;
                patch.extend(unified_diff(&shown, &file.before, &file.after));
            }
            put(&folder.join(patch_name(number + 1)), &patch)?;
        }
    }
    let page = html(dossier, subject, page);
    put(&folder.join("report.html"), page.as_bytes())
}

/// Writes a file.
pub fn put(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// All changes of a repair as one diff, with paths relative to the current folder.
pub fn diff(mended: &RepairResult) -> anyhow::Result<Vec<u8>> {
    let mut diff = Vec::new();
    for file in &mended.files {
        let (path, is_below) = shown(&file.path)?;
        if !is_below {
            eprintln!(
                "wmfix: the patch applies in the root folder, as {} is not below this one",
                file.path.display()
            );
        }
        diff.extend(unified_diff(&path, &file.before, &file.after));
    }
    Ok(diff)
}

/// A path as a patch has it, and whether it is below the current folder.
fn shown(path: &Path) -> anyhow::Result<(PathBuf, bool)> {
    let current = std::env::current_dir()?.canonicalize()?;
    let full = path.canonicalize()?;
    Ok(match full.strip_prefix(&current) {
        Ok(below) => (below.to_owned(), true),
        Err(_) => (full.strip_prefix("/").unwrap_or(&full).to_owned(), false),
    })
}

fn patch_name(number: usize) -> String {
    format!("wmfix-{number:04}.patch")
}

fn is_ours(name: &str) -> bool {
    let number = name
        .strip_prefix("wmfix-")
        .and_then(|rest| rest.strip_suffix(".patch"));
    number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patches_of_ours_are_replaced() {
        assert!(is_ours(&patch_name(1)) && is_ours(&patch_name(12345)));
        for other in [
            "0001.patch",
            "wmfix-.patch",
            "wmfix-notes.patch",
            "wmfix-0001.patch~",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
