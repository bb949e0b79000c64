//! How a plain or volatile access is written once it is atomic: by a macro or function of
//! the project that does just that, else by the compilers' builtins, or by
//! `std::atomic_ref` where the file is C++20 throughout. Knows nothing of where the text
//! goes.

use wmfix_frontend::{Accessor, Language, MemoryOrder, Site, SiteOperation, Span};

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
    if let Some(accessor) = accessor(spelling, site, order) {
        return Some(accessor_text(accessor, spelling, site, &object));
    }
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
    let address = address_of(&object);
    let name = if is_load { "load" } else { "store" };
    Some(AccessText {
        open: format!("__atomic_{name}_n({address}, "),
        close: match is_load {
            true => format!("{said})"),
            false => format!(", {said})"),
        },
    })
}

/// The project's own macro or function for an access with this order.
fn accessor<'a>(
    spelling: &'a Spelling<'_>,
    site: &Site,
    order: MemoryOrder,
) -> Option<&'a Accessor> {
    let file = spelling.file;
    let accessors = spelling.project.accessors.get(&**file.path())?;
    accessors.fitting(file, site, order, may_be_const(spelling, site))
}

/// A call of the project's own macro or function.
fn accessor_text(
    accessor: &Accessor,
    spelling: &Spelling<'_>,
    site: &Site,
    object: &str,
) -> AccessText {
    let name = accessor.name_at(spelling.file, site);
    let object = match accessor.takes_address() {
        true => address_of(object),
        false => object.to_owned(),
    };
    let is_load = site.operation == SiteOperation::Load;
    let (open, close) = match (is_load, accessor.takes_value_first()) {
        (true, _) => (format!("{name}({object}"), ")".to_owned()),
        (_, true) => (format!("{name}("), format!(", {object})")),
        (_, false) => (format!("{name}({object}, "), ")".to_owned()),
    };
    AccessText { open, close }
}

/// The address of an object, as an argument.
fn address_of(object: &str) -> String {
    match object.strip_prefix('*') {
        Some(pointer) => pointer.trim().to_owned(),
        None => format!("&{object}"),
    }
}

/// The header that the text needs and that the file does not have.
pub(crate) fn missing_header(
    spelling: &Spelling<'_>,
    site: &Site,
    order: MemoryOrder,
) -> Option<&'static str> {
    let is_plain = &*site.vocabulary == "plain";
    let is_called = is_plain && accessor(spelling, site, order).is_some();
    (is_plain && !is_called && takes_reference(spelling, site))
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
        && !may_be_const(spelling, site)
}

/// Whether the object may be const where it is accessed.
fn may_be_const(spelling: &Spelling<'_>, site: &Site) -> bool {
    let function = site.function_span.as_ref();
    function.is_some_and(|function| says_const(spelling, function))
}

/// Whether a function says that something is const before its body begins: the object
/// may be a part of that.
fn says_const(spelling: &Spelling<'_>, function: &Span) -> bool {
    let text = spelling.file.slice(function);
    let head = text.split('{').next().unwrap_or_default();
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    head.split(|c| !of_word(c)).any(|word| word == "const")
}
