//! What a patch does and why, hunk by hunk, for people.

use super::fit::fit_lines;
use super::{TextStyle, USUAL_WIDTH, counted, wrapped};
use crate::report::dossier::Dossier;
use crate::report::model::{
    Price, Repair, RepairCandidate, Report, ReportedChange, ReportedHunk, ReportedPlace,
    VerificationOutcome,
};
use crate::report::proof_words::{classes_text, proof_text};
use crate::report::repair_words::{candidate_words, patched_free_text, shown_text};

/// Everything about the repair of a report; empty if there was nothing to
/// repair.
pub(crate) fn repair_text(dossier: &Dossier, style: TextStyle) -> String {
    let width = style.text_width();
    let report = &dossier.report;
    let mut text = String::new();
    if let Some(repair) = &report.repair {
        text += &hunks(repair, width);
    } else if let Some(candidate) = &report.candidate {
        text += &candidate_text(dossier, candidate);
    } else if !report.unrepairable.is_empty() {
        text += "wmfix: no possible change removes a finding\n";
    }
    for left in &report.unrepairable {
        let ids = names(&left.findings);
        text += &wrapped(
            &format!("not repaired: {ids}{}", left.text),
            "",
            "    ",
            width,
        );
    }
    if let Some(repair) = &report.repair {
        text += &fit_lines(&verdict(repair, report), style.width);
    }
    if report.repair.is_some() || report.candidate.is_some() {
        let seconds = &dossier.seconds;
        text += &format!(
            "time: runs {:.2} s, search {:.2} s, verification {:.2} s\n",
            seconds.runs, seconds.search, seconds.verification
        );
    }
    text
}

/// What would be changed, of what is no patch, a line each.
fn candidate_text(dossier: &Dossier, candidate: &RepairCandidate) -> String {
    let mut text = candidate_words(dossier, candidate) + "\n";
    for change in &candidate.changes {
        let ReportedPlace {
            file,
            line,
            operation,
            ..
        } = &change.place;
        text += &format!("  {file}:{line}: {operation}: {}\n", change.what);
    }
    text
}

/// Describes changes; those that remove the same findings together. Each line
/// begins with `indent`.
pub(super) fn changes_text(changes: &[&ReportedChange], indent: &str, width: usize) -> String {
    let mut told: Vec<Vec<&ReportedChange>> = Vec::new();
    for &change in changes {
        let same = |group: &&mut Vec<&ReportedChange>| {
            group[0].removes == change.removes && group[0].covered == change.covered
        };
        match told.iter_mut().find(same) {
            Some(group) => group.push(change),
            None => told.push(vec![change]),
        }
    }
    let told = told.iter().map(|group| together(group, indent, width));
    told.collect()
}

fn together(changes: &[&ReportedChange], indent: &str, width: usize) -> String {
    let mut text = String::new();
    for change in changes {
        let place = &change.place;
        text += &format!(
            "{indent}{}:{}: {}: {}\n",
            place.file, place.line, place.operation, change.what
        );
    }
    let inner = format!("{indent}    ");
    let mut sentences: Vec<String> = Vec::new();
    if let Some(first) = changes.first().filter(|first| !first.removes.is_empty()) {
        let both = if changes.len() > 1 {
            "together remove"
        } else {
            "removes"
        };
        let removed = first.removes.join(", ");
        let seed = match (first.seed, &first.removes[..]) {
            (Some(seed), [id, ..]) if first.covered => {
                format!(" (without this and what is for later findings: {id} is back, seed {seed})")
            }
            (Some(seed), [id, ..]) => format!(" (without: {id} is back, seed {seed})"),
            _ => String::new(),
        };
        text += &format!("{indent}    {both} {removed}{seed}\n");
    }
    sentences.extend(changes.first().map(|first| first.without.clone()));
    sentences.extend(changes.iter().map(|change| change.ensures.clone()));
    sentences.extend(changes.iter().map(|change| price(&change.price)));
    let mut said: Vec<&String> = Vec::new();
    for sentence in &sentences {
        if !said.contains(&sentence) {
            said.push(sentence);
            text += &wrapped(sentence, &inner, &inner, width);
        }
    }
    text
}

/// The text in front of the patch of a group: what its changes do.
pub(crate) fn group_text(repair: &Repair, number: usize) -> String {
    let Some(group) = repair.groups.get(number) else {
        return String::new();
    };
    let changes = group.changes.iter().filter_map(|&n| repair.changes.get(n));
    let changes: Vec<&ReportedChange> = changes.collect();
    format!(
        "wmfix: {}\n\n{}\n",
        counted(changes.len() as u64, "change"),
        changes_text(&changes, "  ", USUAL_WIDTH)
    )
}

fn hunks(repair: &Repair, width: usize) -> String {
    let mut text = String::new();
    let count = repair.hunks.len();
    for (number, hunk) in (1..).zip(&repair.hunks) {
        let first = hunk.text.lines().next().unwrap_or_default();
        text += &format!("hunk {number} of {count}: {} {first}\n", hunk.file);
        text += &told(hunk, repair, width);
    }
    text
}

fn told(hunk: &ReportedHunk, repair: &Repair, width: usize) -> String {
    let changes: Vec<&ReportedChange> = hunk
        .changes
        .iter()
        .filter_map(|&number| repair.changes.get(number))
        .collect();
    if changes.is_empty() {
        return "  adds declarations that the other hunks use\n".to_owned();
    }
    changes_text(&changes, "  ", width)
}

fn price(price: &Price) -> String {
    if price.x86_64 == price.aarch64 {
        return format!("It costs {} on x86-64 and AArch64.", price.x86_64);
    }
    format!(
        "It costs {} on x86-64, and {} on AArch64.",
        price.x86_64, price.aarch64
    )
}

fn names(ids: &[String]) -> String {
    match ids {
        [] => String::new(),
        ids => format!("{}: ", ids.join(", ")),
    }
}

/// How good the repair is and what was verified.
fn verdict(repair: &Repair, report: &Report) -> String {
    let count = counted(repair.changes.len() as u64, "change");
    let how_good = if repair.optimal {
        let runs = match repair.verification.is_proved() {
            // What repairs all runs repairs the recorded ones, and that costs no less.
            true => "runs of this test, all of them".to_owned(),
            false => counted(repair.searched.runs, "recorded run"),
        };
        let makes_atomic = repair.changes.iter().any(|change| change.from == "plain");
        let set = match makes_atomic {
            true => {
                "with no more plain accesses made atomic, no cheaper set of stronger orders and fences"
            }
            false => "no cheaper set of stronger orders and fences",
        };
        match repair.searched.layers {
            _ if repair.searched.spared > 0 => {
                format!("{set} removes the other findings from the {runs}")
            }
            0 | 1 => format!("{set} repairs the {runs}"),
            _ => format!(
                "races first, then harmful findings, then the rest: for each, {set} repairs the {runs} on top of what comes before"
            ),
        }
    } else {
        format!(
            "the search was stopped early: this repair costs {}, the cheapest at least {}",
            repair.cost, repair.lower_bound
        )
    };
    let verification = &repair.verification;
    match verification.outcome {
        VerificationOutcome::Held => {
            let mut text = format!(
                "{count} ({how_good}); the patched program was built and {} in {} ({})\n",
                shown_text(verification),
                counted(repair.verified_runs, "run"),
                counted(verification.schedules, "schedule")
            );
            if let Some(free) = patched_free_text(verification) {
                text += &format!("{free}\n");
            }
            text += &covered(repair, report);
            text += &left_open(repair);
            text += &reached(repair);
            text
        }
        VerificationOutcome::NotEnough => {
            let why = verification
                .why
                .as_deref()
                .unwrap_or("there are still findings");
            format!("{count}; the patch is not enough: {why}\n")
        }
    }
}

/// What keeps an exploration of the patched program from being a proof.
fn left_open(repair: &Repair) -> String {
    match &repair.verification.proof {
        Some(proof) if !proof.proved => {
            let lines = std::iter::once(proof_text(proof)).chain(proof.obstacles.iter().cloned());
            lines
                .map(|line| format!("the patched program: {line}\n"))
                .collect()
        }
        _ => String::new(),
    }
}

/// How often the verification came to what was changed.
fn reached(repair: &Repair) -> String {
    let mut text = String::new();
    let never = repair.changes.iter().filter(|c| c.reached_runs == Some(0));
    for change in never {
        let place = &change.place;
        text += &format!(
            "not verified: no run of the patched program came to {}:{} ({})\n",
            place.file, place.line, change.what
        );
    }
    let seldom = repair.changes.iter().filter_map(|change| {
        let runs = change.reached_runs.filter(|&runs| runs > 0)?;
        Some((runs, change))
    });
    if let Some((runs, change)) = seldom.min_by_key(|(runs, _)| *runs) {
        let place = &change.place;
        text += &format!(
            "of the changes, {}:{} was reached least: in {}\n",
            place.file,
            place.line,
            counted(runs, "run")
        );
    }
    text
}

/// Which sites the verification covers.
fn covered(repair: &Repair, report: &Report) -> String {
    let missed = &repair.verification.missed;
    let sites = &report.sites;
    let covered = sites.reached.saturating_sub(missed.len() as u64);
    let mut text = match &repair.verification.proof {
        Some(proof) if proof.proved => format!(
            "proved for this test: no finding in any run of the patched program ({}, all explored); they reached {covered} of {} atomic sites",
            classes_text(proof.classes),
            sites.total
        ),
        _ => format!(
            "verified, not proved: these runs reached {covered} of {} atomic sites",
            sites.total
        ),
    };
    let not_covered: Vec<String> = missed
        .iter()
        .chain(&sites.unreached)
        .map(|place| place.point())
        .collect();
    /// At most this many are named.
    const MAX_NAMED: usize = 5;
    match not_covered.len() {
        0 => {}
        count if count <= MAX_NAMED => {
            text += &format!("; not reached: {}", not_covered.join(", "))
        }
        count => {
            text += &format!(
                "; not reached: {} and {} more",
                not_covered[..MAX_NAMED].join(", "),
                count - MAX_NAMED
            );
        }
    }
    text + "\n"
}
