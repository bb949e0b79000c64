//! `wmfix init`: a wmfix.toml for the current folder, with what was found there
//! and a comment for everything that could be said. It changes no result: what
//! would is written as a comment.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use wmfix_frontend::Vocabularies;

use super::scan::propose_vocabulary;
use crate::cli::InitArgs;
use crate::config::{BuildConfig, FILE_NAME, ProjectConfig};
use crate::exit::ExitStatus;
use crate::project::BuildTool;

/// Writes the file, and prints it.
pub fn run(arguments: &InitArgs) -> anyhow::Result<ExitStatus> {
    let file = Path::new(FILE_NAME);
    if file.exists() && !arguments.force {
        eprintln!("wmfix: there is a {FILE_NAME} here already: use --force to write a new one");
        return Ok(ExitStatus::Usage);
    }
    let text = text(Path::new("."));
    let written = File::create(file).and_then(|mut out| out.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {FILE_NAME}"))?;
    // What was written must be readable, or the next command fails.
    ProjectConfig::read(&file.canonicalize()?).context("the file that was written is wrong")?;
    print!("{text}");
    eprintln!("wmfix: wrote {FILE_NAME}; docs/configuration.md explains every key");
    Ok(ExitStatus::Clean)
}

fn text(folder: &Path) -> String {
    let tool = BuildTool::of(folder, &BuildConfig::default());
    let (system, tests) = match tool {
        Some(BuildTool::Cmake) => ("system = \"cmake\"", "ctest --output-on-failure"),
        Some(BuildTool::Meson) => ("system = \"meson\"", "meson test --no-rebuild -C ."),
        Some(BuildTool::Make { .. }) => ("system = \"make\"", "make test"),
        Some(BuildTool::Commands) | None => ("# system = \"none\"", "./program arguments"),
    };
    let found = match tool {
        Some(tool) => format!("This folder is built by {}.", tool.name()),
        None => "No build system was found: each file with `main` is a test program,\n\
                 # linked with the folder's other sources."
            .to_owned(),
    };
    let mut text = format!(
        "# How wmfix builds, tests and repairs this project. Everything has a default:\n\
         # without this file the result is the same. The command line wins over it.\n\
         \n\
         # Files and folders that the build does not need, written as in a .gitignore.\n\
         # exclude = [\"docs/\", \"*.bin\"]\n\
         \n\
         [build]\n\
         # {found}\n\
         {system}\n\
         # configure = [\"-DBUILD_TESTING=ON\"] # more arguments for cmake, meson setup, ./configure\n\
         # arguments = [\"all\"] # more arguments for make, cmake --build, meson compile\n\
         # commands = [\"./build.sh\"] # shell commands, instead of a build system\n\
         # cflags = [\"-DSMALL\"]\n\
         # cxxflags = [\"-std=c++17\"]\n\
         # ldflags = [\"-lm\"]\n\
         \n\
         [test]\n\
         # The test command, in the folder where the project was built.\n\
         # command = \"{tests}\"\n\
         # args = [] # for programs that are built without a build system\n\
         # timeout = 60 # seconds; a run that takes longer hangs\n\
         # stdin = \"tests/input.txt\"\n\
         \n\
         [run]\n\
         # runs = 100 # stop after so many runs in a row with nothing new\n\
         # time = 300 # or after so many seconds\n\
         # seed = 1\n\
         # strategy = \"pct\" # or \"random\", \"os\"\n\
         # jobs = 4 # runs at a time; 1 if the tests share files or ports\n\
         # volatile = \"ignore\" # or \"relaxed\", \"acqrel\"\n\
         # races = \"on\" # or \"off\"\n\
         \n\
         [repair]\n\
         # cost = \"fewest\" # or \"x86\", \"arm64\", \"portable\"\n\
         \n\
         # Findings that are all right, and why.\n\
         # [[allow]]\n\
         # file = \"src/*.c\"\n\
         # function = \"count\"\n\
         # kind = \"stale-read\" # or \"stale-write\", \"stale-rmw\", \"race\"\n\
         # reason = \"statistics may lag behind\"\n"
    );
    text += "\n# How the project spells its atomics, if it has a layer of its own.\n";
    let learned = propose_vocabulary(&[folder.to_owned()], &Vocabularies::builtin());
    for line in learned.lines() {
        let comment = match line {
            "" => "#".to_owned(),
            line if line.starts_with('#') => line.to_owned(),
            line => format!("# {line}"),
        };
        text += &comment;
        text.push('\n');
    }
    text
}
