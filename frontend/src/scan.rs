//! Scans one file: text in, sites and notes out, no input or output on the way.

use std::path::Path;

use tree_sitter::Node;

use crate::declared::{Declared, Type};
use crate::found::{Found, Surroundings};
use crate::note::Note;
use crate::orders::OrderNames;
use crate::site::{OrderPlace, OrderSpelling, Site};
use crate::source::{Language, ParsedFile};
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::Rule;
use crate::{calls, implicit, loops, macros, notes, recover, syntax};

/// What a scan found in one file.
#[derive(Clone, Debug)]
pub struct FileScan {
    /// The sites, in the order of the text.
    pub sites: Vec<Site>,
    /// What else there is to say.
    pub notes: Vec<Note>,
    /// The language the file was read as.
    pub language: Language,
}

/// Scans one text. The path decides the language and is named in the results;
/// nothing is read from it. A text that is neither C nor C++ by its path is read
/// as C++.
pub fn scan_source(path: &Path, text: &[u8], vocabularies: &Vocabularies) -> FileScan {
    let language = Language::of(path, text).unwrap_or(Language::Cpp);
    if !vocabularies.worth_parsing(text) {
        return FileScan {
            sites: Vec::new(),
            notes: Vec::new(),
            language,
        };
    }
    scan_parsed(&ParsedFile::parse(path, text, language), vocabularies)
}

/// Scans a file that is already parsed.
pub fn scan_parsed(file: &ParsedFile, vocabularies: &Vocabularies) -> FileScan {
    let mut declared = Declared::of(file, vocabularies);
    declared.learn_macros(file, vocabularies);
    scan_declared(file, &declared, vocabularies)
}

pub(crate) fn scan_declared(
    file: &ParsedFile,
    declared: &Declared,
    vocabularies: &Vocabularies,
) -> FileScan {
    let context = Context::new(file, declared, vocabularies);
    let root = file.tree().root_node();
    let mut sites: Vec<Site> = context
        .found_under(root)
        .into_iter()
        .map(|(found, around)| found.into_site(around, &context))
        .collect();
    for definition in macros::definitions(root, &context) {
        sites.extend(macros::sites(&definition, &context));
    }
    if root.has_error() {
        sites.extend(recover::sites(&sites, &context));
    }
    sites.sort_by_key(|site| (site.span.start, site.span.end));
    FileScan {
        sites,
        notes: notes::notes(file),
        language: file.language(),
    }
}

/// What recognising a site needs to know about its file.
pub(crate) struct Context<'f> {
    pub file: &'f ParsedFile,
    pub declared: &'f Declared,
    pub vocabularies: &'f Vocabularies,
    active: Vec<bool>,
}

impl<'f> Context<'f> {
    pub fn new(
        file: &'f ParsedFile,
        declared: &'f Declared,
        vocabularies: &'f Vocabularies,
    ) -> Self {
        Self {
            file,
            declared,
            vocabularies,
            active: vocabularies.active_in(file.text()),
        }
    }

    pub fn type_of(&self, node: Node<'_>) -> Type {
        self.declared.type_of(node, self.file, self.vocabularies)
    }

    /// The rules for calls of `name`: the project's vocabularies, then the macros
    /// of this file and its headers, then ours.
    pub fn rules<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Rule> {
        let spoken = || {
            self.vocabularies
                .rules(name)
                .filter(|rule| self.active[rule.vocabulary])
        };
        let own = spoken().filter(|rule| self.vocabularies.is_project(rule.vocabulary));
        let ours = spoken().filter(|rule| !self.vocabularies.is_project(rule.vocabulary));
        own.chain(self.declared.macro_rule(name)).chain(ours)
    }

    /// What this file, then each header it includes, says about orders.
    pub fn orders(&self) -> impl Iterator<Item = &OrderNames> {
        let imported = self.declared.imports.iter().map(|import| &import.orders);
        std::iter::once(&self.declared.orders).chain(imported)
    }

    /// Reads an argument that stands where an order belongs.
    pub fn read_order(&self, argument: Node<'_>) -> OrderSpelling {
        let mut first = None;
        for names in self.orders() {
            let spelling = names.read(argument, self.file, self.vocabularies);
            if spelling.order.is_some() {
                return spelling;
            }
            first.get_or_insert(spelling);
        }
        first.unwrap_or(OrderSpelling {
            order: None,
            place: OrderPlace::NotLiteral(argument.byte_range()),
        })
    }

    /// The operations under one root: the file's, or that of a part parsed by itself.
    pub fn found_under<'t>(&self, root: Node<'t>) -> Vec<(Found<'t>, Surroundings)> {
        let mut found = Vec::new();
        let mut around = Vec::new();
        syntax::visit(root, |node, ancestors| {
            let item = if node.kind() == "call_expression" {
                calls::recognise(node, self)
            } else {
                implicit::recognise(node, ancestors, self)
            };
            if let Some(item) = item {
                around.push(Surroundings::of(item.node, ancestors, self.file));
                found.push(item);
            }
        });
        loops::assign(root, &mut found, self);
        found.into_iter().zip(around).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::scan_source;
    use crate::site::OrderPlace;
    use crate::{Match, MemoryOrder, Operation, OperationKind, Vocabularies, match_site};

    #[test]
    fn calls_of_several_families_are_found_with_their_orders() {
        let text = "#include <atomic>\n\
            std::atomic<int> x; int y;\n\
            int f() { x.store(1, std::memory_order_release); return x.load() + __atomic_load_n(&y, __ATOMIC_ACQUIRE); }\n";
        let scan = scan_source(Path::new("a.cc"), text.as_bytes(), &Vocabularies::builtin());
        let seen: Vec<_> = scan
            .sites
            .iter()
            .map(|site| (site.callee.as_str(), site.operation, site.order.order))
            .collect();
        assert_eq!(
            seen,
            [
                ("store", Operation::Store, Some(MemoryOrder::Release)),
                ("load", Operation::Load, Some(MemoryOrder::SeqCst)),
                (
                    "__atomic_load_n",
                    Operation::Load,
                    Some(MemoryOrder::Acquire)
                ),
            ]
        );
        let OrderPlace::Literal(order) = &scan.sites[0].order.place else {
            panic!("{:?}", scan.sites[0].order);
        };
        assert_eq!(&text[order.clone()], "std::memory_order_release");
        assert_eq!(scan.sites[0].function.as_deref(), Some("f"));
        let first_load = match_site(&scan, 3, 57, OperationKind::Load);
        assert_eq!(first_load, Match::Site(&scan.sites[1]));
    }
}
