//! `--apply`: changes the user's files, all of them or none, and tells of an earlier one
//! that was killed meanwhile.

use std::path::{Path, PathBuf};

use wmfix_rewriter::{Interrupted, WriteError, clean_up, write_files};

use crate::exit::{ExitStatus, Stop};
use crate::printable::printable_name;
use crate::subject::PatchedFile;

/// Changes the files of a project; which ones, in words. `none` says why there may be none.
pub(crate) fn apply(tree: &Path, files: &[PatchedFile], none: &str) -> Result<String, Stop> {
    let edits: Vec<_> = files
        .iter()
        .map(|file| (&*file.path, &file.edits))
        .collect();
    write_files(tree, &edits).map_err(|error| {
        let message = match error {
            WriteError::NotPutBack { .. } => format!("--apply failed: {error}"),
            _ => format!("--apply changed nothing: {error}"),
        };
        Stop::new(ExitStatus::InternalError, message)
    })?;
    let paths: Vec<&Path> = files.iter().map(|file| &*file.path).collect();
    Ok(match paths.is_empty() {
        true => format!("--apply changed nothing: {none}"),
        false => format!("changed {}", names(&paths)),
    })
}

/// Cleans up after a wmfix that was killed while it changed files of a project, and says
/// what it had done.
pub(crate) fn clean_up_after_others(tree: &Path) {
    match clean_up(tree) {
        Ok(None) => {}
        Ok(Some(found)) => eprintln!("wmfix: {}", interrupted_text(&found)),
        Err(error) => eprintln!(
            "wmfix: cannot clean up after a wmfix that was killed in {}: {error}",
            tree.display()
        ),
    }
}

fn interrupted_text(found: &Interrupted) -> String {
    let shown = |paths: &[PathBuf]| names(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let done = match (&found.changed[..], &found.unchanged[..]) {
        ([], _) => "had changed nothing".to_owned(),
        (changed, []) => format!("had changed {}", shown(changed)),
        (changed, rest) => format!("had changed {}, but not {}", shown(changed), shown(rest)),
    };
    format!("a wmfix that was killed during --apply {done}; what it left behind is removed")
}

/// The names of files as one would type them from here.
fn names(paths: &[&Path]) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let names = paths.iter().map(|path| {
        let shown = path.strip_prefix(&current).unwrap_or(path);
        printable_name(&shown.display().to_string())
    });
    names.collect::<Vec<_>>().join(", ")
}
