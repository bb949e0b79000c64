//! What instrumented code imports: the relocations of the program and of its instrumented
//! libraries, as the loader has them in memory.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};

use super::known::Rule;
use super::{Import, Watched};
use core::sync::atomic::AtomicBool;

/// A place that holds the address of an imported function.
pub(super) struct Slot {
    pub(super) at: *mut usize,
    /// The number of the import.
    pub(super) import: usize,
}

/// A file in memory.
struct Module {
    bias: usize,
    first: usize,
    end: usize,
    /// Stretches of code.
    code: Vec<(usize, usize)>,
    /// Stretches that are never writable.
    constant: Vec<(usize, usize)>,
    dynamic: *const Tag,
    is_instrumented: bool,
}

#[repr(C)]
struct Tag {
    tag: i64,
    value: usize,
}

#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;
const DT_FINI_ARRAYSZ: i64 = 28;

#[cfg(target_arch = "x86_64")]
mod kind {
    pub(super) const ADDRESS: u32 = 1;
    pub(super) const COPY: u32 = 5;
    pub(super) const SLOT: u32 = 6;
    pub(super) const LAZY_SLOT: u32 = 7;
}
#[cfg(target_arch = "aarch64")]
mod kind {
    pub(super) const ADDRESS: u32 = 257;
    pub(super) const COPY: u32 = 1024;
    pub(super) const SLOT: u32 = 1025;
    pub(super) const LAZY_SLOT: u32 = 1026;
}

/// Every import that leads out of instrumented code and is not known, and its places.
pub(super) fn find() -> (Watched, Vec<Slot>) {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: the callback gets back the pointer to our own record.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut modules).cast()) };
    let mut watched = Watched {
        imports: Vec::new(),
        instrumented: Vec::new(),
        constant: Vec::new(),
        has_fini: false,
    };
    for module in &modules {
        watched.constant.extend(&module.constant);
    }
    for (number, module) in modules.iter_mut().enumerate() {
        let tables = Tables::of(module);
        let calls_us = |name: &CStr| name.to_bytes().starts_with(b"__tsan_");
        // The program comes first, and has the runtime in it.
        module.is_instrumented =
            number == 0 || tables.relocations().any(|(_, name)| calls_us(name));
        if module.is_instrumented {
            watched.instrumented.push((module.first, module.end));
            // The compiler's own start files have one.
            watched.has_fini |= tables.fini_bytes > size_of::<usize>();
        }
    }
    let mut slots = Vec::new();
    for module in modules.iter().filter(|module| module.is_instrumented) {
        for (relocation, name) in Tables::of(module).relocations() {
            add(module, &modules, relocation, name, &mut watched, &mut slots);
        }
    }
    (watched, slots)
}

/// Adds what a relocation of a module imports.
fn add(
    module: &Module,
    modules: &[Module],
    relocation: &Relocation,
    name: &'static CStr,
    watched: &mut Watched,
    slots: &mut Vec<Slot>,
) {
    let rule = Rule::of(name.to_bytes());
    let kind = relocation.info as u32;
    let at = (module.bias + relocation.offset) as *mut usize;
    let is_slot = matches!(kind, kind::ADDRESS | kind::SLOT | kind::LAZY_SLOT);
    if rule == Rule::Harmless || !(is_slot || kind == kind::COPY) {
        return;
    }
    let leads_out = |target: usize| {
        let holds = |module: &&Module| (module.first..module.end).contains(&target);
        let leads_to = modules.iter().find(holds);
        leads_to.is_some_and(|to| !to.is_instrumented && is_code(to, target))
    };
    let mut put = |at: *mut usize, target: usize| {
        if !leads_out(target) {
            return;
        }
        let same = |import: &Import| import.target == target && import.name == name;
        let known = watched.imports.iter().position(same);
        let import = known.unwrap_or_else(|| {
            watched.imports.push(Import {
                name,
                rule,
                target,
                is_said: AtomicBool::new(false),
            });
            watched.imports.len() - 1
        });
        slots.push(Slot { at, import });
    };
    if name.to_bytes().starts_with(b"_ZTV") {
        // The functions that objects of a library's class are asked for.
        let (table, bytes) = find_object(name);
        for word in 0..bytes / size_of::<usize>() {
            // SAFETY: within the object.
            let (at, target) = unsafe { (table.add(word), table.add(word).read()) };
            put(at, target);
        }
    } else if is_slot {
        // SAFETY: a place that the loader has filled.
        let now = unsafe { at.read() };
        let is_lazy = kind == kind::LAZY_SLOT && (module.first..module.end).contains(&now);
        let target = if is_lazy {
            // SAFETY: a zero-terminated name.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
        } else {
            now
        };
        put(at, target);
    }
}

fn is_code(module: &Module, address: usize) -> bool {
    let mut code = module.code.iter();
    code.any(|&(first, end)| (first..end).contains(&address))
}

/// An object of a library, and its size.
fn find_object(name: &CStr) -> (*mut usize, usize) {
    const RTLD_DL_SYMENT: c_int = 1;
    unsafe extern "C" {
        fn dladdr1(
            address: *const c_void,
            info: *mut libc::Dl_info,
            more: *mut *mut c_void,
            flags: c_int,
        ) -> c_int;
    }
    // SAFETY: a zero-terminated name, and records of our own that are filled.
    unsafe {
        let object = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let mut info = core::mem::zeroed::<libc::Dl_info>();
        let mut entry = core::ptr::null_mut::<c_void>();
        let found = !object.is_null()
            && dladdr1(object, &mut info, &mut entry, RTLD_DL_SYMENT) != 0
            && !entry.is_null()
            && info.dli_saddr == object;
        let bytes = if found {
            (*entry.cast::<libc::Elf64_Sym>()).st_size as usize
        } else {
            0
        };
        (object.cast(), bytes)
    }
}

/// What of a module says what it imports.
struct Tables {
    symbols: *const libc::Elf64_Sym,
    names: *const c_char,
    relocations: [(*const Relocation, usize); 2],
    fini_bytes: usize,
}

impl Tables {
    fn of(module: &Module) -> Self {
        let mut tables = Self {
            symbols: core::ptr::null(),
            names: core::ptr::null(),
            relocations: [(core::ptr::null(), 0); 2],
            fini_bytes: 0,
        };
        if module.dynamic.is_null() {
            return tables;
        }
        // Some loaders put addresses into the table, others leave it as it is.
        let address = |value: usize| match value >= module.bias {
            true => value,
            false => value + module.bias,
        };
        for at in 0.. {
            // SAFETY: the table of a loaded module, which ends in a null.
            let tag = unsafe { &*module.dynamic.add(at) };
            match tag.tag {
                DT_NULL => break,
                DT_SYMTAB => tables.symbols = address(tag.value) as *const _,
                DT_STRTAB => tables.names = address(tag.value) as *const _,
                DT_RELA => tables.relocations[0].0 = address(tag.value) as *const _,
                DT_RELASZ => tables.relocations[0].1 = tag.value,
                DT_JMPREL => tables.relocations[1].0 = address(tag.value) as *const _,
                DT_PLTRELSZ => tables.relocations[1].1 = tag.value,
                DT_FINI_ARRAYSZ => tables.fini_bytes = tag.value,
                _ => {}
            }
        }
        tables
    }

    /// All that name a symbol, with its name.
    fn relocations(&self) -> impl Iterator<Item = (&'static Relocation, &'static CStr)> {
        let Self { symbols, names, .. } = *self;
        let all = self.relocations.into_iter().flat_map(|(first, bytes)| {
            let count = if first.is_null() {
                0
            } else {
                bytes / size_of::<Relocation>()
            };
            // SAFETY: as many as the table says.
            (0..count).map(move |at| unsafe { &*first.add(at) })
        });
        all.filter_map(move |relocation| {
            let symbol = (relocation.info >> 32) as usize;
            if symbol == 0 || symbols.is_null() || names.is_null() {
                return None;
            }
            // SAFETY: the loader has followed the same numbers.
            let name =
                unsafe { CStr::from_ptr(names.add((*symbols.add(symbol)).st_name as usize)) };
            Some((relocation, name))
        })
    }
}

unsafe extern "C" fn collect(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader's record is good for the length of the call, and `data` is the
    // list that `find` passed in.
    let (info, modules) = unsafe { (&*info, &mut *data.cast::<Vec<Module>>()) };
    // SAFETY: the loader's own table.
    let segments = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let bias = info.dlpi_addr as usize;
    let mut module = Module {
        bias,
        first: usize::MAX,
        end: 0,
        code: Vec::new(),
        constant: Vec::new(),
        dynamic: core::ptr::null(),
        is_instrumented: false,
    };
    for segment in segments {
        let start = bias.wrapping_add(segment.p_vaddr as usize);
        let end = start.wrapping_add(segment.p_memsz as usize);
        match segment.p_type {
            libc::PT_LOAD => {
                module.first = module.first.min(start);
                module.end = module.end.max(end);
                if segment.p_flags & libc::PF_W == 0 {
                    module.constant.push((start, end));
                }
                if segment.p_flags & libc::PF_X != 0 {
                    module.code.push((start, end));
                }
            }
            libc::PT_DYNAMIC => module.dynamic = start as *const Tag,
            _ => {}
        }
    }
    modules.push(module);
    0
}

/// Whether a function is one with which a library has a thread call the program at once.
pub(super) fn begins_threads(function: usize) -> bool {
    // SAFETY: a record of our own that is filled.
    let path = unsafe {
        let mut info = core::mem::zeroed::<libc::Dl_info>();
        if libc::dladdr(function as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            // In no file: a stub, or what a program has made at run time.
            return super::stubs::holds(function);
        }
        CStr::from_ptr(info.dli_fname).to_bytes()
    };
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let libraries: [&[u8]; 4] = [b"libstdc++.so", b"libc++.so", b"libgomp.so", b"libomp.so"];
    libraries.iter().any(|library| name.starts_with(library))
}
