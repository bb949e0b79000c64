//! Places of the source that events come from. A [`SiteId`] stands for one
//! operation at one place: copies of it that the compiler made (inlining,
//! templates, unrolling) are the same site, in every run.

use std::collections::HashMap;

use wmfix_analysis::SiteId;
use wmfix_frontend::{MemoryOrder, Site, Vocabularies};
use wmfix_trace::{Operation, Order};

use super::orders;
use super::sources::Sources;
use super::waits::Waits;
use crate::symbols::{Address, Frame, SourcePoint, Symbols, innermost_own};

/// What an event does, as far as it tells operations on one line apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
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
pub struct Place {
    /// What is done there.
    pub action: Action,
    /// The memory order, as it was said in the run.
    pub order: Option<&'static str>,
    /// The point in the source; `None` without debug information.
    pub point: Option<SourcePoint>,
    /// The function around it.
    pub function: String,
    /// The module and address, for places without a source.
    pub address: Option<Address>,
    /// What the text says about waiting there.
    pub waits: Waits,
    /// The operation in the text, where it was found.
    pub site: Option<Site>,
    /// The calls that led there the first time, innermost first.
    pub callers: Vec<Frame>,
}

/// All places met so far.
pub struct Places {
    /// The debug information.
    pub symbols: Symbols,
    /// The source text.
    pub sources: Sources,
    all: Vec<Place>,
    by_source: HashMap<(SourcePoint, Action), SiteId>,
    by_address: HashMap<(Option<Address>, Action), SiteId>,
    frames: HashMap<Address, Vec<Frame>>,
}

impl Action {
    /// What an operation of a trace does.
    pub fn of(operation: &Operation) -> Self {
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
    pub fn new(vocabularies: Vocabularies) -> Self {
        Self {
            symbols: Symbols::default(),
            sources: Sources::new(vocabularies),
            all: Vec::new(),
            by_source: HashMap::new(),
            by_address: HashMap::new(),
            frames: HashMap::new(),
        }
    }

    /// Every place with its site.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, &Place)> {
        (0..).map(SiteId).zip(&self.all)
    }

    /// The place of a site.
    pub fn get(&self, site: SiteId) -> &Place {
        &self.all[site.0 as usize]
    }

    /// The site of an operation whose instruction and callers, innermost first,
    /// are at these addresses (`None`: in no module).
    pub fn site(&mut self, chain: &[Option<Address>], operation: &Operation) -> SiteId {
        let action = Action::of(operation);
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
        let known = match &point {
            Some(point) => self.by_source.get(&(point.clone(), action)),
            None => self.by_address.get(&(innermost, action)),
        };
        if let Some(&site) = known {
            return site;
        }
        let site = SiteId(u32::try_from(self.all.len()).expect("fewer places than 2^32"));
        match &point {
            Some(point) => self.by_source.insert((point.clone(), action), site),
            None => self.by_address.insert((innermost, action), site),
        };
        let text_site = call.or_else(|| self.sources.site(point.as_ref()?, action));
        let function = own.map(|at| frames[at].function.clone());
        self.all.push(Place {
            action,
            order: order(operation).map(orders::name),
            point,
            function: function.unwrap_or_default(),
            address: innermost,
            waits: text_site
                .as_ref()
                .map(|site| Waits::of(&site.role))
                .unwrap_or_default(),
            site: text_site,
            callers: own.map(|at| frames.split_off(at + 1)).unwrap_or_default(),
        });
        site
    }

    /// Where the operation stands for those who wrote the program: if the function
    /// around it is one that a vocabulary describes, its call is the operation.
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
                Action::of(operation),
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
