//! Our diffs against those of git itself, without attributes or configuration:
//! equal byte for byte but for the line with the hashes, and `git apply` makes
//! the new text of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wmfix_rewriter::{FileDiff, unified_diff};

/// A repository with nothing in it but the old texts.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.git(&["init", "--quiet"]);
        repository
    }

    fn path(&self, name: &Path) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &Path, text: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> Output {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_EXTERNAL_DIFF")
            .env_remove("GIT_DIFF_OPTS")
            .output()
            .expect("git is needed for this test");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// What `git diff` prints for a file, without the hashes.
    fn diff(&self, name: &Path, before: &[u8], after: &[u8]) -> Vec<u8> {
        self.write(name, before);
        self.git(&["add", "--force", "--", name.to_str().unwrap()]);
        self.write(name, after);
        let diff = self.git(&["diff", "--", name.to_str().unwrap()]).stdout;
        let is_hashes = |line: &&[u8]| line.starts_with(b"index ");
        diff.split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !is_hashes(line))
            .flatten()
            .copied()
            .collect()
    }

    /// The old text with a patch applied by git.
    fn apply(&self, name: &Path, before: &[u8], patch: &[u8]) -> Vec<u8> {
        self.write(name, before);
        fs::write(self.path(Path::new("the.patch")), patch).unwrap();
        self.git(&["apply", "--whitespace=nowarn", "the.patch"]);
        fs::read(self.path(name)).unwrap()
    }
}

fn assert_as_git(repository: &Repository, name: &str, before: &[u8], after: &[u8]) {
    let name = Path::new(name);
    let ours = unified_diff(name, before, after);
    let theirs = repository.diff(name, before, after);
    assert!(
        ours == theirs,
        "{}\n--- ours\n{}\n--- git's\n{}",
        name.display(),
        String::from_utf8_lossy(&ours),
        String::from_utf8_lossy(&theirs)
    );
    if !ours.is_empty() {
        assert!(
            repository.apply(name, before, &ours) == after,
            "{}: the patch makes another text",
            name.display()
        );
    }
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// The text with lines put in, replaced and taken out. Every new line is the
/// only one of its kind, and so is every line that goes: there is one shortest
/// difference, and nothing that git could show in two ways.
fn changed(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is_unique = |line: &[u8]| lines.iter().filter(|other| **other == line).count() == 1;
    let wanted = 1 + dice.below(6);
    let places: Vec<usize> = (0..wanted).map(|_| dice.below(lines.len())).collect();
    let mut after = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let new_line = format!("    atomic_thread_fence(order_{number});\n");
        match dice.below(3) {
            0 if places.contains(&number) && is_unique(line) => {}
            1 if places.contains(&number) && is_unique(line) => after.extend(new_line.bytes()),
            _ if places.contains(&number) => {
                after.extend(new_line.bytes());
                after.extend_from_slice(line);
            }
            _ => after.extend_from_slice(line),
        }
    }
    after
}

/// The C and C++ sources below a folder, by name.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let extension = path.extension().and_then(|name| name.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, Some("c" | "cc" | "cpp" | "h" | "hpp")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn changed_sources_look_as_git_shows_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let repository = Repository::new();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut files, mut hunks, mut named) = (0, 0, 0);
    for folder in ["examples", "tests/corpus"] {
        for path in sources(&root.join(folder)).into_iter().take(60) {
            let before = fs::read(&path).unwrap();
            let name = format!("{files}.c");
            let after = changed(&before, &mut dice);
            assert_as_git(&repository, &name, &before, &after);
            let diff = FileDiff::between(Path::new(&name), &before, &after);
            files += 1;
            hunks += diff.hunks.len();
            named += (diff.hunks.iter().filter(|hunk| !hunk.function.is_empty())).count();
        }
    }
    assert!(
        files > 60 && hunks > 100 && named > 60,
        "{files} files, {hunks} hunks, {named} in a function"
    );
}

#[test]
fn the_ends_of_files_look_as_git_shows_them() {
    let repository = Repository::new();
    let cases: [(&[u8], &[u8]); 13] = [
        (b"", b"int x;\n"),
        (b"int x;\n", b""),
        (b"", b"int x;"),
        (b"int x;", b""),
        (b"a\nb", b"a\nc"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\nc\nd\ne\nf", b"a\nB\nc\nd\ne\nf"),
        (b"a\nb\nc\nd\ne\nf", b"A\nb\nc\nd\ne\nf"),
        (b"a\r\nb\r\n", b"a\r\nfence\r\nb\r\n"),
        (b"a\r\nb\r\n", b"a\r\nb\n"),
        (b"\n\n\n", b"\n\n\nx\n"),
        (b"same\n", b"same\n"),
    ];
    for (number, (before, after)) in cases.iter().enumerate() {
        assert_as_git(&repository, &format!("{number}.c"), before, after);
    }
}

#[test]
fn function_lines_are_chosen_and_cut_as_git_does() {
    let repository = Repository::new();
    let long = "x".repeat(79);
    let cut_apart = [
        format!("{long}y and more"),
        format!("{long}\u{e4}"),
        format!("{}\u{20ac}\u{20ac}", &long[..75]),
    ];
    let heads: [&[u8]; 16] = [
        b"static void *alice(void *unused)",
        b"void f(void) {   \t ",
        b"void f(void) {\r",
        b"_Atomic int x;",
        b"$weird",
        b"#define NOTHING",
        b" indented(void)",
        b"\tindented(void)",
        b"{",
        b"9lives",
        b"public:",
        cut_apart[0].as_bytes(),
        cut_apart[1].as_bytes(),
        cut_apart[2].as_bytes(),
        b"int caf\xe9(void)",
        b"int \xe9(void)",
    ];
    for (number, head) in heads.iter().enumerate() {
        let body: Vec<u8> = (0..24)
            .flat_map(|line| format!("    step({line});\n").into_bytes())
            .collect();
        let before = [b"int first;\n\n\n", *head, b"\n", &body].concat();
        let text = String::from_utf8_lossy(&body).into_owned();
        let text = text.replace("step(5)", "jump(5)");
        let text = text.replace("    step(20);\n", "    step(20);\n    fence();\n");
        let after = [b"int first;\n\n\n", *head, b"\n", text.as_bytes()].concat();
        assert_as_git(&repository, &format!("{number}.c"), &before, &after);
    }
}

#[test]
fn names_of_files_look_as_git_shows_them() {
    let repository = Repository::new();
    for name in ["a b.c", "src/deep/a.c", "\u{e4}.c", "q\"t.c", "tab\there.c"] {
        assert_as_git(&repository, name, b"int x;\n", b"int y;\n");
    }
}
