//! What findings are known by: a key within one examination, the name that a
//! report gives them (V1, R1), and the one that they have in every report.

use std::collections::BTreeMap;

use wmfix_analysis::{SiteId, ViolationKind};

/// What tells findings apart: the places, and what could go stale (`None` for
/// a race).
pub(crate) type FindingKey = (SiteId, Option<SiteId>, Option<ViolationKind>);

/// The names that findings have in a report.
#[derive(Debug, Default)]
pub(crate) struct FindingNames {
    ids: BTreeMap<FindingKey, String>,
    stable: BTreeMap<String, String>,
}

impl FindingNames {
    /// Names a finding: in this report, and in every one.
    pub(crate) fn insert(&mut self, key: FindingKey, id: &str, stable_id: &str) {
        self.ids.insert(key, id.to_owned());
        self.stable.insert(id.to_owned(), stable_id.to_owned());
    }

    /// The names that some findings have in every report, each once.
    pub(crate) fn stable_of(&self, keys: &[FindingKey]) -> Vec<String> {
        let ids = self.of(keys);
        let stable = ids.iter().filter_map(|id| self.stable.get(id).cloned());
        stable.collect()
    }

    /// The names of some findings, each once. Other labels may show another newer
    /// write to the same access: that is the same finding to people.
    pub(crate) fn of(&self, keys: &[FindingKey]) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for key in keys {
            match self.ids.get(key) {
                Some(id) => ids.push(id.clone()),
                None => {
                    let same = self.ids.iter().filter(|(known, _)| {
                        known.0 == key.0 && known.2.is_some() == key.2.is_some()
                    });
                    ids.extend(same.map(|(_, id)| id.clone()));
                }
            }
        }
        sort_ids(&mut ids);
        ids
    }
}

/// V1, V2, V10, R1, each once.
pub(crate) fn sort_ids(ids: &mut Vec<String>) {
    ids.sort_by_cached_key(|id| (id.starts_with('R'), id.len(), id.clone()));
    ids.dedup();
}
