//! The compiler wrappers `wmfix cc` and `wmfix c++`: the user's compiler with
//! the user's arguments, made to instrument what it compiles and to link our
//! runtime. Becomes the compiler, so that it ends as the compiler ends.

mod arguments;
mod compiler;
mod plan;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::exit::Exit;
use crate::runtime_archive::RuntimeFiles;
use compiler::Compiler;

pub use compiler::Language;

/// Runs the real compiler with these arguments. Returns only if it cannot.
pub fn run(language: Language, mut given: Vec<OsString>) -> anyhow::Result<Exit> {
    let compiler = match Compiler::find(language, &mut given) {
        Ok(compiler) => compiler,
        Err(error) => {
            eprintln!("wmfix: {error}");
            return Ok(Exit::Usage);
        }
    };
    let expanded = arguments::expand_response_files(&given);
    let request = arguments::classify(&expanded);
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.leading);
    if request.compiles || request.links.is_some() {
        let files = RuntimeFiles::unpacked()?;
        let plan = plan::plan(compiler.family(), request, &given, &expanded, &files);
        for note in &plan.notes {
            eprintln!("wmfix: {note}");
        }
        command.args(&plan.arguments);
    } else {
        command.args(&given);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", compiler.program.display()))
}
