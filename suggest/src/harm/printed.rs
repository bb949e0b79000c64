//! What a run printed, as far as runs are compared by it: as a whole, and word by word
//! where some of the words are the time.

use std::collections::BTreeSet;

use super::noise::Noise;
use crate::findings::fingerprint;

/// Of a longer text the words are not compared.
const MOST_WORDS: usize = 1 << 16;

/// What a run printed.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    /// Equal for equal texts.
    pub(super) fingerprint: u64,
    /// The same for each word of it; `None` if they are too many.
    words: Option<Vec<u64>>,
}

impl Printed {
    /// A text.
    pub(super) fn of(text: &[u8]) -> Self {
        let words = text.split(u8::is_ascii_whitespace).map(fingerprint);
        let words: Vec<u64> = words.take(MOST_WORDS + 1).collect();
        Self {
            fingerprint: fingerprint(text),
            words: (words.len() <= MOST_WORDS).then_some(words),
        }
    }

    /// Whether the other is the same but for noise.
    pub(super) fn is_same(&self, other: &Self, noise: &Noise) -> bool {
        self.fingerprint == other.fingerprint
            || self.pairs(other).is_some_and(|mut pairs| {
                pairs.all(|(number, (one, other))| one == other || noise.has_word(number))
            })
    }

    /// The words that differ, by their numbers.
    pub(super) fn different_words(&self, other: &Self) -> BTreeSet<usize> {
        let pairs = self.pairs(other).into_iter().flatten();
        let differ = pairs.filter(|(_, (one, other))| one != other);
        differ.map(|(number, _)| number).collect()
    }

    /// The words of both, if they are as many.
    fn pairs<'a>(
        &'a self,
        other: &'a Self,
    ) -> Option<impl Iterator<Item = (usize, (&'a u64, &'a u64))>> {
        let (one, other) = (self.words.as_ref()?, other.words.as_ref()?);
        (one.len() == other.len()).then(|| one.iter().zip(other).enumerate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_anyway_may_differ() {
        let [one, again] = ["took 3 ms\nsum 7\n", "took 5 ms\nsum 7\n"].map(of);
        let noise = Noise::Of {
            addresses: BTreeSet::new(),
            words: one.different_words(&again),
        };
        let is_same = |text: &str| one.is_same(&of(text), &noise);
        assert!(is_same("took 3 ms\nsum 7\n") && is_same("took 4 ms\nsum 7\n"));
        assert!(!is_same("took 4 ms\nsum 8\n"), "another value");
        assert!(!is_same("took 4 ms\nsum 7\nand more\n"), "more of it");
        assert!(!one.is_same(&again, &Noise::default()));
    }

    #[test]
    fn of_a_long_text_only_the_whole_is_compared() {
        let long = "a ".repeat(MOST_WORDS);
        let other = format!("b {}", &long[2..]);
        assert!(of(&long).is_same(&of(&long), &Noise::default()));
        assert!(!of(&long).is_same(&of(&other), &Noise::AllValues));
    }

    fn of(text: &str) -> Printed {
        Printed::of(text.as_bytes())
    }
}
