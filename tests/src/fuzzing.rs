//! Damaged input for parsers: texts and bytes that are valid, changed at random, again
//! and again. A target must not panic, whatever it is given.
//!
//! A test makes a fixed number of inputs from a fixed seed. `WMFIX_FUZZ_SECONDS` gives
//! every target that much time instead, and it prints how many inputs it was given.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::rng::Rng;

/// How many inputs a target of a millisecond gets where no time is given.
pub const INPUTS: u64 = 3_000;

/// No input is longer.
const MAX_BYTES: usize = 1 << 16;

/// Gives a target damaged versions of the seeds. The words are put in here and there:
/// what the format knows, and what is at the edge of a type.
///
/// # Panics
/// If the target does: the message has the smallest input that was found to do it.
pub fn fuzz(name: &str, seeds: &[Vec<u8>], words: &[&str], target: impl Fn(&[u8])) {
    fuzz_slow(name, INPUTS, seeds, words, target);
}

/// The same with another number of inputs.
///
/// # Panics
/// As [`fuzz`] does.
pub fn fuzz_slow(name: &str, most: u64, seeds: &[Vec<u8>], words: &[&str], target: impl Fn(&[u8])) {
    let budget = std::env::var("WMFIX_FUZZ_SECONDS").ok();
    let budget = budget.and_then(|seconds| seconds.parse().ok().map(Duration::from_secs));
    let started = Instant::now();
    let mut rng = Rng::new(1);
    let mut inputs = 0;
    let goes_on = |inputs: u64| match budget {
        Some(budget) => started.elapsed() < budget,
        None => inputs < most,
    };
    // What was accepted or got far is changed further: a pool that forgets its oldest.
    let mut pool = seeds.to_vec();
    while goes_on(inputs) {
        let from = pool[rng.below(pool.len())].clone();
        let input = damaged(&from, &pool, words, &mut rng);
        inputs += 1;
        if panics(&target, &input) {
            let smallest = shrunk(&target, input);
            panic!(
                "{name} panics, after {inputs} inputs, with {} bytes: {}",
                smallest.len(),
                smallest.escape_ascii()
            );
        }
        if rng.percent(10) {
            match pool.len() {
                0..256 => pool.push(input),
                full => {
                    let replaced = seeds.len() + rng.below(full - seeds.len());
                    pool[replaced] = input;
                }
            }
        }
    }
    if budget.is_some() {
        println!("{name}: {inputs} inputs in {:?}", started.elapsed());
    }
}

fn panics(target: &impl Fn(&[u8]), input: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| target(input))).is_err()
}

/// The input with some changes.
fn damaged(from: &[u8], others: &[Vec<u8>], words: &[&str], rng: &mut Rng) -> Vec<u8> {
    /// Numbers at the edges of types.
    const EDGES: [&str; 10] = [
        "0",
        "-1",
        "255",
        "65536",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "1e300",
        "0.0000001",
        "99999999999999999999999999",
    ];
    let mut bytes = from.to_vec();
    for _ in 0..rng.range(1, 6) {
        let at = rng.below(bytes.len() + 1);
        let longest = 1 << rng.below(8);
        let len = rng.below(longest).min(bytes.len() - at);
        match rng.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + len)),
            2 => {
                let part = bytes[at..at + len].to_vec();
                bytes.splice(at..at, part);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            4 if at < bytes.len() => bytes[at] = rng.bits() as u8,
            5 => drop(bytes.splice(at..at, rng.pick(&EDGES).bytes())),
            6 if !words.is_empty() => drop(bytes.splice(at..at, rng.pick(words).bytes())),
            7 => replace_number(&mut bytes, rng.pick(&EDGES), rng),
            _ => {
                let other = &others[rng.below(others.len())];
                let first = rng.below(other.len() + 1);
                let last = first + rng.below(other.len() - first + 1);
                bytes.splice(at..at + len, other[first..last].iter().copied());
            }
        }
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

/// Puts another number in the place of one of the text's.
fn replace_number(bytes: &mut Vec<u8>, number: &str, rng: &mut Rng) {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = rng.pick(&starts);
    let end = (start..).find(|&at| !is_digit(at)).unwrap_or(bytes.len());
    bytes.splice(start..end, number.bytes());
}

/// An input that panics, too, and from which no part can be taken.
fn shrunk(target: &impl Fn(&[u8]), mut input: Vec<u8>) -> Vec<u8> {
    let mut part = input.len() / 2;
    while part > 0 {
        let mut at = 0;
        while at < input.len() {
            let mut less = input.clone();
            less.drain(at..(at + part).min(input.len()));
            if panics(target, &less) {
                input = less;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_panics_is_found_out_with_a_small_input() {
        let seeds = [b"runs = 10\n".to_vec()];
        let found = catch_unwind(|| {
            fuzz("target", &seeds, &["boom"], |input| {
                assert!(!input.windows(4).any(|part| part == b"boom"));
            });
        });
        let message = *found.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("4 bytes: boom"), "{message}");
    }
}
