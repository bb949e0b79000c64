//! The functions of a header that put something in and take it out, by their names and
//! as far as the text is plain: classes with such methods, and functions of C that take
//! the object first.

/// Last words of names that put something in.
const PUT: [&str; 9] = [
    "push", "enqueue", "put", "insert", "send", "offer", "produce", "add", "write",
];

/// Last words of names that take something out, for each of those.
const TAKE: [&str; 9] = [
    "pop", "dequeue", "get", "remove", "receive", "poll", "consume", "take", "read",
];

/// Words of names that say how, not what.
const MANNERS: [&str; 7] = ["back", "front", "bottom", "head", "tail", "one", "value"];

/// Words that prepare an object.
const START: [&str; 2] = ["init", "initialize"];

/// Something that values are put into and taken out of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Container {
    /// The class, in C++.
    pub class: Option<String>,
    /// The class is a template.
    pub is_template: bool,
    /// Puts a value in.
    pub put: Function,
    /// Takes a value out.
    pub take: Function,
    /// Prepares the object.
    pub start: Option<Function>,
}

/// A function as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub result: String,
    /// The types of its parameters.
    pub parameters: Vec<String>,
    /// The class around it.
    class: Option<(String, bool)>,
}

/// The containers of a header.
pub(super) fn find_containers(text: &str) -> Vec<Container> {
    let functions = functions(text);
    let mut found: Vec<Container> = Vec::new();
    for put in functions.iter().filter(|f| is_one_of(&f.name, &PUT)) {
        let beside = |other: &&Function| other.class == put.class && prefix(other) == prefix(put);
        let mut others = functions.iter().filter(beside);
        let take = others.clone().find(|f| is_one_of(&f.name, &TAKE));
        let start = others.find(|f| is_one_of(&f.name, &START)).cloned();
        let is_new = found.iter().all(|known| {
            known.class.as_ref() != put.class.as_ref().map(|(name, _)| name)
                || known.class.is_none() && known.put.parameters[..1] != put.parameters[..1]
        });
        let is_usable = put.class.is_some() || put.parameters.len() == 2;
        if let Some(take) = take.filter(|_| is_new && is_usable) {
            found.push(Container {
                class: put.class.as_ref().map(|(name, _)| name.clone()),
                is_template: put.class.as_ref().is_some_and(|(_, template)| *template),
                put: put.clone(),
                take: take.clone(),
                start,
            });
        }
    }
    found
}

/// The words of a name, without those that say how.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character.is_uppercase() {
            words.push(String::new());
        }
        if character != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty() && !MANNERS.contains(&word.as_str()));
    words
}

fn is_one_of(name: &str, list: &[&str]) -> bool {
    words(name)
        .last()
        .is_some_and(|last| list.contains(&last.as_str()))
}

/// What a function of C has before its verb, so that those of one object are told
/// from others. Methods need none.
fn prefix(function: &Function) -> Vec<String> {
    let mut words = words(&function.name);
    words.pop();
    words.retain(|word| word != "try");
    match function.class {
        Some(_) => Vec::new(),
        None => words,
    }
}

/// What is around a statement: a namespace or a class.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Its name with those of the namespaces around it; empty outside of all.
    path: String,
    /// It is a class, and whether that is a template.
    class: Option<bool>,
    /// It is not for users: `detail`, without a name, or within a class.
    is_hidden: bool,
    /// What follows in it is public.
    is_public: bool,
}

/// Names of namespaces that are not for users.
const HIDDEN: [&str; 5] = ["detail", "details", "impl", "internal", "priv"];

/// The functions that a text declares or defines outside of function bodies.
fn functions(text: &str) -> Vec<Function> {
    let code = without_comments(text);
    let mut functions = Vec::new();
    let outside = Scope {
        is_public: true,
        ..Scope::default()
    };
    // What each open brace belongs to; none for other braces.
    let mut open: Vec<Option<Scope>> = vec![Some(outside)];
    let mut statement = String::new();
    for character in code.chars() {
        let around = open.last().and_then(Option::as_ref);
        match character {
            '{' | ';' => {
                if let Some(scope) = around.filter(|scope| scope.is_public && !scope.is_hidden) {
                    functions.extend(function(&statement, scope));
                }
                if character == '{' {
                    let begun = around.and_then(|scope| scope_of(&statement, scope));
                    open.push(begun);
                }
                statement.clear();
            }
            '}' => {
                if open.len() > 1 {
                    open.pop();
                }
                statement.clear();
            }
            ':' if ["public", "private", "protected"].contains(&statement.trim()) => {
                if let Some(Some(scope)) = open.last_mut() {
                    scope.is_public = statement.trim() == "public";
                }
                statement.clear();
            }
            other => statement.push(other),
        }
    }
    functions
}

/// The scope that a statement begins.
fn scope_of(statement: &str, around: &Scope) -> Option<Scope> {
    let below = |name: &str| match (around.path.as_str(), name) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) => format!("{path}::{name}"),
    };
    if let Some((name, is_class)) = class_of(statement) {
        return Some(Scope {
            path: below(&name),
            class: Some(statement.contains("template")),
            is_hidden: around.is_hidden || around.class.is_some(),
            is_public: !is_class,
        });
    }
    let words: Vec<&str> = statement.split_whitespace().collect();
    if let Some(at) = words.iter().position(|word| *word == "namespace") {
        let name = words.get(at + 1..).and_then(<[&str]>::last).unwrap_or(&"");
        let is_hidden = name.is_empty() || name.split("::").any(|part| HIDDEN.contains(&part));
        return Some(Scope {
            path: below(name),
            class: None,
            is_hidden: around.is_hidden || is_hidden,
            is_public: true,
        });
    }
    // `extern "C"` is as what is around it.
    words.contains(&"extern").then(|| around.clone())
}

/// The class that a statement begins, and whether it is called `class`.
fn class_of(statement: &str) -> Option<(String, bool)> {
    let at = ["class ", "struct "].iter().filter_map(|word| {
        let at = statement.rfind(word)?;
        // `typename` and `class` of a template's parameters come before.
        let depth = statement[..at].matches('<').count() > statement[..at].matches('>').count();
        (!depth).then_some((at + word.len(), *word == "class "))
    });
    let (at, is_class) = at.max()?;
    let rest = &statement[at..];
    let name: String = rest
        .split([':', '<'])
        .next()?
        .split_whitespace()
        .rfind(|word| *word != "final" && !word.contains('('))?
        .to_owned();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !rest.contains(['=', ')'])).then_some((name, is_class))
}

/// The function that a statement declares.
fn function(statement: &str, scope: &Scope) -> Option<Function> {
    // A function of C is in no namespace.
    if scope.class.is_none() && !scope.path.is_empty() {
        return None;
    }
    let from = statement.find('(')?;
    let to = from + statement[from..].find(')')?;
    let before = statement[..from].trim_end();
    let start = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
    let name = &before[start..];
    let result = before[..start].trim();
    if name.is_empty() || result.is_empty() || result.contains(['=', '#']) {
        return None;
    }
    let qualifiers = ["static", "inline", "extern", "constexpr", "virtual"];
    let result: Vec<&str> = result
        .split_whitespace()
        .filter(|word| !qualifiers.contains(word))
        .collect();
    let parameters = statement[from + 1..to].split(',').map(str::trim);
    let parameters = parameters.filter(|one| !one.is_empty() && *one != "void");
    Some(Function {
        name: name.to_owned(),
        result: result.join(" "),
        parameters: parameters.map(type_of).collect(),
        class: scope
            .class
            .map(|is_template| (scope.path.clone(), is_template)),
    })
}

/// A parameter without its name.
fn type_of(parameter: &str) -> String {
    let end = parameter.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let words = parameter.split_whitespace().count();
    // `int` alone, or `struct q`, has no name.
    let named =
        (words > 1 || parameter.contains('*')) && !end.trim().is_empty() && end.trim() != "struct";
    let kept = if named { end.trim() } else { parameter };
    kept.replace(" *", "*")
        .replace('*', " *")
        .replace("* *", "**")
        .trim()
        .to_owned()
}

/// The text without comments, literals and preprocessor lines.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at_line_start = code.trim_end_matches([' ', '\t']).ends_with('\n') || code.is_empty();
        let skipped = if rest.starts_with("//") || first == '#' && at_line_start {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(Option<String>, String, String)> {
        let found = find_containers(text).into_iter();
        found
            .map(|one| (one.class, one.put.name, one.take.name))
            .collect()
    }

    #[test]
    fn methods_and_functions_are_paired_within_their_object() {
        let text = "#include <atomic>\nnamespace q {\ntemplate <class T, int N = 8> class Ring {\n\
            \x20 int push(int hidden);\npublic:\n  Ring() {}\n  bool push_back(const T &v) { if (v) { f(); } return true; }\n\
            \x20 std::optional<T> pop_front();\nprivate:\n  int x;\n};\n}\n\
            int stack_push(stack_t *s, void *p);\nvoid *stack_pop(stack_t *s);\n";
        let class = Some("q::Ring".to_owned());
        assert_eq!(
            names(text),
            [
                (class, "push_back".into(), "pop_front".into()),
                (None, "stack_push".into(), "stack_pop".into())
            ]
        );
    }

    #[test]
    fn what_is_not_for_users_is_left_out() {
        let queue = "bool push(int v) { return v; } bool pop(int &v);";
        let text = format!(
            "namespace a::b {{ namespace detail {{ struct Inner {{ {queue} }}; }}\n\
             inline namespace v1 {{ template <class T> struct Outer {{ struct Part {{ {queue} }}; {queue} }}; }}\n\
             class Closed {{ void f() {{}} {queue} }};\n\
             void push(Outer<int> &q, int v); int pop(Outer<int> &q); }}\n\
             extern \"C\" {{ int ring_push(ring *r, int v); int ring_pop(ring *r, int *v); }}\n"
        );
        let outer = Some("a::b::v1::Outer".to_owned());
        assert_eq!(
            names(&text),
            [
                (outer, "push".into(), "pop".into()),
                (None, "ring_push".into(), "ring_pop".into())
            ]
        );
    }

    #[test]
    fn types_lose_their_names_only() {
        assert_eq!(type_of("struct q *queue"), "struct q *");
        assert_eq!(type_of("void*p"), "void *");
        assert_eq!(type_of("int value"), "int");
        assert_eq!(type_of("int"), "int");
    }
}
