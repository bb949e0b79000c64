//! Unified diffs that `git apply` and `patch -p1` take. Works on bytes: a line
//! that is not UTF-8 or ends in CR LF comes out as it went in.

use std::path::{Component, Path};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

const CONTEXT_LINES: usize = 3;

/// The unified diff from `before` to `after`, with `a/` and `b/` in front of
/// `path`, which is relative to the folder where the diff will be applied.
/// Equal texts give an empty diff.
pub fn unified_diff(path: &Path, before: &[u8], after: &[u8]) -> Vec<u8> {
    if before == after {
        return Vec::new();
    }
    let old = lines(before);
    let new = lines(after);
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = header(path);
    for hunk in group_diff_ops(ops, CONTEXT_LINES) {
        write_hunk(&mut out, &hunk, &old, &new);
    }
    out
}

/// The lines of a text, each with its line ending.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
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

fn write_hunk(out: &mut Vec<u8>, hunk: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    out.extend_from_slice(
        format!(
            "@@ -{} +{} @@\n",
            hunk_range(old_range),
            hunk_range(new_range)
        )
        .as_bytes(),
    );
    for op in hunk {
        match op.tag() {
            DiffTag::Equal => write_lines(out, b' ', &old[op.old_range()]),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                write_lines(out, b'-', &old[op.old_range()]);
                write_lines(out, b'+', &new[op.new_range()]);
            }
        }
    }
}

/// `first,count`, where an empty range names the line before it.
fn hunk_range(range: std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

fn write_lines(out: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        String::from_utf8(unified_diff(
            Path::new("./src/a.c"),
            before.as_bytes(),
            after.as_bytes(),
        ))
        .unwrap()
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff("a\n", "a\n"), "");
    }

    #[test]
    fn hunks_count_their_lines() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = before
            .replace("line 3\n", "line 3\nnew\n")
            .replace("line 20\n", "");
        let hunks: Vec<String> = diff(&before, &after)
            .lines()
            .filter(|line| line.starts_with("@@"))
            .map(str::to_owned)
            .collect();
        assert_eq!(hunks, ["@@ -1,6 +1,7 @@", "@@ -17,4 +18,3 @@"]);
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
