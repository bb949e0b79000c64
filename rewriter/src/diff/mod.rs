//! The difference between two texts of a file as values: hunks with the lines
//! they take away and add, and the function each is in. Works on bytes: a line
//! that is not UTF-8 or ends in CR LF stays as it is. What a diff looks like as
//! text is up to [`text`].

mod function;
mod text;

use std::ops::Range;
use std::path::{Path, PathBuf};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

pub use text::unified_diff;

/// Unchanged lines shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// The difference between two texts of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The file, relative to the folder where the diff will be applied.
    pub path: PathBuf,
    /// The hunks from first to last; none if the texts are equal.
    pub hunks: Vec<Hunk>,
}

/// Changes that lie close together, with the unchanged lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines of the old text that it covers.
    pub old: LineRange,
    /// The lines of the new text that it covers.
    pub new: LineRange,
    /// The line that opens the function around the hunk, as `git diff` chooses
    /// it: the last one before the hunk that begins with a letter, `_` or `$`,
    /// cut at 80 bytes. Empty if there is none.
    pub function: Vec<u8>,
    /// Its lines, in the order in which a diff shows them.
    pub lines: Vec<DiffLine>,
}

/// A range of lines as hunks count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first line, from 1. Of an empty range, the line before it.
    pub first: u32,
    /// The number of lines.
    pub count: u32,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// What happens to it.
    pub kind: LineKind,
    /// Its text with its line ending, which the last line of a file may lack.
    pub text: Vec<u8>,
}

/// What happens to a line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// It is in both texts.
    Context,
    /// Only the old text has it.
    Removed,
    /// Only the new text has it.
    Added,
}

impl FileDiff {
    /// The shortest difference from `before` to `after`.
    pub fn between(path: &Path, before: &[u8], after: &[u8]) -> Self {
        let path = path.to_owned();
        if before == after {
            let hunks = Vec::new();
            return Self { path, hunks };
        }
        let (old, new) = (lines(before), lines(after));
        let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
        let mut functions = function::FunctionLines::new(&old);
        let hunks = group_diff_ops(operations, CONTEXT_LINES)
            .iter()
            .filter_map(|group| hunk(group, &old, &new, &mut functions))
            .collect();
        Self { path, hunks }
    }

    /// Whether the texts are equal.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }
}

impl LineRange {
    fn of(range: &Range<usize>) -> Self {
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let first = range.start + usize::from(!range.is_empty());
        Self {
            first: number(first),
            count: number(range.len()),
        }
    }
}

/// The lines of a text, each with its line ending.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn hunk(
    group: &[DiffOp],
    old: &[&[u8]],
    new: &[&[u8]],
    functions: &mut function::FunctionLines<'_>,
) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let mut hunk = Hunk {
        old: LineRange::of(&old_range),
        new: LineRange::of(&new_range),
        function: functions.before(old_range.start).to_vec(),
        lines: Vec::new(),
    };
    for operation in group {
        let (removed, added) = (&old[operation.old_range()], &new[operation.new_range()]);
        match operation.tag() {
            DiffTag::Equal => hunk.push(LineKind::Context, removed),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                hunk.push(LineKind::Removed, removed);
                hunk.push(LineKind::Added, added);
            }
        }
    }
    Some(hunk)
}

impl Hunk {
    fn push(&mut self, kind: LineKind, lines: &[&[u8]]) {
        self.lines.extend(lines.iter().map(|line| DiffLine {
            kind,
            text: line.to_vec(),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> FileDiff {
        FileDiff::between(Path::new("a.c"), before.as_bytes(), after.as_bytes())
    }

    #[test]
    fn equal_texts_have_no_hunks() {
        assert!(diff("a\n", "a\n").is_empty());
        assert!(!diff("a\n", "a").is_empty());
    }

    #[test]
    fn a_hunk_knows_its_lines_and_its_function() {
        let before: String = (1..=20).map(|n| format!("  line {n}\n")).collect();
        let before = format!("void alice(void)\n{{\n{before}}}\n");
        let after = before.replace("  line 9\n", "  line nine\n  more\n");
        let [hunk] = &diff(&before, &after).hunks[..] else {
            panic!("one hunk");
        };
        let range = |first, count| LineRange { first, count };
        assert_eq!((hunk.old, hunk.new), (range(8, 7), range(8, 8)));
        assert_eq!(hunk.function, b"void alice(void)");
        let changed: Vec<(LineKind, &[u8])> = (hunk.lines.iter())
            .filter(|line| line.kind != LineKind::Context)
            .map(|line| (line.kind, &line.text[..]))
            .collect();
        assert_eq!(
            changed,
            [
                (LineKind::Removed, &b"  line 9\n"[..]),
                (LineKind::Added, b"  line nine\n"),
                (LineKind::Added, b"  more\n"),
            ]
        );
        assert_eq!(hunk.lines.len(), 9);
    }

    #[test]
    fn an_empty_range_names_the_line_before_it() {
        let [hunk] = &diff("", "a\n").hunks[..] else {
            panic!("one hunk");
        };
        assert_eq!(hunk.old, LineRange { first: 0, count: 0 });
        assert_eq!(hunk.new, LineRange { first: 1, count: 1 });
    }
}
