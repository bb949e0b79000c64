//! Functions that only hand an atomic operation on: exactly one operation, on an
//! object or with an order that comes from outside (a parameter, `this`). To their
//! callers the call is the operation. Decides from the text of a file and of the
//! structures that its headers define; what they do not show is not taken for granted.

use std::cell::OnceCell;

use tree_sitter::Node;

use crate::compiler_barrier::{is_compiler_barrier, is_empty_assembly};
use crate::orders::squeeze;
use crate::record::{self, Record, RecordsElsewhere};
use crate::site::{OrderForm, Site, SiteOperation, Span};
use crate::site_lines::starting_in;
use crate::source::ParsedFile;
use crate::syntax::{self, arguments, callee, children, is_function, is_loop};
use crate::wrapping::{CallForm, called_at};

/// What a function that hands an operation on does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarder {
    /// Nothing: what stands next to its call stands next to the operation.
    pub is_bare: bool,
}

/// Whether the function around a site only hands that operation on.
pub fn forwards_site(
    file: &ParsedFile,
    sites: &[Site],
    site: &Site,
    elsewhere: RecordsElsewhere<'_>,
) -> Option<Forwarder> {
    if site.macro_name.is_some() {
        return None;
    }
    let root = file.tree().root_node();
    let node = root.descendant_for_byte_range(site.span.start, site.span.end)?;
    let function = Function::around(file, node, elsewhere)?;
    let operations = function.alternatives(sites, &site.span)?;
    let is_fence = matches!(
        site.operation,
        SiteOperation::Fence | SiteOperation::SignalFence
    );
    let object = site.object.as_ref();
    let object = object.and_then(|o| root.descendant_for_byte_range(o.start, o.end));
    let object_outside = is_fence || object.is_some_and(|object| function.is_outside(object));
    let orders = std::iter::once(&site.order).chain(&site.failure_order);
    let mut said = orders.filter_map(|order| match &order.form {
        OrderForm::NotLiteral(span) => Some(file.slice(span)),
        _ => None,
    });
    let order_outside = said.any(|text| function.mentions_outside(&text));
    function.verdict(&operations, object_outside, order_outside)
}

/// Whether the function around a call only hands on what the called function does.
pub fn forwards_call(
    file: &ParsedFile,
    sites: &[Site],
    point: (u32, u32),
    called: CallForm<'_>,
    elsewhere: RecordsElsewhere<'_>,
) -> Option<Forwarder> {
    let node = called_at(file, point, called)?;
    let function = Function::around(file, node, elsewhere)?;
    let operations = function.alternatives(sites, &node.byte_range())?;
    let (mut object_outside, mut order_outside) = (false, false);
    match callee(node).filter(|_| node.kind() == "call_expression") {
        Some(callee) => {
            let arguments = arguments(node);
            object_outside = match callee.receiver {
                Some(receiver) => function.is_outside(receiver),
                None if function.has_method(&file.node_text(callee.name)) => true,
                None => arguments.iter().any(|&one| function.is_outside(one)),
            };
            let said = arguments.iter().chain(&callee.template_arguments);
            order_outside = said
                .map(|&one| file.node_text(one))
                .any(|text| function.is_order(&text));
        }
        // An operator of a class: its operands are the objects.
        None => syntax::visit(node, |inner, _| {
            object_outside |= inner.kind() == "identifier" && function.is_outside(inner);
        }),
    }
    function.verdict(&operations, object_outside, order_outside)
}

/// A function or lambda.
struct Function<'f> {
    file: &'f ParsedFile,
    node: Node<'f>,
    body: Node<'f>,
    parameters: Vec<(String, Node<'f>)>,
    /// Template parameters: the text of each.
    template: Vec<String>,
    /// The class that it is a method of, once somebody has asked for it: it may have to
    /// be looked for in the whole file, and in others.
    class: OnceCell<Option<Record>>,
    /// Structures that the file does not define.
    elsewhere: RecordsElsewhere<'f>,
}

/// What a function does besides its operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effects {
    /// Nothing that outlives it.
    None,
    /// It writes memory that is not its own.
    Writes,
    /// Something else: calls, jumps.
    Other,
}

impl<'f> Function<'f> {
    fn around(
        file: &'f ParsedFile,
        inside: Node<'f>,
        elsewhere: RecordsElsewhere<'f>,
    ) -> Option<Self> {
        let mut node = inside;
        while !is_function(node) {
            node = node.parent()?;
        }
        let template = node.parent().filter(|p| p.kind() == "template_declaration");
        let template = template
            .and_then(|template| template.child_by_field_name("parameters"))
            .map(children)
            .unwrap_or_default();
        Some(Self {
            file,
            node,
            body: node.child_by_field_name("body")?,
            parameters: syntax::parameters(node, file),
            template: template
                .into_iter()
                .map(|parameter| file.node_text(parameter).into_owned())
                .collect(),
            class: OnceCell::new(),
            elsewhere,
        })
    }

    fn class(&self) -> Option<&Record> {
        let is_method = self.node.kind() == "function_definition";
        let find = || record::of_method(self.file, self.node, self.elsewhere);
        let class = self.class.get_or_init(|| is_method.then(find).flatten());
        class.as_ref()
    }

    /// The operations of the function, if whatever is done besides this one is done
    /// instead of it. Asked first: most functions do another operation as well, and the
    /// first that is found tells, however long the function is.
    fn alternatives(&self, sites: &[Site], operation: &Span) -> Option<Vec<Span>> {
        let within = self.node.byte_range();
        let others = starting_in(sites, &within).iter().filter(|site| {
            site.macro_name.is_none()
                && syntax::within(&site.span, &within)
                && site.span != *operation
                && site.operation != SiteOperation::SignalFence
        });
        let mut own = starting_in(sites, operation).iter();
        let own = own.find(|site| site.span == *operation);
        if !others.clone().all(|other| self.replaces(own, other)) {
            return None;
        }
        let others = others.map(|other| other.span.clone());
        Some(others.chain([operation.clone()]).collect())
    }

    fn verdict(
        &self,
        operations: &[Span],
        object_outside: bool,
        order_outside: bool,
    ) -> Option<Forwarder> {
        match self.effects(operations) {
            Effects::None if object_outside || order_outside => Some(Forwarder { is_bare: true }),
            Effects::Writes if order_outside => Some(Forwarder { is_bare: false }),
            _ => None,
        }
    }

    /// Whether another operation of the function is done instead of this one, never
    /// with it: the same to the same object, on another branch.
    fn replaces(&self, own: Option<&Site>, other: &Site) -> bool {
        let Some(own) = own.filter(|own| own.operation == other.operation) else {
            return false;
        };
        let text = |site: &Site| site.object.as_ref().map(|span| self.file.slice(span));
        if text(own) != text(other) {
            return false;
        }
        let (start, end) = match own.span.start < other.span.start {
            true => (&own.span, &other.span),
            false => (&other.span, &own.span),
        };
        let common = self.body.descendant_for_byte_range(start.start, end.end);
        common.is_some_and(|common| is_choice(common, start))
    }

    fn effects(&self, operations: &[Span]) -> Effects {
        let mut effects = Effects::None;
        syntax::visit(self.body, |node, _| {
            let range = node.byte_range();
            let effect = match node.kind() {
                _ if operations.contains(&range) => Effects::None,
                _ if is_loop(node) => Effects::Other,
                _ if is_empty_assembly(node, self.file) => Effects::None,
                "call_expression" if !self.is_harmless(node) => Effects::Other,
                "assignment_expression" => self.write("left", node),
                "update_expression" => self.write("argument", node),
                "lambda_expression"
                | "new_expression"
                | "delete_expression"
                | "throw_statement"
                | "goto_statement"
                | "gnu_asm_expression"
                | "asm_statement"
                | "co_await_expression"
                | "co_yield_statement"
                | "ERROR" => Effects::Other,
                _ => Effects::None,
            };
            effects = effects.max(effect);
        });
        effects
    }

    /// What writing to an operand of a node does: nothing if it is the function's
    /// own, or what the caller gave it to write to.
    fn write(&self, operand: &str, node: Node<'_>) -> Effects {
        let target = node.child_by_field_name(operand);
        let origin = target.map(|target| self.origin(target));
        match origin {
            Some(Origin::Local | Origin::Parameter { .. }) => Effects::None,
            _ => Effects::Writes,
        }
    }

    /// Calls that compute something for the operation and do nothing else.
    fn is_harmless(&self, call: Node<'_>) -> bool {
        let Some(callee) = callee(call) else {
            // `int(x)`
            let function = call.child_by_field_name("function");
            return function.is_some_and(|function| function.kind() == "primitive_type");
        };
        let name = self.file.node_text(callee.name);
        let name = &*name;
        let converts_order = || {
            let arguments = arguments(call);
            let is_order = |&one: &Node<'_>| self.is_order(&self.file.node_text(one));
            !arguments.is_empty() && arguments.iter().all(is_order)
        };
        syntax::is_transparent(name)
            || passes_on(name)
            || name.starts_with("__builtin_")
            || name.ends_with("_t")
            || name.eq_ignore_ascii_case("static_assert")
            || name.to_ascii_lowercase().ends_with("assert")
            || self.template.iter().any(|one| last_name(one) == name)
            || converts_order()
            || is_compiler_barrier(name, self.file)
    }

    /// Whether an expression is an object that the caller gave, not one that the
    /// function chose among several.
    fn is_outside(&self, node: Node<'_>) -> bool {
        if self.is_chosen_by_caller(node) {
            return true;
        }
        match self.origin(node) {
            Origin::Parameter {
                number,
                member: true,
            } => {
                let (_, parameter) = self.parameters[number];
                let record = record::of_parameter(self.file, parameter, self.elsewhere);
                record.is_some_and(|record| record.is_single())
            }
            Origin::Parameter { member: false, .. } | Origin::This { member: false } => true,
            Origin::This { member: true } => self.class().is_some_and(Record::is_single),
            Origin::Local | Origin::Unknown => false,
        }
    }

    /// Whether an expression is the element of a member that a parameter says:
    /// `links[level]`.
    fn is_chosen_by_caller(&self, node: Node<'_>) -> bool {
        let node = syntax::unwrap_parentheses(node);
        if node.kind() != "subscript_expression" {
            return false;
        }
        let origin = self.origin(node);
        let array = node.child_by_field_name("argument").map(|a| a.end_byte());
        let index = array.map(|start| self.file.slice(&(start..node.end_byte())));
        matches!(origin, Origin::This { .. } | Origin::Parameter { .. })
            && index.is_some_and(|index| self.mentions_parameter(&index))
    }

    /// Where the object that an expression names comes from.
    fn origin(&self, node: Node<'_>) -> Origin {
        let (mut node, mut through_member) = (node, false);
        for _ in 0..syntax::MAX_DEPTH {
            let inner = match node.kind() {
                "parenthesized_expression" => Some(syntax::unwrap_parentheses(node)),
                "cast_expression" => node.child_by_field_name("value"),
                "pointer_expression" | "subscript_expression" => {
                    node.child_by_field_name("argument")
                }
                "field_expression" => {
                    through_member = true;
                    node.child_by_field_name("argument")
                }
                "call_expression" => callee(node)
                    .filter(|callee| {
                        let name = self.file.node_text(callee.name);
                        syntax::is_transparent(&name) || passes_on(&name)
                    })
                    .and_then(|_| arguments(node).first().copied()),
                "this" => {
                    return Origin::This {
                        member: through_member,
                    };
                }
                "identifier" => return self.named(&self.file.node_text(node), through_member),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => break,
            }
        }
        Origin::Unknown
    }

    fn named(&self, name: &str, through_member: bool) -> Origin {
        let number = self.parameters.iter().position(|(known, _)| known == name);
        if let Some(number) = number {
            return Origin::Parameter {
                number,
                member: through_member,
            };
        }
        if self.declares(name) {
            return Origin::Local;
        }
        match self.class() {
            Some(class) if class.has_member(name) => Origin::This { member: true },
            _ => Origin::Unknown,
        }
    }

    /// Whether the body declares a variable.
    fn declares(&self, name: &str) -> bool {
        let mut declared = false;
        syntax::visit(self.body, |node, ancestors| {
            let is_name = node.kind() == "identifier" && self.file.node_text(node) == name;
            let parent = ancestors.last();
            declared |= is_name
                && parent.is_some_and(|parent| {
                    parent.child_by_field_name("declarator") == Some(node)
                        || parent.kind() == "structured_binding_declarator"
                });
        });
        declared
    }

    fn has_method(&self, name: &str) -> bool {
        self.class().is_some_and(|class| class.has_method(name))
    }

    /// Whether a text mentions a parameter, of a template too.
    fn mentions_outside(&self, text: &str) -> bool {
        let of_template = |word: &str| self.template.iter().any(|one| last_name(one) == word);
        self.mentions_parameter(text) || words(text).any(of_template)
    }

    fn mentions_parameter(&self, text: &str) -> bool {
        words(text).any(|word| self.parameters.iter().any(|(name, _)| name == word))
    }

    /// Whether an argument is an order that the caller gave.
    fn is_order(&self, text: &str) -> bool {
        let text = squeeze(text);
        let says_order = |text: &str| text.to_ascii_lowercase().contains("order");
        let parameter = self.parameters.iter().find(|(name, _)| *name == text);
        let parameter = parameter.is_some_and(|(_, node)| says_order(&self.file.node_text(*node)));
        let template = self.template.iter().find(|one| last_name(one) == text);
        parameter || template.is_some_and(|one| says_order(one))
    }
}

/// Where an object comes from.
enum Origin {
    /// A parameter, by its number, or a member of what it points to.
    Parameter { number: usize, member: bool },
    /// The object of the method, or a member of it.
    This { member: bool },
    /// A variable of the function.
    Local,
    /// A global, or the text does not tell.
    Unknown,
}

/// Calls that are their first argument.
fn passes_on(name: &str) -> bool {
    matches!(
        name,
        "move" | "forward" | "addressof" | "bit_cast" | "to_underlying" | "atomic_ref" | "launder"
    )
}

/// Whether of two parts of a node only one is executed.
fn is_choice(common: Node<'_>, first: &Span) -> bool {
    match common.kind() {
        "if_statement"
        | "conditional_expression"
        | "preproc_if"
        | "preproc_ifdef"
        | "preproc_elif"
        | "preproc_else" => true,
        "compound_statement"
            if common
                .parent()
                .is_some_and(|p| p.kind() == "switch_statement") =>
        {
            true
        }
        // `if (relaxed) return …;` and then another one.
        "compound_statement" => {
            let mut node = common.descendant_for_byte_range(first.start, first.end);
            let mut returns = false;
            while let Some(inner) = node.filter(|inner| *inner != common) {
                returns |= inner.kind() == "return_statement";
                if inner.kind() == "if_statement" {
                    return returns;
                }
                node = inner.parent();
            }
            false
        }
        _ => false,
    }
}

/// The words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The name that a template parameter declares: its last word.
fn last_name(parameter: &str) -> &str {
    let before_default = parameter.split('=').next().unwrap_or_default().trim();
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    before_default
        .rfind(|c| !of_name(c))
        .map_or(before_default, |at| &before_default[at + 1..])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CallForm, Forwarder, forwards_call, forwards_site};
    use crate::{Language, ParsedFile, Vocabularies, scan_parsed};

    /// The functions of a text whose first operation they hand on, and whether
    /// they do nothing else.
    fn forwarding(text: &str, language: Language) -> Vec<(String, bool)> {
        let file = ParsedFile::parse(Path::new("a.h"), text.as_bytes(), language);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let all = scan.sites.iter().filter_map(|site| {
            let Forwarder { is_bare } = forwards_site(&file, &scan.sites, site, &|_| None)?;
            Some((site.function.clone().unwrap_or_default(), is_bare))
        });
        all.collect()
    }

    #[test]
    fn c_helpers_hand_on_what_they_are_given() {
        let text = "#include <stdatomic.h>\n\
            typedef struct { atomic_int v; } box;\n\
            typedef struct { atomic_int head, tail; } ring;\n\
            static atomic_int x;\nstatic int data;\n\
            static int get(atomic_int *p) { return atomic_load_explicit(p, memory_order_relaxed); }\n\
            static void put(atomic_int *p, int v, memory_order o) { atomic_store_explicit(p, v, o); }\n\
            static int boxed(box *b) { return atomic_load(&b->v); }\n\
            static int checked(atomic_int *p) { assert(p); int v = atomic_load(p); return v; }\n\
            static void publish(memory_order o) { data = 1; atomic_store_explicit(&x, 1, o); }\n\
            static int chosen(atomic_int *p, memory_order o) {\n\
            \x20 switch (o) { case memory_order_relaxed: return atomic_load_explicit(p, memory_order_relaxed);\n\
            \x20 default: return atomic_load(p); } }\n\
            static void barrier(void) { atomic_thread_fence(memory_order_seq_cst); }\n\
            static void hold(void) { __asm__ __volatile__(\"\" ::: \"memory\"); }\n\
            static int held(int *p) { int r; hold(); r = __atomic_load_n(p, __ATOMIC_RELAXED);\n\
            \x20 __asm__ __volatile__(\"\" ::: \"memory\"); return r; }\n\
            static void signalled(atomic_int *p, int v) {\n\
            \x20 atomic_signal_fence(memory_order_seq_cst); atomic_store(p, v); }\n";
        let bare = |name: &str| (name.to_owned(), true);
        assert_eq!(
            forwarding(text, Language::C),
            [
                bare("get"),
                bare("put"),
                bare("boxed"),
                bare("checked"),
                ("publish".to_owned(), false),
                bare("chosen"),
                bare("chosen"),
                bare("barrier"),
                bare("held"),
                bare("signalled"),
            ]
        );
    }

    #[test]
    fn what_does_more_or_chooses_its_object_is_no_helper() {
        let text = "#include <stdatomic.h>\n\
            typedef struct { atomic_int head, tail; int slots[4]; } ring;\n\
            static atomic_int x;\nstatic int data;\n\
            static int both(atomic_int *p, atomic_int *q) { return atomic_load(p) + atomic_load(q); }\n\
            static int global(void) { return atomic_load(&x); }\n\
            static int head(ring *r) { return atomic_load(&r->head); }\n\
            static void set(atomic_int *p) { data = 1; atomic_store(p, 1); }\n\
            static void call(atomic_int *p) { work(); atomic_store(p, 1); }\n\
            static void wait(atomic_int *p) { while (!atomic_load(p)) {} }\n\
            static void fenced(atomic_int *p) { __asm__ __volatile__(\"mfence\" ::: \"memory\");\n\
            \x20 atomic_store(p, 1); }\n\
            static void copy(atomic_int *p, atomic_int *q) { atomic_store(p, atomic_load(q)); }\n";
        assert_eq!(forwarding(text, Language::C), []);
    }

    #[test]
    fn methods_of_a_class_that_is_one_atomic_hand_it_on() {
        let text = "#include <atomic>\n\
            template <class T> class Atomic {\n  std::atomic<T> value_;\n  char pad_[60];\npublic:\n\
            \x20 T load() const { return value_.load(std::memory_order_relaxed); }\n\
            \x20 operator T() const { return value_.load(std::memory_order_acquire); }\n\
            \x20 T operator++() { return value_.fetch_add(1, std::memory_order_relaxed) + 1; }\n};\n\
            class Queue {\n  std::atomic<int> head_, tail_;\npublic:\n\
            \x20 int size() const { return head_.load(); }\n\
            \x20 int at(std::memory_order o) const { return head_.load(o); }\n};\n\
            int f() { auto get = [](std::atomic<int>& a) { return a.load(); }; return 0; }\n";
        let names: Vec<String> = forwarding(text, Language::Cpp)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["load", "operator T", "operator++", "at", "f"]);
    }

    #[test]
    fn calls_are_handed_on_as_operations_are() {
        let text = "struct W { std::atomic<int> v; int get() { return v.load(); } };\n\
            int read(W& w) { return w.get(); }\n\
            int twice(W& w, W& u) { return w.get() + u.get(); }\n\
            struct Q { W a, b; int first() { return a.get(); } };\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let at = |line, column| {
            let form = CallForm::Named("get");
            forwards_call(&file, &scan.sites, (line, column), form, &|_| None)
        };
        assert_eq!(at(2, 27), Some(Forwarder { is_bare: true }));
        assert_eq!(at(3, 34), None);
        assert_eq!(at(4, 43), None);
    }
}
