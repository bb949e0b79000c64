//! Texts that no editor would save: odd bytes, odd line ends, nothing at all, too
//! much. The scan never panics, and finds the sites that are there.

use std::path::Path;

use wmfix_frontend::{FileScan, MemoryOrder, SiteOperation, Vocabularies, scan_source};

const SOURCE: &str = "#include <stdatomic.h>\natomic_int x;\nint f(void)\n{\n\treturn atomic_load_explicit(&x, memory_order_acquire);\n}\n";

fn scan(name: &str, text: &[u8]) -> FileScan {
    scan_source(Path::new(name), text, &Vocabularies::builtin())
}

fn assert_one_acquire_load(scan: &FileScan, text: &[u8], line: u32, column: u32) {
    let [site] = &scan.sites[..] else {
        panic!("{:?}", scan.sites);
    };
    assert_eq!(site.operation, SiteOperation::Load);
    assert_eq!(site.order.order, Some(MemoryOrder::Acquire));
    assert_eq!((site.start.line, site.start.column), (line, column));
    assert_eq!(
        &text[site.span.clone()],
        b"atomic_load_explicit(&x, memory_order_acquire)"
    );
}

#[test]
fn unix_line_ends() {
    assert_one_acquire_load(&scan("a.c", SOURCE.as_bytes()), SOURCE.as_bytes(), 5, 9);
}

#[test]
fn windows_line_ends() {
    let text = SOURCE.replace('\n', "\r\n");
    assert_one_acquire_load(&scan("a.c", text.as_bytes()), text.as_bytes(), 5, 9);
}

#[test]
fn a_byte_order_mark() {
    let text = format!("\u{feff}{SOURCE}");
    assert_one_acquire_load(&scan("a.c", text.as_bytes()), text.as_bytes(), 5, 9);
}

#[test]
fn latin_1_in_comments_and_strings() {
    let mut text = b"/* gr\xf6\xdfer */ const char *s = \"\xe9t\xe9\";\n".to_vec();
    text.extend_from_slice(SOURCE.as_bytes());
    assert_one_acquire_load(&scan("a.c", &text), &text, 6, 9);
}

#[test]
fn latin_1_in_code() {
    let mut text = b"int gr\xf6sse;\n".to_vec();
    text.extend_from_slice(SOURCE.as_bytes());
    assert_one_acquire_load(&scan("a.c", &text), &text, 6, 9);
}

#[test]
fn nul_bytes() {
    let mut text = SOURCE.as_bytes().to_vec();
    text.extend_from_slice(b"\0\0\0");
    assert_one_acquire_load(&scan("a.c", &text), &text, 5, 9);
    let mut text = b"\0int y;\0\n".to_vec();
    text.extend_from_slice(SOURCE.as_bytes());
    assert_one_acquire_load(&scan("a.c", &text), &text, 6, 9);
}

#[test]
fn nothing_at_all() {
    for name in ["a.c", "a.cc", "a.h"] {
        let scan = scan(name, b"");
        assert!(scan.sites.is_empty() && scan.notes.is_empty());
    }
}

#[test]
fn only_odd_bytes() {
    let text: Vec<u8> = b"atomic"
        .iter()
        .copied()
        .chain((0..=255).cycle().take(4096))
        .collect();
    assert!(scan("a.c", &text).sites.is_empty());
    assert!(scan("a.cc", &text).sites.is_empty());
}

#[test]
fn five_megabytes_on_one_line() {
    let statement = "a[1]=a[2]+f(3,\"x\");";
    let mut text = String::from("atomic_int x; void g(void){");
    while text.len() < 5_000_000 {
        text += statement;
    }
    text += "atomic_load_explicit(&x, memory_order_acquire);}";
    let column = u32::try_from(text.find("atomic_load").expect("it is there") + 1).expect("fits");
    assert_one_acquire_load(&scan("a.c", text.as_bytes()), text.as_bytes(), 1, column);
}

#[test]
fn nested_deeper_than_any_stack() {
    for (open, close) in [("(", ")"), ("{", "}"), ("!", ""), ("if(x)", "")] {
        let text = format!(
            "atomic_int x; void f(void) {{ while ({}atomic_load(&x){}) ; }}",
            open.repeat(3_000),
            close.repeat(3_000)
        );
        scan("a.c", text.as_bytes());
        scan("a.cc", text.as_bytes());
    }
}

#[test]
fn a_broken_part_is_noted_where_it_is() {
    let text = b"#include <stdatomic.h>\natomic_int x;\nvoid f(void) { ) ] atomic_load(&x); }\n";
    let scan = scan("a.c", text);
    assert_eq!(scan.sites.len(), 1);
    let place = scan
        .notes
        .first()
        .and_then(|note| note.place)
        .expect("a note with a place");
    assert_eq!(place.line, 3);
}
