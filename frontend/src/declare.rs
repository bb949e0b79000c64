//! Everything that a file declares: names and types by its tree, then the macros
//! whose uses are operations, or define functions that are.

use std::sync::Arc;

use crate::context::ScanContext;
use crate::declarations::{Declarations, Meanings};
use crate::generated::{self, is_worth_keeping};
use crate::macro_definition::{Macro, macro_definitions};
use crate::macros;
use crate::outline::Outline;
use crate::pasting::MacroTemplate;
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::Rule;

/// The declarations of a file that includes these headers, with the macros whose
/// uses are sites.
pub(crate) fn declarations(
    file: &ParsedFile,
    outline: &Outline<'_>,
    imports: Vec<Arc<Declarations>>,
    vocabularies: &Vocabularies,
) -> Declarations {
    let mut declared = Declarations::without_macros(file, outline, imports, vocabularies);
    declared.meanings = Meanings::of(file, outline);
    let definitions = macro_definitions(outline, file);
    let with_parameters = definitions.iter().filter(|d| d.parameters.is_some());
    declared.add_macro_names(with_parameters.map(|definition| definition.name.clone()));
    // Twice, because a macro may use one that the text defines later.
    for _ in 0..2 {
        let context = ScanContext::new(file, &declared, vocabularies);
        let named = |definition: &Macro| definition.name.clone();
        let rules: Vec<(String, Rule)> = definitions
            .iter()
            .filter_map(|macro_| {
                let rule = macros::wrapper(macro_, &context);
                let rule = rule.or_else(|| macros::other_name(macro_, &context))?;
                Some((named(macro_), rule))
            })
            .collect();
        let templates: Vec<(String, MacroTemplate)> = definitions
            .iter()
            .filter_map(|macro_| Some((named(macro_), template(macro_, &context)?)))
            .collect();
        declared.add_macros(rules);
        declared.add_templates(templates);
    }
    if declared.templates().next().is_some() {
        let context = ScanContext::new(file, &declared, vocabularies);
        let instances = generated::instances(&context);
        let functions = generated::functions(&context);
        declared.add_instances(instances);
        declared.add_macros(functions.into_iter().map(|f| (f.name, f.rule)));
    }
    declared.open_uses = generated::open_uses(file.text(), &declared);
    declared
}

/// The declarations of a header in which no word is atomic: what it uses of the macros
/// of others, and the names of its own.
pub(crate) fn uses_only(text: &[u8]) -> Option<Declarations> {
    let mut declared = Declarations::default();
    declared.open_uses = generated::open_uses(text, &declared);
    declared.meanings = Meanings::of_macros_in(text);
    let is_worth_keeping = !declared.open_uses.is_empty() || !declared.meanings.is_empty();
    is_worth_keeping.then_some(declared)
}

/// A macro whose uses depend on their arguments, if these may be operations or define
/// functions that are.
fn template(definition: &Macro, context: &ScanContext<'_>) -> Option<MacroTemplate> {
    let parameters = definition.parameters.as_deref()?;
    let body = context.file.slice(&definition.body);
    let is_template = |word: &str| context.declared.template(word).is_some();
    let template = MacroTemplate::of(parameters, &body, is_template)?;
    is_worth_keeping(&template, context).then_some(template)
}
