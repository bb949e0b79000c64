//! The corpus of programs with known verdicts, `corpus/litmus.jsonl`: one JSON
//! object a line. The verdicts were found by an independent enumeration.

use serde::Deserialize;
use wmfix_analysis::{CasStrength, LoopExit};

use super::names::{fence_order, load_order, rmw_order, store_order};
use super::program::{Builder, Instruction, Program};

/// A program and what is known about it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The program.
    pub program: Program,
    /// Whether it is robust in RC11.
    pub robust: bool,
    /// Whether it is robust when an SC fence is a read-modify-write of a
    /// location that all SC fences share (and SC accesses are RC11's).
    pub robust_with_fence_location: bool,
}

/// A line of the corpus that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// Not the JSON that is expected.
    #[error("line {line}: {source}")]
    Json {
        /// Which, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// An instruction that is not known.
    #[error("line {line}: unknown instruction {instruction}")]
    Instruction {
        /// Which, from 1.
        line: usize,
        /// The instruction.
        instruction: String,
    },
}

#[derive(Deserialize)]
struct Line {
    name: String,
    robust: bool,
    robust_native: bool,
    program: Vec<Vec<Vec<serde_json::Value>>>,
}

/// Reads the whole corpus.
pub fn corpus() -> Result<Vec<Entry>, CorpusError> {
    read_corpus(include_str!("../../corpus/litmus.jsonl"))
}

/// Reads a corpus: one JSON object a line.
pub fn read_corpus(text: &str) -> Result<Vec<Entry>, CorpusError> {
    text.lines()
        .enumerate()
        .map(|(n, text)| entry(n + 1, text))
        .collect()
}

fn entry(line: usize, text: &str) -> Result<Entry, CorpusError> {
    let read: Line =
        serde_json::from_str(text).map_err(|source| CorpusError::Json { line, source })?;
    let mut builder = Builder::default();
    for thread in &read.program {
        builder.thread();
        for words in thread {
            let instruction =
                instruction(&mut builder, words).ok_or_else(|| CorpusError::Instruction {
                    line,
                    instruction: format!("{words:?}"),
                })?;
            builder.push(instruction);
        }
    }
    Ok(Entry {
        program: builder.finish(&read.name),
        robust: read.robust_native,
        robust_with_fence_location: read.robust,
    })
}

/// An instruction as a list: its name, its operands, its order.
fn instruction(builder: &mut Builder, words: &[serde_json::Value]) -> Option<Instruction> {
    let text = |n: usize| words.get(n)?.as_str();
    let number = |n: usize| words.get(n)?.as_u64();
    Some(match text(0)? {
        "st" => Instruction::Store {
            location: builder.location(text(1)?),
            value: number(2)?,
            order: store_order(text(3)?)?,
        },
        "ld" => Instruction::Load {
            register: builder.register(text(1)?),
            location: builder.location(text(2)?),
            order: load_order(text(3)?)?,
        },
        "fadd" => Instruction::FetchAdd {
            register: builder.register(text(1)?),
            location: builder.location(text(2)?),
            value: number(3)?,
            order: rmw_order(text(4)?)?,
        },
        "xchg" => Instruction::Exchange {
            register: builder.register(text(1)?),
            location: builder.location(text(2)?),
            value: number(3)?,
            order: rmw_order(text(4)?)?,
        },
        "cas" => Instruction::CompareExchange {
            register: builder.register(text(1)?),
            location: builder.location(text(2)?),
            expected: number(3)?,
            desired: number(4)?,
            success: rmw_order(text(5)?)?,
            failure: rmw_order(text(5)?)?.read_half(),
            strength: CasStrength::Strong,
        },
        "bcas" => Instruction::BlockingCompareExchange {
            location: builder.location(text(1)?),
            expected: number(2)?,
            desired: number(3)?,
            success: rmw_order(text(4)?)?,
            failure: rmw_order(text(4)?)?.read_half(),
        },
        "wait" => Instruction::Wait {
            location: builder.location(text(1)?),
            exit: LoopExit::equal(number(2)?),
            order: load_order(text(3)?)?,
        },
        "fence" => Instruction::Fence {
            order: fence_order(text(1)?)?,
        },
        "skipif" => Instruction::SkipIf {
            register: builder.register(text(1)?),
            value: number(2)?,
            count: u8::try_from(number(3)?).ok()?,
        },
        "skipunless" => Instruction::SkipUnless {
            register: builder.register(text(1)?),
            value: number(2)?,
            count: u8::try_from(number(3)?).ok()?,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_can_be_read() {
        let entries = corpus().unwrap();
        assert_eq!(entries.len(), 491);
        assert!(
            entries
                .iter()
                .any(|e| e.robust != e.robust_with_fence_location)
        );
        let sb = &entries[0];
        assert_eq!(
            sb.program.to_string(),
            "SB_ra:\n  T1: x=1.rel; a=y.acq\n  T2: y=1.rel; b=x.acq\n"
        );
        assert!(!sb.robust);
    }

    #[test]
    fn an_unknown_instruction_is_an_error() {
        let line = r#"{"name":"p","robust":true,"robust_native":true,"program":[[["jump",1]]]}"#;
        assert!(matches!(
            entry(7, line),
            Err(CorpusError::Instruction { line: 7, .. })
        ));
    }
}
