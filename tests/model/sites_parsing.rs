//! How much of real C++ is read: headers full of macros and conditional compilation, as
//! distributions have them. What a grammar cannot read is read again without what is at
//! fault.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Language, Vocabularies, scan_source};
use wmfix_tests::tools::{Need, need};

/// Of a thousand lines, this many may be unread.
const MOST_UNREAD: usize = 10;

/// Whether a header is in the dialect of a compiler that builds nothing for Linux.
fn is_of_another_compiler(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains("_msvc") || name == "interlocked.hpp"
}

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
            } else if Language::may_be(&path) && !is_of_another_compiler(&path) {
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

/// Headers with all of their lines.
const FOLDERS: [(&str, &str); 6] = [
    ("/usr/include/oneapi", "libtbb-dev"),
    ("/usr/include/boost/atomic", "libboost-dev"),
    ("/usr/include/boost/lockfree", "libboost-dev"),
    ("/usr/include/xenium", "libxenium-dev"),
    ("/usr/include/atomic_queue", "libatomic-queue-dev"),
    ("/usr/include/concurrentqueue", "libconcurrentqueue-dev"),
];

#[test]
fn headers_are_read_but_for_one_line_in_a_hundred() {
    need(&FOLDERS.map(|(folder, package)| Need::File(folder, package)));
    let (mut all, mut unread) = (0, 0);
    for (folder, _) in FOLDERS {
        let lines = lines(Path::new(folder));
        println!("{folder}: {} of {} lines were not read", lines.1, lines.0);
        (all, unread) = (all + lines.0, unread + lines.1);
    }
    assert!(
        unread * 1000 <= all * MOST_UNREAD,
        "{unread} of {all} lines were not read"
    );
}
