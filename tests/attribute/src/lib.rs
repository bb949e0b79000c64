//! The `#[test]` attribute of the test executables that have a harness of their own
//! (`wmfix_tests::harness`): it registers the function. Without `rustc --test` the
//! built-in attribute of this name drops the function silently, so an executable
//! imports this one for all its modules, with `#[macro_use]`.
#![forbid(unsafe_code)]

use proc_macro::{TokenStream, TokenTree};

/// Registers a function as a test.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let registration = match name_of(function.clone()) {
        Some(name) if arguments.is_empty() => format!("::wmfix_tests::register_test!({name});"),
        _ => "::core::compile_error!(\"#[test] stands before a function, without arguments\");"
            .to_owned(),
    };
    let registration: TokenStream = registration.parse().expect("it is an item");
    function.into_iter().chain(registration).collect()
}

/// The identifier after `fn`.
fn name_of(function: TokenStream) -> Option<String> {
    let mut tokens = function.into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn"))?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}
