//! What the text says about waiting, as the analysis takes it: the exit
//! condition of a spin loop, and compare-exchanges that only wait. What the
//! text leaves open is left out, and the access is then checked as any other.

use wmfix_analysis as analysis;
use wmfix_frontend::{Exit, Joint, LoopRole, Operand, Relation};

/// The part a site plays in a loop that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The loop is left on this condition on the value read.
    pub exit: Option<TextExit>,
    /// A compare-exchange that only waits for its expected value.
    pub blocking: bool,
}

/// An exit condition before the width of the object is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextExit {
    mask: Option<i128>,
    relation: analysis::Relation,
    operand: i128,
}

impl Waits {
    /// The part that the text says.
    pub fn of(role: &LoopRole) -> Self {
        match role {
            LoopRole::Spin(exit) => Self {
                exit: TextExit::of(exit),
                blocking: false,
            },
            LoopRole::BlockingCas(exit) => Self {
                exit: None,
                blocking: exit.joint != Joint::Any,
            },
            LoopRole::None | LoopRole::CasLoop => Self::default(),
        }
    }
}

impl TextExit {
    fn of(exit: &Exit) -> Option<Self> {
        // A loop that another condition can end is left with any value read here.
        if exit.joint == Joint::Any {
            return None;
        }
        let constant = |operand: &Operand| match operand {
            Operand::Constant(value) => Some(*value),
            Operand::Unknown(_) => None,
        };
        let mask = match &exit.mask {
            Some(mask) => Some(constant(mask)?),
            None => None,
        };
        Some(Self {
            mask,
            relation: match exit.relation {
                Relation::Equal => analysis::Relation::Equal,
                Relation::NotEqual => analysis::Relation::NotEqual,
                Relation::Less => analysis::Relation::Less,
                Relation::LessOrEqual => analysis::Relation::LessOrEqual,
                Relation::Greater => analysis::Relation::Greater,
                Relation::GreaterOrEqual => analysis::Relation::GreaterOrEqual,
            },
            operand: constant(&exit.operand)?,
        })
    }

    /// The condition on an object of `size` bytes. Whether the source compares
    /// as signed numbers the text does not tell; for a comparison by size it is
    /// taken to, as `int` is what people count with.
    pub fn at_width(self, size: u8) -> analysis::Exit {
        let bits = 8 * size.clamp(1, 8);
        let all = u64::MAX >> (64 - u32::from(bits));
        let by_size = !matches!(
            self.relation,
            analysis::Relation::Equal | analysis::Relation::NotEqual
        );
        analysis::Exit {
            mask: self.mask.map_or(all, |mask| mask as u64 & all),
            relation: self.relation,
            operand: self.operand as u64 & all,
            signed: (by_size && self.mask.is_none()).then_some(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(relation: Relation, operand: i128) -> analysis::Exit {
        let role = LoopRole::Spin(Exit {
            mask: None,
            relation,
            operand: Operand::Constant(operand),
            bounded: true,
            joint: Joint::Sole,
        });
        Waits::of(&role).exit.unwrap().at_width(4)
    }

    #[test]
    fn negative_operands_fit_the_width() {
        assert!(exit(Relation::Equal, -1).leaves(0xffff_ffff));
        assert!(!exit(Relation::NotEqual, -1).leaves(0xffff_ffff));
        assert!(exit(Relation::Less, 0).leaves(0xffff_fff0));
        assert!(!exit(Relation::Less, 0).leaves(3));
    }

    #[test]
    fn what_the_text_leaves_open_is_no_condition() {
        let role = LoopRole::Spin(Exit {
            mask: None,
            relation: Relation::Equal,
            operand: Operand::Unknown("ticket".to_owned()),
            bounded: false,
            joint: Joint::Sole,
        });
        assert_eq!(Waits::of(&role), Waits::default());
    }
}
