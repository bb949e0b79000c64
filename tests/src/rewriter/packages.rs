//! Real packages to change at random: header-only C++ libraries and C sources,
//! each with the sites of its files, and random changes with a fixed seed.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, SiteOperation, scan_parsed};
use wmfix_rewriter::{Project, TextChange, TextChangeKind};

use crate::rng::Rng;

/// A package: where its sources are, and how they are used.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// A folder below `/usr/include`.
    pub folder: &'static str,
    /// A program that uses as much of it as it can.
    pub harness: &'static str,
}

/// Header-only packages, from Debian.
pub const HEADERS: [Package; 3] = [
    Package {
        name: "libconcurrentqueue-dev",
        folder: "concurrentqueue",
        harness: include_str!("../../corpus/rewriter/harness/concurrentqueue.cpp"),
    },
    Package {
        name: "libatomic-queue-dev",
        folder: "atomic_queue",
        harness: include_str!("../../corpus/rewriter/harness/atomic_queue.cpp"),
    },
    Package {
        name: "libxenium-dev",
        folder: "xenium",
        harness: include_str!("../../corpus/rewriter/harness/xenium.cpp"),
    },
];

/// One file with sites.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path below the package's folder.
    pub path: PathBuf,
    /// The file, parsed.
    pub file: ParsedFile,
    /// Its sites.
    pub sites: Vec<Site>,
}

/// The files below `folder` that have sites, in the order of their paths.
pub fn sources(folder: &Path, project: &Project) -> Vec<Source> {
    let mut paths = Vec::new();
    collect(folder, &mut paths);
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read(&path).expect("a package can be read");
        let Some(language) = Language::of(&path, &text) else {
            continue;
        };
        let relative = path
            .strip_prefix(folder)
            .expect("below the folder")
            .to_owned();
        let file = ParsedFile::parse(&relative, text, language);
        let mut sites = scan_parsed(&file, &project.vocabularies).sites;
        sites.retain(|site| site.operation != SiteOperation::SignalFence);
        if !sites.is_empty() {
            sources.push(Source {
                path: relative,
                file,
                sites,
            });
        }
    }
    sources
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a package can be listed") {
        let path = entry.expect("a package can be listed").path();
        if path.is_dir() {
            collect(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

/// A random change that makes sense at `site`.
pub fn random_change(random: &mut Rng, site: &Site) -> TextChange {
    use MemoryOrder::{AcqRel, Acquire, Release, SeqCst};
    let orders: &[MemoryOrder] = match site.operation {
        SiteOperation::Load => &[Acquire, SeqCst],
        SiteOperation::Store => &[Release, SeqCst],
        SiteOperation::Rmw | SiteOperation::CompareExchange { .. } => {
            &[Acquire, Release, AcqRel, SeqCst]
        }
        SiteOperation::Fence | SiteOperation::SignalFence => &[SeqCst],
    };
    let fence = [Acquire, Release, AcqRel, SeqCst][random.below(4)];
    let action = match random.below(3) {
        0 => TextChangeKind::FenceBefore(fence),
        1 => TextChangeKind::FenceAfter(fence),
        _ => TextChangeKind::Raise {
            order: orders[random.below(orders.len())],
            failure: None,
        },
    };
    TextChange::new(site.clone(), action)
}
