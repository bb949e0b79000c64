//! Runs that deadlock, crash or fail under some schedules are findings: reported
//! first, with the threads' places, the seed and the last lines, and exit code 1.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn check(source: &str, line: &str) -> CommandResult {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", source);
    let mut command = world.wmfix("gcc");
    CommandResult::of(command.args(line.split_whitespace()))
}

/// The only failure of a report.
fn failure(result: &CommandResult) -> Value {
    let report = result.json();
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{report}");
    failures[0].clone()
}

/// Two locks in two orders.
const LOCKS: &str = "#include <pthread.h>\n#include <stdio.h>\n\
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *one(void *p) { pthread_mutex_lock(&a); pthread_mutex_lock(&b);\n\
    pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return p; }\n\
    static void *two(void *p) { pthread_mutex_lock(&b); pthread_mutex_lock(&a);\n\
    pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return p; }\n\
    int main(void) { pthread_t s, t; puts(\"started\"); fflush(stdout);\n\
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);\n\
    pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";

/// A thread that may come too early, and what is done about it.
fn early(what: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         static atomic_int x;\n\
         static void *set(void *p) {{ atomic_store(&x, 1); return p; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, set, 0);\n\
         if (atomic_load(&x)) {{ {what} }}\n pthread_join(t, 0); return 0; }}\n"
    )
}

#[test]
fn a_deadlock_under_some_schedules_is_a_finding() {
    let result = check(LOCKS, "check prog.c --format json");
    assert_eq!(result.code, Some(1), "{}", result.stdout);
    assert_eq!(result.json()["verdict"], "findings");
    let failure = failure(&result);
    assert_eq!(failure["id"], "F1");
    assert_eq!(failure["kind"], "deadlock");
    assert_eq!(failure["output"][0], "started");
    let total = result.json()["runs"]["total"].as_u64().unwrap();
    let runs = failure["runs"].as_u64().unwrap();
    assert!(runs > 0 && runs < total, "{failure}");
    let functions = failure["threads"].as_array().unwrap().iter();
    let functions: Vec<&str> = functions
        .map(|t| t["place"]["function"].as_str().unwrap())
        .collect();
    assert!(
        functions.contains(&"one") && functions.contains(&"two"),
        "{failure}"
    );

    // Its seed shows it again.
    let seed = failure["seed"].to_string();
    let again = check(
        LOCKS,
        &format!("check prog.c --runs 1 --format json --seed {seed}"),
    );
    assert_eq!(
        again.json()["failures"][0]["kind"],
        "deadlock",
        "{}",
        again.stdout
    );
}

#[test]
fn the_text_has_the_failures_first_and_never_says_that_nothing_was_found() {
    let result = check(LOCKS, "check prog.c");
    assert_eq!(result.code, Some(1), "{}", result.stdout);
    // The table names the place that tells most, not where `main` waits for a thread.
    let (table, rest) = result.stdout.split_once("\n\n").expect("a table");
    let row = table.lines().nth(1).expect("a row");
    let words: Vec<&str> = row.split_whitespace().take(4).collect();
    assert_eq!(words, ["F1", "deadlock", "prog.c:4", "fails"], "{table}");
    assert!(
        rest.starts_with("error[F1]: `prog` fails in "),
        "{}",
        result.stdout
    );
    for words in [
        "deadlock",
        "waits for the lock",
        "in two at ",
        "started",
        "to reproduce: wmfix check",
        "1 failure: ",
    ] {
        assert!(result.stdout.contains(words), "{words}: {}", result.stdout);
    }
    assert!(
        !result.stdout.contains("nothing found"),
        "{}",
        result.stdout
    );
    let suggested = check(LOCKS, "suggest prog.c");
    assert_eq!(suggested.code, Some(1), "{}", suggested.stderr);
    assert!(
        suggested.stderr.contains("error[F1]"),
        "{}",
        suggested.stderr
    );
}

#[test]
fn aborts_and_exit_codes_under_some_schedules_are_findings() {
    let source = early("fputs(\"too early\\n\", stderr); abort();");
    let result = check(&source, "check prog.c --format json");
    assert_eq!(result.code, Some(1), "{}", result.stdout);
    let one = failure(&result);
    assert_eq!(
        (&one["kind"], &one["signal"]),
        (&"signal".into(), &6.into()),
        "{one}"
    );
    assert_eq!(one["output"][0], "too early");
    assert_eq!(one["threads"][0]["place"]["function"], "main", "{one}");
    let result = check(&early("return 3;"), "check prog.c --format json");
    assert_eq!(result.code, Some(1), "{}", result.stdout);
    let one = failure(&result);
    assert_eq!(
        (&one["kind"], &one["exit_code"]),
        (&"exit".into(), &3.into()),
        "{one}"
    );
    // What wmfix did not build as a test may exit as it likes.
    let world = World::new();
    world.write("prog.c", &early("return 3;"));
    let built = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["cc", "-pthread", "-o", "prog", "prog.c"]),
    );
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let ran = CommandResult::of(
        world
            .wmfix("gcc")
            .args(["run", "--format", "json", "--", "./prog"]),
    );
    assert_eq!(
        (ran.code, &ran.json()["failures"]),
        (Some(0), &serde_json::json!([])),
        "{}",
        ran.stdout
    );
}

#[test]
fn sarif_has_failures_as_results_and_explain_knows_them() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("prog.c", LOCKS);
    let line = "check prog.c --format sarif";
    let result = CommandResult::of(world.wmfix("gcc").args(line.split(' ')));
    assert_eq!(result.code, Some(1), "{}", result.stdout);
    let run = &result.json()["runs"][0];
    let found = &run["results"][0];
    assert_eq!(
        (&found["ruleId"], &found["level"]),
        (&"deadlock".into(), &"error".into())
    );
    let uri = &found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "prog.c", "{found}");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "deadlock"));
    let explained = CommandResult::of(world.wmfix("gcc").args(["explain", "F1"]));
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    assert!(
        explained.stdout.contains("deadlock"),
        "{}",
        explained.stdout
    );
}

#[test]
fn a_test_that_expects_its_child_to_crash_passes() {
    let source = "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
        int main(void) { int status; pid_t child = fork(); if (!child) abort();\n\
        waitpid(child, &status, 0); return !WIFSIGNALED(status); }\n";
    let result = check(source, "check prog.c --runs 3 --format json");
    assert_eq!(result.code, Some(0), "{}", result.stdout);
    assert_eq!(result.json()["failures"], serde_json::json!([]));
}
