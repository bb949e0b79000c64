//! Runs as text: `1:w(x) 1:acq(l) 2:r(x)`, each event with its thread in front.
//! Every event gets a site of its own, its index.

use std::collections::BTreeMap;

use wmfix_analysis::{
    Bytes, Event, LoadOrder, LocationId, LockId, LockMode, Operation, RmwOrder, SiteId, StoreOrder,
    ThreadId,
};

/// What is wrong with a run as text.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no event")]
pub struct TraceNotationError(String);

/// The events of a run. Threads need no creation. Plain: `r(x)`, `w(x)`; atomic,
/// relaxed unless told: `ld(a)`, `st(a)`, `add(a)`, `ldacq(a)`, `strel(a)`,
/// `ldsc(a)`, `stsc(a)`; locks: `acq(l)`, `rel(l)`, `rdacq(l)`, `rdrel(l)`;
/// signals: `give(s)`, `receive(s)`; threads: `create(n)`, `join(n)`, `exit()`.
pub fn trace(text: &str) -> Result<Vec<Event>, TraceNotationError> {
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut values: BTreeMap<u32, u64> = BTreeMap::new();
    let mut events = Vec::new();
    for word in text.split_whitespace() {
        let parsed = parse(word).ok_or_else(|| TraceNotationError(word.to_owned()))?;
        let (thread, verb, name) = parsed;
        let next = names.len() as u32;
        let object = *names.entry(name.to_owned()).or_insert(next);
        let operation = operation(verb, object, name, &mut values)
            .ok_or_else(|| TraceNotationError(word.to_owned()))?;
        events.push(Event {
            thread: ThreadId(thread),
            site: SiteId(events.len() as u32),
            operation,
        });
    }
    Ok(events)
}

fn parse(word: &str) -> Option<(u32, &str, &str)> {
    let (thread, rest) = word.split_once(':')?;
    let (verb, name) = rest.strip_suffix(')')?.split_once('(')?;
    Some((thread.parse().ok()?, verb, name))
}

fn operation(
    verb: &str,
    object: u32,
    name: &str,
    values: &mut BTreeMap<u32, u64>,
) -> Option<Operation> {
    let bytes = Bytes {
        address: 0x1000 + 16 * u64::from(object),
        size: 4,
    };
    let (location, lock) = (LocationId(object), LockId(object.into()));
    let acquire = |mode| Operation::Acquire { lock, mode };
    let release = |mode| Operation::Release { lock, mode };
    let load = |order| Operation::Load {
        location,
        order,
        value: values.get(&object).copied().unwrap_or(0),
        exit: None,
    };
    Some(match verb {
        "r" => Operation::Read { bytes },
        "w" => Operation::Write { bytes },
        "ld" => load(LoadOrder::Relaxed),
        "ldacq" => load(LoadOrder::Acquire),
        "ldsc" => load(LoadOrder::SeqCst),
        "st" | "strel" | "stsc" => {
            let value = values.get(&object).copied().unwrap_or(0) + 1;
            values.insert(object, value);
            Operation::Store {
                location,
                order: match verb {
                    "st" => StoreOrder::Relaxed,
                    "strel" => StoreOrder::Release,
                    _ => StoreOrder::SeqCst,
                },
                value,
            }
        }
        "add" => {
            let read = values.get(&object).copied().unwrap_or(0);
            values.insert(object, read + 1);
            Operation::Rmw {
                location,
                order: RmwOrder::Relaxed,
                read,
                written: read + 1,
                exit: None,
            }
        }
        "acq" => acquire(LockMode::Exclusive),
        "rel" => release(LockMode::Exclusive),
        "rdacq" => acquire(LockMode::Shared),
        "rdrel" => release(LockMode::Shared),
        "receive" => acquire(LockMode::Signal),
        "give" => release(LockMode::Signal),
        "create" => Operation::Create {
            child: ThreadId(name.parse().ok()?),
        },
        "join" => Operation::Join {
            child: ThreadId(name.parse().ok()?),
        },
        "exit" => Operation::Exit,
        _ => return None,
    })
}
