//! Scans one file: text in, sites and notes out, no input or output on the way.

use std::path::Path;

use tree_sitter::{Node, Tree};

use crate::declarations::{Declarations, Type};
use crate::found_site::{FoundSite, Surroundings};
use crate::note::Note;
use crate::orders::OrderNames;
use crate::outline::{Marks, Outline};
use crate::site::{OrderForm, OrderSpelling, Site};
use crate::source::{Language, ParsedFile};
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::Rule;
use crate::{calls, implicit, loops, macros, notes, recover};

/// What a scan found in one file.
#[derive(Clone, Debug)]
pub struct FileScan {
    /// The sites, in the order of the text.
    pub sites: Vec<Site>,
    /// What reads like the use of an atomic object by itself (`p->ready = 1`) if
    /// the object is the atomic one that has its name somewhere else; the text
    /// does not tell. That an atomic access was seen there makes it a site.
    pub possible: Vec<Site>,
    /// What else there is to say.
    pub notes: Vec<Note>,
    /// The language the file was read as.
    pub language: Language,
}

impl FileScan {
    /// The scan of a file in which there is nothing.
    pub(crate) fn empty(path: &Path, text: &[u8]) -> Self {
        Self {
            sites: Vec::new(),
            possible: Vec::new(),
            notes: Vec::new(),
            language: Language::of(path, text).unwrap_or(Language::Cpp),
        }
    }
}

/// Scans one text. The path decides the language and is named in the results;
/// nothing is read from it. A text that is neither C nor C++ by its path is read
/// as C++.
pub fn scan_source(path: &Path, text: &[u8], vocabularies: &Vocabularies) -> FileScan {
    let empty = FileScan::empty(path, text);
    if !vocabularies.worth_parsing(text) {
        return empty;
    }
    scan_parsed(&ParsedFile::parse(path, text, empty.language), vocabularies)
}

/// Scans a file that is already parsed.
pub fn scan_parsed(file: &ParsedFile, vocabularies: &Vocabularies) -> FileScan {
    let outline = Outline::of(file);
    let declared = Declarations::of(file, &outline, Vec::new(), vocabularies);
    scan_declared(file, &outline, &declared, vocabularies)
}

pub(crate) fn scan_declared(
    file: &ParsedFile,
    outline: &Outline<'_>,
    declared: &Declarations,
    vocabularies: &Vocabularies,
) -> FileScan {
    let context = ScanContext::new(file, declared, vocabularies);
    let found = context.found_in(outline);
    let into_sites = |found: Vec<(FoundSite<'_>, Surroundings)>| -> Vec<Site> {
        let sites = found.into_iter();
        sites
            .map(|(found, around)| found.into_site(around, &context))
            .collect()
    };
    let possible = into_sites(found.possible);
    let mut sites = into_sites(found.certain);
    for definition in macros::definitions(outline, file) {
        sites.extend(macros::sites(&definition, &context));
    }
    if outline.root().has_error() {
        sites.extend(recover::sites(&sites, &context));
    }
    sites.sort_by_key(|site| (site.span.start, site.span.end));
    FileScan {
        sites,
        possible,
        notes: notes::notes(file, outline),
        language: file.language(),
    }
}

/// The operations in a tree, each with its surroundings.
pub(crate) struct FoundSites<'t> {
    /// Those of which the text tells that they are atomic.
    pub certain: Vec<(FoundSite<'t>, Surroundings)>,
    /// The others.
    pub possible: Vec<(FoundSite<'t>, Surroundings)>,
}

/// What recognising a site needs to know about its file.
pub(crate) struct ScanContext<'f> {
    pub file: &'f ParsedFile,
    pub declared: &'f Declarations,
    pub vocabularies: &'f Vocabularies,
    active: Vec<bool>,
}

impl<'f> ScanContext<'f> {
    pub(crate) fn new(
        file: &'f ParsedFile,
        declared: &'f Declarations,
        vocabularies: &'f Vocabularies,
    ) -> Self {
        Self {
            file,
            declared,
            vocabularies,
            active: vocabularies.active_in(file.text()),
        }
    }

    pub(crate) fn type_of(&self, node: Node<'_>) -> Type {
        self.declared.type_of(node, self.file, self.vocabularies)
    }

    /// The rules for calls of `name`: the project's vocabularies, then the macros
    /// of this file and its headers, then ours.
    pub(crate) fn rules<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Rule> {
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
    pub(crate) fn orders(&self) -> impl Iterator<Item = &OrderNames> {
        let imported = self.declared.imports.iter().map(|import| &import.orders);
        std::iter::once(&self.declared.orders).chain(imported)
    }

    /// Reads an argument in the position of an order.
    pub(crate) fn read_order(&self, argument: Node<'_>) -> OrderSpelling {
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
            form: OrderForm::NotLiteral(argument.byte_range()),
        })
    }

    /// The operations in a part of the file that was parsed by itself.
    pub(crate) fn found_in_part<'t>(&self, part: &'t Tree) -> Vec<(FoundSite<'t>, Surroundings)> {
        self.found_in(&Outline::of_part(part.root_node(), self.file.language()))
            .certain
    }

    /// The operations in a tree: the file's, or that of a part.
    pub(crate) fn found_in<'t>(&self, outline: &Outline<'t>) -> FoundSites<'t> {
        let mut found: Vec<FoundSite<'t>> = Vec::new();
        let mut possible: Vec<FoundSite<'t>> = Vec::new();
        let mut around = Vec::new();
        let mut around_possible = Vec::new();
        outline.visit(Marks::CALL | Marks::OBJECT, |node, marks, ancestors| {
            let item = if marks.meet(Marks::CALL) {
                calls::recognise(node, self)
            } else {
                implicit::recognise(node, ancestors, self)
            };
            if let Some(item) = item {
                let surroundings = Surroundings::of(item.node, ancestors, self.file);
                if item.certain {
                    around.push(surroundings);
                    found.push(item);
                } else {
                    around_possible.push(surroundings);
                    possible.push(item);
                }
            }
        });
        if !possible.is_empty() {
            // If they are sites, they see the others; the others are what they are
            // without them.
            let mut all = found.clone();
            all.append(&mut possible);
            loops::assign(outline, &mut all, self);
            possible = all.split_off(found.len());
        }
        loops::assign(outline, &mut found, self);
        FoundSites {
            certain: found.into_iter().zip(around).collect(),
            possible: possible.into_iter().zip(around_possible).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::scan_source;
    use crate::site::OrderForm;
    use crate::{MemoryOrder, OperationKind, SiteMatch, SiteOperation, Vocabularies, match_site};

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
                ("store", SiteOperation::Store, Some(MemoryOrder::Release)),
                ("load", SiteOperation::Load, Some(MemoryOrder::SeqCst)),
                (
                    "__atomic_load_n",
                    SiteOperation::Load,
                    Some(MemoryOrder::Acquire)
                ),
            ]
        );
        let OrderForm::Literal(order) = &scan.sites[0].order.form else {
            panic!("{:?}", scan.sites[0].order);
        };
        assert_eq!(&text[order.clone()], "std::memory_order_release");
        assert_eq!(scan.sites[0].function.as_deref(), Some("f"));
        let first_load = match_site(&scan, 3, 57, OperationKind::Load);
        assert_eq!(first_load, SiteMatch::Site(&scan.sites[1]));
    }
}
