//! Which headers of a tree a file includes, directly or through others, and which
//! files a header is read with, without knowing the compiler's search paths: by the
//! end of the path, as written. Knows files by their place in a sorted list; what is
//! in them it does not know.

use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many headers are followed from one file: enough for real projects, and an
/// end for generated ones.
pub(crate) const MAX_HEADERS: usize = 1000;

/// A header that more files include is understood by itself: what so many have in common
/// is what it includes.
const MAX_INCLUDERS: usize = 8;

/// The headers that a text includes, as written.
pub(crate) fn includes(text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text, b"include") {
        let before = text[..at].trim_ascii_end();
        if before.last() != Some(&b'#') {
            continue;
        }
        let rest = text[at + b"include".len()..].trim_ascii_start();
        let close = match rest.first() {
            Some(b'<') => b'>',
            Some(b'"') => b'"',
            _ => continue,
        };
        let name = rest[1..].split(|&b| b == close || b == b'\n').next();
        found.extend(name.map(|name| String::from_utf8_lossy(name).into_owned()));
    }
    found
}

/// The files of a tree by their names.
#[derive(Debug)]
pub(crate) struct FileNames {
    by_name: FxHashMap<String, Vec<usize>>,
}

impl FileNames {
    /// The names of these files.
    pub(crate) fn of<P: AsRef<Path>>(paths: &[P]) -> Self {
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (number, path) in paths.iter().enumerate() {
            if let Some(name) = path.as_ref().file_name() {
                let same = by_name.entry(name.to_string_lossy().into_owned());
                same.or_default().push(number);
            }
        }
        Self { by_name }
    }

    /// The files that an include may mean: those that share the most with the path of
    /// the file that includes them, of those that end as written.
    pub(crate) fn meant<P: AsRef<Path>>(
        &self,
        include: &str,
        from: &Path,
        paths: &[P],
    ) -> Vec<usize> {
        let wanted: PathBuf = Path::new(include)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let name = wanted.file_name().map(|name| name.to_string_lossy());
        let same = name.and_then(|name| self.by_name.get(&*name));
        let shared = |number: usize| {
            let parts = paths[number].as_ref().components();
            let both = parts.zip(from.components());
            both.take_while(|(a, b)| a == b).count()
        };
        let mut meant: Vec<(usize, usize)> = (same.into_iter().flatten())
            .filter(|&&number| paths[number].as_ref().ends_with(&wanted))
            .map(|&number| (shared(number), number))
            .collect();
        let most = meant.iter().map(|(shared, _)| *shared).max();
        meant.retain(|(shared, _)| Some(*shared) == most);
        meant.into_iter().map(|(_, number)| number).collect()
    }
}

/// The files of a tree, each with those that it includes itself.
#[derive(Debug)]
pub(crate) struct Includes {
    direct: Vec<Vec<usize>>,
    included_by: Vec<Vec<usize>>,
}

impl Includes {
    /// Finds the files that are meant by what each of these files, sorted by path,
    /// includes, where that can mean one only.
    pub(crate) fn of<P: AsRef<Path> + Sync>(
        paths: &[P],
        written: &[Vec<String>],
        names: &FileNames,
    ) -> Self {
        let direct: Vec<Vec<usize>> = paths
            .par_iter()
            .zip(written)
            .map(|(from, written)| {
                let meant = written.iter().filter_map(|include| {
                    match *names.meant(include, from.as_ref(), paths) {
                        [one] => Some(one),
                        _ => None,
                    }
                });
                meant.collect()
            })
            .collect();
        let mut included_by = vec![Vec::new(); paths.len()];
        for (from, meant) in direct.iter().enumerate() {
            for &header in meant.iter().filter(|&&header| header != from) {
                included_by[header].push(from);
            }
        }
        Self {
            direct,
            included_by,
        }
    }

    /// Which files are included by another one.
    pub(crate) fn included(&self) -> Vec<bool> {
        let any = self.included_by.iter().map(|files| !files.is_empty());
        any.collect()
    }

    /// The files that a file is read with, sorted: those that it includes, directly or
    /// through others, and those that include it, with what these include.
    pub(crate) fn read_with(&self, file: usize) -> Vec<usize> {
        let mut includers: FxHashSet<usize> = FxHashSet::default();
        let mut level = vec![file];
        loop {
            let above = level.iter().flat_map(|&below| &self.included_by[below]);
            let mut above: Vec<usize> = above
                .copied()
                .filter(|&from| from != file && !includers.contains(&from))
                .collect();
            above.sort_unstable();
            above.dedup();
            if above.is_empty() || above.len() > MAX_INCLUDERS {
                break;
            }
            includers.extend(&above);
            level = above;
        }
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        // What the file includes itself must have room, whoever includes it.
        self.follow(vec![file], &mut seen);
        seen.extend(&includers);
        let mut includers: Vec<usize> = includers.into_iter().collect();
        includers.sort_unstable();
        self.follow(includers, &mut seen);
        seen.remove(&file);
        let mut headers: Vec<usize> = seen.into_iter().collect();
        headers.sort_unstable();
        headers
    }

    /// Adds what these files include, directly or through others.
    fn follow(&self, mut queue: Vec<usize>, seen: &mut FxHashSet<usize>) {
        while let Some(file) = queue.pop() {
            for &header in &self.direct[file] {
                if seen.len() < MAX_HEADERS && seen.insert(header) {
                    queue.push(header);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FileNames, Includes, MAX_INCLUDERS, includes};

    #[test]
    fn includes_are_read_as_written() {
        let text =
            b"#include <a/b.h>\n# include \"c.h\" // why\n#include MACRO\n// include <no.h>\n";
        assert_eq!(includes(text), ["a/b.h", "c.h"]);
    }

    /// The graph of these files, with the headers that each includes.
    fn graph(files: &[(&str, &[&str])]) -> Includes {
        let paths: Vec<&Path> = files.iter().map(|(path, _)| Path::new(*path)).collect();
        let written: Vec<Vec<String>> = (files.iter())
            .map(|(_, includes)| includes.iter().map(|&name| name.to_owned()).collect())
            .collect();
        Includes::of(&paths, &written, &FileNames::of(&paths))
    }

    #[test]
    fn the_nearest_file_of_the_name_is_meant_and_followed() {
        let graph = graph(&[
            ("common.h", &[]),
            ("left/a.c", &["x.h"]),
            ("left/x.h", &["../common.h"]),
            ("right/a.c", &["x.h"]),
            ("right/x.h", &[]),
        ]);
        assert_eq!(graph.read_with(1), [0, 2]);
        assert_eq!(graph.read_with(3), [4]);
        assert_eq!(graph.included(), [true, false, true, false, true]);
    }

    #[test]
    fn of_files_that_are_equally_near_none_is_meant() {
        let graph = graph(&[("arm/x.h", &[]), ("ring/a.c", &["x.h"]), ("x86/x.h", &[])]);
        assert_eq!(graph.read_with(1), []);
    }

    #[test]
    fn a_header_is_read_with_what_comes_before_it() {
        let graph = graph(&[
            ("atomic.h", &[]),
            ("ring.h", &["atomic.h", "ring_impl.h"]),
            ("ring_impl.h", &["ring_pvt.h"]),
            ("ring_pvt.h", &[]),
            ("test.c", &["ring.h"]),
        ]);
        assert_eq!(graph.read_with(3), [0, 1, 2, 4]);
        assert_eq!(graph.read_with(0), [1, 2, 3, 4]);
    }

    #[test]
    fn a_header_that_many_include_is_read_with_what_it_includes() {
        let mut files: Vec<(String, Vec<&str>)> = (0..=MAX_INCLUDERS)
            .map(|number| (format!("{number}.c"), vec!["common.h", "x.h"]))
            .collect();
        files.push(("common.h".to_owned(), vec!["own.h"]));
        files.push(("own.h".to_owned(), Vec::new()));
        files.push(("x.h".to_owned(), Vec::new()));
        let files: Vec<(&str, &[&str])> = (files.iter())
            .map(|(path, includes)| (path.as_str(), includes.as_slice()))
            .collect();
        assert_eq!(
            graph(&files).read_with(MAX_INCLUDERS + 1),
            [MAX_INCLUDERS + 2]
        );
    }
}
