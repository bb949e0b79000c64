//! How a plain or volatile access is written once it is atomic: by the compilers'
//! builtins, or by `std::atomic_ref` where the file is C++20 throughout. Knows nothing of
//! where the text goes.

use wmfix_frontend::{Language, MemoryOrder, Site, SiteOperation, Span};

use crate::spelling::Spelling;

/// The text of an atomic access; that of a store goes around its value.
pub(crate) struct AccessText {
    pub(crate) open: String,
    pub(crate) close: String,
}

/// An access with this order; `None` if the site names no object.
pub(crate) fn access_text(
    spelling: &Spelling<'_>,
    site: &Site,
    order: MemoryOrder,
) -> Option<AccessText> {
    let object = spelling.file.slice(site.object.as_ref()?);
    let is_load = site.operation == SiteOperation::Load;
    if takes_reference(spelling, site) {
        let said = spelling.order(order, "std");
        let verb = if is_load { "load" } else { "store" };
        return Some(AccessText {
            open: format!("std::atomic_ref({object}).{verb}("),
            close: match is_load {
                true => format!("{said})"),
                false => format!(", {said})"),
            },
        });
    }
    let said = spelling.order(order, "gnu");
    let address = match object.strip_prefix('*') {
        Some(pointer) => pointer.trim().to_owned(),
        None => format!("&{object}"),
    };
    let name = if is_load { "load" } else { "store" };
    Some(AccessText {
        open: format!("__atomic_{name}_n({address}, "),
        close: match is_load {
            true => format!("{said})"),
            false => format!(", {said})"),
        },
    })
}

/// The header that the text needs and that the file does not have.
pub(crate) fn missing_header(spelling: &Spelling<'_>, site: &Site) -> Option<&'static str> {
    let is_plain = &*site.vocabulary == "plain";
    (is_plain && takes_reference(spelling, site))
        .then(|| spelling.missing_header("plain", true))
        .flatten()
}

/// Whether the access goes through `std::atomic_ref`, which takes neither what is volatile
/// nor what is const.
fn takes_reference(spelling: &Spelling<'_>, site: &Site) -> bool {
    &*site.vocabulary == "plain"
        && spelling.file.language() == Language::Cpp
        && !spelling.is_shared_header
        && spelling.project.cpp20.contains(&**spelling.file.path())
        && !site
            .function_span
            .as_ref()
            .is_some_and(|function| says_const(spelling, function))
}

/// Whether a function says that something is const before its body begins: the object
/// may be a part of that.
fn says_const(spelling: &Spelling<'_>, function: &Span) -> bool {
    let text = spelling.file.slice(function);
    let head = text.split('{').next().unwrap_or_default();
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    head.split(|c| !of_word(c)).any(|word| word == "const")
}
