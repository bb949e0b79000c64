//! The `wmfix` command.
#![deny(unsafe_code)]

mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::keep_ended_children();
    wmfix::this_is_our_program();
    wmfix::main(std::env::args_os()).into()
}
