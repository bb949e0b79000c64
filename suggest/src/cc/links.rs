//! The wrappers as programs of their own: links to wmfix under names of one word,
//! for build systems that do not take `CC="wmfix cc"`.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

use anyhow::Context;

/// The names of the links.
pub(crate) const WRAPPER_NAMES: [&str; 2] = ["wmfix-cc", "wmfix-c++"];

/// Makes the links, replacing older ones.
pub(crate) fn link_wrappers(wmfix: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for name in WRAPPER_NAMES {
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
