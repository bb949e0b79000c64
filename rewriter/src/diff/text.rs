//! Diffs as text that `git apply` and `patch -p1` take, as git prints them but
//! for the line with the hashes of the file's versions.

use std::path::{Component, Path};

use super::{DiffLine, FileDiff, Hunk, LineKind, LineRange};

/// The unified diff from `before` to `after` as text; empty if they are equal.
pub fn unified_diff(path: &Path, before: &[u8], after: &[u8]) -> Vec<u8> {
    FileDiff::between(path, before, after).to_bytes()
}

impl FileDiff {
    /// The diff as text: a header with `a/` and `b/` in front of the path, then
    /// the hunks. Nothing for texts that are equal.
    pub fn to_bytes(&self) -> Vec<u8> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut out = header(&self.path);
        for hunk in &self.hunks {
            out.extend(hunk.to_bytes());
        }
        out
    }
}

impl Hunk {
    /// The hunk as text: its `@@` line and its lines.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        out.push(b'\n');
        for line in &self.lines {
            line.write(&mut out);
        }
        out
    }

    /// The `@@` line without its line ending.
    pub fn header(&self) -> Vec<u8> {
        let ranges = format!("@@ -{} +{} @@", written(self.old), written(self.new));
        let mut out = ranges.into_bytes();
        if !self.function.is_empty() {
            out.push(b' ');
            out.extend_from_slice(&self.function);
        }
        out
    }
}

impl DiffLine {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(match self.kind {
            LineKind::Context => b' ',
            LineKind::Removed => b'-',
            LineKind::Added => b'+',
        });
        out.extend_from_slice(&self.text);
        if !self.text.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// `first,count`, or only `first` for a single line.
fn written(range: LineRange) -> String {
    match range.count {
        1 => range.first.to_string(),
        count => format!("{},{count}", range.first),
    }
}
fn header(path: &Path) -> Vec<u8> {
    let path = slash_separated(path);
    let (old, new) = (format!("a/{path}"), format!("b/{path}"));
    let (old, new) = (quoted(&old), quoted(&new));
    // Without the tab, `patch` would end the name at its first blank.
    let tab = if path.contains(' ') && !old.starts_with('"') {
        "\t"
    } else {
        ""
    };
    format!("diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n").into_bytes()
}

fn slash_separated(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// A name as git quotes it: only if it has a byte that would confuse a reader.
fn quoted(name: &str) -> String {
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if name.bytes().all(plain) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\t' => quoted.push_str("\\t"),
            b'\n' => quoted.push_str("\\n"),
            byte if plain(byte) => quoted.push(char::from(byte)),
            byte => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        let path = Path::new("./src/a.c");
        String::from_utf8(unified_diff(path, before.as_bytes(), after.as_bytes())).unwrap()
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff("a\n", "a\n"), "");
    }

    #[test]
    fn hunks_count_their_lines_and_name_their_function() {
        let before: String = (1..=20).map(|n| format!("  line {n}\n")).collect();
        let before = format!("int f(void)\n{before}");
        let after = before
            .replace("  line 3\n", "  line 3\n  new\n")
            .replace("  line 20\n", "");
        let hunks: Vec<String> = diff(&before, &after)
            .lines()
            .filter(|line| line.starts_with("@@"))
            .map(str::to_owned)
            .collect();
        assert_eq!(
            hunks,
            [
                "@@ -2,6 +2,7 @@ int f(void)",
                "@@ -18,4 +19,3 @@ int f(void)"
            ]
        );
        assert!(diff("", "a\n").contains("@@ -0,0 +1 @@\n+a\n"));
    }

    #[test]
    fn a_missing_last_newline_is_said_on_either_side() {
        assert_eq!(
            diff("a\nb", "a\nc"),
            "diff --git a/src/a.c b/src/a.c\n--- a/src/a.c\n+++ b/src/a.c\n@@ -1,2 +1,2 @@\n a\n\
             -b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
        );
        assert!(diff("a\n", "b").ends_with("-a\n+b\n\\ No newline at end of file\n"));
        assert!(diff("a", "b\n").ends_with("-a\n\\ No newline at end of file\n+b\n"));
    }

    #[test]
    fn carriage_returns_and_strange_bytes_are_kept() {
        let out = unified_diff(
            Path::new("a.c"),
            b"\xff\r\nx\r\n",
            b"\xff\r\nfence\r\nx\r\n",
        );
        assert!(out.ends_with(b"@@ -1,2 +1,3 @@\n \xff\r\n+fence\r\n x\r\n"));
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        let name = |path: &str| {
            let text = String::from_utf8(header(Path::new(path))).unwrap();
            text.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(name("a b.c"), "--- a/a b.c\t");
        assert_eq!(name("ä.c"), "--- \"a/\\303\\244.c\"");
        assert_eq!(name("q\"t.c"), "--- \"a/q\\\"t.c\"");
    }
}
