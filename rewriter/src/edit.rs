//! Edits: byte ranges of one text and what replaces them. An [`EditSet`] is
//! sorted, disjoint, and bound to the text it was made for by a hash; it knows
//! no C and no files.

use std::fmt;

use wmfix_frontend::Span;

/// One replacement; an empty span is an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go.
    pub span: Span,
    /// The bytes that come.
    pub text: Vec<u8>,
}

/// The hash of a whole text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of `text`.
    pub fn of(text: &[u8]) -> Self {
        Self(*blake3::hash(text).as_bytes())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in &self.0[..8] {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Disjoint, sorted edits of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditSet {
    before: ContentHash,
    edits: Vec<Edit>,
}

/// Why edits and a text do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is not the one that the edits were made for.
    #[error("the text has changed since it was read; read it again")]
    ContentChanged,
    /// Two edits touch the same bytes.
    #[error("two edits overlap at byte {0}")]
    Overlap(usize),
    /// An edit lies outside of the text.
    #[error("an edit ends at byte {end} of a text of {length}")]
    OutOfRange {
        /// Where the edit ends.
        end: usize,
        /// How long the text is.
        length: usize,
    },
}

impl EditSet {
    /// The edits of `text`, in any order. Insertions at one place are joined in
    /// the order given; edits that change nothing are dropped.
    pub fn new(text: &[u8], mut edits: Vec<Edit>) -> Result<Self, EditError> {
        edits.retain(|edit| text.get(edit.span.clone()) != Some(edit.text.as_slice()));
        // Insertions come before the replacement that starts at the same byte.
        edits.sort_by_key(|edit| (edit.span.start, !edit.span.is_empty()));
        let mut joined: Vec<Edit> = Vec::with_capacity(edits.len());
        for edit in edits {
            if edit.span.start > edit.span.end || edit.span.end > text.len() {
                return Err(EditError::OutOfRange {
                    end: edit.span.end.max(edit.span.start),
                    length: text.len(),
                });
            }
            match joined.last_mut() {
                Some(last) if last.span == edit.span && edit.span.is_empty() => {
                    last.text.extend(edit.text);
                }
                Some(last) if edit.span.start < last.span.end => {
                    return Err(EditError::Overlap(edit.span.start));
                }
                _ => joined.push(edit),
            }
        }
        Ok(Self {
            before: ContentHash::of(text),
            edits: joined,
        })
    }

    /// The edits, by their place.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The hash of the text that the edits are for.
    pub fn content_hash(&self) -> ContentHash {
        self.before
    }

    /// The text after the edits.
    pub fn apply(&self, text: &[u8]) -> Result<Vec<u8>, EditError> {
        if ContentHash::of(text) != self.before {
            return Err(EditError::ContentChanged);
        }
        let added: usize = self.edits.iter().map(|edit| edit.text.len()).sum();
        let mut result = Vec::with_capacity(text.len() + added);
        let mut copied = 0;
        for edit in &self.edits {
            result.extend_from_slice(&text[copied..edit.span.start]);
            result.extend_from_slice(&edit.text);
            copied = edit.span.end;
        }
        result.extend_from_slice(&text[copied..]);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(span: Span, text: &str) -> Edit {
        Edit {
            span,
            text: text.into(),
        }
    }

    #[test]
    fn edits_are_sorted_and_insertions_joined() {
        let set = EditSet::new(
            b"abcdef",
            vec![
                edit(4..5, "E"),
                edit(1..1, "1"),
                edit(1..1, "2"),
                edit(1..2, "B"),
            ],
        )
        .unwrap();
        assert_eq!(set.edits().len(), 3);
        assert_eq!(set.apply(b"abcdef").unwrap(), b"a12BcdEf");
    }

    #[test]
    fn overlaps_and_strays_are_errors() {
        let overlap = EditSet::new(b"abcdef", vec![edit(1..4, "x"), edit(3..5, "y")]);
        assert_eq!(overlap, Err(EditError::Overlap(3)));
        let inside = EditSet::new(b"abcdef", vec![edit(1..4, "x"), edit(2..2, "y")]);
        assert_eq!(inside, Err(EditError::Overlap(2)));
        let stray = EditSet::new(b"ab", vec![edit(1..4, "x")]);
        assert_eq!(stray, Err(EditError::OutOfRange { end: 4, length: 2 }));
    }

    #[test]
    fn another_text_is_refused() {
        let set = EditSet::new(b"abc", vec![edit(0..1, "x")]).unwrap();
        assert_eq!(set.apply(b"abd"), Err(EditError::ContentChanged));
    }

    #[test]
    fn an_edit_that_changes_nothing_is_none() {
        assert!(
            EditSet::new(b"abc", vec![edit(0..1, "a"), edit(2..2, "")])
                .unwrap()
                .is_empty()
        );
    }

    proptest! {
        /// What lies between the edits is kept, byte for byte.
        #[test]
        fn untouched_bytes_survive(
            text in proptest::collection::vec(any::<u8>(), 0..200),
            cuts in proptest::collection::btree_set(0usize..200, 0..20),
            inserted in proptest::collection::vec(any::<u8>(), 1..8),
        ) {
            let cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= text.len()).collect();
            let edits = cuts.chunks_exact(2).map(|pair| Edit { span: pair[0]..pair[1], text: inserted.clone() }).collect();
            let set = EditSet::new(&text, edits).unwrap();
            let result = set.apply(&text).unwrap();
            let mut expected = Vec::new();
            let mut from = 0;
            for pair in cuts.chunks_exact(2) {
                expected.extend_from_slice(&text[from..pair[0]]);
                expected.extend_from_slice(&inserted);
                from = pair[1];
            }
            expected.extend_from_slice(&text[from..]);
            prop_assert_eq!(result, expected);
        }
    }
}
