//! What a compiler command line asks for: whether it compiles, links or only
//! asks the compiler a question. Owns the options' shapes (which take a value
//! as the next argument); knows nothing of what wmfix adds.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// It has sources that go through the compiler.
    pub compiles: bool,
    /// What it links, if it links.
    pub links: Option<Output>,
}

/// What a link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// A program.
    Executable,
    /// A shared library.
    Shared,
    /// An object file out of object files.
    Relocatable,
}

/// Options whose value is the next argument. (Those that may also have it in the
/// same argument, such as `-I`, take the next one only when they stand alone.)
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-B",
    "-F",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-G",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-imultiarch",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xanalyzer",
    "-mllvm",
    "-aux-info",
    "--param",
    "-arch",
    "-target",
    "--sysroot",
    "--include",
    "--output",
    "--language",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-framework",
    "-working-directory",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-gcc-toolchain",
    "-rpath",
    "-soname",
    "-h",
];

/// Options that end the work before the linker.
const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-emit-ast",
    "--analyze",
    "--precompile",
    "--compile",
    "--assemble",
    "--preprocess",
    "--dependencies",
    "--user-dependencies",
];

/// What a file must end with to be compiled rather than handed to the linker.
const SOURCES: &[&str] = &[
    "c", "i", "ii", "m", "mi", "mm", "M", "mii", "C", "cc", "cp", "cxx", "cpp", "CPP", "c++", "h",
    "H", "hh", "hp", "hxx", "hpp", "HPP", "h++", "tcc", "cppm", "ixx", "ll", "bc",
];

/// Reads a command line without the compiler's name; response files are
/// already expanded.
pub(super) fn classify(arguments: &[OsString]) -> Request {
    let mut question = false;
    let mut stops_early = false;
    let mut output = Output::Executable;
    let mut language_given = false;
    let mut sources = false;
    let mut inputs = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(option) = argument.to_str() else {
            inputs = true;
            sources |= is_source(argument);
            continue;
        };
        match option {
            "-x" | "--language" => language_given = names_a_language(rest.next()),
            "-l" | "-Xlinker" => {
                rest.next();
                inputs = true;
            }
            "-shared" | "--shared" => output = Output::Shared,
            "-r" => output = Output::Relocatable,
            "--version" | "--help" | "--target-help" | "-###" => question = true,
            _ if NO_LINK.contains(&option) => stops_early = true,
            _ if WITH_VALUE.contains(&option) => {
                rest.next();
            }
            _ if option.starts_with("-x") => {
                language_given = names_a_language(Some(&OsString::from(&option[2..])));
            }
            _ if option.starts_with("--help=") || is_dump(option) => question = true,
            _ if option.starts_with("-l") || option.starts_with("-Wl,") => inputs = true,
            "-" => {
                inputs = true;
                sources = true;
            }
            _ if option.starts_with('-') => {}
            _ => {
                inputs = true;
                sources |= language_given || is_source(argument);
            }
        }
    }
    if question || !inputs {
        return Request {
            compiles: false,
            links: None,
        };
    }
    Request {
        compiles: sources,
        links: (!stops_early).then_some(output),
    }
}

/// Replaces each `@file` by the arguments in it, as the compiler does; one that
/// cannot be read stays as it is, for the compiler to complain about.
pub(super) fn expand_response_files(arguments: &[OsString]) -> Vec<OsString> {
    // A response file may name another one; those that name themselves must not keep
    // us busy for ever.
    let mut files_left = MAX_RESPONSE_FILES;
    let mut expanded = Vec::new();
    let mut rest: Vec<OsString> = arguments.iter().rev().cloned().collect();
    while let Some(argument) = rest.pop() {
        let content = match argument.as_bytes() {
            [b'@', name @ ..] if files_left > 0 => {
                read_response(Path::new(OsStr::from_bytes(name)))
            }
            _ => None,
        };
        match content {
            Some(content) => {
                files_left -= 1;
                rest.extend(split_response(&content).into_iter().rev());
            }
            None => expanded.push(argument),
        }
    }
    expanded
}

/// More response files are not read: as many as gcc takes.
const MAX_RESPONSE_FILES: u32 = 2000;

/// A larger file is no list of arguments.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

fn read_response(file: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(file).ok()?;
    let is_list = meta.is_file() && meta.len() <= MAX_RESPONSE_BYTES;
    is_list.then(|| std::fs::read(file).ok())?
}

/// Splits the text of a response file: whitespace separates, quotes of both
/// kinds group, a backslash takes the next character as it is.
fn split_response(content: &[u8]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => current.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                current.get_or_insert_default();
            }
            (None, b' ' | b'\t' | b'\n' | b'\r') => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(byte),
        }
    }
    arguments.extend(current);
    arguments
        .into_iter()
        .map(|argument| OsStr::from_bytes(&argument).to_owned())
        .collect()
}

/// `-x none` gives the choice back to the file names.
fn names_a_language(value: Option<&OsString>) -> bool {
    value.is_some_and(|language| language != "none" && language != "assembler")
}

fn is_source(argument: &OsStr) -> bool {
    Path::new(argument)
        .extension()
        .is_some_and(|extension| SOURCES.iter().any(|known| extension == *known))
}

fn is_dump(option: &str) -> bool {
    option.starts_with("-print-")
        || option.starts_with("--print-")
        || matches!(
            option,
            "-dumpversion" | "-dumpfullversion" | "-dumpmachine" | "-dumpspecs"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Request {
        let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        classify(&arguments)
    }

    const QUESTION: Request = Request {
        compiles: false,
        links: None,
    };
    const COMPILE: Request = Request {
        compiles: true,
        links: None,
    };
    const BOTH: Request = Request {
        compiles: true,
        links: Some(Output::Executable),
    };
    const LINK: Request = Request {
        compiles: false,
        links: Some(Output::Executable),
    };

    #[test]
    fn questions_are_passed_through() {
        for line in [
            "",
            "--version",
            "-v",
            "-dumpmachine",
            "-print-search-dirs",
            "-o x",
            "--help",
            "-print-file-name=libc.so a.c",
            "-I include -DX",
            "--version a.c",
            "-### a.c",
        ] {
            assert_eq!(of(line), QUESTION, "{line}");
        }
    }

    #[test]
    fn compiling_without_linking() {
        for line in [
            "-c a.c",
            "-o a.o -c -MD -MF a.d a.cc",
            "-E -",
            "-dM -E -x c /dev/null",
            "-S a.cpp",
            "-M a.c",
            "-MM a.c -MT a.o",
            "-fsyntax-only a.h",
            "-xc++ -c stuff",
        ] {
            assert_eq!(of(line), COMPILE, "{line}");
        }
    }

    #[test]
    fn linking_with_and_without_sources() {
        for line in [
            "a.c",
            "a.c b.o -lm -o a",
            "-x c a.txt",
            "-v a.c -MD",
            "- -x c",
            "-include x.h a.c",
        ] {
            assert_eq!(of(line), BOTH, "{line}");
        }
        for line in [
            "a.o -o a.c.out",
            "-o a a.o lib.a -L. -lfoo",
            "-lfoo",
            "-Xlinker a.o",
            "-x c -x none a.o",
            "-o main.c a.o",
            "-MF dep.c a.o",
            "a.s",
        ] {
            assert_eq!(of(line), LINK, "{line}");
        }
        assert_eq!(of("-shared a.o").links, Some(Output::Shared));
        assert_eq!(of("-r a.o b.o").links, Some(Output::Relocatable));
        assert_eq!(of("-shared -c a.c"), COMPILE);
    }

    #[test]
    fn response_files_are_read_as_the_compiler_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, outer) = (folder.path().join("inner"), folder.path().join("outer"));
        std::fs::write(&inner, "-DX='a b' \"c\\\"d\"\n  e\\ f ''").unwrap();
        std::fs::write(&outer, format!("-c @{}", inner.display())).unwrap();
        let given = [
            OsString::from(format!("@{}", outer.display())),
            "@missing".into(),
        ];
        let expanded = expand_response_files(&given);
        assert_eq!(expanded, ["-c", "-DX=a b", "c\"d", "e f", "", "@missing"]);

        std::fs::write(&outer, format!("@{}", outer.display())).unwrap();
        assert_eq!(expand_response_files(&given).len(), 2);
    }

    #[test]
    fn response_files_that_name_themselves_many_times_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("self");
        std::fs::write(&file, format!("@{} ", file.display()).repeat(50)).unwrap();
        let expanded = expand_response_files(&[format!("@{}", file.display()).into()]);
        assert!(expanded.len() <= 50 * MAX_RESPONSE_FILES as usize);
        let device = [OsString::from("@/dev/zero")];
        assert_eq!(expand_response_files(&device), device);
    }
}
