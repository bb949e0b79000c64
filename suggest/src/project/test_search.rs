//! How a project is tested that a build system builds: by what the system calls its
//! tests; where it names none, by the one target or the programs that can be meant,
//! which is said; or what may lead to tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::built_programs;
use super::command::BuildCommand;
use super::dry_run::DryRun;
use super::elsewhere::projects_below;
use super::hints::{empty_submodule, test_options};
use super::listing::{self, Test};
use super::make_rules::{self, MakeRules};
use super::system::{self, BuildLayout, BuildTool};
use super::tree::TreeBuild;
use super::walk::{is_hidden, walk};
use super::{BuildFailure, Choice, TestLeads};
use crate::config::BuildConfig;

/// How a project is tested.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TestPlan {
    /// What is run.
    pub tests: Vec<Test>,
    /// That nobody has named these tests, if so.
    pub note: Option<String>,
}

impl TestPlan {
    pub(super) fn of(tests: Vec<Test>) -> Self {
        Self { tests, note: None }
    }
}

/// Looks for the tests of what was built.
pub(super) struct TestSearch<'a> {
    /// What was built.
    pub of: &'a TreeBuild<'a>,
    /// Where.
    pub layout: &'a BuildLayout<'a>,
    /// How.
    pub config: &'a BuildConfig,
    /// What build tools find in their environment.
    pub tools: &'a [(OsString, OsString)],
}

impl TestSearch<'_> {
    /// The commands that test what was built; `given` is the user's.
    pub(super) fn plan(
        &self,
        given: Option<Vec<OsString>>,
    ) -> anyhow::Result<Result<TestPlan, BuildFailure>> {
        if let Some(command) = given {
            if let Some(failure) = self.first_run(&command)? {
                return Ok(Err(failure));
            }
            let whole = self.whole(&command)?;
            return Ok(Ok(TestPlan::of(vec![whole])));
        }
        match self.of.tool {
            BuildTool::Make { .. } => self.of_make(),
            BuildTool::Commands => Ok(Err(BuildFailure::NoTestCommand)),
            BuildTool::Cmake | BuildTool::Meson => self.listed(),
        }
    }

    /// The Makefile's own target for tests, or what comes next to that.
    fn of_make(&self) -> anyhow::Result<Result<TestPlan, BuildFailure>> {
        let printed = match self.of.make_rules(self.layout, self.tools)? {
            Ok(printed) => printed,
            Err(failure) => return Ok(Err(failure)),
        };
        let rules = MakeRules::new(&printed);
        let is_configured = self.of.tool == BuildTool::Make { configured: true };
        if is_configured && let Some(plan) = self.of_automake()? {
            return Ok(plan);
        }
        let mut idle = Vec::new();
        for target in rules.test_targets() {
            let command = self.make(target);
            if let Some(failure) = self.first_run(&command)? {
                return Ok(Err(failure));
            }
            if self.dry_run(&command)?.runs_anything() {
                let whole = self.whole(&command)?;
                return Ok(Ok(TestPlan::of(vec![whole])));
            }
            idle.push(target);
        }
        let mut leads = self.leads();
        for name in rules.like_tests() {
            // What make builds is not run by that.
            let is_one =
                !leads.programs.contains(&name) && !idle.iter().any(|target| *target == name);
            if is_one && self.dry_run(&self.make(&name))?.runs_own_program() {
                leads.targets.push(name);
            }
        }
        if let Some(target) = make_rules::likeliest(&leads.targets) {
            let command = self.make(target);
            if let Some(failure) = self.first_run(&command)? {
                return Ok(Err(failure));
            }
            let note = self.guess_text(&[format!("make {target}")]);
            return Ok(Ok(TestPlan {
                tests: vec![self.whole(&command)?],
                note: Some(note),
            }));
        }
        let made = idle.iter().flat_map(|target| rules.makes(target));
        let made = made.map(|name| self.layout.build.join(name));
        let mut made: Vec<PathBuf> = made.filter(|path| built_programs::is_elf(path)).collect();
        made.sort();
        made.dedup();
        Ok(match leads.targets.is_empty() {
            true => self.programs(made, leads),
            false => Err(self.no_tests(leads)),
        })
    }

    /// The tests that CMake or Meson knows of, or the programs that it has built.
    fn listed(&self) -> anyhow::Result<Result<TestPlan, BuildFailure>> {
        let step = match self.of.tool {
            BuildTool::Meson => BuildCommand::new(["meson", "introspect", "--tests", "."]),
            _ => BuildCommand::new(["ctest", "--show-only=json-v1"]),
        };
        if let Some(failure) = self.of.step(&step, self.layout.build, self.tools)? {
            return Ok(Err(failure));
        }
        let listing = fs::read_to_string(self.of.log())?;
        let tests = match self.of.tool {
            BuildTool::Meson => listing::meson(&listing),
            _ => listing::ctest(&listing),
        };
        if tests.as_ref().is_some_and(Vec::is_empty) || listing.contains("No tests were found") {
            return Ok(self.programs(Vec::new(), self.leads()));
        }
        // The listing does not say which tests are to fail.
        let to_fail =
            self.of.tool == BuildTool::Meson && mentions(self.layout.sources, "should_fail");
        Ok(Ok(TestPlan::of(match tests.filter(|_| !to_fail) {
            Some(tests) => tests,
            None => vec![self.whole(&self.of.tool.test(self.layout, self.config, None))?],
        })))
    }

    /// The programs that were built as the tests, where no other can be meant: `made` by
    /// a target for tests, named after tests, or the only one.
    fn programs(&self, made: Vec<PathBuf>, leads: TestLeads) -> Result<TestPlan, BuildFailure> {
        let is_clear =
            leads.submodule.is_none() && leads.options.is_empty() && leads.presets.is_empty();
        let programs = match made.is_empty() {
            false => made,
            true => built_programs::likely_tests(self.layout.build, leads.folders.is_empty()),
        };
        if !is_clear || programs.is_empty() {
            return Err(self.no_tests(leads));
        }
        let shown = programs.iter().map(|path| {
            let inside = path.strip_prefix(self.layout.build).unwrap_or(path);
            inside.display().to_string()
        });
        let note = self.guess_text(&shown.collect::<Vec<_>>());
        let tests = programs.iter().map(|path| Test {
            words: vec![path.to_string_lossy().into_owned()],
            ..Test::default()
        });
        Ok(TestPlan {
            tests: tests.collect(),
            note: Some(note),
        })
    }

    fn no_tests(&self, leads: TestLeads) -> BuildFailure {
        BuildFailure::NoTests {
            tool: self.of.tool,
            leads: Box::new(leads),
        }
    }

    /// That these were run although nobody has named them.
    fn guess_text(&self, commands: &[String]) -> String {
        let quoted = commands.iter().map(|command| format!("`{command}`"));
        let verb = if commands.len() == 1 { "was" } else { "were" };
        format!(
            "{} names no tests: {} {verb} run; give another test command after --, or set `command` in [test] of wmfix.toml",
            match self.of.tool {
                BuildTool::Make { .. } => "the Makefile",
                tool => tool.name(),
            },
            quoted.collect::<Vec<_>>().join(", ")
        )
    }

    /// The call of make that makes a target.
    pub(super) fn make(&self, target: &str) -> Vec<OsString> {
        self.of.tool.test(self.layout, self.config, Some(target))
    }

    /// Runs a test command once, for what it builds; the failure to do so.
    fn first_run(&self, command: &[OsString]) -> anyhow::Result<Option<BuildFailure>> {
        match self.of.tool.first_test(command) {
            Some(first) => self.of.step(&first, self.layout.build, self.tools),
            None => Ok(None),
        }
    }

    /// A command as the only test.
    fn whole(&self, command: &[OsString]) -> anyhow::Result<Test> {
        let words = command.iter();
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let is_make = command.first().is_some_and(|program| program == "make");
        Ok(Test {
            words: words.collect(),
            shares_files: is_make && self.dry_run(command)?.writes_files(),
            ..Test::default()
        })
    }

    /// What a call of make would do now.
    fn dry_run(&self, command: &[OsString]) -> anyhow::Result<DryRun> {
        let mut step = BuildCommand {
            words: command.to_vec(),
            must_succeed: false,
        };
        step.words.insert(1, "-n".into());
        let failed = self.of.step(&step, self.layout.build, self.tools)?;
        let printed = match failed {
            // Whatever is wrong with it shows when it is run.
            Some(_) => Vec::new(),
            None => fs::read(self.of.log())?,
        };
        Ok(DryRun::new(&String::from_utf8_lossy(&printed), self.layout))
    }

    /// What may lead to tests that the tool does not know of.
    fn leads(&self) -> TestLeads {
        let folder = self.of.project.folder();
        let current = std::env::current_dir().unwrap_or_default();
        let shown = |inside: PathBuf| {
            let full = folder.join(inside);
            let shown = full.strip_prefix(&current).unwrap_or(&full);
            shown.display().to_string()
        };
        let below = projects_below(folder).into_iter();
        let below = below.filter(|inside| !self.is_part(inside));
        let is_around = self.of.project.choice == Some(Choice::Named);
        let around = is_around.then(|| ".".to_owned());
        TestLeads {
            submodule: empty_submodule(&self.of.project.tree),
            presets: self.of.unused_presets(),
            options: test_options(self.layout.sources),
            targets: Vec::new(),
            programs: built_programs::compiled(self.layout.build),
            folders: below.map(shown).chain(around).collect(),
        }
    }

    /// Whether a folder is built by the tool as a part of the project.
    fn is_part(&self, inside: &Path) -> bool {
        let project = self.of.project.folder();
        let folder = project.join(inside);
        let outer = folder.ancestors().skip(1);
        let outer: Vec<&Path> = outer.take_while(|at| at.starts_with(project)).collect();
        let own = BuildTool::of(&folder, &BuildConfig::default());
        !own.is_some_and(|own| system::stands_alone(own, &folder, &outer, true))
    }
}

/// Whether a meson.build of a tree holds a word.
fn mentions(tree: &Path, word: &str) -> bool {
    walk(tree, |entry| !is_hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == "meson.build")
        .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(word)))
}
