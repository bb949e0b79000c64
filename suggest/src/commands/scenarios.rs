//! `wmfix scenarios --headers DIR`: the headers of scenario files, for builds without
//! wmfix. No file of the user's is replaced.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::cli::ScenariosArgs;
use crate::exit::{ExitStatus, Stop};
use crate::private_files::write_file;
use crate::scenario_headers::SCENARIO_HEADERS;

/// Writes the headers that are not there.
pub(super) fn run(arguments: &ScenariosArgs) -> Result<ExitStatus, Stop> {
    let folder = &arguments.headers;
    let files = SCENARIO_HEADERS.map(|(name, text)| (folder.join(name), text));
    let mut there = files.iter().filter(|(file, text)| is_other(file, text));
    if let Some((file, _)) = there.next() {
        return Err(Stop::usage(format_args!(
            "{} exists and differs: move it away, or name another folder",
            file.display()
        )));
    }
    for (file, text) in &files {
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        write_file(file, text.as_bytes())?;
    }
    eprintln!(
        "wmfix: wrote wmfix/scenarios.hpp and wmfix/scenarios.h; build with `-I{} -pthread`, or with nothing under wmfix",
        folder.display()
    );
    Ok(ExitStatus::Clean)
}

/// Whether something else is there.
fn is_other(file: &Path, text: &str) -> bool {
    fs::symlink_metadata(file).is_ok() && fs::read(file).ok().as_deref() != Some(text.as_bytes())
}
