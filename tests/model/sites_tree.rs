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
