//! Expected sites, written as comments in the sources of the corpus: `//~` or
//! `/*~ … */`, followed by one expectation for each site that starts on the line,
//! in the order of the text, separated by `;`. An expectation is a list of words,
//! each of which must be true of the site; a site in a loop role must say so.

use wmfix_frontend::{
    FileScan, Joint, LoopExit, LoopRole, Operand, OrderForm, OrderSpelling, Site, SiteOperation,
};

/// Every difference between what a text expects of a scan and what it got.
pub fn differences(text: &str, scan: &FileScan) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).expect("a corpus file is small");
        let expected = expectations(line);
        let got: Vec<Vec<String>> = scan
            .sites
            .iter()
            .filter(|site| site.start.line == number)
            .map(|site| words(site, text))
            .collect();
        if expected.len() != got.len() {
            problems.push(format!(
                "line {number}: expected {} sites, found {}: {got:?}",
                expected.len(),
                got.len()
            ));
            continue;
        }
        for (wanted, got) in expected.iter().zip(&got) {
            let missing: Vec<&String> = wanted.iter().filter(|word| !got.contains(word)).collect();
            if !missing.is_empty() {
                problems.push(format!("line {number}: {missing:?} is not true of {got:?}"));
            }
            let silent = got
                .iter()
                .find(|word| is_role(word) && !wanted.contains(word));
            if let Some(role) = silent {
                problems.push(format!("line {number}: unexpected role {role}"));
            }
        }
        for kind in expected_notes(line) {
            let noted = scan.notes.iter().any(|note| {
                note.kind.name() == kind && note.place.is_some_and(|p| p.line == number)
            });
            if !noted {
                problems.push(format!("line {number}: expected a note {kind}"));
            }
        }
    }
    problems
}

/// How many sites a text expects.
pub fn count(text: &str) -> usize {
    text.lines().map(|line| expectations(line).len()).sum()
}

/// The words that are true of a site.
pub fn words(site: &Site, text: &str) -> Vec<String> {
    let mut words = vec![operation(site.operation).to_owned()];
    let order = |spelling: &OrderSpelling| spelling.order.map_or("?", |order| order.name());
    words.push(match &site.failure_order {
        Some(failure) => format!("{}/{}", order(&site.order), order(failure)),
        None => order(&site.order).to_owned(),
    });
    words.push(place(&site.order).to_owned());
    if let OrderForm::Literal(span)
    | OrderForm::NotLiteral(span)
    | OrderForm::Pasted { span, .. }
    | OrderForm::Suffix(span) = &site.order.form
    {
        words.push(format!("order={}", tight(&text[span.clone()])));
    }
    if let Some(object) = &site.object {
        words.push(format!("on={}", tight(&text[object.clone()])));
    }
    if let Some(function) = &site.function {
        words.push(format!("in={}", tight(function)));
    }
    if let Some(name) = &site.macro_name {
        words.push(format!("body={name}"));
    }
    if site.loop_span.is_some() {
        words.push("looped".to_owned());
    }
    words.push(format!("by={}", site.vocabulary));
    words.push(format!("callee={}", site.callee));
    words.push(format!("all={}", tight(&text[site.span.clone()])));
    let statement = tight(&text[site.statement.clone()]);
    words.push(format!("statement={}", statement.trim_end_matches(';')));
    words.extend(role(&site.role));
    words
}

fn expectations(line: &str) -> Vec<Vec<String>> {
    let Some((_, comment)) = line.split_once("//~").or_else(|| line.split_once("/*~")) else {
        return Vec::new();
    };
    let comment = comment.split("*/").next().unwrap_or_default();
    comment
        .split(';')
        .map(|one| one.split_whitespace().map(str::to_owned).collect())
        .filter(|one: &Vec<String>| !one.is_empty() && !one[0].starts_with('!'))
        .collect()
}

fn expected_notes(line: &str) -> Vec<String> {
    line.split_whitespace()
        .filter_map(|word| word.strip_prefix("!note:"))
        .map(str::to_owned)
        .collect()
}

fn operation(operation: SiteOperation) -> &'static str {
    match operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "rmw",
        SiteOperation::CompareExchange { weak: false } => "cas",
        SiteOperation::CompareExchange { weak: true } => "cas-weak",
        SiteOperation::Fence => "fence",
        SiteOperation::SignalFence => "signal-fence",
    }
}

fn place(spelling: &OrderSpelling) -> &'static str {
    match spelling.form {
        OrderForm::Literal(_) => "literal",
        OrderForm::NotLiteral(_) => "not-literal",
        OrderForm::Pasted { .. } => "pasted",
        OrderForm::Suffix(_) => "suffix",
        OrderForm::Macro(_) => "macro",
        OrderForm::Implied => "implied",
    }
}

fn is_role(word: &str) -> bool {
    word == "cas-loop" || word.starts_with("spin(") || word.starts_with("blocking(")
}

fn role(role: &LoopRole) -> Option<String> {
    match role {
        LoopRole::None => None,
        LoopRole::CasLoop => Some("cas-loop".to_owned()),
        LoopRole::Spin(exit) => Some(format!("spin({})", exit_words(exit))),
        LoopRole::BlockingCas(exit) => Some(format!("blocking({})", exit_words(exit))),
    }
}

fn exit_words(exit: &LoopExit) -> String {
    let mut words = String::new();
    if let Some(mask) = &exit.mask {
        words += &format!("&{}", operand(mask));
    }
    words += exit.comparison.sign();
    words += &operand(&exit.operand);
    match exit.joint {
        Joint::Sole => {}
        Joint::All => words += ",all",
        Joint::Any => words += ",any",
    }
    words
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Constant(value) => value.to_string(),
        Operand::Unknown(text) => tight(text),
    }
}

/// A text as one word.
fn tight(text: &str) -> String {
    text.split_whitespace().collect()
}
