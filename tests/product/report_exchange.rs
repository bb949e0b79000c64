//! Reports in the formats of other tools: each has the shape that its tool reads,
//! and where the tool is here, it reads them.

use std::fs;

use crate::report_support::{TWO_CAUSES, assert_valid, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::project::root;
use wmfix_tests::tools::{Need, need};

/// A repository with the program in a folder that is not its root, with a name that
/// every format has to escape.
fn world() -> World {
    let world = World::new();
    fs::create_dir(world.path().join(".git")).expect("a folder");
    world.write("src/a, b: 100% <ü>.c", TWO_CAUSES);
    world
}

fn run(world: &World, words: &[&str]) -> CommandResult {
    let mut command = world.wmfix("gcc");
    command.current_dir(world.path().join("src"));
    let (name, rest) = words.split_first().expect("a command");
    command.args([name, "a, b: 100% <ü>.c", "--runs", "20"]);
    CommandResult::of(command.args(rest))
}

/// A schema of `tests/corpus/schemas`.
fn schema(name: &str) -> jsonschema::Validator {
    let text = fs::read_to_string(root().join("tests/corpus/schemas").join(name));
    let schema: Value = serde_json::from_str(&text.expect("a schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

const FILE: &str = "src/a, b: 100% <ü>.c";

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key}: {value}"))
}

#[test]
fn github_gets_one_annotation_for_each_finding_from_the_root_of_the_repository() {
    need_tools();
    let world = world();
    let ran = run(&world, &["check", "--format", "github"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.stdout);
    for line in lines {
        let (head, message) = line[2..].split_once("::").expect("a command");
        let (name, properties) = head.split_once(' ').expect("properties");
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        let mut names = Vec::new();
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').expect("a property");
            names.push(name);
            if name == "file" {
                assert_eq!(value, "src/a%2C b%3A 100%25 <ü>.c");
            }
            if ["line", "endLine", "col", "endColumn"].contains(&name) {
                assert!(value.parse::<u32>().is_ok_and(|n| n > 0), "{line}");
            }
        }
        let expected = ["file", "line", "endLine", "col", "endColumn", "title"];
        assert_eq!(names, expected);
        assert!(message.contains("%0ATo reproduce: wmfix check"), "{line}");
    }
}

#[test]
fn editors_get_lines_as_of_gcc_with_the_places_of_both_sides() {
    need_tools();
    let world = world();
    let ran = run(&world, &["check", "--format", "gcc"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let mut rules = Vec::new();
    for line in ran.stdout.lines() {
        let rest = line.strip_prefix("a, b: 100% <ü>.c:").expect(line);
        let mut parts = rest.splitn(4, ':');
        let mut part = || parts.next().expect(line).trim();
        assert!(part().parse::<u32>().is_ok_and(|n| n > 0), "{line}");
        assert!(part().parse::<u32>().is_ok_and(|n| n > 0), "{line}");
        if part() != "note" {
            let (_, rule) = part().rsplit_once(" [").expect(line);
            rules.push(rule.to_owned());
        }
    }
    rules.sort();
    assert_eq!(
        rules,
        ["data-race]", "stale-read]", "stale-read]"],
        "{ran:?}"
    );
}

#[test]
fn gitlab_gets_issues_with_the_fields_that_it_requires() {
    need_tools();
    let world = world();
    let ran = run(&world, &["check", "--format", "gitlab"]);
    let report = ran.json();
    let schema = schema("gitlab.json");
    assert_valid(&report, &schema);
    let mut absolute = report.clone();
    absolute[0]["location"]["path"] = "/tmp/a.c".into();
    assert!(!schema.is_valid(&absolute), "paths are relative");
    let issues = report.as_array().expect("a list");
    assert_eq!(issues.len(), 3, "{report}");
    let mut prints: Vec<&str> = Vec::new();
    for issue in issues {
        assert!(text(issue, "check_name").starts_with("wmfix-"), "{issue}");
        prints.push(text(issue, "fingerprint"));
        assert_eq!(text(&issue["location"], "path"), FILE);
        let lines = &issue["location"]["lines"];
        assert!(lines["end"].as_u64() >= lines["begin"].as_u64(), "{issue}");
    }
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), 3, "{report}");
    let again = run(&world, &["check", "--format", "gitlab", "--seed", "500"]).json();
    let mut later: Vec<&str> = again
        .as_array()
        .expect("a list")
        .iter()
        .map(|i| text(i, "fingerprint"))
        .collect();
    later.sort_unstable();
    assert_eq!(later, prints, "the same findings in other runs");
}

#[test]
fn reviewdog_gets_diagnostics_and_each_edit_once_as_a_suggestion() {
    need_tools();
    let world = world();
    let result = run(&world, &["suggest", "--format", "rdjson"]).json();
    let schema = schema("rdjson.json");
    assert_valid(&result, &schema);
    let mut unknown = result.clone();
    unknown["diagnostics"][0]["relatedLocations"] = Value::Array(Vec::new());
    assert!(
        !schema.is_valid(&unknown),
        "reviewdog refuses what it does not know"
    );
    assert_eq!(result["source"]["name"], "wmfix");
    let diagnostics = result["diagnostics"].as_array().expect("a list");
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    let mut findings = 0;
    for diagnostic in diagnostics {
        assert_eq!(text(&diagnostic["location"], "path"), FILE);
        let Some(suggestions) = diagnostic["suggestions"].as_array() else {
            findings += 1;
            let other_side = format!("\n{FILE}:");
            assert!(text(diagnostic, "message").contains(&other_side));
            continue;
        };
        for suggestion in suggestions {
            assert_eq!(suggestion["range"], diagnostic["location"]["range"]);
            let at = |side: &str| {
                let position = &suggestion["range"][side];
                let number = |key: &str| position[key].as_u64().expect("a number") as usize;
                let lines = TWO_CAUSES.split_inclusive('\n').take(number("line") - 1);
                lines.map(str::len).sum::<usize>() + number("column") - 1
            };
            edits.push((at("start"), at("end"), text(suggestion, "text")));
        }
    }
    assert_eq!((findings, edits.len()), (3, 4), "{result}");
    edits.sort_unstable();
    let mut fixed = TWO_CAUSES.to_owned();
    for (start, end, text) in edits.into_iter().rev() {
        fixed.replace_range(start..end, text);
    }
    let applied = run(&world, &["suggest", "--apply"]);
    let patched = fs::read_to_string(world.path().join(FILE)).expect("the file");
    assert_eq!(fixed, patched, "{applied:?}");
}

/// Prints what a reader of XML makes of a JUnit report: numbers, then each case.
const READ_XML: &str = "import sys, xml.etree.ElementTree as t\n\
    r = t.parse(sys.stdin).getroot()\n\
    assert r.tag == 'testsuites', r.tag\n\
    for s in r:\n\
    \x20   print(s.tag, s.get('tests'), s.get('failures'), s.get('errors'), s.get('skipped'))\n\
    \x20   for c in s:\n\
    \x20       print(c.tag, c.get('classname'), [x.tag for x in c], c.get('name').split('.c:')[0] + '.c')\n";

fn read_xml(world: &World, text: &str) -> Vec<String> {
    world.write("junit.xml", text);
    let schema = root().join("tests/corpus/schemas/junit.xsd");
    CommandResult::well(
        world
            .command("xmllint")
            .args(["--noout", "--schema"])
            .arg(schema)
            .arg("junit.xml"),
    );
    let file = fs::File::open(world.path().join("junit.xml")).expect("the report");
    let read = CommandResult::well(world.command("python3").args(["-c", READ_XML]).stdin(file));
    read.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn junit_has_a_case_for_the_runs_and_one_for_each_finding() {
    need_tools();
    need(&[Need::Program("python3"), Need::Program("xmllint")]);
    let world = world();
    let lines = read_xml(&world, &run(&world, &["check", "--format", "junit"]).stdout);
    assert_eq!(lines[0], "testsuite 4 3 0 0", "{lines:?}");
    assert!(lines[1].starts_with("testcase wmfix.runs [] "), "{lines:?}");
    let raced = format!("testcase wmfix.data-race ['failure'] {FILE}");
    assert!(lines.contains(&raced), "{lines:?}");

    world.write("clean.c", "int main(void) { return 0; }\n");
    let clean = wmfix(&world, "check clean.c --runs 5 --format junit");
    assert_eq!(clean.code, Some(0), "{clean:?}");
    assert_eq!(read_xml(&world, &clean.stdout)[0], "testsuite 1 0 0 0");

    world.write("crash.c", "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(\"<\\x1b[1m&\"); abort(); }\n");
    let crash = wmfix(&world, "check crash.c --runs 5 --format junit");
    let lines = read_xml(&world, &crash.stdout);
    assert!(lines.len() > 1 && !lines[0].ends_with("0 0 0"), "{lines:?}");
}

#[test]
fn clang_apply_replacements_makes_of_the_text_what_the_patch_makes() {
    need_tools();
    need(&[Need::Program("clang-apply-replacements")]);
    let world = world();
    let fixes = world.path().join("fixes");
    fs::create_dir(&fixes).expect("a folder");
    let file = fixes.join("fixes.yaml");
    let file = file.to_str().expect("a name");
    let suggested = run(&world, &["suggest", "--export-fixes", file]);
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    CommandResult::well(world.command("clang-apply-replacements").arg(&fixes));
    let fixed = fs::read_to_string(world.path().join(FILE)).expect("the file");
    assert_ne!(fixed, TWO_CAUSES);
    world.write(FILE, TWO_CAUSES);
    run(&world, &["suggest", "--apply"]);
    let patched = fs::read_to_string(world.path().join(FILE)).expect("the file");
    assert_eq!(fixed, patched);

    // Nothing to do is a file, too.
    world.write("clean.c", "int main(void) { return 0; }\n");
    let line = format!("suggest clean.c --runs 5 --export-fixes {file}");
    assert_eq!(wmfix(&world, &line).code, Some(0));
    CommandResult::well(world.command("clang-apply-replacements").arg(&fixes));
}
