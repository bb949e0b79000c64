//! Recall against the compilers, which is the recall that counts: every atomic call
//! that the thread-sanitizer passes of gcc and clang put into real packages, and
//! whose source line lies in the package, is matched to a site. What is not is
//! listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use wmfix_frontend::{
    FileScan, Headers, OperationKind, SiteMatch, Vocabularies, match_site, scan_file,
};
use wmfix_tests::compiled::{AtomicCall, Frame, atomic_calls, compile};
use wmfix_tests::registry::crate_source;
use wmfix_tests::tools::{Need, need};

/// The share of places that must be matched, in percent.
const FEWEST_MATCHED: usize = 98;

const MIMALLOC: (&str, &str) = ("libmimalloc-sys2", "0.1.65");
const RPMALLOC: (&str, &str) = ("rpmalloc-sys", "0.2.3+b097fd0");
const LEVELDB: (&str, &str) = ("leveldb-sys", "2.0.9");

#[test]
fn concurrentqueue() {
    headers(
        "concurrentqueue",
        "/usr/include/concurrentqueue",
        "libconcurrentqueue-dev",
        100,
    );
}

#[test]
fn atomic_queue() {
    headers(
        "atomic_queue",
        "/usr/include/atomic_queue",
        "libatomic-queue-dev",
        20,
    );
}

#[test]
fn xenium() {
    headers("xenium", "/usr/include/xenium", "libxenium-dev", 100);
}

#[test]
fn tbb() {
    headers("tbb", "/usr/include/oneapi", "libtbb-dev", 100);
}

#[test]
fn mimalloc() {
    let (name, version) = MIMALLOC;
    need(&[Need::Program("gcc"), Need::Crate(name, version)]);
    let tree = crate_source(name, version)
        .expect("just seen")
        .join("c_src/mimalloc");
    let include = format!("-I{}", tree.join("include").display());
    check(
        "mimalloc",
        "gcc",
        &[tree.join("src/static.c")],
        &[&include],
        &tree,
        100,
    );
}

#[test]
fn rpmalloc() {
    let (name, version) = RPMALLOC;
    need(&[Need::Program("gcc"), Need::Crate(name, version)]);
    let tree = crate_source(name, version)
        .expect("just seen")
        .join("rpmalloc/rpmalloc");
    let options = ["-std=gnu11", "-DENABLE_STATISTICS=1", "-DENABLE_OVERRIDE=0"];
    check(
        "rpmalloc",
        "gcc",
        &[tree.join("rpmalloc.c")],
        &options,
        &tree,
        10,
    );
}

#[test]
fn leveldb() {
    let (name, version) = LEVELDB;
    need(&[Need::Program("g++"), Need::Crate(name, version)]);
    let tree = crate_source(name, version)
        .expect("just seen")
        .join("deps/leveldb-1.22");
    let wanted = [
        "db/db_impl.cc",
        "db/memtable.cc",
        "db/version_set.cc",
        "util/arena.cc",
        "util/env_posix.cc",
        "util/cache.cc",
    ];
    let sources: Vec<PathBuf> = wanted.iter().map(|source| tree.join(source)).collect();
    let root = format!("-I{}", tree.display());
    let include = format!("-I{}", tree.join("include").display());
    let options = [
        &*root,
        &*include,
        "-std=c++11",
        "-DLEVELDB_PLATFORM_POSIX=1",
        "-DHAVE_FDATASYNC=1",
        "-DHAVE_CRC32C=0",
        "-DHAVE_SNAPPY=0",
        "-DLEVELDB_IS_BIG_ENDIAN=0",
    ];
    check("leveldb", "g++", &sources, &options, &tree, 10);
}

/// A package of headers, compiled by both compilers through a source of ours that
/// uses them.
fn headers(name: &'static str, folder: &'static str, package: &'static str, fewest: usize) {
    let needs = [
        Need::Program("g++"),
        Need::Program("clang++"),
        Need::File(folder, package),
    ];
    need(&needs);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus/recall")
        .join(format!("{name}.cc"));
    let sources = [source];
    for compiler in ["g++", "clang++"] {
        let tree = Path::new(folder);
        check(name, compiler, &sources, &["-std=c++17"], tree, fewest);
    }
}

fn check(
    name: &str,
    compiler: &str,
    sources: &[PathBuf],
    options: &[&str],
    tree: &Path,
    fewest: usize,
) {
    let folder = tempfile::tempdir().expect("a folder to compile in");
    let library = folder.path().join("library.so");
    compile(compiler, sources, options, &library).expect("the package compiles");
    let calls = atomic_calls(&library);
    let report = Report::of(&calls, tree);
    wmfix_tests::note!("{name} by {compiler}: {report}");
    assert!(
        report.places >= fewest,
        "{name}: only {} places",
        report.places
    );
    assert!(
        report.matched * 100 >= report.places * FEWEST_MATCHED,
        "{name} by {compiler}: {report}"
    );
}

/// Files, scanned when a call first points into them, as the product does it.
struct Scans {
    files: BTreeMap<PathBuf, FileScan>,
    headers: Headers,
    vocabularies: Vocabularies,
}

impl Scans {
    fn of(&mut self, path: &Path) -> &FileScan {
        self.files.entry(path.to_path_buf()).or_insert_with(|| {
            let text = std::fs::read(path).expect("a source that was compiled");
            scan_file(path, &text, &mut self.headers, &self.vocabularies)
        })
    }
}

/// How the calls of one package were matched.
struct Report {
    calls: usize,
    /// Calls that nobody wrote in the tree: the standard library's own (reference
    /// counts), guards of static locals, and copies in thunks.
    not_written: usize,
    places: usize,
    matched: usize,
    rest: Vec<String>,
}

impl Report {
    fn of(calls: &[AtomicCall], tree: &Path) -> Self {
        let mut scans = Scans {
            files: BTreeMap::new(),
            headers: Headers::default(),
            vocabularies: Vocabularies::builtin(),
        };
        let mut not_written = 0;
        let mut places: BTreeSet<(Frame, u8)> = BTreeSet::new();
        for call in calls {
            match place(call, tree) {
                Some(frame) if !call.in_thunk && !is_guard(call, &frame) => {
                    places.insert((
                        frame,
                        KINDS.iter().position(|k| *k == call.kind).unwrap_or(0) as u8,
                    ));
                }
                _ => not_written += 1,
            }
        }
        let mut rest = Vec::new();
        for (frame, kind) in &places {
            let kind = KINDS[usize::from(*kind)];
            let matched = match_site(scans.of(&frame.file), frame.line, frame.column, kind);
            if !matches!(matched, SiteMatch::Site(_)) {
                let why = match matched {
                    SiteMatch::None => "no site",
                    _ => "several sites",
                };
                rest.push(format!(
                    "{}:{}:{} {kind:?}: {why}",
                    frame.file.display(),
                    frame.line,
                    frame.column
                ));
            }
        }
        Self {
            calls: calls.len(),
            not_written,
            matched: places.len() - rest.len(),
            places: places.len(),
            rest,
        }
    }
}

const KINDS: [OperationKind; 6] = [
    OperationKind::Load,
    OperationKind::Store,
    OperationKind::Rmw,
    OperationKind::CompareExchange,
    OperationKind::Fence,
    OperationKind::SignalFence,
];

/// The innermost frame in the tree, if the call comes from there through nothing
/// but the headers that implement atomics.
fn place(call: &AtomicCall, tree: &Path) -> Option<Frame> {
    for frame in &call.frames {
        if frame.file.starts_with(tree) {
            return Some(frame.clone());
        }
        let header = frame.file.file_name()?.to_string_lossy().into_owned();
        if !matches!(&*header, "atomic" | "atomic_base.h" | "stdatomic.h") {
            return None;
        }
    }
    None
}

/// Whether a load only asks if a static local is initialised: the compiler makes
/// it, at the line of the declaration and through no header.
fn is_guard(call: &AtomicCall, frame: &Frame) -> bool {
    let text = std::fs::read_to_string(&frame.file).unwrap_or_default();
    let line = text
        .lines()
        .nth(frame.line as usize - 1)
        .unwrap_or_default();
    let is_cpp = frame
        .file
        .extension()
        .is_some_and(|extension| extension != "c");
    is_cpp
        && call.kind == OperationKind::Load
        && call.frames.first() == Some(frame)
        && line.split_whitespace().any(|word| word == "static")
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} places matched ({} calls, {} of them not written there)",
            self.matched, self.places, self.calls, self.not_written
        )?;
        for line in &self.rest {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}
