//! Random programs, run in all of wmfix's ways, by TSan and natively, and held against
//! each other and against brute force: those of some fixed seeds. The command
//! `fuzz-programs` tries others for as long as one likes.

use wmfix_tests::program_fuzz::{Found, Session, Weights};
use wmfix_tests::tools::{Need, need};

/// About a minute.
const PROGRAMS: usize = 24;

#[test]
fn nothing_contradicts_anything() {
    need(&["gcc", "clang", "taskset"].map(Need::Program));
    let session = Session {
        seed: 1,
        weights: Weights::SETTLED,
    };
    let tally = session.programs(PROGRAMS);
    let texts: Vec<String> = tally.found.iter().map(Found::to_string).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
    // The oracles have something to say. How many explorations end in their time is up to
    // the machine: about half of them do.
    assert!(tally.complete > PROGRAMS / 4, "{tally}");
    assert!(tally.proved > PROGRAMS / 8, "{tally}");
}
