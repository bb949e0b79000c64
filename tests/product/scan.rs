//! `wmfix scan` as a user calls it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SOURCE: &str = "#include <atomic>
std::atomic<int> x;
void f(std::memory_order o) {
  x.store(1, o);
  while (x.load(std::memory_order_acquire) != 1) {}
  asm volatile(\"nop\");
}
__attribute__((no_sanitize(\"thread\"))) void g() { x++; }
";

fn scan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wmfix"))
        .arg("scan")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("wmfix runs")
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("src/a.cc", SOURCE);
    write("build/generated.cc", SOURCE);
    write("notes.txt", "x.load(std::memory_order_acquire)");
    write(".gitignore", "build/\n");
    folder
}

#[test]
fn the_text_lists_sites_totals_and_what_needs_a_look() {
    let folder = project();
    let text = stdout(&scan(folder.path(), &[]));
    assert!(text.contains("src/a.cc"), "{text}");
    assert!(text.contains("load             acquire"), "{text}");
    assert!(text.contains("[spin until == 1]"), "{text}");
    assert!(text.contains("3 sites in 1 of 1 file\n"), "{text}");
    assert!(
        text.contains("1 site whose order is not written at the operation"),
        "{text}"
    );
    assert!(text.contains("1 piece of inline assembly"), "{text}");
    assert!(
        text.contains("1 function without instrumentation"),
        "{text}"
    );
    assert!(
        !text.contains("generated.cc"),
        "ignored files are not scanned: {text}"
    );
}

#[test]
fn json_has_a_place_for_every_site() {
    let folder = project();
    let json: Value =
        serde_json::from_str(&stdout(&scan(folder.path(), &["--format", "json"]))).expect("JSON");
    assert_eq!(json["version"], 1);
    assert_eq!(json["sites"], 3);
    let load = &json["files"][0]["sites"][1];
    assert_eq!(load["line"], 5);
    assert_eq!(load["column"], 10);
    assert_eq!(load["function"], "f");
    assert_eq!(load["operation"], "load");
    assert_eq!(load["order"], "acquire");
    assert_eq!(load["role"], "spin until == 1");
    assert_eq!(json["files"][0]["sites"][0]["order"], Value::Null);
}

#[test]
fn sarif_has_a_region_for_every_site() {
    let folder = project();
    let log: Value =
        serde_json::from_str(&stdout(&scan(folder.path(), &["--format", "sarif"]))).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let of_rule = |rule: &str| results.iter().filter(|r| r["ruleId"] == rule).count();
    assert_eq!(of_rule("atomic-site"), 2);
    assert_eq!(of_rule("not-literal-order"), 1);
    assert_eq!(of_rule("inline-assembly"), 1);
    assert_eq!(of_rule("no-sanitize"), 1);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/a.cc");
    assert_eq!(place["region"]["startLine"], 4);
}

#[test]
fn what_is_learnt_can_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = "#include <stdatomic.h>
static inline int my_get_acquire(atomic_int *p) { return atomic_load_explicit(p, memory_order_acquire); }
";
    std::fs::write(folder.path().join("my.h"), header).expect("a file");
    let user = "#include \"my.h\"\nint f(atomic_int *p) { return my_get_acquire(p); }\n";
    std::fs::write(folder.path().join("user.c"), user).expect("a file");
    let before = stdout(&scan(folder.path(), &["user.c"]));
    assert!(before.contains("0 sites"), "{before}");
    let learnt = stdout(&scan(folder.path(), &["--learn"]));
    assert!(learnt.contains("my_get"), "{learnt}");
    std::fs::write(folder.path().join("wmfix.toml"), &learnt).expect("a file");
    let after = stdout(&scan(folder.path(), &["user.c"]));
    assert!(after.contains("my_get_acquire in f"), "{after}");
}

#[test]
fn what_is_not_there_or_not_well_formed_is_bad_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = scan(folder.path(), &["nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere"));
    std::fs::write(
        folder.path().join("wmfix.toml"),
        "[[vocabulary]]\nstyle = 3\n",
    )
    .expect("a file");
    let output = scan(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("wmfix.toml"));
}
