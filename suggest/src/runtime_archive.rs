//! The runtime archive that this binary carries, and its unpacked copy in the
//! user's cache folder. A copy is found by content hash and is complete once it
//! has its final name, so any number of processes may unpack it at once.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, bail};

static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libwmfix_runtime.a"));
static EXPORTS: &str = include_str!(concat!(env!("OUT_DIR"), "/exports.list"));

/// The digest of this runtime.
pub(crate) const RUNTIME_HASH: &str = env!("WMFIX_RUNTIME_HASH");

/// The options of gcc's own compiler pass. Given through a spec file rather than as
/// options, because an option would also make the driver link libtsan.
static GCC_SPECS: &str = include_str!("gcc.specs");
/// What an old gcc does not take.
const DISTINGUISH_VOLATILE: &str = " --param=tsan-distinguish-volatile=1";

/// The option that has the linker put the runtime in front of functions of the C
/// library, for whatever is linked with it.
pub(crate) const WRAP: &str = include_str!(concat!(env!("OUT_DIR"), "/wrap.option"));

/// The files that a build with the wrappers needs.
#[derive(Debug)]
pub(crate) struct RuntimeFiles {
    /// The archive, to be linked whole.
    pub archive: PathBuf,
    /// The linker's list of symbols that an executable must export.
    pub exports: PathBuf,
    /// The spec file that makes gcc instrument.
    pub gcc_specs: PathBuf,
    /// The same for a gcc that cannot tell volatile accesses apart.
    pub old_gcc_specs: PathBuf,
}

impl RuntimeFiles {
    /// Finds the unpacked files, or unpacks them.
    pub(crate) fn unpacked() -> anyhow::Result<Self> {
        Self::unpacked_in(&cache_folder()?)
    }

    fn unpacked_in(cache: &Path) -> anyhow::Result<Self> {
        let folder = cache.join(format!("runtime-{}", &RUNTIME_HASH[..32]));
        if !folder.is_dir() {
            unpack(cache, &folder)
                .with_context(|| format!("cannot unpack the runtime into {}", cache.display()))?;
        }
        Ok(Self {
            archive: folder.join("libwmfix_runtime.a"),
            exports: folder.join("exports.list"),
            gcc_specs: folder.join("gcc.specs"),
            old_gcc_specs: folder.join("gcc-old.specs"),
        })
    }
}

/// Where wmfix keeps what it can make again.
pub(crate) fn cache_folder() -> anyhow::Result<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(folder) = absolute("XDG_CACHE_HOME") {
        return Ok(folder.join("wmfix"));
    }
    match absolute("HOME") {
        Some(home) => Ok(home.join(".cache/wmfix")),
        None => bail!("no cache folder: set HOME or XDG_CACHE_HOME"),
    }
}

fn unpack(cache: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(cache)?;
    let unfinished = tempfile::Builder::new()
        .prefix("unpacking-")
        .tempdir_in(cache)?;
    fs::write(unfinished.path().join("libwmfix_runtime.a"), ARCHIVE)?;
    fs::write(unfinished.path().join("exports.list"), EXPORTS)?;
    fs::write(unfinished.path().join("gcc.specs"), GCC_SPECS)?;
    fs::write(
        unfinished.path().join("gcc-old.specs"),
        GCC_SPECS.replace(DISTINGUISH_VOLATILE, ""),
    )?;
    match fs::rename(unfinished.path(), folder) {
        Ok(()) => {
            // The folder has its new name: there is nothing left to clean up.
            let _renamed = unfinished.keep();
            Ok(())
        }
        // Another process was faster; its copy has the same content.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn many_unpack_at_once_and_all_find_whole_files() {
        let cache = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let files = RuntimeFiles::unpacked_in(cache.path()).unwrap();
                    assert_eq!(fs::read(&files.archive).unwrap(), ARCHIVE);
                    assert_eq!(fs::read_to_string(&files.exports).unwrap(), EXPORTS);
                });
            }
        });
        let left: Vec<_> = fs::read_dir(cache.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn the_specs_say_what_an_old_gcc_does_not_take() {
        assert_eq!(GCC_SPECS.matches(DISTINGUISH_VOLATILE).count(), 1);
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_named() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("not a folder");
        fs::write(&file, "").unwrap();
        let error = RuntimeFiles::unpacked_in(&file).unwrap_err();
        assert!(format!("{error:#}").contains("not a folder"), "{error:#}");
    }
}
