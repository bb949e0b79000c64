//! Which changes belong together: those that remove the same finding, directly
//! or through others.

use super::told::FindingKey;

/// The groups, by number of change, in the order of their first changes.
pub(super) fn connected(reasons: &[Vec<FindingKey>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (number, keys) in reasons.iter().enumerate() {
        let meets = |group: &Vec<usize>| {
            let mut others = group.iter().flat_map(|&other| &reasons[other]);
            others.any(|key| keys.contains(key))
        };
        let (mine, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        let mut group: Vec<usize> = mine.into_iter().flatten().collect();
        group.push(number);
        group.sort_unstable();
        rest.push(group);
        rest.sort();
        groups = rest;
    }
    groups
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::SiteId;

    use super::connected;

    #[test]
    fn changes_meet_through_the_findings_they_remove() {
        let finding = |number| (SiteId(number), None, None);
        let reasons = [
            vec![finding(1)],
            vec![finding(2)],
            vec![finding(3), finding(1)],
            vec![finding(4), finding(2), finding(5)],
            vec![],
        ];
        assert_eq!(connected(&reasons), [vec![0, 2], vec![1, 3], vec![4]]);
        let joined = [
            vec![finding(1)],
            vec![finding(2)],
            vec![finding(1), finding(2)],
        ];
        assert_eq!(connected(&joined), [vec![0, 1, 2]]);
    }
}
