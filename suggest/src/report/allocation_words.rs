//! What is said about memory by the line that made it. Pure text, no layout.

use super::model::{Allocation, Pointer, Value};
use super::object_words::{is_name, object};
use super::short_name::short_name;

/// An object in a block of memory, for which there is no better name.
pub(super) fn block(allocated: &Allocation) -> String {
    match &allocated.type_name {
        Some(name) => format!("the {} {}", short_name(name), made_at(allocated)),
        None => format!("memory {}", made_at(allocated)),
    }
}

/// Which block an object with a name is in.
pub(super) fn lies_in(location: &str, allocated: Option<&Allocation>) -> Option<String> {
    let allocated = allocated.filter(|_| is_name(location))?;
    Some(format!("{} is in {}", object(location), block(allocated)))
}

/// A value: what it points to, if one of the pointers says so, or the number.
pub(super) fn value(value: &Value, pointers: &[Pointer]) -> String {
    target(value, pointers).unwrap_or_else(|| value.to_string())
}

/// What a value points to, if one of the pointers says so.
pub(super) fn target(value: &Value, pointers: &[Pointer]) -> Option<String> {
    let pointer = pointers.iter().find(|pointer| pointer.value == *value)?;
    let allocated = &pointer.allocated;
    let noun = allocated.type_name.as_deref().map(short_name);
    let noun = noun.unwrap_or_else(|| "block".to_owned());
    let number = pointer.number.map(|number| ordinal(number) + " ");
    let into = match pointer.start {
        true => "",
        false => "a pointer into ",
    };
    let number = number.unwrap_or_default();
    Some(format!("{into}the {number}{noun} {}", made_at(allocated)))
}

fn made_at(allocated: &Allocation) -> String {
    format!("allocated at {}:{}", allocated.file, allocated.line)
}

/// 1st, 2nd, 3rd, 4th.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Allocation {
        Allocation {
            type_name: Some("Node".to_owned()),
            file: "queue.h".to_owned(),
            line: 40,
            column: 7,
            function: "push".to_owned(),
        }
    }

    #[test]
    fn memory_is_named_by_its_type_and_line() {
        assert_eq!(block(&node()), "the Node allocated at queue.h:40");
        let untyped = Allocation {
            type_name: None,
            ..node()
        };
        assert_eq!(block(&untyped), "memory allocated at queue.h:40");
        assert_eq!(
            lies_in("n->value", Some(&node())).as_deref(),
            Some("`n->value` is in the Node allocated at queue.h:40")
        );
        let words = block(&node());
        assert_eq!(lies_in(&words, Some(&node())), None, "said already");
    }

    #[test]
    fn values_are_what_they_point_to() {
        let pointer = |value, number, start| Pointer {
            value: Value::Number(value),
            number,
            start,
            allocated: node(),
        };
        let pointers = [
            pointer(0x5000, Some(22), true),
            pointer(0x6001, None, false),
        ];
        let said = |number| value(&Value::Number(number), &pointers);
        assert_eq!(said(0x5000), "the 22nd Node allocated at queue.h:40");
        assert_eq!(
            said(0x6001),
            "a pointer into the Node allocated at queue.h:40"
        );
        assert_eq!(said(0), "0");
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 111].map(ordinal);
        let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 111th";
        assert_eq!(ordinals.join(" "), expected);
    }
}
