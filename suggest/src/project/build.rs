//! Builds programs with the compiler wrapper, the way one would by hand: each
//! source once, and again only if something that went into it has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use wmfix_frontend::Language as SourceLanguage;

use super::depends;
use super::programs::{Program, language_of};
use super::{BuildFailure, command::last_lines};
use crate::cc::{self, Language};
use crate::config::BuildConfig;

/// Builds programs.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    /// Quoted includes are also looked for here.
    pub include: &'a [PathBuf],
    /// Options of the project.
    pub config: &'a BuildConfig,
    /// Where the compiler is run: relative paths in the options start there.
    pub from: &'a Path,
    /// Where the programs go.
    pub into: &'a Path,
    /// What is built under another setting is built again.
    pub setting: &'a str,
}

/// What an object was made of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recipe {
    /// The setting and the compiler's arguments.
    how: String,
    /// The files and their hashes.
    from: BTreeMap<PathBuf, String>,
}

/// Hashes of files, each read once.
#[derive(Default)]
struct Hashes(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl Builder<'_> {
    /// The executables, one for each program.
    pub(super) fn build(
        &self,
        programs: &[Program],
    ) -> anyhow::Result<Result<Vec<PathBuf>, BuildFailure>> {
        let objects = self.into.join("objects");
        fs::create_dir_all(&objects)
            .with_context(|| format!("cannot make {}", objects.display()))?;
        let sources: BTreeSet<&PathBuf> = programs.iter().flat_map(|p| &p.sources).collect();
        let hashes = Hashes::default();
        let compiled: Vec<_> = sources
            .into_par_iter()
            .map(|source| Ok((source, self.compile(source, &objects, &hashes)?)))
            .collect::<anyhow::Result<_>>()?;
        let mut made = BTreeMap::new();
        for (source, result) in compiled {
            match result {
                Ok(object) => made.insert(source, object),
                Err(failure) => return Ok(Err(failure)),
            };
        }
        let mut executables = Vec::new();
        for program in programs {
            let parts: Vec<&(PathBuf, String)> =
                program.sources.iter().map(|source| &made[source]).collect();
            match self.link(program, &parts)? {
                Ok(executable) => executables.push(executable),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        Ok(Ok(executables))
    }

    /// The object of a source, and a digest of what went into it.
    fn compile(
        &self,
        source: &Path,
        objects: &Path,
        hashes: &Hashes,
    ) -> anyhow::Result<Result<(PathBuf, String), BuildFailure>> {
        let language = match language_of(source) {
            SourceLanguage::C => Language::C,
            SourceLanguage::Cpp => Language::Cxx,
        };
        let name = blake3::hash(source.as_os_str().as_encoded_bytes()).to_hex();
        let object = objects.join(format!("{}.o", &name[..16]));
        let depends = object.with_extension("d");
        let mut arguments = options(language, self.include);
        arguments.extend(self.flags(language));
        arguments.extend([
            "-c".into(),
            source.into(),
            "-o".into(),
            object.clone().into(),
        ]);
        let how = self.how(&arguments);
        let recipe = object.with_extension("json");
        let known: Option<Recipe> = fs::read(&recipe)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(known) = known
            && known.how == how
            && object.is_file()
            && known
                .from
                .iter()
                .all(|(file, hash)| hashes.of(file).as_ref() == Some(hash))
        {
            return Ok(Ok((object, known.mark())));
        }
        remove(&recipe)?;
        arguments.extend(["-MD".into(), "-MF".into(), depends.clone().into()]);
        let log = object.with_extension("log");
        if let Some(failure) = self.run(language, arguments, &log, &shown(source))? {
            return Ok(Err(failure));
        }
        let text =
            fs::read(&depends).with_context(|| format!("cannot read {}", depends.display()))?;
        let mut from = BTreeMap::new();
        for file in depends::files(&text) {
            let file = self.from.join(file);
            if let Some(hash) = hashes.of(&file) {
                from.insert(file, hash);
            }
        }
        let made = Recipe { how, from };
        fs::write(&recipe, serde_json::to_vec(&made)?)?;
        Ok(Ok((object, made.mark())))
    }

    fn link(
        &self,
        program: &Program,
        parts: &[&(PathBuf, String)],
    ) -> anyhow::Result<Result<PathBuf, BuildFailure>> {
        let with_cxx = program
            .sources
            .iter()
            .any(|source| language_of(source) == SourceLanguage::Cpp);
        let language = if with_cxx { Language::Cxx } else { Language::C };
        let executable = self.into.join(&program.name);
        let mut arguments: Vec<OsString> = vec!["-pthread".into()];
        arguments.extend(parts.iter().map(|(object, _)| object.clone().into()));
        arguments.extend(self.config.ldflags.iter().map(OsString::from));
        arguments.extend(["-o".into(), executable.clone().into()]);
        let mut how = self.how(&arguments);
        for (_, mark) in parts {
            how.push_str(mark);
        }
        let recipe = self
            .into
            .join("objects")
            .join(format!("{}.link", program.name));
        if executable.is_file() && fs::read_to_string(&recipe).is_ok_and(|known| known == how) {
            return Ok(Ok(executable));
        }
        remove(&recipe)?;
        let log = recipe.with_extension("log");
        if let Some(failure) = self.run(language, arguments, &log, &program.name)? {
            return Ok(Err(failure));
        }
        fs::write(&recipe, how)?;
        Ok(Ok(executable))
    }

    fn flags(&self, language: Language) -> impl Iterator<Item = OsString> {
        let flags = match language {
            Language::C => &self.config.cflags,
            Language::Cxx => &self.config.cxxflags,
        };
        flags.iter().map(OsString::from)
    }

    fn how(&self, arguments: &[OsString]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.setting.as_bytes());
        hasher.update(self.from.as_os_str().as_encoded_bytes());
        for argument in arguments {
            hasher.update(&[0]);
            hasher.update(argument.as_encoded_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Runs the compiler; `None` if all went well.
    fn run(
        &self,
        language: Language,
        arguments: Vec<OsString>,
        log: &Path,
        what: &str,
    ) -> anyhow::Result<Option<BuildFailure>> {
        let arguments = cc::users_choice(language)
            .into_iter()
            .chain(arguments)
            .collect();
        let mut wrapped = match cc::wrap(language, arguments)? {
            Ok(wrapped) => wrapped,
            Err(none) => return Ok(Some(BuildFailure::NoCompiler(none))),
        };
        let out =
            fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let status = wrapped
            .command
            .current_dir(self.from)
            .env("PWD", self.from)
            .stdin(std::process::Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .status();
        let status = status
            .with_context(|| format!("cannot run {}", wrapped.command.get_program().display()))?;
        if status.success() {
            return Ok(None);
        }
        Ok(Some(BuildFailure::Compiler {
            what: what.to_owned(),
            output: last_lines(log)?,
        }))
    }
}

impl Recipe {
    /// Equal for objects that are made alike.
    fn mark(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.how.as_bytes());
        for (file, hash) in &self.from {
            hasher.update(file.as_os_str().as_encoded_bytes());
            hasher.update(hash.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl Hashes {
    /// The hash of a file; `None` if it cannot be read.
    fn of(&self, file: &Path) -> Option<String> {
        if let Some(known) = self.0.lock().expect("no panic while locked").get(file) {
            return known.clone();
        }
        let hash = fs::read(file)
            .ok()
            .map(|bytes| blake3::hash(&bytes).to_hex().to_string());
        let mut all = self.0.lock().expect("no panic while locked");
        all.insert(file.to_owned(), hash.clone());
        hash
    }
}

/// Light optimisation, as it shortens the runs and moves no atomic access; the
/// newest common standard, because the project names none.
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

fn shown(source: &Path) -> String {
    source
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
