//! The command line as scripts depend on it: every command and option, with the values
//! and defaults that it was promised with, and an exit code for each situation.

use super::report_support::{MESSAGE_PASSING, STORE_BUFFERING, need_tools, wmfix};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// The commands, each with words of its help.
const COMMANDS: [(&str, &str); 16] = [
    ("suggest", "[PATH] [-- <COMMAND>...]"),
    ("check", "[PATH] [-- <COMMAND>...]"),
    ("run", "-- <COMMAND>..."),
    ("scan", "[PATHS]..."),
    ("explain", "<ID>"),
    ("audit", "[PATH]"),
    ("init", "--force"),
    ("scenarios", "--headers <DIR>"),
    ("relax", "[PATH]"),
    ("merge", "<DIR>..."),
    ("baseline", "--output <FILE>"),
    ("hook", "[FILES]..."),
    ("completions", "<SHELL>"),
    ("man", "wmfix man"),
    ("wrappers", "wmfix wrappers"),
    ("help", "[TOPIC]"),
];

/// What an option may be given; nothing for one that stands alone.
type Values = &'static [&'static str];

/// Options of suggest, check and run.
const OF_ALL: [(&str, Values); 23] = [
    ("--runs", &["100"]),
    ("--time", &["3", "0.5"]),
    ("--seed", &["0", "18446744073709551615"]),
    ("--strategy", &["pct", "random", "os"]),
    ("--jobs", &["1"]),
    ("-j", &["1"]),
    ("--exit-zero", &[]),
    ("--cost", &["fewest", "x86", "arm64", "portable"]),
    ("--volatile", &["ignore", "relaxed", "acqrel"]),
    ("--races", &["on", "off", "predict"]),
    ("--format", &["text", "json", "sarif"]),
    ("--format", &["gcc", "github", "gitlab", "rdjson", "junit"]),
    ("--quiet", &[]),
    ("--color", &["auto", "always", "never"]),
    ("--robust", &[]),
    ("--target", &["x86-64", "aarch64", "c11"]),
    ("--exhaustive", &[]),
    ("--record", &[]),
    ("--shard", &["1/2", "2/2"]),
    ("--baseline", &["missing.json"]),
    ("--report", &["sarif=report.sarif"]),
    ("--system-headers", &[]),
    ("--timeout", &["10"]),
];

/// Options of one or two of them.
const OF_SOME: [(&str, &[&str], Values); 10] = [
    ("--model", &["check", "run"], &["rc11", "rc20"]),
    ("--weak", &["check", "run"], &[]),
    ("--dry-run", &["suggest", "check"], &[]),
    ("--output", &["suggest"], &["out"]),
    ("--apply", &["suggest"], &[]),
    ("--annotate", &["suggest"], &[]),
    ("--export-fixes", &["suggest"], &["fixes.yaml"]),
    ("-D", &["suggest", "check"], &["TESTS=ON"]),
    ("--cflags", &["suggest", "check"], &["-O1"]),
    ("--ldflags", &["suggest", "check"], &["-ltbb"]),
];

#[test]
fn every_command_is_there_and_says_how_it_is_called() {
    let world = World::new();
    let all = wmfix(&world, "--help");
    for (command, words) in COMMANDS {
        let listed = format!("\n  {command} ");
        assert!(all.stdout.contains(&listed), "{command}: {}", all.stdout);
        let help = wmfix(&world, &format!("{command} --help"));
        assert_eq!(help.code, Some(0), "{help:?}");
        assert!(help.stdout.contains(words), "{command}: {}", help.stdout);
    }
    for wrapper in ["cc", "c++"] {
        assert!(all.stdout.contains(&format!("\n  {wrapper} ")), "{wrapper}");
    }
    assert_eq!(wmfix(&world, "--version").code, Some(0));
}

/// Whether a command takes these words: what then stops it is the missing program.
fn takes(world: &World, command: &str, words: &[&str]) -> bool {
    let mut wmfix = world.wmfix("gcc");
    wmfix.arg(command);
    match command {
        "run" => wmfix.args(words).args(["--", "./missing"]),
        _ => wmfix.arg("missing.c").args(words),
    };
    let ran = CommandResult::of(&mut wmfix);
    assert_ne!(ran.code, Some(0), "{command} {words:?}: {ran:?}");
    ran.stderr.starts_with("wmfix: ") && ran.stderr.contains("missing")
}

#[test]
fn every_option_takes_the_values_of_the_contract() {
    let world = World::new();
    let commands = ["suggest", "check", "run"];
    let of_all = OF_ALL.map(|(option, values)| (option, &commands[..], values));
    for (option, of, values) in of_all.into_iter().chain(OF_SOME) {
        let known = match values {
            [] => vec![vec![option]],
            values => values.iter().map(|value| vec![option, value]).collect(),
        };
        for command in commands {
            for words in &known {
                let expected = of.contains(&command);
                let taken = takes(&world, command, words);
                assert_eq!(taken, expected, "{command} {words:?}");
            }
        }
    }
    // What is no value is told with those that are.
    let wrong = wmfix(&world, "check missing.c --strategy best");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("pct, random"), "{wrong:?}");
}

#[test]
fn defaults_are_as_they_are_told() {
    let world = World::new();
    let help = wmfix(&world, "suggest --help").stdout;
    // clap may break a line anywhere between two words.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for (option, default) in [
        ("--target <MACHINE>", "[default: c11]"),
        ("--format <FORMAT>", "[default: text]"),
        ("--color <WHEN>", "[default: auto]"),
        ("--races <HOW>", "[default: predict]"),
        ("--volatile <AS>", "[default: ignore]"),
        ("--seed <N>", "[default: 1]"),
    ] {
        let (_, rest) = help
            .split_once(option)
            .unwrap_or_else(|| panic!("{option}"));
        let first = rest.find("[default: ").expect("a default");
        assert!(rest[first..].starts_with(default), "{option}: {rest:.200}");
    }
}

/// Fails in some schedules only: the one who writes last decides.
const SOMETIMES: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x;\n\
    static void *one(void *p) { atomic_store(&x, 1); return p; }\n\
    static void *two(void *p) { atomic_store(&x, 2); return p; }\n\
    int main(void) {\n    pthread_t s, t;\n    pthread_create(&s, 0, one, 0);\n\
    \x20   pthread_create(&t, 0, two, 0);\n    pthread_join(s, 0);\n    pthread_join(t, 0);\n\
    \x20   return atomic_load(&x) == 1;\n}\n";

#[test]
fn every_situation_has_its_exit_code() {
    need_tools();
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    world.write("mp.c", MESSAGE_PASSING);
    world.write("clean.c", "int main(void) { return 0; }\n");
    world.write("sometimes.c", SOMETIMES);
    world.write("crash.c", "int main(void) { __builtin_trap(); }\n");
    world.write("broken.c", "int main(void) { return }\n");
    world.write("bad/wmfix.toml", "[test]\nrunz = 1\n");
    world.write("bad/t.c", "int main(void) { return 0; }\n");
    for (line, code) in [
        ("check clean.c", 0),
        ("suggest clean.c", 0),
        ("check sb.c --robust", 1),
        ("check sb.c --fail-on harmful", 2),
        ("suggest sb.c --fix all", 2),
        ("check sb.c", 1),
        ("suggest sb.c", 1),
        ("check sb.c --exit-zero", 0),
        ("suggest sb.c --exit-zero", 0),
        ("check mp.c", 1),
        ("check sometimes.c", 1),
        ("check missing.c", 2),
        ("check sb.c --no-such-option", 2),
        ("check bad", 2),
        ("check sb.c --baseline missing.json", 2),
        ("explain V99", 2),
        ("merge missing", 2),
        ("check broken.c", 3),
        ("check broken.c --exit-zero", 3),
        ("check crash.c", 3),
        // Last: it changes the file.
        ("suggest sb.c --apply", 0),
        ("check sb.c", 0),
    ] {
        let runs = match line.split_once(' ') {
            Some(("check" | "suggest", _)) => " --runs 30",
            _ => "",
        };
        let ran = wmfix(&world, &format!("{line}{runs}"));
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        // The result is on stdout, talk on stderr.
        let has_patch = line.starts_with("suggest sb.c");
        if code == 2 {
            assert_eq!(ran.stdout, "", "{line}");
        } else if has_patch {
            assert!(ran.stdout.starts_with("diff --git a/"), "{ran:?}");
        }
    }
    // Our own fault, or the machine's.
    let mut command = world.wmfix("gcc");
    command
        .args(["check", "clean.c"])
        .env("XDG_CACHE_HOME", "/dev/null");
    let ran = CommandResult::of(&mut command);
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

/// Completes a line as bash does: the script is sourced, and the function that it has
/// registered is called with the words.
const COMPLETE: &str = "source ./wmfix.bash\n\
    COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n\
    COMP_LINE=\"$*\"; COMP_POINT=${#COMP_LINE}\n\
    complete=$(complete -p wmfix)\n\
    function=${complete#* -F }\n\
    ${function%% *} wmfix \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n\
    echo \"${COMPREPLY[*]}\"\n";

#[test]
fn bash_completes_commands_options_and_values() {
    need(&[Need::Program("bash")]);
    let world = World::new();
    let script = CommandResult::well(world.wmfix("gcc").args(["completions", "bash"]));
    world.write("wmfix.bash", &script.stdout);
    world.write("complete.sh", COMPLETE);
    for (line, completed) in [
        ("wmfix s", "suggest scan scenarios"),
        ("wmfix check --strat", "--strategy"),
        ("wmfix check --strategy p", "pos pct"),
        ("wmfix suggest --format g", "gcc github gitlab"),
        ("wmfix check --target x", "x86-64"),
        ("wmfix suggest --baseline wmfix.b", "wmfix.bash"),
    ] {
        let mut bash = world.command("bash");
        bash.arg("complete.sh").args(line.split(' '));
        let ran = CommandResult::well(&mut bash);
        assert_eq!(ran.stdout.trim(), completed, "{line}: {}", ran.stderr);
    }
}
