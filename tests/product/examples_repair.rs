//! The examples as a newcomer meets them: `wmfix check` finds what is known to
//! be wrong, with gcc and with clang; `wmfix suggest` prints the patch that is
//! kept beside the sources; what it patches is clean, and no change is idle.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use wmfix_tests::examples::example::{
    CLANG, Compiler, Example, GCC, assert_went_well, example, run,
};
use wmfix_tests::examples::undo::{changes, without};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Seeds that no search for the patch has used.
const FRESH_SEED: &str = "100000";

#[test]
fn store_buffering() {
    assert_repaired(&ExpectedFindings {
        name: "store_buffering",
        stale: &[
            "alice_saw_bob = atomic_load_explicit(&bob_is_here, memory_order_acquire);",
            "bob_saw_alice = atomic_load_explicit(&alice_is_here, memory_order_acquire);",
        ],
        sometimes_stale: &[],
        raced: &[],
    });
}

#[test]
fn the_readme_shows_what_is_printed() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    sources_in(&world, "store_buffering");
    // As a reader gets it, with as many runs as are made by default.
    let mut command = world.wmfix(GCC.c);
    command.env_remove("WMFIX_RUNS");
    let suggested = CommandResult::of(command.args(["suggest", "examples/store_buffering"]));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let text = fs::read_to_string(page).expect("the README");
    let block = |language: &str| {
        let (before, rest) = text
            .split_once(&format!("```{language}\n"))
            .expect("a block");
        let (block, after) = rest.split_once("```").expect("its end");
        (before, block, after)
    };
    let source = example("store_buffering").folder.join("store_buffering.c");
    let source = fs::read_to_string(source).expect("the example");
    assert!(
        source.contains(block("c").1),
        "the problem is the example's"
    );
    // The table and the first finding.
    let shown: Vec<&str> = suggested.stderr.split("\n\n").take(2).collect();
    let shown = shown.join("\n\n") + "\n";
    if std::env::var_os("WMFIX_BLESS").is_some() {
        let blessed = [("text", &shown), ("diff", &suggested.stdout)];
        let mut blessed_text = text.clone();
        for (language, printed) in blessed {
            let old = format!("```{language}\n{}```", block(language).1);
            let new = format!("```{language}\n{printed}```");
            blessed_text = blessed_text.replacen(&old, &new, 1);
        }
        fs::write(page, blessed_text).expect("the README can be written");
        return;
    }
    assert_eq!(block("diff").1, suggested.stdout);
    assert_eq!(block("text").1, shown);
}

#[test]
fn the_tutorial_shows_the_patch_of_its_example() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-queue.md");
    let page = fs::read_to_string(page).expect("the tutorial");
    let (_, rest) = page.split_once("```diff\n").expect("a patch");
    let (shown, _) = rest.split_once("```").expect("its end");
    let expected = example("spsc_ring").folder.join("expected.patch");
    let expected = fs::read_to_string(expected).expect("the patch");
    assert_eq!(shown, expected);
}

#[test]
fn message_passing() {
    assert_repaired(&ExpectedFindings {
        name: "message_passing",
        stale: &["int expected = atomic_load_explicit(&length, memory_order_relaxed);"],
        sometimes_stale: &[],
        raced: &[
            "text[written] = message[written];",
            "while (text[found] != '\\0')",
        ],
    });
}

#[test]
fn dekker() {
    assert_repaired(&ExpectedFindings {
        name: "dekker",
        stale: &[
            "if (atomic_load_explicit(&pong_wants, memory_order_acquire) == 0) {",
            "if (atomic_load_explicit(&ping_wants, memory_order_acquire) == 0) {",
        ],
        sometimes_stale: &[],
        raced: &[],
    });
}

#[test]
fn peterson() {
    assert_repaired(&ExpectedFindings {
        name: "peterson",
        stale: &[
            "atomic_store_explicit(&turn, other, memory_order_relaxed);",
            "while (atomic_load_explicit(&wants[other], memory_order_relaxed) == 1 &&",
        ],
        sometimes_stale: &[],
        raced: &["counter++;"],
    });
}

#[test]
fn seqlock() {
    assert_repaired(&ExpectedFindings {
        name: "seqlock",
        stale: &[
            "copy.y = y.load(std::memory_order_acquire);",
            "copy.z = z.load(std::memory_order_acquire);",
            "return sequence.load(std::memory_order_relaxed) == before;",
        ],
        sometimes_stale: &[],
        raced: &[],
    });
}

#[test]
fn treiber_stack() {
    assert_repaired(&ExpectedFindings {
        name: "treiber_stack",
        stale: &[],
        sometimes_stale: &[],
        raced: &[
            "node->next = top;",
            "Node *below = top->next;",
            "node->value = me * each + i + 1;",
            "sum += node->value;",
        ],
    });
}

#[test]
fn spsc_ring() {
    assert_repaired(&ExpectedFindings {
        name: "spsc_ring",
        stale: &[],
        sometimes_stale: &[],
        raced: &[
            "slot->packet = packet;",
            "struct packet packet = slot->packet;",
        ],
    });
}

#[test]
fn chase_lev_deque() {
    assert_repaired(&ExpectedFindings {
        name: "chase_lev_deque",
        stale: &[
            "long t = top.load(std::memory_order_relaxed);",
            "long b = bottom.load(std::memory_order_acquire);",
        ],
        // Fewer than one run in a hundred shows these.
        sometimes_stale: &[
            "long t = top.load(std::memory_order_acquire);",
            "if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,",
        ],
        raced: &[],
    });
}

#[test]
fn reference_count() {
    assert_repaired(&ExpectedFindings {
        name: "reference_count",
        stale: &[],
        sometimes_stale: &[],
        raced: &[
            "void enter(int holder, int amount) { entries[holder] += amount; }",
            "for (int amount : entries)",
            "*result += amount;",
            "delete this;",
            // The destructor's end, which gives the entries back.
            "}",
        ],
    });
}

#[test]
fn mpmc_queue() {
    assert_repaired(&ExpectedFindings {
        name: "mpmc_queue",
        stale: &[],
        // Waits by functions of the project's own are ordinary loops.
        sometimes_stale: &[
            "while (port_load_relaxed(cell.ticket) != turn)",
            "while (port_load_relaxed(cell.ticket) != turn + 1)",
        ],
        raced: &["cell.value = value;", "T value = cell.value;"],
    });
}

#[test]
fn what_the_target_pays_decides_between_fences_and_orders() {
    let needs = ["gcc", "g++"].map(Need::Program);
    need(&needs);
    // A release fence is free on x86-64, and one change instead of three; on AArch64
    // three release stores are cheaper, and so are four sequentially consistent
    // accesses than two barriers.
    let cases = [
        (
            "seqlock",
            "x86",
            "thread_fence(std::memory_order_release)",
            1,
        ),
        ("seqlock", "arm64", "store(to.", 3),
        ("dekker", "arm64", "1, memory_order_seq_cst", 2),
    ];
    for (name, profile, text, count) in cases {
        let world = World::new();
        sources_in(&world, name);
        let path = format!("examples/{name}");
        let suggested = wmfix(&world, GCC, &["suggest", &path, "--cost", profile]);
        assert_eq!(suggested.code, Some(1), "{}", suggested.stderr);
        let lines = suggested.stdout.lines();
        let added: Vec<&str> = lines.filter(|line| line.starts_with("+ ")).collect();
        let as_paid = added.iter().filter(|line| line.contains(text));
        assert_eq!(as_paid.count(), count, "{}", suggested.stdout);
    }
}

/// What is known to be wrong with an example, by the lines' text. Stale accesses
/// are found in every search, but for those that take a schedule that few runs
/// have. More than one line of a race may be named by a compiler: all of them are
/// listed.
struct ExpectedFindings {
    name: &'static str,
    stale: &'static [&'static str],
    sometimes_stale: &'static [&'static str],
    raced: &'static [&'static str],
}

fn assert_repaired(expected: &ExpectedFindings) {
    let needs = ["gcc", "g++", "clang", "clang++", "git", "make", "cmake"].map(Need::Program);
    need(&needs);
    for compiler in [GCC, CLANG] {
        assert_found(expected, compiler);
    }
    let world = World::new();
    let before = sources_in(&world, expected.name);
    let path = format!("examples/{}", expected.name);

    let patch = fs::read_to_string(example(expected.name).folder.join("expected.patch"))
        .expect("the patch is kept beside the sources");
    let suggested = wmfix(&world, GCC, &["suggest", &path]);
    assert_eq!(suggested.code, Some(1), "{}", suggested.stderr);
    assert_eq!(suggested.stdout, patch, "{}", suggested.stderr);
    world.write("it.patch", &patch);
    CommandResult::well(world.command("git").args(["apply", "it.patch"]));

    let many = ["check", &path, "--runs", "1000", "--seed", FRESH_SEED];
    let checked = wmfix(&world, GCC, &many);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    for compiler in [GCC, CLANG] {
        let program = before.compile(compiler, "-O2", world.path());
        for _ in 0..20 {
            assert_went_well(expected.name, &run(&[], &program));
        }
    }
    assert_no_change_is_idle(&world, expected.name);
}

/// The example in a world of its own.
fn sources_in(world: &World, name: &str) -> Example {
    let parent = world.path().join("examples");
    fs::create_dir(&parent).unwrap();
    example(name).copy_into(&parent)
}

fn assert_found(expected: &ExpectedFindings, compiler: Compiler) {
    let world = World::new();
    sources_in(&world, expected.name);
    let path = format!("examples/{}", expected.name);
    let checked = wmfix(&world, compiler, &["check", &path, "--format", "json"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let report = checked.json();
    let stale: BTreeSet<String> = entries(&report, "violations")
        .map(|violation| line_at(&world, &violation["access"]))
        .collect();
    let what = format!("{} with {}: {stale:?}", expected.name, compiler.c);
    assert!(expected.stale.iter().all(|&l| stale.contains(l)), "{what}");
    let known = [expected.stale, expected.sometimes_stale].concat();
    assert!(stale.iter().all(|l| known.contains(&l.as_str())), "{what}");
    let mut races = 0;
    for race in entries(&report, "races") {
        races += 1;
        // Code that a compiler made for no line of the source has none to compare.
        let sides = ["first", "second"].map(|side| &race[side]);
        for side in sides.into_iter().filter(|side| side["line"] != 0) {
            let line = line_at(&world, side);
            let known = expected.raced.contains(&line.as_str());
            assert!(known, "{} with {}: {line}", expected.name, compiler.c);
        }
    }
    assert_eq!(races > 0, !expected.raced.is_empty(), "{}", expected.name);
}

/// Takes each change of the patched sources back, alone: something must be found
/// again.
fn assert_no_change_is_idle(world: &World, name: &str) {
    let path = format!("examples/{name}");
    let original = example(name);
    let mut tried = 0;
    for ending in ["c", "h", "cpp", "hpp"] {
        for file in original.files(ending) {
            let patched_file = world.path().join(&path).join(file.file_name().unwrap());
            let before = fs::read_to_string(&file).unwrap();
            let after = fs::read_to_string(&patched_file).unwrap();
            for change in changes(&before, &after) {
                fs::write(&patched_file, without(&after, &change)).unwrap();
                let found = |runs| {
                    let seed = ["--seed", FRESH_SEED, "--runs", runs];
                    let checked = wmfix(world, GCC, &[&["check", &path], &seed[..]].concat());
                    checked.code == Some(1)
                };
                // Most show at once; one takes a schedule that few runs have.
                assert!(found("100") || found("2000"), "{name} without {change:?}");
                tried += 1;
            }
            fs::write(&patched_file, after).unwrap();
        }
    }
    assert!(tried > 0, "{name}: the patch changes nothing");
}

fn wmfix(world: &World, compiler: Compiler, arguments: &[&str]) -> CommandResult {
    let mut command = world.wmfix(compiler.c);
    command.env("WMFIX_REAL_CXX", compiler.cxx).args(arguments);
    CommandResult::of(&mut command)
}

fn entries<'r>(report: &'r Value, of: &str) -> impl Iterator<Item = &'r Value> {
    report[of].as_array().expect("a list in the report").iter()
}

/// The text of a place's line, without the blanks around it.
fn line_at(world: &World, place: &Value) -> String {
    let file = world.path().join(place["file"].as_str().expect("a file"));
    let line = place["line"].as_u64().expect("a line");
    line_of(&file, line)
}

fn line_of(file: &Path, number: u64) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let place = usize::try_from(number - 1).unwrap();
    text.lines().nth(place).expect("a line").trim().to_owned()
}
