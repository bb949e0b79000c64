//! Waits against a value that the text does not name: it comes from a variable
//! that is set before any thread starts.

use std::fmt::Write;

use super::emit::{Emitter, WaitForm};
use super::names::{load_name, sign};
use super::program::Instruction;

impl Emitter<'_> {
    /// The values that are waited for, thread by thread, and the functions that wait.
    pub(super) fn values_and_helpers(&self, out: &mut String) -> std::fmt::Result {
        if self.waiting == WaitForm::Literal {
            return Ok(());
        }
        for (number, thread) in self.program.threads.iter().enumerate() {
            let values = thread.iter().map(|instruction| match instruction {
                Instruction::Wait { exit, .. } => exit.operand,
                _ => 0,
            });
            let values: Vec<String> = values.map(|value| value.to_string()).collect();
            let (number, values) = (number + 1, values.join(", "));
            writeln!(out, "int wants{number}[] = {{ {values} }};")?;
        }
        if self.waiting != WaitForm::Helper {
            return Ok(());
        }
        let mut written = Vec::new();
        for instruction in self.program.instructions() {
            if let Some((name, condition)) = self.helper(instruction)
                && !written.contains(&name)
            {
                writeln!(
                    out,
                    "static void {name}(int want_)\n{{\n    while (!({condition}))\n        sched_yield();\n}}\n"
                )?;
                written.push(name);
            }
        }
        Ok(())
    }

    /// An instruction, a wait in the way that was asked for.
    pub(super) fn instruction_or_wait(
        &self,
        out: &mut String,
        thread: usize,
        place: usize,
    ) -> std::fmt::Result {
        let instructions = &self.program.threads[thread];
        let instruction = &instructions[place];
        let Some((name, condition)) = self.helper(instruction) else {
            return self.instruction(out, place, instruction, instructions.len());
        };
        let wants = format!("wants{}", thread + 1);
        match self.waiting {
            WaitForm::Helper => writeln!(out, "    {name}({wants}[{place}]);"),
            WaitForm::Rolled => {
                let alike = |other: &&Instruction| {
                    self.helper(other).is_some_and(|(other, _)| other == name)
                };
                if place > 0 && alike(&&instructions[place - 1]) {
                    return Ok(());
                }
                let end = place + instructions[place..].iter().take_while(alike).count();
                writeln!(
                    out,
                    "    for (int i_ = {place}; i_ < {end}; i_++) {{\n        int want_ = {wants}[i_];\n        while (!({condition}))\n            sched_yield();\n    }}"
                )
            }
            WaitForm::Literal | WaitForm::Variable => writeln!(
                out,
                "    {{ int want_ = {wants}[{place}];\n      while (!({condition})) sched_yield(); }}"
            ),
        }
    }

    /// The name of a function that does such a wait, and its condition.
    fn helper(&self, instruction: &Instruction) -> Option<(String, String)> {
        let Instruction::Wait {
            location,
            exit,
            order,
        } = *instruction
        else {
            return None;
        };
        let comparison = format!("{:?}", exit.comparison).to_lowercase();
        let name = self.location(location);
        Some((
            format!("wait_{comparison}_{}_{name}", load_name(order)),
            format!(
                "{} {} want_",
                self.load(location, order),
                sign(exit.comparison)
            ),
        ))
    }
}
