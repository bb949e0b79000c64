//! The `wmfix` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    wmfix::this_is_our_program();
    wmfix::main(std::env::args_os()).into()
}
