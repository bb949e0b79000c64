//! The verdicts on the violations of a subject, and which of these count.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Mutex;

use super::interleavings::Interleavings;
use super::{Criterion, Harm, HarmVerdict, RobustnessReason, ShownBy, UntriedReason};
use crate::cli::Target;
use crate::findings::{CollectedFindings, ViolationKey};
use crate::observe::Places;

/// The verdicts on the violations of a subject.
#[derive(Clone, Debug)]
pub(crate) struct Harms {
    criterion: Criterion,
    by_key: HashMap<ViolationKey, Harm>,
    /// They count whatever they do, for the tests of their programs see nothing.
    robust: HashSet<ViolationKey>,
    /// They do harm in another build.
    elsewhere: HashSet<ViolationKey>,
    /// What runs without stale choices have shown that were made for verdicts.
    interleavings: BTreeMap<usize, Interleavings>,
}

impl Default for Harms {
    /// No verdict, so that everything counts.
    fn default() -> Self {
        Self::by(Criterion::Robustness(RobustnessReason::Asked))
    }
}

impl Harms {
    /// No verdict yet.
    pub(crate) fn by(criterion: Criterion) -> Self {
        Self {
            criterion,
            by_key: HashMap::new(),
            robust: HashSet::new(),
            elsewhere: HashSet::new(),
            interleavings: BTreeMap::new(),
        }
    }

    /// By what they count.
    pub(crate) fn criterion(&self) -> &Criterion {
        &self.criterion
    }

    /// Adds a verdict.
    pub(super) fn insert(&mut self, key: ViolationKey, harm: Harm) {
        self.by_key.insert(key, harm);
    }

    /// A run has shown a violation to be as bad as this. What is known to be as bad
    /// stays.
    pub(super) fn raise(&mut self, key: ViolationKey, verdict: HarmVerdict, shown_by: ShownBy) {
        let harm = self.by_key.entry(key).or_insert(Harm {
            verdict: HarmVerdict::NotTried,
            runs: 0,
            shown_by: None,
            machine: None,
            untried: None,
        });
        harm.runs += 1;
        if harm.shown_by.is_none() || harm.verdict < verdict {
            harm.verdict = verdict;
            harm.shown_by = Some(shown_by);
            harm.untried = None;
        }
    }

    /// Has a violation count that does harm in another build.
    pub(crate) fn count(&mut self, key: ViolationKey) {
        self.elsewhere.insert(key);
    }

    /// What runs of a program without stale choices have shown, collected ones and those
    /// that were made for verdicts.
    pub(super) fn interleavings(
        &self,
        collected: &CollectedFindings,
        program: usize,
        places: &Mutex<Places>,
    ) -> Interleavings {
        let mut seen = Interleavings::new(collected, program, places);
        if let Some(known) = self.interleavings.get(&program) {
            seen.extend(known);
        }
        seen
    }

    /// Learns what runs of a program without stale choices have shown: it is no stale
    /// value's doing.
    pub(super) fn learn(&mut self, program: usize, seen: &Interleavings) {
        self.interleavings.entry(program).or_default().extend(seen);
        for harm in self.by_key.values_mut() {
            let shown = harm.shown_by.as_ref();
            let is_known = |shown: &ShownBy| shown.program == program && seen.have(shown.effect);
            if shown.is_some_and(is_known) {
                harm.verdict = HarmVerdict::NoEffectSeen;
                harm.shown_by = None;
            }
        }
    }

    /// The programs whose tests failed because of stale values.
    pub(crate) fn programs_that_failed(&self) -> BTreeSet<usize> {
        let shown = self.by_key.values();
        let shown = shown.filter_map(|harm| harm.shown_by.as_ref());
        let failed = shown.filter(|run| run.effect.is_failure());
        failed.map(|run| run.program).collect()
    }

    /// Has violations count by this.
    pub(crate) fn count_by(&mut self, criterion: Criterion, collected: &CollectedFindings) {
        self.criterion = criterion;
        self.robust.clear();
        self.count_blind(collected);
    }

    /// Has those violations count whose programs' tests see nothing.
    pub(super) fn count_blind(&mut self, collected: &CollectedFindings) {
        let all = collected.violations.iter();
        let blind = all.filter(|finding| self.criterion.takes_all(&finding.programs));
        self.robust.extend(blind.map(|finding| finding.key));
    }

    /// The same without those that there was no time for.
    pub(crate) fn without_late(mut self) -> Self {
        let is_late = |harm: &Harm| harm.untried == Some(UntriedReason::TimeUp);
        self.by_key.retain(|_, harm| !is_late(harm));
        self
    }

    /// What is known about a violation; `None` if nobody asked.
    pub(crate) fn get(&self, key: &ViolationKey) -> Option<&Harm> {
        self.by_key.get(key)
    }

    /// Whether a failing execution that takes it is known.
    pub(crate) fn is_harmful(&self, key: &ViolationKey) -> bool {
        let harm = self.get(key);
        self.elsewhere.contains(key)
            || harm.is_some_and(|harm| harm.verdict == HarmVerdict::Harmful)
    }

    /// Whether a violation counts for this target.
    pub(crate) fn counts(&self, key: &ViolationKey, target: Target) -> bool {
        let takes_all = matches!(self.criterion, Criterion::Robustness(_));
        let shows = self.get(key).is_none_or(|harm| harm.shows_on(target));
        shows && (takes_all || self.robust.contains(key) || self.is_harmful(key))
    }

    /// The violations that there was no time for.
    pub(crate) fn out_of_time(&self) -> impl Iterator<Item = &ViolationKey> {
        let late = |harm: &Harm| harm.untried == Some(UntriedReason::TimeUp);
        let found = self.by_key.iter().filter(move |(_, harm)| late(harm));
        found.map(|(key, _)| key)
    }

    /// The violations of which a failing execution is known.
    pub(crate) fn harmful(&self) -> impl Iterator<Item = &ViolationKey> {
        let keys = self.by_key.keys().filter(|key| self.is_harmful(key));
        keys.chain(&self.elsewhere)
    }

    /// The violations that do not count for this target.
    pub(crate) fn below(&self, target: Target) -> impl Iterator<Item = &ViolationKey> {
        let keys = self.by_key.keys();
        keys.filter(move |key| !self.counts(key, target))
    }

    /// Those that no failing execution is known of.
    pub(crate) fn minor(&self) -> impl Iterator<Item = &ViolationKey> {
        self.by_key.keys().filter(|key| !self.is_harmful(key))
    }
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::{SiteId, ViolationKind};
    use wmfix_trace::StaleTargets;

    use super::*;
    use crate::harm::Effect;
    use crate::run::RunEnd;

    const KEY: ViolationKey = (SiteId(3), None, ViolationKind::StaleRead);

    fn shown_by(effect: Effect) -> ShownBy {
        ShownBy {
            program: 0,
            seed: 1,
            choices: StaleTargets(Vec::new()),
            was_free: false,
            effect,
            failed: None,
            last_words: String::new(),
        }
    }

    #[test]
    fn what_an_interleaving_shows_later_takes_the_verdict_back() {
        let mut harms = Harms::by(Criterion::of_tests_that_look());
        let effect = Effect::Ended(RunEnd::Exited(7));
        harms.raise(KEY, HarmVerdict::Harmful, shown_by(effect));
        assert!(harms.counts(&KEY, Target::C11));
        assert_eq!(harms.programs_that_failed(), BTreeSet::from([0]));
        let other = Interleavings::of_end(RunEnd::Exited(8));
        harms.learn(0, &other);
        let elsewhere = Interleavings::of_end(RunEnd::Exited(7));
        harms.learn(1, &elsewhere);
        assert!(harms.counts(&KEY, Target::C11));
        harms.learn(0, &elsewhere);
        assert!(!harms.counts(&KEY, Target::C11));
        let harm = harms.get(&KEY).expect("it was judged");
        assert_eq!(harm.verdict, HarmVerdict::NoEffectSeen);
        assert_eq!(harms.programs_that_failed(), BTreeSet::new());
    }

    #[test]
    fn what_counts_follows_from_the_criterion() {
        let mut harms = Harms::by(Criterion::of_tests_that_look());
        assert!(!harms.counts(&KEY, Target::C11), "nothing is known");
        harms.insert(KEY, Harm::untried(UntriedReason::TimeUp));
        assert!(!harms.counts(&KEY, Target::C11));
        harms.raise(KEY, HarmVerdict::NotDecided, shown_by(Effect::Printed));
        assert!(!harms.counts(&KEY, Target::C11));
        harms.criterion = Criterion::Robustness(RobustnessReason::Asked);
        assert!(harms.counts(&KEY, Target::C11));
    }

    #[test]
    fn one_test_that_looks_is_enough_to_judge_by() {
        let blind = Criterion::Correctness {
            blind: BTreeSet::from([1, 2]),
        };
        assert!(blind.takes_all(&BTreeSet::from([1])));
        assert!(!blind.takes_all(&BTreeSet::from([0, 1])));
        assert!(!Criterion::of_tests_that_look().takes_all(&BTreeSet::from([0])));
    }
}
