//! Operations that a compiler makes for an OpenMP directive (the atomic combination of
//! a reduction, say): the author wrote the directive and can change nothing about them.

/// Whether this line is an OpenMP directive for which a compiler makes operations of
/// its own. What follows `omp atomic` is the author's.
pub(super) fn makes_operations(line: &str) -> bool {
    let Some(directive) = openmp_directive(line) else {
        return false;
    };
    let word = directive.split(|sign: char| !sign.is_alphanumeric()).next();
    word.is_some_and(|word| !word.is_empty() && word != "atomic")
}

/// What a line says to OpenMP.
fn openmp_directive(line: &str) -> Option<&str> {
    let line = line.trim();
    let said = match line.strip_prefix('#') {
        Some(said) => after_word(said, "pragma")?,
        None => {
            let said = line.strip_prefix("_Pragma")?.trim_start();
            said.strip_prefix('(')?.trim_start().strip_prefix('"')?
        }
    };
    after_word(said, "omp")
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix(word)?;
    let ends = rest.starts_with(char::is_whitespace);
    ends.then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::makes_operations;

    #[test]
    fn directives_other_than_atomic() {
        for line in [
            "#pragma omp for reduction(+ : sum)",
            "  #  pragma  omp parallel for",
            "_Pragma(\"omp parallel for reduction(+:x)\")",
            "#pragma omp single",
        ] {
            assert!(makes_operations(line), "{line}");
        }
        for line in [
            "#pragma omp atomic",
            "#pragma omp atomic capture",
            "#pragma once",
            "#pragma ompx for",
            "#pragma omp",
            "#define omp for",
            "x += 1; // #pragma omp for",
            "_Pragma(\"once\")",
            "",
        ] {
            assert!(!makes_operations(line), "{line}");
        }
    }
}
