//! The real compiler behind a wrapper: the one the user names, the one a build
//! system hands over as the first argument, or the one on PATH.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::printable::printable_name;

/// The language that a wrapper compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// `wmfix cc`
    C,
    /// `wmfix c++`
    Cxx,
}

/// Whose options a compiler understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// GNU.
    Gcc {
        /// The first number of its version.
        version: u32,
    },
    /// LLVM.
    Clang,
}

/// A real compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    /// The program.
    pub program: OsString,
    /// What comes before the arguments proper, if the program is itself a
    /// launcher such as ccache.
    pub leading: Vec<OsString>,
}

/// Why there is no compiler to call.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NoCompiler {
    /// None of the usual names is on PATH.
    #[error("no {0} compiler on PATH: install gcc or clang, or set {1} to your compiler")]
    NotFound(&'static str, &'static str),
    /// A variable names a program that is not there.
    #[error("{0} names `{1}`, which is no program: set it to your compiler, or leave it out")]
    Missing(&'static str, String),
    /// A variable leads back to the wrapper.
    #[error("{0} names wmfix itself: set it to the real compiler")]
    Itself(&'static str),
    /// What it makes cannot be run with our runtime.
    #[error(
        "{0} builds for another architecture, but wmfix's runtime supports only {arch}: drop it, or build this program without wmfix",
        arch = env::consts::ARCH
    )]
    OtherMachine(String),
}

impl Language {
    /// The language that a wrapper's name means.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        match word {
            "cc" => Some(Self::C),
            "c++" | "cxx" => Some(Self::Cxx),
            _ => None,
        }
    }

    /// The variable that names the real compiler.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::C => "WMFIX_REAL_CC",
            Self::Cxx => "WMFIX_REAL_CXX",
        }
    }

    fn usual_names(self) -> [&'static str; 3] {
        match self {
            Self::C => ["cc", "gcc", "clang"],
            Self::Cxx => ["c++", "g++", "clang++"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cxx => "C++",
        }
    }
}

impl Compiler {
    /// Finds the real compiler. If the first of the arguments is one (that is
    /// how build systems call a launcher), it is taken off.
    pub(super) fn find(
        language: Language,
        arguments: &mut Vec<OsString>,
    ) -> Result<Self, NoCompiler> {
        let handed_over = arguments.iter().take_while(|a| is_launcher(a)).count();
        if arguments
            .get(handed_over)
            .is_some_and(|a| is_compiler_name(a))
        {
            let mut words = arguments.drain(..=handed_over);
            let program = words.next().expect("one word at least");
            let leading = words.collect();
            return Ok(Self { program, leading });
        }
        if let Some(value) = env::var_os(language.variable()).filter(|value| !value.is_empty()) {
            return Self::named(&value, language.variable());
        }
        if language == Language::Cxx
            && let Some(value) = env::var_os("WMFIX_REAL_CC").filter(|value| !value.is_empty())
        {
            let mut compiler = Self::named(&value, "WMFIX_REAL_CC")?;
            let last = compiler.leading.last_mut().unwrap_or(&mut compiler.program);
            if let Some(name) = cxx_name(last) {
                *last = name;
                return Ok(compiler);
            }
        }
        let found = language
            .usual_names()
            .into_iter()
            .find_map(|name| on_path(OsStr::new(name)));
        match found {
            Some(path) => Ok(Self {
                program: path.into(),
                leading: Vec::new(),
            }),
            None => Err(NoCompiler::NotFound(language.name(), language.variable())),
        }
    }

    /// A compiler as a variable names it: a path, or words such as `ccache gcc`.
    fn named(value: &OsStr, variable: &'static str) -> Result<Self, NoCompiler> {
        let words: Vec<OsString> = match value.to_str() {
            Some(text) if !Path::new(value).is_file() => {
                text.split_whitespace().map(OsString::from).collect()
            }
            _ => vec![value.to_owned()],
        };
        let Some((program, leading)) = words.split_first() else {
            return Err(NoCompiler::Itself(variable));
        };
        let path = on_path(program).unwrap_or_else(|| PathBuf::from(program));
        if is_ourselves(&path) {
            return Err(NoCompiler::Itself(variable));
        }
        Ok(Self {
            program: program.clone(),
            leading: leading.to_vec(),
        })
    }

    /// Whose options it understands. Decided by the name where the name says
    /// it, and else by asking.
    pub(super) fn family(&self) -> Family {
        let compiler = self.leading.last().unwrap_or(&self.program);
        let target = on_path(compiler).and_then(|path| fs::canonicalize(path).ok());
        let names = [Some(PathBuf::from(compiler)), target];
        for path in names.iter().flatten() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.contains("clang") {
                return Family::Clang;
            }
            if name.contains("gcc") || name.contains("g++") {
                // The last name is the fullest.
                let full = names.iter().flatten().next_back().unwrap_or(path);
                let full = full.file_name().unwrap_or_default().to_string_lossy();
                return Family::Gcc {
                    version: gcc_version(&full, compiler),
                };
            }
        }
        let version = Command::new(compiler)
            .arg("--version")
            .stderr(Stdio::null())
            .output();
        match version {
            Ok(answer) if String::from_utf8_lossy(&answer.stdout).contains("clang") => {
                Family::Clang
            }
            _ => Family::Gcc {
                version: gcc_version("", compiler),
            },
        }
    }
}

/// The first number of a gcc's version, which its full name mostly says; else it
/// is asked. One that does not answer is taken for a new one: what it then says of
/// our options is more than we could.
fn gcc_version(name: &str, compiler: &OsStr) -> u32 {
    if let Some(version) = name.rsplit('-').next().and_then(|last| last.parse().ok()) {
        return version;
    }
    let answer = Command::new(compiler)
        .arg("-dumpversion")
        .stderr(Stdio::null())
        .output();
    let answer = answer.map_or_else(|_| Vec::new(), |answer| answer.stdout);
    let first = answer.split(|byte| !byte.is_ascii_digit()).next();
    let digits = std::str::from_utf8(first.unwrap_or_default());
    digits
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(u32::MAX)
}

/// The compiler that CC or CXX names for ordinary builds, as a build system would
/// hand it over; nothing if they name none that is known, or if the wrapper has
/// been given one.
pub(crate) fn users_choice(language: Language) -> Vec<OsString> {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("WMFIX_REAL_CC") || is_set(language.variable()) {
        return Vec::new();
    }
    let variable = match language {
        Language::C => "CC",
        Language::Cxx => "CXX",
    };
    let value = env::var(variable).unwrap_or_default();
    let words: Vec<OsString> = value.split_whitespace().map(OsString::from).collect();
    let compiler = words.iter().find(|word| !is_launcher(word));
    if compiler.is_some_and(|word| is_compiler_name(word)) {
        words
    } else {
        Vec::new()
    }
}

/// Whether what a variable names for this language is there, if one names any.
pub(crate) fn require_chosen(language: Language) -> Result<(), NoCompiler> {
    let usual = match language {
        Language::C => "CC",
        Language::Cxx => "CXX",
    };
    let variables = [language.variable(), "WMFIX_REAL_CC", usual];
    let mut chosen = variables
        .into_iter()
        .map(|name| (name, env::var_os(name).unwrap_or_default()));
    let Some((name, value)) = chosen.find(|(_, value)| !value.is_empty()) else {
        return Ok(());
    };
    if Path::new(&value).is_file() {
        return Ok(());
    }
    let value = value.to_string_lossy();
    for word in value.split_whitespace() {
        if which::which(word).is_err() {
            return Err(NoCompiler::Missing(name, printable_name(word)));
        }
        if !is_launcher(OsStr::new(word)) {
            break;
        }
    }
    Ok(())
}

/// The file of the real compiler that an ordinary call of the wrapper would run.
pub(crate) fn real_compiler(language: Language) -> Result<PathBuf, NoCompiler> {
    let compiler = Compiler::find(language, &mut users_choice(language))?;
    let mut words = std::iter::once(&compiler.program).chain(&compiler.leading);
    let program = words.find(|word| !is_launcher(word));
    let found = program.and_then(|program| on_path(program));
    found.ok_or(NoCompiler::NotFound(language.name(), language.variable()))
}

/// The file of a program on PATH, never wmfix itself.
pub(crate) fn program_on_path(name: &str) -> Option<PathBuf> {
    on_path(OsStr::new(name))
}

/// Whether a word names a compiler: `gcc`, `/usr/bin/clang++-14`,
/// `x86_64-linux-gnu-g++`.
pub(crate) fn is_compiler_name(word: &OsStr) -> bool {
    let Some(name) = Path::new(word).file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let base = match unversioned.strip_suffix('-') {
        Some(base) => base,
        None if unversioned == name => name,
        None => return false,
    };
    ["gcc", "g++", "clang", "clang++", "cc", "c++"]
        .iter()
        .any(|known| {
            base.strip_suffix(known)
                .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('-'))
        })
        && !base.starts_with("wmfix-")
}

fn is_launcher(word: &OsStr) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default();
    ["ccache", "sccache", "distcc", "icecc"]
        .iter()
        .any(|known| name == *known)
}

/// The C++ compiler that belongs to a C compiler.
fn cxx_name(compiler: &OsStr) -> Option<OsString> {
    let path = Path::new(compiler);
    let name = path.file_name()?.to_str()?;
    let (at, old, new) = [("gcc", "g++"), ("clang", "clang++"), ("cc", "c++")]
        .into_iter()
        .find_map(|(old, new)| name.rfind(old).map(|at| (at, old, new)))?;
    let cxx = format!("{}{new}{}", &name[..at], &name[at + old.len()..]);
    let candidate = path.with_file_name(cxx);
    on_path(candidate.as_os_str()).map(|_| candidate.into_os_string())
}

/// The executable that a name leads to, never wmfix itself.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let mut found = which::which_all(name).ok()?;
    found.find(|path| !is_ourselves(path))
}

fn is_ourselves(path: &Path) -> bool {
    let named_so = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("wmfix"));
    let same =
        || Some(fs::canonicalize(path).ok()? == fs::canonicalize(env::current_exe().ok()?).ok()?);
    named_so || same().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn compilers_are_known_by_name() {
        for name in [
            "gcc",
            "/usr/bin/cc",
            "clang++-14",
            "x86_64-linux-gnu-g++-12",
            "c++",
            "./clang",
        ] {
            assert!(is_compiler_name(OsStr::new(name)), "{name}");
        }
        for name in [
            "gcc.c", "src/cc.o", "-c", "abcc", "wmfix-cc", "a.c", "cc1", "foo-14",
        ] {
            assert!(!is_compiler_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_version_is_in_the_name_or_asked_for() {
        let nobody = OsStr::new("/nonexistent/gcc");
        assert_eq!(gcc_version("x86_64-linux-gnu-gcc-10", nobody), 10);
        assert_eq!(gcc_version("gcc", nobody), u32::MAX);
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("gcc");
        fs::write(&old, "#!/bin/sh\necho 9.4.0\n").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(gcc_version("gcc", old.as_os_str()), 9);
    }

    #[test]
    fn a_launched_compiler_is_taken_off_the_arguments() {
        let mut arguments: Vec<OsString> = ["ccache", "/usr/bin/gcc-12", "-c", "a.c"]
            .map(Into::into)
            .into();
        let compiler = Compiler::find(Language::C, &mut arguments).unwrap();
        assert_eq!(compiler.program, "ccache");
        assert_eq!(compiler.leading, ["/usr/bin/gcc-12"]);
        assert_eq!(arguments, ["-c", "a.c"]);
        assert!(matches!(compiler.family(), Family::Gcc { .. }));
    }
}
