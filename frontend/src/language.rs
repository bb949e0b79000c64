//! The language that a file is written in.

use std::path::Path;

/// The grammar a file is parsed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C
    C,
    /// C++
    Cpp,
}

impl Language {
    /// The language of a file: by its name, a header's by its content. `None` for
    /// files that are neither C nor C++.
    pub fn of(path: &Path, text: &[u8]) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "c++" | "C" | "cppm" | "ixx" | "hpp" | "hh" | "hxx" | "h++"
            | "H" | "ipp" | "inl" | "tcc" | "tpp" | "txx" | "cu" | "cuh" => Some(Self::Cpp),
            "h" | "inc" => Some(if looks_like_cpp(text) {
                Self::Cpp
            } else {
                Self::C
            }),
            _ => None,
        }
    }

    /// Whether a file of this name may be C or C++ at all.
    pub fn may_be(path: &Path) -> bool {
        Self::of(path, b"").is_some()
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        }
    }
}

/// Whether a header holds C++ outside what is guarded by `__cplusplus`.
fn looks_like_cpp(text: &[u8]) -> bool {
    let mut guards: Vec<bool> = Vec::new();
    let mut in_comment = false;
    for line in text.split(|&b| b == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut code = line.trim();
        if in_comment {
            match code.split_once("*/") {
                Some((_, rest)) => {
                    in_comment = false;
                    code = rest.trim();
                }
                None => continue,
            }
        }
        if let Some(directive) = code.strip_prefix('#').map(str::trim_start) {
            if directive.starts_with("if") {
                guards.push(directive.contains("__cplusplus"));
            } else if directive.starts_with("endif") {
                guards.pop();
            } else if directive.starts_with("include <atomic>") && !guards.contains(&true) {
                return true;
            }
            continue;
        }
        let code = code.split("//").next().unwrap_or_default();
        let code = match code.split_once("/*") {
            Some((before, rest)) => {
                in_comment = !rest.contains("*/");
                before
            }
            None => code,
        };
        if guards.contains(&true) {
            continue;
        }
        let first = code.split_whitespace().next().unwrap_or_default();
        if code.contains("::")
            || matches!(first, "namespace" | "class" | "using" | "constexpr")
            || first.starts_with("template")
            || matches!(code, "public:" | "private:" | "protected:")
        {
            return true;
        }
    }
    false
}
