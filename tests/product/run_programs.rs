//! Programs that nobody here wrote, out of registry packages and Debian's, built
//! with the wrapper and run under control: to the end, with the right result.

use std::path::{Path, PathBuf};

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::registry::crate_source;
use wmfix_tests::tools::{Need, need};

const HARNESSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/programs");

/// How to build and run one of them.
struct Program {
    /// The wrapper's word.
    wrapper: &'static str,
    /// Its source files.
    sources: Vec<PathBuf>,
    /// What the compiler is told beside them.
    options: Vec<String>,
    /// What it is run with.
    arguments: &'static [&'static str],
    /// What it must print.
    prints: &'static str,
}

fn harness(name: &str) -> PathBuf {
    Path::new(HARNESSES).join(name)
}

fn cxx(name: &str, prints: &'static str) -> Program {
    Program {
        wrapper: "c++",
        sources: vec![harness(name)],
        options: ["-std=c++17", "-w", "-latomic"].map(String::from).into(),
        arguments: &[],
        prints,
    }
}

fn c(sources: Vec<PathBuf>, includes: &[PathBuf], prints: &'static str) -> Program {
    let mut options = vec!["-w".to_owned(), "-D_GNU_SOURCE=1".to_owned()];
    options.extend(
        includes
            .iter()
            .map(|folder| format!("-I{}", folder.display())),
    );
    Program {
        wrapper: "cc",
        sources,
        options,
        arguments: &[],
        prints,
    }
}

/// Builds it with both compilers and runs it under control.
fn works(program: &Program) {
    for compiler in ["gcc", "clang"] {
        let world = World::new();
        let mut build = world.wmfix(compiler);
        build
            .arg(program.wrapper)
            .args(&program.sources)
            .args(["-O1", "-o", "prog", "-pthread"]);
        CommandResult::well(build.args(&program.options));

        let mut alone = world.command(world.path().join("prog"));
        let ran = CommandResult::well(alone.args(program.arguments));
        let printed = ran.stdout + &ran.stderr;
        assert!(printed.contains(program.prints), "{compiler}: {printed}");

        let mut run = world.wmfix(compiler);
        run.args([
            "run", "--runs", "3", "--races", "off", "--format", "json", "--", "./prog",
        ]);
        let report = CommandResult::of(run.args(program.arguments)).json();
        assert_ne!(report["verdict"], "failed", "{report}");
        assert!(
            report["runs"]["events"]
                .as_u64()
                .is_some_and(|events| events > 100),
            "{report}"
        );
        for note in report["notes"].as_array().expect("a list") {
            let note = note.as_str().expect("text");
            let bad = [
                "exit code",
                "timed out",
                "deadlock",
                "livelock",
                "killed by",
                "contradicts",
                "damaged",
                "is cut at",
            ];
            assert!(
                !bad.iter().any(|word| note.contains(word)),
                "{compiler}: {note}"
            );
        }
    }
}

fn need_compilers(more: &[Need]) {
    let mut needs = vec![Need::Program("gcc"), Need::Program("clang")];
    needs.extend(more);
    need(&needs);
}

#[test]
fn concurrentqueue() {
    let header = Need::File(
        "/usr/include/concurrentqueue/concurrentqueue.h",
        "libconcurrentqueue-dev",
    );
    need_compilers(&[header]);
    works(&cxx("concurrentqueue.cpp", "sum 7140 of 7140"));
}

#[test]
fn atomic_queue() {
    let header = Need::File(
        "/usr/include/atomic_queue/atomic_queue.h",
        "libatomic-queue-dev",
    );
    need_compilers(&[header]);
    works(&cxx("atomic_queue.cpp", "sums 7260 7260"));
}

#[test]
fn xenium_queues() {
    let header = Need::File(
        "/usr/include/xenium/michael_scott_queue.hpp",
        "libxenium-dev",
    );
    need_compilers(&[header]);
    works(&cxx("xenium_queues.cpp", "sums 3240 3240"));
}

#[test]
fn xenium_deque() {
    let header = Need::File("/usr/include/xenium/seqlock.hpp", "libxenium-dev");
    need_compilers(&[header]);
    works(&cxx("xenium_deque.cpp", "sum 1770, pairs whole"));
}

#[test]
fn mimalloc() {
    need_compilers(&[]);
    let folder = crate_source("libmimalloc-sys2", "0.1.65")
        .expect("the crate")
        .join("c_src/mimalloc3");
    let sources = vec![
        folder.join("src/static.c"),
        folder.join("test/test-stress.c"),
    ];
    let mut program = c(sources, &[folder.join("include")], "Using 3 threads");
    program.arguments = &["3", "5", "2"];
    works(&program);
}

#[test]
fn rpmalloc() {
    need_compilers(&[]);
    let folder = crate_source("rpmalloc-sys", "0.2.3+b097fd0")
        .expect("the crate")
        .join("rpmalloc/rpmalloc");
    let sources = vec![harness("rpmalloc_pass.c"), folder.join("rpmalloc.c")];
    works(&c(sources, &[folder], "whole"));
}

#[test]
fn leveldb_skiplist() {
    need_compilers(&[]);
    let folder = crate_source("leveldb-sys", "2.0.9")
        .expect("the crate")
        .join("deps/leveldb-1.22");
    let mut program = cxx("leveldb_skiplist.cpp", "40 keys, sorted");
    program.sources.push(folder.join("util/arena.cc"));
    program.options.extend([
        format!("-I{}", folder.display()),
        format!("-I{}", folder.join("include").display()),
        "-DLEVELDB_PLATFORM_POSIX=1".to_owned(),
        "-DLEVELDB_IS_BIG_ENDIAN=0".to_owned(),
    ]);
    works(&program);
}

#[test]
fn zstd_threads() {
    need_compilers(&[]);
    let folder = crate_source("zstd-sys", "2.1.2+zstd.1.5.7")
        .expect("the crate")
        .join("zstd/lib");
    let mut sources = vec![harness("zstd_threads.c")];
    for part in ["common", "compress", "decompress"] {
        sources.extend(c_files(&folder.join(part), |_| true));
    }
    let mut program = c(sources, &[folder], "same");
    program.options.extend([
        "-DZSTD_MULTITHREAD".to_owned(),
        "-DZSTD_DISABLE_ASM".to_owned(),
    ]);
    works(&program);
}

#[test]
fn libuv_pool() {
    need_compilers(&[]);
    let folder = crate_source("libuv-sys2", "1.53.1")
        .expect("the crate")
        .join("libuv");
    let of_linux = "async core dl fs getaddrinfo getnameinfo loop-watcher loop pipe poll process proctitle \
        random-devurandom signal stream tcp thread tty udp linux procfs-exepath random-getentropy \
        random-getrandom random-sysctl-linux";
    let mut sources = vec![harness("libuv_pool.c")];
    sources.extend(c_files(&folder.join("src"), |_| true));
    sources.extend(c_files(&folder.join("src/unix"), |name| {
        of_linux.split_whitespace().any(|known| known == name)
    }));
    let includes = [folder.join("include"), folder.join("src")];
    works(&c(sources, &includes, "finished 40, woken 1, sum 20540"));
}

/// The C files of a folder whose names, without the ending, are wanted.
fn c_files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the crate");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|file| {
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        file.extension().is_some_and(|ending| ending == "c") && wanted(name)
    });
    files.sort();
    files
}
