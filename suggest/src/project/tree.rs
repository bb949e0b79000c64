//! A project that a build system builds: its tree is copied, configured and
//! built with the wrappers, and nothing of that is done again while nothing has
//! changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use wmfix_frontend::Language;

use super::build::read_notes;
use super::built_programs;
use super::command::{BuildCommand, CommandOutcome};
use super::copy::{TreeCopy, bring_up_to_date};
use super::elsewhere::projects_below;
use super::environment::{self, Wrappers};
use super::hints::{empty_submodule, left_out, own_compiler, test_options};
use super::listing::{self, Test};
use super::make_rules::{self, MakeRules};
use super::rules::Rules;
use super::system::{self, BuildLayout, BuildTool};
use super::walk::{is_hidden, walk};
use super::{BuildFailure, Prepared, Project, TestLeads, build_folder, foreign_paths, own_folder};
use crate::cc;
use crate::config::BuildConfig;
use crate::options::RunOptions;
use crate::run::Deadline;
use crate::subject::PatchedFile;
use crate::subject::{SourceCopy, Subject};

/// What was built, and how it is tested with each test command.
#[derive(Debug, Serialize, Deserialize)]
struct BuiltTests {
    /// Of the sources.
    digest: String,
    tests: BTreeMap<String, Vec<Test>>,
}

/// One variant of a project, the original or the patched one, and where it is
/// built.
pub(super) struct TreeBuild<'a> {
    /// The project.
    pub project: &'a Project,
    /// What builds it.
    pub tool: BuildTool,
    /// Where everything is kept.
    pub folder: &'a Path,
    /// How it is run later.
    pub options: &'a RunOptions,
    /// When building has to be over.
    pub deadline: Deadline,
}

impl TreeBuild<'_> {
    /// Brings the copy and what is built of it up to date.
    pub(super) fn prepare(&self, patched: &[PatchedFile]) -> anyhow::Result<Prepared> {
        let project = self.project;
        let config = &project.build;
        let given = system::given(&project.command, &project.config, project.is_described());
        let wrappers = Wrappers::ready()?;
        let about = format!("{:?} {:?}", self.tool, project.config.exclude);
        let wrapper = wrappers.cc.to_string_lossy();
        let setting = match environment::setting(config, &[&about, &wrapper]) {
            Ok(setting) => setting,
            Err(none) => return Ok(Prepared::Failed(BuildFailure::NoCompiler(none))),
        };
        let mark = self.folder.join("setting");
        if fs::read_to_string(&mark).is_ok_and(|known| known != setting) {
            build_folder::remove(self.folder)
                .with_context(|| format!("cannot empty {}", self.folder.display()))?;
        }
        fs::create_dir_all(self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        fs::write(&mark, &setting)?;

        let tree = self.folder.join("tree");
        let copied = self.up_to_date(patched, &tree)?;
        let below = project.folder.strip_prefix(&project.tree)?;
        // Without a slash at the end: scripts compare names of folders.
        let sources: PathBuf = tree.join(below).components().collect();
        let build = if self.tool.builds_outside() {
            self.folder.join("build")
        } else {
            sources.clone()
        };
        fs::create_dir_all(&build)?;
        let layout = BuildLayout {
            sources: &sources,
            build: &build,
            cc: &wrappers.cc,
            cxx: &wrappers.cxx,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
        };
        let mut tools = environment::for_tools(&wrappers, config);
        let named = self.compilers_of_make(&layout, &tools)?;
        tools.extend(named);
        // For build files that have the name of a compiler in them.
        let names = self.folder.join("compilers");
        let path = environment::in_the_place_of_compilers(&wrappers, &names)?;
        let mut building = tools.clone();
        let notes = self.folder.join("notes");
        building.push(("PATH".into(), path));
        building.push((cc::NOTES_VARIABLE.into(), notes.clone().into()));
        let prepared = self.built(&layout, config, given, &copied, &building)?;
        let tests = match prepared {
            Ok(tests) => tests,
            Err(failure) => return Ok(Prepared::Failed(failure)),
        };
        let one_at_a_time = tests.iter().any(|test| test.shares_files);
        let commands = tests.into_iter().map(|test| {
            let words = test.words.into_iter().map(OsString::from);
            let words = built_programs::find(words.collect(), &build);
            let mut command = project.test_command(words, &build, self.options);
            let launch = &mut command.launch;
            let given = match project.builds_in_runs() {
                // Its compilers must be the wrappers in every run.
                true => &building,
                false => &tools,
            };
            launch.environment.extend(given.iter().cloned());
            let own = test.environment.into_iter();
            launch
                .environment
                .extend(own.map(|(name, value)| (name.into(), value.into())));
            if let Some(folder) = test.folder {
                launch
                    .environment
                    .push(("PWD".into(), folder.clone().into()));
                launch.folder = Some(folder);
            }
            command
        });
        let is_own = |file: &PathBuf| file.starts_with(below) && Language::may_be(file);
        let files = copied.files.into_iter().filter(is_own);
        let files = files.map(|file| project.tree.join(file));
        let original = patched.is_empty();
        Ok(Prepared::Built(Subject {
            commands: commands.collect(),
            must_pass: true,
            one_at_a_time,
            built: built_programs::names(&build),
            notes: read_notes(&notes),
            files: files.filter(|_| original).collect(),
            copy: Some(SourceCopy {
                folder: tree,
                original: project.tree.clone(),
                patched: !original,
            }),
        }))
    }

    /// Brings the copy up to date. A tool that may not know which headers went into
    /// what it has built gets a new copy whenever something has changed: what it
    /// kept could be older than a header, and would then be run instead.
    fn up_to_date(&self, patched: &[PatchedFile], tree: &Path) -> anyhow::Result<TreeCopy> {
        let manifest = self.manifest();
        let was_there = manifest.is_file();
        let copied = self.copy(patched, tree)?;
        let is_built = self.known_tests(&copied.digest).is_some();
        if !was_there || is_built || self.tool.builds_outside() {
            return Ok(copied);
        }
        for file in [&manifest, &self.folder.join("configured")] {
            remove(file)?;
        }
        self.copy(patched, tree)
    }

    /// Where the state of the copy is kept.
    fn manifest(&self) -> PathBuf {
        self.folder.join("manifest.json")
    }

    fn copy(&self, patched: &[PatchedFile], tree: &Path) -> anyhow::Result<TreeCopy> {
        let project = self.project;
        let mut instead = BTreeMap::new();
        for file in patched {
            let path = file.path.canonicalize();
            let path = path.with_context(|| format!("cannot find {}", file.path.display()))?;
            let inside = path.strip_prefix(&project.tree).with_context(|| {
                format!("{} is not in {}", path.display(), project.tree.display())
            })?;
            instead.insert(inside.to_owned(), &file.after[..]);
        }
        let rules = Rules::of(&project.config)?;
        bring_up_to_date(&project.tree, &rules, &instead, tree, &self.manifest())
    }

    /// Builds what is not built yet, and gives the commands that test it.
    fn built(
        &self,
        layout: &BuildLayout<'_>,
        config: &BuildConfig,
        given: Option<Vec<OsString>>,
        copied: &TreeCopy,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<Vec<Test>, BuildFailure>> {
        let digest = &copied.digest;
        let done = self.folder.join("built");
        let known = self.known_tests(digest);
        // Of a command that was not given, the one that belongs to the tool.
        let key = format!("{given:?}");
        if let Some(tests) = known.as_ref().and_then(|known| known.tests.get(&key)) {
            return Ok(Ok(tests.clone()));
        }
        let mut state = match known {
            Some(known) => known,
            None => {
                remove(&done)?;
                if let Some(failure) = self.build(layout, config, &copied.files, tools)? {
                    return Ok(Err(failure));
                }
                BuiltTests {
                    digest: digest.clone(),
                    tests: BTreeMap::new(),
                }
            }
        };
        let tests = match self.tests(layout, config, given, tools)? {
            Ok(tests) => tests,
            Err(failure) => return Ok(Err(failure)),
        };
        state.tests.insert(key, tests.clone());
        fs::write(&done, serde_json::to_vec(&state)?)?;
        Ok(Ok(tests))
    }

    /// What was built of sources with this digest, and is still there.
    fn known_tests(&self, digest: &str) -> Option<BuiltTests> {
        let known = fs::read(self.folder.join("built")).ok()?;
        let known: BuiltTests = serde_json::from_slice(&known).ok()?;
        (known.digest == digest).then_some(known)
    }

    /// Configures and builds; `None` if all went well.
    fn build(
        &self,
        layout: &BuildLayout<'_>,
        config: &BuildConfig,
        files: &[PathBuf],
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Option<BuildFailure>> {
        let steps = self.tool.steps(layout, config);
        if self.tool.builds_outside()
            && let Some(failure) = self.foreign_path(files)?
        {
            return Ok(Some(failure));
        }
        let configured = self.folder.join("configured");
        if !configured.is_file() {
            if self.tool.builds_outside() {
                build_folder::remove(layout.build)?;
                fs::create_dir_all(layout.build)?;
            }
            for step in &steps.configure {
                if let Some(failure) = self.step(step, layout.build, tools)? {
                    return Ok(Some(failure));
                }
            }
            if let Some(compiler) = own_compiler(layout) {
                return Ok(Some(BuildFailure::OwnCompiler(compiler)));
            }
            fs::write(&configured, "")?;
        }
        // What is configured among the sources writes its files anew.
        if !self.tool.builds_outside()
            && let Some(failure) = self.foreign_path(files)?
        {
            return Ok(Some(failure));
        }
        for step in &steps.build {
            if let Some(failure) = self.step(step, layout.build, tools)? {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }

    /// The failure to build if a build file of the copy names the user's folder.
    fn foreign_path(&self, files: &[PathBuf]) -> anyhow::Result<Option<BuildFailure>> {
        let tree = self.folder.join("tree");
        let own = own_folder()?;
        let found = foreign_paths::first(files, &tree, &self.project.tree, &own)?;
        Ok(found.map(BuildFailure::ForeignPath))
    }

    /// The commands that test what was built.
    fn tests(
        &self,
        layout: &BuildLayout<'_>,
        config: &BuildConfig,
        given: Option<Vec<OsString>>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<Vec<Test>, BuildFailure>> {
        let is_given = given.is_some();
        let command = match given {
            Some(command) => command,
            None => match self.guessed(layout, config, tools)? {
                Ok(command) => command,
                Err(failure) => return Ok(Err(failure)),
            },
        };
        if let Some(first) = self.tool.first_test(&command)
            && let Some(failure) = self.step(&first, layout.build, tools)?
        {
            return Ok(Err(failure));
        }
        let words = command
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        let whole = Test {
            words: words.collect(),
            folder: None,
            environment: Vec::new(),
            shares_files: self.shares_files(&command, layout, tools)?,
        };
        if !self.tool.builds_outside() || is_given {
            return Ok(Ok(vec![whole]));
        }
        Ok(match self.listed(layout, tools)? {
            Ok(tests) => Ok(tests.unwrap_or_else(|| vec![whole])),
            Err(failure) => Err(failure),
        })
    }

    /// Whether a call of make would write to files even now that all has been built: two
    /// at a time would be in each other's way.
    fn shares_files(
        &self,
        command: &[OsString],
        layout: &BuildLayout<'_>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<bool> {
        if command.first().is_none_or(|program| program != "make") {
            return Ok(false);
        }
        let mut dry_run = BuildCommand {
            words: command.to_vec(),
            must_succeed: false,
        };
        dry_run.words.insert(1, "-n".into());
        if self.step(&dry_run, layout.build, tools)?.is_some() {
            // Whatever is wrong with it shows when it is run.
            return Ok(false);
        }
        let printed = fs::read(self.folder.join("log"))?;
        let printed = String::from_utf8_lossy(&printed);
        let compiles = |line: &str| {
            let program = line.split_whitespace().next().unwrap_or_default();
            let is_wrapper = [layout.cc, layout.cxx]
                .iter()
                .any(|own| own.as_os_str() == program);
            is_wrapper || cc::is_compiler_name(program.as_ref())
        };
        let mut lines = printed.lines();
        Ok(lines.any(|line| compiles(line) || make_rules::writes_files(line)))
    }

    /// Runs a step; `None` if it went well, or if that does not matter.
    fn step(
        &self,
        step: &BuildCommand,
        folder: &Path,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Option<BuildFailure>> {
        let log = self.folder.join("log");
        let limit = (!step.must_succeed).then(|| Duration::from_secs_f64(self.options.timeout));
        Ok(match step.run(folder, tools, &log, limit, self.deadline)? {
            CommandOutcome::Succeeded => None,
            CommandOutcome::Failed(_) if !step.must_succeed => None,
            CommandOutcome::Failed(output) => Some(BuildFailure::Command {
                command: self.as_the_user_knows(&step.shown()),
                left_out: left_out(&output, &self.project.tree, &self.folder.join("tree")),
                submodule: empty_submodule(&self.project.tree),
                output: self.as_the_user_knows(&output),
                log,
            }),
            // A missing test command of the user's is reported when it is run.
            CommandOutcome::Missing(program) if !step.must_succeed && program != "make" => None,
            CommandOutcome::Missing(program) => Some(BuildFailure::MissingProgram {
                tool: self.tool,
                program,
            }),
            CommandOutcome::Interrupted => Some(BuildFailure::Interrupted),
        })
    }

    /// A text of a tool with the user's own files in the place of their copies.
    fn as_the_user_knows(&self, text: &str) -> String {
        let copy = self.folder.join("tree").display().to_string();
        let original = self.project.tree.display().to_string();
        text.replace(&copy, &original)
    }

    /// The test command that belongs to the tool.
    fn guessed(
        &self,
        layout: &BuildLayout<'_>,
        config: &BuildConfig,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<Vec<OsString>, BuildFailure>> {
        let target = match self.tool {
            BuildTool::Make { .. } => match self.make_target(layout, tools)? {
                Ok(target) => Some(target),
                Err(failure) => return Ok(Err(failure)),
            },
            BuildTool::Commands => return Ok(Err(BuildFailure::NoTestCommand)),
            BuildTool::Cmake | BuildTool::Meson => None,
        };
        Ok(Ok(self.tool.test(layout, config, target)))
    }

    /// The Makefile's own target for tests.
    fn make_target(
        &self,
        layout: &BuildLayout<'_>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<&'static str, BuildFailure>> {
        let printed = match self.make_rules(layout, tools)? {
            Ok(printed) => printed,
            Err(failure) => return Ok(Err(failure)),
        };
        let rules = MakeRules::new(&printed);
        Ok(rules.test_target().ok_or_else(|| {
            let mut leads = self.leads(layout);
            leads.targets = rules.like_tests();
            // What make builds is not run by that.
            leads.targets.retain(|name| !leads.programs.contains(name));
            BuildFailure::NoTests {
                tool: self.tool,
                leads,
            }
        }))
    }

    /// What make prints of its rules and variables.
    fn make_rules(
        &self,
        layout: &BuildLayout<'_>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<String, BuildFailure>> {
        // Prints all rules and makes nothing: there is no target of this name.
        let step = BuildCommand {
            words: ["make", "-pRrq", ":"].map(OsString::from).into(),
            must_succeed: false,
        };
        if let Some(failure) = self.step(&step, layout.build, tools)? {
            return Ok(Err(failure));
        }
        let printed = fs::read(self.folder.join("log"))?;
        Ok(Ok(String::from_utf8_lossy(&printed).into_owned()))
    }

    /// The compilers that a Makefile names, for the wrappers to call.
    fn compilers_of_make(
        &self,
        layout: &BuildLayout<'_>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Vec<(OsString, OsString)>> {
        // What configure will write into a Makefile is not known yet.
        let BuildTool::Make { configured: false } = self.tool else {
            return Ok(Vec::new());
        };
        Ok(match self.make_rules(layout, tools)? {
            Ok(printed) => environment::named_compilers(&MakeRules::new(&printed)),
            // That make is missing is told when it is to build.
            Err(_) => Vec::new(),
        })
    }

    /// What may lead to tests that the tool does not know of.
    fn leads(&self, layout: &BuildLayout<'_>) -> TestLeads {
        let folder = &self.project.folder;
        let current = std::env::current_dir().unwrap_or_default();
        let shown = |inside: PathBuf| {
            let full = folder.join(inside);
            let shown = full.strip_prefix(&current).unwrap_or(&full);
            shown.display().to_string()
        };
        TestLeads {
            submodule: empty_submodule(&self.project.tree),
            options: test_options(layout.sources),
            targets: Vec::new(),
            programs: built_programs::compiled(layout.build),
            folders: projects_below(folder)
                .into_iter()
                .filter(|inside| !self.is_part(inside))
                .map(shown)
                .collect(),
        }
    }

    /// Whether a folder is built by the tool as a part of the project.
    fn is_part(&self, inside: &Path) -> bool {
        let folder = self.project.folder.join(inside);
        let outer = folder.ancestors().skip(1);
        let outer: Vec<&Path> = outer
            .take_while(|at| at.starts_with(&self.project.folder))
            .collect();
        let own = BuildTool::of(&folder, &BuildConfig::default());
        !own.is_some_and(|own| system::stands_alone(own, &folder, &outer, true))
    }

    /// The tests that the tool knows of; none if it is to run them itself.
    fn listed(
        &self,
        layout: &BuildLayout<'_>,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Result<Option<Vec<Test>>, BuildFailure>> {
        let step = match self.tool {
            BuildTool::Meson => BuildCommand::new(["meson", "introspect", "--tests", "."]),
            _ => BuildCommand::new(["ctest", "--show-only=json-v1"]),
        };
        if let Some(failure) = self.step(&step, layout.build, tools)? {
            return Ok(Err(failure));
        }
        let listing = fs::read_to_string(self.folder.join("log"))?;
        let tests = match self.tool {
            BuildTool::Meson => listing::meson(&listing),
            _ => listing::ctest(&listing),
        };
        if tests.as_ref().is_some_and(Vec::is_empty) || listing.contains("No tests were found") {
            return Ok(Err(BuildFailure::NoTests {
                tool: self.tool,
                leads: self.leads(layout),
            }));
        }
        // The listing does not say which tests are to fail.
        let to_fail = self.tool == BuildTool::Meson && mentions(layout.sources, "should_fail");
        Ok(Ok(tests.filter(|_| !to_fail)))
    }
}

/// Whether a meson.build of a tree holds a word.
fn mentions(tree: &Path, word: &str) -> bool {
    walk(tree, |entry| !is_hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == "meson.build")
        .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(word)))
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
