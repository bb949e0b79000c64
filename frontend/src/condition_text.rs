//! Conditions of conditional compilation as text: whether the compilers that build a
//! program for wmfix decide them, as far as that can be told without preprocessing.

use crate::language::Language;

/// Macros that gcc and clang on Linux never define.
const NEVER_DEFINED: [&str; 7] = [
    "_MSC_VER",
    "_WIN32",
    "_WIN64",
    "WIN32",
    "__KERNEL__",
    "__TINYC__",
    "__APPLE__",
];

/// Macros of machines, each with whether wmfix builds programs for it: for the one that
/// it runs on.
const MACHINES: [(&str, bool); 24] = [
    ("__x86_64__", cfg!(target_arch = "x86_64")),
    ("__x86_64", cfg!(target_arch = "x86_64")),
    ("__amd64__", cfg!(target_arch = "x86_64")),
    ("__aarch64__", cfg!(target_arch = "aarch64")),
    ("__arm64__", false),
    ("__i386__", false),
    ("__i386", false),
    ("__arm__", false),
    ("__ARM_ARCH_7A__", false),
    ("__riscv", cfg!(target_arch = "riscv64")),
    ("__powerpc__", false),
    ("__powerpc64__", cfg!(target_arch = "powerpc64")),
    ("__ppc__", false),
    ("__PPC__", false),
    ("__PPC64__", cfg!(target_arch = "powerpc64")),
    ("__POWERPC__", false),
    ("__s390x__", cfg!(target_arch = "s390x")),
    ("__sparc__", false),
    ("__mips__", false),
    ("__ia64__", false),
    ("__alpha__", false),
    ("__hppa__", false),
    ("__m68k__", false),
    ("__loongarch__", cfg!(target_arch = "loongarch64")),
];

/// Whether the condition of a directive holds, where that is known.
pub(crate) fn condition_holds(condition: &str, language: Language) -> Option<bool> {
    let text: String = condition.split_whitespace().collect();
    holds(&text, Some(language))
}

/// Whether a condition without blanks holds in a language, where that is known.
pub(crate) fn holds(text: &str, language: Option<Language>) -> Option<bool> {
    let text = text.replace("defined", "").replace(['(', ')'], "");
    // Without the parentheses it is not known what such a mixture means.
    match (text.contains("||"), text.contains("&&")) {
        (true, true) => None,
        (true, false) => decided(text.split("||"), true, language),
        (false, _) => decided(text.split("&&"), false, language),
    }
}

/// What terms come to of which one that is `enough` decides; the others together do.
fn decided<'t>(
    terms: impl Iterator<Item = &'t str>,
    enough: bool,
    language: Option<Language>,
) -> Option<bool> {
    let mut all = Some(!enough);
    for text in terms {
        match term(text, language) {
            Some(holds) if holds == enough => return Some(enough),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// Whether a name is defined, or not, by the compilers.
fn term(text: &str, language: Option<Language>) -> Option<bool> {
    if let Some(rest) = text.strip_prefix('!') {
        return term(rest, language).map(|holds| !holds);
    }
    match text {
        "0" => Some(false),
        "1" | "__GNUC__" | "__linux__" | "__unix__" => Some(true),
        "__cplusplus" => language.map(|language| language == Language::Cpp),
        name if NEVER_DEFINED.contains(&name) => Some(false),
        name => {
            let mut machines = MACHINES.iter();
            let machine = machines.find(|(machine, _)| *machine == name);
            machine.map(|(_, is_ours)| *is_ours)
        }
    }
}
