//! The patch hunk by hunk, each with the changes that it makes.

use std::path::Path;

use wmfix_rewriter::unified_diff;

use super::spots::SpotFinder;
use crate::report::model::{ReportedChange, ReportedHunk};
use crate::subject::PatchedFile;

/// The hunks of patched files.
pub fn hunks(
    files: &[PatchedFile],
    changes: &[ReportedChange],
    spots: &SpotFinder<'_>,
) -> Vec<ReportedHunk> {
    let mut hunks = Vec::new();
    for file in files {
        let name = spots.shown(&file.path);
        let diff = unified_diff(Path::new(&name), &file.before, &file.after);
        let mut of_file = split(&String::from_utf8_lossy(&diff), &name);
        for (number, change) in changes.iter().enumerate() {
            if change.place.file != name {
                continue;
            }
            // The operation may begin well above the line that changes.
            let ends_below =
                |hunk: &ReportedHunk| hunk.line + hunk.lines.max(1) > change.place.line;
            let at = of_file.iter().position(ends_below);
            let at = at.unwrap_or(of_file.len().saturating_sub(1));
            if let Some(hunk) = of_file.get_mut(at) {
                hunk.changes.push(number);
            }
        }
        hunks.extend(of_file);
    }
    hunks
}

/// The hunks of one file's diff, without changes yet.
fn split(diff: &str, file: &str) -> Vec<ReportedHunk> {
    let mut hunks: Vec<ReportedHunk> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if let Some(range) = line.strip_prefix("@@ -") {
            let old = range.split(' ').next().unwrap_or_default();
            let (first, count) = old.split_once(',').unwrap_or((old, "1"));
            hunks.push(ReportedHunk {
                file: file.to_owned(),
                line: first.parse().unwrap_or_default(),
                lines: count.parse().unwrap_or_default(),
                changes: Vec::new(),
                text: String::new(),
            });
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.text += line;
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_split_at_its_hunks() {
        let lines = |n: u32| -> Vec<String> { (1..=n).map(|n| format!(" line {n}\n")).collect() };
        let before = lines(40);
        let mut after = before.clone();
        after[2] = "new\n".to_owned();
        after.insert(30, "more\n".to_owned());
        let (before, after) = (before.concat(), after.concat());
        let diff = unified_diff(Path::new("a.c"), before.as_bytes(), after.as_bytes());
        let hunks = split(&String::from_utf8(diff).unwrap(), "a.c");
        let ranges: Vec<(u32, u32)> = hunks.iter().map(|h| (h.line, h.lines)).collect();
        assert_eq!(ranges, [(1, 6), (28, 6)]);
        assert!(hunks[1].text.starts_with("@@ -28,6 +28,7 @@\n"));
        assert!(hunks[1].text.contains("+more\n"));
    }
}
