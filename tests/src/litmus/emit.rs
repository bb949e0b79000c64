//! Litmus programs as C and C++ sources, for tests that compile and run them.
//! Waiting is a spin loop.

use std::fmt::Write;

use wmfix_analysis::{CasStrength, LoadOrder, RmwOrder};

use super::names::sign;
use super::program::{Instruction, Location, Program, Register};

/// In which language, and by which interface, atomics are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// C11, `<stdatomic.h>`.
    C11,
    /// C++, `std::atomic`.
    Cpp,
    /// C, the compiler's `__atomic` builtins.
    Builtins,
}

impl Spelling {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C11, Self::Cpp, Self::Builtins];

    /// The extension of a file of this spelling.
    pub fn extension(self) -> &'static str {
        match self {
            Self::C11 | Self::Builtins => "c",
            Self::Cpp => "cpp",
        }
    }
}

/// How a program waits for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitForm {
    /// In a loop that names the value.
    Literal,
    /// In a loop that compares with a variable.
    Variable,
    /// By calling a function that waits for what it is told.
    Helper,
    /// Waits that follow each other directly and are alike but for the value are
    /// one loop around another, over a list of values.
    Rolled,
}

/// The source of a program. It prints the registers and the final memory.
pub fn emit(program: &Program, spelling: Spelling) -> String {
    emit_waiting(program, spelling, WaitForm::Literal)
}

/// The source of a program that waits in this way.
pub fn emit_waiting(program: &Program, spelling: Spelling, waiting: WaitForm) -> String {
    let mut out = String::new();
    let emitter = Emitter {
        program,
        spelling,
        waiting,
    };
    emitter
        .source(&mut out)
        .expect("writing to a string does not fail");
    out
}

pub(super) struct Emitter<'p> {
    pub(super) program: &'p Program,
    spelling: Spelling,
    pub(super) waiting: WaitForm,
}

impl Emitter<'_> {
    fn source(&self, out: &mut String) -> std::fmt::Result {
        self.header(out)?;
        self.values_and_helpers(out)?;
        for thread in 0..self.program.threads.len() {
            self.thread(out, thread)?;
        }
        self.main(out)
    }

    fn header(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "/* {}", self.program.name)?;
        for thread in 0..self.program.threads.len() {
            writeln!(
                out,
                " *  T{}: {}",
                thread + 1,
                self.program.spell_thread(thread)
            )?;
        }
        writeln!(out, " */")?;
        match self.spelling {
            Spelling::C11 => writeln!(out, "#include <stdatomic.h>")?,
            Spelling::Cpp => writeln!(out, "#include <atomic>")?,
            Spelling::Builtins => {}
        }
        writeln!(
            out,
            "#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n"
        )?;
        for (place, name) in self.program.locations.iter().enumerate() {
            let kind = match self.spelling {
                _ if !self.is_atomic(place) => "int",
                Spelling::C11 => "atomic_int",
                Spelling::Cpp => "std::atomic<int>",
                Spelling::Builtins => "int",
            };
            writeln!(out, "static {kind} {name}_;")?;
        }
        for name in &self.program.mutexes {
            writeln!(
                out,
                "static pthread_mutex_t {name}_ = PTHREAD_MUTEX_INITIALIZER;"
            )?;
        }
        writeln!(
            out,
            "static pthread_t threads[{}];",
            self.program.threads.len()
        )?;
        for thread in 0..self.program.threads.len() {
            for register in self.results(thread) {
                writeln!(out, "static int {} = -1;", self.result(thread, register))?;
            }
            writeln!(out, "static void *thread{}(void *);", thread + 1)?;
        }
        writeln!(out)
    }

    fn thread(&self, out: &mut String, thread: usize) -> std::fmt::Result {
        writeln!(
            out,
            "static void *thread{}(void *arg)\n{{\n    (void)arg;",
            thread + 1
        )?;
        for register in self.registers(thread) {
            writeln!(out, "    int {} = 0;", self.register(register))?;
        }
        let instructions = &self.program.threads[thread];
        let targets: Vec<usize> = instructions
            .iter()
            .enumerate()
            .filter_map(|(place, i)| skip_target(place, i, instructions.len()))
            .collect();
        for (place, instruction) in instructions.iter().enumerate() {
            if targets.contains(&place) {
                writeln!(out, "L{place}: ;")?;
            }
            match self.waiting {
                WaitForm::Literal => {
                    self.instruction(out, place, instruction, instructions.len())?;
                }
                _ => self.instruction_or_wait(out, thread, place)?,
            }
        }
        if targets.contains(&instructions.len()) {
            writeln!(out, "L{}: ;", instructions.len())?;
        }
        for register in self.results(thread) {
            writeln!(
                out,
                "    {} = {};",
                self.result(thread, register),
                self.register(register)
            )?;
        }
        writeln!(out, "    return 0;\n}}\n")
    }

    pub(super) fn instruction(
        &self,
        out: &mut String,
        place: usize,
        instruction: &Instruction,
        end: usize,
    ) -> std::fmt::Result {
        use Instruction as I;
        let target = skip_target(place, instruction, end);
        match *instruction {
            I::Store {
                location,
                value,
                order,
            } => {
                let order = self.order(order.name());
                match self.spelling {
                    Spelling::C11 => writeln!(
                        out,
                        "    atomic_store_explicit(&{}, {value}, {order});",
                        self.location(location)
                    ),
                    Spelling::Cpp => {
                        writeln!(
                            out,
                            "    {}.store({value}, {order});",
                            self.location(location)
                        )
                    }
                    Spelling::Builtins => writeln!(
                        out,
                        "    __atomic_store_n(&{}, {value}, {order});",
                        self.location(location)
                    ),
                }
            }
            I::Load {
                register,
                location,
                order,
            } => writeln!(
                out,
                "    {} = {};",
                self.register(register),
                self.load(location, order)
            ),
            I::FetchAdd {
                register,
                location,
                value,
                order,
            } => self.rmw(out, "fetch_add", register, location, value, order),
            I::Exchange {
                register,
                location,
                value,
                order,
            } => self.rmw(out, "exchange", register, location, value, order),
            I::CompareExchange {
                register,
                location,
                expected,
                desired,
                success,
                failure,
                strength,
            } => writeln!(
                out,
                "    {{ int e_ = {expected}; {}; {} = e_; }}",
                self.cas(location, desired, success, failure, strength),
                self.register(register)
            ),
            I::BlockingCompareExchange {
                location,
                expected,
                desired,
                success,
                failure,
            } => writeln!(
                out,
                "    {{ int e_ = {expected};\n      while (!{}) {{ e_ = {expected}; sched_yield(); }} }}",
                self.cas(location, desired, success, failure, CasStrength::Strong)
            ),
            I::Wait {
                location,
                exit,
                order,
            } => writeln!(
                out,
                "    {{ while (!({} {} {})) {{ sched_yield(); }} }}",
                self.load(location, order),
                sign(exit.comparison),
                exit.operand
            ),
            I::Fence { order } => {
                let order = self.order(order.name());
                match self.spelling {
                    Spelling::C11 => writeln!(out, "    atomic_thread_fence({order});"),
                    Spelling::Cpp => writeln!(out, "    std::atomic_thread_fence({order});"),
                    Spelling::Builtins => writeln!(out, "    __atomic_thread_fence({order});"),
                }
            }
            I::SkipIf {
                register, value, ..
            } => writeln!(
                out,
                "    if ({} == {value}) goto L{};",
                self.register(register),
                target.expect("a skip has a target")
            ),
            I::SkipUnless {
                register, value, ..
            } => writeln!(
                out,
                "    if ({} != {value}) goto L{};",
                self.register(register),
                target.expect("a skip has a target")
            ),
            I::Read { location } => writeln!(out, "    (void)*{};", self.plain(location)),
            I::Write { location, value } => {
                writeln!(out, "    *{} = {value};", self.plain(location))
            }
            I::Create { thread } => writeln!(
                out,
                "    pthread_create(&threads[{thread}], 0, thread{}, 0);",
                thread + 1
            ),
            I::Join { thread } => writeln!(out, "    pthread_join(threads[{thread}], 0);"),
            I::Lock { mutex } => writeln!(
                out,
                "    pthread_mutex_lock(&{}_);",
                self.program.mutexes[usize::from(mutex.0)]
            ),
            I::Unlock { mutex } => writeln!(
                out,
                "    pthread_mutex_unlock(&{}_);",
                self.program.mutexes[usize::from(mutex.0)]
            ),
        }
    }

    fn main(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "int main(void)\n{{")?;
        let started = (0..self.program.threads.len()).filter(|&t| !self.program.is_created(t));
        for thread in started.clone() {
            writeln!(
                out,
                "    if (pthread_create(&threads[{thread}], 0, thread{}, 0)) return 2;",
                thread + 1
            )?;
        }
        for thread in started {
            writeln!(out, "    pthread_join(threads[{thread}], 0);")?;
        }
        for thread in 0..self.program.threads.len() {
            for register in self.results(thread) {
                let (name, result) = (self.register(register), self.result(thread, register));
                writeln!(out, "    printf(\"T{}.{name}=%d \", {result});", thread + 1)?;
            }
        }
        for (place, name) in self.program.locations.iter().enumerate() {
            let value = if self.is_atomic(place) {
                self.load(Location(place as u8), LoadOrder::Relaxed)
            } else {
                format!("{name}_")
            };
            writeln!(out, "    printf(\"{name}=%d \", {value});")?;
        }
        writeln!(out, "    printf(\"\\n\");\n    return 0;\n}}")
    }

    pub(super) fn load(&self, location: Location, order: LoadOrder) -> String {
        let (name, order) = (self.location(location), self.order(order.name()));
        match self.spelling {
            Spelling::C11 => format!("atomic_load_explicit(&{name}, {order})"),
            Spelling::Cpp => format!("{name}.load({order})"),
            Spelling::Builtins => format!("__atomic_load_n(&{name}, {order})"),
        }
    }

    fn rmw(
        &self,
        out: &mut String,
        operation: &str,
        register: Register,
        location: Location,
        value: u64,
        order: RmwOrder,
    ) -> std::fmt::Result {
        let (target, name) = (self.register(register), self.location(location));
        let order = self.order(order.name());
        match self.spelling {
            Spelling::C11 => writeln!(
                out,
                "    {target} = atomic_{operation}_explicit(&{name}, {value}, {order});"
            ),
            Spelling::Cpp => writeln!(out, "    {target} = {name}.{operation}({value}, {order});"),
            Spelling::Builtins => {
                let suffix = if operation == "exchange" { "_n" } else { "" };
                writeln!(
                    out,
                    "    {target} = __atomic_{operation}{suffix}(&{name}, {value}, {order});"
                )
            }
        }
    }

    /// A compare-exchange that expects what is in `e_`.
    fn cas(
        &self,
        location: Location,
        desired: u64,
        success: RmwOrder,
        failure: LoadOrder,
        strength: CasStrength,
    ) -> String {
        let name = self.location(location);
        let (success, failure) = (self.order(success.name()), self.order(failure.name()));
        let weak = strength == CasStrength::Weak;
        let word = if weak { "weak" } else { "strong" };
        match self.spelling {
            Spelling::C11 => format!(
                "atomic_compare_exchange_{word}_explicit(&{name}, &e_, {desired}, {success}, {failure})"
            ),
            Spelling::Cpp => {
                format!("{name}.compare_exchange_{word}(e_, {desired}, {success}, {failure})")
            }
            Spelling::Builtins => format!(
                "__atomic_compare_exchange_n(&{name}, &e_, {desired}, {}, {success}, {failure})",
                u8::from(weak)
            ),
        }
    }

    fn order(&self, name: &str) -> String {
        match self.spelling {
            Spelling::C11 => format!("memory_order_{name}"),
            Spelling::Cpp => format!("std::memory_order_{name}"),
            Spelling::Builtins => format!("__ATOMIC_{}", name.to_uppercase()),
        }
    }

    fn is_atomic(&self, place: usize) -> bool {
        self.program.instructions().any(|i| {
            i.atomic_location()
                .is_some_and(|l| usize::from(l.0) == place)
        })
    }

    pub(super) fn location(&self, location: Location) -> String {
        format!("{}_", self.program.locations[usize::from(location.0)])
    }

    /// A pointer for plain accesses, also to what is an atomic object elsewhere.
    fn plain(&self, location: Location) -> String {
        format!("(volatile int *)&{}", self.location(location))
    }

    fn register(&self, register: Register) -> &str {
        &self.program.registers[usize::from(register.0)]
    }

    fn result(&self, thread: usize, register: Register) -> String {
        format!("out{}_{}", thread + 1, self.register(register))
    }

    /// The registers that a thread sets.
    fn results(&self, thread: usize) -> Vec<Register> {
        let set = self.program.threads[thread].iter();
        sorted(set.filter_map(Instruction::result).collect())
    }

    /// The registers that a thread sets or asks.
    fn registers(&self, thread: usize) -> Vec<Register> {
        let mut registers = self.results(thread);
        for instruction in &self.program.threads[thread] {
            if let Instruction::SkipIf { register, .. } | Instruction::SkipUnless { register, .. } =
                *instruction
            {
                registers.push(register);
            }
        }
        sorted(registers)
    }
}

fn sorted(mut registers: Vec<Register>) -> Vec<Register> {
    registers.sort();
    registers.dedup();
    registers
}

fn skip_target(place: usize, instruction: &Instruction, end: usize) -> Option<usize> {
    match *instruction {
        Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } => {
            Some((place + 1 + usize::from(count)).min(end))
        }
        _ => None,
    }
}
