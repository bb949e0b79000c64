//! The compiler wrappers `wmfix cc` and `wmfix c++`: the user's compiler with
//! the user's arguments, made to instrument what it compiles and to link our
//! runtime. The wrapper becomes the compiler, so that it ends as that ends.

mod arguments;
mod compiler;
mod links;
mod machine;
mod plan;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::exit::{ExitStatus, Stop};
use crate::runtime_archive::RuntimeFiles;
use arguments::Output;
use compiler::{Compiler, Family};

pub(crate) use compiler::{
    Language, NoCompiler, is_compiler_name, program_on_path, real_compiler, require_chosen,
    users_choice,
};
pub(crate) use links::{WRAPPER_NAMES, link_wrappers};

/// Where the wrappers are told of a file for their notes.
pub(crate) const NOTES_VARIABLE: &str = "WMFIX_NOTES";

/// Light optimisation, as it shortens the runs and moves no atomic access.
pub(crate) const LIGHT_OPTIMISATION: &[&str] = &["-O1"];

/// The real compiler's command for a command line of the wrapper.
#[derive(Debug)]
pub(crate) struct CompilerCommand {
    /// To be run.
    pub command: Command,
    /// What the user should know, because it is not what was asked for.
    pub notes: Vec<String>,
}

/// Becomes the real compiler with these arguments. Returns only if it cannot.
pub(crate) fn run(language: Language, given: Vec<OsString>) -> Result<ExitStatus, Stop> {
    let mut wrapped = wrap(language, given)?.map_err(Stop::usage)?;
    for note in &wrapped.notes {
        eprintln!("wmfix: {note}");
    }
    if let Some(file) = std::env::var_os(NOTES_VARIABLE) {
        keep_notes(&wrapped.notes, Path::new(&file))?;
    }
    let error = wrapped.command.exec();
    let program = wrapped.command.get_program().display();
    Err(anyhow::Error::new(error)
        .context(format!("cannot run {program}"))
        .into())
}

/// Adds notes to a file, a line each, for whoever has started the build.
pub(crate) fn keep_notes(notes: &[String], file: &Path) -> anyhow::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let lines: String = notes.iter().map(|note| format!("{note}\n")).collect();
    let mut file = File::options().append(true).create(true).open(file)?;
    // At once, so that those of compilers that run at the same time stay whole.
    file.write_all(lines.as_bytes())?;
    Ok(())
}

/// Works out the real compiler's command.
pub(crate) fn wrap(
    language: Language,
    mut given: Vec<OsString>,
) -> anyhow::Result<Result<CompilerCommand, NoCompiler>> {
    let compiler = match Compiler::find(language, &mut given) {
        Ok(compiler) => compiler,
        Err(none) => return Ok(Err(none)),
    };
    given.extend(added_flags(language, &given));
    let expanded = arguments::expand_response_files(&given);
    let request = arguments::classify(&expanded);
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.leading);
    let mut notes = Vec::new();
    let name = compiler.leading.last().unwrap_or(&compiler.program);
    let other_machine = machine::other_machine(name, &expanded);
    if let (Some(asked), Some(Output::Executable)) = (&other_machine, request.links) {
        return Ok(Err(NoCompiler::OtherMachine(asked.clone())));
    }
    // An object for another machine is no part of what we could run.
    if other_machine.is_none() && (request.compiles || request.links.is_some()) {
        let files = RuntimeFiles::unpacked()?;
        let plan = plan::plan(compiler.family(), request, &given, &expanded, &files);
        command.args(&plan.arguments);
        notes = plan.notes;
    } else {
        command.args(&given);
    }
    Ok(Ok(CompilerCommand { command, notes }))
}

/// How far a program is optimised that no build system builds, as options: as far as
/// reads stay whose value is not used. clang instruments after all of its
/// optimisation, and there is no part of that which leaves such reads; gcc also
/// removes those whose value goes to a static variable that nobody reads.
pub(crate) fn keeping_optimisation(language: Language) -> &'static [&'static str] {
    let mut arguments = users_choice(language);
    match Compiler::find(language, &mut arguments).map(|compiler| compiler.family()) {
        Ok(Family::Clang) => &["-O0"],
        // Whoever compiles says that there is no compiler.
        Ok(Family::Gcc { .. }) | Err(_) => &["-O1", "-fno-toplevel-reorder"],
    }
}

/// Options that a project's wmfix.toml adds, one per line in the environment.
fn added_flags(language: Language, given: &[OsString]) -> Vec<OsString> {
    let request = arguments::classify(&arguments::expand_response_files(given));
    let compile = match language {
        Language::C => "WMFIX_CFLAGS",
        Language::Cxx => "WMFIX_CXXFLAGS",
    };
    let wanted = [
        (compile, request.compiles),
        ("WMFIX_LDFLAGS", request.links.is_some()),
    ];
    let mut flags = Vec::new();
    for (name, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
        let value = std::env::var(name).unwrap_or_default();
        flags.extend(value.lines().map(OsString::from));
    }
    flags
}
