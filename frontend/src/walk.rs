//! The files of a folder that no ignore file excludes: what `.ignore`,
//! `.gitignore`, a repository's `info/exclude` and git's global excludes say, in
//! this order of precedence, and nothing hidden. Rules of all folders above
//! count, whether or not there is a repository. Knows nothing of C.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};
use walkdir::{DirEntry, WalkDir};

/// Visits every file below `root` that is not ignored, and every error on the way.
pub(crate) fn walk(root: &Path, mut visit: impl FnMut(Result<PathBuf, walkdir::Error>)) {
    walk_until(root, |found| {
        visit(found);
        ControlFlow::Continue(())
    });
}

/// The same until the visitor has seen enough.
pub(crate) fn walk_until(
    root: &Path,
    mut visit: impl FnMut(Result<PathBuf, walkdir::Error>) -> ControlFlow<()>,
) {
    let mut rules = IgnoreRules::above(root);
    let mut entries = WalkDir::new(root).into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                if visit(Err(error)).is_break() {
                    return;
                }
                continue;
            }
        };
        // Of links, only the root is followed.
        let is_folder = entry.file_type().is_dir() || entry.depth() == 0 && root.is_dir();
        if rules.ignores(&entry) {
            if is_folder {
                entries.skip_current_dir();
            }
        } else if is_folder {
            rules.enter(&entry);
        } else if entry.file_type().is_file() && visit(Ok(entry.into_path())).is_break() {
            return;
        }
    }
}

/// The rules that hold at one point of a walk.
struct IgnoreRules {
    /// The root as it was given, and where that is.
    root: PathBuf,
    absolute_root: PathBuf,
    /// The folders above the root, outermost first.
    above: usize,
    /// Those, then the folders from the root down to where the walk is.
    folders: Vec<FolderRules>,
    /// What git excludes in every repository.
    global: Gitignore,
}

impl IgnoreRules {
    /// The rules of the folders above a root. A root that is not there has none.
    fn above(root: &Path) -> Self {
        let absolute_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let mut above: Vec<&Path> = absolute_root.ancestors().skip(1).collect();
        above.reverse();
        let folders: Vec<FolderRules> = above.into_iter().map(FolderRules::read).collect();
        Self {
            root: root.to_owned(),
            above: folders.len(),
            folders,
            global: GitignoreBuilder::new(&absolute_root).build_global().0,
            absolute_root,
        }
    }

    /// The walk goes into a folder.
    fn enter(&mut self, folder: &DirEntry) {
        self.folders.truncate(self.above + folder.depth());
        self.folders
            .push(FolderRules::read(&self.absolute(folder.path())));
    }

    /// Whether the walk passes by an entry. What a rule takes back in is looked
    /// at even if it is hidden; the root is, whatever the rules say.
    fn ignores(&mut self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return false;
        }
        self.folders.truncate(self.above + entry.depth());
        let path = self.absolute(entry.path());
        match self.matched(&path, entry.file_type().is_dir()) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => entry.file_name().as_bytes().starts_with(b"."),
        }
    }

    /// The strongest rule about a path: of each kind of file the innermost.
    fn matched(&self, path: &Path, is_folder: bool) -> Match<&Glob> {
        let mut found = [Match::None, Match::None, Match::None];
        for folder in self.folders.iter().rev() {
            let [ignore, git_ignore, git_exclude] = &mut found;
            folder.ignore.look(ignore, path, is_folder);
            folder.git_ignore.look(git_ignore, path, is_folder);
            folder.git_exclude.look(git_exclude, path, is_folder);
        }
        let [ignore, git_ignore, git_exclude] = found;
        ignore
            .or(git_ignore)
            .or(git_exclude)
            .or(self.global.matched(path, is_folder))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.root) {
            Ok(below) => self.absolute_root.join(below),
            Err(_) => path.to_owned(),
        }
    }
}

/// The rules that one folder's files state.
struct FolderRules {
    ignore: RuleFile,
    git_ignore: RuleFile,
    git_exclude: RuleFile,
}

impl FolderRules {
    fn read(folder: &Path) -> Self {
        let exclude = common_git_folder(folder).map(|git| git.join("info/exclude"));
        Self {
            ignore: RuleFile::read(folder, &folder.join(".ignore")),
            git_ignore: RuleFile::read(folder, &folder.join(".gitignore")),
            git_exclude: exclude.map_or(RuleFile(None), |file| RuleFile::read(folder, &file)),
        }
    }
}

/// The folder with the repository's own files. In a linked worktree `.git` is a
/// file that names the worktree's folder, where `commondir` names it.
fn common_git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let line = |file: &Path| Some(fs::read_to_string(file).ok()?.lines().next()?.to_owned());
    let worktree = folder.join(line(&git)?.strip_prefix("gitdir: ")?);
    Some(worktree.join(line(&worktree.join("commondir"))?))
}

/// One file of rules, most of which do not exist.
struct RuleFile(Option<Box<Gitignore>>);

impl RuleFile {
    /// Reads a file whose rules are about `folder`. A line that is not a rule is
    /// skipped, as git does.
    fn read(folder: &Path, file: &Path) -> Self {
        if !file.is_file() {
            return Self(None);
        }
        let mut builder = GitignoreBuilder::new(folder);
        builder.add(file);
        Self(builder.build().ok().map(Box::new))
    }

    /// Looks for a rule about a path where an inner folder has none.
    fn look<'r>(&'r self, found: &mut Match<&'r Glob>, path: &Path, is_folder: bool) {
        if found.is_none()
            && let Some(rules) = &self.0
        {
            *found = rules.matched(path, is_folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use ignore::WalkBuilder;

    use super::*;

    fn files(root: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(root, |file| files.push(file.unwrap()));
        files.sort();
        files
    }

    /// The same by the walker that comes with the matcher.
    fn files_by_ignore(root: &Path) -> Vec<PathBuf> {
        let walk = WalkBuilder::new(root).require_git(false).build();
        let mut files: Vec<PathBuf> = walk
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .map(ignore::DirEntry::into_path)
            .collect();
        files.sort();
        files
    }

    /// A tree with every kind of rule, and a file or two for each to decide.
    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            ".gitignore",
            "build/\n*.tmp.c\n/only_here.c\n!keep.tmp.c\n[\n",
        );
        write(".ignore", "from_ignore/\n!said_twice.c\n");
        write("outer/.gitignore", "said_twice.c\ninner.c\n!.shown/\n");
        write("outer/.ignore", "!inner.c\n");
        write("outer/repository/.git/info/exclude", "excluded.c\n");
        write("outer/repository/.gitignore", "nested/*\n!nested/kept\n");
        for file in [
            "a.c",
            "x.tmp.c",
            "keep.tmp.c",
            "only_here.c",
            "said_twice.c",
            ".hidden.c",
            "build/b.c",
            "from_ignore/c.c",
            ".secret/d.c",
            "outer/only_here.c",
            "outer/said_twice.c",
            "outer/inner.c",
            "outer/.shown/e.c",
            "outer/x.tmp.c",
            "outer/build/f.c",
            "outer/deep/er/inner.c",
            "outer/repository/x.tmp.c",
            "outer/repository/said_twice.c",
            "outer/repository/excluded.c",
            "outer/repository/deep/excluded.c",
            "outer/repository/build/g.c",
            "outer/repository/from_ignore/h.c",
            "outer/repository/nested/i.c",
            "outer/repository/nested/kept/j.c",
        ] {
            write(file, "int x;\n");
        }
        std::os::unix::fs::symlink("outer", folder.path().join("linked")).unwrap();
        folder
    }

    #[test]
    fn rules_decide_as_in_the_walker_of_ignore() {
        let tree = tree();
        let roots = [
            "",
            "outer",
            "outer/repository",
            "outer/repository/nested",
            "build",
            "linked",
        ];
        for root in roots.map(|root| tree.path().join(root)) {
            let ours = files(&root);
            assert_eq!(ours, files_by_ignore(&root), "{}", root.display());
            assert!(!ours.is_empty());
        }
        let names: Vec<String> = files(tree.path())
            .iter()
            .map(|file| {
                file.strip_prefix(tree.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        assert_eq!(
            names,
            [
                "a.c",
                "keep.tmp.c",
                "outer/.shown/e.c",
                "outer/deep/er/inner.c",
                "outer/inner.c",
                "outer/only_here.c",
                "outer/repository/nested/kept/j.c",
                "outer/repository/said_twice.c",
                "outer/said_twice.c",
                "said_twice.c",
            ]
        );
    }

    #[test]
    fn a_linked_worktree_has_the_excludes_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let status = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(arguments)
                .current_dir(folder.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env_remove("GIT_DIR")
                .status();
            assert!(status.expect("git is needed for this test").success());
        };
        git(&["init", "--quiet", "main"]);
        git(&[
            "-C",
            "main",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "first",
        ]);
        git(&["-C", "main", "worktree", "add", "--quiet", "../linked"]);
        fs::create_dir_all(folder.path().join("main/.git/info")).unwrap();
        fs::write(folder.path().join("main/.git/info/exclude"), "no.c\n").unwrap();
        let linked = folder.path().join("linked");
        for name in ["no.c", "yes.c"] {
            fs::write(linked.join(name), "int x;\n").unwrap();
        }
        assert_eq!(files(&linked), [linked.join("yes.c")]);
        assert_eq!(files_by_ignore(&linked), [linked.join("yes.c")]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_the_walk_goes_on() {
        let mut errors = 0;
        walk(Path::new("/nowhere/at/all"), |file| {
            errors += usize::from(file.is_err());
        });
        assert_eq!(errors, 1);
    }
}
