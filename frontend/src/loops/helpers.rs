//! Functions of the same file: those that only ask (`return flag.load() == 1;`), so
//! that a loop that calls one waits on the site in it, and those that write, which
//! are no way to pass the time whatever they are called.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::called_name;
use super::rounds::Rounds;
use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::outline::{Marks, Outline};
use crate::site::{SiteOperation, Span};
use crate::syntax::{self, children};

/// The helpers of a file, by name.
pub(super) struct Helpers<'t> {
    by_name: FxHashMap<String, Helper<'t>>,
    /// The names of functions with an atomic write in them.
    writing: FxHashSet<String>,
    /// What functions give back that only calculate; `None` where functions of
    /// one name are not all such.
    calculating: FxHashMap<String, Option<Node<'t>>>,
}

struct Helper<'t> {
    /// What it gives back.
    result: Node<'t>,
    /// Its body.
    body: Node<'t>,
    /// The operations in it.
    sites: Vec<usize>,
}

impl<'t> Helpers<'t> {
    /// Finds the functions whose body only declares and returns, with an atomic
    /// operation in it.
    pub(super) fn of(
        outline: &Outline<'t>,
        found: &[FoundSite<'_>],
        by_node: &FxHashMap<usize, usize>,
        context: &ScanContext<'_>,
    ) -> Self {
        let mut by_name = FxHashMap::default();
        let mut writing = FxHashSet::default();
        let mut calculating = FxHashMap::default();
        let mut writes: Vec<usize> = found
            .iter()
            .filter(|site| {
                use SiteOperation::{CompareExchange, Rmw, Store};
                matches!(site.operation, Store | Rmw | CompareExchange { .. })
            })
            .map(|site| site.node.start_byte())
            .collect();
        writes.sort_unstable();
        outline.visit(Marks::FUNCTION, |node, _, _| {
            let Some(body) = node.child_by_field_name("body") else {
                return;
            };
            let next = writes.partition_point(|&write| write < body.start_byte());
            if writes
                .get(next)
                .is_some_and(|&write| write < body.end_byte())
            {
                writing.extend(syntax::function_name(node, context.file));
            }
            let statements = children(body);
            if let Some(name) = syntax::function_name(node, context.file) {
                let result = only_calculates(&statements, by_node);
                let known = calculating.entry(name).or_insert(result);
                *known = result.filter(|result| *known == Some(*result));
            }
            let Some((last, before)) = statements.split_last() else {
                return;
            };
            let only_declares = before.iter().all(|s| s.kind() == "declaration");
            if last.kind() != "return_statement" || !only_declares {
                return;
            }
            let Some(result) = children(*last).pop() else {
                return;
            };
            let mut sites = Vec::new();
            syntax::visit(body, |inner, _| {
                sites.extend(by_node.get(&inner.id()).copied())
            });
            if sites.is_empty() {
                return;
            }
            if let Some(name) = syntax::function_name(node, context.file) {
                by_name.insert(
                    name,
                    Helper {
                        result,
                        body,
                        sites,
                    },
                );
            }
        });
        Self {
            by_name,
            writing,
            calculating,
        }
    }

    /// What the function of this name gives back, if it only calculates.
    pub(super) fn calculated(&self, name: &str) -> Option<Node<'t>> {
        self.calculating.get(name).copied().flatten()
    }

    /// Whether a function of this name writes to atomic objects.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.writing.contains(name)
    }

    /// What the helper of this name gives back.
    pub(super) fn result(&self, name: &str) -> Option<Node<'t>> {
        self.by_name.get(name).map(|helper| helper.result)
    }

    /// The bodies of the helpers that a loop calls.
    pub(super) fn bodies_called_in(
        &self,
        rounds: &Rounds<'t>,
        context: &ScanContext<'_>,
    ) -> Vec<Node<'t>> {
        let mut bodies = Vec::new();
        if self.by_name.is_empty() {
            return bodies;
        }
        for part in rounds.parts() {
            syntax::visit(part, |node, _| {
                if node.kind() == "call_expression" {
                    bodies.extend(self.called_by(node, context).map(|helper| helper.body));
                }
            });
        }
        bodies
    }

    fn called_by(&self, call: Node<'_>, context: &ScanContext<'_>) -> Option<&Helper<'t>> {
        self.by_name.get(&called_name(call, context)?)
    }

    /// The sites of helpers that are also called outside the given calls.
    pub(super) fn called_elsewhere(
        &self,
        outline: &Outline<'t>,
        waits: &[Span],
        context: &ScanContext<'_>,
    ) -> Vec<usize> {
        let mut sites = Vec::new();
        if self.by_name.is_empty() {
            return sites;
        }
        outline.visit(Marks::CALL, |call, _, _| {
            if let Some(helper) = self.called_by(call, context)
                && !waits.contains(&call.byte_range())
            {
                sites.extend(&helper.sites);
            }
        });
        sites
    }
}

/// What a body gives back that is one `return` of an expression without calls,
/// atomic operations and effects.
fn only_calculates<'t>(
    statements: &[Node<'t>],
    by_node: &FxHashMap<usize, usize>,
) -> Option<Node<'t>> {
    let [only] = statements else {
        return None;
    };
    let result = children(*only).pop()?;
    let mut calculates = only.kind() == "return_statement";
    syntax::visit(result, |inner, _| {
        calculates &= !by_node.contains_key(&inner.id())
            && !matches!(
                inner.kind(),
                "call_expression"
                    | "assignment_expression"
                    | "update_expression"
                    | "new_expression"
                    | "delete_expression"
                    | "lambda_expression"
                    | "co_await_expression"
            );
    });
    calculates.then_some(result)
}
