//! Which changes of a patch are likely to be why it does not build: by the lines that the
//! compiler complains of, else by what most often goes wrong.

use std::ops::RangeInclusive;
use std::path::Path;

use wmfix_frontend::Site;

use super::{ExplainedChange, RepairResult};
use crate::project::BuildFailure;
use crate::subject::PatchedFile;

/// What stands between a place and what is wrong there, in gcc's and clang's words.
const ERRORS: [&str; 2] = [": error:", ": fatal error:"];

/// The changes at the lines that the compiler rejects. If there are none, the new fences
/// or, if there are none of these either, all changes.
pub(super) fn blamed<'r>(
    result: &'r RepairResult,
    failure: &BuildFailure,
) -> Vec<&'r ExplainedChange> {
    let rejected = rejected_lines(failure);
    let is_rejected = |change: &&ExplainedChange| {
        let site = change.at.text.as_ref();
        site.is_some_and(|site| is_at(site, &rejected, &result.files))
    };
    let is_fence = |change: &&ExplainedChange| change.kind.is_new_fence();
    let by_line: Vec<_> = result.changes.iter().filter(is_rejected).collect();
    if !by_line.is_empty() {
        return by_line;
    }
    let fences: Vec<_> = result.changes.iter().filter(is_fence).collect();
    match fences.is_empty() {
        true => result.changes.iter().collect(),
        false => fences,
    }
}

/// The names of files, with the lines in them, that have errors.
fn rejected_lines(failure: &BuildFailure) -> Vec<(&Path, usize)> {
    let (BuildFailure::Compiler { output, .. } | BuildFailure::Command { output, .. }) = failure
    else {
        return Vec::new();
    };
    let place = |line: &'_ str| ERRORS.iter().find_map(|error| line.find(error));
    let places = output
        .lines()
        .filter_map(|line| Some(&line[..place(line)?]));
    let parsed = places.filter_map(|place| {
        let mut parts = place.rsplitn(3, ':');
        let (_column, line, path) = (parts.next()?, parts.next()?, parts.next()?);
        Some((Path::new(path), line.parse().ok()?))
    });
    parsed.collect()
}

/// Whether one of the lines is in the statement of a site, as the patch leaves it.
fn is_at(site: &Site, rejected: &[(&Path, usize)], files: &[PatchedFile]) -> bool {
    let file = files.iter().find(|file| *file.path == **site.file);
    file.is_some_and(|file| {
        let lines = patched_lines(file, site);
        let mut same_name = rejected
            .iter()
            .filter(|(path, _)| path.file_name() == file.path.file_name());
        same_name.any(|(_, line)| lines.contains(line))
    })
}

/// The lines of a statement after the patch, with what the patch puts beside it.
fn patched_lines(file: &PatchedFile, site: &Site) -> RangeInclusive<usize> {
    let grown = |is_before: &dyn Fn(usize) -> bool| {
        let edits = file.edits.edits().iter();
        let before = edits.filter(|edit| is_before(edit.span.end));
        before.fold(0, |grown, edit| {
            grown + edit.text.len() as isize - edit.span.len() as isize
        })
    };
    let line = |offset: usize, grown: isize| {
        let end = offset.saturating_add_signed(grown).min(file.after.len());
        1 + file.after[..end]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    };
    let statement = &site.statement;
    let first = line(statement.start, grown(&|end| end < statement.start));
    let last = line(statement.end, grown(&|end| end <= statement.end));
    first..=last
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_frontend::{Vocabularies, scan_source};
    use wmfix_rewriter::{Edit, EditSet};

    const BEFORE: &str = "#include <stdatomic.h>\nvoid f(atomic_int *x) {\n  \
        atomic_store(x, 1);\n  h();\n  atomic_store(x, 2);\n}\n";

    /// The text with a line put before its first statement.
    fn patched() -> PatchedFile {
        let at = BEFORE.find("atomic_store(x, 1)").unwrap();
        let edit = Edit {
            span: at..at,
            text: b"fence();\n  ".to_vec(),
        };
        let edits = EditSet::new(BEFORE.as_bytes(), vec![edit]).unwrap();
        PatchedFile {
            path: "/p/a.c".into(),
            before: BEFORE.into(),
            after: edits.apply(BEFORE.as_bytes()).unwrap(),
            edits,
        }
    }

    #[test]
    fn a_rejected_line_belongs_to_the_statement_that_the_patch_moved_there() {
        let failure = BuildFailure::Compiler {
            what: "a.c".to_owned(),
            output: "a.c: In function 'f':\nsrc/a.c:6:3: error: no\nb.c:3:1: error: no\n\
                     a.c:3:1: warning: maybe\n"
                .to_owned(),
            others: 0,
        };
        let rejected = rejected_lines(&failure);
        assert_eq!(rejected, [(Path::new("src/a.c"), 6), (Path::new("b.c"), 3)]);
        let scan = scan_source(
            Path::new("/p/a.c"),
            BEFORE.as_bytes(),
            &Vocabularies::builtin(),
        );
        let files = [patched()];
        assert_eq!(patched_lines(&files[0], &scan.sites[0]), 3..=4);
        assert!(!is_at(&scan.sites[0], &rejected, &files));
        assert!(is_at(&scan.sites[1], &rejected, &files));
    }
}
