//! Findings that are allowed, and what was to allow some and does not.

use std::collections::BTreeSet;

use super::spots::Spots;
use crate::allow::Grants;
use crate::report::model::{Allowed, Finding, Line};

/// What is allowed, and what of that was found.
pub struct Judged<'a> {
    /// What is allowed.
    pub grants: &'a Grants,
    /// What of that was found.
    pub allowed: Vec<Allowed>,
    used: BTreeSet<usize>,
}

impl<'a> Judged<'a> {
    /// Nothing was found yet.
    pub fn new(grants: &'a Grants) -> Self {
        Self {
            grants,
            allowed: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// A finding is allowed, by the grant of this number.
    pub fn allow(&mut self, id: String, finding: Finding, number: usize, spots: &Spots<'_>) {
        let grant = &self.grants.all()[number];
        self.used.insert(number);
        self.allowed.push(Allowed {
            id,
            reason: grant.reason.clone().unwrap_or_default(),
            by: Line {
                file: spots.shown(&grant.file),
                line: grant.line,
            },
            finding,
        });
    }

    /// What was to allow something and does not.
    pub fn notes(&self, spots: &Spots<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        for (number, grant) in self.grants.all().iter().enumerate() {
            let place = format!("{}:{}", spots.shown(&grant.file), grant.line);
            match &grant.reason {
                None => notes.push(format!(
                    "{place}: this allow has no reason, so it allows nothing: write wmfix: allow(why it is all right)"
                )),
                Some(_) if self.used.contains(&number) => {}
                Some(reason) => notes.push(format!(
                    "{place}: nothing was found that this allows ({reason})"
                )),
            }
        }
        notes
    }
}
