//! The fewest stale choices that still lead a run where all of them did. Leaving
//! one out may change the run from there on, so every set is tried.

use wmfix_trace::StaleTarget;

/// Sets of choices that are tried for one finding.
const MOST_ATTEMPTS: usize = 250;

/// A run with as few choices as were found to be enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reduced<R> {
    /// The run. The choices that it made are all that are left.
    pub(super) run: R,
    /// No choice can be left out of it alone: each was tried.
    pub(super) is_minimal: bool,
}

/// Leaves out what can be left out of the choices. `attempt` makes a run with some
/// of them and gives it back if it comes to the same. The run with the fewest; `None`
/// if not even all of them lead there again.
///
/// Where there was time, it has as few as any set has that was tried: none, one, or
/// two of those that were left.
pub(super) fn reduced<R>(
    choices: &[StaleTarget],
    attempt: impl FnMut(&[StaleTarget]) -> anyhow::Result<Option<R>>,
) -> anyhow::Result<Option<Reduced<R>>> {
    let mut left = MOST_ATTEMPTS;
    let run = fewest(choices, &mut left, attempt)?;
    Ok(run.map(|run| Reduced {
        run,
        is_minimal: left > 0,
    }))
}

fn fewest<R>(
    choices: &[StaleTarget],
    left: &mut usize,
    mut attempt: impl FnMut(&[StaleTarget]) -> anyhow::Result<Option<R>>,
) -> anyhow::Result<Option<R>> {
    let mut attempt = |choices: &[StaleTarget]| {
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
        attempt(choices)
    };
    let Some(mut best) = attempt(choices)? else {
        return Ok(None);
    };
    if let Some(run) = attempt(&[])? {
        return Ok(Some(run));
    }
    let mut kept = choices.to_vec();
    let mut size = kept.len().div_ceil(2);
    while size > 0 {
        let mut any = false;
        let mut at = 0;
        while at < kept.len() && kept.len() > 1 {
            let end = (at + size).min(kept.len());
            let rest = [&kept[..at], &kept[end..]].concat();
            match attempt(&rest)? {
                Some(run) if !rest.is_empty() => {
                    (best, kept, any) = (run, rest, true);
                }
                _ => at = end,
            }
        }
        if size == 1 && !any {
            break;
        }
        size = if size > 1 { size.div_ceil(2) } else { 1 };
    }
    if kept.len() > 1 {
        for choice in choices {
            if let Some(run) = attempt(&[*choice])? {
                return Ok(Some(run));
            }
        }
    }
    if kept.len() > 2 {
        for (number, one) in kept.iter().enumerate() {
            for other in &kept[number + 1..] {
                if let Some(run) = attempt(&[*one, *other])? {
                    return Ok(Some(run));
                }
            }
        }
    }
    Ok(Some(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(count: u32) -> Vec<StaleTarget> {
        let all = (1..=count).map(|number| format!("1.{number}=first").parse());
        all.collect::<Result<_, _>>().unwrap()
    }

    /// The numbers of the accesses that are left where these are needed together.
    fn left(count: u32, needed: &[&[u32]]) -> Option<Vec<u32>> {
        let run = |choices: &[StaleTarget]| {
            let numbers: Vec<u32> = choices.iter().map(|c| c.access.number).collect();
            let shows = |set: &&[u32]| set.iter().all(|number| numbers.contains(number));
            Ok(needed.iter().any(shows).then_some(numbers))
        };
        let reduced = reduced(&choices(count), run).unwrap()?;
        assert!(reduced.is_minimal);
        Some(reduced.run)
    }

    #[test]
    fn what_is_not_needed_is_left_out() {
        assert_eq!(left(40, &[&[7, 31]]), Some(vec![7, 31]));
        assert_eq!(left(1, &[&[1]]), Some(vec![1]));
        assert_eq!(left(9, &[&[1, 5, 9]]), Some(vec![1, 5, 9]));
        assert_eq!(left(5, &[&[1, 2, 3], &[4]]), Some(vec![4]));
    }

    #[test]
    fn what_the_schedule_does_needs_no_choice() {
        assert_eq!(left(5, &[&[]]), Some(Vec::new()));
    }

    #[test]
    fn what_cannot_be_had_again_is_lost() {
        assert_eq!(left(5, &[]), None);
        assert_eq!(left(5, &[&[6]]), None);
    }

    #[test]
    fn the_number_of_attempts_is_limited() {
        let mut attempts = 0;
        let all = choices(500);
        let run = |some: &[StaleTarget]| {
            attempts += 1;
            Ok((some.len() == 500).then_some(()))
        };
        let reduced = reduced(&all, run).unwrap().expect("all of them do");
        assert!(!reduced.is_minimal);
        assert_eq!(attempts, MOST_ATTEMPTS);
    }
}
