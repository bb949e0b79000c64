//! The project's own packages, manifests and source files, for tests of its
//! structure.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// A package of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder, relative to the project's.
    pub folder: String,
    /// Its manifest.
    pub manifest: Table,
}

/// Where cargo or a `path` of ours looks for targets.
const SOURCE_FOLDERS: [&str; 6] = ["src", "benches", "examples", "tests", "model", "product"];

/// The project's folder.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("the tests have a folder of the project")
        .to_owned()
}

/// The manifest of the workspace.
pub fn workspace() -> Table {
    read_manifest(&root().join("Cargo.toml"))
}

/// All packages, in the order of the workspace.
pub fn packages() -> Vec<Package> {
    let workspace = workspace();
    let members = workspace["workspace"]["members"].as_array();
    let folders = members.expect("a list of members").iter();
    folders
        .map(|folder| {
            let folder = folder.as_str().expect("a folder").to_owned();
            let manifest = read_manifest(&root().join(&folder).join("Cargo.toml"));
            let name = manifest["package"]["name"].as_str().expect("a name");
            Package {
                name: name.to_owned(),
                folder,
                manifest,
            }
        })
        .collect()
}

impl Package {
    /// Its Rust files in one of its folders or, without one, all of them,
    /// relative to the project's folder.
    pub fn sources(&self, within: Option<&str>) -> Vec<PathBuf> {
        let folder = Path::new(&self.folder);
        let mut found = Vec::new();
        for name in SOURCE_FOLDERS {
            if within.is_none_or(|within| within == name) {
                walk(&folder.join(name), &mut found);
            }
        }
        let script = folder.join("build.rs");
        if within.is_none_or(|within| within == "build.rs") && root().join(&script).exists() {
            found.push(script);
        }
        found.sort();
        found
    }
}

/// The text of a file of the project.
pub fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn read_manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.parse()
        .unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Collects the Rust files below a folder that need not exist.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root().join(folder)) else {
        return;
    };
    for entry in entries {
        let entry = entry.expect("an entry of a source folder");
        let path = folder.join(entry.file_name());
        if root().join(&path).is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}
