//! Which files a module was compiled from as C++20 or later, as the compilers say in its
//! debug information. Knows nothing of the addresses of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use addr2line::gimli::{self, Dwarf, DwarfSections, EndianSlice, LittleEndian, SectionId, Unit};
use object::{Object, ObjectSection};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// The files of a module, each with whether all that it is part of is C++20 or later.
pub(super) fn cpp20_files(path: &Path) -> BTreeMap<PathBuf, bool> {
    let mut files = BTreeMap::new();
    // Damaged debug information counts as missing.
    add_files(path, &mut files);
    files
}

fn add_files(path: &Path, files: &mut BTreeMap<PathBuf, bool>) -> Option<()> {
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
        let is_cpp20 = producer(&dwarf, &unit).is_some_and(|producer| is_cpp20(&producer));
        for file in unit_files(&dwarf, &unit) {
            let all = files.entry(file).or_insert(true);
            *all &= is_cpp20;
        }
    }
    Some(())
}

/// The compiler of a unit, with its arguments.
pub(super) fn producer(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> Option<String> {
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let said = root.attr_value(gimli::DW_AT_producer)?;
    let text = dwarf.attr_string(unit, said).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// The files that a unit has lines of.
pub(super) fn unit_files(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> Vec<PathBuf> {
    let Some(program) = &unit.line_program else {
        return Vec::new();
    };
    let header = program.header();
    let text = |value| {
        let text: Slice<'_> = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let built_in = unit
        .comp_dir
        .map(|folder| folder.to_string_lossy().into_owned());
    let built_in = PathBuf::from(built_in.unwrap_or_default());
    let files = header.file_names().iter().filter_map(|file| {
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        Some(built_in.join(folder).join(text(file.path_name())?))
    });
    files.collect()
}

/// Whether a compiler says that it compiled C++20 or later: gcc by the language, clang by
/// its arguments.
fn is_cpp20(producer: &str) -> bool {
    if let Some(rest) = producer.strip_prefix("GNU C++") {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        // 98 was before.
        return matches!(digits.and_then(|year| year.parse().ok()), Some(20..=80u32));
    }
    let last = producer.split_whitespace().rev();
    let mut said = last.filter_map(|word| word.strip_prefix("-std="));
    said.next().is_some_and(|standard| {
        let name = standard.trim_start_matches("gnu").trim_start_matches('c');
        let after = ["++20", "++2a", "++23", "++2b", "++26", "++2c"];
        after.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_say_which_standard_it_was() {
        for later in [
            "GNU C++20 12.2.0 -mtune=generic -march=x86-64 -g",
            "GNU C++23 14.1.0",
            "Debian clang version 14.0.6 /usr/bin/clang -std=c++11 -c a.cc -std=gnu++20 -g",
            "clang version 19 clang++ -std=c++2b a.cc",
        ] {
            assert!(is_cpp20(later), "{later}");
        }
        for before in [
            "GNU C++98 12.2.0",
            "GNU C++17 12.2.0 -g",
            "GNU C17 12.2.0 -std=gnu17",
            "Debian clang version 14.0.6",
            "clang version 14 clang++ -std=c++20 a.cc -std=c++17",
            "clang version 14 clang -std=c2x a.c",
        ] {
            assert!(!is_cpp20(before), "{before}");
        }
    }
}
