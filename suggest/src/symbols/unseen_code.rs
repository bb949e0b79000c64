//! Code of a module that no instrumentation sees: functions that were compiled without it,
//! and assembly in the files that it was made of. Knows nothing of a run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use addr2line::gimli::{Dwarf, DwarfSections, EndianSlice, LittleEndian, SectionId, Unit};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::UnseenCode;
use super::assembly::AssemblyFinder;
use super::standards::{producer, unit_files};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// What instrumenting compilers say in debug information.
const INSTRUMENTED: &str = "-fsanitize=thread";

/// Functions of the compiler's start files and those that it makes itself, which only begin
/// and end the process, adjust arguments, or find thread-local objects.
const START_FILES: [&str; 14] = [
    "_start",
    "_init",
    "_fini",
    "_dl_relocate_static_pie",
    "__libc_csu_init",
    "__libc_csu_fini",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "call_weak_fn",
    "atexit",
    "at_quick_exit",
    "__clang_call_terminate",
];
const MADE_BY_COMPILERS: [&str; 7] = [
    "_sub_I_",
    "tsan.module_ctor",
    "_ZTh",
    "_ZTv",
    "_ZTc",
    "_ZTW",
    "_ZTH",
];

/// The code of a module that nobody sees; nothing of one that is not instrumented at all,
/// into which calls are seen. `ours` are the functions of the runtime, and whether they are
/// weak. Files are found by `assembly`.
pub(super) fn unseen_code(
    path: &Path,
    ours: &HashSet<(String, bool)>,
    assembly: &mut AssemblyFinder,
) -> Vec<UnseenCode> {
    find(path, ours, assembly).unwrap_or_else(|| vec![UnseenCode::NoSymbols(path.to_owned())])
}

fn find(
    path: &Path,
    ours: &HashSet<(String, bool)>,
    assembly: &mut AssemblyFinder,
) -> Option<Vec<UnseenCode>> {
    let data = std::fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let of_instrumentation = |symbol: object::Symbol<'_, '_>| {
        symbol.name().is_ok_and(|name| name.starts_with("__tsan_"))
    };
    if !file.dynamic_symbols().any(of_instrumentation) {
        return Some(Vec::new());
    }
    let section = |id: SectionId| match file.section_by_name(id.name()) {
        Some(section) => section.uncompressed_data(),
        None => Ok(Cow::Borrowed(&[][..])),
    };
    let sections = DwarfSections::load(section).ok()?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, LittleEndian));
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        if !producer(&dwarf, &unit).is_some_and(|said| said.contains(INSTRUMENTED)) {
            continue;
        }
        let mut ranges = dwarf.unit_ranges(&unit).ok()?;
        while let Some(range) = ranges.next().ok()? {
            let end = seen.entry(range.begin).or_default();
            *end = range.end.max(*end);
        }
        let name = unit.name.map(|name| name.to_string_lossy().into_owned());
        assembly.add(name.as_deref(), &unit_files(&dwarf, &unit), || {
            lines(&dwarf, &unit).unwrap_or_default()
        });
    }
    let mut symbols = file.symbols().peekable();
    symbols.peek()?;
    let code: HashSet<_> = file
        .sections()
        .filter(|section| section.kind() == object::SectionKind::Text)
        .map(|section| section.index())
        .collect();
    let is_seen = |address: u64| {
        let before = seen.range(..=address).next_back();
        before.is_some_and(|(_, &end)| address < end)
    };
    let unseen = symbols.find_map(|symbol| {
        let is_function = symbol.kind() == SymbolKind::Text || symbol.is_global();
        let inside = symbol
            .section_index()
            .is_some_and(|index| code.contains(&index));
        let name = symbol.name().unwrap_or_default();
        let known = START_FILES.contains(&name)
            || MADE_BY_COMPILERS
                .iter()
                .any(|start| name.starts_with(start))
            || name.is_empty()
            || is_ours(name, symbol.is_global() && !symbol.is_weak(), ours);
        (is_function && inside && !known && !is_seen(symbol.address())).then(|| name.to_owned())
    });
    let unseen =
        unseen.map(|name| UnseenCode::Function(super::readable_name(&name), path.to_owned()));
    Some(unseen.into_iter().collect())
}

/// Whether a function is the runtime's: what is weak there gives way to a global one.
fn is_ours(name: &str, is_strong: bool, ours: &HashSet<(String, bool)>) -> bool {
    let has = |weak| ours.contains(&(name.to_owned(), weak));
    has(false) || !is_strong && has(true)
}

/// The lines that a unit has code of.
fn lines(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> Option<BTreeSet<(PathBuf, u32)>> {
    let program = unit.line_program.clone()?;
    let files = unit_files(dwarf, unit);
    // The first file has the number 0 from version 5 on.
    let first = if program.header().version() >= 5 {
        0
    } else {
        1
    };
    let mut found = BTreeSet::new();
    let mut rows = program.rows();
    while let Some((_, row)) = rows.next_row().ok()? {
        let number = row.file_index().checked_sub(first)?;
        let file = files.get(usize::try_from(number).ok()?);
        if let (Some(file), Some(line)) = (file, row.line()) {
            found.insert((file.clone(), u32::try_from(line.get()).ok()?));
        }
    }
    Some(found)
}
