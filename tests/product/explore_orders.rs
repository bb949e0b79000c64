//! `--exhaustive` under attack: programs whose only bug needs one order of locks,
//! conditions, semaphores, barriers, threads or memory of different sizes. None of them
//! may be called proved; those whose orders are explored are found, and their correct
//! versions are proved.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const HEADERS: &str = "#define _GNU_SOURCE\n#include <errno.h>\n#include <limits.h>\n\
    #include <linux/futex.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <signal.h>\n\
    #include <stdatomic.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
    #include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n\
    static atomic_int x, y, z; static int plain, ready;\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
    static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n\
    static pthread_once_t o = PTHREAD_ONCE_INIT;\n\
    static pthread_barrier_t bar; static sem_t sem; static pthread_spinlock_t spin;\n\
    static struct timespec soon(int ms) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t);\n\
      t.tv_sec += ms / 1000; t.tv_nsec += ms % 1000 * 1000000;\n\
      if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; } return t; }\n\
    static _Thread_local int self;\n";

/// A program of two threads; `more` comes before them, and `between` after they were
/// started.
fn program(more: &str, one: &str, other: &str, between: &str) -> String {
    format!(
        "{HEADERS}{more}\n\
         static void *first(void *p) {{ self = 1; {one}; return p; }}\n\
         static void *second(void *p) {{ self = 2; {other}; return p; }}\n\
         int main(void) {{ pthread_t a, b; (void)soon; (void)plain; (void)ready; (void)z;\n\
         pthread_barrier_init(&bar, 0, 2); sem_init(&sem, 0, 0); pthread_spin_init(&spin, 0);\n\
         pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0); {between};\n\
         pthread_join(a, 0); pthread_join(b, 0); return 0; }}\n"
    )
}

fn explored(source: &str) -> Value {
    need(&["gcc"].map(Need::Program));
    let world = World::new();
    world.write("test.c", source);
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_RUNS", "2");
    command.args(["check", "--exhaustive", "--harm", "off", "--time", "20"]);
    CommandResult::of(command.args(["--ldflags=-latomic", "--format", "json", "test.c"])).json()
}

fn classes(name: &str, source: &str) -> u64 {
    let report = explored(source);
    assert_eq!(report["proof"]["proved"], true, "{name}: {report}");
    assert_eq!(report["verdict"], "clean", "{name}: {report}");
    report["proof"]["classes"].as_u64().expect("a number")
}

/// What one order alone shows is found.
fn found(name: &str, source: &str) {
    let report = explored(source);
    assert_eq!(report["proof"]["proved"], false, "{name}: {report}");
    let failures = report["failures"].as_array().expect("a list");
    assert!(!failures.is_empty(), "{name}: {report}");
}

/// What is not explored is said, whether or not something was found.
fn open(name: &str, source: &str) -> String {
    let report = explored(source);
    assert_eq!(report["proof"]["proved"], false, "{name}: {report}");
    assert_eq!(report["proof"]["complete"], false, "{name}: {report}");
    report["proof"]["obstacles"].to_string()
}

/// Programs of two threads, by what they do.
type Pair<'a> = (&'a str, &'a str, &'a str);

fn all_found(pairs: &[Pair<'_>]) {
    for (name, one, other) in pairs {
        found(name, &program("", one, other, ""));
    }
}

fn all_proved(pairs: &[(u64, Pair<'_>)]) {
    for (count, (name, one, other)) in pairs {
        let source = program("", one, other, "");
        assert_eq!(classes(name, &source), *count, "{name}");
    }
}

const LOCKS: &str = "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)";

#[test]
fn a_lock_that_cannot_be_had() {
    let tries = "if (pthread_mutex_trylock(&m)) abort(); pthread_mutex_unlock(&m)";
    let timed = "struct timespec t = soon(1); if (pthread_mutex_timedlock(&m, &t)) abort(); \
                 pthread_mutex_unlock(&m)";
    let spins = "pthread_spin_lock(&spin); pthread_spin_unlock(&spin)";
    let spin_try = "if (pthread_spin_trylock(&spin)) abort(); pthread_spin_unlock(&spin)";
    let reads = "pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw)";
    let writes = "pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw)";
    let read_try = "if (pthread_rwlock_tryrdlock(&rw)) abort(); pthread_rwlock_unlock(&rw)";
    let write_try = "if (pthread_rwlock_trywrlock(&rw)) abort(); pthread_rwlock_unlock(&rw)";
    all_found(&[
        ("trylock", LOCKS, tries),
        ("timedlock", LOCKS, timed),
        ("spin trylock", spins, spin_try),
        ("tryrdlock", writes, read_try),
        ("trywrlock by a reader", reads, write_try),
        ("trywrlock by a writer", writes, write_try),
    ]);
    all_proved(&[
        (
            3,
            (
                "trylock",
                LOCKS,
                "if (!pthread_mutex_trylock(&m)) pthread_mutex_unlock(&m)",
            ),
        ),
        (1, ("readers", reads, reads)),
        (2, ("reader and writer", reads, writes)),
        (1, ("readers try", reads, read_try)),
    ]);
    let again = program(
        "",
        LOCKS,
        "while (pthread_mutex_trylock(&m)) ; pthread_mutex_unlock(&m)",
        "",
    );
    assert!(open("trylock again and again", &again).contains("rounds of the loop"));
    let long = timed.replace("soon(1)", "soon(20000)");
    assert!(open("a long timeout", &program("", LOCKS, &long, "")).contains("not all orders"));
}

#[test]
fn semaphores_by_their_level() {
    let post = "sem_post(&sem)";
    all_found(&[
        ("trywait", post, "if (sem_trywait(&sem)) abort()"),
        (
            "getvalue",
            post,
            "int v; sem_getvalue(&sem, &v); if (v) abort()",
        ),
        (
            "getvalue the other way",
            post,
            "int v; sem_getvalue(&sem, &v); if (!v) abort()",
        ),
        ("waits for two", post, "sem_wait(&sem); sem_wait(&sem)"),
        (
            "timedwait",
            post,
            "struct timespec t = soon(1); if (sem_timedwait(&sem, &t)) abort()",
        ),
        (
            "who is first",
            "sem_post(&sem); sem_wait(&sem); if (atomic_exchange(&x, 1)) abort(); sem_post(&sem)",
            "sem_wait(&sem); atomic_store(&x, 1); sem_post(&sem)",
        ),
    ]);
    all_proved(&[
        (
            1,
            (
                "handed over",
                "plain = 1; sem_post(&sem)",
                "sem_wait(&sem); plain = 2",
            ),
        ),
        (2, ("tried", post, "sem_trywait(&sem)")),
    ]);
}

#[test]
fn conditions_and_who_is_signalled_when() {
    let sets =
        "pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); pthread_cond_signal(&c)";
    let timed = "struct timespec t = soon(1); pthread_mutex_lock(&m); \
                 int r = pthread_cond_timedwait(&c, &m, &t); pthread_mutex_unlock(&m);";
    all_found(&[
        (
            "a signal that nobody hears",
            "atomic_store(&x, 1); pthread_mutex_lock(&m); pthread_cond_signal(&c); \
             pthread_mutex_unlock(&m)",
            "if (!atomic_load(&x)) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); \
             pthread_mutex_unlock(&m); }",
        ),
        (
            "a signal that comes in time",
            "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m)",
            &format!("{timed} if (!r) abort()"),
        ),
        (
            "a signal that comes too late",
            "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m)",
            &format!("{timed} if (r) abort()"),
        ),
        (
            "what happens before the lock is had again",
            "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m); \
             pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m)",
            "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); if (ready) abort(); \
             pthread_mutex_unlock(&m)",
        ),
    ]);
    all_proved(&[(
        2,
        (
            "as it should be",
            "pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); \
             pthread_mutex_unlock(&m)",
        ),
    )]);
    let waits = "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); \
                 pthread_mutex_unlock(&m)";
    let all =
        "pthread_mutex_lock(&m); ready = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m)";
    classes("broadcast", &program("", waits, waits, all));
    // One signal for two.
    let report = explored(&program("", waits, waits, sets));
    assert_eq!(report["proof"]["proved"], false, "{report}");
    let either = "pthread_mutex_lock(&m); if (!ready) { pthread_cond_wait(&c, &m); \
                  pthread_cond_signal(&c); } pthread_mutex_unlock(&m)";
    let passed_on = program("", either, either, sets);
    assert!(open("one of two", &passed_on).contains("not all orders"));
}

#[test]
fn barriers_and_what_is_done_once() {
    all_found(&[(
        "who comes last",
        "if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD) abort()",
        "pthread_barrier_wait(&bar)",
    )]);
    let source = program(
        "",
        "plain = 1; pthread_barrier_wait(&bar); pthread_barrier_wait(&bar)",
        "pthread_barrier_wait(&bar); plain = 2; pthread_barrier_wait(&bar)",
        "",
    );
    assert_eq!(classes("two rounds", &source), 4);
    let calls = "pthread_once(&o, once)";
    for steps in ["", "atomic_fetch_add(&x, 1); atomic_fetch_add(&y, 1);"] {
        let once =
            |who: &str| format!("static void once(void) {{ {steps} if (self == {who}) abort(); }}");
        found("by the first", &program(&once("1"), calls, calls, ""));
        found("by the second", &program(&once("2"), calls, calls, ""));
        assert_eq!(classes("once", &program(&once("3"), calls, calls, "")), 2);
    }
}

#[test]
fn threads_by_whoever_starts_them() {
    let more = "static void *adds(void *p) { if (atomic_fetch_add(&y, 1) && p) abort(); return 0; }\n\
                static void *left(void *p) { if (atomic_load(&x) == 2) abort(); return p; }";
    let starts = |argument: &str| {
        format!("pthread_t t; pthread_create(&t, 0, adds, {argument}); pthread_join(t, 0)")
    };
    let (mine, theirs) = (starts("&x"), starts("0"));
    found("second to add", &program(more, &mine, &theirs, ""));
    assert!(classes("in any order", &program(more, &theirs, &theirs, "")) >= 2);
    let detached = "pthread_t t; pthread_create(&t, 0, left, 0); pthread_detach(t)";
    let changes = "atomic_store(&x, 1); atomic_store(&x, 2)";
    found("nobody waits for it", &program(more, detached, changes, ""));
    found(
        "as many as it finds",
        &program(
            more,
            "for (int n = atomic_load(&x); n > 0; n--) { pthread_t t; \
             pthread_create(&t, 0, left, 0); pthread_join(t, 0); }",
            changes,
            "",
        ),
    );
    found(
        "a process that ends",
        &program(
            more,
            "exit(0)",
            "atomic_store(&x, 1); atomic_load(&y); abort()",
            "",
        ),
    );
    let leaves = program(
        more,
        "_exit(0)",
        "atomic_store(&x, 1); if (atomic_load(&x) == 7) abort()",
        "",
    );
    assert!(open("a process that ends at once", &leaves).contains("not all orders"));
}

#[test]
fn what_is_not_explored_is_said() {
    let more = "static int fds[2]; static void handler(int s) { (void)s; atomic_store(&z, 1); }";
    let flag = "atomic_store(&x, 1)";
    for (name, one, other, between) in [
        (
            "tryjoin",
            flag,
            "",
            "while (!atomic_load(&x)); if (pthread_tryjoin_np(a, 0) == 0) abort(); ",
        ),
        (
            "cancel",
            "for (;;) pthread_testcancel()",
            "",
            "pthread_cancel(a)",
        ),
        (
            "signal",
            "signal(SIGUSR1, handler); raise(SIGUSR1)",
            flag,
            "",
        ),
        (
            "pipe",
            "write(fds[1], \"a\", 1)",
            "char k; read(fds[0], &k, 1)",
            "",
        ),
    ] {
        let mut source = program(more, one, other, between);
        source = source.replace("sem_init", "if (pipe(fds)) return 1; sem_init");
        let report = explored(&source);
        assert_eq!(report["proof"]["proved"], false, "{name}: {report}");
        assert_eq!(report["proof"]["complete"], false, "{name}: {report}");
    }
}

#[test]
fn memory_of_different_sizes() {
    let more = "static union { _Atomic uint32_t word; _Atomic uint8_t byte[4]; } u;\n\
                static _Alignas(16) __int128 pair;";
    let narrow = program(
        more,
        "atomic_store(&u.word, 0x01010101); atomic_store(&u.word, 0x02020202)",
        "if (atomic_load(&u.byte[1]) == 1) abort()",
        "",
    );
    found("a byte of a word", &narrow);
    assert!(open("a byte of a word", &narrow).contains("different sizes"));
    let wide = program(
        more,
        "__int128 none = 0; __atomic_compare_exchange_n(&pair, &none, ((__int128)7 << 64) | 7, \
         0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)",
        "if (!__atomic_load_n((uint64_t *)&pair + 1, __ATOMIC_SEQ_CST)) atomic_store(&x, 1); \
         else abort()",
        "",
    );
    found("half of a pair", &wide);
    assert!(open("half of a pair", &wide).contains("different sizes"));
    // One after the other is no mixture: the memory was given back in between.
    let reuse = "void *r = malloc(64); atomic_init((atomic_int *)r, 0); \
                 atomic_fetch_add((atomic_int *)r, 1); free(r); \
                 char *q = malloc(64); atomic_init((atomic_char *)q, 0); \
                 atomic_fetch_add((atomic_char *)q, 1); free(q)";
    classes(
        "one after the other",
        &program("", reuse, "atomic_load(&x)", ""),
    );
}

#[test]
fn loops_that_count_their_rounds() {
    for (name, waits) in [
        (
            "after",
            "int n = 0; while (!atomic_load(&x)) n++; if (n == 3) abort()",
        ),
        (
            "within",
            "int n = 0; while (!atomic_load(&x)) { if (++n > 2) abort(); }",
        ),
        (
            "do",
            "int n = 0; do n++; while (!atomic_load(&x)); if (n > 2) abort()",
        ),
        (
            "for",
            "int n = 0; for (;;) { if (atomic_load(&x)) break; n++; } if (n > 2) abort()",
        ),
        (
            "elsewhere",
            "while (!atomic_load(&x)) plain++; if (plain > 2) abort()",
        ),
    ] {
        let report = explored(&program("", waits, "atomic_store(&x, 1)", ""));
        assert_eq!(report["proof"]["proved"], false, "{name}: {report}");
    }
}

#[test]
fn futexes() {
    let more = "static long futex(atomic_int *w, int op, int v) \
                { return syscall(SYS_futex, w, op, v, 0, 0, 0); }";
    let wakes = "atomic_store(&x, 1); futex(&x, FUTEX_WAKE, INT_MAX)";
    let waits = "while (!atomic_load(&x)) futex(&x, FUTEX_WAIT, 0)";
    classes("as it should be", &program(more, wakes, waits, ""));
    let unheard = program(
        more,
        "atomic_store(&x, 1); futex(&y, FUTEX_WAKE, 1)",
        "if (!atomic_load(&x)) futex(&y, FUTEX_WAIT, 0)",
        "",
    );
    found("nobody hears it", &unheard);
}

#[test]
fn addresses_that_decide() {
    for (name, bit) in [
        ("program", "((uintptr_t)&plain >> 12) & 1"),
        ("heap", "((uintptr_t)malloc(16) >> 28) & 1"),
        ("stack", "((uintptr_t)&p >> 12) & 1"),
    ] {
        let branches = format!("if ({bit}) atomic_store(&x, 1); else atomic_load(&y)");
        let source = program("", &branches, "atomic_store(&y, 1)", "");
        assert!(open(name, &source).contains("addresses"), "{name}");
    }
    // Where they lie does not matter to who only uses them.
    let uses = "int *q = malloc(4 * (1 + self)); *q = self; atomic_fetch_add(&x, *q); free(q); \
                q = malloc(8); *q = atomic_fetch_add(&x, 1); free(q)";
    assert_eq!(classes("uses", &program("", uses, uses, "")), 6);
}
