//! What is known about the operations of a program from its earlier runs: which
//! site each is and what the text says about it. The tool hands it to a run that
//! is checked in the process, as bytes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use wmfix_analysis::{Comparison, SiteId};

use crate::key::ContextKey;
use crate::kind::EventKind;
use crate::operands::{TextId, WaitLoop};
use crate::waits::{OpenExit, TextExit, WaitRole};

/// An operation: its site, and its part in loops that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRole {
    /// The site.
    pub site: SiteId,
    /// What the text says about waiting there.
    pub waits: WaitRole,
    /// The loop that waits there, if only the run shows what it waits for.
    pub watch: Option<Arc<WaitLoop>>,
    /// The operation in the text, where it was found.
    pub text: Option<TextId>,
    /// It orders everything before it with everything after it.
    pub is_full_barrier: bool,
}

/// What is known about the operations of a program.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    roles: HashMap<(ContextKey, EventKind), SiteRole, FxBuildHasher>,
    /// The operations that tell passes through waiting loops apart.
    separators: HashSet<TextId, FxBuildHasher>,
    has_watches: bool,
}

/// The bytes are no table of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadTable;

impl fmt::Display for BadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a table of sites")
    }
}

impl core::error::Error for BadTable {}

const MAGIC: &[u8; 8] = b"WMFIXTB3";

impl SiteTable {
    /// Adds an operation, or says anew what is known about it.
    pub fn insert(&mut self, context: ContextKey, kind: EventKind, role: SiteRole) {
        if let Some(watch) = &role.watch {
            self.has_watches = true;
            self.separators.extend(watch.after.iter().copied());
        }
        self.roles.insert((context, kind), role);
    }

    /// What is known about an operation.
    pub fn get(&self, context: ContextKey, kind: EventKind) -> Option<&SiteRole> {
        self.roles.get(&(context, kind))
    }

    /// How many operations are known.
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// Whether no operation is known.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// Whether there are loops of which only the run shows what they wait for.
    pub fn has_watches(&self) -> bool {
        self.has_watches
    }

    /// Whether it matters to the analysis that this operation is in the table: it
    /// waits, is a barrier, or tells passes through a waiting loop apart.
    pub fn matters(&self, role: &SiteRole) -> bool {
        let separates = |text| self.separators.contains(&text);
        role.waits != WaitRole::default()
            || role.is_full_barrier
            || role.text.is_some_and(separates)
    }

    /// The table as bytes, the same for equal tables.
    pub fn encode(&self) -> Vec<u8> {
        let mut entries: Vec<_> = self.roles.iter().collect();
        entries.sort_by_key(|(key, _)| **key);
        let mut out = Vec::with_capacity(16 + 20 * entries.len());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&(entries.len() as u64).to_le_bytes());
        for ((context, kind), role) in entries {
            encode_role(&mut out, *context, *kind, role);
        }
        out
    }

    /// Reads a table.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadTable> {
        let mut source = Source(bytes);
        if source.take(MAGIC.len())? != MAGIC {
            return Err(BadTable);
        }
        let count = source.word()?;
        let mut table = Self::default();
        for _ in 0..count {
            let (context, kind, role) = decode_role(&mut source)?;
            table.insert(context, kind, role);
        }
        match source.0 {
            [] => Ok(table),
            _ => Err(BadTable),
        }
    }
}

const HAS_EXIT: u8 = 1;
const HAS_OPEN: u8 = 2;
const BLOCKS: u8 = 4;
const HAS_WATCH: u8 = 8;
const HAS_TEXT: u8 = 16;
const IS_BARRIER: u8 = 32;

/// An exit condition for objects of any size.
const ANY_SIZE: u8 = 0;

const HAS_MASK: u8 = 1;
const IS_SOLE: u8 = 4;

fn encode_role(out: &mut Vec<u8>, context: ContextKey, kind: EventKind, role: &SiteRole) {
    let WaitRole {
        exit,
        open,
        blocking,
    } = role.waits;
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    out.extend_from_slice(&context.0.to_le_bytes());
    out.push(kind as u8);
    out.push(
        flag(exit.is_some(), HAS_EXIT)
            | flag(open.is_some(), HAS_OPEN)
            | flag(blocking, BLOCKS)
            | flag(role.watch.is_some(), HAS_WATCH)
            | flag(role.text.is_some(), HAS_TEXT)
            | flag(role.is_full_barrier, IS_BARRIER),
    );
    out.extend_from_slice(&role.site.0.to_le_bytes());
    if let Some(exit) = exit {
        out.push(exit.comparison as u8);
        out.push(u8::from(exit.signed));
        out.push(exit.size.unwrap_or(ANY_SIZE));
        encode_mask(out, exit.mask);
        out.extend_from_slice(&exit.operand.to_le_bytes());
    }
    if let Some(open) = open {
        encode_open(out, open);
    }
    if let Some(watch) = &role.watch {
        out.extend_from_slice(&(watch.id as u64).to_le_bytes());
        encode_open(out, watch.exit);
        out.extend_from_slice(&(watch.after.len() as u64).to_le_bytes());
        for text in &watch.after {
            out.extend_from_slice(&text.0.to_le_bytes());
        }
    }
    if let Some(text) = role.text {
        out.extend_from_slice(&text.0.to_le_bytes());
    }
}

fn encode_mask(out: &mut Vec<u8>, mask: Option<i128>) {
    out.push(u8::from(mask.is_some()));
    out.extend_from_slice(&mask.unwrap_or(0).to_le_bytes());
}

fn encode_open(out: &mut Vec<u8>, open: OpenExit) {
    let mut flags = if open.mask.is_some() { HAS_MASK } else { 0 };
    flags |= if open.sole { IS_SOLE } else { 0 };
    out.push(flags);
    out.push(open.comparison as u8);
    out.extend_from_slice(&open.mask.unwrap_or(0).to_le_bytes());
}

fn decode_role(source: &mut Source<'_>) -> Result<(ContextKey, EventKind, SiteRole), BadTable> {
    let context = ContextKey(source.word()?);
    let kind = *EventKind::ALL
        .get(usize::from(source.byte()?))
        .ok_or(BadTable)?;
    let flags = source.byte()?;
    let has = |bit: u8| flags & bit != 0;
    let site = SiteId(source.half()?);
    let exit = match has(HAS_EXIT) {
        true => Some(TextExit {
            comparison: comparison(source.byte()?)?,
            signed: source.byte()? != 0,
            size: Some(source.byte()?).filter(|&size| size != ANY_SIZE),
            mask: source.mask()?,
            operand: source.wide()?,
        }),
        false => None,
    };
    let open = match has(HAS_OPEN) {
        true => Some(source.open()?),
        false => None,
    };
    let watch = match has(HAS_WATCH) {
        true => {
            let id = usize::try_from(source.word()?).map_err(|_| BadTable)?;
            let exit = source.open()?;
            let count = source.word()?;
            let after: Result<Vec<TextId>, BadTable> =
                (0..count).map(|_| Ok(TextId(source.half()?))).collect();
            Some(Arc::new(WaitLoop {
                id,
                exit,
                after: after?,
            }))
        }
        false => None,
    };
    let text = match has(HAS_TEXT) {
        true => Some(TextId(source.half()?)),
        false => None,
    };
    let waits = WaitRole {
        exit,
        open,
        blocking: has(BLOCKS),
    };
    let role = SiteRole {
        site,
        waits,
        watch,
        text,
        is_full_barrier: has(IS_BARRIER),
    };
    Ok((context, kind, role))
}

fn comparison(byte: u8) -> Result<Comparison, BadTable> {
    [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ]
    .into_iter()
    .find(|one| *one as u8 == byte)
    .ok_or(BadTable)
}

/// The bytes that are left.
struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], BadTable> {
        let (taken, left) = self.0.split_at_checked(count).ok_or(BadTable)?;
        self.0 = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadTable> {
        self.take(N)?.try_into().map_err(|_| BadTable)
    }

    fn byte(&mut self) -> Result<u8, BadTable> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn half(&mut self) -> Result<u32, BadTable> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn word(&mut self) -> Result<u64, BadTable> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn wide(&mut self) -> Result<i128, BadTable> {
        Ok(i128::from_le_bytes(self.array()?))
    }

    fn mask(&mut self) -> Result<Option<i128>, BadTable> {
        let is_there = self.byte()? != 0;
        let mask = self.wide()?;
        Ok(is_there.then_some(mask))
    }

    fn open(&mut self) -> Result<OpenExit, BadTable> {
        let flags = self.byte()?;
        let comparison = comparison(self.byte()?)?;
        let mask = self.wide()?;
        Ok(OpenExit {
            mask: (flags & HAS_MASK != 0).then_some(mask),
            comparison,
            sole: flags & IS_SOLE != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SiteTable {
        let open = OpenExit {
            mask: Some(-2),
            comparison: Comparison::Less,
            sole: false,
        };
        let waits = WaitRole {
            exit: Some(TextExit {
                mask: None,
                comparison: Comparison::GreaterOrEqual,
                operand: -7,
                signed: true,
                size: Some(4),
            }),
            open: Some(open),
            blocking: true,
        };
        let watch = WaitLoop {
            id: 3,
            exit: open,
            after: Vec::from([TextId(9), TextId(11)]),
        };
        let role = |site, text| SiteRole {
            site: SiteId(site),
            waits: WaitRole::default(),
            watch: None,
            text,
            is_full_barrier: site == 6,
        };
        let mut table = SiteTable::default();
        table.insert(ContextKey(1), EventKind::Store, role(5, Some(TextId(9))));
        table.insert(ContextKey(1), EventKind::Other, role(6, None));
        let waiting = SiteRole {
            waits,
            watch: Some(Arc::new(watch)),
            ..role(7, Some(TextId(8)))
        };
        table.insert(ContextKey(u64::MAX), EventKind::Load, waiting);
        table
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = table();
        let bytes = table.encode();
        let read = SiteTable::decode(&bytes).unwrap();
        assert_eq!(read.roles, table.roles);
        assert!(read.has_watches());
        assert_eq!(read.encode(), bytes);
        for cut in 0..bytes.len() {
            assert_eq!(SiteTable::decode(&bytes[..cut]).unwrap_err(), BadTable);
        }
    }

    #[test]
    fn what_waits_or_separates_passes_matters() {
        let table = table();
        let role = |key, kind| table.get(ContextKey(key), kind).unwrap();
        assert!(table.matters(role(u64::MAX, EventKind::Load)));
        assert!(table.matters(role(1, EventKind::Store)));
        assert!(table.matters(role(1, EventKind::Other)));
    }
}
