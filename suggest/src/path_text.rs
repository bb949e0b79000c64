//! Paths as text that JSON can hold, for files that wmfix reads again: a path need not
//! be UTF-8. Bytes that are not are written as `%XX`, and so is the percent sign.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path as text.
fn to_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text += &chunk.valid().replace('%', "%25");
        for byte in chunk.invalid() {
            text += &format!("%{byte:02X}");
        }
    }
    text
}

/// The path that a text stands for.
fn from_text(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = rest.get(at + 1..at + 3);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[at + 3..];
            }
            None => {
                bytes.push(b'%');
                rest = &rest[at + 1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    OsString::from_vec(bytes).into()
}

/// For `#[serde(with)]` of a map with paths as keys.
pub(crate) mod keys {
    use super::*;

    pub(crate) fn serialize<S: Serializer, V: Serialize>(
        map: &BTreeMap<PathBuf, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let entries = map.iter().map(|(path, value)| (to_text(path), value));
        serializer.collect_map(entries)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<PathBuf, V>, D::Error> {
        let map = BTreeMap::<String, V>::deserialize(deserializer)?;
        let entries = map
            .into_iter()
            .map(|(text, value)| (from_text(&text), value));
        Ok(entries.collect())
    }
}

/// For `#[serde(with)]` of a path that may be missing.
pub(crate) mod option {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(to_text).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(|text| from_text(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back() {
        for bytes in [
            &b"/a/b.c"[..],
            b"/100%/\xff\xfe.c",
            b"%41",
            "gr\u{f6}\u{df}e".as_bytes(),
        ] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(from_text(&to_text(&path)), path);
        }
        assert_eq!(to_text(Path::new("/a b.c")), "/a b.c");
        assert_eq!(from_text("50% of"), Path::new("50% of"));
    }
}
