//! What all SARIF 2.1.0 logs of wmfix share: the frame, and paths as URIs. Knows
//! nothing of findings.

use std::path::Path;

use serde_json::{Value, json};

/// A log with one run of wmfix: its rules, and the run's other members.
pub(crate) fn log(rules: Value, mut run: Value) -> Value {
    run["tool"] = json!({ "driver": {
        "name": "wmfix",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    } });
    run["columnKind"] = json!("utf16CodeUnits");
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

/// A path as a URI: relative if the path is; what a URI may not hold is escaped.
pub(crate) fn uri(path: &str) -> String {
    let scheme = if Path::new(path).is_absolute() {
        "file://"
    } else {
        ""
    };
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = String::from(scheme);
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~+@,".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(uri("./src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("src/é.c"), "src/%C3%A9.c");
        assert_eq!(uri("/usr/include/x.h"), "file:///usr/include/x.h");
    }
}
