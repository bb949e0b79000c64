//! What part of a variable an offset is, from a module's debug information:
//! `.tail_`, `[3].next`. Knows nothing of the addresses of a run.

use std::borrow::Cow;
use std::path::Path;

use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, DwarfSections, EndianSlice,
    LittleEndian, Operation, SectionId, Unit, UnitOffset,
};
use object::{Object, ObjectSection};

type Slice<'d> = EndianSlice<'d, LittleEndian>;
type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;

/// A type within a type, at most this deep.
const MAX_DEPTH: usize = 32;

/// The part of the variable at an address of the file that begins `offset` bytes
/// behind that; `None` if the debug information does not tell.
pub(super) fn part(path: &Path, variable: u64, offset: u64) -> Option<String> {
    let data = std::fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let section = |id: SectionId| match file.section_by_name(id.name()) {
        Some(section) => section.uncompressed_data(),
        None => Ok(Cow::Borrowed(&[][..])),
    };
    let sections = DwarfSections::load(section).ok()?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        let types = Types {
            dwarf: &dwarf,
            unit: &unit,
        };
        if let Some((found, from)) = types.of_variable(variable) {
            return types.part(found, from + offset, MAX_DEPTH);
        }
    }
    None
}

/// The types of a unit.
struct Types<'u, 'd> {
    dwarf: &'u Dwarf<Slice<'d>>,
    unit: &'u Unit<Slice<'d>>,
}

impl<'d> Types<'_, 'd> {
    /// The type of the variable that has something at an address, and where in it
    /// that is: a compiler may take a variable apart.
    fn of_variable(&self, address: u64) -> Option<(UnitOffset, u64)> {
        let mut entries = self.unit.entries();
        while let Some(entry) = entries.next_dfs().ok()? {
            if entry.tag() != gimli::DW_TAG_variable {
                continue;
            }
            let Some(from) = self.offset_of(address, entry) else {
                continue;
            };
            // A variable of a namespace or class is declared elsewhere.
            let declared = reference(entry, gimli::DW_AT_specification);
            let found = reference(entry, gimli::DW_AT_type).or_else(|| {
                let declared = self.unit.entry(declared?).ok()?;
                reference(&declared, gimli::DW_AT_type)
            });
            return Some((found?, from));
        }
        None
    }

    /// How far into a variable an address is at which it, or a piece of it, begins.
    fn offset_of(&self, address: u64, variable: &Entry<'d>) -> Option<u64> {
        let AttributeValue::Exprloc(place) = variable.attr_value(gimli::DW_AT_location)? else {
            return None;
        };
        let mut operations = place.operations(self.unit.encoding());
        let (mut here, mut offset) = (false, 0);
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::Address { address: at } => here = at == address,
                Operation::AddressIndex { index } => {
                    here = self.dwarf.address(self.unit, index).ok()? == address;
                }
                Operation::Piece { .. } if here => return Some(offset),
                Operation::Piece { size_in_bits, .. } => offset += size_in_bits / 8,
                // Thread-local, or no address in the file.
                _ => return None,
            }
        }
        here.then_some(offset)
    }

    /// The part of a type; empty if it is all of it.
    fn part(&self, of: UnitOffset, offset: u64, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let entry = self.unit.entry(of).ok()?;
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let element = reference(&entry, gimli::DW_AT_type)?;
                let size = self.size(element, depth).filter(|size| *size > 0)?;
                if self.dimensions(of)?.len() != 1 {
                    return None;
                }
                let inner = self.part(element, offset % size, depth)?;
                Some(format!("[{}]{inner}", offset / size))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                match self.name(&entry) {
                    Some(name) if is_atomic(&name) => Some(String::new()),
                    _ => self.member(of, offset, depth),
                }
            }
            _ if is_other_name(&entry) => {
                self.part(reference(&entry, gimli::DW_AT_type)?, offset, depth)
            }
            _ => (offset == 0).then(String::new),
        }
    }

    /// The member of a class that has the byte at an offset, and its part.
    fn member(&self, class: UnitOffset, offset: u64, depth: usize) -> Option<String> {
        let mut tree = self.unit.entries_tree(Some(class)).ok()?;
        let mut members = tree.root().ok()?.children();
        while let Some(member) = members.next().ok()? {
            let member = member.entry();
            let is_base = member.tag() == gimli::DW_TAG_inheritance;
            let is_static = member.attr(gimli::DW_AT_declaration).is_some();
            if is_static || !is_base && member.tag() != gimli::DW_TAG_member {
                continue;
            }
            // The members of a union have no place of their own.
            let at = match member.attr(gimli::DW_AT_data_member_location) {
                Some(at) => at.udata_value()?,
                None => 0,
            };
            let inner = reference(member, gimli::DW_AT_type)?;
            let size = self.size(inner, depth).unwrap_or(0);
            if !(at..at + size).contains(&offset) {
                continue;
            }
            let rest = self.part(inner, offset - at, depth)?;
            return Some(match self.name(member).filter(|_| !is_base) {
                Some(name) => format!(".{name}{rest}"),
                None => rest,
            });
        }
        None
    }

    /// How many bytes a type has.
    fn size(&self, of: UnitOffset, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let entry = self.unit.entry(of).ok()?;
        if let Some(size) = entry.attr(gimli::DW_AT_byte_size) {
            return size.udata_value();
        }
        let inner = self.size(reference(&entry, gimli::DW_AT_type)?, depth)?;
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let elements: u64 = self.dimensions(of)?.iter().product();
                inner.checked_mul(elements)
            }
            _ => Some(inner),
        }
    }

    /// How many elements an array has in each direction.
    fn dimensions(&self, array: UnitOffset) -> Option<Vec<u64>> {
        let mut tree = self.unit.entries_tree(Some(array)).ok()?;
        let mut ranges = tree.root().ok()?.children();
        let mut dimensions = Vec::new();
        while let Some(range) = ranges.next().ok()? {
            let range = range.entry();
            let number = |name| range.attr(name).and_then(gimli::Attribute::udata_value);
            let last = || number(gimli::DW_AT_upper_bound)?.checked_add(1);
            dimensions.push(number(gimli::DW_AT_count).or_else(last)?);
        }
        Some(dimensions)
    }

    fn name(&self, entry: &Entry<'d>) -> Option<String> {
        let name = entry.attr_value(gimli::DW_AT_name)?;
        let name = self.dwarf.attr_string(self.unit, name).ok()?;
        Some(name.to_string_lossy().into_owned())
    }
}

/// The entry of the same unit that an attribute names.
fn reference(entry: &Entry<'_>, name: gimli::DwAt) -> Option<UnitOffset> {
    match entry.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// Whether an entry is another name or a qualified form of its type.
fn is_other_name(entry: &Entry<'_>) -> bool {
    matches!(
        entry.tag(),
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type
    )
}

/// What is inside of an atomic object is the library's business.
fn is_atomic(class: &str) -> bool {
    class.starts_with("atomic<") || class.starts_with("__atomic_") || class == "atomic_flag"
}
