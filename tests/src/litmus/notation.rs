//! The text notation of litmus programs. One string a thread,
//! instructions separated by `;`:
//!
//! ```text
//! x=1.rel                     store
//! a=x.acq                     load
//! a=fadd(x,1).acqrel          fetch_add; xchg(x,1) likewise
//! a=cas(x,0,1).acqrel.rlx     strong compare-exchange; wcas is the weak one.
//!                             Without a failure order: the read half of the other
//! bcas(x,0,1).acq             compare-exchange retried until it succeeds
//! wait(x==1).acq              load repeated until the condition holds (== != < <= > >=)
//! F.sc                        fence
//! skipif a 0 2                if a is 0 skip two instructions; also skipunless
//! read p    write p 1         plain accesses
//! create T2    join T2        threads
//! lock m    unlock m          mutexes
//! ```

use wmfix_analysis::{CasStrength, LoadOrder, LoopExit};

use super::names::{COMPARISONS, fence_order, load_order, rmw_order, store_order};
use super::program::{Builder, Instruction, Program};

/// An instruction that is not in the notation.
#[derive(Debug, thiserror::Error)]
#[error("not an instruction: `{0}`")]
pub struct NotationError(pub String);

/// Reads a program, one string a thread.
pub fn program(name: &str, threads: &[&str]) -> Result<Program, NotationError> {
    let mut builder = Builder::default();
    for text in threads {
        builder.thread();
        for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let instruction =
                instruction(&mut builder, part).ok_or_else(|| NotationError(part.to_owned()))?;
            builder.push(instruction);
        }
    }
    Ok(builder.finish(name))
}

fn instruction(builder: &mut Builder, text: &str) -> Option<Instruction> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 1 {
        return spoken(builder, &words);
    }
    if let Some(order) = text.strip_prefix("F.") {
        return Some(Instruction::Fence {
            order: fence_order(order)?,
        });
    }
    if let Some(rest) = text.strip_prefix("wait(") {
        let (condition, order) = rest.split_once(").")?;
        let (location, exit) = condition_of(condition)?;
        return Some(Instruction::Wait {
            location: builder.location(location),
            exit,
            order: load_order(order)?,
        });
    }
    if text.starts_with("bcas(") {
        let call = Call::read(text)?;
        return Some(Instruction::BlockingCompareExchange {
            location: builder.location(call.location),
            expected: *call.values.first()?,
            desired: *call.values.get(1)?,
            success: rmw_order(call.order)?,
            failure: call.failure()?,
        });
    }
    let (left, right) = text.split_once('=')?;
    if !right.contains('(') {
        let (what, order) = right.split_once('.')?;
        return Some(match what.parse() {
            Ok(value) => Instruction::Store {
                location: builder.location(left),
                value,
                order: store_order(order)?,
            },
            Err(_) => Instruction::Load {
                register: builder.register(left),
                location: builder.location(what),
                order: load_order(order)?,
            },
        });
    }
    let call = Call::read(right)?;
    let register = builder.register(left);
    let location = builder.location(call.location);
    let order = rmw_order(call.order)?;
    let value = *call.values.first()?;
    Some(match call.name {
        "fadd" => Instruction::FetchAdd {
            register,
            location,
            value,
            order,
        },
        "xchg" => Instruction::Exchange {
            register,
            location,
            value,
            order,
        },
        "cas" | "wcas" => Instruction::CompareExchange {
            register,
            location,
            expected: value,
            desired: *call.values.get(1)?,
            success: order,
            failure: call.failure()?,
            strength: if call.name == "cas" {
                CasStrength::Strong
            } else {
                CasStrength::Weak
            },
        },
        _ => return None,
    })
}

/// The instructions that are written as words.
fn spoken(builder: &mut Builder, words: &[&str]) -> Option<Instruction> {
    let thread =
        |name: &str| -> Option<u8> { name.strip_prefix('T')?.parse::<u8>().ok()?.checked_sub(1) };
    Some(match *words {
        ["skipif", register, value, count] => Instruction::SkipIf {
            register: builder.register(register),
            value: value.parse().ok()?,
            count: count.parse().ok()?,
        },
        ["skipunless", register, value, count] => Instruction::SkipUnless {
            register: builder.register(register),
            value: value.parse().ok()?,
            count: count.parse().ok()?,
        },
        ["read", location] => Instruction::Read {
            location: builder.location(location),
        },
        ["write", location, value] => Instruction::Write {
            location: builder.location(location),
            value: value.parse().ok()?,
        },
        ["create", name] => Instruction::Create {
            thread: thread(name)?,
        },
        ["join", name] => Instruction::Join {
            thread: thread(name)?,
        },
        ["lock", name] => Instruction::Lock {
            mutex: builder.mutex(name),
        },
        ["unlock", name] => Instruction::Unlock {
            mutex: builder.mutex(name),
        },
        _ => return None,
    })
}

/// `name(location,value,…).order[.failure]`
struct Call<'a> {
    name: &'a str,
    location: &'a str,
    values: Vec<u64>,
    order: &'a str,
    failure: Option<&'a str>,
}

impl<'a> Call<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?;
        let (arguments, orders) = rest.split_once(").")?;
        let mut arguments = arguments.split(',').map(str::trim);
        let location = arguments.next()?;
        let values = arguments.map(|a| a.parse().ok()).collect::<Option<_>>()?;
        let (order, failure) = match orders.split_once('.') {
            Some((order, failure)) => (order, Some(failure)),
            None => (orders, None),
        };
        Some(Self {
            name,
            location,
            values,
            order,
            failure,
        })
    }

    fn failure(&self) -> Option<LoadOrder> {
        match self.failure {
            Some(order) => load_order(order),
            None => Some(rmw_order(self.order)?.read_half()),
        }
    }
}

fn condition_of(text: &str) -> Option<(&str, LoopExit)> {
    for (sign, comparison) in COMPARISONS {
        if let Some((location, operand)) = text.split_once(sign) {
            let exit = LoopExit {
                comparison,
                ..LoopExit::equal(operand.trim().parse().ok()?)
            };
            return Some((location.trim(), exit));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{Rng, corpus, varied, with_plain};
    use super::*;

    fn reread(p: &Program) -> Program {
        let threads: Vec<String> = (0..p.threads.len()).map(|t| p.spell_thread(t)).collect();
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        program(&p.name, &threads).expect("what was spelled can be read")
    }

    #[test]
    fn spelling_and_reading_are_inverse() {
        let mut rng = Rng::new(1);
        let mut programs: Vec<Program> = corpus().unwrap().into_iter().map(|e| e.program).collect();
        programs.extend((0..300).map(|_| varied(&mut rng)));
        programs.extend((0..300).map(|_| with_plain(&mut rng)));
        for p in programs {
            assert_eq!(reread(&p).to_string(), p.to_string());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "x=1",
            "x=1.acq",
            "a=x.rel",
            "F.rlx",
            "a=foo(x,1).rlx",
            "wait(x).acq",
            "create 2",
            "read",
        ] {
            assert!(program("p", &[text]).is_err(), "{text}");
        }
    }
}
