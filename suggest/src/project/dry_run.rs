//! What the commands do that `make -n` prints: whether they build, run something, or
//! write files. Text only: knows nothing of running make.

use std::path::{Path, PathBuf};

use super::system::BuildLayout;
use crate::cc;

/// Programs that change files.
const CHANGES_FILES: [&str; 6] = ["rm", "mv", "cp", "touch", "tee", "install"];

/// Programs and words of the shell that are no test, whatever follows them.
const NO_TESTS: [&str; 46] = [
    ":", "[", "ar", "case", "cat", "cd", "chmod", "cmp", "date", "done", "echo", "esac", "exit",
    "export", "false", "fi", "for", "gmake", "grep", "in", "ld", "ln", "ls", "make", "mkdir",
    "objcopy", "printf", "pwd", "ranlib", "read", "return", "rm", "rmdir", "sed", "set", "shift",
    "size", "strip", "test", "touch", "trap", "true", "umask", "unset", "wait", "}",
];

/// Words that stand before a program.
const BEFORE_PROGRAMS: [&str; 13] = [
    "!", "@", "do", "elif", "else", "env", "exec", "if", "then", "time", "until", "while", "{",
];

/// Programs that run others, or scripts.
const RUNNERS: [&str; 11] = [
    "bash", "ctest", "dash", "perl", "prove", "pytest", "python", "python3", "sh", "timeout",
    "valgrind",
];

/// What `make -n` has printed for a target.
#[derive(Debug)]
pub(super) struct DryRun {
    text: String,
    build: PathBuf,
    wrappers: [PathBuf; 2],
}

impl DryRun {
    /// Reads what make has printed of a build in this layout.
    pub(super) fn new(text: &str, layout: &BuildLayout<'_>) -> Self {
        Self {
            text: text.to_owned(),
            build: layout.build.to_owned(),
            wrappers: [layout.cc.to_owned(), layout.cxx.to_owned()],
        }
    }

    /// Whether anything is done beside building. What make could not find out is taken
    /// for something.
    pub(super) fn runs_anything(&self) -> bool {
        self.text.contains("*** ") || self.programs().any(|program| !self.is_no_test(&program))
    }

    /// Whether a program of the project is run, or a script that may do so.
    pub(super) fn runs_own_program(&self) -> bool {
        self.programs().any(|program| {
            let is_own = is_own(&program) || Path::new(&program).starts_with(&self.build);
            !self.is_no_test(&program) && (is_own || RUNNERS.contains(&name(&program)))
        })
    }

    /// Whether files are written, by a compiler or otherwise: two at a time would be in
    /// each other's way.
    pub(super) fn writes_files(&self) -> bool {
        let compiles = |line: &str| {
            let program = line.split_whitespace().next().unwrap_or_default();
            self.is_compiler(program)
        };
        self.text
            .lines()
            .any(|line| compiles(line) || changes_files(line))
    }

    fn is_compiler(&self, program: &str) -> bool {
        self.wrappers.iter().any(|own| own.as_os_str() == program)
            || cc::is_compiler_name(program.as_ref())
    }

    fn is_no_test(&self, program: &str) -> bool {
        let mut tools = NO_TESTS.iter().chain(&CHANGES_FILES);
        let is_tool = tools.any(|tool| *tool == name(program));
        is_tool && !is_own(program) || self.is_compiler(program)
    }

    /// The programs of all commands.
    fn programs(&self) -> impl Iterator<Item = String> {
        let joined = self.text.replace("\\\n", " ");
        // What make says itself is no command.
        let lines = joined.lines().filter(|line| !is_of_make(line));
        let commands: Vec<Vec<String>> = lines.flat_map(commands).collect();
        commands.into_iter().filter_map(|words| {
            let mut words = words.into_iter();
            words.find(|word| !BEFORE_PROGRAMS.contains(&&**word) && !is_assignment(word))
        })
    }
}

fn is_of_make(line: &str) -> bool {
    let start = line.split([':', '[']).next().unwrap_or_default();
    line.len() > start.len() && ["make", "gmake"].contains(&start)
}

/// Whether a program is named by a folder of the project: no tool is, whatever its name.
fn is_own(program: &str) -> bool {
    program.contains('/') && !program.starts_with('/')
}

/// The name of a program, without its folder.
fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// `NAME=VALUE` before a program.
fn is_assignment(word: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(of_name))
}

/// The commands of a line of the shell, each as its words without quotes.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let ends_command = quote.is_none() && ";&|()`".contains(c);
        if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && ['\'', '"'].contains(&c) {
            quote = Some(c);
        } else if c == '\\' && quote != Some('\'') {
            word.extend(chars.next());
        } else if quote.is_some() || !ends_command && !c.is_whitespace() {
            word.push(c);
        } else {
            let last = all.last_mut().expect("there is always one");
            if !word.is_empty() {
                last.push(std::mem::take(&mut word));
            }
            if ends_command {
                all.push(Vec::new());
            }
        }
    }
    if let Some(last) = all.last_mut().filter(|_| !word.is_empty()) {
        last.push(word);
    }
    all.retain(|words| !words.is_empty());
    all
}

/// Whether a line changes files: by a program that does nothing else, as automake's tests
/// begin with, or by sending its output there.
fn changes_files(line: &str) -> bool {
    let mut words = line.split(|c: char| c.is_whitespace() || ";|&()`".contains(c));
    let sends = |(at, _): (usize, &str)| {
        let to = line[at + 1..].trim_start_matches('>').trim_start();
        !to.is_empty() && !to.starts_with('&') && !to.starts_with("/dev/")
    };
    words.any(|word| CHANGES_FILES.contains(&word)) || line.match_indices('>').any(sends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, ask: fn(&DryRun) -> bool) -> bool {
        let layout = BuildLayout {
            sources: Path::new("/copy"),
            build: Path::new("/copy"),
            cc: Path::new("/cache/wmfix-cc"),
            cxx: Path::new("/cache/wmfix-c++"),
            jobs: 1,
        };
        ask(&DryRun::new(text, &layout))
    }

    #[test]
    fn a_recipe_that_changes_files_is_told_from_one_that_runs_something() {
        for line in [
            "list='sb.log'; test -z \"$list\" || rm -f $list",
            "./t > t.out",
            "./t >>t.out 2>&1",
            "./t 2>&1 | tee log",
            "touch done",
            "/cache/wmfix-cc -c t.c",
        ] {
            assert!(with(line, DryRun::writes_files), "{line}");
        }
        for line in [
            "./t",
            "./t >/dev/null 2>&1",
            "make[1]: Entering directory '/tmp/rm/cp'",
            "make  check-TESTS",
            "for t in a b; do ./$t || exit 1; done",
            "env LC_ALL=C ./farm",
        ] {
            assert!(!with(line, DryRun::writes_files), "{line}");
        }
    }

    #[test]
    fn what_only_builds_runs_nothing() {
        for text in [
            "",
            "make: 'test' is up to date.",
            "make[1]: Nothing to be done for 'test'.",
            "/cache/wmfix-cc -c -o t.o t.c\nar rcs libt.a t.o\ngcc -o t \\\n  t.o",
            "mkdir -p out && cd out && echo \"a; ./t\"",
            "make -C sub test\nmake[1]: Entering directory '/x/sub'",
            "CFLAGS=-O2 cc -c t.c",
        ] {
            assert!(!with(text, DryRun::runs_anything), "{text}");
        }
        for text in [
            "cc -o t t.c\n./t",
            "for t in a b; do ./$t || exit 1; done",
            "cd tests && A=1 ./t",
            "./test",
            "ctest",
            "make: *** No rule to make target 'x'.  Stop.",
        ] {
            assert!(with(text, DryRun::runs_anything), "{text}");
        }
    }

    #[test]
    fn programs_of_the_project_are_told_from_tools() {
        for text in ["./t", "bin/t -n 3", "/copy/bin/t", "sh run.sh", "@ ctest"] {
            assert!(with(text, DryRun::runs_own_program), "{text}");
        }
        for text in ["clang-format -i src/a.c", "/usr/bin/doxygen", "echo ./t"] {
            assert!(!with(text, DryRun::runs_own_program), "{text}");
        }
    }
}
