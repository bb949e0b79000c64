//! How this file writes a fence. The project's own way comes first: its fence
//! macro or function, a fence that is already there with another order; only then
//! the vocabulary of the site decides.

use tree_sitter::Node;
use wmfix_frontend::{Language, MemoryOrder, OrderForm, Site, SiteOperation};

use crate::fence_wrapper::{FenceWrapper, WrapperCall, standard_order};
use crate::order_words::squeeze;
use crate::spelling::Spelling;

/// The vocabularies whose names the language or the compiler always knows.
const STANDARD_VOCABULARIES: [&str; 5] = ["std", "c11", "gnu", "boost", "volatile"];

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
            let mut wrappers = self.wrappers.iter().chain(self.header_fences());
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
        if let Some(fence) = wrappers.find_map(|wrapper| self.call_of(wrapper, order)) {
            return fence;
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
        let of_header = || {
            let mut wrappers = self.header_fences();
            wrappers.find_map(|wrapper| self.call_of(wrapper, order))
        };
        self.fence_in_file(order)
            .or_else(of_header)
            .unwrap_or_else(|| self.standard_fence(site, order))
    }

    fn call_of(&self, wrapper: &FenceWrapper, order: MemoryOrder) -> Option<Fence> {
        let text = match &wrapper.call {
            WrapperCall::Fixed(known, call) => (*known == order).then(|| call.clone())?,
            WrapperCall::WithOrder { family } => {
                format!("{}({})", wrapper.name, self.order(order, family))
            }
        };
        Some(Fence {
            text,
            order,
            is_expression: wrapper.is_expression,
            header: None,
        })
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
            "gnu" | "volatile" | "plain" => builtin(),
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

fn plain(text: String, order: MemoryOrder) -> Fence {
    Fence {
        text,
        order,
        is_expression: true,
        header: None,
    }
}
