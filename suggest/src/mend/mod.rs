//! From findings to a verified patch: search the cheapest repair for the runs
//! there are, put it into a copy, build and run that again, and go back for
//! more runs if it shows what the first ones did not.

mod groups;
mod told;
mod verify;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::allow::Allowing;
use crate::options::RunOptions;
use crate::patch::Menu;
use crate::pipeline::{Session, Subject};
use crate::project::Project;
use crate::repair::{Change, Options, Outcome, Problem, Profile, Reasoned, repair};
use crate::run::interrupted;
use verify::verify;
use words::Namer;

pub use groups::steps;
pub use told::{Explained, FindingKey, Left, Mended, Spotted};
pub use verify::Verification;

/// So many times a repair that does not hold is followed by more runs.
const ROUNDS: u64 = 4;

/// How long the search may take if nobody says: it ends with the best repair it
/// knows then.
const SEARCH_TIME: Duration = Duration::from_secs(60);

/// What a patch is made for and how.
pub struct Mending<'a> {
    /// What is mended.
    pub project: &'a Project,
    /// What changes are weighed by.
    pub profile: Profile,
    /// What is not to be repaired.
    pub allowing: &'a Allowing,
    /// Whether changes name the findings they remove in the text.
    pub annotate: bool,
    /// How programs are run.
    pub options: &'a RunOptions,
}

/// Finds a repair and verifies it.
pub fn mend(
    session: &mut Session<'_>,
    subject: &Subject,
    mending: &Mending<'_>,
) -> anyhow::Result<Mended> {
    let mut refused: Vec<(Change, String)> = Vec::new();
    let mut round = 0;
    let (mut searching, mut verifying) = (Duration::ZERO, Duration::ZERO);
    loop {
        let config = session.config();
        let exempt = session.grants().exempt();
        let ids = mending.annotate.then(|| session.names()).transpose()?;
        let (traces, places) = session.lend_traces();
        let mut menu = Menu::new(&traces, places, mending.project.tree());
        for (change, reason) in &refused {
            menu.places[change.place].refuse(change.action, reason.clone());
        }
        let problem = Problem {
            traces,
            places: menu.places.clone(),
            analysis: config,
            exempt,
        };
        let outcome = searched(&problem, mending)?;
        searching += outcome.work.total;
        let places = session.take_back(problem.traces);
        let changes: Vec<Change> = chosen(&outcome).iter().map(|c| c.change).collect();
        if let Some(ids) = &ids {
            let names = Namer {
                menu: &menu,
                places,
            };
            let labels = names.labels(&outcome, ids);
            menu.annotate(labels);
        }
        let (files, together) = menu.patched(&changes);
        if !together.is_empty() && !interrupted() {
            // The search has to go around what does not fit together.
            refused.extend(together);
            continue;
        }
        let names = Namer {
            menu: &menu,
            places,
        };
        let mut mended = names.mended(&outcome, files);
        let left = names.left(&outcome);
        let started = Instant::now();
        mended.verification = verify(session, mending, &mended.files, &left)?;
        verifying += started.elapsed();
        (mended.searched, mended.verified) = (searching, verifying);
        round += 1;
        let again = matches!(mended.verification, Verification::Fails(_)) && round < ROUNDS;
        if !again || interrupted() {
            return Ok(mended);
        }
        // Numbers of places may change with more runs.
        refused.clear();
        let seed = mending.options.seed.wrapping_add(session.summary().runs);
        session.run(subject, seed)?;
    }
}

fn searched(problem: &Problem, mending: &Mending<'_>) -> anyhow::Result<Outcome> {
    let cancel = Arc::new(AtomicBool::new(interrupted()));
    let options = Options {
        profile: mending.profile,
        budget: Some(match mending.options.time {
            Some(time) => Duration::from_secs_f64(time),
            None => SEARCH_TIME,
        }),
        cancel: Some(cancel.clone()),
    };
    let outcome = repair(problem, &options, |_| {
        cancel.store(interrupted(), Ordering::Relaxed);
    })?;
    Ok(outcome)
}

fn chosen(outcome: &Outcome) -> &[Reasoned] {
    let repair = outcome.repair.as_ref();
    repair.map_or(&[], |repair| &repair.changes)
}
