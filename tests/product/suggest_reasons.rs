//! Why a change is there: all findings that it removes, the first of them as the one that
//! is back without it, and who else pays for it.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

fn suggested(files: &[(&str, &str)]) -> CommandResult {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let world = World::new();
    for (name, text) in files {
        world.write(name, text);
    }
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args(["suggest", ".", "--runs", "60"]);
    CommandResult::of(&mut command)
}

const WRAPPERS: &str = "
#include <stdatomic.h>
struct item { struct item *next; int value; };
static inline struct item *list_get(_Atomic(struct item *) *list)
{
    return atomic_load_explicit(list, memory_order_acquire);
}
static inline int list_try(_Atomic(struct item *) *list, struct item **old, struct item *item)
{
    return atomic_compare_exchange_weak_explicit(list, old, item, memory_order_relaxed,
                                                 memory_order_relaxed);
}
";

/// A list with senders that call the wrapper: in one place, or in two, of which only the
/// first publishes anything.
fn list(second: bool) -> String {
    let other = match second {
        false => "",
        true => {
            "    struct item *none = 0;
    list_try(&empty, &none, 0);
"
        }
    };
    format!(
        "#include <assert.h>
#include <pthread.h>
#include \"list.h\"
static _Atomic(struct item *) list, empty;
static struct item items[2];
static void *sender(void *argument)
{{
    struct item *item = argument, *old = list_get(&list);
    item->value = 7;
    do {{
        item->next = old;
    }} while (!list_try(&list, &old, item));
{other}    return 0;
}}
static void *receiver(void *unused)
{{
    struct item *item = list_get(&list);
    if (item)
        assert(item->value == 7);
    return unused;
}}
int main(void)
{{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, sender, &items[0]);
    pthread_create(&threads[1], 0, sender, &items[1]);
    pthread_create(&threads[2], 0, receiver, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}}
"
    )
}

#[test]
fn the_only_caller_of_a_wrapper_is_no_other_caller() {
    let ran = suggested(&[("list.h", WRAPPERS), ("list_demo.c", &list(false))]);
    assert!(ran.stdout.contains("+    return atomic_compare"), "{ran:?}");
    assert!(ran.stdout.contains("memory_order_release"), "{ran:?}");
    assert!(!ran.stderr.contains("other caller"), "{ran:?}");
    let ran = suggested(&[("list.h", WRAPPERS), ("list_demo.c", &list(true))]);
    assert!(
        ran.stderr.contains("; 1 other caller pays for it, too"),
        "{ran:?}"
    );
}

const QUEUE: &str = "
#include <atomic>
#include <thread>
struct Node { std::atomic<Node*> next{nullptr}; int value = 0; };
static Node stub;
static std::atomic<Node*> head{&stub};
static void push(Node* node)
{
    Node* previous = head.exchange(node, std::memory_order_acq_rel);
    previous->next.store(node, std::memory_order_relaxed);
}
int main()
{
    std::thread sender([] {
        Node* node = new Node;
        node->value = 7;
        push(node);
    });
    std::thread receiver([] {
        Node* node = stub.next.load(std::memory_order_acquire);
        if (node && !node->next.load(std::memory_order_acquire) && node->value == 7)
            delete node;
    });
    sender.join();
    receiver.join();
}
";

/// The constructor of the library's atomic writes to a node of the program: what races
/// with that is the program's, like all else that the change removes.
#[test]
fn a_change_lists_all_findings_that_it_removes() {
    let ran = suggested(&[("queue.cpp", QUEUE)]);
    assert!(ran.stdout.contains("memory_order_release"), "{ran:?}");
    let removes = ran.stderr.lines().find(|line| line.contains("removes R1"));
    let removes = removes.unwrap_or_else(|| panic!("{ran:?}"));
    let counted = |line: &str| line.split_once(" races: ")?.0.parse::<usize>().ok();
    let races = ran.stderr.lines().find_map(counted);
    let races = races.unwrap_or_else(|| panic!("{ran:?}"));
    assert!(races > 1, "{ran:?}");
    for number in 1..=races {
        assert!(removes.contains(&format!("R{number}")), "{ran:?}");
    }
    assert!(removes.contains("(without: R1 is back, seed "), "{ran:?}");
}
