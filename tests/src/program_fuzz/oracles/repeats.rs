//! The same command says the same again, also where the machine is busy with something
//! else.

use serde_json::Value;

use super::{Contradiction, contradiction};
use crate::program_fuzz::lab::{Lab, Way};

pub(super) fn judge(lab: &Lab, ways: &[Way]) -> Option<Contradiction> {
    if !ways.contains(&Way::PrioritiesAgain) {
        return None;
    }
    let [one, other] = [Way::Priorities, Way::PrioritiesAgain].map(|way| lab.see(way));
    let reports = [&one, &other].map(|seen| seen.report.clone().map(without_time));
    if reports[0] == reports[1] {
        return None;
    }
    let text = |report: &Option<Value>| format!("{report:#?}");
    let (first, second) = (text(&reports[0]), text(&reports[1]));
    let differs = first
        .lines()
        .zip(second.lines())
        .find(|(one, other)| one != other);
    contradiction(
        &other,
        format!("said something else the second time: {differs:?}"),
    )
}

fn without_time(mut report: Value) -> Value {
    report["runs"]["seconds"] = Value::Null;
    report
}
