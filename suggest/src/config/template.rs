//! The text of a new wmfix.toml: every key with its default, as a comment. Knows
//! nothing of how its values were found.

/// What was found out about a project.
#[derive(Debug)]
pub(crate) struct TemplateValues<'a> {
    /// What builds it, as a sentence.
    pub found: &'a str,
    /// The line of `[build]` that says so.
    pub system: &'a str,
    /// Its usual test command.
    pub test_command: &'a str,
    /// The text of its own vocabulary.
    pub vocabulary: &'a str,
}

/// The text of a wmfix.toml. It changes no result: whatever would is a comment.
pub(crate) fn template(values: &TemplateValues<'_>) -> String {
    let TemplateValues {
        found,
        system,
        test_command,
        vocabulary,
    } = values;
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
         # command = \"{test_command}\"\n\
         # args = [] # for programs that are built without a build system\n\
         # timeout = 60 # seconds; a run that takes longer hangs\n\
         # stdin = \"tests/input.txt\"\n\
         \n\
         [run]\n\
         # runs = 100 # stop after this many runs in a row with nothing new\n\
         # time = 300 # or after this many seconds\n\
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
    for line in vocabulary.lines() {
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
