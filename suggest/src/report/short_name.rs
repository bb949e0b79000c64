//! Names of functions as people say them: the arguments of templates are left out where
//! they are long.

/// Arguments of templates that are longer than this are left out.
const LONGEST_ARGUMENTS: usize = 24;

/// The name without long arguments of templates.
pub(super) fn short_name(name: &str) -> String {
    let mut short = String::new();
    let mut rest = name;
    while let Some(start) = rest.find('<') {
        let (before, after) = rest.split_at(start);
        short += before;
        // The name of an operator, or of something without a name, such as a lambda.
        let is_name = before.ends_with("operator") || before.ends_with("::") || before.is_empty();
        let end = match is_name {
            true => None,
            false => end_of_arguments(after),
        };
        match end {
            Some(end) if end > LONGEST_ARGUMENTS => {
                short += "<…>";
                rest = &after[end..];
            }
            Some(end) => {
                short += &after[..end];
                rest = &after[end..];
            }
            None => {
                let end = after.len() - after.trim_start_matches('<').len();
                short += &after[..end];
                rest = &after[end..];
            }
        }
    }
    short + rest
}

/// Where the arguments end that the text begins with.
fn end_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn long_arguments_are_left_out() {
        let string =
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
        let cases = [
            (format!("Box<{string} >::post"), "Box<…>::post"),
            (
                format!("Box<{string} >::Node::~Node"),
                "Box<…>::Node::~Node",
            ),
            (
                format!("pair<{string}, Box<int> >::get<{string}>"),
                "pair<…>::get<…>",
            ),
        ];
        for (name, short) in cases {
            assert_eq!(short_name(&name), short);
        }
    }

    #[test]
    fn short_names_and_operators_stay() {
        for name in [
            "push",
            "Queue<int>::push",
            "Queue<int, 8>::pop<true>",
            "operator<",
            "operator<<",
            "Wrapped<int>::operator<=>",
            "Wrapped<int>::operator->",
            "main()::<lambda(std::string&, std::string&)>",
        ] {
            assert_eq!(short_name(name), name);
        }
    }
}
