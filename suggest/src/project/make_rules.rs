//! What a Makefile says, as make itself prints it (`make -pRrq :`): its targets, and
//! the values that it gives to variables. Knows nothing of running make.

/// The targets that run tests, by the names that people give them, the usual first.
pub(super) const TEST_TARGETS: [&str; 3] = ["test", "check", "tests"];

/// Parts of the names of other targets that may run tests, what says most first.
const LIKE_TESTS: [&str; 5] = ["test", "check", "stress", "run", "bench"];

/// The target that must be meant by tests, of several whose names are like those: the
/// only one with the word that says most.
pub(super) fn likeliest(targets: &[String]) -> Option<&String> {
    let with = |part| targets.iter().filter(move |name| name.contains(part));
    let part = LIKE_TESTS
        .into_iter()
        .find(|&part| with(part).next().is_some())?;
    let mut likely = with(part);
    likely.next().filter(|_| likely.next().is_none())
}

/// The rules and variables of a Makefile.
#[derive(Debug)]
pub(super) struct MakeRules<'t> {
    /// What make printed.
    text: &'t str,
}

impl<'t> MakeRules<'t> {
    /// Reads what make printed.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text }
    }

    /// The targets whose names say that they run the tests, the usual first.
    pub(super) fn test_targets(&self) -> impl Iterator<Item = &'static str> {
        let known = TEST_TARGETS.into_iter();
        known.filter(|known| self.targets().any(|target| target == *known))
    }

    /// What a target makes that only builds: itself, and what it waits for.
    pub(super) fn makes(&self, target: &str) -> Vec<&'t str> {
        let rules = self.rules().filter(|(name, _)| *name == target);
        let needed = rules.flat_map(|(name, needed)| {
            let needed = needed.trim_start_matches(':').split_whitespace();
            std::iter::once(name).chain(needed.filter(|word| *word != "|"))
        });
        let mut made: Vec<&str> = needed.collect();
        made.sort_unstable();
        made.dedup();
        made
    }

    /// Other targets that may run tests: names, not files that are built.
    pub(super) fn like_tests(&self) -> Vec<String> {
        let is_name = |name: &&str| {
            let mut bytes = name.bytes();
            bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let like = |name: &&str| LIKE_TESTS.iter().any(|part| name.contains(part));
        let targets = self.targets().filter(is_name).filter(like);
        let mut targets: Vec<String> = targets.map(str::to_owned).collect();
        targets.sort();
        targets.dedup();
        targets
    }

    /// The value that the Makefile itself gives to a variable, as it is written.
    pub(super) fn own_value(&self, variable: &str) -> Option<&'t str> {
        let mut is_own = false;
        self.text.lines().find_map(|line| {
            let value = line.strip_prefix(variable).filter(|_| is_own);
            is_own = line.starts_with("# makefile");
            let value = value?.trim_start();
            let value = ["= ", ":= ", "::= "]
                .iter()
                .find_map(|sign| value.strip_prefix(sign));
            value.map(str::trim)
        })
    }

    /// The names before the colons of rules.
    fn targets(&self) -> impl Iterator<Item = &'t str> {
        self.rules().map(|(name, _)| name)
    }

    /// The names before the colons of rules, and what follows these.
    fn rules(&self) -> impl Iterator<Item = (&'t str, &'t str)> {
        let mut not_a_target = false;
        self.text.lines().filter_map(move |line| {
            let is_rule = !not_a_target && !line.starts_with(['\t', '#', '.']);
            not_a_target = line.starts_with("# Not a target");
            let (name, rest) = line.split_once(':').filter(|_| is_rule)?;
            let is_variable =
                name.contains(['=', ' ']) || rest.trim_start_matches(':').starts_with('=');
            (!is_variable).then_some((name, rest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
# Variables
# makefile (from 'Makefile', line 1)
CC = clang
# environment
CXX = g++
# default
AR = ar
# makefile (from 'Makefile', line 2)
test := 1
# Files
stress: obj
#  Phony target
\t./t_stress
tests: obj
# Not a target:
check:
run: t
t_stress.o: t_stress.c
.PHONY: check
";

    #[test]
    fn one_target_is_likely_to_be_meant_or_none() {
        let likely = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            likeliest(&names).cloned()
        };
        assert_eq!(
            likely(&["bench", "run", "unittests"]).as_deref(),
            Some("unittests")
        );
        assert_eq!(likely(&["bench", "stress"]).as_deref(), Some("stress"));
        assert_eq!(likely(&["run", "test-a", "test-b"]), None);
        assert_eq!(likely(&[]), None);
    }

    #[test]
    fn targets_and_values_are_read_from_what_make_prints() {
        let rules = MakeRules::new(PRINTED);
        assert_eq!(rules.test_targets().collect::<Vec<_>>(), ["tests"]);
        assert_eq!(rules.makes("tests"), ["obj", "tests"]);
        assert_eq!(rules.like_tests(), ["run", "stress", "tests"]);
        assert_eq!(rules.own_value("CC"), Some("clang"));
        assert_eq!(
            (rules.own_value("CXX"), rules.own_value("AR")),
            (None, None)
        );
    }
}
