//! Builds the runtime archive that the `wmfix` binary carries: a nested cargo
//! call with the same lock file, in a target folder of its own so that it never
//! waits for the outer build, and with nothing of the outer build's flags.
//!
//! Provides the archive without debug information, the list of symbols that a
//! program must export for its instrumented shared libraries, the option that has
//! the linker put the runtime in front of the C library's functions, and the hash
//! of the files.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

/// Unpacked beside the archive.
const GCC_SPECS: &str = "src/gcc.specs";
const CXX_CONFIG: &str = "src/c++config.h";
const STDATOMIC: &str = "src/stdatomic.h";
/// The headers of scenario files.
const SCENARIOS: [&str; 2] = ["headers/wmfix", "headers/wmfix/scenarios"];

/// What is unpacked: a copy that lacks one of these is another copy.
const UNPACKED: &str = "libwmfix_runtime.a exports.list gcc.specs gcc-old.specs headers scenarios";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let workspace = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    println!("cargo::rerun-if-changed={GCC_SPECS}");
    println!("cargo::rerun-if-changed={CXX_CONFIG}");
    println!("cargo::rerun-if-changed={STDATOMIC}");
    let built = build_runtime(&workspace, &out)?;
    watch(&workspace, &fs::read_to_string(built.with_extension("d"))?)?;
    let stripped = out.join("libwmfix_runtime.a");
    fs::copy(&built, &stripped)?;
    strip_debug(&stripped)?;
    let archive = fs::read(&stripped)?;
    let symbols = symbols_for_c(&archive)?;
    let exports = dynamic_list(&symbols);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&archive);
    hasher.update(exports.as_bytes());
    hasher.update(&fs::read(GCC_SPECS)?);
    hasher.update(&fs::read(CXX_CONFIG)?);
    hasher.update(&fs::read(STDATOMIC)?);
    for folder in SCENARIOS {
        println!("cargo::rerun-if-changed={folder}");
        let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            hasher.update(&fs::read(file)?);
        }
    }
    hasher.update(UNPACKED.as_bytes());
    fs::write(out.join("exports.list"), exports)?;
    fs::write(out.join("wrap.option"), wrap_option(&symbols))?;
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

/// Has cargo run this script again when something changes that the archive was
/// made of: the sources that the compiler read, as `dependencies` lists them, the
/// manifests of their packages, and what the workspace sets for all packages.
fn watch(workspace: &Path, dependencies: &str) -> Result<(), Box<dyn Error>> {
    let (_, sources) = dependencies
        .split_once(": ")
        .ok_or("the dependency file of the runtime archive is not in make's syntax")?;
    // A space in a path is written as a backslash and a space.
    let sources = sources.replace("\\ ", "\0");
    let mut watched = BTreeSet::from(["Cargo.toml", "Cargo.lock"].map(|name| workspace.join(name)));
    for source in sources.split_whitespace() {
        let source = PathBuf::from(source.replace('\0', " "));
        let mut manifests = source.ancestors().map(|folder| folder.join("Cargo.toml"));
        watched.extend(manifests.find(|path| path.exists()));
        watched.insert(source);
    }
    for path in watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// Takes the debug information out of an archive: that of the standard library's
/// parts is larger than all the code. With the compiler's own tool if it comes
/// with one, else with that of binutils.
fn strip_debug(archive: &Path) -> Result<(), Box<dyn Error>> {
    let rustc = env::var("RUSTC")?;
    let printed = Command::new(&rustc)
        .args(["--print", "target-libdir"])
        .output()?;
    let library = PathBuf::from(String::from_utf8(printed.stdout)?.trim());
    let tools = [
        library.with_file_name("bin").join("rust-objcopy"),
        PathBuf::from("objcopy"),
        PathBuf::from("llvm-objcopy"),
    ];
    for tool in &tools {
        let status = Command::new(tool)
            .arg("--strip-debug")
            .arg(archive)
            .status();
        if status.is_ok_and(|status| status.success()) {
            return Ok(());
        }
    }
    Err(
        format!("no objcopy to strip the runtime archive with: tried {tools:?}; install binutils")
            .into(),
    )
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

/// The symbols of the archive that C code may mean.
fn symbols_for_c(archive: &[u8]) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut names = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for member in ArchiveFile::parse(archive)?.members() {
        let member = member?;
        // The rest is the standard library and the compiler's helpers, which
        // must not take the place of the program's own.
        if !String::from_utf8_lossy(member.name()).starts_with("wmfix_runtime") {
            continue;
        }
        let file = object::File::parse(member.data(archive)?)?;
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let name = symbol.name()?;
            if !symbol.is_definition() {
                wanted.insert(name.to_owned());
                continue;
            }
            let of_rust = ["_R", "_ZN", "rust_", "DW.ref."]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            if !of_rust {
                names.insert(name.to_owned());
            }
        }
    }
    // What the runtime does for itself must not come back to it as the program's.
    match wanted
        .iter()
        .find(|name| names.contains(&format!("__wrap_{name}")))
    {
        Some(name) => Err(format!("the runtime calls {name} and does not define it").into()),
        None => Ok(names),
    }
}

/// A linker's dynamic list.
fn dynamic_list(names: &BTreeSet<String>) -> String {
    let lines: String = names.iter().map(|name| format!("  {name};\n")).collect();
    format!("{{\n  __tsan_*;\n{lines}}};\n")
}

/// The option for a compiler's driver that has the linker take `__wrap_NAME`
/// wherever `NAME` is called.
fn wrap_option(names: &BTreeSet<String>) -> String {
    let wrapped = names.iter().filter_map(|name| name.strip_prefix("__wrap_"));
    let words: String = wrapped.map(|name| format!(",--wrap={name}")).collect();
    format!("-Wl{words}")
}
