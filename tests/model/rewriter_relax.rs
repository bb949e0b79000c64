//! Orders that are given, be they weaker, and fences that go: what comes out is what a
//! person would write, and what does not fit is refused.

use std::path::Path;

use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, scan_parsed};
use wmfix_rewriter::{Project, TextChange, TextChangeKind, rewrite};
use wmfix_tests::tools::{Need, need};

use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const C: &str = "a.c";
const CPP: &str = "a.cpp";

/// A text with one change at the first site that starts like this.
fn changed(file: &str, text: &str, site: &str, kind: TextChangeKind) -> Result<String, String> {
    changed_all(file, text, &[(site, kind)])
}

fn changed_all(
    file: &str,
    text: &str,
    wanted: &[(&str, TextChangeKind)],
) -> Result<String, String> {
    let path = Path::new(file);
    let language = Language::of(path, text.as_bytes()).unwrap();
    let project = Project::default();
    let parsed = ParsedFile::parse(path, text.as_bytes(), language);
    let sites = scan_parsed(&parsed, &project.vocabularies).sites;
    let find = |start: &str| -> Site {
        let starts = |site: &&Site| parsed.slice(&site.span).starts_with(start);
        let found = sites.iter().find(starts);
        found
            .unwrap_or_else(|| panic!("no {start} in {text}"))
            .clone()
    };
    let changes = wanted.iter();
    let changes = changes.map(|(start, kind)| TextChange::new(find(start), *kind));
    let changes: Vec<TextChange> = changes.collect();
    let done = rewrite(&parsed, &sites, &changes, &project);
    if let Some((_, refusal)) = done.refused.first() {
        return Err(refusal.to_string());
    }
    let after = done.edits.apply(text.as_bytes()).unwrap();
    Ok(String::from_utf8(after).unwrap())
}

fn assign(order: MemoryOrder) -> TextChangeKind {
    TextChangeKind::Assign {
        order,
        failure: None,
    }
}

fn cas(order: MemoryOrder, failure: MemoryOrder) -> TextChangeKind {
    TextChangeKind::Assign {
        order,
        failure: Some(failure),
    }
}

/// A statement in a function of a C++ file; what it becomes.
fn in_cpp(statement: &str, site: &str, kind: TextChangeKind) -> Result<String, String> {
    let head = "#include <atomic>\n#include <cstddef>\nstruct node { std::atomic<int> state; };\n\
        std::atomic<int> x, y, a[4];\nstd::atomic<bool> b;\nstd::atomic_flag flag;\n\
        int use(int);\nint f(node *n, std::atomic<int> *p, int i, int e)\n{\n    (void)n; (void)p; (void)i; (void)e;\n    ";
    let tail = "\n    return 0;\n}\n";
    let text = format!("{head}{statement}{tail}");
    let after = changed(CPP, &text, site, kind)?;
    compiles("g++", "-std=c++17", CPP, &after);
    let after = after.strip_prefix(head).unwrap();
    Ok(after.strip_suffix(tail).unwrap().to_owned())
}

/// The same in C.
fn in_c(statement: &str, site: &str, kind: TextChangeKind) -> Result<String, String> {
    let head = "#include <stdatomic.h>\n#include <stddef.h>\nstruct node { atomic_int state; struct node *_Atomic next; };\n\
        static atomic_int x, y, a[4];\nstatic _Atomic(unsigned long) big;\nstatic _Atomic double real;\nstatic char *_Atomic cursor;\n\
        static atomic_flag flag;\nint f(struct node *n, atomic_int *p, int i, int e);\nint f(struct node *n, atomic_int *p, int i, int e)\n{\n    (void)n; (void)p; (void)i; (void)e; (void)x; (void)y; (void)a[0]; (void)big; (void)real; (void)cursor; (void)flag;\n    ";
    let tail = "\n    return 0;\n}\n";
    let text = format!("{head}{statement}{tail}");
    let after = changed(C, &text, site, kind)?;
    compiles("gcc", "-std=c11", C, &after);
    let after = after.strip_prefix(head).unwrap();
    Ok(after.strip_suffix(tail).unwrap().to_owned())
}

/// Panics unless a compiler takes a text without a word.
fn compiles(compiler: &str, standard: &str, file: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, text).unwrap();
    let mut command = std::process::Command::new(compiler);
    command.args([
        standard,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-c",
        "-o",
        "/dev/null",
    ]);
    let output = command.arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}\n{said}");
}

#[test]
fn an_order_that_is_written_becomes_weaker() {
    need(&["gcc", "g++"].map(Need::Program));
    for (before, site, kind, after) in [
        (
            "x.store(1, std::memory_order_seq_cst);",
            "x.store",
            assign(Release),
            "x.store(1, std::memory_order_release);",
        ),
        (
            "i = x.load(std::memory_order_acquire);",
            "x.load",
            assign(Relaxed),
            "i = x.load(std::memory_order_relaxed);",
        ),
        (
            "x.compare_exchange_strong(e, 2, std::memory_order_acq_rel);",
            "x.comp",
            cas(AcqRel, Relaxed),
            "x.compare_exchange_strong(e, 2, std::memory_order_acq_rel, std::memory_order_relaxed);",
        ),
        (
            "x.compare_exchange_strong(e, 2, std::memory_order_acq_rel);",
            "x.comp",
            cas(Release, Relaxed),
            "x.compare_exchange_strong(e, 2, std::memory_order_release);",
        ),
        (
            "x.compare_exchange_weak(e, 2, std::memory_order_seq_cst, std::memory_order_seq_cst);",
            "x.comp",
            cas(Acquire, Relaxed),
            "x.compare_exchange_weak(e, 2, std::memory_order_acquire, std::memory_order_relaxed);",
        ),
        (
            "std::atomic_thread_fence(std::memory_order_seq_cst);",
            "std::atomic",
            assign(Release),
            "std::atomic_thread_fence(std::memory_order_release);",
        ),
    ] {
        assert_eq!(in_cpp(before, site, kind).as_deref(), Ok(after));
    }
    let done = in_c(
        "atomic_store_explicit(&x, 1, memory_order_seq_cst);",
        "atomic_store",
        assign(Relaxed),
    );
    let expected = "atomic_store_explicit(&x, 1, memory_order_relaxed);";
    assert_eq!(done.as_deref(), Ok(expected));
}

#[test]
fn an_order_that_is_left_out_is_written() {
    need(&["gcc", "g++"].map(Need::Program));
    for (before, site, kind, after) in [
        (
            "i = x.load();",
            "x.load",
            assign(Relaxed),
            "i = x.load(std::memory_order_relaxed);",
        ),
        (
            "x.store(i + 1);",
            "x.store",
            assign(Release),
            "x.store(i + 1, std::memory_order_release);",
        ),
        (
            "x = i + 1;",
            "x =",
            assign(Release),
            "x.store(i + 1, std::memory_order_release);",
        ),
        (
            "i = x;",
            "x",
            assign(Acquire),
            "i = x.load(std::memory_order_acquire);",
        ),
        (
            "int v = x;  use(v);",
            "x",
            assign(Acquire),
            "int v = x.load(std::memory_order_acquire);  use(v);",
        ),
        (
            "if (x) use(1);",
            "x",
            assign(Acquire),
            "if (x.load(std::memory_order_acquire)) use(1);",
        ),
        (
            "use(x++);",
            "x++",
            assign(Relaxed),
            "use(x.fetch_add(1, std::memory_order_relaxed));",
        ),
        (
            "++x;",
            "++x",
            assign(Relaxed),
            "x.fetch_add(1, std::memory_order_relaxed);",
        ),
        (
            "x -= i;",
            "x -=",
            assign(Relaxed),
            "x.fetch_sub(i, std::memory_order_relaxed);",
        ),
        (
            "n->state = 1;",
            "n->state",
            assign(Release),
            "n->state.store(1, std::memory_order_release);",
        ),
        (
            "*p = 1;",
            "*p",
            assign(Release),
            "p->store(1, std::memory_order_release);",
        ),
        (
            "a[i] = 1;",
            "a[i]",
            assign(Release),
            "a[i].store(1, std::memory_order_release);",
        ),
        (
            "x.compare_exchange_strong(e, 2);",
            "x.comp",
            cas(Acquire, Acquire),
            "x.compare_exchange_strong(e, 2, std::memory_order_acquire);",
        ),
        (
            "x.compare_exchange_strong(e, 2);",
            "x.comp",
            cas(AcqRel, Relaxed),
            "x.compare_exchange_strong(e, 2, std::memory_order_acq_rel, std::memory_order_relaxed);",
        ),
        (
            "while (flag.test_and_set()) {}",
            "flag",
            assign(Acquire),
            "while (flag.test_and_set(std::memory_order_acquire)) {}",
        ),
        (
            "flag.clear();",
            "flag",
            assign(Release),
            "flag.clear(std::memory_order_release);",
        ),
        (
            "__sync_synchronize();",
            "__sync",
            assign(Acquire),
            "__atomic_thread_fence(__ATOMIC_ACQUIRE);",
        ),
    ] {
        assert_eq!(in_cpp(before, site, kind).as_deref(), Ok(after));
    }
    for (before, site, kind, after) in [
        (
            "i = atomic_load(&x);",
            "atomic_load",
            assign(Relaxed),
            "i = atomic_load_explicit(&x, memory_order_relaxed);",
        ),
        (
            "atomic_store(&x, 1);",
            "atomic_store",
            assign(Release),
            "atomic_store_explicit(&x, 1, memory_order_release);",
        ),
        (
            "atomic_fetch_add(&x, 1);",
            "atomic_fetch",
            assign(Relaxed),
            "atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);",
        ),
        (
            "atomic_compare_exchange_strong(&x, &e, 2);",
            "atomic_comp",
            cas(Acquire, Acquire),
            "atomic_compare_exchange_strong_explicit(&x, &e, 2, memory_order_acquire, memory_order_acquire);",
        ),
        (
            "while (atomic_flag_test_and_set(&flag)) {}",
            "atomic_flag",
            assign(Acquire),
            "while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {}",
        ),
        (
            "atomic_flag_clear(&flag);",
            "atomic_flag",
            assign(Release),
            "atomic_flag_clear_explicit(&flag, memory_order_release);",
        ),
        (
            "x = 1;",
            "x =",
            assign(Release),
            "atomic_store_explicit(&x, 1, memory_order_release);",
        ),
        (
            "i = x + 1;",
            "x",
            assign(Relaxed),
            "i = atomic_load_explicit(&x, memory_order_relaxed) + 1;",
        ),
        (
            "x++;",
            "x++",
            assign(Relaxed),
            "atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);",
        ),
        (
            "big += 2;",
            "big",
            assign(Relaxed),
            "atomic_fetch_add_explicit(&big, 2, memory_order_relaxed);",
        ),
        (
            "n->state = 1;",
            "n->state",
            assign(Release),
            "atomic_store_explicit(&n->state, 1, memory_order_release);",
        ),
        (
            "*p = 1;",
            "*p",
            assign(Release),
            "atomic_store_explicit(p, 1, memory_order_release);",
        ),
    ] {
        assert_eq!(in_c(before, site, kind).as_deref(), Ok(after));
    }
}

#[test]
fn operations_within_each_other_get_their_orders_together() {
    let text = "#include <atomic>\nstd::atomic<int> x, y;\nvoid f() { x = y + 1; }\n";
    let wanted = [("x = ", assign(Release)), ("y", assign(Relaxed))];
    let expected = "x.store(y.load(std::memory_order_relaxed) + 1, std::memory_order_release);";
    let after = changed_all(CPP, text, &wanted).unwrap();
    assert!(after.contains(expected), "{after}");
    let text = "#include <stdatomic.h>\natomic_int x, y;\nvoid f(void) { atomic_store(&x, atomic_load(&y)); }\n";
    let wanted = [
        ("atomic_store", assign(Release)),
        ("atomic_load", assign(Relaxed)),
    ];
    let expected = "atomic_store_explicit(&x, atomic_load_explicit(&y, memory_order_relaxed), memory_order_release);";
    let after = changed_all(C, text, &wanted).unwrap();
    assert!(after.contains(expected), "{after}");
}

#[test]
fn what_would_mean_something_else_is_refused() {
    need(&["gcc", "g++"].map(Need::Program));
    for (statement, site) in [
        ("use(++x);", "++x"),
        ("i = (x += 2);", "x +="),
        ("i = (x = 2);", "x ="),
    ] {
        let done = in_cpp(statement, site, assign(Relaxed));
        assert!(done.is_err(), "{statement}: {done:?}");
    }
    for (statement, site) in [
        ("cursor++;", "cursor"),
        ("real += 1.5;", "real"),
        ("use: i = x++ + ++y; if (i) goto use;", "++y"),
    ] {
        let done = in_c(statement, site, assign(Relaxed));
        assert!(done.is_err(), "{statement}: {done:?}");
    }
    let load = in_cpp("i = x.load();", "x.load", assign(Release));
    assert_eq!(load.unwrap_err(), "a load cannot be release");
    let store = in_cpp("x.store(1);", "x.store", assign(Acquire));
    assert_eq!(store.unwrap_err(), "a store cannot be acquire");
    let computed = changed(
        CPP,
        "#include <atomic>\nstd::atomic<int> x;\nint f(std::memory_order o) { return x.load(o); }\n",
        "x.load",
        assign(Relaxed),
    );
    assert!(computed.unwrap_err().contains("computed"));
}

#[test]
fn a_header_comes_along_where_the_file_has_none() {
    let text = "static _Atomic int x;\nvoid f(void);\nvoid f(void)\n{\n    x = 1;\n}\n";
    let after = changed(C, text, "x = 1", assign(Release)).unwrap();
    assert!(after.contains("#include <stdatomic.h>"), "{after}");
    compiles("gcc", "-std=c11", C, &after);
}

#[test]
fn a_fence_goes_with_its_line() {
    let text = "#include <stdatomic.h>\natomic_int x;\nvoid f(void)\n{\n    x = 1;\n    atomic_thread_fence(memory_order_seq_cst); /* why? */\n    x = 2;\n}\n";
    let after = changed(C, text, "atomic_thread", TextChangeKind::Remove).unwrap();
    assert!(!after.contains("fence"), "{after}");
    assert!(after.contains("x = 1;\n    x = 2;"), "{after}");
    let text = "#include <stdatomic.h>\natomic_int x;\nvoid f(void) { x = 1; atomic_thread_fence(memory_order_seq_cst); x = 2; }\n";
    let after = changed(C, text, "atomic_thread", TextChangeKind::Remove).unwrap();
    assert!(after.contains("{ x = 1; x = 2; }"), "{after}");
    for inside in [
        "if (x) atomic_thread_fence(memory_order_seq_cst);",
        "atomic_thread_fence(memory_order_seq_cst), x = 2;",
        "again: atomic_thread_fence(memory_order_seq_cst); if (x) goto again;",
    ] {
        let text = format!("#include <stdatomic.h>\natomic_int x;\nvoid f(void) {{ {inside} }}\n");
        let done = changed(C, &text, "atomic_thread", TextChangeKind::Remove);
        assert!(done.is_err(), "{inside}: {done:?}");
    }
    let access = changed(C, text, "x = 1", TextChangeKind::Remove);
    assert!(access.is_err());
}

#[test]
fn to_assign_what_is_there_changes_nothing() {
    let text = "#include <atomic>\nstd::atomic<int> x;\nvoid f() { x.store(1); x = 2; }\n";
    for site in ["x.store", "x = 2"] {
        assert_eq!(
            changed(CPP, text, site, assign(SeqCst)).as_deref(),
            Ok(text)
        );
    }
}
