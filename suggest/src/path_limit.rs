//! The part of a project that a report and a repair are limited to: the file or
//! folder that was named on the command line, where the project around it is built
//! and tested as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wmfix_analysis::SiteId;
use wmfix_frontend::OrderForm;

use crate::findings::{RaceFinding, ViolationKey};
use crate::observe::Places;
use crate::subject::SourceCopy;

/// What a report is limited to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathLimit {
    /// A file or a folder, absolute and without links; `None` for everything.
    path: Option<PathBuf>,
    /// The folder that the sources were copied to, and the original folder.
    moved: Option<(PathBuf, PathBuf)>,
}

impl PathLimit {
    /// A part of a project, or all of it.
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, moved: None }
    }

    /// The same part of a patched copy.
    pub(crate) fn in_copy(&self, copy: &SourceCopy) -> Self {
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self {
            path: self.path.clone(),
            moved: Some((full(&copy.folder), full(&copy.original))),
        }
    }

    /// The file or folder; `None` for everything.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether a file belongs to it.
    pub(crate) fn holds_file(&self, file: &Path) -> bool {
        let Some(path) = &self.path else {
            return true;
        };
        let full = file.canonicalize();
        let full = full.as_deref().unwrap_or(file);
        let inside = self.moved.as_ref().and_then(|(copy, original)| {
            let inside = full.strip_prefix(copy).ok()?;
            Some(original.join(inside))
        });
        inside.as_deref().unwrap_or(full).starts_with(path)
    }

    /// Whether a violation belongs to it: its access or the write that it misses.
    pub(crate) fn holds_violation(&self, places: &Places, key: &ViolationKey) -> bool {
        let (access, newer, _) = *key;
        self.holds_any(places, std::iter::once(access).chain(newer))
    }

    /// Whether a race belongs to it: one of its accesses, or the message that should
    /// have ordered them. What a queue hands over is often touched by its users only,
    /// and the order is the queue's.
    pub(crate) fn holds_race(&self, places: &Places, finding: &RaceFinding) -> bool {
        let race = &finding.first.race.race;
        let message = finding.first.carrier.iter();
        let sites = message.flat_map(|carrier| [carrier.write, carrier.read]);
        self.holds_any(places, sites.chain([race.first.site, race.second.site]))
    }

    /// Reads what it takes to say what is in it: the headers that may define the macros
    /// of operations.
    pub(crate) fn read_macros(&self, places: &mut Places) {
        if self.path.is_none() {
            return;
        }
        let sites = places.iter().filter_map(|(_, place)| place.site.as_ref());
        let uses = sites.filter(|site| matches!(site.order.form, OrderForm::Macro(_)));
        let files: BTreeSet<PathBuf> = uses.map(|site| site.file.to_path_buf()).collect();
        for file in files {
            places.sources.headers(&file);
        }
    }

    /// Whether one of these sites is in it.
    pub(crate) fn holds_any(
        &self,
        places: &Places,
        sites: impl IntoIterator<Item = SiteId>,
    ) -> bool {
        self.path.is_none() || sites.into_iter().any(|site| self.holds_site(places, site))
    }

    /// Whether an operation is in it: where its author sees it, in a function that hands
    /// it on to there, or in the macro that stands there for it. Who names a header that
    /// is nothing but such functions and macros means what they are used for.
    fn holds_site(&self, places: &Places, site: SiteId) -> bool {
        let place = places.get(site);
        let via = place.via.iter().filter_map(|frame| frame.at.as_ref());
        let mut points = place.point.iter().chain(via);
        if points.any(|point| self.holds_file(&point.file)) {
            return true;
        }
        let macro_name = place.site.as_ref().and_then(|site| match &site.order.form {
            OrderForm::Macro(name) => Some(name),
            _ => None,
        });
        let body = macro_name.and_then(|name| places.sources.macro_body(name));
        body.is_some_and(|body| self.holds_file(&body.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_its_files_and_their_copies() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let file = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(&path, "").expect("a file");
            path
        };
        let (inside, outside) = (file("tree/src/a.c"), file("tree/srcs/a.c"));
        let (copied, copied_outside) = (file("copy/src/a.c"), file("copy/test/a.c"));
        let limit = PathLimit::new(Some(root.join("tree/src")));
        assert!(limit.holds_file(&inside) && !limit.holds_file(&outside));
        assert!(!limit.holds_file(&copied));
        let moved = limit.in_copy(&SourceCopy {
            folder: root.join("copy"),
            original: root.join("tree"),
            patched: true,
        });
        assert!(moved.holds_file(&copied) && !moved.holds_file(&copied_outside));
        assert!(PathLimit::default().holds_file(&outside));
        assert!(PathLimit::new(Some(inside.clone())).holds_file(&inside));
    }
}
