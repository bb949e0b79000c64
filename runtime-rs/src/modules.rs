//! The files that hold the program's code, as the dynamic loader knows them. The
//! list is read again when a pc lies in none of the known ones.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};

use wmfix_online::ModuleKey;
use wmfix_trace::Module;

use crate::sys;

/// What is known so far.
#[derive(Debug)]
pub(crate) struct Modules {
    known: Vec<KnownModule>,
    /// A pc that no module holds (code made at run time) is not asked for twice.
    hopeless: Vec<u64>,
    /// The program's own file, as long as it can be asked for: a program may go where
    /// there is no /proc.
    own_path: String,
}

/// A module that was recorded.
#[derive(Debug)]
struct KnownModule {
    first: u64,
    end: u64,
    bias: u64,
    key: ModuleKey,
}

impl Modules {
    pub(crate) fn new() -> Self {
        Self {
            known: Vec::new(),
            hopeless: Vec::new(),
            own_path: own_path(),
        }
    }

    /// How many are known.
    #[cfg(not(test))]
    pub(crate) fn len(&self) -> u64 {
        self.known.len() as u64
    }

    /// Whether an address lies in the program's own file, as far as that is known.
    #[cfg(not(test))]
    pub(crate) fn is_program(&self, address: u64) -> bool {
        // The loader names it first.
        let program = self.known.first();
        program.is_some_and(|program| (program.first..program.end).contains(&address))
    }

    /// The modules to record before something of `pc` is.
    pub(crate) fn needed_for(&mut self, pc: u64) -> Vec<Module> {
        let holds = |known: &KnownModule| (known.first..known.end).contains(&pc);
        if self.known.iter().any(holds) || self.hopeless.contains(&(pc >> 12)) {
            return Vec::new();
        }
        let mut collected = CollectedModules {
            own_path: &self.own_path,
            modules: Vec::new(),
        };
        // SAFETY: the callback gets back the pointer to our own record.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut collected).cast()) };
        let mut modules = collected.modules;
        modules.retain(|module| {
            let same = |known: &KnownModule| (known.first, known.end) == (module.first, module.end);
            !self.known.iter().any(same)
        });
        self.known.extend(modules.iter().map(|module| KnownModule {
            first: module.first,
            end: module.end,
            bias: module.bias,
            key: ModuleKey::of(&module.path),
        }));
        if !self.known.iter().any(holds) {
            self.hopeless.push(pc >> 12);
        }
        modules
    }
}

impl Modules {
    /// The instruction before a return address: its file and its position in that.
    /// Later modules are looked at first, as one may lie where another one was.
    pub(crate) fn frame(&self, return_address: u64) -> Option<(ModuleKey, u64)> {
        let address = return_address.wrapping_sub(1);
        let mut known = self.known.iter().rev();
        let known = known.find(|known| (known.first..known.end).contains(&address))?;
        Some((known.key, address.wrapping_sub(known.bias)))
    }
}

/// What the loader has named so far.
struct CollectedModules<'a> {
    own_path: &'a str,
    modules: Vec<Module>,
}

unsafe extern "C" fn collect(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader's record is good for the length of the call, and
    // `data` is the record that `needed_for` passed in.
    let (info, collected) = unsafe { (&*info, &mut *data.cast::<CollectedModules<'_>>()) };
    let modules = &mut collected.modules;
    // SAFETY: the loader's own table.
    let segments = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let bias = info.dlpi_addr;
    let (mut first, mut last) = (u64::MAX, 0);
    let mut build_id = Vec::new();
    for segment in segments {
        let start = bias.wrapping_add(segment.p_vaddr);
        let end = start.wrapping_add(segment.p_memsz);
        if segment.p_type == libc::PT_LOAD {
            (first, last) = (first.min(start), last.max(end));
        } else if segment.p_type == libc::PT_NOTE && build_id.is_empty() {
            // SAFETY: a note segment of a loaded module is mapped.
            let notes = unsafe {
                core::slice::from_raw_parts(start as *const u8, segment.p_memsz as usize)
            };
            build_id = find_build_id(notes).to_vec();
        }
    }
    // SAFETY: the loader's own string.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) };
    let path = if path.is_empty() && modules.is_empty() {
        String::from(collected.own_path)
    } else {
        String::from_utf8_lossy(path.to_bytes()).into_owned()
    };
    if first < last {
        modules.push(Module {
            bias,
            first,
            end: last,
            build_id,
            path,
        });
    }
    0
}

/// The program's own file: the loader gives no name for it.
fn own_path() -> String {
    let mut path = [0u8; 4096];
    let link = c"/proc/self/exe";
    // SAFETY: the buffer and the name live for as long as the call.
    let len = unsafe {
        sys::raw_syscall(
            libc::SYS_readlinkat,
            [
                libc::AT_FDCWD as usize,
                link.as_ptr() as usize,
                path.as_mut_ptr() as usize,
                path.len(),
                0,
                0,
            ],
        )
    };
    String::from_utf8_lossy(&path[..usize::try_from(len).unwrap_or(0)]).into_owned()
}

/// The build id among ELF notes: type 3, name "GNU".
fn find_build_id(mut notes: &[u8]) -> &[u8] {
    let word = |bytes: &[u8], at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
    };
    loop {
        let (Some(name), Some(length), Some(kind)) =
            (word(notes, 0), word(notes, 4), word(notes, 8))
        else {
            return &[];
        };
        let start = 12 + name.next_multiple_of(4);
        let Some(description) = notes.get(start..start + length) else {
            return &[];
        };
        if kind == 3 && notes.get(12..16) == Some(b"GNU\0") {
            return description;
        }
        notes = notes
            .get(start + length.next_multiple_of(4)..)
            .unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let mut notes = Vec::new();
        for (kind, text) in [(5u32, &b"property"[..]), (3, b"0123456789abcdefghij")] {
            notes.extend_from_slice(&4u32.to_le_bytes());
            notes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            notes.extend_from_slice(&kind.to_le_bytes());
            notes.extend_from_slice(b"GNU\0");
            notes.extend_from_slice(text);
        }
        assert_eq!(find_build_id(&notes), b"0123456789abcdefghij");
        assert_eq!(find_build_id(&notes[..30]), b"");
        assert_eq!(find_build_id(&[]), b"");
    }

    #[test]
    fn our_own_code_lies_in_a_module_that_is_named_once() {
        let mut modules = Modules::new();
        let pc = own_path as *const () as u64;
        let found = modules.needed_for(pc);
        let ours: Vec<&Module> = found
            .iter()
            .filter(|module| (module.first..module.end).contains(&pc))
            .collect();
        assert_eq!(ours.len(), 1);
        assert!(!ours[0].path.is_empty());
        assert!(modules.needed_for(pc).is_empty());
    }
}
