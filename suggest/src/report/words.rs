//! What is said about a finding, in plain words. Pure text, no layout.

use nix::sys::signal::Signal;

use super::allocation_words;
use super::dossier::{FindingDetail, RaceSides};
use super::model::{FollowedSchedule, Race, RaceSide, ReportedPlace, StaleKind, Value, Violation};
use super::object_words::object;
use super::short_name::short_name;

/// The headline of a violation.
pub(super) fn title(violation: &Violation) -> String {
    let location = object(&violation.location);
    match violation.kind {
        StaleKind::Read => format!("this read of {location} may return a stale value"),
        StaleKind::Write => format!("this write to {location} may take effect too early"),
        StaleKind::Rmw => {
            format!("this read-modify-write of {location} may act on a stale value")
        }
    }
}

/// What happens at the access.
pub(super) fn at_access(violation: &Violation, detail: &FindingDetail) -> String {
    let thread = violation.threads.first().copied().unwrap_or_default();
    let stale = either(violation);
    match violation.kind {
        StaleKind::Read => format!(
            "thread {thread} reads here and may get {stale}{}",
            instead_of(violation, detail)
        ),
        StaleKind::Write => {
            format!(
                "thread {thread} writes here; this may take effect before the write by {}",
                writer(violation)
            )
        }
        StaleKind::Rmw => format!(
            "thread {thread} reads and writes here and may read {stale}{}",
            instead_of(violation, detail)
        ),
    }
}

/// What happens at the newer write.
pub(super) fn at_write(violation: &Violation, detail: &FindingDetail) -> String {
    let writer = writer(violation);
    match newer(violation, detail) {
        Some(value) => format!("{writer} has already written {value} here"),
        None => format!("{writer} has already written here"),
    }
}

/// What could go wrong.
pub(super) fn consequence(violation: &Violation, detail: &FindingDetail) -> String {
    let newer = match newer(violation, detail) {
        Some(value) => format!("the write of {value}"),
        None => "that write".to_owned(),
    };
    let thread = violation.threads.first().copied().unwrap_or_default();
    let mut text = match violation.kind {
        StaleKind::Read => format!(
            "{newer} may not be visible to thread {thread} yet: the processor or the compiler may let the thread continue as if the write had not happened"
        ),
        StaleKind::Write => format!(
            "{newer} may not have taken effect yet: the processor or the compiler may let this write happen first, and the older value stays"
        ),
        StaleKind::Rmw => format!(
            "{newer} may not have taken effect yet: the processor or the compiler may let this operation happen first, on the older value"
        ),
    };
    if violation.same_value {
        text += "; the two values are the same here, so only later operations of the thread can show the difference";
    }
    text
}

/// What the memory orders that are there allow.
pub(super) fn orders(violation: &Violation) -> String {
    let access = &violation.access.order;
    match violation.write.order.as_str() {
        "" => format!("`{access}` on the access allows this"),
        write => {
            format!("`{write}` on the write and `{access}` on the access allow this")
        }
    }
}

/// A violation as one sentence, with its places.
pub(super) fn what_happens(violation: &Violation) -> String {
    let thread = violation.threads.first().copied().unwrap_or_default();
    let location = object(&violation.location);
    let (access, write) = (at(&violation.access), at(&violation.write));
    let writer = writer(violation);
    let stale = either(violation);
    match violation.kind {
        StaleKind::Read => format!(
            "Thread {thread} may read {stale} from {location} ({access}) as if the write by {writer} ({write}) had not happened."
        ),
        StaleKind::Write => format!(
            "The write by thread {thread} to {location} ({access}) may take effect before the write by {writer} ({write}), whose older value then stays."
        ),
        StaleKind::Rmw => format!(
            "The read-modify-write of {location} by thread {thread} ({access}) may act on {stale} as if the write by {writer} ({write}) had not happened."
        ),
    }
}

/// A race as one sentence, with its places.
pub(super) fn what_races(race: &Race) -> String {
    let freed_at = |free: &ReportedPlace, access: &ReportedPlace| {
        let text = format!(
            "{} may be accessed ({}) when its memory has been freed already ({}): nothing orders the two.",
            object(&race.location),
            at(access),
            at(free)
        );
        // The words for an object without a name begin in small letters.
        text[..1].to_uppercase() + &text[1..]
    };
    match race.frees {
        Some(RaceSide::First) => return freed_at(&race.first, &race.second),
        Some(RaceSide::Second) => return freed_at(&race.second, &race.first),
        None => {}
    }
    format!(
        "Two threads may access {} at the same time ({} and {}), and one of them may see an old or a half-written value.",
        object(&race.location),
        at(&race.first),
        at(&race.second)
    )
}

/// Words as a sentence of their own. A name with a digit (`x86-64`) stays as it is.
pub(super) fn sentence(words: &str) -> String {
    let first = words.split_whitespace().next().unwrap_or_default();
    if first.contains(|c: char| c.is_ascii_digit()) {
        return format!("{words}.");
    }
    let mut chars = words.chars();
    let upper = chars.next().map(char::to_uppercase);
    upper
        .into_iter()
        .flatten()
        .chain(chars)
        .chain(['.'])
        .collect()
}

/// Through which lines a call leads to its operation.
pub(super) fn through(via: &[ReportedPlace]) -> Option<String> {
    let (operation, layers) = via.split_last()?;
    let mut text = format!(
        "the operation is `{}` at {}",
        operation.operation,
        at(operation)
    );
    for layer in layers.iter().rev() {
        text += &format!(", called at {}", at(layer));
    }
    Some(text)
}

/// A place in a sentence.
pub(super) fn at(place: &ReportedPlace) -> String {
    match (place.line, place.function.as_str()) {
        (0, _) if place.file.is_empty() => place.operation.clone(),
        (0, _) => place.file.clone(),
        (line, "") => format!("{}:{line}", place.file),
        (line, function) => format!("{}:{line}, in {}", place.file, short_name(function)),
    }
}

/// How often it was seen.
pub(super) fn how_often(runs: u64, total: u64, seed: u64) -> String {
    format!("seen in {runs} of {total} runs, first with seed {seed}")
}

/// How to ask for more about a finding: by the name that the next report has, too.
pub(super) fn details(id: &str, stable_id: &str) -> String {
    let name = match stable_id {
        "" => id,
        stable => stable,
    };
    format!("for details: wmfix explain {name}")
}

/// How a race is known.
pub(super) fn how_race_is_known(race: &Race, runs: u64, total: u64) -> String {
    let Some(prediction) = &race.prediction else {
        return how_often(runs, total, race.seed);
    };
    let from = format!("from the run with seed {}", race.seed);
    match (prediction.outcome, &prediction.why) {
        (FollowedSchedule::Seen, _) => format!(
            "predicted {from}, which hides it, and then seen in a run that followed the schedule"
        ),
        (FollowedSchedule::Elsewhere, why) => format!(
            "predicted {from}; following the schedule ended elsewhere because {}",
            why.as_deref().unwrap_or("the run did something else")
        ),
        (FollowedSchedule::NotFollowed, _) => {
            format!("predicted {from}; the schedule was not followed")
        }
    }
}

/// What the check of a race's witness says.
pub(super) fn race_witness(sides: &RaceSides) -> &'static str {
    if sides.adjacent {
        "Checked: an order of the run's events in which every read but these two reads what it read\nputs the two accesses next to each other.\n"
    } else {
        "Checked: happens-before does not order the two accesses. No interleaving of the run puts them\nnext to each other; the memory orders allow it all the same.\n"
    }
}

/// What should have ordered the accesses of a race.
pub(super) fn should_order(race: &Race) -> Option<String> {
    let message = race.ordered_by.as_ref()?;
    let said = |place: &ReportedPlace| format!("`{}` at {}", place.operation, at(place));
    let weak = |side: &str, place: &ReportedPlace, lacks: &str| {
        let is_weak = message.weak.iter().any(|weak| weak == side);
        is_weak.then(|| format!("{} on the {side} does not {lacks}", order_of(place)))
    };
    let why = [
        weak("write", &message.write, "release"),
        weak("read", &message.read, "acquire"),
    ];
    let why: Vec<String> = why.into_iter().flatten().collect();
    Some(format!(
        "the second thread knew of the first access by {}, which read what {} wrote, but that orders nothing: {}",
        said(&message.read),
        said(&message.write),
        why.join(", ")
    ))
}

fn order_of(place: &ReportedPlace) -> String {
    match place.order.as_str() {
        "" => "the order".to_owned(),
        order => format!("`{order}`"),
    }
}

/// Where another violation of the same access comes from.
pub(super) fn also_misses(other: &Violation) -> String {
    let what = match other.kind {
        StaleKind::Read => "it may also miss",
        StaleKind::Write => "it may also come before",
        StaleKind::Rmw => "it may also act as without",
    };
    format!("{}: {what} the write at {}", other.id, at(&other.write))
}

/// Another race with the same cause.
pub(super) fn also_races(other: &Race) -> String {
    format!(
        "{}: the same cause lets {} race, {} and {}",
        other.id,
        object(&other.location),
        at(&other.first),
        at(&other.second)
    )
}

/// The headline of a race.
pub(super) fn race_title(race: &Race, sides: &RaceSides) -> String {
    if race.frees.is_some() {
        return format!(
            "use of freed memory: nothing orders the access to {} before the memory is freed",
            object(&race.location)
        );
    }
    let mixed = if sides.first_atomic || sides.second_atomic {
        ", one of them not atomic"
    } else {
        ""
    };
    format!(
        "data race on {}: nothing orders two accesses{mixed}",
        object(&race.location)
    )
}

/// The access of a race that came first.
pub(super) fn first_side(race: &Race, sides: &RaceSides) -> String {
    if race.frees == Some(RaceSide::First) {
        return freeing_side(sides.first_thread);
    }
    race_side(sides.first_thread, sides.first_writes, sides.first_atomic)
}

/// The access of a race that came second.
pub(super) fn second_side(race: &Race, sides: &RaceSides) -> String {
    if race.frees == Some(RaceSide::Second) {
        return freeing_side(sides.second_thread);
    }
    race_side(
        sides.second_thread,
        sides.second_writes,
        sides.second_atomic,
    )
}

fn freeing_side(thread: u32) -> String {
    format!("thread {thread} frees the memory here")
}

fn race_side(thread: u32, writes: bool, atomic: bool) -> String {
    let how = if atomic { "atomic" } else { "not atomic" };
    let what = if writes { "writes" } else { "reads" };
    format!("thread {thread} {what} here ({how})")
}

fn writer(violation: &Violation) -> String {
    match violation.threads.get(1) {
        Some(thread) => format!("thread {thread}"),
        None => "the initialisation".to_owned(),
    }
}

/// What was read in the run, and what would be missed if that is something else.
fn instead_of(violation: &Violation, detail: &FindingDetail) -> String {
    let Some(read) = violation.read_value.as_ref() else {
        return String::new();
    };
    let shown = allocation_words::value(read, &violation.pointers);
    match (&detail.newer_value, newer(violation, detail)) {
        (Some(value), Some(newer)) if value != read => {
            format!(" as if {newer} had not been written (in this run it was {shown})")
        }
        _ if violation.same_value => String::new(),
        _ => format!(" instead of {shown}"),
    }
}

/// What the newer write wrote.
fn newer(violation: &Violation, detail: &FindingDetail) -> Option<String> {
    let value = detail.newer_value.as_ref()?;
    Some(allocation_words::value(value, &violation.pointers))
}

/// Some of the stale values, and how many others there are.
fn either(violation: &Violation) -> String {
    /// More values than this are counted.
    const MOST: usize = 3;
    let mut different: Vec<&Value> = Vec::new();
    for value in &violation.stale_values {
        if !different.contains(&value) {
            different.push(value);
        }
    }
    let shown = different.iter().take(MOST);
    let shown: Vec<String> = shown
        .map(|value| allocation_words::value(value, &violation.pointers))
        .collect();
    match (shown.as_slice(), different.len().saturating_sub(MOST)) {
        ([], _) => "an older value".to_owned(),
        (shown, 0) => shown.join(" or "),
        (shown, 1) => format!("{} or 1 other", shown.join(", ")),
        (shown, others) => format!("{} or {others} others", shown.join(", ")),
    }
}

/// The name of a signal.
pub(super) fn signal_name(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) => format!("signal {number}"),
    }
}
