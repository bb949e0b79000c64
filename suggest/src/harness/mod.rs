//! A small test program for a library of headers, as a start: two threads put values
//! in and two take them out by the functions whose names say so, and every value must
//! come out once. Text in, text out; what it does not understand is left to its editor.

mod functions;

use std::path::PathBuf;

use functions::{Container, find_containers};

/// A test program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Harness {
    /// The name of its file.
    pub file: &'static str,
    /// Its text.
    pub text: String,
    /// The functions that it calls, as they are named.
    pub calls: Vec<String>,
}

/// A test program for the first of these headers, by path and text, that has
/// functions to put something in and to take it out.
pub(crate) fn harness(headers: &[(PathBuf, String)]) -> Option<Harness> {
    let (path, container) = headers.iter().find_map(|(path, text)| {
        let found = find_containers(text).into_iter().next()?;
        Some((path, found))
    })?;
    let include = path.display().to_string();
    let calls = vec![container.put.name.clone(), container.take.name.clone()];
    let (file, text) = match &container.class {
        Some(class) => ("wmfix_harness.cpp", cpp(&include, class, &container)),
        None => ("wmfix_harness.c", c(&include, &container)?),
    };
    let names = format!("{include} {} {text}", container.put.name).to_lowercase();
    let (producers, consumers) = threads(&names);
    let text = text
        .replace("@PRODUCERS@", producers)
        .replace("@CONSUMERS@", consumers);
    Some(Harness { file, text, calls })
}

/// How many threads may put in and take out, if names say so.
fn threads(names: &str) -> (&'static str, &'static str) {
    let kinds = [
        ("spsc", ("1", "1")),
        ("mpsc", ("2", "1")),
        ("spmc", ("1", "2")),
    ];
    let known = kinds.iter().find(|(kind, _)| names.contains(kind));
    known.map_or(("2", "2"), |(_, threads)| *threads)
}

fn cpp(include: &str, class: &str, container: &Container) -> String {
    let object = match container.is_template {
        true => format!("{class}<int>"),
        false => class.to_owned(),
    };
    CPP.replace("@INCLUDE@", include)
        .replace("@OBJECT@", &object)
        .replace("@PUT@", &container.put.name)
        .replace("@TAKE@", &container.take.name)
}

/// `None` if the first parameter is no pointer to the object.
fn c(include: &str, container: &Container) -> Option<String> {
    let (put, take) = (&container.put, &container.take);
    let object = put.parameters.first()?.strip_suffix('*')?.trim();
    let value = put.parameters.get(1)?;
    let is_pointer = value.ends_with('*');
    let argument = match is_pointer {
        true => format!("({value})(intptr_t)value"),
        false => "value".to_owned(),
    };
    let put_call = format!("{}(&object, {argument})", put.name);
    let put_text = match put.result.as_str() {
        "void" => format!("{put_call}; return 1;"),
        "bool" | "_Bool" => format!("return {put_call};"),
        _ => format!("return succeeded({put_call});"),
    };
    let take_text = match (take.parameters.get(1), is_pointer) {
        (Some(_), true) => format!(
            "void *taken = 0; int ok = succeeded({}(&object, (void *)&taken)); *value = (int)(intptr_t)taken; return ok;",
            take.name
        ),
        (Some(out), false) => {
            let of = out.trim_end_matches('*').trim();
            format!(
                "{of} taken = 0; int ok = succeeded({}(&object, &taken)); *value = (int)taken; return ok;",
                take.name
            )
        }
        (None, true) => format!(
            "void *taken = (void *){}(&object); *value = (int)(intptr_t)taken; return taken != 0;",
            take.name
        ),
        (None, false) => format!("*value = {}(&object); return *value > 0;", take.name),
    };
    let start = match &container.start {
        Some(start) if start.parameters.len() == 1 => format!("{}(&object);", start.name),
        Some(start) => format!(
            "/* TODO: {}({}) */",
            start.name,
            start.parameters.join(", ")
        ),
        None => "/* TODO: prepare the object, if zeroes are not enough. */".to_owned(),
    };
    Some(
        C.replace("@INCLUDE@", include)
            .replace("@OBJECT@", object)
            .replace("@PUT_TEXT@", &put_text)
            .replace("@TAKE_TEXT@", &take_text)
            .replace("@START@", &start),
    )
}

const CPP: &str = include_str!("harness.cpp.txt");
const C: &str = include_str!("harness.c.txt");

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, header: &str) -> Harness {
        harness(&[(name.into(), header.to_owned())]).expect("functions to call")
    }

    #[test]
    fn a_class_template_is_used_with_int() {
        let header = "template <typename T> class Queue {\npublic:\n  bool push(const T &v);\n\
                      \x20 bool try_pop(T &out);\n};\n";
        let made = written("queue.hpp", header);
        assert_eq!(made.file, "wmfix_harness.cpp");
        assert_eq!(made.calls, ["push", "try_pop"]);
        assert!(made.text.contains("#include \"queue.hpp\"") && made.text.contains("Queue<int>"));
        assert!(!made.text.contains('@'), "{}", made.text);
    }

    #[test]
    fn functions_of_c_take_the_object_first() {
        let header = "struct ring { int slots[8]; };\nvoid ring_init(struct ring *r);\n\
                      int ring_push(struct ring *r, int value);\nint ring_pop(struct ring *r, int *out);\n";
        let made = written("ring.h", header);
        assert_eq!(made.file, "wmfix_harness.c");
        assert_eq!(made.calls, ["ring_push", "ring_pop"]);
        assert!(
            made.text.contains("static struct ring object;"),
            "{}",
            made.text
        );
        assert!(made.text.contains("ring_init(&object);"), "{}", made.text);
        assert!(!made.text.contains('@'), "{}", made.text);
    }

    #[test]
    fn names_say_how_many_threads_there_may_be() {
        let queue = "{\npublic:\n  bool push(int v);\n  bool pop(int &out);\n};\n";
        for (name, threads) in [
            ("SPSCQueue", "producers = 1, consumers = 1;"),
            ("MpscQueue", "producers = 2, consumers = 1;"),
            ("Queue", "producers = 2, consumers = 2;"),
        ] {
            let made = written("queue.hpp", &format!("class {name} {queue}"));
            assert!(made.text.contains(threads), "{}", made.text);
        }
        let made = written("spmc.hpp", &format!("class Queue {queue}"));
        let threads = "producers = 1, consumers = 2;";
        assert!(made.text.contains(threads), "{}", made.text);
    }

    #[test]
    fn without_such_functions_there_is_no_program() {
        let headers = [(
            "a.h".into(),
            "int size(void);\nint push(int x);\n".to_owned(),
        )];
        assert_eq!(harness(&headers), None);
    }
}
