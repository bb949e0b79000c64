//! Walks a source tree without what the project's ignore files name: those of git
//! and `.ignore`, from the root of the tree down. Knows nothing of copies.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::{DirEntry, WalkDir};

/// Ignore files of a folder. A later one has the last word.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Folders of other people's code, and of what was built.
const FOREIGN_FOLDERS: [&str; 8] = [
    "build",
    "third_party",
    "third-party",
    "thirdparty",
    "vendor",
    "external",
    "extern",
    "node_modules",
];

/// The files and folders of a tree, sorted, each folder before what is in it.
/// `takes` is asked for every entry below the root: what it does not take is left
/// out, with all that is in it.
pub(super) fn walk<'t>(
    root: &'t Path,
    mut takes: impl FnMut(&DirEntry) -> bool + 't,
) -> impl Iterator<Item = walkdir::Result<DirEntry>> + 't {
    walk_deciding(root, move |entry| (!takes(entry)).then_some(false))
}

/// The same, but `decide` may also take what the ignore files name. Where it says
/// nothing, they decide.
pub(super) fn walk_deciding<'t>(
    root: &'t Path,
    mut decide: impl FnMut(&DirEntry) -> Option<bool> + 't,
) -> impl Iterator<Item = walkdir::Result<DirEntry>> + 't {
    let mut ignored = IgnoreRules::of(root);
    let all = WalkDir::new(root).sort_by_file_name().into_iter();
    all.filter_entry(move |entry| {
        let is_root = entry.depth() == 0;
        let wanted = is_root || decide(entry).unwrap_or_else(|| !ignored.matches(entry));
        if wanted && entry.file_type().is_dir() {
            ignored.enter(entry);
        }
        wanted
    })
}

/// The files and folders of a folder, without other people's and those of which
/// `takes_folder` says no.
pub(super) fn walk_own<'f>(
    folder: &'f Path,
    takes_folder: impl Fn(&Path) -> bool + 'f,
) -> impl Iterator<Item = walkdir::Result<DirEntry>> + 'f {
    walk(folder, move |entry| {
        let name = entry.file_name().to_string_lossy();
        let is_foreign = entry.file_type().is_dir()
            && (FOREIGN_FOLDERS.contains(&&*name) || !takes_folder(entry.path()));
        !is_hidden(entry) && !is_foreign
    })
}

/// Whether an entry's name starts with a dot.
pub(super) fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// The rules that are in force where a walk is.
struct IgnoreRules {
    /// Those of the repository and of the user, which every folder may overrule.
    general: Vec<Gitignore>,
    /// Those of the folders around, with their depths, the innermost last.
    folders: Vec<(usize, Gitignore)>,
}

impl IgnoreRules {
    fn of(root: &Path) -> Self {
        let mut exclude = GitignoreBuilder::new(root);
        let file = root.join(".git/info/exclude");
        if file.is_file() {
            // As for git, a line that is no pattern says nothing.
            let _bad_lines = exclude.add(file);
        }
        let (global, _bad_lines) = GitignoreBuilder::new(root).build_global();
        let exclude = exclude.build().unwrap_or_else(|_| Gitignore::empty());
        Self {
            general: [exclude, global]
                .into_iter()
                .filter(|rules| !rules.is_empty())
                .collect(),
            folders: Vec::new(),
        }
    }

    /// Whether an entry is ignored: the innermost rule that names it decides.
    fn matches(&mut self, entry: &DirEntry) -> bool {
        self.folders.retain(|(depth, _)| *depth < entry.depth());
        let folders = self.folders.iter().rev().map(|(_, rules)| rules);
        let mut all = folders.chain(&self.general);
        let is_folder = entry.file_type().is_dir();
        let decided = all.find_map(|rules| match rules.matched(entry.path(), is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        });
        decided.unwrap_or(false)
    }

    /// Reads the rules of a folder that is walked next.
    fn enter(&mut self, folder: &DirEntry) {
        let mut builder = GitignoreBuilder::new(folder.path());
        let mut any = false;
        for name in IGNORE_FILES {
            let file = folder.path().join(name);
            if file.is_file() {
                let _bad_lines = builder.add(file);
                any = true;
            }
        }
        if any && let Ok(rules) = builder.build() {
            self.folders.push((folder.depth(), rules));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn inner_rules_win_and_end_with_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "*.log\n/top.c\nbuilt/\n");
        write("a/.gitignore", "!keep.log\nonly.c\n");
        write("c/.ignore", "x.c\n");
        for name in [
            "a.log",
            "top.c",
            "built/x.c",
            "a/top.c",
            "a/keep.log",
            "a/b/keep.log",
            "a/other.log",
            "a/only.c",
            "b/only.c",
            "b/keep.log",
            "c/x.c",
            "c/y.c",
            "skipped/x.c",
        ] {
            write(name, "");
        }
        let entries = walk(folder.path(), |entry| entry.file_name() != "skipped");
        let files = entries
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().is_file() && !is_hidden(entry));
        let names = files.map(|entry| {
            let inside = entry.path().strip_prefix(folder.path()).unwrap();
            inside.display().to_string()
        });
        let names: Vec<String> = names.collect();
        assert_eq!(
            names,
            ["a/b/keep.log", "a/keep.log", "a/top.c", "b/only.c", "c/y.c"]
        );
    }
}
