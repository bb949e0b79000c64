//! Literals of C and C++: where one ends, the value of an integer, and the words that
//! stand for one.

/// The offset behind a literal, or of the end of its line.
pub(crate) fn literal_end(text: &[u8], start: usize, quote: u8) -> usize {
    let mut i = start + 1;
    while i < text.len() && text[i] != quote && text[i] != b'\n' {
        i += if text[i] == b'\\' { 2 } else { 1 };
    }
    match text.get(i) {
        Some(&byte) if byte == quote => i + 1,
        _ => i.min(text.len()),
    }
}

/// The value of an integer literal, or of a word that stands for one.
pub(crate) fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    match text {
        "true" => return Some(1),
        "false" | "NULL" | "nullptr" => return Some(0),
        _ => {}
    }
    if let Some(positive) = text.strip_prefix('-') {
        return integer(positive).map(|value| -value);
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        let mut bytes = quoted.bytes();
        return match (bytes.next(), bytes.next()) {
            (Some(byte), None) => Some(i128::from(byte)),
            _ => None,
        };
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let digits: String = digits.chars().filter(|&c| c != '\'').collect();
    let lower = digits.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()
    } else if let Some(binary) = lower.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()
    } else if lower.len() > 1 && lower.starts_with('0') {
        i128::from_str_radix(&lower, 8).ok()
    } else {
        lower.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn literals_of_every_kind() {
        for (text, value) in [
            ("42u", Some(42)),
            ("0x1Full", Some(31)),
            ("0b101", Some(5)),
            ("017", Some(15)),
            ("1'000", Some(1000)),
            ("-1", Some(-1)),
            ("'a'", Some(97)),
            ("true", Some(1)),
            ("nullptr", Some(0)),
            ("x", None),
            ("1.5", None),
        ] {
            assert_eq!(integer(text), value, "{text}");
        }
    }
}
