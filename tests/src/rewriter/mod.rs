//! What the rewriter's tests share: cases of texts before and after, and the
//! compilers that judge them.

pub mod cases;
pub mod execution;
pub mod packages;
pub mod programs;
