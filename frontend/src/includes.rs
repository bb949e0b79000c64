//! Which headers of a tree a file includes, directly or through others, without
//! knowing the compiler's search paths: by the end of the path, as written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::declared::Declared;

/// How many headers are followed from one file: enough for real projects, and an
/// end for generated ones.
const MOST_HEADERS: usize = 1000;

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

/// What the files of a tree declare for each other.
pub(crate) struct Headers {
    /// Files by their last component.
    by_name: FxHashMap<String, Vec<PathBuf>>,
    files: FxHashMap<PathBuf, Header>,
    /// Every name that some header declares and that could be atomic.
    names: Option<AhoCorasick>,
    /// The names, in the order of the automaton.
    list: Vec<String>,
}

struct Header {
    includes: Vec<String>,
    declared: Option<Arc<Declared>>,
}

impl Headers {
    /// Takes each file with its includes and, if it was parsed, its declarations.
    pub fn of<'a>(
        files: impl Iterator<Item = (&'a Path, &'a [String], Option<&'a Arc<Declared>>)>,
    ) -> Self {
        let mut headers = Self {
            by_name: FxHashMap::default(),
            files: FxHashMap::default(),
            names: None,
            list: Vec::new(),
        };
        let mut names = FxHashSet::default();
        for (path, includes, declared) in files {
            if let Some(name) = path.file_name() {
                let same = headers.by_name.entry(name.to_string_lossy().into_owned());
                same.or_default().push(path.to_path_buf());
            }
            if let Some(declared) = declared {
                names.extend(declared.exported_names().map(str::to_owned));
            }
            let header = Header {
                includes: includes.to_vec(),
                declared: declared.cloned(),
            };
            headers.files.insert(path.to_path_buf(), header);
        }
        headers.list = names.into_iter().collect();
        headers.names = AhoCorasick::new(&headers.list).ok();
        headers
    }

    /// The declarations of every parsed header that a file includes.
    pub fn imports(&self, path: &Path) -> Vec<Arc<Declared>> {
        let mut seen: FxHashSet<&Path> = FxHashSet::default();
        let mut imports = Vec::new();
        let mut queue: Vec<&Path> = vec![path];
        while let Some(path) = queue.pop() {
            let Some(header) = self.files.get(path) else {
                continue;
            };
            for include in &header.includes {
                if let Some(found) = self.resolve(include, path)
                    && seen.len() < MOST_HEADERS
                    && seen.insert(found)
                {
                    queue.push(found);
                }
            }
        }
        let mut seen: Vec<&Path> = seen.into_iter().filter(|found| *found != path).collect();
        seen.sort_unstable();
        for found in seen {
            let declared = self.files.get(found).and_then(|f| f.declared.clone());
            imports.extend(declared.filter(|d| d.exported_names().next().is_some()));
        }
        imports
    }

    /// Whether a text mentions, as a word, anything that its headers declare.
    pub fn mentions(&self, text: &[u8], imports: &[Arc<Declared>]) -> bool {
        let Some(automaton) = &self.names else {
            return true;
        };
        let wanted: FxHashSet<&str> = imports
            .iter()
            .flat_map(|import| import.exported_names())
            .collect();
        let is_word =
            |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        automaton.find_overlapping_iter(text).any(|hit| {
            let inside = is_word(text.get(hit.end()))
                || (hit.start() > 0 && is_word(text.get(hit.start() - 1)));
            !inside && wanted.contains(self.list[hit.pattern().as_usize()].as_str())
        })
    }

    /// The file that an include means: the one that shares the most with the path
    /// of the file that includes it, of those that end as written.
    fn resolve(&self, include: &str, from: &Path) -> Option<&Path> {
        let wanted = Path::new(include);
        let wanted: PathBuf = wanted
            .components()
            .filter(|part| matches!(part, std::path::Component::Normal(_)))
            .collect();
        let name = wanted.file_name()?.to_string_lossy();
        let shared = |path: &Path| {
            path.components()
                .zip(from.components())
                .take_while(|(a, b)| a == b)
                .count()
        };
        self.by_name
            .get(&*name)?
            .iter()
            .filter(|path| path.ends_with(&wanted))
            .max_by_key(|path| shared(path))
            .map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::includes;

    #[test]
    fn includes_are_read_as_written() {
        let text =
            b"#include <a/b.h>\n# include \"c.h\" // why\n#include MACRO\n// include <no.h>\n";
        assert_eq!(includes(text), ["a/b.h", "c.h"]);
    }
}
