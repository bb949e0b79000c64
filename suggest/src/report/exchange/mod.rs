//! The report in the formats of other tools: the lines of gcc, annotations of GitHub, code
//! quality of GitLab, reviewdog's diagnostics, JUnit's test results, and clang's
//! replacements. All of them are made from the same list of entries.

mod entry;
mod gcc;
mod github;
mod gitlab;
mod junit;
mod rdjson;
mod replacements;

pub(crate) use gcc::gcc;
pub(crate) use github::github;
pub(crate) use gitlab::gitlab;
pub(crate) use junit::junit;
pub(crate) use rdjson::rdjson;
pub(crate) use replacements::replacements;

/// What the formats need to know beside the dossier.
#[derive(Clone, Debug)]
pub(crate) struct ExchangeSettings {
    /// The current folder within its repository, with a slash at the end; empty in
    /// the root. Code hosts name files from the root.
    pub prefix: String,
}

impl ExchangeSettings {
    /// A path as code hosts want it.
    fn path(&self, file: &str) -> String {
        let file = file.strip_prefix("./").unwrap_or(file);
        match file.starts_with('/') {
            true => file.to_owned(),
            false => format!("{}{file}", self.prefix),
        }
    }
}
