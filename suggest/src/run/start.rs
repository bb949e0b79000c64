//! How a run is started: by the program itself, as a fork server, or anew. Owns what
//! is known of each program about that, for as long as it is run.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use wmfix_trace::Obstacle;

use super::fork_server::{ForkServer, can_serve};

/// A server that dies is started again this often.
const MOST_DEATHS: u32 = 2;

/// Why a program is started anew for every run, where it need not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FreshStart {
    /// What it does before `main` cannot be given to every run.
    Obstacle(Obstacle),
    /// It did not come to `main`, or did not say that it had.
    NoAnswer,
    /// It ended again and again while it served.
    Died,
}

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey {
    pub(super) command: Vec<OsString>,
    pub(super) folder: Option<PathBuf>,
    pub(super) input: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// What is known about one program.
#[derive(Clone, Copy, Debug)]
struct KnownProgram {
    can_serve: bool,
    deaths: u32,
    fresh: Option<FreshStart>,
}

/// What is known about all of them.
#[derive(Debug, Default)]
pub(super) struct KnownPrograms {
    known: Mutex<HashMap<ProgramKey, KnownProgram>>,
}

/// A server and what it serves.
pub(super) type ServedProgram = (ProgramKey, ForkServer);

impl KnownPrograms {
    /// Whether to have a server for it. `program` finds its file.
    pub(super) fn may_serve(
        &self,
        key: &ProgramKey,
        program: impl FnOnce() -> Option<PathBuf>,
    ) -> bool {
        let mut known = self.known.lock().expect("no panic while locked");
        let known = known.entry(key.clone()).or_insert_with(|| KnownProgram {
            can_serve: program().is_some_and(|program| can_serve(&program)),
            deaths: 0,
            fresh: None,
        });
        known.can_serve && known.fresh.is_none()
    }

    /// It cannot serve.
    pub(super) fn refused(&self, key: &ProgramKey, obstacle: Option<Obstacle>) {
        let why = obstacle.map_or(FreshStart::NoAnswer, FreshStart::Obstacle);
        self.change(key, |known| known.fresh = Some(why));
    }

    /// Its server has died.
    pub(super) fn died(&self, key: &ProgramKey) {
        self.change(key, |known| {
            known.deaths += 1;
            if known.deaths >= MOST_DEATHS {
                known.fresh = Some(FreshStart::Died);
            }
        });
    }

    fn change(&self, key: &ProgramKey, change: impl FnOnce(&mut KnownProgram)) {
        let mut known = self.known.lock().expect("no panic while locked");
        if let Some(known) = known.get_mut(key) {
            change(known);
        }
    }

    /// Why programs were started anew.
    pub(super) fn fresh_starts(&self) -> BTreeSet<FreshStart> {
        let known = self.known.lock().expect("no panic while locked");
        known.values().filter_map(|known| known.fresh).collect()
    }
}
