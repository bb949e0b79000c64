//! Places of the source that events come from. A [`SiteId`] stands for one
//! operation at one place: copies of it that the compiler made (inlining,
//! templates, unrolling) are the same site, in every run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use wmfix_analysis::SiteId;
use wmfix_frontend::{Repetition, Site, Span, Vocabularies};
use wmfix_online::{EventKind, SiteRole, SiteTable, TextId, WaitLoop, WaitRole};
use wmfix_trace::{Order, RecordedOperation as Operation};

use super::allocation_place::{AllocationPlace, allocation_place};
use super::call_chain::CallChain;
use super::located::{Located, locate, order};
use super::scope::Scope;
use super::sources::Sources;
use super::waits::wait_role;
use crate::config::repository;
use crate::symbols::{Address, Frame, SourcePoint, Symbols, innermost_own};

/// Where an event comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What is done there.
    pub kind: EventKind,
    /// The memory order that the run had.
    pub order: Option<Order>,
    /// The point in the source, as its author thinks of it: the operation, or the
    /// call that leads to it through functions that only hand it on; `None` without
    /// debug information.
    pub point: Option<SourcePoint>,
    /// The function around that.
    pub function: String,
    /// The functions that hand it on, with the points in them, from the outermost
    /// to the one with the operation.
    pub via: Vec<Frame>,
    /// The call of the outermost of them in the text, where it was found.
    pub call: Option<Site>,
    /// They do nothing else: what is next to the call is next to the operation.
    pub is_bare: bool,
    /// It is the access of a library to an object of its own.
    pub is_library: bool,
    /// The compiler makes it for a directive of OpenMP.
    pub is_generated: bool,
    /// It orders everything before it with everything after it.
    pub is_full_barrier: bool,
    /// The module and address, for places without a source.
    pub address: Option<Address>,
    /// What the text says about waiting there.
    pub waits: WaitRole,
    /// The operation in the text, where it was found: at the point, or at the end of
    /// `via`.
    pub site: Option<Site>,
    /// The number of that.
    pub text: Option<TextId>,
    /// The calls that led to the point the first time, innermost first.
    pub callers: Vec<Frame>,
    /// The operation is all that its function does: its sites are told apart by
    /// who calls that, the first of `callers`.
    pub is_wrapped: bool,
    /// The site that findings at this place are reported for, the same for all
    /// callers.
    pub reported_site: SiteId,
}

/// All places seen so far.
pub(crate) struct Places {
    /// The debug information.
    pub symbols: Symbols,
    /// The source text.
    pub sources: Sources,
    /// Whose code files are.
    pub scope: Scope,
    /// What is known about every operation that a run has shown, for the next runs.
    pub listed: SiteTable,
    all: Vec<Place>,
    by_source: HashMap<(SourceWay, EventKind, Option<SourcePoint>), SiteId>,
    /// The first site with a way.
    reported: HashMap<(SourceWay, EventKind), SiteId>,
    by_address: HashMap<(Option<Address>, EventKind), SiteId>,
    /// What was resolved before: the same instruction, called in the same way.
    resolved: HashMap<Execution, SiteRole>,
    frames: HashMap<Address, Vec<Frame>>,
    allocations: HashMap<CallChain, Option<AllocationPlace>>,
    texts: HashMap<(Arc<PathBuf>, usize), TextId>,
    watches: HashMap<(SiteId, Vec<SourcePoint>), Option<Arc<WaitLoop>>>,
}

/// An instruction with its callers, and what it did.
type Execution = (CallChain, EventKind, Option<Order>);

/// The points from an operation to its place.
type SourceWay = Vec<SourcePoint>;

impl Place {
    /// Whether the operation is not one of the program's text: the program's author can
    /// do nothing about its order.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_library || self.is_generated
    }

    /// What the text has at the point: the call that leads to the operation, or the
    /// operation itself.
    pub(crate) fn shown(&self) -> Option<&Site> {
        match self.via.is_empty() {
            true => self.site.as_ref(),
            false => self.call.as_ref(),
        }
    }

    /// The points from the operation to the place.
    fn way(&self) -> Option<SourceWay> {
        let point = self.point.clone()?;
        let inner = self.via.iter().rev().filter_map(|frame| frame.at.clone());
        Some(inner.chain([point]).collect())
    }
}

impl Places {
    /// No place yet; the text is read with these vocabularies.
    pub(crate) fn new(vocabularies: Vocabularies, scope: Scope) -> Self {
        let mut sources = Sources::new(vocabularies);
        let tree = repository(&scope.folder);
        sources.are_in_tree(tree.as_ref().unwrap_or(&scope.folder));
        Self {
            symbols: Symbols::default(),
            sources,
            scope,
            listed: SiteTable::default(),
            all: Vec::new(),
            by_source: HashMap::new(),
            reported: HashMap::new(),
            by_address: HashMap::new(),
            resolved: HashMap::new(),
            frames: HashMap::new(),
            allocations: HashMap::new(),
            texts: HashMap::new(),
            watches: HashMap::new(),
        }
    }

    /// Every place with its site.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteId, &Place)> {
        (0..).map(SiteId).zip(&self.all)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The place of a site.
    pub(crate) fn get(&self, site: SiteId) -> &Place {
        &self.all[site.0 as usize]
    }

    /// The site of a place that another program's run has shown, described in
    /// terms of this one.
    pub(crate) fn adopt(&mut self, mut place: Place) -> SiteId {
        let caller = |place: &Place| {
            let first = place.callers.first().filter(|_| place.is_wrapped);
            first.and_then(|frame| frame.at.clone())
        };
        place.text = place
            .site
            .as_ref()
            .map(|site| self.text(&site.file, &site.span));
        let key = place.way().map(|way| (way, place.kind, caller(&place)));
        let start = |site: &Site| (Arc::clone(&site.file), site.span.start);
        let same = |(_, other): &(SiteId, &Place)| {
            let alike = match (&place.call, &other.call) {
                // What a patched call calls now may be another function.
                (Some(call), Some(known)) => start(call) == start(known),
                (None, None) => place.text.is_some() && other.text == place.text,
                _ => false,
            };
            alike && other.kind == place.kind && caller(other) == caller(&place)
        };
        let known = key
            .as_ref()
            .and_then(|key| self.by_source.get(key).copied());
        if let Some(known) = known.or_else(|| self.iter().find(same).map(|(site, _)| site)) {
            return known;
        }
        self.add(place, key)
    }

    /// Adds a place that is not known yet.
    fn add(
        &mut self,
        mut place: Place,
        key: Option<(SourceWay, EventKind, Option<SourcePoint>)>,
    ) -> SiteId {
        let site = SiteId(u32::try_from(self.all.len()).expect("fewer places than 2^32"));
        place.reported_site = site;
        if let Some((way, kind, caller)) = key {
            let first = self.reported.entry((way.clone(), kind)).or_insert(site);
            place.reported_site = *first;
            self.by_source.insert((way, kind, caller), site);
        } else {
            let key = (place.address, place.kind);
            self.by_address.entry(key).or_insert(site);
        }
        self.all.push(place);
        site
    }

    /// An operation whose instruction and callers are at these addresses.
    pub(crate) fn resolve(&mut self, chain: &CallChain, operation: &Operation) -> SiteRole {
        let key = (chain.clone(), EventKind::of(operation), order(operation));
        if let Some(known) = self.resolved.get(&key) {
            return known.clone();
        }
        let resolved = self.resolve_anew(chain, operation);
        self.resolved.insert(key, resolved.clone());
        resolved
    }

    fn resolve_anew(&mut self, chain: &CallChain, operation: &Operation) -> SiteRole {
        let kind = EventKind::of(operation);
        let innermost = chain.innermost();
        let frames = self.chain_frames(chain);
        let located = locate(&frames, operation, &mut self.sources, &self.scope);
        let (own, at) = (located.own, located.at);
        let way: Option<SourceWay> = own.zip(at).map(|(own, at)| {
            let frames = frames[own..=at].iter();
            frames.filter_map(|frame| frame.at.clone()).collect()
        });
        let is_wrapped = self.is_wrapped(&located);
        let caller = at.filter(|_| is_wrapped).and_then(|at| {
            let caller = frames.get(at + 1..=at + 1)?;
            innermost_own(caller).and(caller[0].at.clone())
        });
        let key = way.map(|way| (way, kind, caller));
        let known = match &key {
            Some(key) => self.by_source.get(key),
            None => self.by_address.get(&(innermost, kind)),
        };
        let site = match known {
            Some(&site) => site,
            None => {
                let place = self.place(located, &frames, innermost, operation, is_wrapped);
                self.add(place, key)
            }
        };
        let watch = self.watch(site, &frames, own, chain.is_whole());
        let place = self.get(site);
        SiteRole {
            site,
            waits: place.waits,
            watch,
            text: place.text,
            is_full_barrier: place.is_full_barrier,
        }
    }

    /// Whether an operation is all that its function does, although the function is
    /// more to its callers than the operation.
    fn is_wrapped(&mut self, located: &Located) -> bool {
        let here = located.own == located.at && !located.is_library;
        let site = located.site.as_ref().filter(|_| here);
        site.is_some_and(|site| self.sources.is_whole_body(site))
    }

    fn place(
        &mut self,
        located: Located,
        frames: &[Frame],
        address: Option<Address>,
        operation: &Operation,
        is_wrapped: bool,
    ) -> Place {
        let frame = located.at.map(|at| &frames[at]);
        let own = located.own.unwrap_or_default();
        let via = located
            .at
            .map(|at| frames[own..at].iter().rev().cloned().collect());
        let callers = located.at.map(|at| frames[at + 1..].to_vec());
        let site = located.site;
        let full_barrier = site.as_ref();
        let is_full_barrier = full_barrier.is_some_and(|site| self.sources.is_full_barrier(site));
        Place {
            is_full_barrier,
            kind: EventKind::of(operation),
            order: order(operation),
            point: frame.and_then(|frame| frame.at.clone()),
            function: frame
                .map(|frame| frame.function.clone())
                .unwrap_or_default(),
            via: via.unwrap_or_default(),
            call: located.call,
            is_bare: located.is_bare,
            is_library: located.is_library,
            is_generated: located.is_generated,
            address,
            waits: site
                .as_ref()
                .map(|site| wait_role(&site.role))
                .unwrap_or_default(),
            text: site.as_ref().map(|site| self.text(&site.file, &site.span)),
            site,
            callers: callers.unwrap_or_default(),
            is_wrapped,
            reported_site: SiteId(0),
        }
    }

    /// The call of the function that does nothing but the operation of a place, if the
    /// place is that of one caller.
    pub(crate) fn call_of_wrapper(&mut self, site: SiteId) -> Option<Site> {
        let place = &self.all[site.0 as usize];
        let caller = place.callers.first().filter(|_| place.is_wrapped)?;
        let (caller, inner) = (caller.at.as_ref()?, place.site.as_ref()?);
        self.sources.call(&place.function, caller, inner, None)
    }

    /// The program's own calls at these addresses, as far as their source is known.
    pub(crate) fn calls(&mut self, chain: &CallChain) -> Vec<Frame> {
        let mut calls = Vec::new();
        for address in chain.addresses() {
            let frames = self.frames_at(address).iter();
            let own = frames.filter(|frame| innermost_own(std::slice::from_ref(*frame)).is_some());
            calls.extend(own.cloned());
        }
        calls
    }

    /// The number of an operation in the text.
    fn text(&mut self, file: &Arc<PathBuf>, span: &Span) -> TextId {
        let next = TextId(u32::try_from(self.texts.len()).expect("fewer operations than 2^32"));
        *self
            .texts
            .entry((Arc::clone(file), span.start))
            .or_insert(next)
    }

    /// The loop that waits at a site for what only the run tells, if the way of
    /// calls to it shows what is one pass through it.
    fn watch(
        &mut self,
        site: SiteId,
        frames: &[Frame],
        own: Option<usize>,
        is_whole: bool,
    ) -> Option<Arc<WaitLoop>> {
        let place = &self.all[site.0 as usize];
        let (exit, text) = (place.waits.open?, place.site.clone()?);
        let own = own?;
        let way: Vec<SourcePoint> = frames[own + 1..]
            .iter()
            .filter_map(|frame| frame.at.clone())
            .collect();
        if let Some(known) = self.watches.get(&(site, way.clone())) {
            return known.clone();
        }
        let id = self.watches.len();
        let watch = self
            .separators(&text, &frames[own..], is_whole)
            .map(|after| Arc::new(WaitLoop { id, exit, after }));
        self.watches.insert((site, way), watch.clone());
        watch
    }

    /// Operations of which one comes before each pass through a waiting loop, by
    /// its calls, innermost first (all of them, if that `is_whole`). None if a thread
    /// passes only once.
    fn separators(&mut self, wait: &Site, calls: &[Frame], is_whole: bool) -> Option<Vec<TextId>> {
        let mut passing = self.sources.repetition_of_wait(wait);
        let mut file = Arc::clone(&wait.file);
        for (function, caller) in calls.iter().zip(calls[1..].iter().map(Some).chain([None])) {
            match passing {
                Repetition::Unknown => return None,
                Repetition::After(spans) => {
                    let spans = spans.iter();
                    return Some(spans.map(|span| self.text(&file, span)).collect());
                }
                Repetition::OncePerCall => {}
            }
            let rest = calls
                .iter()
                .skip_while(|frame| !std::ptr::eq(*frame, function));
            let rest: Vec<Frame> = rest.skip(1).cloned().collect();
            match innermost_own(&rest) {
                // Only the library, which starts threads, calls this one.
                None => return is_whole.then(Vec::new),
                Some(0) => {
                    let point = caller.and_then(|caller| caller.at.as_ref())?;
                    passing = self.sources.repetition_of_call(function, point);
                    file = Arc::new(point.file.clone());
                }
                // What the library does with it the text does not tell.
                Some(_) => return None,
            }
        }
        None
    }

    /// The calls that led to a site on this way, innermost first.
    pub(crate) fn callers(&mut self, chain: &CallChain, site: SiteId) -> Vec<Frame> {
        let mut frames = self.chain_frames(chain);
        let point = &self.get(site).point;
        let own = frames.iter().position(|frame| frame.at == *point);
        frames.split_off(own.map_or(0, |own| own + 1))
    }

    /// Where the author of the program has memory made that these calls made; `None` if
    /// it is a library's doing, and the line that calls it is not known.
    pub(crate) fn allocation(&mut self, chain: &CallChain) -> Option<AllocationPlace> {
        if let Some(known) = self.allocations.get(chain) {
            return known.clone();
        }
        let innermost = chain.innermost().map(|address| self.frames_at(address));
        let has_line = |frames: &[Frame]| frames.iter().any(|frame| frame.at.is_some());
        let place = match innermost.is_some_and(has_line) {
            true => {
                let frames = self.chain_frames(chain);
                allocation_place(&frames, &mut self.sources, &self.scope)
            }
            false => None,
        };
        self.allocations.insert(chain.clone(), place.clone());
        place
    }

    fn chain_frames(&mut self, chain: &CallChain) -> Vec<Frame> {
        let mut frames: Vec<Frame> = Vec::new();
        for address in chain.addresses() {
            frames.extend(self.frames_at(address).iter().cloned());
        }
        frames
    }

    fn frames_at(&mut self, address: Address) -> &[Frame] {
        let symbols = &mut self.symbols;
        self.frames
            .entry(address)
            .or_insert_with(|| symbols.frames(address))
    }
}
