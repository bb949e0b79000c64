//! `--output DIR`: the repair as numbered patches, one for each group of changes,
//! and the report as a page.

use std::fs;
use std::path::Path;

use anyhow::Context;
use wmfix_rewriter::unified_diff;

use crate::patch::path_in_patch;
use crate::private_files::{make_folder, write_file};
use crate::repair_loop::{RepairResult, group_patches};
use crate::report::{Dossier, Page, TextStyle, group_text, html, relaxation_text};

/// Writes the patches of a repair and the page of a report into a folder. Patches
/// of an earlier repair are removed first.
pub(super) fn write(
    folder: &Path,
    dossier: &Dossier,
    result: Option<&RepairResult>,
    name: &str,
    page: Page,
) -> anyhow::Result<()> {
    clear(folder)?;
    let result = result.filter(|result| result.is_patch());
    if let (Some(result), Some(repair)) = (result, &dossier.report.repair) {
        for (number, group) in group_patches(&result.groups).iter().enumerate() {
            let mut patch = group_text(repair, number).into_bytes();
            for file in group {
                let path = path_in_patch(&file.path)?.0;
                patch.extend(unified_diff(&path, &file.before, &file.after));
            }
            write_file(&folder.join(patch_name(number + 1)), &patch)?;
        }
    }
    let page = html(dossier, name, page);
    write_file(&folder.join("report.html"), page.as_bytes())
}

/// Writes the patch of weaker orders and the page of a report into a folder.
pub(super) fn write_relaxation(
    folder: &Path,
    dossier: &Dossier,
    patch: &[u8],
    name: &str,
) -> anyhow::Result<()> {
    clear(folder)?;
    if !patch.is_empty() {
        let mut text = relaxation_text(dossier, TextStyle::default()).into_bytes();
        text.extend_from_slice(b"\n");
        text.extend_from_slice(patch);
        write_file(&folder.join(patch_name(1)), &text)?;
    }
    let page = html(dossier, name, Page::Report);
    write_file(&folder.join("report.html"), page.as_bytes())
}

/// Makes a folder, and removes the patches that were written there before.
fn clear(folder: &Path) -> anyhow::Result<()> {
    make_folder(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .file_name()
            .is_some_and(|name| is_ours(&name.to_string_lossy()))
        {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn patch_name(number: usize) -> String {
    format!("wmfix-{number:04}.patch")
}

/// Whether a file has the name of a patch of ours.
pub(super) fn is_ours(name: &str) -> bool {
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
