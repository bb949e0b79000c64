//! Random changes to real packages: what comes out parses, the diff applies with
//! git and gives exactly that, lines that are not in the diff are untouched, and
//! a header-only package still compiles. `WMFIX_REWRITER_SETS` and
//! `WMFIX_REWRITER_ROUNDS` make it longer.

use std::fs;
use std::path::Path;
use std::process::Command;

use tree_sitter::Node;
use wmfix_frontend::ParsedFile;
use wmfix_rewriter::{Edit, Project, Refusal, TextChange, rewrite, unified_diff};
use wmfix_tests::registry::crate_source;
use wmfix_tests::rewriter::packages::{HEADERS, Source, random_change, sources};
use wmfix_tests::rng::Rng;
use wmfix_tests::tools::{Need, need};

const RPMALLOC: (&str, &str) = ("rpmalloc-sys", "0.2.3+b097fd0");

/// How many sets share one call of git.
const BATCH: usize = 100;

#[test]
fn random_sets_give_diffs_that_apply() {
    let mut needs = header_needs();
    needs.extend([Need::Program("git"), Need::Program("patch")]);
    needs.push(Need::Crate(RPMALLOC.0, RPMALLOC.1));
    need(&needs);
    let project = Project::default();
    let mut files: Vec<Source> = Vec::new();
    for package in HEADERS {
        files.extend(sources(
            &Path::new("/usr/include").join(package.folder),
            &project,
        ));
    }
    let crate_folder = crate_source(RPMALLOC.0, RPMALLOC.1).expect("just seen");
    files.extend(sources(&crate_folder, &project));
    assert!(files.len() > 30, "only {} files with sites", files.len());

    let mut random = Rng::new(5);
    let sets = number("WMFIX_REWRITER_SETS", 2000);
    let (mut changes, mut refused, mut empty) = (0, 0, 0);
    for batch in 0..sets.div_ceil(BATCH) {
        let mut results = Vec::new();
        for number in 0..BATCH.min(sets - batch * BATCH) {
            let source = &files[random.below(files.len())];
            let set: Vec<TextChange> = (0..=random.below(20))
                .map(|_| {
                    let site = random.below(source.sites.len());
                    random_change(&mut random, &source.sites[site])
                })
                .collect();
            let rewritten = rewrite(&source.file, &source.sites, &set, &project);
            let after = rewritten
                .edits
                .apply(source.file.text())
                .expect("the same text");
            check_set(source, rewritten.edits.edits(), &after);
            changes += set.len();
            // An order that a variable holds is somebody else's to raise.
            let computed = |refusal: &Refusal| matches!(refusal, Refusal::OrderIsComputed(_));
            let others = rewritten.refused.iter().filter(|(_, why)| !computed(why));
            refused += others.count();
            empty += usize::from(rewritten.edits.is_empty());
            results.push((format!("set_{number}"), source, after));
        }
        check_with_git(&results, batch == 0);
    }
    wmfix_tests::note!(
        "{sets} sets, {changes} changes, {refused} refused, {empty} sets without edits"
    );
    assert!(
        refused * 20 < changes,
        "{refused} of {changes} changes refused"
    );
    assert!(empty * 10 < sets, "{empty} of {sets} sets change nothing");
}

#[test]
fn changed_headers_still_compile() {
    let mut needs = header_needs();
    needs.extend(["g++", "clang++"].map(Need::Program));
    need(&needs);
    let project = Project::default();
    let rounds = number("WMFIX_REWRITER_ROUNDS", 8);
    for package in HEADERS {
        let files = sources(&Path::new("/usr/include").join(package.folder), &project);
        for round in 0..rounds {
            let mut random = Rng::new(u64::try_from(round).expect("small") + 77);
            let folder = tempfile::tempdir().expect("a folder");
            copy(
                &Path::new("/usr/include").join(package.folder),
                &folder.path().join(package.folder),
            );
            for source in &files {
                let mut set: Vec<TextChange> = Vec::new();
                for site in &source.sites {
                    if random.below(3) > 0 {
                        set.push(random_change(&mut random, site));
                    }
                }
                let edits = rewrite(&source.file, &source.sites, &set, &project).edits;
                let after = edits.apply(source.file.text()).expect("the same text");
                fs::write(folder.path().join(package.folder).join(&source.path), after)
                    .expect("a copy can be written");
            }
            let harness = folder.path().join("harness.cpp");
            fs::write(&harness, package.harness).expect("a file can be written");
            let compiler = ["g++", "clang++"][round % 2];
            let output = Command::new(compiler)
                .args(["-std=c++17", "-fsyntax-only", "-w", "-I"])
                .arg(folder.path())
                .arg(&harness)
                .output()
                .expect("the compiler runs");
            assert!(
                output.status.success(),
                "{} round {round} with {compiler}:\n{}",
                package.name,
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

fn header_needs() -> Vec<Need> {
    vec![
        Need::File("/usr/include/concurrentqueue", "libconcurrentqueue-dev"),
        Need::File("/usr/include/atomic_queue", "libatomic-queue-dev"),
        Need::File("/usr/include/xenium", "libxenium-dev"),
    ]
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}

/// The result parses no worse, and lines that no edit touches are all there.
fn check_set(source: &Source, edits: &[Edit], after: &[u8]) {
    let parsed = ParsedFile::parse(&source.path, after, source.file.language());
    let before_errors = errors(source.file.tree().root_node());
    let after_errors = errors(parsed.tree().root_node());
    assert!(after_errors <= before_errors, "{}", source.path.display());

    let before = source.file.text();
    let mut rest = after.split_inclusive(|&byte| byte == b'\n');
    let mut start = 0;
    for line in before.split_inclusive(|&byte| byte == b'\n') {
        let end = start + line.len();
        let touched = edits
            .iter()
            .any(|edit| edit.span.start < end && edit.span.end >= start);
        if !touched {
            assert!(
                rest.any(|other| other == line),
                "{}: lost {}",
                source.path.display(),
                String::from_utf8_lossy(line)
            );
        }
        start = end;
    }
}

fn errors(node: Node<'_>) -> usize {
    if !node.has_error() {
        return 0;
    }
    let mut cursor = node.walk();
    let own = usize::from(node.is_error() || node.is_missing());
    own + node.children(&mut cursor).map(errors).sum::<usize>()
}

/// The diffs of all results as one patch: applied and taken back by git, and once
/// by `patch`.
fn check_with_git(results: &[(String, &Source, Vec<u8>)], with_patch: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut patch = Vec::new();
    for (set, source, after) in results {
        let path = Path::new(set).join(&source.path);
        let full = folder.path().join(&path);
        fs::create_dir_all(full.parent().expect("a folder")).expect("a folder can be made");
        fs::write(&full, source.file.text()).expect("a file can be written");
        patch.extend(unified_diff(&path, source.file.text(), after));
    }
    fs::write(folder.path().join("all.patch"), &patch).expect("a file can be written");
    let text_of = |set: &str, source: &Source| {
        fs::read(folder.path().join(set).join(&source.path)).expect("a file can be read")
    };
    let expect = |changed: bool| {
        for (set, source, after) in results {
            let expected = if changed {
                after.as_slice()
            } else {
                source.file.text()
            };
            assert!(
                text_of(set, source) == expected,
                "{set} {}",
                source.path.display()
            );
        }
    };
    run(folder.path(), "git", &["apply", "--check", "all.patch"]);
    run(folder.path(), "git", &["apply", "all.patch"]);
    expect(true);
    run(folder.path(), "git", &["apply", "-R", "all.patch"]);
    expect(false);
    if with_patch {
        run(folder.path(), "patch", &["-p1", "-s", "-i", "all.patch"]);
        expect(true);
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder can be listed") {
        let entry = entry.expect("a folder can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}
