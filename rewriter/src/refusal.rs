//! Why a change is not made. A refusal is a value that the repair search goes
//! around and the report shows; it is never a panic and never a mangled text.

use std::path::PathBuf;

use wmfix_frontend::{MemoryOrder, SiteOperation};

/// The reason why a change cannot be made in this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The order is a variable or an expression: raise it is a matter of its origin.
    #[error("the order is not spelled here but computed: `{0}`")]
    OrderIsComputed(String),
    /// The operation cannot have such an order.
    #[error("a {} cannot be {}", operation_name(.operation), .order.name())]
    OrderNotAllowed {
        /// What the site does.
        operation: SiteOperation,
        /// The order that was asked for.
        order: MemoryOrder,
    },
    /// The order's spelling is not one that is known, so no stronger one is either.
    #[error("no stronger spelling is known for `{0}`")]
    UnknownSpelling(String),
    /// The operation does not say its order and has no stronger sibling that could.
    #[error("`{0}` takes no memory order")]
    CannotSayOrder(String),
    /// The stronger wrapper is not in the vocabulary, or nothing of this name is in the tree.
    #[error("there is no `{0}` in this tree")]
    NoSuchWrapper(String),
    /// The order is written in a macro's body, for all uses of the macro.
    #[error("the order is written in the macro `{0}`, for all of its uses: change it there")]
    OrderInMacro(String),
    /// The operation comes from a macro that is defined outside of the tree.
    #[error("the macro `{0}` is defined outside of the tree")]
    MacroOutsideTree(String),
    /// The operation is in an operand that is never evaluated.
    #[error("the operation is in `{0}`, which is not evaluated")]
    Unevaluated(String),
    /// The operation is in an assertion, which is not evaluated without debugging.
    #[error("the operation is in `{0}`, which NDEBUG removes")]
    InAssertion(String),
    /// The operation is only compiled for debugging, or only without.
    #[error("whether the operation is compiled depends on NDEBUG")]
    DependsOnNdebug,
    /// The operation is where only a constant or a name is allowed.
    #[error("a fence cannot be put into a {0}")]
    NoPlace(String),
    /// The operation is inline assembly, or inside of it.
    #[error("inline assembly is not changed")]
    InlineAssembly,
    /// The text around the site is not understood well enough to change it.
    #[error("the text around the operation is not understood")]
    NotUnderstood,
    /// Statements are cut apart by conditional compilation.
    #[error("conditional compilation cuts through the statement")]
    SplitByPreprocessor,
    /// The fence would have to follow an operation whose value is still needed,
    /// and no temporary can hold the value there.
    #[error("the value is needed after the fence, and no temporary can hold it here")]
    ValueNeeded,
    /// An operand of the operation has effects of its own, which the fence
    /// would have to follow, and the operand cannot be taken out.
    #[error("the operand `{0}` has effects of its own and cannot be taken out")]
    OperandHasEffects(String),
    /// The project's fence is a statement, and only an expression fits.
    #[error("only an expression fits here, and `{0}` is a statement")]
    FenceIsStatement(String),
    /// The site is not in this text.
    #[error("the operation is not where it was found: the text has changed")]
    SiteNotFound,
    /// There is no statement next to the fence that it could move past.
    #[error("the fence cannot move past the statement next to it")]
    CannotMove,
    /// The fence is not a statement of its own in a block.
    #[error("the fence is part of something else and cannot be taken away")]
    CannotRemove,
    /// The changed text has syntax errors that the original has not.
    #[error("the changed text would not parse")]
    WouldNotParse,
    /// The file says that a tool made it.
    #[error("the file is generated (it says `{0}`)")]
    GeneratedFile(String),
    /// The file belongs to the system, not to the project.
    #[error("{} is a system header", .0.display())]
    SystemHeader(PathBuf),
    /// The file is not in the tree that may be changed.
    #[error("{} is outside of the tree", .0.display())]
    OutsideTree(PathBuf),
    /// The file must not be written.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
}

fn operation_name(operation: &SiteOperation) -> &'static str {
    match operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "read-modify-write",
        SiteOperation::CompareExchange { .. } => "compare-exchange",
        SiteOperation::Fence => "fence",
        SiteOperation::SignalFence => "signal fence",
    }
}
