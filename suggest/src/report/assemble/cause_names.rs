//! Which findings have one cause: the access that may be stale, whatever it misses;
//! the weak message that should have ordered races; or, where nothing was carried,
//! the two lines that race.

use wmfix_analysis::SiteId;

use crate::findings::RaceFinding;
use crate::observe::Places;
use crate::symbols::SourcePoint;

/// What findings with one cause share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CauseKey {
    /// An access that may be stale.
    Access(SiteId),
    /// The side of a message that is too weak.
    Message(SiteId),
    /// Two lines.
    Lines((String, u32), (String, u32)),
    /// Nothing is known that could be shared.
    Alone,
}

/// The names that causes have in a report.
#[derive(Debug, Default)]
pub(super) struct CauseNames {
    known: Vec<CauseKey>,
}

impl CauseKey {
    /// The cause of a race.
    pub(super) fn of_race(finding: &RaceFinding, places: &Places) -> Self {
        let reported = |site| places.get(site).reported_site;
        if let Some(carrier) = finding.first.carrier {
            return Self::Message(reported(match carrier.weak_write {
                true => carrier.write,
                false => carrier.read,
            }));
        }
        let race = &finding.first.race.race;
        let line = |point: &SourcePoint| (point.file.display().to_string(), point.line);
        let [one, other] = [race.first.site, race.second.site]
            .map(|site| places.get(site).point.as_ref().map(line));
        match one.zip(other) {
            Some((one, other)) if one <= other => Self::Lines(one, other),
            Some((one, other)) => Self::Lines(other, one),
            None => Self::Alone,
        }
    }
}

impl CauseNames {
    /// The name of a cause: C1 is the first.
    pub(super) fn of(&mut self, key: CauseKey) -> String {
        let known = self.known.iter().position(|known| *known == key);
        let at = known.filter(|_| key != CauseKey::Alone);
        let at = at.unwrap_or_else(|| {
            self.known.push(key);
            self.known.len() - 1
        });
        format!("C{}", at + 1)
    }
}
