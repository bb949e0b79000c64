//! `wmfix init`: a wmfix.toml for the current folder, with what was found there;
//! with `--harness`, a test program for its headers instead.

use std::path::Path;

use anyhow::Context;
use walkdir::WalkDir;
use wmfix_frontend::Vocabularies;

use crate::cli::InitArgs;
use crate::config::{BuildConfig, FILE_NAME, ProjectConfig, TemplateValues, template};
use crate::exit::{ExitStatus, Stop};
use crate::harness::harness;
use crate::inventory::propose_vocabulary;
use crate::private_files::write_file;
use crate::project::BuildTool;

/// Headers this many folders down are looked at.
const MAX_DEPTH: usize = 6;

/// Writes the file, and says so.
pub(super) fn run(arguments: &InitArgs) -> Result<ExitStatus, Stop> {
    if arguments.harness {
        return write_harness(arguments.force);
    }
    let file = Path::new(FILE_NAME);
    if file.exists() && !arguments.force {
        return Err(Stop::usage(format_args!(
            "{FILE_NAME} already exists: use --force to overwrite it"
        )));
    }
    let text = text(Path::new("."));
    write_file(file, text.as_bytes())?;
    // What was written must be readable, or the next command fails.
    ProjectConfig::read(&file.canonicalize()?).context("the file that was written is not valid")?;
    eprintln!("wmfix: wrote {FILE_NAME}; `wmfix help configuration` explains every key");
    Ok(ExitStatus::Clean)
}

/// `--harness`: a test program for the headers of the current folder.
fn write_harness(force: bool) -> Result<ExitStatus, Stop> {
    let mut headers = Vec::new();
    // What is public comes first.
    for folder in ["include", "src", "."] {
        let entries = WalkDir::new(folder)
            .max_depth(MAX_DEPTH)
            .sort_by_file_name();
        let entries = entries.into_iter().filter_entry(|entry| {
            let name = entry.file_name().as_encoded_bytes();
            entry.depth() == 0 || !name.starts_with(b".")
        });
        // A folder that is not there has no headers.
        for entry in entries.filter_map(Result::ok) {
            if entry.file_type().is_file() && is_header(entry.path()) {
                let text = std::fs::read(entry.path());
                let text =
                    text.with_context(|| format!("cannot read {}", entry.path().display()))?;
                let shown = entry.path().strip_prefix(".").unwrap_or(entry.path());
                headers.push((
                    shown.to_owned(),
                    String::from_utf8_lossy(&text).into_owned(),
                ));
            }
        }
    }
    let Some(made) = harness(&headers) else {
        return Err(Stop::usage(
            "no header here has functions such as push and pop to write a test for: write a \
             program with `main` that uses the library from several threads",
        ));
    };
    let file = Path::new(made.file);
    if file.exists() && !force {
        return Err(Stop::usage(format_args!(
            "{} already exists: use --force to overwrite it",
            made.file
        )));
    }
    write_file(file, made.text.as_bytes())?;
    eprintln!(
        "wmfix: wrote {}, which calls {}; edit it, then run `wmfix check {0}`",
        made.file,
        made.calls.join(" and ")
    );
    Ok(ExitStatus::Clean)
}

fn is_header(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["h", "hh", "hpp", "hxx", "h++", "H"].contains(&ending))
}

fn text(folder: &Path) -> String {
    let tool = BuildTool::of(folder, &BuildConfig::default());
    let (system, test_command) = match tool {
        Some(BuildTool::Cmake) => ("system = \"cmake\"", "ctest --output-on-failure"),
        Some(BuildTool::Meson) => ("system = \"meson\"", "meson test --no-rebuild -C ."),
        Some(BuildTool::Make { .. }) => ("system = \"make\"", "make test"),
        Some(BuildTool::Commands) | None => ("# system = \"none\"", "./program arguments"),
    };
    let found = match tool {
        Some(tool) => format!("This folder is built by {}.", tool.name()),
        None => "No build system was found: each file with `main` is a test program,\n\
                 # linked with the folder's other sources."
            .to_owned(),
    };
    template(&TemplateValues {
        found: &found,
        system,
        test_command,
        vocabulary: &propose_vocabulary(&[folder.to_owned()], &Vocabularies::builtin()),
    })
}
