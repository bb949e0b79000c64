//! wmfix beside libtsan and the program alone, as one table: `cargo bench -p wmfix
//! --bench against_tsan`. Each program is built by gcc three times; one run of each
//! kind after the other, five rounds of that, and of each kind the median counts.
//!
//! "run" is a run that is checked in its process, which is what libtsan's run is held
//! against. "command" is `wmfix run` for one run, from its start to its report: where
//! something is found it makes the run again, recorded, and proves each finding (under
//! `os` every run is recorded while it is checked, and only read if it shows something).
//! It counts by the run if it needed several; its memory is that of the larger of its
//! processes. It is made once, and ended after 20 seconds. A row that has taken a
//! minute gets no further round. Prints Markdown.
//!
//! `cargo bench -p wmfix --bench against_tsan -- NAME` takes only rows with NAME.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wmfix_online::SiteTable;
use wmfix_tests::product::{CommandResult, World, use_binary, wmfix};
use wmfix_tests::registry::crate_source;

const ROUNDS: usize = 5;

/// A row that has taken this long gets no further round.
const ROW_TIME: Duration = Duration::from_secs(60);

/// Of whole commands, which take longer, and at most this many seconds.
const COMMAND_ROUNDS: usize = 1;
const COMMAND_SECONDS: &str = "20";

/// Runs that tell how many there are in a second.
const SHORT_RUNS: u32 = 500;

/// What is measured.
struct Row {
    name: &'static str,
    /// The goals of a run for robustness and of one with races, as multiples.
    goals: &'static str,
    cxx: bool,
    sources: Vec<PathBuf>,
    options: Vec<String>,
    arguments: &'static [&'static str],
}

/// A measured run: seconds, and megabytes at the peak.
type Figures = (f64, f64);

/// How a run that is checked in its process is made: races, strategy.
const RUNS: [(&str, &str); 5] = [
    ("off", "pct"),
    ("on", "pct"),
    ("predict", "pct"),
    ("off", "os"),
    ("on", "os"),
];

/// How a command runs a program: races, strategy.
const COMMANDS: [(&str, &str); 3] = [("on", "pct"), ("off", "os"), ("on", "os")];

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` runs benches too; these numbers would mean nothing there.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    println!(
        "| program | native | libtsan | pct run, robustness | pct run, races | \
         pct run, predicted races | os run, robustness | os run, races | \
         pct command, races | os command, robustness | os command, races | goals |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in rows() {
        if wanted.is_none_or(|wanted| row.name.contains(wanted.as_str())) {
            measure(&row);
        }
    }
    if wanted.is_none_or(|wanted| "store_buffering".contains(wanted.as_str())) {
        short_runs();
    }
}

fn corpus(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    tests.join(name)
}

fn rows() -> Vec<Row> {
    let micro = |name, arguments| Row {
        name,
        goals: "≤ 0.5, ≤ 1.0 × libtsan",
        cxx: false,
        sources: vec![corpus("runtime/bench.c")],
        options: Vec::new(),
        arguments,
    };
    let plain = |name, source, arguments| Row {
        name,
        goals: "≤ 1.3 × native, ≤ 1.0 × libtsan",
        cxx: false,
        sources: vec![corpus(source)],
        options: Vec::new(),
        arguments,
    };
    let mut rows = vec![
        micro("micro 2×10", &["2", "10", "200000"]),
        micro("micro 2×1,000", &["2", "1000", "200000"]),
        micro("micro 8×1,000", &["8", "1000", "200000"]),
        micro("micro 25×60,000", &["25", "60000", "200000"]),
        plain("sort, 2 threads", "speed/sort.c", &["200000"]),
        plain("matrix, 2 threads", "speed/matrix.c", &["160"]),
    ];
    match crate_source("libmimalloc-sys2", "0.1.65") {
        Ok(folder) => {
            let folder = folder.join("c_src/mimalloc3");
            for (name, arguments) in [
                ("mimalloc test-stress 4 25 10", &["4", "25", "10"]),
                ("mimalloc test-stress 8 50 10", &["8", "50", "10"]),
            ] {
                let include = format!("-I{}", folder.join("include").display());
                rows.push(Row {
                    name,
                    goals: "≤ 1.0 × libtsan",
                    cxx: false,
                    sources: vec![
                        folder.join("src/static.c"),
                        folder.join("test/test-stress.c"),
                    ],
                    options: vec!["-w".to_owned(), "-D_GNU_SOURCE=1".to_owned(), include],
                    arguments,
                });
            }
        }
        Err(error) => eprintln!("without mimalloc: {error}"),
    }
    match crate_source("leveldb-sys", "2.0.9") {
        Ok(folder) => {
            let folder = folder.join("deps/leveldb-1.22");
            rows.push(Row {
                name: "leveldb's skiplist",
                goals: "",
                cxx: true,
                sources: vec![
                    corpus("programs/leveldb_skiplist.cpp"),
                    folder.join("util/arena.cc"),
                ],
                options: vec![
                    format!("-I{}", folder.display()),
                    format!("-I{}", folder.join("include").display()),
                    "-DLEVELDB_PLATFORM_POSIX=1".to_owned(),
                    "-DLEVELDB_IS_BIG_ENDIAN=0".to_owned(),
                    "-w".to_owned(),
                    "-latomic".to_owned(),
                ],
                arguments: &[],
            });
        }
        Err(error) => eprintln!("without leveldb: {error}"),
    }
    if Path::new("/usr/include/concurrentqueue/concurrentqueue.h").exists() {
        rows.push(Row {
            name: "concurrentqueue",
            goals: "",
            cxx: true,
            sources: vec![corpus("programs/concurrentqueue.cpp")],
            options: vec!["-w".to_owned(), "-latomic".to_owned()],
            arguments: &[],
        });
    } else {
        eprintln!("without concurrentqueue: install libconcurrentqueue-dev");
    }
    rows
}

fn measure(row: &Row) {
    let world = World::new();
    build(&world, row, "native", &[]);
    build(&world, row, "tsan", &["-fsanitize=thread"]);
    build(&world, row, "ours", &["wmfix"]);
    let mut native = Vec::new();
    let mut tsan = Vec::new();
    let mut runs: [Vec<Figures>; RUNS.len()] = Default::default();
    let mut commands: [Vec<Figures>; COMMANDS.len()] = Default::default();
    let started = Instant::now();
    for round in 0..ROUNDS {
        if round > 0 && started.elapsed() > ROW_TIME {
            break;
        }
        native.push(alone(&world, "native", row.arguments));
        tsan.push(alone(&world, "tsan", row.arguments));
        for (figures, (races, strategy)) in runs.iter_mut().zip(RUNS) {
            figures.push(checked_run(&world, row.arguments, races, strategy));
        }
        if round < COMMAND_ROUNDS {
            for (figures, (races, strategy)) in commands.iter_mut().zip(COMMANDS) {
                figures.push(command(&world, row.arguments, races, strategy));
            }
        }
    }
    let (native, tsan) = (median(native), median(tsan));
    print!("| {} | {} | {} |", row.name, shown(native), shown(tsan));
    for figures in runs.into_iter().chain(commands) {
        let figures = median(figures);
        print!(
            " {}, {:.1} × native, {:.2} × libtsan |",
            shown(figures),
            figures.0 / native.0,
            figures.0 / tsan.0
        );
    }
    println!(" {} |", row.goals);
}

/// Builds the program as `name`; `["wmfix"]` stands for the wrapper.
fn build(world: &World, row: &Row, name: &str, flags: &[&str]) {
    let mut command = if flags == ["wmfix"] {
        let mut command = world.wmfix("gcc");
        command.env("WMFIX_REAL_CXX", "g++");
        command.arg(if row.cxx { "c++" } else { "cc" });
        command
    } else {
        let mut command = world.command(if row.cxx { "g++" } else { "gcc" });
        command.args(flags);
        command
    };
    if row.cxx {
        command.arg("-std=c++17");
    }
    command
        .args(["-O2", "-g"])
        .args(&row.sources)
        .args(["-o", name, "-pthread"])
        .args(&row.options);
    CommandResult::well(&mut command);
}

fn alone(world: &World, program: &str, arguments: &[&str]) -> Figures {
    let mut command = world.command(world.path().join(program));
    // What it finds in the programs is not the question, and no failure.
    command
        .args(arguments)
        .env("TSAN_OPTIONS", "exitcode=0:report_bugs=1");
    timed(&mut command)
}

/// A run that is checked in its process, with nothing known about the program.
fn checked_run(world: &World, arguments: &[&str], races: &str, strategy: &str) -> Figures {
    let (table, traces) = (world.path().join("table"), world.path().join("traces"));
    std::fs::write(&table, SiteTable::default().encode()).expect("a table of sites");
    std::fs::create_dir_all(&traces).expect("a folder for traces");
    let (races, predict) = match races {
        "predict" => ("on", "on"),
        races => (races, "off"),
    };
    let mut command = world.command(world.path().join("ours"));
    command
        .args(arguments)
        .env("WMFIX_OUT", &traces)
        .env("WMFIX_CHECK", &table)
        .env("WMFIX_STRATEGY", strategy)
        .env("WMFIX_PREDICT", predict)
        .env("WMFIX_RACES", races);
    let figures = timed(&mut command);
    std::fs::remove_dir_all(&traces).expect("our own folder");
    figures
}

/// A command for one run. If it needed several, because some showed something new, it
/// counts by the run.
fn command(world: &World, arguments: &[&str], races: &str, strategy: &str) -> Figures {
    let report = world.path().join("report.json");
    let mut command = world.command(wmfix());
    command
        .args(["run", "--runs", "1", "--jobs", "1", "--harm", "off"])
        .args(["--races", races, "--strategy", strategy])
        .args(["--time", COMMAND_SECONDS])
        .args(["--format", "json", "--", "./ours"])
        .args(arguments)
        .stdout(std::fs::File::create(&report).expect("a file for the report"));
    let (seconds, megabytes) = timed(&mut command);
    let text = std::fs::read(&report).expect("the report");
    let report: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let runs = report["runs"]["total"].as_f64().expect("a number").max(1.0);
    (seconds / runs, megabytes)
}

/// Runs a command to its end.
// It is waited for, by the call that also tells how much memory it took.
#[allow(clippy::zombie_processes)]
fn timed(command: &mut Command) -> Figures {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    if command.get_program() != wmfix() {
        command.stdout(Stdio::null());
    }
    let started = Instant::now();
    let child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut status = 0;
    let process = child.id() as libc::pid_t;
    // SAFETY: a record without pointers, which the call fills; the child is ours and
    // nobody else waits for it.
    let (waited, usage) = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        (libc::wait4(process, &mut status, 0, &mut usage), usage)
    };
    assert_eq!(waited, process, "{command:?}");
    assert!(libc::WIFEXITED(status), "{command:?} died");
    (
        started.elapsed().as_secs_f64(),
        usage.ru_maxrss as f64 / 1024.0,
    )
}

fn median(mut figures: Vec<Figures>) -> Figures {
    let memory = figures.iter().map(|figures| figures.1).fold(0.0, f64::max);
    figures.sort_by(|one, other| one.0.total_cmp(&other.0));
    (figures[figures.len() / 2].0, memory)
}

fn shown((seconds, megabytes): Figures) -> String {
    let time = match seconds {
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    };
    format!("{time}, {megabytes:.0} MB")
}

/// How many runs of a small program there are in a second, one after the other.
fn short_runs() {
    let row = Row {
        name: "store_buffering",
        goals: "",
        cxx: false,
        sources: vec![
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../examples/store_buffering/store_buffering.c"),
        ],
        options: Vec::new(),
        arguments: &[],
    };
    let world = World::new();
    build(&world, &row, "native", &[]);
    build(&world, &row, "ours", &["wmfix"]);
    let mut figures: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..SHORT_RUNS {
            timed(&mut world.command(world.path().join("native")));
        }
        figures[0].push(f64::from(SHORT_RUNS) / started.elapsed().as_secs_f64());
        for (figures, switch) in figures[1..].iter_mut().zip(["off", "on"]) {
            let mut command = world.command(wmfix());
            command
                .args(["run", "--jobs", "1", "--harm", "off", "--format", "json"])
                .args(["--runs", &SHORT_RUNS.to_string(), "--fork-server", switch])
                .args(["--", "./ours"]);
            let report = CommandResult::of(&mut command).json();
            let number = |name: &str| report["runs"][name].as_f64().expect("a number");
            figures.push(number("total") / number("seconds"));
        }
    }
    let medians = figures.map(|mut figures| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    });
    println!();
    println!("| store_buffering, one run at a time | runs a second | goal |");
    println!("| --- | --- | --- |");
    println!("| native process | {:.0} | |", medians[0]);
    println!("| wmfix, a start for every run | {:.0} | |", medians[1]);
    println!("| wmfix, fork server | {:.0} | ≥ 2,000 |", medians[2]);
}
