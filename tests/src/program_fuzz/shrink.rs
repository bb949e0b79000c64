//! Smaller programs: one part less, or one part simpler.

use wmfix_analysis::{LoadOrder, RmwOrder, StoreOrder};

use super::program::{Build, Ending, Locking, PlainKind, Program, Statement, Thread};

/// Everything that can be left out or made simpler, largest parts first.
pub(super) fn smaller(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Program)| {
        let mut changed = program.clone();
        change(&mut changed);
        if changed != *program {
            found.push(changed);
        }
    };
    with(&|p| p.main.clear());
    with(&|p| p.at_exit.clear());
    if program.threads.len() > 1 {
        for thread in 0..program.threads.len() {
            with(&|p| drop(p.threads.remove(thread)));
        }
    }
    for number in 0..program.bodies().count() {
        let body = program.bodies().nth(number).expect("counted");
        let places = places(body);
        for place in &places {
            with(&|p| remove(body_mut(p, number), place));
        }
        for place in &places {
            with(&|p| unwrap(body_mut(p, number), place));
        }
    }
    with(&|p| p.ending = Ending::Return);
    with(&|p| {
        p.threads
            .iter_mut()
            .for_each(|thread: &mut Thread| thread.detached = false)
    });
    let simple = Build {
        compiler: "gcc",
        level: 1,
    };
    with(&|p| p.build = simple);
    with(&|p| p.widths.fill(32));
    with(&|p| p.plains.fill(PlainKind::Word));
    with(&remove_unused_objects);
    for number in 0..program.bodies().count() {
        let body = program.bodies().nth(number).expect("counted");
        for place in &places(body) {
            with(&|p| simplify(statement_at(body_mut(p, number), place)));
        }
    }
    found
}

/// The least that still does it: no part of it can be taken.
pub(super) fn shrink(program: Program, mut does_it: impl FnMut(&Program) -> bool) -> Program {
    let mut least = program;
    while let Some(less) = smaller(&least).into_iter().find(&mut does_it) {
        least = less;
    }
    least
}

/// A statement: its place in the body, in the body of that, and so on.
type Place = Vec<usize>;

fn places(body: &[Statement]) -> Vec<Place> {
    let mut found = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        found.push(vec![number]);
        for inner in places(statement.body()) {
            found.push([vec![number], inner].concat());
        }
    }
    found
}

fn body_mut(program: &mut Program, number: usize) -> &mut Vec<Statement> {
    program.bodies_mut().nth(number).expect("counted")
}

/// The list that a place is in.
fn list_of<'b>(body: &'b mut Vec<Statement>, place: &[usize]) -> &'b mut Vec<Statement> {
    match place {
        [first, rest @ ..] if !rest.is_empty() => {
            list_of(body[*first].body_mut().expect("it has statements"), rest)
        }
        _ => body,
    }
}

fn statement_at<'b>(body: &'b mut Vec<Statement>, place: &[usize]) -> &'b mut Statement {
    let number = *place.last().expect("not empty");
    &mut list_of(body, place)[number]
}

fn remove(body: &mut Vec<Statement>, place: &[usize]) {
    list_of(body, place).remove(*place.last().expect("not empty"));
}

/// Puts the statements of one in its place.
fn unwrap(body: &mut Vec<Statement>, place: &[usize]) {
    let number = *place.last().expect("not empty");
    let list = list_of(body, place);
    if let Some(inner) = list[number].body_mut() {
        let inner = std::mem::take(inner);
        list.splice(number..=number, inner);
    }
}

fn simplify(statement: &mut Statement) {
    match statement {
        Statement::Load { order, .. } | Statement::Await { order, .. } | Statement::Take(order) => {
            *order = LoadOrder::SeqCst
        }
        Statement::Store { order, .. } | Statement::Share(order) => *order = StoreOrder::SeqCst,
        Statement::Rmw { order, .. } | Statement::TakeAway(order) => *order = RmwOrder::SeqCst,
        Statement::Locked { how, .. } => *how = Locking::Wait,
        Statement::Repeat { times, .. } => *times = 2,
        _ => {}
    }
}

/// Objects at the end of their lists that nothing uses.
fn remove_unused_objects(program: &mut Program) {
    let uses_first = program.any(|s| matches!(s, Statement::Once | Statement::Raise));
    while let Some(last) = program.widths.len().checked_sub(1) {
        let is_used = program.any(|s| match s {
            Statement::Load { atomic, .. }
            | Statement::Store { atomic, .. }
            | Statement::Rmw { atomic, .. }
            | Statement::Await { atomic, .. } => usize::from(*atomic) == last,
            _ => false,
        });
        if is_used || (last == 0 && uses_first) {
            break;
        }
        program.widths.pop();
    }
    while let Some(last) = program.plains.len().checked_sub(1) {
        let is_used = program.any(|s| match s {
            Statement::Read(plain) | Statement::Write { plain, .. } => usize::from(*plain) == last,
            _ => false,
        });
        if is_used {
            break;
        }
        program.plains.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate::{Weights, generate};
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_matters_stays_and_nothing_else() {
        let has = |p: &Program| p.any(|s| matches!(s, Statement::Rmw { .. }));
        let mut tried = 0;
        for seed in 0..50 {
            let program = generate(&mut Rng::new(seed), &Weights::WIDE);
            if has(&program) {
                let least = shrink(program, has);
                assert_eq!(least.bodies().map(Vec::len).sum::<usize>(), 1, "{least:#?}");
                assert_eq!((least.threads.len(), least.plains.len()), (1, 0));
                tried += 1;
            }
        }
        assert!(tried > 10);
    }
}
