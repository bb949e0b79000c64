//! What there is to build and run at a path, and how sources, the user's own or
//! patched ones, become something that can be run. Owns the copies and the cache
//! of builds; knows nothing of findings. The user's tree is only ever read.

mod automake;
mod build;
mod build_folder;
mod built_programs;
mod command;
mod copy;
mod database;
mod depends;
mod dry_run;
mod elsewhere;
mod environment;
mod failure;
mod foreign_paths;
mod hints;
mod listing;
mod location;
mod main_function;
mod make_rules;
mod programs;
mod rules;
mod scenarios;
mod sources;
mod surroundings;
mod system;
mod test_search;
mod tree;
mod tree_watch;
mod walk;

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;

use crate::cli::BuildFlags;
use crate::config::{BuildConfig, ProjectConfig, repository};
use crate::options::RunOptions;
use crate::progress::{Progress, Stage};
use crate::run::{Deadline, Launch};
use crate::runtime_archive::cache_folder;
use crate::subject::{PatchedFile, RerunCommand, SourceCopy, Subject, TestCommand};
use build::Builder;
use build_folder::BuildFolder;
use database::CompileDatabase;
use elsewhere::bazel_workspace;
use programs::{Program, find_programs};
use sources::{PatchedCopy, ProgramParts};
use surroundings::Surroundings;
use tree::TreeBuild;
use tree_watch::TreeWatch;

pub(crate) use failure::{BuildFailure, Hint, TestLeads};
pub(crate) use foreign_paths::ForeignPath;
pub(crate) use hints::left_out;
pub(crate) use location::{Choice, Location, locate};
pub(crate) use programs::{NothingToBuild, bazel_text};
pub(crate) use system::BuildTool;

/// Something that can be built and run.
#[derive(Debug)]
pub(crate) struct Project {
    /// What was named on the command line: this, or a part of it.
    named: PathBuf,
    /// The file or folder that is built, absolute and without links.
    path: PathBuf,
    /// The folder it is in.
    folder: PathBuf,
    /// The folder whose files belong to it: its repository's, or its own.
    tree: PathBuf,
    /// The test command of the command line.
    command: Vec<OsString>,
    /// How it is built: its own [build], and what the command line adds.
    build: BuildConfig,
    /// What the command line adds.
    build_flags: BuildFlags,
    kind: Kind,
    /// Its wmfix.toml.
    pub config: ProjectConfig,
    /// Why it is this one, where another could have been meant.
    choice: Option<Choice>,
    build_folder: OnceCell<BuildFolder>,
    /// What had to be added to build the programs.
    surroundings: OnceCell<Surroundings>,
}

/// What the command line says about a project.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What was named: the project, or a part of it.
    pub named: PathBuf,
    /// The test command, if there is one.
    pub command: Vec<OsString>,
    /// How it is built.
    pub build: BuildFlags,
}

#[derive(Debug)]
enum Kind {
    Programs(Vec<Program>, CompileDatabase),
    Tree(BuildTool),
}

/// Programs that were built without a build system.
struct BuiltPrograms {
    executables: Vec<PathBuf>,
    /// What the user should know about the build.
    notes: Vec<String>,
}

/// What came of preparing a project.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// It can be run.
    Built(Subject),
    /// It cannot.
    Failed(BuildFailure),
}

/// The folder that wmfix writes to.
fn own_folder() -> anyhow::Result<PathBuf> {
    let folder = cache_folder()?;
    Ok(folder.canonicalize().unwrap_or(folder))
}

impl Project {
    /// What is at a location.
    pub(crate) fn find(
        location: Location,
        asked: Asked,
        config: ProjectConfig,
    ) -> Result<Self, NothingToBuild> {
        let root = location.root;
        let folder = match root.parent() {
            Some(parent) if !root.is_dir() => parent.to_owned(),
            _ => root.clone(),
        };
        let own = config.file.is_some() && config.folder == folder;
        let build = if own {
            config.build.clone()
        } else {
            <_>::default()
        };
        let tool = root
            .is_dir()
            .then(|| BuildTool::of(&folder, &build))
            .flatten();
        let kind = match tool {
            Some(tool) => Kind::Tree(tool),
            None => Self::without_tool(&root, &folder, &asked.command)?,
        };
        Ok(Self {
            named: asked.named,
            path: root,
            tree: repository(&folder).unwrap_or_else(|| folder.clone()),
            folder,
            command: asked.command,
            build: build.with(&asked.build),
            build_flags: asked.build,
            kind,
            config,
            choice: location.choice,
            build_folder: OnceCell::new(),
            surroundings: OnceCell::new(),
        })
    }

    /// What there is to build where no build system is.
    fn without_tool(
        root: &Path,
        folder: &Path,
        command: &[OsString],
    ) -> Result<Kind, NothingToBuild> {
        let database = CompileDatabase::of(folder).unwrap_or_default();
        let mut programs = match find_programs(root) {
            Ok(programs) => programs,
            // The user's command builds what it runs.
            Err(
                NothingToBuild::NoMain(_)
                | NothingToBuild::OnlyHeaders(_)
                | NothingToBuild::Elsewhere(..),
            ) if !command.is_empty() => {
                return Ok(Kind::Tree(BuildTool::Commands));
            }
            Err(nothing @ (NothingToBuild::NoMain(_) | NothingToBuild::OnlyHeaders(_))) => {
                let workspace = bazel_workspace(folder);
                return Err(workspace.map_or(nothing, NothingToBuild::Bazel));
            }
            Err(nothing) => return Err(nothing),
        };
        let is_listed = |program: &Program| database.options.contains_key(&program.sources[0]);
        if programs.iter().any(is_listed) {
            programs.retain(is_listed);
        }
        Ok(Kind::Programs(programs, database))
    }

    /// The folder whose files may be changed, absolute.
    pub(crate) fn tree(&self) -> &Path {
        match self.surroundings.get() {
            Some(around) if !around.root.starts_with(&self.tree) => &around.root,
            _ => &self.tree,
        }
    }

    /// Whether its test command builds what it runs: two at a time would build into the
    /// same files.
    pub(crate) fn builds_in_runs(&self) -> bool {
        matches!(self.kind, Kind::Tree(BuildTool::Commands)) && self.build.commands.is_empty()
    }

    /// What builds it, as people know it.
    pub(crate) fn built_by(&self) -> &'static str {
        match self.kind {
            Kind::Programs(..) => "the compiler",
            Kind::Tree(tool) => tool.name(),
        }
    }

    /// The folder of the project, absolute.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Builds it, with the patched files, if there are any, instead of its own, and
    /// says how to run it. A build that is not done at the deadline is given up.
    pub(crate) fn prepare(
        &self,
        patched: &[PatchedFile],
        options: &RunOptions,
        deadline: Deadline,
    ) -> anyhow::Result<Prepared> {
        let stage = match patched {
            [] => Stage::Building,
            _ => Stage::BuildingPatch,
        };
        let _progress = Progress::new(options, stage);
        let lease = self.build_folder()?;
        let variant = if patched.is_empty() {
            "original"
        } else {
            "patched"
        };
        let folder = lease.folder().join(variant);
        let watch = match self.kind {
            // Such a folder need not be a project's: it may be a home, or hold anything.
            Kind::Programs(..) => TreeWatch::of(&self.folder, 1, own_folder()?),
            Kind::Tree(_) => TreeWatch::of(&self.tree, usize::MAX, own_folder()?),
        };
        let prepared = match &self.kind {
            Kind::Programs(programs, database) => {
                self.programs(programs, database, patched, &folder, options, deadline)?
            }
            Kind::Tree(tool) => TreeBuild {
                project: self,
                tool: *tool,
                folder: &folder,
                options,
                deadline,
            }
            .prepare(patched)?,
        };
        watch.require_unchanged()?;
        let prepared = match (prepared, bazel_workspace(&self.folder)) {
            (Prepared::Failed(failure @ BuildFailure::Compiler { .. }), Some(workspace))
                if patched.is_empty() =>
            {
                let failure = Box::new(failure);
                Prepared::Failed(BuildFailure::Bazel { workspace, failure })
            }
            (prepared, _) => prepared,
        };
        let prepared = match prepared {
            Prepared::Built(mut subject) => {
                subject.notes.extend(self.choice_text());
                Prepared::Built(subject)
            }
            failed => failed,
        };
        Ok(match prepared {
            Prepared::Failed(_) if deadline.is_over() => {
                Prepared::Failed(BuildFailure::Interrupted)
            }
            Prepared::Built(subject) => {
                Prepared::Built(scenarios::one_by_one(subject, &folder, options, deadline)?)
            }
            failed => failed,
        })
    }

    /// Which of several projects was built, if the user may mean another.
    fn choice_text(&self) -> Option<String> {
        let Kind::Tree(tool) = self.kind else {
            return None;
        };
        let (tool, folder) = (tool.name(), self.folder.display());
        match self.choice.as_ref()? {
            Choice::WhereTyped(named) => Some(format!(
                "built by {tool} in {folder}, where the command was typed; {} has a build file of its own: to build by that one, type the command there",
                named.display()
            )),
            Choice::OnlyBelow => Some(format!("built by {tool} in {folder}")),
            Choice::Named => None,
        }
    }

    /// Where this project is built, ours for as long as it lives.
    fn build_folder(&self) -> anyhow::Result<&BuildFolder> {
        if let Some(lease) = self.build_folder.get() {
            return Ok(lease);
        }
        let lease = BuildFolder::of(&self.path).context("cannot use the cache folder")?;
        Ok(self.build_folder.get_or_init(|| lease))
    }

    /// Whether the configuration's [build] and [test] are about this.
    fn is_described(&self) -> bool {
        self.path == self.folder && self.config.file.is_some() && self.config.folder == self.folder
    }

    fn programs(
        &self,
        programs: &[Program],
        database: &CompileDatabase,
        patched: &[PatchedFile],
        folder: &Path,
        options: &RunOptions,
        deadline: Deadline,
    ) -> anyhow::Result<Prepared> {
        let into = folder.join("build");
        let sources = folder.join("sources");
        std::fs::create_dir_all(&into)
            .with_context(|| format!("cannot make {}", into.display()))?;
        let build = |around: &Surroundings| -> anyhow::Result<_> {
            let parts = ProgramParts {
                programs: programs.to_vec(),
                library: around.library.clone(),
                include: around.include.clone(),
                options: database.options.clone(),
            };
            self.build_programs(parts, patched, &sources, &into, deadline)
        };
        let built = match self.surroundings.get() {
            Some(around) => build(around)?,
            None => {
                let around = Surroundings {
                    root: self.folder.clone(),
                    include: Vec::new(),
                    library: listed_library(programs, database),
                };
                let mut built = build(&around)?;
                let mut used = around;
                // What is missing may lie around, the nearest first.
                if built.as_ref().is_err_and(BuildFailure::may_miss_a_part) {
                    for around in Surroundings::of(&self.folder, programs) {
                        built = build(&around)?;
                        used = around;
                        if !built.as_ref().is_err_and(BuildFailure::may_miss_a_part) {
                            break;
                        }
                    }
                }
                if built.is_ok() {
                    let _unset_before = self.surroundings.set(used);
                }
                built
            }
        };
        let BuiltPrograms { executables, notes } = match built {
            Ok(built) => built,
            Err(failure) => return Ok(Prepared::Failed(failure)),
        };
        let library = self.surroundings.get().map(|around| &around.library);
        let parts = programs.iter().flat_map(|p| &p.sources);
        let mut files: Vec<PathBuf> = parts
            .chain(library.into_iter().flatten())
            .cloned()
            .collect();
        files.sort();
        files.dedup();
        let commands = match system::given(&self.command, &self.config, self.is_described()) {
            Some(command) => {
                let command = built_programs::find(command, &into);
                vec![self.test_command(command, &into, options)]
            }
            None => executables
                .into_iter()
                .map(|executable| {
                    let arguments = self.config.test.args.iter().map(OsString::from);
                    let arguments = arguments.filter(|_| self.is_described());
                    let command = std::iter::once(executable.into()).chain(arguments);
                    self.test_command(command.collect(), &into, options)
                })
                .collect(),
        };
        Ok(Prepared::Built(Subject {
            commands,
            must_pass: true,
            one_at_a_time: false,
            built: built_programs::names(&into),
            notes,
            files: if patched.is_empty() {
                files
            } else {
                Vec::new()
            },
            copy: (!patched.is_empty()).then(|| SourceCopy {
                folder: sources,
                original: self.tree().to_owned(),
                patched: true,
            }),
        }))
    }

    /// Builds programs, from a copy with the patched files if there are any: the
    /// executables, and what the user should know about that.
    fn build_programs(
        &self,
        parts: ProgramParts,
        patched: &[PatchedFile],
        sources: &Path,
        into: &Path,
        deadline: Deadline,
    ) -> anyhow::Result<Result<BuiltPrograms, BuildFailure>> {
        let setting = match environment::setting(&self.build, &[]) {
            Ok(setting) => setting,
            Err(none) => return Ok(Err(BuildFailure::NoCompiler(none))),
        };
        let copy = match patched {
            [] => None,
            files => {
                // A file of an earlier patch would be found before the user's.
                build_folder::remove(sources)?;
                Some(PatchedCopy::make(&parts, files, self.tree(), sources)?)
            }
        };
        let named = self.named.canonicalize().ok();
        let builder = Builder {
            named: named.as_deref().filter(|named| named.is_file()),
            quoted: copy.as_ref().map_or(&[], |copy| &copy.quoted),
            config: &self.build,
            from: &self.folder,
            into,
            setting: &setting,
            deadline,
            notes: Mutex::default(),
        };
        let built = builder.build(copy.as_ref().map_or(&parts, |copy| &copy.parts))?;
        Ok(built.map(|executables| BuiltPrograms {
            executables,
            notes: builder.notes(),
        }))
    }

    /// How a command is run in the folder of what was built, and how to type that.
    fn test_command(
        &self,
        command: Vec<OsString>,
        into: &Path,
        options: &RunOptions,
    ) -> TestCommand {
        let mut launch = Launch::new(command, options);
        launch.folder = Some(into.to_owned());
        let stdin = self.config.test.stdin.as_ref();
        launch.input = stdin
            .filter(|_| self.is_described())
            .map(|file| self.config.folder.join(file));
        let mut path = OsString::from(into);
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        launch.environment = vec![
            ("PATH".into(), path),
            ("PWD".into(), into.into()),
            ("WMFIX_BUILD_DIR".into(), into.into()),
            ("WMFIX_SOURCE_DIR".into(), self.folder.clone().into()),
        ];
        let rerun = self.rerun_command(options);
        TestCommand { launch, rerun }
    }

    /// The command that checks this project again, but for the seed.
    fn rerun_command(&self, options: &RunOptions) -> RerunCommand {
        let repeated = options.to_repeat();
        let build = self.build_flags.to_repeat();
        let words = [OsStr::new("check"), self.named.as_os_str()];
        let flags = build.iter().chain(&repeated).map(OsStr::new);
        let words = words.into_iter().chain(flags);
        RerunCommand::new(words, self.command.iter().map(OsString::as_os_str))
    }
}

/// The sources of a compile database that are no programs.
fn listed_library(programs: &[Program], database: &CompileDatabase) -> Vec<PathBuf> {
    let is_part = |source: &&PathBuf| {
        let mut parts = programs.iter().flat_map(|program| &program.sources);
        parts.any(|part| part == *source)
    };
    let listed = database.options.keys().filter(|source| !is_part(source));
    listed
        .filter(|source| !programs::has_main(source))
        .cloned()
        .collect()
}
