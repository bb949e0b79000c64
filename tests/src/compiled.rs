//! What a compiler makes of atomics: the calls that its thread-sanitizer pass puts
//! into a program, each with the source lines that it was inlined through. Nothing
//! is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use wmfix_frontend::OperationKind;

/// One call of `__tsan_atomic…` in compiled code.
#[derive(Clone, Debug)]
pub struct AtomicCall {
    /// What it does.
    pub kind: OperationKind,
    /// Where it is, the innermost inlined function first.
    pub frames: Vec<Frame>,
    /// It is in a thunk: a copy of a virtual function that adjusts `this`, all of
    /// which gcc ascribes to the line of the function's name.
    pub in_thunk: bool,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// The file, as the compiler found it.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, or 0.
    pub column: u32,
}

/// Compiles sources with the thread-sanitizer pass into one library that keeps its
/// relocations, by which the calls are found.
///
/// # Errors
/// Says what the compiler said.
pub fn compile(
    compiler: &str,
    sources: &[PathBuf],
    options: &[&str],
    output: &Path,
) -> Result<(), String> {
    let result = Command::new(compiler)
        .args(["-fsanitize=thread", "-g", "-O1", "-fPIC", "-shared", "-w"])
        .args(["-Wl,--emit-relocs", "-Wl,-z,undefs"])
        .args(options)
        .args(sources)
        .arg("-o")
        .arg(output)
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    if !result.status.success() {
        return Err(String::from_utf8_lossy(&result.stderr).into_owned());
    }
    // The linker has applied the relocations of the debug information; a reader
    // that applied them again would read nonsense.
    let stripped = Command::new("objcopy")
        .args(["-w", "-R", ".rela.debug_*"])
        .arg(output)
        .output()
        .map_err(|error| format!("objcopy: {error}"))?;
    if stripped.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&stripped.stderr).into_owned())
    }
}

/// The atomic calls of a compiled library.
pub fn atomic_calls(library: &Path) -> Vec<AtomicCall> {
    let data = std::fs::read(library).expect("just compiled");
    let file = object::File::parse(&*data).expect("the compiler writes well-formed files");
    let lines = addr2line::Loader::new(library).expect("compiled with debug information");
    let thunks: Vec<std::ops::Range<u64>> = file
        .symbols()
        .filter(|symbol| {
            let name = symbol.name().unwrap_or_default();
            ["_ZTh", "_ZTv", "_ZTc"]
                .iter()
                .any(|start| name.starts_with(start))
        })
        .map(|symbol| symbol.address()..symbol.address() + symbol.size())
        .collect();
    let mut calls = Vec::new();
    for section in file
        .sections()
        .filter(|s| s.kind() == object::SectionKind::Text)
    {
        for (address, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else {
                continue;
            };
            let symbol = file
                .symbol_by_index(index)
                .expect("a relocation has its symbol");
            let name = symbol.name().unwrap_or_default();
            let Some(kind) = kind(name) else { continue };
            calls.push(AtomicCall {
                kind,
                frames: frames(&lines, address),
                in_thunk: thunks.iter().any(|thunk| thunk.contains(&address)),
            });
        }
    }
    calls
}

fn frames(lines: &addr2line::Loader, address: u64) -> Vec<Frame> {
    let mut found = Vec::new();
    let mut frames = lines
        .find_frames(address)
        .expect("debug information is well formed");
    while let Some(frame) = frames.next().expect("debug information is well formed") {
        if let Some(location) = frame.location
            && let (Some(file), Some(line)) = (location.file, location.line)
        {
            // clang writes the way it took: `/usr/include/tbb/../oneapi`.
            let written = PathBuf::from(file);
            found.push(Frame {
                file: written.canonicalize().unwrap_or(written),
                line,
                column: location.column.unwrap_or(0),
            });
        }
    }
    found
}

/// What an entry point of the sanitizer's runtime does.
fn kind(name: &str) -> Option<OperationKind> {
    let rest = name.strip_prefix("__tsan_atomic")?;
    let operation = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match operation.trim_start_matches('_') {
        "load" => Some(OperationKind::Load),
        "store" => Some(OperationKind::Store),
        "thread_fence" => Some(OperationKind::Fence),
        "signal_fence" => Some(OperationKind::SignalFence),
        other if other.starts_with("compare_exchange") => Some(OperationKind::CompareExchange),
        other if other.starts_with("exchange") || other.starts_with("fetch") => {
            Some(OperationKind::Rmw)
        }
        _ => None,
    }
}
