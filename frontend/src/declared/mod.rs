//! What a file declares that a scan must know: which names are atomic objects and
//! how many dereferences away, which types are atomic, which names are orders.
//! A declaration is judged by its text; templates are not instantiated.

mod collect;
mod lookup;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::orders::OrderNames;
use crate::site::Span;
use crate::vocabulary::rule::Rule;

pub(crate) use lookup::Type;

/// The declarations of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    /// Variables and parameters by name.
    variables: FxHashMap<String, Vec<Declaration>>,
    /// Fields by name.
    fields: FxHashMap<String, Vec<Declaration>>,
    /// Type names: aliases, and classes derived from atomic ones.
    types: FxHashMap<String, Written>,
    /// Names of orders.
    pub orders: OrderNames,
    /// Macros that wrap one atomic operation: their uses are sites.
    pub macros: FxHashMap<String, Rule>,
    /// Spans of out-of-line methods with their class.
    methods: Vec<(Span, String)>,
    /// The headers it includes, as written.
    pub includes: Vec<String>,
    /// What the included headers of the same tree declare.
    pub imports: Vec<Arc<Declared>>,
}

/// One declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declaration {
    /// Where the name means this: a block, a class, the file.
    scope: Span,
    /// The class of a field.
    owner: Option<String>,
    /// Its type.
    written: Written,
}

/// A type as it is written: so many dereferences away from a base.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    base: Base,
    depth: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    Atomic(AtomicKind),
    /// A type of this name, to be looked up.
    Named(String),
    /// A type that is certainly not atomic.
    Plain,
    /// `auto`, a template parameter, `decltype(…)`.
    Opaque,
}

/// The ways in which an object can be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    /// By a class like `std::atomic`, of this vocabulary.
    Class(usize),
    /// By the qualifier `_Atomic`.
    Qualifier,
    /// By the qualifier `volatile`, taken for atomic on request.
    Volatile,
}
