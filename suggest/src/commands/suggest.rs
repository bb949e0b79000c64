//! `wmfix suggest [PATH] [-- TEST COMMAND]`: build, run, find, repair, verify.
//! The patch goes to stdout, what it means to stderr.

use wmfix_rewriter::{unified_diff, write_file};

use super::deliver;
use super::examine::{colors, ready};
use crate::allow::Allowing;
use crate::cli::{Cost, MemoryModel, SuggestArgs};
use crate::config::Config;
use crate::exit::Exit;
use crate::mend::{Mended, Mending, mend};
use crate::options::RunOptions;
use crate::pipeline::{Examined, Keep, Session};
use crate::project::{Prepared, Project};
use crate::repair::Profile;
use crate::report::{Repaired, Text, Verdict};

/// Finds the cheapest repair of what is at the path, and prints it.
pub fn run(arguments: SuggestArgs) -> anyhow::Result<Exit> {
    let config = match Config::about(&arguments.path) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(Exit::Usage);
        }
    };
    let cost = arguments.cost.or(config.repair.cost);
    let cost = cost.unwrap_or(Cost::Fewest);
    let mut options = RunOptions::new(arguments.how, MemoryModel::Rc11, &config);
    let project = match Project::find(&arguments.path, arguments.command, config) {
        Ok(project) => project,
        Err(nothing) => {
            eprintln!("wmfix: {nothing}");
            return Ok(Exit::Usage);
        }
    };
    if let Some(exit) = ready(&mut options)? {
        return Ok(exit);
    }
    let subject = match project.prepare(&[], &options)? {
        Prepared::Built(subject) => subject,
        Prepared::Failed(trouble) => {
            trouble.tell();
            return Ok(Exit::Failed);
        }
    };
    let allowing = Allowing::of(&project.config);
    let mut session = Session::new(
        &options,
        Keep::Traces,
        &project.config.vocabularies,
        allowing.clone(),
    );
    match session.run(&subject, options.seed)? {
        None | Some(Examined::Done(_)) => {}
        Some(Examined::NotStarted(why)) => {
            eprintln!("wmfix: {why}");
            return Ok(Exit::Usage);
        }
        Some(Examined::NotInstrumented) => {
            eprintln!("wmfix: no process of the command left a trace: does it run the programs?");
            return Ok(Exit::Usage);
        }
    }
    let mending = Mending {
        project: &project,
        profile: profile(cost),
        allowing: &allowing,
        options: &options,
    };
    let mut dossier = session.dossier(subject.clone(), None)?;
    let mended = match dossier.report.verdict {
        Verdict::Findings if session.collected().every_run_failed() => {
            // Nothing can be verified on a program that never works.
            eprint!("{}", Text::new(colors(options.color)).report(&dossier));
            eprintln!(
                "wmfix: the program fails in every run before any change: make it work first"
            );
            return Ok(Exit::Failed);
        }
        Verdict::Findings => Some(mend(&mut session, &subject, &mending)?),
        Verdict::Clean | Verdict::Failed => None,
    };
    // More runs may have been needed on the way: the report is on all of them.
    let shown = mended.as_ref().filter(|mended| mended.builds());
    let patch = shown.map(diff).transpose()?.unwrap_or_default();
    let repaired = mended.as_ref().map(|mended| Repaired {
        mended,
        profile: cost_name(cost),
        patch: &patch,
    });
    dossier = session.dossier(subject, repaired)?;
    let exit = deliver::repair(&dossier, mended.as_ref(), &patch, &options)?;
    if let Some(mended) = mended.filter(|mended| arguments.apply && mended.holds()) {
        for file in &mended.files {
            write_file(project.tree(), &file.path, &file.edits)?;
        }
    }
    Ok(exit)
}

/// All files as one diff, with paths relative to the current folder.
fn diff(mended: &Mended) -> anyhow::Result<Vec<u8>> {
    let current = std::env::current_dir()?.canonicalize()?;
    let mut diff = Vec::new();
    for file in &mended.files {
        let full = file.path.canonicalize()?;
        let shown = full.strip_prefix(&current).unwrap_or_else(|_| {
            eprintln!(
                "wmfix: the patch applies in the root folder, as {} is not below this one",
                full.display()
            );
            full.strip_prefix("/").unwrap_or(&full)
        });
        diff.extend(unified_diff(shown, &file.before, &file.after));
    }
    Ok(diff)
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
