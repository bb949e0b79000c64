//! `wmfix init`: a wmfix.toml for the current folder, with what was found there.

use std::fs;
use std::path::Path;

use anyhow::Context;
use wmfix_frontend::Vocabularies;

use crate::cli::InitArgs;
use crate::config::{BuildConfig, FILE_NAME, ProjectConfig, TemplateValues, template};
use crate::exit::{ExitStatus, Stop};
use crate::inventory::propose_vocabulary;
use crate::project::BuildTool;

/// Writes the file, and prints it.
pub(super) fn run(arguments: &InitArgs) -> Result<ExitStatus, Stop> {
    let file = Path::new(FILE_NAME);
    if file.exists() && !arguments.force {
        return Err(Stop::usage(format_args!(
            "{FILE_NAME} already exists: use --force to overwrite it"
        )));
    }
    let text = text(Path::new("."));
    fs::write(file, &text).with_context(|| format!("cannot write {FILE_NAME}"))?;
    // What was written must be readable, or the next command fails.
    ProjectConfig::read(&file.canonicalize()?).context("the file that was written is not valid")?;
    print!("{text}");
    eprintln!("wmfix: wrote {FILE_NAME}; docs/configuration.md explains every key");
    Ok(ExitStatus::Clean)
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
