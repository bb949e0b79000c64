//! What people are shown of a dossier that does not change: a run of a program in
//! a file of an awkward name, with findings of every sort, some allowed, and a
//! repair of two groups.

use super::model::{HarmWord, ReportedHarm};
use super::{Dossier, Page, TextRenderer, TextStyle, group_text, html, repair_text, sarif};
use crate::exit::ExitStatus;

fn dossier() -> Dossier {
    serde_json::from_str(include_str!("testdata/dossier.json")).expect("a dossier")
}

#[test]
fn the_report_as_text() {
    let dossier = dossier();
    let text = TextRenderer::new(TextStyle::default()).report(&dossier)
        + &repair_text(&dossier, TextStyle::default());
    insta::assert_snapshot!(text);
}

#[test]
fn a_finding_in_depth_with_what_the_repair_changes() {
    let dossier = dossier();
    let told = |id| TextRenderer::new(TextStyle::default()).explanation(&dossier, id);
    let (stale, allowed) = (told("V2").expect("V2"), told("R2").expect("R2"));
    insta::assert_snapshot!(format!("{stale}\n{:=<80}\n{allowed}", ""));
    assert_eq!(told("V9"), None);
}

#[test]
fn the_audit_as_text() {
    insta::assert_snapshot!(TextRenderer::new(TextStyle::default()).audit(&dossier(), "<b>.c"));
}

#[test]
fn the_report_as_a_page() {
    let page = html(&dossier(), "<b>.c", Page::Report);
    assert!(!page.contains("<b>"), "a name must not become markup");
    assert!(!page.contains("<script") && !page.contains("<link"));
    // A line an element, so that differences can be read.
    insta::assert_snapshot!(page.replace("><", ">\n<"));
}

#[test]
fn the_page_and_the_audit_name_verdicts() {
    let mut dossier = dossier();
    let harm = |verdict, stack: &[&str]| {
        Some(ReportedHarm {
            verdict,
            runs: 3,
            ended: "SIGABRT".to_owned(),
            stack: stack.iter().map(|&line| line.to_owned()).collect(),
            seed: Some(1),
            command: None,
        })
    };
    let violations = &mut dossier.report.violations;
    violations[0].harm = harm(HarmWord::Harmful, &["inner at b.c:7"]);
    violations[1].harm = harm(HarmWord::NoEffectSeen, &[]);
    violations[1].counts = false;
    for kind in [Page::Report, Page::Audit] {
        let page = html(&dossier, "b.c", kind);
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
        assert!(at("(1 harmful, 1 with no effect seen)") < at(">Findings<"));
        assert!(at(">harmful</span>") < at("inner at b.c:7"));
        assert!(at("inner at b.c:7") < at(">Not counted<"));
        assert!(at(">Not counted<") < at("id=\"V2\""));
    }
    let audit = TextRenderer::new(TextStyle::default()).audit(&dossier, "b.c");
    assert!(audit.contains("error[V1]") && audit.contains("inner at b.c:7"));
    assert!(
        audit.contains("\nnot counted") && audit.contains("\n  V2: "),
        "{audit}"
    );
}

#[test]
fn an_audit_says_first_what_was_not_reached() {
    let dossier = dossier();
    let before = |page: &str, one: &str, other: &str| {
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
        at(one) < at(other)
    };
    let audit = html(&dossier, "<b>.c", Page::Audit);
    assert!(before(&audit, ">Not reached<", ">Findings<"));
    assert!(before(&audit, ">Findings<", ">Inventory<"));
    let report = html(&dossier, "<b>.c", Page::Report);
    assert!(before(&report, ">Findings<", ">Not reached<"));
    let text = TextRenderer::new(TextStyle::default()).audit(&dossier, "<b>.c");
    assert!(before(
        &text,
        "Not reached by any run: 1 of 7",
        "warning[V1]"
    ));
}

#[test]
fn the_words_before_a_patch_are_no_patch() {
    let dossier = dossier();
    let repair = dossier.report.repair.as_ref().expect("a repair");
    assert_eq!(repair.groups.len(), 2);
    for number in 0..2 {
        let words = group_text(repair, number);
        let changes = repair.groups[number].changes.len();
        assert!(
            words.starts_with(&format!("wmfix: {changes} changes\n")),
            "{words}"
        );
        for line in words.lines() {
            for start in ["diff ", "--- ", "+++ ", "@@", "Index"] {
                assert!(!line.starts_with(start), "{line}");
            }
        }
    }
}

#[test]
fn fingerprints_do_not_know_lines_and_fixes_hold_the_text() {
    let here = dossier();
    let text = serde_json::to_string(&here).expect("JSON");
    let mut moved: Dossier = serde_json::from_str(&text).expect("a dossier");
    for detail in moved.details.values_mut() {
        detail.access.place.line += 100;
        detail.access.span = detail.access.span.map(|(start, end)| (start + 5, end + 5));
    }
    let results = |dossier: &Dossier| {
        let log: serde_json::Value =
            serde_json::from_str(&sarif(dossier, ExitStatus::Findings).expect("a log"))
                .expect("JSON");
        log["runs"][0]["results"]
            .as_array()
            .expect("a list")
            .clone()
    };
    let prints = |dossier: &Dossier| -> Vec<String> {
        let results = results(dossier).into_iter();
        results
            .map(|result| result["partialFingerprints"]["wmfix/v1"].to_string())
            .collect()
    };
    let known = prints(&here);
    assert_eq!(known, prints(&moved));
    let mut each_once = known.clone();
    each_once.sort();
    each_once.dedup();
    assert_eq!(each_once.len(), known.len(), "{known:?}");

    for result in results(&here) {
        let suppressed = result["suppressions"].is_array();
        assert_eq!(result["fixes"].is_array(), !suppressed, "{result}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(
            region["endColumn"].as_u64() > region["startColumn"].as_u64(),
            "{region}"
        );
    }
}
