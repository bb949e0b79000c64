//! Scans one file: text in, sites and notes out, no input or output on the way.

use std::path::Path;

use crate::context::ScanContext;
use crate::declarations::Declarations;
use crate::found_site::{FoundSite, Surroundings};
use crate::macro_definition::macro_definitions;
use crate::note::Note;
use crate::outline::Outline;
use crate::site::Site;
use crate::site_lines::SiteLines;
use crate::source::{Language, ParsedFile};
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
        language: file.language(),
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
