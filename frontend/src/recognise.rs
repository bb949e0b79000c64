//! The operations in a tree: calls and uses of atomic objects, with the parts they
//! play in loops.

use tree_sitter::Tree;

use crate::context::ScanContext;
use crate::found_site::{FoundSite, Surroundings};
use crate::outline::{Marks, Outline};
use crate::{calls, implicit, loops};

/// The operations in a tree, each with its surroundings.
pub(crate) struct FoundSites<'t> {
    /// Those of which the text tells that they are atomic.
    pub certain: Vec<(FoundSite<'t>, Surroundings)>,
    /// The others.
    pub possible: Vec<(FoundSite<'t>, Surroundings)>,
}

/// The operations in a part of the file that was parsed by itself.
pub(crate) fn found_in_part<'t>(
    part: &'t Tree,
    context: &ScanContext<'_>,
) -> Vec<(FoundSite<'t>, Surroundings)> {
    let outline = Outline::of_part(part.root_node(), context.file.language());
    found_in(&outline, context).certain
}

/// The operations in a tree: the file's, or that of a part.
pub(crate) fn found_in<'t>(outline: &Outline<'t>, context: &ScanContext<'_>) -> FoundSites<'t> {
    let mut found: Vec<FoundSite<'t>> = Vec::new();
    let mut possible: Vec<FoundSite<'t>> = Vec::new();
    let mut around = Vec::new();
    let mut around_possible = Vec::new();
    outline.visit(Marks::CALL | Marks::OBJECT, |node, marks, ancestors| {
        let item = if marks.meet(Marks::CALL) {
            calls::recognise(node, context)
        } else {
            implicit::recognise(node, ancestors, context)
        };
        if let Some(item) = item {
            let surroundings = Surroundings::of(item.node, ancestors, context.file);
            if item.certain {
                around.push(surroundings);
                found.push(item);
            } else {
                around_possible.push(surroundings);
                possible.push(item);
            }
        }
    });
    if !possible.is_empty() {
        // If they are sites, they see the others; the others are what they are
        // without them.
        let mut all = found.clone();
        all.append(&mut possible);
        loops::assign(outline, &mut all, context);
        possible = all.split_off(found.len());
    }
    loops::assign(outline, &mut found, context);
    FoundSites {
        certain: found.into_iter().zip(around).collect(),
        possible: possible.into_iter().zip(around_possible).collect(),
    }
}
