//! A program as C. Where the environment names a file, `main` adds a line to it with
//! what the threads saw and what memory holds.

use std::fmt::Write;

use super::program::{
    Change, Ending, Leaving, Lock, Locking, PlainKind, Private, Program, Statement, TextReader,
};

/// The variable that names the file.
pub(super) const OUTCOMES: &str = "PROGRAM_FUZZ_OUTCOMES";

/// What threads do between their statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pauses {
    /// Nothing.
    None,
    /// They pause for times that differ from run to run.
    Random,
}

/// The program's source.
pub(super) fn spell(program: &Program, pauses: Pauses) -> String {
    let mut out = String::from(HEADER);
    if pauses == Pauses::Random {
        out += DELAY;
    }
    let mut speller = Speller {
        program,
        pauses,
        out: &mut out,
        indent: 1,
        slots: 0,
        cells: 0,
        thread: Some(0),
    };
    speller.objects();
    // The numbers of the objects that are handed over follow the order of the threads.
    let main = speller.body_of(Some(0), &program.main);
    for (number, thread) in program.threads.iter().enumerate() {
        let body = speller.body_of(Some(number + 1), &thread.body);
        let name = number + 1;
        *speller.out += &format!(
            "static void *thread{name}(void *arg)\n{{\n    int last = 0;\n    (void)last;\n{body}    return arg;\n}}\n\n"
        );
    }
    if !program.at_exit.is_empty() {
        let body = speller.body_of(None, &program.at_exit);
        *speller.out += &format!(
            "static void handler(void)\n{{\n    int last = 0, unseen = 0;\n    (void)last, (void)unseen;\n{body}}}\n\n"
        );
    }
    speller.main(&main);
    out
}

/// Adds the slots of a thread, as `main` prints them.
pub(super) fn print_slots(text: &mut String, values: &[u8], body: &[Statement]) {
    for value in &values[..slots(body)] {
        *text += &format!("{value} ");
    }
}

/// How many slots statements have.
pub(super) fn slots(body: &[Statement]) -> usize {
    let own = |statement: &Statement| usize::from(statement.has_slot()) + slots(statement.body());
    body.iter().map(own).sum()
}

const HEADER: &str = "#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

";

const DELAY: &str = "static void delay(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (volatile long n = (t.tv_nsec >> 5) % 7 * ((t.tv_nsec >> 8) % 200); n > 0; n--)
        ;
}

";

struct Speller<'p> {
    program: &'p Program,
    pauses: Pauses,
    out: &'p mut String,
    indent: usize,
    slots: usize,
    cells: usize,
    /// Whose statements these are; nobody's: the handler's.
    thread: Option<usize>,
}

impl Speller<'_> {
    fn objects(&mut self) {
        let program = self.program;
        let uses = |is: &dyn Fn(&Statement) -> bool| program.any(is);
        for (number, width) in program.widths.iter().enumerate() {
            let _ = writeln!(self.out, "static _Atomic uint{width}_t a{number};");
        }
        for (number, kind) in program.plains.iter().enumerate() {
            let _ = match kind {
                PlainKind::Word => writeln!(self.out, "static int p{number};"),
                PlainKind::Text(_) => writeln!(self.out, "static char p{number}[8] = \"0\";"),
            };
        }
        let sets = |s: &Statement| matches!(s, Statement::SetFlag { .. } | Statement::WaitForFlag);
        let flag = uses(&sets);
        for number in 0..super::machine::MOST_MUTEXES {
            let locks = |s: &Statement| matches!(s, Statement::Locked { lock: Lock::Mutex(n), .. } if usize::from(*n) == number);
            if uses(&locks) || (number == 0 && flag) {
                let _ = writeln!(
                    self.out,
                    "static pthread_mutex_t m{number} = PTHREAD_MUTEX_INITIALIZER;"
                );
            }
        }
        if flag {
            *self.out +=
                "static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;\nstatic int flag;\n";
        }
        if self.has_spin() {
            *self.out += "static pthread_spinlock_t spin;\n";
        }
        if uses(&|s| {
            matches!(
                s,
                Statement::Locked {
                    lock: Lock::Read | Lock::Write,
                    ..
                }
            )
        }) {
            *self.out += "static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n";
        }
        if self.has_semaphore() {
            *self.out += "static sem_t sem;\n";
        }
        if uses(&|s| *s == Statement::Arrive) {
            *self.out += "static pthread_barrier_t barrier;\n";
        }
        if uses(&|s| {
            matches!(
                s,
                Statement::Share(_) | Statement::Take(_) | Statement::TakeAway(_)
            )
        }) {
            *self.out += "static int *_Atomic pointer;\n";
        }
        if uses(&|s| *s == Statement::Private(Private::ThreadLocal)) {
            *self.out += "static _Thread_local int local;\n";
        }
        let bodies = [&program.main].into_iter();
        let bodies = bodies.chain(program.threads.iter().map(|thread| &thread.body));
        for (number, body) in bodies.enumerate() {
            if slots(body) > 0 {
                let _ = writeln!(self.out, "static int seen{number}[{}];", slots(body));
            }
        }
        if uses(&|s| *s == Statement::Once) {
            *self.out += "static pthread_once_t once = PTHREAD_ONCE_INIT;\n\
                          static void begin(void) { atomic_fetch_add(&a0, 1); }\n";
        }
        if self.has_signal() {
            *self.out += "static void on_signal(int s) { (void)s; atomic_fetch_add(&a0, 1); }\n";
        }
        if uses(&|s| *s == Statement::Private(Private::Sort)) {
            *self.out += "static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }\n";
        }
        *self.out += "\n";
    }

    fn has_spin(&self) -> bool {
        (self.program).any(|s| {
            matches!(
                s,
                Statement::Locked {
                    lock: Lock::Spin,
                    ..
                }
            )
        })
    }

    fn has_semaphore(&self) -> bool {
        (self.program)
            .any(|s| matches!(s, Statement::Post | Statement::SemWait | Statement::SemTry))
    }

    fn has_signal(&self) -> bool {
        self.program.any(|s| *s == Statement::Raise)
    }

    fn body_of(&mut self, thread: Option<usize>, body: &[Statement]) -> String {
        let mut text = String::new();
        let mut inner = Speller {
            program: self.program,
            pauses: self.pauses,
            out: &mut text,
            indent: 1,
            slots: 0,
            cells: self.cells,
            thread,
        };
        inner.body(body);
        self.cells = inner.cells;
        text
    }

    fn main(&mut self, body: &str) {
        let program = self.program;
        *self.out += "int main(void)\n{\n    int last = 0;\n    (void)last;\n";
        if self.has_spin() {
            *self.out += "    pthread_spin_init(&spin, 0);\n";
        }
        if self.has_semaphore() {
            *self.out += "    sem_init(&sem, 0, 0);\n";
        }
        if program.any(|s| *s == Statement::Arrive) {
            *self.out += "    pthread_barrier_init(&barrier, 0, 2);\n";
        }
        if self.has_signal() {
            *self.out += "    signal(SIGUSR1, on_signal);\n";
        }
        if !program.at_exit.is_empty() {
            *self.out += "    atexit(handler);\n";
        }
        let names: Vec<String> = (1..=program.threads.len())
            .map(|n| format!("t{n}"))
            .collect();
        if !names.is_empty() {
            let _ = writeln!(self.out, "    pthread_t {};", names.join(", "));
        }
        for number in 1..=program.threads.len() {
            let _ = writeln!(
                self.out,
                "    if (pthread_create(&t{number}, 0, thread{number}, 0)) return 9;"
            );
        }
        for (number, thread) in program.threads.iter().enumerate() {
            if thread.detached {
                let _ = writeln!(self.out, "    pthread_detach(t{});", number + 1);
            }
        }
        *self.out += body;
        for (number, thread) in program.threads.iter().enumerate() {
            if !thread.detached {
                let _ = writeln!(self.out, "    pthread_join(t{}, 0);", number + 1);
            }
        }
        self.print();
        *self.out += match program.ending {
            Ending::Return => "    return 0;\n}\n",
            Ending::Exit => "    exit(0);\n}\n",
            Ending::QuickExit => "    _exit(0);\n}\n",
            Ending::ThreadExit => "    pthread_exit(0);\n}\n",
        };
    }

    fn print(&mut self) {
        let program = self.program;
        *self.out += "    char out[1000] = \"\";\n    int n = 0;\n";
        let joined = program.threads.iter().enumerate();
        let joined = joined.filter(|(_, thread)| !thread.detached);
        let bodies = joined.map(|(number, thread)| (number + 1, &thread.body));
        let mut values: Vec<String> = bodies
            .chain([(0, &program.main)])
            .flat_map(|(number, body)| {
                (0..slots(body)).map(move |slot| format!("seen{number}[{slot}]"))
            })
            .collect();
        if program.prints_memory() {
            values.extend((0..program.widths.len()).map(|n| format!("(int)atomic_load(&a{n})")));
            values.extend(
                program
                    .plains
                    .iter()
                    .enumerate()
                    .map(|(n, kind)| match kind {
                        PlainKind::Word => format!("p{n}"),
                        PlainKind::Text(_) => format!("p{n}[0] - '0'"),
                    }),
            );
        }
        for (place, value) in values.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let _ = writeln!(
                self.out,
                "    n += snprintf(out + n, 20, \"{space}%d\", {value});"
            );
        }
        let _ = write!(
            self.out,
            "    out[n++] = '\\n';\n    const char *name = getenv(\"{OUTCOMES}\");\n    \
             int file = name ? open(name, O_WRONLY | O_APPEND | O_CREAT, 0600) : 1;\n    \
             if (write(file, out, n) != n) return 9;\n"
        );
    }

    fn body(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn delay(&self) -> &'static str {
        match self.pauses {
            Pauses::None => "",
            Pauses::Random => "delay(); ",
        }
    }

    fn line(&mut self, text: &str) {
        let delay = self.delay();
        let _ = writeln!(self.out, "{:1$}{delay}{text}", "", self.indent * 4);
    }

    fn block(&mut self, head: &str, body: &[Statement], end: &str) {
        let delay = self.delay();
        let _ = writeln!(self.out, "{:1$}{delay}{head} {{", "", self.indent * 4);
        self.indent += 1;
        self.body(body);
        if !end.is_empty() {
            self.line(end);
        }
        self.indent -= 1;
        let _ = writeln!(self.out, "{:1$}}}", "", self.indent * 4);
    }

    /// What a slot is called.
    fn seen(&self, slot: usize) -> String {
        match self.thread {
            Some(thread) => format!("seen{thread}[{slot}]"),
            None => "unseen".to_owned(),
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let seen = self.seen(self.slots);
        self.slots += usize::from(statement.has_slot());
        match statement {
            Statement::Load { atomic, order } => {
                let order = order.name();
                self.line(&format!("{seen} = last = (int)atomic_load_explicit(&a{atomic}, memory_order_{order});"));
            }
            Statement::Store {
                atomic,
                value,
                order,
            } => {
                let order = order.name();
                self.line(&format!("atomic_store_explicit(&a{atomic}, {value}, memory_order_{order});"));
            }
            Statement::Rmw {
                atomic,
                change,
                order,
            } => {
                let (name, read) = (order.name(), order.read_half().name());
                let width = self.program.widths[usize::from(*atomic)];
                self.line(&match change {
                    Change::Add(value) => format!("{seen} = last = (int)atomic_fetch_add_explicit(&a{atomic}, {value}, memory_order_{name});"),
                    Change::Exchange(value) => format!("{seen} = last = (int)atomic_exchange_explicit(&a{atomic}, {value}, memory_order_{name});"),
                    Change::Cas { expected, desired } => format!("{{ uint{width}_t e = {expected}; atomic_compare_exchange_strong_explicit(&a{atomic}, &e, {desired}, memory_order_{name}, memory_order_{read}); {seen} = last = (int)e; }}"),
                });
            }
            Statement::Fence(order) => {
                self.line(&format!("atomic_thread_fence(memory_order_{});", order.name()));
            }
            Statement::Read(plain) => {
                let name = format!("p{plain}");
                self.line(&match self.program.plains[usize::from(*plain)] {
                    PlainKind::Word => format!("{seen} = {name};"),
                    PlainKind::Text(TextReader::Copy) => format!("{{ char c[2]; memcpy(c, {name}, 2); {seen} = c[0] - '0'; }}"),
                    PlainKind::Text(TextReader::Compare) => format!("{seen} = strcmp({name}, \"1\") == 0;"),
                    PlainKind::Text(TextReader::Number) => format!("{seen} = (int)strtol({name}, 0, 10);"),
                    PlainKind::Text(TextReader::Format) => format!("{{ char c[9]; snprintf(c, 9, \"%s\", {name}); {seen} = c[0] - '0'; }}"),
                });
            }
            Statement::Write { plain, value } => {
                self.line(&match self.program.plains[usize::from(*plain)] {
                    PlainKind::Word => format!("p{plain} = {value};"),
                    PlainKind::Text(_) => format!("strcpy(p{plain}, \"{value}\");"),
                });
            }
            Statement::Await {
                atomic,
                value,
                order,
            } => {
                let order = order.name();
                self.line(&format!("while (atomic_load_explicit(&a{atomic}, memory_order_{order}) != {value}) sched_yield();"));
            }
            Statement::Locked { lock, how, body } => self.locked(*lock, *how, &seen, body),
            Statement::WaitForFlag => self.line("pthread_mutex_lock(&m0); while (!flag) pthread_cond_wait(&cond, &m0); pthread_mutex_unlock(&m0);"),
            Statement::SetFlag { broadcast } => {
                let how = if *broadcast { "broadcast" } else { "signal" };
                self.line(&format!("pthread_mutex_lock(&m0); flag = 1; pthread_cond_{how}(&cond); pthread_mutex_unlock(&m0);"));
            }
            Statement::Post => self.line("sem_post(&sem);"),
            Statement::SemWait => self.line("sem_wait(&sem);"),
            Statement::SemTry => self.line(&format!("{seen} = sem_trywait(&sem) == 0;")),
            Statement::Arrive => self.line("pthread_barrier_wait(&barrier);"),
            Statement::Once => self.line("pthread_once(&once, begin);"),
            Statement::Repeat { times, body } => {
                let depth = self.indent;
                self.block(&format!("for (int i{depth} = 0; i{depth} < {times}; i{depth}++)"), body, "");
            }
            Statement::IfSaw { value, body } => {
                self.block(&format!("if (last == {value})"), body, "");
            }
            Statement::Assert(value) => self.line(&format!("assert(last == {value});")),
            Statement::Share(order) => {
                self.cells += 1;
                let (cell, order) = (self.cells, order.name());
                self.line(&format!("{{ int *q = malloc(sizeof *q); *q = {cell}; atomic_store_explicit(&pointer, q, memory_order_{order}); }}"));
            }
            Statement::Take(order) => {
                let order = order.name();
                self.line(&format!("{{ int *q = atomic_load_explicit(&pointer, memory_order_{order}); if (q) {seen} = *q; }}"));
            }
            Statement::TakeAway(order) => {
                let order = order.name();
                self.line(&format!("{{ int *q = atomic_exchange_explicit(&pointer, 0, memory_order_{order}); if (q) {{ {seen} = *q; free(q); }} }}"));
            }
            Statement::Raise => self.line("raise(SIGUSR1);"),
            Statement::Private(kind) => self.line(private(*kind)),
            Statement::Leave(leaving) => {
                let returned = if self.thread == Some(0) { "0" } else { "arg" };
                self.line(&match leaving {
                    Leaving::Return => format!("return {returned};"),
                    Leaving::ThreadExit => "pthread_exit(0);".to_owned(),
                    Leaving::Exit => "exit(3);".to_owned(),
                    Leaving::QuickExit => "_exit(4);".to_owned(),
                    Leaving::Abort => "abort();".to_owned(),
                });
            }
        }
    }

    fn locked(&mut self, lock: Lock, how: Locking, seen: &str, body: &[Statement]) {
        let (kind, object, verb) = match lock {
            Lock::Mutex(number) => ("mutex", format!("m{number}"), "lock"),
            Lock::Spin => ("spin", "spin".to_owned(), "lock"),
            Lock::Read => ("rwlock", "rw".to_owned(), "rdlock"),
            Lock::Write => ("rwlock", "rw".to_owned(), "wrlock"),
        };
        let unlock = format!("pthread_{kind}_unlock(&{object});");
        match how {
            Locking::Wait => {
                self.line(&format!("pthread_{kind}_{verb}(&{object});"));
                self.body(body);
                self.line(&unlock);
            }
            Locking::Try => {
                let head = format!("if (({seen} = pthread_{kind}_try{verb}(&{object}) == 0))");
                self.block(&head, body, &unlock);
            }
            Locking::Timed => {
                self.line("{ struct timespec now; clock_gettime(CLOCK_REALTIME, &now);");
                let head =
                    format!("if (({seen} = pthread_{kind}_timed{verb}(&{object}, &now) == 0))");
                self.block(&head, body, &unlock);
                self.line("}");
            }
        }
    }
}

fn private(kind: Private) -> &'static str {
    match kind {
        Private::ThreadLocal => "local++; local += local;",
        Private::Heap => "{ int *h = malloc(8); h[1] = 5; h[0] = h[1] + 1; free(h); }",
        Private::Grow => "{ char *h = calloc(4, 4); h = realloc(h, 64); h[60] = h[3]; free(h); }",
        Private::Strings => {
            "{ char s[20] = \"ab\"; strcat(s, \"cd\"); memmove(s + 1, s, strlen(s)); if (strchr(s, 'x')) abort(); }"
        }
        Private::Numbers => {
            "{ char s[20]; snprintf(s, 20, \"%d\", 42); if (strtol(s, 0, 10) != 42) abort(); }"
        }
        Private::Sort => {
            "{ int v[4] = { 3, 1, 2, 0 }; qsort(v, 4, sizeof *v, order); if (v[0] || v[3] != 3) abort(); }"
        }
        Private::Environment => "if (getenv(\"PROGRAM_FUZZ_NOTHING\")) abort();",
        Private::Yield => "sched_yield();",
        Private::Sleep => "usleep(1);",
        Private::Mask => {
            "{ sigset_t s, old; sigemptyset(&s); sigaddset(&s, SIGUSR2); pthread_sigmask(SIG_BLOCK, &s, &old); pthread_sigmask(SIG_SETMASK, &old, 0); }"
        }
        Private::Key => {
            "{ pthread_key_t k; int v = 1; pthread_key_create(&k, 0); pthread_setspecific(k, &v); if (pthread_getspecific(k) != &v) abort(); pthread_key_delete(k); }"
        }
        Private::Clock => {
            "{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); if (t.tv_nsec < 0) abort(); }"
        }
    }
}
