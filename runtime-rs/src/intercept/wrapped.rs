//! Functions of the C library that read and write the program's plain memory.
//!
//! They are seen from every module. The wrappers link what they link with
//! `--wrap=NAME` for each `__wrap_NAME` that is defined here, and the program
//! exports the name itself, so that a library that is not instrumented finds ours
//! before the C library's: libstdc++ copies the bytes of strings there. A program
//! that defines such a function keeps its own behind ours.
//!
//! The runtime's own calls come here too, and are passed on: it makes them while
//! it is inside of itself.

use crate::turn;

/// Whether a call is the program's and is recorded. A thread that the runtime
/// does not know yet is not registered here: registering copies memory itself.
#[inline(always)]
pub(super) fn in_charge() -> bool {
    turn::is_in_program()
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
                fn linked($($argument: $type),*) -> $result;
                #[link_name = concat!("wmfix_interposed_", stringify!($name))]
                fn interposed();
            }
            static REAL: $crate::real::RealFunction =
                $crate::real::RealFunction::new($crate::real::c_name(
                    concat!(stringify!($name), "\0"),
                ));
            // SAFETY: the function of this name, called with what the program
            // called us with.
            let $real = |$($argument: $type),*| unsafe {
                let linked = linked as *mut core::ffi::c_void;
                let real = REAL.behind(linked, interposed as *mut core::ffi::c_void);
                let function: unsafe extern "C" fn($($type),*) -> $result =
                    core::mem::transmute(real);
                function($($argument),*)
            };
            if !$crate::intercept::wrapped::in_charge() {
                return $real($($argument),*);
            }
            $body
        }
        $crate::trampoline!(weak, concat!("__wrap_", stringify!($name)), $count, $name);
        $crate::trampoline!(
            weak,
            stringify!($name),
            $count,
            $name,
            concat!("wmfix_interposed_", stringify!($name))
        );
    )* };
}
