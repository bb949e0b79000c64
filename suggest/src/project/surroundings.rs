//! What a person would add to build a program that does not build by itself: the
//! include folders around it, and the sources of the folders around it that are no
//! programs themselves. The nearest folders are tried first.

use std::path::{Path, PathBuf};

use super::programs::{Program, has_main, sources_below};
use crate::config::repository;

/// A folder with more sources than this is no library that one would link whole.
const MAX_LIBRARY_SOURCES: usize = 300;

/// Folders above a program's own that are looked at, where no repository says how
/// far the project goes.
const MAX_LEVELS_UP: usize = 2;

/// Folders that headers are usually in.
const INCLUDE_FOLDERS: [&str; 3] = ["include", "src", "lib"];

/// What lies around programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// The folder that holds all of it.
    pub root: PathBuf,
    /// Folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// Sources to link as far as something in them is needed.
    pub library: Vec<PathBuf>,
}

impl Surroundings {
    /// What lies around the programs of a folder, the nearest first.
    pub(super) fn of(folder: &Path, programs: &[Program]) -> Vec<Self> {
        let top = repository(folder);
        let within = |at: &&Path| match &top {
            Some(top) => at.starts_with(top),
            None => at.parent().is_some(),
        };
        let levels = match top {
            Some(_) => usize::MAX,
            None => MAX_LEVELS_UP + 1,
        };
        let mut include = beside_programs(folder, programs);
        let mut all = Vec::new();
        for root in folder.ancestors().take_while(within).take(levels) {
            let Ok(sources) = sources_below(root) else {
                break;
            };
            let is_part = |source: &PathBuf| programs.iter().any(|p| p.sources.contains(source));
            let library = sources.into_iter();
            let library: Vec<PathBuf> = library
                .filter(|source| !is_part(source) && !has_main(source))
                .collect();
            if library.len() > MAX_LIBRARY_SOURCES {
                break;
            }
            include.extend(include_folders(root));
            include.push(root.to_owned());
            all.push(Self {
                root: root.to_owned(),
                include: include.clone(),
                library,
            });
        }
        // The same sources with more folders to look in are worth a try, too, but
        // nothing that adds neither.
        all.dedup_by(|next, before| {
            next.library == before.library && next.include == before.include
        });
        all
    }
}

/// Folders for headers beside the programs of a folder's subfolders, the nearest
/// first.
fn beside_programs(folder: &Path, programs: &[Program]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let sources = programs
        .iter()
        .filter_map(|program| program.sources.first());
    for source in sources {
        let above = source.ancestors().skip(1);
        let inside = above.take_while(|at| at.starts_with(folder) && *at != folder);
        for at in inside.flat_map(include_folders) {
            if !found.contains(&at) {
                found.push(at);
            }
        }
    }
    found
}

fn include_folders(folder: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    let names = INCLUDE_FOLDERS.iter().map(|name| folder.join(name));
    names.filter(|at| at.is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn headers_are_looked_for_beside_a_program_deep_below() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["try/one/include/q.h", "try/one/src/t.c", ".git/HEAD"] {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let program = Program {
            name: "t".to_owned(),
            sources: vec![top.join("try/one/src/t.c")],
        };
        let around = Surroundings::of(&top, &[program]);
        assert!(around[0].include.contains(&top.join("try/one/include")));
    }

    #[test]
    fn siblings_are_found_in_the_folders_above() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for (name, text) in [
            (".git/HEAD", ""),
            ("include/q.h", ""),
            ("src/q.c", ""),
            ("tests/t.c", "int main(void) { return 0; }"),
            ("tests/u.c", "int main(void) { return 0; }"),
        ] {
            let path = top.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let program = Program {
            name: "t".to_owned(),
            sources: vec![top.join("tests/t.c")],
        };
        let around = Surroundings::of(&top.join("tests"), &[program]);
        assert_eq!(around[0].library, [] as [PathBuf; 0]);
        let last = around.last().unwrap();
        assert_eq!(last.root, top);
        assert_eq!(last.library, [top.join("src/q.c")]);
        assert!(last.include.contains(&top.join("include")));
        assert!(last.include.contains(&top.join("src")));
    }
}
