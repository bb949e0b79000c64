//! Inline assembly in the files of a report: what it does to memory is not seen, so
//! findings in the same file may rest on it.

use std::path::PathBuf;

use wmfix_frontend::NoteKind;

use super::spots::SpotFinder;
use crate::report::model::Race;

/// This many places are named.
const NAMED_PLACES: usize = 5;

/// Instructions that do nothing to memory.
const HARMLESS: [&str; 11] = [
    "", "pause", "rep; nop", "rep;nop", "rep nop", "nop", "yield", "wfe", "sev", "isb", "rdtsc",
];

/// What is said of assembly in these files, if there is any that may touch memory.
pub(super) fn notes(
    spots: &mut SpotFinder<'_>,
    files: &[PathBuf],
    races: &[Race],
) -> Option<String> {
    let mut places = Vec::new();
    let mut shown_files = Vec::new();
    for path in files {
        let Some(file) = spots.places.sources.file(path) else {
            continue;
        };
        let notes = file.scan.notes.iter();
        let of_assembly = notes.filter(|note| note.kind == NoteKind::InlineAssembly);
        let lines: Vec<usize> = of_assembly
            .filter_map(|note| note.place)
            .map(|place| place.line as usize)
            .filter(|&line| may_touch_memory(&file.text, line))
            .collect();
        if !lines.is_empty() {
            let shown = spots.shown(path);
            places.extend(lines.iter().map(|line| format!("{shown}:{line}")));
            shown_files.push(shown);
        }
    }
    if places.is_empty() {
        return None;
    }
    let count = places.len();
    let pieces = if count == 1 { "piece" } else { "pieces" };
    let more = match count.saturating_sub(NAMED_PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    places.truncate(NAMED_PLACES);
    let mut text = format!(
        "{count} {pieces} of inline assembly may touch memory, which is not seen: {}{more}",
        places.join(", ")
    );
    let resting = races.iter().filter(|race| {
        let mut of_race = [&race.first.file, &race.second.file].into_iter();
        of_race.any(|file| shown_files.contains(file))
    });
    let resting: Vec<&str> = resting.map(|race| race.id.as_str()).collect();
    if !resting.is_empty() {
        text += &format!(
            "; the program may order these races by it: {}",
            resting.join(", ")
        );
    }
    Some(text)
}

/// Whether the assembly that begins in this line, counted from 1, may read or write
/// memory, or order such accesses.
fn may_touch_memory(text: &[u8], line: usize) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().skip(line.saturating_sub(1));
    let mut template = String::new();
    // The instructions stand in the first literals, before the operands.
    for part in lines.by_ref().take(16) {
        let code = part.split("//").next().unwrap_or(part);
        let begin = code.find("asm").map_or(0, |at| at + 3);
        template += if template.is_empty() {
            &code[begin..]
        } else {
            code
        };
        template.push(' ');
        if code.contains(';') || code.contains("::") {
            break;
        }
    }
    let mut quoted = template.split('"').skip(1).step_by(2);
    let first = quoted.next().unwrap_or("?");
    let instruction = first.replace("\\n", "").replace("\\t", "");
    !HARMLESS.contains(
        &instruction
            .trim()
            .trim_end_matches(';')
            .to_lowercase()
            .as_str(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_touches_nothing_and_a_store_does() {
        for harmless in [
            "asm volatile(\"pause\");",
            "__asm__ __volatile__(\"\" ::: \"memory\");",
            "asm(\"rep; nop\\n\" ::: \"memory\");",
            "__asm__ volatile(\n  \"yield\" : : : \"memory\");",
        ] {
            assert!(!may_touch_memory(harmless.as_bytes(), 1), "{harmless}");
        }
        for harmful in [
            "asm volatile(\"movl $1, %0\" : \"=m\"(x));",
            "__asm__ volatile(\"mfence\" ::: \"memory\");",
            "__asm__ volatile(\"lock; addl $0, 0(%%rsp)\" ::: \"memory\");",
        ] {
            assert!(may_touch_memory(harmful.as_bytes(), 1), "{harmful}");
        }
    }
}
