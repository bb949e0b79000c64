//! `wmfix merge DIR…`: the findings and the repair of several shards as one.

use clap::Parser;

use super::{check, run as run_command, suggest};
use crate::cli::{Cli, Command, MergeArgs, RunFlags};
use crate::exit::{ExitStatus, Stop};
use crate::shards::{MergedShards, ShardFile};

/// Does what the shards were asked for, with the runs of all of them.
pub(super) fn run(arguments: MergeArgs) -> Result<ExitStatus, Stop> {
    let mut files = Vec::new();
    for folder in &arguments.folders {
        files.extend(ShardFile::read_all(folder).map_err(Stop::usage)?);
    }
    let merged = MergedShards::new(files).map_err(Stop::usage)?;
    let words = std::iter::once("wmfix").chain(merged.command.iter().map(String::as_str));
    let asked = Cli::try_parse_from(words).map_err(|error| {
        Stop::usage(format_args!(
            "the shards have a command line that is not understood: {error}"
        ))
    })?;
    match asked.command {
        Command::Check(mut asked) => {
            refuse_repair(&arguments)?;
            change_flags(&mut asked.how, arguments);
            check::examine(asked, Some(merged))
        }
        Command::Run(mut asked) => {
            refuse_repair(&arguments)?;
            change_flags(&mut asked.how, arguments);
            run_command::examine(asked, Some(merged))
        }
        Command::Suggest(mut asked) => {
            asked.apply = arguments.apply;
            asked.output = arguments.output.clone();
            asked.export_fixes = arguments.export_fixes.clone();
            change_flags(&mut asked.how, arguments);
            suggest::examine(asked, Some(merged))
        }
        _ => Err(Stop::usage("the shards are of a command that has none")),
    }
}

/// What only a repair can be asked for.
fn refuse_repair(arguments: &MergeArgs) -> Result<(), Stop> {
    let asked = arguments.apply || arguments.output.is_some() || arguments.export_fixes.is_some();
    match asked {
        true => Err(Stop::usage(
            "there is no repair: the shards were not made by `wmfix suggest`",
        )),
        false => Ok(()),
    }
}

/// How the shards were run stays, how the result is shown does not.
fn change_flags(flags: &mut RunFlags, arguments: MergeArgs) {
    flags.shard = None;
    flags.resume = false;
    flags.jobs = arguments.jobs;
    flags.time = arguments.time;
    flags.format = arguments.format;
    flags.reports = arguments.reports;
    flags.quiet = arguments.quiet;
    flags.color = arguments.color;
    flags.baseline = arguments.baseline.or(flags.baseline.take());
}
