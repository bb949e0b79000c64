//! What a file declares that a scan must know: which names are atomic objects and
//! how many dereferences away, which types are atomic, which names are orders.
//! A declaration is judged by its text; templates are not instantiated.

mod collect;
mod lookup;
mod meanings;
mod owner;
mod types;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::orders::OrderNames;
use crate::pasting::MacroTemplate;
use crate::site::Span;
use crate::vocabulary::rule::Rule;

pub(crate) use lookup::Type;
pub(crate) use meanings::Meanings;

/// The declarations of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    /// Variables and parameters by name.
    variables: FxHashMap<String, Vec<Declaration>>,
    /// Fields by name.
    fields: FxHashMap<String, Vec<Declaration>>,
    /// Type names: aliases, and classes derived from atomic ones.
    types: FxHashMap<String, WrittenType>,
    /// Names of orders.
    pub orders: OrderNames,
    /// Macros that wrap one atomic operation: their uses are sites.
    pub macros: FxHashMap<String, Rule>,
    /// Macros whose uses depend on their arguments.
    templates: FxHashMap<String, MacroTemplate>,
    /// By a template and what its body is for some arguments: the rule for uses
    /// with these, which are sites.
    instances: FxHashMap<(String, String), Rule>,
    /// Uses of macros outside of functions that this file alone does not tell the
    /// meaning of.
    pub open_uses: String,
    /// Every function-like macro.
    macro_names: FxHashSet<String>,
    /// Functions: which of their parameters are atomic objects or lead to one.
    functions: FxHashMap<String, Vec<bool>>,
    /// What names mean in comparisons and calls.
    pub meanings: Meanings,
    /// The bodies of classes, with their names.
    classes: Vec<(Span, String)>,
    /// The classes that a class is derived from.
    bases: FxHashMap<String, Vec<String>>,
    /// Names that may mean an atomic object: the others need no look.
    candidates: FxHashSet<String>,
    /// Spans of out-of-line methods with their class.
    methods: Vec<(Span, String)>,
    /// What the included headers of the same tree declare.
    pub imports: Vec<Arc<Declarations>>,
}

/// One declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declaration {
    /// Where the name means this: a block, a class, the file.
    scope: Span,
    /// The class of a field.
    owner: Option<String>,
    /// Its type.
    written: WrittenType,
}

/// A type as it is written: a base, and the number of dereferences to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WrittenType {
    base: Base,
    depth: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    Atomic(AtomicKind),
    /// A type of this name, to be looked up.
    Named(String),
    /// A type that is certainly not atomic.
    Plain,
    /// `auto`, a template parameter, `decltype(…)`.
    Opaque,
}

/// The ways in which an object can be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    /// By a class like `std::atomic`, of this vocabulary.
    Class(usize),
    /// By the qualifier `_Atomic`.
    Qualifier,
    /// By the qualifier `volatile`, taken for atomic on request.
    Volatile,
}

impl Declarations {
    /// Adds macros that wrap one atomic operation, by name.
    pub(crate) fn add_macros(&mut self, rules: impl IntoIterator<Item = (String, Rule)>) {
        self.macros.extend(rules);
    }

    /// Adds macros whose uses depend on their arguments.
    pub(crate) fn add_templates(
        &mut self,
        templates: impl IntoIterator<Item = (String, MacroTemplate)>,
    ) {
        self.templates.extend(templates);
    }

    /// Adds the rules for uses of templates.
    pub(crate) fn add_instances(
        &mut self,
        rules: impl IntoIterator<Item = ((String, String), Rule)>,
    ) {
        self.instances.extend(rules);
    }

    /// The macros whose uses depend on their arguments, those of headers included.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (&String, &MacroTemplate)> {
        self.everywhere().flat_map(|all| &all.templates)
    }

    /// The macro of this name, if its uses depend on their arguments.
    pub(crate) fn template(&self, name: &str) -> Option<&MacroTemplate> {
        self.everywhere().find_map(|all| all.templates.get(name))
    }

    /// The rule for a use of a template with these arguments.
    pub(crate) fn instance_rule(
        &self,
        name: &str,
        arguments: impl FnOnce() -> Vec<String>,
    ) -> Option<&Rule> {
        let instance = self.template(name)?.call_instance(&arguments())?;
        self.instances.get(&(name.to_owned(), instance.body))
    }

    /// Adds the names of function-like macros.
    pub(crate) fn add_macro_names(&mut self, names: impl IntoIterator<Item = String>) {
        self.macro_names.extend(names);
    }

    /// Whether a variable or field of this name may be an atomic object.
    pub(crate) fn may_be_atomic(&self, name: &str) -> bool {
        self.candidates.contains(name)
    }

    /// Collects the names that may mean an atomic object.
    fn find_candidates(&mut self) {
        let own = self
            .variables
            .iter()
            .chain(&self.fields)
            .filter(|(_, all)| all.iter().any(|d| self.leads_to_atomic(&d.written)))
            .map(|(name, _)| name.clone());
        let imported = self
            .imports
            .iter()
            .flat_map(|import| import.exported_names())
            .map(str::to_owned);
        self.candidates = own.chain(imported).collect();
    }

    /// The rule for uses of a macro that wraps an atomic operation.
    pub(crate) fn macro_rule(&self, name: &str) -> Option<&Rule> {
        self.everywhere().find_map(|all| all.macros.get(name))
    }

    /// Whether the name is a function-like macro.
    pub(crate) fn knows_macro(&self, name: &str) -> bool {
        self.everywhere().any(|all| all.macro_names.contains(name))
    }

    /// Whether a function of this name takes an atomic object as that parameter.
    pub(crate) fn takes_atomic(&self, name: &str, parameter: usize) -> bool {
        self.everywhere()
            .filter_map(|all| all.functions.get(name))
            .any(|parameters| parameters.get(parameter) == Some(&true))
    }

    /// The names by which a file that includes this one could mean something
    /// atomic, an order, or a macro that wraps an operation.
    pub(crate) fn exported_names(&self) -> impl Iterator<Item = &str> {
        let may_be_atomic = |declarations: &&Vec<Declaration>| {
            declarations.iter().any(|declaration| {
                let outside = declaration.owner.is_some() || declaration.scope.end == usize::MAX;
                outside && matches!(declaration.written.base, Base::Atomic(_) | Base::Named(_))
            })
        };
        let objects = self
            .variables
            .iter()
            .chain(&self.fields)
            .filter(move |(_, declarations)| {
                may_be_atomic(declarations)
                    && declarations
                        .iter()
                        .any(|d| self.leads_to_atomic(&d.written))
            })
            .map(|(name, _)| name);
        let types = self
            .types
            .iter()
            .filter(|(_, written)| self.leads_to_atomic(written))
            .map(|(name, _)| name);
        objects
            .chain(types)
            .chain(self.orders.aliases.keys())
            .chain(self.macros.keys())
            .chain(self.templates.keys())
            .map(String::as_str)
    }

    /// This file's declarations, then those of the headers it includes.
    fn everywhere(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.imports.iter().map(AsRef::as_ref))
    }
}
