//! The helper that finds real packages finds a real package.

use wmfix_tests::registry::crate_source;
use wmfix_tests::tools::{Need, need};

#[test]
fn a_registry_crate_has_its_c_sources() {
    need(&[Need::Crate("rpmalloc-sys", "0.2.3+b097fd0")]);
    let folder = crate_source("rpmalloc-sys", "0.2.3+b097fd0").expect("just seen");
    assert!(folder.join("rpmalloc").is_dir(), "{}", folder.display());
}

#[test]
fn an_unknown_crate_is_an_error_with_its_name() {
    let error = crate_source("wmfix-no-such-crate", "0.0.0").expect_err("there is none");
    assert!(error.contains("wmfix-no-such-crate 0.0.0"), "{error}");
}
