//! How much of real C++ is read: headers full of macros and conditional compilation, as
//! distributions have them. What a grammar cannot read is read again without what is at
//! fault.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Language, Vocabularies, scan_source};
use wmfix_tests::tools::{Need, need};

/// Of a thousand lines, this many may be unread.
const MOST_UNREAD: usize = 10;

/// The lines of all files below a folder, and how many of them were not read.
fn lines(folder: &Path) -> (usize, usize) {
    let (mut all, mut unread) = (0, 0);
    let mut worst: Vec<(usize, PathBuf)> = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if Language::may_be(&path) {
                let mut text = fs::read(&path).expect("a file");
                // What has no atomics is not parsed at all.
                text.extend(b"\n// std::atomic\n");
                let scan = scan_source(&path, &text, &Vocabularies::builtin());
                all += text.split(|byte| *byte == b'\n').count();
                unread += scan.unread_lines;
                worst.push((scan.unread_lines, path));
            }
        }
    }
    worst.sort();
    for (unread, path) in worst.iter().rev().take(8) {
        println!("{unread} {}", path.display());
    }
    (all, unread)
}

fn assert_read(folder: &'static str, package: &'static str) {
    need(&[Need::File(folder, package)]);
    let (all, unread) = lines(Path::new(folder));
    println!("{folder}: {unread} of {all} lines were not read");
    assert!(
        unread * 1000 <= all * MOST_UNREAD,
        "{folder}: {unread} of {all} lines were not read"
    );
}

#[test]
fn a_library_of_tasks() {
    assert_read("/usr/include/oneapi", "libtbb-dev");
}

#[test]
fn a_library_of_atomics_for_every_machine() {
    assert_read("/usr/include/boost/atomic", "libboost-dev");
}

#[test]
fn libraries_of_queues() {
    assert_read("/usr/include/boost/lockfree", "libboost-dev");
    assert_read("/usr/include/xenium", "libxenium-dev");
    assert_read("/usr/include/atomic_queue", "libatomic-queue-dev");
    assert_read("/usr/include/concurrentqueue", "libconcurrentqueue-dev");
}
