//! The trace that an instrumented run leaves behind: its encoding, a writer
//! that needs no allocation and a reader that survives a cut file. Pure bytes,
//! no I/O: the runtime writes it, the tool reads it.
