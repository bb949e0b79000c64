//! Names of findings that do not depend on the run, the machine or line numbers:
//! a readable beginning and a short hash of what both places are known by.

use std::collections::HashMap;

use crate::report::dossier::{FindingDetail, Spot};
use crate::report::model::StaleKind;

/// How many hexadecimal digits of the hash a name has.
const HASH_DIGITS: usize = 6;

/// The names given so far.
#[derive(Debug, Default)]
pub(super) struct StableIds {
    taken: HashMap<String, u32>,
}

impl StableIds {
    /// The name of a violation.
    pub(super) fn of_violation(&mut self, kind: StaleKind, detail: &FindingDetail) -> String {
        let word = match kind {
            StaleKind::Read => "load",
            StaleKind::Write => "store",
            StaleKind::Rmw => "rmw",
        };
        let write = detail.other.as_ref().map_or("", |spot| &spot.identity);
        let access = &detail.access;
        self.name(access, word, [word, &access.identity, write])
    }

    /// The name of a race. Which access came first is the schedule's doing.
    pub(super) fn of_race(&mut self, detail: &FindingDetail) -> String {
        let access = &detail.access;
        let other = detail.other.as_ref().unwrap_or(access);
        let (one, two) = match access.identity <= other.identity {
            true => (access, other),
            false => (other, access),
        };
        self.name(one, "race", ["race", &one.identity, &two.identity])
    }

    fn name(&mut self, spot: &Spot, word: &str, known_by: [&str; 3]) -> String {
        let hash = blake3::hash(known_by.join("\n").as_bytes()).to_hex();
        let file = spot.place.file.rsplit('/').next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        let function = last_word(&spot.place.function);
        let parts = [stem, &function, word, &hash[..HASH_DIGITS]];
        let parts: Vec<String> = parts
            .iter()
            .map(|part| plain(part))
            .filter(|part| !part.is_empty())
            .collect();
        let name = parts.join("-");
        // Places that nothing tells apart are numbered.
        let count = self.taken.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name,
            number => format!("{name}-{number}"),
        }
    }
}

/// A function's own name: without scopes, template arguments and signs.
fn last_word(function: &str) -> String {
    let mut depth = 0usize;
    let mut name = String::new();
    for character in function.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => name.push(character),
            _ => {}
        }
    }
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = name.split(|c| !of_name(c)).filter(|word| !word.is_empty());
    words.next_back().unwrap_or_default().to_owned()
}

fn plain(text: &str) -> String {
    let of_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    text.chars().filter(of_name).collect()
}

#[cfg(test)]
mod tests {
    use super::last_word;

    #[test]
    fn functions_are_called_by_their_last_word() {
        assert_eq!(last_word("alice"), "alice");
        assert_eq!(last_word("q::Queue<a::B<int>>::push"), "push");
        assert_eq!(last_word("q::Queue::push"), "push");
        assert_eq!(last_word("operator int"), "int");
    }
}
