//! Runs golden cases with every atomic operation and fence written down in the
//! order of execution: compiled with the thread sanitizer's instrumentation, but
//! linked with a runtime that only logs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wmfix_frontend::{Site, SiteOperation};

use super::cases::Case;
use super::programs::{CPP_PRELUDE, Version};

const SHIM: &str = include_str!("../../corpus/rewriter/shim/log.c");

/// The globals that the cases of the corpus share.
const OBJECTS: [&str; 2] = [
    "static atomic_int x, y;",
    "static std::atomic<int> x{0}, y{0};",
];

/// What is written down when an operation or a fence runs.
pub type Event = String;

/// A sequentially consistent fence.
pub const FULL_FENCE: &str = "fence 5";

/// The event of a case's only site of this kind on this object, if the case is
/// about one fence and has such a site.
pub fn event_of(case: &Case) -> Option<(bool, Event)> {
    let [change] = case.changes.as_slice() else {
        return None;
    };
    let is_before = change.starts_with("before ");
    if !is_before && !change.starts_with("after ") {
        return None;
    }
    let known = OBJECTS.iter().any(|objects| case.before.contains(objects));
    if !known || case.before.contains("seq_cst") || !case.refused.is_empty() || case.is_alone {
        return None;
    }
    let (site, sites) = case.site(change);
    let event = name(case, &site)?;
    let same = sites
        .iter()
        .filter(|other| name(case, other).as_ref() == Some(&event));
    (same.count() == 1).then_some((is_before, event))
}

fn name(case: &Case, site: &Site) -> Option<Event> {
    let kind = match site.operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "rmw",
        SiteOperation::CompareExchange { .. } => "compare-exchange",
        SiteOperation::Fence | SiteOperation::SignalFence => return None,
    };
    let object = case.before.get(site.object.clone()?)?;
    let object = object.trim_start_matches('&');
    matches!(object, "x" | "y").then(|| format!("{kind} {object}"))
}

/// The events of each case, by its name.
pub fn events(
    cases: &[&Case],
    version: Version,
    compiler: &str,
    standard: &str,
    folder: &Path,
) -> Result<BTreeMap<String, Vec<Event>>, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let write = |name: &str, text: &str| -> Result<PathBuf, String> {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok(path)
    };
    let is_cpp = standard.contains("++");
    let linkage = if is_cpp { "extern \"C\" " } else { "" };
    let head = format!(
        "{linkage}void shim_begin(const char *);\n{linkage}void shim_name(const volatile void *, const char *);\n"
    );
    let mut main = if is_cpp {
        format!("{CPP_PRELUDE}{head}")
    } else {
        head.clone()
    };
    let mut calls = String::new();
    let mut sources = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let text = match version {
            Version::Before => &case.before,
            Version::After => &case.after,
        };
        let names = "shim_name(&x, \"x\"); shim_name(&y, \"y\");";
        if is_cpp {
            writeln!(main, "namespace case_{number} {{").expect("a string");
            for line in text.lines().filter(|line| !line.starts_with("#include")) {
                writeln!(main, "{line}").expect("a string");
            }
            writeln!(
                main,
                "void run() {{ shim_begin({:?}); {names} check(); }}\n}}",
                case.name
            )
            .expect("a string");
            writeln!(calls, "    case_{number}::run();").expect("a string");
        } else {
            let run = format!(
                "void run_{number}(void) {{ shim_begin({:?}); {names} check_{number}(); }}\n",
                case.name
            );
            let text = format!("#define check check_{number}\n{text}\n{head}{run}");
            sources.push(write(&format!("case_{number}.c"), &text)?);
            writeln!(main, "void run_{number}(void);").expect("a string");
            writeln!(calls, "    run_{number}();").expect("a string");
        }
    }
    write!(main, "int main(void) {{\n{calls}    return 0;\n}}\n").expect("a string");
    sources.push(write(if is_cpp { "main.cpp" } else { "main.c" }, &main)?);
    let shim = write("log.c", SHIM)?;
    run(folder, compiler, standard, &sources, &shim)
}

fn run(
    folder: &Path,
    compiler: &str,
    standard: &str,
    sources: &[PathBuf],
    shim: &Path,
) -> Result<BTreeMap<String, Vec<Event>>, String> {
    let start = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(folder).args(["-O0", "-w"]);
        command
    };
    // The shim itself must not be instrumented, and is C for both languages.
    let c_compiler = compiler.trim_end_matches("++").replace("clang", "gcc");
    let c_compiler = if c_compiler == "g" {
        "gcc"
    } else {
        &c_compiler
    };
    finish(start(c_compiler).arg("-c").arg(shim))?;
    let mut compile = start(compiler);
    compile
        .args(["-fsanitize=thread", "-c"])
        .arg(format!("-std={standard}"));
    finish(compile.args(sources))?;
    let objects = sources.iter().map(|source| source.with_extension("o"));
    let mut link = start(compiler);
    link.args(objects)
        .arg("log.o")
        .args(["-o", "program", "-pthread"]);
    finish(&mut link)?;
    let output = finish(&mut Command::new(folder.join("program")))?;
    let mut events: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    let mut current = String::new();
    for line in output.lines().filter_map(|line| line.strip_prefix('@')) {
        match line.strip_prefix("begin ") {
            Some(name) => current = name.to_owned(),
            None => events
                .entry(current.clone())
                .or_default()
                .push(line.to_owned()),
        }
    }
    Ok(events)
}

fn finish(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
