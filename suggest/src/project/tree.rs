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
use super::environment::{self, Wrappers};
use super::hints::{self, own_compiler};
use super::make_rules::MakeRules;
use super::rules::Rules;
use super::system::{self, BuildLayout, BuildTool};
use super::test_search::{TestPlan, TestSearch};
use super::{BuildFailure, Prepared, Project, build_folder, foreign_paths, own_folder};
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
    tests: BTreeMap<String, TestPlan>,
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
        let of_wrappers = self.folder.join("notes");
        building.push(("PATH".into(), path));
        building.push((cc::NOTES_VARIABLE.into(), of_wrappers.clone().into()));
        let prepared = self.built(&layout, config, given, &copied, &building)?;
        let TestPlan { tests, note } = match prepared {
            Ok(plan) => plan,
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
            launch.skip = test.skip;
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
            notes: note.into_iter().chain(read_notes(&of_wrappers)).collect(),
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
    ) -> anyhow::Result<Result<TestPlan, BuildFailure>> {
        let digest = &copied.digest;
        let done = self.folder.join("built");
        let known = self.known_tests(digest);
        // Of a command that was not given, the one that belongs to the tool.
        let key = format!("{given:?}");
        if let Some(plan) = known.as_ref().and_then(|known| known.tests.get(&key)) {
            return Ok(Ok(plan.clone()));
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
        let search = TestSearch {
            of: self,
            layout,
            config,
            tools,
        };
        let plan = match search.plan(given)? {
            Ok(plan) => plan,
            Err(failure) => return Ok(Err(failure)),
        };
        state.tests.insert(key, plan.clone());
        fs::write(&done, serde_json::to_vec(&state)?)?;
        Ok(Ok(plan))
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

    /// Runs a step; `None` if it went well, or if that does not matter.
    pub(super) fn step(
        &self,
        step: &BuildCommand,
        folder: &Path,
        tools: &[(OsString, OsString)],
    ) -> anyhow::Result<Option<BuildFailure>> {
        let log = self.log();
        let limit = (!step.must_succeed).then(|| Duration::from_secs_f64(self.options.timeout));
        Ok(match step.run(folder, tools, &log, limit, self.deadline)? {
            CommandOutcome::Succeeded => None,
            CommandOutcome::Failed(_) if !step.must_succeed => None,
            CommandOutcome::Failed(output) => Some(BuildFailure::Command {
                command: self.as_the_user_knows(&step.shown()),
                hints: hints::behind(
                    &output,
                    &self.project.tree,
                    &self.folder.join("tree"),
                    self.unused_presets(),
                ),
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

    /// The presets of CMake that the project has, if it is configured without any.
    pub(super) fn unused_presets(&self) -> Vec<String> {
        match (self.tool, &self.project.build.preset) {
            (BuildTool::Cmake, None) => hints::cmake_presets(self.project.folder()),
            _ => Vec::new(),
        }
    }

    /// What the last step has printed.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// A text of a tool with the user's own files in the place of their copies.
    fn as_the_user_knows(&self, text: &str) -> String {
        let copy = self.folder.join("tree").display().to_string();
        let original = self.project.tree.display().to_string();
        text.replace(&copy, &original)
    }

    /// What make prints of its rules and variables.
    pub(super) fn make_rules(
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
        let printed = fs::read(self.log())?;
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
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
