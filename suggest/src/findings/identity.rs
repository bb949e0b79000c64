//! What an operation is known by when lines move: its function, its spelling,
//! its object, and which of those that look the same it is.

use wmfix_frontend::{FileScan, Site};

/// An operation's identity within its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity {
    /// The function.
    pub function: String,
    /// The callee or operator.
    pub operation: String,
    /// The object, as it is written.
    pub object: String,
    /// How many such operations the function has before it.
    pub occurrence: usize,
}

impl Identity {
    /// The identity of a site of a scanned file.
    pub(crate) fn of(site: &Site, scan: &FileScan, text: &[u8]) -> Self {
        let object_of = |site: &Site| text.get(site.object.clone()?);
        let object = object_of(site);
        let sites = &scan.sites;
        let before = sites.partition_point(|other| other.span.start < site.span.start);
        let alike = sites[..before].iter().filter(|other| {
            other.function == site.function
                && other.callee == site.callee
                && object_of(other) == object
        });
        let occurrence = alike.count();
        Self {
            function: site.function.clone().unwrap_or_default(),
            operation: site.callee.clone(),
            object: object.map_or_else(String::new, |bytes| {
                String::from_utf8_lossy(bytes).into_owned()
            }),
            occurrence,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wmfix_frontend::{Vocabularies, scan_source};

    use super::Identity;

    #[test]
    fn an_identity_survives_new_lines_and_fences() {
        let before = "#include <stdatomic.h>\natomic_int x, y;\nvoid f(void) {\n\
            atomic_store(&x, 1);\natomic_store(&y, 1);\natomic_store(&x, 2);\n}\n";
        let after = before.replace(
            "atomic_store(&y",
            "\n\natomic_thread_fence(memory_order_seq_cst);\natomic_store(&y",
        );
        let identities = |text: &str| -> Vec<Identity> {
            let scan = scan_source(Path::new("a.c"), text.as_bytes(), &Vocabularies::builtin());
            let stores = scan.sites.iter().filter(|s| s.callee == "atomic_store");
            stores
                .map(|site| Identity::of(site, &scan, text.as_bytes()))
                .collect()
        };
        let known = identities(before);
        assert_eq!(known, identities(&after));
        let numbers: Vec<usize> = known.iter().map(|one| one.occurrence).collect();
        assert_eq!(numbers, [0, 0, 1]);
    }
}
