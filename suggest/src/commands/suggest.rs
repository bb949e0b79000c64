//! `wmfix suggest [PATH] [-- TEST COMMAND]`: build, run, find, repair, verify.
//! The patch goes to stdout, what it means to stderr.

use std::io::Write;
use std::path::{Path, PathBuf};

use wmfix_frontend::scan_tree;
use wmfix_rewriter::write_files;

use super::examine::{colors, ready};
use super::{deliver, output};
use crate::allow::AllowRules;
use crate::cli::{Cost, Format, MemoryModel, SuggestArgs};
use crate::config::ProjectConfig;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::pipeline::{Examined, Keep, Session};
use crate::project::{Prepared, Project};
use crate::repair_loop::{RepairResult, RepairTask, mend};
use crate::report::{Dossier, Page, RepairInputs, TextRenderer, Verdict};
use wmfix_repair::Profile;

/// What came of it.
pub struct Suggested {
    /// All that is known.
    pub dossier: Dossier,
    /// The repair, if there was something to repair.
    pub mended: Option<RepairResult>,
    /// The repair as one diff.
    pub patch: Vec<u8>,
    /// What the flags and the configuration mean.
    pub options: RunOptions,
    /// The folder whose files may be changed.
    pub tree: PathBuf,
}

/// Finds the cheapest repair of what is at the path, and prints it.
pub fn run(arguments: SuggestArgs) -> anyhow::Result<ExitStatus> {
    let (apply, folder) = (arguments.apply, arguments.output.clone());
    let subject = arguments.path.display().to_string();
    let suggested = match suggest(arguments, false)? {
        Ok(suggested) => suggested,
        Err(exit) => return Ok(exit),
    };
    let Suggested {
        dossier,
        mended,
        patch,
        options,
        tree,
    } = suggested;
    let exit = deliver::repair(&dossier, mended.as_ref(), &patch, &options)?;
    if let Some(folder) = folder {
        output::write(&folder, &dossier, mended.as_ref(), &subject, Page::Report)?;
    }
    if let Some(mended) = mended.filter(|mended| apply && mended.holds()) {
        let files = mended.files.iter().map(|file| (&*file.path, &file.edits));
        if let Err(error) = write_files(&tree, &files.collect::<Vec<_>>()) {
            eprintln!("wmfix: --apply has changed nothing: {error}");
            return Ok(ExitStatus::InternalError);
        }
    }
    Ok(exit)
}

/// Finds the cheapest repair of what is at the path. Also counts the sites of the
/// files there that are part of no test, if `all_files` is set.
pub fn suggest(
    arguments: SuggestArgs,
    all_files: bool,
) -> anyhow::Result<Result<Suggested, ExitStatus>> {
    let config = match ProjectConfig::about(&arguments.path) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(Err(ExitStatus::Usage));
        }
    };
    let cost = arguments.cost.or(config.repair.cost);
    let cost = cost.unwrap_or(Cost::Fewest);
    let mut options = RunOptions::new(arguments.how, MemoryModel::Rc11, &config);
    let project = match Project::find(&arguments.path, arguments.command, config) {
        Ok(project) => project,
        Err(nothing) => {
            eprintln!("wmfix: {nothing}");
            return Ok(Err(ExitStatus::Usage));
        }
    };
    if let Some(exit) = ready(&mut options)? {
        return Ok(Err(exit));
    }
    let mut subject = match project.prepare(&[], &options)? {
        Prepared::Built(subject) => subject,
        Prepared::Failed(trouble) => {
            trouble.tell();
            return Ok(Err(ExitStatus::Failed));
        }
    };
    if all_files {
        subject.files.extend(files_at(&arguments.path, &project)?);
    }
    let allow_rules = AllowRules::of(&project.config);
    let mut session = Session::new(
        &options,
        Keep::Traces,
        &project.config.vocabularies,
        allow_rules.clone(),
    );
    match session.run(&subject, options.seed)? {
        None | Some(Examined::Done(_)) => {}
        Some(Examined::NotStarted(why)) => {
            eprintln!("wmfix: {why}");
            return Ok(Err(ExitStatus::Usage));
        }
        Some(Examined::NotInstrumented) => {
            eprintln!("wmfix: no process of the command left a trace: does it run the programs?");
            return Ok(Err(ExitStatus::Usage));
        }
    }
    let mending = RepairTask {
        project: &project,
        profile: profile(cost),
        allow_rules: &allow_rules,
        annotate: arguments.annotate,
        options: &options,
    };
    let mut dossier = session.dossier(subject.clone(), None)?;
    let mended = match dossier.report.verdict {
        Verdict::Findings if session.collected().every_run_failed() => {
            // Nothing can be verified on a program that never works.
            if options.format != Format::Text {
                let text = deliver::rendered(&dossier, options.format, ExitStatus::Failed)?;
                std::io::stdout().write_all(text.as_bytes())?;
            }
            eprint!(
                "{}",
                TextRenderer::new(colors(options.color)).report(&dossier)
            );
            if let Some(output) = dossier.output.as_deref().filter(|text| !text.is_empty()) {
                eprintln!("the program printed:\n{output}");
            }
            eprintln!(
                "wmfix: the program fails in every run before any change: make it work first"
            );
            return Ok(Err(ExitStatus::Failed));
        }
        Verdict::Findings => Some(mend(&mut session, &subject, &mending)?),
        Verdict::Clean | Verdict::Failed => None,
    };
    // More runs may have been needed on the way: the report is on all of them.
    let shown = mended.as_ref().filter(|mended| mended.builds());
    let patch = shown.map(output::diff).transpose()?.unwrap_or_default();
    let repaired = mended.as_ref().map(|mended| RepairInputs {
        mended,
        profile: cost_name(cost),
        patch: &patch,
    });
    dossier = session.dossier(subject, repaired)?;
    Ok(Ok(Suggested {
        dossier,
        mended,
        patch,
        tree: project.tree().to_owned(),
        options,
    }))
}

/// Every file at a path that has atomic operations.
fn files_at(path: &Path, project: &Project) -> anyhow::Result<Vec<PathBuf>> {
    let scan = scan_tree(&[path], &project.config.vocabularies);
    let files = scan.files.iter().filter(|(_, file)| !file.sites.is_empty());
    let full = files.map(|(path, _)| path.canonicalize());
    Ok(full.collect::<Result<_, _>>()?)
}

/// The name of a profile on the command line.
fn cost_name(cost: Cost) -> &'static str {
    match cost {
        Cost::Fewest => "fewest",
        Cost::X86 => "x86",
        Cost::Arm64 => "arm64",
        Cost::Portable => "portable",
    }
}

fn profile(cost: Cost) -> Profile {
    match cost {
        Cost::Fewest => Profile::Fewest,
        Cost::X86 => Profile::X86,
        Cost::Arm64 => Profile::Arm64,
        Cost::Portable => Profile::Portable,
    }
}
