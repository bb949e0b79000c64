//! From addresses of a run to the source: the frames behind a program counter,
//! inlined ones included, and the variables behind a data address. Owns the
//! debug information that has been read; knows nothing of events.

mod assembly;
mod members;
mod modules;
mod standard;
mod standards;
mod unseen_code;
mod variables;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::printable::printable_name;
use assembly::AssemblyFinder;
use modules::Modules;
use standard::{is_atomic_interface, is_thread_safe, waits_on_callers_atomic};
use unseen_code::unseen_code;

/// How far before an instruction without a line one with a line is looked for.
const LINELESS_BYTES: u64 = 64;

pub(crate) use standard::is_standard_library;

/// Code whose accesses nobody sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnseenCode {
    /// The first function that was compiled without instrumentation, and its module.
    Function(String, PathBuf),
    /// The module has no symbols, or nothing says what it was compiled from.
    NoSymbols(PathBuf),
    /// Assembly, by its file and line.
    Assembly(PathBuf, u32),
    /// A function that is said not to be instrumented, by its file and line.
    Excused(PathBuf, u32),
}

/// A function at a line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function's name, demangled.
    pub function: String,
    /// Where it is.
    pub at: Option<SourcePoint>,
}

/// A point in a source file, as debug information says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SourcePoint {
    /// The file, absolute unless the compiler was told to keep it relative.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1; 0 where the compiler does not say.
    pub column: u32,
}

/// A module and an address in it as the file has it: the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    /// Which of the [`Symbols`]' modules.
    pub module: usize,
    /// The file's own address.
    pub offset: u64,
}

/// The debug information of all modules seen so far.
#[derive(Default)]
pub(crate) struct Symbols {
    modules: Modules,
    /// Files below the first folder are copies of those below the second.
    copies: Option<(PathBuf, PathBuf)>,
}

impl Symbols {
    /// The number of the module with this file.
    pub(crate) fn module(&mut self, path: &Path) -> usize {
        self.modules.number(path)
    }

    /// From now on, files below `copy` are taken for those below `original`.
    pub(crate) fn copied(&mut self, copy: PathBuf, original: PathBuf) {
        self.copies = Some((copy, original));
    }

    /// The file of a module.
    pub(crate) fn path(&self, module: usize) -> &Path {
        self.modules.path(module)
    }

    /// The frames at an instruction, innermost first; empty if nothing is known. An
    /// instruction that a compiler made for no line has that of the one before it.
    pub(crate) fn frames(&mut self, address: Address) -> Vec<Frame> {
        let frames = self.frames_at(address);
        let is_lineless = |frames: &[Frame]| frames.first().is_some_and(|one| one.at.is_none());
        if !is_lineless(&frames) {
            return frames;
        }
        for distance in 1..=LINELESS_BYTES.min(address.offset) {
            let offset = address.offset - distance;
            let before = self.frames_at(Address { offset, ..address });
            if before.first().map(|one| &one.function) != frames.first().map(|one| &one.function) {
                break;
            }
            if !is_lineless(&before) {
                return before;
            }
        }
        frames
    }

    fn frames_at(&mut self, address: Address) -> Vec<Frame> {
        let copies = self.copies.as_ref();
        let Some(loader) = &self.modules.get(address.module).loader else {
            return Vec::new();
        };
        // Damaged debug information counts as missing.
        let Ok(mut found) = loader.find_frames(address.offset) else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.as_ref().and_then(|name| {
                let raw = name.raw_name().ok()?;
                let name = match is_mangled(&raw) {
                    true => name.demangle().ok()?,
                    false => raw,
                };
                Some(name.into_owned())
            });
            let function =
                function.or_else(|| loader.find_symbol(address.offset).map(str::to_owned));
            let at = frame.location.as_ref().and_then(|location| {
                Some(SourcePoint {
                    file: original(copies, clean(Path::new(location.file?))),
                    line: location.line.filter(|&line| line > 0)?,
                    column: location.column.unwrap_or(0),
                })
            });
            frames.push(Frame {
                function: printable_name(short_name(&function.unwrap_or_default())),
                at,
            });
        }
        frames
    }

    /// The files that were compiled as C++20 or later only, whichever module they are in.
    pub(crate) fn cpp20_files(&self) -> HashSet<PathBuf> {
        let mut files: HashMap<PathBuf, bool> = HashMap::new();
        for (file, is_cpp20) in self.modules.cpp20_files() {
            let all = files.entry(original(self.copies.as_ref(), clean(&file)));
            *all.or_insert(true) &= is_cpp20;
        }
        files.retain(|_, is_cpp20| *is_cpp20);
        files.into_keys().collect()
    }

    /// The code of all modules that no instrumentation sees. `ours` are the functions of
    /// the runtime, and whether they are weak.
    pub(crate) fn unseen_code(&self, ours: &HashSet<(String, bool)>) -> Vec<UnseenCode> {
        let mut finder = AssemblyFinder::default();
        let modules = self.modules.paths();
        let mut found: Vec<UnseenCode> = modules
            .flat_map(|path| unseen_code(path, ours, &mut finder))
            .collect();
        let copies = self.copies.as_ref();
        let shown = |file: PathBuf| original(copies, clean(&file));
        found.extend(finder.find().into_iter().map(|code| match code {
            UnseenCode::Assembly(file, line) => UnseenCode::Assembly(shown(file), line),
            UnseenCode::Excused(file, line) => UnseenCode::Excused(shown(file), line),
            other => other,
        }));
        found
    }

    /// The name of the variable that these bytes are, with the offset in it if they
    /// are only a part of it.
    pub(crate) fn variable(&mut self, address: Address, size: u64) -> Option<String> {
        let variables = self.modules.get(address.module).variables();
        variables.name(address.offset, size)
    }
}

/// A function's name as the source has it, from the name that the linker knows.
pub(crate) fn readable_name(name: &str) -> String {
    let name = match is_mangled(name) {
        true => addr2line::demangle_auto(name.into(), None),
        false => name.into(),
    };
    printable_name(short_name(&name))
}

/// Whether a name is that of more than a C function. Demanglers take any text for a
/// type: `f` for `float`.
fn is_mangled(name: &str) -> bool {
    ["_Z", "__Z", "_R", "__R"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The file of which another one is a copy, if it is one.
fn original(copies: Option<&(PathBuf, PathBuf)>, file: PathBuf) -> PathBuf {
    let inside = copies.and_then(|(copy, original)| {
        let inside = file.strip_prefix(copy).ok()?;
        Some(original.join(inside))
    });
    inside.unwrap_or(file)
}

/// The position of the innermost frame in code that uses atomics, not in the
/// library that implements them.
pub(crate) fn innermost_own(frames: &[Frame]) -> Option<usize> {
    frames.iter().position(|frame| {
        frame
            .at
            .as_ref()
            .is_some_and(|at| !is_standard_library(&at.file))
    })
}

/// Whether an atomic access with these frames of the standard library, innermost
/// first, is the library's own: to an object that its user does not see.
pub(crate) fn is_of_library(frames: &[Frame]) -> bool {
    let own = frames
        .iter()
        .position(|frame| !is_atomic_interface(&frame.function));
    let inner = &frames[..own.unwrap_or(0)];
    // `x.wait(…)` reads `x`, whatever the library puts in between.
    own.is_some() && !inner.iter().any(|f| waits_on_callers_atomic(&f.function))
}

/// Whether a plain access with these frames of the standard library is the
/// library's own: not that of a container to what its user put there.
pub(crate) fn is_plain_of_library(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| is_thread_safe(&frame.function))
}

/// Whether a frame is in code that uses atomics, not in the library.
pub(crate) fn is_own(frame: &Frame) -> bool {
    innermost_own(std::slice::from_ref(frame)).is_some()
}

/// Takes `.` and `..` out of a path without asking the file system, which may
/// have changed since the program was built.
fn clean(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if cleaned.file_name().is_some() => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// A function's name without its parameters, its template arguments kept.
fn short_name(name: &str) -> &str {
    let mut depth = 0;
    let mut parameters = None;
    for (at, character) in name.char_indices() {
        match character {
            '<' | '{' => depth += 1,
            '>' | '}' => depth -= 1,
            // `operator()` has one, too.
            '(' => {
                if depth == 0 && !name[..at].ends_with("operator") {
                    parameters = Some(at);
                }
                depth += 1;
            }
            ')' => {
                depth -= 1;
                // Those of a function that another one is in, or no parameters at
                // all: `f()::g()`, `(anonymous namespace)::f()`.
                if depth == 0 && name[at + 1..].starts_with("::") {
                    parameters = None;
                }
            }
            _ => {}
        }
        if depth == 0
            && let Some(end) = parameters
        {
            return &name[..end];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_text() {
        assert_eq!(clean(Path::new("/a/./b/../c.c")), Path::new("/a/c.c"));
        assert_eq!(clean(Path::new("../x/./y.c")), Path::new("../x/y.c"));
    }

    #[test]
    fn names_lose_their_parameters_only() {
        assert_eq!(short_name("push(int)"), "push");
        assert_eq!(
            short_name("q::Queue<int (*)(char)>::push(int)"),
            "q::Queue<int (*)(char)>::push"
        );
        assert_eq!(
            short_name("main::{lambda()#1}::operator()() const"),
            "main::{lambda()#1}::operator()"
        );
        assert_eq!(short_name("main"), "main");
        assert_eq!(
            short_name("left()::$_0::operator()(int&) const"),
            "left()::$_0::operator()"
        );
        assert_eq!(
            short_name("(anonymous namespace)::f(int (*)(char))"),
            "(anonymous namespace)::f"
        );
    }

    #[test]
    fn only_mangled_names_are_demangled() {
        for (name, readable) in [
            ("f", "f"),
            ("i", "i"),
            ("St", "St"),
            ("_Z1fv", "f"),
            ("_ZN1q4pushEi", "q::push"),
            ("_my_function", "_my_function"),
        ] {
            assert_eq!(readable_name(name), readable);
        }
    }

    #[test]
    fn where_nothing_is_known_there_are_no_frames() {
        let mut symbols = Symbols::default();
        let module = symbols.module(&std::env::current_exe().unwrap());
        assert_eq!(symbols.module(&std::env::current_exe().unwrap()), module);
        let nowhere = Address {
            module,
            offset: u64::MAX / 2,
        };
        assert_eq!(symbols.frames(nowhere), []);
        let gone = symbols.module(Path::new("/nonexistent"));
        assert_eq!(
            symbols.frames(Address {
                module: gone,
                offset: 64
            }),
            []
        );
    }
}
