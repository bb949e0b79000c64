//! What the wrapper makes of a command line: the arguments as given, without the
//! sanitizers that the runtime replaces, plus what instruments and links it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::arguments::{Output, Request};
use super::compiler::Family;
use crate::runtime_archive::{RuntimeFiles, WRAP};

/// A command line for the real compiler.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// All the arguments.
    pub arguments: Vec<OsString>,
    /// What the user should know, because it is not what was asked for.
    pub notes: Vec<String>,
}

/// Sanitizers whose runtime cannot be linked together with ours.
const REPLACED_SANITIZERS: &[&str] = &[
    "thread",
    "address",
    "leak",
    "memory",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "dataflow",
    "kernel-memory",
];

/// Warnings that depend on how code is optimised or how large its frames are,
/// and that instrumenting may therefore bring up: they must not stop a build
/// that treats warnings as errors.
const NO_LONGER_ERRORS: &[&str] = &["frame-larger-than=", "inline"];
/// Those of gcc, with the version that has them first: an older one does not take
/// the option.
const NO_LONGER_ERRORS_GCC: &[(&str, u32)] = &[
    ("array-bounds", 0),
    ("free-nonheap-object", 0),
    ("maybe-uninitialized", 0),
    ("null-dereference", 0),
    ("restrict", 0),
    ("stack-usage=", 0),
    ("stringop-overflow", 0),
    ("stringop-overread", 11),
    ("strict-overflow", 0),
    ("tsan", 11),
    ("use-after-free", 12),
    ("dangling-pointer", 12),
    ("nonnull", 0),
    ("alloc-size-larger-than=", 0),
    ("format-overflow", 0),
    ("format-truncation", 0),
    ("uninitialized", 0),
];

/// The first gcc that can tell volatile accesses apart.
const DISTINGUISHES_VOLATILE: u32 = 11;

/// Options that link the C library statically.
const STATIC: &[&str] = &[
    "-static",
    "--static",
    "-static-pie",
    "-Wl,-static",
    "-Wl,--static",
];

/// Options of the linker that leave out the names and lines that findings are told by.
const STRIPPING: &[&str] = &["-s", "-S", "--strip-all", "--strip-debug"];

/// Plans the call for what the arguments ask for. `expanded` is `given` with the
/// response files read: these are passed on as they are (there may be more in
/// them than fits on a command line) unless something in them must change.
pub(super) fn plan(
    family: Family,
    request: Request,
    given: &[OsString],
    expanded: &[OsString],
    files: &RuntimeFiles,
) -> Plan {
    let unchanged = expanded.iter().all(|argument| !may_change(argument));
    let kept = if unchanged { given } else { expanded };
    let mut plan = Plan {
        arguments: Vec::new(),
        notes: Vec::new(),
    };
    let mut kept = kept.iter().peekable();
    while let Some(argument) = kept.next() {
        let text = argument.to_str().unwrap_or_default();
        if let Some(list) = text.strip_prefix("-fsanitize=") {
            plan.sanitizers(list);
        } else if request.links.is_none() {
            plan.arguments.push(argument.clone());
        } else if STATIC.contains(&text) {
            plan.notes.push(format!(
                "ignoring {text}: wmfix cannot control a statically linked program, so this one is linked dynamically"
            ));
        } else if text == "-Xlinker" && kept.next_if(|next| is_stripping(next)).is_some() {
            // Neither is passed on.
        } else if strips(text) {
            plan.arguments.extend(without_stripping(text));
        } else {
            plan.arguments.push(argument.clone());
        }
    }
    let says = |start: &str| {
        expanded
            .iter()
            .any(|a| a.as_bytes().starts_with(start.as_bytes()))
    };
    if request.compiles {
        plan.instrument(family, files);
        if says("-Werror") {
            plan.tolerate(family);
        }
    }
    if says("-flto") {
        // The instrumenting pass must see each file by itself.
        plan.add(["-fno-lto"]);
    }
    match request.links {
        Some(Output::Executable) => {
            plan.link_runtime(files);
            if let Some(library) = openmp_library(family, expanded) {
                plan.keep_library(library);
            }
        }
        // The executable has what is missing, even where undefined symbols
        // were forbidden.
        Some(Output::Shared) => plan.add([WRAP, "-Xlinker", "-z", "-Xlinker", "undefs"]),
        Some(Output::Relocatable) | None => {}
    }
    if request.links.is_none() {
        // Said where it matters most: once a program, not once a file.
        plan.notes.clear();
    }
    plan
}

/// The library that a program with OpenMP is linked with.
fn openmp_library(family: Family, arguments: &[OsString]) -> Option<&'static str> {
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    words.find_map(|word| match (word, family) {
        ("-fopenmp", Family::Clang) | ("-lomp" | "-fopenmp=libomp", _) => Some("-lomp"),
        ("-fopenmp", _) | ("-lgomp" | "-fopenmp=libgomp", _) => Some("-lgomp"),
        _ => None,
    })
}

/// Whether the argument may not reach the compiler as it is.
fn may_change(argument: &OsString) -> bool {
    let text = argument.to_str().unwrap_or_default();
    text.starts_with("-fsanitize=")
        || STATIC.contains(&text)
        || strips(text)
        || is_stripping(argument)
}

/// Whether a word is an option of the linker that strips.
fn is_stripping(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| STRIPPING.contains(&word))
}

/// Whether an argument has the linker strip.
fn strips(argument: &str) -> bool {
    let list = argument.strip_prefix("-Wl,");
    let words = |list: &str| list.split(',').any(|word| STRIPPING.contains(&word));
    argument == "-s" || list.is_some_and(words)
}

/// What else such an argument has for the linker.
fn without_stripping(argument: &str) -> Option<OsString> {
    let words = argument.strip_prefix("-Wl,")?.split(',');
    let rest: Vec<&str> = words.filter(|word| !STRIPPING.contains(word)).collect();
    (!rest.is_empty()).then(|| format!("-Wl,{}", rest.join(",")).into())
}

impl Plan {
    fn add<const N: usize>(&mut self, arguments: [&str; N]) {
        self.arguments.extend(arguments.map(OsString::from));
    }

    fn sanitizers(&mut self, list: &str) {
        let (ours, theirs): (Vec<&str>, Vec<&str>) = list
            .split(',')
            .partition(|name| REPLACED_SANITIZERS.contains(name));
        if !theirs.is_empty() {
            self.arguments
                .push(format!("-fsanitize={}", theirs.join(",")).into());
        }
        for name in ours.into_iter().filter(|name| *name != "thread") {
            self.notes.push(format!(
                "ignoring -fsanitize={name}: it cannot be combined with wmfix"
            ));
        }
    }

    fn instrument(&mut self, family: Family, files: &RuntimeFiles) {
        match family {
            Family::Gcc { version } => {
                // The checking forms are expanded in place, where nobody sees
                // what they copy.
                self.add(["-U_FORTIFY_SOURCE", "-U__SANITIZE_THREAD__"]);
                let mut specs = OsString::from("-specs=");
                if version >= DISTINGUISHES_VOLATILE {
                    specs.push(&files.gcc_specs);
                } else {
                    specs.push(&files.old_gcc_specs);
                    self.notes.push(format!(
                        "gcc {version} does not mark volatile accesses, so --volatile has no effect; use gcc {DISTINGUISHES_VOLATILE} or later, or clang"
                    ));
                }
                self.arguments.push(specs);
                // The instrumenting pass comes after those that remove reads whose
                // value is not used, and with them their races.
                self.add(["-fno-tree-dce", "-fno-tree-dse"]);
                // Equal ends of two ways would have the lines of one of them.
                self.add(["-fno-crossjumping"]);
            }
            // Said to the compiler proper: the driver would link libtsan.
            Family::Clang => {
                self.add(["-Xclang", "-fsanitize=thread"]);
                self.add(["-mllvm", "-tsan-distinguish-volatile=1"]);
                // The name of the feature becomes another one on the way to the
                // compiler's own question.
                self.add(["-D__has_feature(x)=__has_extension(x)"]);
                self.add(["-Dthread_sanitizer=wmfix_is_no_thread_sanitizer"]);
                self.add(["-Wno-builtin-macro-redefined"]);
                // So that debug information has the standard, as it has with gcc.
                self.add(["-grecord-command-line"]);
            }
        }
        // Programs must not see that they are instrumented: some then use other
        // code, or announce an order that they do not have. The C++ library must:
        // it reads two counters at once otherwise.
        self.add(["-D_GLIBCXX_TSAN=1"]);
        // Headers that come before those of the compiler and the library.
        self.add(["-isystem"]);
        self.arguments.push(files.headers.clone().into());
        // Last of all, so that a project's own copy comes first.
        self.add(["-idirafter"]);
        self.arguments.push(files.scenarios.clone().into());
        self.add(["-g", "-fno-omit-frame-pointer"]);
    }

    fn tolerate(&mut self, family: Family) {
        let mut warnings = NO_LONGER_ERRORS.to_vec();
        if let Family::Gcc { version } = family {
            let known = NO_LONGER_ERRORS_GCC
                .iter()
                .filter(|known| known.1 <= version);
            warnings.extend(known.map(|known| known.0));
        }
        for warning in warnings {
            self.arguments.push(format!("-Wno-error={warning}").into());
        }
    }

    /// Everything goes through `-Xlinker`, where no `-x` before it can make a
    /// source file of the archive, and no comma in a path can split it.
    fn link_runtime(&mut self, files: &RuntimeFiles) {
        let mut exports = OsString::from("--dynamic-list=");
        exports.push(&files.exports);
        self.add([WRAP]);
        let words = [
            "--whole-archive".into(),
            files.archive.clone().into_os_string(),
            "--no-whole-archive".into(),
            exports,
            "-lpthread".into(),
            "-ldl".into(),
            "-lm".into(),
            "-lgcc_s".into(),
        ];
        for word in words {
            self.add(["-Xlinker"]);
            self.arguments.push(word);
        }
    }

    /// Has a library loaded with the program although nothing is missing that it has: what
    /// the program wants of it the runtime stands before. It asks whether it is there.
    fn keep_library(&mut self, library: &str) {
        for word in ["--push-state", "--no-as-needed", library, "--pop-state"] {
            self.add(["-Xlinker", word]);
        }
    }
}

#[cfg(test)]
mod tests {
    use wmfix_tests::fuzzing::fuzz;

    use super::super::arguments::{classify, expand_response_files};
    use super::super::machine::other_machine;
    use super::*;

    const GCC: Family = Family::Gcc { version: 12 };

    fn planned(family: Family, line: &str) -> (String, Vec<String>) {
        let files = RuntimeFiles {
            archive: "/c/rt.a".into(),
            exports: "/c/e".into(),
            gcc_specs: "/c/g".into(),
            old_gcc_specs: "/c/old".into(),
            headers: "/c/h".into(),
            scenarios: "/c/s".into(),
        };
        let given: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let plan = plan(family, classify(&given), &given, &given, &files);
        let words: Vec<_> = plan.arguments.iter().map(|a| a.to_string_lossy()).collect();
        (words.join(" "), plan.notes)
    }

    #[test]
    fn compiling_instruments_and_does_not_link() {
        let (gcc, _) = planned(GCC, "-c a.c -O2");
        assert_eq!(
            gcc,
            "-c a.c -O2 -U_FORTIFY_SOURCE -U__SANITIZE_THREAD__ -specs=/c/g -fno-tree-dce -fno-tree-dse -fno-crossjumping -D_GLIBCXX_TSAN=1 -isystem /c/h -idirafter /c/s -g -fno-omit-frame-pointer"
        );
        let (clang, _) = planned(Family::Clang, "-c a.c");
        assert!(
            clang.starts_with("-c a.c -Xclang -fsanitize=thread -mllvm"),
            "{clang}"
        );
        assert!(!clang.contains("rt.a"));
    }

    #[test]
    fn linking_brings_the_runtime_and_nothing_for_the_compiler() {
        let (line, _) = planned(Family::Clang, "a.o -o a");
        let (kept, added) = line.split_once(" -Wl,").expect("functions are wrapped");
        assert_eq!(kept, "a.o -o a");
        assert!(added.contains(",--wrap=memcpy,"), "{added}");
        assert!(
            added.contains("-Xlinker --whole-archive -Xlinker /c/rt.a"),
            "{added}"
        );
        assert!(!line.contains("sanitize"));
    }

    #[test]
    fn nothing_is_stripped() {
        for (given, kept) in [
            ("a.o -s -o a", "a.o -o a"),
            ("a.o -Wl,-s -o a", "a.o -o a"),
            (
                "a.o -Wl,-O1,--strip-all,--as-needed -o a",
                "a.o -Wl,-O1,--as-needed -o a",
            ),
            (
                "a.o -Xlinker --strip-debug -Xlinker -O1 -o a",
                "a.o -Xlinker -O1 -o a",
            ),
        ] {
            let (line, notes) = planned(GCC, given);
            assert!(line.starts_with(&format!("{kept} ")), "{given}: {line}");
            assert!(notes.is_empty(), "{notes:?}");
        }
        // Without linking, they are options of the compiler.
        assert!(planned(GCC, "-S a.c").0.starts_with("-S a.c "));
    }

    #[test]
    fn a_program_with_openmp_keeps_its_library() {
        let kept = |family, line| {
            let (line, _) = planned(family, line);
            let kept = line.split_once("--no-as-needed -Xlinker ")?.1;
            kept.split(' ').next().map(str::to_owned)
        };
        assert_eq!(kept(GCC, "-fopenmp a.o").as_deref(), Some("-lgomp"));
        assert_eq!(
            kept(Family::Clang, "-fopenmp a.o").as_deref(),
            Some("-lomp")
        );
        assert_eq!(kept(GCC, "-fopenmp-simd a.o"), None);
        assert_eq!(kept(GCC, "-fopenmp -c a.c"), None);
    }

    #[test]
    fn other_sanitizers_stay_where_they_can() {
        let (line, notes) = planned(GCC, "-fsanitize=address,undefined -fsanitize=thread a.o");
        assert!(line.starts_with("-fsanitize=undefined a.o"), "{line}");
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("address"));
    }

    #[test]
    fn a_static_link_is_made_dynamic_and_said() {
        let (line, notes) = planned(GCC, "-static a.o");
        assert!(!line.contains("-static"), "{line}");
        assert_eq!(notes.len(), 1);
        assert_eq!(planned(GCC, "-static -c a.c").1.len(), 0);
        for spelling in STATIC {
            let (line, notes) = planned(GCC, &format!("a.o {spelling}"));
            assert!(!line.contains("static"), "{line}");
            assert_eq!(notes.len(), 1);
        }
    }

    #[test]
    fn an_old_gcc_gets_only_options_that_it_has() {
        let old = Family::Gcc { version: 10 };
        let (line, notes) = planned(old, "a.c -Werror");
        assert!(line.contains("-specs=/c/old"), "{line}");
        assert!(line.contains("-Wno-error=array-bounds"), "{line}");
        assert!(!line.contains("dangling-pointer"), "{line}");
        assert!(!line.contains("stringop-overread"), "{line}");
        assert!(notes[0].contains("volatile"), "{notes:?}");
        let (line, notes) = planned(GCC, "a.c -Werror");
        assert!(line.contains("-Wno-error=dangling-pointer"), "{line}");
        assert_eq!(notes.len(), 0);
    }

    #[test]
    fn questions_are_untouched() {
        assert_eq!(planned(GCC, "-print-search-dirs").0, "-print-search-dirs");
    }

    /// Whatever the command line, and whatever is in its response files, a call comes
    /// out, with everything that is neither a sanitizer nor `-static`.
    #[test]
    fn fuzz_compiler_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("response");
        let named = OsString::from(format!("@{}", file.display()));
        let files = RuntimeFiles {
            archive: "/c/rt.a".into(),
            exports: "/c/e".into(),
            gcc_specs: "/c/g".into(),
            old_gcc_specs: "/c/old".into(),
            headers: "/c/h".into(),
            scenarios: "/c/s".into(),
        };
        let seeds = [
            "-c a.c -O2 -o a.o -MD -MF a.d",
            "-shared -fPIC -Wl,-soname,x -x c++ a.cc - -lm",
            "-fsanitize=address,undefined -static 'a b.c' \"c d\" e\\ f",
            "--target=aarch64-linux-gnu -m32 -march=native -r a.o @inner",
            "-Xlinker --wrap=x -flto -Werror --param a=b -E -dM",
        ];
        let seeds = seeds.map(|line| line.as_bytes().to_vec());
        let words = r#" -x | -o | -c | -fsanitize=|,| -Xlinker | @|'|"|\|- | -l| -I| --target=| -target | -m32 | -"#;
        let words: Vec<&str> = words.split('|').collect();
        fuzz("compiler's arguments", &seeds, &words, |bytes| {
            std::fs::write(&file, bytes).unwrap();
            let expanded = expand_response_files(std::slice::from_ref(&named));
            let request = classify(&expanded);
            for family in [GCC, Family::Clang] {
                let plan = plan(family, request, &expanded, &expanded, &files);
                let mut kept = expanded.iter().filter(|argument| !may_change(argument));
                assert!(kept.all(|one| plan.arguments.contains(one)));
            }
            other_machine(std::ffi::OsStr::new("cc"), &expanded);
        });
    }
}
