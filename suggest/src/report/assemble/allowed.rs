//! Findings that are allowed, and allowances that match nothing.

use std::collections::BTreeSet;

use super::spots::SpotFinder;
use crate::allow::Allowances;
use crate::report::model::{AllowedFinding, Finding, SourceLine};

/// The allowances of a program, and the findings that they match.
pub(super) struct AppliedAllowances<'a> {
    /// The allowances.
    pub allowances: &'a Allowances,
    /// The findings that they match.
    pub allowed: Vec<AllowedFinding>,
    used: BTreeSet<usize>,
}

impl<'a> AppliedAllowances<'a> {
    /// No finding yet.
    pub(super) fn new(allowances: &'a Allowances) -> Self {
        Self {
            allowances,
            allowed: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// A finding is allowed, by the allowance of this number.
    pub(super) fn allow(
        &mut self,
        id: String,
        finding: Finding,
        number: usize,
        spots: &SpotFinder<'_>,
    ) {
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

    /// How many violations are allowed.
    pub(super) fn violations(&self) -> usize {
        let is_violation = |one: &&AllowedFinding| matches!(one.finding, Finding::Violation(_));
        self.allowed.iter().filter(is_violation).count()
    }

    /// Allowances without a reason or without a finding.
    pub(super) fn notes(&self, spots: &SpotFinder<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        for (number, allowance) in self.allowances.all().iter().enumerate() {
            let place = format!("{}:{}", spots.shown(&allowance.file), allowance.line);
            match &allowance.reason {
                None => notes.push(format!(
                    "{place}: this allow has no reason and is ignored; write `wmfix: allow(reason)`"
                )),
                Some(_) if self.used.contains(&number) => {}
                Some(reason) => {
                    notes.push(format!("{place}: this allow matches no finding ({reason})"))
                }
            }
        }
        notes
    }
}
