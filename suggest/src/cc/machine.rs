//! Whether a command line builds for this machine, the only one that the runtime is
//! for. Knows the options and names of compilers that build for another.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The names of the machine that the runtime is for.
const THIS_MACHINE: &[&str] = if cfg!(target_arch = "aarch64") {
    &["aarch64", "arm64"]
} else {
    &["x86_64", "amd64"]
};

/// Options that are for another machine, wherever they stand.
const OPTIONS_FOR_OTHERS: &[&str] = &["-m32", "-mx32", "-m16", "-mabi=ilp32"];

/// What asks for another machine than ours, if anything does: an option, or the
/// compiler's own name.
pub(super) fn other_machine(compiler: &OsStr, arguments: &[OsString]) -> Option<String> {
    let name = Path::new(compiler).file_name().and_then(OsStr::to_str);
    if let Some(name) = name.filter(|name| is_for_another(name)) {
        return Some(name.to_owned());
    }
    let mut asked = None;
    let mut rest = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = rest.next() {
        let target = match argument {
            "-target" | "--target" | "-arch" => rest.next(),
            _ => argument.strip_prefix("--target="),
        };
        if let Some(target) = target {
            let machine = target.split('-').next().unwrap_or(target);
            asked = (!THIS_MACHINE.contains(&machine)).then(|| format!("the target {target}"));
        } else if OPTIONS_FOR_OTHERS.contains(&argument) {
            asked = Some(argument.to_owned());
        } else if argument == "-m64" {
            asked = None;
        }
    }
    asked
}

/// Whether a compiler is named after another machine: `arm-linux-gnueabihf-gcc`.
fn is_for_another(name: &str) -> bool {
    // A machine's full name has three parts at least: machine, system, library.
    let named_after_one = ["-linux-", "-elf-", "-eabi-", "-mingw32-", "-darwin"]
        .iter()
        .any(|system| name.contains(system));
    let machine = name.split('-').next().unwrap_or(name);
    named_after_one && !THIS_MACHINE.contains(&machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(compiler: &str, line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        other_machine(OsStr::new(compiler), &arguments)
    }

    #[test]
    fn other_machines_are_known_by_options_and_by_the_compilers_name() {
        assert_eq!(of("gcc", "-m32 a.c").as_deref(), Some("-m32"));
        assert!(of("clang", "--target=armv7-linux-gnueabihf a.c").is_some());
        assert!(of("clang", "-target riscv64-linux-gnu a.c").is_some());
        let cross = "/usr/bin/arm-linux-gnueabihf-gcc-12";
        assert_eq!(
            of(cross, "a.c").as_deref(),
            Some("arm-linux-gnueabihf-gcc-12")
        );
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
        let ours = THIS_MACHINE[0];
        for line in ["a.c", "-m64 a.c", "-m32 -m64 a.c", "-march=native a.c"] {
            assert_eq!(of("/usr/bin/gcc-12", line), None, "{line}");
        }
        assert_eq!(of("clang", &format!("--target={ours}-linux-gnu a.c")), None);
        assert_eq!(of(&format!("{ours}-linux-gnu-g++-12"), "a.c"), None);
    }
}
