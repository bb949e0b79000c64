//! What free runs showed, for people.

use annotate_snippets::{AnnotationKind, Level};

use super::{LabelledSpot, TextRenderer};
use crate::report::dossier::Dossier;
use crate::report::harm_words;
use crate::report::model::{HarmWord, ReportedFreeFinding};

/// Of a finding that was not reduced, this many choices are shown.
const MOST_CHOICES: usize = 8;

impl TextRenderer {
    /// All that free runs showed.
    pub(super) fn free_findings(&self, dossier: &Dossier) -> String {
        let findings = dossier.report.free_findings().iter();
        let texts = findings.map(|finding| self.free_finding(dossier, finding) + "\n\n");
        texts.collect()
    }

    /// One of them: every choice in its place, and where they lead.
    pub(super) fn free_finding(&self, dossier: &Dossier, finding: &ReportedFreeFinding) -> String {
        let spots = dossier.choices.get(&finding.id);
        let spots = spots.map_or(&[][..], Vec::as_slice);
        let shown = finding.choices.iter().zip(spots).take(MOST_CHOICES);
        let spots: Vec<LabelledSpot<'_>> = (shown.enumerate())
            .map(|(number, (choice, spot))| {
                let label = harm_words::choice(number + 1, choice);
                LabelledSpot::new(dossier, spot, label, AnnotationKind::Primary)
            })
            .collect();
        let mut messages = Vec::new();
        let more = finding.choices.len().saturating_sub(MOST_CHOICES);
        if more > 0 {
            messages.push(Level::NOTE.message(format!("and {more} more")));
        }
        if let Some(stack) = harm_words::stack(Some(&finding.harm)) {
            messages.push(Level::NOTE.message(stack));
        }
        if let Some(runs) = &dossier.report.free_runs {
            let seen = harm_words::how_often_free(finding, runs);
            messages.push(Level::NOTE.message(seen));
        }
        if let Some(command) = &finding.harm.command {
            messages.push(Level::HELP.message(format!("to reproduce: {command}")));
        }
        let level = match finding.harm.verdict {
            HarmWord::Harmful => Level::ERROR,
            _ => Level::WARNING,
        };
        let title = harm_words::free_title(finding);
        self.render(level, &title, &finding.id, &spots, messages)
    }
}
