//! The text behind the places: files are scanned for atomic operations when an
//! event first points into them. Explains events; never decides what is one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use wmfix_frontend::{
    AllocationText, CallForm, FileScan, Forwarder, Headers, Language, MemoryOrder, NamedRecord,
    OperationKind, OrderForm, ParsedFile, Repetition, Site, SiteMatch, Vocabularies, allocation_at,
    call_as_site, declares_bit_field, forwards_call, forwards_site, is_outside_of_functions,
    is_whole_body, match_site, object_at, plain_access, record_named, repetition_of_call,
    repetition_of_wait, scan_file,
};
use wmfix_online::EventKind;

use crate::symbols::{Frame, SourcePoint, is_standard_library};

/// A larger file is no source.
const MAX_SOURCE_BYTES: u64 = 64 << 20;

/// So much of what was built in place is kept, at most.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// Source files and their sites.
pub(crate) struct Sources {
    vocabularies: Vocabularies,
    headers: Headers,
    /// The folder in which the project's files are.
    tree: Option<PathBuf>,
    files: HashMap<PathBuf, Option<Arc<SourceFile>>>,
    /// The folder that was built, if it is a copy, and the folder that it is a copy of.
    copy: Option<(PathBuf, PathBuf)>,
    /// What files held when they were built in place, until somebody asks for them.
    built: HashMap<PathBuf, Vec<u8>>,
    /// By a file and a name, what the file's headers say about a structure of this name.
    records: HashMap<(PathBuf, String), Option<NamedRecord>>,
}

/// A source file that could be read.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Its text.
    pub text: Vec<u8>,
    /// Its sites and notes.
    pub scan: FileScan,
    /// Its tree, once somebody has asked for it.
    tree: OnceLock<ParsedFile>,
}

impl SourceFile {
    /// Its tree.
    pub(crate) fn parsed(&self, path: &Path) -> &ParsedFile {
        let parse = || ParsedFile::parse(path, &*self.text, self.scan.language);
        self.tree.get_or_init(parse)
    }
}

impl Sources {
    /// Files are read with these vocabularies.
    pub(crate) fn new(vocabularies: Vocabularies) -> Self {
        Self {
            vocabularies,
            headers: Headers::default(),
            tree: None,
            files: HashMap::new(),
            copy: None,
            built: HashMap::new(),
            records: HashMap::new(),
        }
    }

    /// The project's files are in this folder: headers that are not near the files that
    /// include them are looked for there.
    pub(crate) fn are_in_tree(&mut self, root: &Path) {
        if self.tree.as_deref() != Some(root) {
            self.headers = Headers::of_tree(root);
            self.tree = Some(root.to_owned());
        }
    }

    /// What is in the `original` folder was built from a copy of it: that is read,
    /// whatever becomes of the original.
    pub(crate) fn were_built_in(&mut self, copy: &Path, original: &Path) {
        self.copy = Some((copy.to_owned(), original.to_owned()));
    }

    /// These files were built where they are: keeps what they hold now, as far as that
    /// is not too much.
    pub(crate) fn were_built_in_place(&mut self, files: &[PathBuf]) {
        let mut left = MAX_KEPT_BYTES;
        let known = !self.files.is_empty() || !self.built.is_empty();
        for file in files.iter().filter(|_| !known) {
            let Some(text) = read_source(file) else {
                continue;
            };
            let Some(rest) = left.checked_sub(text.len() as u64) else {
                break;
            };
            left = rest;
            self.built.insert(file.clone(), text);
        }
    }

    /// The text that was built, or what is there now.
    fn built_text(&mut self, path: &Path) -> Option<Vec<u8>> {
        let in_copy = self.copy.as_ref().and_then(|(copy, original)| {
            let inside = path.strip_prefix(original).ok()?;
            read_source(&copy.join(inside))
        });
        in_copy
            .or_else(|| self.built.remove(path))
            .or_else(|| read_source(path))
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
        let read = self.built_text(path).map(|text| {
            let scan = scan_file(path, &text, &mut self.headers, &self.vocabularies);
            Arc::new(SourceFile {
                text,
                scan,
                tree: OnceLock::new(),
            })
        });
        self.files.insert(path.to_owned(), read.clone());
        read
    }

    /// The headers that a file includes, as far as they are found on disk, and those
    /// beside it if it is a header.
    pub(crate) fn headers(&mut self, path: &Path) -> Vec<(PathBuf, Arc<SourceFile>)> {
        self.headers_by(path, Headers::of)
    }

    /// The headers that a file includes, as far as they are found on disk.
    pub(crate) fn included(&mut self, path: &Path) -> Vec<(PathBuf, Arc<SourceFile>)> {
        self.headers_by(path, Headers::included)
    }

    fn headers_by(
        &mut self,
        path: &Path,
        paths: fn(&mut Headers, &Path, &[u8]) -> Vec<PathBuf>,
    ) -> Vec<(PathBuf, Arc<SourceFile>)> {
        let Some(file) = self.file(path) else {
            return Vec::new();
        };
        let paths = paths(&mut self.headers, path, &file.text).into_iter();
        let read = paths.filter_map(|header| Some((header.clone(), self.file(&header)?)));
        read.collect()
    }

    /// Whether an operation is a full barrier as well, as gcc documents of its older
    /// builtins: by its name, or that of what a macro stands for.
    pub(crate) fn is_full_barrier(&mut self, site: &Site) -> bool {
        if &*site.vocabulary != "gnu" {
            return false;
        }
        let callee = match &site.order.form {
            OrderForm::Macro(name) => {
                self.headers(&site.file);
                self.macro_body(name).map(|body| body.callee)
            }
            _ => Some(site.callee.clone()),
        };
        let one_way = ["__sync_lock_test_and_set", "__sync_lock_release"];
        callee.is_some_and(|callee| {
            callee.starts_with("__sync_") && !one_way.contains(&callee.as_str())
        })
    }

    /// The operation in the body of a macro, if one of the files read so far defines
    /// the macro and the body has just one.
    pub(crate) fn macro_body(&self, name: &str) -> Option<Site> {
        let sites = self.read().flat_map(|file| &file.scan.sites);
        let mut bodies = sites.filter(|site| site.macro_name.as_deref() == Some(name));
        let body = bodies.next()?;
        bodies.next().is_none().then(|| body.clone())
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

    /// The call of a function that a vocabulary describes, or that a macro defines, if
    /// an event inside that function belongs to it: the text at the caller's point must
    /// call it by its name, and say the order that the event had.
    pub(crate) fn described_call(
        &mut self,
        function: &Frame,
        caller: &Frame,
        event: EventKind,
        order: Option<MemoryOrder>,
    ) -> Option<Site> {
        let (kind, name) = (operation_kind(event)?, plain_name(&function.function));
        let is_described = self.vocabularies.describes(name);
        // What a macro defines is not in the text where debug information has it.
        let has_text = |at: &SourcePoint| self.site(at, event).is_some();
        if !is_described && function.at.as_ref().is_none_or(has_text) {
            return None;
        }
        // What a macro defines is called by names that a macro may put together.
        let is_generated = function.at.as_ref().is_some_and(|at| self.is_generated(at));
        let point = caller.at.as_ref()?;
        let file = self.file(&point.file)?;
        // Where one function of a layer is defined, the others are too.
        function.at.as_ref().and_then(|at| self.file(&at.file));
        let calls_it = |site: &&Site| {
            let in_macro = matches!(&site.order.form, OrderForm::Macro(_));
            site.callee == name || (is_described || is_generated) && in_macro
        };
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

    /// Whether a point in a function is in none of the text: the function is what the use
    /// of a macro stands for.
    fn is_generated(&mut self, point: &SourcePoint) -> bool {
        let file = self.file(&point.file);
        file.is_some_and(|file| is_outside_of_functions(file.parsed(&point.file), point.line))
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
        repetition_of_wait(file.parsed(&site.file), &file.scan.sites, site)
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
        repetition_of_call(file.parsed(&caller.file), &file.scan.sites, point, name)
    }

    /// Whether a site is all that the function around it does.
    pub(crate) fn is_whole_body(&mut self, site: &Site) -> bool {
        let file = self.file(&site.file);
        file.is_some_and(|file| is_whole_body(file.parsed(&site.file), &file.scan.sites, site))
    }

    /// What the function around a site is to its callers, if it only hands the
    /// operation on.
    pub(crate) fn forwards_site(&mut self, site: &Site) -> Option<Forwarder> {
        let file = self.file(&site.file)?;
        let sources = RefCell::new(self);
        let elsewhere = |name: &str| sources.borrow_mut().record(&site.file, name);
        let parsed = file.parsed(&site.file);
        forwards_site(parsed, &file.scan.sites, site, &elsewhere)
    }

    /// The same for the function around a call of another one.
    pub(crate) fn forwards_call(&mut self, point: &SourcePoint, called: &str) -> Option<Forwarder> {
        let file = self.file(&point.file)?;
        let at = (point.line, point.column);
        let tree = file.parsed(&point.file);
        let sources = RefCell::new(self);
        let elsewhere = |name: &str| sources.borrow_mut().record(&point.file, name);
        forwards_call(tree, &file.scan.sites, at, call_form(called), &elsewhere)
    }

    /// What the headers of a file say about the name of a structure: a definition, if one
    /// of them has it.
    fn record(&mut self, path: &Path, name: &str) -> Option<NamedRecord> {
        let key = (path.to_owned(), name.to_owned());
        if let Some(known) = self.records.get(&key) {
            return known.clone();
        }
        let headers = self.headers(path).into_iter();
        let mentions = |file: &SourceFile| String::from_utf8_lossy(&file.text).contains(name);
        let named = headers
            .filter(|(_, header)| mentions(header))
            .filter_map(|(path, header)| record_named(header.parsed(&path), name));
        let mut found = None;
        for record in named {
            let is_defined = matches!(record, NamedRecord::Defined(_));
            if is_defined || found.is_none() {
                found = Some(record);
            }
            if is_defined {
                break;
            }
        }
        self.records.insert(key, found.clone());
        found
    }

    /// The call of a function at its caller's point, as a site that does what
    /// `inner` does in the function, with this order in the run.
    pub(crate) fn call(
        &mut self,
        function: &str,
        caller: &SourcePoint,
        inner: &Site,
        order: Option<MemoryOrder>,
    ) -> Option<Site> {
        let file = self.file(&caller.file)?;
        let point = (caller.line, caller.column);
        let (tree, form) = (file.parsed(&caller.file), call_form(function));
        call_as_site(tree, point, form, inner, order, &self.vocabularies)
    }

    /// The object of a plain access at a point, as the text writes it.
    pub(crate) fn object(&mut self, point: &SourcePoint, writes: bool) -> Option<String> {
        let file = self.file(&point.file)?;
        object_at(file.parsed(&point.file), (point.line, point.column), writes)
    }

    /// What the text says about memory that is made at a point.
    pub(crate) fn allocation(&mut self, point: &SourcePoint) -> AllocationText {
        let file = self.file(&point.file);
        let read = file.map(|file| {
            let parsed = file.parsed(&point.file);
            allocation_at(parsed, (point.line, point.column))
        });
        read.unwrap_or_default()
    }

    /// The plain access at a point to an object of this name, if the text has one.
    pub(crate) fn plain_access(
        &mut self,
        point: &SourcePoint,
        writes: bool,
        name: &str,
    ) -> Option<Site> {
        let file = self.file(&point.file)?;
        let at = (point.line, point.column);
        let site = plain_access(file.parsed(&point.file), &file.scan.sites, at, writes, name)?;
        (!self.is_bit_field(&point.file, name)).then_some(site)
    }

    /// Whether a file or a header that it includes declares a bit-field of this name.
    fn is_bit_field(&mut self, path: &Path, name: &str) -> bool {
        let own = self.file(path).map(|file| (path.to_owned(), file));
        let mut files = own.into_iter().chain(self.headers(path));
        files.any(|(path, file)| declares_bit_field(file.parsed(&path), name))
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

/// The text of a file that debug information names, which anybody may have written:
/// it is read only if it is a regular file of a size that sources have, and by its
/// name or its folder a source.
fn read_source(path: &Path) -> Option<Vec<u8>> {
    let is_source = Language::may_be(path) || is_standard_library(path);
    let meta = std::fs::metadata(path).ok().filter(|_| is_source)?;
    if !meta.is_file() || meta.len() > MAX_SOURCE_BYTES {
        return None;
    }
    std::fs::read(path).ok()
}

fn operation_kind(event: EventKind) -> Option<OperationKind> {
    Some(match event {
        EventKind::Load => OperationKind::Load,
        EventKind::Store => OperationKind::Store,
        EventKind::Rmw => OperationKind::Rmw,
        EventKind::CompareExchange => OperationKind::CompareExchange,
        EventKind::Fence => OperationKind::Fence,
        EventKind::Read | EventKind::Write | EventKind::Free | EventKind::Other => return None,
    })
}

/// How a function of this name, as debug information has it, is called.
fn call_form(function: &str) -> CallForm<'_> {
    let last = function.rfind("operator").filter(|&at| {
        let before = function[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    });
    match last.map(|at| &function[at..]) {
        Some(name) if name.starts_with("operator()") => CallForm::Object,
        Some(name)
            if !name["operator".len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_') =>
        {
            CallForm::Operator(name)
        }
        _ => CallForm::Named(plain_name(function)),
    }
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
    use super::*;

    #[test]
    fn only_regular_files_with_the_name_of_a_source_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "a").unwrap();
        assert_eq!(read_source(&secret), None);
        let source = folder.path().join("a.c");
        std::fs::write(&source, "a").unwrap();
        assert_eq!(read_source(&source), Some(b"a".to_vec()));
        let device = folder.path().join("zero.c");
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        assert_eq!(read_source(&device), None);
        let huge = folder.path().join("huge.c");
        let file = std::fs::File::create(&huge).unwrap();
        file.set_len(MAX_SOURCE_BYTES + 1).unwrap();
        assert_eq!(read_source(&huge), None);
    }

    #[test]
    fn operators_are_called_without_their_names() {
        assert_eq!(call_form("W<int>::load"), CallForm::Named("load"));
        assert_eq!(
            call_form("W<int>::operator int"),
            CallForm::Operator("operator int")
        );
        assert_eq!(call_form("W::operator++"), CallForm::Operator("operator++"));
        let lambda = "main::{lambda(std::atomic<int>&)#1}::operator()";
        assert_eq!(call_form(lambda), CallForm::Object);
        assert_eq!(call_form("my_operator"), CallForm::Named("my_operator"));
        assert_eq!(call_form("operators"), CallForm::Named("operators"));
    }

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
