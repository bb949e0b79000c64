//! What is said of what tests notice, and of why every stale access counts.

use super::model::{AskedFor, NoticedWord, Report, ReportedLoss, ReportedNotice};
use super::words;
use crate::harm::{RobustnessReason, UntriedReason};
use crate::report::harm_words;

/// The line above the violations that do not count.
pub(crate) const ASIDE: &str =
    "not counted, for no failing run is known that takes them (--robust counts them):";

/// Why every violation counts, if it is not for what a test does not notice.
pub(super) fn because(reason: RobustnessReason) -> String {
    match reason {
        RobustnessReason::Asked => "--robust asks for it".to_owned(),
        RobustnessReason::ForRelaxing => {
            "orders are relaxed only where nothing is stale".to_owned()
        }
        RobustnessReason::NotLookedAt(UntriedReason::NotAsked) => {
            "with --harm off nobody looks what they do".to_owned()
        }
        RobustnessReason::NotLookedAt(reason) => harm_words::untried(reason).to_owned(),
    }
}

/// What a report begins with: by what violations count where that is more than what
/// fails. Nothing if no violation was found.
pub(super) fn first_line(report: &Report) -> String {
    if report.violations.is_empty() {
        return String::new();
    }
    if report.criterion.asks_for == AskedFor::Robustness {
        let because = report.criterion.because.as_deref().unwrap_or_default();
        return format!("every stale access counts: {because}\n\n");
    }
    let blind = report.notices.iter().filter(|notice| !notice.sees);
    let mut text = String::new();
    for notice in blind {
        text += &blind_line(notice, report.notices.len() > 1);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn blind_line(notice: &ReportedNotice, by_name: bool) -> String {
    let test = match by_name {
        true => format!("the test {}", notice.program),
        false => "this test".to_owned(),
    };
    let undone = match notice.stores_undone {
        0 => None,
        count => Some(format!("{} undone", stores(count))),
    };
    let lost = match notice.orders.len() {
        0 => None,
        1 => Some("1 order that it reached was lost".to_owned()),
        count => Some(format!("{count} orders that it reached were lost")),
    };
    let tried: Vec<String> = undone.into_iter().chain(lost).collect();
    let why = match tried.is_empty() {
        true => "nothing that it does was changed in time".to_owned(),
        false => format!("{}, and nothing came of it", tried.join(" and ")),
    };
    format!(
        "{test} notices nothing ({why}): every stale access of it counts, whether or not it does \
         harm. A test that looks at what comes out is judged by that (wmfix help scenarios)\n"
    )
}

fn stores(count: usize) -> String {
    match count {
        1 => "1 store was".to_owned(),
        count => format!("{count} stores were"),
    }
}

/// What the tests notice, a line for each and a line for each order whose loss nobody
/// noticed: for an audit.
pub(super) fn in_full(notices: &[ReportedNotice]) -> String {
    let mut text = String::new();
    for notice in notices {
        let of = |word: NoticedWord| {
            let all = notice.orders.iter();
            all.filter(|loss| loss.noticed == word).count()
        };
        let (failures, races) = (of(NoticedWord::Failure), of(NoticedWord::Race));
        text += &format!(
            "  {}: notices the loss of {} of {} (order by order, one step each), {races} of them \
             only as races; and {} of {} stores that were undone{}\n",
            notice.program,
            failures + races,
            match notice.orders.len() {
                1 => "1 order".to_owned(),
                count => format!("{count} orders"),
            },
            notice.stores_noticed,
            notice.stores_undone,
            if notice.complete {
                ""
            } else {
                " (there was no time for the rest)"
            },
        );
        let unnoticed = notice.orders.iter();
        let unnoticed = unnoticed.filter(|loss| loss.noticed == NoticedWord::Nothing);
        for loss in unnoticed {
            text += &format!("    not: {}\n", loss_text(loss));
        }
    }
    text
}

/// The loss of an order.
pub(super) fn loss_text(loss: &ReportedLoss) -> String {
    let left = match loss.left.as_str() {
        // A relaxed fence is none.
        "relaxed" if loss.place.operation.contains("fence") => "none",
        left => left,
    };
    let when = if loss.on_failure {
        " where it fails"
    } else {
        ""
    };
    format!(
        "{}: {} for {}{when}",
        words::at(&loss.place),
        left,
        loss.had
    )
}
