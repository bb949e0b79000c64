//! How this file writes a fence. The project's own way comes first: its fence
//! macro or function, a fence that is already there with another order; only then
//! the vocabulary of the site decides.

use tree_sitter::Node;
use wmfix_frontend::{Language, MemoryOrder, OrderForm, ParsedFile, Site, SiteOperation};

use crate::spelling::{Spelling, order_named, squeeze};

/// The vocabularies whose names the language or the compiler always knows.
const STANDARD_VOCABULARIES: [&str; 5] = ["std", "c11", "gnu", "boost", "volatile"];

/// The functions that are a fence of the order that they are given.
const FENCE_FUNCTIONS: [&str; 4] = [
    "std::atomic_thread_fence",
    "boost::atomic_thread_fence",
    "atomic_thread_fence",
    "__atomic_thread_fence",
];

/// A fence as it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The call, without a semicolon.
    pub(crate) text: String,
    /// The order that was asked for.
    pub(crate) order: MemoryOrder,
    /// Whether it can be part of an expression.
    pub(crate) is_expression: bool,
    /// The standard header that it needs, without brackets.
    pub(crate) header: Option<&'static str>,
}

/// A macro or function of this file that is nothing but a fence.
pub(crate) struct FenceWrapper {
    defined_at: usize,
    name: String,
    call: WrapperCall,
    is_expression: bool,
}

/// How a wrapper is called.
enum WrapperCall {
    /// As it stands, for a fence of this order: `mb()` or `MB`.
    Fixed(MemoryOrder, String),
    /// With the order as its argument: `fence(memory_order_release)`.
    WithOrder {
        /// The family of names that its orders have.
        family: &'static str,
    },
}

impl Spelling<'_> {
    /// The order of an expression that is a fence.
    pub(crate) fn fence_order(&self, node: Node<'_>, text: &str) -> Option<MemoryOrder> {
        let site = self
            .sites
            .iter()
            .find(|site| site.operation == SiteOperation::Fence && site.span == node.byte_range());
        if let Some(order) = site.and_then(|site| site.order.order) {
            return Some(order);
        }
        let squeezed = squeeze(text);
        let squeezed = squeezed.trim_end_matches(';');
        if self.project.fence.as_deref().map(squeeze).as_deref() == Some(squeezed) {
            return Some(MemoryOrder::SeqCst);
        }
        standard_order(squeezed).or_else(|| {
            let mut wrappers = self.wrappers.iter();
            wrappers.find_map(|wrapper| wrapper.order_of(squeezed))
        })
    }

    /// The fence of this order to write near `site`. The project's own fence may
    /// be stronger.
    pub(crate) fn fence(&self, site: &Site, order: MemoryOrder) -> Fence {
        if let Some(text) = &self.project.fence {
            return plain(text.clone(), order);
        }
        let before = |wrapper: &&FenceWrapper| wrapper.defined_at < site.span.start;
        let mut wrappers = self.wrappers.iter().filter(before);
        if let Some((wrapper, text)) =
            wrappers.find_map(|wrapper| Some((wrapper, self.call_of(wrapper, order)?)))
        {
            return Fence {
                text,
                order,
                is_expression: wrapper.is_expression,
                header: None,
            };
        }
        if !STANDARD_VOCABULARIES.contains(&&*site.vocabulary)
            && let Some(text) = self
                .project
                .vocabularies
                .get(&site.vocabulary)
                .and_then(|vocabulary| vocabulary.fence(order))
            && self.knows(text.split('(').next().unwrap_or_default())
        {
            return plain(text, order);
        }
        self.fence_in_file(order)
            .unwrap_or_else(|| self.standard_fence(site, order))
    }

    fn call_of(&self, wrapper: &FenceWrapper, order: MemoryOrder) -> Option<String> {
        match &wrapper.call {
            WrapperCall::Fixed(known, call) => (*known == order).then(|| call.clone()),
            WrapperCall::WithOrder { family } => {
                Some(format!("{}({})", wrapper.name, self.order(order, family)))
            }
        }
    }

    /// A fence that the file already has, with this order, if it can be said
    /// anywhere in it.
    fn fence_in_file(&self, order: MemoryOrder) -> Option<Fence> {
        let mut fences = self
            .sites
            .iter()
            .filter(|site| site.operation == SiteOperation::Fence && site.macro_name.is_none());
        fences.find_map(|site| {
            let text = match &site.order.form {
                OrderForm::Implied if site.order.order == Some(order) => {
                    self.file.slice(&site.span).into_owned()
                }
                OrderForm::Literal(literal) => {
                    let old = self.file.slice(literal);
                    let new = match site.order.order == Some(order) {
                        true => old.into_owned(),
                        false => self.respell(&old, order, &site.vocabulary)?,
                    };
                    let head = self.file.slice(&(site.span.start..literal.start));
                    let tail = self.file.slice(&(literal.end..site.span.end));
                    format!("{head}{new}{tail}")
                }
                _ => return None,
            };
            let cpp = self.file.language() == Language::Cpp;
            // An order of `std` brings the function along, whatever is said of it.
            let visible = !text.starts_with("atomic_thread_fence")
                || !cpp
                || self.uses_std
                || text.contains("(std::");
            (visible && standard_order(&squeeze(&text)) == Some(order)).then(|| plain(text, order))
        })
    }

    fn standard_fence(&self, site: &Site, order: MemoryOrder) -> Fence {
        let builtin = || {
            let order_name = self.order(order, "gnu");
            plain(format!("__atomic_thread_fence({order_name})"), order)
        };
        if self.is_shared_header {
            return builtin();
        }
        match &*site.vocabulary {
            "gnu" if site.callee.starts_with("__sync_") && order == MemoryOrder::SeqCst => {
                plain("__sync_synchronize()".to_owned(), order)
            }
            "gnu" | "volatile" => builtin(),
            "boost" => {
                let order_name = self.order(order, "boost");
                plain(format!("boost::atomic_thread_fence({order_name})"), order)
            }
            vocabulary => {
                let cpp = self.file.language() == Language::Cpp;
                let function = if !cpp || self.uses_std {
                    "atomic_thread_fence"
                } else {
                    "std::atomic_thread_fence"
                };
                let family = if cpp { "std" } else { "c11" };
                Fence {
                    text: format!("{function}({})", self.order(order, family)),
                    order,
                    is_expression: true,
                    header: self.missing_header(vocabulary, cpp),
                }
            }
        }
    }
}

impl FenceWrapper {
    /// The wrapper that a macro is.
    pub(crate) fn of_macro(file: &ParsedFile, definition: Node<'_>) -> Option<Self> {
        let text = |field| {
            let node = definition.child_by_field_name(field)?;
            Some(file.node_text(node).into_owned())
        };
        let (name, value) = (text("name")?, squeeze(&text("value")?));
        let parameters = text("parameters");
        let inner = value
            .strip_prefix("do{")
            .and_then(|rest| rest.strip_suffix("}while(0)"));
        let bare = inner.unwrap_or(&value).trim_end_matches(';');
        Some(Self {
            defined_at: definition.end_byte(),
            call: WrapperCall::of(&name, parameters.as_deref(), bare)?,
            name,
            is_expression: inner.is_none() && !value.ends_with(';'),
        })
    }

    /// The wrapper that a function is.
    pub(crate) fn of_function(file: &ParsedFile, definition: Node<'_>) -> Option<Self> {
        let text = |node: Option<Node<'_>>| Some(file.node_text(node?).into_owned());
        let declarator = definition
            .child_by_field_name("declarator")
            .filter(|declarator| declarator.kind() == "function_declarator")?;
        let name = declarator
            .child_by_field_name("declarator")
            .filter(|name| name.kind() == "identifier");
        let name = text(name)?;
        let parameters = declarator.child_by_field_name("parameters")?;
        let body = squeeze(&text(definition.child_by_field_name("body"))?);
        let bare = body.strip_prefix('{')?.strip_suffix(";}")?;
        let names = match parameters.named_child_count() {
            0 => "()".to_owned(),
            1 if squeeze(&file.node_text(parameters)) == "(void)" => "()".to_owned(),
            1 => {
                let declarator = parameters.named_child(0)?.child_by_field_name("declarator");
                format!("({})", text(declarator)?)
            }
            _ => return None,
        };
        Some(Self {
            defined_at: definition.end_byte(),
            call: WrapperCall::of(&name, Some(&names), bare)?,
            name,
            is_expression: true,
        })
    }

    /// The order of a text, without blanks, if it is a call of this wrapper.
    fn order_of(&self, text: &str) -> Option<MemoryOrder> {
        match &self.call {
            WrapperCall::Fixed(order, call) => (call == text).then_some(*order),
            WrapperCall::WithOrder { .. } => {
                let inner = text.strip_prefix(&self.name)?.strip_prefix('(')?;
                order_named(inner.strip_suffix(')')?)
            }
        }
    }
}

impl WrapperCall {
    /// How something of this name is called if its body, without blanks, is a fence.
    fn of(name: &str, parameters: Option<&str>, body: &str) -> Option<Self> {
        let call = match parameters {
            Some(_) => format!("{name}()"),
            None => name.to_owned(),
        };
        let parameters = parameters.map(squeeze).unwrap_or_default();
        let parameter = parameters.trim_start_matches('(').trim_end_matches(')');
        if parameter.is_empty() {
            return standard_order(body).map(|order| Self::Fixed(order, call));
        }
        let forwards = |function: &&str| body == format!("{function}({parameter})");
        let function = FENCE_FUNCTIONS.iter().copied().find(forwards)?;
        let family = match function {
            "__atomic_thread_fence" => "gnu",
            "boost::atomic_thread_fence" => "boost",
            // The file's language decides between the two.
            _ => "c11",
        };
        Some(Self::WithOrder { family })
    }
}

/// The order of a standard fence, written without blanks.
fn standard_order(text: &str) -> Option<MemoryOrder> {
    if text == "__sync_synchronize()" {
        return Some(MemoryOrder::SeqCst);
    }
    let (function, arguments) = text.split_once('(')?;
    if !FENCE_FUNCTIONS.contains(&function) {
        return None;
    }
    let order = order_named(arguments.strip_suffix(')')?)?;
    (order != MemoryOrder::Relaxed).then_some(order)
}

fn plain(text: String, order: MemoryOrder) -> Fence {
    Fence {
        text,
        order,
        is_expression: true,
        header: None,
    }
}
