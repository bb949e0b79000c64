//! Reads files that others have put where wmfix looks: a device or a pipe of that name
//! would never end, and one of terabytes would take all memory.

use std::fs;
use std::io;
use std::path::Path;

/// A larger file is none that anybody wrote for wmfix.
const MAX_BYTES: u64 = 1 << 30;

/// The content of a regular file of bounded size.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if meta.len() > MAX_BYTES {
        let most = MAX_BYTES >> 20;
        return Err(io::Error::other(format!("it is larger than {most} MiB")));
    }
    fs::read(path)
}

/// The same as text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_some_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("text"), "a").unwrap();
        assert_eq!(read_text(&at("text")).unwrap(), "a");
        fs::write(at("bytes"), b"\xff").unwrap();
        assert!(read_text(&at("bytes")).is_err());
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        fs::File::create(at("huge"))
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        for name in ["endless", "huge", ".", "none"] {
            assert!(read(&at(name)).is_err(), "{name}");
        }
    }
}
