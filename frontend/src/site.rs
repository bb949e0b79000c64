//! A [`Site`] is one atomic operation in the text: where it is,
//! what it does, which orders it names and where, and the loop it drives.
//! It says nothing about what happened when the program ran.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::order::MemoryOrder;

/// A byte range in one file.
pub type Span = Range<usize>;

/// One atomic operation in the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The file, as it was given to the scan.
    pub file: Arc<PathBuf>,
    /// The whole operation: the call with its arguments, or the expression.
    pub span: Span,
    /// Where `span` starts, for people and for matching debug information.
    pub start: Position,
    /// Just behind the last byte of `span`.
    pub end: Position,
    /// The callee's name as written, or the operator (`=`, `++`, …).
    pub callee: String,
    /// The callee's name (or the operator) in the text: debug information points
    /// at different columns of one call, depending on the compiler.
    pub callee_span: Span,
    /// Where `callee_span` starts.
    pub callee_start: Position,
    /// The atomic object, where the operation has one.
    pub object: Option<Span>,
    /// What the operation does.
    pub operation: SiteOperation,
    /// The order of the operation, of a compare-exchange on success.
    pub order: OrderSpelling,
    /// The order of a compare-exchange on failure.
    pub failure_order: Option<OrderSpelling>,
    /// The vocabulary that recognised the site, by name.
    pub vocabulary: Arc<str>,
    /// The innermost enclosing function's name, if there is one.
    pub function: Option<String>,
    /// That function's definition, with its body.
    pub function_span: Option<Span>,
    /// The enclosing statement, with its semicolon.
    pub statement: Span,
    /// The line on which that starts.
    pub statement_line: u32,
    /// The innermost enclosing loop of the same function.
    pub loop_span: Option<Span>,
    /// The macro in whose body the site stands. Debug information never points
    /// there: it points at the macro's uses, which are sites of their own.
    pub macro_name: Option<String>,
    /// The part the operation plays in the loop around it.
    pub role: LoopRole,
}

/// A place in a text, counted from 1; columns count bytes, as debug information does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// What an atomic operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteOperation {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and always writes: exchange, fetch-and-modify, test-and-set.
    Rmw,
    /// Reads, and writes if the value is the expected one.
    CompareExchange {
        /// A weak one may fail although the value is the expected one.
        weak: bool,
    },
    /// Orders the accesses around it; has no object.
    Fence,
    /// Orders accesses only against signal handlers of the same thread: no
    /// instruction, and no help between threads.
    SignalFence,
}

/// What an instrumented operation did, as far as its entry point tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// An exchange or fetch-and-modify.
    Rmw,
    /// A compare-exchange.
    CompareExchange,
    /// A fence between threads.
    Fence,
    /// A fence against signal handlers.
    SignalFence,
}

impl SiteOperation {
    /// What kind of instrumented operation this is when it runs as it is written.
    pub fn kind(self) -> OperationKind {
        match self {
            Self::Load => OperationKind::Load,
            Self::Store => OperationKind::Store,
            Self::Rmw => OperationKind::Rmw,
            Self::CompareExchange { .. } => OperationKind::CompareExchange,
            Self::Fence => OperationKind::Fence,
            Self::SignalFence => OperationKind::SignalFence,
        }
    }
}

/// How a site spells its memory order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSpelling {
    /// The order, where the text decides it.
    pub order: Option<MemoryOrder>,
    /// Where and how it is written.
    pub form: OrderForm,
}

/// Where the order of a site is spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderForm {
    /// An argument (or template argument) that names the order literally.
    Literal(Span),
    /// An argument that is a variable, a parameter or a computed value.
    NotLiteral(Span),
    /// An argument that a macro makes part of the order's name: `relaxed` of
    /// `memory_order_##order`.
    Pasted {
        /// The argument.
        span: Span,
        /// What stands before it in the name.
        prefix: String,
        /// What stands behind it.
        suffix: String,
    },
    /// Part of the callee's name (`foo_load_acquire`): the suffix.
    Suffix(Span),
    /// Written in the body of the macro of this name, which the site calls: to
    /// change it there is to change it for every use.
    Macro(String),
    /// Not written: the operation's default, usually seq_cst.
    Implied,
}

/// The part a site plays in the loop around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopRole {
    /// It is not the condition of a loop without effects.
    None,
    /// The loop only waits until the value read fulfils the exit condition.
    Spin(LoopExit),
    /// The loop retries a compare-exchange until it succeeds, each round with
    /// what it has read or computed anew.
    CasLoop,
    /// The loop only waits until a compare-exchange from a fixed value to a fixed
    /// value succeeds, as a lock does: the exit says which value it waits for.
    BlockingCas(LoopExit),
}

/// The condition on the value read that ends a spin loop:
/// `(value & mask) RELATION operand`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopExit {
    /// Bits of the value that count; `None` for all of them.
    pub mask: Option<Operand>,
    /// How the value compares with the operand.
    pub comparison: Comparison,
    /// What it is compared with.
    pub operand: Operand,
    /// The bits are compared as a signed number.
    pub signed: bool,
    /// The size of the object in bytes that the condition was read for; `None` where
    /// it is the same for all.
    pub size: Option<u8>,
    /// How this condition combines with others of the same loop.
    pub joint: Joint,
}

/// How the condition on one site combines with the other conditions of its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Joint {
    /// It alone ends the loop.
    Sole,
    /// The loop ends when all of its conditions hold in one round.
    All,
    /// The loop ends when any of its conditions holds: a round can end it
    /// although this site read what does not.
    Any,
}

/// A comparison of the value read with an operand. Vocabularies name it in
/// kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    /// Whether two values compare so.
    #[cfg(test)]
    pub(crate) fn of<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// The comparison with its sides exchanged.
    pub(crate) fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// Its sign in C.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// The other side of a spin loop's comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A constant that the text decides.
    Constant(i128),
    /// A variable or expression that does not change in the loop: its text.
    Unknown(String),
}
