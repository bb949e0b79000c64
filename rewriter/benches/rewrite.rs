//! How long ten thousand changes over a thousand files take, from parsed files
//! to diffs, and what share of it is parsing the results again.

use std::path::Path;
use std::sync::LazyLock;

use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, SiteOperation, scan_parsed};
use wmfix_rewriter::{Project, TextChange, TextChangeKind, rewrite, unified_diff};

const FILES: usize = 1000;
const CHANGES_PER_FILE: usize = 10;
const FUNCTIONS_PER_FILE: usize = 20;

struct Input {
    file: ParsedFile,
    sites: Vec<Site>,
    changes: Vec<TextChange>,
}

static INPUTS: LazyLock<Vec<Input>> = LazyLock::new(|| (0..FILES).map(input).collect());
static PROJECT: LazyLock<Project> = LazyLock::new(Project::default);

fn main() {
    LazyLock::force(&INPUTS);
    divan::main();
}

/// The whole way, one file after the other.
#[divan::bench(sample_count = 5)]
fn changes_to_diffs() -> usize {
    INPUTS.iter().map(diff).sum()
}

/// The whole way, on two threads.
#[divan::bench(sample_count = 5)]
fn changes_to_diffs_on_two_threads() -> usize {
    let half = INPUTS.len() / 2;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| INPUTS[half..].iter().map(diff).sum::<usize>());
        let own: usize = INPUTS[..half].iter().map(diff).sum();
        own + other.join().expect("the other half")
    })
}

/// Only parsing, which every changed text goes through once more.
#[divan::bench(sample_count = 5)]
fn parsing_alone() -> usize {
    let parse = |input: &Input| {
        let text = input.file.text().to_vec();
        let parsed = ParsedFile::parse(Path::new("a.cpp"), text, Language::Cpp);
        usize::from(parsed.tree().root_node().has_error())
    };
    INPUTS.iter().map(parse).sum()
}

fn diff(input: &Input) -> usize {
    let edits = rewrite(&input.file, &input.sites, &input.changes, &PROJECT).edits;
    let after = edits.apply(input.file.text()).expect("the same text");
    unified_diff(Path::new("a.cpp"), input.file.text(), &after).len()
}

/// A file of about two hundred lines with sites in many positions, and changes
/// spread over it.
fn input(number: usize) -> Input {
    let mut text = String::from("#include <atomic>\n\nstatic std::atomic<int> x{0}, y{0};\n\n");
    for function in 0..FUNCTIONS_PER_FILE {
        text.push_str(&format!(
            "int f{number}_{function}(int a) {{\n    x.store(a, std::memory_order_relaxed);\n    \
             if (y.load(std::memory_order_relaxed) == {function})\n        return a;\n    \
             while (x.load(std::memory_order_relaxed) > 7 && y.load(std::memory_order_relaxed))\n        \
             a += x.fetch_add(1, std::memory_order_relaxed);\n    return a ? x.load(std::memory_order_relaxed) : 0;\n}}\n\n"
        ));
    }
    let file = ParsedFile::parse(Path::new("a.cpp"), text.into_bytes(), Language::Cpp);
    let sites = scan_parsed(&file, &PROJECT.vocabularies).sites;
    let changes = (0..CHANGES_PER_FILE)
        .map(|index| {
            let site = &sites[(number + index * 11) % sites.len()];
            let action = match (number + index) % 3 {
                0 => TextChangeKind::FenceBefore(MemoryOrder::SeqCst),
                1 => TextChangeKind::FenceAfter(MemoryOrder::SeqCst),
                _ => TextChangeKind::Raise {
                    order: match site.operation {
                        SiteOperation::Store => MemoryOrder::Release,
                        _ => MemoryOrder::Acquire,
                    },
                    failure: None,
                },
            };
            TextChange::new(site.clone(), action)
        })
        .collect();
    Input {
        file,
        sites,
        changes,
    }
}
