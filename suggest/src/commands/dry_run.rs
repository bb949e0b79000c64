//! `--dry-run` of `check` and `suggest`: builds, and lists what would be run and which
//! operations are looked at, without running it.

use std::io::Write;
use std::path::Path;

use wmfix_frontend::scan_tree;

use crate::exit::{ExitStatus, Stop};
use crate::preparation::{Request, Settings, find_project, prepare};
use crate::printable::printable;
use crate::subject::Subject;

/// Builds what is at the path, and says what would be run.
pub(super) fn show(request: Request) -> Result<ExitStatus, Stop> {
    let (mut settings, project) = find_project(request)?;
    let subject = prepare(&project, &mut settings)?;
    let text = format!(
        "project: {}, built by {}\n{}{}",
        project.folder().display(),
        project.built_by(),
        commands(&subject),
        sites(&subject, &settings, project.folder())
    );
    std::io::stdout().write_all(printable(&text).as_bytes())?;
    Ok(ExitStatus::Clean)
}

/// The test commands, and what is to be known about them.
fn commands(subject: &Subject) -> String {
    let mut text = String::new();
    for command in &subject.commands {
        let folder = command.launch.folder.as_ref();
        let folder = folder.map(|folder| format!(" (in {})", folder.display()));
        text += &format!("test: {}{}\n", command.shown(), folder.unwrap_or_default());
    }
    for note in &subject.notes {
        text += &format!("note: {note}\n");
    }
    text
}

/// How many atomic operations the files have that are looked at.
fn sites(subject: &Subject, settings: &Settings, folder: &Path) -> String {
    let files = subject.files.iter();
    let files: Vec<_> = files
        .filter(|file| settings.limit.holds_file(file))
        .collect();
    let scan = scan_tree(&files, &settings.vocabularies);
    let counts = scan
        .files
        .iter()
        .map(|(path, file)| (path, file.sites.len()));
    let counts: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let mut text = format!("atomic operations: {total} in {} files\n", counts.len());
    for (path, count) in counts {
        let shown = path.strip_prefix(folder).unwrap_or(path);
        text += &format!("  {}: {count}\n", shown.display());
    }
    text
}
