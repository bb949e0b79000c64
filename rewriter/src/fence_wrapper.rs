//! Macros and functions that come to nothing but a fence, through any number of layers,
//! and how they are called. A name counts if all of its definitions that the compilers
//! may see agree.

use std::collections::HashMap;

use wmfix_frontend::{MemoryOrder, Presence};

use crate::fence_definition::{Definition, Step};
use crate::order_words::{order_named, split_order};

/// The functions that are a fence of the order that they are given, with the family of
/// names that their orders have.
const FENCE_FUNCTIONS: [(&str, &str); 4] = [
    // The file's language decides between C's names and C++'s.
    ("std::atomic_thread_fence", "c11"),
    ("boost::atomic_thread_fence", "boost"),
    ("atomic_thread_fence", "c11"),
    ("__atomic_thread_fence", "gnu"),
];

/// The ends of names of barriers for the compiler alone.
const COMPILER_BARRIERS: [&str; 3] = ["compiler_barrier", "compiler_fence", "atomic_signal_fence"];

/// Definitions that lead to each other further than this are not followed.
const MOST_LAYERS: usize = 8;

/// A macro or function that is nothing but a fence.
#[derive(Clone, Debug)]
pub(crate) struct FenceWrapper {
    pub(crate) name: String,
    /// Behind this it can be called; 0 if it is a header's.
    pub(crate) defined_at: usize,
    pub(crate) call: WrapperCall,
    pub(crate) is_expression: bool,
}

/// How a wrapper is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrapperCall {
    /// As it stands, for a fence of this order: `mb()` or `MB`.
    Fixed(MemoryOrder, String),
    /// With the order as its argument: `fence(memory_order_release)`.
    WithOrder {
        /// The family of names that its orders have; `None` if that depends on which
        /// definition the compiler sees.
        family: Option<&'static str>,
        /// The order with which it is something else.
        except: Option<MemoryOrder>,
    },
}

/// What a body comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Nothing that other threads could tell.
    Nothing,
    Fence(MemoryOrder),
    /// A fence of the order that a parameter is.
    FenceOf {
        parameter: usize,
        family: Option<&'static str>,
        except: Option<MemoryOrder>,
    },
}

impl FenceWrapper {
    /// The order of a text, without blanks, if it is a call of this wrapper.
    pub(crate) fn order_of(&self, text: &str) -> Option<MemoryOrder> {
        match &self.call {
            WrapperCall::Fixed(order, call) => (call == text).then_some(*order),
            WrapperCall::WithOrder { except, .. } => {
                let inner = text.strip_prefix(&self.name)?.strip_prefix('(')?;
                let order = order_named(inner.strip_suffix(')')?)?;
                (Some(order) != *except).then_some(order)
            }
        }
    }
}

/// The definitions that a file and its headers have, by their names.
pub(crate) struct Layers<'a> {
    by_name: HashMap<&'a str, Vec<&'a Definition>>,
}

impl<'a> Layers<'a> {
    /// The layers of definitions, those that the compilers never see left out.
    pub(crate) fn of(definitions: impl Iterator<Item = &'a Definition>) -> Self {
        let mut by_name: HashMap<&str, Vec<&Definition>> = HashMap::new();
        for definition in definitions.filter(|one| one.presence != Presence::Absent) {
            by_name
                .entry(&definition.name)
                .or_default()
                .push(definition);
        }
        Self { by_name }
    }

    /// The wrapper that a definition is.
    pub(crate) fn wrapper(&self, definition: &Definition) -> Option<FenceWrapper> {
        if definition.presence == Presence::Absent {
            return None;
        }
        let parameters = definition.parameters.as_deref();
        let is_one = parameters.is_some_and(|names| names.len() == 1);
        let name = &definition.name;
        let call = match self.meaning(name, 0)? {
            Meaning::Fence(order) => match parameters {
                None => WrapperCall::Fixed(order, name.clone()),
                Some([]) => WrapperCall::Fixed(order, format!("{name}()")),
                Some(_) => return None,
            },
            Meaning::FenceOf { family, except, .. } if is_one => {
                WrapperCall::WithOrder { family, except }
            }
            _ => return None,
        };
        Some(FenceWrapper {
            name: name.clone(),
            defined_at: definition.defined_at,
            call,
            is_expression: self.is_expression(name, 0),
        })
    }

    /// The definitions of a name, if it has one for certain.
    fn definitions(&self, name: &str) -> &[&'a Definition] {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let is_certain = all.iter().any(|one| one.presence == Presence::Certain);
        // Of several, each for a case of its own, one is there.
        if is_certain || all.len() > 1 {
            all
        } else {
            &[]
        }
    }

    /// What a name comes to by all of its definitions.
    fn meaning(&self, name: &str, depth: usize) -> Option<Meaning> {
        let mut definitions = self.definitions(name).iter();
        let first = self.of_steps(definitions.next()?, depth)?;
        definitions.try_fold(first, |known, definition| {
            match (known, self.of_steps(definition, depth)?) {
                (one, other) if one == other => Some(one),
                (
                    Meaning::FenceOf {
                        parameter: one,
                        except,
                        ..
                    },
                    Meaning::FenceOf {
                        parameter: other,
                        except: same,
                        ..
                    },
                ) if (one, except) == (other, same) => Some(Meaning::FenceOf {
                    parameter: one,
                    family: None,
                    except,
                }),
                _ => None,
            }
        })
    }

    fn of_steps(&self, definition: &Definition, depth: usize) -> Option<Meaning> {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        self.all(&definition.steps, parameters, depth)
    }

    /// What steps come to, if at most one of them is a fence.
    fn all(&self, steps: &[Step], parameters: &[String], depth: usize) -> Option<Meaning> {
        let mut meaning = Meaning::Nothing;
        for step in steps {
            match (meaning, self.step(step, parameters, depth)?) {
                (_, Meaning::Nothing) => {}
                (Meaning::Nothing, fence) => meaning = fence,
                _ => return None,
            }
        }
        Some(meaning)
    }

    fn step(&self, step: &Step, parameters: &[String], depth: usize) -> Option<Meaning> {
        match step {
            Step::CompilerBarrier => Some(Meaning::Nothing),
            Step::Use { name, arguments } => {
                self.used(name, arguments.as_deref(), parameters, depth)
            }
            Step::Choice {
                parameter,
                order,
                same,
                other,
            } => {
                let order = self.order(order)?;
                let Meaning::FenceOf {
                    parameter: number,
                    family,
                    except: None,
                } = self.all(other, parameters, depth)?
                else {
                    return None;
                };
                let same = self.all(same, parameters, depth);
                (parameters.get(number) == Some(parameter)).then_some(Meaning::FenceOf {
                    parameter: number,
                    family,
                    except: (same != Some(Meaning::Fence(order))).then_some(order),
                })
            }
            Step::Other => None,
        }
    }

    /// What the use of a name comes to in a body with these parameters.
    fn used(
        &self,
        name: &str,
        arguments: Option<&[String]>,
        parameters: &[String],
        depth: usize,
    ) -> Option<Meaning> {
        let fence_of = |argument: &String, family, except| {
            let parameter = parameters.iter().position(|known| known == argument);
            match parameter {
                Some(parameter) => Some(Meaning::FenceOf {
                    parameter,
                    family,
                    except,
                }),
                None => self
                    .order(argument)
                    .filter(|order| Some(*order) != except && *order != MemoryOrder::Relaxed)
                    .map(Meaning::Fence),
            }
        };
        let defined = self.definitions(name);
        if defined.is_empty() {
            let function = FENCE_FUNCTIONS.iter().find(|(known, _)| *known == name);
            let last = name.rsplit("::").next().unwrap_or(name);
            return match (function, arguments?) {
                (Some((_, family)), [argument]) => fence_of(argument, Some(family), None),
                (None, []) if name == "__sync_synchronize" => {
                    Some(Meaning::Fence(MemoryOrder::SeqCst))
                }
                (None, _) if COMPILER_BARRIERS.iter().any(|end| last.ends_with(end)) => {
                    Some(Meaning::Nothing)
                }
                _ => None,
            };
        }
        let fits = |definition: &&Definition| {
            let taken = definition.parameters.as_ref().map(Vec::len);
            taken == arguments.map(<[String]>::len)
        };
        if depth == MOST_LAYERS || !defined.iter().all(fits) {
            return None;
        }
        match self.meaning(name, depth + 1)? {
            Meaning::FenceOf {
                parameter,
                family,
                except,
            } => fence_of(arguments?.get(parameter)?, family, except),
            known => Some(known),
        }
    }

    /// Whether a name can be used in an expression, whichever definition is seen.
    fn is_expression(&self, name: &str, depth: usize) -> bool {
        self.definitions(name).iter().all(|definition| {
            let of_step = |step: &Step| match step {
                Step::Use { name, .. } => {
                    depth == MOST_LAYERS || self.is_expression(name, depth + 1)
                }
                _ => true,
            };
            definition.is_expression && definition.steps.iter().all(of_step)
        })
    }

    /// The order that a text names: in the standard's way, or by a name that stands for
    /// one of these.
    pub(crate) fn order(&self, text: &str) -> Option<MemoryOrder> {
        let mut name = text;
        for _ in 0..MOST_LAYERS {
            let [first, others @ ..] = self.definitions(name) else {
                return order_named(name);
            };
            let [
                Step::Use {
                    name: next,
                    arguments: None,
                },
            ] = &first.steps[..]
            else {
                return None;
            };
            // Each definition must name the same, in whatever family.
            let of = |definition: &&Definition| match &definition.steps[..] {
                [
                    Step::Use {
                        name,
                        arguments: None,
                    },
                ] => order_named(name),
                _ => None,
            };
            if !others.iter().all(|other| of(other) == of(first)) {
                return None;
            }
            name = next;
        }
        None
    }

    /// The project's own name for an order, as `#define my_memory_order_acquire
    /// __ATOMIC_ACQUIRE` has it, for a wrapper of this name: one that starts with the
    /// same word, or, if `any` will do, the first one.
    pub(crate) fn own_order(
        &self,
        order: MemoryOrder,
        wrapper: &str,
        any: bool,
    ) -> Option<&'a str> {
        let first_word = |name: &str| {
            let word = name.trim_start_matches('_').split('_').next();
            word.unwrap_or_default().to_ascii_lowercase()
        };
        let is_own = |name: &&&str| {
            let definitions = self.definitions(name);
            let is_name = |one: &&Definition| one.parameters.is_none();
            split_order(name).is_some_and(|(prefix, _)| !prefix.is_empty())
                && !definitions.is_empty()
                && definitions.iter().all(is_name)
                && self.order(name) == Some(order)
        };
        let is_near = |name: &str| first_word(name) == first_word(wrapper);
        let all = self.by_name.keys().filter(is_own);
        let fitting = all.copied().filter(|name| any || is_near(name));
        fitting.min_by_key(|name| (!is_near(name), *name))
    }
}

/// The order of a standard fence, written without blanks.
pub(crate) fn standard_order(text: &str) -> Option<MemoryOrder> {
    if text == "__sync_synchronize()" {
        return Some(MemoryOrder::SeqCst);
    }
    let (function, arguments) = text.split_once('(')?;
    if !FENCE_FUNCTIONS.iter().any(|(known, _)| *known == function) {
        return None;
    }
    let order = order_named(arguments.strip_suffix(')')?)?;
    (order != MemoryOrder::Relaxed).then_some(order)
}
