//! Scans one file: text in, sites and notes out, no input or output on the way.

use std::path::Path;

use crate::context::ScanContext;
use crate::declarations::Declarations;
use crate::found_site::{FoundSite, Surroundings};
use crate::language::Language;
use crate::macro_definition::macro_definitions;
use crate::note::{Note, NoteKind};
use crate::outline::Outline;
use crate::reread::read_again;
use crate::site::{LoopRole, Site};
use crate::site_lines::SiteLines;
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;
use crate::{declare, macros, notes, recognise, recover};

/// What a scan found in one file.
#[derive(Clone, Debug)]
pub struct FileScan {
    /// The sites, in the order of the text.
    pub sites: Vec<Site>,
    /// What reads like the use of an atomic object by itself (`p->ready = 1`) if
    /// the object is the atomic one that has its name somewhere else; the text
    /// does not tell. That an atomic access was seen there makes it a site.
    pub possible: Vec<Site>,
    /// What else there is to say.
    pub notes: Vec<Note>,
    /// How many lines have a part that could not be parsed.
    pub unread_lines: usize,
    /// The language the file was read as.
    pub language: Language,
    /// Where to look for the sites of a line.
    pub(crate) lines: SiteLines,
    /// The same for what is possible.
    pub(crate) possible_lines: SiteLines,
}

impl FileScan {
    /// The scan of a file in which there is nothing.
    pub(crate) fn empty(path: &Path, text: &[u8]) -> Self {
        Self {
            sites: Vec::new(),
            possible: Vec::new(),
            notes: Vec::new(),
            unread_lines: 0,
            language: Language::of(path, text).unwrap_or(Language::Cpp),
            lines: SiteLines::default(),
            possible_lines: SiteLines::default(),
        }
    }
}

/// Scans one text. The path decides the language and is named in the results;
/// nothing is read from it. A text that is neither C nor C++ by its path is read
/// as C++.
pub fn scan_source(path: &Path, text: &[u8], vocabularies: &Vocabularies) -> FileScan {
    let empty = FileScan::empty(path, text);
    if !vocabularies.worth_parsing(text) {
        return empty;
    }
    scan_parsed(&ParsedFile::parse(path, text, empty.language), vocabularies)
}

/// Scans a file that is already parsed.
pub fn scan_parsed(file: &ParsedFile, vocabularies: &Vocabularies) -> FileScan {
    let outline = Outline::of(file);
    let declared = declare::declarations(file, &outline, Vec::new(), vocabularies);
    scan_declared(file, &outline, &declared, vocabularies)
}

pub(crate) fn scan_declared(
    file: &ParsedFile,
    outline: &Outline<'_>,
    declared: &Declarations,
    vocabularies: &Vocabularies,
) -> FileScan {
    let scan = scan_reading(file, outline, declared, vocabularies);
    let again = outline.root().has_error().then(|| read_again(file));
    match again.flatten() {
        Some(again) => scan.with_more_of(&again, declared, vocabularies),
        None => scan,
    }
}

/// Scans a file as its tree has it.
fn scan_reading(
    file: &ParsedFile,
    outline: &Outline<'_>,
    declared: &Declarations,
    vocabularies: &Vocabularies,
) -> FileScan {
    let context = ScanContext::new(file, declared, vocabularies);
    let found = recognise::found_in(outline, &context);
    let into_sites = |found: Vec<(FoundSite<'_>, Surroundings)>| -> Vec<Site> {
        let sites = found.into_iter();
        sites
            .map(|(found, around)| found.into_site(around, &context))
            .collect()
    };
    let mut possible = into_sites(found.possible);
    let mut sites = into_sites(found.certain);
    for definition in macro_definitions(outline, file) {
        sites.extend(macros::sites(&definition, &context));
    }
    if outline.root().has_error() {
        sites.extend(recover::sites(&sites, &context));
    }
    for list in [&mut sites, &mut possible] {
        list.sort_by_key(|site| (site.span.start, site.span.end));
    }
    FileScan {
        lines: SiteLines::of(&sites),
        possible_lines: SiteLines::of(&possible),
        sites,
        possible,
        notes: notes::notes(file, outline),
        unread_lines: notes::unread_lines(file, outline),
        language: file.language(),
    }
}

impl FileScan {
    /// The same with what the file shows when it is read again, without something that
    /// kept it from being read. That has the places; what the text does not do there,
    /// only the whole of it tells: loops wait, and names mean something, only by that.
    fn with_more_of(
        self,
        again: &ParsedFile,
        declared: &Declarations,
        vocabularies: &Vocabularies,
    ) -> Self {
        let outline = Outline::of(again);
        let imports = declared.imports.clone();
        let mut more = declare::declarations(again, &outline, imports, vocabularies);
        more.meanings = declared.meanings.clone();
        let mut scan = scan_reading(again, &outline, &more, vocabularies);
        for (found, known) in [
            (&mut scan.sites, self.sites),
            (&mut scan.possible, self.possible),
        ] {
            for site in found.iter_mut() {
                let same = known.iter().find(|known| known.span == site.span);
                site.role = same.map_or(LoopRole::None, |same| same.role.clone());
            }
            // In what was left out they are where they were.
            let is_new = |known: &Site| {
                let mut all = found.iter();
                !all.any(|site| site.callee_span == known.callee_span)
            };
            let lost: Vec<Site> = known.into_iter().filter(is_new).collect();
            found.extend(lost);
            found.sort_by_key(|site| (site.span.start, site.span.end));
        }
        let unread = |note: &Note| note.kind == NoteKind::NotParsed;
        scan.notes.retain(unread);
        let others = self.notes.into_iter().filter(|note| !unread(note));
        scan.notes.extend(others);
        scan.notes.sort_by_key(|note| note.place);
        scan.lines = SiteLines::of(&scan.sites);
        scan.possible_lines = SiteLines::of(&scan.possible);
        scan
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::scan_source;
    use crate::site::OrderForm;
    use crate::{MemoryOrder, OperationKind, SiteMatch, SiteOperation, Vocabularies, match_site};

    #[test]
    fn calls_of_several_families_are_found_with_their_orders() {
        let text = "#include <atomic>\n\
            std::atomic<int> x; int y;\n\
            int f() { x.store(1, std::memory_order_release); return x.load() + __atomic_load_n(&y, __ATOMIC_ACQUIRE); }\n";
        let scan = scan_source(Path::new("a.cc"), text.as_bytes(), &Vocabularies::builtin());
        let seen: Vec<_> = scan
            .sites
            .iter()
            .map(|site| (site.callee.as_str(), site.operation, site.order.order))
            .collect();
        assert_eq!(
            seen,
            [
                ("store", SiteOperation::Store, Some(MemoryOrder::Release)),
                ("load", SiteOperation::Load, Some(MemoryOrder::SeqCst)),
                (
                    "__atomic_load_n",
                    SiteOperation::Load,
                    Some(MemoryOrder::Acquire)
                ),
            ]
        );
        let OrderForm::Literal(order) = &scan.sites[0].order.form else {
            panic!("{:?}", scan.sites[0].order);
        };
        assert_eq!(&text[order.clone()], "std::memory_order_release");
        assert_eq!(scan.sites[0].function.as_deref(), Some("f"));
        let first_load = match_site(&scan, 3, 57, OperationKind::Load);
        assert_eq!(first_load, SiteMatch::Site(&scan.sites[1]));
    }
}
