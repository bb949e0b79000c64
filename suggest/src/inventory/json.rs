//! The inventory for programs: one JSON object, and the words it shares with the
//! other formats.

use serde_json::{Value, json};
use wmfix_frontend::{
    Joint, Language, LoopExit, LoopRole, Note, Operand, OrderForm, OrderSpelling, Site,
    SiteOperation, TreeScan,
};

/// The object, indented.
pub(super) fn render(scan: &TreeScan) -> anyhow::Result<String> {
    let files: Vec<Value> = scan
        .files
        .iter()
        .map(|(path, file)| {
            json!({
                "file": path.to_string_lossy(),
                "language": match file.language { Language::C => "c", Language::Cpp => "c++" },
                "sites": file.sites.iter().map(site).collect::<Vec<_>>(),
                "notes": file.notes.iter().map(note).collect::<Vec<_>>(),
            })
        })
        .collect();
    let sites: usize = scan.files.iter().map(|(_, file)| file.sites.len()).sum();
    let object = json!({
        "version": 1,
        "files_seen": scan.seen,
        "files_parsed": scan.parsed,
        "sites": sites,
        "files": files,
        "notes": scan.unreadable.iter().map(note).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&object)? + "\n")
}

fn site(site: &Site) -> Value {
    json!({
        "file": site.file.to_string_lossy(),
        "line": site.start.line,
        "column": site.start.column,
        "function": site.function,
        "operation": site.callee,
        "order": site.order.order.map(|order| order.name()),
        "kind": operation_name(site.operation),
        "order_said": form_name(&site.order.form),
        "failure_order": site.failure_order.as_ref().map(order_name),
        "vocabulary": &*site.vocabulary,
        "span": [site.span.start, site.span.end],
        "object": site.object.as_ref().map(|span| [span.start, span.end]),
        "macro": site.macro_name,
        "role": role_name(&site.role),
    })
}

fn note(note: &Note) -> Value {
    json!({
        "file": note.file.to_string_lossy(),
        "line": note.place.map(|place| place.line),
        "column": note.place.map(|place| place.column),
        "kind": note.kind.name(),
        "detail": note.detail,
    })
}

/// What an operation is called in reports.
pub(super) fn operation_name(operation: SiteOperation) -> &'static str {
    match operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "rmw",
        SiteOperation::CompareExchange { .. } => "compare-exchange",
        SiteOperation::Fence => "fence",
        SiteOperation::SignalFence => "signal-fence",
    }
}

/// The order, or `?` where the text does not decide it.
pub(super) fn order_name(spelling: &OrderSpelling) -> &'static str {
    spelling.order.map_or("?", |order| order.name())
}

fn form_name(form: &OrderForm) -> &'static str {
    match form {
        OrderForm::Literal(_) => "literal",
        OrderForm::NotLiteral(_) => "not-literal",
        OrderForm::Pasted { .. } => "pasted",
        OrderForm::Suffix(_) => "suffix",
        OrderForm::Macro(_) => "macro",
        OrderForm::Implied => "implied",
    }
}

/// A role in a few words, with the condition that ends the loop.
pub(super) fn role_name(role: &LoopRole) -> Option<String> {
    match role {
        LoopRole::None => None,
        LoopRole::CasLoop => Some("cas loop".to_owned()),
        LoopRole::Spin(exit) => Some(format!("spin until {}", exit_words(exit))),
        LoopRole::BlockingCas(exit) => Some(format!("blocks until {}", exit_words(exit))),
    }
}

fn exit_words(exit: &LoopExit) -> String {
    let comparison = exit.comparison.sign();
    let operand = |operand: &Operand| match operand {
        Operand::Constant(value) => value.to_string(),
        Operand::Unknown(text) => text.clone(),
    };
    let mut words = match &exit.mask {
        Some(mask) => format!("& {} ", operand(mask)),
        None => String::new(),
    };
    words += &format!("{comparison} {}", operand(&exit.operand));
    if exit.joint == Joint::Any {
        words += ", or otherwise";
    }
    words
}
