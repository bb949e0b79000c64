//! Where lines start in a text: byte offsets to positions and back.

use crate::site::Position;

/// The offsets at which the lines of one text start.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Looks through the text once.
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        Self { starts }
    }

    /// The position of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        Position {
            line: number(line + 1),
            column: number(offset - self.starts[line] + 1),
        }
    }

    /// The byte offset at which a line (from 1) starts, if the text has that line.
    pub fn line_start(&self, line: u32) -> Option<usize> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.starts.get(index).copied()
    }
}

/// Debug information counts in 32 bits too: what does not fit is as good as lost.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, Position};

    #[test]
    fn positions_count_from_one_and_in_bytes() {
        let index = LineIndex::new("a\r\n\u{e9}b\n".as_bytes());
        let at = |line, column| Position { line, column };
        assert_eq!(index.position(0), at(1, 1));
        assert_eq!(index.position(5), at(2, 3));
        assert_eq!(index.position(7), at(3, 1));
        assert_eq!(index.line_start(2), Some(3));
        assert_eq!(index.line_start(4), None);
        assert_eq!(index.line_start(0), None);
    }
}
