//! How this file writes a fence. The project's own way comes first: its fence
//! macro or function, a fence that is already there with another order; only then
//! the vocabulary of the site decides.

use tree_sitter::Node;
use wmfix_frontend::{Language, MemoryOrder, OrderForm, Site, SiteOperation};

use crate::fence_wrapper::{FenceWrapper, WrapperCall, standard_order};
use crate::include::include_targets;
use crate::order_words::{in_case_of, split_order, squeeze};
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
            let mut wrappers = self.wrappers.iter().chain(&self.header_wrappers);
            wrappers.find_map(|wrapper| wrapper.order_of(squeezed))
        })
    }

    /// The fence of this order to write near `site`. The project's own fence may
    /// be stronger.
    pub(crate) fn fence(&self, site: &Site, order: MemoryOrder) -> Fence {
        if let Some(text) = &self.project.fence {
            return plain(text.clone(), order);
        }
        if self
            .project
            .standard_fences
            .contains(self.file.path().as_path())
        {
            return self.safest_fence(site, order);
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
            let mut wrappers = self.header_wrappers.iter();
            wrappers.find_map(|wrapper| self.call_of(wrapper, order))
        };
        self.fence_in_file(order)
            .or_else(of_header)
            .unwrap_or_else(|| self.standard_fence(site, order))
    }

    fn call_of(&self, wrapper: &FenceWrapper, order: MemoryOrder) -> Option<Fence> {
        let text = match &wrapper.call {
            WrapperCall::Fixed(known, call) => (*known == order).then(|| call.clone())?,
            WrapperCall::WithOrder { except, .. } if *except == Some(order) => return None,
            WrapperCall::WithOrder { family, .. } => {
                let argument = self.argument_of(wrapper, order, *family)?;
                format!("{}({argument})", wrapper.name)
            }
        };
        Some(Fence {
            text,
            order,
            is_expression: wrapper.is_expression,
            header: None,
        })
    }

    /// An order as the argument of a wrapper: as another call has it, as the project names
    /// its orders, or in the wrapper's family, if it has one.
    fn argument_of(
        &self,
        wrapper: &FenceWrapper,
        order: MemoryOrder,
        family: Option<&'static str>,
    ) -> Option<String> {
        let layers = self.layers();
        let used = arguments_of(self.file.text(), &wrapper.name);
        let as_used = used.filter_map(|old| {
            let (prefix, word) = split_order(old)?;
            let new = format!("{prefix}{}", in_case_of(word, order)?);
            (layers.order(old).is_some() && layers.order(&new) == Some(order) && self.knows(&new))
                .then_some(new)
        });
        let own = || layers.own_order(order, &wrapper.name, family.is_none());
        (as_used.into_iter().next())
            .or_else(|| own().map(str::to_owned))
            .or_else(|| Some(self.order(order, family?)))
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

    /// A fence that compiles wherever the compilers are gcc and clang.
    fn safest_fence(&self, site: &Site, order: MemoryOrder) -> Fence {
        let fence = self.standard_fence(site, order);
        let header = match self.file.language() {
            Language::C => "<stdatomic.h>",
            Language::Cpp => "<atomic>",
        };
        let is_included = include_targets(self.file).iter().any(|one| one == header);
        match is_included && fence.header.is_none() {
            true => fence,
            false => self.builtin_fence(order),
        }
    }

    fn builtin_fence(&self, order: MemoryOrder) -> Fence {
        let order_name = self.order(order, "gnu");
        plain(format!("__atomic_thread_fence({order_name})"), order)
    }

    fn standard_fence(&self, site: &Site, order: MemoryOrder) -> Fence {
        if self.is_shared_header {
            return self.builtin_fence(order);
        }
        match &*site.vocabulary {
            "gnu" if site.callee.starts_with("__sync_") && order == MemoryOrder::SeqCst => {
                plain("__sync_synchronize()".to_owned(), order)
            }
            "gnu" | "volatile" | "plain" => self.builtin_fence(order),
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

/// The arguments of the calls of a name in a text that have only one, a name.
fn arguments_of<'t>(text: &'t [u8], name: &str) -> impl Iterator<Item = &'t str> {
    let call = format!("{name}(");
    let starts: Vec<usize> = (text.windows(call.len()).enumerate())
        .filter(|(_, window)| *window == call.as_bytes())
        .map(|(at, _)| at + call.len())
        .collect();
    starts.into_iter().filter_map(|start| {
        let length = text[start..].iter().position(|&byte| byte == b')')?;
        let argument = std::str::from_utf8(&text[start..start + length]).ok()?;
        let argument = argument.trim();
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
        (!argument.is_empty() && argument.chars().all(of_name)).then_some(argument)
    })
}
