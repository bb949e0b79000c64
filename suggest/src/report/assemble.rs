//! Findings → the dossier: places get their text, findings their order and
//! their names. The last step that sees the analysis' own types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wmfix_analysis::{SiteId, ViolationKind};
use wmfix_frontend::Site;

use super::dossier::{Again, Detail, Dossier, Mark, RaceSides, Spot, StepLine};
use super::model::{self, Kind, Report, Runs, Sites, VERSION, Verdict};
use crate::findings::{Collected, Instance, RaceFinding, StepRole, ViolationFinding, signal_name};
use crate::observe::{Action, Places};
use crate::run::{Ended, Stopped, Summary};
use crate::symbols::Frame;

/// What a report needs beside the findings.
#[derive(Debug)]
pub struct Setting {
    /// What the loop did.
    pub summary: Summary,
    /// How long it took.
    pub seconds: f64,
    /// Files whose sites are to be counted, absolute.
    pub files: Vec<PathBuf>,
    /// How to run each program again.
    pub again: Vec<Again>,
    /// The folder that paths are shown relative to.
    pub current_folder: PathBuf,
}

/// Puts the dossier together.
pub fn assemble(collected: &Collected, places: &mut Places, setting: Setting) -> Dossier {
    let mut assembler = Assembler {
        places,
        current_folder: setting.current_folder,
    };
    let mut found = Found::default();
    let violations = assembler.violations(&collected.violations, &mut found);
    let races = assembler.races(&collected.races, &mut found);
    let sites = assembler.sites(collected, &setting.files);
    let mut notes = Vec::new();
    match setting.summary.stopped {
        Stopped::Quiet => {}
        Stopped::TimeUp => notes.push("the time was up before the runs were".to_owned()),
        Stopped::Interrupted => {
            notes.push("interrupted: this is what was known by then".to_owned())
        }
    }
    let any = !violations.is_empty() || !races.is_empty();
    let verdict = match (any, collected.every_run_failed()) {
        (true, _) => Verdict::Findings,
        (false, true) => Verdict::Failed,
        (false, false) => Verdict::Clean,
    };
    notes.extend(assembler.ends(collected));
    let report = Report {
        version: VERSION,
        verdict,
        runs: Runs {
            total: setting.summary.runs,
            distinct_schedules: collected.distinct_schedules(),
            events: collected.events,
            seconds: setting.seconds,
        },
        sites,
        violations,
        races,
        repair: None,
        unrepairable: Vec::new(),
        notes,
    };
    Dossier {
        report,
        details: found.details,
        traces: found.traces,
        again: setting.again,
        output: collected.failed_output.clone(),
    }
}

/// What is kept about findings beside the report.
#[derive(Default)]
struct Found {
    details: BTreeMap<String, Detail>,
    traces: BTreeMap<String, Arc<[u8]>>,
}

impl Found {
    fn add(&mut self, id: &str, detail: Detail, trace: &Option<Arc<[u8]>>) {
        self.details.insert(id.to_owned(), detail);
        if let Some(trace) = trace {
            self.traces.insert(id.to_owned(), Arc::clone(trace));
        }
    }
}

struct Assembler<'a> {
    places: &'a mut Places,
    current_folder: PathBuf,
}

impl Assembler<'_> {
    fn violations(
        &mut self,
        findings: &[ViolationFinding],
        found: &mut Found,
    ) -> Vec<model::Violation> {
        let mut drafts = Vec::new();
        for finding in findings {
            let (violation, detail) = self.violation(finding);
            drafts.push((violation, detail, &finding.first.trace));
        }
        drafts.sort_by(|(a, ..), (b, ..)| {
            (&a.access, &a.write, a.kind).cmp(&(&b.access, &b.write, b.kind))
        });
        let mut violations = Vec::new();
        for (number, (mut violation, detail, trace)) in (1..).zip(drafts) {
            violation.id = format!("V{number}");
            found.add(&violation.id, detail, trace);
            violations.push(violation);
        }
        violations
    }

    fn violation(&mut self, finding: &ViolationFinding) -> (model::Violation, Detail) {
        let (access, write, kind) = finding.key;
        let access_spot = self.spot(access);
        let write_spot = write.map(|site| self.spot(site));
        let first = &finding.first;
        let violation = model::Violation {
            id: String::new(),
            kind: match kind {
                ViolationKind::StaleRead => Kind::Read,
                ViolationKind::StaleWrite => Kind::Write,
                ViolationKind::StaleRmw => Kind::Rmw,
            },
            access: access_spot.place.clone(),
            write: write_spot.as_ref().map(|spot| spot.place.clone()),
            threads: std::iter::once(first.thread)
                .chain(first.writer)
                .map(|thread| thread.0)
                .collect(),
            location: self.location(first.location.as_deref(), &[Some(access), write]),
            read_value: first.read_value.map(Into::into),
            stale_values: first.stale_values.iter().copied().map(Into::into).collect(),
            same_value: first.same_value,
            runs: finding.runs,
            seed: finding.seed,
            witness_checked: first.witness_checked,
        };
        let detail = Detail {
            access: access_spot,
            other: write_spot,
            newer_value: first.newer_value.map(Into::into),
            program: finding.program,
            trace: None,
            steps: self.steps(first),
            race: None,
        };
        (violation, detail)
    }

    fn steps(&mut self, instance: &Instance) -> Vec<StepLine> {
        let lines = instance.steps.iter().map(|step| {
            let place = self.spot(step.site).place;
            StepLine {
                thread: step.thread.0,
                at: format!("{}:{}", place.file, place.line),
                what: step.what.clone(),
                because: step.because.map(str::to_owned),
                mark: match step.role {
                    StepRole::Way => None,
                    StepRole::Newer => Some(Mark::Newer),
                    StepRole::Access => Some(Mark::Access),
                },
            }
        });
        lines.collect()
    }

    fn races(&mut self, findings: &[RaceFinding], found: &mut Found) -> Vec<model::Race> {
        let mut drafts = Vec::new();
        for finding in findings {
            let (race, detail) = self.race(finding);
            drafts.push((race, detail, &finding.first.trace));
        }
        drafts.sort_by(|(a, ..), (b, ..)| (&a.first, &a.second).cmp(&(&b.first, &b.second)));
        let mut races = Vec::new();
        for (number, (mut race, detail, trace)) in (1..).zip(drafts) {
            race.id = format!("R{number}");
            found.add(&race.id, detail, trace);
            races.push(race);
        }
        races
    }

    fn race(&mut self, finding: &RaceFinding) -> (model::Race, Detail) {
        let race = &finding.first.race.race;
        let (first, second) = (self.spot(race.first.site), self.spot(race.second.site));
        let location = self.location(
            finding.first.location.as_deref(),
            &[Some(race.first.site), Some(race.second.site)],
        );
        let shown = model::Race {
            id: String::new(),
            first: first.place.clone(),
            second: second.place.clone(),
            location,
            seed: finding.seed,
        };
        let detail = Detail {
            access: second,
            other: Some(first),
            newer_value: None,
            program: finding.program,
            trace: None,
            steps: Vec::new(),
            race: Some(RaceSides {
                first_thread: race.first.thread.0,
                first_writes: race.first.writes,
                first_atomic: race.first.atomic,
                second_thread: race.second.thread.0,
                second_writes: race.second.writes,
                second_atomic: race.second.atomic,
                runs: finding.runs,
            }),
        };
        (shown, detail)
    }

    /// The variable's name, or the object as the source writes it.
    fn location(&mut self, variable: Option<&str>, sites: &[Option<SiteId>]) -> String {
        // Within a variable the source knows better what it is.
        if let Some(name) = variable.filter(|name| !name.contains('+')) {
            return name.to_owned();
        }
        for &site in sites.iter().flatten() {
            let place = self.places.get(site).clone();
            let object = place.site.as_ref().and_then(|site| site.object.clone());
            if let (Some(range), Some(point)) = (object, &place.point)
                && let Some(text) = self.places.sources.text(&point.file, &range)
            {
                return text.trim_start_matches(['&', '*']).trim().to_owned();
            }
        }
        variable.unwrap_or("an object without a name").to_owned()
    }

    /// A site as it is shown.
    fn spot(&mut self, site: SiteId) -> Spot {
        let place = self.places.get(site).clone();
        let order = place.order.unwrap_or_default().to_owned();
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
            return Spot {
                place: model::Place {
                    file: module.map_or("?".to_owned(), |path| self.shown(&path)),
                    line: 0,
                    column: 0,
                    function: place.function.clone(),
                    operation: words(place.action).to_owned(),
                    order,
                },
                path: None,
                span: None,
                callers,
            };
        };
        let shown = match &place.site {
            Some(site) => site_place(site, self.shown(&point.file), order),
            None => model::Place {
                file: self.shown(&point.file),
                line: point.line,
                column: point.column,
                function: place.function.clone(),
                operation: words(place.action).to_owned(),
                order,
            },
        };
        let span = match &place.site {
            Some(site) => Some((site.span.start, site.span.end)),
            None => self.token(&point.file, point.line, point.column),
        };
        Spot {
            place: shown,
            path: Some(point.file.clone()),
            span,
            callers,
        }
    }

    fn caller(&self, frame: &Frame) -> Option<String> {
        let at = frame.at.as_ref()?;
        Some(format!(
            "{} at {}:{}",
            frame.function,
            self.shown(&at.file),
            at.line
        ))
    }

    /// What stands at a line and column: a word, or else one character.
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
    fn shown(&self, path: &Path) -> String {
        let real = path.canonicalize();
        let inside = path.strip_prefix(&self.current_folder).ok();
        let inside = inside.or_else(|| {
            real.as_deref()
                .ok()?
                .strip_prefix(&self.current_folder)
                .ok()
        });
        inside.unwrap_or(path).display().to_string()
    }

    /// How many sites the files have, and which of them were not executed.
    fn sites(&mut self, collected: &Collected, files: &[PathBuf]) -> Sites {
        let mut reached = std::collections::HashSet::new();
        for &site in &collected.reached {
            let place = self.places.get(site);
            if let (Some(site), Some(point)) = (&place.site, &place.point) {
                reached.insert((point.file.clone(), site.span.start, site.span.end));
            }
        }
        let mut all_files: Vec<PathBuf> = files.to_vec();
        all_files.extend(reached.iter().map(|(file, ..)| file.clone()));
        all_files.sort();
        all_files.dedup();
        let mut sites = Sites::default();
        for path in all_files {
            let Some(file) = self.places.sources.file(&path) else {
                continue;
            };
            for site in file
                .scan
                .sites
                .iter()
                .filter(|site| site.macro_name.is_none())
            {
                let is_reached = reached.contains(&(path.clone(), site.span.start, site.span.end));
                // The calls are the sites where a vocabulary says so.
                if !is_reached && self.places.sources.is_body_of_a_layer(site) {
                    continue;
                }
                sites.total += 1;
                if is_reached {
                    sites.reached += 1;
                } else {
                    let order = site
                        .order
                        .order
                        .map_or(String::new(), |order| order.name().to_owned());
                    sites
                        .unreached
                        .push(site_place(site, self.shown(&path), order));
                }
            }
        }
        sites.unreached.sort();
        sites
    }

    /// How runs ended that did not end by themselves.
    fn ends(&mut self, collected: &Collected) -> Vec<String> {
        let mut notes = Vec::new();
        for (end, (count, seed)) in &collected.ends {
            let mut note = format!(
                "{} {} (first with seed {seed})",
                processes(*count),
                end.what
            );
            for (thread, site, waits) in &end.stuck {
                let place = self.spot(*site).place;
                note += &format!(
                    "\n  thread {thread} {waits}, in {} at {}:{}",
                    place.function, place.file, place.line
                );
            }
            notes.push(note);
        }
        for (&ended, &count) in &collected.ended {
            let what = match ended {
                Ended::TimedOut => {
                    "did not end in time and had to be stopped (see --timeout)".to_owned()
                }
                Ended::Signalled(number) if collected.ends.is_empty() => {
                    format!("ended by {}", signal_name(number))
                }
                Ended::Exited(code) if code != 0 && collected.ends.is_empty() => {
                    format!("ended with exit code {code}")
                }
                _ => continue,
            };
            let total: u64 = collected.ended.values().sum();
            notes.push(format!("{count} of {total} runs {what}"));
        }
        for (trouble, count) in &collected.troubles {
            notes.push(format!("{}: {trouble}", processes(*count)));
        }
        notes.sort();
        notes
    }
}

fn processes(count: u64) -> String {
    if count == 1 {
        "1 process".to_owned()
    } else {
        format!("{count} processes")
    }
}

fn site_place(site: &Site, file: String, order: String) -> model::Place {
    model::Place {
        file,
        line: site.start.line,
        column: site.start.column,
        function: site.function.clone().unwrap_or_default(),
        operation: site.callee.clone(),
        order,
    }
}

fn words(action: Action) -> &'static str {
    match action {
        Action::Load => "atomic load",
        Action::Store => "atomic store",
        Action::Rmw => "atomic read-modify-write",
        Action::CompareExchange => "atomic compare-exchange",
        Action::Fence => "fence",
        Action::Read => "plain read",
        Action::Write => "plain write",
        Action::Other => "call",
    }
}
