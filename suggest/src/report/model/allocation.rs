//! Where memory was made, as the report has it.

use serde::{Deserialize, Serialize};

use super::Value;

/// The line that made a block of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Allocation {
    /// The type of the object, as the text calls it.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The file, relative to the current folder where it lies in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1; 0 if it is not known.
    pub column: u32,
    /// The function.
    pub function: String,
}

/// A value that points into a block of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pointer {
    /// The value.
    pub value: Value,
    /// Which of those that the line made in the run, from 1; `None` if it is the only
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// It points to the first byte, and not somewhere into the block.
    pub start: bool,
    /// The line that made the block.
    pub allocated: Allocation,
}
