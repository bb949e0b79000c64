//! `wmfix help [TOPIC]`: the help of a command, or a page of the manual. The pages
//! are those of docs/, carried by the binary: who has installed wmfix has them.

use std::io::Write;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::{ExitStatus, Stop};

/// A page of the manual.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const TOPICS: [Topic; 13] = [
    Topic {
        name: "first-queue",
        about: "a first queue, from finding to patch",
        text: include_str!("../../../docs/first-queue.md"),
    },
    Topic {
        name: "scenarios",
        about: "small programs made from the operations of a library",
        text: include_str!("../../../docs/scenarios.md"),
    },
    Topic {
        name: "memory-model",
        about: "the memory model in plain words",
        text: include_str!("../../../docs/memory-model.md"),
    },
    Topic {
        name: "reading",
        about: "how to read a finding",
        text: include_str!("../../../docs/reading.md"),
    },
    Topic {
        name: "configuration",
        about: "every key of wmfix.toml",
        text: include_str!("../../../docs/configuration.md"),
    },
    Topic {
        name: "reports",
        about: "output formats, JSON fields, baselines, allowing findings",
        text: include_str!("../../../docs/reports.md"),
    },
    Topic {
        name: "integration",
        about: "hooks, CI, CMake, Meson",
        text: include_str!("../../../docs/integration.md"),
    },
    Topic {
        name: "scaling",
        about: "more than one machine",
        text: include_str!("../../../docs/scaling.md"),
    },
    Topic {
        name: "vocabularies",
        about: "projects with their own names for atomic operations",
        text: include_str!("../../../docs/vocabularies.md"),
    },
    Topic {
        name: "prediction",
        about: "races that a run hides, and how they are made to happen",
        text: include_str!("../../../docs/prediction.md"),
    },
    Topic {
        name: "free-runs",
        about: "what --weak does",
        text: include_str!("../../../docs/free-runs.md"),
    },
    Topic {
        name: "weaker-orders",
        about: "what relax does",
        text: include_str!("../../../docs/relax.md"),
    },
    Topic {
        name: "limits",
        about: "what is not seen or modelled",
        text: include_str!("../../../docs/limits.md"),
    },
];

/// Prints the help of a command, a page, or what there is.
pub(super) fn run(topic: Option<&str>) -> Result<ExitStatus, Stop> {
    let mut command = Cli::command();
    command.build();
    let text = match topic {
        None => command.render_long_help().to_string() + &listed(),
        Some(name) => match TOPICS.iter().find(|topic| topic.name == name) {
            Some(topic) => topic.text.to_owned(),
            None => match command.find_subcommand_mut(name) {
                Some(found) => found.render_long_help().to_string(),
                None => return Err(unknown(name, &command)),
            },
        },
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitStatus::Clean)
}

fn listed() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max();
    let width = width.unwrap_or(0);
    let lines = TOPICS
        .iter()
        .map(|topic| format!("  {:<width$}  {}\n", topic.name, topic.about));
    format!(
        "\nTopics (wmfix help TOPIC):\n{}",
        lines.collect::<String>()
    )
}

fn unknown(name: &str, command: &clap::Command) -> Stop {
    let commands = command.get_subcommands().map(clap::Command::get_name);
    let known = TOPICS.iter().map(|topic| topic.name).chain(commands);
    let near = known
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    match near {
        Some((_, near)) => Stop::usage(format_args!("no help on {name}: did you mean {near}?")),
        None => Stop::usage(format_args!(
            "no help on {name}: `wmfix help` lists commands and topics"
        )),
    }
}
