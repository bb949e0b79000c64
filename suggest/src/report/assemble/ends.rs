//! How the runs ended, in words, for those that did not end by themselves.

use super::spots::SpotFinder;
use crate::findings::{CollectedFindings, signal_name};
use crate::run::Ended;

/// How runs ended that did not end by themselves.
pub fn ends(spots: &mut SpotFinder<'_>, collected: &CollectedFindings) -> Vec<String> {
    let mut notes = Vec::new();
    for (end, (count, seed)) in &collected.ends {
        let mut note = format!(
            "{} {} (first with seed {seed})",
            processes(*count),
            end.what
        );
        for (thread, site, waits) in &end.stuck {
            let place = spots.spot(*site).place;
            note += &format!(
                "\n  thread {thread} {waits}, in {} at {}:{}",
                place.function, place.file, place.line
            );
        }
        notes.push(note);
    }
    for (&ended, &count) in &collected.ended {
        let what = match ended {
            Ended::TimedOut => {
                "did not end in time and had to be stopped (see --timeout)".to_owned()
            }
            Ended::Signalled(number) if collected.ends.is_empty() => {
                format!("ended by {}", signal_name(number))
            }
            Ended::Exited(code) if code != 0 && collected.ends.is_empty() => {
                format!("ended with exit code {code}")
            }
            _ => continue,
        };
        let total: u64 = collected.ended.values().sum();
        notes.push(format!("{count} of {total} runs {what}"));
    }
    for (trouble, count) in &collected.troubles {
        notes.push(format!("{}: {trouble}", processes(*count)));
    }
    notes.sort();
    notes
}

fn processes(count: u64) -> String {
    if count == 1 {
        "1 process".to_owned()
    } else {
        format!("{count} processes")
    }
}
