//! The C library's own functions that stand behind our interceptors, found by
//! name in what follows us in the search order.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library, found once.
struct Behind {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Behind {
    const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address.
    #[inline]
    fn address(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a zero-terminated name.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        assert!(
            !found.is_null(),
            "the C library has no {}",
            self.name.to_str().unwrap_or("?")
        );
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

macro_rules! behind {
    ($($name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;)*) => { $(
        #[doc = concat!("The C library's `", stringify!($name), "`.")]
        pub(crate) fn $name($($argument: $type),*) -> $result {
            const NAME: &CStr =
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("no zero within a name"),
                };
            static BEHIND: Behind = Behind::new(NAME);
            // SAFETY: the C library's function of this name has this type, and
            // is called with what the program called us with.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result =
                    core::mem::transmute(BEHIND.address());
                function($($argument),*)
            }
        }
    )* };
}

behind! {
    pthread_create(
        handle: *mut libc::pthread_t,
        attributes: *const c_void,
        routine: *mut c_void,
        argument: *mut c_void
    ) -> c_int;
    pthread_join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int;
    pthread_detach(handle: libc::pthread_t) -> c_int;
    sigaction(
        signal: c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction
    ) -> c_int;
    signal(signal: c_int, handler: usize) -> usize;
}
