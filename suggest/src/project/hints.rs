//! Why a build in a copy fails where the user's own works, as far as its files
//! tell: a file that the copy lacks, a compiler that the project sets itself, tests
//! that are switched off.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walkdir::WalkDir;

use super::failure::Hint;
use super::system::BuildLayout;
use super::walk::{is_hidden, walk};
use crate::regular_file;

/// This many files of a tree are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A file that the tree has and its copy lacks, if the output of a build says that
/// it is missing. Relative to the tree.
pub(crate) fn left_out(output: &str, tree: &Path, copy: &Path) -> Option<PathBuf> {
    let missing: Vec<PathBuf> = output.lines().filter_map(missing_file).collect();
    if missing.is_empty() {
        return None;
    }
    let entries = WalkDir::new(tree).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry));
    let files = entries.filter_map(Result::ok).take(MAX_ENTRIES);
    let inside = files.filter(|entry| entry.file_type().is_file());
    let mut inside = inside.filter_map(|entry| {
        let inside = entry.path().strip_prefix(tree).ok()?;
        Some(inside.to_owned())
    });
    inside.find(|inside| {
        missing.iter().any(|missing| inside.ends_with(missing)) && !copy.join(inside).exists()
    })
}

/// The file that a line of a compiler, of CMake or of make says is missing.
fn missing_file(line: &str) -> Option<PathBuf> {
    const MARKS: [&str; 3] = [
        ": No such file or directory",
        "' file not found",
        "', needed by",
    ];
    let end = MARKS.iter().find_map(|mark| line.find(mark))?;
    let start = line[..end].rfind([' ', '\'', '"']).map_or(0, |at| at + 1);
    let name = line[start..end].trim_matches(['\'', '"', '`']);
    // What is absolute or leaves the folder is known by its end.
    let path: PathBuf = Path::new(name)
        .components()
        .filter(|part| matches!(part, std::path::Component::Normal(_)))
        .collect();
    let name = path.file_name()?;
    Some(
        match Path::new(&path).is_relative() && path.components().count() <= 3 {
            true => path,
            false => name.into(),
        },
    )
}

/// The compiler that a CMake project has chosen instead of the wrapper.
pub(super) fn own_compiler(layout: &BuildLayout<'_>) -> Option<String> {
    let versions = fs::read_dir(layout.build.join("CMakeFiles")).ok()?;
    let folders = versions.filter_map(|entry| Some(entry.ok()?.path()));
    let ours = [layout.cc, layout.cxx].map(|wrapper| wrapper.to_string_lossy().into_owned());
    for folder in folders {
        for language in ["C", "CXX"] {
            let file = folder.join(format!("CMake{language}Compiler.cmake"));
            let text = fs::read_to_string(file).unwrap_or_default();
            let start = format!("set(CMAKE_{language}_COMPILER \"");
            let chosen = text.lines().find_map(|line| line.strip_prefix(&start));
            let chosen = chosen.and_then(|rest| rest.split('"').next());
            let is_ours = |chosen: &str| {
                ours.iter().any(|wrapper| chosen == wrapper) || chosen.contains("/compilers/")
            };
            if let Some(chosen) = chosen.filter(|chosen| !chosen.is_empty() && !is_ours(chosen)) {
                return Some(format!("CMAKE_{language}_COMPILER is {chosen}"));
            }
        }
    }
    None
}

/// What may be behind a command that failed with this output; `presets` are those that it
/// was not given.
pub(super) fn behind(output: &str, tree: &Path, copy: &Path, presets: Vec<String>) -> Vec<Hint> {
    let left_out = left_out(output, tree, copy).map(Hint::LeftOut);
    let submodule = empty_submodule(tree).map(Hint::Submodule);
    let download = failed_download(output).map(Hint::Download);
    let presets = (!presets.is_empty()).then_some(Hint::Presets(presets));
    [left_out, submodule, download, presets]
        .into_iter()
        .flatten()
        .collect()
}

/// Whether an output says that something could not be downloaded; the name that CMake's
/// FetchContent has for it, if it does.
fn failed_download(output: &str) -> Option<Option<String>> {
    const MARKS: [&str; 7] = [
        "Could not resolve host",
        "unable to access 'http",
        "Failed to clone repository",
        "error: downloading '",
        "Failed to connect to",
        "Network is unreachable",
        "urlopen error",
    ];
    if !MARKS.iter().any(|mark| output.contains(mark)) {
        return None;
    }
    let rest = output.split_once("Build step for ").map(|(_, rest)| rest);
    let name = rest.and_then(|rest| rest.split_whitespace().next());
    Some(name.map(str::to_owned))
}

/// The presets of CMake by which a project can be configured.
pub(super) fn cmake_presets(folder: &Path) -> Vec<String> {
    #[derive(Deserialize)]
    struct Presets {
        #[serde(rename = "configurePresets", default)]
        configure: Vec<Preset>,
    }
    #[derive(Deserialize)]
    struct Preset {
        name: String,
        #[serde(default)]
        hidden: bool,
    }
    let files = ["CMakePresets.json", "CMakeUserPresets.json"];
    let texts = files
        .iter()
        .filter_map(|file| regular_file::read_text(&folder.join(file)).ok());
    // What is wrong with them, CMake says that is to use them.
    let all = texts.filter_map(|text| serde_json::from_str::<Presets>(&text).ok());
    let usable = all
        .flat_map(|file| file.configure)
        .filter(|preset| !preset.hidden);
    usable.map(|preset| preset.name).collect()
}

/// A submodule of a repository whose folder has nothing in it.
pub(super) fn empty_submodule(tree: &Path) -> Option<PathBuf> {
    let text = regular_file::read_text(&tree.join(".gitmodules")).ok()?;
    let paths = text.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "path").then(|| PathBuf::from(value.trim()))
    });
    let is_empty = |path: &PathBuf| {
        let entries = fs::read_dir(tree.join(path));
        entries.is_ok_and(|mut entries| entries.next().is_none())
    };
    paths.into_iter().find(is_empty)
}

/// Options of a project that switch its tests on, and are off: as one types them
/// for `-D`.
pub(super) fn test_options(sources: &Path) -> Vec<String> {
    let files = walk(sources, |entry| !is_hidden(entry)).take(MAX_ENTRIES);
    let mut options = Vec::new();
    for entry in files.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy();
        let of = match &*name {
            "CMakeLists.txt" => cmake_option,
            "meson_options.txt" | "meson.options" => meson_option,
            _ => continue,
        };
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        options.extend(text.lines().filter_map(of));
    }
    options.sort();
    options.dedup();
    options
}

fn is_about_tests(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("test") || name.contains("check")
}

/// `option(NAME_TESTS "…" OFF)`.
fn cmake_option(line: &str) -> Option<String> {
    let line = line.trim();
    let start = line.get(..6)?;
    let rest = line[6..].trim_start().strip_prefix('(')?.trim_start();
    let name = rest.split(|c: char| c.is_whitespace()).next()?;
    let value = rest.trim_end().trim_end_matches(')').trim_end();
    let value = value
        .rsplit(|c: char| c.is_whitespace() || c == '"')
        .next()?;
    // Without a value it is off.
    let is_off = !["ON", "TRUE", "YES", "1"].contains(&value.to_ascii_uppercase().as_str());
    let fits = start.eq_ignore_ascii_case("option") && is_about_tests(name) && is_off;
    fits.then(|| format!("{name}=ON"))
}

/// `option('tests', type: 'boolean', value: false)`.
fn meson_option(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("option(")?;
    let name = rest.trim_start().strip_prefix('\'')?.split('\'').next()?;
    let compact: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    let value = match &compact {
        text if text.contains("value:false") => "true",
        text if text.contains("value:'disabled'") => "enabled",
        _ => return None,
    };
    is_about_tests(name).then(|| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_read_from_what_tools_print() {
        let file = |line: &str| missing_file(line).unwrap_or_default();
        let gcc = "src/a.c:1:10: fatal error: config.h: No such file or directory";
        assert_eq!(file(gcc), Path::new("config.h"));
        let clang = "src/a.c:1:10: fatal error: 'gen/config.h' file not found";
        assert_eq!(file(clang), Path::new("gen/config.h"));
        let make = "make: *** No rule to make target 'gen.h', needed by 'a.o'.  Stop.";
        assert_eq!(file(make), Path::new("gen.h"));
        assert_eq!(missing_file("error: expected ';'"), None);
    }

    #[test]
    fn downloads_that_fail_are_told_with_their_names() {
        let output = "fatal: unable to access 'https://x/y.git/': Could not resolve host: x\n\
                      CMake Error at FetchContent.cmake:1624 (message):\n  \
                      Build step for googletest failed: 2\n";
        let fetched = Some(Some("googletest".to_owned()));
        assert_eq!(failed_download(output), fetched);
        let other = "curl: (6) Could not resolve host: x";
        assert_eq!(failed_download(other), Some(None));
        assert_eq!(failed_download("Build step for x failed: 2"), None);
    }

    #[test]
    fn a_submodule_that_is_not_checked_out_is_named() {
        let tree = tempfile::tempdir().unwrap();
        let modules =
            "[submodule \"a\"]\n\tpath = a\n\turl = x\n[submodule \"b\"]\n\tpath = lib/b\n";
        fs::write(tree.path().join(".gitmodules"), modules).unwrap();
        for folder in ["a", "lib/b"] {
            fs::create_dir_all(tree.path().join(folder)).unwrap();
        }
        fs::write(tree.path().join("a/x.h"), "").unwrap();
        assert_eq!(empty_submodule(tree.path()), Some("lib/b".into()));
        fs::write(tree.path().join("lib/b/x.h"), "").unwrap();
        assert_eq!(empty_submodule(tree.path()), None);
    }

    #[test]
    fn tests_that_are_off_are_named() {
        let on = |line: &str| cmake_option(line);
        assert_eq!(
            on("option(QUEUE_TESTS \"Build tests\" OFF)"),
            Some("QUEUE_TESTS=ON".into())
        );
        assert_eq!(
            on("OPTION( BUILD_TESTING \"tests\")"),
            Some("BUILD_TESTING=ON".into())
        );
        assert_eq!(on("option(QUEUE_TESTS \"Build tests\" ON)"), None);
        assert_eq!(on("option(SHARED \"shared\" OFF)"), None);
        let meson = "option('tests', type : 'boolean', value : false)";
        assert_eq!(meson_option(meson), Some("tests=true".into()));
        assert_eq!(
            meson_option("option('docs', type: 'boolean', value: false)"),
            None
        );
    }
}
