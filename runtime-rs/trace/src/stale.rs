//! A stale choice as the runtime is asked for it, and its text: the one word that
//! both sides of `WMFIX_STALE` and `wmfix run --stale` read and write.
//!
//! `2.17=1.5~3/1f` reads: in the process with the key 1f (hexadecimal), the 17th
//! recorded atomic access of thread 2 takes the write of the 5th of thread 1; from
//! there on the schedule is drawn with seed 3. `=first` takes the location's first
//! value, `=newest` nothing stale at all. Without `~` the schedule goes on as it was, without `/` every process is
//! meant.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::record::{AccessName, ThreadId};

/// The write that an access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TakenWrite {
    /// The write of this access.
    Write(AccessName),
    /// The location's first value.
    First,
    /// The newest one: nothing is stale, only the schedule is drawn anew. What a
    /// run with a stale choice is compared with.
    Newest,
}

/// What one access is to do instead of what it would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaleTarget {
    /// The access.
    pub access: AccessName,
    /// The write that it takes.
    pub source: TakenWrite,
    /// The seed of the schedule from there on.
    pub seed: Option<u64>,
    /// The process it is meant for.
    pub process: Option<u64>,
}

/// The stale choices of one run, separated by commas in their text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaleTargets(pub Vec<StaleTarget>);

/// A text that names no stale choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadStaleTarget;

impl fmt::Display for BadStaleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "THREAD.ACCESS=THREAD.ACCESS or THREAD.ACCESS=first is wanted"
        )
    }
}

impl core::error::Error for BadStaleTarget {}

impl fmt::Display for AccessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.thread.0, self.number)
    }
}

impl fmt::Display for StaleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.access)?;
        match self.source {
            TakenWrite::Write(source) => write!(f, "{source}")?,
            TakenWrite::First => write!(f, "first")?,
            TakenWrite::Newest => write!(f, "newest")?,
        }
        if let Some(seed) = self.seed {
            write!(f, "~{seed}")?;
        }
        if let Some(process) = self.process {
            write!(f, "/{process:x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for StaleTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, target) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{target}")?;
        }
        Ok(())
    }
}

impl FromStr for StaleTargets {
    type Err = BadStaleTarget;

    fn from_str(text: &str) -> Result<Self, BadStaleTarget> {
        let targets: Result<_, _> = text.split(',').map(str::parse).collect();
        targets.map(Self)
    }
}

impl FromStr for AccessName {
    type Err = BadStaleTarget;

    fn from_str(text: &str) -> Result<Self, BadStaleTarget> {
        let (thread, number) = text.split_once('.').ok_or(BadStaleTarget)?;
        Ok(Self {
            thread: ThreadId(thread.parse().map_err(|_| BadStaleTarget)?),
            number: number.parse().map_err(|_| BadStaleTarget)?,
        })
    }
}

impl FromStr for StaleTarget {
    type Err = BadStaleTarget;

    fn from_str(text: &str) -> Result<Self, BadStaleTarget> {
        let (text, process) = match text.split_once('/') {
            Some((text, process)) => (text, Some(process)),
            None => (text, None),
        };
        let (text, seed) = match text.split_once('~') {
            Some((text, seed)) => (text, Some(seed)),
            None => (text, None),
        };
        let (access, source) = text.split_once('=').ok_or(BadStaleTarget)?;
        let hexadecimal = |text| u64::from_str_radix(text, 16).map_err(|_| BadStaleTarget);
        let decimal = |text: &str| text.parse().map_err(|_| BadStaleTarget);
        Ok(Self {
            access: access.parse()?,
            source: match source {
                "first" => TakenWrite::First,
                "newest" => TakenWrite::Newest,
                source => TakenWrite::Write(source.parse()?),
            },
            seed: seed.map(decimal).transpose()?,
            process: process.map(hexadecimal).transpose()?,
        })
    }
}

/// Tells the processes of a test command apart: equal for the same command line,
/// wherever the program is built, so that a report reads the same on another
/// machine.
pub fn process_key<'a>(arguments: impl IntoIterator<Item = &'a [u8]>, forked: bool) -> u64 {
    // FNV-1a.
    let mut key = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| key = (key ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    add(u8::from(forked));
    for (number, argument) in arguments.into_iter().enumerate() {
        let word = match (number, argument.iter().rposition(|&byte| byte == b'/')) {
            (0, Some(slash)) => &argument[slash + 1..],
            _ => argument,
        };
        word.iter().copied().for_each(&mut add);
        add(0);
    }
    key
}

/// The key of the process with this command line, as the kernel gives it.
pub fn process_key_of(command: &[u8], forked: bool) -> u64 {
    let command = command.strip_suffix(&[0]).unwrap_or(command);
    let arguments: Vec<String> = command
        .split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    process_key(arguments.iter().map(String::as_bytes), forked)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_choice_reads_as_it_is_written() {
        for text in [
            "2.17=1.5",
            "2.17=first",
            "0.1=3.9~12",
            "2.17=newest~4",
            "2.17=1.5~3/1f",
        ] {
            let target: StaleTarget = text.parse().unwrap();
            assert_eq!(target.to_string(), text);
            let twice = alloc::format!("{text},{text}");
            let targets: StaleTargets = twice.parse().unwrap();
            assert_eq!(targets, StaleTargets(alloc::vec![target, target]));
            assert_eq!(targets.to_string(), twice);
        }
        for text in [
            "",
            "2",
            "2.1",
            "2.1=",
            "2=1.1",
            "2.1=x",
            "2.1=1.1~x",
            "2.1=1.1/z",
        ] {
            assert_eq!(text.parse::<StaleTarget>(), Err(BadStaleTarget), "{text}");
        }
    }

    #[test]
    fn a_process_is_known_by_its_command_line() {
        let key = |command: &[u8]| process_key_of(command, false);
        assert_eq!(key(b"./a\0b\0"), key(b"./a\0b"));
        assert_ne!(key(b"./a\0b\0"), key(b"./ab\0"));
        assert_ne!(key(b"./a\0"), process_key_of(b"./a\0", true));
        assert_eq!(key(b"/one/a\0/b\0"), key(b"/other/a\0/b\0"));
        assert_ne!(key(b"a\0/one/b\0"), key(b"a\0/other/b\0"));
        let arguments: [&[u8]; 2] = [b"./a", b"b"];
        assert_eq!(key(b"./a\0b\0"), process_key(arguments, false));
    }
}
