//! Exported symbols that add their return address as one more argument. Written
//! in assembly, because the return address must be the caller's even when
//! everything is inlined, and because an interceptor must be weak: a program
//! that has its own `free` keeps it.

/// `trampoline!(globl | weak, "name", ARGUMENTS, function)`: the symbol `name`
/// passes its arguments on to `function` with the return address behind them.
/// The arguments are integers or pointers, counted in registers. A fifth argument
/// makes it a symbol for code that is not instrumented: the return address is
/// marked as foreign, and the argument is a hidden second name, which tells our
/// weak symbol from one of the program's that replaced it.
#[macro_export]
#[cfg(target_arch = "x86_64")]
macro_rules! trampoline {
    ($binding:ident, $name:expr, 0, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "rdi", $function $(, $label)?);
    };
    ($binding:ident, $name:expr, 1, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "rsi", $function $(, $label)?);
    };
    ($binding:ident, $name:expr, 2, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "rdx", $function $(, $label)?);
    };
    ($binding:ident, $name:expr, 3, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "rcx", $function $(, $label)?);
    };
    ($binding:ident, $name:expr, 4, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "r8", $function $(, $label)?);
    };
    ($binding:ident, $name:expr, 5, $function:path $(, $label:expr)?) => {
        $crate::trampoline!(@ $binding, $name, "r9", $function $(, $label)?);
    };
    (@ $binding:ident, $name:expr, $register:literal, $function:path $(, $label:expr)?) => {
        core::arch::global_asm!(
            ".text",
            concat!(".", stringify!($binding), " ", $name),
            concat!(".type ", $name, ", @function"),
            $(
                concat!(".globl ", $label),
                concat!(".hidden ", $label),
                concat!($label, ":"),
            )?
            concat!($name, ":"),
            concat!("mov ", $register, ", [rsp]"),
            $(
                // `unwind::FOREIGN`; the label only makes this conditional.
                concat!("bts ", $register, ", 63 # ", $label),
            )?
            "jmp {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}

/// `stack_trampoline!(globl | weak, "name", function)`: the same for a symbol
/// whose arguments fill the registers. The caller's one argument on the stack is
/// copied, and the return address goes behind it.
#[macro_export]
#[cfg(target_arch = "x86_64")]
macro_rules! stack_trampoline {
    ($binding:ident, $name:expr, $function:path) => {
        core::arch::global_asm!(
            ".text",
            concat!(".", stringify!($binding), " ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "push qword ptr [rsp + 8]",
            ".cfi_adjust_cfa_offset 8",
            "push qword ptr [rsp + 24]",
            ".cfi_adjust_cfa_offset 8",
            "call {function}",
            "add rsp, 24",
            ".cfi_adjust_cfa_offset -24",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}

/// See the macro of the same name for x86_64.
#[macro_export]
#[cfg(target_arch = "aarch64")]
macro_rules! trampoline {
    ($binding:ident, $name:expr, $count:literal, $function:path $(, $label:expr)?) => {
        core::arch::global_asm!(
            ".text",
            ".balign 4",
            concat!(".", stringify!($binding), " ", $name),
            concat!(".type ", $name, ", %function"),
            $(
                concat!(".globl ", $label),
                concat!(".hidden ", $label),
                concat!($label, ":"),
            )?
            concat!($name, ":"),
            concat!("mov x", stringify!($count), ", x30"),
            $(
                // `unwind::FOREIGN`; the label only makes this conditional.
                concat!("orr x", stringify!($count), ", x30, #0x8000000000000000 // ", $label),
            )?
            "b {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}

/// `passed_on!("name", function)`: a symbol whose arguments fill the registers, or
/// more: it has no place.
#[macro_export]
macro_rules! passed_on {
    ($($name:literal $function:path;)*) => { $(
        #[cfg(target_arch = "x86_64")]
        core::arch::global_asm!(
            ".text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "jmp {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::global_asm!(
            ".text",
            ".balign 4",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            "b {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    )* };
}
