//! Precision on real packages: a sample of sites, drawn by seed, is checked against
//! the text by other means than the scan's; and no site is there twice.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Site, Vocabularies, scan_tree};
use wmfix_tests::registry::crate_source;
use wmfix_tests::rng::Rng;
use wmfix_tests::tools::{Need, need};

const SAMPLE: usize = 200;
const SEED: u64 = 20;

#[test]
fn a_sample_of_sites_is_what_it_says() {
    let crates = [
        ("libmimalloc-sys2", "0.1.65"),
        ("rpmalloc-sys", "0.2.3+b097fd0"),
        ("leveldb-sys", "2.0.9"),
    ];
    let folders = [
        ("/usr/include/concurrentqueue", "libconcurrentqueue-dev"),
        ("/usr/include/atomic_queue", "libatomic-queue-dev"),
        ("/usr/include/xenium", "libxenium-dev"),
        ("/usr/include/oneapi", "libtbb-dev"),
    ];
    let mut needs: Vec<Need> = crates.iter().map(|(n, v)| Need::Crate(n, v)).collect();
    needs.extend(
        folders
            .iter()
            .map(|(path, package)| Need::File(path, package)),
    );
    need(&needs);
    let mut trees: Vec<PathBuf> = folders
        .iter()
        .map(|(path, _)| PathBuf::from(path))
        .collect();
    trees.extend(
        crates
            .iter()
            .map(|(n, v)| crate_source(n, v).expect("just seen")),
    );

    let scan = scan_tree(&trees, &Vocabularies::builtin());
    let sites: Vec<&Site> = scan
        .files
        .iter()
        .flat_map(|(_, file)| &file.sites)
        .collect();
    let mut seen = HashSet::new();
    for site in &sites {
        let key = (
            site.file.clone(),
            site.span.clone(),
            site.callee_span.clone(),
        );
        assert!(seen.insert(key), "twice: {site:?}");
    }
    assert!(sites.len() > 10 * SAMPLE, "only {} sites", sites.len());

    let whole = Text::of(
        &scan
            .files
            .iter()
            .map(|(path, _)| path.as_path())
            .collect::<Vec<_>>(),
    );
    let mut random = Rng::new(SEED);
    let mut wrong = Vec::new();
    for _ in 0..SAMPLE {
        let site = sites[random.below(sites.len())];
        let text = std::fs::read(&*site.file).expect("it was scanned");
        if !is_right(site, &text, &whole) {
            let line = String::from_utf8_lossy(&text[site.span.clone()]).into_owned();
            wrong.push(format!(
                "{}:{}: {line}",
                site.file.display(),
                site.start.line
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every text of the trees: where declarations are looked for.
struct Text(String);

impl Text {
    fn of(paths: &[&Path]) -> Self {
        let mut all = String::new();
        for path in paths {
            let bytes = std::fs::read(path).expect("it was scanned");
            all += &String::from_utf8_lossy(&bytes);
            all.push('\n');
        }
        Self(all)
    }

    /// Whether some line both speaks of atomics (by whatever type) and has the name.
    fn declares_atomic(&self, name: &str) -> bool {
        self.0.lines().any(|line| {
            let lower = line.to_ascii_lowercase();
            lower.contains("atomic") && has_word(line, name)
        })
    }
}

fn is_right(site: &Site, text: &[u8], whole: &Text) -> bool {
    let span = &text[site.span.clone()];
    let callee = String::from_utf8_lossy(&text[site.callee_span.clone()]).into_owned();
    let within = site.span.start <= site.callee_span.start && site.callee_span.end <= site.span.end;
    let is_operator = !callee.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if site.callee == "read" || is_operator {
        let object = site.object.clone().expect("an operator has an object");
        let object = String::from_utf8_lossy(&text[object]).into_owned();
        let name = object
            .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .find(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
            .unwrap_or_default();
        return within && whole.declares_atomic(name);
    }
    let behind = text[site.callee_span.end..].trim_ascii_start();
    let opens = matches!(behind.first(), Some(b'(' | b'<' | b')'));
    within && opens && span.ends_with(b")") && is_known(&callee)
}

/// The names that atomics have, written down apart from the vocabularies.
fn is_known(name: &str) -> bool {
    let words = [
        "load",
        "store",
        "exchange",
        "compare_exchange",
        "fetch_",
        "test_and_set",
        "clear",
        "test",
        "wait",
        "fence",
        "cas",
        "add",
        "sub",
        "increment",
        "decrement",
        "or",
        "and",
    ];
    let bare = name
        .trim_start_matches("mi_")
        .trim_start_matches("__")
        .trim_start_matches("atomic_")
        .trim_start_matches("ptr_")
        .trim_start_matches("flag_")
        .trim_start_matches("thread_")
        .trim_start_matches("signal_");
    words.iter().any(|word| bare.starts_with(word)) || name.to_ascii_lowercase().contains("atomic")
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|part| part == word)
}
