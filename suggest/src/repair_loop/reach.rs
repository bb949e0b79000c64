//! How many runs of a patched program came to each change: by the operation that was
//! changed, by the call that leads to it, or by a new fence that ran. Knows nothing of
//! what the runs showed.

use std::collections::HashMap;
use std::path::PathBuf;

use wmfix_analysis::SiteId;
use wmfix_frontend::Site;
use wmfix_repair::ChangeKind;

use super::{ExplainedChange, PatchedRuns, RepairResult, Verification, changed_site};
use crate::observe::{Place, Places};
use crate::subject::PatchedFile;
use crate::trace_remapper::TraceRemapper;

/// A byte of a file before the patch.
type Offset = (PathBuf, usize);

/// The runs of a patched program that came to places, as the original has these.
#[derive(Default)]
struct RunCounts {
    /// By where the operation, or the call that leads to it, starts.
    operations: HashMap<Offset, u64>,
    /// By where a fence was put in.
    fences: HashMap<Offset, u64>,
}

/// Notes for each change how many runs of the patched program came to it. What is
/// written in another way since the patch is not missed by them.
pub(super) fn count_runs_at_changes(
    result: &mut RepairResult,
    original: &mut Places,
    runs: &mut PatchedRuns,
) {
    let changed = result.changes.iter();
    let changed = changed.filter(|change| change.before.is_plain());
    let plain: Vec<_> = changed.filter_map(changed_site).collect();
    let remapper = TraceRemapper::new(&plain, &result.files, runs.copy.as_ref(), original);
    let mut counts = RunCounts::default();
    let reached = runs.evidence.collected().reached.clone();
    for (id, count) in reached {
        counts.add(id, count, runs.evidence.places(), original, &remapper);
    }
    let files: HashMap<_, _> = (result.files.iter())
        .map(|file| (file.path.as_path(), file))
        .collect();
    if let Verification::Clean(verified) = &mut result.verification {
        verified
            .missed
            .retain(|&site| !counts.has_operation(original.get(site)));
    }
    for change in &mut result.changes {
        // A fence that has moved is not where it was.
        let moved = matches!(change.kind, ChangeKind::Move(_));
        let site = change.at.text.as_ref().filter(|_| !moved);
        change.reached = site.map(|site| {
            let file = files.get(site.file.as_path());
            file.map_or(0, |file| counts.at(change, site, file))
        });
    }
}

impl RunCounts {
    fn add(
        &mut self,
        id: SiteId,
        count: u64,
        patched: &mut Places,
        original: &mut Places,
        remapper: &TraceRemapper<'_>,
    ) {
        let place = patched.get(id);
        let fence = remapper.insertion(place);
        let (site, call) = (place.site.clone(), place.call.clone());
        let operation = site.and_then(|site| remapper.original_site(&site, original));
        let operation = operation.map(|before| (before.file.to_path_buf(), before.span.start));
        // A change may be at the call of a function that only hands the operation on, or
        // that does nothing else.
        let call = call.or_else(|| patched.call_of_wrapper(id));
        let call = call.and_then(|call| remapper.original_start(&call));
        for at in operation.into_iter().chain(call) {
            raise(&mut self.operations, at, count);
        }
        if let Some(fence) = fence {
            raise(&mut self.fences, fence, count);
        }
    }

    /// Whether runs came to the operation of a place of the original.
    fn has_operation(&self, place: &Place) -> bool {
        let texts = place.call.iter().chain(&place.site);
        let mut starts = texts.map(|site| (site.file.to_path_buf(), site.span.start));
        starts.any(|at| self.operations.contains_key(&at))
    }

    /// The runs that came to a change of an operation in this file.
    fn at(&self, change: &ExplainedChange, site: &Site, patched: &PatchedFile) -> u64 {
        let at = (site.file.to_path_buf(), site.span.start);
        let operation = self.operations.get(&at).copied();
        let fences = self.fences.iter().filter(|((file, offset), _)| {
            **file == **site.file
                && (is_beside(change.kind, site, *offset, &patched.before)
                    || begins_statement(site, *offset, &patched.before)
                        && is_taken_out(site, patched))
        });
        let fence = fences.map(|(_, count)| *count).max();
        operation.max(fence).unwrap_or(0)
    }
}

/// Whether the patch takes an operation out of its statement, and puts it before that
/// together with its fence.
fn is_taken_out(site: &Site, patched: &PatchedFile) -> bool {
    let mut edits = patched.edits.edits().iter();
    edits.any(|edit| edit.span.start <= site.span.start && site.span.end <= edit.span.end)
}

/// Whether only space lies between an offset and the statement of an operation.
fn begins_statement(site: &Site, offset: usize, text: &[u8]) -> bool {
    is_blank(text, offset, site.statement.start)
}

fn is_blank(text: &[u8], from: usize, to: usize) -> bool {
    let between = text.get(from..to);
    between.is_some_and(|between| between.iter().all(u8::is_ascii_whitespace))
}

fn raise(counts: &mut HashMap<Offset, u64>, at: Offset, count: u64) {
    let most = counts.entry(at).or_default();
    *most = count.max(*most);
}

/// Whether a fence that was put in here is the one that a change puts before or after
/// the operation: in its statement, or next to that.
fn is_beside(kind: ChangeKind, site: &Site, offset: usize, text: &[u8]) -> bool {
    let (operation, statement) = (&site.span, &site.statement);
    match kind {
        ChangeKind::FenceBefore(_) => {
            offset <= operation.start
                && (statement.start <= offset || begins_statement(site, offset, text))
        }
        ChangeKind::FenceAfter(_) => {
            operation.end <= offset
                && (offset <= statement.end || is_blank(text, statement.end, offset))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use wmfix_analysis::FenceOrder;
    use wmfix_frontend::{Vocabularies, scan_source};

    #[test]
    fn a_fence_is_beside_the_statement_it_was_put_next_to_and_no_other() {
        let text: &[u8] = b"#include <stdatomic.h>\nvoid f(atomic_int *x) {\n  \
            g();\n  atomic_store(x, 1);\n  h();\n}\n";
        let scan = scan_source(Path::new("a.c"), text, &Vocabularies::builtin());
        let site = &scan.sites[0];
        let at = |needle: &str| {
            let words = text.windows(needle.len());
            { words }
                .position(|word| word == needle.as_bytes())
                .unwrap()
        };
        let before = ChangeKind::FenceBefore(FenceOrder::SeqCst);
        let after = ChangeKind::FenceAfter(FenceOrder::SeqCst);
        let is_beside = |kind, offset| is_beside(kind, site, offset, text);
        assert!(is_beside(before, at("atomic_store")));
        assert!(is_beside(before, at("  atomic_store")));
        assert!(!is_beside(before, at("g();")) && !is_beside(before, at("h();")));
        assert!(is_beside(after, at("\n  h();")) && is_beside(after, at("h();")));
        assert!(!is_beside(after, at("atomic_store")) && !is_beside(after, at("}\n")));
    }
}
