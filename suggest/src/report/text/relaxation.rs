//! What weaker orders there are, for people: what is known of them first, then the
//! changes, what they save, and what keeps its order.

use super::{TextStyle, counted, wrapped};
use crate::report::dossier::Dossier;
use crate::report::model::{
    Finding, MachineCost, ReportedPlace, ReportedProof, ReportedRelaxation, ReportedRelaxedOrder,
    Verdict,
};

/// At most this many places of a sort are named.
const MAX_NAMED: usize = 5;

/// Everything about the weaker orders of a report; empty if none were searched for.
pub(crate) fn relaxation_text(dossier: &Dossier, style: TextStyle) -> String {
    let report = &dossier.report;
    let Some(relaxation) = &report.relaxation else {
        return String::new();
    };
    let width = style.text_width();
    let mut text = wrapped(
        &first_line(relaxation, report.runs.total, report.proof.as_ref()),
        "",
        "    ",
        width,
    );
    for change in &relaxation.changes {
        text += &change_text(change);
    }
    if !relaxation.changes.is_empty() {
        text += &saves(relaxation);
    }
    text += &wrapped(&how_good(relaxation), "", "    ", width);
    text += &kept(relaxation, width);
    let seconds = &dossier.seconds;
    text += &format!(
        "time: runs {:.2} s, search {:.2} s, verification {:.2} s\n",
        seconds.runs, seconds.search, seconds.verification
    );
    text
}

/// What is known: proved, or how many runs showed nothing.
fn first_line(relaxation: &ReportedRelaxation, runs: u64, proof: Option<&ReportedProof>) -> String {
    if let Some(why) = &relaxation.why {
        return format!(
            "no patch: weaker orders were found ({} tried), but {why}",
            counted(relaxation.rounds, "patch").replace("patchs", "patches")
        );
    }
    let classes = proof.map_or(0, |proof| proof.classes);
    let classes = match classes {
        1 => "1 class of runs".to_owned(),
        count => format!("{count} classes of runs"),
    };
    let changes = counted(relaxation.changes.len() as u64, "change");
    match (relaxation.changes.is_empty(), relaxation.proved) {
        (false, true) => format!(
            "proved for this test: with {changes}, no stale value, no data race and no failure \
             in any run ({classes}, all explored, before the changes and with them)"
        ),
        (false, false) => format!(
            "no finding in {} of the patched program ({changes}; verified, not proved)",
            counted(relaxation.verified_runs, "run")
        ),
        (true, _) if proof.is_some_and(|proof| proof.proved) => {
            format!("proved for this test ({classes}, all explored): no order to be changed")
        }
        (true, _) => format!(
            "no finding in {}: no order to be changed",
            counted(runs, "run")
        ),
    }
}

/// Why weaker orders are not searched for, and what to do.
pub(crate) fn relax_refusal_text(dossier: &Dossier) -> String {
    let report = &dossier.report;
    let violations = report.violations.iter();
    let violations = violations.map(|one| (one.id.as_str(), "a stale access", &one.access));
    let races = report.races.iter();
    let races = races.map(|one| (one.id.as_str(), "a data race", &one.second));
    let allowed = report.allowed.iter().map(|allowed| match &allowed.finding {
        Finding::Violation(one) => (allowed.id.as_str(), "a stale access", &one.access),
        Finding::Race(one) => (allowed.id.as_str(), "a data race", &one.second),
    });
    let mut all = violations.chain(races).chain(allowed);
    if report.verdict == Verdict::Failed {
        return "relax is for programs that work: repair that first".to_owned();
    }
    let Some((id, what, place)) = all.next() else {
        return match report.failures.is_empty() {
            true => "relax is for programs without findings, and there are some outside of the \
                     part that was named: run `wmfix suggest` on all of it first"
                .to_owned(),
            false => "relax is for programs that do not fail: `wmfix check` shows how to make \
                      them fail again"
                .to_owned(),
        };
    };
    let more = match all.count() {
        0 => String::new(),
        1 => " (1 more was found)".to_owned(),
        more => format!(" ({more} more were found)"),
    };
    let todo = match what {
        "a stale access" => {
            "what an old value does together with others is not known, whatever it does alone: \
             `wmfix suggest --robust` first orders all of them"
        }
        _ => "run `wmfix suggest` first",
    };
    format!(
        "relax is for programs without findings, and {id} at {}:{} is {what}{more}; {todo}",
        place.file, place.line
    )
}

fn change_text(change: &ReportedRelaxedOrder) -> String {
    let place = &change.place;
    let stronger = match change.stronger {
        true => ", stronger, so that others can be weaker",
        false => "",
    };
    format!(
        "  {}:{}: {}: {}{stronger} (ran {})\n",
        place.file,
        place.line,
        place.operation,
        change.what,
        times(change.executions)
    )
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// What the changes save, in rough cycles of a run.
fn saves(relaxation: &ReportedRelaxation) -> String {
    let runs = relaxation.searched.runs.max(1) as f64;
    let machine = |cost: MachineCost| {
        let (before, after) = (cost.before as f64 / runs, cost.after as f64 / runs);
        match cost.before {
            0 => "nothing to save".to_owned(),
            _ => format!("{before:.1} -> {after:.1}"),
        }
    };
    format!(
        "orders and fences cost, in rough cycles a run: x86-64 {}, AArch64 {}\n",
        machine(relaxation.saves.x86_64),
        machine(relaxation.saves.aarch64)
    )
}

/// Of what it is the cheapest.
fn how_good(relaxation: &ReportedRelaxation) -> String {
    let searched = &relaxation.searched;
    let runs = match searched.all_runs {
        true => "for all runs of this test".to_owned(),
        false => format!("for the {}", counted(searched.runs, "recorded run")),
    };
    let operations = counted(searched.operations, "operation");
    match relaxation.optimal {
        true => format!(
            "no cheaper orders exist {runs} by the profile `{}`: of the {operations} with a \
             choice, every order that can be written there was open, and fences could stay, be \
             weaker or go; new fences were not tried",
            relaxation.profile
        ),
        false if relaxation.why.is_some() => {
            format!("whether cheaper orders exist is not known: {operations} had a choice")
        }
        false => format!(
            "the search was stopped early: these orders cost {}, the cheapest at least {}",
            relaxation.cost, relaxation.lower_bound
        ),
    }
}

/// What keeps its order.
fn kept(relaxation: &ReportedRelaxation, width: usize) -> String {
    let kept = &relaxation.kept;
    let mut text = String::new();
    let mut told = |places: Vec<&ReportedPlace>, why: &str| {
        if !places.is_empty() {
            let count = counted(places.len() as u64, "operation");
            let line = format!("kept: {count} {why}: {}", named(&places));
            text += &wrapped(&line, "", "    ", width);
        }
    };
    told(kept.unreached.iter().collect(), "that no run reached");
    told(
        kept.one_thread.iter().collect(),
        "on objects that only one thread accessed",
    );
    for one in &kept.unchangeable {
        let line = format!("kept: {}: {}", one.place.point(), one.why);
        text += &wrapped(&line, "", "    ", width);
    }
    text
}

fn named(places: &[&ReportedPlace]) -> String {
    let names = places.iter().take(MAX_NAMED);
    let names = names.map(|place| place.point());
    let names: Vec<String> = names.collect();
    match places.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
