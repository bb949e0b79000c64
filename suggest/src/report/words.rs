//! What is said about a finding, in plain words. Pure text, no layout.

use super::dossier::{Detail, RaceSides};
use super::model::{Kind, Place, Race, Value, Violation};

/// The headline of a violation.
pub fn title(violation: &Violation) -> String {
    let location = &violation.location;
    match violation.kind {
        Kind::Read => format!("this read of `{location}` may get a stale value"),
        Kind::Write => format!("this write of `{location}` may come too early"),
        Kind::Rmw => format!("this update of `{location}` may start from a stale value"),
    }
}

/// What happens at the access.
pub fn at_access(violation: &Violation) -> String {
    let thread = violation.threads.first().copied().unwrap_or_default();
    let stale = either(&violation.stale_values);
    match violation.kind {
        Kind::Read => format!(
            "thread {thread} reads here and may get {stale}{}",
            instead_of(violation)
        ),
        Kind::Write => {
            format!(
                "thread {thread} writes here, but the write may take effect before the one of {}",
                writer(violation)
            )
        }
        Kind::Rmw => format!(
            "thread {thread} updates here and may start from {stale}{}",
            instead_of(violation)
        ),
    }
}

/// What happens at the newer write.
pub fn at_write(violation: &Violation, detail: &Detail) -> String {
    let what = match &detail.newer_value {
        Some(value) => format!("writes {value}"),
        None => "writes".to_owned(),
    };
    format!(
        "{} {what} here, earlier in every interleaving with these reads",
        writer(violation)
    )
}

/// What could go wrong.
pub fn consequence(violation: &Violation, detail: &Detail) -> String {
    let newer = detail
        .newer_value
        .as_ref()
        .map_or(String::new(), |value| format!(" of {value}"));
    let mut text = match violation.kind {
        Kind::Read => format!(
            "nothing orders the write{newer} before this read for every processor: the reading thread may go on as if it had not happened"
        ),
        Kind::Write => format!(
            "nothing orders the write{newer} before this one for every processor: the older write may win and stay the last value"
        ),
        Kind::Rmw => format!(
            "nothing orders the write{newer} before this update for every processor: the update may work on the value from before it"
        ),
    };
    if violation.same_value {
        text += "; the stale value equals the one read here, so only what follows can show the difference";
    }
    text
}

/// How the orders read.
pub fn orders(violation: &Violation) -> String {
    let access = with_order(&violation.access);
    match &violation.write {
        Some(write) => format!("{} and {access} do not order them", with_order(write)),
        None => format!("{access} does not order them"),
    }
}

/// How often it was seen.
pub fn how_often(runs: u64, total: u64, seed: u64) -> String {
    format!("seen in {runs} of {total} runs, first with seed {seed}")
}

/// The headline of a race.
pub fn race_title(race: &Race, sides: &RaceSides) -> String {
    let mixed = if sides.first_atomic || sides.second_atomic {
        ", one of them not atomic"
    } else {
        ""
    };
    format!(
        "data race on `{}`: two accesses at the same time{mixed}",
        race.location
    )
}

/// One side of a race.
pub fn race_side(thread: u32, writes: bool, atomic: bool) -> String {
    let how = if atomic { "atomically" } else { "plainly" };
    let what = if writes { "writes" } else { "reads" };
    format!("thread {thread} {what} {how} here")
}

fn writer(violation: &Violation) -> String {
    match violation.threads.get(1) {
        Some(thread) => format!("thread {thread}"),
        None => "the initialisation".to_owned(),
    }
}

fn instead_of(violation: &Violation) -> String {
    match &violation.read_value {
        Some(value) if !violation.same_value => format!(" instead of {value}"),
        _ => String::new(),
    }
}

fn either(values: &[Value]) -> String {
    match values {
        [] => "an older value".to_owned(),
        [one] => one.to_string(),
        [first, rest @ ..] => rest.iter().fold(first.to_string(), |text, value| {
            format!("{text} or {value}")
        }),
    }
}

fn with_order(place: &Place) -> String {
    if place.order.is_empty() {
        format!("`{}`", place.operation)
    } else {
        format!("`{}` ({})", place.operation, place.order)
    }
}
