//! The files that went into an object, as compilers list them for make.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The prerequisites of a compiler's dependency file.
pub(super) fn files(text: &[u8]) -> Vec<PathBuf> {
    let Some(colon) = text.windows(2).position(|pair| {
        // The first colon that ends a word: a target may hold others.
        pair[0] == b':' && pair[1].is_ascii_whitespace()
    }) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    let mut word = Vec::new();
    let mut bytes = text[colon + 1..].iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => {
                bytes.next();
                end(&mut word, &mut files);
            }
            (b'\\', Some(&next @ (b' ' | b'#' | b'\\'))) => {
                bytes.next();
                word.push(next);
            }
            (b'$', Some(b'$')) => {
                bytes.next();
                word.push(b'$');
            }
            // The next rule, if there is one, is about another target.
            (b'\n', _) => break,
            (byte, _) if byte.is_ascii_whitespace() => end(&mut word, &mut files),
            (byte, _) => word.push(byte),
        }
    }
    end(&mut word, &mut files);
    files
}

fn end(word: &mut Vec<u8>, files: &mut Vec<PathBuf>) {
    if !word.is_empty() {
        files.push(OsString::from_vec(std::mem::take(word)).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_as_they_are_on_disk() {
        let text = b"/o/a:b.o: /s/a\\ b.c /s/x.h \\\n  /s/\\#1.h /s/$$y.h\n\n/s/x.h:\n";
        let names: Vec<PathBuf> = ["/s/a b.c", "/s/x.h", "/s/#1.h", "/s/$y.h"]
            .map(PathBuf::from)
            .into();
        assert_eq!(files(text), names);
        assert_eq!(files(b""), Vec::<PathBuf>::new());
    }
}
