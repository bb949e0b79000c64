//! Lines of C and C++ as far as orders are concerned: the text with every order,
//! fence and ordered word of the library taken out, and what was there. Two lines
//! that differ only in their orders have the same text.

use std::collections::BTreeMap;

/// What an order belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write, or the success of a compare-exchange.
    Rmw,
    /// The failure of a compare-exchange.
    Failure,
    /// A fence between threads.
    Fence,
}

/// A memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Orders nothing; a signal fence, too.
    Relaxed,
    /// Acquire, or consume.
    Acquire,
    /// Release.
    Release,
    /// Both.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

/// An order in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) operation: Operation,
    pub(super) order: Order,
}

/// A line with code on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: usize,
    /// The code, with a mark where an order was.
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
}

/// What a library's own words mean.
#[derive(Clone, Debug, Default)]
pub struct Words(BTreeMap<String, Token>);

impl Words {
    /// From entries such as `publish = "store release"`.
    pub fn new(entries: &BTreeMap<String, String>) -> Self {
        let meanings = entries.iter().map(|(word, meaning)| {
            let (operation, order) = meaning.split_once(' ').expect("an operation and an order");
            let operation = match operation {
                "load" => Operation::Load,
                "store" => Operation::Store,
                "rmw" => Operation::Rmw,
                "fence" => Operation::Fence,
                other => panic!("{other} is not an operation"),
            };
            let order = order_named(order).unwrap_or_else(|| panic!("{order} is not an order"));
            (word.clone(), Token { operation, order })
        });
        Self(meanings.collect())
    }
}

/// The lines of a file that have code on them.
pub(super) fn lines(text: &str, words: &Words) -> Vec<Line> {
    let mut reader = Reader {
        words,
        operation: Operation::Rmw,
        in_compare: None,
    };
    let code = without_comments(text);
    let lines = code.lines().enumerate();
    let read = lines.map(|(index, line)| reader.line(index + 1, line));
    read.filter(|line| !line.text.is_empty()).collect()
}

struct Reader<'w> {
    words: &'w Words,
    /// Of the call that the text is in.
    operation: Operation,
    /// In a compare-exchange: how many of its orders have been read.
    in_compare: Option<usize>,
}

impl Reader<'_> {
    fn line(&mut self, number: usize, line: &str) -> Line {
        let mut text = String::new();
        let mut tokens = Vec::new();
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if !is_word(first) {
                text.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            rest = after;
            if let Some((fence, after)) = fence(word, after) {
                tokens.push(fence);
                drop_namespace(&mut text);
                text.push('§');
                rest = after;
            } else if let Some(&token) = self.words.0.get(word) {
                tokens.push(token);
                text.push('§');
            } else if let Some(order) = order_in(word, &text) {
                tokens.push(self.token(order));
                drop_namespace(&mut text);
                text.push('§');
            } else {
                self.enter(word, after);
                text.push_str(word);
            }
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.trim_end_matches('{').trim_end().to_owned();
        Line {
            number,
            text,
            tokens,
        }
    }

    /// A call of something whose name says what it does.
    fn enter(&mut self, word: &str, after: &str) {
        if !after.trim_start().starts_with('(') {
            return;
        }
        let word = word.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
        let compares = has(&["compare_exchange", "cas_"]);
        let operation = if has(&["exchange", "fetch", "cas_", "swap", "add", "sub"]) {
            Operation::Rmw
        } else if has(&["store", "set", "write", "assign"]) {
            Operation::Store
        } else if has(&["load", "get", "read"]) {
            Operation::Load
        } else {
            return;
        };
        self.operation = operation;
        self.in_compare = compares.then_some(0);
    }

    fn token(&mut self, order: Order) -> Token {
        let operation = match &mut self.in_compare {
            Some(read) => {
                *read += 1;
                match *read {
                    1 => Operation::Rmw,
                    _ => Operation::Failure,
                }
            }
            None => self.operation,
        };
        Token { operation, order }
    }
}

/// `atomic_thread_fence(order)`, or a project's word for it with the order in it.
fn fence<'t>(word: &str, after: &'t str) -> Option<(Token, &'t str)> {
    if !word.contains("fence") {
        return None;
    }
    let (inside, rest) = after.strip_prefix('(')?.split_once(')')?;
    let order = order_named(last_word(inside))?;
    let order = match word {
        "atomic_signal_fence" => Order::Relaxed,
        _ => order,
    };
    let operation = Operation::Fence;
    Some((Token { operation, order }, rest))
}

fn order_in(word: &str, before: &str) -> Option<Order> {
    let spelled = word.starts_with("memory_order_")
        || word.starts_with("__ATOMIC_")
        || before.ends_with("memory_order::");
    if spelled { order_named(word) } else { None }
}

fn order_named(word: &str) -> Option<Order> {
    let word = word.to_lowercase();
    let bare = word
        .trim_start_matches("memory_order_")
        .trim_start_matches("__atomic_");
    match bare {
        "relaxed" => Some(Order::Relaxed),
        "acquire" | "consume" => Some(Order::Acquire),
        "release" => Some(Order::Release),
        "acq_rel" => Some(Order::AcqRel),
        "seq_cst" => Some(Order::SeqCst),
        _ => None,
    }
}

fn last_word(text: &str) -> &str {
    let text = text.trim();
    let start = text.rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
    &text[start..]
}

/// `std::` and `memory_order::` are other spellings of the same thing.
fn drop_namespace(text: &mut String) {
    for name in ["memory_order::", "std::"] {
        if text.ends_with(name) {
            text.truncate(text.len() - name.len());
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Comments become blanks; lines stay where they are. The corpus has no comment
/// marks in its literals.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        code.push_str(&rest[..at]);
        let comment = &rest[at..];
        let length = match comment.starts_with("/*") {
            true => comment.find("*/").map_or(comment.len(), |end| end + 2),
            false => comment.find('\n').unwrap_or(comment.len()),
        };
        code.extend(comment[..length].matches('\n'));
        rest = &comment[length..];
    }
    code.push_str(rest);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, entries: &[(&str, &str)]) -> Vec<Line> {
        let entries = entries
            .iter()
            .map(|(w, m)| ((*w).to_owned(), (*m).to_owned()));
        lines(text, &Words::new(&entries.collect()))
    }

    #[test]
    fn orders_are_taken_out_of_every_spelling() {
        let lines = read(
            "x.store(1, std::memory_order_release);\n\
             __atomic_load_n(&y, __ATOMIC_ACQUIRE);\n\
             y.load(std::memory_order::acquire); /* a\n\
             comment */\n\
             std::atomic_thread_fence(std::memory_order_seq_cst);\n\
             tail.publish(2);\n",
            &[("publish", "store release")],
        );
        let of = |index: usize| {
            (
                lines[index].tokens[0].operation,
                lines[index].tokens[0].order,
            )
        };
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0].text, "x.store(1, §);");
        assert_eq!(of(0), (Operation::Store, Order::Release));
        assert_eq!(of(1), (Operation::Load, Order::Acquire));
        assert_eq!(lines[2].text, "y.load(§);");
        assert_eq!(
            (lines[3].number, of(3)),
            (5, (Operation::Fence, Order::SeqCst))
        );
        assert_eq!(lines[4].text, "tail.§(2);");
        assert_eq!(of(4), (Operation::Store, Order::Release));
    }

    #[test]
    fn a_compare_exchange_has_two_orders() {
        let lines = read(
            "if (x.compare_exchange_weak(a, b,\n  memory_order_acq_rel, memory_order_relaxed))\n",
            &[],
        );
        let operations: Vec<Operation> = lines[1].tokens.iter().map(|t| t.operation).collect();
        assert_eq!(operations, [Operation::Rmw, Operation::Failure]);
    }
}
