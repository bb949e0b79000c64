//! `--exhaustive` against brute force on random programs of locks, semaphores,
//! conditions, barriers and atomics: what their runs come to, all of it and nothing
//! else, and a deadlock where there is one.
//!
//! `WMFIX_EXPLORED_PROGRAMS` sets how many programs are tried (6 if unset).

use std::collections::{BTreeSet, HashSet};

use wmfix_tests::litmus::Rng;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const PROGRAMS: u64 = 6;

/// What a thread does at once. A number is where it goes on if it cannot have what it
/// tried to take.
#[derive(Clone, Copy, Debug)]
enum Step {
    Lock,
    Unlock,
    TryLock(usize),
    ReadLock,
    ReadUnlock,
    WriteLock,
    WriteUnlock,
    TryRead(usize),
    TryWrite(usize),
    Post,
    Wait,
    TryWait,
    Level,
    Enqueue,
    Relock,
    EndTimedWait,
    Signal,
    Broadcast,
    Arrive,
    Leave,
    BeginOnce(usize),
    EndOnce,
    Load,
    Store(u32),
    Add(u32),
}

/// A thread: its steps, and the same in C. What it finds goes to its log.
#[derive(Clone, Debug, Default)]
struct Thread {
    steps: Vec<Step>,
    text: String,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    x: u32,
    owner: Option<usize>,
    level: u32,
    writer: bool,
    readers: u32,
    waiting: BTreeSet<usize>,
    woken: BTreeSet<usize>,
    arrived: BTreeSet<usize>,
    passing: BTreeSet<usize>,
    /// To begin, under way, done.
    once: u8,
    logs: Vec<String>,
}

impl Thread {
    /// Adds an operation, around an access if it takes something.
    fn add(&mut self, rng: &mut Rng) {
        let (inner, inner_text) = match rng.below(3) {
            0 => (Step::Load, "said(\"%d\", atomic_load(&x));"),
            1 => (Step::Store(2), "atomic_store(&x, 2);"),
            _ => (Step::Add(1), "said(\"%d\", atomic_fetch_add(&x, 1));"),
        };
        let after = self.steps.len() + 3;
        let text: String = match rng.below(16) {
            0 => self.takes([Step::Lock, inner, Step::Unlock], "pthread_mutex", "lock", inner_text),
            1 => self.tries([Step::TryLock(after), inner, Step::Unlock], "pthread_mutex_trylock(&m)", "pthread_mutex_unlock(&m)", inner_text),
            2 => self.tries([Step::TryLock(after), inner, Step::Unlock], "pthread_mutex_timedlock(&m, soon(&t))", "pthread_mutex_unlock(&m)", inner_text),
            3 => self.takes([Step::ReadLock, inner, Step::ReadUnlock], "pthread_rwlock", "rdlock", inner_text),
            4 => self.takes([Step::WriteLock, inner, Step::WriteUnlock], "pthread_rwlock", "wrlock", inner_text),
            5 => self.tries([Step::TryRead(after), inner, Step::ReadUnlock], "pthread_rwlock_tryrdlock(&rw)", "pthread_rwlock_unlock(&rw)", inner_text),
            6 => self.tries([Step::TryWrite(after), inner, Step::WriteUnlock], "pthread_rwlock_trywrlock(&rw)", "pthread_rwlock_unlock(&rw)", inner_text),
            7 => self.does([Step::Post], "sem_post(&sem);"),
            8 => self.does([Step::Wait], "sem_wait(&sem);"),
            9 => self.does([Step::TryWait], "said(sem_trywait(&sem) ? \"n\" : \"y\", 0);"),
            10 => self.does([Step::Level], "sem_getvalue(&sem, &v); said(\"%d\", v);"),
            11 => self.does([Step::Lock, Step::Enqueue, Step::Relock, Step::Unlock], "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"),
            12 => self.does([Step::Lock, Step::Enqueue, Step::EndTimedWait, Step::Lock, Step::Unlock], "pthread_mutex_lock(&m); said(pthread_cond_timedwait(&c, &m, soon(&t)) ? \"t\" : \"w\", 0); pthread_mutex_unlock(&m);"),
            13 => self.does([Step::Lock, Step::Signal, Step::Unlock], "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);"),
            14 => match rng.below(2) {
                0 => self.does([Step::Broadcast], "pthread_cond_broadcast(&c);"),
                _ => self.does([Step::Arrive, Step::Leave], "said(pthread_barrier_wait(&bar) ? \"s\" : \"p\", 0);"),
            },
            _ => self.does([Step::BeginOnce(after), Step::Add(1), Step::EndOnce], "pthread_once(&o, once);"),
        };
        self.text += &text;
    }

    fn does<const N: usize>(&mut self, steps: [Step; N], text: &str) -> String {
        self.steps.extend(steps);
        text.to_owned()
    }

    fn takes(&mut self, steps: [Step; 3], kind: &str, how: &str, inner: &str) -> String {
        let object = if kind == "pthread_mutex" { "m" } else { "rw" };
        self.does(
            steps,
            &format!("{kind}_{how}(&{object}); {inner} {kind}_unlock(&{object});"),
        )
    }

    fn tries(&mut self, steps: [Step; 3], attempt: &str, end: &str, inner: &str) -> String {
        let text =
            format!("if (!{attempt}) {{ said(\"y\", 0); {inner} {end}; }} else said(\"n\", 0);");
        self.does(steps, &text)
    }
}

impl State {
    fn new(threads: usize) -> Self {
        Self {
            at: vec![0; threads],
            x: 0,
            owner: None,
            level: 0,
            writer: false,
            readers: 0,
            waiting: BTreeSet::new(),
            woken: BTreeSet::new(),
            arrived: BTreeSet::new(),
            passing: BTreeSet::new(),
            once: 0,
            logs: vec![String::new(); threads],
        }
    }

    /// What comes of a thread's next step; nothing if it has to wait.
    fn after(&self, thread: usize, step: Step) -> Option<Self> {
        let mut next = self.clone();
        next.at[thread] += 1;
        let mut said = String::new();
        let mut tries = |next: &mut Self, can: bool, or: usize| {
            said = if can { "y" } else { "n" }.to_owned();
            if !can {
                next.at[thread] = or;
            }
            can
        };
        let free = !self.writer && self.readers == 0;
        match step {
            Step::Lock if self.owner.is_some() => return None,
            Step::Lock => next.owner = Some(thread),
            Step::Unlock => next.owner = None,
            Step::TryLock(or) => {
                if tries(&mut next, self.owner.is_none(), or) {
                    next.owner = Some(thread);
                }
            }
            Step::ReadLock if self.writer => return None,
            Step::ReadLock => next.readers += 1,
            Step::ReadUnlock => next.readers -= 1,
            Step::WriteLock if !free => return None,
            Step::WriteLock => next.writer = true,
            Step::WriteUnlock => next.writer = false,
            Step::TryRead(or) => {
                next.readers += u32::from(tries(&mut next, !self.writer, or));
            }
            Step::TryWrite(or) => next.writer |= tries(&mut next, free, or),
            Step::Post => next.level += 1,
            Step::Wait => next.level = self.level.checked_sub(1)?,
            Step::TryWait => {
                said = if self.level > 0 { "y" } else { "n" }.to_owned();
                next.level = self.level.saturating_sub(1);
            }
            Step::Level => said = self.level.to_string(),
            Step::Enqueue => {
                next.owner = None;
                next.waiting.insert(thread);
            }
            Step::Relock if self.owner.is_some() || !next.woken.remove(&thread) => return None,
            Step::Relock => next.owner = Some(thread),
            Step::EndTimedWait => {
                let woken = next.woken.remove(&thread);
                next.waiting.remove(&thread);
                said = if woken { "w" } else { "t" }.to_owned();
            }
            Step::Signal => next.woken.extend(next.waiting.pop_first()),
            Step::Broadcast => next.woken.append(&mut next.waiting),
            Step::Arrive => {
                next.arrived.insert(thread);
                let last = next.arrived.len() == 2;
                if last {
                    next.passing.append(&mut next.arrived);
                }
                said = if last { "s" } else { "p" }.to_owned();
            }
            Step::Leave if !next.passing.remove(&thread) => return None,
            Step::Leave => {}
            Step::BeginOnce(_) if self.once == 1 => return None,
            Step::BeginOnce(or) if self.once == 2 => next.at[thread] = or,
            Step::BeginOnce(_) => next.once = 1,
            Step::EndOnce => next.once = 2,
            Step::Load => said = self.x.to_string(),
            Step::Store(value) => next.x = value,
            Step::Add(value) => {
                said = self.x.to_string();
                next.x += value;
            }
        }
        next.logs[thread] += &said;
        Some(next)
    }
}

/// What the runs of a program come to, and whether one of them hangs.
fn outcomes(threads: &[Thread]) -> (BTreeSet<String>, bool) {
    let (mut found, mut hangs) = (BTreeSet::new(), false);
    let mut seen = HashSet::new();
    let mut stack = vec![State::new(threads.len())];
    while let Some(state) = stack.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let ready = threads.iter().enumerate().filter_map(|(number, thread)| {
            let step = thread.steps.get(state.at[number])?;
            state.after(number, *step)
        });
        let next: Vec<State> = ready.collect();
        let ended = |(number, thread): (usize, &Thread)| state.at[number] == thread.steps.len();
        if next.is_empty() {
            match threads.iter().enumerate().all(ended) {
                true => {
                    found.insert(format!("{}|{}", state.logs.join("|"), state.x));
                }
                false => hangs = true,
            }
        }
        stack.extend(next);
    }
    (found, hangs)
}

fn source(threads: &[Thread], into: &str) -> String {
    let [first, second] = threads else {
        panic!("two threads");
    };
    format!(
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <pthread.h>\n#include <semaphore.h>\n\
         #include <stdatomic.h>\n#include <stdio.h>\n#include <string.h>\n#include <time.h>\n\
         #include <unistd.h>\n\
         static atomic_int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
         static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n\
         static pthread_once_t o = PTHREAD_ONCE_INIT; static pthread_barrier_t bar; static sem_t sem;\n\
         static _Thread_local int self; static char logs[2][200];\n\
         static void said(const char *f, int v) {{ char b[4] = {{0}}; int n = 0; if (v > 9) b[n++] = '0' + v / 10;\n\
         b[n] = '0' + v % 10; strcat(logs[self], f[0] == '%' ? b : f); }}\n\
         static void once(void) {{ said(\"%d\", atomic_fetch_add(&x, 1)); }}\n\
         static struct timespec *soon(struct timespec *t) {{ clock_gettime(CLOCK_REALTIME, t); return t; }}\n\
         static void *one(void *p) {{ struct timespec t; int v; (void)t; (void)v; self = 0; {} return p; }}\n\
         static void *other(void *p) {{ struct timespec t; int v; (void)t; (void)v; self = 1; {} return p; }}\n\
         int main(void) {{ pthread_t a, b; (void)soon; (void)once; (void)m; (void)c; (void)rw; (void)o;\n\
         pthread_barrier_init(&bar, 0, 2); sem_init(&sem, 0, 0);\n\
         pthread_create(&a, 0, one, 0); pthread_create(&b, 0, other, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); char out[500];\n\
         int n = snprintf(out, 500, \"%s|%s|%d\\n\", logs[0], logs[1], atomic_load(&x));\n\
         int file = open(\"{into}\", O_WRONLY | O_APPEND | O_CREAT, 0600);\n\
         return write(file, out, (size_t)n) != n; }}\n",
        first.text, second.text
    )
}

#[test]
fn random_programs_come_to_what_brute_force_says() {
    need(&["gcc"].map(Need::Program));
    let count = std::env::var("WMFIX_EXPLORED_PROGRAMS").ok();
    let count = count.map_or(PROGRAMS, |count| count.parse().expect("a number"));
    let (mut tried, mut seed) = (0, 0);
    while tried < count {
        seed += 1;
        let rng = &mut Rng::new(seed);
        let mut threads = vec![Thread::default(); 2];
        for thread in &mut threads {
            for _ in 0..1 + rng.below(3) {
                thread.add(rng);
            }
        }
        let (truth, hangs) = outcomes(&threads);
        if truth.len() + usize::from(hangs) < 2 {
            continue;
        }
        tried += 1;
        let world = World::new();
        let into = world.path().join("outcomes");
        world.write("test.c", &source(&threads, &into.display().to_string()));
        let mut command = world.wmfix("gcc");
        command.env("WMFIX_RUNS", "1");
        command.args([
            "check",
            "--exhaustive",
            "--harm",
            "off",
            "--format",
            "json",
            "test.c",
        ]);
        let report = CommandResult::of(&mut command).json();
        let shown = format!("seed {seed}: {threads:?}\n{report}");
        assert_eq!(report["proof"]["complete"], true, "{shown}");
        assert_eq!(report["proof"]["proved"], !hangs, "{shown}");
        let seen = std::fs::read_to_string(&into).unwrap_or_default();
        let seen: BTreeSet<String> = seen.lines().map(str::to_owned).collect();
        assert_eq!(seen, truth, "{shown}");
    }
}
