//! As large an environment for all runs of a program: its stack begins below it, and runs
//! that differ in a setting are compared by what they do to their memory.

use std::ffi::OsStr;

use super::process::RunVariables;

/// The texts of the variables take a multiple of this, in bytes.
const STEP: usize = 1024;

/// There are as many of them. Their number counts by itself: the system rounds down to
/// whole lines below the texts, and again below the pointers to them.
const COUNT: usize = FILLERS.len();

/// Variables that are there to be counted.
const FILLERS: [&str; 32] = [
    "WMFIX_PADDING_00",
    "WMFIX_PADDING_01",
    "WMFIX_PADDING_02",
    "WMFIX_PADDING_03",
    "WMFIX_PADDING_04",
    "WMFIX_PADDING_05",
    "WMFIX_PADDING_06",
    "WMFIX_PADDING_07",
    "WMFIX_PADDING_08",
    "WMFIX_PADDING_09",
    "WMFIX_PADDING_10",
    "WMFIX_PADDING_11",
    "WMFIX_PADDING_12",
    "WMFIX_PADDING_13",
    "WMFIX_PADDING_14",
    "WMFIX_PADDING_15",
    "WMFIX_PADDING_16",
    "WMFIX_PADDING_17",
    "WMFIX_PADDING_18",
    "WMFIX_PADDING_19",
    "WMFIX_PADDING_20",
    "WMFIX_PADDING_21",
    "WMFIX_PADDING_22",
    "WMFIX_PADDING_23",
    "WMFIX_PADDING_24",
    "WMFIX_PADDING_25",
    "WMFIX_PADDING_26",
    "WMFIX_PADDING_27",
    "WMFIX_PADDING_28",
    "WMFIX_PADDING_29",
    "WMFIX_PADDING_30",
    "WMFIX_PADDING_31",
];

/// Lets the variables of all runs take as much room.
pub(super) fn pad(variables: &mut RunVariables) {
    let missing = COUNT.saturating_sub(variables.len()).max(1);
    for filler in &FILLERS[..missing] {
        variables.insert(OsStr::new(filler), "".into());
    }
    let taken = text_bytes(variables);
    let missing = taken.next_multiple_of(STEP) - taken;
    variables.insert(OsStr::new(FILLERS[0]), "-".repeat(missing).into());
}

/// What the texts take: each has a `=` and a zero at its end.
fn text_bytes(variables: &RunVariables) -> usize {
    let each = variables.iter();
    each.map(|(name, value)| name.len() + value.len() + 2).sum()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn runs_with_other_settings_have_their_stacks_at_the_same_place() {
        let room = |settings: &[(&'static str, &str)]| {
            let settings = settings.iter();
            let mut variables: RunVariables = settings
                .map(|(name, value)| (OsStr::new(*name), OsString::from(value)))
                .collect();
            pad(&mut variables);
            (text_bytes(&variables), variables.len())
        };
        let seed = [("WMFIX_SEED", "4294967297")];
        let stale = [("WMFIX_SEED", "7"), ("WMFIX_STALE", "2.17=1.5~3/1f")];
        assert_eq!(room(&seed), (STEP, COUNT));
        assert_eq!(room(&stale), (STEP, COUNT));
        // The longest part of it is as long for all runs.
        let long = "x".repeat(STEP);
        assert_eq!(room(&[("WMFIX_OUT", &long)]), (2 * STEP, COUNT));
    }
}
