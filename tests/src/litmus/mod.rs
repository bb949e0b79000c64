//! Small concurrent programs: their type, a text notation, the corpus with its
//! known verdicts, random generators, an SC interpreter that yields the events
//! of a run, and C and C++ sources. Knows nothing of how verdicts are found.

mod corpus;
mod draft;
mod emit;
mod emit_wait;
mod generate;
mod machine;
mod names;
mod notation;
mod program;
mod runs;
mod spell;
mod strengthen;

pub use crate::rng::Rng;
pub use corpus::{CorpusError, Entry, corpus, read_corpus};
pub use emit::{Spelling, WaitForm, emit, emit_waiting};
pub use generate::{Profile, around_cycle, coming_and_going, large, random, varied, with_plain};
pub use machine::{Choice, ExecutedInstruction, Machine, Outcome, main_thread, thread_id};
pub use notation::{NotationError, program};
pub use program::{Builder, Instruction, Location, Mutex, Program, Register};
pub use runs::{all_runs, random_run, scheduled_run};
pub use strengthen::{StrengthenedProgram, strengthen};
