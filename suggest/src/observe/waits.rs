//! What the text says about waiting, as the analysis takes it: the exit
//! condition of a spin loop, and compare-exchanges that only wait. What the
//! text leaves open is left out, and the access is then checked as any other.

use wmfix_analysis as analysis;
use wmfix_frontend::{Comparison, Joint, LoopExit, LoopRole, Operand};

/// The part a site plays in a loop that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitRole {
    /// The loop is left on this condition on the value read.
    pub exit: Option<TextExit>,
    /// The same, but what the value is compared with only the run tells.
    pub open: Option<OpenExit>,
    /// A compare-exchange that only waits for its expected value.
    pub blocking: bool,
}

/// An exit condition whose operand the text does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenExit {
    mask: Option<i128>,
    /// The loop is left when the value is the operand; else when it is not.
    pub equal: bool,
    /// No other condition has a say in when the loop is left.
    pub sole: bool,
}

/// An exit condition before the width of the object is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextExit {
    mask: Option<i128>,
    comparison: analysis::Comparison,
    operand: i128,
}

impl WaitRole {
    /// The part that the text says.
    pub(crate) fn of(role: &LoopRole) -> Self {
        match role {
            LoopRole::Spin(exit) => Self {
                exit: TextExit::of(exit),
                open: OpenExit::of(exit),
                blocking: false,
            },
            LoopRole::BlockingCas(exit) => Self {
                blocking: exit.joint != Joint::Any,
                ..Self::default()
            },
            LoopRole::None | LoopRole::CasLoop => Self::default(),
        }
    }
}

impl OpenExit {
    fn of(exit: &LoopExit) -> Option<Self> {
        let mask = match exit.mask {
            None => None,
            Some(Operand::Constant(mask)) => Some(mask),
            Some(Operand::Unknown(_)) => return None,
        };
        let equal = match exit.comparison {
            Comparison::Equal => true,
            Comparison::NotEqual => false,
            _ => return None,
        };
        let sole = exit.joint == Joint::Sole;
        // A loop that gives up is left with any value; a round that stays in the
        // loop for another condition's sake says nothing about this one.
        let tells = !exit.bounded && exit.joint != Joint::Any && (equal || sole);
        let open = matches!(exit.operand, Operand::Unknown(_)) && tells;
        open.then_some(Self { mask, equal, sole })
    }

    /// The condition on an object of `size` bytes, once the operand is known.
    pub(crate) fn closed(self, operand: u64, size: u8) -> analysis::LoopExit {
        let exit = TextExit {
            mask: self.mask,
            comparison: match self.equal {
                true => analysis::Comparison::Equal,
                false => analysis::Comparison::NotEqual,
            },
            operand: operand.into(),
        };
        let mut exit = exit.at_width(size);
        exit.operand &= exit.mask;
        exit
    }
}

impl TextExit {
    fn of(exit: &LoopExit) -> Option<Self> {
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
            comparison: match exit.comparison {
                Comparison::Equal => analysis::Comparison::Equal,
                Comparison::NotEqual => analysis::Comparison::NotEqual,
                Comparison::Less => analysis::Comparison::Less,
                Comparison::LessOrEqual => analysis::Comparison::LessOrEqual,
                Comparison::Greater => analysis::Comparison::Greater,
                Comparison::GreaterOrEqual => analysis::Comparison::GreaterOrEqual,
            },
            operand: constant(&exit.operand)?,
        })
    }

    /// The condition on an object of `size` bytes. Whether the source compares
    /// as signed numbers the text does not tell; for a comparison by size it is
    /// taken to, as `int` is what people count with.
    pub(crate) fn at_width(self, size: u8) -> analysis::LoopExit {
        let bits = 8 * size.clamp(1, 8);
        let all = u64::MAX >> (64 - u32::from(bits));
        let by_size = !matches!(
            self.comparison,
            analysis::Comparison::Equal | analysis::Comparison::NotEqual
        );
        analysis::LoopExit {
            mask: self.mask.map_or(all, |mask| mask as u64 & all),
            comparison: self.comparison,
            operand: self.operand as u64 & all,
            signed: (by_size && self.mask.is_none()).then_some(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(comparison: Comparison, operand: i128) -> analysis::LoopExit {
        let role = LoopRole::Spin(LoopExit {
            mask: None,
            comparison,
            operand: Operand::Constant(operand),
            bounded: true,
            joint: Joint::Sole,
        });
        WaitRole::of(&role).exit.unwrap().at_width(4)
    }

    #[test]
    fn negative_operands_fit_the_width() {
        assert!(exit(Comparison::Equal, -1).leaves(0xffff_ffff));
        assert!(!exit(Comparison::NotEqual, -1).leaves(0xffff_ffff));
        assert!(exit(Comparison::Less, 0).leaves(0xffff_fff0));
        assert!(!exit(Comparison::Less, 0).leaves(3));
    }

    #[test]
    fn what_the_text_leaves_open_is_no_condition_yet() {
        let waits = |comparison, bounded, joint| {
            WaitRole::of(&LoopRole::Spin(LoopExit {
                mask: None,
                comparison,
                operand: Operand::Unknown("ticket".to_owned()),
                bounded,
                joint,
            }))
        };
        let open = waits(Comparison::Equal, false, Joint::Sole);
        assert_eq!(open.exit, None);
        let exit = open.open.unwrap().closed(0xffff_ffff_0000_0007, 4);
        assert!(exit.leaves(7) && !exit.leaves(8));
        for waits in [
            waits(Comparison::Less, false, Joint::Sole),
            waits(Comparison::Equal, true, Joint::Sole),
            waits(Comparison::Equal, false, Joint::Any),
            waits(Comparison::NotEqual, false, Joint::All),
        ] {
            assert_eq!(waits, WaitRole::default());
        }
    }
}
