//! What the text says about waiting, as the analysis takes it: the exit
//! condition of a spin loop, and compare-exchanges that only wait. What the
//! text leaves open is left out, and the access is then checked as any other.

use wmfix_analysis as analysis;
use wmfix_frontend::{Comparison, Joint, LoopExit, LoopRole, Operand};
use wmfix_online::{OpenExit, TextExit, WaitRole};

/// The part that the text says a site plays in a loop that waits.
pub(super) fn wait_role(role: &LoopRole) -> WaitRole {
    match role {
        LoopRole::Spin(exit) => WaitRole {
            exit: text_exit(exit),
            open: open_exit(exit),
            blocking: false,
        },
        LoopRole::BlockingCas(exit) => WaitRole {
            blocking: exit.joint != Joint::Any,
            ..WaitRole::default()
        },
        LoopRole::None | LoopRole::CasLoop => WaitRole::default(),
    }
}

fn open_exit(exit: &LoopExit) -> Option<OpenExit> {
    let mask = match exit.mask {
        None => None,
        Some(Operand::Constant(mask)) => Some(mask),
        Some(Operand::Unknown(_)) => return None,
    };
    let comparison = analysed(exit.comparison);
    let sole = exit.joint == Joint::Sole;
    let open = OpenExit {
        mask,
        comparison,
        sole,
    };
    // A round that stays in the loop for another condition's sake says nothing about
    // this one.
    let told_by_leaving = !open.is_told_by_staying();
    let tells = exit.joint != Joint::Any && (told_by_leaving || sole);
    let is_open = matches!(exit.operand, Operand::Unknown(_)) && tells;
    is_open.then_some(open)
}

fn analysed(comparison: Comparison) -> analysis::Comparison {
    match comparison {
        Comparison::Equal => analysis::Comparison::Equal,
        Comparison::NotEqual => analysis::Comparison::NotEqual,
        Comparison::Less => analysis::Comparison::Less,
        Comparison::LessOrEqual => analysis::Comparison::LessOrEqual,
        Comparison::Greater => analysis::Comparison::Greater,
        Comparison::GreaterOrEqual => analysis::Comparison::GreaterOrEqual,
    }
}

fn text_exit(exit: &LoopExit) -> Option<TextExit> {
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
    Some(TextExit {
        mask,
        comparison: analysed(exit.comparison),
        operand: constant(&exit.operand)?,
        signed: exit.signed,
        size: exit.size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(comparison: Comparison, operand: Operand, joint: Joint) -> WaitRole {
        wait_role(&LoopRole::Spin(LoopExit {
            mask: None,
            comparison,
            operand,
            signed: true,
            size: Some(4),
            joint,
        }))
    }

    fn exit(comparison: Comparison, operand: i128) -> analysis::LoopExit {
        let role = spin(comparison, Operand::Constant(operand), Joint::Sole);
        role.exit.unwrap().at_width(4).unwrap()
    }

    #[test]
    fn negative_operands_fit_the_width() {
        assert!(exit(Comparison::Equal, -1).leaves(0xffff_ffff));
        assert!(!exit(Comparison::NotEqual, -1).leaves(0xffff_ffff));
        assert!(exit(Comparison::Less, 0).leaves(0xffff_fff0));
        assert!(!exit(Comparison::Less, 0).leaves(3));
    }

    #[test]
    fn a_condition_is_none_of_an_object_of_another_size() {
        let role = spin(Comparison::Less, Operand::Constant(0), Joint::Sole);
        assert_eq!(role.exit.unwrap().at_width(8), None);
    }

    #[test]
    fn a_write_waits_only_where_it_changes_nothing() {
        let role = spin(Comparison::Equal, Operand::Constant(0), Joint::Sole);
        let exit = role.exit.unwrap().of_write(1, 4).unwrap();
        assert!(!exit.leaves(1) && exit.leaves(0) && exit.leaves(2));
        assert_eq!(role.exit.unwrap().of_write(0, 4), None);
    }

    #[test]
    fn what_the_text_leaves_open_is_no_condition_yet() {
        let unknown = || Operand::Unknown("ticket".to_owned());
        let open = spin(Comparison::Equal, unknown(), Joint::Sole);
        assert_eq!(open.exit, None);
        let exit = open.open.unwrap().closed(0xffff_ffff_0000_0007, 4);
        assert!(exit.leaves(7) && !exit.leaves(8));
        for waits in [
            spin(Comparison::Equal, unknown(), Joint::Any),
            spin(Comparison::NotEqual, unknown(), Joint::All),
        ] {
            assert_eq!(waits, WaitRole::default());
        }
    }
}
