//! Builds a program with the compiler wrapper, the way one would by hand.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use wmfix_frontend::Language as SourceLanguage;

use super::{Program, language_of};
use crate::cc::{self, Language};

/// What came of building.
#[derive(Debug)]
pub enum Build {
    /// The executable.
    Built(PathBuf),
    /// It does not compile or link: what the compiler said.
    Failed(String),
    /// There is no compiler.
    NoCompiler(String),
}

/// Builds a program into a folder. Quoted includes are also looked for in the
/// folders of `include`.
pub fn build(program: &Program, include: &[PathBuf], folder: &Path) -> anyhow::Result<Build> {
    let is = |language| move |source: &PathBuf| language_of(source) == language;
    let with_cxx = program.sources.iter().any(is(SourceLanguage::Cpp));
    if with_cxx && program.sources.iter().any(is(SourceLanguage::C)) {
        return build_mixed(program, include, folder);
    }
    let language = if with_cxx { Language::Cxx } else { Language::C };
    let executable = folder.join(&program.name);
    let mut arguments = options(language, include);
    arguments.extend(program.sources.iter().map(|source| source.clone().into()));
    arguments.extend(["-o".into(), executable.clone().into()]);
    Ok(match compile(language, arguments)? {
        None => Build::Built(executable),
        Some(failure) => failure,
    })
}

/// C files among C++ files: each with its own compiler, then linked as C++.
fn build_mixed(program: &Program, include: &[PathBuf], folder: &Path) -> anyhow::Result<Build> {
    let mut link: Vec<OsString> = vec!["-pthread".into()];
    for (number, source) in program.sources.iter().enumerate() {
        let language = match language_of(source) {
            SourceLanguage::C => Language::C,
            SourceLanguage::Cpp => Language::Cxx,
        };
        let object = folder.join(format!("{}-{number}.o", program.name));
        let mut arguments = options(language, include);
        arguments.extend([
            "-c".into(),
            source.into(),
            "-o".into(),
            object.clone().into(),
        ]);
        if let Some(failure) = compile(language, arguments)? {
            return Ok(failure);
        }
        link.push(object.into());
    }
    let executable = folder.join(&program.name);
    link.extend(["-o".into(), executable.clone().into()]);
    Ok(match compile(Language::Cxx, link)? {
        None => Build::Built(executable),
        Some(failure) => failure,
    })
}

/// Light optimisation, as it shortens the runs and moves no atomic access; the
/// newest common standard, as nobody has said another.
fn options(language: Language, include: &[PathBuf]) -> Vec<OsString> {
    let standard = match language {
        Language::C => "-std=gnu17",
        Language::Cxx => "-std=gnu++20",
    };
    let mut options: Vec<OsString> = [standard, "-O1", "-pthread"].map(OsString::from).into();
    for folder in include {
        options.extend(["-iquote".into(), folder.into()]);
    }
    options
}

/// Runs the compiler; `None` if all went well.
fn compile(language: Language, arguments: Vec<OsString>) -> anyhow::Result<Option<Build>> {
    let arguments = cc::users_choice(language)
        .into_iter()
        .chain(arguments)
        .collect();
    let mut wrapped = match cc::wrap(language, arguments)? {
        Ok(wrapped) => wrapped,
        Err(none) => return Ok(Some(Build::NoCompiler(none.to_string()))),
    };
    // The compiler notes the folder by this name, and findings are shown
    // relative to it.
    wrapped.command.env("PWD", std::env::current_dir()?);
    let output = wrapped.command.output();
    let output = output
        .with_context(|| format!("cannot run {}", wrapped.command.get_program().display()))?;
    if output.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Some(Build::Failed(said)))
}
