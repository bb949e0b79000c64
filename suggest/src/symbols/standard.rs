//! Which source files belong to the implementation of atomics and threads (the
//! compiler's headers, the C++ standard library, Boost.Atomic) rather than to
//! code that uses them.

use std::path::Path;

/// Whether a file is part of the implementation of atomics.
pub(super) fn is_standard_library(file: &Path) -> bool {
    let path = file.to_string_lossy();
    let within = [
        "/usr/include/c++/",
        "/include/c++/v1/",
        "/usr/include/x86_64-linux-gnu/c++/",
        "/usr/include/aarch64-linux-gnu/c++/",
        "/usr/lib/gcc/",
        "/lib/gcc/",
        "/lib/clang/",
        "/usr/include/x86_64-linux-gnu/bits/",
        "/usr/include/aarch64-linux-gnu/bits/",
        "/boost/atomic/",
        "/boost/smart_ptr/",
    ];
    // Toolchains live in many places; the layout below them is always this.
    within.iter().any(|folder| path.contains(folder))
        || path.contains("/include/c++/") && path.contains("/bits/")
        || path.starts_with("/rustc/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_told_from_its_users() {
        for file in [
            "/usr/include/c++/12/bits/atomic_base.h",
            "/usr/include/c++/12/atomic",
            "/usr/lib/llvm-14/include/c++/v1/atomic",
            "/usr/lib/llvm-14/lib/clang/14.0.6/include/stdatomic.h",
            "/usr/lib/gcc/x86_64-linux-gnu/12/include/stdatomic.h",
            "/opt/gcc-13/include/c++/13.1.0/bits/std_thread.h",
        ] {
            assert!(is_standard_library(Path::new(file)), "{file}");
        }
        for file in [
            "/home/me/c++/queue.h",
            "src/a.c",
            "/usr/include/concurrentqueue/concurrentqueue.h",
        ] {
            assert!(!is_standard_library(Path::new(file)), "{file}");
        }
    }
}
