//! From the steps of a violation to a litmus test.

use std::collections::BTreeMap;

use crate::report::dossier::{FindingDetail, Mark, ReportedStep, StepOperation};
use crate::report::model::{StaleKind, Value, Violation};

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LitmusTest {
    /// Its name.
    pub name: String,
    /// Variables with their first values.
    pub variables: Vec<(String, u64)>,
    /// What each thread does.
    pub threads: Vec<Vec<Instruction>>,
    /// Registers and variables with the values that they can have together: thread
    /// and register, or variable.
    pub outcome: Vec<(Observed, u64)>,
}

/// Something that an outcome speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// A register of a thread.
    Register(usize, usize),
    /// The value of a variable in the end.
    Variable(String),
}

/// An instruction; registers are numbered in each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Reads a variable into a register.
    Load {
        /// The register.
        register: usize,
        /// The variable.
        variable: String,
        /// Its order.
        order: String,
    },
    /// Writes a variable.
    Store {
        /// The variable.
        variable: String,
        /// What is written.
        value: u64,
        /// Its order.
        order: String,
    },
    /// Reads a variable into a register and writes it.
    Exchange {
        /// The register.
        register: usize,
        /// The variable.
        variable: String,
        /// What is written.
        value: u64,
        /// Its order.
        order: String,
    },
    /// A fence.
    Fence {
        /// Its order.
        order: String,
    },
}

/// Why a finding has no litmus test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotLitmus {
    /// It rests on locks, or on threads that start or end in between.
    Synchronisation,
    /// It rests on a compare-exchange that fails.
    FailedExchange,
    /// An order or a value is not known.
    Unknown,
    /// Values do not tell the writes apart.
    SameValues,
}

impl NotLitmus {
    /// The reason in words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Synchronisation => {
                "it rests on locks, or on threads that start or end on the way"
            }
            Self::FailedExchange => "it rests on a compare-exchange that fails",
            Self::Unknown => "an order or a value of the run is not known",
            Self::SameValues => "the stale value is the value that was read",
        }
    }
}

/// The litmus test of a violation.
pub(crate) fn litmus(
    violation: &Violation,
    detail: &FindingDetail,
) -> Result<LitmusTest, NotLitmus> {
    if violation.same_value && violation.kind != StaleKind::Write {
        return Err(NotLitmus::SameValues);
    }
    let mut draft = Draft::default();
    let mut started = false;
    for step in &detail.steps {
        match &step.operation {
            StepOperation::ThreadStart => started = true,
            StepOperation::ThreadEnd => {}
            // What is done before any thread starts is the beginning.
            StepOperation::Store { object, value } if !started && step.thread == 0 => {
                draft.first.insert(object.clone(), *value);
            }
            _ => draft.step(step, violation)?,
        }
    }
    draft.finish(violation)
}

#[derive(Default)]
struct Draft {
    first: BTreeMap<String, u64>,
    written: BTreeMap<String, Vec<u64>>,
    variables: Vec<String>,
    threads: BTreeMap<u32, (usize, Vec<Instruction>)>,
    outcome: Vec<(u32, usize, u64)>,
    newest: Option<(String, u64)>,
}

impl Draft {
    fn step(&mut self, step: &ReportedStep, violation: &Violation) -> Result<(), NotLitmus> {
        let order = || match step.place.order.as_str() {
            "" => Err(NotLitmus::Unknown),
            order => Ok(order.to_owned()),
        };
        let is_access = step.mark == Some(Mark::Access);
        if let (Some(Mark::Newer), Some((object, value))) = (step.mark, written(&step.operation)) {
            self.newest = Some((object.to_owned(), value));
        }
        let stale = match violation.stale_values.first() {
            Some(Value::Number(value)) => Some(*value),
            Some(Value::Digits(_)) | None => None,
        };
        let observed = |value: u64| match is_access {
            true => stale.ok_or(NotLitmus::Unknown),
            false => Ok(value),
        };
        let instruction = match &step.operation {
            StepOperation::Load { object, value } => {
                let register = self.read(step.thread, object, *value, observed(*value)?);
                Instruction::Load {
                    register,
                    variable: object.clone(),
                    order: order()?,
                }
            }
            StepOperation::Store { object, value } => {
                self.write(object, *value);
                Instruction::Store {
                    variable: object.clone(),
                    value: *value,
                    order: order()?,
                }
            }
            StepOperation::Rmw {
                object,
                read,
                written,
            } => {
                let register = self.read(step.thread, object, *read, observed(*read)?);
                self.write(object, *written);
                Instruction::Exchange {
                    register,
                    variable: object.clone(),
                    value: *written,
                    order: order()?,
                }
            }
            StepOperation::Fence { order } => Instruction::Fence {
                order: order.clone(),
            },
            StepOperation::FailedExchange => return Err(NotLitmus::FailedExchange),
            StepOperation::Lock => return Err(NotLitmus::Synchronisation),
            StepOperation::Unknown => return Err(NotLitmus::Unknown),
            StepOperation::ThreadStart | StepOperation::ThreadEnd | StepOperation::Plain => {
                return Ok(());
            }
        };
        self.threads
            .entry(step.thread)
            .or_default()
            .1
            .push(instruction);
        Ok(())
    }

    /// A read: gives its register. What is read before anything was written was
    /// there from the beginning.
    fn read(&mut self, thread: u32, object: &str, value: u64, observed: u64) -> usize {
        self.mention(object);
        if !self.written.contains_key(object) {
            self.first.entry(object.to_owned()).or_insert(value);
        }
        let (registers, _) = self.threads.entry(thread).or_default();
        *registers += 1;
        let register = *registers - 1;
        self.outcome.push((thread, register, observed));
        register
    }

    fn write(&mut self, object: &str, value: u64) {
        self.mention(object);
        self.written
            .entry(object.to_owned())
            .or_default()
            .push(value);
    }

    fn mention(&mut self, object: &str) {
        if !self.variables.iter().any(|known| known == object) {
            self.variables.push(object.to_owned());
        }
    }

    fn finish(self, violation: &Violation) -> Result<LitmusTest, NotLitmus> {
        let position = |thread: u32| self.threads.keys().position(|&one| one == thread);
        let mut outcome = Vec::new();
        for &(thread, register, value) in &self.outcome {
            let thread = position(thread).ok_or(NotLitmus::Unknown)?;
            outcome.push((Observed::Register(thread, register), value));
        }
        // Where several writes met, what stays in the end tells their order.
        let mut last: BTreeMap<&str, u64> = (self.written.iter())
            .filter(|(_, values)| values.len() > 1)
            .filter_map(|(object, values)| Some((object.as_str(), *values.last()?)))
            .collect();
        if violation.kind != StaleKind::Read {
            // The access landed first, so the newer write's value stays.
            let (object, value) = self.newest.as_ref().ok_or(NotLitmus::Unknown)?;
            last.insert(object, *value);
        }
        let last = last.into_iter();
        outcome.extend(last.map(|(object, value)| (Observed::Variable(object.to_owned()), value)));
        let variables = self.variables.iter().map(|name| {
            let first = self.first.get(name).copied().unwrap_or(0);
            (name.clone(), first)
        });
        Ok(LitmusTest {
            name: violation.id.clone(),
            variables: variables.collect(),
            threads: self
                .threads
                .values()
                .map(|(_, code)| code.clone())
                .collect(),
            outcome,
        })
    }
}

fn written(operation: &StepOperation) -> Option<(&str, u64)> {
    match operation {
        StepOperation::Store { object, value } => Some((object, *value)),
        StepOperation::Rmw {
            object, written, ..
        } => Some((object, *written)),
        _ => None,
    }
}
