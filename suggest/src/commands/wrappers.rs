//! `wmfix wrappers`: links to wmfix under names of one word, for build systems that
//! do not take `CC="wmfix cc"`. (No package of programs can hold a program with a
//! `+` in its name, so installing does not make them.)

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cc;
use crate::exit::{ExitStatus, Stop};

/// Links the wrappers into `folder` and prints where they are.
pub(super) fn run(folder: Option<PathBuf>) -> Result<ExitStatus, Stop> {
    let wmfix = env::current_exe().context("cannot find the wmfix executable")?;
    let folder = match folder {
        Some(folder) => folder,
        None => wmfix.parent().unwrap_or(Path::new(".")).to_owned(),
    };
    cc::link_wrappers(&wmfix, &folder)?;
    for name in cc::WRAPPER_NAMES {
        println!("{}", folder.join(name).display());
    }
    Ok(ExitStatus::Clean)
}
