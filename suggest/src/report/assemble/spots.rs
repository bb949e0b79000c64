//! Sites of the runs → places in the source: file, line, function and what is
//! written there.

use std::path::{Path, PathBuf};

use wmfix_analysis::SiteId;
use wmfix_frontend::Site;

use crate::config::FILE_NAME;
use crate::findings::{Identity, Pointer};
use crate::observe::{self, AllocationPlace, EventKind, Places};
use crate::printable::printable_name;
use crate::report::allocation_words;
use crate::report::dossier::Spot;
use crate::report::model;
use crate::report::object_words::{UNNAMED, described};
use crate::symbols::{Frame, SourcePoint};

/// Finds the places of sites.
pub(super) struct SpotFinder<'a> {
    /// The places of the runs.
    pub places: &'a mut Places,
    /// The folder that paths are shown relative to.
    pub current_folder: PathBuf,
}

impl SpotFinder<'_> {
    /// The variable's name, the object as the source writes it, or what the line that
    /// made its memory calls it.
    pub(super) fn location(
        &mut self,
        variable: Option<&str>,
        sites: &[Option<SiteId>],
        allocated: Option<&model::Allocation>,
    ) -> String {
        // Within a variable the source knows better what it is.
        if let Some(name) = variable.filter(|name| !name.contains(['+', '.', '['])) {
            return name.to_owned();
        }
        let objects = sites.iter().flatten().filter_map(|&site| self.object(site));
        let objects: Vec<String> = objects.collect();
        // A member says more than a name, and the name of a variable more than a
        // pointer, a call or a macro through which it was reached.
        let member = objects.iter().find(|text| text.contains(['.', '>', '[']));
        let variable = variable.map(|name| name.trim_end_matches("+0").to_owned());
        let named = member.cloned().or(variable);
        named
            .or_else(|| objects.first().cloned())
            .or_else(|| allocated.map(allocation_words::block))
            .unwrap_or_else(|| self.described(sites))
    }

    /// Where memory was made, as it is shown.
    pub(super) fn allocation(&self, made: &AllocationPlace) -> model::Allocation {
        let place = self.frame_place(&made.frame);
        model::Allocation {
            type_name: made.type_name.clone(),
            file: place.file,
            line: place.line,
            column: place.column,
            function: place.function,
        }
    }

    /// Pointers as they are shown.
    pub(super) fn pointers(&self, pointers: &[Pointer]) -> Vec<model::Pointer> {
        let shown = pointers.iter().map(|pointer| model::Pointer {
            value: pointer.value.into(),
            number: pointer.number,
            start: pointer.is_start,
            allocated: self.allocation(&pointer.place),
        });
        shown.collect()
    }

    /// An object that neither a variable nor the source has a name for: by who writes
    /// to it, or by who accesses it.
    fn described(&mut self, sites: &[Option<SiteId>]) -> String {
        let sites = || sites.iter().flatten().copied();
        let writes = |site: &SiteId| {
            use EventKind::{CompareExchange, Rmw, Store, Write};
            let kind = self.places.get(*site).kind;
            matches!(kind, Store | Rmw | CompareExchange | Write)
        };
        let writer = sites().find(writes);
        let verb = if writer.is_some() { "written" } else { "used" };
        let Some(site) = writer.or_else(|| sites().next()) else {
            return UNNAMED.to_owned();
        };
        described(verb, &self.spot(site).place)
    }

    /// The object of an access as the source writes it.
    pub(super) fn object(&mut self, site: SiteId) -> Option<String> {
        let place = self.places.get(site).clone();
        if let Some(text) = place.shown() {
            let object = self
                .places
                .sources
                .text(&text.file, text.object.as_ref()?)?;
            return Some(object.trim_start_matches(['&', '*']).trim().to_owned());
        }
        let writes = place.kind == EventKind::Write;
        let is_plain = writes || place.kind == EventKind::Read;
        let point = place.point.as_ref().filter(|_| is_plain)?;
        self.places.sources.object(point, writes)
    }

    /// Whether memory is given back at a site.
    pub(super) fn frees(&self, site: SiteId) -> bool {
        self.places.get(site).kind == EventKind::Free
    }

    /// A site as it is shown.
    pub(super) fn spot(&mut self, site: SiteId) -> Spot {
        let place = self.places.get(site).clone();
        let order = place.order.map_or("", |order| order.name()).to_owned();
        let callers = place
            .callers
            .iter()
            .filter_map(|frame| self.caller(frame))
            .take(8)
            .collect();
        let Some(point) = &place.point else {
            let module = place
                .address
                .map(|address| self.places.symbols.path(address.module).to_owned());
            // Where the copy lies that was built is nobody's business.
            let module = module.map(|path| match path.starts_with(&self.current_folder) {
                true => path,
                false => path.file_name().map_or(path.clone(), PathBuf::from),
            });
            return Spot {
                place: model::ReportedPlace {
                    file: module.map_or("?".to_owned(), |path| self.shown(&path)),
                    line: 0,
                    column: 0,
                    function: place.function.clone(),
                    operation: words(place.kind).to_owned(),
                    order,
                },
                path: None,
                span: None,
                identity: format!("{}/{}", place.function, words(place.kind)),
                callers,
                via: Vec::new(),
            };
        };
        let identity = self.identity(&place, point);
        let via = self.via(&place);
        let shown = match place.shown() {
            Some(site) => site_place(site, self.shown(&point.file), order),
            None => model::ReportedPlace {
                file: self.shown(&point.file),
                line: point.line,
                column: point.column,
                function: place.function.clone(),
                operation: words(place.kind).to_owned(),
                order,
            },
        };
        let span = match place.shown() {
            Some(site) => Some((site.span.start, site.span.end)),
            None => self.token(&point.file, point.line, point.column),
        };
        Spot {
            place: shown,
            path: Some(point.file.clone()),
            span,
            identity,
            callers,
            via,
        }
    }

    /// The lines through which a call leads to its operation, from the outermost to
    /// the operation itself.
    fn via(&self, place: &observe::Place) -> Vec<model::ReportedPlace> {
        let order = place.order.map_or("", |order| order.name());
        let last = place.via.len().saturating_sub(1);
        let lines = place.via.iter().enumerate().filter_map(|(number, frame)| {
            let point = frame.at.as_ref()?;
            let file = self.shown(&point.file);
            if let Some(site) = place.site.as_ref().filter(|_| number == last) {
                return Some(site_place(site, file, order.to_owned()));
            }
            Some(model::ReportedPlace {
                file,
                line: point.line,
                column: point.column,
                function: frame.function.clone(),
                operation: words(place.kind).to_owned(),
                order: order.to_owned(),
            })
        });
        lines.collect()
    }

    /// What a place is known by when lines move: its file, its function, what is
    /// written there, and which of those that look the same it is.
    fn identity(&mut self, place: &observe::Place, point: &SourcePoint) -> String {
        let name = in_project(&point.file);
        let Some(file) = self.places.sources.file(&point.file) else {
            return format!("{name}/{}/{}", place.function, words(place.kind));
        };
        if let Some(site) = place.shown() {
            let known = Identity::of(site, &file.scan, &file.text);
            return format!(
                "{name}/{}/{}/{}/{}",
                known.function, known.operation, known.object, known.occurrence
            );
        }
        let lines = file
            .text
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii);
        let before: Vec<&[u8]> = lines.take(point.line as usize).collect();
        let line = before.last().copied().unwrap_or_default();
        let alike = before.iter().filter(|&&other| other == line).count();
        format!(
            "{name}/{}/{}/{}/{alike}",
            place.function,
            words(place.kind),
            String::from_utf8_lossy(line)
        )
    }

    /// Where a frame is, whatever is done there.
    pub(super) fn frame_place(&self, frame: &Frame) -> model::ReportedPlace {
        let at = frame.at.as_ref();
        model::ReportedPlace {
            file: at.map_or(String::new(), |at| self.shown(&at.file)),
            line: at.map_or(0, |at| at.line),
            column: at.map_or(0, |at| at.column),
            function: frame.function.clone(),
            operation: words(EventKind::Other).to_owned(),
            order: String::new(),
        }
    }

    /// A call as it is shown.
    pub(super) fn caller(&self, frame: &Frame) -> Option<String> {
        let at = frame.at.as_ref()?;
        Some(format!(
            "{} at {}:{}",
            frame.function,
            self.shown(&at.file),
            at.line
        ))
    }

    /// The range of the word at a line and column, or of one character.
    fn token(&mut self, path: &Path, line: u32, column: u32) -> Option<(usize, usize)> {
        let file = self.places.sources.file(path)?;
        let mut lines = file.text.split_inclusive(|&byte| byte == b'\n');
        let start: usize = lines
            .by_ref()
            .take(line.checked_sub(1)? as usize)
            .map(<[u8]>::len)
            .sum();
        let text = lines.next()?;
        let indent = text
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let at = (column as usize)
            .saturating_sub(1)
            .max(indent)
            .min(text.len());
        let of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = text[at..].iter().take_while(of_word).count().max(1);
        Some((start + at, start + at + length))
    }

    /// A path as it is shown: relative to the current folder where it lies in it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let real = path.canonicalize();
        let inside = path.strip_prefix(&self.current_folder).ok();
        let inside = inside.or_else(|| {
            real.as_deref()
                .ok()?
                .strip_prefix(&self.current_folder)
                .ok()
        });
        printable_name(&inside.unwrap_or(path).display().to_string())
    }
}

/// A file as its project calls it, wherever the project lies: relative to its
/// repository, its wmfix.toml or its build file. Its bare name where there is none.
fn in_project(file: &Path) -> String {
    const BUILD_FILES: [&str; 4] = ["CMakeLists.txt", "meson.build", "Makefile", "configure"];
    let full = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = full.parent().unwrap_or(&full);
    let with = |name: &str| {
        let mut above = folder.ancestors();
        above.find(|above| above.join(name).exists())
    };
    let is_built = |folder: &&Path| BUILD_FILES.iter().any(|name| folder.join(name).is_file());
    // A build file of a folder belongs to the one above it that has one, too.
    let built = || {
        let above = folder.ancestors().skip_while(|folder| !is_built(folder));
        above.take_while(is_built).last()
    };
    let root = with(".git").or_else(|| with(FILE_NAME)).or_else(built);
    let inside = root.and_then(|root| full.strip_prefix(root).ok());
    let name = inside.or_else(|| full.file_name().map(Path::new));
    name.unwrap_or(&full).to_string_lossy().into_owned()
}

/// The place of an operation in the text.
pub(super) fn site_place(site: &Site, file: String, order: String) -> model::ReportedPlace {
    model::ReportedPlace {
        file,
        line: site.start.line,
        column: site.start.column,
        function: site.function.clone().unwrap_or_default(),
        operation: site.callee.clone(),
        order,
    }
}

fn words(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Load => "atomic load",
        EventKind::Store => "atomic store",
        EventKind::Rmw => "atomic read-modify-write",
        EventKind::CompareExchange => "atomic compare-exchange",
        EventKind::Fence => "fence",
        EventKind::Read => "plain read",
        EventKind::Write => "plain write",
        EventKind::Free => "free",
        EventKind::Other => "call",
    }
}
