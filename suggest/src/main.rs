//! The `wmfix` command.
#![forbid(unsafe_code)]

fn main() {
    println!("wmfix {}", env!("CARGO_PKG_VERSION"));
}
