//! Files that belong together: what a header declares decides what a file that
//! includes it means, whether a whole tree is scanned or one file of it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wmfix_frontend::{
    FileScan, Headers, NoteKind, Vocabularies, scan_file, scan_source, scan_tree,
};

const HEADER: &str = "#include <atomic>\n\
    #define PUBLISH(x) (x).store(true, std::memory_order_release)\n\
    class Flags {\n public:\n  void raise();\n  bool raised() const;\n  bool plain() const;\n \
    private:\n  std::atomic<bool> up_;\n  bool plain_;\n};\n";
const SOURCE: &str = "#include \"flags/flags.h\"\n\
    void Flags::raise() { up_ = true; PUBLISH(up_); }\n\
    bool Flags::raised() const { return up_; }\n\
    bool Flags::plain() const { return plain_; }\n";

fn project() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("include/flags/flags.h", HEADER);
    write("src/flags.cc", SOURCE);
    write("src/plain.cc", "int main() { return 0; }\n");
    write("build/generated.cc", HEADER);
    write(".gitignore", "build\n");
    folder
}

/// A layer that only a search path leads to, and a header that uses it without including
/// it.
fn project_with_search_paths() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        (
            "eal/layer.h",
            "#define layer_load(p, o) __atomic_load_n(p, o)\n",
        ),
        ("ring/ring_pvt.h", RING),
        ("ring/ring.h", "#include <layer.h>\n#include <ring_pvt.h>\n"),
        ("tests/test.c", "#include <ring.h>\n"),
        ("lib/ring_user.h", INCLUDING_RING),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

const RING: &str = "int get(int *p) { return layer_load(p, __ATOMIC_RELAXED); }\n";
const INCLUDING_RING: &str =
    "#include <ring.h>\nint use(int *p) { return layer_load(p, __ATOMIC_RELAXED); }\n";

fn callees(scan: &FileScan) -> Vec<(u32, &str)> {
    let sites = scan.sites.iter();
    sites
        .map(|site| (site.start.line, site.callee.as_str()))
        .collect()
}

const IN_SOURCE: [(u32, &str); 3] = [(2, "="), (2, "PUBLISH"), (3, "read")];

#[test]
fn a_tree_is_scanned_with_its_headers_and_without_what_is_ignored() {
    let folder = project();
    let tree = scan_tree(&[folder.path()], &Vocabularies::builtin());
    assert_eq!((tree.seen, tree.parsed), (3, 2));
    let source = folder.path().join("src/flags.cc");
    let scan = tree.file(&source).expect("it has sites");
    assert_eq!(callees(scan), IN_SOURCE);
    assert!(tree.unreadable.is_empty(), "{:?}", tree.unreadable);
}

#[test]
fn one_file_is_scanned_with_the_headers_on_disk() {
    let folder = project();
    let source = folder.path().join("src/flags.cc");
    let vocabularies = Vocabularies::builtin();
    let mut headers = Headers::default();
    let scan = scan_file(&source, SOURCE.as_bytes(), &mut headers, &vocabularies);
    assert_eq!(callees(&scan), IN_SOURCE);
    let alone = scan_source(&source, SOURCE.as_bytes(), &vocabularies);
    assert_eq!(callees(&alone), []);
    // The text that is given counts, not the one on disk.
    let changed = SOURCE.replace("up_ = true; ", "");
    let scan = scan_file(&source, changed.as_bytes(), &mut headers, &vocabularies);
    assert_eq!(callees(&scan), IN_SOURCE[1..]);
}

#[test]
fn headers_behind_search_paths_are_found_in_the_tree() {
    let folder = project_with_search_paths();
    let vocabularies = Vocabularies::builtin();
    let tree = scan_tree(&[folder.path()], &vocabularies);
    for (path, text, line) in [
        ("ring/ring_pvt.h", RING, 1),
        ("lib/ring_user.h", INCLUDING_RING, 2),
    ] {
        let path = folder.path().join(path);
        let in_tree = tree.file(&path).expect("it has a site");
        assert_eq!(callees(in_tree), [(line, "layer_load")]);
        let mut headers = Headers::of_tree(folder.path());
        let scan = scan_file(&path, text.as_bytes(), &mut headers, &vocabularies);
        assert_eq!(callees(&scan), [(line, "layer_load")]);
        let scan = scan_file(
            &path,
            text.as_bytes(),
            &mut Headers::default(),
            &vocabularies,
        );
        assert_eq!(callees(&scan), []);
    }
}

#[test]
fn what_a_file_includes_and_what_it_is_read_with_differ() {
    let folder = project_with_search_paths();
    let root = folder.path().canonicalize().expect("a folder");
    let mut headers = Headers::of_tree(&root);
    let path = root.join("ring/ring_pvt.h");
    assert!(headers.included(&path, RING.as_bytes()).is_empty());
    let with = [
        "eal/layer.h",
        "lib/ring_user.h",
        "ring/ring.h",
        "tests/test.c",
    ];
    let with = with.map(|path| root.join(path));
    assert_eq!(headers.of(&path, RING.as_bytes()), with);
    // What is only possible is not taken: a second one is as near.
    fs::create_dir(root.join("arm")).expect("a folder");
    fs::write(root.join("arm/layer.h"), "").expect("a file");
    let mut headers = Headers::of_tree(&root);
    let user = root.join("ring/ring.h");
    let text = fs::read(&user).expect("it was written");
    assert_eq!(headers.included(&user, &text), [path]);
}

#[test]
fn a_file_that_is_not_there_is_noted_and_the_scan_goes_on() {
    let folder = project();
    let missing = folder.path().join("src/gone.cc");
    std::os::unix::fs::symlink("nowhere", &missing).expect("a link");
    let header = folder.path().join("include/flags/flags.h");
    let paths: [&Path; 2] = [&missing, &header];
    let tree = scan_tree(&paths, &Vocabularies::builtin());
    assert_eq!(tree.files.len(), 1);
    let kinds: Vec<NoteKind> = tree.unreadable.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::Unreadable]);
}
