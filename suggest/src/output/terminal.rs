//! What the terminal is like that results are written to, and the patch in its
//! colours.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

use crate::cli::Color;
use crate::printable::printable;
use crate::report::TextStyle;

/// Narrower than this nothing can be read anyway.
const LEAST_WIDTH: usize = 40;

/// How text is laid out on stdout.
pub(crate) fn stdout_style(when: Color) -> TextStyle {
    style(when, std::io::stdout())
}

/// How text is laid out on stderr.
pub(super) fn stderr_style(when: Color) -> TextStyle {
    style(when, std::io::stderr())
}

fn style(when: Color, stream: impl IsTerminal + AsFd) -> TextStyle {
    let terminal = stream.is_terminal();
    let colors = match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    let size = terminal
        .then(|| tcgetwinsize(stream.as_fd()).ok())
        .flatten();
    let width = size.map(|size| usize::from(size.ws_col));
    TextStyle {
        colors,
        // A terminal that does not know its size says 0.
        width: width
            .filter(|&width| width > 0)
            .map(|width| width.max(LEAST_WIDTH)),
    }
}

/// A patch as stdout takes it: in files and pipes as it is, with nothing in it that
/// controls a terminal.
pub(super) fn shown_patch(patch: &[u8], when: Color) -> Vec<u8> {
    let text = match std::io::stdout().is_terminal() {
        true => printable(&String::from_utf8_lossy(patch)).into_bytes(),
        false => patch.to_vec(),
    };
    match stdout_style(when).colors {
        true => coloured_patch(&text),
        false => text,
    }
}

/// A unified diff with the colours that git gives it.
fn coloured_patch(patch: &[u8]) -> Vec<u8> {
    let mut coloured = Vec::with_capacity(patch.len() * 2);
    // The lines of a hunk that are still to come, before and after: within them a
    // line that starts with `---` is one that is removed.
    let mut left = (0, 0);
    for line in patch.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let color: &[u8] = match text.first() {
            Some(b'+') if left.1 > 0 => {
                left.1 -= 1;
                b"\x1b[32m"
            }
            Some(b'-') if left.0 > 0 => {
                left.0 -= 1;
                b"\x1b[31m"
            }
            Some(b'@') if left == (0, 0) => {
                left = hunk_lines(text);
                b"\x1b[36m"
            }
            Some(b'\\') => b"",
            _ if left == (0, 0) => b"\x1b[1m",
            _ => {
                left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                b""
            }
        };
        if color.is_empty() || text.is_empty() {
            coloured.extend_from_slice(line);
            continue;
        }
        coloured.extend_from_slice(color);
        coloured.extend_from_slice(text);
        coloured.extend_from_slice(b"\x1b[m");
        coloured.extend_from_slice(&line[text.len()..]);
    }
    coloured
}

/// How many lines a hunk has before and after: `@@ -4,12 +4,14 @@`.
fn hunk_lines(head: &[u8]) -> (usize, usize) {
    let head = String::from_utf8_lossy(head);
    let mut ranges = head.split(' ').skip(1).take(2).map(|range| {
        let count = range.split_once(',').map_or("1", |(_, count)| count);
        count.parse().unwrap_or(0)
    });
    (ranges.next().unwrap_or(0), ranges.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_the_colours_of_git_and_the_same_text() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n--- b\n++++ c\n \ndiff --git a/y b/y\n";
        let coloured = String::from_utf8(coloured_patch(patch.as_bytes())).expect("text");
        let expected = "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1,3 +1,3 @@ f\x1b[m\n a\n\x1b[31m--- b\x1b[m\n\x1b[32m++++ c\x1b[m\n \n\x1b[1mdiff --git a/y b/y\x1b[m\n";
        assert_eq!(coloured, expected);
    }
}
