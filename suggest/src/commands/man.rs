//! `wmfix man`: the manual, one page with every command's section.

use std::io::Write;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::{ExitStatus, Stop};

/// What no flag says, after the sections that are made from the flags.
const SECTIONS: &str = r#".SH EXAMPLES
.TP
.B wmfix suggest
Build and test the project in the current folder, and print a patch for \fBgit apply\fR.
.TP
.B wmfix suggest queue.c \-\-apply
The same for one program, and change the file.
.TP
.B wmfix check \-\- ctest \-L queues
Check with another test command. Exits with 1 if there is a finding.
.TP
.B wmfix check \-\-format sarif > wmfix.sarif
For editors and code hosts.
.TP
.B wmfix baseline && wmfix check \-\-baseline wmfix\-baseline.json
From now on only new findings fail.
.TP
.B wmfix suggest \-\-runs 5000 \-\-shard 2/5
One of five parts; \fBwmfix merge wmfix\-shards\fR puts them together.
.TP
.B CC="wmfix cc" make && wmfix run \-\- ./test
Build by hand, then run.
.TP
.B wmfix explain V1
The first finding of the last report in depth.
.SH EXIT STATUS
.TP
.B 0
Nothing was found, or only what \fB\-\-fail\-on\fR or a baseline lets pass.
.TP
.B 1
There are findings, or runs that failed, deadlocked or crashed.
.TP
.B 2
The command line, wmfix.toml or another file that was given is wrong.
.TP
.B 3
The program could not be built, or failed in every run.
.TP
.B 4
A fault of wmfix, or of the machine that it runs on.
.PP
The compiler wrappers end as the compiler does.
.SH FILES
.TP
.I wmfix.toml
How a project is built, tested and repaired; see \fBwmfix help configuration\fR.
.TP
.I wmfix\-baseline.json
Findings that are known; see \fBwmfix help reports\fR.
.TP
.I wmfix\-shards/
What the parts of \fB\-\-shard\fR found.
.TP
.I $XDG_CACHE_HOME/wmfix
Copies of projects with their builds, the runtime, and the last report of each
folder; \fI~/.cache/wmfix\fR without the variable. It can be deleted at any time.
.SH ENVIRONMENT
.TP
.B WMFIX_REAL_CC, WMFIX_REAL_CXX
The compilers behind \fBwmfix cc\fR and \fBwmfix c++\fR.
.TP
.B NO_COLOR
No colors, unless \fB\-\-color always\fR asks for them.
"#;

/// Prints the manual page of wmfix, then that of each command.
pub(super) fn run() -> Result<ExitStatus, Stop> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    page.extend_from_slice(SECTIONS.as_bytes());
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        if subcommand.get_name() != "help" {
            Man::new(subcommand.clone()).render(&mut page)?;
        }
    }
    std::io::stdout().write_all(&page)?;
    Ok(ExitStatus::Clean)
}
