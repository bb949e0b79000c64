//! Builds the runtime archive that the `wmfix` binary carries: a nested cargo
//! call with the same lock file, in a target folder of its own so that it never
//! waits for the outer build, and with nothing of the outer build's flags.
//!
//! Hands over the archive, the list of symbols that a program must export for
//! its instrumented shared libraries, and the hash of both.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let workspace = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    for source in ["runtime-rs", "analysis", "Cargo.toml", "Cargo.lock"] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    let archive = fs::read(build_runtime(&workspace, &out)?)?;
    let exports = dynamic_list(&archive)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&archive);
    hasher.update(exports.as_bytes());
    fs::write(out.join("libwmfix_runtime.a"), &archive)?;
    fs::write(out.join("exports.list"), exports)?;
    println!(
        "cargo::rustc-env=WMFIX_RUNTIME_HASH={}",
        hasher.finalize().to_hex()
    );
    Ok(())
}

/// Runs the nested cargo and says where the archive is.
fn build_runtime(workspace: &Path, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let target = nested_target(out);
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .args(["rustc", "--package", "wmfix-runtime", "--lib"])
        .args([
            "--crate-type",
            "staticlib",
            "--profile",
            "runtime",
            "--locked",
        ])
        .arg("--manifest-path")
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    // What the outer cargo sets for this script and for its own compilations
    // (clippy's wrapper, coverage flags, …) is not meant for the runtime.
    let meant_for_the_outer_build = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ];
    for name in meant_for_the_outer_build {
        cargo.env_remove(name);
    }
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("building the runtime archive failed: {status}").into());
    }
    Ok(target.join("runtime/libwmfix_runtime.a"))
}

/// One folder for all the variants of this script's output folder (checked,
/// built, tested), so that the runtime is built once for all of them.
fn nested_target(out: &Path) -> PathBuf {
    let profile_folder = out
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "build"))
        .and_then(Path::parent);
    profile_folder.unwrap_or(out).join("wmfix-runtime")
}

/// The symbols that C code may mean, as a linker's dynamic list.
fn dynamic_list(archive: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut names = BTreeSet::new();
    for member in ArchiveFile::parse(archive)?.members() {
        let member = member?;
        // The rest is the standard library and the compiler's helpers, which
        // must not take the place of the program's own.
        if !String::from_utf8_lossy(member.name()).starts_with("wmfix_runtime") {
            continue;
        }
        let file = object::File::parse(member.data(archive)?)?;
        for symbol in file
            .symbols()
            .filter(|s| s.is_definition() && s.is_global())
        {
            let name = symbol.name()?;
            let of_rust = ["_R", "_ZN", "rust_", "DW.ref."]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            if !of_rust {
                names.insert(name.to_owned());
            }
        }
    }
    let lines: String = names.iter().map(|name| format!("  {name};\n")).collect();
    Ok(format!("{{\n  __tsan_*;\n{lines}}};\n"))
}
