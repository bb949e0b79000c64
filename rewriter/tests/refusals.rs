//! What is refused, and the typed reason that a report shows. Each refusal has a
//! neighbour that is not refused. Files that are not ours to change are tested
//! beside `check_file`.

use std::path::Path;

use wmfix_frontend::{Language, MemoryOrder, ParsedFile, Site, Vocabularies, scan_parsed};
use wmfix_rewriter::{Names, Project, Refusal, Rewrite, TextChange, TextChangeKind, rewrite};

struct Text {
    file: ParsedFile,
    sites: Vec<Site>,
    project: Project,
}

fn text(source: &str) -> Text {
    with_project(source, Project::default())
}

fn with_project(source: &str, project: Project) -> Text {
    let path = Path::new("a.c");
    let file = ParsedFile::parse(path, source.as_bytes(), Language::C);
    let sites = scan_parsed(&file, &project.vocabularies).sites;
    Text {
        file,
        sites,
        project,
    }
}

impl Text {
    fn site(&self, start: &str) -> Site {
        let found = self
            .sites
            .iter()
            .find(|site| self.file.slice(&site.span).starts_with(start));
        found.unwrap_or_else(|| panic!("no site {start}")).clone()
    }

    fn make(&self, changes: &[TextChange]) -> Rewrite {
        rewrite(&self.file, &self.sites, changes, &self.project)
    }

    fn refusal(&self, site: Site, action: TextChangeKind) -> Option<Refusal> {
        let made = self.make(&[TextChange::new(site, action)]);
        assert_eq!(made.edits.is_empty(), !made.refused.is_empty());
        made.refused.into_iter().next().map(|(_, refusal)| refusal)
    }
}

const RAISE: TextChangeKind = TextChangeKind::Raise {
    order: MemoryOrder::Acquire,
    failure: None,
};

#[test]
fn inline_assembly_is_left_alone() {
    let text = text(
        "#include <stdatomic.h>\natomic_int x;\nint f(void) {\n    __asm__ volatile(\"mfence\" ::: \"memory\");\n    \
         return atomic_load_explicit(&x, memory_order_relaxed);\n}\n",
    );
    let mut site = text.site("atomic_load");
    assert_eq!(
        text.refusal(
            site.clone(),
            TextChangeKind::FenceBefore(MemoryOrder::SeqCst)
        ),
        None
    );
    let start = "#include <stdatomic.h>\natomic_int x;\nint f(void) {\n    ".len();
    site.span = start..start + "__asm__ volatile(\"mfence\" ::: \"memory\")".len();
    assert_eq!(
        text.refusal(site, TextChangeKind::FenceBefore(MemoryOrder::SeqCst)),
        Some(Refusal::InlineAssembly)
    );
}

#[test]
fn a_macro_from_outside_the_tree_is_not_raised() {
    let table: toml::Table = "name = \"out\"\ncall = [ { names = [\"OUT_LOAD\"], operation = \"load\", order = \"relaxed\" } ]"
        .parse()
        .unwrap();
    let section = toml::Value::Array(vec![toml::Value::Table(table)]);
    let mut project = Project {
        vocabularies: Vocabularies::with_project(Some(&section)).unwrap(),
        ..Project::default()
    };
    let source = "#include <out.h>\nint x;\nint f(void) { int r = OUT_LOAD(&x); return r; }\n";
    let outside = with_project(source, project.clone());
    let site = outside.site("OUT_LOAD");
    assert_eq!(
        outside.refusal(site.clone(), RAISE),
        Some(Refusal::MacroOutsideTree("OUT_LOAD".into()))
    );
    // A fence next to it needs nothing of the macro.
    assert_eq!(
        outside.refusal(site, TextChangeKind::FenceBefore(MemoryOrder::SeqCst)),
        None
    );

    let mut names = Names::default();
    names.add_text(b"#define OUT_LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)\n");
    project.names = names;
    let inside = with_project(source, project);
    assert_eq!(
        inside.refusal(inside.site("OUT_LOAD"), RAISE),
        Some(Refusal::CannotSayOrder("OUT_LOAD".into()))
    );
}

#[test]
fn an_order_in_a_macro_is_changed_in_the_macro() {
    let text = text(
        "#include <stdatomic.h>\natomic_int x;\n#define GET(p) atomic_load_explicit(p, memory_order_relaxed)\n\
         int f(void) { return GET(&x); }\n",
    );
    assert_eq!(text.refusal(text.site("atomic_load"), RAISE), None);
    assert_eq!(
        text.refusal(text.site("GET(&x)"), RAISE),
        Some(Refusal::OrderInMacro("GET".into()))
    );
}

#[test]
fn a_site_of_another_text_is_not_found() {
    let one =
        text("#include <stdatomic.h>\natomic_int x;\nvoid f(void) { atomic_store(&x, 1); }\n");
    let other = text("int y;\n\n\nint atomics(void) { return 0; }\n");
    let site = one.site("atomic_store");
    assert_eq!(
        other.refusal(site, TextChangeKind::FenceAfter(MemoryOrder::SeqCst)),
        Some(Refusal::SiteNotFound)
    );
}

#[test]
fn broken_text_is_left_alone() {
    let source = "#include <stdatomic.h>\natomic_int x;\nint f(int a) {\n    \
         if (a { return atomic_load_explicit(&x, memory_order_relaxed) + ; }\n    return 0;\n}\n";
    let text = text(source);
    let site = text.site("atomic_load");
    let refusal = text.refusal(site, TextChangeKind::FenceAfter(MemoryOrder::SeqCst));
    assert!(
        matches!(
            refusal,
            Some(Refusal::NotUnderstood | Refusal::WouldNotParse)
        ),
        "{refusal:?}"
    );
}

#[test]
fn one_refusal_does_not_stop_the_others() {
    let text = text(
        "#include <stdatomic.h>\natomic_int x, y;\nint f(void) {\n    \
         atomic_store_explicit(&x, 1, memory_order_relaxed);\n    return sizeof(atomic_load(&y));\n}\n",
    );
    let made = text.make(&[
        TextChange::fence_before(text.site("atomic_load")),
        TextChange::fence_after(text.site("atomic_store")),
        TextChange::raise(text.site("atomic_store"), MemoryOrder::Acquire),
    ]);
    let reasons: Vec<(usize, bool)> = made
        .refused
        .iter()
        .map(|(index, why)| (*index, matches!(why, Refusal::Unevaluated(_))))
        .collect();
    assert_eq!(reasons, [(0, true), (2, false)]);
    assert_eq!(made.edits.edits().len(), 1);
}

#[test]
fn reasons_are_sentences() {
    for refusal in [
        Refusal::OrderIsComputed("order".into()),
        Refusal::NoSuchWrapper("my_load_acquire".into()),
        Refusal::GeneratedFile("@generated".into()),
        Refusal::SystemHeader("/usr/include/a.h".into()),
        Refusal::OutsideTree("../a.h".into()),
        Refusal::ReadOnly("a.h".into()),
        Refusal::InlineAssembly,
        Refusal::SplitByPreprocessor,
    ] {
        let words = refusal.to_string();
        assert!(
            words.split(' ').count() > 2 && !words.ends_with('.'),
            "{words}"
        );
    }
}
