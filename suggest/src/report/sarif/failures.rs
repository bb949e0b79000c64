//! Runs that failed as SARIF results.

use serde_json::{Value, json};

use super::locations::{of_place, with_message};
use crate::report::failure_text;
use crate::report::model::{Failure, FailureWord};

/// The rules of failures: id, name, short and full description.
pub(super) const RULES: [(&str, &str, &str, &str); 6] = [
    (
        "misuse",
        "LockMisuse",
        "A lock is misused",
        "A lock is given back by a thread that does not hold it, or is used after its end or ended while in use: the behaviour is undefined.",
    ),
    (
        "deadlock",
        "Deadlock",
        "Every thread waits for another one",
        "Under some schedules the program comes to a point where no thread can go on.",
    ),
    (
        "livelock",
        "Livelock",
        "Threads run, and none makes progress",
        "Under some schedules threads read the same values for ever, and nothing changes them.",
    ),
    (
        "crash",
        "Crash",
        "A signal kills the program",
        "Under some schedules the program is killed by a signal, such as that of a failed assertion.",
    ),
    (
        "failed-run",
        "FailedRun",
        "The program fails",
        "Under some schedules the program ends with an exit code that says that it failed.",
    ),
    (
        "timeout",
        "Timeout",
        "The program does not end in time",
        "Under some schedules the program runs longer than the time limit.",
    ),
];

/// A failure as a result.
pub(super) fn result(failure: &Failure) -> Value {
    let rule = match failure.kind {
        FailureWord::Misuse => "misuse",
        FailureWord::Deadlock => "deadlock",
        FailureWord::Livelock => "livelock",
        FailureWord::Signal => "crash",
        FailureWord::Exit => "failed-run",
        FailureWord::Timeout => "timeout",
    };
    let runs = match failure.runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let what = failure_text::what(failure);
    let mut text = format!("`{}` fails in {runs}: {what}.", failure.program);
    if let Some(line) = failure.output.last() {
        text += &format!(" It printed: {line}");
    }
    let threads = failure.threads.iter();
    let known = threads.filter(|thread| thread.place.line > 0);
    let locations = known.map(|thread| {
        let location = of_place(&thread.place);
        with_message(location, &failure_text::thread(thread))
    });
    let mut locations: Vec<Value> = locations.collect();
    let related = locations.split_off(locations.len().min(1));
    let place = failure.threads.first().map(|thread| &thread.place);
    let place = place.map_or(String::new(), |place| {
        format!("{}/{}", place.file, place.function)
    });
    json!({
        "ruleId": rule,
        "level": "error",
        "message": { "text": text },
        "locations": locations,
        "relatedLocations": related,
        "partialFingerprints": {
            "wmfix/v1": format!("{rule}/{}/{place}", failure.program),
        },
        "properties": {
            "id": failure.id,
            "runs": failure.runs,
            "seed": failure.seed,
            "again": failure.command,
            "output": failure.output,
        },
    })
}
