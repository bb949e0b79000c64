//! The project's own way to access plain objects atomically: macros and functions that a
//! file and the headers that it includes define, `READ_ONCE(x)`. They are told by what
//! they do, whatever their names. Knows nothing of who wants to call one.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use tree_sitter::Node;

use crate::conditional::{Presence, presence};
use crate::context::ScanContext;
use crate::declarations::Declarations;
use crate::declare::declarations;
use crate::found_site::FoundSite;
use crate::language::Language;
use crate::macro_definition::{Macro, macro_definitions};
use crate::macros;
use crate::order::MemoryOrder;
use crate::outline::{Marks, Outline};
use crate::plain::object_name;
use crate::plain_form::of_volatile_macro;
use crate::recognise::found_in;
use crate::site::{Site, SiteOperation};
use crate::source::ParsedFile;
use crate::syntax;
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::{OrderRule, PlainForm, Rule};
use crate::wrapper_function;
use crate::written_type::ObjectTypes;

/// What a file can call to access plain objects.
#[derive(Clone, Debug, Default)]
pub struct Accessors {
    /// Those that mean the same wherever they are defined.
    list: Vec<Accessor>,
    types: ObjectTypes,
}

/// The orders that volatile accesses count as having.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolatileOrders {
    /// Those that read.
    pub load: MemoryOrder,
    /// Those that write.
    pub store: MemoryOrder,
}

/// A macro or function that accesses plain objects atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessor {
    /// Its name.
    pub name: String,
    /// The namespaces around it.
    scope: Vec<String>,
    /// Behind this it can be called, if it is defined in the file that calls.
    behind: usize,
    is_macro: bool,
    /// It counts as atomic because volatile accesses do.
    is_volatile: bool,
    operation: SiteOperation,
    order: MemoryOrder,
    form: PlainForm,
}

impl Accessor {
    /// Whether it takes the object's address, not the object.
    pub fn takes_address(&self) -> bool {
        self.form.takes_address
    }

    /// Whether a store takes its value before the object.
    pub fn takes_value_first(&self) -> bool {
        self.form
            .value
            .is_some_and(|value| value < self.form.object)
    }

    /// What it is called at a site.
    pub fn name_at(&self, file: &ParsedFile, site: &Site) -> Cow<'_, str> {
        let inside = scope_at(file, site.span.start).starts_with(&self.scope);
        match inside {
            true => Cow::Borrowed(&self.name),
            false => Cow::Owned(format!("{}::{}", self.scope.join("::"), self.name)),
        }
    }

    /// Whether both are the same to a caller.
    fn is_same(&self, other: &Self) -> bool {
        let without_place = |accessor: &Self| Self {
            behind: 0,
            ..accessor.clone()
        };
        without_place(self) == without_place(other)
    }
}

/// A definition of something that may be an accessor.
struct Definition {
    name: String,
    is_macro: bool,
    presence: Presence,
    accessor: Option<Accessor>,
}

impl Accessors {
    /// Those of a file that includes these headers. Volatile accesses count only if orders
    /// are given for them.
    pub fn of(
        file: &ParsedFile,
        headers: &[&ParsedFile],
        vocabularies: &Vocabularies,
        volatile: Option<VolatileOrders>,
    ) -> Self {
        let imports: Vec<Arc<Declarations>> = headers
            .iter()
            .map(|header| {
                let outline = Outline::of(header);
                Arc::new(declarations(header, &outline, Vec::new(), vocabularies))
            })
            .collect();
        let mut types = ObjectTypes::default();
        let mut all = Vec::new();
        let parts: Vec<&ParsedFile> = std::iter::once(file)
            .chain(headers.iter().copied())
            .collect();
        let included = certainly_included(&parts);
        for (number, part) in parts.into_iter().enumerate() {
            types.add(part);
            let mut found = definitions(part, file.path(), &imports, vocabularies, volatile);
            for definition in found.iter_mut().filter(|_| !included[number]) {
                if definition.presence == Presence::Certain {
                    definition.presence = Presence::Possible;
                }
            }
            if number > 0 {
                let accessors = found.iter_mut().filter_map(|one| one.accessor.as_mut());
                accessors.for_each(|accessor| accessor.behind = 0);
            }
            all.append(&mut found);
        }
        let list = (all.iter())
            .filter(|definition| means_one_thing(definition, &all))
            .filter_map(|definition| definition.accessor.clone())
            .collect();
        Self { list, types }
    }

    /// The one to call for an access with this order, if one fits: those that the file
    /// calls already come first, those with a name for others to use and those that are
    /// only volatile last.
    pub fn fitting(
        &self,
        file: &ParsedFile,
        site: &Site,
        order: MemoryOrder,
        may_be_const: bool,
    ) -> Option<&Accessor> {
        let object = file.slice(site.object.as_ref()?);
        let value = file.slice(&(site.callee_span.end..site.span.end));
        let is_volatile = &*site.vocabulary == "volatile";
        let fits = |accessor: &&Accessor| {
            let form = &accessor.form;
            accessor.operation == site.operation
                && accessor.order == order
                && accessor.behind <= site.span.start
                && (form.takes_const || !may_be_const)
                && (form.takes_volatile || !is_volatile)
                && (!accessor.is_macro || is_one_argument(&object) && is_one_argument(&value))
                && self.types_fit(accessor, &object, &value)
        };
        let mut fitting: Vec<&Accessor> = self.list.iter().filter(fits).collect();
        fitting.sort_by_key(|accessor| {
            let is_used = is_called(file.text(), &accessor.name);
            let is_internal = accessor.name.starts_with('_');
            (accessor.is_volatile, !is_used, is_internal)
        });
        fitting.first().copied()
    }

    /// Whether the types of an object and a value are those that an accessor takes.
    fn types_fit(&self, accessor: &Accessor, object: &str, value: &str) -> bool {
        let form = &accessor.form;
        if form.only.is_none() && !form.same_type {
            return true;
        }
        let Some(object) = self.types.of(&object_name(object)) else {
            return false;
        };
        let fits = form.only.as_ref().is_none_or(|only| *only == object);
        fits && (!form.same_type || self.value_type(value) == Some(object))
    }

    /// The type of a value that is a literal or an object.
    fn value_type(&self, value: &str) -> Option<String> {
        let value = value.trim();
        match value {
            "true" | "false" => Some("bool".to_owned()),
            _ if value.bytes().all(|byte| byte.is_ascii_digit()) => Some("int".to_owned()),
            _ => self.types.of(&object_name(value)),
        }
    }
}

/// Which of these files the first one includes whatever is defined, directly or through
/// others.
fn certainly_included(files: &[&ParsedFile]) -> Vec<bool> {
    let mut included = vec![false; files.len()];
    let mut queue = vec![0];
    while let Some(number) = queue.pop() {
        if std::mem::replace(&mut included[number], true) {
            continue;
        }
        let file = files[number];
        syntax::visit(file.tree().root_node(), |node, _| {
            let path = node.child_by_field_name("path");
            let path = path.filter(|_| node.kind() == "preproc_include");
            let Some(path) =
                path.filter(|_| presence(node, "", file, files[0].path()) == Presence::Certain)
            else {
                return;
            };
            let written = file.node_text(path);
            let written = written.trim_matches(['"', '<', '>']);
            let end = written.rsplit("../").next().unwrap_or(written);
            let end = end.trim_start_matches("./");
            let meant = (files.iter().enumerate()).filter(|(_, file)| file.path().ends_with(end));
            queue.extend(meant.map(|(number, _)| number));
        });
    }
    included
}

/// The definitions of macros and functions in a file that `reader` includes or is.
fn definitions(
    file: &ParsedFile,
    reader: &Path,
    imports: &[Arc<Declarations>],
    vocabularies: &Vocabularies,
    volatile: Option<VolatileOrders>,
) -> Vec<Definition> {
    let outline = Outline::of(file);
    let declared = declarations(file, &outline, imports.to_vec(), vocabularies);
    let context = ScanContext::new(file, &declared, vocabularies);
    let root = file.tree().root_node();
    let mut found = Vec::new();
    for definition in macro_definitions(&outline, file) {
        let body = &definition.body;
        let node = root.descendant_for_byte_range(body.start, body.end);
        let rule = macros::wrapper(&definition, &context);
        let accessor = rule.and_then(|rule| accessor(&definition.name, rule, body.end, true));
        let accessor = accessor.or_else(|| volatile_accessor(&definition, file, volatile?));
        found.push(Definition {
            presence: node.map_or(Presence::Possible, |node| {
                presence(node, &definition.name, file, reader)
            }),
            accessor,
            name: definition.name,
            is_macro: true,
        });
    }
    let operations: Vec<FoundSite<'_>> = found_in(&outline, &context)
        .certain
        .into_iter()
        .map(|(operation, _)| operation)
        .collect();
    outline.visit(Marks::FUNCTION, |node, _, _| {
        let Some(name) = syntax::function_name(node, file) else {
            return;
        };
        let function = wrapper_function::read(node, &operations, &context);
        let accessor = function.and_then(|function| {
            let mut accessor = accessor(&function.name, function.rule, node.end_byte(), false)?;
            accessor.scope = scope_at(file, node.start_byte());
            Some(accessor)
        });
        found.push(Definition {
            presence: presence(node, &name, file, reader),
            accessor,
            name,
            is_macro: false,
        });
    });
    found.extend(undefined(file));
    found
}

fn accessor(name: &str, rule: Rule, behind: usize, is_macro: bool) -> Option<Accessor> {
    let OrderRule::Macro { order, .. } = rule.order else {
        return None;
    };
    Some(Accessor {
        name: name.to_owned(),
        scope: Vec::new(),
        behind,
        is_macro,
        is_volatile: false,
        operation: rule.operation,
        order: order?,
        form: rule.plain?,
    })
}

/// The accessor that a macro is whose access is volatile.
fn volatile_accessor(
    definition: &Macro,
    file: &ParsedFile,
    orders: VolatileOrders,
) -> Option<Accessor> {
    let parameters = definition.parameters.as_deref()?;
    let (operation, form) = of_volatile_macro(parameters, &definition.body, file)?;
    Some(Accessor {
        name: definition.name.clone(),
        scope: Vec::new(),
        behind: definition.body.end,
        is_macro: true,
        is_volatile: true,
        operation,
        order: match operation {
            SiteOperation::Store => orders.store,
            _ => orders.load,
        },
        form,
    })
}

/// Names that a file takes a meaning from: they are nobody's to call.
fn undefined(file: &ParsedFile) -> Vec<Definition> {
    let mut found = Vec::new();
    syntax::visit(file.tree().root_node(), |node, _| {
        let directive = node.child_by_field_name("directive");
        let is_undef = directive.is_some_and(|word| file.node_text(word).ends_with("undef"));
        let name = node.child_by_field_name("argument").filter(|_| is_undef);
        found.extend(name.map(|name| Definition {
            name: file.node_text(name).trim().to_owned(),
            is_macro: true,
            presence: Presence::Certain,
            accessor: None,
        }));
    });
    found
}

/// Whether a name means the same by all of its definitions, and is defined at all.
/// Functions of one name are told apart by the types that they take.
fn means_one_thing(definition: &Definition, all: &[Definition]) -> bool {
    let Some(accessor) = &definition.accessor else {
        return false;
    };
    let present =
        |other: &&Definition| other.name == definition.name && other.presence != Presence::Absent;
    let same: Vec<&Definition> = all.iter().filter(present).collect();
    let is_overloaded = !definition.is_macro && accessor.form.only.is_some();
    let agrees = |other: &&Definition| match &other.accessor {
        Some(other) if other.is_same(accessor) => true,
        Some(other) => is_overloaded && !other.is_macro && other.form.only != accessor.form.only,
        None => false,
    };
    let is_there = definition.presence == Presence::Certain || same.len() > 1;
    definition.presence != Presence::Absent && is_there && same.iter().all(agrees)
}

/// The namespaces around a place of a file.
fn scope_at(file: &ParsedFile, at: usize) -> Vec<String> {
    let mut scope = Vec::new();
    if file.language() == Language::C {
        return scope;
    }
    let root = file.tree().root_node();
    let mut node = root.descendant_for_byte_range(at, at);
    while let Some(inner) = node {
        if inner.kind() == "namespace_definition"
            && let Some(name) = inner.child_by_field_name("name")
        {
            scope.insert(0, file.node_text(name).into_owned());
        }
        node = Node::parent(&inner);
    }
    scope
}

/// Whether a text is one argument of a macro.
fn is_one_argument(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' | '#' if depth == 0 => return false,
            _ => {}
        }
        true
    })
}

/// Whether a text calls something of this name.
fn is_called(text: &[u8], name: &str) -> bool {
    let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let call = format!("{name}(");
    let mut windows = text.windows(call.len()).enumerate();
    windows.any(|(at, window)| {
        let is_defined = text[..at].ends_with(b"define ");
        window == call.as_bytes() && !is_defined && !text[..at].last().is_some_and(of_word)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{Accessors, VolatileOrders};
    use crate::{Language, MemoryOrder, ParsedFile, Site, SiteOperation, Vocabularies};
    use crate::{plain_accesses, scan_parsed};

    fn parsed(name: &str, text: &str) -> ParsedFile {
        let language = match name == "a.c" || name == "lib/a.h" {
            true => Language::C,
            false => Language::Cpp,
        };
        ParsedFile::parse(Path::new(name), text.as_bytes(), language)
    }

    /// What is called for the first read and the first write of `full` in a text.
    fn called(name: &str, text: &str, headers: &[&str]) -> Vec<String> {
        called_if(name, text, headers, None)
    }

    fn called_if(
        name: &str,
        text: &str,
        headers: &[&str],
        volatile: Option<VolatileOrders>,
    ) -> Vec<String> {
        use MemoryOrder::{Acquire, Relaxed, Release, SeqCst};
        let file = parsed(name, text);
        let headers: Vec<ParsedFile> = headers.iter().map(|text| parsed("lib/a.h", text)).collect();
        let headers: Vec<&ParsedFile> = headers.iter().collect();
        let vocabularies = Vocabularies::builtin();
        let accessors = Accessors::of(&file, &headers, &vocabularies, volatile);
        let atomic = scan_parsed(&file, &vocabularies).sites;
        let sites = plain_accesses(&file, &BTreeSet::from(["full".to_owned()]), &atomic);
        let first = |operation| sites.iter().find(|site| site.operation == operation);
        let fitting = |site: Option<&Site>, order| {
            let site = site?;
            let found = accessors.fitting(&file, site, order, false)?;
            Some(found.name_at(&file, site).into_owned())
        };
        let load = [Relaxed, Acquire, SeqCst].map(|o| fitting(first(SiteOperation::Load), o));
        let store = [Relaxed, Release, SeqCst].map(|o| fitting(first(SiteOperation::Store), o));
        let named = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
        load.into_iter().chain(store).map(named).collect()
    }

    const USER: &str = "#include \"./a.h\"\nstruct box { int full; };\n\
        int f(struct box *b) { b->full = 1; return b->full; }\n";

    fn of_layer(layer: &str) -> String {
        called("a.c", USER, &[layer]).join(" ")
    }

    #[test]
    fn macros_are_told_by_what_they_do() {
        let layer = "
            #define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
            #define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
            #define peek(p) (__atomic_load_n((p), __ATOMIC_ACQUIRE))
            #define BY_LAW(v, p) do { __atomic_store_n(p, v, __ATOMIC_RELEASE); } while (0)
            #define SC(x) ((__typeof__(x))__atomic_load_n((volatile __typeof__(x) *)&(x), __ATOMIC_SEQ_CST))
        ";
        assert_eq!(of_layer(layer), "READ_ONCE peek SC WRITE_ONCE BY_LAW -");
    }

    #[test]
    fn a_macro_may_stand_for_another_in_a_header_that_is_read_later() {
        let layer = "#define GET(x) LOAD_AT(&(x), __ATOMIC_ACQUIRE)\n";
        let below = "#define LOAD_AT(p, o) __atomic_load_n(p, o)\n";
        let found = called("a.c", USER, &[layer, below]).join(" ");
        assert_eq!(found, "- GET - - - -");
        let below = "#define LOAD_AT(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)\n";
        let layer = "#define GET(x) LOAD_AT(&(x))\n#define NEXT(x) LOAD_AT(&(x)->next)\n";
        let found = called("a.c", USER, &[layer, below]);
        assert_eq!(found[1], "GET");
    }

    #[test]
    fn what_is_no_atomic_access_to_any_plain_object_is_not_taken() {
        for layer in [
            "#define R(x) atomic_load_explicit(&(x), memory_order_relaxed)",
            "#define R(x) (*(const volatile __typeof__(x) *)&(x))",
            "#define R(x) __atomic_load_n(&(x)->counter, __ATOMIC_RELAXED)",
            "#define R(x) (__atomic_load_n(&(x), __ATOMIC_RELAXED) & 1)",
            "#define R(x) ((char)__atomic_load_n(&(x), __ATOMIC_RELAXED))",
            "#define R(x) __atomic_load_n((long *)&(x), __ATOMIC_RELAXED)",
            "#define R(x) __atomic_load_n(&(x), __ATOMIC_RELAXED);",
            "#define R(x, n) __atomic_load_n(&(x), __ATOMIC_RELAXED)",
            "#define W(x) __atomic_store_n(&(x), 1, __ATOMIC_RELAXED)",
            "#define W(x, v) __atomic_store_n(&(x), (v) + 1, __ATOMIC_RELAXED)",
            "#define W(x, v) __atomic_store_n(&(x), (char)(v), __ATOMIC_RELAXED)",
            "#define W(x, v) { __atomic_store_n(&(x), (v), __ATOMIC_RELAXED); }",
        ] {
            assert_eq!(of_layer(layer), "- - - - - -", "{layer}");
        }
    }

    #[test]
    fn volatile_accesses_count_if_they_are_said_to() {
        let layer = "
            #define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
            #define WRITE_ONCE(x, v) do { *(volatile __typeof__(x) *)&(x) = (v); } while (0)
            #define NEXT(x) (*(volatile __typeof__(x) *)&(x)->next)
            #define CHARS(x) (*(volatile char *)&(x))
            #define PLAIN(x) (*(__typeof__(x) *)&(x))
        ";
        let of = |load, store| {
            let orders = VolatileOrders { load, store };
            called_if("a.c", USER, &[layer], Some(orders)).join(" ")
        };
        let relaxed = of(MemoryOrder::Relaxed, MemoryOrder::Relaxed);
        assert_eq!(relaxed, "READ_ONCE - - WRITE_ONCE - -");
        let stronger = of(MemoryOrder::Acquire, MemoryOrder::Release);
        assert_eq!(stronger, "- READ_ONCE - - WRITE_ONCE -");
        assert_eq!(of_layer(layer), "- - - - - -");
    }

    #[test]
    fn functions_take_the_type_that_they_are_made_for() {
        let of = |load: &str| of_layer(&format!("static inline {load}\n"));
        let body = "{ return __atomic_load_n(p, __ATOMIC_RELAXED); }";
        assert_eq!(
            of(&format!("int get(const int *p) {body}")),
            "get - - - - -"
        );
        assert_eq!(
            of(&format!("long get(const long *p) {body}")),
            "- - - - - -"
        );
        assert_eq!(of(&format!("char get(const int *p) {body}")), "- - - - - -");
        assert_eq!(of(&format!("int get(int **p) {body}")), "- - - - - -");
        let pair = format!("int get(int *p) {body}\nstatic long get_l(long *p) {body}\n");
        assert_eq!(of(&pair), "get - - - - -");
        let store = "void set(int *p, int v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }";
        assert_eq!(of(store), "- - - - set -");
        let store = "void set(int *p, char v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }";
        assert_eq!(of(store), "- - - - - -");
    }

    #[test]
    fn templates_take_any_type_that_they_can_deduce() {
        let of = |layer: &str, declaration: &str, value: &str| {
            let text = format!(
                "namespace once {{ {layer} }}\n{declaration} full;\nint f() {{ full = {value}; return full; }}\n"
            );
            called("a.cc", &text, &[]).join(" ")
        };
        let load = "template <class T> T get(const T &x) { return __atomic_load_n(&x, __ATOMIC_RELAXED); }";
        assert_eq!(of(load, "bool", "true"), "once::get - - - - -");
        let reference = "template <class T> T get(T &x) { return std::atomic_ref<T>(x).load(std::memory_order_acquire); }";
        assert_eq!(of(reference, "long", "1"), "- once::get - - - -");
        let copy =
            "template <class T> T get(T x) { return __atomic_load_n(&x, __ATOMIC_RELAXED); }";
        assert_eq!(of(copy, "bool", "true"), "- - - - - -");
        let other = "template <class R, class T> R get(T &x) { return __atomic_load_n(&x, __ATOMIC_RELAXED); }";
        assert_eq!(of(other, "bool", "true"), "- - - - - -");
        let store =
            "template <class T> void set(T *p, T v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }";
        assert_eq!(of(store, "int", "1"), "- - - - once::set -");
        // The literal is an int: no type fits both.
        assert_eq!(of(store, "long", "1"), "- - - - - -");
        let store = "template <class T, class V> void set(T &x, V v) { std::atomic_ref<T>(x).store(v, std::memory_order_release); }";
        assert_eq!(of(store, "long", "1"), "- - - - once::set -");
    }

    #[test]
    fn a_name_must_have_one_meaning_that_the_compiler_sees() {
        let atomic = "#define R(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n";
        let other = "#define R(x) (*(volatile __typeof__(x) *)&(x))\n";
        let of = |text: String| of_layer(&text).starts_with('R');
        assert!(of(format!(
            "#ifdef _MSC_VER\n{other}#else\n{atomic}#endif\n"
        )));
        assert!(!of(format!(
            "#ifdef PORTABLE\n{other}#else\n{atomic}#endif\n"
        )));
        assert!(of(format!(
            "#ifdef PORTABLE\n{atomic}#else\n{atomic}#endif\n"
        )));
        assert!(!of(format!("#ifdef PORTABLE\n{atomic}#endif\n")));
        assert!(!of(format!("{atomic}#undef R\n")));
        assert!(of(format!("#ifndef R\n{atomic}#endif\n")));
    }

    #[test]
    fn what_is_defined_behind_an_access_cannot_be_called_there() {
        let layer = "#define R(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n";
        assert_eq!(called("a.c", &format!("{layer}{USER}"), &[])[0], "R");
        assert_eq!(called("a.c", &format!("{USER}{layer}"), &[])[0], "-");
    }

    #[test]
    fn a_header_that_may_not_be_included_counts_for_nothing() {
        let layer = "#define R(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n";
        let of = |condition: &str| {
            let user = USER.replace("#include \"./a.h\"", condition);
            called("a.c", &user, &[layer]).swap_remove(0)
        };
        assert_eq!(of("#include <lib/a.h>"), "R");
        assert_eq!(of("#ifdef __GNUC__\n#include \"a.h\"\n#endif"), "R");
        assert_eq!(of("#ifdef HAVE_A\n#include \"a.h\"\n#endif"), "-");
        assert_eq!(of("#include \"b.h\""), "-");
    }

    #[test]
    fn what_the_file_calls_already_is_taken_before_others() {
        let layer = "#define _GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n\
            #define ONE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n\
            #define OTHER(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n";
        assert_eq!(called("a.c", USER, &[layer])[0], "ONE");
        let user = format!("{USER}int g(int *p) {{ return OTHER(*p); }}\n");
        assert_eq!(called("a.c", &user, &[layer])[0], "OTHER");
    }
}
