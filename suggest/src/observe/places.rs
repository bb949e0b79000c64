//! Places of the source that events come from. A [`SiteId`] stands for one
//! operation at one place: copies of it that the compiler made (inlining,
//! templates, unrolling) are the same site, in every run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use wmfix_analysis::SiteId;
use wmfix_frontend::{MemoryOrder, Repetition, Site, Span, Vocabularies};
use wmfix_trace::{Order, RecordedOperation as Operation};

use super::operands::{TextId, WaitLoop};
use super::sources::Sources;
use super::waits::WaitRole;
use crate::symbols::{Address, Frame, SourcePoint, Symbols, innermost_own};

/// What an event does, as far as it tells operations on one line apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum EventKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// A read-modify-write.
    Rmw,
    /// A compare-exchange.
    CompareExchange,
    /// A fence.
    Fence,
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// A lock, a thread's start or end, a birth or death of memory.
    Other,
}

/// Where an event comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What is done there.
    pub kind: EventKind,
    /// The memory order that the run had.
    pub order: Option<Order>,
    /// The point in the source; `None` without debug information.
    pub point: Option<SourcePoint>,
    /// The function around it.
    pub function: String,
    /// The module and address, for places without a source.
    pub address: Option<Address>,
    /// What the text says about waiting there.
    pub waits: WaitRole,
    /// The operation in the text, where it was found.
    pub site: Option<Site>,
    /// The number of that.
    pub text: Option<TextId>,
    /// The calls that led there the first time, innermost first.
    pub callers: Vec<Frame>,
    /// The operation is all that its function does: its sites are told apart by
    /// who calls that, the first of `callers`.
    pub is_wrapped: bool,
    /// The site that findings at this place are reported for, the same for all
    /// callers.
    pub reported_site: SiteId,
}

/// A recorded operation with its site, and the loop that waits there if only the
/// run shows what it waits for.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedOperation {
    /// The site.
    pub site: SiteId,
    /// The loop, on this way of calls.
    pub watch: Option<Arc<WaitLoop>>,
}

/// All places seen so far.
pub(crate) struct Places {
    /// The debug information.
    pub symbols: Symbols,
    /// The source text.
    pub sources: Sources,
    all: Vec<Place>,
    by_source: HashMap<(SourcePoint, EventKind, Option<SourcePoint>), SiteId>,
    /// Whether the operation at a point is all that its function does, and the
    /// first site there.
    points: HashMap<(SourcePoint, EventKind), (bool, SiteId)>,
    by_address: HashMap<(Option<Address>, EventKind), SiteId>,
    frames: HashMap<Address, Vec<Frame>>,
    texts: HashMap<(Arc<PathBuf>, usize), TextId>,
    watches: HashMap<(SiteId, Vec<SourcePoint>), Option<Arc<WaitLoop>>>,
}

impl EventKind {
    /// What an operation of a trace does.
    pub(crate) fn of(operation: &Operation) -> Self {
        match operation {
            Operation::Load { .. } => Self::Load,
            Operation::Store { .. } => Self::Store,
            Operation::Rmw { .. } => Self::Rmw,
            Operation::CompareExchange { .. } => Self::CompareExchange,
            Operation::Fence { .. } => Self::Fence,
            Operation::Read { .. } => Self::Read,
            Operation::Write { .. } => Self::Write,
            _ => Self::Other,
        }
    }
}

impl Places {
    /// No place yet; the text is read with these vocabularies.
    pub(crate) fn new(vocabularies: Vocabularies) -> Self {
        Self {
            symbols: Symbols::default(),
            sources: Sources::new(vocabularies),
            all: Vec::new(),
            by_source: HashMap::new(),
            points: HashMap::new(),
            by_address: HashMap::new(),
            frames: HashMap::new(),
            texts: HashMap::new(),
            watches: HashMap::new(),
        }
    }

    /// Every place with its site.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteId, &Place)> {
        (0..).map(SiteId).zip(&self.all)
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
        let key = |point: &SourcePoint| (point.clone(), place.kind, caller(&place));
        let key = place.point.as_ref().map(key);
        let same = |(_, other): &(SiteId, &Place)| {
            place.text.is_some()
                && (other.text, other.kind) == (place.text, place.kind)
                && caller(other) == caller(&place)
        };
        let known = key
            .as_ref()
            .and_then(|key| self.by_source.get(key).copied());
        if let Some(known) = known.or_else(|| self.iter().find(same).map(|(site, _)| site)) {
            return known;
        }
        let site = SiteId(u32::try_from(self.all.len()).expect("fewer places than 2^32"));
        place.reported_site = site;
        if let Some(key) = key {
            let here = self.points.entry((key.0.clone(), key.1));
            place.reported_site = here.or_insert((place.is_wrapped, site)).1;
            self.by_source.insert(key, site);
        }
        self.all.push(place);
        site
    }

    /// An operation whose instruction and callers, innermost first, are at these
    /// addresses (`None`: in no module).
    pub(crate) fn resolve(
        &mut self,
        chain: &[Option<Address>],
        operation: &Operation,
    ) -> ResolvedOperation {
        let kind = EventKind::of(operation);
        let innermost = chain.first().copied().flatten();
        let mut frames: Vec<Frame> = Vec::new();
        let mut own = None;
        for address in chain.iter().copied().flatten() {
            let here = self.frames_at(address);
            own = own.or_else(|| innermost_own(here).map(|at| frames.len() + at));
            frames.extend(here.iter().cloned());
        }
        let (own, call) = self.outermost_call(&frames, own, operation);
        let point = own.and_then(|at| frames[at].at.clone());
        let first = point
            .as_ref()
            .and_then(|point| self.points.get(&(point.clone(), kind)).copied());
        let mut text_site = None;
        let is_wrapped = match first {
            Some((is_wrapped, _)) => is_wrapped,
            None => {
                text_site = call.clone();
                text_site = text_site.or_else(|| self.sources.site(point.as_ref()?, kind));
                let inner = text_site.as_ref().filter(|_| call.is_none());
                inner.is_some_and(|site| self.sources.is_whole_body(site))
            }
        };
        let caller = own.filter(|_| is_wrapped).and_then(|at| {
            let caller = frames.get(at + 1..=at + 1)?;
            innermost_own(caller).and(caller[0].at.clone())
        });
        let known = match &point {
            Some(point) => {
                let key = (point.clone(), kind, caller.clone());
                self.by_source.get(&key)
            }
            None => self.by_address.get(&(innermost, kind)),
        };
        if let Some(&site) = known {
            let watch = self.watch(site, &frames, own);
            return ResolvedOperation { site, watch };
        }
        let site = SiteId(u32::try_from(self.all.len()).expect("fewer places than 2^32"));
        if first.is_some() {
            text_site = call.or_else(|| self.sources.site(point.as_ref()?, kind));
        }
        let reported_site = match &point {
            Some(point) => {
                let key = (point.clone(), kind, caller);
                self.by_source.insert(key, site);
                let here = self.points.entry((point.clone(), kind));
                here.or_insert((is_wrapped, site)).1
            }
            None => {
                self.by_address.insert((innermost, kind), site);
                site
            }
        };
        let function = own.map(|at| frames[at].function.clone());
        let text = text_site
            .as_ref()
            .map(|site| self.text(&site.file, &site.span));
        self.all.push(Place {
            kind,
            order: order(operation),
            point,
            function: function.unwrap_or_default(),
            address: innermost,
            waits: text_site
                .as_ref()
                .map(|site| WaitRole::of(&site.role))
                .unwrap_or_default(),
            site: text_site,
            text,
            callers: own.map(|at| frames[at + 1..].to_vec()).unwrap_or_default(),
            is_wrapped,
            reported_site,
        });
        let watch = self.watch(site, &frames, own);
        ResolvedOperation { site, watch }
    }

    /// The program's own calls at these addresses, as far as their source is known.
    pub(crate) fn calls(&mut self, chain: &[Option<Address>]) -> Vec<Frame> {
        let mut calls = Vec::new();
        for address in chain.iter().copied().flatten() {
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
            .separators(&text, &frames[own..])
            .map(|after| Arc::new(WaitLoop { id, exit, after }));
        self.watches.insert((site, way), watch.clone());
        watch
    }

    /// Operations of which one comes before each pass through a waiting loop, by
    /// its calls, innermost first. None if a thread passes only once.
    fn separators(&mut self, wait: &Site, calls: &[Frame]) -> Option<Vec<TextId>> {
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
                None => return Some(Vec::new()),
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

    /// Where the author of the program sees the operation: if a vocabulary describes
    /// the function around it, the call of that function is the operation.
    fn outermost_call(
        &mut self,
        frames: &[Frame],
        own: Option<usize>,
        operation: &Operation,
    ) -> (Option<usize>, Option<Site>) {
        let (mut at, mut found) = (own, None);
        while let Some(function) = at
            && let Some(caller) = frames.get(function + 1)
            && let Some(call) = self.sources.described_call(
                &frames[function],
                caller,
                EventKind::of(operation),
                order(operation).map(spelled),
            )
        {
            (at, found) = (Some(function + 1), Some(call));
        }
        (at, found)
    }

    fn frames_at(&mut self, address: Address) -> &[Frame] {
        let symbols = &self.symbols;
        self.frames
            .entry(address)
            .or_insert_with(|| symbols.frames(address))
    }
}

fn order(operation: &Operation) -> Option<Order> {
    match operation {
        Operation::Load { order, .. }
        | Operation::Store { order, .. }
        | Operation::Rmw { order, .. }
        | Operation::CompareExchange { success: order, .. }
        | Operation::Fence { order } => Some(*order),
        _ => None,
    }
}

/// An order of a run as the text would say it.
fn spelled(order: Order) -> MemoryOrder {
    match order {
        Order::Relaxed => MemoryOrder::Relaxed,
        Order::Consume | Order::Acquire => MemoryOrder::Acquire,
        Order::Release => MemoryOrder::Release,
        Order::AcqRel => MemoryOrder::AcqRel,
        Order::SeqCst => MemoryOrder::SeqCst,
    }
}
