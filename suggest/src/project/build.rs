//! Builds programs with the compiler wrapper, the way one would by hand: each
//! source once, and again only if something that went into it has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use wmfix_frontend::Language as SourceLanguage;

use super::BuildFailure;
use super::command::{MAX_BUILD_TIME, last_lines};
use super::depends;
use super::programs::{Program, language_of};
use super::sources::ProgramParts;
use crate::cc::{self, Language};
use crate::config::BuildConfig;
use crate::path_text;
use crate::run::{Deadline, Watchdog};

/// Builds programs.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    /// Quoted includes are also looked for here.
    pub quoted: &'a [PathBuf],
    /// Options of the project.
    pub config: &'a BuildConfig,
    /// The file that was named on the command line, if it was one: what the compiler
    /// says of it comes first.
    pub named: Option<&'a Path>,
    /// Where the compiler is run: relative paths in the options start there.
    pub from: &'a Path,
    /// Where the programs go.
    pub into: &'a Path,
    /// What is built under another setting is built again.
    pub setting: &'a str,
    /// When building has to be over.
    pub deadline: Deadline,
    /// The files with what the user should know about what this build consists of, whether
    /// it was built now or earlier.
    pub notes: Mutex<BTreeSet<PathBuf>>,
}

/// The folder of the objects among the programs; no program can have its name.
const OBJECTS: &str = ".objects";

/// How the files are called that hold what the user should know about what is beside them.
const NOTES: &str = "notes";

/// How far programs are optimised.
#[derive(Clone, Copy, Debug)]
enum Optimisation {
    /// As far as reads stay whose value is not used.
    KeepsReads,
    /// A little.
    Light,
}

impl Optimisation {
    fn name(self) -> &'static str {
        match self {
            Self::KeepsReads => "-keeps-reads",
            Self::Light => "-light",
        }
    }

    fn options(self, language: Language) -> impl Iterator<Item = OsString> {
        let level = match self {
            Self::KeepsReads => cc::keeping_optimisation(language),
            Self::Light => cc::LIGHT_OPTIMISATION,
        };
        level.iter().map(OsString::from)
    }
}

/// Said where only light optimisation builds.
const NEEDS_OPTIMISATION: &str = "the program does not build without optimisation, which \
    removes plain reads whose value is not used: races of such reads may not be seen";

/// An object and a digest of what went into it, or why there is none.
type CompileResult = Result<(PathBuf, String), BuildFailure>;

/// Sources that are linked as far as they are needed.
#[derive(Default)]
struct Library {
    /// The archive and a digest of what went into it.
    archive: Option<(PathBuf, String)>,
    /// The sources that do not compile.
    failures: Vec<BuildFailure>,
    /// What the compiler says of the one among them that was named.
    of_named: Option<BuildFailure>,
}

impl Library {
    /// Why a program cannot be linked, with what the compiler says of a source
    /// that would have been in the library: what is missing may be in it.
    fn explain(&self, failure: BuildFailure) -> BuildFailure {
        match (self.failures.first(), failure) {
            (
                Some(BuildFailure::Compiler {
                    output: of_source, ..
                }),
                BuildFailure::Compiler {
                    what,
                    output,
                    others,
                },
            ) => BuildFailure::Compiler {
                what,
                others,
                output: format!("{of_source}{output}"),
            },
            (_, failure) => failure,
        }
    }
}

/// What an object was made of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recipe {
    /// The setting and the compiler's arguments.
    how: String,
    /// The files and their hashes.
    #[serde(with = "path_text::keys")]
    from: BTreeMap<PathBuf, String>,
}

/// Hashes of files, each read once.
#[derive(Default)]
struct Hashes(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl Builder<'_> {
    /// The executables, one for each program. What does not build as it must be built
    /// to keep all reads (code that counts on functions being inlined, for instance)
    /// is built with more optimisation, and that is said.
    pub(super) fn build(
        &self,
        parts: &ProgramParts,
    ) -> anyhow::Result<Result<Vec<PathBuf>, BuildFailure>> {
        let built = self.build_optimised(parts, Optimisation::KeepsReads)?;
        let has_choice = |language| cc::keeping_optimisation(language) != cc::LIGHT_OPTIMISATION;
        if built.is_ok() || ![Language::C, Language::Cxx].into_iter().any(has_choice) {
            return Ok(built);
        }
        let again = self.build_optimised(parts, Optimisation::Light)?;
        if again.is_ok() {
            let notes = self.into.join(OBJECTS).join(NOTES);
            remove(&notes)?;
            cc::keep_notes(&[NEEDS_OPTIMISATION.to_owned()], &notes)?;
            self.consists_of(notes);
        }
        Ok(again)
    }

    fn build_optimised(
        &self,
        parts: &ProgramParts,
        optimisation: Optimisation,
    ) -> anyhow::Result<Result<Vec<PathBuf>, BuildFailure>> {
        let objects = self.into.join(OBJECTS);
        fs::create_dir_all(&objects)
            .with_context(|| format!("cannot make {}", objects.display()))?;
        let programs = &parts.programs;
        let sources: BTreeSet<&PathBuf> = programs.iter().flat_map(|p| &p.sources).collect();
        let hashes = Hashes::default();
        let mut made = BTreeMap::new();
        let mut failures = Vec::new();
        for (source, result) in self.compile_all(sources, parts, optimisation, &hashes)? {
            match result {
                Ok(object) => {
                    made.insert(source, object);
                }
                Err(failure) => failures.push((Some(source.as_path()) != self.named, failure)),
            };
        }
        failures.sort_by_key(|(is_other, _)| *is_other);
        if let Some((is_other, failure)) = failures.into_iter().next() {
            let programs = if is_other { programs.len() } else { 1 };
            return Ok(Err(failure.beside(programs)));
        }
        let mut library = self.library(parts, optimisation, &hashes)?;
        if let Some(failure) = library.of_named.take() {
            return Ok(Err(failure));
        }
        let mut executables = Vec::new();
        for program in programs {
            let sources = program.sources.iter();
            let mut objects: Vec<&(PathBuf, String)> =
                sources.map(|source| &made[source]).collect();
            objects.extend(&library.archive);
            match self.link(program, &objects, parts)? {
                Ok(executable) => executables.push(executable),
                Err(failure) => {
                    return Ok(Err(library.explain(failure).beside(programs.len())));
                }
            }
        }
        Ok(Ok(executables))
    }

    /// What the user should know about the build.
    pub(super) fn notes(&self) -> Vec<String> {
        let files = self.notes.lock().expect("no panic while locked");
        let notes: BTreeSet<String> = files.iter().flat_map(|file| read_notes(file)).collect();
        notes.into_iter().collect()
    }

    /// What these notes are about is a part of the build.
    fn consists_of(&self, notes: PathBuf) {
        let mut files = self.notes.lock().expect("no panic while locked");
        files.insert(notes);
    }

    fn compile_all<'s>(
        &self,
        sources: BTreeSet<&'s PathBuf>,
        parts: &ProgramParts,
        optimisation: Optimisation,
        hashes: &Hashes,
    ) -> anyhow::Result<Vec<(&'s PathBuf, CompileResult)>> {
        let sources = sources.into_par_iter();
        let compiled = sources.map(|source| {
            let result = self.compile(source, parts, optimisation, hashes)?;
            Ok((source, result))
        });
        compiled.collect()
    }

    /// The sources that are linked as far as they are needed, as an archive. One
    /// that does not compile is only missed if something in it is needed.
    fn library(
        &self,
        parts: &ProgramParts,
        optimisation: Optimisation,
        hashes: &Hashes,
    ) -> anyhow::Result<Library> {
        let mut library = Library::default();
        if parts.library.is_empty() {
            return Ok(library);
        }
        let mut objects = Vec::new();
        let sources = parts.library.iter().collect();
        for (source, result) in self.compile_all(sources, parts, optimisation, hashes)? {
            match result {
                Ok(object) => objects.push(object),
                Err(failure) if Some(source.as_path()) == self.named => {
                    library.of_named = Some(failure);
                }
                Err(failure) => library.failures.push(failure),
            }
        }
        if objects.is_empty() {
            return Ok(library);
        }
        let marks: Vec<&str> = objects.iter().map(|(_, mark)| mark.as_str()).collect();
        let mark = blake3::hash(marks.concat().as_bytes()).to_hex().to_string();
        let archive = self
            .into
            .join(OBJECTS)
            .join(format!("library-{}.a", &mark[..16]));
        if !archive.is_file() {
            let unfinished = archive.with_extension("unfinished");
            remove(&unfinished)?;
            let made = std::process::Command::new("ar")
                .arg("rcs")
                .arg(&unfinished)
                .args(objects.iter().map(|(object, _)| object))
                .status()
                .context("cannot run ar")?;
            anyhow::ensure!(made.success(), "ar failed: {made}");
            fs::rename(&unfinished, &archive)?;
        }
        library.archive = Some((archive, mark));
        Ok(library)
    }

    /// The object of a source, and a digest of what went into it.
    fn compile(
        &self,
        source: &Path,
        parts: &ProgramParts,
        optimisation: Optimisation,
        hashes: &Hashes,
    ) -> anyhow::Result<CompileResult> {
        let language = match language_of(source) {
            SourceLanguage::C => Language::C,
            SourceLanguage::Cpp => Language::Cxx,
        };
        let mut arguments = options(language, self.quoted);
        for folder in &parts.include {
            arguments.extend(["-I".into(), folder.into()]);
        }
        arguments.extend(parts.options.get(source).into_iter().flatten().cloned());
        arguments.extend(self.flags(language));
        // With other folders to look in it is another object: both may be wanted.
        let mut name = blake3::Hasher::new();
        name.update(source.as_os_str().as_encoded_bytes());
        name.update(format!("{:?}", parts.include).as_bytes());
        let name = name.finalize().to_hex();
        let objects = self.into.join(OBJECTS);
        let object = objects.join(format!("{}.o", &name[..16]));
        let depends = object.with_extension("d");
        arguments.extend([
            "-c".into(),
            source.into(),
            "-o".into(),
            object.clone().into(),
        ]);
        self.consists_of(object.with_extension(NOTES));
        // Which options that means the compiler is asked only if it is to compile.
        let how = self.how(&arguments) + optimisation.name();
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
        // What the project says about optimisation comes later, and counts.
        arguments.splice(0..0, optimisation.options(language));
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
        objects: &[&(PathBuf, String)],
        parts: &ProgramParts,
    ) -> anyhow::Result<Result<PathBuf, BuildFailure>> {
        let mut sources = program.sources.iter().chain(&parts.library);
        let with_cxx = sources.any(|source| language_of(source) == SourceLanguage::Cpp);
        let language = if with_cxx { Language::Cxx } else { Language::C };
        let executable = self.into.join(&program.name);
        let mut arguments: Vec<OsString> = vec!["-pthread".into()];
        arguments.extend(objects.iter().map(|(object, _)| object.clone().into()));
        arguments.extend(self.config.ldflags.iter().map(OsString::from));
        arguments.extend(["-o".into(), executable.clone().into()]);
        let mut how = self.how(&arguments);
        for (_, mark) in objects {
            how.push_str(mark);
        }
        let recipe = self
            .into
            .join(OBJECTS)
            .join(format!("{}.link", program.name));
        self.consists_of(recipe.with_extension(NOTES));
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
        let defined = self.config.define.iter();
        let defined = defined.map(|definition| format!("-D{definition}").into());
        flags.iter().map(OsString::from).chain(defined)
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
        if let Err(none) = cc::require_chosen(language) {
            return Ok(Some(BuildFailure::NoCompiler(none)));
        }
        let arguments = cc::users_choice(language)
            .into_iter()
            .chain(arguments)
            .collect();
        let mut wrapped = match cc::wrap(language, arguments)? {
            Ok(wrapped) => wrapped,
            Err(none) => return Ok(Some(BuildFailure::NoCompiler(none))),
        };
        let notes = log.with_extension(NOTES);
        remove(&notes)?;
        cc::keep_notes(&wrapped.notes, &notes)?;
        let out =
            fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = wrapped
            .command
            .current_dir(self.from)
            .env("PWD", self.from)
            // Its words decide what is tried next.
            .env("LC_ALL", "C.UTF-8")
            .stdin(std::process::Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .process_group(0)
            .spawn();
        let mut child = child
            .with_context(|| format!("cannot run {}", wrapped.command.get_program().display()))?;
        let watchdog = Watchdog::new(MAX_BUILD_TIME, self.deadline);
        watchdog.watch(&child).until_ended()?;
        let status = child.wait()?;
        if status.success() {
            return Ok(None);
        }
        Ok(Some(BuildFailure::Compiler {
            what: what.to_owned(),
            output: last_lines(log)?,
            others: 0,
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

/// The newest common standard, because the project names none.
fn options(language: Language, include: &[PathBuf]) -> Vec<OsString> {
    let standard = match language {
        Language::C => "-std=gnu17",
        Language::Cxx => "-std=gnu++20",
    };
    let mut options: Vec<OsString> = vec![standard.into(), "-pthread".into()];
    for folder in include {
        options.extend(["-iquote".into(), folder.into()]);
    }
    options
}

/// The notes of compiler calls, each once; none if there is no such file.
pub(super) fn read_notes(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let notes: BTreeSet<&str> = text.lines().collect();
    notes.into_iter().map(str::to_owned).collect()
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
