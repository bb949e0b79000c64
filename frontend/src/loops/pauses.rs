//! What passes the time in a loop and does nothing else: a pause instruction, a
//! yield of the system, and macros of the project that stand for just one of these.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::syntax::arguments;

/// Calls that only pass the time, as they must be written.
const PAUSES: [&str; 8] = [
    "sched_yield",
    "::sched_yield",
    "thrd_yield",
    "std::this_thread::yield",
    "::std::this_thread::yield",
    "__builtin_ia32_pause",
    "_mm_pause",
    "__yield",
];

/// Instructions that only pass the time; none, for what only the compiler heeds.
const INSTRUCTIONS: [&str; 6] = ["", "pause", "yield", "nop", "rep;nop", "isb"];

/// Whether a call, a name or inline assembly only passes the time.
pub(super) fn is_pause(node: Node<'_>, context: &ScanContext<'_>) -> bool {
    let text = squeezed(&context.file.node_text(node));
    match node.kind() {
        "gnu_asm_expression" => is_assembly(&text),
        "identifier" => is_macro(&text, false, context),
        "call_expression" if arguments(node).is_empty() => {
            let name = text.trim_end_matches("()");
            is_system(name, context) || is_macro(name, true, context)
        }
        _ => false,
    }
}

/// Whether a function-like macro only passes its argument on.
pub(super) fn is_hint(name: &str, context: &ScanContext<'_>) -> bool {
    if name == "__builtin_expect" {
        return context.declared.macro_texts(name).next().is_none();
    }
    let mut texts = context.declared.macro_texts(name).peekable();
    texts.peek().is_some()
        && !context.declared.declares_function(name)
        && texts.all(|text| {
            let (Some([parameter]), Some(body)) = (text.parameters.as_deref(), &text.body) else {
                return false;
            };
            let body = squeezed(body);
            let inner = body
                .strip_prefix("__builtin_expect(")
                .and_then(|rest| rest.strip_suffix(",0)").or(rest.strip_suffix(",1)")));
            let value = inner.unwrap_or(&body).trim_start_matches("!!");
            value == parameter || value == format!("({parameter})")
        })
}

fn is_system(name: &str, context: &ScanContext<'_>) -> bool {
    let last = name.rsplit("::").next().unwrap_or_default();
    PAUSES.contains(&name)
        && context.declared.macro_texts(last).next().is_none()
        && (name.contains("this_thread") || !context.declared.declares_function(last))
}

fn is_macro(name: &str, with_parentheses: bool, context: &ScanContext<'_>) -> bool {
    let mut texts = context.declared.macro_texts(name).peekable();
    texts.peek().is_some()
        && !context.declared.declares_function(name)
        && texts.all(|text| {
            let fits = match &text.parameters {
                Some(parameters) => with_parentheses && parameters.is_empty(),
                None => !with_parentheses,
            };
            let body = text.body.as_deref().map(squeezed).unwrap_or_default();
            fits && text.body.is_some() && is_pause_text(&body, context)
        })
}

fn is_pause_text(body: &str, context: &ScanContext<'_>) -> bool {
    let inner = body
        .strip_prefix("do{")
        .and_then(|rest| rest.strip_suffix("}while(0)"))
        .unwrap_or(body);
    let inner = inner.trim_end_matches(';');
    let inner = inner
        .strip_prefix("((void)0)")
        .or(inner.strip_prefix("(void)0"))
        .unwrap_or(inner);
    let called = inner.strip_suffix("()");
    inner.is_empty() || is_assembly(inner) || called.is_some_and(|name| is_system(name, context))
}

/// Whether inline assembly, without its spaces, is one of the instructions that only
/// pass the time and has no operands.
fn is_assembly(text: &str) -> bool {
    let strip = |text: &'_ str, words: &[&str]| {
        let rest = words.iter().find_map(|word| text.strip_prefix(word));
        rest.unwrap_or(text).to_owned()
    };
    let Some(_) = ["__asm__", "__asm", "asm"]
        .iter()
        .find(|word| text.starts_with(**word))
    else {
        return false;
    };
    let rest = strip(text, &["__asm__", "__asm", "asm"]);
    let rest = strip(&rest, &["__volatile__", "__volatile", "volatile"]);
    let Some(inner) = rest
        .strip_prefix("(\"")
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return false;
    };
    let Some((instruction, behind)) = inner.split_once('"') else {
        return false;
    };
    let instruction = instruction.replace("\\n", "").replace("\\t", "");
    let no_operands = ["", ":", "::", ":::", ":::\"memory\""];
    INSTRUCTIONS.contains(&instruction.trim_end_matches(';')) && no_operands.contains(&behind)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
