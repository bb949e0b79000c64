//! Loops as C and C++ sources: many in one program, which is told by its argument which
//! one to run.

use std::fmt::Write;

use super::WaitLoop;
use crate::rng::Rng;

/// How a loop is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopForm {
    /// `while (!c) round;`
    While,
    /// `do round while (!c);`
    Do,
    /// `for (; !c; round) ;`
    For,
    /// `for (;;) { if (c) break; round }`
    Break,
    /// `again: if (!c) { round; goto again; }`
    Goto,
}

impl LoopForm {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::While, Self::Do, Self::For, Self::Break, Self::Goto];
}

/// What a round does besides loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    text: &'static str,
    counts: bool,
}

const fn round(text: &'static str, counts: bool) -> Round {
    Round { text, counts }
}

const ROUNDS: [Round; 16] = [
    round("(void)0", false),
    round("sched_yield()", false),
    round("sched_yield()", false),
    round("__builtin_ia32_pause()", false),
    round("PAUSE()", false),
    round("idle()", false),
    round("acknowledge()", true),
    round("yield_now()", true),
    round("cpu_relax()", true),
    round("backoff_wait()", true),
    round("hooks.wait()", true),
    round("SPIN()", true),
    round("rounds++", true),
    round("rounds += 1", true),
    round("atomic_count()", true),
    round("helper_of_helper()", true),
];

const CPP_ROUNDS: [Round; 5] = [
    round("std::this_thread::yield()", false),
    round("mine::this_thread::yield()", true),
    round("Guard()", true),
    round("pauser.pause()", true),
    round("++pauser", true),
];

impl Round {
    pub(super) fn random(rng: &mut Rng, is_cpp: bool) -> Self {
        match is_cpp && rng.percent(25) {
            true => rng.pick(&CPP_ROUNDS),
            // Half of all rounds only pass the time.
            false if rng.percent(65) => rng.pick(&ROUNDS[..6]),
            false => rng.pick(&ROUNDS),
        }
    }

    /// Whether it counts.
    pub fn counts(self) -> bool {
        self.counts
    }
}

const C_HEAD: &str =
    "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n";
const CPP_HEAD: &str = "#include <atomic>\n#include <pthread.h>\n#include <sched.h>\n#include <stdlib.h>\n#include <thread>\n";

const NAMES: &str = "static int rounds;
#define PAUSE() __asm__ volatile(\"pause\" ::: \"memory\")
#define SPIN() (rounds++)
static void idle(void) {}
static void acknowledge(void) { rounds++; }
static void yield_now(void) { rounds++; }
static void cpu_relax(void) { rounds++; }
static void backoff_wait(void) { rounds++; }
static void helper_of_helper(void) { acknowledge(); }
struct hooks_type { void (*wait)(void); };
static struct hooks_type hooks = { yield_now };
";

const C_NAMES: &str = "static atomic_int counted;
static void atomic_count(void) { atomic_fetch_add(&counted, 1); rounds++; }
";

const CPP_NAMES: &str = "static std::atomic<int> counted;
static void atomic_count(void) { counted.fetch_add(1); rounds++; }
namespace mine { namespace this_thread { static void yield() { rounds++; } } }
struct Guard { ~Guard() { rounds++; } };
struct Pauser { void pause() { rounds++; } void operator++() { rounds++; } };
static Pauser pauser;
";

/// Many loops as one program.
pub fn source(loops: &[WaitLoop], is_cpp: bool) -> String {
    let mut out = String::new();
    out += if is_cpp { CPP_HEAD } else { C_HEAD };
    out += NAMES;
    out += if is_cpp { CPP_NAMES } else { C_NAMES };
    out += if is_cpp {
        "static std::atomic<int> between;\n"
    } else {
        "static atomic_int between;\n"
    };
    for (number, one) in loops.iter().enumerate() {
        emit(&mut out, number, one, is_cpp).expect("a string takes everything");
    }
    out += "typedef void *(*body)(void *);\nstatic body bodies[][2] = {\n";
    for number in 0..loops.len() {
        writeln!(out, "  {{ writer{number}, waiter{number} }},")
            .expect("a string takes everything");
    }
    out += "};\nint main(int argc, char **argv) {
  int which = argc > 1 ? argv[1][0] - 'A' : 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, bodies[which][i], 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}\n";
    out
}

fn emit(out: &mut String, number: usize, one: &WaitLoop, is_cpp: bool) -> std::fmt::Result {
    let object = format!("x{number}");
    let kind = &one.condition.object;
    let (declared, load) = match is_cpp {
        true => (
            format!(
                "std::atomic<{}> {object}{{({}){}L}}",
                kind.name, kind.name, one.first
            ),
            format!("{object}.load()"),
        ),
        false => (
            format!("{} {object} = ({}){}L", kind.atomic, kind.name, one.first),
            format!("atomic_load(&{object})"),
        ),
    };
    let store = |name: &str, value: &str| match is_cpp {
        true => format!("{name}.store({value});"),
        false => format!("atomic_store(&{name}, {value});"),
    };
    let second = store(&object, &format!("({}){}L", kind.name, one.second));
    let last = store(&object, &format!("({}){}L", kind.name, one.last));
    let between = store("between", "1");
    let looked = if is_cpp {
        "between.load()"
    } else {
        "atomic_load(&between)"
    };
    writeln!(out, "static {declared};")?;
    writeln!(
        out,
        "static void *writer{number}(void *p) {{ {second} {between} {last} return p; }}"
    )?;
    let load = match one.condition.returned() {
        Some(kind) => {
            writeln!(out, "static {kind} get{number}(void) {{ return {load}; }}")?;
            format!("get{number}()")
        }
        None => load,
    };
    writeln!(out, "static void *waiter{number}(void *p) {{")?;
    let round = one.round.text;
    let variable = one.condition.variable();
    if let Some(variable) = variable {
        writeln!(out, "  {variable} v;")?;
    }
    let read = match variable {
        Some(_) => "v".to_owned(),
        None => load.clone(),
    };
    let condition = one.condition.text(&read);
    let tested = match variable {
        Some(_) => format!("(v = {load}, 0) || ({condition})"),
        None => condition.clone(),
    };
    let reload = match variable {
        Some(_) => format!("v = {load}; "),
        None => String::new(),
    };
    match one.form {
        LoopForm::While => match variable {
            Some(_) => writeln!(
                out,
                "  {reload}while (!({condition})) {{ {round}; {reload}}}"
            )?,
            None => writeln!(out, "  while (!({condition})) {round};")?,
        },
        LoopForm::Do => writeln!(out, "  do {{ {round}; {reload}}} while (!({condition}));")?,
        // A statement is no expression.
        LoopForm::For if round == "PAUSE()" => {
            writeln!(out, "  for (; !({tested}); ) {round};")?;
        }
        LoopForm::For => writeln!(out, "  for (; !({tested}); {round}) ;")?,
        LoopForm::Break => writeln!(
            out,
            "  for (;;) {{ {reload}if ({condition}) break; {round}; }}"
        )?,
        LoopForm::Goto => writeln!(
            out,
            "again: {reload}\n  if (!({condition})) {{ {round}; goto again; }}"
        )?,
    }
    let most = usize::from(one.form == LoopForm::Do);
    writeln!(
        out,
        "  if (!{looked} || rounds > {most}) abort();\n  return p;\n}}"
    )
}
