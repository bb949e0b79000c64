//! Which changes belong together, and what each group makes of the files. Changes
//! that remove the same finding, directly or through others, are one group; so
//! are changes that are too close in the text to be patches of their own.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use wmfix_rewriter::{Edit, EditSet};

use crate::candidates::Candidates;
use crate::findings::FindingKey;
use crate::subject::PatchedFile;
use wmfix_repair::Change;

/// Lines of context around a hunk: changes within these conflict as patches of
/// their own.
const CONTEXT_LINES: usize = 3;

/// Changes that belong together.
#[derive(Debug)]
pub(crate) struct Group {
    /// The changes, by number.
    pub changes: Vec<usize>,
    /// What they alone make of the files.
    pub files: Vec<PatchedFile>,
}

/// A file before and after a group, with the groups before it made.
#[derive(Debug)]
pub(crate) struct GroupPatch {
    /// Where it is.
    pub path: PathBuf,
    /// Before the group.
    pub before: Vec<u8>,
    /// After it.
    pub after: Vec<u8>,
}

/// Splits changes, whose files are known, into groups, of one layer after the other.
/// Each can be made alone, and one after the other they come to the whole.
pub(super) fn split(
    candidates: &Candidates,
    changes: &[Change],
    reasons: &[Vec<FindingKey>],
    layers: &[usize],
    files: &[PatchedFile],
) -> Vec<Group> {
    let layer = |group: &Group| group.changes.iter().map(|&number| layers[number]).min();
    let made = |numbers: Vec<usize>| {
        let some: Vec<Change> = numbers.iter().map(|&number| changes[number]).collect();
        let (files, refused) = candidates.patched(&some);
        refused.is_empty().then_some(Group {
            changes: numbers,
            files,
        })
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut waiting = connected(reasons);
    waiting.reverse();
    while let Some(numbers) = waiting.pop() {
        let Some(group) = made(numbers) else {
            return whole(changes, files);
        };
        // Patches of one layer apply in any order, those of the next after them.
        let meets = |other: &Group| layer(other) == layer(&group) && are_close(&group, other);
        match groups.iter().position(meets) {
            Some(other) => {
                let mut numbers = groups.remove(other).changes;
                numbers.extend(group.changes);
                numbers.sort_unstable();
                waiting.push(numbers);
            }
            None => groups.push(group),
        }
    }
    groups.sort_by_key(|group| (layer(group), group.changes.clone()));
    let together = group_patches(&groups);
    let last = |path: &PathBuf| {
        let mut patches = together.iter().flatten();
        patches.rfind(|patch| patch.path == *path)
    };
    let complete = files
        .iter()
        .all(|file| last(&file.path).is_some_and(|patch| patch.after == file.after));
    if complete {
        groups
    } else {
        whole(changes, files)
    }
}

/// What each group makes of the files, one after the other.
pub(crate) fn group_patches(groups: &[Group]) -> Vec<Vec<GroupPatch>> {
    let mut made: BTreeMap<PathBuf, (Vec<Edit>, Vec<u8>)> = BTreeMap::new();
    let mut patches = Vec::new();
    for group in groups {
        let mut patch = Vec::new();
        for file in &group.files {
            let (edits, before) = made
                .entry(file.path.clone())
                .or_insert_with(|| (Vec::new(), file.before.clone()));
            edits.extend(file.edits.edits().iter().cloned());
            let all = EditSet::new(&file.before, edits.clone());
            // Edits that overlap are not those of separate groups.
            let after = all.and_then(|all| all.apply(&file.before));
            let after = after.unwrap_or_else(|_| before.clone());
            let before = std::mem::replace(before, after.clone());
            patch.push(GroupPatch {
                path: file.path.clone(),
                before,
                after,
            });
        }
        patches.push(patch);
    }
    patches
}

/// Everything as one group.
fn whole(changes: &[Change], files: &[PatchedFile]) -> Vec<Group> {
    vec![Group {
        changes: (0..changes.len()).collect(),
        files: files.to_vec(),
    }]
}

/// Whether the patches of two groups would conflict.
fn are_close(one: &Group, other: &Group) -> bool {
    one.files.iter().any(|file| {
        let same = other.files.iter().filter(|f| f.path == file.path);
        let mut same = same.flat_map(edited_lines);
        same.any(|lines| {
            let wide = lines.start().saturating_sub(CONTEXT_LINES)..=lines.end() + CONTEXT_LINES;
            edited_lines(file).any(|mine| mine.start() <= wide.end() && wide.start() <= mine.end())
        })
    })
}

/// The lines, from 0, that the edits of a file touch.
fn edited_lines(file: &PatchedFile) -> impl Iterator<Item = RangeInclusive<usize>> {
    let line = |at: usize| file.before[..at].iter().filter(|&&b| b == b'\n').count();
    let edits = file.edits.edits().iter();
    edits.map(move |edit| line(edit.span.start)..=line(edit.span.end))
}

/// The groups, by number of change, in the order of their first changes.
fn connected(reasons: &[Vec<FindingKey>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (number, keys) in reasons.iter().enumerate() {
        let meets = |group: &Vec<usize>| {
            let mut others = group.iter().flat_map(|&other| &reasons[other]);
            others.any(|key| keys.contains(key))
        };
        let (mine, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        let mut group: Vec<usize> = mine.into_iter().flatten().collect();
        group.push(number);
        group.sort_unstable();
        rest.push(group);
        rest.sort();
        groups = rest;
    }
    groups
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::SiteId;

    use super::connected;

    #[test]
    fn changes_meet_through_the_findings_they_remove() {
        let finding = |number| (SiteId(number), None, None);
        let reasons = [
            vec![finding(1)],
            vec![finding(2)],
            vec![finding(3), finding(1)],
            vec![finding(4), finding(2), finding(5)],
            vec![],
        ];
        assert_eq!(connected(&reasons), [vec![0, 2], vec![1, 3], vec![4]]);
        let joined = [
            vec![finding(1)],
            vec![finding(2)],
            vec![finding(1), finding(2)],
        ];
        assert_eq!(connected(&joined), [vec![0, 1, 2]]);
    }
}
