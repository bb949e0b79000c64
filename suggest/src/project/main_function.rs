//! Whether a source text defines `main`: the name, a parameter list and a body,
//! outside of everything, or a header that does. Comments, strings and other
//! preprocessor lines do not count.

/// The header of a file of scenarios, without its ending: `main` is in it.
const SCENARIOS: &[u8] = b"wmfix/scenarios.h";

/// Whether `text` defines `main`.
pub(super) fn is_defined_in(text: &[u8]) -> bool {
    if includes_scenarios(text) {
        return true;
    }
    let code = without_comments(text);
    let mut depth = 0usize;
    for at in 0..code.len() {
        match code[at] {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            // `extern "C" {` is the one brace that main may stand in.
            b'm' if depth <= 1 && is_word_main(&code, at) && is_definition(&code[at + 4..]) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether `text` has the name `main` before a parenthesis anywhere: broken text that
/// was to define it, or the argument of a macro that does.
pub(super) fn is_called_in(text: &[u8]) -> bool {
    let code = without_comments(text);
    includes_scenarios(text)
        || (0..code.len()).any(|at| {
            is_word_main(&code, at) && code[at + 4..].trim_ascii_start().starts_with(b"(")
        })
}

/// Whether a line includes the scenarios, with their `main`.
fn includes_scenarios(text: &[u8]) -> bool {
    let directives = || text.split(|&byte| byte == b'\n').filter_map(directive);
    let has = |line: &[u8], words: &[u8]| line.windows(words.len()).any(|at| at == words);
    directives().any(|line| line.starts_with(b"include") && has(line, SCENARIOS))
        && !directives().any(|line| line.starts_with(b"define") && has(line, b"WMFIX_NO_MAIN"))
}

/// What follows the `#` of a line.
fn directive(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?;
    Some(rest.trim_ascii_start())
}

fn is_word_main(code: &[u8], at: usize) -> bool {
    let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let before = at.checked_sub(1).and_then(|before| code.get(before));
    code[at..].starts_with(b"main")
        && !before.is_some_and(of_word)
        && !code.get(at + 4).is_some_and(of_word)
}

/// Whether what follows the name is parameters and then a body.
fn is_definition(after: &[u8]) -> bool {
    let mut bytes = after.iter().skip_while(|byte| byte.is_ascii_whitespace());
    if bytes.next() != Some(&b'(') {
        return false;
    }
    let mut depth = 1;
    for byte in bytes.by_ref() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    // Between them: nothing, an attribute, `noexcept`, a return type.
    bytes.find(|byte| matches!(byte, b'{' | b';' | b',' | b')')) == Some(&b'{')
}

/// The text with comments, literals and preprocessor lines blanked.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut code = Vec::with_capacity(text.len());
    let mut at = 0;
    let mut line_is_blank = true;
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let skipped = if rest.starts_with(b"//") || byte == b'#' && line_is_blank {
            line_length(rest)
        } else if rest.starts_with(b"/*") {
            let end = rest[2..].windows(2).position(|pair| pair == b"*/");
            end.map_or(rest.len(), |end| end + 4)
        } else if byte == b'"' || byte == b'\'' {
            literal_length(rest)
        } else {
            1
        };
        line_is_blank = byte == b'\n' || line_is_blank && byte.is_ascii_whitespace();
        code.push(if skipped == 1 { byte } else { b' ' });
        at += skipped.max(1);
    }
    code
}

/// The length of a line, continued ones included, without its end.
fn line_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        if byte == b'\n' && !escaped {
            return at;
        }
        escaped = byte == b'\\';
    }
    text.len()
}

fn literal_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            // A digit separator, or text that is no code at all.
            b'\n' => return 1,
            b'\\' => escaped = true,
            _ if byte == text[0] => return at + 1,
            _ => {}
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::is_defined_in;

    #[test]
    fn definitions_of_main() {
        for text in [
            "int main(void) { return 0; }",
            "int\nmain (int argc, char **argv)\n{\n}",
            "extern \"C\" { int main() {} }",
            "int x = 1'000; int main() noexcept {}",
            "auto main() -> int { }",
            "const char *s = \"{\"; int main() {}",
            "#include <a>\n# define X {\nint main() {}",
            "#include <wmfix/scenarios.hpp>\nWMFIX_OBJECT(ring)",
            "# include \"wmfix/scenarios.h\"",
        ] {
            assert!(is_defined_in(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "int main(void);",
            "// #include <wmfix/scenarios.hpp>",
            "#define WMFIX_NO_MAIN\n#include <wmfix/scenarios.hpp>",
            "// int main() {}",
            "/* int main() {} */",
            "#define TEST int main() {}\nint x;",
            "int domain() {} int main_loop() {}",
            "void f() { if (x) { main(1); } }",
            "const char *s = \"int main() {}\";",
        ] {
            assert!(!is_defined_in(text.as_bytes()), "{text}");
        }
    }
}
