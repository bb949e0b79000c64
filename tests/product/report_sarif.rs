//! `--format sarif`: valid against the published schema, with fixes that can be
//! made and fingerprints that stay.

use std::fs;

use crate::report_support::{PETERSON, TWO_CAUSES, assert_valid, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::World;
use wmfix_tests::registry::crate_source;
use wmfix_tests::tools::{Need, need};

/// A crate that carries the published schema.
const SCHEMA: (&str, &str) = ("serde-sarif", "0.8.0");

fn schema() -> jsonschema::Validator {
    let folder = crate_source(SCHEMA.0, SCHEMA.1).expect("the crate with the schema");
    let text = fs::read_to_string(folder.join("src/schema.json")).expect("the schema");
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    assert_eq!(
        schema["title"],
        "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    );
    without_broken_patterns(&mut schema);
    jsonschema::validator_for(&schema).expect("a schema")
}

/// The published schema has a pattern for languages that is no regular
/// expression: its brackets do not match. Nothing of ours names a language.
fn without_broken_patterns(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let broken = |pattern: &Value| {
                let text = pattern.as_str().unwrap_or_default();
                text.matches('[').count() != text.matches(']').count()
            };
            if members.get("pattern").is_some_and(broken) {
                members.remove("pattern");
            }
            members.values_mut().for_each(without_broken_patterns);
        }
        Value::Array(members) => members.iter_mut().for_each(without_broken_patterns),
        _ => {}
    }
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().expect("a list")
}

#[test]
fn every_command_is_valid_against_the_schema() {
    need_tools();
    need(&[Need::Crate(SCHEMA.0, SCHEMA.1)]);
    let schema = schema();
    let world = World::new();
    let allowed = PETERSON.replace("counter++;", "counter++; // wmfix: allow(a statistic)");
    world.write("some where/p ü.c", &allowed);
    world.write("two.c", TWO_CAUSES);
    world.write(
        "crash.c",
        "#include <stdlib.h>\nint main(void) { abort(); }\n",
    );
    world.write("clean.c", "int main(void) { return 0; }\n");
    let built = wmfix(&world, "cc -o two two.c -pthread");
    assert_eq!(built.code, Some(0), "{built:?}");
    let cases: [(&[&str], u64); 7] = [
        (&["check", "--robust", "some where/p ü.c"], 1),
        (&["suggest", "--robust", "some where/p ü.c"], 1),
        (&["suggest", "two.c"], 1),
        (&["check", "crash.c"], 3),
        (&["check", "clean.c"], 0),
        (&["run", "--", "./two"], 1),
        (&["scan", "."], 0),
    ];
    for (words, code) in cases {
        let mut command = world.wmfix("gcc");
        let (name, rest) = words.split_first().expect("a command");
        command.arg(name).args(["--format", "sarif"]);
        if *name != "scan" {
            command.args(["--runs", "20"]);
        }
        let ran = wmfix_tests::product::CommandResult::of(command.args(rest));
        assert_eq!(ran.code, i32::try_from(code).ok(), "{words:?}: {ran:?}");
        let log = ran.json();
        assert_valid(&log, &schema);
        if *name == "scan" {
            continue;
        }
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], code, "{words:?}");
        assert_eq!(invocation["executionSuccessful"], code != 3, "{words:?}");
        let suppressed = results(&log)
            .iter()
            .filter(|r| r["suppressions"].is_array());
        let expected = words.last().is_some_and(|path| path.contains("where"));
        assert_eq!(suppressed.count() > 0, expected, "{words:?}");
    }
}

#[test]
fn fixes_make_of_the_text_what_the_patch_makes() {
    need_tools();
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    let log = wmfix(&world, "suggest two.c --runs 30 --format sarif").json();
    let rules: Vec<&str> = results(&log)
        .iter()
        .filter_map(|r| r["ruleId"].as_str())
        .collect();
    assert_eq!(rules, ["stale-read", "stale-read", "data-race"]);
    // Each cause has a fix of its own; both together are the patch.
    let mut fixes: Vec<&Value> = results(&log).iter().map(|r| &r["fixes"]).collect();
    fixes.dedup();
    assert_eq!(fixes.len(), 2, "{fixes:#?}");
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for fix in fixes {
        let changes = fix[0]["artifactChanges"].as_array().expect("a list");
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0]["artifactLocation"]["uri"], "two.c");
        for replacement in changes[0]["replacements"].as_array().expect("a list") {
            let region = &replacement["deletedRegion"];
            let at = |line: &str, column: &str| {
                let number = |key: &str| region[key].as_u64().expect("a number") as usize;
                offset(TWO_CAUSES, number(line), number(column))
            };
            let text = replacement["insertedContent"]["text"]
                .as_str()
                .expect("a text");
            let (start, end) = (at("startLine", "startColumn"), at("endLine", "endColumn"));
            assert_eq!(region["byteOffset"], start);
            assert_eq!(region["byteLength"], end - start);
            edits.push((start, end, text.to_owned()));
        }
    }
    edits.sort();
    let mut fixed = TWO_CAUSES.to_owned();
    for (start, end, text) in edits.into_iter().rev() {
        fixed.replace_range(start..end, &text);
    }
    let applied = wmfix(&world, "suggest two.c --runs 30 --apply");
    assert_eq!(applied.code, Some(0), "{applied:?}");
    let patched = fs::read_to_string(world.path().join("two.c")).expect("the file");
    assert_eq!(fixed, patched);
}

/// The byte at a line and column, both from 1, of a text of ASCII.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line - 1);
    before.map(str::len).sum::<usize>() + column - 1
}

#[test]
fn fingerprints_stay_when_lines_move() {
    need_tools();
    let world = World::new();
    let prints = |text: &str| -> Vec<String> {
        world.write("two.c", text);
        let log = wmfix(&world, "check two.c --runs 30 --format sarif").json();
        let mut prints: Vec<String> = results(&log)
            .iter()
            .map(|result| result["partialFingerprints"]["wmfix/v1"].to_string())
            .collect();
        prints.sort();
        prints
    };
    let here = prints(TWO_CAUSES);
    assert_eq!(here.len(), 3);
    let moved = TWO_CAUSES.replace("static int data", "/* more\n   lines */\n\nstatic int data");
    assert_eq!(prints(&moved), here);
    let renamed = TWO_CAUSES.replace("producer", "maker");
    assert_ne!(prints(&renamed), here);
}
