//! The programs of the `examples` folder, and compiling and running one the way
//! a newcomer would, without wmfix.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One program of the folder.
#[derive(Clone, Debug)]
pub struct Example {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
}

/// What to compile with.
#[derive(Clone, Copy, Debug)]
pub struct Compiler {
    /// For C.
    pub c: &'static str,
    /// For C++.
    pub cxx: &'static str,
}

/// GNU's.
pub const GCC: Compiler = Compiler {
    c: "gcc",
    cxx: "g++",
};
/// LLVM's.
pub const CLANG: Compiler = Compiler {
    c: "clang",
    cxx: "clang++",
};

/// All examples, by name.
pub fn examples() -> Vec<Example> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut examples: Vec<Example> = fs::read_dir(&all)
        .expect("the examples folder")
        .map(|entry| entry.expect("the examples folder").path())
        .filter(|path| path.is_dir())
        .map(|folder| Example {
            name: name_of(&folder),
            folder,
        })
        .collect();
    examples.sort_by(|a, b| a.name.cmp(&b.name));
    examples
}

/// The example of this name.
pub fn example(name: &str) -> Example {
    let found = examples().into_iter().find(|e| e.name == name);
    found.unwrap_or_else(|| panic!("there is no example {name}"))
}

impl Example {
    /// Its files with this ending.
    pub fn files(&self, ending: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.folder)
            .expect("an example's folder")
            .map(|entry| entry.expect("an example's folder").path())
            .filter(|path| path.extension() == Some(OsStr::new(ending)))
            .collect();
        files.sort();
        files
    }

    /// A copy of it that a test may change.
    pub fn copy_into(&self, parent: &Path) -> Self {
        let folder = parent.join(&self.name);
        fs::create_dir(&folder).expect("a new folder");
        for entry in fs::read_dir(&self.folder).expect("an example's folder") {
            let from = entry.expect("an example's folder").path();
            let to = folder.join(from.file_name().expect("a file has a name"));
            fs::copy(&from, &to).expect("a copy of an example's file");
        }
        Self {
            name: self.name.clone(),
            folder,
        }
    }

    /// Compiles all of it into a program; no warning is let pass.
    pub fn compile(&self, compiler: Compiler, level: &str, into: &Path) -> PathBuf {
        let (c, cxx) = (self.files("c"), self.files("cpp"));
        let (command, standard, sources) = match (c.is_empty(), cxx.is_empty()) {
            (false, true) => (compiler.c, "-std=gnu11", c),
            (true, false) => (compiler.cxx, "-std=gnu++17", cxx),
            _ => panic!("{}: either C or C++", self.name),
        };
        let program = into.join(format!("{}-{command}{level}", self.name));
        let output = Command::new(command)
            .args([standard, level, "-Wall", "-Wextra", "-Werror", "-pthread"])
            .args(sources)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("a compiler");
        assert_went_well(&format!("{} with {command} {level}", self.name), &output);
        program
    }
}

/// Runs a program that may still be wrong on weak memory, on one processor: that
/// is sequentially consistent, whatever the orders in the source.
pub fn run_on_one_processor(program: &Path) -> Output {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .expect("Linux tells which processors may be used");
    let first: String = allowed
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    run(&["taskset", "-c", &first], program)
}

/// Runs a program as it is.
pub fn run(before: &[&str], program: &Path) -> Output {
    let mut words: Vec<OsString> = vec!["timeout".into(), "60".into()];
    words.extend(before.iter().map(OsString::from));
    words.push(program.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).output().expect("timeout")
}

/// Fails with all that was said if something failed.
pub fn assert_went_well(what: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().expect("a path with a name");
    name.to_string_lossy().into_owned()
}
