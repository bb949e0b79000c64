//! Functions of the C library that read and write the program's plain memory.
//!
//! The wrappers link every program and library of theirs with `--wrap=NAME` for
//! each `__wrap_NAME` that is defined here: a call from what they link comes to
//! us, one from a library that is not instrumented goes where it always went,
//! and a program that defines such a function keeps its own behind ours.
//! The runtime's own calls must not come here: see `own_calls`.

use crate::tls;
use crate::turn;

/// Whether this thread is recorded. A thread that the runtime does not know yet
/// is not registered here: registering copies memory itself.
#[inline(always)]
pub(super) fn in_charge() -> bool {
    turn::is_on() && !tls::current().is_null()
}

/// `ARGUMENTS name(…) -> result, real, pc => body`: a function that has the
/// library's own as `real` and its caller as `pc`. The body records and calls;
/// it is left out where nothing is recorded.
#[macro_export]
macro_rules! wrapped {
    ($($count:tt $name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty,
        $real:ident, $pc:ident => $body:block)*) => { $(
        unsafe extern "C" fn $name($($argument: $type,)* $pc: u64) -> $result {
            unsafe extern "C" {
                #[link_name = concat!("__real_", stringify!($name))]
                fn behind($($argument: $type),*) -> $result;
            }
            // SAFETY: called with what the program called us with.
            let $real = |$($argument: $type),*| unsafe { behind($($argument),*) };
            if !$crate::intercept::wrapped::in_charge() {
                return $real($($argument),*);
            }
            $body
        }
        $crate::trampoline!(weak, concat!("__wrap_", stringify!($name)), $count, $name);
    )* };
}

/// Defines a local symbol of the function's name: what the compiler makes of
/// our own code calls that, and not what the linker would put in its place.
/// Works because the archive's own code is one object file.
macro_rules! own_calls {
    ($($name:literal),*) => { $(
        #[cfg(all(panic = "abort", target_arch = "x86_64"))]
        core::arch::global_asm!(
            ".text",
            concat!($name, ":"),
            concat!("jmp qword ptr [rip + __real_", $name, "@GOTPCREL]"),
        );
        #[cfg(all(panic = "abort", target_arch = "aarch64"))]
        core::arch::global_asm!(
            ".text",
            ".balign 4",
            concat!($name, ":"),
            concat!("b __real_", $name),
        );
    )* };
}

own_calls!("memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen");
