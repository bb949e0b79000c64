//! Outside tools and packages that tests need. A test that cannot run without
//! one is skipped and counted as such, or fails where all must run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::skip;
use crate::registry::crate_source;

/// Skips the current test unless everything that it needs is here. Where nothing
/// may be skipped (`WMFIX_REQUIRE_ALL=1`), the test fails.
pub fn need(needs: &[Need]) {
    let missing: Vec<String> = needs
        .iter()
        .filter(|need| !need.is_here())
        .map(Need::describe)
        .collect();
    if missing.is_empty() {
        return;
    }
    cannot_run(format!("needs {}", missing.join(", ")))
}

/// Skips the current test, for this reason; fails it where nothing may be skipped.
pub fn cannot_run(reason: String) -> ! {
    assert!(
        std::env::var_os("WMFIX_REQUIRE_ALL").is_none_or(|v| v != "1"),
        "{reason}"
    );
    skip(reason)
}

/// Always true: see [`need`].
pub fn have_all(_test: &str, needs: &[Need]) -> bool {
    need(needs);
    true
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
