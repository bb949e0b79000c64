//! Conditional compilation around a definition: whether the compilers that build a
//! program for wmfix see it, as far as that can be told without preprocessing.

use std::path::Path;

use tree_sitter::Node;

use crate::condition_text::holds;
use crate::language::Language;
use crate::source::ParsedFile;
use crate::syntax::children;

/// Whether a definition is there when the program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    Certain,
    /// That depends on something that is not known here.
    Possible,
    /// It is not.
    Absent,
}

/// Whether the definition of `name` at a node is there when `reader` is compiled: the file
/// itself, or one that includes it.
pub fn presence(node: Node<'_>, name: &str, file: &ParsedFile, reader: &Path) -> Presence {
    let condition = Condition {
        name,
        file,
        language: compiled_language(file, reader),
    };
    let mut presence = Presence::Certain;
    let mut below = node;
    let mut current = node.parent();
    while let Some(around) = current {
        let is_condition = matches!(
            around.kind(),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef"
        );
        if is_condition {
            let is_other = around.child_by_field_name("alternative") == Some(below);
            match condition.holds(around).map(|holds| holds != is_other) {
                Some(true) => {}
                Some(false) => return Presence::Absent,
                None => presence = Presence::Possible,
            }
        }
        below = around;
        current = around.parent();
    }
    presence
}

/// The language that a file is compiled in for a reader; `None` if only the files that
/// include that one tell.
fn compiled_language(file: &ParsedFile, reader: &Path) -> Option<Language> {
    match reader.extension().and_then(|ending| ending.to_str()) {
        Some("c") => Some(Language::C),
        Some("h") if file.language() == Language::C => None,
        _ => Some(file.language()),
    }
}

/// What the conditions around a definition are judged by.
struct Condition<'a> {
    /// What is defined.
    name: &'a str,
    file: &'a ParsedFile,
    language: Option<Language>,
}

impl Condition<'_> {
    /// Whether a condition holds, where that is known.
    fn holds(&self, condition: Node<'_>) -> Option<bool> {
        let file = self.file;
        let text: String = match condition.child_by_field_name("name") {
            Some(tested) => {
                let word = file.node_text(condition.child(0)?);
                let negates = word.contains("ifndef") || word.contains("elifndef");
                let tested = file.node_text(tested);
                // A guard: of the definition, or of the whole header.
                if negates && (tested == self.name || is_guard(condition, &tested, file)) {
                    return Some(true);
                }
                format!("{}defined({tested})", if negates { "!" } else { "" })
            }
            None => {
                let condition = condition.child_by_field_name("condition")?;
                let text = file.node_text(condition);
                text.split_whitespace().collect()
            }
        };
        holds(&text, self.language)
    }
}

/// Whether a condition is the include guard of its header.
fn is_guard(condition: Node<'_>, tested: &str, file: &ParsedFile) -> bool {
    let mut inside = children(condition).into_iter();
    let define = inside.find(|child| child.kind() == "preproc_def");
    let name = define.and_then(|define| define.child_by_field_name("name"));
    let is_outermost = condition
        .parent()
        .is_some_and(|parent| parent.kind() == "translation_unit");
    is_outermost && name.is_some_and(|name| file.node_text(name) == tested)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Presence, presence};
    use crate::{Language, ParsedFile};

    fn read_by(reader: &str, text: &str) -> Presence {
        let file = ParsedFile::parse(Path::new("a.h"), text.as_bytes(), Language::C);
        let at = text.find("define READ").expect("a definition");
        let root = file.tree().root_node();
        let node = root
            .descendant_for_byte_range(at + 7, at + 11)
            .expect("there");
        presence(node, "READ", &file, Path::new(reader))
    }

    fn of(text: &str) -> Presence {
        read_by("a.h", text)
    }

    #[test]
    fn guards_are_no_conditions() {
        assert_eq!(of("#define READ(x) x\n"), Presence::Certain);
        assert_eq!(
            of("#ifndef A_H\n#define A_H\n#define READ(x) x\n#endif\n"),
            Presence::Certain
        );
        assert_eq!(
            of("int a;\n#ifndef READ\n#define READ(x) x\n#endif\n"),
            Presence::Certain
        );
    }

    #[test]
    fn conditions_that_the_compilers_decide_are_decided() {
        let either = |condition: &str| {
            let first = of(&format!(
                "{condition}\n#define READ(x) x\n#else\nint a;\n#endif\n"
            ));
            let other = of(&format!(
                "{condition}\nint a;\n#else\n#define READ(x) x\n#endif\n"
            ));
            (first, other)
        };
        let yes = (Presence::Certain, Presence::Absent);
        let no = (Presence::Absent, Presence::Certain);
        let open = (Presence::Possible, Presence::Possible);
        assert_eq!(either("#ifdef __GNUC__"), yes);
        assert_eq!(either("#if defined(__GNUC__) || defined(__clang__)"), yes);
        assert_eq!(either("#ifdef _MSC_VER"), no);
        assert_eq!(either("#if defined(_WIN32) && !defined(__CYGWIN__)"), no);
        assert_eq!(either("#if 0"), no);
        assert_eq!(either("#if defined(__arm__)"), no);
        assert_eq!(
            either("#if defined(__ppc__) || defined(__arm__) || defined(__mips__)"),
            no
        );
        assert_eq!(either("#if (defined(USE) || defined(__GNUC__)) && X"), open);
        assert_eq!(either("#ifdef USE_ATOMICS"), open);
        assert_eq!(either("#if __STDC_VERSION__ >= 201112L"), open);
    }

    #[test]
    fn the_language_is_that_of_the_file_that_is_compiled() {
        let of_c = "#ifdef __cplusplus\nint a;\n#else\n#define READ(x) x\n#endif\n";
        assert_eq!(read_by("a.c", of_c), Presence::Certain);
        assert_eq!(read_by("a.h", of_c), Presence::Possible);
        let of_cpp = of_c.replace("ifdef", "ifndef");
        assert_eq!(read_by("a.c", &of_cpp), Presence::Absent);
    }
}
