//! What the systems that start shards say about them: each has variables of its
//! own for which part a task is and how many there are.

use crate::shard_number::{Shard, ShardFlag};

/// Something that starts shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    /// The shard that it says this is.
    pub shard: Shard,
    /// Its name and the variables that say so.
    pub said_by: &'static str,
    /// A file that it wants to be touched as a sign that shards are known here.
    pub status_file: Option<String>,
}

/// How an engine counts.
struct Variables {
    said_by: &'static str,
    index: &'static str,
    /// The least index.
    first: First,
    total: Option<&'static str>,
}

enum First {
    Number(u64),
    Variable(&'static str),
}

const ENGINES: [Variables; 5] = [
    Variables {
        said_by: "Bazel (TEST_SHARD_INDEX, TEST_TOTAL_SHARDS)",
        index: "TEST_SHARD_INDEX",
        first: First::Number(0),
        total: Some("TEST_TOTAL_SHARDS"),
    },
    Variables {
        said_by: "GitLab (CI_NODE_INDEX, CI_NODE_TOTAL)",
        index: "CI_NODE_INDEX",
        first: First::Number(1),
        total: Some("CI_NODE_TOTAL"),
    },
    Variables {
        said_by: "CircleCI (CIRCLE_NODE_INDEX, CIRCLE_NODE_TOTAL)",
        index: "CIRCLE_NODE_INDEX",
        first: First::Number(0),
        total: Some("CIRCLE_NODE_TOTAL"),
    },
    Variables {
        said_by: "Slurm (SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT)",
        index: "SLURM_ARRAY_TASK_ID",
        first: First::Variable("SLURM_ARRAY_TASK_MIN"),
        total: Some("SLURM_ARRAY_TASK_COUNT"),
    },
    Variables {
        said_by: "Kubernetes (JOB_COMPLETION_INDEX)",
        index: "JOB_COMPLETION_INDEX",
        first: First::Number(0),
        // A pod is not told how many there are.
        total: None,
    },
];

/// The shard that the environment says this is, if any. Without `--shard` one part
/// of one is no shard, and an engine that does not say how many there are is not
/// asked. The error says what is missing or wrong.
pub(crate) fn from_environment(
    flag: Option<ShardFlag>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Engine>, String> {
    let given = match flag {
        Some(ShardFlag::Given(_)) => return Ok(None),
        Some(ShardFlag::Auto(total)) => Some(total),
        None => None,
    };
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    for engine in &ENGINES {
        let Some(index) = variable(engine.index) else {
            continue;
        };
        let counted = engine.total.and_then(&variable);
        let total = match (given.flatten(), counted) {
            (Some(total), _) => total,
            (None, Some(total)) => number(engine.total.unwrap_or_default(), &total)?,
            (None, None) => continue,
        };
        let first = match engine.first {
            First::Number(first) => first,
            First::Variable(name) => match variable(name) {
                Some(first) => number(name, &first)?,
                None => 0,
            },
        };
        if given.is_none() && total <= 1 {
            continue;
        }
        let index = number(engine.index, &index)?;
        let shard = index.checked_sub(first).map(|from_zero| from_zero + 1);
        let shard = shard.and_then(|number| Shard::new(number, total));
        let shard = shard.ok_or_else(|| {
            format!(
                "{}={index} is no part of {total}: give --shard I/N",
                engine.index
            )
        })?;
        return Ok(Some(Engine {
            shard,
            said_by: engine.said_by,
            status_file: variable("TEST_SHARD_STATUS_FILE"),
        }));
    }
    match given {
        None => Ok(None),
        Some(_) => {
            Err("--shard auto: no variable says which shard this is; give --shard I/N".to_owned())
        }
    }
}

fn number(name: &str, value: &str) -> Result<u64, String> {
    let parsed = value.trim().parse();
    parsed.map_err(|_| format!("{name}={value} is not a number: give --shard I/N"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(variables: &[(&str, &str)], flag: Option<&str>) -> Result<Option<String>, String> {
        let flag = flag.map(|text| text.parse().expect("a shard"));
        let variable = |name: &str| {
            let found = variables.iter().find(|(one, _)| *one == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let engine = from_environment(flag, variable)?;
        Ok(engine.map(|engine| engine.shard.to_string()))
    }

    #[test]
    fn every_engine_is_understood_by_its_own_way_of_counting() {
        let cases: [(&[(&str, &str)], &str); 6] = [
            (
                &[("TEST_SHARD_INDEX", "0"), ("TEST_TOTAL_SHARDS", "3")],
                "1/3",
            ),
            (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "3")], "1/3"),
            (
                &[("CIRCLE_NODE_INDEX", "2"), ("CIRCLE_NODE_TOTAL", "3")],
                "3/3",
            ),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "11"),
                    ("SLURM_ARRAY_TASK_MIN", "10"),
                    ("SLURM_ARRAY_TASK_COUNT", "4"),
                ],
                "2/4",
            ),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "0"),
                    ("SLURM_ARRAY_TASK_COUNT", "4"),
                ],
                "1/4",
            ),
            (
                &[
                    ("CI_NODE_INDEX", ""),
                    ("CIRCLE_NODE_INDEX", "0"),
                    ("CIRCLE_NODE_TOTAL", "2"),
                ],
                "1/2",
            ),
        ];
        for (variables, expected) in cases {
            assert_eq!(
                shard(variables, None),
                Ok(Some(expected.to_owned())),
                "{variables:?}"
            );
        }
        let kubernetes = [("JOB_COMPLETION_INDEX", "4")];
        assert_eq!(shard(&kubernetes, None), Ok(None));
        assert_eq!(
            shard(&kubernetes, Some("auto/5")),
            Ok(Some("5/5".to_owned()))
        );
    }

    #[test]
    fn one_of_one_is_no_shard_and_what_is_given_wins() {
        let alone = [("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "1")];
        assert_eq!(shard(&alone, None), Ok(None));
        assert_eq!(shard(&alone, Some("auto")), Ok(Some("1/1".to_owned())));
        let other = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "4")];
        assert_eq!(shard(&other, Some("1/2")), Ok(None));
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        assert!(shard(&[], Some("auto")).is_err());
        assert!(shard(&[("JOB_COMPLETION_INDEX", "5")], Some("auto/5")).is_err());
        let wrong = [("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")];
        let said = shard(&wrong, None).expect_err("GitLab counts from 1");
        assert!(said.contains("CI_NODE_INDEX=0"), "{said}");
        assert!(shard(&[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "4")], None).is_err());
    }
}
