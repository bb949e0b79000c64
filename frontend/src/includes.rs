//! Which headers of a tree a file includes, directly or through others, without
//! knowing the compiler's search paths: by the end of the path, as written. Knows
//! files by their place in a sorted list; what is in them it does not know.

use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many headers are followed from one file: enough for real projects, and an
/// end for generated ones.
pub(crate) const MAX_HEADERS: usize = 1000;

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

/// The files of a tree, each with those that it includes itself.
pub(crate) struct Includes {
    direct: Vec<Vec<usize>>,
}

impl Includes {
    /// Finds the files that are meant by what each of these files, sorted by path,
    /// includes.
    pub(crate) fn of(files: &[(&Path, &[String])]) -> Self {
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (number, (path, _)) in files.iter().enumerate() {
            if let Some(name) = path.file_name() {
                let same = by_name.entry(name.to_string_lossy().into_owned());
                same.or_default().push(number);
            }
        }
        let direct = files
            .par_iter()
            .map(|(from, written)| {
                let meant = written
                    .iter()
                    .filter_map(|include| resolve(include, from, files, &by_name));
                meant.collect()
            })
            .collect();
        Self { direct }
    }

    /// Which files are included by another one.
    pub(crate) fn included(&self) -> Vec<bool> {
        let mut included = vec![false; self.direct.len()];
        for (from, meant) in self.direct.iter().enumerate() {
            for &header in meant.iter().filter(|&&header| header != from) {
                included[header] = true;
            }
        }
        included
    }

    /// The files that a file includes, directly or through others, sorted.
    pub(crate) fn reachable(&self, from: usize) -> Vec<usize> {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut queue = vec![from];
        while let Some(file) = queue.pop() {
            for &header in &self.direct[file] {
                if seen.len() < MAX_HEADERS && seen.insert(header) {
                    queue.push(header);
                }
            }
        }
        seen.remove(&from);
        let mut headers: Vec<usize> = seen.into_iter().collect();
        headers.sort_unstable();
        headers
    }
}

/// The file that an include means: the one that shares the most with the path of
/// the file that includes it, of those that end as written.
fn resolve(
    include: &str,
    from: &Path,
    files: &[(&Path, &[String])],
    by_name: &FxHashMap<String, Vec<usize>>,
) -> Option<usize> {
    let wanted: PathBuf = Path::new(include)
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    let name = wanted.file_name()?.to_string_lossy();
    let shared = |path: &Path| {
        path.components()
            .zip(from.components())
            .take_while(|(a, b)| a == b)
            .count()
    };
    by_name
        .get(&*name)?
        .iter()
        .copied()
        .filter(|&number| files[number].0.ends_with(&wanted))
        .max_by_key(|&number| shared(files[number].0))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Includes, includes};

    #[test]
    fn includes_are_read_as_written() {
        let text =
            b"#include <a/b.h>\n# include \"c.h\" // why\n#include MACRO\n// include <no.h>\n";
        assert_eq!(includes(text), ["a/b.h", "c.h"]);
    }

    #[test]
    fn the_nearest_file_of_the_name_is_meant_and_followed() {
        let one = |name: &str| vec![name.to_owned()];
        let (left, right, common) = (one("x.h"), one("x.h"), one("../common.h"));
        let files = [
            ("common.h", &[][..]),
            ("left/a.c", &left),
            ("left/x.h", &common),
            ("right/a.c", &right),
            ("right/x.h", &[][..]),
        ]
        .map(|(path, includes)| (Path::new(path), includes));
        let graph = Includes::of(&files);
        assert_eq!(graph.reachable(1), [0, 2]);
        assert_eq!(graph.reachable(3), [4]);
        assert_eq!(graph.included(), [true, false, true, false, true]);
    }
}
