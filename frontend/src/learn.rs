//! Proposes vocabulary text for a project's own layer: functions and macros whose
//! body is one atomic operation. What is proposed is text for people to look at;
//! a scan does not use it by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::context::ScanContext;
use crate::declare::declarations;
use crate::found_site::FoundSite;
use crate::macro_definition::macro_definitions;
use crate::order::MemoryOrder;
use crate::outline::{Marks, Outline};
use crate::recognise::found_in;
use crate::site::SiteOperation;
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::{OrderRule, Rule};
use crate::wrapper_function::{self, WrapperFunction, without_orders};
use crate::{generated, macros};

/// The suffixes by which layers name orders in their functions.
const SUFFIXES: [(&str, MemoryOrder); 11] = [
    ("_relaxed", MemoryOrder::Relaxed),
    ("_rlx", MemoryOrder::Relaxed),
    ("_nobarrier", MemoryOrder::Relaxed),
    ("_acquire", MemoryOrder::Acquire),
    ("_acq", MemoryOrder::Acquire),
    ("_release", MemoryOrder::Release),
    ("_rel", MemoryOrder::Release),
    ("_acq_rel", MemoryOrder::AcqRel),
    ("_acqrel", MemoryOrder::AcqRel),
    ("_seq_cst", MemoryOrder::SeqCst),
    ("_sc", MemoryOrder::SeqCst),
];

/// Words of names that say an order.
const ORDER_WORDS: [&str; 13] = [
    "relaxed",
    "rlx",
    "nobarrier",
    "acquire",
    "acq",
    "release",
    "rel",
    "acqrel",
    "seqcst",
    "seq",
    "cst",
    "sc",
    "nosync",
];

/// A function or macro that wraps one atomic operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Its name.
    pub name: String,
    rule: Rule,
    /// What it does, without its orders and with its parameters by number: equal for
    /// two that differ in nothing but their orders.
    body: String,
}

impl Wrapper {
    fn of_function(function: WrapperFunction) -> Self {
        let WrapperFunction { name, rule, body } = function;
        Self { name, rule, body }
    }

    /// The order that it says inside, of a compare-exchange on success and on
    /// failure; `None` if its callers say it.
    pub fn orders(&self) -> Option<(MemoryOrder, Option<MemoryOrder>)> {
        let inside = |rule: &OrderRule| match rule {
            OrderRule::Macro { order, .. } => *order,
            _ => None,
        };
        let failure = match &self.rule.failure {
            Some(failure) => Some(inside(failure)?),
            None => None,
        };
        Some((inside(&self.rule.order)?, failure))
    }

    /// Whether it can do what another one does: the same operation on the same object,
    /// or on any that it is given.
    pub fn serves_for(&self, other: &Self) -> bool {
        let takes_any = |wrapper: &Self| wrapper.rule.object.is_some();
        self.rule.operation == other.rule.operation
            && (takes_any(self) && takes_any(other) || self.is_sibling_of(other))
    }

    /// Whether both are called alike and do the same, but for the order: their
    /// bodies differ in nothing else, or their names in nothing but words for orders.
    pub fn is_sibling_of(&self, other: &Self) -> bool {
        self.differs_by_order_from(other)
            && self.names_object() == other.names_object()
            && (self.is_named_like(other) || self.body == other.body)
    }

    /// Whether it does with the address of an object what another one does with the
    /// object, but for the order: `load_acquire(&x)` for `READ_ONCE(x)`.
    pub fn serves_by_address(&self, other: &Self) -> bool {
        let by_address = |wrapper: &Self| wrapper.bare_body().replace("&$", "$");
        self.differs_by_order_from(other)
            && other.names_object()
            && !self.names_object()
            && (self.is_named_like(other) || by_address(other) == by_address(self))
    }

    /// Whether both are called with as many arguments of the same meaning, and each says
    /// its order inside.
    fn differs_by_order_from(&self, other: &Self) -> bool {
        let plain = |rule: &Rule| Rule {
            order: OrderRule::Fixed(MemoryOrder::Relaxed),
            failure: None,
            plain: None,
            ..rule.clone()
        };
        self.orders().is_some()
            && other.orders().is_some()
            && plain(&self.rule) == plain(&other.rule)
    }

    /// Whether it takes the address of its argument itself.
    fn names_object(&self) -> bool {
        let object = self.rule.object;
        object.is_some_and(|object| self.bare_body().contains(&format!("&${object}")))
    }

    /// The body without its parentheses, which some macros have around parameters.
    fn bare_body(&self) -> String {
        self.body.replace(['(', ')'], "")
    }

    /// Whether the names of both differ in nothing but words for orders.
    pub fn is_named_like(&self, other: &Self) -> bool {
        words_without_orders(&self.name) == words_without_orders(&other.name)
    }
}

/// Whether a name says that something is relaxed: `load_relaxed`, and `READ_ONCE` with
/// whatever is before it, which is known from Linux. Words for other orders are words
/// for locks, too.
pub fn is_named_relaxed(name: &str) -> bool {
    let relaxed = ["relaxed", "rlx", "nobarrier", "nosync"];
    let words = words(name);
    let ends_as = |access: &str| words.ends_with(&[access.to_owned(), "once".to_owned()]);
    words.iter().any(|word| relaxed.contains(&&**word)) || ends_as("read") || ends_as("write")
}

/// The words of a name, in lower case, without those that say an order.
fn words_without_orders(name: &str) -> Vec<String> {
    let mut words = words(name);
    words.retain(|word| !ORDER_WORDS.contains(&&**word));
    words
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut previous_is_lower = false;
    for letter in name.chars() {
        let starts_word = letter == '_' || letter.is_uppercase() && previous_is_lower;
        if starts_word {
            words.push(String::new());
        }
        if letter != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        previous_is_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The wrappers that a file defines and no vocabulary knows yet.
pub fn wrappers(file: &ParsedFile, vocabularies: &Vocabularies) -> Vec<Wrapper> {
    let outline = Outline::of(file);
    let declared = declarations(file, &outline, Vec::new(), vocabularies);
    let context = ScanContext::new(file, &declared, vocabularies);
    let mut wrappers: Vec<Wrapper> = macro_definitions(&outline, file)
        .iter()
        .filter_map(|definition| {
            let rule = macros::wrapper(definition, &context)?;
            let parameters = definition.parameters.as_deref().unwrap_or_default();
            Some(Wrapper {
                name: definition.name.clone(),
                rule,
                body: without_orders(&file.slice(&definition.body), parameters),
            })
        })
        .collect();
    let found: Vec<FoundSite<'_>> = found_in(&outline, &context)
        .certain
        .into_iter()
        .map(|(found, _)| found)
        .collect();
    outline.visit(Marks::FUNCTION, |node, _, _| {
        let function = wrapper_function::read(node, &found, &context);
        wrappers.extend(function.map(Wrapper::of_function));
    });
    let generated = generated::functions(&context).into_iter();
    wrappers.extend(generated.map(Wrapper::of_function));
    wrappers.retain(|wrapper| vocabularies.rules(&wrapper.name).next().is_none());
    wrappers
}

/// Text for wmfix.toml that describes the wrappers.
pub fn vocabulary_text(name: &str, wrappers: &[Wrapper]) -> String {
    let mut plain = SuffixTable::default();
    let mut suffixed: Vec<SuffixTable> = Vec::new();
    let mut families: BTreeMap<(String, Shape), BTreeMap<&'static str, String>> = BTreeMap::new();
    for wrapper in wrappers {
        match suffix(wrapper, wrappers) {
            Some((base, order, suffix)) => {
                let family = (base, shape(wrapper, true));
                let orders = families.entry(family).or_default();
                orders.entry(order.name()).or_insert(suffix);
            }
            None => {
                let names = plain.calls.entry(shape(wrapper, false)).or_default();
                names.insert(wrapper.name.clone());
            }
        }
    }
    for ((base, shape), orders) in families {
        let agrees = |table: &&mut SuffixTable| table.agrees(&orders);
        let table = match suffixed.iter_mut().find(agrees) {
            Some(table) => table,
            None => {
                suffixed.push(SuffixTable::default());
                suffixed.last_mut().expect("one was just put there")
            }
        };
        table.orders.extend(orders);
        table.calls.entry(shape).or_default().insert(base);
    }
    let mut text = String::new();
    for (number, table) in (1..).zip(&suffixed) {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        table.write(&format!("{name}-suffix{number}"), &mut text);
    }
    if !plain.calls.is_empty() {
        plain.write(name, &mut text);
    }
    text
}

/// Wrappers whose suffixes say the same orders; none if callers or names say them.
#[derive(Default)]
struct SuffixTable {
    orders: BTreeMap<&'static str, String>,
    calls: BTreeMap<Shape, BTreeSet<String>>,
}

impl SuffixTable {
    /// Whether a family has no other suffix for an order, and no other order for a
    /// suffix.
    fn agrees(&self, orders: &BTreeMap<&'static str, String>) -> bool {
        let mut pairs = self.orders.iter();
        pairs.all(|(order, suffix)| {
            let other = orders.get(order);
            let mut others = orders.iter();
            other.is_none_or(|other| other == suffix)
                && others.all(|(name, other)| name == order || other != suffix)
        })
    }

    fn write(&self, name: &str, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[[vocabulary]]\nname = \"{name}\"");
        if !self.orders.is_empty() {
            let orders: Vec<String> = (self.orders.iter())
                .map(|(order, suffix)| format!("{order} = \"{suffix}\""))
                .collect();
            let _ = writeln!(
                text,
                "style = \"suffix\"\norders = {{ {} }}",
                orders.join(", ")
            );
        }
        for (shape, names) in &self.calls {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let _ = writeln!(
                text,
                "\n[[vocabulary.call]]\nnames = [{}]",
                names.join(", ")
            );
            let _ = writeln!(text, "operation = \"{}\"", shape.operation);
            for (key, value) in &shape.rest {
                let _ = writeln!(text, "{key} = {value}");
            }
            if self.orders.is_empty() {
                let _ = writeln!(text, "order = {}", shape.order);
            }
        }
        text.push('\n');
    }
}

/// The name without its suffix, the order that the suffix says, and the suffix. One
/// member of a family may go without: `PW_LOAD` beside `PW_LOAD_ACQ`.
fn suffix(wrapper: &Wrapper, all: &[Wrapper]) -> Option<(String, MemoryOrder, String)> {
    let (order, _) = wrapper.orders()?;
    let split = |wrapper: &Wrapper| -> Option<(String, String)> {
        let (order, _) = wrapper.orders()?;
        let lower = wrapper.name.to_ascii_lowercase();
        let known = SUFFIXES
            .iter()
            .filter(|(suffix, said)| *said == order && lower.ends_with(suffix));
        let (longest, _) = known.max_by_key(|(suffix, _)| suffix.len())?;
        let (base, suffix) = wrapper.name.split_at(lower.len() - longest.len());
        Some((base.to_owned(), suffix.to_owned()))
    };
    if let Some((base, suffix)) = split(wrapper) {
        return Some((base, order, suffix));
    }
    let suffixed = |other: &Wrapper| {
        other.is_sibling_of(wrapper) && split(other).is_some_and(|(base, _)| base == wrapper.name)
    };
    all.iter()
        .any(suffixed)
        .then(|| (wrapper.name.clone(), order, String::new()))
}

/// What calls that can be described together share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    operation: &'static str,
    order: String,
    rest: Vec<(&'static str, String)>,
}

fn shape(wrapper: &Wrapper, is_suffixed: bool) -> Shape {
    let rule = &wrapper.rule;
    let order = match &rule.order {
        _ if is_suffixed => "\"suffix\"".to_owned(),
        OrderRule::Argument { index, .. } => index.to_string(),
        _ => {
            let said = wrapper.orders().map_or(MemoryOrder::SeqCst, |said| said.0);
            format!("\"{}\"", said.name())
        }
    };
    let mut rest = Vec::new();
    if rule.member {
        rest.push(("member", "true".to_owned()));
    }
    if let Some(object) = rule.object.filter(|&object| object > 0) {
        rest.push(("object", object.to_string()));
    }
    rest.push(("arguments", format!("[{0}, {0}]", rule.arity.0)));
    if let (Some(expected), Some(desired)) = (rule.expected, rule.desired) {
        rest.push(("expected", expected.to_string()));
        rest.push(("desired", desired.to_string()));
    }
    if let Some(OrderRule::Argument { index, .. }) = rule.failure {
        rest.push(("failure", index.to_string()));
    }
    Shape {
        operation: operation(rule.operation),
        order,
        rest,
    }
}

fn operation(operation: SiteOperation) -> &'static str {
    match operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "rmw",
        SiteOperation::CompareExchange { weak: false } => "compare-exchange",
        SiteOperation::CompareExchange { weak: true } => "compare-exchange-weak",
        SiteOperation::Fence => "fence",
        SiteOperation::SignalFence => "signal-fence",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_named_relaxed, vocabulary_text, wrappers};
    use crate::{Language, ParsedFile, Vocabularies, scan_source};

    const LAYER: &str = "
        #include <stdatomic.h>
        typedef atomic_int my_t;
        static inline int my_load_acquire(my_t *p) { return atomic_load_explicit(p, memory_order_acquire); }
        static inline int my_load_rlx(my_t *p) { return atomic_load_explicit(p, memory_order_relaxed); }
        static inline void my_put(int v, my_t *p, memory_order o) { atomic_store_explicit(p, v, o); }
        #define MY_SWAP(p, v) atomic_exchange(p, v)
        static int not_one(my_t *p) { atomic_load(p); return atomic_load(p); }
    ";

    #[test]
    fn a_family_may_have_a_member_without_a_suffix() {
        let layer = "
            #include <stdatomic.h>
            #define PW_LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
            #define PW_LOAD_ACQ(p) atomic_load_explicit((p), memory_order_acquire)
            #define PW_ADD(p, v) atomic_fetch_add((p), (v))
            #define PW_ADD_RLX(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
            #define PW_LONE(p) atomic_load_explicit((p), memory_order_acquire)
        ";
        let builtin = Vocabularies::builtin();
        let file = ParsedFile::parse(Path::new("layer.h"), layer.as_bytes(), Language::C);
        let found = wrappers(&file, &builtin);
        let named = |name| found.iter().find(|w| w.name == name).unwrap();
        assert!(named("PW_LOAD").is_sibling_of(named("PW_LOAD_ACQ")));
        assert!(named("PW_LOAD").is_named_like(named("PW_LOAD_ACQ")));
        assert!(!named("PW_LOAD").is_named_like(named("PW_LONE")));
        let text = vocabulary_text("pw", &found);
        // A bare name says relaxed of a load and seq_cst of an addition.
        assert!(text.contains("name = \"pw-suffix\""), "{text}");
        assert!(text.contains("name = \"pw-suffix-2\""), "{text}");
        let table: toml::Table = text.parse().expect(&text);
        let all = Vocabularies::with_project(table.get("vocabulary")).expect(&text);
        let user = "int f(atomic_int *p) { PW_ADD(p, 1); PW_ADD_RLX(p, 1); return PW_LOAD(p) + PW_LOAD_ACQ(p) + PW_LONE(p); }";
        let scan = scan_source(Path::new("user.c"), user.as_bytes(), &all);
        let orders: Vec<_> = scan
            .sites
            .iter()
            .map(|site| site.order.order.map(|o| o.name()))
            .collect();
        let expected = ["seq_cst", "relaxed", "relaxed", "acquire", "acquire"];
        assert_eq!(orders, expected.map(Some), "{text}");
    }

    #[test]
    fn what_differs_in_the_order_alone_is_a_family_whatever_its_names() {
        let layer = "
            #include <atomic>
            class Counter {
                int get() const { return value_.load(std::memory_order_relaxed); }
                int observe() const { return value_.load(std::memory_order_acquire); }
                int other() const { return other_.load(std::memory_order_acquire); }
                std::atomic<int> value_, other_;
            };
            class Other {
                int watch() const { return value_.load(std::memory_order_acquire); }
                std::atomic<int> value_;
            };
            #define PW_PEEK(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
            #define pw_follow(p) \\\n __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
        ";
        let file = ParsedFile::parse(Path::new("layer.hpp"), layer.as_bytes(), Language::Cpp);
        let found = wrappers(&file, &Vocabularies::builtin());
        let named = |name| found.iter().find(|w| w.name == name).expect(name);
        assert!(named("get").is_sibling_of(named("observe")));
        assert!(!named("get").is_sibling_of(named("other")));
        assert!(!named("get").is_sibling_of(named("watch")));
        assert!(named("PW_PEEK").is_sibling_of(named("pw_follow")));
        assert!(is_named_relaxed("set_next_relaxed") && is_named_relaxed("loadRelaxed"));
        assert!(!is_named_relaxed("spin_acquire"));
        assert!(is_named_relaxed("READ_ONCE") && is_named_relaxed("MY_WRITE_ONCE"));
        assert!(!is_named_relaxed("call_once") && !is_named_relaxed("read_once_more"));
    }

    #[test]
    fn who_takes_an_address_serves_for_who_takes_the_object() {
        let layer = "
            #define MY_READ_ONCE(var) __atomic_load_n(&(var), __ATOMIC_RELAXED)
            #define my_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
            #define my_follow(var) __atomic_load_n(&(var), __ATOMIC_ACQUIRE)
            #define my_load(p) __atomic_load_n(p, __ATOMIC_RELAXED)
            #define other_load(p) __atomic_load_n((p)->next, __ATOMIC_ACQUIRE)
        ";
        let file = ParsedFile::parse(Path::new("layer.h"), layer.as_bytes(), Language::C);
        let found = wrappers(&file, &Vocabularies::builtin());
        let named = |name| found.iter().find(|w| w.name == name).expect(name);
        let (once, acquire) = (named("MY_READ_ONCE"), named("my_load_acquire"));
        assert!(acquire.serves_by_address(once) && !acquire.is_sibling_of(once));
        assert!(!once.serves_by_address(acquire));
        assert!(named("my_follow").is_sibling_of(once));
        assert!(!named("my_follow").serves_by_address(once));
        assert!(!acquire.serves_by_address(named("my_load")));
        assert!(!named("other_load").serves_by_address(once));
    }

    #[test]
    fn what_is_proposed_is_a_vocabulary_that_finds_the_callers() {
        let builtin = Vocabularies::builtin();
        let file = ParsedFile::parse(Path::new("layer.h"), LAYER.as_bytes(), Language::C);
        let found = wrappers(&file, &builtin);
        let names: Vec<&str> = found.iter().map(|w| w.name.as_str()).collect();
        assert_eq!(
            names,
            ["MY_SWAP", "my_load_acquire", "my_load_rlx", "my_put"]
        );

        let text = vocabulary_text("my", &found);
        let table: toml::Table = text.parse().expect(&text);
        let all = Vocabularies::with_project(table.get("vocabulary")).expect(&text);
        let user = "int f(my_t *p) { my_put(1, p, memory_order_release); return my_load_acquire(p) + my_load_rlx(p) + MY_SWAP(p, 2); }";
        let scan = scan_source(Path::new("user.c"), user.as_bytes(), &all);
        let orders: Vec<_> = scan
            .sites
            .iter()
            .map(|site| (site.callee.as_str(), site.order.order.map(|o| o.name())))
            .collect();
        assert_eq!(
            orders,
            [
                ("my_put", Some("release")),
                ("my_load_acquire", Some("acquire")),
                ("my_load_rlx", Some("relaxed")),
                ("MY_SWAP", Some("seq_cst")),
            ]
        );
        let object = scan.sites[0].object.clone().expect("it has an object");
        assert_eq!(&user[object], "p");
    }
}
