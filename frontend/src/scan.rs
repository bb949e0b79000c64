//! Scans one file: text in, sites and notes out, no input or output on the way.

use std::path::Path;

use tree_sitter::Node;

use crate::calls::{self, Recognised};
use crate::declared::{Declared, Type};
use crate::note::{Note, NoteKind};
use crate::orders::OrderNames;
use crate::site::{LoopRole, OrderPlace, OrderSpelling, Site};
use crate::source::{Language, ParsedFile};
use crate::syntax;
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::Rule;

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
    let declared = Declared::of(file, vocabularies);
    scan_declared(file, &declared, vocabularies)
}

pub(crate) fn scan_declared(
    file: &ParsedFile,
    declared: &Declared,
    vocabularies: &Vocabularies,
) -> FileScan {
    let context = Context {
        file,
        declared,
        vocabularies,
        active: vocabularies.active_in(file.text()),
    };
    let mut sites = context.sites_under(file.tree().root_node());
    sites.sort_by_key(|site| (site.span.start, site.span.end));
    FileScan {
        sites,
        notes: context.notes(),
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

impl Context<'_> {
    pub fn is_active(&self, vocabulary: usize) -> bool {
        self.active[vocabulary]
    }

    pub fn type_of(&self, node: Node<'_>) -> Type {
        self.declared.type_of(node, self.file, self.vocabularies)
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

    /// The rule for uses of a macro that wraps an atomic operation.
    pub fn macro_rule(&self, name: &str) -> Option<&Rule> {
        let imported = self.declared.imports.iter();
        std::iter::once(self.declared)
            .chain(imported.map(AsRef::as_ref))
            .find_map(|declared| declared.macros.get(name))
    }

    /// The sites under one root: the file's, or that of a part parsed by itself.
    fn sites_under(&self, root: Node<'_>) -> Vec<Site> {
        let mut sites = Vec::new();
        syntax::visit(root, |node, ancestors| {
            if node.kind() == "call_expression"
                && let Some(recognised) = calls::recognise(node, self)
            {
                sites.push(self.site(node, ancestors, recognised));
            }
        });
        sites
    }

    fn site(&self, node: Node<'_>, ancestors: &[Node<'_>], found: Recognised<'_>) -> Site {
        let lines = self.file.lines();
        let around = Surroundings::of(node, ancestors, self.file);
        Site {
            file: self.file.path().clone(),
            span: node.byte_range(),
            start: lines.position(node.start_byte()),
            end: lines.position(node.end_byte()),
            callee: self.file.node_text(found.name).into_owned(),
            callee_span: found.name.byte_range(),
            callee_start: lines.position(found.name.start_byte()),
            object: found.object.map(|object| object.byte_range()),
            operation: found.operation,
            order: found.order,
            failure_order: found.failure_order,
            vocabulary: self.vocabularies.by_index(found.vocabulary).name.clone(),
            function: around.function,
            function_span: around.function_span,
            statement: around.statement,
            loop_span: around.loop_span,
            macro_name: None,
            role: LoopRole::None,
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut note = |node: Node<'_>, kind, detail: String| {
            notes.push(Note {
                file: self.file.path().clone(),
                place: Some(self.file.lines().position(node.start_byte())),
                kind,
                detail,
            });
        };
        syntax::visit(self.file.tree().root_node(), |node, ancestors| {
            let inside_error = ancestors.iter().any(|ancestor| ancestor.is_error());
            if node.is_error() && !inside_error {
                note(node, NoteKind::NotParsed, String::new());
            }
        });
        notes
    }
}

/// What stands around a node.
struct Surroundings {
    function: Option<String>,
    function_span: Option<std::ops::Range<usize>>,
    statement: std::ops::Range<usize>,
    loop_span: Option<std::ops::Range<usize>>,
}

impl Surroundings {
    fn of(node: Node<'_>, ancestors: &[Node<'_>], file: &ParsedFile) -> Self {
        let definition = ancestors
            .iter()
            .rev()
            .find(|ancestor| ancestor.kind() == "function_definition");
        let statement = ancestors
            .iter()
            .rev()
            .find(|ancestor| syntax::is_statement(**ancestor));
        let loop_span = ancestors
            .iter()
            .rev()
            .take_while(|ancestor| !syntax::is_function(**ancestor))
            .find(|ancestor| syntax::is_loop(**ancestor));
        Self {
            function: definition.and_then(|d| syntax::function_name(*d, file)),
            function_span: definition.map(Node::byte_range),
            statement: statement.map_or_else(|| node.byte_range(), Node::byte_range),
            loop_span: loop_span.map(Node::byte_range),
        }
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
