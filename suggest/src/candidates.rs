//! The changes that a repair may choose from, and what they make of the text. Each
//! is tried by the rewriter first: what it refuses is no candidate. Knows nothing of
//! how a repair is chosen.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wmfix_analysis::{Event, FenceOrder, LoadOrder, Operation, RmwOrder, SiteId, StoreOrder};
use wmfix_frontend::{
    Accessors, MemoryOrder, OrderForm, ParsedFile, Site, SiteOperation, VolatileOrders,
    is_named_relaxed, wrappers,
};
use wmfix_repair::{Change, ChangeKind, ChangePoint, FenceMove, MoveDirection, Orders};
use wmfix_rewriter::{
    FileRewriter, Project, Refusal, Side, TextChange, TextChangeKind, check_file, rewrite,
    statement_beside,
};

use crate::observe::{Editing, Places, Scope, SourceFile};
use crate::plain_accesses::PlainAccesses;
use crate::subject::PatchedFile;

/// What the changes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To remove findings: orders become stronger, fences are new.
    Repair,
    /// To cost less: orders become other ones, fences go.
    Relaxation,
}

/// The points that the search chooses from, with their text.
pub(crate) struct Candidates {
    /// For the search, in the order of the source.
    pub points: Vec<ChangePoint>,
    /// For each point, its operation in the text.
    sites: Vec<Option<Site>>,
    files: BTreeMap<PathBuf, EditableFile>,
    project: Project,
    /// The files whose headers have been read.
    with_headers: BTreeSet<PathBuf>,
    labels: HashMap<Change, String>,
    purpose: Purpose,
    /// What volatile accesses count as, if the user says that they do.
    volatile: Option<VolatileOrders>,
}

/// A file that can be changed.
struct EditableFile {
    parsed: ParsedFile,
    source: Arc<SourceFile>,
    /// Its sites, and the calls that are places too.
    sites: Vec<Site>,
}

/// Why a change is no candidate.
#[derive(Debug, thiserror::Error)]
enum CandidateRefusal {
    /// There is no text to change.
    #[error("the operation was not found in the source")]
    NotInText,
    /// The file is gone.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf),
    /// The project does not want the file to be changed.
    #[error("wmfix.toml excludes the file from repairs")]
    Excluded,
    /// The file is the project's, but not in the part of it that was named.
    #[error("{} is outside of the part that was named", .0.display())]
    NotNamed(PathBuf),
    /// The file is a test, and the project has other files.
    #[error("the file looks like a test; `include` under [repair] in wmfix.toml allows it")]
    Test,
    /// The called function does more than the operation.
    #[error("the called function does more than this operation")]
    Crowded,
    /// It would be in every use of the macro.
    #[error("the fence would be in every use of the macro")]
    MacroBody,
    /// What it is called says its order.
    #[error("`{0}` says by its name that it is relaxed")]
    NamedRelaxed(String),
    /// What it is called says its order.
    #[error("`{0}` says its order by its name")]
    SaysOrder(String),
    /// Everybody knows what it does.
    #[error("`{0}` has a meaning that a vocabulary describes")]
    Described(String),
    /// Two accesses are not one step.
    #[error(
        "several threads change the object by what they read of it: that takes a lock or a read-modify-write"
    )]
    Update,
    /// Whoever wants a stronger order calls another one.
    #[error("`{0}` is there for whoever needs that")]
    HasSibling(String),
}

/// Where an operation is: its file and the range of its text, or, without a
/// text, the number of its site.
type Key = (Option<(PathBuf, usize, usize)>, Option<SiteId>);

impl Candidates {
    /// What may be changed in files below `tree`, of the operations that ran, and of
    /// these plain accesses.
    pub(crate) fn new(
        traces: &[Vec<Event>],
        plain: &PlainAccesses,
        places: &mut Places,
        tree: &Path,
        purpose: Purpose,
        volatile: Option<VolatileOrders>,
    ) -> Self {
        let mut candidates = Self {
            points: Vec::new(),
            sites: Vec::new(),
            files: BTreeMap::new(),
            project: Project {
                vocabularies: places.sources.vocabularies().clone(),
                ..Project::default()
            },
            with_headers: BTreeSet::new(),
            labels: HashMap::new(),
            purpose,
            volatile,
        };
        let weakest = weakest_orders(traces);
        let operations = operations(&weakest, places);
        let calls = calls(&operations, &weakest, places);
        let mut all: BTreeMap<Key, OperationSites> = BTreeMap::new();
        for (key, (sites, orders)) in operations {
            let text = sites.first().and_then(|&id| places.get(id).site.clone());
            all.insert(key, (text, sites, orders));
        }
        let mut shared: Vec<Key> = Vec::new();
        for (key, (_, sites, _)) in &all {
            let called = |id: &SiteId| places.get(*id).call.is_some();
            shared.extend(sites.iter().any(called).then(|| key.clone()));
        }
        for path in all.keys().filter_map(|(span, _)| Some(&span.as_ref()?.0)) {
            candidates.read_headers(path, places);
        }
        for body in macro_bodies(&all, places) {
            let span = (
                body.text.file.to_path_buf(),
                body.text.span.start,
                body.text.span.end,
            );
            let key = (Some(span), None);
            if let Entry::Vacant(entry) = all.entry(key.clone()) {
                entry.insert((Some(body.text), body.sites, body.orders));
                shared.push(key);
            }
        }
        let mut crowded = Vec::new();
        for call in calls {
            let text = call.text;
            let span = (text.file.to_path_buf(), text.span.start, text.span.end);
            let key = (Some(span), None);
            if let Entry::Vacant(entry) = all.entry(key) {
                candidates.open(&text.file, places);
                candidates.read_headers(&text.file, places);
                candidates.add_call(&text);
                crowded.extend((!call.is_bare).then(|| entry.key().clone()));
                entry.insert((Some(text), call.sites, call.orders));
            }
        }
        if plain.iter().next().is_some() {
            candidates.project.cpp20 = places.symbols.cpp20_files();
        }
        for (id, text) in plain.iter() {
            let span = (text.file.to_path_buf(), text.span.start, text.span.end);
            let orders = match text.operation {
                SiteOperation::Store => Orders::PlainWrite,
                _ => Orders::PlainRead,
            };
            match all.entry((Some(span), None)) {
                Entry::Vacant(entry) => {
                    candidates.open(&text.file, places);
                    candidates.read_headers(&text.file, places);
                    candidates.read_accessors(&text.file, places);
                    candidates.add_call(text);
                    entry.insert((Some(text.clone()), vec![id], orders));
                }
                // A volatile access may have been taken for an atomic one.
                Entry::Occupied(mut entry) if entry.get().2 == orders => {
                    entry.get_mut().1.push(id);
                }
                Entry::Occupied(_) => {}
            }
        }
        let mut fenceless = Vec::new();
        for (key, (text, sites, orders)) in all {
            if let (Some((path, ..)), _) = &key {
                candidates.open(path, places);
            }
            let is_volatile = |text: &&Site| &*text.vocabulary == "volatile";
            if let Some(text) = text.as_ref().filter(is_volatile) {
                candidates.read_accessors(&text.file, places);
            }
            fenceless.extend(crowded.contains(&key).then_some(candidates.points.len()));
            let mut point = ChangePoint::new(sites, orders);
            point.is_shared = shared.contains(&key);
            candidates.points.push(point);
            candidates.sites.push(text);
        }
        for file in places.sources.read() {
            candidates.project.names.add_text(&file.text);
            // Wrappers are told by their bodies, wherever they are.
            let parsed = ParsedFile::parse(Path::new(""), &*file.text, file.scan.language);
            let found = wrappers(&parsed, &candidates.project.vocabularies);
            candidates.project.wrappers.push(found);
        }
        candidates.refuse_updates(plain, places);
        candidates.refuse_what_is_not_wanted(&places.scope, &fenceless);
        candidates.refuse_what_cannot_be_made(tree, &places.scope);
        candidates
    }

    /// Leaves plain accesses alone that would have to be one step with others.
    fn refuse_updates(&mut self, plain: &PlainAccesses, places: &mut Places) {
        for number in 0..self.points.len() {
            let site = self.sites[number].clone();
            let site = site.filter(|_| self.points[number].orders.is_plain());
            if site.is_some_and(|site| plain.is_update(&site, places)) {
                for kind in self.kinds(number) {
                    self.points[number].refuse(kind, CandidateRefusal::Update.to_string());
                }
            }
        }
    }

    /// Leaves alone what the project does not want to be changed, and fences at calls
    /// of functions that do more than the operation.
    fn refuse_what_is_not_wanted(&mut self, scope: &Scope, fenceless: &[usize]) {
        let only_tests = self.only_tests(scope);
        for number in 0..self.points.len() {
            let editing = self.editing(number, scope);
            for kind in self.kinds(number) {
                let refusal = match editing {
                    Editing::Excluded => CandidateRefusal::Excluded,
                    Editing::Test if !only_tests => CandidateRefusal::Test,
                    _ if kind.is_new_fence() && fenceless.contains(&number) => {
                        CandidateRefusal::Crowded
                    }
                    _ if kind.is_new_fence() && self.is_macro_body(number) => {
                        CandidateRefusal::MacroBody
                    }
                    _ => match self.said_by_another(number, kind) {
                        Some(refusal) => refusal,
                        None => continue,
                    },
                };
                self.points[number].refuse(kind, refusal.to_string());
            }
        }
    }

    /// Tries every change alone, file by file.
    fn refuse_what_cannot_be_made(&mut self, tree: &Path, scope: &Scope) {
        let mut refused = Vec::new();
        {
            let this = &*self;
            let rewriters: BTreeMap<&Path, FileRewriter<'_>> = (this.files.iter())
                .map(|(path, file)| {
                    let rewriter = FileRewriter::new(&file.parsed, &file.sites, &this.project);
                    (path.as_path(), rewriter)
                })
                .collect();
            let checked: BTreeMap<&Path, Option<String>> = (this.files.iter())
                .map(|(path, file)| (path.as_path(), refusal_of_file(tree, path, file, scope)))
                .collect();
            for number in 0..this.points.len() {
                for kind in this.kinds(number) {
                    let change = Change {
                        point: number,
                        kind,
                    };
                    if let Err(refusal) = this.try_change(change, &rewriters, &checked) {
                        refused.push((change, refusal));
                    }
                }
            }
        }
        for (change, refusal) in refused {
            self.points[change.point].refuse(change.kind, refusal);
        }
    }

    /// The files with these changes, and the changes that cannot be made
    /// together with the others.
    pub(crate) fn patched(&self, changes: &[Change]) -> (Vec<PatchedFile>, Vec<(Change, String)>) {
        let mut by_file: BTreeMap<&Path, Vec<Change>> = BTreeMap::new();
        for &change in changes {
            let site = self.sites[change.point].as_ref();
            if let Some(site) = site {
                by_file.entry(&site.file).or_default().push(change);
            }
        }
        let mut files = Vec::new();
        let mut refused = Vec::new();
        for (path, changes) in by_file {
            let text = &self.files[path];
            let text_changes: Vec<_> = changes
                .iter()
                .filter_map(|&c| self.text_change(c))
                .collect();
            let planned = rewrite(&text.parsed, &text.sites, &text_changes, &self.project);
            let why = planned.refused.iter();
            refused.extend(why.map(|(n, reason)| (changes[*n], reason.to_string())));
            let before = text.source.text.clone();
            match planned.edits.apply(&before) {
                Ok(after) => files.push(PatchedFile {
                    path: path.to_owned(),
                    before,
                    after,
                    edits: planned.edits,
                }),
                Err(error) => refused.extend(changes.iter().map(|&c| (c, error.to_string()))),
            }
        }
        (files, refused)
    }

    /// Lets the text say this beside these changes.
    pub(crate) fn annotate(&mut self, labels: Vec<(Change, String)>) {
        self.labels = labels.into_iter().collect();
        self.project.annotate = true;
    }

    /// Has the fences of these files written in the standard's way.
    pub(crate) fn take_standard_fences(&mut self, files: &HashSet<PathBuf>) {
        self.project.standard_fences.clone_from(files);
    }

    /// Takes a kind of change at a place in the text out of the search.
    pub(crate) fn refuse(&mut self, at: &(PathBuf, usize), kind: ChangeKind, reason: &str) {
        for number in 0..self.points.len() {
            let site = self.sites[number].as_ref();
            let here = |site: &Site| (site.file.as_path(), site.span.start) == (&*at.0, at.1);
            let is_kind = self.kinds(number).contains(&kind) || matches!(kind, ChangeKind::Move(_));
            if site.is_some_and(here) && is_kind {
                self.points[number].refuse(kind, reason);
            }
        }
    }

    /// The fences that can change places with the statement next to them, with what
    /// that statement does.
    pub(crate) fn moves(&self, places: &Places, tree: &Path) -> Vec<FenceMove> {
        let only_tests = self.only_tests(&places.scope);
        let mut moves = Vec::new();
        for (number, point) in self.points.iter().enumerate() {
            let fence = self.sites[number].as_ref();
            let Some(fence) = fence.filter(|_| matches!(point.orders, Orders::Fence(_))) else {
                continue;
            };
            let editing = self.editing(number, &places.scope);
            let file = self.files.get(fence.file.as_path());
            let is_ours = editing == Editing::Allowed || only_tests && editing == Editing::Test;
            let Some(file) = file.filter(|file| {
                is_ours
                    && refusal_of_file(tree, fence.file.as_path(), file, &places.scope).is_none()
            }) else {
                continue;
            };
            for direction in [MoveDirection::Up, MoveDirection::Down] {
                let beside = statement_beside(&file.parsed, &file.sites, fence, side(direction));
                let Some(statement) = beside else { continue };
                let lines = file.parsed.lines();
                let lines =
                    lines.position(statement.start).line..=lines.position(statement.end).line;
                let inside = places.iter().filter(|(_, place)| {
                    let at = place.point.as_ref();
                    at.is_some_and(|at| {
                        at.file == *fence.file.as_path() && lines.contains(&at.line)
                    })
                });
                moves.push(FenceMove {
                    point: number,
                    past: inside.map(|(site, _)| site).collect(),
                    direction,
                });
            }
        }
        moves
    }

    /// The operation of a point in the text.
    pub(crate) fn site(&self, point: usize) -> Option<&Site> {
        self.sites[point].as_ref()
    }

    fn open(&mut self, path: &Path, places: &mut Places) {
        if self.files.contains_key(path) {
            return;
        }
        if let Some(source) = places.sources.file(path) {
            let language = source.scan.language;
            let parsed = ParsedFile::parse(path, source.text.clone(), language);
            let text = EditableFile {
                sites: source.scan.sites.clone(),
                parsed,
                source,
            };
            self.files.insert(path.to_owned(), text);
        }
    }

    /// Reads what a file includes: the wrappers and fences of the project's own.
    fn read_headers(&mut self, path: &Path, places: &mut Places) {
        if !self.with_headers.insert(path.to_owned()) {
            return;
        }
        for (header, source) in places.sources.headers(path) {
            self.project.headers.add(path, source.parsed(&header));
        }
    }

    /// Reads what a file can call to access plain objects atomically.
    fn read_accessors(&mut self, path: &Path, places: &mut Places) {
        let Some(file) = self.files.get(path) else {
            return;
        };
        let is_known = self.project.accessors.contains_key(path);
        if is_known || self.purpose == Purpose::Relaxation {
            return;
        }
        let headers = places.sources.included(path);
        let headers: Vec<&ParsedFile> = (headers.iter())
            .map(|(path, header)| header.parsed(path))
            .collect();
        let accessors = Accessors::of(
            &file.parsed,
            &headers,
            &self.project.vocabularies,
            self.volatile,
        );
        self.project.accessors.insert(path.to_owned(), accessors);
    }

    /// The kinds of change that are asked about at a point.
    fn kinds(&self, point: usize) -> Vec<ChangeKind> {
        let point = &self.points[point];
        match self.purpose {
            Purpose::Repair => point.kinds(),
            Purpose::Relaxation => point.orders.assignments(),
        }
    }

    /// Whether a point is the operation in a macro that others lead to.
    fn is_macro_body(&self, point: usize) -> bool {
        let site = self.sites[point].as_ref();
        self.points[point].is_shared && site.is_some_and(|site| site.macro_name.is_some())
    }

    /// Why the order of a function's or macro's body is not raised for all who call
    /// it: its name says that it is relaxed, or another one beside it has that order, or one
    /// on the way to it.
    fn said_by_another(&self, point: usize, kind: ChangeKind) -> Option<CandidateRefusal> {
        let site = self.sites[point].as_ref()?;
        let name = site.macro_name.as_ref().or(site.function.as_ref())?;
        let name = name.rsplit("::").next().unwrap_or(name);
        if kind.is_new_fence() || !self.points[point].is_shared {
            return None;
        }
        if self.purpose == Purpose::Relaxation && says_order(name) {
            return Some(CandidateRefusal::SaysOrder(name.to_owned()));
        }
        if is_named_relaxed(name) {
            return Some(CandidateRefusal::NamedRelaxed(name.to_owned()));
        }
        if self.project.vocabularies.describes(name) {
            return Some(CandidateRefusal::Described(name.to_owned()));
        }
        let order = raised_to(kind)?;
        let mut layers = self.project.wrappers.iter();
        let (this, beside) = layers.find_map(|layer| {
            let this = layer.iter().find(|wrapper| wrapper.name == name)?;
            Some((this, layer))
        })?;
        let own = this
            .orders()
            .map_or(MemoryOrder::Relaxed, |orders| orders.0);
        // Who needs even more puts it beside the call of the other one.
        let stronger = beside.iter().find(|wrapper| {
            let said = wrapper.orders().map(|(success, _)| success);
            let is_on_the_way =
                |said: MemoryOrder| own.join(said) != own && order.join(said) == order;
            said.is_some_and(is_on_the_way) && wrapper.serves_for(this)
        })?;
        Some(CandidateRefusal::HasSibling(stronger.name.clone()))
    }

    /// Whether the file of a point may be changed.
    fn editing(&self, point: usize, scope: &Scope) -> Editing {
        let site = self.sites[point].as_ref();
        site.map_or(Editing::Allowed, |site| scope.editing(&site.file))
    }

    /// Whether nothing but tests could be changed.
    fn only_tests(&self, scope: &Scope) -> bool {
        let mut editing = (0..self.points.len()).map(|point| self.editing(point, scope));
        !editing.any(|editing| editing == Editing::Allowed)
    }

    /// Adds a call to the sites of its file.
    fn add_call(&mut self, call: &Site) {
        if let Some(text) = self.files.get_mut(call.file.as_path()) {
            text.sites.push(call.clone());
            text.sites
                .sort_by_key(|site| (site.span.start, site.span.end));
        }
    }

    /// Tries a change alone.
    fn try_change(
        &self,
        change: Change,
        rewriters: &BTreeMap<&Path, FileRewriter<'_>>,
        checked: &BTreeMap<&Path, Option<String>>,
    ) -> Result<(), String> {
        let site = self.sites[change.point].as_ref();
        let site = site.ok_or_else(|| CandidateRefusal::NotInText.to_string())?;
        let path = site.file.as_path();
        let rewriter = rewriters.get(path);
        let rewriter =
            rewriter.ok_or_else(|| CandidateRefusal::Unreadable(path.to_owned()).to_string())?;
        if let Some(Some(refusal)) = checked.get(path) {
            return Err(refusal.clone());
        }
        let text_change = self.text_change(change);
        let text_change = text_change.ok_or_else(|| CandidateRefusal::NotInText.to_string())?;
        match rewriter.refusal(&text_change) {
            Some(refusal) => Err(refusal.to_string()),
            None => Ok(()),
        }
    }

    /// A change as the rewriter takes it.
    fn text_change(&self, change: Change) -> Option<TextChange> {
        let site = self.sites[change.point].clone()?;
        let assigns = self.purpose == Purpose::Relaxation;
        let raise = |order, failure| match assigns {
            true => TextChangeKind::Assign { order, failure },
            false => TextChangeKind::Raise { order, failure },
        };
        let kind = match change.kind {
            ChangeKind::FenceBefore(order) => TextChangeKind::FenceBefore(fence(order)),
            ChangeKind::FenceAfter(order) => TextChangeKind::FenceAfter(fence(order)),
            ChangeKind::Load(order) => raise(load(order), None),
            ChangeKind::Store(order) => raise(store(order), None),
            ChangeKind::Rmw(order) => raise(rmw(order), None),
            ChangeKind::Fence(order) => raise(fence(order), None),
            ChangeKind::RemoveFence => TextChangeKind::Remove,
            ChangeKind::Move(direction) => TextChangeKind::Move(side(direction)),
            ChangeKind::CompareExchange { success, failure } => {
                let unchanged = matches!(
                    self.points[change.point].orders,
                    Orders::CompareExchange { failure: old, .. } if old == failure
                );
                raise(rmw(success), (assigns || !unchanged).then(|| load(failure)))
            }
        };
        let text_change = TextChange::new(site, kind);
        Some(match self.labels.get(&change) {
            Some(label) => text_change.labelled(label),
            None => text_change,
        })
    }
}

/// The order that an operation is to have.
fn raised_to(kind: ChangeKind) -> Option<MemoryOrder> {
    Some(match kind {
        ChangeKind::Load(order) => load(order),
        ChangeKind::Store(order) => store(order),
        ChangeKind::Rmw(order) | ChangeKind::CompareExchange { success: order, .. } => rmw(order),
        ChangeKind::Fence(order) => fence(order),
        ChangeKind::FenceBefore(_)
        | ChangeKind::FenceAfter(_)
        | ChangeKind::RemoveFence
        | ChangeKind::Move(_) => return None,
    })
}

/// Whether the name of a function or macro says which order it has.
fn says_order(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "relaxed", "rlx", "acquire", "acq", "release", "rel", "acqrel", "seqcst", "sc",
    ];
    let lower = name.to_ascii_lowercase().replace("seq_cst", "seqcst");
    let mut words = lower.split('_');
    words.any(|word| WORDS.contains(&word))
}

/// The side of a fence that it moves to.
fn side(direction: MoveDirection) -> Side {
    match direction {
        MoveDirection::Up => Side::Before,
        MoveDirection::Down => Side::After,
    }
}

/// Why nothing may be changed in a file below `tree`.
fn refusal_of_file(tree: &Path, path: &Path, file: &EditableFile, scope: &Scope) -> Option<String> {
    match check_file(tree, path, &file.source.text) {
        // It can be changed in a copy, and a patch can be printed.
        Ok(()) | Err(Refusal::ReadOnly(_)) => None,
        Err(Refusal::OutsideTree(_)) if path.starts_with(&scope.folder) => {
            let inside = path.strip_prefix(&scope.folder).unwrap_or(path);
            Some(CandidateRefusal::NotNamed(inside.to_owned()).to_string())
        }
        Err(refusal) => Some(refusal.to_string()),
    }
}

/// An operation in the text, the sites that come from it, and its orders.
type OperationSites = (Option<Site>, Vec<SiteId>, Orders);

/// The calls of functions that are nothing but one operation.
struct WrapperCall {
    text: Site,
    sites: Vec<SiteId>,
    orders: Orders,
    /// Nothing else is done between the call and the operation.
    is_bare: bool,
}

/// The calls that lead to operations. Those of functions that only hand one on are
/// where its order may be said; a fence at another one spares the other callers,
/// where there are several.
fn calls(
    operations: &BTreeMap<Key, (Vec<SiteId>, Orders)>,
    weakest: &BTreeMap<SiteId, Orders>,
    places: &mut Places,
) -> Vec<WrapperCall> {
    let mut calls: Vec<WrapperCall> = Vec::new();
    for (sites, orders) in operations.values() {
        for &id in sites {
            let place = places.get(id).clone();
            let several = sites.len() > 1 && !matches!(orders, Orders::Fence(_));
            let (text, orders) = match place.call {
                Some(call) => (Some(call), weakest.get(&id).copied()),
                None if several => (places.call_of_wrapper(id), None),
                None => (None, None),
            };
            let Some(text) = text else {
                continue;
            };
            let orders = orders.unwrap_or(Orders::None);
            // Copies of one call are one place.
            let same = |known: &&mut WrapperCall| {
                (&known.text.file, &known.text.span) == (&text.file, &text.span)
            };
            match calls.iter_mut().find(same) {
                Some(known) => {
                    known.sites.push(id);
                    known.orders = weaker(known.orders, orders);
                    known.is_bare &= place.is_bare;
                }
                None => calls.push(WrapperCall {
                    text,
                    sites: vec![id],
                    orders,
                    is_bare: place.is_bare,
                }),
            }
        }
    }
    calls
}

/// An operation in a macro, with all of its uses.
struct MacroBody {
    text: Site,
    sites: Vec<SiteId>,
    orders: Orders,
}

/// The operations in the macros whose uses are operations here and do not say their
/// order themselves.
fn macro_bodies(all: &BTreeMap<Key, OperationSites>, places: &Places) -> Vec<MacroBody> {
    let mut bodies: BTreeMap<&str, MacroBody> = BTreeMap::new();
    for (text, sites, orders) in all.values() {
        let Some(text) = text else { continue };
        let OrderForm::Macro(name) = &text.order.form else {
            continue;
        };
        if let Some(known) = bodies.get_mut(name.as_str()) {
            known.sites.extend(sites);
            known.orders = weaker(known.orders, *orders);
        } else if let Some(body) = places.sources.macro_body(name) {
            let found = MacroBody {
                text: body,
                sites: sites.clone(),
                orders: *orders,
            };
            bodies.insert(name, found);
        }
    }
    bodies.into_values().collect()
}

/// The weakest orders that each atomic site of traces had.
fn weakest_orders(traces: &[Vec<Event>]) -> BTreeMap<SiteId, Orders> {
    let mut weakest: BTreeMap<SiteId, Orders> = BTreeMap::new();
    for event in traces.iter().flatten() {
        if let Some(orders) = orders_of(&event.operation) {
            let known = weakest.entry(event.site).or_insert(orders);
            *known = match (*known, orders) {
                // The barriers of an operation that is one are not the operation.
                (Orders::Fence(_), other) => other,
                (known, Orders::Fence(_)) => known,
                (known, orders) => weaker(known, orders),
            };
        }
    }
    weakest
}

/// The atomic operations of sites, in the order of the source, each with the sites
/// that come from it and the weakest orders it had. What a library does is not the
/// program's to change.
fn operations(
    weakest: &BTreeMap<SiteId, Orders>,
    places: &Places,
) -> BTreeMap<Key, (Vec<SiteId>, Orders)> {
    let mut found: BTreeMap<Key, (Vec<SiteId>, Orders)> = BTreeMap::new();
    for (&site, &orders) in weakest {
        let place = places.get(site);
        if place.is_foreign() {
            continue;
        }
        let key = match &place.site {
            Some(text) => {
                let span = (text.file.to_path_buf(), text.span.start, text.span.end);
                (Some(span), None)
            }
            None => (None, Some(site)),
        };
        let (sites, known) = found.entry(key).or_insert_with(|| (Vec::new(), orders));
        sites.push(site);
        *known = weaker(*known, orders);
    }
    found
}

/// The orders that an operation had.
pub(crate) fn orders_of(operation: &Operation) -> Option<Orders> {
    Some(match *operation {
        Operation::Load { order, .. } => Orders::Load(order),
        Operation::Store { order, .. } => Orders::Store(order),
        Operation::Rmw { order, .. } => Orders::Rmw(order),
        Operation::CompareExchange {
            success, failure, ..
        } => Orders::CompareExchange {
            success,
            failure,
            // C++17 allows it, but compilers warn, and nothing is gained.
            free_failure: false,
        },
        Operation::Fence { order } => Orders::Fence(order),
        _ => return None,
    })
}

/// The weaker of two orders of one operation; of two that cannot be compared,
/// or of different operations, the first.
fn weaker(one: Orders, other: Orders) -> Orders {
    let covers = match (one, other) {
        (Orders::Load(a), Orders::Load(b)) => a.join(b) == a,
        (Orders::Store(a), Orders::Store(b)) => a.join(b) == a,
        (Orders::Rmw(a), Orders::Rmw(b)) => a.join(b) == a,
        (Orders::Fence(a), Orders::Fence(b)) => a.join(b) == a,
        (
            Orders::CompareExchange {
                success, failure, ..
            },
            Orders::CompareExchange {
                success: s,
                failure: f,
                ..
            },
        ) => success.join(s) == success && failure.join(f) == failure,
        _ => false,
    };
    if covers { other } else { one }
}

fn load(order: LoadOrder) -> MemoryOrder {
    match order {
        LoadOrder::Relaxed => MemoryOrder::Relaxed,
        LoadOrder::Acquire => MemoryOrder::Acquire,
        LoadOrder::SeqCst => MemoryOrder::SeqCst,
    }
}

fn store(order: StoreOrder) -> MemoryOrder {
    match order {
        StoreOrder::Relaxed => MemoryOrder::Relaxed,
        StoreOrder::Release => MemoryOrder::Release,
        StoreOrder::SeqCst => MemoryOrder::SeqCst,
    }
}

fn rmw(order: RmwOrder) -> MemoryOrder {
    match order {
        RmwOrder::Relaxed => MemoryOrder::Relaxed,
        RmwOrder::Acquire => MemoryOrder::Acquire,
        RmwOrder::Release => MemoryOrder::Release,
        RmwOrder::AcqRel => MemoryOrder::AcqRel,
        RmwOrder::SeqCst => MemoryOrder::SeqCst,
    }
}

fn fence(order: FenceOrder) -> MemoryOrder {
    match order {
        FenceOrder::Acquire => MemoryOrder::Acquire,
        FenceOrder::Release => MemoryOrder::Release,
        FenceOrder::AcqRel => MemoryOrder::AcqRel,
        FenceOrder::SeqCst => MemoryOrder::SeqCst,
    }
}
