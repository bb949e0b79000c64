//! Macro bodies as text: what token pasting (`##`) and `__VA_ARGS__` make of them for
//! the arguments of one use. Knows tokens; knows nothing of trees or atomics.

use std::borrow::Cow;

/// The name of everything that a variadic macro takes beyond its parameters.
const VARIADIC: &str = "__VA_ARGS__";

/// The operators of macro bodies made readable for a parser, same length: what is
/// pasted together becomes one word, what is made a string a word of its own.
pub(crate) fn readable_body(body: &[u8]) -> Cow<'_, [u8]> {
    let mut readable = Cow::Borrowed(body);
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'#', &body[at..]) {
        let start = at + found;
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
        if body.get(start + 1) != Some(&b'#') {
            readable.to_mut()[start] = b'_';
            at = start + 1;
            continue;
        }
        let before = body[..start].iter().rev().take_while(|b| blank(b)).count();
        let after = body[start + 2..].iter().take_while(|b| blank(b)).count();
        let pasted = start - before..start + 2 + after;
        // `, ## __VA_ARGS__` pastes nothing: it drops the comma if nothing follows.
        let after_comma = body[..pasted.start].last() == Some(&b',');
        let fill = if after_comma { b' ' } else { b'_' };
        readable.to_mut()[pasted.clone()].fill(fill);
        at = pasted.end;
    }
    readable
}

/// A macro whose body is not what its uses do: something in it is pasted together
/// or depends on how many arguments there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MacroTemplate {
    parameters: Vec<String>,
    body: String,
}

/// What a use of a template stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MacroInstance {
    /// A name for each argument of the use.
    pub parameters: Vec<String>,
    /// The body.
    pub body: String,
}

impl MacroTemplate {
    /// The macro with these parameters, if its body is not what its uses do, or uses
    /// another one of which that is true.
    pub(crate) fn of(
        parameters: &[String],
        body: &str,
        is_template: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let template = Self {
            parameters: parameters.to_vec(),
            body: body.replace("\\\r\n", " \n").replace("\\\n", " \n"),
        };
        let is_one =
            body.contains("##") || body.contains(VARIADIC) || template.words().any(is_template);
        is_one.then_some(template)
    }

    /// Whether its uses may call functions whose names the body does not have.
    pub(crate) fn pastes_callees(&self) -> bool {
        let tokens = tokens(&self.body);
        let mut next = 0;
        while let Some((pasted, end)) = pasted_at(&tokens, next) {
            if pasted.len() > 1 && tokens.get(end) == Some(&"(") {
                return true;
            }
            next = end.max(next + 1);
        }
        false
    }

    /// The words of the body.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        tokens(&self.body)
            .into_iter()
            .filter(|token| is_word(token))
    }

    /// What a use with these arguments calls: names of functions are put together,
    /// all other parameters keep their names.
    pub(crate) fn call_instance(&self, arguments: &[String]) -> Option<MacroInstance> {
        let (fixed, extra) = self.split(arguments)?;
        let mut parameters = fixed.to_vec();
        parameters.extend((0..extra.len()).map(|number| format!("variadic_{number}_")));
        let variadic = parameters[fixed.len()..].join(", ");
        let tokens = tokens(&self.body);
        let mut body = String::new();
        let mut next = 0;
        while let Some((pasted, end)) = pasted_at(&tokens, next) {
            let is_callee = pasted.len() > 1 && tokens.get(end) == Some(&"(");
            let substituted = |token: &&str| match fixed.iter().position(|p| p == token) {
                Some(number) => arguments[number].trim().to_owned(),
                None => (*token).to_owned(),
            };
            match pasted[..] {
                [VARIADIC] => push_variadic(&mut body, &variadic),
                [",", VARIADIC] => push_variadic(&mut body, &format!(", {variadic}")),
                _ if is_callee => {
                    let name: String = pasted.iter().map(substituted).collect();
                    if !is_word(&name) {
                        return None;
                    }
                    body.push_str(&name);
                }
                _ => body.push_str(&pasted.join("##")),
            }
            next = end;
        }
        Some(MacroInstance { parameters, body })
    }

    /// The text that a use with these arguments is.
    pub(crate) fn expansion(&self, arguments: &[String]) -> Option<String> {
        let (fixed, extra) = self.split(arguments)?;
        let tokens = tokens(&self.body);
        let mut text = String::new();
        let mut next = 0;
        while let Some((pasted, end)) = pasted_at(&tokens, next) {
            for token in pasted {
                match fixed.iter().position(|parameter| parameter == token) {
                    Some(number) => text.push_str(arguments[number].trim()),
                    None if token == VARIADIC => push_variadic(&mut text, &extra.join(",")),
                    None => text.push_str(token),
                }
            }
            next = end;
        }
        Some(text)
    }

    /// The parameters with a name, and the arguments that have none.
    fn split<'a>(&'a self, arguments: &'a [String]) -> Option<(&'a [String], &'a [String])> {
        let is_variadic = self.parameters.last().is_some_and(|last| last == "...");
        let named = self.parameters.len() - usize::from(is_variadic);
        let extra = arguments.get(named..)?;
        (is_variadic || extra.is_empty()).then_some((&self.parameters[..named], extra))
    }
}

/// Puts the variadic arguments behind a text; a comma in front of none of them goes.
fn push_variadic(text: &mut String, arguments: &str) {
    if arguments.trim().is_empty() || arguments.trim() == "," {
        let kept = text.trim_end().trim_end_matches(',').len();
        text.truncate(kept);
    } else {
        text.push_str(arguments);
    }
}

/// The tokens that are pasted together at one, and where the next one is; a token by
/// itself if nothing is pasted to it.
fn pasted_at<'t>(tokens: &[&'t str], start: usize) -> Option<(Vec<&'t str>, usize)> {
    let mut pasted = vec![*tokens.get(start)?];
    let mut end = start + 1;
    let skip_blanks = |mut at: usize| {
        while tokens.get(at).is_some_and(|token| token.trim().is_empty()) {
            at += 1;
        }
        at
    };
    while tokens.get(skip_blanks(end)) == Some(&"##") {
        let operand = skip_blanks(skip_blanks(end) + 1);
        let Some(token) = tokens.get(operand) else {
            break;
        };
        pasted.push(token);
        end = operand + 1;
    }
    // A name and its parenthesis belong together.
    let next = skip_blanks(end);
    if pasted.len() > 1 && tokens.get(next) == Some(&"(") {
        end = next;
    }
    Some((pasted, end))
}

/// The tokens of a body: words, literals, comments and blanks whole, `##`, and single
/// characters.
fn tokens(body: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if of_word(first) {
            rest.find(|c| !of_word(c)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            let end = rest.find(|c: char| !c.is_whitespace());
            end.unwrap_or(rest.len())
        } else if rest.starts_with("##") {
            2
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' {
            literal_length(rest, first)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn is_word(token: &str) -> bool {
    let mut letters = token.chars();
    letters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// The arguments of a macro's use, from behind its opening parenthesis, and the offset
/// behind the closing one.
pub(crate) fn arguments_of(text: &str) -> Option<(Vec<String>, usize)> {
    let mut arguments = vec![String::new()];
    let (mut depth, mut at) = (0_usize, 0);
    for token in tokens(text) {
        at += token.len();
        match token {
            ")" if depth == 0 => {
                let is_empty = arguments.len() == 1 && arguments[0].trim().is_empty();
                return Some((if is_empty { Vec::new() } else { arguments }, at));
            }
            "," if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        arguments.last_mut()?.push_str(token);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MacroTemplate, arguments_of, readable_body};

    fn template(parameters: &[&str], body: &str) -> MacroTemplate {
        let parameters: Vec<String> = parameters.iter().map(|&p| p.to_owned()).collect();
        MacroTemplate::of(&parameters, body, |_| false).expect("a template")
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_body_is_readable_and_keeps_its_length() {
        for (body, readable) in [
            ("f(p, order_##o)", "f(p, order___o)"),
            ("f(p, order_ ## o)", "f(p, order_____o)"),
            ("f(p, ##__VA_ARGS__)", "f(p,   __VA_ARGS__)"),
            ("say(#p, f(p))", "say(_p, f(p))"),
            ("f(p)", "f(p)"),
        ] {
            let read = readable_body(body.as_bytes());
            let read = String::from_utf8_lossy(&read).into_owned();
            assert_eq!(read.len(), body.len());
            assert_eq!(read.replace(' ', ""), readable.replace(' ', ""), "{body}");
        }
    }

    #[test]
    fn names_of_callees_are_put_together_and_other_parameters_stay() {
        let load = template(
            &["op", "p", "..."],
            "atomic_##op##_explicit (p, __VA_ARGS__)",
        );
        assert!(load.pastes_callees());
        let instance = load.call_instance(&strings(&["store", "&x", "1", "order"]));
        let instance = instance.expect("an instance");
        assert_eq!(
            instance.body,
            "atomic_store_explicit(p, variadic_0_, variadic_1_)"
        );
        assert_eq!(
            instance.parameters,
            ["op", "p", "variadic_0_", "variadic_1_"]
        );
        // What is pasted is no name.
        assert_eq!(load.call_instance(&strings(&["a b", "&x"])), None);
        assert_eq!(load.call_instance(&strings(&["load"])), None);

        let order = template(&["p", "o"], "load(p, order_##o)");
        assert!(!order.pastes_callees());
        let instance = order.call_instance(&strings(&["&x", "relaxed"]));
        assert_eq!(instance.expect("an instance").body, "load(p, order_##o)");
    }

    #[test]
    fn no_variadic_arguments_take_their_comma_along() {
        let fence = template(&["f", "..."], "f(0, ##__VA_ARGS__)");
        let none = fence.call_instance(&strings(&["f"])).expect("an instance");
        assert_eq!(none.body, "f(0)");
        let one = fence.call_instance(&strings(&["f", "1"]));
        assert_eq!(one.expect("an instance").body, "f(0, variadic_0_)");
    }

    #[test]
    fn an_expansion_is_what_the_preprocessor_makes() {
        let make = template(
            &["t", "n"],
            "static t load_##n(t *p) { \\\n return load_n(p, \"n\"); }",
        );
        let (arguments, end) = arguments_of("unsigned long, f(a, b)) rest").expect("closed");
        assert_eq!(arguments, ["unsigned long", " f(a, b)"]);
        assert_eq!(end, 23);
        let text = make.expansion(&strings(&["unsigned long", " ul"]));
        let text = text.expect("an expansion").replace(" \n ", "");
        assert_eq!(
            text,
            "static unsigned long load_ul(unsigned long *p) { return load_n(p, \"n\"); }"
        );
        assert_eq!(make.expansion(&strings(&["int"])), None);
        assert_eq!(arguments_of("a, (b"), None);
        assert_eq!(arguments_of(" )"), Some((Vec::new(), 2)));
    }
}
