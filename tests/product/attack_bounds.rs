//! What runs may take is bounded, and said where the bound is met: the traces of many
//! processes, the memory that they are read in, and costs that would grow with the
//! square of something large.

use std::fs;
use std::process::Stdio;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Children that each do a bit, one after the other.
const FAMILY: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <sys/wait.h>\n\
    #include <unistd.h>\n\
    static atomic_int x;\n\
    static void *work(void *p) { for (int i = 0; i < 10000; i++) atomic_fetch_add(&x, 1); return p; }\n\
    int main(void) { for (int i = 0; i < 8; i++) { pid_t c = fork(); if (c == 0) {\n\
    pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); _exit(0); }\n\
    int s; if (waitpid(c, &s, 0) != c || s != 0) return 1; } return 0; }\n";

fn wmfix(world: &World, line: &str) -> CommandResult {
    CommandResult::of(world.wmfix("gcc").args(line.split_whitespace()))
}

/// A run past a limit is incomplete: said with the option, and never clean.
fn is_incomplete(world: &World, line: &str, option: &str) {
    let text = wmfix(world, line);
    assert_eq!(text.code, Some(3), "{}\n{}", text.stdout, text.stderr);
    assert!(text.stdout.contains("incomplete"), "{}", text.stdout);
    assert!(text.stdout.contains(option), "{option}: {}", text.stdout);
    assert!(!text.stdout.contains("nothing found"), "{}", text.stdout);
    let report = wmfix(world, &format!("{line} --format json")).json();
    assert_eq!(report["verdict"], "failed", "{report}");
    assert_eq!(report["runs"]["incomplete"], report["runs"]["total"]);
}

#[test]
fn the_traces_of_many_processes_are_bounded_together() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("family.c", FAMILY);
    let line = "check family.c --runs 1 --record";
    // Each process is below the limit.
    is_incomplete(&world, &format!("{line} --trace-limit 1"), "--trace-limit");
    let events = format!("{line} --event-limit 50000");
    is_incomplete(&world, &events, "--event-limit");
    let whole = wmfix(&world, line);
    assert_eq!(whole.code, Some(0), "{}\n{}", whole.stdout, whole.stderr);
}

#[test]
fn the_memory_for_traces_is_bounded() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("family.c", FAMILY);
    let line = "check family.c --runs 1 --record --memory-limit 1";
    is_incomplete(&world, line, "--memory-limit");
}

/// The most memory that a command has, in KiB, sampled while it runs.
fn peak(world: &World, line: &str) -> (u64, CommandResult) {
    let mut command = world.wmfix("gcc");
    let mut child = command
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        most = most.max(number.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let result = CommandResult::from(child.wait_with_output().unwrap());
    (most, result)
}

/// Every call of a recursion is a context of its own; what is kept of one must not grow
/// with how deep it is. (Ten thousand deep took three gigabytes.)
#[test]
fn a_recursion_ten_thousand_deep_takes_little_memory() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write(
        "deep.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
         static int rec(int n) { if (n == 0) return atomic_load(&x); atomic_fetch_add(&x, 1);\n\
         int r = rec(n - 1); atomic_fetch_add(&x, 1); return r + 1; }\n\
         static void *work(void *p) { rec(10000); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); return 0; }\n",
    );
    let (most, result) = peak(&world, "check deep.c --runs 2 --jobs 1");
    assert_eq!(result.code, Some(0), "{}\n{}", result.stdout, result.stderr);
    assert!(most < 800 << 10, "{most} KiB");
}

/// A file with very many sites is scanned in one go: with a search through all of them
/// for each this would take minutes.
#[test]
fn a_file_of_forty_thousand_sites_is_scanned() {
    let world = World::new();
    let mut text = "#include <stdatomic.h>\nstatic atomic_int x;\n".to_owned();
    for function in 0..4_000 {
        text += &format!("void f{function}(void) {{\n");
        text += &"  atomic_store_explicit(&x, 1, memory_order_relaxed);\n".repeat(10);
        text += "}\n";
    }
    world.write("many.c", &text);
    let result = wmfix(&world, "scan many.c --format json");
    assert_eq!(result.code, Some(0), "{}", result.stderr);
    let sites = result.stdout.matches("atomic_store_explicit").count();
    assert!(sites >= 40_000, "{sites}");
}

/// Every operation of a function of five thousand is found again in the text: with a
/// walk through the function for each this took minutes.
#[test]
fn a_function_of_five_thousand_sites_is_checked() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let operations = "  atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);\n".repeat(5_000);
    let text = format!(
        "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) {{\n{operations}  return 0;\n}}\n"
    );
    world.write("long.c", &text);
    let report = wmfix(&world, "check long.c --runs 2 --format json").json();
    assert_eq!(report["sites"]["total"], 5_000, "{}", report["sites"]);
    assert_eq!(report["sites"]["reached"], 5_000, "{}", report["sites"]);
}

/// What is kept of a test program is what it showed, not its symbols and its traces.
/// (A thousand programs took four megabytes each.)
#[test]
fn many_test_programs_take_little_more_memory_than_one() {
    need(&[Need::Program("gcc")]);
    const PROGRAMS: u64 = 40;
    const KIB_EACH: u64 = 1 << 10;
    let program = "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
        static void *work(void *p) { atomic_fetch_add(&x, 1); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0);\n\
        pthread_join(t, 0); return atomic_load(&x) != 2; }\n";
    let world = World::new();
    world.write("one/t0.c", program);
    for number in 0..PROGRAMS {
        world.write(&format!("many/t{number}.c"), program);
    }
    let (one, result) = peak(&world, "check one --runs 2 --jobs 1");
    assert_eq!(result.code, Some(0), "{}\n{}", result.stdout, result.stderr);
    let (many, result) = peak(&world, "check many --runs 2 --jobs 1 --format json");
    assert_eq!(result.code, Some(0), "{}\n{}", result.stdout, result.stderr);
    assert_eq!(result.json()["runs"]["total"], 2 * PROGRAMS);
    assert!(
        many < one + PROGRAMS * KIB_EACH,
        "{many} KiB, {one} KiB for one"
    );
}
