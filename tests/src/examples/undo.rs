//! The single changes of a patch, read off the text before and after: wmfix adds
//! lines with a fence and spells orders anew within lines, and does nothing else
//! to the examples.

/// One change of a patched text, by the place of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// A line that was not there.
    Added(usize),
    /// A line that was so before.
    Respelled(usize, String),
}

/// The changes that made `after` of `before`.
pub fn changes(before: &str, after: &str) -> Vec<LineChange> {
    let mut old = before.lines().peekable();
    let mut found = Vec::new();
    for (place, line) in after.lines().enumerate() {
        if line.contains("fence(") && old.peek() != Some(&line) {
            found.push(LineChange::Added(place));
            continue;
        }
        let was = old.next().expect("a patch adds nothing but fences");
        if was != line {
            found.push(LineChange::Respelled(place, was.to_owned()));
        }
    }
    assert_eq!(old.next(), None, "a patch takes nothing away");
    found
}

/// The text without one of its changes.
pub fn without(after: &str, change: &LineChange) -> String {
    let mut lines: Vec<&str> = after.lines().collect();
    match change {
        LineChange::Added(place) => {
            lines.remove(*place);
        }
        LineChange::Respelled(place, was) => lines[*place] = was,
    }
    lines.join("\n") + "\n"
}
