//! Objects without a name are told by the line that made their memory, and so are the
//! values that point to them: the author's line, through what only hands memory on, and
//! the one of that time. What lies elsewhere has no such line.

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn wmfix(files: &[(&str, &str)], line: &str) -> CommandResult {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let world = World::new();
    for (name, text) in files {
        world.write(name, text);
    }
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(line.split_whitespace());
    CommandResult::of(&mut command)
}

/// The line of a text that has a mark.
fn line_of(text: &str, mark: &str) -> u64 {
    let before = text.split(mark).next().expect("a part");
    assert!(before.len() < text.len(), "{mark}");
    before.matches('\n').count() as u64 + 1
}

/// The races of a report, each with its object and the line that made it.
fn made(report: &Value) -> Vec<(String, Option<u64>)> {
    let races = report["races"].as_array().expect("races").iter();
    let told = races.map(|race| {
        let name = race["location"].as_str().expect("a name").to_owned();
        (name, race["allocated"]["line"].as_u64())
    });
    told.collect()
}

const LIST: &str = "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; char text[32]; };
static _Atomic(struct node *) head;
static struct node fixed;
static int counter;
static void *xmalloc(size_t bytes)
{
    void *block = malloc(bytes);
    if (!block)
        abort();
    return block;
}
static void *sender(void *unused)
{
    struct node *other = malloc(sizeof *other); /* first */
    other->value = 1;
    free(other);
    struct node *node = xmalloc(sizeof *node); /* second */
    strcpy(node->text, \"hello\");
    node->value = 7;
    fixed.value = 7;
    counter++;
    atomic_store_explicit(&head, node, memory_order_relaxed);
    return unused;
}
static void *receiver(void *unused)
{
    struct node *node = atomic_load_explicit(&head, memory_order_relaxed);
    struct node copy;
    if (node) {
        memcpy(&copy, node, sizeof copy);
        fixed.value += node->value + copy.value;
        counter++;
    }
    return unused;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, sender, 0);
    pthread_create(&other, 0, receiver, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

#[test]
fn memory_is_told_by_the_line_of_its_author_at_that_time() {
    let report = wmfix(&[("list.c", LIST)], "check list.c --runs 40 --format json").json();
    let (made, line) = (made(&report), line_of(LIST, "/* second */"));
    let of = |name: &str| -> Vec<Option<u64>> {
        let named = made.iter().filter(|(one, _)| one.contains(name));
        named.map(|(_, line)| *line).collect()
    };
    assert!(!of("node->value").is_empty(), "{made:?}");
    assert!(
        of("node->value").iter().all(|&at| at == Some(line)),
        "{made:?}"
    );
    // Near misses: variables are in no memory that was asked for.
    assert!(
        !of("counter").is_empty() && !of("fixed").is_empty(),
        "{made:?}"
    );
    assert!(of("counter").iter().all(Option::is_none), "{made:?}");
    assert!(of("fixed").iter().all(Option::is_none), "{made:?}");
    let race = &report["races"][0]["allocated"];
    assert_eq!(race["type"], "node", "{report}");
    assert_eq!(race["function"], "sender", "{report}");

    let text = wmfix(&[("list.c", LIST)], "check list.c --runs 40").stdout;
    let said = format!("the node allocated at list.c:{line}");
    assert!(text.contains(&said), "{text}");
    assert!(!text.contains("memory written by"), "{text}");
}

#[test]
fn recorded_and_checked_runs_have_the_same_names() {
    let line = "check list.c --runs 40 --format json";
    let checked = wmfix(&[("list.c", LIST)], line).json();
    let recorded = wmfix(&[("list.c", LIST)], &format!("{line} --record")).json();
    let system = wmfix(&[("list.c", LIST)], &format!("{line} --strategy os")).json();
    assert_eq!(made(&checked), made(&recorded));
    let line = line_of(LIST, "/* second */");
    for (name, at) in made(&system)
        .iter()
        .filter(|(name, _)| name.contains("node->"))
    {
        assert_eq!(*at, Some(line), "{name}");
    }
}

const POINTERS: &str = "#include <atomic>
#include <memory>
#include <thread>
struct Node { int value = 1; };
static std::atomic<Node*> left, right;
static std::atomic<long> number;
int main()
{
    std::thread one([] {
        left.store(new Node, std::memory_order_relaxed); // left
        right.load(std::memory_order_relaxed);
    });
    std::thread other([] {
        auto kept = std::make_unique<Node>(); // right
        right.store(kept.release(), std::memory_order_relaxed);
        left.load(std::memory_order_relaxed);
    });
    one.join();
    other.join();
}
";

#[test]
fn values_that_point_to_memory_are_told_by_its_line() {
    let files = [("pair.cpp", POINTERS)];
    let report = wmfix(&files, "check pair.cpp --runs 60 --format json").json();
    let violations = report["violations"].as_array().expect("violations");
    assert!(!violations.is_empty(), "{report}");
    for violation in violations {
        let mark = match violation["location"].as_str() {
            Some("left") => "// left",
            Some("right") => "// right",
            other => panic!("{other:?}"),
        };
        assert!(violation["allocated"].is_null(), "{violation}");
        let pointers = violation["pointers"].as_array().expect("pointers");
        let lines: Vec<_> = pointers.iter().map(|one| &one["allocated"]).collect();
        assert_eq!(lines.len(), 1, "{violation}");
        assert_eq!(lines[0]["line"], line_of(POINTERS, mark), "{violation}");
        assert_eq!(lines[0]["type"], "Node", "{violation}");
        assert_eq!(pointers[0]["start"], true, "{violation}");
    }
    let text = wmfix(&files, "check pair.cpp --runs 60").stdout;
    let said = format!(
        "the Node allocated at pair.cpp:{}",
        line_of(POINTERS, "// left")
    );
    assert!(text.contains(&said), "{text}");
    assert!(!text.contains("0x"), "no address is shown: {text}");
}
