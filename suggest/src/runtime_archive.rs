//! The runtime archive that this binary carries, and its unpacked copy in the
//! user's cache folder. A copy is found by content hash and is complete once it
//! has its final name, so any number of processes may unpack it at once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};

use anyhow::{Context, bail};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

use crate::private_files::make_private_folder;
use crate::scenario_headers::SCENARIO_HEADERS;

static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libwmfix_runtime.a"));
static EXPORTS: &str = include_str!(concat!(env!("OUT_DIR"), "/exports.list"));

/// The digest of this runtime.
pub(crate) const RUNTIME_HASH: &str = env!("WMFIX_RUNTIME_HASH");

/// The options of gcc's own compiler pass. Given through a spec file rather than as
/// options, because an option would also make the driver link libtsan.
static GCC_SPECS: &str = include_str!("gcc.specs");
/// What an old gcc does not take.
const DISTINGUISH_VOLATILE: &str = " --param=tsan-distinguish-volatile=1";

/// Stands before the C++ library's header of the same name.
static CXX_CONFIG: &str = include_str!("c++config.h");
/// The same for one of gcc's.
static STDATOMIC: &str = include_str!("stdatomic.h");

/// The option that has the linker put the runtime in front of functions of the C
/// library, for whatever is linked with it.
pub(crate) const WRAP: &str = include_str!(concat!(env!("OUT_DIR"), "/wrap.option"));

/// What a folder is called in which files are unpacked.
const UNPACKING: &str = "unpacking-";

/// Nobody unpacks for longer than this.
const MAX_UNPACKING: Duration = Duration::from_secs(60 * 60);

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
    /// The folder with headers that come before the compiler's and the C++ library's.
    pub headers: PathBuf,
    /// The folder with the headers of scenario files.
    pub scenarios: PathBuf,
}

impl RuntimeFiles {
    /// Finds the unpacked files, or unpacks them.
    pub(crate) fn unpacked() -> anyhow::Result<Self> {
        Self::unpacked_in(&cache_folder()?)
    }

    fn unpacked_in(cache: &Path) -> anyhow::Result<Self> {
        let folder = cache.join(format!("runtime-{}", &RUNTIME_HASH[..32]));
        if !is_whole(&folder) {
            unpack(cache, &folder)
                .with_context(|| format!("cannot unpack the runtime into {}", cache.display()))?;
        }
        Ok(Self {
            archive: folder.join(ARCHIVE_NAME),
            exports: folder.join(EXPORTS_NAME),
            gcc_specs: folder.join(GCC_SPECS_NAME),
            old_gcc_specs: folder.join(OLD_GCC_SPECS_NAME),
            headers: folder.join(HEADERS_NAME),
            scenarios: folder.join(SCENARIOS_NAME),
        })
    }
}

const ARCHIVE_NAME: &str = "libwmfix_runtime.a";
const EXPORTS_NAME: &str = "exports.list";
const GCC_SPECS_NAME: &str = "gcc.specs";
const OLD_GCC_SPECS_NAME: &str = "gcc-old.specs";
const HEADERS_NAME: &str = "headers";
const SCENARIOS_NAME: &str = "scenarios";

/// The unpacked files, by their paths in the folder.
fn contents() -> Vec<(PathBuf, Cow<'static, [u8]>)> {
    let old_specs = GCC_SPECS.replace(DISTINGUISH_VOLATILE, "");
    let own: [(&str, Cow<'static, [u8]>); 6] = [
        (ARCHIVE_NAME, ARCHIVE.into()),
        (EXPORTS_NAME, EXPORTS.as_bytes().into()),
        (GCC_SPECS_NAME, GCC_SPECS.as_bytes().into()),
        (OLD_GCC_SPECS_NAME, old_specs.into_bytes().into()),
        ("headers/bits/c++config.h", CXX_CONFIG.as_bytes().into()),
        ("headers/stdatomic.h", STDATOMIC.as_bytes().into()),
    ];
    let own = own.map(|(name, content)| (PathBuf::from(name), content));
    let scenarios = SCENARIO_HEADERS.into_iter().map(|(name, text)| {
        let path = Path::new(SCENARIOS_NAME).join(name);
        (path, Cow::from(text.as_bytes()))
    });
    own.into_iter().chain(scenarios).collect()
}

/// The functions of the runtime, each with whether another one of its name replaces it.
pub(crate) fn runtime_functions() -> anyhow::Result<HashSet<(String, bool)>> {
    let archive = ArchiveFile::parse(ARCHIVE)?;
    let mut functions = HashSet::new();
    for member in archive.members() {
        let data = member?.data(ARCHIVE)?;
        let Ok(object) = object::File::parse(data) else {
            continue;
        };
        for symbol in object.symbols().filter(|symbol| symbol.is_definition()) {
            functions.insert((symbol.name()?.to_owned(), symbol.is_weak()));
        }
    }
    Ok(functions)
}

/// Whether every file holds what it should: somebody may have cleaned up the
/// cache, or the disk was full.
fn is_whole(folder: &Path) -> bool {
    contents().into_iter().all(|(name, content)| {
        let file = folder.join(name);
        fs::metadata(&file).is_ok_and(|meta| meta.len() == content.len() as u64)
            && fs::read(&file).is_ok_and(|there| there == *content)
    })
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
    make_private_folder(cache)?;
    remove_leftovers(cache);
    let unfinished = tempfile::Builder::new()
        .prefix(UNPACKING)
        .tempdir_in(cache)?;
    let unfinished_file = |name: &Path| in_folder(unfinished.path(), name);
    for (name, content) in contents() {
        fs::write(unfinished_file(&name)?, content)?;
    }
    match fs::rename(unfinished.path(), folder) {
        Ok(()) => {
            // The folder has its new name: there is nothing left to clean up.
            let _renamed = unfinished.keep();
            Ok(())
        }
        // Another process was faster, or what is there is damaged: file by file
        // nobody ever sees half of one.
        Err(_) if folder.is_dir() => {
            for (name, _) in contents() {
                fs::rename(unfinished_file(&name)?, in_folder(folder, &name)?)?;
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// A file's path, whose own folder is there.
fn in_folder(folder: &Path, name: &Path) -> io::Result<PathBuf> {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap_or(folder))?;
    Ok(file)
}

/// Removes what processes that were killed have left half unpacked. What cannot be
/// removed now is left for the next time.
fn remove_leftovers(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let age = fs::metadata(&path).and_then(|meta| meta.modified());
        let is_old = age.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > MAX_UNPACKING));
        if name.starts_with(UNPACKING) && is_old {
            let _next_time = fs::remove_dir_all(path);
        }
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
    fn a_damaged_copy_is_repaired() {
        let cache = tempfile::tempdir().unwrap();
        let files = RuntimeFiles::unpacked_in(cache.path()).unwrap();
        fs::write(&files.archive, "half").unwrap();
        fs::remove_file(&files.exports).unwrap();
        fs::remove_dir_all(&files.headers).unwrap();
        let files = RuntimeFiles::unpacked_in(cache.path()).unwrap();
        assert_eq!(fs::read(&files.archive).unwrap(), ARCHIVE);
        assert_eq!(fs::read_to_string(&files.exports).unwrap(), EXPORTS);
        let header = files.headers.join("bits/c++config.h");
        assert_eq!(fs::read_to_string(header).unwrap(), CXX_CONFIG);
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
