//! Runs spread over several tasks: put together they give what one machine gives,
//! started by the engines that people have.

use std::fs;
use std::path::PathBuf;

use crate::report_support::{PETERSON, STORE_BUFFERING, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::{self, CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn without_seconds(mut report: Value) -> Value {
    report["runs"]["seconds"].take();
    report
}

/// The merged report of shards in a folder.
fn merged(world: &World, folder: &str) -> Value {
    let ran = wmfix(world, &format!("merge {folder} --format json"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    without_seconds(ran.json())
}

fn shard_files(world: &World, folder: &str) -> Vec<PathBuf> {
    let listed = fs::read_dir(world.path().join(folder)).expect("the folder");
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// Runs all shards by GNU parallel, with a line of a shell script for each.
fn by_parallel(world: &World, total: u32, line: &str) -> CommandResult {
    let numbers: Vec<String> = (1..=total).map(|number| number.to_string()).collect();
    let mut parallel = world.command("parallel");
    parallel
        .env("WMFIX", product::wmfix())
        .env("WMFIX_REAL_CC", "gcc")
        .env("HOME", world.path())
        .args(["--will-cite", "-j2", line, ":::"])
        .args(&numbers);
    CommandResult::of(&mut parallel)
}

#[test]
fn any_number_of_shards_gives_the_findings_and_the_repair_of_one_machine() {
    need_tools();
    need(&[Need::Program("parallel")]);
    let world = World::new();
    world.write("peterson.c", PETERSON);
    let mut first: Option<Value> = None;
    for total in [1, 2, 5] {
        let folder = format!("shards-{total}");
        let line = format!(
            "$WMFIX suggest peterson.c --runs 40 --shard {{}}/{total} --shard-dir {folder} --jobs 1 || test $? = 1"
        );
        let ran = by_parallel(&world, total, &line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(shard_files(&world, &folder).len(), total as usize);
        let report = merged(&world, &folder);
        assert_eq!(report["runs"]["total"], 40, "{report}");
        assert!(report["repair"].is_object(), "{report}");
        match &first {
            None => first = Some(report),
            Some(first) => assert_eq!(*first, report, "{total} shards"),
        }
    }
}

#[test]
fn a_task_that_was_killed_is_missed_and_one_that_ran_twice_changes_nothing() {
    need_tools();
    need(&[Need::Program("parallel")]);
    let world = World::new();
    // The program can kill the task that runs it: in the middle of its first run.
    let source = STORE_BUFFERING
        .replace("#include <pthread.h>\n", "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n")
        .replace("int main(void) {\n", "int main(void) {\n    if (getenv(\"KILLED_TASK\"))\n        kill(atoi(getenv(\"KILLED_TASK\")), SIGKILL);\n");
    assert!(source.contains("SIGKILL"));
    world.write("sb.c", &source);
    let line = "if [ {} = 2 ] && [ ! -e again ]; then sh -c 'export KILLED_TASK=$$; exec $WMFIX check sb.c --runs 90 --shard {}/3'; \
                else $WMFIX check sb.c --runs 90 --shard {}/3; fi || test $? = 1";
    let ran = by_parallel(&world, 3, line);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let incomplete = wmfix(&world, "merge wmfix-shards");
    assert_eq!(incomplete.code, Some(2), "{incomplete:?}");
    assert!(
        incomplete.stderr.contains("shard 2 of 3 missing"),
        "{incomplete:?}"
    );
    world.write("again", "");
    let ran = by_parallel(&world, 3, line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let files: Vec<PathBuf> = shard_files(&world, "wmfix-shards");
    assert_eq!(files.len(), 3, "{files:?}");
    let report = merged(&world, "wmfix-shards");
    let ran = by_parallel(&world, 3, line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(shard_files(&world, "wmfix-shards"), files);
    assert_eq!(merged(&world, "wmfix-shards"), report);

    // Sources that have changed since, and a file that was cut off, are told.
    world.write("sb.c", &format!("{source}\n"));
    let changed = wmfix(&world, "merge wmfix-shards");
    assert_eq!(changed.code, Some(2), "{changed:?}");
    assert!(changed.stderr.contains("other sources"), "{changed:?}");
    let text = fs::read(&files[0]).expect("a shard");
    fs::write(&files[0], &text[..text.len() / 2]).expect("half a shard");
    let cut = wmfix(&world, "merge wmfix-shards");
    assert_eq!(cut.code, Some(2), "{cut:?}");
}

#[test]
fn the_variables_of_engines_are_read_and_said() {
    need_tools();
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    let engines: [(&[(&str, &str)], &str); 4] = [
        (
            &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")],
            "shard 1 of 4, says GitLab",
        ),
        (
            &[
                ("TEST_SHARD_INDEX", "1"),
                ("TEST_TOTAL_SHARDS", "4"),
                ("TEST_SHARD_STATUS_FILE", "status"),
            ],
            "shard 2 of 4, says Bazel",
        ),
        (
            &[("CIRCLE_NODE_INDEX", "2"), ("CIRCLE_NODE_TOTAL", "4")],
            "shard 3 of 4, says CircleCI",
        ),
        (
            &[
                ("SLURM_ARRAY_TASK_ID", "3"),
                ("SLURM_ARRAY_TASK_COUNT", "4"),
            ],
            "shard 4 of 4, says Slurm",
        ),
    ];
    for (variables, said) in engines {
        let mut command = world.wmfix("gcc");
        command.args(["check", "sb.c", "--runs", "20"]);
        let ran = CommandResult::of(command.envs(variables.iter().copied()));
        assert_eq!(ran.code.map(|code| code < 2), Some(true), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
    }
    assert!(world.path().join("status").exists(), "Bazel's sign");
    let report = merged(&world, "wmfix-shards");
    assert_eq!(report["runs"]["total"], 20);

    let mut command = world.wmfix("gcc");
    command.args(["check", "sb.c", "--runs", "10", "--shard", "auto/2"]);
    let ran = CommandResult::of(command.env("JOB_COMPLETION_INDEX", "1"));
    assert!(
        ran.stderr.contains("shard 2 of 2, says Kubernetes"),
        "{ran:?}"
    );
    let alone = wmfix(&world, "check sb.c --runs 10 --shard auto");
    assert_eq!(alone.code, Some(2), "{alone:?}");
}
