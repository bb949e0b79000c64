//! What a command may write to, asked before anything is built or run: a result never
//! takes the place of a file that is the user's. A file that is there is replaced if wmfix
//! wrote it, which its content shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Access, access};
use serde_json::Value;
use wmfix_frontend::Language;

use super::folder::is_ours;
use crate::cli::{Format, ReportFile, RunFlags};
use crate::exit::Stop;
use crate::regular_file;
use crate::report::BaselineFile;

/// Files that say how a project is built and examined.
const PROJECT_FILES: [&str; 6] = [
    "wmfix.toml",
    "CMakeLists.txt",
    "meson.build",
    "Makefile",
    "GNUmakefile",
    "makefile",
];

/// Everything that a command is asked to write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Targets<'a> {
    /// Reports (`--report`).
    pub reports: &'a [ReportFile],
    /// The folder for patches and a page (`--output`).
    pub folder: Option<&'a Path>,
    /// The file for clang's replacements (`--export-fixes`).
    pub fixes: Option<&'a Path>,
    /// The file of `wmfix baseline`.
    pub baseline: Option<&'a Path>,
    /// The folder for the file of a shard (`--shard-dir`).
    pub shards: Option<&'a Path>,
    /// Files that the same command reads.
    pub read: [Option<&'a Path>; 2],
}

impl<'a> Targets<'a> {
    /// Those that all commands have.
    pub(crate) fn of(flags: &'a RunFlags) -> Self {
        Self {
            reports: &flags.reports,
            shards: flags.shard.is_some().then_some(&*flags.shard_dir),
            read: [flags.baseline.as_deref(), flags.replay.as_deref()],
            ..Self::default()
        }
    }

    /// Stops if one of them cannot be written, or is not wmfix's to write.
    pub(crate) fn require_writable(self) -> Result<(), Stop> {
        let reports = self.reports.iter();
        let reports = reports.map(|report| (&*report.file, Content::Report(report.format)));
        let fixes = self.fixes.map(|file| (file, Content::Replacements));
        let baseline = self.baseline.map(|file| (file, Content::Baseline));
        let mut named = BTreeSet::new();
        for (file, content) in reports.chain(fixes).chain(baseline) {
            require_file(file, content)?;
            let path = full(file);
            if self.read.iter().flatten().any(|read| full(read) == path) {
                return Err(refused(file, "is read by this command"));
            }
            if !named.insert(path) {
                return Err(refused(file, "is named twice"));
            }
        }
        for folder in [self.folder, self.shards].into_iter().flatten() {
            require_folder(folder)?;
        }
        self.folder.map_or(Ok(()), require_own_files)
    }
}

/// What is to be in a file.
#[derive(Clone, Copy, Debug)]
enum Content {
    Report(Format),
    Replacements,
    Baseline,
    Page,
    Patch,
}

impl Content {
    /// Whether a text is what wmfix writes; `None` where nothing shows that.
    fn is_own(self, text: &str) -> Option<bool> {
        let value = || serde_json::from_str::<Value>(text).ok();
        let json = |is: fn(&Value) -> bool| Some(value().as_ref().is_some_and(is));
        match self {
            Self::Report(Format::Text | Format::Gcc | Format::Github) => None,
            Self::Report(Format::Json) => {
                json(|report| report["verdict"].is_string() && report["runs"].is_object())
            }
            Self::Report(Format::Sarif) => {
                json(|log| log["runs"][0]["tool"]["driver"]["name"] == "wmfix")
            }
            Self::Report(Format::Gitlab) => json(|list| {
                let is_entry = |entry: &Value| {
                    let name = entry["check_name"].as_str();
                    name.is_some_and(|name| name.starts_with("wmfix-"))
                };
                list.as_array()
                    .is_some_and(|list| list.iter().all(is_entry))
            }),
            Self::Report(Format::Rdjson) => json(|report| report["source"]["name"] == "wmfix"),
            Self::Report(Format::Junit) => Some(text.contains("<testsuites name=\"wmfix\"")),
            Self::Replacements => Some(text.starts_with("---\nMainSourceFile: ")),
            Self::Baseline => Some(BaselineFile::parse(text).is_ok()),
            Self::Page => Some(text.contains("<title>wmfix ")),
            Self::Patch => Some(text.starts_with("wmfix: ")),
        }
    }
}

/// Stops unless a file can be made or replaced here.
fn require_file(file: &Path, content: Content) -> Result<(), Stop> {
    let name = file.file_name().unwrap_or_default();
    if Language::may_be(file) {
        return Err(refused(file, "is C or C++ source by its name"));
    }
    if PROJECT_FILES.iter().any(|one| name == *one) {
        return Err(refused(file, "is a project's own file by its name"));
    }
    let parent = parent(file);
    if !parent.is_dir() {
        return Err(refused(file, "is in a folder that is not there"));
    }
    match fs::symlink_metadata(file) {
        Ok(there) if there.is_symlink() => {
            return Err(refused(file, "is a symbolic link"));
        }
        Ok(there) if there.is_dir() => return Err(refused(file, "is a folder")),
        Ok(there) if !there.is_file() => return Err(refused(file, "is not a regular file")),
        Ok(there) if there.len() > 0 => {
            let text = regular_file::read_text(file).unwrap_or_default();
            match content.is_own(&text) {
                Some(true) => {}
                Some(false) => {
                    return Err(refused(file, "has content that wmfix did not write"));
                }
                None if is_tracked(file) => return Err(refused(file, "is under git")),
                None => {}
            }
        }
        Ok(_) | Err(_) => {}
    }
    require_access(parent, file)
}

/// Stops unless files can be made in a folder, or the folder itself.
fn require_folder(folder: &Path) -> Result<(), Stop> {
    let there = fs::symlink_metadata(folder);
    if there.as_ref().is_ok_and(fs::Metadata::is_symlink) {
        return Err(refused(folder, "is a symbolic link"));
    }
    if there.is_ok_and(|there| !there.is_dir()) {
        return Err(refused(folder, "is not a folder"));
    }
    let mut above = folder
        .ancestors()
        .map(|above| match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        });
    match above.find(|above| above.exists()) {
        Some(nearest) if nearest.is_dir() => require_access(nearest, folder),
        _ => Err(refused(folder, "is below what is not a folder")),
    }
}

/// Stops if a folder has files of the user's that have the names of ours.
fn require_own_files(folder: &Path) -> Result<(), Stop> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "report.html" {
            require_file(&path, Content::Page)?;
        } else if is_ours(&name) {
            require_file(&path, Content::Patch)?;
        }
    }
    Ok(())
}

fn require_access(folder: &Path, target: &Path) -> Result<(), Stop> {
    access(folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|_| refused(target, "is in a folder that cannot be written to"))
}

/// Whether git knows the file.
fn is_tracked(file: &Path) -> bool {
    let mut git = Command::new("git");
    // A repository can name a program that git is to ask what has changed.
    git.args([
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "--error-unmatch",
        "--",
    ]);
    git.arg(file.file_name().unwrap_or_default());
    git.current_dir(parent(file));
    git.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

fn parent(file: &Path) -> &Path {
    let parent = file.parent().unwrap_or(file);
    match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    }
}

/// The file by its real folder, whether or not it is there.
fn full(file: &Path) -> PathBuf {
    let folder = parent(file).canonicalize();
    let folder = folder.unwrap_or_else(|_| parent(file).to_owned());
    folder.join(file.file_name().unwrap_or_default())
}

fn refused(target: &Path, why: &str) -> Stop {
    Stop::usage(format_args!(
        "{} {why}: it is not written to; name another one",
        target.display()
    ))
}
