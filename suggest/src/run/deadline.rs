//! When everything has to be over: at the end of the time that was given, or as
//! soon as the user interrupts. One value goes through all stages, and each asks
//! it before it begins something that takes long.

use std::time::{Duration, Instant};

use super::watchdog::interrupted;
use crate::options::RunOptions;

/// When everything has to be over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// `None`: only when the user says so.
    at: Option<Instant>,
}

impl Deadline {
    /// Only the user ends it.
    pub(crate) const NEVER: Self = Self { at: None };

    /// As the options say, from now on. The `usual` time limits nothing where the
    /// user has said after how many runs to stop.
    pub(crate) fn of(options: &RunOptions, usual: Duration) -> Self {
        match (options.time, options.runs) {
            (Some(seconds), _) => {
                Duration::try_from_secs_f64(seconds).map_or(Self::NEVER, Self::after)
            }
            (None, Some(_)) => Self::NEVER,
            (None, None) => Self::after(usual),
        }
    }

    /// This long from now.
    pub(crate) fn after(time: Duration) -> Self {
        Self {
            // A time too long to add is no limit.
            at: Instant::now().checked_add(time),
        }
    }

    /// Whether it is time to stop.
    pub(crate) fn is_over(self) -> bool {
        interrupted() || self.left() == Some(Duration::ZERO)
    }

    /// How much time is left; `None` for any amount.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.at.map(left)
    }

    /// For a stage that others follow: this part of the time that is left.
    pub(crate) fn share(self, part: f64) -> Self {
        match self.left() {
            Some(left) => Self::after(left.mul_f64(part)),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::ProjectConfig;

    #[test]
    fn the_usual_time_limits_what_nobody_has_limited() {
        let left = |line: &str| {
            let Command::Check(arguments) = Cli::parse_from(line.split(' ')).command else {
                panic!("{line}");
            };
            let config = ProjectConfig::none(Path::new("."));
            let options = RunOptions::new(arguments.how, arguments.model, &config);
            let deadline = Deadline::of(&options, Duration::from_secs(1000));
            deadline.left().map(|left| left.as_secs() / 100)
        };
        assert_eq!(left("wmfix check"), Some(9));
        assert_eq!(left("wmfix check --runs 9"), None);
        assert_eq!(left("wmfix check --runs 9 --time 600"), Some(5));
        assert_eq!(left("wmfix check --time 600"), Some(5));
    }

    #[test]
    fn a_share_is_a_part_of_what_is_left() {
        let whole = Deadline::after(Duration::from_secs(1000));
        let part = whole.share(0.25).left().unwrap();
        assert!(part <= Duration::from_secs(250), "{part:?}");
        assert!(part > Duration::from_secs(200), "{part:?}");
        assert!(Deadline::NEVER.share(0.25).left().is_none());
        assert!(Deadline::after(Duration::MAX).left().is_none());
    }

    #[test]
    fn it_is_over_when_nothing_is_left() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::from_secs(1000)).is_over());
        assert!(!Deadline::NEVER.is_over());
    }
}
