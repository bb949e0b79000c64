//! What a build is given besides its files: the compiler wrappers, and what says
//! whether an earlier build was given the same.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::make_rules::MakeRules;
use crate::cc::{self, Language, NoCompiler};
use crate::config::BuildConfig;
use crate::runtime_archive::{RUNTIME_HASH, cache_folder};

/// Variables that compilers and build tools listen to.
const LISTENED_TO: [&str; 14] = [
    "CC",
    "CXX",
    "WMFIX_REAL_CC",
    "WMFIX_REAL_CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CPATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "CMAKE_GENERATOR",
    "CMAKE_BUILD_TYPE",
];

/// The wrappers under names of one word.
#[derive(Debug)]
pub(super) struct Wrappers {
    /// For C.
    pub cc: PathBuf,
    /// For C++.
    pub cxx: PathBuf,
}

impl Wrappers {
    /// The wrappers of this wmfix.
    pub(super) fn ready() -> anyhow::Result<Self> {
        let wmfix = std::env::current_exe()?;
        let hash = blake3::hash(wmfix.as_os_str().as_encoded_bytes()).to_hex();
        let folder = cache_folder()?.join(format!("wrappers-{}", &hash[..16]));
        let (cc, cxx) = (folder.join("wmfix-cc"), folder.join("wmfix-c++"));
        if !cc.exists() || !cxx.exists() {
            cc::link_wrappers(&wmfix, &folder)?;
        }
        Ok(Self { cc, cxx })
    }
}

/// What a build tool finds in its environment.
pub(super) fn for_tools(wrappers: &Wrappers, config: &BuildConfig) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = vec![
        ("CC".into(), wrappers.cc.clone().into()),
        ("CXX".into(), wrappers.cxx.clone().into()),
        // A launcher would stand before the wrapper and not know it.
        ("CMAKE_C_COMPILER_LAUNCHER".into(), OsString::new()),
        ("CMAKE_CXX_COMPILER_LAUNCHER".into(), OsString::new()),
    ];
    for language in [Language::C, Language::Cxx] {
        let mut choice = cc::users_choice(language);
        if let Ok(real) = cc::real_compiler(language) {
            // By its full path, as the names of compilers may lead to wrappers.
            let named = |word: &OsString| word.to_str().and_then(cc::program_on_path);
            match choice
                .iter()
                .position(|word| named(word).as_ref() == Some(&real))
            {
                Some(at) => choice[at] = real.into(),
                None => choice = vec![real.into()],
            }
        }
        if !choice.is_empty() {
            all.push((language.variable().into(), choice.join(" ".as_ref())));
        }
    }
    let flags = [
        ("WMFIX_CFLAGS", &config.cflags),
        ("WMFIX_CXXFLAGS", &config.cxxflags),
        ("WMFIX_LDFLAGS", &config.ldflags),
    ];
    for (name, words) in flags {
        all.push((name.into(), words.join("\n").into()));
    }
    all
}

/// The compilers that a Makefile sets itself, as the wrappers' real ones, where the
/// user has not said anything: its flags may be that compiler's alone.
pub(super) fn named_compilers(rules: &MakeRules<'_>) -> Vec<(OsString, OsString)> {
    let mut named = Vec::new();
    for (language, variable) in [(Language::C, "CC"), (Language::Cxx, "CXX")] {
        let chosen = [variable, "WMFIX_REAL_CC", language.variable()]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let value = rules.own_value(variable).filter(|_| !chosen);
        let real = value.filter(|value| cc::is_compiler_name(value.as_ref()));
        if let Some(real) = real.and_then(cc::program_on_path) {
            named.push((language.variable().into(), real.into()));
        }
    }
    named
}

/// Puts the wrappers under the usual names of compilers into a folder, for build
/// files that have such a name in them, and gives the PATH that leads there.
pub(super) fn in_the_place_of_compilers(
    wrappers: &Wrappers,
    folder: &Path,
) -> io::Result<OsString> {
    let names = [
        ("cc", &wrappers.cc),
        ("gcc", &wrappers.cc),
        ("clang", &wrappers.cc),
        ("c++", &wrappers.cxx),
        ("g++", &wrappers.cxx),
        ("clang++", &wrappers.cxx),
    ];
    fs::create_dir_all(folder)?;
    for (name, wrapper) in names {
        if let Some(real) = cc::program_on_path(name) {
            let mut text = b"#!/bin/sh\nexec".to_vec();
            for word in [wrapper.as_os_str(), real.as_os_str()] {
                let quoted = shlex::bytes::try_quote(word.as_bytes()).map_err(io::Error::other)?;
                text.push(b' ');
                text.extend_from_slice(&quoted);
            }
            text.extend_from_slice(b" \"$@\"\n");
            let script = folder.join(name);
            fs::write(&script, text)?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        }
    }
    let mut path = OsString::from(folder);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    Ok(path)
}

/// Everything but the files that a build depends on, as one text: what is built
/// under another one is of no use.
pub(super) fn setting(config: &BuildConfig, more: &[&str]) -> Result<String, NoCompiler> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &[u8]| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    add(RUNTIME_HASH.as_bytes());
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(format!("{config:?}").as_bytes());
    for text in more {
        add(text.as_bytes());
    }
    for name in LISTENED_TO {
        add(std::env::var_os(name)
            .unwrap_or_default()
            .as_encoded_bytes());
    }
    let compilers = [Language::C, Language::Cxx].map(cc::real_compiler);
    if let [Err(none), Err(_)] = compilers {
        cc::require_chosen(Language::C)?;
        return Err(none);
    }
    for program in compilers.into_iter().flatten() {
        add(looks(&program).as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// A program by its file's looks: asking it for its version would take longer
/// than many a build.
fn looks(program: &Path) -> String {
    let path = program.canonicalize();
    let path = path.as_deref().unwrap_or(program);
    match path.metadata() {
        Ok(meta) => format!(
            "{} {} {} {}",
            path.display(),
            meta.size(),
            meta.mtime(),
            meta.mtime_nsec()
        ),
        Err(_) => path.display().to_string(),
    }
}
