//! Studies as Markdown, for docs/case-studies.md.

use super::case::{Language, Layer};
use super::study::{PatchVerdict, RightLine, Study};

/// A table of all studies, what they come to together, and below it what is
/// reported for the fixed versions.
pub fn markdown(studies: &[Study]) -> String {
    let mut text = String::from(
        "| case | in | found after | right line | patch | price, ours : theirs | further changes | \
         other findings (also when fixed) | when fixed |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for study in studies {
        text += &row(study);
    }
    text += &summary(studies);
    text += "\nReported for the fixed versions:\n\n";
    for study in studies {
        for line in &study.remaining {
            text += &format!("- `{}`: {line}\n", study.case.name);
        }
        for failure in &study.failures {
            text += &format!("- `{}`: failed: {failure}\n", study.case.name);
        }
    }
    text
}

fn row(study: &Study) -> String {
    let language = match study.case.description.language {
        Language::C => "C",
        Language::Cxx => "C++",
    };
    let layer = match study.case.description.layer {
        Layer::None => "",
        Layer::Class => ", class",
        Layer::Macro => ", macros",
        Layer::Helper => ", helpers",
    };
    let found = match study.found_after {
        Some(1) => "1 run".to_owned(),
        Some(runs) => format!("{runs} runs"),
        None => format!("not in {}", study.runs),
    };
    let right_line = match study.right_line {
        RightLine::Finding => "yes",
        RightLine::Patch => "in the patch",
        RightLine::Nothing => "no",
    };
    let patch = match study.patch {
        PatchVerdict::Equal => "equal",
        PatchVerdict::SamePrice => "same price",
        PatchVerdict::Cheaper => "cheaper",
        PatchVerdict::Dearer => "dearer",
        PatchVerdict::Elsewhere => "elsewhere",
        PatchVerdict::None => "none",
    };
    let held = match (study.patch, study.verification.as_deref()) {
        (PatchVerdict::None, _) | (_, Some("held")) => String::new(),
        (_, outcome) => format!(" ({})", outcome.unwrap_or("not verified")),
    };
    let prices = match study.prices {
        Some((ours, theirs)) => format!("{ours} : {theirs}"),
        None => String::new(),
    };
    format!(
        "| `{}` | {language}{layer} | {found} | {right_line} | {patch}{held} | {prices} | {} | {} ({}) | {} |\n",
        study.case.name,
        study.further_changes,
        study.others,
        study.others_in_fixed,
        study.remaining.len(),
    )
}

fn summary(studies: &[Study]) -> String {
    let count = |holds: &dyn Fn(&Study) -> bool| studies.iter().filter(|s| holds(s)).count();
    format!(
        "\nOf {} cases: {} found, {} of them with a finding at the right line and {} more with the \
         patch there; patches: {} equal, {} for the same price, {} cheaper, {} dearer, {} elsewhere, \
         {} none.\n",
        studies.len(),
        count(&|s| s.found_after.is_some()),
        count(&|s| s.right_line == RightLine::Finding),
        count(&|s| s.right_line == RightLine::Patch),
        count(&|s| s.patch == PatchVerdict::Equal),
        count(&|s| s.patch == PatchVerdict::SamePrice),
        count(&|s| s.patch == PatchVerdict::Cheaper),
        count(&|s| s.patch == PatchVerdict::Dearer),
        count(&|s| s.patch == PatchVerdict::Elsewhere),
        count(&|s| s.patch == PatchVerdict::None),
    )
}
