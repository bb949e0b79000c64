//! Turns changes (raise this order, put a fence here) into edits that keep the
//! text's formatting, and edits into unified diffs. Knows nothing of why a
//! change is wanted.
#![forbid(unsafe_code)]
