//! What `check` and `run` share: from a subject to a printed report.

use std::ffi::OsStr;
use std::io::IsTerminal;

use super::deliver;
use crate::allow::AllowRules;
use crate::cli::{Color, MemoryModel, Strategy, Switch, Volatile};
use crate::config::Config;
use crate::exit::Exit;
use crate::options::RunOptions;
use crate::pipeline::{Examined, Subject, examine};
use crate::run::stop_on_interrupt;

/// Gets ready for runs: an interrupt ends them, and they follow the recorded
/// schedule, if there is one. Gives how the command ends if they cannot be.
pub fn ready(options: &mut RunOptions) -> anyhow::Result<Option<Exit>> {
    if let Some(trace) = &options.replay {
        if !trace.is_file() {
            eprintln!("wmfix: there is no trace {}", trace.display());
            return Ok(Some(Exit::Usage));
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
    config: &Config,
) -> anyhow::Result<Exit> {
    match examine(
        subject,
        &options,
        &config.vocabularies,
        AllowRules::of(config),
    )? {
        Examined::Done(dossier) => deliver::report(&dossier, &options),
        Examined::NotStarted(why) => {
            eprintln!("wmfix: {why}");
            Ok(Exit::Usage)
        }
        Examined::NotInstrumented => {
            eprintln!(
                "wmfix: no process of the command left a trace: build it with `wmfix cc` or `wmfix c++`, then run it again"
            );
            Ok(Exit::Usage)
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

/// The options that matter for what a run shows, as far as they are not the
/// usual ones, to be typed again.
pub fn options_to_repeat(options: &RunOptions) -> String {
    let mut text = String::new();
    match options.strategy {
        Strategy::Pct => {}
        Strategy::Random => text += " --strategy random",
        Strategy::Os => text += " --strategy os",
    }
    match options.volatile {
        Volatile::Ignore => {}
        Volatile::Relaxed => text += " --volatile relaxed",
        Volatile::Acqrel => text += " --volatile acqrel",
    }
    if options.model == MemoryModel::Rc20 {
        text += " --model rc20";
    }
    if options.races == Switch::Off {
        text += " --races off";
    }
    text
}

/// A word as a shell takes it.
pub fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
