//! What is said about a finding, in plain words. Pure text, no layout.

use nix::sys::signal::Signal;

use super::dossier::{FindingDetail, RaceSides};
use super::model::{Race, ReportedPlace, StaleKind, Value, Violation};

/// The headline of a violation.
pub fn title(violation: &Violation) -> String {
    let location = &violation.location;
    match violation.kind {
        StaleKind::Read => format!("this read of `{location}` may get a stale value"),
        StaleKind::Write => format!("this write of `{location}` may come too early"),
        StaleKind::Rmw => format!("this update of `{location}` may start from a stale value"),
    }
}

/// What happens at the access.
pub fn at_access(violation: &Violation) -> String {
    let thread = violation.threads.first().copied().unwrap_or_default();
    let stale = either(&violation.stale_values);
    match violation.kind {
        StaleKind::Read => format!(
            "thread {thread} reads here and may get {stale}{}",
            instead_of(violation)
        ),
        StaleKind::Write => {
            format!(
                "thread {thread} writes here, but the write may take effect before the one of {}",
                writer(violation)
            )
        }
        StaleKind::Rmw => format!(
            "thread {thread} updates here and may start from {stale}{}",
            instead_of(violation)
        ),
    }
}

/// What happens at the newer write.
pub fn at_write(violation: &Violation, detail: &FindingDetail) -> String {
    let what = match &detail.newer_value {
        Some(value) => format!("written {value}"),
        None => "written".to_owned(),
    };
    format!("{} has {what} here by then", writer(violation))
}

/// What could go wrong.
pub fn consequence(violation: &Violation, detail: &FindingDetail) -> String {
    let newer = match &detail.newer_value {
        Some(value) => format!("the write of {value}"),
        None => "that write".to_owned(),
    };
    let thread = violation.threads.first().copied().unwrap_or_default();
    let mut text = match violation.kind {
        StaleKind::Read => format!(
            "{newer} need not be visible to thread {thread} yet: the processor or the compiler may let it go on as if the write had not happened"
        ),
        StaleKind::Write => format!(
            "{newer} need not be in place yet: the processor or the compiler may let this write happen first, and the older one stays"
        ),
        StaleKind::Rmw => format!(
            "{newer} need not be in place yet: the processor or the compiler may let this update happen first, on the value from before"
        ),
    };
    if violation.same_value {
        text += "; that value is the same here, so only what the thread does next can show the difference";
    }
    text
}

/// What the memory orders that are there do not do.
pub fn orders(violation: &Violation) -> String {
    let access = &violation.access.order;
    match violation.write.order.as_str() {
        "" => format!("`{access}` at the access does not forbid this"),
        write => {
            format!("`{write}` at the write and `{access}` at the access do not forbid this")
        }
    }
}

/// A violation as one sentence, with its places.
pub fn what_happens(violation: &Violation) -> String {
    let thread = violation.threads.first().copied().unwrap_or_default();
    let location = &violation.location;
    let (access, write) = (at(&violation.access), at(&violation.write));
    let writer = writer(violation);
    let stale = either(&violation.stale_values);
    match violation.kind {
        StaleKind::Read => format!(
            "Thread {thread} may get {stale} from `{location}` ({access}) as if the write of {writer} ({write}) had not happened."
        ),
        StaleKind::Write => format!(
            "The write of thread {thread} to `{location}` ({access}) may take effect before that of {writer} ({write}), whose older value then stays."
        ),
        StaleKind::Rmw => format!(
            "Thread {thread} may update `{location}` ({access}) starting from {stale}, as if the write of {writer} ({write}) had not happened."
        ),
    }
}

/// A race as one sentence, with its places.
pub fn what_races(race: &Race) -> String {
    format!(
        "Two threads may use `{}` at the same time ({} and {}), and one of them may see an old value, or half of a new one.",
        race.location,
        at(&race.first),
        at(&race.second)
    )
}

/// Words as a sentence of their own.
pub fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let upper = chars.next().map(char::to_uppercase);
    upper
        .into_iter()
        .flatten()
        .chain(chars)
        .chain(['.'])
        .collect()
}

/// A place in a sentence.
pub fn at(place: &ReportedPlace) -> String {
    match (place.line, place.function.as_str()) {
        (0, _) if place.file.is_empty() => place.operation.clone(),
        (0, _) => place.file.clone(),
        (line, "") => format!("{}:{line}", place.file),
        (line, function) => format!("{}:{line}, in {function}", place.file),
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

/// Both sides of a race, in short.
pub fn both_sides(sides: &RaceSides) -> String {
    let side = |thread: u32, writes: bool| {
        let what = if writes { "writes" } else { "reads" };
        format!("thread {thread} {what}")
    };
    format!(
        "{}, {}",
        side(sides.first_thread, sides.first_writes),
        side(sides.second_thread, sides.second_writes)
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

/// The name of a signal.
pub fn signal_name(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) => format!("signal {number}"),
    }
}
