//! Findings that are allowed, and what was to allow some and does not.

use std::collections::BTreeSet;

use super::spots::SpotFinder;
use crate::allow::Allowances;
use crate::report::model::{AllowedFinding, Finding, SourceLine};

/// What is allowed, and what of that was found.
pub struct AppliedAllowances<'a> {
    /// What is allowed.
    pub allowances: &'a Allowances,
    /// What of that was found.
    pub allowed: Vec<AllowedFinding>,
    used: BTreeSet<usize>,
}

impl<'a> AppliedAllowances<'a> {
    /// Nothing was found yet.
    pub fn new(allowances: &'a Allowances) -> Self {
        Self {
            allowances,
            allowed: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// A finding is allowed, by the allowance of this number.
    pub fn allow(&mut self, id: String, finding: Finding, number: usize, spots: &SpotFinder<'_>) {
        let allowance = &self.allowances.all()[number];
        self.used.insert(number);
        self.allowed.push(AllowedFinding {
            id,
            reason: allowance.reason.clone().unwrap_or_default(),
            by: SourceLine {
                file: spots.shown(&allowance.file),
                line: allowance.line,
            },
            finding,
        });
    }

    /// What was to allow something and does not.
    pub fn notes(&self, spots: &SpotFinder<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        for (number, allowance) in self.allowances.all().iter().enumerate() {
            let place = format!("{}:{}", spots.shown(&allowance.file), allowance.line);
            match &allowance.reason {
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
