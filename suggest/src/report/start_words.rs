//! Words for why a program is started anew for every run.

use wmfix_trace::Obstacle;

use crate::run::FreshStart;

/// Why, and what it means.
pub(super) fn fresh_start_text(why: FreshStart) -> String {
    let why = match why {
        FreshStart::Obstacle(obstacle) => format!("before main it {}", obstacle_text(obstacle)),
        FreshStart::NoAnswer => "it did not come to main when it was to be forked".to_owned(),
        FreshStart::Died => "the process that was to be forked ended twice".to_owned(),
    };
    format!("every run started the program anew, which is slower than forking it: {why}")
}

/// Processes outlived the runs that started them. How many is not said: some may have
/// ended by themselves just before.
pub(super) const LEFT_BEHIND: &str = "processes that the program had started went on when their \
    run was over, in a session or group of their own, and were ended";

fn obstacle_text(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Thread => "starts a thread",
        Obstacle::Process => "starts a process",
        Obstacle::File => "opens a file",
        Obstacle::SharedMemory => "shares memory",
        Obstacle::Output => "prints something",
        Obstacle::Input => "reads its input",
        Obstacle::Timer => "sets a timer",
        Obstacle::Clock => "looks at a clock",
        Obstacle::ChildSignal => "handles the end of child processes",
        Obstacle::Events => "makes atomic accesses or takes locks",
    }
}
