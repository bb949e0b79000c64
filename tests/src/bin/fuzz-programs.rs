//! The differential fuzzer for programs as a command: `--minutes 10 --seed 7` tries the
//! programs of the seeds from 7 on for ten minutes, `--seed 7` alone that one program.
//! It uses the `wmfix` that lies beside it and ends with 1 if something is found.

use std::process::ExitCode;
use std::time::Duration;

use wmfix_tests::product::use_binary;
use wmfix_tests::program_fuzz::{Found, Session, Weights};

const USAGE: &str = "usage: fuzz-programs [--minutes N] [--seed N] [--settled]";

fn main() -> ExitCode {
    let (mut minutes, mut seed, mut weights) = (None, None, Weights::WIDE);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok());
        match &*word {
            "--minutes" => minutes = number(),
            "--seed" => seed = number(),
            "--settled" => weights = Weights::SETTLED,
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let own = std::env::current_exe().expect("the path of this program");
    let beside = own.with_file_name("wmfix");
    if !beside.exists() {
        eprintln!("there is no {}: run `cargo build`", beside.display());
        return ExitCode::from(2);
    }
    use_binary(String::leak(beside.display().to_string()));
    let session = Session {
        seed: seed.unwrap_or(1),
        weights,
    };
    let tell = |found: &Found| println!("{found}");
    let tally = match (minutes, seed) {
        (None, Some(_)) => {
            let tally = session.only();
            tally.found.iter().for_each(tell);
            tally
        }
        _ => session.for_time(Duration::from_secs(60 * minutes.unwrap_or(10)), tell),
    };
    println!("{tally}");
    ExitCode::from(u8::from(!tally.found.is_empty()))
}
