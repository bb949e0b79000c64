//! How this file writes orders. The project's own way comes first, only then the
//! vocabulary of the site decides.

use std::collections::HashMap;

use tree_sitter::Node;
use wmfix_frontend::{
    Language, MemoryOrder, OrderForm, ParsedFile, Site, Vocabulary, Wrapper, order_families,
    wrappers,
};

use crate::fence_definition::Definition;
use crate::fence_wrapper::{FenceWrapper, Layers};
use crate::include::include_targets;
use crate::order_words::{in_case_of, split_order};
use crate::project::{Project, words};
use crate::view::children;
use crate::visible_orders::VisibleOrders;

/// What the spellings of one file are decided by.
pub(crate) struct Spelling<'a> {
    pub(crate) file: &'a ParsedFile,
    pub(crate) sites: &'a [Site],
    pub(crate) project: &'a Project,
    /// The file is a header for C and for C++.
    pub(crate) is_shared_header: bool,
    /// `using namespace std` is in force.
    pub(crate) uses_std: bool,
    /// Fence wrappers that this file defines: where, and how they are called.
    pub(crate) wrappers: Vec<FenceWrapper>,
    /// Those that its headers define.
    pub(crate) header_wrappers: Vec<FenceWrapper>,
    /// What this file defines.
    definitions: Vec<Definition>,
    /// Macros that this file defines.
    macros: Vec<String>,
    /// Wrappers of atomic operations that this file defines.
    families: Vec<Wrapper>,
    /// Names of orders that this file makes visible.
    orders: VisibleOrders,
}

impl<'a> Spelling<'a> {
    pub(crate) fn of(file: &'a ParsedFile, sites: &'a [Site], project: &'a Project) -> Self {
        let mut spelling = Self {
            file,
            sites,
            project,
            is_shared_header: is_shared_header(file),
            uses_std: find(file.text(), b"using namespace std;"),
            wrappers: Vec::new(),
            header_wrappers: Vec::new(),
            definitions: Definition::all(file, file.path()),
            macros: Vec::new(),
            families: wrappers(file, &project.vocabularies),
            orders: VisibleOrders::of(file),
        };
        macro_names(file, file.tree().root_node(), &mut spelling.macros);
        let layers = spelling.layers();
        let own = spelling.definitions.iter();
        let mut wrappers: Vec<_> = own.filter_map(|one| layers.wrapper(one)).collect();
        let of_headers = spelling.header_definitions();
        let mut header_wrappers: Vec<_> =
            of_headers.filter_map(|one| layers.wrapper(one)).collect();
        drop(layers);
        spelling.by_preference(&mut wrappers);
        spelling.by_preference(&mut header_wrappers);
        spelling.wrappers = wrappers;
        spelling.header_wrappers = header_wrappers;
        spelling
    }

    /// Whether a name is that of a macro, as far as can be told.
    pub(crate) fn is_macro(&self, name: &str) -> bool {
        let capitals = name.len() > 1
            && !name.chars().any(|letter| letter.is_ascii_lowercase())
            && name.chars().any(|letter| letter.is_ascii_uppercase());
        name == "assert" || capitals || self.macros.iter().any(|known| known == name)
    }

    /// Whether this file or the tree defines a macro of this name.
    pub(crate) fn defines_macro(&self, name: &str) -> bool {
        self.macros.iter().any(|known| known == name) || self.project.names.defines_macro(name)
    }

    /// The header that a standard fence needs and that the file does not have.
    pub(crate) fn missing_header(&self, vocabulary: &str, cpp: bool) -> Option<&'static str> {
        let header = if cpp { "atomic" } else { "stdatomic.h" };
        let includes = include_targets(self.file);
        let direct = includes
            .iter()
            .any(|include| include == &format!("<{header}>"));
        // An atomic that comes through a header of the project's brings the fence along.
        let indirect = matches!(vocabulary, "std" | "c11")
            && !self.uses_only_operators(vocabulary)
            && (includes.is_empty() || includes.iter().any(|include| include.starts_with('"')));
        let headers = self.project.headers.of(self.file.path());
        let brought = headers.flat_map(|header| &header.includes);
        let brought = brought
            .into_iter()
            .any(|include| *include == format!("<{header}>"));
        (!direct && !indirect && !brought).then_some(header)
    }

    /// C has `_Atomic` objects without any header, as long as only operators use them.
    fn uses_only_operators(&self, vocabulary: &str) -> bool {
        vocabulary == "c11" && !self.sites.iter().any(|site| site.callee.contains("atomic"))
    }

    /// An order as an argument, in the way of this file.
    pub(crate) fn order(&self, order: MemoryOrder, family: &str) -> String {
        let name = order.name();
        match family {
            "gnu" | "volatile" | "plain" => format!("__ATOMIC_{}", name.to_uppercase()),
            "boost" => format!("boost::memory_order_{name}"),
            "c11" if self.file.language() == Language::C => format!("memory_order_{name}"),
            _ => self.standard_order(name),
        }
    }

    /// `std::memory_order_x`, or what this C++ file says instead.
    fn standard_order(&self, name: &str) -> String {
        let mut scoped = 0;
        let mut unqualified = 0;
        let mut qualified = 0;
        for literal in self.sites.iter().filter_map(literal_of) {
            let text = self.file.slice(&literal);
            match text.as_ref() {
                text if text.contains("memory_order::") => scoped += 1,
                text if text.starts_with("std::") => qualified += 1,
                _ => unqualified += 1,
            }
        }
        let unqualified_name = format!("memory_order_{name}");
        if scoped > qualified.max(unqualified) {
            format!("std::memory_order::{name}")
        } else if unqualified > qualified && self.is_visible(&unqualified_name) {
            unqualified_name
        } else {
            format!("std::{unqualified_name}")
        }
    }

    /// Whether a C++ file can say a name of `std` without saying `std`, or with the scope
    /// of a namespace that takes some of `std`'s names: it does, or `using` says so.
    fn is_visible(&self, name: &str) -> bool {
        let (scope, word) = name.rsplit_once("::").unwrap_or(("", name));
        let said = self.sites.iter().filter_map(literal_of);
        self.uses_std && scope.is_empty()
            || self.visible_orders().any(|visible| visible.imports(word))
            || said.into_iter().any(|span| self.file.slice(&span) == name)
    }

    /// Names of orders that this file and its headers make visible.
    fn visible_orders(&self) -> impl Iterator<Item = &VisibleOrders> {
        let headers = self.project.headers.of(self.file.path());
        std::iter::once(&self.orders).chain(headers.map(|header| &header.visible_orders))
    }

    /// The spelling of `order` in place of the literal `old`.
    pub(crate) fn respell(
        &self,
        old: &str,
        order: MemoryOrder,
        vocabulary: &str,
    ) -> Option<String> {
        let cpp = self.file.language() == Language::Cpp && !self.is_shared_header;
        let family = match vocabulary {
            "std" | "c11" if cpp => Some("std"),
            "c11" | "boost" | "gnu" => Some(vocabulary),
            _ => None,
        };
        let Some((prefix, word)) = split_order(old) else {
            let shorthand = self.shorthand(order);
            let shorthand = shorthand.or_else(|| self.defined_beside(old, order));
            return shorthand.or_else(|| Some(self.order(order, family?)));
        };
        let candidate = format!("{prefix}{}", in_case_of(word, order)?);
        // What takes an enumeration of the project's own takes nothing else.
        let mut enumerations = self.visible_orders();
        let enumerated = enumerations.find_map(|all| all.enumerates(old, &candidate));
        if let Some(has_it) = enumerated {
            return has_it.then_some(candidate);
        }
        let visible = match prefix.trim_start_matches("::") {
            "std::memory_order_" | "boost::memory_order_" | "__ATOMIC_" => true,
            // Of `std` without its name, or of a namespace that takes some names of `std`.
            "memory_order_" => !cpp || self.is_visible(&candidate),
            scoped if scoped.ends_with("::memory_order_") => self.is_visible(&candidate),
            scoped if scoped.ends_with("memory_order::") => true,
            // A project's own names end like the standard's, but it need not have them all.
            _ => self.knows(&candidate),
        };
        if visible {
            return Some(candidate);
        }
        Some(self.order(order, family?))
    }

    /// A name of the file's own for an order, which does not have the order's in it: `A`
    /// where another site says it.
    fn shorthand(&self, order: MemoryOrder) -> Option<String> {
        let orders = self.sites.iter().flat_map(|site| {
            let failure = site.failure_order.iter();
            failure.chain([&site.order])
        });
        let texts = orders.filter_map(|spelling| match &spelling.form {
            OrderForm::Literal(span) if spelling.order == Some(order) => Some(span),
            _ => None,
        });
        let mut texts = texts.map(|span| self.file.slice(span));
        let found = texts.find(|text| split_order(text).is_none());
        found.map(|text| text.into_owned())
    }

    /// The name for an order that is defined beside that of another one: whoever can say
    /// one can say both.
    fn defined_beside(&self, old: &str, order: MemoryOrder) -> Option<String> {
        let (scope, name) = match old.rsplit_once("::") {
            Some((scope, name)) => (format!("{scope}::"), name),
            None => (String::new(), old),
        };
        let own = order_families(self.file);
        let headers = self.project.headers.of(self.file.path());
        let mut all = own.iter().chain(headers.flat_map(|header| &header.orders));
        let family = all.find(|family| family.iter().any(|(known, _)| known == name))?;
        let mut meaning = family.iter().filter(|(_, known)| *known == order);
        meaning.next().map(|(name, _)| format!("{scope}{name}"))
    }

    /// The spelling of `order` in place of `old`, which a macro makes part of a name.
    pub(crate) fn respell_pasted(
        &self,
        old: &str,
        order: MemoryOrder,
        (prefix, suffix): (&str, &str),
    ) -> Option<String> {
        let (head, word) = split_order(old)?;
        let new = format!("{head}{}", in_case_of(word, order)?);
        let name = format!("{prefix}{new}{suffix}");
        let before = format!("{prefix}{head}");
        let is_standard = before.rsplit("::").next() == Some("memory_order_")
            || before.ends_with("memory_order::")
            || before.ends_with("memory_order(")
            || before == "__ATOMIC_";
        (is_standard || self.knows(&name)).then_some(new)
    }

    /// Whether the tree has this name, or this file has.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let name = name.rsplit("::").next().unwrap_or(name);
        self.project.names.contains(name) || self.knows_here(name)
    }

    fn knows_here(&self, name: &str) -> bool {
        words(self.file.text()).any(|word| word == name)
    }

    /// The wrappers that are defined in the same file as this one.
    pub(crate) fn wrappers_beside(&self, name: &str) -> Option<&[Wrapper]> {
        let defines = |wrappers: &&Vec<Wrapper>| wrappers.iter().any(|w| w.name == name);
        let own = Some(&self.families).into_iter();
        let all = own.chain(&self.project.wrappers);
        all.into_iter().find(defines).map(Vec::as_slice)
    }

    /// The vocabulary of a site.
    pub(crate) fn vocabulary(&self, site: &Site) -> Option<&'a Vocabulary> {
        self.project.vocabularies.get(&site.vocabulary)
    }

    /// What is defined for this file, by itself and by its headers.
    pub(crate) fn layers(&self) -> Layers<'_> {
        Layers::of(self.definitions.iter().chain(self.header_definitions()))
    }

    fn header_definitions(&self) -> impl Iterator<Item = &Definition> {
        let headers = self.project.headers.of(self.file.path());
        headers.flat_map(|header| &header.definitions)
    }

    /// Sorts wrappers: those that this file calls first, those whose names say that they
    /// are not for others last.
    fn by_preference(&self, wrappers: &mut [FenceWrapper]) {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for word in words(self.file.text()) {
            *uses.entry(word).or_default() += 1;
        }
        wrappers.sort_by_cached_key(|wrapper| {
            let own = self.definitions.iter();
            let defined = own.filter(|one| one.name == wrapper.name).count();
            let used = uses.get(wrapper.name.as_str()).copied().unwrap_or(0);
            (used <= defined, wrapper.name.starts_with('_'))
        });
    }
}

/// The names of the macros with parameters that a file defines, in conditional
/// parts, too.
fn macro_names(file: &ParsedFile, node: Node<'_>, names: &mut Vec<String>) {
    for child in children(node) {
        match child.kind() {
            "preproc_function_def" => {
                let name = child.child_by_field_name("name");
                names.extend(name.map(|name| file.node_text(name).into_owned()));
            }
            "namespace_definition" | "declaration_list" | "linkage_specification" => {
                macro_names(file, child, names);
            }
            kind if kind.starts_with("preproc_if") || kind.starts_with("preproc_el") => {
                macro_names(file, child, names);
            }
            _ => {}
        }
    }
}

fn literal_of(site: &Site) -> Option<wmfix_frontend::Span> {
    match &site.order.form {
        OrderForm::Literal(span) => Some(span.clone()),
        _ => None,
    }
}

fn is_shared_header(file: &ParsedFile) -> bool {
    file.path()
        .extension()
        .is_some_and(|extension| extension == "h")
        && find(file.text(), b"__cplusplus")
}

fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
