//! What the headers of a tree declare for the files that include them: by which
//! names such a file could mean something atomic, and whether it uses any of them.
//! Most files do not, and need no second thought.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::declarations::Declarations;

/// The headers of a tree that declare something atomic.
pub(crate) struct Exports {
    /// By file: its declarations, if they are worth importing.
    declared: Vec<Option<Arc<Declarations>>>,
    /// Every name that a header declares and that could be atomic.
    names: Option<AhoCorasick>,
    /// For each name, in the order of the automaton, the files that declare it.
    declaring: Vec<Vec<usize>>,
    /// The files that use macros of others outside of functions, sorted: what they
    /// define has names that no file has.
    generating: Vec<usize>,
}

impl Exports {
    /// Takes the declarations of each file, where it was read for them.
    pub(crate) fn of(declared: Vec<Option<Arc<Declarations>>>) -> Self {
        let mut declaring: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let declared: Vec<_> = declared
            .into_iter()
            .enumerate()
            .map(|(number, declared)| {
                let declared = declared?;
                for name in declared.exported_names() {
                    declaring.entry(name.to_owned()).or_default().push(number);
                }
                let exports = declared.exported_names().next().is_some();
                (exports || !declared.open_uses.is_empty()).then_some(declared)
            })
            .collect();
        let is_template = |word: &str| {
            let mut all = declared.iter().flatten();
            all.any(|declared| declared.template(word).is_some())
        };
        let generates = |number: &usize| {
            let uses = declared[*number].as_ref().map(|d| d.open_uses.lines());
            let mut names = uses.into_iter().flatten();
            names.any(|line| is_template(line.split('(').next().unwrap_or_default()))
        };
        let generating = (0..declared.len()).filter(generates).collect();
        let (names, declaring): (Vec<String>, Vec<Vec<usize>>) = declaring.into_iter().unzip();
        Self {
            declared,
            names: AhoCorasick::new(&names).ok(),
            declaring,
            generating,
        }
    }

    /// The files that declare something atomic.
    pub(crate) fn all(&self) -> Vec<usize> {
        let numbers: Vec<usize> = (0..self.declared.len()).collect();
        self.among(&numbers)
    }

    /// Those of these files that declare something atomic.
    pub(crate) fn among(&self, files: &[usize]) -> Vec<usize> {
        let worth = |file: &&usize| self.declared[**file].is_some();
        files.iter().filter(worth).copied().collect()
    }

    /// The declarations of these files.
    pub(crate) fn declared(&self, files: &[usize]) -> Vec<Arc<Declarations>> {
        files
            .iter()
            .filter_map(|&file| self.declared[file].clone())
            .collect()
    }

    /// Whether a text mentions, as a word, anything that these files, which are
    /// sorted, declare, as far as can be told.
    pub(crate) fn are_mentioned(&self, text: &[u8], files: &[usize]) -> bool {
        let generates = |file: &usize| self.generating.binary_search(file).is_ok();
        if files.iter().any(generates) {
            return true;
        }
        let Some(names) = &self.names else {
            return true;
        };
        let is_word =
            |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        names.find_overlapping_iter(text).any(|hit| {
            let inside = is_word(text.get(hit.end()))
                || (hit.start() > 0 && is_word(text.get(hit.start() - 1)));
            !inside
                && self.declaring[hit.pattern().as_usize()]
                    .iter()
                    .any(|file| files.binary_search(file).is_ok())
        })
    }
}
