//! Uses of macros that are found in the text, because no tree shows what they stand
//! for: the functions that they define, and the calls whose names they put together.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::context::ScanContext;
use crate::declarations::Declarations;
use crate::found_site::FoundSite;
use crate::macro_definition::Macro;
use crate::macros;
use crate::outline::{Marks, Outline};
use crate::pasting::{MacroTemplate, arguments_of};
use crate::recognise::found_in;
use crate::source::ParsedFile;
use crate::vocabulary::rule::Rule;
use crate::wrapper_function::{self, WrapperFunction};

/// How far macros are looked for that use others.
const MAX_LAYERS: usize = 4;

/// So much text is made of one file's macros, at most.
const MAX_GENERATED_BYTES: usize = 1 << 20;

/// So much of a header's uses of unknown macros is kept.
const MAX_OPEN_BYTES: usize = 16 << 10;

/// How far the end of a use's arguments is looked for.
const MAX_ARGUMENT_BYTES: usize = 4096;

/// The functions that uses of macros in a file define, as far as each is one atomic
/// operation.
pub(crate) fn functions(context: &ScanContext<'_>) -> Vec<WrapperFunction> {
    let text = generated_text(context);
    if text.is_empty() {
        return Vec::new();
    }
    let file = ParsedFile::parse(context.file.path(), text, context.file.language());
    let outline = Outline::of(&file);
    let mut imports = context.declared.imports.clone();
    imports.push(Arc::new(context.declared.clone()));
    let declared = Declarations::without_macros(&file, &outline, imports, context.vocabularies);
    let context = context.for_text(&file, &declared);
    let found = found_in(&outline, &context).certain.into_iter();
    let found: Vec<FoundSite<'_>> = found.map(|(found, _)| found).collect();
    let mut functions = Vec::new();
    outline.visit(Marks::FUNCTION, |node, _, _| {
        let function = wrapper_function::read(node, &found, &context);
        functions.extend(function.filter(|function| !function.rule.member));
    });
    functions
}

/// What the uses of macros in a file stand for, where that may define functions.
fn generated_text(context: &ScanContext<'_>) -> Vec<u8> {
    let mut generated = String::new();
    let mut layer = String::from_utf8_lossy(context.file.text()).into_owned();
    for import in &context.declared.imports {
        layer.push_str(&import.open_uses);
    }
    for _ in 0..MAX_LAYERS {
        let mut next = String::new();
        for (name, template) in context.declared.templates() {
            for arguments in uses(layer.as_bytes(), name) {
                let expansion = template.expansion(&arguments);
                next.extend(expansion.into_iter().chain(["\n".to_owned()]));
            }
        }
        if next.trim().is_empty() || generated.len() + next.len() > MAX_GENERATED_BYTES {
            break;
        }
        generated.push_str(&next);
        layer = next;
    }
    match generated.contains('{') {
        true => generated.into_bytes(),
        false => Vec::new(),
    }
}

/// The rules for uses of templates in a file whose bodies, for the arguments of the
/// use, are one atomic operation; by the template and that body.
pub(crate) fn instances(context: &ScanContext<'_>) -> FxHashMap<(String, String), Rule> {
    let mut rules = FxHashMap::default();
    for (name, template) in context.declared.templates() {
        for arguments in uses(context.file.text(), name) {
            let Some(instance) = template.call_instance(&arguments) else {
                continue;
            };
            let key = (name.clone(), instance.body.clone());
            if rules.contains_key(&key) {
                continue;
            }
            let language = context.file.language();
            let text = instance.body.into_bytes();
            let file = ParsedFile::parse(context.file.path(), text, language);
            let definition = Macro {
                name: name.clone(),
                parameters: Some(instance.parameters),
                body: 0..file.text().len(),
            };
            let context = context.for_text(&file, context.declared);
            let rule = macros::wrapper(&definition, &context);
            rules.extend(rule.map(|rule| (key, rule)));
        }
    }
    rules
}

/// Whether what a macro's uses stand for may matter.
pub(crate) fn is_worth_keeping(template: &MacroTemplate, context: &ScanContext<'_>) -> bool {
    let is_known = |word: &str| {
        context.rules(word).next().is_some() || context.declared.template(word).is_some()
    };
    template.pastes_callees() || template.words().any(is_known)
}

/// Lines of a file that begin with what looks like the use of a macro, as far as the
/// file and its headers do not define it. What it stands for is known where a file
/// includes both this one and the definition.
pub(crate) fn open_uses(text: &[u8], declared: &Declarations) -> String {
    let mut open = String::new();
    for line in text.split(|&byte| byte == b'\n') {
        let is_name =
            |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b'_';
        let name = line.iter().take_while(is_name).count();
        let is_use = name > 1 && line.get(name) == Some(&b'(') && line.contains(&b')');
        if !is_use || open.len() + line.len() > MAX_OPEN_BYTES {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        if !declared.knows_macro(&line[..name]) {
            open.push('\n');
            open.push_str(&line);
        }
    }
    open
}

/// The arguments of each use of a macro in a text, other macros left out.
fn uses(text: &[u8], name: &str) -> Vec<Vec<String>> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let used = memchr::memmem::find_iter(text, name).filter_map(|at| {
        let end = at + name.len();
        if at > 0 && is_word(text.get(at - 1)) || is_in_directive(text, at) {
            return None;
        }
        let blanks = text[end..].iter().take_while(|b| b.is_ascii_whitespace());
        let open = end + blanks.count();
        let rest = text[open..].strip_prefix(b"(")?;
        let rest = String::from_utf8_lossy(&rest[..rest.len().min(MAX_ARGUMENT_BYTES)]);
        arguments_of(&rest).map(|(arguments, _)| arguments)
    });
    used.collect()
}

/// Whether an offset is in a preprocessor directive.
fn is_in_directive(text: &[u8], at: usize) -> bool {
    let mut start = at;
    loop {
        start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |end| end + 1);
        let before = text[..start].strip_suffix(b"\n").unwrap_or_default();
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        if start == 0 || !before.ends_with(b"\\") {
            break;
        }
        start -= 1;
    }
    let first = text[start..at].iter().find(|b| !b.is_ascii_whitespace());
    first == Some(&b'#')
}

#[cfg(test)]
mod tests {
    use super::uses;

    #[test]
    fn uses_are_found_outside_of_definitions() {
        let text = b"#define MAKE(n) \\\n one(MAKE(a)) \\\n MAKE(b)\nMAKE(c) REMAKE(d)\nMAKE (e, (f, g))\nMAKE;";
        assert_eq!(uses(text, "MAKE"), [vec!["c"], vec!["e", " (f, g)"]]);
    }
}
