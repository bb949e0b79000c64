//! `wmfix wrappers`: the compiler wrappers under names of one word, for build
//! systems that do not take `CC="wmfix cc"`. They are links to wmfix, which
//! tells by the name it is called by what it is to do. (A package of programs
//! cannot carry a `+` in a program's name, so installing does not make them.)

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::Context;

use crate::exit::Exit;

/// The names.
const NAMES: [&str; 2] = ["wmfix-cc", "wmfix-c++"];

/// Links the wrappers into `folder` and prints where they are.
pub fn run(folder: Option<PathBuf>) -> anyhow::Result<Exit> {
    let wmfix = env::current_exe().context("cannot find the wmfix executable")?;
    let folder = match folder {
        Some(folder) => folder,
        None => wmfix.parent().unwrap_or(Path::new(".")).to_owned(),
    };
    link_into(&wmfix, &folder)?;
    for name in NAMES {
        println!("{}", folder.join(name).display());
    }
    Ok(Exit::Clean)
}

/// Makes the links, replacing older ones of ours.
pub fn link_into(wmfix: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in NAMES {
        let link = folder.join(name);
        if link.is_symlink() {
            fs::remove_file(&link).with_context(|| format!("cannot replace {}", link.display()))?;
        }
        match symlink(wmfix, &link) {
            // Two at once: the other one's link is as good.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && link.is_symlink() => {}
            other => other.with_context(|| format!("cannot make {}", link.display()))?,
        }
    }
    Ok(())
}
