//! Functions of the same file that a loop may call and still wait: those that only ask
//! (`return flag.load() == 1;`), so that the loop waits on the site in it, and those
//! that only calculate.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::rounds::Rounds;
use crate::context::ScanContext;
use crate::outline::{Marks, Outline};
use crate::site::Span;
use crate::syntax::{self, children};

/// The helpers of a file, by name.
pub(super) struct Helpers<'t> {
    by_name: FxHashMap<String, Helper<'t>>,
    /// What functions give back that only calculate; `None` where functions of
    /// one name are not all such.
    calculating: FxHashMap<String, Option<Node<'t>>>,
}

struct Helper<'t> {
    /// What it gives back.
    result: Node<'t>,
    /// The type in which it does.
    returns: Node<'t>,
    /// Its body.
    body: Node<'t>,
    /// The operations in it.
    sites: Vec<usize>,
}

impl<'t> Helpers<'t> {
    /// Finds the functions that are one `return` of an expression, with an atomic
    /// operation in it or without.
    ///
    /// One with an operation must be this file's own: called from another file its
    /// operation is no wait.
    pub(super) fn of(
        outline: &Outline<'t>,
        by_node: &FxHashMap<usize, usize>,
        context: &ScanContext<'_>,
    ) -> Self {
        let mut by_name: FxHashMap<String, Option<Helper<'t>>> = FxHashMap::default();
        let mut calculating = FxHashMap::default();
        let is_header = !is_source_file(context);
        outline.visit(Marks::FUNCTION, |node, _, ancestors| {
            let (Some(body), Some(name)) = (
                node.child_by_field_name("body"),
                syntax::function_name(node, context.file),
            ) else {
                return;
            };
            let statements = children(body);
            let is_overridden = context
                .file
                .slice(&(node.start_byte()..body.start_byte()))
                .contains("virtual");
            let result = only_calculates(&statements, by_node).filter(|_| !is_overridden);
            let known = calculating.entry(name.clone()).or_insert(result);
            *known = result.filter(|result| *known == Some(*result));
            let mut sites = Vec::new();
            syntax::visit(body, |inner, _| {
                sites.extend(by_node.get(&inner.id()).copied())
            });
            let is_own = !is_header
                && !ancestors
                    .iter()
                    .any(|around| around.kind().ends_with("_specifier"))
                && is_static(node, context)
                && has_no_parameters(node, context)
                && context.declared.macro_texts(&name).next().is_none()
                && !context.declared.is_in_macro(&name);
            let helper = returned(&statements).filter(|_| is_own);
            let returns = node.child_by_field_name("type");
            let helper = helper.zip(returns).map(|(result, returns)| Helper {
                result,
                returns,
                body,
                sites,
            });
            // Another one of the name: which is called is not known.
            let helper = helper.filter(|_| !by_name.contains_key(&name));
            by_name.insert(name, helper);
        });
        let by_name = by_name
            .into_iter()
            .filter_map(|(name, helper)| Some((name, helper?)))
            .filter(|(_, helper)| !helper.sites.is_empty())
            .filter(|(name, _)| is_only_called(outline, name, context))
            .collect();
        Self {
            by_name,
            calculating,
        }
    }

    /// What the function of this name gives back, if it only calculates.
    pub(super) fn calculated(&self, name: &str) -> Option<Node<'t>> {
        self.calculating.get(name).copied().flatten()
    }

    /// What the helper of this name gives back.
    pub(super) fn result(&self, name: &str) -> Option<Node<'t>> {
        self.by_name.get(name).map(|helper| helper.result)
    }

    /// The type of what the helper of this name gives back.
    pub(super) fn returns(&self, name: &str) -> Option<Node<'t>> {
        self.by_name.get(name).map(|helper| helper.returns)
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
        self.by_name.get(&*called_function(call, context)?)
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

/// The name of a function that is called by nothing but its name.
pub(super) fn called_function(call: Node<'_>, context: &ScanContext<'_>) -> Option<String> {
    let function = call.child_by_field_name("function")?;
    (function.kind() == "identifier").then(|| context.file.node_text(function).into_owned())
}

fn is_source_file(context: &ScanContext<'_>) -> bool {
    let path = context.file.path();
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|e| matches!(e, "c" | "cc" | "cpp" | "cxx" | "c++" | "C"))
}

fn has_no_parameters(function: Node<'_>, context: &ScanContext<'_>) -> bool {
    syntax::parameters(function, context.file)
        .iter()
        .all(|(_, parameter)| context.file.node_text(*parameter) == "void")
}

fn is_static(function: Node<'_>, context: &ScanContext<'_>) -> bool {
    children(function).iter().any(|child| {
        child.kind() == "storage_class_specifier" && context.file.node_text(*child) == "static"
    })
}

/// Whether nothing but calls names a function.
fn is_only_called(outline: &Outline<'_>, name: &str, context: &ScanContext<'_>) -> bool {
    let mut only = true;
    outline.visit(Marks::OBJECT, |node, _, ancestors| {
        if node.kind() != "identifier" || context.file.node_text(node) != name {
            return;
        }
        let parent = ancestors.last();
        only &= parent.is_some_and(|parent| match parent.kind() {
            "call_expression" => parent.child_by_field_name("function") == Some(node),
            kind => kind == "function_declarator",
        });
    });
    only
}

fn returned<'t>(statements: &[Node<'t>]) -> Option<Node<'t>> {
    let [only] = statements else {
        return None;
    };
    (only.kind() == "return_statement")
        .then(|| children(*only).pop())
        .flatten()
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
