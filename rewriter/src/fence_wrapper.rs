//! Macros and functions of a file that are nothing but a fence, and how they are
//! called.

use tree_sitter::Node;
use wmfix_frontend::{MemoryOrder, ParsedFile};

use crate::order_words::{order_named, squeeze};
use crate::view::children;

/// The functions that are a fence of the order that they are given.
const FENCE_FUNCTIONS: [&str; 4] = [
    "std::atomic_thread_fence",
    "boost::atomic_thread_fence",
    "atomic_thread_fence",
    "__atomic_thread_fence",
];

/// A macro or function of this file that is nothing but a fence.
#[derive(Clone, Debug)]
pub(crate) struct FenceWrapper {
    pub(crate) defined_at: usize,
    pub(crate) name: String,
    pub(crate) call: WrapperCall,
    pub(crate) is_expression: bool,
}

/// How a wrapper is called.
#[derive(Clone, Debug)]
pub(crate) enum WrapperCall {
    /// As it stands, for a fence of this order: `mb()` or `MB`.
    Fixed(MemoryOrder, String),
    /// With the order as its argument: `fence(memory_order_release)`.
    WithOrder {
        /// The family of names that its orders have.
        family: &'static str,
    },
}

impl FenceWrapper {
    /// The wrappers that a file defines.
    pub(crate) fn all(file: &ParsedFile) -> Vec<Self> {
        let mut found = Vec::new();
        collect(file, file.tree().root_node(), &mut found);
        found
    }

    /// The wrapper that a macro is.
    fn of_macro(file: &ParsedFile, definition: Node<'_>) -> Option<Self> {
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
    fn of_function(file: &ParsedFile, definition: Node<'_>) -> Option<Self> {
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
    pub(crate) fn order_of(&self, text: &str) -> Option<MemoryOrder> {
        match &self.call {
            WrapperCall::Fixed(order, call) => (call == text).then_some(*order),
            WrapperCall::WithOrder { .. } => {
                let inner = text.strip_prefix(&self.name)?.strip_prefix('(')?;
                order_named(inner.strip_suffix(')')?)
            }
        }
    }
}

fn collect(file: &ParsedFile, node: Node<'_>, found: &mut Vec<FenceWrapper>) {
    for child in children(node) {
        match child.kind() {
            "preproc_function_def" | "preproc_def" => {
                found.extend(FenceWrapper::of_macro(file, child));
            }
            "function_definition" => found.extend(FenceWrapper::of_function(file, child)),
            "namespace_definition" | "declaration_list" | "linkage_specification" => {
                collect(file, child, found);
            }
            kind if kind.starts_with("preproc_if") || kind.starts_with("preproc_el") => {
                collect(file, child, found);
            }
            _ => {}
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
pub(crate) fn standard_order(text: &str) -> Option<MemoryOrder> {
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
