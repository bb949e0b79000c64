//! Compiles and runs the texts of golden cases. Every text has a function
//! `int check(void)`; what a program prints is what these give. To keep this
//! cheap, cases of one standard share a program: C cases file by file, C++ cases
//! in namespaces of one file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::cases::Case;

/// Which of a case's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The text before the changes.
    Before,
    /// The text after them.
    After,
}

/// The compilers for C and C++, by family.
pub const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

/// What C++ cases of one program share.
pub const CPP_PRELUDE: &str = "#include <atomic>\n#include <cstdio>\n#include <cassert>\n#include <functional>\n\
    #include <initializer_list>\n#include <memory>\n#include <utility>\n#include <vector>\n";

/// What the cases print in one standard, one line each, or what the compiler says.
pub fn output(
    cases: &[&Case],
    version: Version,
    standard: &str,
    compilers: (&str, &str),
    folder: &Path,
) -> Result<String, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let is_cpp = standard.contains("++");
    let compiler = if is_cpp { compilers.1 } else { compilers.0 };
    let mut sources = Vec::new();
    let mut shared = String::from(CPP_PRELUDE);
    let mut declarations = String::new();
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let text = match version {
            Version::Before => &case.before,
            Version::After => &case.after,
        };
        if is_cpp && !case.is_alone {
            writeln!(shared, "namespace case_{number} {{").expect("a string");
            shared.push_str(&format!("#line 1 \"{}\"\n", case.name));
            for line in text.lines().filter(|line| !line.starts_with("#include")) {
                shared.push_str(line);
                shared.push('\n');
            }
            shared.push_str("}\n");
            writeln!(
                calls,
                "    std::printf(\"%s: %d\\n\", {:?}, case_{number}::check());",
                case.name
            )
            .expect("a string");
            continue;
        }
        let is_header = case.file.ends_with(".h");
        let file = folder.join(format!("case_{number}_{}", case.file));
        let mut source = format!("#define check check_{number}\n");
        if is_header {
            fs::write(&file, text).map_err(|error| error.to_string())?;
            let include = format!("#include {:?}\n", file.file_name().unwrap_or_default());
            // An include guard must hold.
            source.push_str(&include);
            source.push_str(&include);
        } else {
            source.push_str(&format!("#line 1 \"{}\"\n{text}\n", case.name));
        }
        if is_cpp {
            source.push_str(&format!(
                "int call_{number}() {{ return check_{number}(); }}\n"
            ));
        } else {
            source.push_str(&format!(
                "\n#undef check\nint call_{number}(void) {{ return check_{number}(); }}\n"
            ));
        }
        let path = folder.join(format!(
            "case_{number}.{}",
            if is_cpp { "cpp" } else { "c" }
        ));
        fs::write(&path, source).map_err(|error| error.to_string())?;
        sources.push(path);
        writeln!(
            declarations,
            "int call_{number}({});",
            if is_cpp { "" } else { "void" }
        )
        .expect("a string");
        writeln!(
            calls,
            "    printf(\"%s: %d\\n\", {:?}, call_{number}());",
            case.name
        )
        .expect("a string");
    }
    let main = folder.join(if is_cpp { "main.cpp" } else { "main.c" });
    let head = if is_cpp {
        shared
    } else {
        "#include <stdio.h>\n".to_owned()
    };
    fs::write(
        &main,
        format!("{head}{declarations}int main(void) {{\n{calls}    return 0;\n}}\n"),
    )
    .map_err(|error| error.to_string())?;
    sources.push(main);
    build_and_run(compiler, standard, &sources, folder)
}

fn build_and_run(
    compiler: &str,
    standard: &str,
    sources: &[std::path::PathBuf],
    folder: &Path,
) -> Result<String, String> {
    let program = folder.join("program");
    let built = Command::new(compiler)
        .args(["-O0", "-w", "-pthread", "-latomic"])
        .arg(format!("-std={standard}"))
        .args(sources)
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let run = Command::new(&program)
        .output()
        .map_err(|error| error.to_string())?;
    if !run.status.success() {
        return Err(format!(
            "{compiler} {standard}: the program ended with {}",
            run.status
        ));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}
