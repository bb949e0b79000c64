//! Damaged files where a program under test reads them: a schedule to follow. Parsers
//! that are functions have such tests beside them (`fuzz_` in the packages' own tests);
//! `WMFIX_FUZZ_SECONDS` gives each of them more than a moment.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use wmfix_tests::fuzzing::fuzz_slow;
use wmfix_tests::product::{CommandResult, World, wmfix};
use wmfix_tests::tools::{Need, need};

const BUFFERING: &str = include_str!("../corpus/suggest/sb.c");

/// A program that follows a schedule which is damaged, or another program's, does
/// anything but crash: it runs another schedule, or says that it cannot start.
#[test]
fn fuzz_replayed_schedules() {
    need(&[Need::Program("gcc"), Need::Program("timeout")]);
    let world = World::new();
    world.write("sb.c", BUFFERING);
    let mut build = world.command(wmfix());
    CommandResult::well(build.args(["cc", "-g", "-pthread", "sb.c", "-o", "sb"]));
    let out = world.path().join("out");
    fs::create_dir(&out).unwrap();
    let seeds: Vec<Vec<u8>> = (1..=3)
        .map(|seed| {
            let mut run = world.command("./sb");
            run.env("WMFIX_OUT", &out)
                .env("WMFIX_SEED", seed.to_string());
            CommandResult::well(&mut run);
            let trace = fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
            let bytes = fs::read(&trace).unwrap();
            fs::remove_file(trace).unwrap();
            bytes
        })
        .collect();
    let schedule = world.path().join("schedule");
    fuzz_slow("replayed schedule", 40, &seeds, &[], |bytes| {
        fs::write(&schedule, bytes).unwrap();
        // It ends by itself: `timeout` only keeps one that does not from hanging here.
        let status = Command::new("timeout")
            .args(["--signal=KILL", "60", "./sb"])
            .current_dir(world.path())
            .env("WMFIX_REPLAY", &schedule)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(
            matches!(status.code(), Some(0 | 125)),
            "{status}, signal {:?}",
            status.signal()
        );
    });
}
