//! Writes the order of an operation that leaves it out: `x.load()`, `atomic_load(&x)`,
//! `x = 1`, `x++`, a read of `x` by its name. Says how the same operation is written
//! with an order; which order is another's business.

use tree_sitter::Node;
use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, SiteOperation, Span};

use crate::draft::Draft;
use crate::refusal::Refusal;
use crate::spelling::Spelling;
use crate::view::View;

/// The orders to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaidOrders {
    pub(crate) success: MemoryOrder,
    /// On failure, where it must be said.
    pub(crate) failure: Option<MemoryOrder>,
}

/// Drafts a site that leaves its order out as one that says it. The header that the
/// new text needs, if the file does not have it.
pub(crate) fn say_order(
    file: &ParsedFile,
    spelling: &Spelling<'_>,
    site: &Site,
    orders: SaidOrders,
    draft: &mut Draft,
) -> Result<Option<&'static str>, Refusal> {
    let sayer = OrderSayer {
        file,
        spelling,
        site,
        orders,
    };
    let is_standard = matches!(&*site.vocabulary, "std" | "c11" | "boost");
    if site.callee == "__sync_synchronize" && site.operation == SiteOperation::Fence {
        let said = spelling.order(orders.success, "gnu");
        draft.replace(site.span.clone(), format!("__atomic_thread_fence({said})"));
        return Ok(None);
    }
    if !is_standard {
        return Err(sayer.refusal());
    }
    if View::of_macro(file, &site.span).is_some() && !sayer.is_call() {
        return Err(sayer.refusal());
    }
    match sayer.is_call() {
        true => sayer.say_in_call(draft).map(|()| None),
        false => sayer.say_for_operator(draft),
    }
}

/// Where the value that an operator writes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NewValue {
    /// It writes none.
    None,
    /// It is one more or less.
    One,
    /// What stands behind the operator.
    Behind,
}

struct OrderSayer<'a> {
    file: &'a ParsedFile,
    spelling: &'a Spelling<'a>,
    site: &'a Site,
    orders: SaidOrders,
}

impl OrderSayer<'_> {
    fn refusal(&self) -> Refusal {
        Refusal::CannotSayOrder(self.site.callee.clone())
    }

    fn text(&self, span: &Span) -> String {
        self.file.slice(span).into_owned()
    }

    /// Whether the operation is a call that takes arguments.
    fn is_call(&self) -> bool {
        let name = self.site.callee.rsplit("::").next();
        let is_name = name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
        let rest = self.text(&(self.site.callee_span.end..self.site.span.end));
        is_name && self.site.callee_span.end < self.site.span.end && rest.ends_with(')')
    }

    /// Whether the file's operations are methods.
    fn is_cpp(&self) -> bool {
        self.file.language() == Language::Cpp
    }

    fn order(&self, order: MemoryOrder) -> String {
        self.spelling.order(order, &self.site.vocabulary)
    }

    /// The orders as the last arguments of a call.
    fn arguments(&self) -> String {
        let success = self.order(self.orders.success);
        match self.orders.failure {
            Some(failure) => format!("{success}, {}", self.order(failure)),
            None => success,
        }
    }

    /// `x.load()` gets an argument; `atomic_load(&x)` another name, too.
    fn say_in_call(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let site = self.site;
        let name = self.text(&site.callee_span);
        let is_function = name
            .rsplit("::")
            .next()
            .is_some_and(|name| name.starts_with("atomic_"));
        if &*site.vocabulary == "c11" && !is_function {
            return Err(self.refusal());
        }
        let call = site.callee_span.end..site.span.end;
        let inside = self.text(&call);
        let inner = inside.trim_start().strip_prefix('(');
        let inner = inner.and_then(|inner| inner.strip_suffix(')'));
        let inner = inner.ok_or_else(|| self.refusal())?;
        let at = site.span.end - 1 - (inner.len() - inner.trim_end().len());
        let comma = if inner.trim().is_empty() { "" } else { ", " };
        if is_function {
            draft.replace(site.callee_span.clone(), format!("{name}_explicit"));
        }
        draft.replace(at..at, format!("{comma}{}", self.arguments()));
        Ok(())
    }

    /// `x = 1`, `x++` and `x` become calls.
    fn say_for_operator(&self, draft: &mut Draft) -> Result<Option<&'static str>, Refusal> {
        let site = self.site;
        let object = site.object.as_ref().ok_or_else(|| self.refusal())?;
        let order = self.order(self.orders.success);
        let (name, value) = match (site.operation, site.callee.as_str()) {
            (SiteOperation::Load, "read") => ("load", NewValue::None),
            (SiteOperation::Store, "=") if self.is_unused() => ("store", NewValue::Behind),
            (SiteOperation::Rmw, "++") if self.gives_old_value(object) => {
                ("fetch_add", NewValue::One)
            }
            (SiteOperation::Rmw, "--") if self.gives_old_value(object) => {
                ("fetch_sub", NewValue::One)
            }
            (SiteOperation::Rmw, operator) if self.is_unused() => {
                let name = match operator {
                    "+=" => "fetch_add",
                    "-=" => "fetch_sub",
                    "&=" => "fetch_and",
                    "|=" => "fetch_or",
                    "^=" => "fetch_xor",
                    _ => return Err(self.refusal()),
                };
                (name, NewValue::Behind)
            }
            _ => return Err(self.refusal()),
        };
        let object = self.text(object);
        let head = match self.is_cpp() {
            true => {
                let called = called_object(&object).ok_or_else(|| self.refusal())?;
                format!("{called}{name}(")
            }
            // Additions to pointers and to floating point have no such function in C.
            false if name.starts_with("fetch") && !is_declared_integer(self.file, &object) => {
                return Err(self.refusal());
            }
            false => {
                let address = match object.strip_prefix('*') {
                    Some(pointer) => pointer.trim().to_owned(),
                    None => format!("&{object}"),
                };
                let comma = if value == NewValue::None { "" } else { ", " };
                format!("atomic_{name}_explicit({address}{comma}")
            }
        };
        match value {
            NewValue::Behind => {
                // The value may have operations of its own.
                let rest = self.text(&(site.callee_span.end..site.span.end));
                let start = site.span.end - rest.trim_start().len();
                draft.replace(site.span.start..start, head);
                draft.wrap(&site.span, "", &format!(", {order})"));
            }
            NewValue::One => draft.replace(site.span.clone(), format!("{head}1, {order})")),
            NewValue::None if self.is_cpp() => {
                draft.replace(site.span.clone(), format!("{head}{order})"));
            }
            NewValue::None => draft.replace(site.span.clone(), format!("{head}, {order})")),
        }
        Ok(match self.is_cpp() {
            true => None,
            false => self.spelling.missing_header("c11", false),
        })
    }

    /// Whether nobody looks at the operation's value.
    fn is_unused(&self) -> bool {
        let Some(node) = self.node() else {
            return false;
        };
        let Some(parent) = node.parent() else {
            return false;
        };
        match parent.kind() {
            "expression_statement" => true,
            "for_statement" => {
                let is = |field| parent.child_by_field_name(field) == Some(node);
                is("update") || is("initializer")
            }
            _ => false,
        }
    }

    /// Whether the old value is as good as what the operator gives.
    fn gives_old_value(&self, object: &Span) -> bool {
        let is_postfix = object.end <= self.site.callee_span.start;
        is_postfix || self.is_unused()
    }

    fn node(&self) -> Option<Node<'_>> {
        let span = &self.site.span;
        let root = self.file.tree().root_node();
        let mut node = root.descendant_for_byte_range(span.start, span.end)?;
        while let Some(parent) = node.parent()
            && parent.byte_range() == *span
            && !parent.kind().ends_with("statement")
        {
            node = parent;
        }
        (node.byte_range() == *span).then_some(node)
    }
}

/// An object with what calls its methods; `None` if it would need parentheses that
/// are not plain to see.
fn called_object(object: &str) -> Option<String> {
    let is_postfix = |text: &str| {
        let plain = |c: char| c.is_alphanumeric() || "_.:>-[]".contains(c);
        !text.is_empty() && text.chars().all(plain) && !text.starts_with(['-', '.'])
    };
    match object.strip_prefix('*').map(str::trim) {
        Some(pointer) if is_postfix(pointer) => Some(format!("{pointer}->")),
        Some(_) => None,
        None if is_postfix(object) => Some(format!("{object}.")),
        None if object.starts_with('(') && object.ends_with(')') => Some(format!("{object}.")),
        None => None,
    }
}

/// Whether the file declares an object as an atomic integer, as far as can be told: its
/// last name follows a type of integers, with nothing but a name or a list between.
fn is_declared_integer(file: &ParsedFile, object: &str) -> bool {
    let name = object.rsplit(['.', '>', '*']).next().unwrap_or(object);
    let name = name.split('[').next().unwrap_or(name).trim();
    let text = String::from_utf8_lossy(file.text()).into_owned();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let declared: Vec<&str> = text
        .match_indices(name)
        .filter(|&(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
        .filter_map(|(at, _)| {
            let start = text[..at].rfind([';', '{', '}', '\n'])? + 1;
            Some(text[start..at].trim()).filter(|words| words.contains("tomic"))
        })
        .collect();
    let integers = [
        "int",
        "uint",
        "long",
        "ulong",
        "llong",
        "ullong",
        "short",
        "ushort",
        "char",
        "uchar",
        "schar",
        "size_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
        "unsigned",
        "signed",
    ];
    let is_integer = |declaration: &&str| {
        let words = declaration.split(|c: char| !is_word(c));
        let mut words = words.map(|word| word.trim_start_matches("atomic_"));
        let sized = |word: &str| {
            let word = word.strip_prefix('u').unwrap_or(word);
            word.starts_with("int") && word.ends_with("_t")
        };
        !declaration.contains(['*', '=', '('].as_slice())
            && words.any(|word| integers.contains(&word) || sized(word))
            || is_bracketed_integer(declaration, &integers)
    };
    !declared.is_empty() && declared.iter().all(is_integer)
}

/// Whether a declaration ends with `_Atomic(T)` for one of these types.
fn is_bracketed_integer(declaration: &str, integers: &[&str]) -> bool {
    let inner = declaration.rsplit_once("_Atomic(");
    let inner = inner.and_then(|(_, inner)| inner.strip_suffix(')'));
    inner.is_some_and(|inner| {
        let mut words = inner.split_whitespace();
        !inner.contains('*') && words.all(|word| integers.contains(&word) || word.ends_with("int"))
    })
}
