//! Maps runs of a patched copy back to the original: places move to where they
//! were before the edits, changed operations get the orders they had, and new
//! fences vanish. The result is an SC run of the original, because stronger orders
//! and fences neither add nor remove SC runs.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wmfix_analysis::{Bytes, Event, LocationId, Operation, SiteId};
use wmfix_frontend::{LineIndex, Site};
use wmfix_repair::Orders;
use wmfix_rewriter::Edit;

use crate::observe::{EventKind, Place, Places};
use crate::subject::{PatchedFile, SourceCopy};
use crate::symbols::{Frame, SourcePoint};

/// Maps the traces of a patched copy to the original.
pub(crate) struct TraceRemapper<'a> {
    copy: Option<&'a SourceCopy>,
    /// Patched files, by the real path of the original.
    files: HashMap<PathBuf, EditedFile<'a>>,
    /// The orders that changed operations had, by file and start.
    orders: HashMap<(PathBuf, usize), Orders>,
    /// The plain accesses that are atomic now, by file.
    plain: HashMap<PathBuf, Vec<ChangedSite>>,
    /// How the original's debug information names a file, by its real path.
    names: HashMap<PathBuf, PathBuf>,
}

/// An operation that was changed, as it was before.
#[derive(Clone, Debug)]
pub(crate) struct ChangedSite {
    /// In the text.
    pub text: Site,
    /// In the runs.
    pub site: SiteId,
    /// Its orders.
    pub orders: Orders,
}

/// A patched file.
struct EditedFile<'a> {
    edits: &'a [Edit],
    /// The text before the edits.
    text: &'a [u8],
    before: LineIndex,
    after: LineIndex,
}

/// Traces as runs of the original.
#[derive(Debug, Default)]
pub(crate) struct RemappedTraces {
    /// Runs of the original.
    pub traces: Vec<Vec<Event>>,
    /// Why other runs could not be mapped.
    pub unmapped: BTreeSet<UnmappedTrace>,
}

/// Why a trace cannot be mapped to the original.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnmappedTrace {
    /// An operation is not found in the text before the patch.
    UnknownOperation {
        /// The operation as it is written.
        operation: String,
        /// Its file and line, if they are known.
        at: Option<(PathBuf, u32)>,
    },
    /// A changed operation is made of several others.
    SplitOperation,
}

/// Where something in the patched program was before.
enum OriginalPlace {
    At(SiteId),
    /// There, as a plain access.
    Plain(SiteId),
    /// Nowhere: the patch inserted it.
    Inserted,
    Unmapped(UnmappedTrace),
}

/// Where a byte of the patched text was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OriginalOffset {
    Kept(usize),
    /// In what this edit put in.
    Inside(usize),
}

impl<'a> TraceRemapper<'a> {
    /// The mapping for these files of a copy. `raised` are the operations whose
    /// orders were changed, and the orders that they had.
    pub(crate) fn new(
        raised: &[ChangedSite],
        files: &'a [PatchedFile],
        copy: Option<&'a SourceCopy>,
        original: &Places,
    ) -> Self {
        let edited = files.iter().map(|file| {
            let edited = EditedFile {
                edits: file.edits.edits(),
                text: &file.before,
                before: LineIndex::new(&file.before),
                after: LineIndex::new(&file.after),
            };
            (real(&file.path), edited)
        });
        let mut orders = HashMap::new();
        let mut plain: HashMap<PathBuf, Vec<ChangedSite>> = HashMap::new();
        for changed in raised {
            let file = real(&changed.text.file);
            if changed.orders.is_plain() {
                plain.entry(file).or_default().push(changed.clone());
            } else {
                orders.insert((file, changed.text.span.start), changed.orders);
            }
        }
        let points = original
            .iter()
            .filter_map(|(_, place)| place.point.as_ref());
        let names: HashMap<PathBuf, PathBuf> = points
            .map(|point| (real(&point.file), point.file.clone()))
            .collect();
        Self {
            copy,
            files: edited.collect(),
            orders,
            plain,
            names,
        }
    }

    /// Maps runs of the patched program, as far as that is possible.
    pub(crate) fn remap(
        &self,
        traces: Vec<Vec<Event>>,
        patched: &Places,
        original: &mut Places,
    ) -> RemappedTraces {
        let mut known: HashMap<SiteId, OriginalPlace> = HashMap::new();
        let mut remapped = RemappedTraces::default();
        'traces: for trace in traces {
            let mut events = Vec::with_capacity(trace.len());
            let mut lying: HashMap<LocationId, Bytes> = HashMap::new();
            for mut event in trace {
                if let Operation::Birth {
                    location, bytes, ..
                } = event.operation
                {
                    lying.insert(location, bytes);
                }
                let place = known
                    .entry(event.site)
                    .or_insert_with(|| self.original_place(patched.get(event.site), original));
                match place {
                    OriginalPlace::Inserted => continue,
                    OriginalPlace::Unmapped(reason) => {
                        remapped.unmapped.insert(reason.clone());
                        continue 'traces;
                    }
                    OriginalPlace::At(site) => event.site = *site,
                    OriginalPlace::Plain(site) => {
                        event.site = *site;
                        if !make_plain(&mut event.operation, &lying) {
                            remapped.unmapped.insert(UnmappedTrace::SplitOperation);
                            continue 'traces;
                        }
                        events.push(event);
                        continue;
                    }
                }
                if let Some(orders) = self.orders_before(original.get(event.site))
                    && !lower(&mut event.operation, orders)
                {
                    remapped.unmapped.insert(UnmappedTrace::SplitOperation);
                    continue 'traces;
                }
                events.push(event);
            }
            remapped.traces.push(events);
        }
        remapped
    }

    fn orders_before(&self, place: &Place) -> Option<Orders> {
        if self.orders.is_empty() {
            return None;
        }
        let mut texts = place.call.iter().chain(&place.site);
        texts.find_map(|site| {
            let at = (real(&site.file), site.span.start);
            self.orders.get(&at).copied()
        })
    }

    /// Where a place of the patched program was.
    fn original_place(&self, place: &Place, original: &mut Places) -> OriginalPlace {
        let is_fence = place.kind == EventKind::Fence;
        if self.insertion(place).is_some() {
            return OriginalPlace::Inserted;
        }
        let frames = |frames: &[Frame]| frames.iter().map(|frame| self.frame(frame)).collect();
        let mut before = place.clone();
        before.point = place.point.as_ref().map(|point| self.point(point));
        before.callers = frames(&place.callers);
        before.via = frames(&place.via);
        before.address = None;
        if let Some(site) = &place.site {
            if let Some(changed) = self.plain(site) {
                return OriginalPlace::Plain(changed.site);
            }
            before.site = match self.site(site, original) {
                Some(site) => Some(site),
                // Put in together with other text that was changed.
                None if is_fence => return OriginalPlace::Inserted,
                None => {
                    let at = before.point.as_ref();
                    return OriginalPlace::Unmapped(UnmappedTrace::UnknownOperation {
                        operation: site.callee.clone(),
                        at: at.map(|point| (point.file.clone(), point.line)),
                    });
                }
            };
        }
        before.call = before.via.first().and_then(|called| {
            let (point, inner) = (before.point.as_ref()?, before.site.as_ref()?);
            let sources = &mut original.sources;
            let call = sources.call(&called.function, point, inner, None);
            // What is called there now may have another name.
            call.or_else(|| sources.call("operator()", point, inner, None))
        });
        OriginalPlace::At(original.adopt(before))
    }

    /// Where in the text before the patch a fence was put in, if it was.
    pub(crate) fn insertion(&self, place: &Place) -> Option<(PathBuf, usize)> {
        if place.kind != EventKind::Fence {
            return None;
        }
        // A fence may be a function's: then its call is what was put in.
        let called = place.callers.first().filter(|_| place.is_wrapped);
        let called = called.into_iter().chain(&place.via);
        let called = called.filter_map(|frame| frame.at.as_ref());
        place.point.iter().chain(called).find_map(|point| {
            let (path, before) = self.before(point);
            let (file, before) = before?;
            let offset = file.insertion(before)?;
            Some((self.names.get(&path).cloned().unwrap_or(path), offset))
        })
    }

    /// The site of the original that a site of the patched text was.
    pub(crate) fn original_site(&self, site: &Site, original: &mut Places) -> Option<Site> {
        // What is not from the copy is not patched.
        let copied = self
            .copy
            .is_none_or(|copy| real(&site.file).starts_with(real(&copy.folder)));
        let plain = self.plain(site).map(|changed| changed.text.clone());
        plain
            .or_else(|| self.site(site, original))
            .filter(|_| copied)
    }

    /// Where a call that is still there began in the text before the patch. Calls are in
    /// no scan, which is why they are not looked up.
    pub(crate) fn original_start(&self, call: &Site) -> Option<(PathBuf, usize)> {
        let path = self.original(&call.file);
        let start = match self.files.get(&path) {
            None => call.span.start,
            Some(edited) => match edited.original_offset(call.span.start) {
                OriginalOffset::Kept(start) => start,
                inside if edited.inserts(inside) => return None,
                OriginalOffset::Inside(edit) => edited.edits[edit].span.start,
            },
        };
        let name = self.names.get(&path).cloned();
        Some((name.unwrap_or(path), start))
    }

    /// The plain access that an atomic one of the patched text was.
    fn plain(&self, site: &Site) -> Option<&ChangedSite> {
        let path = self.original(&site.file);
        let accesses = self.plain.get(&path)?;
        let edited = self.files.get(&path)?;
        let OriginalOffset::Inside(edit) = edited.original_offset(site.span.start) else {
            return None;
        };
        let span = &edited.edits[edit].span;
        let kind = std::mem::discriminant(&site.operation);
        accesses.iter().find(|changed| {
            let text = &changed.text;
            text.span.start == span.start && std::mem::discriminant(&text.operation) == kind
        })
    }

    fn site(&self, site: &Site, original: &mut Places) -> Option<Site> {
        let path = self.original(&site.file);
        let name = self.names.get(&path).unwrap_or(&path);
        if !self.files.contains_key(&path) {
            // Nothing was changed there: it is what it was.
            return Some(Site {
                file: Arc::new(name.clone()),
                ..site.clone()
            });
        }
        let file = original.sources.file(name)?;
        let kind = |other: &&Site| {
            std::mem::discriminant(&other.operation) == std::mem::discriminant(&site.operation)
        };
        // They are in the order of the text.
        let starting_in = |from: usize, to: usize| {
            let sites = &file.scan.sites;
            let first = sites.partition_point(|other| other.span.start < from);
            let sites = sites[first..].iter();
            sites
                .take_while(move |other| other.span.start < to)
                .filter(kind)
        };
        let edited = &self.files[&path];
        match edited.original_offset(site.span.start) {
            OriginalOffset::Kept(start) => starting_in(start, start + 1).next().cloned(),
            OriginalOffset::Inside(edit) => {
                let span = &edited.edits[edit].span;
                let mut inside = starting_in(span.start, span.end.max(span.start + 1));
                let only = inside.next();
                only.filter(|_| inside.next().is_none()).cloned()
            }
        }
    }

    fn frame(&self, frame: &Frame) -> Frame {
        Frame {
            function: frame.function.clone(),
            at: frame.at.as_ref().map(|point| self.point(point)),
        }
    }

    /// Where a point was.
    fn point(&self, point: &SourcePoint) -> SourcePoint {
        let (path, before) = self.before(point);
        let file = self.names.get(&path).cloned().unwrap_or(path);
        let Some((edited, before)) = before else {
            return SourcePoint {
                file,
                ..point.clone()
            };
        };
        let offset = match before {
            OriginalOffset::Kept(offset) => offset,
            OriginalOffset::Inside(edit) => edited.edits[edit].span.start,
        };
        let position = edited.before.position(offset);
        SourcePoint {
            file,
            line: position.line,
            column: if point.column == 0 {
                0
            } else {
                position.column
            },
        }
    }

    /// The original file of a point, and where in it the point was if that file
    /// is patched.
    fn before(&self, point: &SourcePoint) -> (PathBuf, Option<(&EditedFile<'a>, OriginalOffset)>) {
        let path = self.original(&point.file);
        let before = self.files.get(&path).and_then(|edited| {
            let start = edited.after.line_start(point.line)?;
            let offset = start + (point.column as usize).saturating_sub(1);
            Some((edited, edited.original_offset(offset)))
        });
        (path, before)
    }

    /// The real path of the original of a file.
    fn original(&self, file: &Path) -> PathBuf {
        let full = real(file);
        let inside = self.copy.and_then(|copy| {
            let below = full.strip_prefix(real(&copy.folder)).ok()?;
            Some(real(&copy.original).join(below))
        });
        inside.unwrap_or(full)
    }
}

impl EditedFile<'_> {
    /// Where a byte of the patched text was.
    fn original_offset(&self, offset: usize) -> OriginalOffset {
        let mut added: isize = 0;
        for (number, edit) in self.edits.iter().enumerate() {
            let start = edit.span.start.wrapping_add_signed(added);
            if offset < start {
                break;
            }
            if offset < start + edit.text.len() {
                let moved = self.moved_from(number, offset - start);
                return moved.map_or(OriginalOffset::Inside(number), OriginalOffset::Kept);
            }
            added += edit.text.len() as isize - edit.span.len() as isize;
        }
        OriginalOffset::Kept(offset.wrapping_add_signed(-added))
    }

    /// Where a byte of what an edit puts in stood, if a later edit takes its text out of
    /// a statement and leaves a name there that this one gives to it.
    fn moved_from(&self, number: usize, byte: usize) -> Option<usize> {
        let put_in = &self.edits[number];
        if !put_in.span.is_empty() {
            return None;
        }
        self.edits[number + 1..].iter().find_map(|taken_out| {
            let moved = self.text.get(taken_out.span.clone())?;
            if moved.is_empty() || taken_out.text.is_empty() {
                return None;
            }
            let named = [taken_out.text.as_slice(), b" = "].concat();
            let defined = [named.as_slice(), moved].concat();
            let mut words = put_in.text.windows(defined.len());
            let at = words.position(|word| word == defined)? + named.len();
            let within = byte.checked_sub(at).filter(|&byte| byte < moved.len())?;
            Some(taken_out.span.start + within)
        })
    }

    /// Whether something there is new, and not a change of what was there.
    fn inserts(&self, before: OriginalOffset) -> bool {
        self.insertion(before).is_some()
    }

    /// Where something was put in that is new.
    fn insertion(&self, before: OriginalOffset) -> Option<usize> {
        let OriginalOffset::Inside(edit) = before else {
            return None;
        };
        let span = &self.edits[edit].span;
        span.is_empty().then_some(span.start)
    }
}

/// Turns an atomic access back into the plain one that it was; false if it is none, or
/// if it is not known where its object lies.
fn make_plain(operation: &mut Operation, lying: &HashMap<LocationId, Bytes>) -> bool {
    match *operation {
        Operation::Load { location, .. } => {
            lying.get(&location).map(|&bytes| Operation::Read { bytes })
        }
        Operation::Store { location, .. } => lying
            .get(&location)
            .map(|&bytes| Operation::Write { bytes }),
        // The object itself may come into being there.
        Operation::Birth { .. } => Some(*operation),
        _ => None,
    }
    .map(|plain| *operation = plain)
    .is_some()
}

/// Restores the orders that an operation had; false if they are of another kind of
/// operation.
fn lower(operation: &mut Operation, orders: Orders) -> bool {
    match (operation, orders) {
        (Operation::Load { order, .. }, Orders::Load(had)) => *order = had,
        (Operation::Store { order, .. }, Orders::Store(had)) => *order = had,
        (Operation::Rmw { order, .. }, Orders::Rmw(had)) => *order = had,
        (Operation::Fence { order }, Orders::Fence(had)) => *order = had,
        (
            Operation::CompareExchange {
                success, failure, ..
            },
            Orders::CompareExchange {
                success: had,
                failure: had_on_failure,
                ..
            },
        ) => (*success, *failure) = (had, had_on_failure),
        _ => return false,
    }
    true
}

/// A path without links; a file that is gone keeps its name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_frontend::Vocabularies;
    use wmfix_rewriter::EditSet;

    use crate::observe::Scope;

    #[test]
    fn an_operation_of_a_file_without_edits_is_what_it_was() {
        // Neither text can be read: it need not be.
        let text = b"#include <stdatomic.h>\nint f(atomic_int *x) { return atomic_load(x); }\n";
        let (copy, path) = (Path::new("/no/copy"), Path::new("/no/copy/a/b.c"));
        let scan = wmfix_frontend::scan_source(path, text, &Vocabularies::builtin());
        let copy = SourceCopy {
            original: PathBuf::from("/no/original"),
            folder: copy.to_owned(),
            patched: true,
        };
        let mut original = Places::new(Vocabularies::builtin(), Scope::default());
        let remapper = TraceRemapper::new(&[], &[], Some(&copy), &original);
        let before = remapper
            .original_site(&scan.sites[0], &mut original)
            .unwrap();
        assert_eq!(**before.file, *Path::new("/no/original/a/b.c"));
        assert_eq!(before.span, scan.sites[0].span);
        let (file, start) = remapper.original_start(&scan.sites[0]).unwrap();
        assert_eq!(
            (file, start),
            (before.file.to_path_buf(), before.span.start)
        );
    }

    #[test]
    fn bytes_are_where_they_were_before_the_edits() {
        let before = b"load(x, rlx);\nstore(y, rlx);\n";
        let edit = |span, text: &str| Edit {
            span,
            text: text.into(),
        };
        let edits = EditSet::new(
            before,
            vec![
                edit(8..11, "acquire"),
                edit(14..14, "fence();\n"),
                edit(23..26, "sc"),
            ],
        )
        .unwrap();
        let after = edits.apply(before).unwrap();
        let edited = EditedFile {
            edits: edits.edits(),
            text: before,
            before: LineIndex::new(before),
            after: LineIndex::new(&after),
        };
        let at = |needle: &[u8]| {
            let found = after.windows(needle.len()).position(|w| w == needle);
            edited.original_offset(found.unwrap())
        };
        assert_eq!(at(b"load"), OriginalOffset::Kept(0));
        assert_eq!(at(b"acquire"), OriginalOffset::Inside(0));
        assert_eq!(at(b"fence"), OriginalOffset::Inside(1));
        assert!(edited.inserts(at(b"fence")) && !edited.inserts(at(b"acquire")));
        assert_eq!(at(b"store"), OriginalOffset::Kept(14));
        assert_eq!(at(b"y, "), OriginalOffset::Kept(20));
        assert_eq!(
            edited.original_offset(after.len()),
            OriginalOffset::Kept(before.len())
        );
    }

    #[test]
    fn what_a_patch_takes_out_of_a_statement_is_where_it_stood() {
        let before = b"  f();\n  return x = v + 1;\n";
        let edit = |span, text: &str| Edit {
            span,
            text: text.into(),
        };
        let edits = vec![
            edit(7..7, "  long x_value = x = v + 1;\n  fence();\n"),
            edit(16..25, "x_value"),
        ];
        let edits = EditSet::new(before, edits).unwrap();
        let after = edits.apply(before).unwrap();
        let edited = EditedFile {
            edits: edits.edits(),
            text: before,
            before: LineIndex::new(before),
            after: LineIndex::new(&after),
        };
        let at = |needle: &[u8]| {
            let found = after.windows(needle.len()).position(|w| w == needle);
            edited.original_offset(found.unwrap())
        };
        assert_eq!(at(b"x = v"), OriginalOffset::Kept(16));
        assert_eq!(at(b"v + 1"), OriginalOffset::Kept(20));
        assert_eq!(at(b"fence"), OriginalOffset::Inside(0));
        assert_eq!(at(b"long"), OriginalOffset::Inside(0));
        assert_eq!(at(b"x_value;"), OriginalOffset::Inside(1));
    }
}
