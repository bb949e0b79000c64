//! What `check` and `run` share: from a subject to a printed report.

use std::io::IsTerminal;

use super::deliver;
use crate::allow::AllowRules;
use crate::cli::Color;
use crate::config::ProjectConfig;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::pipeline::{Examined, examine};
use crate::run::stop_on_interrupt;
use crate::subject::Subject;

/// Gets ready for runs: an interrupt ends them, and they follow the recorded
/// schedule, if there is one. Gives how the command ends if they cannot be.
pub fn ready(options: &mut RunOptions) -> anyhow::Result<Option<ExitStatus>> {
    if let Some(trace) = &options.replay {
        if !trace.is_file() {
            eprintln!("wmfix: there is no trace {}", trace.display());
            return Ok(Some(ExitStatus::Usage));
        }
        options.jobs = Some(1);
    }
    stop_on_interrupt()?;
    Ok(None)
}

/// Examines, prints the report and says how that ended.
pub fn examine_and_report(
    subject: Subject,
    options: RunOptions,
    config: &ProjectConfig,
) -> anyhow::Result<ExitStatus> {
    match examine(
        subject,
        &options,
        &config.vocabularies,
        AllowRules::of(config),
    )? {
        Examined::Done(dossier) => deliver::report(&dossier, &options),
        Examined::NotStarted(why) => {
            eprintln!("wmfix: {why}");
            Ok(ExitStatus::Usage)
        }
        Examined::NotInstrumented => {
            eprintln!(
                "wmfix: no process of the command left a trace: build it with `wmfix cc` or `wmfix c++`, then run it again"
            );
            Ok(ExitStatus::Usage)
        }
    }
}

/// Whether to use colours on stdout.
pub fn colors(when: Color) -> bool {
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::io::stdout().is_terminal()
        }
    }
}
