//! The patch hunk by hunk, each with the changes that it makes.

use std::path::Path;

use wmfix_rewriter::FileDiff;

use super::spots::SpotFinder;
use crate::report::model::{ReportedChange, ReportedHunk};
use crate::subject::PatchedFile;

/// The hunks of patched files.
pub(super) fn hunks(
    files: &[PatchedFile],
    changes: &[ReportedChange],
    spots: &SpotFinder<'_>,
) -> Vec<ReportedHunk> {
    let of_files = files.iter().map(|file| {
        let name = spots.shown(&file.path);
        let diff = FileDiff::between(Path::new(&name), &file.before, &file.after);
        hunks_of(&diff, &name, changes)
    });
    of_files.flatten().collect()
}

/// The hunks of one file.
fn hunks_of(diff: &FileDiff, name: &str, changes: &[ReportedChange]) -> Vec<ReportedHunk> {
    let mut hunks: Vec<ReportedHunk> = diff
        .hunks
        .iter()
        .map(|hunk| ReportedHunk {
            file: name.to_owned(),
            line: hunk.old.first,
            lines: hunk.old.count,
            changes: Vec::new(),
            text: String::from_utf8_lossy(&hunk.to_bytes()).into_owned(),
        })
        .collect();
    for (number, change) in changes.iter().enumerate() {
        if change.place.file != name {
            continue;
        }
        // The operation may begin well above the line that changes.
        let ends_below = |hunk: &ReportedHunk| hunk.line + hunk.lines.max(1) > change.place.line;
        let at = hunks.iter().position(ends_below);
        let at = at.unwrap_or(hunks.len().saturating_sub(1));
        if let Some(hunk) = hunks.get_mut(at) {
            hunk.changes.push(number);
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change at a line of `a.c`.
    fn change(line: u32) -> ReportedChange {
        serde_json::from_value(serde_json::json!({
            "kind": "fence",
            "place": {
                "file": "a.c", "line": line, "column": 1,
                "function": "f", "operation": "load", "order": "relaxed",
            },
            "from": "none", "to": "seq_cst",
            "removes": [], "what": "", "without": "", "ensures": "",
            "price": { "x86-64": "", "aarch64": "" },
        }))
        .expect("a change")
    }

    #[test]
    fn each_change_is_in_the_hunk_that_makes_it() {
        let before: Vec<String> = (1..=40).map(|n| format!("line {n}\n")).collect();
        let mut after = before.clone();
        after[2] = "new\n".to_owned();
        after.insert(30, "more\n".to_owned());
        let (before, after) = (before.concat(), after.concat());
        let diff = FileDiff::between(Path::new("a.c"), before.as_bytes(), after.as_bytes());
        // The last operation begins above its hunk.
        let hunks = hunks_of(&diff, "a.c", &[change(3), change(30), change(20)]);
        let found: Vec<_> = hunks
            .iter()
            .map(|hunk| (hunk.line, hunk.lines, hunk.changes.as_slice()))
            .collect();
        assert_eq!(found, [(1, 6, &[0][..]), (28, 6, &[1, 2][..])]);
        assert!(
            hunks[1].text.starts_with("@@ -28,6 +28,7 @@ "),
            "{}",
            hunks[1].text
        );
        assert!(hunks[1].text.contains("+more\n"));
        assert!(hunks_of(&diff, "b.c", &[change(3)])[0].changes.is_empty());
    }
}
