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
        "# How wmfix builds, tests and repairs this project. Every key has a default. The\n\
         # command line overrides this file.\n\
         \n\
         # Files and folders that the build does not need, with the syntax of .gitignore.\n\
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
         # define = [\"QUEUE_SIZE=8\"] # variables of CMake, Meson or make\n\
         # preset = \"debug\" # of CMake\n\
         \n\
         [test]\n\
         # The test command. It runs in the build folder.\n\
         # command = \"{test_command}\"\n\
         # args = [] # for programs that are built without a build system\n\
         # timeout = 60 # seconds; a run that takes longer counts as hung\n\
         # stdin = \"tests/input.txt\"\n\
         \n\
         [run]\n\
         # runs = 100 # stop after this many consecutive runs without a new finding\n\
         # time = 300 # or after this many seconds\n\
         # seed = 1\n\
         # strategy = \"mixed\" # or \"seek\", \"pct\", \"pos\", \"random\", \"os\"\n\
         # sleeps = \"any\" # or \"clock\": sleeps end in the order of the clock\n\
         # jobs = 4 # parallel runs; 1 if the tests share files or ports\n\
         # annotations = \"ignore\" # or \"trust\": of happens-before\n\
         # volatile = \"ignore\" # or \"relaxed\", \"acqrel\"\n\
         # races = \"predict\" # or \"on\", \"off\"\n\
         # baseline = \"wmfix-baseline.json\" # findings that do not fail; see `wmfix baseline`\n\
         \n\
         [repair]\n\
         # cost = \"portable\" # or \"x86\", \"arm64\", \"fewest\"\n\
         # Files that a patch may change. Default: all but tests, if there is anything else.\n\
         # include = [\"src/**\", \"include/**\"]\n\
         # exclude = [\"third_party/**\"]\n\
         \n\
         # Findings that were reviewed and accepted, and why.\n\
         # [[allow]]\n\
         # file = \"src/*.c\"\n\
         # function = \"count\"\n\
         # kind = \"stale-read\" # or \"stale-write\", \"stale-rmw\", \"race\"\n\
         # reason = \"statistics may lag behind\"\n"
    );
    text += "\n# The project's own wrappers of atomic operations, if it has any.\n";
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
