//! Outside tools and packages that tests need, and an honest way to do without:
//! a test that cannot run says so, is counted, and fails where all must run.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::registry::crate_source;

/// Whether everything that `test` needs is here. If not, the test is noted as
/// skipped (`tests/run` counts these) and should return at once; where nothing
/// may be skipped, this panics.
pub fn have_all(test: &str, needs: &[Need]) -> bool {
    let missing: Vec<String> = needs
        .iter()
        .filter(|need| !need.is_here())
        .map(Need::describe)
        .collect();
    if missing.is_empty() {
        return true;
    }
    let line = format!("{test}: needs {}", missing.join(", "));
    assert!(
        std::env::var_os("WMFIX_REQUIRE_ALL").is_none_or(|v| v != "1"),
        "{line}"
    );
    eprintln!("skipped {line}");
    if let Some(path) = std::env::var_os("WMFIX_SKIPPED") {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .expect("skip list");
        writeln!(file, "{line}").expect("skip list");
    }
    false
}

/// Something from outside the project.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// A program on PATH that answers `--version`.
    Program(&'static str),
    /// A file or folder of a Debian package: the path, the package.
    File(&'static str, &'static str),
    /// A crate of the registry: its name, its version.
    Crate(&'static str, &'static str),
}

impl Need {
    fn is_here(&self) -> bool {
        match self {
            Self::Program(name) => Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success()),
            Self::File(path, _) => Path::new(path).exists(),
            Self::Crate(name, version) => match crate_source(name, version) {
                Ok(_) => true,
                Err(why) => {
                    eprintln!("{why}");
                    false
                }
            },
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Program(name) => (*name).to_owned(),
            Self::File(path, package) => format!("{path} (package {package})"),
            Self::Crate(name, version) => format!("crate {name} {version}"),
        }
    }
}
