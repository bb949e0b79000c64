//! The text behind the places: files are scanned for atomic operations when an
//! event first points into them. Explains events; never decides what is one.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wmfix_frontend::{
    FileScan, Headers, MemoryOrder, OperationKind, OrderForm, ParsedFile, Repetition, Site,
    SiteMatch, Vocabularies, call_as_site, is_whole_body, match_site, repetition_of_call,
    repetition_of_wait, scan_file,
};

use super::places::EventKind;
use crate::symbols::{Frame, SourcePoint};

/// Source files and their sites.
pub(crate) struct Sources {
    vocabularies: Vocabularies,
    headers: Headers,
    files: HashMap<PathBuf, Option<Arc<SourceFile>>>,
}

/// A source file that could be read.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Its text.
    pub text: Vec<u8>,
    /// Its sites and notes.
    pub scan: FileScan,
}

impl SourceFile {
    fn parsed(&self, path: &Path) -> ParsedFile {
        ParsedFile::parse(path, &*self.text, self.scan.language)
    }
}

impl Sources {
    /// Files are read with these vocabularies.
    pub(crate) fn new(vocabularies: Vocabularies) -> Self {
        Self {
            vocabularies,
            headers: Headers::default(),
            files: HashMap::new(),
        }
    }

    /// How atomics are spelled in them.
    pub(crate) fn vocabularies(&self) -> &Vocabularies {
        &self.vocabularies
    }

    /// A file, if it can be read.
    pub(crate) fn file(&mut self, path: &Path) -> Option<Arc<SourceFile>> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        let read = std::fs::read(path).ok().map(|text| {
            let scan = scan_file(path, &text, &mut self.headers, &self.vocabularies);
            Arc::new(SourceFile { text, scan })
        });
        self.files.insert(path.to_owned(), read.clone());
        read
    }

    /// The site that an event at this point is an execution of, if the text has
    /// exactly one that fits.
    pub(crate) fn site(&mut self, point: &SourcePoint, event: EventKind) -> Option<Site> {
        let kind = operation_kind(event)?;
        let file = self.file(&point.file)?;
        match match_site(&file.scan, point.line, point.column, kind) {
            SiteMatch::Site(site) => Some(site.clone()),
            SiteMatch::Ambiguous(_) | SiteMatch::None => None,
        }
    }

    /// The call of a function that a vocabulary describes, if an event inside that
    /// function belongs to it: the text at the caller's point must call it by its
    /// name, and say the order that the event had.
    pub(crate) fn described_call(
        &mut self,
        function: &Frame,
        caller: &Frame,
        event: EventKind,
        order: Option<MemoryOrder>,
    ) -> Option<Site> {
        let (kind, name) = (operation_kind(event)?, plain_name(&function.function));
        if !self.vocabularies.describes(name) {
            return None;
        }
        let point = caller.at.as_ref()?;
        let file = self.file(&point.file)?;
        // Where one function of a layer is defined, the others are too.
        function.at.as_ref().and_then(|at| self.file(&at.file));
        let calls_it =
            |site: &&Site| site.callee == name || matches!(&site.order.form, OrderForm::Macro(_));
        let site = match match_site(&file.scan, point.line, point.column, kind) {
            SiteMatch::Site(site) => Some(site).filter(calls_it)?,
            SiteMatch::Ambiguous(sites) => {
                match *sites.into_iter().filter(calls_it).collect::<Vec<_>>() {
                    [site] => site,
                    _ => return None,
                }
            }
            SiteMatch::None => return None,
        };
        // A name that says another order than what was done is no description.
        let agrees = site.order.order.is_none_or(|said| order == Some(said));
        (agrees || site.operation.kind() != kind).then(|| site.clone())
    }

    /// Whether a site is in the body of a function that a vocabulary
    /// describes: then its calls are the sites.
    pub(crate) fn is_body_of_a_layer(&self, site: &Site) -> bool {
        let function = site.function.as_deref();
        function.is_some_and(|name| self.vocabularies.describes(name))
    }

    /// How often a loop is entered that waits on a site.
    pub(crate) fn repetition_of_wait(&mut self, site: &Site) -> Repetition {
        let Some(file) = self.file(&site.file) else {
            return Repetition::Unknown;
        };
        repetition_of_wait(&file.parsed(&site.file), &file.scan.sites, site)
    }

    /// How often a function is called at its caller's point.
    pub(crate) fn repetition_of_call(
        &mut self,
        function: &Frame,
        caller: &SourcePoint,
    ) -> Repetition {
        let Some(file) = self.file(&caller.file) else {
            return Repetition::Unknown;
        };
        let point = (caller.line, caller.column);
        let name = plain_name(&function.function);
        repetition_of_call(&file.parsed(&caller.file), &file.scan.sites, point, name)
    }

    /// Whether a site is all that the function around it does.
    pub(crate) fn is_whole_body(&mut self, site: &Site) -> bool {
        let file = self.file(&site.file);
        file.is_some_and(|file| is_whole_body(&file.parsed(&site.file), &file.scan.sites, site))
    }

    /// The call of a function at its caller's point, as a site that does what
    /// `inner` does in the function.
    pub(crate) fn call(
        &mut self,
        function: &str,
        caller: &SourcePoint,
        inner: &Site,
    ) -> Option<Site> {
        let file = self.file(&caller.file)?;
        let point = (caller.line, caller.column);
        let name = plain_name(function);
        call_as_site(&file.parsed(&caller.file), point, name, inner)
    }

    /// All files read so far.
    pub(crate) fn read(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.values().flatten().map(Arc::as_ref)
    }

    /// A line of a file, from 1.
    pub(crate) fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let file = self.file(path)?;
        let mut lines = file.text.split(|&byte| byte == b'\n');
        let line = lines.nth(line.checked_sub(1)? as usize)?;
        Some(String::from_utf8_lossy(line).into_owned())
    }

    /// The text of a range of a file.
    pub(crate) fn text(&mut self, path: &Path, range: &Range<usize>) -> Option<String> {
        let file = self.file(path)?;
        let bytes = file.text.get(range.clone())?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

fn operation_kind(event: EventKind) -> Option<OperationKind> {
    Some(match event {
        EventKind::Load => OperationKind::Load,
        EventKind::Store => OperationKind::Store,
        EventKind::Rmw => OperationKind::Rmw,
        EventKind::CompareExchange => OperationKind::CompareExchange,
        EventKind::Fence => OperationKind::Fence,
        EventKind::Read | EventKind::Write | EventKind::Other => return None,
    })
}

/// A function's name as it is called: without a return type (a template's
/// mangled name has it) and scopes before, and template arguments behind.
fn plain_name(function: &str) -> &str {
    let mut depth = 0usize;
    let mut end = function.len();
    for (at, character) in function.char_indices().rev() {
        match character {
            '>' => depth += 1,
            '<' => {
                depth = depth.saturating_sub(1);
                end = at;
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    let name = &function[..end];
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    name.rfind(|c| !of_name(c))
        .map_or(name, |before| &name[before + 1..])
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_as_they_are_called() {
        assert_eq!(plain_name("port_load<unsigned long>"), "port_load");
        assert_eq!(plain_name("port::atomics::load<a::b>"), "load");
        assert_eq!(plain_name("mi_atomic_addi"), "mi_atomic_addi");
        let template = "std::vector<int> layer::get<std::pair<int, int> >";
        assert_eq!(plain_name(template), "get");
        assert_eq!(
            plain_name("unsigned long port_load<unsigned long>"),
            "port_load"
        );
    }
}
