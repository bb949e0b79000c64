//! Vocabularies: how families of atomics are spelled. The built-in ones are
//! written in the same text as a project's own, and go through the same code.

mod config;
pub(crate) mod rule;

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use self::config::{RawVocabulary, Style};
use self::rule::{Rule, Wildcard};
use crate::order::MemoryOrder;

const BUILTIN: [&str; 10] = [
    include_str!("builtin/std.toml"),
    include_str!("builtin/c11.toml"),
    include_str!("builtin/gnu.toml"),
    include_str!("builtin/boost.toml"),
    include_str!("builtin/mimalloc.toml"),
    include_str!("builtin/vsync.toml"),
    include_str!("builtin/linux.toml"),
    include_str!("builtin/linux_atomic.toml"),
    include_str!("builtin/subtle.toml"),
    include_str!("builtin/volatile.toml"),
];

/// What a scan points out besides atomic operations.
const UNINSTRUMENTED_WORDS: [&str; 4] = ["__asm", "asm volatile", "asm(", "no_sanitize"];

/// A vocabulary text that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VocabularyError {
    /// The text is not a vocabulary.
    #[error("vocabulary {number}: {source}")]
    Text {
        /// Which one of the project's vocabularies, from 1.
        number: usize,
        /// What is wrong with it.
        source: toml::de::Error,
    },
    /// The section is not a list of vocabularies.
    #[error("`vocabulary` must be a list of tables: write [[vocabulary]]")]
    NotAList,
    /// Two vocabularies have one name.
    #[error("vocabulary `{0}` is there twice: give one of them another name")]
    Twice(String),
    /// A suffix vocabulary has no suffixes.
    #[error("vocabulary `{0}` has the suffix style but no [vocabulary.orders]")]
    NoSuffixes(String),
}

/// How one family of atomics is spelled, as far as edits need to know.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Its name, as in [`crate::Site::vocabulary`].
    pub name: Arc<str>,
    /// The header that declares it, without brackets.
    pub header: Option<String>,
    style: Style,
    fence: Option<String>,
    orders: Vec<(MemoryOrder, String)>,
    requires: Vec<String>,
}

impl Vocabulary {
    /// How this vocabulary writes an order: an argument's text, or a suffix.
    pub fn spell(&self, order: MemoryOrder) -> Option<&str> {
        self.orders
            .iter()
            .find(|(known, _)| *known == order)
            .map(|(_, text)| text.as_str())
    }

    /// Whether orders are suffixes of the callee's name.
    pub fn has_suffixes(&self) -> bool {
        self.style == Style::Suffix
    }

    /// A fence of this order, without a semicolon, if the vocabulary has one.
    pub fn fence(&self, order: MemoryOrder) -> Option<String> {
        let fence = self.fence.as_ref()?;
        if fence.contains("{order}") {
            Some(fence.replace("{order}", self.spell(order)?))
        } else {
            (order == MemoryOrder::SeqCst).then(|| fence.clone())
        }
    }
}

/// All vocabularies that a scan knows.
#[derive(Clone, Debug)]
pub struct Vocabularies {
    list: Vec<Vocabulary>,
    names: FxHashMap<String, Vec<Rule>>,
    wildcards: Vec<(Wildcard, Rule)>,
    types: FxHashMap<String, usize>,
    words: Vec<String>,
    filter: AhoCorasick,
    volatile: bool,
}

impl Default for Vocabularies {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Vocabularies {
    /// The built-in vocabularies.
    pub fn builtin() -> Self {
        let mut all = Self {
            list: Vec::new(),
            names: FxHashMap::default(),
            wildcards: Vec::new(),
            types: FxHashMap::default(),
            words: UNINSTRUMENTED_WORDS
                .iter()
                .map(|&word| word.to_owned())
                .collect(),
            filter: filter(&[]),
            volatile: false,
        };
        for text in BUILTIN {
            let raw = toml::from_str(text).expect("a built-in vocabulary is well formed");
            all.add(raw).expect("built-in vocabularies fit together");
        }
        all.filter = filter(&all.words);
        all
    }

    /// The built-in vocabularies and those of a project: `section` is the value
    /// of `vocabulary` in its wmfix.toml, a list of tables.
    ///
    /// # Errors
    /// When the section is not well formed.
    pub fn with_project(section: Option<&toml::Value>) -> Result<Self, VocabularyError> {
        let mut all = Self::builtin();
        let Some(section) = section else {
            return Ok(all);
        };
        let tables = section.as_array().ok_or(VocabularyError::NotAList)?;
        for (at, table) in tables.iter().enumerate() {
            let raw: RawVocabulary =
                table
                    .clone()
                    .try_into()
                    .map_err(|source| VocabularyError::Text {
                        number: at + 1,
                        source,
                    })?;
            all.add(raw)?;
        }
        all.filter = filter(&all.words);
        Ok(all)
    }

    /// Also takes accesses to volatile objects for atomic ones.
    pub fn and_volatile(mut self) -> Self {
        self.volatile = true;
        self.words.push("volatile".to_owned());
        self.filter = filter(&self.words);
        self
    }

    /// The vocabulary of this name.
    pub fn get(&self, name: &str) -> Option<&Vocabulary> {
        self.list.iter().find(|v| &*v.name == name)
    }

    /// Every vocabulary.
    pub fn iter(&self) -> impl Iterator<Item = &Vocabulary> {
        self.list.iter()
    }

    /// Whether a function or macro of this name is one of a layer that a
    /// vocabulary describes: its calls are the operations, whatever its body does.
    /// A method counts only if the project says so, as too many have a name like
    /// `load`.
    pub fn describes(&self, name: &str) -> bool {
        self.rules(name)
            .any(|rule| !rule.member || self.is_project(rule.vocabulary))
    }

    /// Whether a vocabulary is the project's own.
    pub(crate) fn is_project(&self, index: usize) -> bool {
        index >= BUILTIN.len()
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|v| &*v.name == name)
    }

    pub(crate) fn takes_volatile(&self) -> bool {
        self.volatile
    }

    pub(crate) fn by_index(&self, index: usize) -> &Vocabulary {
        &self.list[index]
    }

    /// The rules for calls of `name`, a project's before ours.
    pub(crate) fn rules<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Rule> {
        let exact = self.names.get(name).into_iter().flatten().rev();
        // The most specific pattern first: `get_*_acq` before `get_*`.
        let mut fitting: Vec<&(Wildcard, Rule)> = self
            .wildcards
            .iter()
            .rev()
            .filter(|(wildcard, _)| wildcard.matches(name))
            .collect();
        fitting.sort_by_key(|(wildcard, _)| std::cmp::Reverse(wildcard.literal_length()));
        let fitting = fitting.into_iter().map(|(_, rule)| rule);
        exact.chain(fitting)
    }

    /// The order that a vocabulary spells so.
    pub(crate) fn order_spelled(&self, text: &str) -> Option<MemoryOrder> {
        self.list
            .iter()
            .filter(|vocabulary| vocabulary.style != Style::Suffix)
            .flat_map(|vocabulary| &vocabulary.orders)
            .find(|(_, spelling)| spelling == text)
            .map(|(order, _)| *order)
    }

    /// The vocabulary that an atomic type belongs to.
    pub(crate) fn type_vocabulary(&self, name: &str) -> Option<usize> {
        self.types.get(name).copied()
    }

    /// Whether a text may hold anything for a scan: most files of a tree do not,
    /// and are never parsed.
    pub(crate) fn worth_parsing(&self, text: &[u8]) -> bool {
        self.filter.is_match(text)
    }

    /// Which vocabularies count in a file with this text.
    pub(crate) fn active_in(&self, text: &[u8]) -> Vec<bool> {
        self.list
            .iter()
            .map(|vocabulary| {
                vocabulary.requires.is_empty()
                    || vocabulary
                        .requires
                        .iter()
                        .any(|needle| memchr::memmem::find(text, needle.as_bytes()).is_some())
            })
            .collect()
    }

    fn add(&mut self, raw: RawVocabulary) -> Result<(), VocabularyError> {
        if self.get(&raw.name).is_some() {
            return Err(VocabularyError::Twice(raw.name));
        }
        if raw.style == Style::Suffix && raw.orders.is_empty() {
            return Err(VocabularyError::NoSuffixes(raw.name));
        }
        let index = self.list.len();
        let rules = raw.rules(index);
        if raw.words.is_empty() {
            for (pattern, _) in &rules {
                let wildcard = Wildcard::parse(pattern);
                let word = wildcard.as_ref().map_or(pattern.as_str(), Wildcard::word);
                self.words.push(word.to_owned());
            }
            self.words.extend(raw.types.iter().cloned());
        } else {
            self.words.extend(raw.words.iter().cloned());
        }
        for (pattern, rule) in rules {
            match Wildcard::parse(&pattern) {
                Some(wildcard) => self.wildcards.push((wildcard, rule)),
                None => self.names.entry(pattern).or_default().push(rule),
            }
        }
        for name in raw.types {
            self.types.insert(name, index);
        }
        self.list.push(Vocabulary {
            name: raw.name.into(),
            header: raw.header,
            style: raw.style,
            fence: raw.fence,
            orders: raw
                .orders
                .into_iter()
                .map(|(order, text)| (order.into(), text))
                .collect(),
            requires: raw.requires,
        });
        Ok(())
    }
}

fn filter(words: &[String]) -> AhoCorasick {
    AhoCorasick::new(words).expect("a few hundred words fit into an automaton")
}
