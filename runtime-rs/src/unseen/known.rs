//! What is known about functions that are not instrumented. Those that touch no memory of
//! the program are named, with why; of all others it is not known.

use super::literal::{is_constant, is_scalar_format};
use super::stubs::Registers;

/// What a function may do with the memory of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing that others could notice.
    Harmless,
    /// It reads this argument, a text.
    Text(usize),
    /// It reads this argument, a format, and what that asks for.
    Format(usize),
    /// It keeps memory or code of the program and uses it later, or hands out code.
    Lasting,
    /// It is not known.
    Unknown,
}

impl Rule {
    /// Of the function of this name.
    pub(super) fn of(name: &[u8]) -> Self {
        if HARMLESS.iter().any(|group| group.contains(&name)) || is_harmless_kind(name) {
            return Self::Harmless;
        }
        if LASTING.contains(&name) || name.starts_with(b"io_uring_") {
            return Self::Lasting;
        }
        match name {
            b"puts" | b"perror" | b"getenv" | b"fputs" | b"fwrite" | b"fputs_unlocked"
            | b"fwrite_unlocked" => Self::Text(0),
            b"printf" => Self::Format(0),
            b"fprintf" | b"__printf_chk" => Self::Format(1),
            b"__fprintf_chk" => Self::Format(2),
            _ => Self::Unknown,
        }
    }

    /// Whether a call with these arguments touches nothing that others could change.
    pub(super) fn is_harmless(self, registers: &Registers) -> bool {
        match self {
            Self::Harmless => true,
            Self::Text(at) => is_constant(registers.integers[at]),
            Self::Format(at) => is_scalar_format(registers.integers[at]),
            Self::Lasting | Self::Unknown => false,
        }
    }
}

type Names = &'static [&'static [u8]];

const HARMLESS: [Names; 6] = [ENDS, VALUES, OUTPUT, EXCEPTIONS, THREADS, ERRORS];

/// End the process or the thread, or keep what is to be called then, which is code of the
/// program and seen.
const ENDS: Names = &[
    b"abort",
    b"exit",
    b"atexit",
    b"on_exit",
    b"at_quick_exit",
    b"pthread_exit",
    b"__assert_fail",
    b"__assert_perror_fail",
    b"__stack_chk_fail",
    b"__cxa_atexit",
    b"__cxa_finalize",
    b"__cxa_thread_atexit",
    b"__cxa_thread_atexit_impl",
    b"__libc_start_main",
    b"__gmon_start__",
    b"_ITM_registerTMCloneTable",
    b"_ITM_deregisterTMCloneTable",
];

/// Take numbers and give one, or the address of what belongs to the thread or is constant.
const VALUES: Names = &[
    b"__tls_get_addr",
    b"__errno_location",
    b"__ctype_b_loc",
    b"__ctype_tolower_loc",
    b"__ctype_toupper_loc",
    b"tolower",
    b"toupper",
    b"isalnum",
    b"isalpha",
    b"isblank",
    b"iscntrl",
    b"isdigit",
    b"isgraph",
    b"islower",
    b"isprint",
    b"ispunct",
    b"isspace",
    b"isupper",
    b"isxdigit",
    b"abs",
    b"labs",
    b"llabs",
    b"getpid",
    b"getppid",
    b"gettid",
    b"getuid",
    b"geteuid",
    b"getgid",
    b"getegid",
    b"getpagesize",
    b"get_nprocs",
    b"get_nprocs_conf",
    b"sysconf",
    b"sched_getcpu",
    b"sched_yield",
    b"clock",
    b"pthread_self",
    b"pthread_equal",
    b"pthread_getspecific",
    b"pthread_setspecific",
    b"pthread_key_delete",
];

/// Print a character, or what was printed: no function that reads it is here.
const OUTPUT: Names = &[
    b"putchar",
    b"putc",
    b"fputc",
    b"_IO_putc",
    b"putchar_unlocked",
    b"putc_unlocked",
    b"fflush",
    b"_ZNSt8ios_base4InitC1Ev",
    b"_ZNSt8ios_base4InitD1Ev",
];

/// Throw and catch: an exception belongs to the thread until it is kept by an
/// `exception_ptr`, which is not here.
const EXCEPTIONS: Names = &[
    b"__cxa_allocate_exception",
    b"__cxa_free_exception",
    b"__cxa_init_primary_exception",
    b"__cxa_throw",
    b"__cxa_rethrow",
    b"__cxa_begin_catch",
    b"__cxa_end_catch",
    b"__cxa_get_exception_ptr",
    b"__cxa_pure_virtual",
    b"__cxa_deleted_virtual",
    b"__cxa_bad_cast",
    b"__cxa_bad_typeid",
    b"__cxa_throw_bad_array_new_length",
    b"__cxa_call_terminate",
    b"__cxa_call_unexpected",
    b"__gxx_personality_v0",
    b"__gcc_personality_v0",
    b"_ZSt9terminatev",
    b"_ZNSt9exceptionD1Ev",
    b"_ZNSt9exceptionD2Ev",
    b"_ZNSt9bad_allocD1Ev",
    b"_ZNSt9bad_allocD2Ev",
    b"_ZNKSt9exception4whatEv",
    b"_ZNKSt9bad_alloc4whatEv",
    b"_ZTVSt9exception",
    b"_ZTVSt9bad_alloc",
];

/// Start and join threads, wait and wake by way of the functions that we stand before. The
/// objects of threads themselves are taken not to be shared.
const THREADS: Names = &[
    b"_ZNSt6thread4joinEv",
    b"_ZNSt6thread6detachEv",
    b"_ZNSt6thread6_StateD2Ev",
    b"_ZNSt6thread20hardware_concurrencyEv",
    b"_ZTVNSt6thread6_StateE",
    b"_ZNSt18condition_variableC1Ev",
    b"_ZNSt18condition_variableD1Ev",
    b"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
    b"_ZNSt18condition_variable10notify_oneEv",
    b"_ZNSt18condition_variable10notify_allEv",
    b"_ZNSt6chrono3_V212steady_clock3nowEv",
    b"_ZNSt6chrono3_V212system_clock3nowEv",
    b"_ZNSt3__16thread4joinEv",
    b"_ZNSt3__16thread6detachEv",
    b"_ZNSt3__16threadD1Ev",
    b"_ZNSt3__16thread20hardware_concurrencyEv",
    b"_ZNSt3__119__thread_local_dataEv",
    b"_ZNSt3__115__thread_structC1Ev",
    b"_ZNSt3__115__thread_structD1Ev",
    b"_ZNSt3__15mutex4lockEv",
    b"_ZNSt3__15mutex6unlockEv",
    b"_ZNSt3__15mutex8try_lockEv",
    b"_ZNSt3__15mutexD1Ev",
    b"_ZNSt3__118condition_variableD1Ev",
    b"_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE",
    b"_ZNSt3__118condition_variable10notify_oneEv",
    b"_ZNSt3__118condition_variable10notify_allEv",
    b"_ZNSt3__16chrono12steady_clock3nowEv",
    b"_ZNSt3__16chrono12system_clock3nowEv",
];

/// End the program with a message that the library has.
const ERRORS: Names = &[
    b"_ZSt21__glibcxx_assert_failPKciS0_S0_",
    b"_ZNSt3__122__libcpp_verbose_abortEPKcz",
];

/// See [`Rule::Lasting`].
const LASTING: Names = &[
    b"setvbuf",
    b"setbuf",
    b"setbuffer",
    b"fmemopen",
    b"open_memstream",
    b"open_wmemstream",
    b"putenv",
    b"dlopen",
    b"dlmopen",
    b"dlsym",
    b"dlvsym",
    b"aio_read",
    b"aio_read64",
    b"aio_write",
    b"aio_write64",
    b"lio_listio",
    b"lio_listio64",
    b"makecontext",
    b"swapcontext",
    b"setcontext",
    b"process_vm_readv",
    b"process_vm_writev",
];

/// Names of which there are many of a kind.
fn is_harmless_kind(name: &[u8]) -> bool {
    // Take and give back memory by way of `malloc` and `free`, which we stand before.
    let allocates: [&[u8]; 4] = [b"_Znw", b"_Zna", b"_Zdl", b"_Zda"];
    // Do nothing, unwind the thread's own stack, start a thread, or lock by an address.
    let others: [&[u8]; 5] = [
        b"_ZNSaI",
        b"_Unwind_",
        b"_ZTVN10__cxxabiv1",
        b"_ZNSt6thread15_M_start_threadE",
        b"_ZNSt10_Sp_locker",
    ];
    let starts = |start: &&[u8]| name.starts_with(start);
    // `std::__throw_length_error(char const*)`: the text is copied, and is the library's.
    let throws = name.starts_with(b"_ZSt") && name.windows(8).any(|part| part == b"__throw_");
    allocates.iter().any(starts) || others.iter().any(starts) || throws || is_mathematics(name)
}

/// Functions of numbers, which depend on nothing else.
fn is_mathematics(name: &[u8]) -> bool {
    const NAMES: Names = &[
        b"acos",
        b"acosh",
        b"asin",
        b"asinh",
        b"atan",
        b"atan2",
        b"atanh",
        b"cbrt",
        b"ceil",
        b"copysign",
        b"cos",
        b"cosh",
        b"erf",
        b"erfc",
        b"exp",
        b"exp2",
        b"expm1",
        b"fabs",
        b"fdim",
        b"floor",
        b"fma",
        b"fmax",
        b"fmin",
        b"fmod",
        b"hypot",
        b"ldexp",
        b"llrint",
        b"llround",
        b"log",
        b"log10",
        b"log1p",
        b"log2",
        b"logb",
        b"lrint",
        b"lround",
        b"nearbyint",
        b"nextafter",
        b"pow",
        b"remainder",
        b"rint",
        b"round",
        b"scalbn",
        b"sin",
        b"sinh",
        b"sqrt",
        b"tan",
        b"tanh",
        b"tgamma",
        b"trunc",
    ];
    let of_type = |suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|name| NAMES.contains(&name))
    };
    NAMES.contains(&name) || of_type(b"f") || of_type(b"l")
}
