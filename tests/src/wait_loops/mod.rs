//! Random loops that may be waits, with the truth about each: the values that end it
//! by C's own rules, and whether its failing rounds do anything that is noticed later.
//! The truth is worked out here anew; nothing of the tool's own rules is used.

mod condition;
mod source;

pub use condition::{Condition, ObjectType};
pub use source::{LoopForm, Round, source};

use crate::rng::Rng;

/// A loop, and a test around it in which another thread writes two values.
#[derive(Clone, Debug)]
pub struct WaitLoop {
    /// What is loaded and compared.
    pub condition: Condition,
    /// How the loop is written.
    pub form: LoopForm,
    /// What a round does.
    pub round: Round,
    /// The value before anything is written: the loop goes on with it.
    pub first: i128,
    /// The value that is written first.
    pub second: i128,
    /// The value that is written last: it ends the loop.
    pub last: i128,
}

impl WaitLoop {
    /// A random one.
    pub fn random(rng: &mut Rng, is_cpp: bool) -> Self {
        loop {
            let condition = Condition::random(rng);
            let values = condition.object.values();
            let ends = |ending: bool| -> Vec<i128> {
                let values = values.iter().copied();
                values
                    .filter(|&v| condition.ends(v) == Some(ending))
                    .collect()
            };
            let (ending, staying) = (ends(true), ends(false));
            if ending.is_empty() || staying.is_empty() {
                continue;
            }
            let second = match rng.percent(50) || staying.len() < 2 {
                true => rng.pick(&ending),
                false => rng.pick(&staying),
            };
            return Self {
                condition,
                form: rng.pick(&LoopForm::ALL),
                round: Round::random(rng, is_cpp),
                first: rng.pick(&staying),
                second,
                last: rng.pick(&ending),
            };
        }
    }

    /// Whether some schedule ends the program by `abort`.
    ///
    /// Between the two writes another object is set, and who has left the loop looks
    /// whether it is. Who has waited looks whether a round was counted.
    pub fn can_fail(&self) -> bool {
        self.condition.ends(self.second) == Some(true) || self.round.counts()
    }
}
