//! From the calls that made a block of memory to the line that its author means: the
//! innermost one in the program's own text that does not only make memory for others.

use super::scope::Scope;
use super::sources::Sources;
use crate::symbols::{Frame, is_own};

/// More layers than this are not looked through.
const MAX_LAYERS: usize = 16;

/// Where memory was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllocationPlace {
    /// The line.
    pub frame: Frame,
    /// The type of the object, if the text says it.
    pub type_name: Option<String>,
}

/// Finds where memory was made by calls with these frames, innermost first.
pub(super) fn allocation_place(
    frames: &[Frame],
    sources: &mut Sources,
    scope: &Scope,
) -> Option<AllocationPlace> {
    let is_users = |frame: &Frame| {
        let file = frame.at.as_ref().map(|at| &at.file);
        is_own(frame) && file.is_some_and(|file| !scope.is_system(file))
    };
    let next_from = |first: usize| {
        let rest = frames.get(first..)?;
        Some(first + rest.iter().position(is_users)?)
    };
    let mut at = next_from(0)?;
    let mut text = sources.allocation(frames[at].at.as_ref()?);
    for _ in 0..MAX_LAYERS {
        let Some(outer) = next_from(at + 1).filter(|_| text.is_wrapper) else {
            break;
        };
        at = outer;
        text = sources.allocation(frames[at].at.as_ref()?);
    }
    Some(AllocationPlace {
        frame: frames[at].clone(),
        type_name: text.type_name,
    })
}
