//! Mutated sources of the corpus: whatever the text, the scan does not panic, and
//! what it says fits the text. More rounds: `WMFIX_FUZZ_ROUNDS=100000`.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{FileScan, OperationKind, OrderForm, Vocabularies, match_site, scan_source};
use wmfix_tests::rng::Rng;

/// Rounds over the whole corpus when nobody asks for more.
const ROUNDS: u64 = 4;

#[test]
fn no_text_makes_the_scan_panic_or_lie() {
    let rounds = std::env::var("WMFIX_FUZZ_ROUNDS").map_or(ROUNDS, |text| {
        text.parse().expect("WMFIX_FUZZ_ROUNDS is a number")
    });
    let seed = std::env::var("WMFIX_FUZZ_SEED")
        .map_or(1, |text| text.parse().expect("WMFIX_FUZZ_SEED is a number"));
    let sources: Vec<(PathBuf, Vec<u8>)> = corpus();
    let vocabularies = Vocabularies::builtin().and_volatile();
    let mut random = Rng::new(seed);
    for _ in 0..rounds {
        for (path, text) in &sources {
            let other = &sources[random.below(sources.len())].1;
            let text = mutate(text, other, &mut random);
            check(path, &text, &scan_source(path, &text, &vocabularies));
        }
    }
}

fn check(path: &Path, text: &[u8], scan: &FileScan) {
    let shown = || format!("{}:\n{}", path.display(), String::from_utf8_lossy(text));
    for site in &scan.sites {
        let inside = |span: &std::ops::Range<usize>| {
            assert!(
                span.start <= span.end && span.end <= text.len(),
                "{}",
                shown()
            );
        };
        inside(&site.span);
        inside(&site.callee_span);
        inside(&site.statement);
        site.object.as_ref().into_iter().for_each(inside);
        if let OrderForm::Literal(span)
        | OrderForm::NotLiteral(span)
        | OrderForm::Pasted { span, .. }
        | OrderForm::Suffix(span) = &site.order.form
        {
            inside(span);
            assert!(
                site.span.start <= span.start && span.end <= site.span.end,
                "{}",
                shown()
            );
        }
        match_site(
            scan,
            site.start.line,
            site.start.column,
            OperationKind::Load,
        );
    }
    for pair in scan.sites.windows(2) {
        assert!(pair[0].span.start <= pair[1].span.start, "{}", shown());
        let same = pair[0].span == pair[1].span && pair[0].callee_span == pair[1].callee_span;
        assert!(!same, "twice: {:?}\n{}", pair[0], shown());
    }
}

fn mutate(text: &[u8], other: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(text.len() + 1);
        let length = random.below(40).min(text.len() - at);
        match random.below(7) {
            0 => drop(text.drain(at..at + length)),
            1 => {
                let piece = text[at..at + length].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            2 => {
                let from = random.below(other.len() + 1);
                let piece = &other[from..(from + random.below(80)).min(other.len())];
                text.splice(at..at, piece.iter().copied());
            }
            3 => {
                let odd = b"(){}[];,<>\"'\\#*&=!/\0\xff\r\n";
                text.insert(at, odd[random.below(odd.len())]);
            }
            4 if at < text.len() => text[at] = random.below(256) as u8,
            5 => text.truncate(at),
            _ => {
                let open = [
                    &b"while("[..],
                    b"for(;;){",
                    b"do{",
                    b"#define M(x) ",
                    b"/*",
                    b"((",
                ];
                text.splice(at..at, open[random.below(open.len())].iter().copied());
            }
        }
    }
    text
}

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sites")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the corpus can be listed") {
            let path = entry.expect("the corpus can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e != "toml") {
                let text = fs::read(&path).expect("the corpus can be read");
                files.push((path, text));
            }
        }
    }
    files.sort();
    files
}
