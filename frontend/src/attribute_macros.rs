//! Macros that stand for attributes in the head of a function or class:
//! `FORCE_INLINE T load() const NO_TSAN { … }`. The grammars do not know that they
//! are nothing; found here by what may follow what in C and C++, as their
//! definitions are often out of sight.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::site::Span;
use crate::tokens::{Token, TokenKind, tokens};

/// The names, with their arguments, that the grammars had better not see.
pub(crate) fn attribute_macros(text: &[u8]) -> Vec<Span> {
    let tokens = tokens(text);
    let reader = Reader {
        text,
        tokens: &tokens,
    };
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Word if reader.is_before_declaration(index) => {
                found.push(token.span.clone())
            }
            TokenKind::Closing(opening) => {
                found.extend(reader.between_head_and_body(opening, index))
            }
            _ => {}
        }
    }
    found
}

/// Words that no macro of this kind is called, and that are no types either.
const KEYWORDS: &str = "\
    alignas alignof and asm __asm__ __attribute__ __attribute __declspec __extension__ _Atomic \
    _Alignas _Static_assert __typeof__ auto break case catch class co_await co_return co_yield \
    concept const consteval constexpr constinit continue decltype default defined delete do \
    else enum explicit export extern final for friend goto if import inline __inline __inline__ \
    module mutable namespace new noexcept not operator or override private protected public \
    register requires restrict __restrict __restrict__ return sizeof static static_assert struct \
    switch template thread_local _Thread_local __thread throw try typedef typeid typename typeof \
    union using virtual volatile while";

/// Types that are keywords.
const TYPES: &str = "void bool _Bool char short int long float double signed unsigned";

/// What a declaration begins with, and no declaration has after its type.
const DECLARATION_STARTS: &str =
    "static inline extern virtual explicit constexpr friend struct enum union";

/// What may stand between the parameters of a function and its body.
const QUALIFIERS: &str = "const volatile noexcept override final";

/// What a word is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Keyword,
    Type,
    Start,
    Qualifier,
}

/// The words of the languages; a later role counts for more.
static ROLES: LazyLock<HashMap<&'static [u8], Role>> = LazyLock::new(|| {
    let words = [
        (KEYWORDS, Role::Keyword),
        (TYPES, Role::Type),
        (DECLARATION_STARTS, Role::Start),
        (QUALIFIERS, Role::Qualifier),
    ];
    let of_role = |(words, role): (&'static str, Role)| {
        words
            .split_whitespace()
            .map(move |word| (word.as_bytes(), role))
    };
    words.into_iter().flat_map(of_role).collect()
});

struct Reader<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
}

impl Reader<'_> {
    /// Whether a word is a macro in front of a declaration: two names in a row may be
    /// a type and what is declared, but then no third one follows.
    fn is_before_declaration(&self, index: usize) -> bool {
        let starts_here = index == 0 || !self.is_name(index - 1) && !self.is(index - 1, b"::");
        let follows_macro = index > 0 && self.is_before_declaration_with(index - 1);
        if !self.is_name(index) || !(starts_here || follows_macro) {
            return false;
        }
        if index > 0 && [b"class" as &[u8], b"struct"].contains(&self.word(index - 1)) {
            return self.is_before_class_name(index);
        }
        self.is_before_declaration_with(index)
    }

    /// The same of a name, whatever stands before it.
    fn is_before_declaration_with(&self, index: usize) -> bool {
        if !self.is_name(index) || index > 0 && self.is(index - 1, b"::") {
            return false;
        }
        let next = self.word(index + 1);
        if matches!(self.role(index + 1), Some(Role::Type | Role::Start)) {
            return true;
        }
        if self.is(index + 1, b"~") || next == b"_Atomic" {
            // A destructor has no type, `_Atomic(T)` is one; `a ~b` is no expression.
            return self.is(index + 3, b"(") || next == b"_Atomic" && self.is(index + 2, b"(");
        }
        if next == b"operator" {
            // `operator T()` has no type before it, `operator=` does.
            return self.is_name(index + 2) || self.role(index + 2) == Some(Role::Type);
        }
        let Some(mut end) = self.qualified_name_end(index + 1) else {
            return false;
        };
        while self.is(end, b"*") || self.is(end, b"&") || self.word(end) == b"const" {
            end += 1;
        }
        self.is_name(end) || self.word(end) == b"operator"
    }

    /// Whether a name that follows `class` or `struct` is not the name of the class.
    fn is_before_class_name(&self, index: usize) -> bool {
        let is_head_end = |at| self.is(at, b"{") || self.is(at, b":");
        self.is_name(index + 1)
            && (is_head_end(index + 2)
                || self.word(index + 2) == b"final" && is_head_end(index + 3))
    }

    /// The macros between the parameters of a function and its body.
    fn between_head_and_body(&self, opening: usize, closing: usize) -> Vec<Span> {
        const MOST_MACROS: usize = 8;
        let mut found = Vec::new();
        let mut at = closing + 1;
        let mut is_qualified = false;
        while found.len() <= MOST_MACROS {
            let word = self.word(at);
            if self.role(at) == Some(Role::Qualifier) {
                is_qualified = true;
                at = self.behind_arguments(at + 1);
            } else if self.is(at, b"&") && found.is_empty() {
                at += 1;
            } else if self.is_name(at) {
                let end = self.behind_arguments(at + 1);
                let has_arguments = end > at + 1;
                if has_arguments && !is_shouted(word) {
                    return Vec::new();
                }
                found.push(self.tokens[at].span.start..self.tokens[end - 1].span.end);
                at = end;
            } else {
                break;
            }
        }
        let is_body = self.is(at, b"{") || self.is(at, b":");
        if found.is_empty() || !is_body || !self.is_head(opening, is_qualified, &found) {
            found.clear();
        }
        if self.is(at, b":") {
            found.extend(self.before_constructor(opening));
        }
        found
    }

    /// The macro in front of a constructor, which has initialisers and no type.
    fn before_constructor(&self, opening: usize) -> Option<Span> {
        let name = opening.checked_sub(1)?;
        let before = name.checked_sub(1)?;
        let is_macro = self.is_name(name)
            && self.is_name(before)
            && self.is_name_after_declaration(before)
            && self.is(name + 1, b"(");
        is_macro.then(|| self.tokens[before].span.clone())
    }

    /// Whether nothing that an expression could go on from stands before a name.
    fn is_name_after_declaration(&self, name: usize) -> bool {
        let Some(before) = name.checked_sub(1) else {
            return true;
        };
        [b";" as &[u8], b"{", b"}", b":", b">"]
            .iter()
            .any(|mark| self.is(before, mark))
            || self.role(before) == Some(Role::Start)
    }

    /// Whether parentheses hold the parameters of a function: they follow its name,
    /// which follows a type, or which is no macro's where what `found` follows is.
    fn is_head(&self, opening: usize, is_qualified: bool, found: &[Span]) -> bool {
        let Some(name) = opening.checked_sub(1) else {
            return false;
        };
        // `operator()(` has most between them.
        let is_operator =
            (1..=3).any(|back| opening >= back && self.word(opening - back) == b"operator");
        if is_operator || self.is(name, b"]") {
            return true;
        }
        if !self.is_name(name) || is_shouted(self.word(name)) {
            return false;
        }
        let follows_type = name.checked_sub(1).is_some_and(|before| {
            self.is_name(before)
                || self.role(before) == Some(Role::Type)
                || [b"*" as &[u8], b"&", b">", b"~", b"::"]
                    .iter()
                    .any(|mark| self.is(before, mark))
        });
        is_qualified
            || follows_type
            || found
                .iter()
                .all(|span| is_shouted(&self.text[span.clone()]))
    }

    /// The index behind `a::b<c>` that begins at an index.
    fn qualified_name_end(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            if !self.is_name(at) {
                return None;
            }
            at += 1;
            if self.is(at, b"<") {
                at = self.behind_angles(at)?;
            }
            if !self.is(at, b"::") {
                return Some(at);
            }
            at += 1;
        }
    }

    /// The index behind `<…>`; none if it does not look like the arguments of a template.
    fn behind_angles(&self, index: usize) -> Option<usize> {
        const MOST_TOKENS: usize = 64;
        let mut depth = 0usize;
        for at in index..(index + MOST_TOKENS).min(self.tokens.len()) {
            match self.tokens[at].kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') => depth -= 1,
                TokenKind::Mark(b';' | b'{' | b'}' | b'=') => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// The index behind `(…)` if that is what stands at an index.
    fn behind_arguments(&self, index: usize) -> usize {
        if !self.is(index, b"(") {
            return index;
        }
        let closes = |token: &Token| token.kind == TokenKind::Closing(index);
        let closing = self.tokens[index..].iter().position(closes);
        closing.map_or(index, |length| index + length + 1)
    }

    fn word(&self, index: usize) -> &[u8] {
        match self.tokens.get(index) {
            Some(token) if token.kind == TokenKind::Word => &self.text[token.span.clone()],
            _ => b"",
        }
    }

    fn is(&self, index: usize, mark: &[u8]) -> bool {
        let token = self.tokens.get(index);
        token.is_some_and(|token| &self.text[token.span.clone()] == mark)
    }

    fn role(&self, index: usize) -> Option<Role> {
        ROLES.get(self.word(index)).copied()
    }

    fn is_name(&self, index: usize) -> bool {
        !self.word(index).is_empty() && self.role(index).is_none()
    }
}

/// Whether a name is in capitals, as those of macros are.
fn is_shouted(name: &[u8]) -> bool {
    name.len() > 1 && !name.iter().any(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::attribute_macros;

    /// A text without what was found, blanks squeezed.
    fn without(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for span in attribute_macros(text.as_bytes()) {
            bytes[span].fill(b' ');
        }
        let text = String::from_utf8(bytes).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn macros_in_front_of_a_function_are_found() {
        for (text, expected) in [
            ("FORCE_INLINE T load();", "T load();"),
            ("static force_inline T* load();", "static T* load();"),
            (
                "EXPORT FORCE_INLINE std::map<K, V>& at();",
                "std::map<K, V>& at();",
            ),
            ("FORCE_INLINE void store(T x) {}", "void store(T x) {}"),
            (
                "FORCE_INLINE\nstatic inline T load() {}",
                "static inline T load() {}",
            ),
            (
                "FORCE_INLINE operator T() const {}",
                "operator T() const {}",
            ),
            (
                "template <class T> FORCE_INLINE T* f(T t);",
                "template <class T> T* f(T t);",
            ),
            ("class API Queue : Base {};", "class Queue : Base {};"),
            ("struct API Queue final {};", "struct Queue final {};"),
            ("void f(IN_PARAM T *x);", "void f( T *x);"),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
    }

    #[test]
    fn macros_behind_the_parameters_are_found() {
        for (text, expected) in [
            ("T load() const NO_TSAN { }", "T load() const { }"),
            ("T load() no_tsan const { }", "T load() const { }"),
            (
                "void f(int x) REQUIRES(mutex, other()) { }",
                "void f(int x) { }",
            ),
            ("Queue() NO_TSAN : head(0) { }", "Queue() : head(0) { }"),
            ("W& operator=(T x) & NO_TSAN { }", "W& operator=(T x) & { }"),
            ("auto f = [](int x) NO_TSAN { };", "auto f = [](int x) { };"),
            ("T operator()(T x) NO_TSAN { }", "T operator()(T x) { }"),
            ("bool C::f() NOEXCEPT OTHER { }", "bool C::f() { }"),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
    }

    #[test]
    fn what_looks_alike_is_left_alone() {
        for text in [
            "T C::load() { }",
            "T C<U>::load() { }",
            "std::atomic<T> value;",
            "A_NODE *next;",
            "_Atomic(int) A_FLAG;",
            "ATOMIC(int) flag { 0 };",
            "ATOMIC(int) FLAG { 0 };",
            "LIST_FOREACH(a, b) { }",
            "if (x) LIST_FOREACH(a, b) { }",
            "while (x) Guard guard { m };",
            "new (room) T { x };",
            "return (T) Foo { x };",
            "auto f() -> A_TYPE { }",
            "struct A_NODE { };",
            "struct A_NODE head;",
            "T& operator=(T x) { }",
            "void* operator new(size_t size) { }",
            "T operator+(T x) { }",
            "void f() noexcept(noexcept(g())) override { }",
            "__attribute__((noinline)) Queue(int x) { }",
            "ALIGNED(8) queue(int x) { }",
            "T const& load() const { }",
            "Integral auto f(Integral auto x) { }",
            "case A_B::c: g(x); { }",
            "#define FORCE_INLINE T load()\nint x;",
            "// FORCE_INLINE T load();\nint x;",
            "s = \"FORCE_INLINE T load();\";",
            "x = a < b && c > d;",
            "for (T x : list) f(x);",
            "T x, y;",
            "a ? f(x) : g(y);",
            "x = y ? T f(x) : g(y);",
            "x = a & ~mask;",
            "foo_t _Atomic x;",
            "switch (x) { case f(x): g(); }",
        ] {
            let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(without(text), squeezed);
        }
    }
}
