//! compile_commands.json: what each source of a project is compiled with. It says
//! nothing of linking, so the sources become programs as they do without it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::programs::is_source;

/// Where the file is, from the folder of a project.
const PLACES: [&str; 3] = [
    "compile_commands.json",
    "build/compile_commands.json",
    "out/compile_commands.json",
];

/// A larger file is not read.
const MAX_BYTES: u64 = 256 << 20;

/// Options whose argument is a path that may be relative, as the next word or in
/// the same one.
const PATH_OPTIONS: [&str; 5] = ["-isystem", "-iquote", "-idirafter", "-include", "-I"];

/// Options with an argument in the next word that is of no use to us.
const DROPPED_WITH_ARGUMENT: [&str; 6] = ["-o", "-MF", "-MT", "-MQ", "-x", "-arch"];

/// What the sources of a project are compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CompileDatabase {
    /// The options of each source that exists, by its full path.
    pub options: BTreeMap<PathBuf, Vec<OsString>>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

impl CompileDatabase {
    /// The database of a folder, if it has one that can be read.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let file = PLACES.iter().map(|place| folder.join(place));
        let file = file.into_iter().find(|file| file.is_file())?;
        if fs::metadata(&file).ok()?.len() > MAX_BYTES {
            return None;
        }
        let database = Self::parse(&fs::read(file).ok()?)?;
        (!database.options.is_empty()).then_some(database)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let entries: Vec<Entry> = serde_json::from_slice(text).ok()?;
        let mut options = BTreeMap::new();
        for entry in entries {
            let words = match entry.arguments.is_empty() {
                true => shlex::split(&entry.command)?,
                false => entry.arguments.clone(),
            };
            let Ok(file) = entry.directory.join(&entry.file).canonicalize() else {
                continue;
            };
            if is_source(&file) {
                let kept = entry.options(&words);
                // Of a file that is compiled twice, the first counts.
                options.entry(file).or_insert(kept);
            }
        }
        Some(Self { options })
    }
}

impl Entry {
    /// The options that say what the source means: where its headers are, what is
    /// defined, which language it is.
    fn options(&self, words: &[String]) -> Vec<OsString> {
        let mut kept: Vec<OsString> = Vec::new();
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            if DROPPED_WITH_ARGUMENT.contains(&word.as_str()) {
                words.next();
            } else if let Some(option) = PATH_OPTIONS.iter().find(|o| word.starts_with(**o)) {
                let rest = &word[option.len()..];
                let path = match rest {
                    "" => words.next().map_or("", String::as_str),
                    rest => rest,
                };
                kept.extend([(*option).into(), self.directory.join(path).into()]);
            } else if word == "-D" || word == "-U" {
                kept.push(word.into());
                kept.extend(words.next().map(OsString::from));
            } else if is_meaning(word) {
                kept.push(word.into());
            }
        }
        kept
    }
}

/// Whether an option of one word changes what the source means.
fn is_meaning(word: &str) -> bool {
    let prefixes = ["-D", "-U", "-std=", "-f", "-m", "-pthread", "-ansi"];
    prefixes.iter().any(|prefix| word.starts_with(prefix)) && !word.starts_with("-fsanitize")
}

#[cfg(test)]
mod tests {
    use wmfix_tests::fuzzing::fuzz;

    use super::*;

    #[test]
    fn options_are_kept_that_say_what_a_source_means() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir(top.join("src")).unwrap();
        fs::write(top.join("src/a b.c"), "").unwrap();
        let text = serde_json::json!([
            { "directory": top, "file": "src/a b.c",
              "command": "cc -Iinclude -isystem sys -DN=2 -D M -O3 -Werror -std=c11 \
                          -fsanitize=thread -MD -MF x.d -o a.o -c 'src/a b.c'" },
            { "directory": top, "file": "gone.c", "arguments": ["cc", "-c", "gone.c"] },
        ]);
        let database = CompileDatabase::parse(text.to_string().as_bytes()).unwrap();
        let (include, system) = (top.join("include"), top.join("sys"));
        let expected: Vec<OsString> = vec![
            "-I".into(),
            include.into(),
            "-isystem".into(),
            system.into(),
            "-DN=2".into(),
            "-D".into(),
            "M".into(),
            "-std=c11".into(),
        ];
        assert_eq!(
            database.options,
            BTreeMap::from([(top.join("src/a b.c"), expected)])
        );
        assert_eq!(CompileDatabase::parse(b"{}"), None);
    }

    /// Whatever is in the file, it is taken or it is none.
    #[test]
    fn fuzz_compile_commands() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.c"), "").unwrap();
        let command = "cc -Ii 'a b' -DX=\"1\" -c a.c";
        let arguments = ["cc", "-I", "i", "-include", "x", "-D", "-c", "a.c", "-o"];
        let seed = serde_json::json!([
            { "directory": folder.path(), "file": "a.c", "command": command },
            { "directory": folder.path(), "file": "a.c", "arguments": arguments },
        ]);
        let seeds = [seed.to_string().into_bytes()];
        let words = r#""command": "arguments": "directory": "file": -isystem -include -MF \" \u0000 \ud800 ' null [ ] { } , ../ /"#;
        let words: Vec<&str> = words.split_whitespace().collect();
        fuzz("compile_commands.json", &seeds, &words, |bytes| {
            CompileDatabase::parse(bytes);
        });
    }
}
