//! What recognising a site needs to know about its file: its text, what it declares
//! and how atomics are spelled there. Finds nothing itself.

use tree_sitter::Node;

use crate::declarations::{Declarations, Type};
use crate::orders::{OrderNames, named, squeeze, standard};
use crate::site::{OrderForm, OrderSpelling};
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::Rule;

/// What recognising a site needs to know about its file.
pub(crate) struct ScanContext<'f> {
    pub file: &'f ParsedFile,
    pub declared: &'f Declarations,
    pub vocabularies: &'f Vocabularies,
    active: Vec<bool>,
}

impl<'f> ScanContext<'f> {
    pub(crate) fn new(
        file: &'f ParsedFile,
        declared: &'f Declarations,
        vocabularies: &'f Vocabularies,
    ) -> Self {
        Self {
            file,
            declared,
            vocabularies,
            active: vocabularies.active_in(file.text()),
        }
    }

    /// The same for a text that this file stands for in other words.
    pub(crate) fn for_text<'t>(
        &'t self,
        file: &'t ParsedFile,
        declared: &'t Declarations,
    ) -> ScanContext<'t> {
        ScanContext {
            file,
            declared,
            vocabularies: self.vocabularies,
            active: self.active.clone(),
        }
    }

    pub(crate) fn type_of(&self, node: Node<'_>) -> Type {
        self.declared.type_of(node, self.file, self.vocabularies)
    }

    /// The rules for calls of `name`: the project's vocabularies, then the macros
    /// of this file and its headers, then ours.
    pub(crate) fn rules<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Rule> {
        let spoken = || {
            self.vocabularies
                .rules(name)
                .filter(|rule| self.active[rule.vocabulary])
        };
        let own = spoken().filter(|rule| self.vocabularies.is_project(rule.vocabulary));
        let ours = spoken().filter(|rule| !self.vocabularies.is_project(rule.vocabulary));
        own.chain(self.declared.macro_rule(name)).chain(ours)
    }

    /// Reads an argument that is part of an order's name.
    pub(crate) fn read_pasted_order(
        &self,
        argument: Node<'_>,
        prefix: &str,
        suffix: &str,
    ) -> OrderSpelling {
        let name = format!(
            "{prefix}{}{suffix}",
            squeeze(&self.file.node_text(argument))
        );
        let last = name.rsplit("::").next().unwrap_or_default();
        let order = standard(&name)
            .or_else(|| self.vocabularies.order_spelled(&name))
            .or_else(|| {
                self.orders()
                    .find_map(|names| names.aliases.get(last).copied())
            })
            .or_else(|| named(&name));
        OrderSpelling {
            order,
            form: OrderForm::Pasted {
                span: argument.byte_range(),
                prefix: prefix.to_owned(),
                suffix: suffix.to_owned(),
            },
        }
    }

    /// What this file, then each header it includes, says about orders.
    pub(crate) fn orders(&self) -> impl Iterator<Item = &OrderNames> {
        let imported = self.declared.imports.iter().map(|import| &import.orders);
        std::iter::once(&self.declared.orders).chain(imported)
    }

    /// Reads an argument in the position of an order.
    pub(crate) fn read_order(&self, argument: Node<'_>) -> OrderSpelling {
        let mut first = None;
        for names in self.orders() {
            let spelling = names.read(argument, self.file, self.vocabularies);
            if spelling.order.is_some() {
                return spelling;
            }
            first.get_or_insert(spelling);
        }
        // Only a name that nobody defines is believed to be what it says.
        if let Some(order) = named(&squeeze(&self.file.node_text(argument))) {
            return OrderSpelling {
                order: Some(order),
                form: OrderForm::Literal(argument.byte_range()),
            };
        }
        first.unwrap_or(OrderSpelling {
            order: None,
            form: OrderForm::NotLiteral(argument.byte_range()),
        })
    }
}
