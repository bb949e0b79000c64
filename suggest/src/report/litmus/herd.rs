//! A litmus test in the C dialect of herd7.

use super::build::{Instruction, LitmusTest, Observed};

/// The text.
pub(crate) fn herd(test: &LitmusTest) -> String {
    let names = names(test);
    let values: Vec<String> = (names.iter().zip(&test.variables))
        .map(|(name, (_, value))| format!("[{name}] = {value};"))
        .collect();
    let parameters: Vec<String> = names
        .iter()
        .map(|name| format!("atomic_int* {name}"))
        .collect();
    let mut text = format!("C {}\n\n{{ {} }}\n", test.name, values.join(" "));
    for (number, thread) in test.threads.iter().enumerate() {
        text += &format!("\nP{number} ({}) {{\n", parameters.join(", "));
        for one in thread {
            text += &format!("  {};\n", instruction(one, test, &names));
        }
        text += "}\n";
    }
    let outcome: Vec<String> = test
        .outcome
        .iter()
        .map(|(observed, value)| match observed {
            Observed::Register(thread, register) => format!("{thread}:r{register}={value}"),
            Observed::Variable(object) => format!("[{}]={value}", name_of(object, test, &names)),
        })
        .collect();
    text + &format!("\nexists ({})\n", outcome.join(" /\\ "))
}

/// Names of the variables that are identifiers, each once: a report's names may be
/// expressions.
pub(super) fn names(test: &LitmusTest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, (object, _)) in test.variables.iter().enumerate() {
        let letters = object
            .chars()
            .map(|letter| match letter.is_ascii_alphanumeric() {
                true => letter,
                false => '_',
            });
        let mut name: String = letters.collect();
        let starts = |name: &str| name.starts_with(|first: char| first.is_ascii_alphabetic());
        // A register is r and a number.
        let register = name
            .strip_prefix('r')
            .is_some_and(|rest| rest.parse::<u32>().is_ok());
        if !starts(&name) || register || names.contains(&name) {
            name = format!("v{number}_{name}");
        }
        names.push(name);
    }
    names
}

pub(super) fn name_of<'n>(object: &str, test: &LitmusTest, names: &'n [String]) -> &'n str {
    let at = test.variables.iter().position(|(name, _)| name == object);
    at.map_or("unknown", |at| names[at].as_str())
}

fn instruction(instruction: &Instruction, test: &LitmusTest, names: &[String]) -> String {
    match instruction {
        Instruction::Load {
            register,
            variable,
            order,
        } => format!(
            "int r{register} = atomic_load_explicit({}, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Store {
            variable,
            value,
            order,
        } => format!(
            "atomic_store_explicit({}, {value}, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Exchange {
            register,
            variable,
            value,
            order,
        } => format!(
            "int r{register} = atomic_exchange_explicit({}, {value}, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Fence { order } => format!("atomic_thread_fence(memory_order_{order})"),
    }
}
