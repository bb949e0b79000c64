//! A copy follows its tree, and the tree never notices.

use std::process::Command;

use super::*;
use crate::config::ProjectConfig;

struct World {
    _all: tempfile::TempDir,
    tree: PathBuf,
    copy: PathBuf,
    manifest: PathBuf,
}

impl World {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().canonicalize().unwrap();
        fs::create_dir(root.join("tree")).unwrap();
        Self {
            tree: root.join("tree"),
            copy: root.join("copy"),
            manifest: root.join("manifest"),
            _all: all,
        }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn update(&self, exclude: &[&str]) -> TreeCopy {
        self.update_with(exclude, &BTreeMap::new())
    }

    fn update_with(&self, exclude: &[&str], instead: &BTreeMap<PathBuf, &[u8]>) -> TreeCopy {
        let mut config = ProjectConfig::none(&self.tree);
        config.exclude = exclude.iter().map(|&text| text.to_owned()).collect();
        let rules = Rules::of(&config).unwrap();
        bring_up_to_date(&self.tree, &rules, instead, &self.copy, &self.manifest).unwrap()
    }

    fn copied(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.copy.join(name)).ok()
    }

    fn modified(&self, name: &str) -> SystemTime {
        fs::metadata(self.copy.join(name))
            .unwrap()
            .modified()
            .unwrap()
    }
}

#[test]
fn changes_and_removals_reach_the_copy_and_what_was_built_there_stays() {
    let world = World::new();
    world.write("a.c", "one");
    world.write("sub/b.c", "two");
    let first = world.update(&[]);
    assert_eq!(first.files, [Path::new("a.c"), Path::new("sub/b.c")]);
    let original = fs::metadata(world.tree.join("a.c")).unwrap();
    assert_eq!(world.modified("a.c"), original.modified().unwrap());
    fs::write(world.copy.join("a.o"), "built").unwrap();
    let before = world.modified("a.c");

    world.write("a.c", "ONE");
    fs::remove_dir_all(world.tree.join("sub")).unwrap();
    world.write("sub2/c.c", "three");
    let second = world.update(&[]);
    assert_ne!(first.digest, second.digest);
    assert_eq!(world.copied("a.c").as_deref(), Some("ONE"));
    assert!(world.modified("a.c") > before, "a build tool sees it");
    assert_eq!(world.copied("sub/b.c"), None);
    assert!(!world.copy.join("sub").exists());
    assert_eq!(world.copied("a.o").as_deref(), Some("built"));

    let third = world.update(&[]);
    assert_eq!(second.digest, third.digest);
}

#[test]
fn what_a_build_did_to_the_copy_does_not_reach_the_tree() {
    let world = World::new();
    world.write("a.c", "one");
    world.update(&[]);
    fs::write(world.copy.join("a.c"), "edited by a build").unwrap();
    world.update(&[]);
    assert_eq!(world.copied("a.c").as_deref(), Some("one"));
    assert_eq!(fs::read(world.tree.join("a.c")).unwrap(), b"one");
}

#[test]
fn patched_files_stand_in_for_the_trees_own() {
    let world = World::new();
    world.write("a.c", "one");
    world.write("b.c", "two");
    let plain = world.update(&[]);
    let kept = world.modified("b.c");
    let instead = BTreeMap::from([(PathBuf::from("a.c"), &b"patched"[..])]);
    let patched = world.update_with(&[], &instead);
    assert_eq!(world.copied("a.c").as_deref(), Some("patched"));
    assert_ne!(plain.digest, patched.digest);
    assert_eq!(world.modified("b.c"), kept, "nothing else is touched");
    assert_eq!(world.update(&[]).digest, plain.digest);
    assert_eq!(world.copied("a.c").as_deref(), Some("one"));
}

#[test]
fn ignored_and_excluded_files_and_earlier_builds_are_left_out() {
    let world = World::new();
    world.write(".gitignore", "ignored/\n*.tmp\n");
    world.write("ignored/x.c", "");
    world.write("x.tmp", "");
    world.write("big/data.bin", "");
    world.write("build/CMakeCache.txt", "");
    world.write("build/x.c", "");
    world.write("old.o", b"\x7fELF\x02");
    world.write("libold.a", b"!<arch>\nx");
    world.write("vendor/libkept.a", b"!<arch>\nx");
    world.write(".hidden/used.h", "");
    world.write("src/x.c", "");
    let copied = world.update(&["big/", "!vendor/*.a"]);
    let names: Vec<_> = copied.files.iter().map(|f| f.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            ".gitignore",
            ".hidden/used.h",
            "src/x.c",
            "vendor/libkept.a"
        ]
    );
}

#[test]
fn links_stay_links_and_do_not_lead_back_into_the_tree() {
    let world = World::new();
    world.write("real/a.c", "one");
    symlink("real/a.c", world.tree.join("inside.c")).unwrap();
    symlink(world.tree.join("real/a.c"), world.tree.join("absolute.c")).unwrap();
    symlink("/dev/null", world.tree.join("outside")).unwrap();
    world.update(&[]);
    for link in ["inside.c", "absolute.c"] {
        assert!(world.copy.join(link).is_symlink());
        fs::write(world.copy.join(link), "through the link").unwrap();
    }
    assert_eq!(
        world.copied("real/a.c").as_deref(),
        Some("through the link")
    );
    assert_eq!(fs::read(world.tree.join("real/a.c")).unwrap(), b"one");
    assert_eq!(
        fs::read_link(world.copy.join("outside")).unwrap(),
        Path::new("/dev/null")
    );
}

#[test]
fn a_copy_that_was_ended_half_way_is_made_anew() {
    let world = World::new();
    world.write("a.c", "one");
    world.update(&[]);
    fs::write(world.copy.join("left.c"), "of a copy that nobody knows").unwrap();
    fs::write(&world.manifest, "{\"files\": {").unwrap();
    world.update(&[]);
    assert_eq!(world.copied("left.c"), None);
    assert_eq!(world.copied("a.c").as_deref(), Some("one"));
}

#[test]
fn a_read_only_tree_can_be_copied_again_and_again() {
    let world = World::new();
    world.write("a.sh", "one");
    let file = world.tree.join("a.sh");
    Command::new("chmod")
        .arg("555")
        .arg(&file)
        .status()
        .unwrap();
    world.update(&[]);
    let mode = fs::metadata(world.copy.join("a.sh")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o755);
    Command::new("chmod")
        .arg("644")
        .arg(&file)
        .status()
        .unwrap();
    world.write("a.sh", "two");
    world.update(&[]);
    assert_eq!(world.copied("a.sh").as_deref(), Some("two"));
}
