//! The names of global and static variables, from a module's symbol table, and of
//! their parts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol, SymbolKind};

use super::members;

/// A module's variables, by address.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// The file.
    path: PathBuf,
    /// Sorted by address; none of size 0.
    all: Vec<Variable>,
    /// What the parts are called that were asked for, by the address of the variable
    /// and the offset in it.
    parts: HashMap<(u64, u64), Option<String>>,
}

#[derive(Debug)]
struct Variable {
    address: u64,
    size: u64,
    name: String,
    /// The symbol has a number: it may be a piece of a variable.
    is_numbered: bool,
}

impl Variables {
    /// Reads a file's symbols. A file that cannot be read has none: its
    /// variables are then shown by address.
    pub(super) fn of_file(path: &Path) -> Self {
        let Ok(data) = std::fs::read(path) else {
            return Self::default();
        };
        let Ok(file) = object::File::parse(&*data) else {
            return Self::default();
        };
        let mut all: Vec<Variable> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| {
                symbol.is_definition() && symbol.kind() == SymbolKind::Data && symbol.size() > 0
            })
            .filter_map(|symbol| {
                let name = symbol.name().ok()?;
                Some(Variable {
                    address: symbol.address(),
                    size: symbol.size(),
                    name: plain_name(name),
                    is_numbered: name != without_number(name),
                })
            })
            .collect();
        all.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        all.dedup_by_key(|variable| variable.address);
        Self {
            path: path.to_owned(),
            all,
            parts: HashMap::new(),
        }
    }

    /// The variable that these bytes are: `x`, or a part of it, `x.tail` or `x[3]`, or
    /// `x+8` where nothing says what is there.
    pub(super) fn name(&mut self, address: u64, size: u64) -> Option<String> {
        let after = self
            .all
            .partition_point(|variable| variable.address <= address);
        let variable = &self.all[after.checked_sub(1)?];
        match address - variable.address {
            0 if variable.size <= size && !variable.is_numbered => Some(variable.name.clone()),
            offset if offset < variable.size => {
                let (path, at) = (&self.path, variable.address);
                let part = self
                    .parts
                    .entry((at, offset))
                    .or_insert_with(|| members::part(path, at, offset));
                Some(match part {
                    Some(part) => format!("{}{part}", variable.name),
                    None if variable.size <= size => variable.name.clone(),
                    None => format!("{}+{offset}", variable.name),
                })
            }
            _ => None,
        }
    }
}

/// A symbol without the numbers that a compiler gives to a function's static variable
/// (`counter.0`) and to the pieces of a variable (`queue.1.0`).
fn without_number(symbol: &str) -> &str {
    let end = symbol.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
    match symbol[end.len()..].find('.') {
        Some(number) => &symbol[..end.len() + number],
        None => symbol,
    }
}

/// Demangled, and without numbers. The name of a C variable is none of the
/// demangler's business: it would take `x` for a type.
fn plain_name(symbol: &str) -> String {
    let symbol = without_number(symbol);
    let mangled = symbol.strip_prefix("_Z").map(|_| symbol);
    let name = mangled
        .and_then(|name| addr2line::demangle(name, addr2line::gimli::DW_LANG_C_plus_plus))
        .unwrap_or_else(|| symbol.to_owned());
    // A function's own variable: its name is enough.
    let inner = name.rsplit_once(")::").map(|(_, name)| name.to_owned());
    inner.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_names_are_left_alone() {
        assert_eq!(plain_name("x"), "x");
        assert_eq!(plain_name("y"), "y");
        assert_eq!(plain_name("_ZN5queue4headE"), "queue::head");
    }

    #[test]
    fn an_address_is_named_by_the_variable_around_it() {
        let variable = |address, size, name: &str| Variable {
            address,
            size,
            name: name.to_owned(),
            is_numbered: false,
        };
        let mut variables = Variables {
            all: vec![variable(16, 4, "x"), variable(32, 16, "queue")],
            ..Variables::default()
        };
        assert_eq!(variables.name(16, 4).as_deref(), Some("x"));
        assert_eq!(variables.name(40, 8).as_deref(), Some("queue+8"));
        assert_eq!(variables.name(32, 8).as_deref(), Some("queue+0"));
        assert_eq!(variables.name(20, 4), None);
        assert_eq!(variables.name(3, 4), None);
        assert_eq!(variables.name(48, 4), None);
    }

    #[test]
    fn names_are_as_the_source_has_them() {
        assert_eq!(plain_name("counter.0"), "counter");
        assert_eq!(plain_name("queue2.1.0"), "queue2");
        assert_eq!(plain_name("_ZL2y1.0"), "y1");
        assert_eq!(plain_name("_ZN2ns4headE"), "ns::head");
        assert_eq!(plain_name("plain"), "plain");
    }
}
