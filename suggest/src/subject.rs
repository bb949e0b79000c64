//! What is examined, as the stages hand it on: the commands to run, the copy that
//! they were built from, the files of a patched copy, and how to run a command
//! again. Values only: knows nothing of how they are made or shown.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wmfix_rewriter::EditSet;

use crate::run::Launch;

/// What is to be examined.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The commands to run, one after the other.
    pub commands: Vec<TestCommand>,
    /// Files whose sites are to be counted, absolute.
    pub files: Vec<PathBuf>,
    /// They are tests: an exit code other than 0 is a failure.
    pub must_pass: bool,
    /// Two runs at a time would be in each other's way: they write to the same files.
    pub one_at_a_time: bool,
    /// The copy that it was built from; `None` if it was built in place.
    pub copy: Option<SourceCopy>,
    /// The names of the programs that were built, as far as they were looked for.
    pub built: Vec<String>,
    /// What the compiler wrappers have changed about the build.
    pub notes: Vec<String>,
}

/// A command that runs what is examined.
#[derive(Clone, Debug)]
pub(crate) struct TestCommand {
    /// How it is started.
    pub launch: Launch,
    /// How a user runs it again.
    pub rerun: RerunCommand,
}

impl TestCommand {
    /// The command as one would type it: the program by its name, and without what wmfix
    /// adds to a call of make.
    pub(crate) fn shown(&self) -> String {
        let is_own = |word: &str| {
            let named = |wrapper: &&str| word.ends_with(&format!("/{wrapper}"));
            let is_wrapper = ["wmfix-cc", "wmfix-c++"].iter().any(named);
            word == "--no-print-directory" || word.contains('=') && is_wrapper
        };
        let words = self.launch.command.iter().skip(1);
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let words = words.filter(|word| !is_own(word));
        let words: Vec<String> = std::iter::once(self.launch.name()).chain(words).collect();
        words.join(" ")
    }
}

/// A copy of a source tree.
#[derive(Clone, Debug)]
pub(crate) struct SourceCopy {
    /// Its folder.
    pub folder: PathBuf,
    /// The user's folder that it is a copy of.
    pub original: PathBuf,
    /// Its files differ from the user's, so they are read in the copy.
    pub patched: bool,
}

/// A file with the changes of a repair.
#[derive(Clone, Debug)]
pub(crate) struct PatchedFile {
    /// Where the original is.
    pub path: PathBuf,
    /// The original text.
    pub before: Vec<u8>,
    /// The patched text.
    pub after: Vec<u8>,
    /// What turns one into the other.
    pub edits: EditSet,
}

/// The wmfix command that runs something again, but for the seed or the schedule.
/// Words, not text: whoever shows it does the quoting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RerunCommand {
    /// `wmfix`, the subcommand, its path and its options.
    pub words: Vec<String>,
    /// The test command, which follows `--`; empty if there is none.
    pub test_command: Vec<String>,
}

impl RerunCommand {
    /// A subcommand of wmfix with its options and a test command.
    pub(crate) fn new<'w>(
        words: impl IntoIterator<Item = &'w OsStr>,
        test_command: impl IntoIterator<Item = &'w OsStr>,
    ) -> Self {
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let program = std::iter::once(OsStr::new("wmfix"));
        Self {
            words: program.chain(words).map(text).collect(),
            test_command: test_command.into_iter().map(text).collect(),
        }
    }
}
