//! Programs as text, in the notation that `notation` reads.

use std::fmt;

use wmfix_analysis::CasStrength;

use super::names::{fence_name, load_name, rmw_name, sign, store_name};
use super::program::{Instruction, Program};

impl Program {
    /// One instruction in the notation.
    pub fn spell(&self, instruction: &Instruction) -> String {
        use Instruction as I;
        let l = |location: super::Location| &self.locations[usize::from(location.0)];
        let r = |register: super::Register| &self.registers[usize::from(register.0)];
        let m = |mutex: super::Mutex| &self.mutexes[usize::from(mutex.0)];
        match *instruction {
            I::Store {
                location,
                value,
                order,
            } => format!("{}={value}.{}", l(location), store_name(order)),
            I::Load {
                register,
                location,
                order,
            } => format!("{}={}.{}", r(register), l(location), load_name(order)),
            I::FetchAdd {
                register,
                location,
                value,
                order,
            } => format!(
                "{}=fadd({},{value}).{}",
                r(register),
                l(location),
                rmw_name(order)
            ),
            I::Exchange {
                register,
                location,
                value,
                order,
            } => format!(
                "{}=xchg({},{value}).{}",
                r(register),
                l(location),
                rmw_name(order)
            ),
            I::CompareExchange {
                register,
                location,
                expected,
                desired,
                success,
                failure,
                strength,
            } => format!(
                "{}={}({},{expected},{desired}).{}.{}",
                r(register),
                match strength {
                    CasStrength::Strong => "cas",
                    CasStrength::Weak => "wcas",
                },
                l(location),
                rmw_name(success),
                load_name(failure)
            ),
            I::BlockingCompareExchange {
                location,
                expected,
                desired,
                success,
                failure,
            } => format!(
                "bcas({},{expected},{desired}).{}.{}",
                l(location),
                rmw_name(success),
                load_name(failure)
            ),
            I::Wait {
                location,
                exit,
                order,
            } => format!(
                "wait({}{}{}).{}",
                l(location),
                sign(exit.comparison),
                exit.operand,
                load_name(order)
            ),
            I::Fence { order } => format!("F.{}", fence_name(order)),
            I::SkipIf {
                register,
                value,
                count,
            } => format!("skipif {} {value} {count}", r(register)),
            I::SkipUnless {
                register,
                value,
                count,
            } => format!("skipunless {} {value} {count}", r(register)),
            I::Read { location } => format!("read {}", l(location)),
            I::Write { location, value } => format!("write {} {value}", l(location)),
            I::Create { thread } => format!("create T{}", thread + 1),
            I::Join { thread } => format!("join T{}", thread + 1),
            I::Lock { mutex } => format!("lock {}", m(mutex)),
            I::Unlock { mutex } => format!("unlock {}", m(mutex)),
        }
    }

    /// A thread in the notation.
    pub fn spell_thread(&self, thread: usize) -> String {
        let parts: Vec<String> = self.threads[thread].iter().map(|i| self.spell(i)).collect();
        parts.join("; ")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.name)?;
        for thread in 0..self.threads.len() {
            writeln!(f, "  T{}: {}", thread + 1, self.spell_thread(thread))?;
        }
        Ok(())
    }
}
