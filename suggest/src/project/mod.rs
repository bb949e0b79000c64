//! What there is to build and run at a path, and how sources, the user's own or
//! patched ones, become something that can be run. Owns the copies and the cache
//! of builds; knows nothing of findings. The user's tree is only ever read.

mod build;
mod build_folder;
mod command;
mod copy;
mod depends;
mod environment;
mod failure;
mod listing;
mod main_function;
mod programs;
mod rules;
mod sources;
mod system;
mod tree;
mod walk;

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::config::{ProjectConfig, repository};
use crate::options::RunOptions;
use crate::progress::{Progress, Stage};
use crate::run::{Launch, interrupted};
use crate::subject::{PatchedFile, RerunCommand, SourceCopy, Subject, TestCommand};
use build::Builder;
use build_folder::BuildFolder;
use programs::{Program, find_programs};
use sources::PatchedCopy;
use tree::TreeBuild;

pub(crate) use failure::BuildFailure;
pub(crate) use programs::NothingToBuild;
pub(crate) use system::BuildTool;

/// Something that can be built and run.
#[derive(Debug)]
pub(crate) struct Project {
    /// As it was named on the command line.
    named: PathBuf,
    /// The same, absolute and without links.
    path: PathBuf,
    /// The folder it is in.
    folder: PathBuf,
    /// The folder whose files belong to it: its repository's, or its own.
    tree: PathBuf,
    /// The test command of the command line.
    command: Vec<OsString>,
    kind: Kind,
    /// Its wmfix.toml.
    pub config: ProjectConfig,
    build_folder: OnceCell<BuildFolder>,
}

#[derive(Debug)]
enum Kind {
    Programs(Vec<Program>),
    Tree(BuildTool),
}

/// What came of preparing a project.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// It can be run.
    Built(Subject),
    /// It cannot.
    Failed(BuildFailure),
}

impl Project {
    /// What is at a path. `command` is the user's test command, if there is one.
    pub(crate) fn find(
        path: &Path,
        command: Vec<OsString>,
        config: ProjectConfig,
    ) -> Result<Self, NothingToBuild> {
        let unreadable = |error| NothingToBuild::Unreadable(path.to_owned(), error);
        let full = path.canonicalize().map_err(unreadable)?;
        let folder = match full.parent() {
            Some(parent) if !full.is_dir() => parent.to_owned(),
            _ => full.clone(),
        };
        let own = config.file.is_some() && config.folder == folder;
        let build = if own {
            config.build.clone()
        } else {
            <_>::default()
        };
        let tool = full
            .is_dir()
            .then(|| BuildTool::of(&folder, &build))
            .flatten();
        let kind = match tool {
            Some(tool) => Kind::Tree(tool),
            None => Kind::Programs(find_programs(&full)?),
        };
        Ok(Self {
            named: path.to_owned(),
            path: full,
            tree: repository(&folder).unwrap_or_else(|| folder.clone()),
            folder,
            command,
            kind,
            config,
            build_folder: OnceCell::new(),
        })
    }

    /// The folder whose files may be changed, absolute.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Builds it, with the patched files, if there are any, instead of its own, and
    /// says how to run it.
    pub(crate) fn prepare(
        &self,
        patched: &[PatchedFile],
        options: &RunOptions,
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
        let prepared = match &self.kind {
            Kind::Programs(programs) => self.programs(programs, patched, &folder, options)?,
            Kind::Tree(tool) => TreeBuild {
                project: self,
                tool: *tool,
                folder: &folder,
                options,
            }
            .prepare(patched)?,
        };
        Ok(match prepared {
            Prepared::Failed(_) if interrupted() => Prepared::Failed(BuildFailure::Interrupted),
            other => other,
        })
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
        patched: &[PatchedFile],
        folder: &Path,
        options: &RunOptions,
    ) -> anyhow::Result<Prepared> {
        let config = if self.is_described() {
            self.config.build.clone()
        } else {
            <_>::default()
        };
        let setting = match environment::setting(&config, &[]) {
            Ok(setting) => setting,
            Err(none) => return Ok(Prepared::Failed(BuildFailure::NoCompiler(none))),
        };
        let into = folder.join("build");
        std::fs::create_dir_all(&into)
            .with_context(|| format!("cannot make {}", into.display()))?;
        let sources = folder.join("sources");
        let copy = match patched {
            [] => None,
            files => {
                // A file of an earlier patch would be found before the user's.
                build_folder::remove(&sources)?;
                Some(PatchedCopy::make(programs, files, &self.tree, &sources)?)
            }
        };
        let builder = Builder {
            include: copy.as_ref().map_or(&[], |copy| &copy.include),
            config: &config,
            from: &self.folder,
            into: &into,
            setting: &setting,
        };
        let built = builder.build(copy.as_ref().map_or(programs, |copy| &copy.programs))?;
        let executables = match built {
            Ok(executables) => executables,
            Err(failure) => return Ok(Prepared::Failed(failure)),
        };
        let mut files: Vec<PathBuf> = programs.iter().flat_map(|p| p.sources.clone()).collect();
        files.sort();
        files.dedup();
        let commands = match system::given(&self.command, &self.config, self.is_described()) {
            Some(command) => vec![self.test_command(command, &into, options)],
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
            files: if patched.is_empty() {
                files
            } else {
                Vec::new()
            },
            copy: copy.map(|_| SourceCopy {
                folder: sources,
                original: self.tree.clone(),
                patched: true,
            }),
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
        let words = [OsStr::new("check"), self.named.as_os_str()];
        let words = words.into_iter().chain(repeated.iter().map(OsStr::new));
        RerunCommand::new(words, self.command.iter().map(OsString::as_os_str))
    }
}
