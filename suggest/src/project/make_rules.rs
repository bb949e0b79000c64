//! What a Makefile says, as make itself prints it (`make -pRrq :`): its targets, and
//! the values that it gives to variables. Knows nothing of running make.

/// The targets that run tests, by the names that people give them, the usual first.
pub(super) const TEST_TARGETS: [&str; 3] = ["test", "check", "tests"];

/// Parts of the names of other targets that may run tests.
const LIKE_TESTS: [&str; 5] = ["test", "check", "stress", "run", "bench"];

/// Programs that change files.
const CHANGES_FILES: [&str; 6] = ["rm", "mv", "cp", "touch", "tee", "install"];

/// Whether a line of what `make -n` prints changes files: by a program that does nothing
/// else, as automake's tests begin with, or by sending its output there.
pub(super) fn writes_files(line: &str) -> bool {
    let mut words = line.split(|c: char| c.is_whitespace() || ";|&()`".contains(c));
    let sends = |(at, _): (usize, &str)| {
        let to = line[at + 1..].trim_start_matches('>').trim_start();
        !to.is_empty() && !to.starts_with('&') && !to.starts_with("/dev/")
    };
    words.any(|word| CHANGES_FILES.contains(&word)) || line.match_indices('>').any(sends)
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

    /// The target that runs the tests.
    pub(super) fn test_target(&self) -> Option<&'static str> {
        let mut known = TEST_TARGETS.into_iter();
        known.find(|known| self.targets().any(|target| target == *known))
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
        let mut not_a_target = false;
        self.text.lines().filter_map(move |line| {
            let is_rule = !not_a_target && !line.starts_with(['\t', '#', '.']);
            not_a_target = line.starts_with("# Not a target");
            let (name, rest) = line.split_once(':').filter(|_| is_rule)?;
            let is_variable =
                name.contains(['=', ' ']) || rest.trim_start_matches(':').starts_with('=');
            (!is_variable).then_some(name)
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
    fn a_recipe_that_changes_files_is_told_from_one_that_runs_something() {
        for line in [
            "list='sb.log'; test -z \"$list\" || rm -f $list",
            "./t > t.out",
            "./t >>t.out 2>&1",
            "./t 2>&1 | tee log",
            "touch done",
        ] {
            assert!(writes_files(line), "{line}");
        }
        for line in [
            "./t",
            "./t >/dev/null 2>&1",
            "make[1]: Entering directory '/tmp/rm/cp'",
            "make  check-TESTS",
            "for t in a b; do ./$t || exit 1; done",
            "env LC_ALL=C ./farm",
        ] {
            assert!(!writes_files(line), "{line}");
        }
    }

    #[test]
    fn targets_and_values_are_read_from_what_make_prints() {
        let rules = MakeRules::new(PRINTED);
        assert_eq!(rules.test_target(), Some("tests"));
        assert_eq!(rules.like_tests(), ["run", "stress", "tests"]);
        assert_eq!(rules.own_value("CC"), Some("clang"));
        assert_eq!(
            (rules.own_value("CXX"), rules.own_value("AR")),
            (None, None)
        );
    }
}
