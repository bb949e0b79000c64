//! The whole way from changes to edits of one file: refuse what is not ours,
//! draft the rest together, and look at the result before anyone else does.

use std::collections::HashMap;

use tree_sitter::Node;
use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, Span};

use crate::assertion::{assertion_around, depends_on_ndebug};
use crate::change::{Side, TextChange, TextChangeKind};
use crate::draft::Draft;
use crate::edit::{Edit, EditSet};
use crate::fence::{Fences, spans};
use crate::fence_move::move_fence;
use crate::fence_removal::remove_fence;
use crate::include::include;
use crate::insertion_point::Comment;
use crate::layout::Layout;
use crate::project::Project;
use crate::raise::{assign, raise};
use crate::refusal::Refusal;
use crate::spelling::Spelling;
use crate::temporary::Temporaries;
use crate::view::{View, children, is_statement};

/// The result of changes to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The edits of all changes that were not refused, merged.
    pub edits: EditSet,
    /// The changes that were refused, by their index, and why.
    pub refused: Vec<(usize, Refusal)>,
}

/// Plans `changes` to one file. `sites` are all sites of the file, not only those
/// that change: what else a statement does decides where a fence may stand.
pub fn rewrite(
    file: &ParsedFile,
    sites: &[Site],
    changes: &[TextChange],
    project: &Project,
) -> Rewrite {
    FileRewriter::new(file, sites, project).rewrite(changes)
}

/// A fence that changes ask for.
struct WantedFence {
    side: Side,
    /// The site.
    span: Span,
    /// The first change that asks for it.
    index: usize,
    order: MemoryOrder,
}

/// One file, made ready for changes: to ask about many of them costs little more
/// than to ask about one.
pub struct FileRewriter<'a> {
    file: &'a ParsedFile,
    sites: &'a [Site],
    project: &'a Project,
    spelling: Spelling<'a>,
    layout: Layout<'a>,
    declarations_first: bool,
}

impl<'a> FileRewriter<'a> {
    /// Makes a file ready. `sites` are all sites of it, not only those that change.
    pub fn new(file: &'a ParsedFile, sites: &'a [Site], project: &'a Project) -> Self {
        let root = file.tree().root_node();
        Self {
            file,
            sites,
            project,
            spelling: Spelling::of(file, sites, project),
            layout: Layout::of(file.text(), root),
            declarations_first: file.language() == Language::C && keeps_declarations_first(root),
        }
    }

    /// Plans changes together.
    pub fn rewrite(&self, changes: &[TextChange]) -> Rewrite {
        let all: Vec<usize> = (0..changes.len()).collect();
        let (edits, mut refused) = self.plan(changes, &all);
        if let Some(edits) = edits {
            return Rewrite { edits, refused };
        }
        // Something in the set makes a text that does not parse: find it by halves.
        let open: Vec<usize> = all
            .into_iter()
            .filter(|index| !refused.iter().any(|(known, _)| known == index))
            .collect();
        let mut kept: Vec<usize> = Vec::new();
        self.settle(changes, &open, &mut kept, &mut refused);
        refused.sort_by_key(|(index, _)| *index);
        let edits = self.plan(changes, &kept).0;
        let edits = edits.unwrap_or_else(|| self.nothing());
        Rewrite { edits, refused }
    }

    /// Why a change cannot be made alone. Only the function around it is parsed
    /// again: together with others it is looked at once more.
    pub fn refusal(&self, change: &TextChange) -> Option<Refusal> {
        let (edits, refused) = self.draft(std::slice::from_ref(change), &[0]);
        if let Some((_, refusal)) = refused.into_iter().next() {
            return Some(refusal);
        }
        let parses = edits.is_some_and(|set| match &change.site.function_span {
            Some(function) => self.function_parses(&set, function),
            None => self.parses(&set),
        });
        (!parses).then_some(Refusal::WouldNotParse)
    }

    /// Adds to `kept` those of `open` that give a text that parses, together with
    /// all that is kept so far; refuses the others.
    fn settle(
        &self,
        changes: &[TextChange],
        open: &[usize],
        kept: &mut Vec<usize>,
        refused: &mut Vec<(usize, Refusal)>,
    ) {
        let before = kept.len();
        kept.extend(open);
        if open.is_empty() || self.plan(changes, kept).0.is_some() {
            return;
        }
        kept.truncate(before);
        if let [only] = open {
            refused.push((*only, Refusal::WouldNotParse));
            return;
        }
        let (first, second) = open.split_at(open.len() / 2);
        self.settle(changes, first, kept, refused);
        self.settle(changes, second, kept, refused);
    }

    /// The edits of the changes with these indices, or `None` if the result does
    /// not parse; and what was refused.
    fn plan(
        &self,
        changes: &[TextChange],
        indices: &[usize],
    ) -> (Option<EditSet>, Vec<(usize, Refusal)>) {
        let (set, refused) = self.draft(changes, indices);
        (set.filter(|set| self.parses(set)), refused)
    }

    /// The same, whether it parses or not; `None` if edits overlap.
    fn draft(
        &self,
        changes: &[TextChange],
        indices: &[usize],
    ) -> (Option<EditSet>, Vec<(usize, Refusal)>) {
        let mut draft = Draft::default();
        let mut refused = Vec::new();
        let mut headers: Vec<&'static str> = Vec::new();
        self.draft_raises(changes, indices, &mut draft, &mut refused, &mut headers);
        self.draft_fences(changes, indices, &mut draft, &mut refused, &mut headers);
        self.draft_moves(changes, indices, &mut draft, &mut refused);
        self.draft_assignments(changes, indices, &mut draft, &mut refused, &mut headers);
        let mut edits = draft.finish(&self.layout);
        headers.sort_unstable();
        headers.dedup();
        for header in headers {
            edits.extend(include(self.file, &self.layout, header));
        }
        let set = EditSet::new(self.file.text(), edits).ok();
        refused.sort_by_key(|(index, _)| *index);
        (set, refused)
    }

    fn draft_raises(
        &self,
        changes: &[TextChange],
        indices: &[usize],
        draft: &mut Draft,
        refused: &mut Vec<(usize, Refusal)>,
        headers: &mut Vec<&'static str>,
    ) {
        // Several raises of one site are one raise to the join of all.
        let mut goals: HashMap<usize, (MemoryOrder, Option<MemoryOrder>)> = HashMap::new();
        for &index in indices {
            if let TextChangeKind::Raise { order, failure } = changes[index].kind {
                let start = changes[index].site.span.start;
                let goal = goals.entry(start).or_insert((order, failure));
                goal.0 = goal.0.join(order);
                goal.1 = match (goal.1, failure) {
                    (Some(one), Some(other)) => Some(one.join(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        for &index in indices {
            let change = &changes[index];
            if !matches!(change.kind, TextChangeKind::Raise { .. }) {
                continue;
            }
            let (order, failure) = goals[&change.site.span.start];
            let found = self
                .find(&change.site)
                .and_then(|()| self.evaluated(&change.site));
            let result = found.and_then(|()| {
                raise(
                    self.file,
                    &self.spelling,
                    &change.site,
                    order,
                    failure,
                    draft,
                )
            });
            match result {
                Ok(drafted) => {
                    headers.extend(drafted.header);
                    if drafted.changed {
                        self.comment_on_raise(change, draft);
                    }
                }
                Err(refusal) => refused.push((index, refusal)),
            }
        }
    }

    fn draft_fences(
        &self,
        changes: &[TextChange],
        indices: &[usize],
        draft: &mut Draft,
        refused: &mut Vec<(usize, Refusal)>,
        headers: &mut Vec<&'static str>,
    ) {
        let site_spans = spans(self.sites);
        let mut temporaries = Temporaries::new(self.file.text());
        // What moves out of its statement is no longer in the way of the others,
        // so the fences that may move something come first.
        let mut wanted: Vec<WantedFence> = Vec::new();
        for &index in indices {
            let (side, order) = match changes[index].kind {
                TextChangeKind::FenceAfter(order) => (Side::After, order),
                TextChangeKind::FenceBefore(order) => (Side::Before, order),
                _ => continue,
            };
            let span = changes[index].site.span.clone();
            // Several fences at one side of a site are one.
            let same = |known: &&mut WantedFence| known.side == side && known.span == span;
            match wanted.iter_mut().find(same) {
                Some(known) => known.order = known.order.join(order),
                None => wanted.push(WantedFence {
                    side,
                    span,
                    index,
                    order,
                }),
            }
        }
        wanted.sort_by_key(|fence| (fence.side == Side::Before, fence.span.start, fence.index));
        let mut fences = Fences {
            sites: self.sites,
            site_spans: &site_spans,
            spelling: &self.spelling,
            layout: &self.layout,
            temporaries: &mut temporaries,
            draft,
            declarations_first: self.declarations_first,
        };
        for fence in wanted {
            let change = &changes[fence.index];
            let result = self.find(&change.site).and_then(|()| {
                let view = match View::of_macro(self.file, &change.site.span) {
                    Some(view) => view,
                    None => View::of_file(self.file),
                };
                let comment = self.comment(change);
                fences.put(&view, &change.site, fence.side, fence.order, comment)
            });
            match result {
                Ok(header) => headers.extend(header),
                Err(refusal) => refused.push((fence.index, refusal)),
            }
        }
    }

    fn draft_moves(
        &self,
        changes: &[TextChange],
        indices: &[usize],
        draft: &mut Draft,
        refused: &mut Vec<(usize, Refusal)>,
    ) {
        for &index in indices {
            let TextChangeKind::Move(side) = changes[index].kind else {
                continue;
            };
            let site = &changes[index].site;
            let found = self.find(site);
            let result = found
                .and_then(|()| move_fence(self.file, self.sites, &self.layout, site, side, draft));
            if let Err(refusal) = result {
                refused.push((index, refusal));
            }
        }
    }

    /// Orders that are given, and fences that are taken away.
    fn draft_assignments(
        &self,
        changes: &[TextChange],
        indices: &[usize],
        draft: &mut Draft,
        refused: &mut Vec<(usize, Refusal)>,
        headers: &mut Vec<&'static str>,
    ) {
        for &index in indices {
            let change = &changes[index];
            let site = &change.site;
            let result = match change.kind {
                TextChangeKind::Assign { order, failure } => self
                    .find(site)
                    .and_then(|()| assign(self.file, &self.spelling, site, order, failure, draft)),
                TextChangeKind::Remove => self
                    .find(site)
                    .and_then(|()| remove_fence(self.file, &self.layout, site, draft))
                    .map(|()| Default::default()),
                _ => continue,
            };
            match result {
                Ok(drafted) => {
                    headers.extend(drafted.header);
                    if drafted.changed {
                        self.comment_on_raise(change, draft);
                    }
                }
                Err(refusal) => refused.push((index, refusal)),
            }
        }
    }

    /// Whether the site is one of this text, and one that may be changed.
    fn find(&self, site: &Site) -> Result<(), Refusal> {
        let root = self.file.tree().root_node();
        let node = root
            .descendant_for_byte_range(site.span.start, site.span.end)
            .ok_or(Refusal::SiteNotFound)?;
        let in_assembly = std::iter::successors(Some(node), Node::parent)
            .any(|node| node.kind().starts_with("gnu_asm") || node.kind() == "ms_asm_block");
        if in_assembly {
            return Err(Refusal::InlineAssembly);
        }
        if depends_on_ndebug(self.file, node) {
            return Err(Refusal::DependsOnNdebug);
        }
        self.sites
            .iter()
            .any(|known| known.span == site.span && known.callee == site.callee)
            .then_some(())
            .ok_or(Refusal::SiteNotFound)
    }

    /// Refuses what is not evaluated without debugging: others must not rely on it.
    fn evaluated(&self, site: &Site) -> Result<(), Refusal> {
        let root = self.file.tree().root_node();
        let node = root
            .descendant_for_byte_range(site.span.start, site.span.end)
            .ok_or(Refusal::SiteNotFound)?;
        match assertion_around(self.file, node) {
            Some(name) => Err(Refusal::InAssertion(name)),
            None => Ok(()),
        }
    }

    fn comment(&self, change: &TextChange) -> Option<Comment> {
        let label = change.label.as_ref().filter(|_| self.project.annotate)?;
        let inline = format!("/* wmfix: {label} */");
        let line = match self.file.language() {
            Language::C => inline.clone(),
            Language::Cpp => format!("// wmfix: {label}"),
        };
        Some(Comment { line, inline })
    }

    /// A comment behind a raised order: at the end of its statement's line if that
    /// is free, else right behind the operation.
    fn comment_on_raise(&self, change: &TextChange, draft: &mut Draft) {
        let Some(comment) = self.comment(change) else {
            return;
        };
        let site = &change.site;
        let in_macro = View::of_macro(self.file, &site.span).is_some();
        let line_end = self
            .layout
            .free_line_end(site.statement.end.max(site.span.end))
            .filter(|_| !in_macro && self.layout.same_line(site.span.end, site.statement.end));
        match line_end {
            Some(at) => draft.comment(at, format!(" {}", comment.line), site.statement.clone()),
            None => draft.wrap(&site.span, "", &format!(" {}", comment.inline)),
        }
    }

    /// Whether the changed text has no more errors than the original.
    fn parses(&self, set: &EditSet) -> bool {
        if set.is_empty() {
            return true;
        }
        let Ok(text) = set.apply(self.file.text()) else {
            return false;
        };
        let changed = ParsedFile::parse(self.file.path(), text, self.file.language());
        errors(changed.tree().root_node()) <= errors(self.file.tree().root_node())
    }

    /// Whether the text of one function has no more errors than before.
    fn function_parses(&self, set: &EditSet, function: &Span) -> bool {
        let within =
            |edit: &&Edit| function.start <= edit.span.start && edit.span.end <= function.end;
        let mut text = Vec::new();
        let mut copied = function.start;
        for edit in set.edits().iter().filter(within) {
            text.extend_from_slice(&self.file.text()[copied..edit.span.start]);
            text.extend_from_slice(&edit.text);
            copied = edit.span.end;
        }
        text.extend_from_slice(&self.file.text()[copied..function.end]);
        let errors_of = |text: &[u8]| {
            let parsed = ParsedFile::parse(self.file.path(), text, self.file.language());
            errors(parsed.tree().root_node())
        };
        errors_of(&text) <= errors_of(&self.file.text()[function.clone()])
    }

    fn nothing(&self) -> EditSet {
        EditSet::new(self.file.text(), Vec::new()).expect("no edits cannot overlap")
    }
}

/// The number of error nodes and missing tokens.
pub(crate) fn errors(node: Node<'_>) -> usize {
    if !node.has_error() {
        return 0;
    }
    let mut cursor = node.walk();
    let own = usize::from(node.is_error() || node.is_missing());
    own + node.children(&mut cursor).map(errors).sum::<usize>()
}

/// Whether every block has its declarations first, and some block has both
/// declarations and other statements: the style that C89 demands.
fn keeps_declarations_first(root: Node<'_>) -> bool {
    fn look(node: Node<'_>, both: &mut bool) -> bool {
        let parts = children(node);
        if node.kind() == "compound_statement" {
            let mut statement = false;
            for part in parts.iter().filter(|part| is_statement(part.kind())) {
                if part.kind() != "declaration" {
                    statement = true;
                } else if statement {
                    return false;
                } else {
                    *both = true;
                }
            }
        }
        if node.kind() == "for_statement"
            && node
                .child_by_field_name("initializer")
                .is_some_and(|start| start.kind() == "declaration")
        {
            return false;
        }
        parts.into_iter().all(|part| look(part, both))
    }
    let mut both = false;
    look(root, &mut both) && both
}
