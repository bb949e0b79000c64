//! Which source files belong to the implementation of atomics and threads (the
//! compiler's headers, the C++ standard library, Boost.Atomic) rather than to
//! code that uses them.

use std::path::Path;

/// Whether a file is part of the implementation of atomics.
pub(crate) fn is_standard_library(file: &Path) -> bool {
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

/// Whether a function of the standard library is the interface of atomics itself:
/// what it accesses is the object that its caller gave it. `std::latch` and its
/// like have atomics of their own.
pub(super) fn is_atomic_interface(function: &str) -> bool {
    const CLASSES: [&str; 9] = [
        "atomic<",
        "atomic_ref<",
        "atomic_flag",
        "__atomic_base<",
        "__atomic_ref<",
        "__atomic_float<",
        "__atomic_impl::",
        "__cxx_atomic_",
        "__atomic_base_impl",
    ];
    const FREE: [&str; 2] = ["atomic_", "kill_dependency"];
    let name = without_result(function);
    let name = name.strip_prefix("std::").unwrap_or(name);
    let name = name.strip_prefix("__1::").unwrap_or(name);
    let of_shared = name.starts_with("atomic<std::shared_ptr")
        || name.starts_with("atomic<std::weak_ptr")
        || name.starts_with("atomic<std::__1::shared_ptr");
    // The waiting and waking of atomics goes through a pool of the library.
    let waits = |name: &str| name.contains("::notify_") || name.contains("atomic_notify");
    function.is_empty()
        || name.starts_with("boost::atomic")
        || (CLASSES.iter().chain(&FREE)).any(|class| name.starts_with(class))
            && !of_shared
            && !waits(name)
}

/// Whether a function of the standard library belongs to what any number of threads
/// may use at a time: then what it accesses by itself is its own business.
pub(super) fn is_thread_safe(function: &str) -> bool {
    const CLASSES: [&str; 20] = [
        "atomic<",
        "latch",
        "barrier<",
        "counting_semaphore",
        "promise<",
        "future<",
        "shared_future<",
        "packaged_task<",
        "async",
        "call_once",
        "mutex",
        "condition_variable",
        "stop_",
        "__shared_count<",
        "__weak_count<",
        "_Sp_",
        "__future_base",
        "__detail::__waiter",
        "__detail::__platform",
        "__shared_weak_count",
    ];
    let name = without_result(function);
    let name = name.strip_prefix("std::").unwrap_or(name);
    let name = name.strip_prefix("__1::").unwrap_or(name);
    CLASSES.iter().any(|class| name.starts_with(class))
}

/// A function's name without the type of its result, which the mangled name of a
/// template begins with.
fn without_result(function: &str) -> &str {
    let (mut depth, mut from) = (0usize, 0);
    for (at, character) in function.char_indices() {
        match character {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            // A conversion is named by a type, which may have several words.
            ' ' if depth == 0 && !function[from..at].contains("operator") => from = at + 1,
            _ => {}
        }
    }
    &function[from..]
}

/// Whether a function of the standard library waits on an atomic of its caller.
pub(super) fn waits_on_callers_atomic(function: &str) -> bool {
    is_atomic_interface(function) && function.contains("::wait")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_of_atomics_is_told_from_its_users() {
        for function in [
            "std::atomic<int>::load",
            "std::__atomic_base<unsigned long>::fetch_add",
            "std::atomic_flag::test_and_set",
            "std::atomic_thread_fence",
            "std::remove_volatile<int>::type std::__atomic_impl::load<int>",
            "std::atomic<bool>::operator bool",
            "std::__atomic_base<unsigned int>::operator unsigned int",
            "std::atomic<unsigned long long>::operator unsigned long long",
            "std::__1::__atomic_base<int, true>::store",
            "std::__atomic_base<int>::wait(int, std::memory_order)::{lambda()#1}::operator()",
        ] {
            assert!(is_atomic_interface(function), "{function}");
        }
        for function in [
            "std::latch::try_wait",
            "std::__detail::__waiter_pool_base::_M_enter_wait",
            "std::_Sp_atomic<std::shared_ptr<int> >::_Atomic_count::lock",
            "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release",
            "std::__atomic_base<int>::notify_one",
        ] {
            assert!(!is_atomic_interface(function), "{function}");
        }
    }

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
