//! The header: who ran, how it was scheduled, and by which version of the
//! format the rest is to be read.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bytes::{ByteError, Source};
use crate::stale::process_key;

/// What the name of a trace ends in until its header is written.
pub const UNFINISHED: &str = ".new";

/// What comes behind the name of a checked run's trace in the name of a second one,
/// which has what its threads did.
pub const RECORDED_BESIDE: &str = ".recorded";

/// The first bytes of a trace.
pub const MAGIC: [u8; 8] = *b"WMFIXTRC";

/// The version this crate writes, and the only one it reads.
pub const VERSION: u32 = 1;

/// How many bytes of the header come before the command line.
pub const HEADER_FIXED: usize = 48;

/// How a run was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Probabilistic concurrency testing.
    Pct,
    /// A uniform walk.
    Random,
    /// A recorded schedule.
    Replay,
    /// The operating system.
    Os,
    /// One of the others, by the seed.
    Mixed,
    /// A walk that seeks communication.
    Seek,
    /// Steps that an exploration of all runs asked for.
    Explore,
    /// Partial order sampling.
    Pos,
}

/// What a volatile access is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Volatile {
    /// A plain access.
    Ignore,
    /// A relaxed atomic.
    Relaxed,
    /// An acquire load or a release store.
    AcqRel,
}

/// The header of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The process.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// When it started, in nanoseconds since 1970: orders the traces of one
    /// test command. 0 where the run was asked to be reproducible to the byte.
    pub started: u64,
    /// The seed of the schedule.
    pub seed: u64,
    /// How it was scheduled.
    pub strategy: Strategy,
    /// What volatile accesses were taken for.
    pub volatile: Volatile,
    /// Whether plain accesses were recorded.
    pub races: bool,
    /// Whether this process is a fork of a recorded one and starts in the
    /// middle of its program.
    pub forked: bool,
    /// Whether the run was checked in the process: the trace says what that showed
    /// instead of what the threads did.
    pub checked: bool,
    /// The command line, bytes that are no UTF-8 replaced.
    pub command: Vec<String>,
}

/// Why a file cannot be read as a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// It does not start as a trace does.
    NotATrace,
    /// It is a trace of another version.
    Version(u32),
    /// It ends within its header: the process died before it had begun.
    Cut,
    /// A field holds what it may not.
    Field(&'static str),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATrace => write!(f, "not a wmfix trace"),
            Self::Version(version) => write!(
                f,
                "the trace has format {version}, but this wmfix reads format {VERSION}: rebuild the program with its `wmfix cc`"
            ),
            Self::Cut => write!(f, "the trace ends within its header"),
            Self::Field(field) => write!(f, "the trace's header is damaged: {field}"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// Tells the processes of a test command apart.
    pub fn process_key(&self) -> u64 {
        process_key(
            self.command.iter().map(|argument| argument.as_bytes()),
            self.forked,
        )
    }
}

/// The header's bytes. `command` is as the kernel gives it: the arguments, each
/// ended by a zero byte. The magic must reach the file after the rest.
pub fn encode_header(header: &Header, command: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_FIXED + command.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(command.len() as u32).to_le_bytes());
    out.extend_from_slice(&header.pid.to_le_bytes());
    out.extend_from_slice(&header.parent.to_le_bytes());
    out.extend_from_slice(&header.started.to_le_bytes());
    out.extend_from_slice(&header.seed.to_le_bytes());
    out.push(header.strategy as u8);
    out.push(header.volatile as u8);
    out.push(u8::from(header.races));
    out.push(u8::from(header.forked));
    out.push(u8::from(header.checked));
    out.resize(HEADER_FIXED, 0);
    out.extend_from_slice(command);
    out
}

/// The header at the start of `bytes`, and where the records begin.
pub(crate) fn decode_header(bytes: &[u8]) -> Result<(Header, usize), HeaderError> {
    let mut source = Source::new(bytes, 0);
    if source.slice(8) != Ok(&MAGIC) {
        let started = bytes.len() < 8 && MAGIC.starts_with(bytes);
        let unwritten = bytes.iter().take(HEADER_FIXED).all(|&byte| byte == 0);
        return Err(if started || unwritten {
            HeaderError::Cut
        } else {
            HeaderError::NotATrace
        });
    }
    let version = word(&mut source)?;
    if version != VERSION {
        return Err(HeaderError::Version(version));
    }
    let command_len = word(&mut source)? as usize;
    let (pid, parent) = (word(&mut source)?, word(&mut source)?);
    let started = source.address()?;
    let seed = source.address()?;
    let strategy = match source.byte()? {
        0 => Strategy::Pct,
        1 => Strategy::Random,
        2 => Strategy::Replay,
        3 => Strategy::Os,
        4 => Strategy::Mixed,
        5 => Strategy::Seek,
        6 => Strategy::Explore,
        7 => Strategy::Pos,
        _ => return Err(HeaderError::Field("an unknown strategy")),
    };
    let volatile = match source.byte()? {
        0 => Volatile::Ignore,
        1 => Volatile::Relaxed,
        2 => Volatile::AcqRel,
        _ => return Err(HeaderError::Field("an unknown meaning of volatile")),
    };
    let races = flag(source.byte()?)?;
    let forked = flag(source.byte()?)?;
    let checked = flag(source.byte()?)?;
    let mut source = Source::new(bytes, HEADER_FIXED);
    let command = source.slice(command_len)?;
    let command = command
        .strip_suffix(&[0])
        .unwrap_or(command)
        .split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    let header = Header {
        pid,
        parent,
        started,
        seed,
        strategy,
        volatile,
        races,
        forked,
        checked,
        command,
    };
    Ok((header, source.at()))
}

fn word(source: &mut Source<'_>) -> Result<u32, HeaderError> {
    let mut four = [0; 4];
    four.copy_from_slice(source.slice(4)?);
    Ok(u32::from_le_bytes(four))
}

fn flag(byte: u8) -> Result<bool, HeaderError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(HeaderError::Field("a flag that is neither 0 nor 1")),
    }
}

impl From<ByteError> for HeaderError {
    fn from(bad: ByteError) -> Self {
        match bad {
            ByteError::Short => Self::Cut,
            ByteError::Value(what) => Self::Field(what),
        }
    }
}
