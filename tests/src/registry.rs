//! Real packages for the tests: the source folder of a registry crate, taken
//! through cargo itself. Nothing of such a crate is built or changed here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the sources of `name` at exactly `version`, in cargo's own
/// cache: read it, copy from it, never write to it.
///
/// # Errors
/// Says what cargo said when the crate could not be had.
pub fn crate_source(name: &str, version: &str) -> Result<PathBuf, String> {
    let project = scratch().join(format!("{name}-{version}"));
    let marker = project.join("source-folder");
    if let Ok(known) = std::fs::read_to_string(&marker) {
        let known = PathBuf::from(known);
        if known.join("Cargo.toml").exists() {
            return Ok(known);
        }
    }
    let fail = |what: &str| format!("{name} {version}: {what}");
    std::fs::create_dir_all(project.join("src")).map_err(|e| fail(&e.to_string()))?;
    let manifest = format!(
        "[package]\nname = \"wants\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"={version}\"\n"
    );
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    write(&project.join("Cargo.toml"), &manifest)?;
    write(&project.join("src/lib.rs"), "")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .current_dir(&project)
        .output()
        .map_err(|e| fail(&e.to_string()))?;
    if !output.status.success() {
        return Err(fail(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|e| fail(&e.to_string()))?;
    let manifest_path = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|p| p["name"] == name && p["version"] == version)
        .and_then(|p| p["manifest_path"].as_str())
        .ok_or_else(|| fail("cargo knows no such package"))?;
    let folder = Path::new(manifest_path)
        .parent()
        .ok_or_else(|| fail("its manifest lies nowhere"))?
        .to_path_buf();
    write(&marker, &folder.to_string_lossy())?;
    Ok(folder)
}

/// A folder of the build that survives between test runs.
fn scratch() -> PathBuf {
    let target = std::env::current_exe().ok().and_then(|exe| {
        exe.ancestors()
            .find(|folder| folder.join("CACHEDIR.TAG").exists())
            .map(Path::to_path_buf)
    });
    target
        .unwrap_or_else(std::env::temp_dir)
        .join("wmfix-registry")
}
